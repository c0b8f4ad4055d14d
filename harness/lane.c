/* SPDX-License-Identifier: Apache-2.0
 *
 * One measured device of a run; see lane.h. */
#include "harness/lane.h"

#include <stdio.h>
#include <stdlib.h>

/* A message may be cut in the middle of a character, which a result file could not hold. */
static void lane_close(struct lane *lane)
{
    lane->closed = true;
    text_make_printable(lane->reason);
}

static void lane_bury(struct lane *lane, const struct error *err)
{
    free(lane->last_words);
    lane->last_words = text_duplicate(lane_chatter(lane));
    worker_stop(lane->worker);
    lane->worker = NULL;
    if (++lane->deaths < LANE_DEATHS_MAX)
        return;
    snprintf(lane->reason, sizeof lane->reason, "%d failures in a row, the last: %.400s",
             lane->deaths, err->message);
    lane_close(lane);
}

enum code lane_call(struct lane *lane, json_t *request, uint64_t timeout_ns, json_t **reply,
                    struct error *err)
{
    *reply = NULL;
    enum code code = worker_call(lane->worker, request, timeout_ns, reply, err);
    json_decref(request);
    if (code == CODE_CRASHED || code == CODE_TIMEOUT || code == CODE_LOST)
        lane_bury(lane, err);
    else if (code == CODE_INTERRUPTED) {
        worker_stop(lane->worker);
        lane->worker = NULL;
    }
    return code;
}

static enum code lane_open_device(struct lane *lane, uint64_t timeout_ns, struct error *err)
{
    json_t *request =
        json_pack("{s:s,s:I}", "op", "open", "index", (json_int_t)lane->device->index);
    if (lane->audit != NULL)
        json_object_set(request, "audit", lane->audit);
    json_t *reply = NULL;
    enum code code = lane_call(lane, request, timeout_ns, &reply, err);
    if (code == CODE_OK && lane->audit == NULL)
        lane->audit = json_incref(json_object_get(reply, "audit"));
    json_decref(reply);
    if (code != CODE_OK && code != CODE_INTERRUPTED && !lane->closed && lane->worker != NULL) {
        /* the device answers, and what it answers rules it out */
        snprintf(lane->reason, sizeof lane->reason, "%.500s", err->message);
        lane_close(lane);
    }
    return code;
}

enum code lane_ensure(struct lane *lane, uint64_t timeout_ns, struct error *err)
{
    if (lane->closed)
        return error_set(err, CODE_NOTHING, 0, "%s", lane->reason);
    if (lane->worker != NULL)
        return CODE_OK;
    struct worker_options options = {.backend = lane->driver->backend,
                                     .library = lane->driver->library,
                                     .cache_dir = lane->cache_dir};
    enum code code = worker_start(&options, &lane->worker, err);
    if (code == CODE_OK)
        code = lane_open_device(lane, timeout_ns, err);
    else
        lane_bury(lane, err);
    return code;
}

void lane_finished_case(struct lane *lane)
{
    lane->deaths = 0;
}

const char *lane_chatter(const struct lane *lane)
{
    if (lane->worker != NULL)
        return worker_chatter(lane->worker);
    return lane->last_words != NULL ? lane->last_words : "";
}

void lane_release(struct lane *lane)
{
    worker_stop(lane->worker);
    json_decref(lane->audit);
    free(lane->last_words);
    lane->last_words = NULL;
    lane->worker = NULL;
    lane->audit = NULL;
}
