/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of the HTML report: what was measured, what to be warned of, and the verdicts.
 */
#include "reports/html.h"

#include "reports/figures.h"
#include "reports/labels.h"
#include "reports/markup.h"

#include <string.h>

/* Devices beside the base in one verdict table; more go into further tables, so that each can be
 * read and printed. */
enum { OTHERS_MOST = 5 };

static bool first_about(const struct notices *notices, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (strcmp(notices->about[i], notices->about[number]) == 0)
            return false;
    return true;
}

/* All warnings about one device or file, so that the list is as short as the list of those. */
static void write_about(const struct notices *notices, size_t first, struct text *out)
{
    text_append(out, "<section><h4>");
    markup_text(out, notices->about[first]);
    text_append(out, "</h4>\n<ul>\n");
    for (size_t i = first; i < notices->count; i++) {
        if (strcmp(notices->about[i], notices->about[first]) != 0)
            continue;
        text_append(out, "<li>");
        markup_text(out, notices->lines[i]);
        text_append(out, "</li>\n");
    }
    text_append(out, "</ul></section>\n");
}

static void write_warnings(const struct notices *notices, struct text *out)
{
    if (notices->count == 0) {
        text_append(out, "<p class=\"quiet\">No warnings.</p>\n");
        return;
    }
    text_printf(out,
                "<div class=\"warnings\" role=\"note\">\n<h3 id=\"warnings\">%zu warning%s</h3>\n"
                "<div class=\"about\">\n",
                notices->count, notices->count > 1 ? "s" : "");
    for (size_t i = 0; i < notices->count; i++)
        if (first_about(notices, i))
            write_about(notices, i, out);
    text_append(out, "</div>\n</div>\n");
}

