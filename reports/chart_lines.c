/* SPDX-License-Identifier: Apache-2.0
 *
 * The common ground of charts with a line for each case and device. Must not know: what is drawn on
 * the lines. */
#include "reports/chart_lines.h"

#include "reports/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 720, LEFT = 164, RIGHT = 150, TOP = 6, BOTTOM = 46, HEADING = 22, GAP = 8 };

static bool is_flagged(const struct matrix *matrix, size_t row)
{
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct matrix_cell *cell = matrix_cell(matrix, row, i);
        if (cell->has_number && (cell->summary.bimodal || cell->summary.drift))
            return true;
    }
    return false;
}

/* Of a sweep over sizes the samples of the largest one stand for all, unless others are
 * conspicuous. */
static bool is_wanted(const struct matrix *matrix, const struct matrix_group *group, size_t row,
                      enum chart_choice choice)
{
    bool is_last;
    bool is_sweep = chart_sweep_row(matrix, group, row, &is_last);
    return !is_sweep || (choice == CHART_LARGEST && (is_last || is_flagged(matrix, row)));
}

/* Which rows get a line: all if they fit, else those with two modes or a drift first. */
static void choose_rows(const struct matrix *matrix, const struct matrix_group *group,
                        enum chart_choice choice, bool *chosen, struct chart_lines *lines)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < group->count && lines->cases < CHART_CASES_MOST; i++) {
            size_t row = group->first + i;
            if (chosen[i] || !is_wanted(matrix, group, row, choice) ||
                (pass == 0 && !is_flagged(matrix, row)))
                continue;
            chosen[i] = true;
            lines->cases++;
        }
    }
    for (size_t i = 0; i < group->count; i++)
        lines->possible +=
            choice == CHART_LARGEST || !chart_sweep_row(matrix, group, group->first + i, NULL);
}

void chart_lines_lay_out(const struct matrix *matrix, const struct matrix_group *group,
                         enum chart_choice choice, double height, struct chart_lines *lines)
{
    size_t columns[DRAWING_SERIES];
    *lines = (struct chart_lines){.height = height, .devices = chart_columns(matrix, columns)};
    bool *chosen = memory_zeroed(group->count, sizeof *chosen);
    choose_rows(matrix, group, choice, chosen, lines);
    double y = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!chosen[i])
            continue;
        size_t row = group->first + i;
        lines->items[lines->count++] =
            (struct chart_line){.row = row, .heading = true, .y = y + HEADING / 2.0};
        y += HEADING;
        for (size_t k = 0; k < lines->devices; k++, y += height)
            lines->items[lines->count++] =
                (struct chart_line){.row = row,
                                    .column = columns[k],
                                    .series = (unsigned)k,
                                    .y = y + height / 2,
                                    .cell = matrix_cell(matrix, row, columns[k])};
        y += GAP;
    }
    lines->body = (unsigned)y;
    free(chosen);
}

void chart_lines_begin(struct drawing *drawing, const struct chart_lines *lines)
{
    unsigned height = TOP + lines->body + BOTTOM;
    drawing_begin(drawing, WIDTH, height);
    text_printf(&drawing->script,
                "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
                "set tmargin at screen %.6f\nset bmargin at screen %.6f\n"
                "set yrange [%u:0]\nunset ytics\n"
                "set grid xtics lt 1 lw 1 lc " DRAWING_GRID "\nset grid back\n",
                (double)LEFT / WIDTH, 1 - (double)RIGHT / WIDTH, 1 - (double)TOP / height,
                (double)BOTTOM / height, lines->body);
}

/* Case headings, device names on the left, what is missing in the plot. */
void chart_lines_names(struct drawing *drawing, const struct matrix *matrix,
                       const struct chart_lines *lines)
{
    char cut[DRAWING_MARK_BYTES], mark[DRAWING_MARK_BYTES];
    for (size_t i = 0; i < lines->count; i++) {
        const struct chart_line *line = &lines->items[i];
        if (line->heading) {
            drawing_mark(drawing, chart_cut(matrix->rows[line->row].label, 100, cut), mark);
            text_printf(&drawing->script,
                        "set label '%s' at screen 0.004, first %.1f left tc " DRAWING_INK "\n",
                        mark, line->y);
            continue;
        }
        drawing_mark(drawing, chart_cut(matrix->columns[line->column].label, 23, cut), mark);
        text_printf(&drawing->script,
                    "set label '%s' at graph -0.02, first %.1f right tc " DRAWING_MUTED "\n", mark,
                    line->y);
        if (line->cell->has_number)
            continue;
        drawing_mark(drawing, figure_absence_short(line->cell), mark);
        text_printf(&drawing->script,
                    "set label '%s' at graph 0.015, first %.1f left tc " DRAWING_MUTED "\n", mark,
                    line->y);
    }
}

void chart_lines_side(struct drawing *drawing, const struct chart_line *line, const char *text)
{
    char mark[DRAWING_MARK_BYTES];
    drawing_mark(drawing, text, mark);
    text_printf(&drawing->script,
                "set label '%s' at graph 1.02, first %.1f left tc " DRAWING_INK "\n", mark,
                line->y);
}

void chart_lines_left_out(const struct matrix *matrix, const struct chart_lines *lines,
                          struct text *note)
{
    if (lines->cases < lines->possible)
        text_printf(note, " %zu of %zu cases are drawn.", lines->cases, lines->possible);
    if (lines->devices < matrix->column_count)
        text_printf(note, " %zu of %zu devices are drawn.", lines->devices, matrix->column_count);
}

struct chart_range chart_lines_range(const struct chart_lines *lines)
{
    struct chart_range range = {.low = (double)INFINITY};
    for (size_t i = 0; i < lines->count; i++) {
        const struct matrix_cell *cell = lines->items[i].cell;
        if (lines->items[i].heading || !cell->has_number)
            continue;
        double rate = record_rate(cell->record, cell->summary.median), low = rate, high = rate;
        figure_rate_interval(cell, &low, &high);
        range.low = fmin(range.low, low);
        range.high = fmax(range.high, high);
        range.count++;
    }
    return range;
}
