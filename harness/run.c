/* SPDX-License-Identifier: Apache-2.0
 *
 * The run: opens every device, writes the header, goes through the cases, closes the file. See
 * run.h. */
#include "harness/run_parts.h"

#include "harness/data.h"
#include "harness/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CEILING_TIMEOUT_S = 30 };

void run_pair(const char *key, const char *device, char pair[RUN_PAIR_BYTES])
{
    snprintf(pair, RUN_PAIR_BYTES, "%s|%s", key, device);
}

void run_tell(const struct run *run, enum run_stage stage, const struct lane *lane, const char *key,
              size_t round, const json_t *record)
{
    if (run->options->progress == NULL)
        return;
    double elapsed = (double)(clock_now_ns() - run->begin_ns) * 1e-9;
    double left =
        run->done > 0 ? elapsed / (double)run->done * (double)(run->total - run->done) : -1.0;
    struct run_progress progress = {.stage = stage,
                                    .device = lane->device->info.id,
                                    .key = key,
                                    .done = run->done,
                                    .total = run->total,
                                    .round = round,
                                    .seconds_left = left,
                                    .record = record};
    run->options->progress(run->options->context, &progress);
}

/* The host's ceilings, measured by a worker of the host backend, which is always there. Unknown if
 * that fails. */
static enum code measure_ceilings(struct run *run, struct error *err)
{
    struct worker_options options = {.backend = "host"};
    struct worker *worker = NULL;
    json_t *request = json_pack("{s:s}", "op", "ceilings");
    json_t *reply = NULL;
    enum code code = worker_start(&options, &worker, err);
    if (code == CODE_OK)
        code = worker_call(worker, request, (uint64_t)CEILING_TIMEOUT_S * 1000000000u, &reply, err);
    if (code == CODE_OK) {
        run->ceilings.operations_per_s =
            json_number_value(json_object_get(reply, "operations_per_s"));
        run->ceilings.bytes_per_s = json_number_value(json_object_get(reply, "bytes_per_s"));
    }
    json_decref(reply);
    json_decref(request);
    worker_stop(worker);
    return code == CODE_INTERRUPTED ? code : CODE_OK;
}

static enum code open_lanes(struct run *run, const char *cache_dir, struct error *err)
{
    const struct run_options *options = run->options;
    size_t usable = 0;
    for (size_t i = 0; i < run->lane_count; i++) {
        struct lane *lane = &run->lanes[i];
        lane->device = &options->inventory->devices[options->selected[i]];
        lane->driver = &options->inventory->drivers[lane->device->driver];
        lane->cache_dir = cache_dir;
        run_tell(run, RUN_OPENING, lane, NULL, 0, NULL);
        struct error failure = {0};
        enum code code = CODE_OK;
        do {
            code = lane_ensure(lane, options->config->policy.step_timeout_ns, &failure);
        } while (code != CODE_OK && code != CODE_INTERRUPTED && !lane->closed);
        if (code == CODE_INTERRUPTED)
            return error_set(err, code, 0, "%s", failure.message);
        usable += !lane->closed;
    }
    return usable > 0 ? CODE_OK
                      : error_set(err, CODE_NOTHING, 0, "no selected device could be opened: %s",
                                  run->lanes[0].reason);
}

static size_t count_records(const struct run_outcome *outcome)
{
    size_t count = 0;
    for (int state = 0; state < STATE_COUNT; state++)
        count += outcome->states[state];
    return count;
}

/* Header, or the line that says a file was continued. */
static enum code write_opening(struct run *run, const struct topology *topology, struct error *err)
{
    json_t *line = run_header(run, topology);
    if (run->options->resumed != NULL) {
        json_t *resume = json_pack("{s:s}", "kind", "resume");
        static const char *const kept[] = {"created", "tool", "environment", "devices"};
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            json_object_set(resume, kept[i], json_object_get(line, kept[i]));
        json_decref(line);
        line = resume;
    }
    return writer_append(run->options->writer, line, err);
}

static enum code go_through_cases(struct run *run, struct error *err)
{
    const struct config *config = run->options->config;
    enum code code = CODE_OK;
    for (size_t i = 0; i < config->case_count && code == CODE_OK; i++) {
        code = process_interrupted() ? error_set(err, CODE_INTERRUPTED, 0, "interrupted")
                                     : run_case(run, &config->cases[i], err);
    }
    return code;
}

static enum code run_measured(struct run *run, const struct topology *topology,
                              const char *cache_dir, struct error *err)
{
    enum code code = measure_ceilings(run, err);
    enum code opened = CODE_OK;
    if (code == CODE_OK)
        opened = open_lanes(run, cache_dir, err);
    if (code == CODE_INTERRUPTED || opened == CODE_INTERRUPTED) {
        run->outcome->interrupted = true;
        return CODE_OK;
    }
    struct error failure = {0};
    code = write_opening(run, topology, &failure);
    run->outcome->opened = code == CODE_OK;
    if (code == CODE_OK)
        code = go_through_cases(run, &failure);
    run->outcome->interrupted = code == CODE_INTERRUPTED;
    if (code == CODE_OK || code == CODE_INTERRUPTED) {
        size_t records = count_records(run->outcome) + json_object_size(run->options->resumed);
        code = writer_append(
            run->options->writer,
            run_end(code == CODE_OK, code == CODE_OK ? NULL : "interrupted", records), &failure);
    }
    if (code != CODE_OK)
        return error_set(err, code, failure.native, "%s", failure.message);
    return opened;
}

enum code run_cases(const struct run_options *options, struct run_outcome *outcome,
                    struct error *err)
{
    *outcome = (struct run_outcome){0};
    struct run run = {.options = options,
                      .outcome = outcome,
                      .lane_count = options->selected_count,
                      .begin_ns = clock_now_ns(),
                      .shuffle = data_mix(options->seed)};
    run.total = options->config->case_count * run.lane_count - json_object_size(options->resumed);
    run.lanes = memory_zeroed(run.lane_count, sizeof *run.lanes);
    char cache_dir[SCRATCH_PATH_BYTES] = "";
    struct topology *topology = NULL;
    enum code code = topology_load(NULL, &topology, err);
    if (code == CODE_OK) {
        run.ceilings.last_cache_bytes = topology_last_cache_bytes(topology);
        code = scratch_create(cache_dir, err);
    }
    run.sentinel = sentinel_create();
    if (code == CODE_OK)
        code = run_measured(&run, topology, cache_dir, err);
    for (size_t i = 0; i < run.lane_count; i++)
        lane_release(&run.lanes[i]);
    free(run.lanes);
    sentinel_destroy(run.sentinel);
    topology_destroy(topology);
    scratch_remove(cache_dir);
    return code;
}
