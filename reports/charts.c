/* SPDX-License-Identifier: Apache-2.0
 *
 * Which charts a report has, and what they share. Must not know: the page that they stand in. */
#include "reports/charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void chart_scale_for(double most, const char *unit, struct chart_scale *scale)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    scale->factor = 1;
    while (most / scale->factor >= 1000 && prefix + 1 < sizeof prefixes / sizeof *prefixes) {
        scale->factor *= 1000;
        prefix++;
    }
    snprintf(scale->unit, sizeof scale->unit, "%s%s", prefixes[prefix],
             unit != NULL ? unit : "1/s");
}

const char *chart_cut(const char *text, size_t columns, char out[DRAWING_MARK_BYTES])
{
    if (text_columns(text) <= columns && strlen(text) < DRAWING_MARK_BYTES) {
        snprintf(out, DRAWING_MARK_BYTES, "%s", text);
        return out;
    }
    size_t used = 0, kept = 0;
    while (text[used] != '\0' && kept + 1 < columns && used < DRAWING_MARK_BYTES - 8) {
        do
            used++;
        while (((unsigned char)text[used] & 0xc0) == 0x80);
        kept++;
    }
    snprintf(out, DRAWING_MARK_BYTES, "%.*s…", (int)used, text);
    return out;
}

size_t chart_columns(const struct matrix *matrix, size_t columns[DRAWING_SERIES])
{
    size_t count = 0;
    for (size_t i = 0; i < matrix->column_count; i++) {
        bool room = count + (i < matrix->base ? 1 : 0) < DRAWING_SERIES;
        if (i == matrix->base || (room && count < DRAWING_SERIES))
            columns[count++] = i;
    }
    return count;
}

void chart_log_tics(struct drawing *drawing, char axis, double low, double high)
{
    static const double steps[] = {1, 2, 5};
    double decades = log10(high / low);
    size_t step_count = decades > 2.5 ? 1 : 3;
    const char *separator = "";
    text_printf(&drawing->script, "set %ctics (", axis);
    for (int power = (int)floor(log10(low)); power <= (int)ceil(log10(high)); power++) {
        for (size_t i = 0; i < step_count; i++) {
            double value = steps[i] * pow(10, power);
            if (value < low || value > high)
                continue;
            text_printf(&drawing->script, "%s'%g' %.9g", separator, value, value);
            separator = ", ";
        }
    }
    text_append(&drawing->script, ")\n");
}

static struct chart *chart_add(struct charts *charts, size_t group)
{
    if (charts->count == charts->capacity) {
        charts->capacity = charts->capacity == 0 ? 16 : 2 * charts->capacity;
        charts->items = memory_resize(charts->items, charts->capacity, sizeof *charts->items);
    }
    struct chart *chart = &charts->items[charts->count++];
    *chart = (struct chart){.group = group};
    return chart;
}

/* Drops a chart that came to nothing. */
static void chart_drop(struct charts *charts)
{
    struct chart *chart = &charts->items[--charts->count];
    text_release(&chart->note);
    text_release(&chart->svg);
}

static enum code group_draw(const struct matrix *matrix, size_t group, struct charts *charts,
                            struct error *err)
{
    typedef enum code draw_function(const struct matrix *, size_t, struct chart *, const char *,
                                    struct error *);
    draw_function *const kinds[] = {chart_rates, chart_samples};
    enum code code = CODE_OK;
    bool more = true;
    char id[32];
    for (size_t number = 0; code == CODE_OK && more; number++) {
        snprintf(id, sizeof id, "chart-%zu", charts->count + 1);
        struct chart *chart = chart_add(charts, group);
        code = chart_sweep(matrix, group, number, chart, id, &more, err);
        if (chart->svg.length == 0)
            chart_drop(charts);
    }
    for (size_t i = 0; code == CODE_OK && i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(id, sizeof id, "chart-%zu", charts->count + 1);
        struct chart *chart = chart_add(charts, group);
        code = kinds[i](matrix, group, chart, id, err);
        if (chart->svg.length == 0)
            chart_drop(charts);
    }
    return code;
}

void charts_draw(const struct matrix *matrix, struct charts *charts, struct notices *notices)
{
    struct error err = {0};
    for (size_t group = 0; group < matrix->group_count; group++) {
        enum code code = group_draw(matrix, group, charts, &err);
        if (code == CODE_OK)
            continue;
        notices_add(notices, "charts", "%s are left out: %s; the tables hold all figures",
                    charts->count == 0 ? "all" : "some", err.message);
        if (code != CODE_IO)
            return;
    }
}

void charts_release(struct charts *charts)
{
    while (charts->count > 0)
        chart_drop(charts);
    free(charts->items);
    *charts = (struct charts){0};
}
