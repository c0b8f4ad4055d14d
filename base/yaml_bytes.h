/* SPDX-License-Identifier: Apache-2.0
 *
 * What the bytes of a YAML text must hold before libyaml sees them: libyaml reports such faults by
 * byte offset or not at all. Used by base/yaml.c alone. */
#ifndef BASE_YAML_BYTES_H
#define BASE_YAML_BYTES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yaml_position {
    size_t line, column; /* from 1; columns count characters */
};

/* Length of the UTF-8 byte order mark at the start, 0 without one. */
size_t yaml_bytes_mark(const char *bytes, size_t count);
/* Line and column of the byte at offset; bytes are those after the byte order mark. */
struct yaml_position yaml_bytes_position(const char *bytes, size_t count, size_t offset);
/* The reverse: offset of a line and column, count if there is no such place. */
size_t yaml_bytes_offset(const char *bytes, size_t count, struct yaml_position position);
/* Finds the first character that text must not hold: C0 but tab and line feed, DEL, C1, the line
 * and paragraph separators (which libyaml takes for line ends and no editor shows as such), a byte
 * order mark, non-characters. False if there is none. */
bool yaml_bytes_control(const char *bytes, size_t count, size_t *offset, uint32_t *character);
/* UTF-16, bytes that are not UTF-8, control characters, tabs as indentation: CODE_CONFIG with
 * name:line:column. */
enum code yaml_bytes_check(const char *name, const char *bytes, size_t count, struct error *err);

#endif
