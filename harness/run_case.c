/* SPDX-License-Identifier: Apache-2.0
 *
 * One case on every lane: prepared one after another, measured in alternating rounds in random
 * order until each lane's stop rule is met, verified, recorded. No two rounds ever overlap. */
#include "harness/run_parts.h"

#include "harness/data.h"
#include "harness/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES_A_ROUND_MAX = 32, REJECTED_LEAST = 3 };
static const double rejected_share =
    0.1; /* more unusable stamps than this: the case is repeated on the host clock */
static const double memory_share =
    0.7; /* of free memory that devices measured side by side may take together */

static void trial_fail(struct trial *trial, enum state state, const char *reason)
{
    trial->state = state;
    trial->running = false;
    snprintf(trial->reason, sizeof trial->reason, "%.500s", reason);
    text_make_printable(trial->reason); /* the cut may have split a character */
}

static enum state state_of_code(enum code code)
{
    switch (code) {
    case CODE_UNSUPPORTED:
        return STATE_UNSUPPORTED;
    case CODE_LOST:
        return STATE_DEVICE_LOST;
    case CODE_TIMEOUT:
        return STATE_TIMEOUT;
    case CODE_CRASHED:
        return STATE_CRASHED;
    case CODE_NOTHING:
        return STATE_NOT_RUN;
    case CODE_INVALID:
        return STATE_INVALID_CLOCK;
    case CODE_OK:
    case CODE_USAGE:
    case CODE_CONFIG:
    case CODE_MEMORY:
    case CODE_IO:
    case CODE_DRIVER:
    case CODE_INTERRUPTED:
    case CODE_INCOMPARABLE:
    case CODE_COUNT:
        break;
    }
    return STATE_ERROR;
}

/* An interruption ends the case; every other failure is this trial's own outcome. */
static enum code trial_failed(struct trial *trial, enum code code, struct error *err)
{
    if (code == CODE_INTERRUPTED)
        return code;
    enum state state = state_of_code(code);
    trial_fail(trial, state, state == STATE_NOT_RUN ? trial->lane->reason : err->message);
    error_clear(err);
    return CODE_OK;
}

static void trial_reset_samples(struct trial *trial)
{
    trial->sample_count = trial->round_count = 0;
    trial->measured_ns = trial->rejected = 0;
    trial->converged = false;
    json_decref(trial->phases);
    json_decref(trial->sentinel_compute);
    json_decref(trial->sentinel_vector);
    json_decref(trial->sentinel_memory);
    trial->phases = json_object();
    trial->sentinel_compute = json_array();
    trial->sentinel_vector = json_array();
    trial->sentinel_memory = json_array();
}

static json_t *policy_json(const struct policy *policy)
{
    return json_pack("{s:I,s:I,s:I}", "samples_min", (json_int_t)policy->samples_min, "budget_ns",
                     (json_int_t)policy->budget_ns, "warmup_ns", (json_int_t)policy->warmup_ns);
}

/* One attempt on the trial's clock. *state is the outcome that the worker gives. */
static enum code prepare_once(struct run *run, const char *key, struct trial *trial,
                              enum state *state, struct error *err)
{
    const struct policy *policy = &run->options->config->policy;
    trial_reset_samples(trial);
    json_decref(trial->prepared);
    trial->prepared = NULL;
    enum code code = lane_ensure(trial->lane, policy->step_timeout_ns, err);
    if (code != CODE_OK)
        return code;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu",
             (unsigned long long)data_derive_seed(run->options->seed, key));
    const char *why = trial->host_clock_why;
    json_t *request =
        json_pack("{s:s,s:s,s:s,s:o,s:s?}", "op", "prepare", "key", key, "seed", seed, "policy",
                  policy_json(policy), "host_clock", why[0] != '\0' ? why : NULL);
    code = lane_call(trial->lane, request, policy->step_timeout_ns, &trial->prepared, err);
    if (code == CODE_OK &&
        !state_from_name(json_string_value(json_object_get(trial->prepared, "state")), state))
        return error_set(err, CODE_DRIVER, 0, "the worker's reply names no state");
    return code;
}

static const char *reason_of(const json_t *reply)
{
    const char *reason = json_string_value(json_object_get(reply, "reason"));
    return reason != NULL ? reason : "";
}

