/* SPDX-License-Identifier: Apache-2.0
 *
 * The report as Markdown tables (GitHub's dialect): the same figures as the HTML report, without
 * charts. */
#include "reports/format.h"

#include "base/quantity.h"
#include "reports/figures.h"
#include "reports/labels.h"
#include "reports/markup.h"
#include "reports/matrix.h"
#include "reports/method.h"
#include "reports/notices.h"
#include "reports/sheets.h"

#include <inttypes.h>
#include <stdio.h>

static void write_head(const struct matrix *matrix, struct text *out)
{
    const struct report_input *input = matrix->input;
    text_printf(out, "# Assay report\n\n%zu cases on %zu devices", matrix->row_count,
                matrix->column_count);
    if (input->created != NULL)
        text_printf(out, ", written %s", input->created);
    text_append(out, ".\n\n");
    for (size_t i = 0; i < input->result_count; i++) {
        const json_t *header = input->results[i]->header;
        text_printf(out, "- [%zu] ", i + 1);
        markdown_text(out, input->results[i]->path);
        text_append(out, ", measured ");
        markdown_text(out, json_string_value(json_object_get(header, "created")));
        text_append(out, ", run ");
        markdown_text(out, json_string_value(json_object_get(header, "run")));
        text_append(out, input->results[i]->complete ? "\n" : ", **incomplete**\n");
    }
    text_printf(out, "\n## Verdicts\n\n**%zu of %zu measurements passed.** Base: ",
                matrix->measured_count, matrix->expected_count);
    markdown_text(out, matrix->columns[matrix->base].label);
    text_printf(out, ", %s. Smallest difference that matters: %g %%.\n\n", matrix->base_reason,
                100 * input->difference);
}

static void write_warnings(const struct notices *notices, struct text *out)
{
    if (notices->count == 0) {
        text_append(out, "No warnings.\n\n");
        return;
    }
    text_append(out, "### Warnings\n\n");
    for (size_t i = 0; i < notices->count; i++) {
        text_append(out, "- **");
        markdown_text(out, notices->about[i]);
        text_append(out, "** ");
        markdown_text(out, notices->lines[i]);
        text_append(out, "\n");
    }
    text_append(out, "\n");
}

static void write_glance(const struct matrix *matrix, struct text *out)
{
    text_append(
        out, "| Device | What it is | Name | Driver | Passed | Geometric mean of ratios | Faster, "
             "slower, same, undecided |\n|---|---|---|---|---:|---:|---:|\n");
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct matrix_column *column = &matrix->columns[i];
        char kind[LABEL_KIND_BYTES];
        struct text mean = {0};
        label_kind(column->device, kind);
        figure_mean(column, &mean);
        text_append(out, "| ");
        markdown_text(out, column->label);
        text_printf(out, " | %s | ", kind);
        markdown_text(out, column->device->name);
        text_append(out, " | ");
        markdown_text(out, column->device->driver);
        text_printf(out, " | %zu of %zu | ", column->measured_count, column->expected_count);
        if (i == matrix->base)
            text_append(out, "base | |\n");
        else if (column->comparison == NULL)
            text_append(out, "not compared | |\n");
        else
            text_printf(out, "%s | %zu, %zu, %zu, %zu |\n", text_string(&mean),
                        column->comparison->faster_count, column->comparison->slower_count,
                        column->comparison->same_count, column->comparison->undecided_count);
        text_release(&mean);
    }
    text_append(out, "\n");
}

static void write_verdict(const struct matrix_cell *cell, bool is_base, struct text *out)
{
    char figure[FIGURE_BYTES];
    const char *verdict = figure_verdict(cell);
    if (!cell->has_number) {
        struct text absence = {0};
        figure_absence(cell, &absence);
        markdown_text(out, text_string(&absence));
        text_release(&absence);
        return;
    }
    text_append(out, figure_rate(cell, figure));
    text_append(out, " ");
    markdown_text(out, figure_margin(cell, figure));
    if (verdict != NULL)
        text_printf(out, ", **%s · %s**", figure_ratio(cell->row->ratio.value, figure), verdict);
    else if (!is_base)
        text_append(out, ", no ratio");
}

static void write_group_verdicts(const struct matrix *matrix, const struct matrix_group *group,
                                 struct text *out)
{
    text_append(out, "### ");
    markdown_text(out, group->name);
    text_append(out, "\n\n");
    if (group->common[0] != '\0') {
        text_append(out, "All cases: ");
        markdown_text(out, group->common);
        text_append(out, ".\n\n");
    }
    text_append(out, "| Case | Counted |");
    for (size_t i = 0; i < matrix->column_count; i++) {
        text_append(out, " ");
        markdown_text(out, matrix->columns[i].label);
        text_append(out, i == matrix->base ? " (base) |" : " |");
    }
    text_append(out, "\n|---|---|");
    for (size_t i = 0; i < matrix->column_count; i++)
        text_append(out, "---:|");
    text_append(out, "\n");
    for (size_t row = group->first; row < group->first + group->count; row++) {
        const struct matrix_row *shown = &matrix->rows[row];
        text_append(out, "| ");
        markdown_text(out, shown->label);
        text_append(out, " | ");
        markdown_text(out, shown->by_operations ? "operations" : shown->bytes_counted);
        text_append(out, " |");
        for (size_t i = 0; i < matrix->column_count; i++) {
            text_append(out, " ");
            write_verdict(matrix_cell(matrix, row, i), i == matrix->base, out);
            text_append(out, " |");
        }
        text_append(out, "\n");
    }
    text_append(out, "\n");
}