static void glance_counts(const struct comparison *comparison, struct text *out)
{
    const size_t counts[] = {comparison->faster_count, comparison->slower_count,
                             comparison->same_count, comparison->undecided_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        text_printf(out, "<td class=\"n\">%zu</td>", counts[i]);
}

static void glance_row(const struct matrix *matrix, size_t number, struct text *out)
{
    const struct matrix_column *column = &matrix->columns[number];
    char kind[LABEL_KIND_BYTES];
    label_kind(column->device, kind);
    text_printf(out, "<tr><th scope=\"row\"><a class=\"dev\" href=\"#device-%zu\">", number);
    markup_text(out, column->label);
    text_append(out, "</a></th><td>");
    markup_text(out, kind);
    text_append(out, "</td><td class=\"name\">");
    markup_text(out, column->device->name);
    text_append(out, "</td><td class=\"name\">");
    markup_text(out, column->device->driver);
    text_printf(out, "</td><td class=\"n%s\">%zu of %zu</td>",
                column->measured_count < column->expected_count ? " some" : "",
                column->measured_count, column->expected_count);
    if (number == matrix->base)
        text_append(out, "<td colspan=\"5\" class=\"quiet\">base of all ratios</td></tr>\n");
    else if (column->comparison == NULL)
        text_append(out, "<td colspan=\"5\">not compared, see the warnings</td></tr>\n");
    else {
        struct text mean = {0};
        figure_mean(column, &mean);
        text_append(out, "<td class=\"n\">");
        markup_text(out, text_string(&mean));
        text_append(out, "</td>");
        text_release(&mean);
        glance_counts(column->comparison, out);
        text_append(out, "</tr>\n");
    }
}

static void write_glance(const struct matrix *matrix, struct text *out)
{
    html_table_begin(out, "glance", "Devices at a glance");
    text_append(out, "<thead><tr><th scope=\"col\">Device</th><th scope=\"col\">What it is</th>"
                     "<th scope=\"col\">Name</th><th scope=\"col\">Driver</th><th scope=\"col\" "
                     "class=\"n\">Passed</th>"
                     "<th scope=\"col\" class=\"n\">Geometric mean of ratios</th>"
                     "<th scope=\"col\" class=\"n\">faster</th><th scope=\"col\" class=\"n\">slower"
                     "</th><th scope=\"col\" class=\"n\">same</th>"
                     "<th scope=\"col\" class=\"n\">undecided</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < matrix->column_count; i++)
        glance_row(matrix, i, out);
    text_append(out, "</tbody>\n");
    html_table_end(out);
}

/* Ratio and verdict under a rate, or why there is none. */
static void write_verdict(const struct matrix *matrix, const struct matrix_cell *cell, size_t row,
                          struct text *out)
{
    const char *verdict = figure_verdict(cell);
    char ratio[FIGURE_BYTES];
    if (verdict != NULL) {
        const char *name = strchr(verdict, ' ') == NULL ? verdict : "few";
        text_printf(out, "<span class=\"v %s\">%s · %s</span>", name,
                    figure_ratio(cell->row->ratio.value, ratio), verdict);
        return;
    }
    const struct matrix_cell *base = matrix_cell(matrix, row, matrix->base);
    text_append(out, "<span class=\"v none\">no ratio: ");
    if (cell->row != NULL && base->has_number && cell->row->reason[0] != '\0')
        markup_text(out, cell->row->reason);
    else
        markup_printf(out, "base %s",
                      base->has_number ? "not compared" : figure_absence_short(base));
    text_append(out, "</span>");
}

static void write_cell(const struct matrix *matrix, size_t row, size_t column, struct text *out)
{
    const struct matrix_cell *cell = matrix_cell(matrix, row, column);
    char figure[FIGURE_BYTES];
    if (!cell->has_number) {
        struct text absence = {0};
        figure_absence(cell, &absence);
        text_printf(out, "<td class=\"absent\"><a href=\"#m-%zu-%zu\">", row, column);
        markup_text(out, figure_absence_short(cell));
        text_append(out, "</a>");
        markup_text(out, text_string(&absence) + strlen(figure_absence_short(cell)));
        text_append(out, "</td>");
        text_release(&absence);
        return;
    }
    text_printf(out, "<td class=\"n\"><a href=\"#m-%zu-%zu\">", row, column);
    markup_text(out, figure_rate(cell, figure));
    text_append(out, "</a> <span class=\"pm\">");
    markup_text(out, figure_margin(cell, figure));
    text_append(out, "</span>");
    if (column != matrix->base)
        write_verdict(matrix, cell, row, out);
    text_append(out, "</td>");
}

static const char *counted(const struct matrix_row *row)
{
    if (row->by_operations)
        return "operations";
    return row->bytes_counted != NULL ? row->bytes_counted : "unknown";
}

/* What all rows of a group count, NULL if they differ. */
static const char *group_counted(const struct matrix *matrix, const struct matrix_group *group)
{
    const char *first = counted(&matrix->rows[group->first]);
    for (size_t i = 1; i < group->count; i++)
        if (strcmp(first, counted(&matrix->rows[group->first + i])) != 0)
            return NULL;
    return first;
}

static void write_group(const struct matrix *matrix, size_t number, const size_t *columns,
                        size_t count, struct text *out)
{
    const struct matrix_group *group = &matrix->groups[number];
    const char *all = group_counted(matrix, group);
    text_printf(out,
                "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">"
                "<a href=\"#suite-%zu\">",
                count + 1, number);
    markup_text(out, group->name);
    text_append(out, "</a> <span class=\"common\">");
    markup_text(out, group->common);
    markup_printf(out, "%scounted: %s", group->common[0] != '\0' ? " · " : "",
                  all != NULL ? all : "see each case");
    text_append(out, "</span></th></tr>\n");
    for (size_t i = 0; i < group->count; i++) {
        size_t row = group->first + i;
        text_append(out, "<tr><th scope=\"row\">");
        markup_text(out, matrix->rows[row].label);
        if (all == NULL)
            markup_printf(out, " · %s", counted(&matrix->rows[row]));
        text_append(out, "</th>");
        for (size_t k = 0; k < count; k++)
            write_cell(matrix, row, columns[k], out);
        text_append(out, "</tr>\n");
    }
    text_append(out, "</tbody>\n");
}

static void write_means(const struct matrix *matrix, const size_t *columns, size_t count,
                        struct text *out)
{
    text_append(out, "<tfoot>\n<tr><th scope=\"row\">Geometric mean of ratios</th>");
    for (size_t i = 0; i < count; i++) {
        const struct matrix_column *column = &matrix->columns[columns[i]];
        text_append(out, "<td class=\"n\">");
        struct text mean = {0};
        figure_mean(column, &mean);
        if (columns[i] == matrix->base)
            text_append(out, "base");
        else if (column->comparison == NULL)
            text_append(out, "not compared");
        else
            markup_text(out, text_string(&mean));
        text_release(&mean);
        text_append(out, "</td>");
    }
    text_append(out, "</tr>\n</tfoot>\n");
}

static void write_verdicts(const struct matrix *matrix, const size_t *columns, size_t count,
                           size_t first, struct text *out)
{
    struct text caption = {0};
    text_printf(&caption, "Verdicts against %s", matrix->columns[matrix->base].label);
    if (matrix->column_count > OTHERS_MOST + 1)
        text_printf(&caption, ", devices %zu to %zu of %zu", first + 1, first + count - 1,
                    matrix->column_count - 1);
    text_append(&caption, ": median rate, ± the 95 % interval; below it the ratio to the base");
    html_table_begin(out, "verdicts", text_string(&caption));
    text_release(&caption);
    text_append(out, "<thead><tr><th scope=\"col\">Case</th>");
    for (size_t i = 0; i < count; i++)
        html_device_heading(matrix, columns[i], out);
    text_append(out, "</tr></thead>\n");
    for (size_t i = 0; i < matrix->group_count; i++)
        write_group(matrix, i, columns, count, out);
    write_means(matrix, columns, count, out);
    html_table_end(out);
}

static void write_all_verdicts(const struct matrix *matrix, struct text *out)
{
    size_t columns[OTHERS_MOST + 1] = {matrix->base};
    size_t count = 1, first = 0;
    for (size_t i = 0; i < matrix->column_count; i++) {
        if (i == matrix->base)
            continue;
        columns[count++] = i;
        if (count == OTHERS_MOST + 1) {
            write_verdicts(matrix, columns, count, first, out);
            first += count - 1;
            count = 1;
        }
    }
    if (count > 1 || matrix->column_count == 1)
        write_verdicts(matrix, columns, count, first, out);
}

void html_summary(const struct matrix *matrix, const struct notices *notices, struct text *out)
{
    text_append(out, "<section id=\"verdicts\">\n<h2>Verdicts</h2>\n<p class=\"headline\">");
    text_printf(out, "<b>%zu of %zu measurements passed.</b> ", matrix->measured_count,
                matrix->expected_count);
    markup_printf(out, "Base: %s, %s. Smallest difference that matters: %g %%.",
                  matrix->columns[matrix->base].label, matrix->base_reason,
                  100 * matrix->input->difference);
    text_append(out, "</p>\n");
    write_warnings(notices, out);
    write_glance(matrix, out);
    write_all_verdicts(matrix, out);
    text_append(out, "<p class=\"quiet\">Each rate links to its sample count, interval, clock and "
                     "check. <a href=\"#method\">How to read the verdicts</a>.</p>\n</section>\n");
}
