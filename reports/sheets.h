/* SPDX-License-Identifier: Apache-2.0
 *
 * Sheets of facts about devices, hosts and files: terms and texts that each form of the report lays
 * out in its own way. Must not know: output formats, so nothing here is escaped. */
#ifndef REPORTS_SHEETS_H
#define REPORTS_SHEETS_H

#include "base/text.h"
#include "harness/record.h"
#include "reports/matrix.h"

#include <jansson.h>
#include <stddef.h>

struct fact {
    char *term, *text;
};

struct sheet {
    struct fact *facts;
    size_t count, capacity;
};

/* Each fills an empty sheet, to be released with sheet_release. */
void sheet_device(const struct matrix_column *column, struct sheet *sheet);
void sheet_host(const struct result *result, struct sheet *sheet);
void sheet_file(const struct result *result, struct sheet *sheet);
void sheet_release(struct sheet *sheet);

/* ---- for those that fill them ---- */

void sheet_fact(struct sheet *sheet, const char *term, const char *text);
/* Members of JSON objects: text, a whole number with a unit, a byte count, any value as it is, all
 * members. What is null or absent is "not told". */
void sheet_text(struct sheet *sheet, const char *term, const json_t *object, const char *member);
void sheet_count(struct sheet *sheet, const char *term, const json_t *object, const char *member,
                 const char *unit);
void sheet_bytes(struct sheet *sheet, const char *term, const json_t *object, const char *member);
void sheet_value(struct sheet *sheet, const char *term, const json_t *object, const char *member);
void sheet_members(struct sheet *sheet, const char *term, const json_t *object);

#endif
