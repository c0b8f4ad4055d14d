/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing sheets, and facts from members of JSON objects. Must not know: which facts belong on
 * which sheet. */
#include "reports/sheets.h"

#include "base/quantity.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void sheet_fact(struct sheet *sheet, const char *term, const char *text)
{
    if (sheet->count == sheet->capacity) {
        sheet->capacity = sheet->capacity == 0 ? 32 : 2 * sheet->capacity;
        sheet->facts = memory_resize(sheet->facts, sheet->capacity, sizeof *sheet->facts);
    }
    sheet->facts[sheet->count++] =
        (struct fact){.term = text_duplicate(term), .text = text_duplicate(text)};
}

void sheet_release(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->count; i++) {
        free(sheet->facts[i].term);
        free(sheet->facts[i].text);
    }
    free(sheet->facts);
    *sheet = (struct sheet){0};
}

void sheet_text(struct sheet *sheet, const char *term, const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    sheet_fact(sheet, term, text != NULL && text[0] != '\0' ? text : "not told");
}

void sheet_count(struct sheet *sheet, const char *term, const json_t *object, const char *member,
                 const char *unit)
{
    const json_t *value = json_object_get(object, member);
    char count[QUANTITY_BYTES], text[64];
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        sheet_fact(sheet, term, "not told");
        return;
    }
    snprintf(text, sizeof text, "%s%s%s",
             quantity_format_count((uint64_t)json_integer_value(value), count),
             unit[0] != '\0' ? " " : "", unit);
    sheet_fact(sheet, term, text);
}

void sheet_bytes(struct sheet *sheet, const char *term, const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    char size[QUANTITY_BYTES], count[QUANTITY_BYTES], text[96];
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        sheet_fact(sheet, term, "not told");
        return;
    }
    uint64_t bytes = (uint64_t)json_integer_value(value);
    snprintf(text, sizeof text, "%s (%s B)", quantity_format_bytes(bytes, size),
             quantity_format_count(bytes, count));
    sheet_fact(sheet, term, text);
}

/* Any JSON value as a short text: what a cgroup limit or an unknown member holds is shown as it is.
 */
static void value_text(const json_t *value, struct text *out)
{
    char *dumped;
    if (value == NULL || json_is_null(value))
        text_append(out, "not told");
    else if (json_is_string(value))
        text_append(out, json_string_value(value));
    else if (json_is_boolean(value))
        text_append(out, json_is_true(value) ? "yes" : "no");
    else if ((dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                             JSON_REAL_PRECISION(6))) != NULL) {
        text_append(out, dumped);
        free(dumped);
    }
}

void sheet_value(struct sheet *sheet, const char *term, const json_t *object, const char *member)
{
    struct text text = {0};
    value_text(json_object_get(object, member), &text);
    sheet_fact(sheet, term, text_string(&text));
    text_release(&text);
}

/* Members of an object as "name value, name value". */
void sheet_members(struct sheet *sheet, const char *term, const json_t *object)
{
    struct text text = {0};
    const char *name;
    json_t *value;
    void *at = json_object_iter((json_t *)(uintptr_t)object);
    for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        name = json_object_iter_key(at);
        value = json_object_iter_value(at);
        text_printf(&text, "%s%s ", text.length > 0 ? ", " : "", name);
        value_text(value, &text);
    }
    sheet_fact(sheet, term, text.length > 0 ? text_string(&text) : "not told");
    text_release(&text);
}
