/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML 1.1 by libyaml, made strict: a small tree with positions. Refused, each with
 * file:line:column: duplicate keys, merge keys, anchors and aliases, explicit tags, tabs as
 * indentation, more than one document, an empty file, text that is not UTF-8 or holds control
 * characters (escaped ones too), nesting deeper than YAML_DEPTH_MAX, more than YAML_NODES_MAX
 * nodes, files over YAML_BYTES_MAX. A UTF-8 byte order mark and CR LF are accepted. Every scalar
 * stays text: what is a number and what is not is the reader's business. Without recursion. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 100000, YAML_BYTES_MAX = 4 << 20 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    const char *text;            /* scalars; "" for an empty one, never NULL */
    bool quoted;                 /* the scalar stood in quotes or was a block scalar */
    size_t line, column;         /* from 1; columns count characters */
    size_t end_line, end_column; /* just after a scalar */
    /* lists and maps: children in file order; NULL-terminated chain */
    struct yaml_node *first, *next;
    const char *key; /* set on the children of a map */
    size_t key_line, key_column;
    size_t count; /* children */
};

struct yaml_document;

/* Reads and checks path. On CODE_OK *document is to be released with yaml_destroy. CODE_IO: cannot
 * be read; CODE_CONFIG: contents. */
enum code yaml_load(const char *path, struct yaml_document **document, struct error *err);
/* The same from memory; name stands in messages in place of the path. */
enum code yaml_parse(const char *name, const char *bytes, size_t count,
                     struct yaml_document **document, struct error *err);
void yaml_destroy(struct yaml_document *document);
const struct yaml_node *yaml_root(const struct yaml_document *document);
const char *yaml_name(const struct yaml_document *document);

/* The value of a key in a map, NULL if absent. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* "scalar", "list", "map"; what a message calls the kind found. */
const char *yaml_kind_name(enum yaml_kind kind);

/* True if a plain scalar is followed, on its line, by " #" and then no blank: "name: card #2" is
 * the text "card" and a comment, which its author may not know. */
bool yaml_hash_follows(const struct yaml_document *document, const struct yaml_node *node);

/* Fills err with "file:line:column: …" at the node (or at its key) and returns CODE_CONFIG. */
enum code yaml_error(const struct yaml_document *document, const struct yaml_node *node,
                     struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
enum code yaml_key_error(const struct yaml_document *document, const struct yaml_node *node,
                         struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Checks that map is a map whose keys are all among allowed (ends with NULL) or start with "x-":
 * else an error at the first other key, with the nearest spelling. what names the map in messages
 * ("policy"). */
enum code yaml_check_keys(const struct yaml_document *document, const struct yaml_node *map,
                          const char *what, const char *const *allowed, struct error *err);

#endif
