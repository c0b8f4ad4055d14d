/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of a whole output against the suite's reference: every element, NaN and infinity
 * fail, the error is kept. The reference is evaluated once a case: a chunk that is bit for bit what
 * was verified before needs no second evaluation. */
#ifndef HARNESS_CHECK_H
#define HARNESS_CHECK_H

#include "backends/backend.h"
#include "harness/suite.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct check {
    uint64_t elements, mismatches, nonfinite;
    uint64_t first_bad; /* index in the whole result; UINT64_MAX: none */
    double first_value, first_reference;
    double max_error, rms_error; /* over finite elements */
    struct tolerance tolerance;
};

/* Digests of verified chunks over all OUT buffers, and the error norms found when they were
 * compared; starts as {0}. */
struct check_memory {
    uint64_t *digests;
    uint64_t count;
    double max_error, rms_error;
};

/* What a check needs of a prepared case. buffers[i] belongs to step->buffers[i]; data[i] is the
 * host copy of an IN buffer. */
struct check_input {
    struct backend_device *device;
    const struct case_spec *spec;
    const struct step *step;
    struct buffer *const *buffers;
    const void *const *data;
};

bool check_passed(const struct check *check);
/* Reads every OUT buffer back and compares. Errors are those of the driver; a wrong result is no
 * error but a check that did not pass. The queue must be dry. */
enum code check_outputs(const struct check_input *input, struct check_memory *memory,
                        struct check *check, struct error *err);
void check_memory_release(struct check_memory *memory);
/* One line for a failed check: "12 of 1,048,576 elements are wrong, first at 17: 0.5, expected
 * 0.25". */
void check_reason(const struct check *check, char *reason, size_t bytes);
/* The "check" object of a record. */
json_t *check_json(const struct check *check);

#endif
