/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the reader of result files, shared by record*.c only: the place a message speaks of, the
 * checks of one line against the schema, the lifting of checked lines into structs, and the noise
 * figure. */
#ifndef HARNESS_RECORD_PARTS_H
#define HARNESS_RECORD_PARTS_H

#include "harness/record.h"

/* Where a value stands, for messages "file:line: $.samples.rounds[2][0]: …". */
struct place {
    const char *file;
    size_t line;
    struct error *err;
};

enum { PLACE_PATH_BYTES = 192 };

/* Fills place->err with "file:line: …" and returns CODE_CONFIG. */
enum code place_error(const struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each checks one line, an object whose kind is known, against the schema of its kind. */
enum code schema_check_header(const struct place *place, const json_t *header);
enum code schema_check_record(const struct place *place, const json_t *record);
enum code schema_check_resume(const struct place *place, const json_t *resume);
enum code schema_check_end(const struct place *place, const json_t *end);

/* From checked JSON. The strings stay borrowed. */
void lift_devices(const json_t *header, struct result *result);
void lift_record(const json_t *json, struct record *record);
void record_release(struct record *record);

/* The noise of the machine over the run; see docs/methodology.md. 0 if fewer than two records tell.
 */
double result_noise(const struct result *result);

#endif
