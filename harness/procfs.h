/* SPDX-License-Identifier: Apache-2.0
 *
 * Small text files of /proc and /sys. A file that is absent or unreadable is an answer ("unknown"),
 * not an error. */
#ifndef HARNESS_PROCFS_H
#define HARNESS_PROCFS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCFS_BYTES_MAX = 4 << 20 };

/* Appends the file root + path (at most PROCFS_BYTES_MAX); false if it cannot be read, *out is then
 * as before. */
bool procfs_read(const char *root, const char *path, struct text *out);
/* Its first line without the blanks around, printable, cut to capacity; false if absent or empty.
 */
bool procfs_line(const char *root, const char *path, char *line, size_t capacity);
/* The value behind "name" and ':' or '=' at the begin of a line ("MemTotal:  12 kB" gives "12 kB"),
 * cut to capacity; false if there is none. */
bool procfs_field(const char *text, const char *name, char *value, size_t capacity);
/* The next line of *cursor, which moves on; NULL at the end. Cuts the text into lines in place. */
char *procfs_next_line(char **cursor);
/* A whole decimal number at the begin of text. */
bool procfs_number(const char *text, uint64_t *number);

#endif