/* The case is measured again from the start, on the host's clock. */
static void leave_device_clock(struct trial *trial, const char *why)
{
    snprintf(trial->host_clock_why, sizeof trial->host_clock_why,
             "device time stamps of this case were unusable: %.400s", why);
    text_make_printable(trial->host_clock_why);
}

static enum code trial_prepare(struct run *run, const char *key, struct trial *trial,
                               struct error *err)
{
    run_tell(run, RUN_PREPARING, trial->lane, key, 0, NULL);
    enum state state = STATE_ERROR;
    enum code code = prepare_once(run, key, trial, &state, err);
    const char *clock =
        json_string_value(json_object_get(json_object_get(trial->prepared, "clock"), "source"));
    if (code == CODE_OK && state == STATE_INVALID_CLOCK && clock != NULL &&
        strcmp(clock, "device") == 0) {
        leave_device_clock(trial, reason_of(trial->prepared));
        code = prepare_once(run, key, trial, &state, err);
    }
    if (code != CODE_OK)
        return trial_failed(trial, code, err);
    if (state != STATE_OK) {
        trial_fail(trial, state, reason_of(trial->prepared));
        lane_finished_case(trial->lane);
    }
    trial->running = state == STATE_OK;
    return CODE_OK;
}

static void add_sample(struct trial *trial, double ns)
{
    if (trial->sample_count == trial->sample_room) {
        trial->sample_room = trial->sample_room == 0 ? 64 : 2 * trial->sample_room;
        trial->ns = memory_resize(trial->ns, trial->sample_room, sizeof *trial->ns);
    }
    trial->ns[trial->sample_count++] = ns;
}

static void add_phases(struct trial *trial, const json_t *phases)
{
    const char *name;
    json_t *value;
    json_t *source = json_deep_copy(phases);
    json_object_foreach(source, name, value)
    {
        json_t *phase = json_object_get(trial->phases, name);
        if (phase == NULL) {
            phase = json_pack("{s:s,s:[]}", "unit", "ns", "rounds");
            json_object_set_new(trial->phases, name, phase);
        }
        json_array_append_new(json_object_get(phase, "rounds"),
                              json_pack("[f]", json_number_value(value)));
    }
    json_decref(source);
}

struct samples trial_samples(const struct trial *trial)
{
    return (struct samples){.ns = trial->ns,
                            .count = trial->sample_count,
                            .round_begin = (size_t *)(uintptr_t)trial->round_begin,
                            .round_count = trial->round_count};
}

/* The stop rule: the interval is reached, or rounds or budget are used up. */
static void judge_stop(const struct policy *policy, struct trial *trial)
{
    bool enough =
        trial->round_count >= policy->rounds_min && trial->sample_count >= policy->samples_min;
    if (enough) {
        struct samples samples = trial_samples(trial);
        struct summary summary;
        stats_summarise(&samples, &summary);
        double half = (summary.median_95.high - summary.median_95.low) / 2.0;
        trial->converged = summary.has_interval && half <= policy->interval * summary.median;
    }
    uint32_t rounds_max = policy->rounds_max < RUN_ROUNDS_MAX ? policy->rounds_max : RUN_ROUNDS_MAX;
    bool spent = trial->round_count >= rounds_max || (trial->measured_ns >= policy->budget_ns &&
                                                      trial->round_count >= STATS_ROUNDS_LEAST);
    if (trial->converged || spent)
        trial->running = false;
}

static uint32_t samples_a_round(const struct policy *policy, const struct trial *trial)
{
    double step_ns = json_number_value(json_object_get(trial->prepared, "step_ns"));
    double batch = json_number_value(json_object_get(trial->prepared, "batch"));
    double sample_ns = step_ns * batch;
    double wanted = ceil((double)policy->samples_min / (double)policy->rounds_min);
    double affordable = floor((double)policy->budget_ns / (double)policy->rounds_min /
                              (sample_ns > 1 ? sample_ns : 1));
    double count = fmin(fmin(wanted, affordable), SAMPLES_A_ROUND_MAX);
    return count < 1 ? 1 : (uint32_t)count;
}

