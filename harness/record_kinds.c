/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of kinds of JSON values; see record_kinds.h. */
#include "harness/record_kinds.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const schema_clock_names[] = {"device", "host", NULL};

enum code place_error(const struct place *place, const char *format, ...)
{
    char message[ERROR_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    text_make_printable(message);
    return error_set(place->err, CODE_CONFIG, 0, "%s:%zu: %s", place->file, place->line, message);
}

static unsigned kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return KIND_OBJECT;
    case JSON_ARRAY:
        return KIND_LIST;
    case JSON_STRING:
        return KIND_TEXT;
    case JSON_INTEGER:
        return json_integer_value(value) >= 0 ? (KIND_COUNT | KIND_NUMBER) : 0;
    case JSON_REAL:
        return json_real_value(value) >= 0.0 ? KIND_NUMBER : 0;
    case JSON_TRUE:
    case JSON_FALSE:
        return KIND_BOOL;
    case JSON_NULL:
        return KIND_NULL;
    }
    return 0;
}

enum { KINDS_TEXT_BYTES = 96 };

/* "text or null" for a message. */
static void kinds_text(unsigned kinds, char out[KINDS_TEXT_BYTES])
{
    static const struct member names[] = {
        {"text", KIND_TEXT},
        {"an integer of 0 or more", KIND_COUNT},
        {"a number of 0 or more", KIND_NUMBER},
        {"true or false", KIND_BOOL},
        {"an object", KIND_OBJECT},
        {"a list", KIND_LIST},
        {"null", KIND_NULL},
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((kinds & names[i].kinds) == 0)
            continue;
        int more = snprintf(out + used, KINDS_TEXT_BYTES - used, "%s%s", used > 0 ? " or " : "",
                            names[i].name);
        used += more > 0 ? (size_t)more : 0;
        if (used >= KINDS_TEXT_BYTES)
            return;
    }
}

void schema_value_text(const json_t *value, char out[VALUE_TEXT_BYTES])
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(out, VALUE_TEXT_BYTES, "%s", dump != NULL ? dump : "?");
    if (dump != NULL && strlen(dump) >= VALUE_TEXT_BYTES)
        memcpy(out + VALUE_TEXT_BYTES - 4, "...", 4);
    free(dump);
}

enum code schema_check_kind(const struct place *place, const char *path, const json_t *value,
                            unsigned kinds)
{
    if ((kind_of(value) & kinds) != 0)
        return CODE_OK;
    char expected[KINDS_TEXT_BYTES], found[VALUE_TEXT_BYTES];
    kinds_text(kinds, expected);
    schema_value_text(value, found);
    return place_error(place, "%s: expected %s, found %s", path, expected, found);
}

enum code schema_check_members(const struct place *place, const char *path, const json_t *object,
                               const struct member *members)
{
    enum code code = schema_check_kind(place, path, object, KIND_OBJECT);
    for (; code == CODE_OK && members->name != NULL; members++) {
        char inner[PLACE_PATH_BYTES];
        snprintf(inner, sizeof inner, "%s.%s", path, members->name);
        const json_t *value = json_object_get(object, members->name);
        if (value != NULL)
            code = schema_check_kind(place, inner, value, members->kinds);
        else if ((members->kinds & KIND_OPTIONAL) == 0)
            code = place_error(place, "%s: is missing", inner);
    }
    return code;
}

const json_t *schema_present(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

enum code schema_check_one_of(const struct place *place, const char *path, const json_t *value,
                              const char *const *allowed)
{
    for (const char *const *name = allowed; *name != NULL; name++)
        if (strcmp(json_string_value(value), *name) == 0)
            return CODE_OK;
    const char *nearest = text_nearest(json_string_value(value), allowed);
    return place_error(place, "%s: '%.60s' is none of the names of the schema%s%s%s", path,
                       json_string_value(value), nearest != NULL ? " (did you mean '" : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "");
}
