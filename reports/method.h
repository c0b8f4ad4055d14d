/* SPDX-License-Identifier: Apache-2.0
 *
 * The method in one page, as plain paragraphs that every form of the report prints. */
#ifndef REPORTS_METHOD_H
#define REPORTS_METHOD_H

#include "base/text.h"
#include "reports/format.h"

struct method_item {
    const char *term;
    const char *text;
};

/* Ends with {NULL, NULL}. */
extern const struct method_item method_items[];

/* The verdict words, with the smallest difference that matters of this report. */
void method_verdicts(const struct report_input *input, struct text *out);

#endif
