/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain-text tables for a terminal: columns sized to content and to the width of the terminal, text
 * cut with an ellipsis, never numbers; colour only on a terminal without NO_COLOR. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum { TABLE_COLUMNS_MAX = 16 };
enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *title;
    enum table_align align;
    bool shrinks; /* may be cut when the terminal is narrow */
};

struct table;
struct table *table_create(const struct table_column *columns, size_t count);
/* Copies count cells; NULL is shown as an empty cell. */
void table_row(struct table *table, const char *const *cells);
/* Writes the table for a width in columns; 0 = unlimited. */
void table_write(const struct table *table, size_t width, struct text *out);
void table_destroy(struct table *table);

/* Columns of the terminal on this file descriptor, 0 if it is none (COLUMNS is honoured on a
 * terminal). */
size_t terminal_width(int fd);
/* True if fd is a terminal, NO_COLOR is unset and TERM is not dumb. */
bool terminal_colour(int fd);

#endif
