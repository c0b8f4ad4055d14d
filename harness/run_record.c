/* SPDX-License-Identifier: Apache-2.0
 *
 * The record line of one case on one device (docs/formats.md), and the judgement that a rate is
 * above what is possible. */
#include "harness/run_parts.h"

#include "harness/host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ceiling_margin =
    2.0; /* measured ceilings move with the clock of the processors */

static json_t *get(const json_t *object, const char *member)
{
    return object != NULL ? json_object_get(object, member) : NULL;
}

/* A new reference to a member, null where it is absent. */
static json_t *keep(const json_t *object, const char *member)
{
    json_t *value = get(object, member);
    return value != NULL ? json_incref(value) : json_null();
}

static json_t *case_json(const struct case_spec *spec)
{
    json_t *parameters = json_object();
    for (uint32_t i = 0; i < spec->suite->param_count; i++) {
        const struct param *param = &spec->suite->params[i];
        json_t *value = param->kind == PARAM_CHOICE ? json_string(param->choices[spec->values[i]])
                        : param->optional && spec->values[i] == 0
                            ? json_string("auto")
                            : json_integer((json_int_t)spec->values[i]);
        json_object_set_new(parameters, param->name, value);
    }
    return json_pack("{s:s,s:I,s:s,s:o}", "suite", spec->suite->name, "version",
                     (json_int_t)spec->suite->version, "tier", "portable", "parameters",
                     parameters);
}

static json_t *work_json(const struct case_spec *spec)
{
    struct work work = spec->suite->work(spec);
    return json_pack("{s:I,s:I,s:s,s:b,s:s}", "bytes", (json_int_t)work.bytes, "operations",
                     (json_int_t)work.operations, "bytes_counted",
                     work.bytes_counted != NULL ? work.bytes_counted : "none", "by_operations",
                     work.by_operations, "unit", work.unit);
}

static json_t *samples_json(const struct trial *trial)
{
    if (trial->sample_count == 0)
        return json_null();
    json_t *rounds = json_array();
    for (size_t r = 0; r < trial->round_count; r++) {
        json_t *round = json_array();
        for (size_t i = trial->round_begin[r]; i < trial->round_begin[r + 1]; i++)
            json_array_append_new(round, json_real(trial->ns[i]));
        json_array_append_new(rounds, round);
    }
    return json_pack("{s:s,s:o}", "unit", "ns", "rounds", rounds);
}

static json_t *clock_json(const struct trial *trial)
{
    json_t *clock = get(trial->prepared, "clock");
    if (clock == NULL)
        return json_null();
    return json_pack("{s:o,s:o,s:I}", "source", keep(clock, "source"), "reason",
                     keep(clock, "reason"), "rejected", (json_int_t)trial->rejected);
}

static json_t *check_pair(const struct trial *trial)
{
    json_t *before = get(trial->prepared, "check");
    if (before == NULL)
        return json_null();
    return json_pack("{s:O,s:o}", "before", before, "after", keep(trial->after, "check"));
}

static json_t *memory_json(const struct run *run, const struct trial *trial)
{
    json_t *memory = get(trial->prepared, "memory");
    if (memory == NULL)
        return json_null();
    uint64_t bytes = (uint64_t)json_integer_value(json_object_get(memory, "working_set_bytes"));
    const struct device_info *info = &trial->lane->device->info;
    uint64_t cache = info->type == DEVICE_CPU ? run->ceilings.last_cache_bytes : info->cache_bytes;
    const char *residence = cache == 0 ? "unknown" : bytes >= 4 * cache ? "memory" : "cache";
    json_t *json = json_deep_copy(memory);
    json_object_set_new(json, "residence", json_string(residence));
    json_object_set_new(json, "same_memory",
                        json_boolean(info->type == DEVICE_CPU || info->unified_memory));
    return json;
}

static json_t *conditions_json(const struct trial *trial)
{
    if (trial->round_count == 0)
        return json_null();
    double load = host_load_1min("");
    json_t *reason =
        trial->telemetry_reason != NULL ? json_incref(trial->telemetry_reason) : json_null();
    json_t *foreign =
        isfinite(trial->foreign_share) ? json_real(trial->foreign_share) : json_null();
    json_t *sentinel =
        json_pack("{s:O,s:O,s:O}", "compute_ns", trial->sentinel_compute, "vector_ns",
                  trial->sentinel_vector, "memory_ns", trial->sentinel_memory);
    return json_pack("{s:o,s:o,s:o,s:n,s:o}", "sentinel", sentinel, "load_1min",
                     load >= 0 ? json_real(load) : json_null(), "foreign_share", foreign,
                     "telemetry", "telemetry_reason", reason);
}

