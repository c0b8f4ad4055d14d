/* SPDX-License-Identifier: Apache-2.0
 *
 * A run: every case of a config on every selected device, in alternating rounds, each finished
 * record written and synced before the next case starts. The coordinator loads no driver. */
#ifndef HARNESS_RUN_H
#define HARNESS_RUN_H

#include "base/error.h"
#include "harness/config.h"
#include "harness/inventory.h"
#include "harness/state.h"
#include "harness/writer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum run_stage { RUN_OPENING, RUN_PREPARING, RUN_MEASURING, RUN_VERIFYING, RUN_RECORDED };

/* What is going on, for a progress line. A figure is only there when its check is over
 * (RUN_RECORDED). */
struct run_progress {
    enum run_stage stage;
    const char *device, *key; /* key is NULL while opening */
    size_t done, total;       /* records */
    size_t round;
    double seconds_left;  /* < 0: unknown */
    const json_t *record; /* RUN_RECORDED */
};

struct run_options {
    const struct config *config;
    const struct inventory *inventory;
    const size_t *selected; /* indices into inventory->devices */
    size_t selected_count;
    uint64_t seed;
    bool redact; /* host name replaced by a pseudonym */
    struct writer *writer;
    const json_t *resumed; /* {"<key>|<device>": true, …}: records that are there already; NULL: a
                              fresh run */
    void (*progress)(void *context, const struct run_progress *progress);
    void *context;
};

struct run_outcome {
    size_t states[STATE_COUNT]; /* records written, by state */
    bool interrupted;
    bool opened; /* the file's header, or the line that continues it, was written */
};

/* CODE_OK whatever the states are; CODE_IO if a record could not be stored; CODE_NOTHING if no
 * device could be opened (the header and not-run records are written all the same). Interruption is
 * an outcome, with the end line written. */
enum code run_cases(const struct run_options *options, struct run_outcome *outcome,
                    struct error *err);

/* A name for the pair in run_options.resumed. */
enum { RUN_PAIR_BYTES = CASE_KEY_BYTES + DEVICE_ID_BYTES + 2 };
void run_pair(const char *key, const char *device, char pair[RUN_PAIR_BYTES]);

#endif
