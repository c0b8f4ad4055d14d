/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain-text tables for a terminal; see table.h. Must not know what the cells mean. */
#include "cli/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP_COLUMNS = 2, SHRUNK_COLUMNS_LEAST = 8 };

struct table {
    struct table_column columns[TABLE_COLUMNS_MAX];
    size_t count;
    char **cells; /* row by row, count a row; NULL is empty */
    size_t rows, capacity;
};

struct table *table_create(const struct table_column *columns, size_t count)
{
    assert(count > 0 && count <= TABLE_COLUMNS_MAX);
    struct table *table = memory_zeroed(1, sizeof *table);
    memcpy(table->columns, columns, count * sizeof *columns);
    table->count = count;
    return table;
}

void table_row(struct table *table, const char *const *cells)
{
    if (table->rows == table->capacity) {
        table->capacity = table->capacity > 0 ? 2 * table->capacity : 16;
        table->cells =
            memory_resize(table->cells, table->capacity, table->count * sizeof *table->cells);
    }
    for (size_t i = 0; i < table->count; i++) {
        char *cell = text_duplicate(cells[i]);
        if (cell != NULL)
            text_make_printable(cell);
        table->cells[table->rows * table->count + i] = cell;
    }
    table->rows++;
}

static const char *cell_text(const struct table *table, size_t row, size_t column)
{
    const char *cell = table->cells[row * table->count + column];
    return cell != NULL ? cell : "";
}

/* Widths that the content needs. Returns the width of a whole line. */
static size_t natural_widths(const struct table *table, size_t widths[TABLE_COLUMNS_MAX])
{
    size_t line = 0;
    for (size_t i = 0; i < table->count; i++) {
        widths[i] = text_columns(table->columns[i].title);
        for (size_t row = 0; row < table->rows; row++) {
            size_t columns = text_columns(cell_text(table, row, i));
            widths[i] = columns > widths[i] ? columns : widths[i];
        }
        line += widths[i] + (i > 0 ? GAP_COLUMNS : 0);
    }
    return line;
}

/* Takes columns from the widest column that may shrink until the line fits or none can give any
 * more. */
static void shrink_widths(const struct table *table, size_t line, size_t width,
                          size_t widths[TABLE_COLUMNS_MAX])
{
    for (; line > width; line--) {
        size_t widest = table->count;
        for (size_t i = 0; i < table->count; i++)
            if (table->columns[i].shrinks && widths[i] > SHRUNK_COLUMNS_LEAST &&
                (widest == table->count || widths[i] > widths[widest]))
                widest = i;
        if (widest == table->count)
            return;
        widths[widest]--;
    }
}

/* Bytes of the first columns code points. */
static size_t bytes_of_columns(const char *string, size_t columns)
{
    size_t bytes = 0;
    for (; string[bytes] != '\0'; bytes++)
        if (((unsigned char)string[bytes] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return bytes;
}

static void append_cell(struct text *out, const char *cell, enum table_align align, size_t width,
                        bool last)
{
    size_t columns = text_columns(cell);
    if (columns > width) {
        text_append_bytes(out, cell, bytes_of_columns(cell, width - 1));
        text_append(out, "…");
        return;
    }
    size_t padding = width - columns;
    if (align == TABLE_RIGHT)
        text_pad(out, ' ', padding);
    text_append(out, cell);
    if (align == TABLE_LEFT && !last)
        text_pad(out, ' ', padding);
}

static void trim_line(struct text *out, size_t begin)
{
    while (out->length > begin && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    text_append(out, "\n");
}

void table_write(const struct table *table, size_t width, struct text *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    size_t line = natural_widths(table, widths);
    if (width > 0)
        shrink_widths(table, line, width, widths);
    for (size_t row = 0; row <= table->rows; row++) {
        size_t begin = out->length;
        for (size_t i = 0; i < table->count; i++) {
            const struct table_column *column = &table->columns[i];
            const char *cell = row == 0 ? column->title : cell_text(table, row - 1, i);
            text_pad(out, ' ', i > 0 ? GAP_COLUMNS : 0);
            append_cell(out, cell, column->align, widths[i], i + 1 == table->count);
        }
        trim_line(out, begin);
    }
}

void table_destroy(struct table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->rows * table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

size_t terminal_width(int fd)
{
    if (!isatty(fd))
        return 0;
    const char *columns = getenv("COLUMNS");
    if (columns != NULL && columns[0] >= '1' && columns[0] <= '9') {
        char *end = NULL;
        unsigned long value = strtoul(columns, &end, 10);
        if (*end == '\0' && value <= 10000)
            return (size_t)value;
    }
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

bool terminal_colour(int fd)
{
    /* no-color.org: set to anything but the empty text. */
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fd) && (no_color == NULL || no_color[0] == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}
