/* SPDX-License-Identifier: Apache-2.0
 *
 * Rate against size on logarithmic axes: one chart for each combination of the other parameters,
 * one line a device. A size that was not measured breaks the line and is marked at the foot of the
 * chart. Must not know: the page. */
#include "reports/charts.h"

#include "reports/figures.h"
#include "reports/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 560, HEIGHT = 340, POINTS_LEAST = 3, POINTS_MOST = 64, TICS_MOST = 7 };

static const char parameter[] = " bytes=";

/* Splits a key at the size: its value, and the key without it. False if the key has none. */
static bool key_split(const char *key, uint64_t *bytes, char rest[MATRIX_ROW_BYTES])
{
    const char *at = strstr(key, parameter);
    if (at == NULL)
        return false;
    char *end;
    *bytes = strtoull(at + strlen(parameter), &end, 10);
    if (*bytes == 0 || (*end != ' ' && *end != '\0'))
        return false;
    snprintf(rest, MATRIX_ROW_BYTES, "%.*s%s", (int)(at - key), key, end);
    return true;
}

/* The cases of one chart, by size. */
struct sweep {
    size_t rows[POINTS_MOST];
    uint64_t sizes[POINTS_MOST];
    size_t count;
};

static void sweep_insert(struct sweep *sweep, size_t row, uint64_t size)
{
    if (sweep->count == POINTS_MOST)
        return;
    size_t at = sweep->count++;
    while (at > 0 && sweep->sizes[at - 1] > size) {
        sweep->rows[at] = sweep->rows[at - 1];
        sweep->sizes[at] = sweep->sizes[at - 1];
        at--;
    }
    sweep->rows[at] = row;
    sweep->sizes[at] = size;
}

/* All rows of the group that differ from this one in the size alone. */
static void sweep_collect(const struct matrix *matrix, const struct matrix_group *group, size_t row,
                          struct sweep *sweep)
{
    char wanted[MATRIX_ROW_BYTES], rest[MATRIX_ROW_BYTES];
    uint64_t size;
    sweep->count = 0;
    if (!key_split(matrix->rows[row].key, &size, wanted))
        return;
    for (size_t i = group->first; i < group->first + group->count; i++)
        if (key_split(matrix->rows[i].key, &size, rest) && strcmp(rest, wanted) == 0)
            sweep_insert(sweep, i, size);
}

bool chart_sweep_row(const struct matrix *matrix, const struct matrix_group *group, size_t row,
                     bool *is_last)
{
    struct sweep sweep;
    sweep_collect(matrix, group, row, &sweep);
    if (is_last != NULL)
        *is_last = sweep.count > 0 && sweep.rows[sweep.count - 1] == row;
    return sweep.count >= POINTS_LEAST;
}

/* The number-th sweep of the group; false behind the last. */
static bool sweep_find(const struct matrix *matrix, const struct matrix_group *group, size_t number,
                       struct sweep *sweep)
{
    for (size_t i = group->first; i < group->first + group->count; i++) {
        sweep_collect(matrix, group, i, sweep);
        size_t first = sweep->count > 0 ? sweep->rows[0] : 0;
        for (size_t k = 0; k < sweep->count; k++)
            first = sweep->rows[k] < first ? sweep->rows[k] : first;
        if (sweep->count >= POINTS_LEAST && first == i && number-- == 0)
            return true;
    }
    return false;
}

/* What the cases of a sweep have in common and others of the group have not. */
static void sweep_name(const struct matrix_row *row, char *out, size_t capacity)
{
    const char *label = row->label;
    const char *at = strstr(label, "bytes=");
    if (at == NULL) {
        snprintf(out, capacity, "%s", label);
        return;
    }
    const char *end = at + strcspn(at, " ");
    if (*end == ' ') /* the unit, "64 MiB" */
        end += 1 + strcspn(end + 1, " ");
    size_t before = (size_t)(at - label);
    while (before > 0 && label[before - 1] == ' ')
        before--;
    snprintf(out, capacity, "%.*s%s", (int)before, label, end);
}

struct sweep_range {
    double low, high;
};

