/* SPDX-License-Identifier: Apache-2.0
 *
 * The report as one HTML file that needs nothing else: style and charts stand inside, no script, no
 * reference that is loaded. */
#include "reports/format.h"

#include "base/embedded.h"
#include "reports/charts.h"
#include "reports/html.h"
#include "reports/markup.h"
#include "reports/matrix.h"
#include "reports/notices.h"

#include "version.h"

#include <stdio.h>

static void write_head(const struct matrix *matrix, struct text *out)
{
    const char *style = embedded_text("reports/report.css");
    text_append(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<meta name=\"generator\" content=\"Assay " ASSAY_VERSION "\">\n"
                     "<title>Assay report: ");
    markup_printf(out, "%zu cases on %zu devices", matrix->row_count, matrix->column_count);
    text_append(out, "</title>\n<style>\n");
    text_append(out, style != NULL ? style : "");
    text_append(out, "</style>\n</head>\n");
}

static void write_title(const struct matrix *matrix, struct text *out)
{
    const struct report_input *input = matrix->input;
    text_append(out, "<header>\n<h1>Assay report</h1>\n<p>");
    markup_printf(out, "%zu cases on %zu device%s", matrix->row_count, matrix->column_count,
                  matrix->column_count == 1 ? "" : "s");
    if (input->created != NULL)
        markup_printf(out, " · written %s", input->created);
    text_append(out, " · Assay " ASSAY_VERSION "</p>\n<ul class=\"sources\">\n");
    for (size_t i = 0; i < input->result_count; i++) {
        const json_t *header = input->results[i]->header;
        const char *created = json_string_value(json_object_get(header, "created"));
        const char *run = json_string_value(json_object_get(header, "run"));
        text_append(out, "<li>");
        if (input->result_count > 1)
            text_printf(out, "[%zu] ", i + 1);
        text_append(out, "<b>");
        markup_text(out, input->results[i]->path);
        text_append(out, "</b>, measured ");
        markup_text(out, created);
        markup_printf(out, ", run %.8s", run != NULL ? run : "unknown");
        text_append(out, input->results[i]->complete ? "</li>\n" : ", <b>incomplete</b></li>\n");
    }
    text_append(out, "</ul>\n</header>\n");
}

static void write_contents(const struct matrix *matrix, struct text *out)
{
    text_append(out, "<nav aria-label=\"Contents\">\n<ul>\n"
                     "<li><a href=\"#verdicts\">Verdicts</a></li>\n");
    for (size_t i = 0; i < matrix->group_count; i++) {
        text_printf(out, "<li><a href=\"#suite-%zu\">", i);
        markup_text(out, matrix->groups[i].name);
        text_append(out, "</a></li>\n");
    }
    text_append(out, "<li><a href=\"#devices\">Devices</a></li>\n"
                     "<li><a href=\"#hosts\">Hosts</a></li>\n"
                     "<li><a href=\"#method\">Method</a></li>\n"
                     "<li><a href=\"#files\">Files</a></li>\n</ul>\n</nav>\n");
}

static enum code write_html(const struct report_input *input, struct text *out, struct error *err)
{
    struct matrix *matrix;
    struct notices notices = {0};
    struct charts charts = {0};
    enum code code = matrix_create(input, &matrix, err);
    if (code != CODE_OK)
        return code;
    notices_collect(matrix, &notices);
    charts_draw(matrix, &charts, &notices);
    write_head(matrix, out);
    text_append(out, "<body>\n");
    write_title(matrix, out);
    write_contents(matrix, out);
    text_append(out, "<main>\n");
    html_summary(matrix, &notices, out);
    html_suites(matrix, &charts, out);
    html_devices(matrix, out);
    html_hosts(matrix, out);
    html_method(matrix, out);
    html_files(matrix, out);
    text_append(out, "</main>\n</body>\n</html>\n");
    charts_release(&charts);
    notices_release(&notices);
    matrix_destroy(matrix);
    return CODE_OK;
}

const struct report_format report_html = {
    .name = "html",
    .summary = "one self-contained HTML file with charts",
    .report = true,
    .write = write_html,
};
