/* SPDX-License-Identifier: Apache-2.0
 *
 * The machinery of the schema checks: which kinds of JSON value a member may have. A message names
 * the file, the line, the path of the value, what was found and what was expected. For record_*.c
 * only. */
#ifndef HARNESS_RECORD_KINDS_H
#define HARNESS_RECORD_KINDS_H

#include "harness/record_parts.h"

enum kind {
    KIND_TEXT = 1,
    KIND_COUNT = 2,  /* an integer >= 0 */
    KIND_NUMBER = 4, /* integer or real, >= 0 */
    KIND_BOOL = 8,
    KIND_OBJECT = 16,
    KIND_LIST = 32,
    KIND_NULL = 64,
    KIND_OPTIONAL = 128, /* may be absent */
};

struct member {
    const char *name;
    unsigned kinds;
};

/* The kind of value at path must be among kinds. */
enum code schema_check_kind(const struct place *place, const char *path, const json_t *value,
                            unsigned kinds);
/* object must be an object, and each of its members (ended by a NULL name) present and of its
 * kinds; others are free. */
enum code schema_check_members(const struct place *place, const char *path, const json_t *object,
                               const struct member *members);
/* The text must be one of allowed, which ends with NULL. */
enum code schema_check_one_of(const struct place *place, const char *path, const json_t *value,
                              const char *const *allowed);
/* The member of this name, NULL if it is absent or null. */
const json_t *schema_present(const json_t *object, const char *name);
/* The value as it stands in the file, cut to fit a message. */
enum { VALUE_TEXT_BYTES = 64 };
void schema_value_text(const json_t *value, char out[VALUE_TEXT_BYTES]);

extern const char *const schema_clock_names[]; /* "device", "host", NULL */

#endif
