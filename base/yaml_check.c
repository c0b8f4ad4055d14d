/* SPDX-License-Identifier: Apache-2.0
 *
 * What readers of a tree say about it: errors with a place, and the check of a map's keys. */
#include "base/text.h"
#include "base/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum code error_at(const struct yaml_document *document, size_t line, size_t column,
                          struct error *err, const char *format, va_list args)
    __attribute__((format(printf, 5, 0)));

static enum code error_at(const struct yaml_document *document, size_t line, size_t column,
                          struct error *err, const char *format, va_list args)
{
    char what[ERROR_MESSAGE_BYTES];
    vsnprintf(what, sizeof what, format, args);
    return error_set(err, CODE_CONFIG, 0, "%s:%zu:%zu: %s", yaml_name(document), line, column,
                     what);
}

enum code yaml_error(const struct yaml_document *document, const struct yaml_node *node,
                     struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum code code = error_at(document, node->line, node->column, err, format, args);
    va_end(args);
    return code;
}

enum code yaml_key_error(const struct yaml_document *document, const struct yaml_node *node,
                         struct error *err, const char *format, ...)
{
    bool keyed = node->key != NULL;
    va_list args;
    va_start(args, format);
    enum code code = error_at(document, keyed ? node->key_line : node->line,
                              keyed ? node->key_column : node->column, err, format, args);
    va_end(args);
    return code;
}

static bool is_among(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static enum code unknown_key(const struct yaml_document *document, const struct yaml_node *child,
                             const char *what, const char *const *allowed, struct error *err)
{
    char key[TEXT_CLIP_BYTES];
    text_clip(child->key, key);
    const char *nearest = text_nearest(child->key, allowed);
    if (nearest != NULL)
        return yaml_key_error(document, child, err, "unknown key '%s' in %s, did you mean '%s'?",
                              key, what, nearest);
    struct text list = {0};
    for (const char *const *name = allowed; *name != NULL; name++)
        text_printf(&list, "%s%s", list.length > 0 ? ", " : "", *name);
    enum code code =
        yaml_key_error(document, child, err, "unknown key '%s' in %s, expected one of: %s", key,
                       what, text_string(&list));
    text_release(&list);
    return code;
}

enum code yaml_check_keys(const struct yaml_document *document, const struct yaml_node *map,
                          const char *what, const char *const *allowed, struct error *err)
{
    if (map->kind != YAML_MAP) {
        bool nothing = map->kind == YAML_SCALAR && !map->quoted && map->text[0] == '\0';
        return yaml_error(document, map, err, "%s: expected a map, found %s%s", what,
                          nothing ? "" : "a ", nothing ? "nothing" : yaml_kind_name(map->kind));
    }
    for (const struct yaml_node *child = map->first; child != NULL; child = child->next)
        if (!text_starts_with(child->key, "x-") && !is_among(child->key, allowed))
            return unknown_key(document, child, what, allowed, err);
    return CODE_OK;
}
