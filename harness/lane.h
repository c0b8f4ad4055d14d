/* SPDX-License-Identifier: Apache-2.0
 *
 * One measured device of a run: its worker process, what its audit found, and what to do when the
 * worker dies. Used by the coordinator alone. */
#ifndef HARNESS_LANE_H
#define HARNESS_LANE_H

#include "harness/inventory.h"
#include "harness/process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { LANE_DEATHS_MAX = 3, LANE_REASON_BYTES = 512 };

struct lane {
    const struct inventory_device *device;
    const struct inventory_driver *driver;
    const char *cache_dir;
    struct worker *worker; /* NULL: none is running */
    json_t *audit;         /* reply of the first open; NULL before */
    int deaths;            /* in a row, without a finished case between */
    bool closed;           /* the rest of this device is not run, for the reason */
    char reason[LANE_REASON_BYTES];
    char *last_words; /* what the driver of the worker that died last had printed; NULL: none did */
};

/* Starts the worker if none runs and opens the device (with its audit the first time). On failure,
 * a worker that cannot be started included, the lane is closed or has one death more; err says why.
 */
enum code lane_ensure(struct lane *lane, uint64_t timeout_ns, struct error *err);
/* One request on a running worker. If the worker is gone afterwards (crash, time-out, lost device)
 * it is stopped and counted. */
enum code lane_call(struct lane *lane, json_t *request, uint64_t timeout_ns, json_t **reply,
                    struct error *err);
/* A case came to its end: deaths are no longer in a row. */
void lane_finished_case(struct lane *lane);
/* What the driver printed lately, or before its worker died; "" for nothing. */
const char *lane_chatter(const struct lane *lane);
void lane_release(struct lane *lane);

#endif