static enum code trial_round(struct run *run, const char *key, struct trial *trial,
                             struct error *err)
{
    const struct policy *policy = &run->options->config->policy;
    run_tell(run, RUN_MEASURING, trial->lane, key, trial->round_count + 1, NULL);
    uint64_t begin = clock_now_ns();
    json_t *reply = NULL;
    json_t *request = json_pack("{s:s,s:I}", "op", "round", "samples",
                                (json_int_t)samples_a_round(policy, trial));
    enum code code = lane_call(trial->lane, request, policy->step_timeout_ns, &reply, err);
    if (code != CODE_OK)
        return trial_failed(trial, code, err);
    size_t index;
    json_t *ns;
    json_array_foreach(json_object_get(reply, "ns"), index, ns)
        add_sample(trial, json_number_value(ns));
    trial->round_begin[++trial->round_count] = trial->sample_count;
    trial->rejected += (uint64_t)json_integer_value(json_object_get(reply, "rejected"));
    add_phases(trial, json_object_get(reply, "phases"));
    json_decref(trial->telemetry_reason);
    trial->telemetry_reason = json_incref(json_object_get(reply, "telemetry_reason"));
    const char *why = json_string_value(json_object_get(reply, "rejected_reason"));
    uint64_t taken = trial->sample_count + trial->rejected;
    bool unusable = trial->rejected >= REJECTED_LEAST &&
                    (double)trial->rejected > rejected_share * (double)taken;
    if (unusable) {
        char reason[RUN_REASON_BYTES];
        snprintf(reason, sizeof reason, "%llu of %llu samples: %.400s",
                 (unsigned long long)trial->rejected, (unsigned long long)taken,
                 why != NULL ? why : "");
        leave_device_clock(trial, reason);
    }
    json_decref(reply);
    trial->measured_ns += clock_now_ns() - begin;
    if (unusable)
        return trial_prepare(run, key, trial, err);
    judge_stop(policy, trial);
    return CODE_OK;
}

