/* SPDX-License-Identifier: Apache-2.0
 *
 * What the charts with a line for each case and device share: which lines, where they lie, what is
 * written beside them. */
#ifndef REPORTS_CHART_LINES_H
#define REPORTS_CHART_LINES_H

#include "reports/charts.h"

enum { CHART_LINES_MOST = CHART_CASES_MOST * (DRAWING_SERIES + 1) };

/* What to do about cases that a chart of rate against size shows already. */
enum chart_choice {
    CHART_NO_SWEEPS, /* leave them out */
    CHART_LARGEST    /* the largest size, and those with two modes or a drift */
};

/* A line of the chart; y in pixels from the top of the plot. */
struct chart_line {
    size_t row, column;
    unsigned series;
    double y;
    bool heading;
    const struct matrix_cell *cell;
};

struct chart_lines {
    struct chart_line items[CHART_LINES_MOST];
    size_t count;
    double height;                   /* of a device's line */
    unsigned body;                   /* height of the plot */
    size_t cases, possible, devices; /* cases drawn, of how many */
};

/* Rates and the limits of their intervals; count 0 if no line has a number. */
struct chart_range {
    double low, high; /* of rates and the limits of their intervals */
    size_t count;
};

/* A line for each case and device of the group, all in a common order; where there are too many
 * cases, those with two modes or a drift come first. height: of a device's line, in pixels. */
void chart_lines_lay_out(const struct matrix *matrix, const struct matrix_group *group,
                         enum chart_choice choice, double height, struct chart_lines *lines);
struct chart_range chart_lines_range(const struct chart_lines *lines);
/* Starts the drawing with margins such that y is in pixels. */
void chart_lines_begin(struct drawing *drawing, const struct chart_lines *lines);
/* Case headings, device names on the left, what is missing inside the plot. */
void chart_lines_names(struct drawing *drawing, const struct matrix *matrix,
                       const struct chart_lines *lines);
/* Text to the right of a line. */
void chart_lines_side(struct drawing *drawing, const struct chart_line *line, const char *text);
/* Says in the note what was left out, if anything was. */
void chart_lines_left_out(const struct matrix *matrix, const struct chart_lines *lines,
                          struct text *note);

#endif
