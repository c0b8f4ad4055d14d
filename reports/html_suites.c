/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of the suites: charts, then the table that holds every measurement with what is
 * needed to believe it. */
#include "reports/html.h"

#include "base/quantity.h"
#include "reports/figures.h"
#include "reports/labels.h"
#include "reports/markup.h"

#include <inttypes.h>
#include <string.h>

static void write_chart(const struct chart *chart, struct text *out)
{
    text_append(out, "<figure>\n<figcaption><b>");
    markup_text(out, chart->title);
    text_append(out, "</b> <span>");
    markup_text(out, text_string(&chart->note));
    text_append(out, "</span></figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                     "aria-label=\"");
    markup_text(out, chart->title);
    text_append(out, "\">");
    text_append_bytes(out, text_string(&chart->svg), chart->svg.length);
    text_append(out, "</div>\n</figure>\n");
}

static void write_charts(const struct charts *charts, size_t group, struct text *out)
{
    bool open = false;
    for (size_t i = 0; i < charts->count; i++) {
        if (charts->items[i].group != group)
            continue;
        if (!open)
            text_append(out, "<div class=\"charts\">\n");
        open = true;
        write_chart(&charts->items[i], out);
    }
    if (open)
        text_append(out, "</div>\n");
}

/* All digits, and the value for machines that read the page. */
static void write_work(const struct record *record, struct text *out)
{
    char count[QUANTITY_BYTES];
    uint64_t work = record->by_operations ? record->work_operations : record->work_bytes;
    text_printf(out, "<td class=\"n\"><data value=\"%" PRIu64 "\">%s</data> %s<small>", work,
                quantity_format_count(work, count), record->by_operations ? "op" : "B");
    markup_text(out, record->by_operations           ? "operations"
                     : record->bytes_counted != NULL ? record->bytes_counted
                                                     : "unknown");
    text_append(out, "</small></td>");
}

static void write_clock(const struct record *record, struct text *out)
{
    const json_t *clock = json_object_get(record->json, "clock");
    const json_t *rejected = json_object_get(clock, "rejected");
    text_append(out, "<td>");
    markup_text(out, record->clock != NULL ? record->clock : "unknown");
    if (json_integer_value(rejected) > 0)
        text_printf(out, " (%" JSON_INTEGER_FORMAT " stamps refused)",
                    json_integer_value(rejected));
    text_append(out, "</td>");
}

static void write_ratio(const struct matrix *matrix, size_t row, size_t column, struct text *out)
{
    const struct matrix_cell *cell = matrix_cell(matrix, row, column);
    const char *verdict = figure_verdict(cell);
    char value[FIGURE_BYTES], interval[FIGURE_BYTES];
    if (column == matrix->base)
        text_append(out, "<td class=\"n quiet\">base</td>");
    else if (verdict == NULL)
        text_append(out, "<td class=\"n quiet\">no ratio</td>");
    else
        text_printf(out, "<td class=\"n\">%s · %s<small>%s</small></td>",
                    figure_ratio(cell->row->ratio.value, value), verdict,
                    figure_ratio_interval(&cell->row->ratio, interval));
}

static void write_remarks(const struct matrix_cell *cell, struct text *out)
{
    struct text remarks = {0};
    figure_remarks(cell, &remarks);
    text_append(out, "<td class=\"remarks\">");
    markup_text(out, remarks.length > 0 ? text_string(&remarks) : "none");
    text_append(out, "</td>");
    text_release(&remarks);
}

static void write_number(const struct matrix *matrix, size_t row, size_t column, struct text *out)
{
    const struct matrix_cell *cell = matrix_cell(matrix, row, column);
    const struct summary *summary = &cell->summary;
    char figure[FIGURE_BYTES], time[QUANTITY_BYTES];
    struct text check = {0};
    figure_check(cell->record, &check);
    text_append(out, "<td class=\"n\"><b>");
    markup_text(out, figure_rate(cell, figure));
    text_append(out, "</b><small>");
    markup_text(out, figure_interval(cell, figure));
    text_printf(out,
                "</small></td><td class=\"n\">%zu<small>in %zu rounds</small></td>"
                "<td class=\"n\">",
                summary->count, summary->rounds);
    markup_text(out, quantity_format_duration(summary->median, time));
    text_append(out, "</td>");
    write_work(cell->record, out);
    write_clock(cell->record, out);
    text_append(out, "<td>");
    markup_text(out, text_string(&check));
    text_append(out, "</td>");
    write_ratio(matrix, row, column, out);
    write_remarks(cell, out);
    text_release(&check);
}

/* The reason across the columns of figures: nothing here can be taken for a number. */
static void write_absence(const struct matrix_cell *cell, struct text *out)
{
    struct text absence = {0};
    figure_absence(cell, &absence);
    text_append(out, "<td class=\"absent\" colspan=\"7\">");
    markup_text(out, text_string(&absence));
    text_append(out, "</td>");
    write_remarks(cell, out);
    text_release(&absence);
}

static void write_row(const struct matrix *matrix, size_t row, struct text *out)
{
    text_append(out, "<tbody>\n");
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct matrix_cell *cell = matrix_cell(matrix, row, i);
        text_printf(out, "<tr id=\"m-%zu-%zu\">", row, i);
        if (i == 0) {
            text_printf(out, "<th scope=\"rowgroup\" rowspan=\"%zu\">", matrix->column_count);
            markup_text(out, matrix->rows[row].label);
            text_append(out, "</th>");
        }
        text_append(out, "<th scope=\"row\" class=\"dev\">");
        markup_text(out, matrix->columns[i].label);
        text_append(out, "</th>");
        if (cell->has_number)
            write_number(matrix, row, i, out);
        else
            write_absence(cell, out);
        text_append(out, "</tr>\n");
    }
    text_append(out, "</tbody>\n");
}

