/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks on the bytes of a YAML text, and the way from byte offsets to lines and back; see
 * yaml_bytes.h. Must not know libyaml nor the tree. */
#include "base/yaml_bytes.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t yaml_bytes_mark(const char *bytes, size_t count)
{
    return count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Bytes of the line end at bytes[i]: LF, CR LF or CR; 0 if there is none. */
static size_t line_end(const char *bytes, size_t count, size_t i)
{
    if (bytes[i] == '\n')
        return 1;
    if (bytes[i] == '\r')
        return i + 1 < count && bytes[i + 1] == '\n' ? 2 : 1;
    return 0;
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

struct yaml_position yaml_bytes_position(const char *bytes, size_t count, size_t offset)
{
    struct yaml_position position = {.line = 1, .column = 1};
    for (size_t i = 0; i < offset && i < count;) {
        size_t end = line_end(bytes, count, i);
        if (end > 0) {
            position = (struct yaml_position){.line = position.line + 1, .column = 1};
            i += end;
            continue;
        }
        do
            i++;
        while (i < offset && i < count && is_continuation(bytes[i]));
        position.column++;
    }
    return position;
}

size_t yaml_bytes_offset(const char *bytes, size_t count, struct yaml_position position)
{
    size_t i = 0;
    for (size_t line = 1; line < position.line && i < count;) {
        size_t end = line_end(bytes, count, i);
        line += end > 0;
        i += end > 0 ? end : 1;
    }
    for (size_t column = 1; column < position.column && i < count; column++) {
        if (line_end(bytes, count, i) > 0)
            return count;
        do
            i++;
        while (i < count && is_continuation(bytes[i]));
    }
    return i;
}

bool yaml_bytes_control(const char *bytes, size_t count, size_t *offset, uint32_t *character)
{
    static const struct {
        char bytes[4];
        uint32_t character;
    } others[] = {{"\xe2\x80\xa8", 0x2028},
                  {"\xe2\x80\xa9", 0x2029},
                  {"\xef\xbb\xbf", 0xfeff},
                  {"\xef\xbf\xbe", 0xfffe},
                  {"\xef\xbf\xbf", 0xffff}};
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        *offset = i;
        *character = byte;
        if ((byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7f)
            return true;
        if (byte < 0xc2 || i + 1 == count)
            continue;
        *character = (unsigned char)bytes[i + 1];
        if (byte == 0xc2 && *character < 0xa0)
            return true;
        for (size_t k = 0; count - i >= 3 && k < sizeof others / sizeof others[0]; k++) {
            *character = others[k].character;
            if (memcmp(bytes + i, others[k].bytes, 3) == 0)
                return true;
        }
    }
    return false;
}

static enum code fault(const char *name, const char *bytes, size_t count, size_t offset,
                       const char *what, struct error *err)
{
    struct yaml_position at = yaml_bytes_position(bytes, count, offset);
    return error_set(err, CODE_CONFIG, 0, "%s:%zu:%zu: %s", name, at.line, at.column, what);
}

/* Offset of the first tab in the blanks that open a line of contents; count if there is none. */
static size_t find_indenting_tab(const char *bytes, size_t count)
{
    size_t i = 0;
    while (i < count) {
        size_t tab = count;
        while (i < count && (bytes[i] == ' ' || bytes[i] == '\t')) {
            if (bytes[i] == '\t' && tab == count)
                tab = i;
            i++;
        }
        bool contents = i < count && bytes[i] != '#' && line_end(bytes, count, i) == 0;
        if (contents && tab < count)
            return tab;
        while (i < count && line_end(bytes, count, i) == 0)
            i++;
        if (i < count)
            i += line_end(bytes, count, i);
    }
    return count;
}

/* Like yaml_bytes_control over a whole file, where CR is part of a line end. */
static enum code check_controls(const char *name, const char *bytes, size_t count,
                                struct error *err)
{
    size_t begin = 0, offset = 0;
    uint32_t character = 0;
    while (yaml_bytes_control(bytes + begin, count - begin, &offset, &character)) {
        begin += offset + 1;
        if (character == '\r')
            continue;
        char what[96];
        snprintf(what, sizeof what, "character U+%04X, expected printable UTF-8 text%s",
                 (unsigned)character, character == 0 ? " (is the file UTF-16?)" : "");
        return fault(name, bytes, count, begin - 1, what, err);
    }
    return CODE_OK;
}

enum code yaml_bytes_check(const char *name, const char *bytes, size_t count, struct error *err)
{
    if (count >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return fault(name, bytes, count, 0, "the file is UTF-16, expected UTF-8", err);
    size_t offset = 0;
    if (!text_is_utf8(bytes, count, &offset)) {
        char what[64];
        snprintf(what, sizeof what, "byte 0x%02X is not UTF-8", (unsigned char)bytes[offset]);
        return fault(name, bytes, count, offset, what, err);
    }
    enum code code = check_controls(name, bytes, count, err);
    if (code != CODE_OK)
        return code;
    offset = find_indenting_tab(bytes, count);
    if (offset < count)
        return fault(name, bytes, count, offset, "tab as indentation, expected blanks", err);
    return CODE_OK;
}
