/* SPDX-License-Identifier: Apache-2.0
 *
 * What a result file that was cut off still wants: its config, devices and seed from the header,
 * and the records that are there. */
#ifndef HARNESS_RESUME_H
#define HARNESS_RESUME_H

#include "harness/config.h"
#include "harness/inventory.h"
#include "harness/state.h"

#include <jansson.h>
#include <stdint.h>

struct resume {
    struct config config;
    char **devices; /* ids */
    size_t device_count;
    uint64_t seed;
    json_t *header;             /* for resume_check */
    json_t *done;               /* run_pair → true */
    size_t states[STATE_COUNT]; /* of the records that are there */
};

/* CODE_CONFIG: no result file of this tool; CODE_USAGE: nothing is missing. */
enum code resume_load(const char *path, struct resume *resume, struct error *err);
/* A run describes the machine that it ran on: CODE_INCOMPARABLE if a device of the file is not the
 * one of this id here. */
enum code resume_check(const struct resume *resume, const struct inventory *inventory,
                       const size_t *selected, size_t count, struct error *err);
void resume_release(struct resume *resume);

#endif
