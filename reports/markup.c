/* SPDX-License-Identifier: Apache-2.0
 *
 * Escaping for HTML, SVG and Markdown. */
#include "reports/markup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* What an HTML document may not hold: C0 controls but for tab and line ends, and DEL. */
static bool is_forbidden(char character)
{
    unsigned char byte = (unsigned char)character;
    return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
}

/* U+0080 to U+009F: C1 controls. */
static bool is_c1(const char *at)
{
    return (unsigned char)at[0] == 0xc2 && ((unsigned char)at[1] & 0xe0) == 0x80;
}

static const char *escape_of(char character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return is_forbidden(character) ? replacement : NULL;
    }
}

void markup_text(struct text *out, const char *string)
{
    if (string == NULL)
        string = "unknown";
    size_t bad;
    bool is_utf8 = text_is_utf8(string, strlen(string), &bad);
    for (const char *at = string; *at != '\0'; at++) {
        const char *escaped = escape_of(*at);
        if (escaped == NULL && !is_utf8 && (unsigned char)*at >= 0x80)
            escaped = replacement;
        if (escaped != NULL)
            text_append(out, escaped);
        else if (is_utf8 && is_c1(at)) {
            text_append(out, replacement);
            at++;
        } else
            text_append_bytes(out, at, 1);
    }
}

void markup_printf(struct text *out, const char *format, ...)
{
    char formatted[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(formatted, sizeof formatted, format, arguments);
    va_end(arguments);
    markup_text(out, formatted);
}

void markdown_text(struct text *out, const char *string)
{
    static const char active[] = "\\`*_[]<>|#&~$!";
    if (string == NULL)
        string = "unknown";
    for (const char *at = string; *at != '\0'; at++) {
        if (*at == '\n' || *at == '\r' || *at == '\t')
            text_append(out, " ");
        else if (is_forbidden(*at))
            text_append(out, replacement);
        else if (*at == '<')
            text_append(out, "&lt;");
        else if (*at == '&')
            text_append(out, "&amp;");
        else if (strchr(active, *at) != NULL)
            text_printf(out, "\\%c", *at);
        else
            text_append_bytes(out, at, 1);
    }
}