static bool find_range(const struct matrix *matrix, const struct sweep *sweep,
                       const size_t *columns, size_t count, struct sweep_range *range)
{
    *range = (struct sweep_range){.low = (double)INFINITY};
    for (size_t i = 0; i < sweep->count * count; i++) {
        const struct matrix_cell *cell =
            matrix_cell(matrix, sweep->rows[i / count], columns[i % count]);
        if (!cell->has_number)
            continue;
        double low = record_rate(cell->record, cell->summary.median), high = low;
        figure_rate_interval(cell, &low, &high);
        range->low = fmin(range->low, low);
        range->high = fmax(range->high, high);
    }
    return range->high > 0;
}

static void write_axes(struct drawing *drawing, const struct sweep *sweep,
                       const struct sweep_range *range, const struct chart_scale *scale)
{
    char mark[DRAWING_MARK_BYTES], size[LABEL_SIZE_BYTES];
    double low = range->low / scale->factor / 1.6, high = range->high / scale->factor * 1.3;
    text_printf(&drawing->script,
                "set logscale xy\nset xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
                "set lmargin 8\nset rmargin 3\nset bmargin 2.5\n"
                "set grid xtics ytics lt 1 lw 1 lc " DRAWING_GRID "\nset grid back\n",
                (double)sweep->sizes[0] / 1.4, (double)sweep->sizes[sweep->count - 1] * 1.4, low,
                high);
    chart_log_tics(drawing, 'y', low, high);
    size_t step = (sweep->count + TICS_MOST - 1) / TICS_MOST;
    text_append(&drawing->script, "set xtics (");
    for (size_t i = 0; i < sweep->count; i += step) {
        label_size(sweep->sizes[i], size);
        drawing_mark(drawing, size, mark);
        text_printf(&drawing->script, "%s'%s' %.9g", i > 0 ? ", " : "", mark,
                    (double)sweep->sizes[i]);
    }
    text_append(&drawing->script, ")\n");
    drawing_mark(drawing, scale->unit, mark);
    text_printf(&drawing->script, "set ylabel '%s' offset 1,0 tc " DRAWING_MUTED "\n", mark);
    text_append(&drawing->script,
                "set key outside top left horizontal Left reverse samplen 1.2 width 1\n");
}

/* Points of one device; a blank line where one is missing, which breaks the line. Missing ones go
 * to the other block, at the foot. */
static void write_data(struct drawing *drawing, const struct matrix *matrix,
                       const struct sweep *sweep, size_t column, size_t series, double scale,
                       double foot, struct text *gaps)
{
    struct text missing = {0};
    text_printf(&drawing->script, "$d%zu << EOD\n", series);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct matrix_cell *cell = matrix_cell(matrix, sweep->rows[i], column);
        double size = (double)sweep->sizes[i];
        if (!cell->has_number) {
            char bytes[LABEL_SIZE_BYTES];
            label_size(sweep->sizes[i], bytes);
            text_append(&drawing->script, "\n");
            text_printf(&missing, "%.9g %.9g\n", size, foot);
            text_printf(gaps, "%s%s at %s (%s)", gaps->length > 0 ? ", " : "",
                        matrix->columns[column].label, bytes, figure_absence_short(cell));
            continue;
        }
        double rate = record_rate(cell->record, cell->summary.median), low = rate, high = rate;
        figure_rate_interval(cell, &low, &high);
        text_printf(&drawing->script, "%.9g %.9g %.9g %.9g\n", size, rate / scale, low / scale,
                    high / scale);
    }
    text_printf(&drawing->script, "EOD\n$m%zu << EOD\n%sEOD\n", series, text_string(&missing));
    text_release(&missing);
}

static bool has_number(const struct matrix *matrix, const struct sweep *sweep, size_t column)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (matrix_cell(matrix, sweep->rows[i], column)->has_number)
            return true;
    return false;
}

static bool has_gap(const struct matrix *matrix, const struct sweep *sweep, size_t column)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (!matrix_cell(matrix, sweep->rows[i], column)->has_number)
            return true;
    return false;
}

