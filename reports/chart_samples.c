/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples as strips, a tick for each, in the order of time from top to bottom, so that two modes or
 * a drift are seen. Must not know: the page. */
#include "reports/chart_lines.h"

#include "reports/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* How far the rate of a sample is from the rate at the median, in per cent. */
static double deviation(const struct matrix_cell *cell, double ns)
{
    return 100 * (cell->summary.median / ns - 1);
}

/* Half-width of the common axis: all samples if that leaves the bulk legible, else what holds nine
 * tenths of each strip four times. */
static double samples_limit(const struct chart_lines *lines)
{
    double most = 0.5, bulk = 0.5;
    for (size_t i = 0; i < lines->count; i++) {
        const struct chart_line *line = &lines->items[i];
        if (line->heading || !line->cell->has_number)
            continue;
        const struct samples *samples = &line->cell->record->samples;
        double *sizes = memory_zeroed(samples->count, sizeof *sizes);
        for (size_t k = 0; k < samples->count; k++)
            sizes[k] = fabs(deviation(line->cell, samples->ns[k]));
        qsort(sizes, samples->count, sizeof *sizes, by_value);
        most = fmax(most, sizes[samples->count - 1]);
        bulk = fmax(bulk, sizes[(samples->count - 1) * 9 / 10]);
        free(sizes);
    }
    return fmin(most * 1.05, bulk * 4);
}

/* Ticks of one device as vectors "x y 0 length", those beyond the axis at its edge as "x y",
 * intervals as boxes. */
struct strips {
    struct text ticks, beyond, bands;
};

static size_t strip_add(const struct chart_line *line, double height, double limit,
                        struct strips *strips)
{
    const struct samples *samples = &line->cell->record->samples;
    const struct summary *summary = &line->cell->summary;
    size_t beyond = 0;
    double tick = fmin(5, height * 0.5);
    for (size_t i = 0; i < samples->count; i++) {
        double share = samples->count > 1 ? (double)i / (double)(samples->count - 1) : 0.5;
        double y = line->y + (share - 0.5) * (height * 0.8 - tick);
        double x = deviation(line->cell, samples->ns[i]);
        if (fabs(x) <= limit) {
            text_printf(&strips->ticks, "%.5g %.1f 0 %.1f\n", x, y - tick / 2, tick);
            continue;
        }
        text_printf(&strips->beyond, "%.5g %.1f\n", x > 0 ? limit : -limit, y);
        beyond++;
    }
    if (summary->has_interval)
        text_printf(&strips->bands, "%.5g %.5g %.1f %.1f\n",
                    fmax(-limit, deviation(line->cell, summary->median_95.high)),
                    fmin(limit, deviation(line->cell, summary->median_95.low)),
                    line->y - height * 0.42, line->y + height * 0.42);
    return beyond;
}

static void strip_side(struct drawing *drawing, const struct chart_line *line, size_t beyond)
{
    const struct summary *summary = &line->cell->summary;
    char side[FIGURE_BYTES];
    int used = snprintf(side, sizeof side, "n = %zu%s%s", summary->count,
                        summary->bimodal ? ", two modes" : "", summary->drift ? ", drift" : "");
    if (beyond > 0 && used > 0 && (size_t)used < sizeof side)
        snprintf(side + used, sizeof side - (size_t)used, ", %zu beyond", beyond);
    chart_lines_side(drawing, line, side);
}

static void samples_plot(struct drawing *drawing, const struct chart_lines *lines, double limit)
{
    struct text plot = {0};
    for (unsigned series = 0; series < lines->devices; series++) {
        struct strips strips = {0};
        for (size_t i = 0; i < lines->count; i++) {
            const struct chart_line *line = &lines->items[i];
            if (!line->heading && line->series == series && line->cell->has_number)
                strip_side(drawing, line, strip_add(line, lines->height, limit, &strips));
        }
        text_printf(&drawing->script,
                    "$b%u << EOD\n%sEOD\n$t%u << EOD\n%sEOD\n$x%u << EOD\n%sEOD\n", series,
                    text_string(&strips.bands), series, text_string(&strips.ticks), series,
                    text_string(&strips.beyond));
        if (strips.bands.length > 0)
            text_printf(&plot,
                        "%s$b%u using (0):3:1:2:3:4 with boxxyerror lc " DRAWING_BAND " notitle",
                        plot.length == 0 ? "plot " : ", ", series);
        if (strips.ticks.length > 0)
            text_printf(&plot,
                        "%s$t%u using 1:2:3:4 with vectors nohead lw 1.5 "
                        "lc " DRAWING_SERIES_RGB " notitle",
                        plot.length == 0 ? "plot " : ", ", series, series);
        if (strips.beyond.length > 0)
            text_printf(
                &plot, "%s$x%u using 1:2 with points pt 2 ps 0.4 lc " DRAWING_SERIES_RGB " notitle",
                plot.length == 0 ? "plot " : ", ", series, series);
        text_release(&strips.bands);
        text_release(&strips.ticks);
        text_release(&strips.beyond);
    }
    text_append(&drawing->script, text_string(&plot));
    text_append(&drawing->script, "\n");
    text_release(&plot);
}

/* Labels of the axis: a round step on both sides of 0, with a true minus sign. */
static void write_tics(struct drawing *drawing, double limit)
{
    static const double steps[] = {1, 2, 5, 10};
    double decade = pow(10, floor(log10(limit / 2)));
    double step = decade;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && limit / (steps[i] * decade) >= 2; i++)
        step = steps[i] * decade;
    text_append(&drawing->script, "set xtics ('0' 0");
    for (double at = step; at <= limit; at += step) {
        char text[32], mark[DRAWING_MARK_BYTES];
        snprintf(text, sizeof text, "−%g", at);
        drawing_mark(drawing, text, mark);
        text_printf(&drawing->script, ", '+%g' %.6g, '%s' %.6g", at, at, mark, -at);
    }
    text_append(&drawing->script, ")\n");
}

enum code chart_samples(const struct matrix *matrix, size_t number, struct chart *chart,
                        const char *id, struct error *err)
{
    const struct matrix_group *group = &matrix->groups[number];
    struct chart_lines *lines = memory_zeroed(1, sizeof *lines);
    chart_lines_lay_out(matrix, group, CHART_LARGEST, 22, lines);
    enum code code = CODE_OK;
    if (chart_lines_range(lines).count > 0) {
        struct drawing drawing;
        char mark[DRAWING_MARK_BYTES];
        double limit = samples_limit(lines);
        chart_lines_begin(&drawing, lines);
        chart_lines_names(&drawing, matrix, lines);
        drawing_mark(&drawing, "% from the rate at the median (right: faster)", mark);
        text_printf(&drawing.script,
                    "set xlabel '%s' offset 0,0.6 tc " DRAWING_MUTED "\nset xrange [%.6g:%.6g]\n",
                    mark, -limit, limit);
        write_tics(&drawing, limit);
        samples_plot(&drawing, lines, limit);
        snprintf(chart->title, sizeof chart->title, "%s: every sample", group->name);
        text_append(&chart->note, "One tick a sample, in the order of time from top to bottom; "
                                  "shaded: 95 % interval of the median. Two columns of ticks are "
                                  "two modes, a slope is a drift; a cross at the edge is a sample "
                                  "beyond the axis.");
        chart_lines_left_out(matrix, lines, &chart->note);
        code =
            drawing_render(&drawing, id, chart->title, text_string(&chart->note), &chart->svg, err);
        drawing_release(&drawing);
    }
    free(lines);
    return code;
}
