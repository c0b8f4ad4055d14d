/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that several parts of the HTML report use, and the page on the method. */
#include "reports/html.h"

#include "reports/labels.h"
#include "reports/markup.h"
#include "reports/method.h"

void html_device_heading(const struct matrix *matrix, size_t column, struct text *out)
{
    const struct matrix_column *shown = &matrix->columns[column];
    char kind[LABEL_KIND_BYTES];
    label_kind(shown->device, kind);
    text_append(out, "<th scope=\"col\"><span class=\"dev\">");
    markup_text(out, shown->label);
    text_append(out, "</span>");
    if (column == matrix->base)
        text_append(out, " <span class=\"badge\">base</span>");
    text_append(out, "<span class=\"kind\">");
    markup_text(out, kind);
    text_append(out, "</span><span class=\"name\">");
    markup_text(out, shown->device->name);
    text_append(out, "</span></th>");
}

void html_table_begin(struct text *out, const char *class_name, const char *caption)
{
    text_printf(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
    markup_text(out, caption);
    text_printf(out, "\"><table class=\"%s\">\n<caption>", class_name);
    markup_text(out, caption);
    text_append(out, "</caption>\n");
}

void html_table_end(struct text *out)
{
    text_append(out, "</table></div>\n");
}

void html_method(const struct matrix *matrix, struct text *out)
{
    struct text verdicts = {0};
    method_verdicts(matrix->input, &verdicts);
    text_append(out, "<section id=\"method\">\n<h2>Method</h2>\n<dl class=\"method\">\n");
    for (const struct method_item *item = method_items; item->term != NULL; item++) {
        text_append(out, "<dt>");
        markup_text(out, item->term);
        text_append(out, "</dt>\n<dd>");
        markup_text(out, item->text);
        text_append(out, "</dd>\n");
    }
    text_append(out, "<dt>Verdicts</dt>\n<dd>");
    markup_text(out, text_string(&verdicts));
    text_append(out, "</dd>\n</dl>\n</section>\n");
    text_release(&verdicts);
}