static void write_plot(struct drawing *drawing, const struct matrix *matrix,
                       const struct sweep *sweep, const size_t *columns, size_t count)
{
    static const int shapes[DRAWING_SERIES] = {7, 5, 9, 13, 11, 6, 4, 8};
    char cut[DRAWING_MARK_BYTES], mark[DRAWING_MARK_BYTES];
    struct text plot = {0};
    for (size_t i = 0; i < count; i++) {
        const char *separator = plot.length == 0 ? "plot " : ", ";
        if (has_number(matrix, sweep, columns[i])) {
            drawing_mark(drawing, chart_cut(matrix->columns[columns[i]].label, 28, cut), mark);
            text_printf(&plot,
                        "%s$d%zu using 1:2:3:4 with yerrorlines pt %d ps 0.6 lw 1.5 "
                        "lc " DRAWING_SERIES_RGB " title '%s'",
                        separator, i, shapes[i], (unsigned)i, mark);
            separator = ", ";
        }
        if (has_gap(matrix, sweep, columns[i]))
            text_printf(&plot,
                        "%s$m%zu using 1:2 with points pt 2 ps 0.7 lw 1.5 "
                        "lc " DRAWING_SERIES_RGB " notitle",
                        separator, i, (unsigned)i);
    }
    text_append(&drawing->script, text_string(&plot));
    text_append(&drawing->script, "\n");
    text_release(&plot);
}

static void write_note(const struct matrix *matrix, const struct sweep *sweep,
                       const struct text *gaps, size_t drawn, struct text *note)
{
    const char *counted = matrix->rows[sweep->rows[0]].bytes_counted;
    text_printf(note, "Median and 95 %% interval; both axes are logarithmic; bytes counted: %s.",
                counted != NULL ? counted : "unknown");
    if (drawn < matrix->column_count)
        text_printf(note, " %zu of %zu devices are drawn.", drawn, matrix->column_count);
    if (gaps->length > 0)
        text_printf(note, " Gaps, marked by a cross: %s.", text_string(gaps));
}

static enum code sweep_draw(const struct matrix *matrix, const struct sweep *sweep,
                            const struct sweep_range *range, struct chart *chart, const char *id,
                            struct error *err)
{
    size_t columns[DRAWING_SERIES];
    size_t count = chart_columns(matrix, columns);
    struct drawing drawing;
    struct chart_scale scale;
    struct text gaps = {0};
    chart_scale_for(range->high, matrix->rows[sweep->rows[0]].unit, &scale);
    drawing_begin(&drawing, WIDTH, HEIGHT);
    write_axes(&drawing, sweep, range, &scale);
    for (size_t i = 0; i < count; i++)
        write_data(&drawing, matrix, sweep, columns[i], i, scale.factor,
                   range->low / scale.factor / 1.45, &gaps);
    write_plot(&drawing, matrix, sweep, columns, count);
    write_note(matrix, sweep, &gaps, count, &chart->note);
    enum code code =
        drawing_render(&drawing, id, chart->title, text_string(&chart->note), &chart->svg, err);
    text_release(&gaps);
    drawing_release(&drawing);
    return code;
}

enum code chart_sweep(const struct matrix *matrix, size_t number, size_t which, struct chart *chart,
                      const char *id, bool *more, struct error *err)
{
    const struct matrix_group *group = &matrix->groups[number];
    struct sweep sweep;
    *more = sweep_find(matrix, group, which, &sweep);
    if (!*more)
        return CODE_OK;
    size_t columns[DRAWING_SERIES];
    size_t count = chart_columns(matrix, columns);
    struct sweep_range range;
    char name[MATRIX_ROW_BYTES];
    sweep_name(&matrix->rows[sweep.rows[0]], name, sizeof name);
    snprintf(chart->title, sizeof chart->title, "%.63s: rate against size%s%.500s", group->name,
             name[0] != '\0' ? ", " : "", name);
    if (!find_range(matrix, &sweep, columns, count, &range))
        return CODE_OK; /* nothing was measured: the tables say why */
    return sweep_draw(matrix, &sweep, &range, chart, id, err);
}
