/* SPDX-License-Identifier: Apache-2.0
 *
 * The sheets of devices, hosts and files as tables of the HTML report. */
#include "reports/html.h"

#include "reports/markup.h"
#include "reports/sheets.h"

#include <stdio.h>

static void write_sheet(const char *id, const char *caption, struct sheet *sheet, struct text *out)
{
    text_printf(out, "<div class=\"sheet\" id=\"%s\">\n", id);
    html_table_begin(out, "facts", caption);
    text_append(out, "<tbody>\n");
    for (size_t i = 0; i < sheet->count; i++) {
        text_append(out, "<tr><th scope=\"row\">");
        markup_text(out, sheet->facts[i].term);
        text_append(out, "</th><td>");
        markup_text(out, sheet->facts[i].text);
        text_append(out, "</td></tr>\n");
    }
    text_append(out, "</tbody>\n");
    html_table_end(out);
    sheet_release(sheet);
}

static void section_begin(const char *id, const char *title, struct text *out)
{
    text_printf(out, "<section id=\"%s\">\n<h2>%s</h2>\n<div class=\"sheets\">\n", id, title);
}

void html_devices(const struct matrix *matrix, struct text *out)
{
    section_begin("devices", "Devices", out);
    for (size_t i = 0; i < matrix->column_count; i++) {
        struct sheet sheet = {0};
        char id[32];
        snprintf(id, sizeof id, "device-%zu", i);
        sheet_device(&matrix->columns[i], &sheet);
        write_sheet(id, matrix->columns[i].label, &sheet, out);
        text_append(out, "</div>\n");
    }
    text_append(out, "</div>\n</section>\n");
}

void html_hosts(const struct matrix *matrix, struct text *out)
{
    section_begin("hosts", "Hosts", out);
    for (size_t i = 0; i < matrix->input->result_count; i++) {
        struct sheet sheet = {0};
        char id[32], caption[48];
        snprintf(id, sizeof id, "host-%zu", i + 1);
        snprintf(caption, sizeof caption, "Host of file %zu", i + 1);
        sheet_host(matrix->input->results[i], &sheet);
        write_sheet(id, caption, &sheet, out);
        text_append(out, "</div>\n");
    }
    text_append(out, "</div>\n</section>\n");
}

void html_files(const struct matrix *matrix, struct text *out)
{
    section_begin("files", "Files", out);
    for (size_t i = 0; i < matrix->input->result_count; i++) {
        const struct result *result = matrix->input->results[i];
        const char *resolved = json_string_value(
            json_object_get(json_object_get(result->header, "config"), "resolved"));
        struct sheet sheet = {0};
        char id[32], caption[48];
        snprintf(id, sizeof id, "file-%zu", i + 1);
        snprintf(caption, sizeof caption, "File %zu", i + 1);
        sheet_file(result, &sheet);
        write_sheet(id, caption, &sheet, out);
        if (resolved != NULL && resolved[0] != '\0') {
            text_append(out, "<details><summary>The whole config</summary>\n<pre>");
            markup_text(out, resolved);
            text_append(out, "</pre></details>\n");
        }
        text_append(out, "</div>\n");
    }
    text_append(out, "</div>\n</section>\n");
}