static json_t *notes_json(const struct run *run, const struct trial *trial)
{
    json_t *notes = json_array();
    const char *note = json_string_value(get(trial->prepared, "note"));
    if (note != NULL && note[0] != '\0')
        json_array_append_new(notes, json_string(note));
    if (trial->crowded && trial->round_count > 0)
        json_array_append_new(
            notes, json_string("not alternated with all other devices: their buffers do not fit "
                               "this machine's memory side by side"));
    if (trial->lane->device->info.type == DEVICE_CPU && trial->state == STATE_OK &&
        run->ceilings.operations_per_s <= 0)
        json_array_append_new(
            notes, json_string("plausibility unknown: the host's ceilings were not measured"));
    return notes;
}

json_t *run_record(const struct run *run, const struct case_spec *spec, const struct trial *trial)
{
    char key[CASE_KEY_BYTES];
    case_key(spec, key);
    json_t *record = json_object();
    bool measured = trial->sample_count > 0;
    json_object_set_new(record, "kind", json_string("record"));
    json_object_set_new(record, "key", json_string(key));
    json_object_set_new(record, "case", case_json(spec));
    json_object_set_new(record, "device", json_string(trial->lane->device->info.id));
    json_object_set_new(record, "state", json_string(state_name(trial->state)));
    json_object_set_new(record, "reason",
                        trial->state == STATE_OK ? json_null() : json_string(trial->reason));
    json_object_set_new(record, "work", work_json(spec));
    json_object_set_new(record, "samples", samples_json(trial));
    bool has_phases = trial->phases != NULL && json_object_size(trial->phases) > 0;
    json_object_set_new(record, "phases", has_phases ? json_incref(trial->phases) : json_null());
    json_object_set_new(record, "batch",
                        measured ? json_pack("{s:o}", "steps", keep(trial->prepared, "batch"))
                                 : json_null());
    json_object_set_new(record, "clock", clock_json(trial));
    json_object_set_new(record, "converged",
                        measured ? json_boolean(trial->converged) : json_null());
    json_object_set_new(record, "alternated", json_boolean(!trial->crowded));
    json_object_set_new(record, "check", check_pair(trial));
    json_object_set_new(record, "doubling", keep(trial->prepared, "doubling"));
    json_object_set_new(record, "build", keep(trial->prepared, "build"));
    json_object_set_new(record, "memory", memory_json(run, trial));
    json_object_set_new(record, "conditions", conditions_json(trial));
    const char *chatter = lane_chatter(trial->lane);
    json_object_set_new(record, "driver_output",
                        chatter[0] != '\0' ? json_string(chatter) : json_null());
    json_object_set_new(record, "notes", notes_json(run, trial));
    json_object_set_new(record, "started", json_string(trial->started));
    json_object_set_new(record, "elapsed_ns",
                        json_integer((json_int_t)(clock_now_ns() - trial->begin_ns)));
    return record;
}

void run_judge_plausible(const struct run *run, const struct case_spec *spec, struct trial *trial)
{
    if (trial->state != STATE_OK || trial->sample_count == 0 ||
        trial->lane->device->info.type != DEVICE_CPU)
        return;
    struct work work = spec->suite->work(spec);
    double seconds = stats_median(trial->ns, trial->sample_count) * 1e-9;
    double rate = (double)(work.by_operations ? work.operations : work.bytes) / seconds;
    double ceiling =
        work.by_operations ? run->ceilings.operations_per_s : run->ceilings.bytes_per_s;
    if (ceiling <= 0 || rate <= ceiling * ceiling_margin)
        return;
    trial->state = STATE_IMPLAUSIBLE;
    snprintf(
        trial->reason, sizeof trial->reason,
        "%.4g %s is above %.4g %s, %.0f times what all of the host's cores were measured to do",
        rate, work.unit, ceiling * ceiling_margin, work.unit, ceiling_margin);
}

json_t *run_end(bool complete, const char *reason, size_t records)
{
    char stamp[CLOCK_STAMP_BYTES];
    return json_pack("{s:s,s:b,s:s?,s:I,s:s}", "kind", "end", "complete", complete, "reason",
                     reason, "records", (json_int_t)records, "created", clock_stamp(stamp));
}
