/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns gnuplot's SVG document into an element of the page: ids made unique, fixed colours replaced
 * by the page's, placeholders by their texts. Must not know: what is drawn. */
#include "reports/drawing.h"

#include "reports/gnuplot.h"
#include "reports/markup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void drawing_begin(struct drawing *drawing, unsigned width, unsigned height)
{
    *drawing = (struct drawing){.width = width, .height = height};
    text_printf(&drawing->script,
                "set terminal svg size %u,%u fixed noenhanced font 'sans,12'\n"
                "set border 0\n"
                "unset key\n"
                "set tics nomirror scale 0 textcolor " DRAWING_MUTED "\n"
                "set style fill solid noborder\n",
                width, height);
}

const char *drawing_mark(struct drawing *drawing, const char *text, char mark[DRAWING_MARK_BYTES])
{
    if (drawing->label_count == drawing->label_capacity) {
        drawing->label_capacity = drawing->label_capacity == 0 ? 64 : 2 * drawing->label_capacity;
        drawing->labels =
            memory_resize(drawing->labels, drawing->label_capacity, sizeof *drawing->labels);
    }
    int length = snprintf(mark, DRAWING_MARK_BYTES, "_L%zu_", drawing->label_count);
    size_t wanted = text_columns(text);
    if (wanted > DRAWING_MARK_BYTES - 1)
        wanted = DRAWING_MARK_BYTES - 1;
    size_t used = (size_t)length;
    while (used < wanted)
        mark[used++] = '_';
    mark[used] = '\0';
    drawing->labels[drawing->label_count++] = text_duplicate(text);
    return mark;
}

void drawing_release(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->label_count; i++)
        free(drawing->labels[i]);
    free(drawing->labels);
    text_release(&drawing->script);
    *drawing = (struct drawing){0};
}

/* Each of the following takes what it knows at *at, writes its replacement and moves on; false if
 * it is something else. */

/* "rgb(  1,   2,   3)" */
static bool take_colour(const char **at, struct text *out)
{
    int red, green, blue, length = 0;
    if (strncmp(*at, "rgb(", 4) != 0 ||
        sscanf(*at, "rgb(%d ,%d ,%d )%n", &red, &green, &blue, &length) != 3 || length == 0)
        return false;
    *at += length;
    if (red == 1 && green == 2)
        text_printf(out, "var(--series-%d)", blue % DRAWING_SERIES);
    else if (red == 1 && green == 3)
        text_append(out, blue == 0 ? "var(--muted)" : blue == 1 ? "var(--line)" : "var(--band)");
    else
        text_append(out, "currentColor");
    return true;
}

/* ' id="x"', ' id='x'' and references to them. */
static bool take_id(const char **at, const char *id, struct text *out)
{
    static const struct {
        const char *from, *to;
    } forms[] = {{" id=\"", " id=\""},
                 {" id='", " id='"},
                 {" xlink:href='#", " href='#"},
                 {" xlink:href=\"#", " href=\"#"},
                 {"url(#", "url(#"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!text_starts_with(*at, forms[i].from))
            continue;
        *at += strlen(forms[i].from);
        text_printf(out, "%s%s-", forms[i].to, id);
        return true;
    }
    return false;
}

/* The text for a placeholder. */
static bool take_mark(const char **at, const struct drawing *drawing, struct text *out)
{
    size_t number;
    int length = 0;
    if (strncmp(*at, "_L", 2) != 0 || sscanf(*at, "_L%zu_%n", &number, &length) != 1 ||
        length == 0 || number >= drawing->label_count)
        return false;
    *at += length;
    *at += strspn(*at, "_");
    markup_text(out, drawing->labels[number]);
    return true;
}

/* Things that only cost room or carry a fixed colour: names of plots, which show up as tool tips,
 * unused filters, empty groups, fonts. */
static bool skip_span(const char **at)
{
    static const struct {
        const char *begin, *end;
    } spans[] = {{"<title>gnuplot_", "</title>"},
                 {"<filter ", "</filter>"},
                 {" font-family=\"", "\""},
                 {" color=\"", "\""},
                 {" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", ""}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        if (!text_starts_with(*at, spans[i].begin))
            continue;
        const char *end = strstr(*at + strlen(spans[i].begin), spans[i].end);
        if (end == NULL)
            return false;
        *at = end + strlen(spans[i].end);
        return true;
    }
    return false;
}

static bool skip_empty_group(const char **at)
{
    if (!text_starts_with(*at, "<g fill=\"none\""))
        return false;
    const char *end = strchr(*at, '>');
    if (end == NULL || !text_starts_with(end, ">\n</g>\n"))
        return false;
    *at = end + strlen(">\n</g>\n");
    return true;
}

static bool take_black(const char **at, struct text *out)
{
    if (!text_starts_with(*at, "\"black\""))
        return false;
    *at += strlen("\"black\"");
    text_append(out, "\"currentColor\"");
    return true;
}

static void rewrite(const struct drawing *drawing, const char *at, const char *end, const char *id,
                    struct text *out)
{
    while (at < end) {
        if (skip_span(&at) || skip_empty_group(&at) || take_colour(&at, out) ||
            take_id(&at, id, out) || take_mark(&at, drawing, out) || take_black(&at, out))
            continue;
        text_append_bytes(out, at, 1);
        at++;
    }
}

enum code drawing_finish(const struct drawing *drawing, const char *svg, const char *id,
                         const char *title, const char *description, struct text *out,
                         struct error *err)
{
    static const char head_end[] = "</desc>";
    const char *begin = strstr(svg, head_end);
    const char *end = begin == NULL ? NULL : strstr(begin, "</svg>");
    if (end == NULL)
        return error_set(err, CODE_IO, 0, "gnuplot's output is no whole SVG document");
    text_printf(out,
                "<svg viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" role=\"img\" "
                "aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
                drawing->width, drawing->height, drawing->width, drawing->height, id, id, id);
    markup_text(out, title);
    text_printf(out, "</title>\n<desc id=\"%s-desc\">", id);
    markup_text(out, description);
    text_append(out, "</desc>");
    rewrite(drawing, begin + strlen(head_end), end, id, out);
    text_append(out, "</svg>\n");
    return CODE_OK;
}

enum code drawing_render(struct drawing *drawing, const char *id, const char *title,
                         const char *description, struct text *out, struct error *err)
{
    struct text svg = {0};
    enum code code = gnuplot_run(text_string(&drawing->script), DRAWING_LIMIT_MS, &svg, err);
    if (code == CODE_OK)
        code = drawing_finish(drawing, text_string(&svg), id, title, description, out, err);
    text_release(&svg);
    return code;
}
