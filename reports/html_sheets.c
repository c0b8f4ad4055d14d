/* SPDX-License-Identifier: Apache-2.0
 *
 * The sheets of devices, hosts and files as tables of the HTML report. */
#include "reports/html.h"

#include "reports/markup.h"
#include "reports/sheets.h"

#include <stdio.h>
#include <string.h>

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

/* Devices side by side in one table, so that a fact is compared along a line; more go into further
 * tables. */
enum { SIDE_BY_SIDE = 5 };

/* True if an earlier fact of the sheets, in reading order, has the same term. */
static bool is_repeated(const struct sheet *sheets, size_t sheet, size_t fact)
{
    for (size_t i = 0; i <= sheet; i++)
        for (size_t k = 0; k < (i == sheet ? fact : sheets[i].count); k++)
            if (strcmp(sheets[i].facts[k].term, sheets[sheet].facts[fact].term) == 0)
                return true;
    return false;
}

/* All that a sheet says under a term; "none" if nothing. */
static void write_facts(const struct sheet *sheet, const char *term, struct text *out)
{
    struct text found = {0};
    for (size_t i = 0; i < sheet->count; i++)
        if (strcmp(sheet->facts[i].term, term) == 0)
            text_printf(&found, "%s%s", found.length > 0 ? "; " : "", sheet->facts[i].text);
    text_append(out, "<td>");
    markup_text(out, found.length > 0 ? text_string(&found) : "none");
    text_append(out, "</td>");
    text_release(&found);
}

static void write_terms(const struct sheet *sheets, size_t count, struct text *out)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sheets[i].count; k++) {
            if (is_repeated(sheets, i, k))
                continue;
            text_append(out, "<tr><th scope=\"row\">");
            markup_text(out, sheets[i].facts[k].term);
            text_append(out, "</th>");
            for (size_t column = 0; column < count; column++)
                write_facts(&sheets[column], sheets[i].facts[k].term, out);
            text_append(out, "</tr>\n");
        }
    }
}

static void write_devices(const struct matrix *matrix, size_t first, size_t count, struct text *out)
{
    struct sheet sheets[SIDE_BY_SIDE] = {{0}};
    struct text caption = {0};
    text_append(&caption, "What is known of the devices");
    if (matrix->column_count > SIDE_BY_SIDE)
        text_printf(&caption, ", %zu to %zu of %zu", first + 1, first + count,
                    matrix->column_count);
    html_table_begin(out, "devices", text_string(&caption));
    text_append(out, "<thead><tr><th scope=\"col\">Device</th>");
    for (size_t i = 0; i < count; i++) {
        text_printf(out, "<th scope=\"col\" class=\"dev\" id=\"device-%zu\">", first + i);
        markup_text(out, matrix->columns[first + i].label);
        text_append(out, "</th>");
        sheet_device(&matrix->columns[first + i], &sheets[i]);
    }
    text_append(out, "</tr></thead>\n<tbody>\n");
    write_terms(sheets, count, out);
    text_append(out, "</tbody>\n");
    html_table_end(out);
    text_release(&caption);
    for (size_t i = 0; i < count; i++)
        sheet_release(&sheets[i]);
}

void html_devices(const struct matrix *matrix, struct text *out)
{
    text_append(out, "<section id=\"devices\">\n<h2>Devices</h2>\n");
    for (size_t first = 0; first < matrix->column_count; first += SIDE_BY_SIDE) {
        size_t left = matrix->column_count - first;
        write_devices(matrix, first, left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE, out);
    }
    text_append(out, "</section>\n");
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
