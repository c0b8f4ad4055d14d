/* SPDX-License-Identifier: Apache-2.0
 *
 * What every form of the report shows, worked out once: cases by devices, the base device, each
 * other device compared with it, the cases in groups by suite. Must not know: how any of it is
 * written down. */
#ifndef REPORTS_MATRIX_H
#define REPORTS_MATRIX_H

#include "base/error.h"
#include "harness/record.h"
#include "harness/stats.h"
#include "reports/compare.h"
#include "reports/format.h"

#include <stdbool.h>
#include <stddef.h>

enum { MATRIX_LABEL_BYTES = 192, MATRIX_ROW_BYTES = 512 };

/* A device of a file. */
struct matrix_column {
    size_t file; /* index into input->results */
    const struct result *result;
    const struct result_device *device;
    char
        label[MATRIX_LABEL_BYTES]; /* "opencl:pocl:0"; " [2]" follows if several files were given */
    struct comparison *comparison; /* with the base; NULL for the base and where it was refused */
    char refusal[ERROR_MESSAGE_BYTES]; /* why it was refused; "" else */
    size_t measured_count;             /* cells that hold a number */
    size_t expected_count;             /* cells with a record, and planned ones without */
};

/* A case on a device. */
struct matrix_cell {
    const struct record *record; /* NULL: the file holds none */
    bool planned;                /* the file meant to measure it */
    bool has_number;             /* state ok, verified, with samples: only then is a rate shown */
    struct summary summary;      /* of the samples, if has_number */
    const struct compare_row
        *row; /* the comparison with the base; NULL for the base and where there is none */
};

/* A case. */
struct matrix_row {
    const char *key;
    char
        label[MATRIX_ROW_BYTES]; /* the parameters that differ inside the group, sizes with units */
    const char *bytes_counted;   /* "read+write"; NULL if no device says */
    bool by_operations;
    const char *unit; /* "B/s"; NULL if no device says */
};

/* The cases of one version of a suite: rows [first, first + count). */
struct matrix_group {
    char name[64];                 /* "pixel@1" */
    char common[MATRIX_ROW_BYTES]; /* the parameters that all its cases share */
    size_t first, count;
};

struct matrix {
    const struct report_input *input;
    struct matrix_column *columns;
    size_t column_count;
    struct matrix_row *rows;
    size_t row_count;
    struct matrix_group *groups;
    size_t group_count;
    struct matrix_cell *cells;             /* row by row */
    size_t base;                           /* index of the base column */
    const char *base_reason;               /* how it was chosen */
    size_t measured_count, expected_count; /* over all columns */
};

/* The input is borrowed and has to outlive the matrix. CODE_USAGE: no such base, or an ambiguous
 * one, with the list; CODE_CONFIG: no results or no devices in them. */
enum code matrix_create(const struct report_input *input, struct matrix **matrix,
                        struct error *err);
void matrix_destroy(struct matrix *matrix);
const struct matrix_cell *matrix_cell(const struct matrix *matrix, size_t row, size_t column);

#endif