static void write_number(const struct matrix_cell *cell, struct text *out)
{
    const struct record *record = cell->record;
    char figure[FIGURE_BYTES], time[QUANTITY_BYTES];
    struct text check = {0}, remarks = {0};
    figure_check(record, &check);
    figure_remarks(cell, &remarks);
    text_append(out, figure_rate(cell, figure));
    text_printf(out, " | %s", figure_interval(cell, figure));
    text_printf(out, " | %zu in %zu | %s | %" PRIu64 " %s | ", cell->summary.count,
                cell->summary.rounds, quantity_format_duration(cell->summary.median, time),
                record->by_operations ? record->work_operations : record->work_bytes,
                record->by_operations ? "op" : "B");
    markdown_text(out, record->clock);
    text_append(out, " | ");
    markdown_text(out, text_string(&check));
    text_append(out, " | ");
    if (figure_verdict(cell) != NULL)
        text_append(out, figure_ratio_interval(&cell->row->ratio, figure));
    text_append(out, " | ");
    markdown_text(out, text_string(&remarks));
    text_append(out, " |\n");
    text_release(&check);
    text_release(&remarks);
}

static void write_group_details(const struct matrix *matrix, const struct matrix_group *group,
                                struct text *out)
{
    text_append(out, "### ");
    markdown_text(out, group->name);
    text_append(out,
                "\n\n| Case | Device | Median rate | 95 % interval | Samples in rounds | Time of a "
                "step | Work of a step | Clock | Verified | 95 % interval of the ratio | "
                "Remarks |\n|---|---|---:|---:|---:|---:|---:|---|---|---:|---|\n");
    for (size_t row = group->first; row < group->first + group->count; row++) {
        for (size_t i = 0; i < matrix->column_count; i++) {
            const struct matrix_cell *cell = matrix_cell(matrix, row, i);
            text_append(out, "| ");
            markdown_text(out, matrix->rows[row].label);
            text_append(out, " | ");
            markdown_text(out, matrix->columns[i].label);
            text_append(out, " | ");
            if (cell->has_number) {
                write_number(cell, out);
                continue;
            }
            struct text absence = {0};
            figure_absence(cell, &absence);
            markdown_text(out, text_string(&absence));
            text_append(out, " | | | | | | | | |\n");
            text_release(&absence);
        }
    }
    text_append(out, "\n");
}

static void write_sheet(const char *title, struct sheet *sheet, struct text *out)
{
    text_append(out, "### ");
    markdown_text(out, title);
    text_append(out, "\n\n| | |\n|---|---|\n");
    for (size_t i = 0; i < sheet->count; i++) {
        text_printf(out, "| %s | ", sheet->facts[i].term);
        markdown_text(out, sheet->facts[i].text);
        text_append(out, " |\n");
    }
    text_append(out, "\n");
    sheet_release(sheet);
}

static void write_sheets(const struct matrix *matrix, struct text *out)
{
    struct sheet sheet = {0};
    char title[48];
    text_append(out, "## Devices\n\n");
    for (size_t i = 0; i < matrix->column_count; i++) {
        sheet_device(&matrix->columns[i], &sheet);
        write_sheet(matrix->columns[i].label, &sheet, out);
    }
    text_append(out, "## Hosts and files\n\n");
    for (size_t i = 0; i < matrix->input->result_count; i++) {
        snprintf(title, sizeof title, "Host of file %zu", i + 1);
        sheet_host(matrix->input->results[i], &sheet);
        write_sheet(title, &sheet, out);
        snprintf(title, sizeof title, "File %zu", i + 1);
        sheet_file(matrix->input->results[i], &sheet);
        write_sheet(title, &sheet, out);
    }
}

static void write_method(const struct matrix *matrix, struct text *out)
{
    struct text verdicts = {0};
    method_verdicts(matrix->input, &verdicts);
    text_append(out, "## Method\n\n");
    for (const struct method_item *item = method_items; item->term != NULL; item++)
        text_printf(out, "**%s.** %s\n\n", item->term, item->text);
    text_printf(out, "**Verdicts.** %s\n", text_string(&verdicts));
    text_release(&verdicts);
}

static enum code write_markdown(const struct report_input *input, struct text *out,
                                struct error *err)
{
    struct matrix *matrix;
    struct notices notices = {0};
    enum code code = matrix_create(input, &matrix, err);
    if (code != CODE_OK)
        return code;
    notices_collect(matrix, &notices);
    write_head(matrix, out);
    write_warnings(&notices, out);
    write_glance(matrix, out);
    for (size_t i = 0; i < matrix->group_count; i++)
        write_group_verdicts(matrix, &matrix->groups[i], out);
    text_append(out, "## Every measurement\n\n");
    for (size_t i = 0; i < matrix->group_count; i++)
        write_group_details(matrix, &matrix->groups[i], out);
    write_sheets(matrix, out);
    write_method(matrix, out);
    notices_release(&notices);
    matrix_destroy(matrix);
    return CODE_OK;
}

const struct report_format report_markdown = {
    .name = "markdown",
    .summary = "Markdown tables, without charts",
    .report = true,
    .write = write_markdown,
};
