/* SPDX-License-Identifier: Apache-2.0
 *
 * What cases and devices are called in a report. */
#ifndef REPORTS_LABELS_H
#define REPORTS_LABELS_H

#include "reports/matrix.h"

#include <stdbool.h>
#include <stdint.h>

/* Names the group and its rows from their keys: what all share goes to the group, what differs to
 * the row. */
void labels_fill(struct matrix_group *group, struct matrix_row *rows);
/* The device's id, with the number of its file if there are several. */
void labels_column(struct matrix_column *column, bool number_files);

enum { LABEL_KIND_BYTES = 64 };
/* What kind of thing a device is, never left out: "CPU (software OpenCL)", "host CPU, all cores",
 * "GPU". */
void label_kind(const struct result_device *device, char out[LABEL_KIND_BYTES]);

enum { LABEL_SIZE_BYTES = 40 };
/* Every digit of a byte count: "64 MiB" where that is exact, else "9,007,199,254,740,993 B". */
void label_size(uint64_t bytes, char out[LABEL_SIZE_BYTES]);

#endif
