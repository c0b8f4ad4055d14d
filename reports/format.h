/* SPDX-License-Identifier: Apache-2.0
 *
 * One output format of a report or an export: a file in reports/formats/ that ends in one const
 * struct report_format. */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

#include "base/error.h"
#include "base/text.h"
#include "harness/record.h"

#include <stdbool.h>

struct report_input {
    const struct result *const *results;
    size_t result_count;
    double difference; /* smallest difference that matters */
    const char *base;  /* device id that others are compared with; NULL: chosen */
    const char
        *created; /* time stamp for the head, ISO 8601; NULL for none (reproducible output) */
};

struct report_format {
    const char *name; /* "html" */
    const char *summary;
    bool report; /* offered by `assay report`; else by `assay export` only */
    bool export;
    enum code (*write)(const struct report_input *input, struct text *out, struct error *err);
};

/* The generated table, ends with NULL; lookup by name. */
const struct report_format *const *report_format_all(void);
const struct report_format *report_format_find(const char *name);

#endif