static void shuffle(struct run *run, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        run->shuffle = data_mix(run->shuffle + i);
        size_t other = (size_t)(run->shuffle % i);
        size_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* One round of every trial that is still running, in random order. *any: at least one ran. */
static enum code alternate(struct run *run, const char *key, struct trial *trials, size_t count,
                           bool *any, struct error *err)
{
    size_t *order = memory_zeroed(count, sizeof *order);
    shuffle(run, order, count);
    struct sentinel_times times;
    sentinel_measure(run->sentinel, &times);
    *any = false;
    enum code code = CODE_OK;
    for (size_t i = 0; i < count && code == CODE_OK; i++) {
        struct trial *trial = &trials[order[i]];
        if (!trial->running)
            continue;
        *any = true;
        json_array_append_new(trial->sentinel_compute, json_integer((json_int_t)times.compute_ns));
        json_array_append_new(trial->sentinel_vector, json_integer((json_int_t)times.vector_ns));
        json_array_append_new(trial->sentinel_memory, json_integer((json_int_t)times.memory_ns));
        code = trial_round(run, key, trial, err);
    }
    free(order);
    return code;
}

static enum code trial_finish(struct run *run, const struct case_spec *spec, const char *key,
                              struct trial *trial, struct error *err)
{
    if (trial->state != STATE_OK || trial->prepared == NULL)
        return CODE_OK;
    run_tell(run, RUN_VERIFYING, trial->lane, key, 0, NULL);
    enum code code = lane_call(trial->lane, json_pack("{s:s}", "op", "finish"),
                               run->options->config->policy.step_timeout_ns, &trial->after, err);
    if (code != CODE_OK)
        return trial_failed(trial, code, err);
    enum state state = STATE_ERROR;
    state_from_name(json_string_value(json_object_get(trial->after, "state")), &state);
    if (state != STATE_OK)
        trial_fail(trial, state, reason_of(trial->after));
    lane_finished_case(trial->lane);
    run_judge_plausible(run, spec, trial);
    return CODE_OK;
}

static void read_occupancy(const struct trial *trials, size_t count, struct occupancy *reading)
{
    long *pids = memory_zeroed(count, sizeof *pids);
    for (size_t i = 0; i < count; i++)
        pids[i] = trials[i].lane->worker != NULL ? worker_pid(trials[i].lane->worker) : 0;
    occupancy_read("", pids, count, reading);
    free(pids);
}

/* Measures a group of trials whose buffers fit the machine's memory side by side. */
static enum code measure_group(struct run *run, const struct case_spec *spec, const char *key,
                               struct trial *trials, size_t count, struct error *err)
{
    enum code code = CODE_OK;
    for (size_t i = 0; i < count && code == CODE_OK; i++) {
        if (!trials[i].wanted)
            continue;
        trials[i].begin_ns = clock_now_ns();
        clock_stamp(trials[i].started);
        code = trial_prepare(run, key, &trials[i], err);
    }
    struct occupancy begin, end;
    read_occupancy(trials, count, &begin);
    for (bool any = true; any && code == CODE_OK;)
        code = alternate(run, key, trials, count, &any, err);
    read_occupancy(trials, count, &end);
    double foreign = occupancy_foreign_share(&begin, &end);
    for (size_t i = 0; i < count && code == CODE_OK; i++) {
        trials[i].foreign_share = foreign;
        if (trials[i].wanted)
            code = trial_finish(run, spec, key, &trials[i], err);
    }
    return code;
}

/* How many lanes may hold the case's buffers at once: each worker has the buffers and the host
 * copies of its inputs. */
static size_t group_size(const struct case_spec *spec, size_t lanes)
{
    struct step *step = memory_zeroed(1, sizeof *step);
    struct device_caps caps = {.group_items = 256,
                               .local_bytes = 32768,
                               .max_alloc_bytes = UINT64_MAX,
                               .memory_bytes = UINT64_MAX,
                               .compute_units = 1,
                               .has_f64 = true};
    size_t size = lanes;
    uint64_t bytes = 0;
    if (spec->suite->build(spec, &caps, step, NULL) == CODE_OK) {
        for (uint32_t i = 0; i < step->buffer_count; i++) {
            uint64_t buffer = step->buffers[i].count * type_bytes(step->buffers[i].type);
            bytes += step->buffers[i].role == BUFFER_IN ? 2 * buffer : buffer;
        }
        double fits =
            (double)host_free_memory_bytes("") * memory_share / (double)(bytes > 0 ? bytes : 1);
        size = fits < 1 ? 1 : fits < (double)lanes ? (size_t)fits : lanes;
    }
    free(step);
    return size;
}

static enum code record_trials(struct run *run, const struct case_spec *spec, const char *key,
                               struct trial *trials, struct error *err)
{
    enum code code = CODE_OK;
    for (size_t i = 0; i < run->lane_count && code == CODE_OK; i++) {
        if (!trials[i].wanted)
            continue;
        json_t *record = run_record(run, spec, &trials[i]);
        json_incref(record);
        code = writer_append(run->options->writer, record, err);
        if (code == CODE_OK) {
            run->outcome->states[trials[i].state]++;
            run->done++;
            run_tell(run, RUN_RECORDED, trials[i].lane, key, 0, record);
        }
        json_decref(record);
    }
    return code;
}

static void trial_release(struct trial *trial)
{
    json_decref(trial->prepared);
    json_decref(trial->after);
    json_decref(trial->phases);
    json_decref(trial->sentinel_compute);
    json_decref(trial->sentinel_vector);
    json_decref(trial->sentinel_memory);
    json_decref(trial->telemetry_reason);
    free(trial->ns);
}

enum code run_case(struct run *run, const struct case_spec *spec, struct error *err)
{
    char key[CASE_KEY_BYTES], pair[RUN_PAIR_BYTES];
    case_key(spec, key);
    struct trial *trials = memory_zeroed(run->lane_count, sizeof *trials);
    for (size_t i = 0; i < run->lane_count; i++) {
        trials[i].lane = &run->lanes[i];
        run_pair(key, run->lanes[i].device->info.id, pair);
        trials[i].wanted = json_object_get(run->options->resumed, pair) == NULL;
    }
    size_t group = group_size(spec, run->lane_count);
    for (size_t i = 0; i < run->lane_count; i++)
        trials[i].crowded = group < run->lane_count;
    enum code code = CODE_OK;
    for (size_t begin = 0; begin < run->lane_count && code == CODE_OK; begin += group) {
        size_t count = run->lane_count - begin < group ? run->lane_count - begin : group;
        code = measure_group(run, spec, key, trials + begin, count, err);
    }
    if (code == CODE_OK)
        code = record_trials(run, spec, key, trials, err);
    for (size_t i = 0; i < run->lane_count; i++)
        trial_release(&trials[i]);
    free(trials);
    return code;
}
