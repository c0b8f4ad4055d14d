/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of every figure of a report: rates, margins, ratios, states. Each form of the report
 * shows the same text. A figure that is not known or must not be shown has words in its place,
 * never 0 and never nothing. */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

#include "base/text.h"
#include "harness/record.h"
#include "harness/stats.h"
#include "reports/matrix.h"

#include <stdbool.h>

enum { FIGURE_BYTES = 96 };

/* True if at least one check is stored and none found a fault. */
bool figure_verified(const struct record *record);

/* Rate at the median: "48.2 GB/s". */
const char *figure_rate(const struct matrix_cell *cell, char out[FIGURE_BYTES]);
/* The wider side of the interval: "±0.4 %"; "no interval (n = 3)" for too few samples. */
const char *figure_margin(const struct matrix_cell *cell, char out[FIGURE_BYTES]);
/* "47.9 to 48.4 GB/s" or "-". */
const char *figure_interval(const struct matrix_cell *cell, char out[FIGURE_BYTES]);
/* "2.31×". Near 1 with three decimals, so that a difference of some per cent can be read. */
const char *figure_ratio(double ratio, char out[FIGURE_BYTES]);
/* "2.25× to 2.40×" or "no interval". */
const char *figure_ratio_interval(const struct ratio *ratio, char out[FIGURE_BYTES]);
/* "faster", "too few samples", …; NULL if nothing was judged. */
const char *figure_verdict(const struct matrix_cell *cell);

/* Why a cell has no number: "not supported: no fp64", "crashed: …", "not in this file". Only for
 * cells without one. */
void figure_absence(const struct matrix_cell *cell, struct text *out);
/* The first words of the same, for narrow places: "not supported". */
const char *figure_absence_short(const struct matrix_cell *cell);

/* "before and after, 1,048,576 elements, largest error 1.2e-07 (allowed …)" */
void figure_check(const struct record *record, struct text *out);
/* What a reader has to know of this number: "not converged", "two modes", …; several are separated
 * by "; ". */
void figure_remarks(const struct matrix_cell *cell, struct text *out);
/* "pixel: 8 of 9" */
void figure_mean(const struct matrix_column *column, struct text *out);

/* Limits of the rate's interval; false without interval. Low is the slower end. */
bool figure_rate_interval(const struct matrix_cell *cell, double *low, double *high);

#endif
