/* SPDX-License-Identifier: Apache-2.0
 *
 * The warnings of a report: everything that a reader has to know before a number is believed,
 * gathered from the files, the devices, the records and the comparisons. Must not know: output
 * formats. */
#ifndef REPORTS_NOTICES_H
#define REPORTS_NOTICES_H

#include "reports/matrix.h"

#include <stddef.h>

struct notices {
    char **lines; /* each a sentence without full stop, about[i] before it */
    char **about; /* "opencl:pocl:0", "run.jsonl", "charts"; never NULL */
    size_t count, capacity;
};

void notices_collect(const struct matrix *matrix, struct notices *notices);
/* Adds one; the same warning twice is kept once. */
void notices_add(struct notices *notices, const char *about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void notices_release(struct notices *notices);

#endif