static void write_details(const struct matrix *matrix, const struct matrix_group *group,
                          struct text *out)
{
    struct text caption = {0};
    text_printf(&caption, "%s: every measurement", group->name);
    html_table_begin(out, "details", text_string(&caption));
    text_append(out, "<thead><tr><th scope=\"col\">Case</th><th scope=\"col\">Device</th>"
                     "<th scope=\"col\" class=\"n\">Median rate<small>95 % interval</small></th>"
                     "<th scope=\"col\" class=\"n\">Samples</th>"
                     "<th scope=\"col\" class=\"n\">Median time<small>of a step</small></th>"
                     "<th scope=\"col\" class=\"n\">Work of a step<small>counted</small></th>"
                     "<th scope=\"col\">Clock</th><th scope=\"col\">Verified</th>"
                     "<th scope=\"col\" class=\"n\">Ratio to base<small>95 % interval</small></th>"
                     "<th scope=\"col\">Remarks</th></tr></thead>\n");
    for (size_t i = 0; i < group->count; i++)
        write_row(matrix, group->first + i, out);
    html_table_end(out);
    text_release(&caption);
}

/* ---- steps timed one by one ---- */

enum { PHASES_MOST = 16 };

/* Names of the phases of a row, in the order in which devices have them. */
static size_t phase_names(const struct matrix *matrix, size_t row, const char *names[PHASES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct matrix_cell *cell = matrix_cell(matrix, row, i);
        for (size_t k = 0; cell->has_number && k < cell->record->phase_count; k++) {
            size_t at = 0;
            while (at < count && strcmp(names[at], cell->record->phases[k].name) != 0)
                at++;
            if (at == count && count < PHASES_MOST)
                names[count++] = cell->record->phases[k].name;
        }
    }
    return count;
}

static void phase_cell(const struct matrix_cell *cell, const char *name, struct text *out)
{
    char time[QUANTITY_BYTES];
    for (size_t i = 0; i < cell->record->phase_count; i++) {
        const struct phase *phase = &cell->record->phases[i];
        if (strcmp(phase->name, name) != 0 || phase->samples.count == 0)
            continue;
        text_append(out, "<td class=\"n\">");
        markup_text(out, quantity_format_duration(
                             stats_median(phase->samples.ns, phase->samples.count), time));
        text_printf(out, " <span class=\"quiet\">n = %zu</span></td>", phase->samples.count);
        return;
    }
    text_append(out, "<td class=\"quiet\">not timed</td>");
}

static void write_phases_row(const struct matrix *matrix, size_t row, const char *const *names,
                             size_t count, struct text *out)
{
    text_append(out, "<thead><tr><th scope=\"col\">Device</th>");
    for (size_t i = 0; i < count; i++) {
        text_append(out, "<th scope=\"col\" class=\"n\">");
        markup_text(out, names[i]);
        text_append(out, "</th>");
    }
    text_append(out, "<th scope=\"col\" class=\"n\">the whole</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct matrix_cell *cell = matrix_cell(matrix, row, i);
        char time[QUANTITY_BYTES];
        if (!cell->has_number)
            continue;
        text_append(out, "<tr><th scope=\"row\" class=\"dev\">");
        markup_text(out, matrix->columns[i].label);
        text_append(out, "</th>");
        for (size_t k = 0; k < count; k++)
            phase_cell(cell, names[k], out);
        text_append(out, "<td class=\"n\"><b>");
        markup_text(out, quantity_format_duration(cell->summary.median, time));
        text_printf(out, "</b> <span class=\"quiet\">n = %zu</span></td></tr>\n",
                    cell->summary.count);
    }
    text_append(out, "</tbody>\n");
}

static void write_phases(const struct matrix *matrix, const struct matrix_group *group,
                         struct text *out)
{
    const char *names[PHASES_MOST];
    for (size_t i = 0; i < group->count; i++) {
        size_t row = group->first + i;
        size_t count = phase_names(matrix, row, names);
        if (count == 0)
            continue;
        struct text caption = {0};
        text_printf(&caption,
                    "%s %s: parts of a step timed one by one (medians; parts may overlap in the "
                    "whole and need not add up to it)",
                    group->name, matrix->rows[row].label);
        html_table_begin(out, "phases", text_string(&caption));
        write_phases_row(matrix, row, names, count, out);
        html_table_end(out);
        text_release(&caption);
    }
}

void html_suites(const struct matrix *matrix, const struct charts *charts, struct text *out)
{
    for (size_t i = 0; i < matrix->group_count; i++) {
        const struct matrix_group *group = &matrix->groups[i];
        text_printf(out, "<section id=\"suite-%zu\">\n<h2>", i);
        markup_text(out, group->name);
        text_append(out, "</h2>\n");
        if (group->common[0] != '\0') {
            text_append(out, "<p class=\"quiet\">All cases: ");
            markup_text(out, group->common);
            text_append(out, "</p>\n");
        }
        write_charts(charts, i, out);
        write_details(matrix, group, out);
        write_phases(matrix, group, out);
        text_append(out, "</section>\n");
    }
}
