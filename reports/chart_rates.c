/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates as bars from 0 with their intervals, devices side by side; as points on a logarithmic axis
 * where bars would hide the small ones. Must not know: the page. */
#include "reports/chart_lines.h"

#include "reports/figures.h"

#include <stdio.h>
#include <stdlib.h>

/* Data of one device: x y low high bottom top. */
static size_t rates_data(struct drawing *drawing, const struct chart_lines *lines, unsigned series,
                         const struct chart_scale *scale)
{
    size_t count = 0;
    text_printf(&drawing->script, "$d%u << EOD\n", series);
    for (size_t i = 0; i < lines->count; i++) {
        const struct chart_line *line = &lines->items[i];
        if (line->heading || line->series != series || !line->cell->has_number)
            continue;
        double rate = record_rate(line->cell->record, line->cell->summary.median);
        double low = rate, high = rate;
        figure_rate_interval(line->cell, &low, &high);
        text_printf(&drawing->script, "%.9g %.1f %.9g %.9g %.1f %.1f\n", rate / scale->factor,
                    line->y, low / scale->factor, high / scale->factor,
                    line->y - lines->height * 0.36, line->y + lines->height * 0.36);
        count++;
    }
    text_append(&drawing->script, "EOD\n");
    return count;
}

static void rates_plot(struct drawing *drawing, const struct chart_lines *lines,
                       const struct chart_scale *scale, bool logarithmic)
{
    static const int shapes[DRAWING_SERIES] = {7, 5, 9, 13, 11, 6, 4, 8};
    struct text plot = {0};
    for (unsigned series = 0; series < lines->devices; series++) {
        if (rates_data(drawing, lines, series, scale) == 0)
            continue;
        const char *separator = plot.length == 0 ? "plot " : ", ";
        if (logarithmic)
            text_printf(&plot,
                        "%s$d%u using 1:2:3:4 with xerrorbars pt %d ps 0.7 lw 1.5 "
                        "lc " DRAWING_SERIES_RGB " notitle",
                        separator, series, shapes[series], series);
        else
            text_printf(&plot,
                        "%s$d%u using (0):2:(0):1:5:6 with boxxyerror "
                        "lc " DRAWING_SERIES_RGB " notitle, "
                        "$d%u using 1:2:3:4 with xerrorbars pt 0 ps 0 lw 1.5 lc " DRAWING_INK
                        " notitle",
                        separator, series, series, series);
    }
    text_append(&drawing->script, text_string(&plot));
    text_append(&drawing->script, "\n");
    text_release(&plot);
}

static void rates_axis(struct drawing *drawing, const struct chart_range *range,
                       const struct chart_scale *scale, bool logarithmic)
{
    char mark[DRAWING_MARK_BYTES], title[64];
    snprintf(title, sizeof title, "%s%s", scale->unit, logarithmic ? ", logarithmic" : "");
    drawing_mark(drawing, title, mark);
    text_printf(&drawing->script, "set xlabel '%s' offset 0,0.6 tc " DRAWING_MUTED "\n", mark);
    double low = range->low / scale->factor, high = range->high / scale->factor;
    if (logarithmic) {
        text_printf(&drawing->script, "set logscale x\nset xrange [%.9g:%.9g]\n", low / 1.3,
                    high * 1.3);
        chart_log_tics(drawing, 'x', low / 1.3, high * 1.3);
    } else {
        text_printf(&drawing->script, "set xrange [0:%.9g]\nset xtics format '%%g'\n", high * 1.04);
    }
}

static void rates_sides(struct drawing *drawing, const struct chart_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct chart_line *line = &lines->items[i];
        char rate[FIGURE_BYTES], margin[FIGURE_BYTES], both[2 * FIGURE_BYTES];
        if (line->heading || !line->cell->has_number)
            continue;
        figure_rate(line->cell, rate);
        figure_margin(line->cell, margin);
        snprintf(both, sizeof both, "%s%s%s", rate, line->cell->summary.has_interval ? " " : "",
                 line->cell->summary.has_interval ? margin : "");
        chart_lines_side(drawing, line, both);
    }
}

enum code chart_rates(const struct matrix *matrix, size_t number, struct chart *chart,
                      const char *id, struct error *err)
{
    const struct matrix_group *group = &matrix->groups[number];
    struct chart_lines *lines = memory_zeroed(1, sizeof *lines);
    chart_lines_lay_out(matrix, group, CHART_NO_SWEEPS, 18, lines);
    struct chart_range range = chart_lines_range(lines);
    enum code code = CODE_OK;
    if (range.count > 0) {
        struct drawing drawing;
        struct chart_scale scale;
        bool logarithmic = range.high / range.low > 100;
        chart_scale_for(range.high, matrix->rows[group->first].unit, &scale);
        chart_lines_begin(&drawing, lines);
        chart_lines_names(&drawing, matrix, lines);
        rates_sides(&drawing, lines);
        rates_axis(&drawing, &range, &scale, logarithmic);
        rates_plot(&drawing, lines, &scale, logarithmic);
        snprintf(chart->title, sizeof chart->title, "%s: rate of each case on each device",
                 group->name);
        text_printf(&chart->note, "Median and 95 %% interval, %s; more is better.%s", scale.unit,
                    logarithmic ? " The axis is logarithmic because the rates differ by more than "
                                  "a factor of 100."
                                : "");
        chart_lines_left_out(matrix, lines, &chart->note);
        code =
            drawing_render(&drawing, id, chart->title, text_string(&chart->note), &chart->svg, err);
        drawing_release(&drawing);
    }
    free(lines);
    return code;
}
