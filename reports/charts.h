/* SPDX-License-Identifier: Apache-2.0
 *
 * The charts of a report, as SVG elements: rates with their intervals, transfer rate against size,
 * samples as strips. Must not know: the page that they stand in. */
#ifndef REPORTS_CHARTS_H
#define REPORTS_CHARTS_H

#include "base/error.h"
#include "base/text.h"
#include "reports/drawing.h"
#include "reports/matrix.h"
#include "reports/notices.h"

#include <stdbool.h>
#include <stddef.h>

enum { CHART_TITLE_BYTES = 640, CHART_CASES_MOST = 20 };

struct chart {
    size_t group;                  /* of the matrix */
    char title[CHART_TITLE_BYTES]; /* what it shows; the caption */
    struct text note;              /* how to read it, what is left out, gaps */
    struct text svg;
};

struct charts {
    struct chart *items;
    size_t count, capacity;
};

/* Draws them all. Where that fails (no gnuplot, a time limit) the charts are left out and a notice
 * says so: a report without charts is a report. */
void charts_draw(const struct matrix *matrix, struct charts *charts, struct notices *notices);
void charts_release(struct charts *charts);

/* ---- between the chart files ---- */

/* A scale for rates: divide by factor, label with unit. */
struct chart_scale {
    double factor;
    char unit[24];
};
void chart_scale_for(double most, const char *unit, struct chart_scale *scale);
/* Text cut to a number of columns, with an ellipsis. */
const char *chart_cut(const char *text, size_t columns, char out[DRAWING_MARK_BYTES]);
/* Devices that charts show: the base and the first others. */
size_t chart_columns(const struct matrix *matrix, size_t columns[DRAWING_SERIES]);
/* True if a row belongs to a sweep over sizes; is_last (may be NULL): to its largest size. */
bool chart_sweep_row(const struct matrix *matrix, const struct matrix_group *group, size_t row,
                     bool *is_last);
/* Labelled ticks of a logarithmic axis: 1, 2 and 5 of each decade, or 1 alone where those are many.
 */
void chart_log_tics(struct drawing *drawing, char axis, double low, double high);

enum code chart_rates(const struct matrix *matrix, size_t group, struct chart *chart,
                      const char *id, struct error *err);
enum code chart_samples(const struct matrix *matrix, size_t group, struct chart *chart,
                        const char *id, struct error *err);
/* One chart for each combination of the other parameters; number counts them from 0, *more is false
 * behind the last. */
enum code chart_sweep(const struct matrix *matrix, size_t group, size_t number, struct chart *chart,
                      const char *id, bool *more, struct error *err);

#endif
