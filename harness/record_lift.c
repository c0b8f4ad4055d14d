/* SPDX-License-Identifier: Apache-2.0
 *
 * From checked JSON to the structs that reports read, and the look-ups on them. Nothing here can
 * fail: record_header.c and record_line.c have seen the lines before. */
#include "harness/record_parts.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Text of a member, NULL if it is null or absent. */
static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static const char *text_or_unknown(const json_t *object, const char *name)
{
    const char *text = text_of(object, name);
    return text != NULL ? text : "unknown";
}

void lift_devices(const json_t *header, struct result *result)
{
    const json_t *devices = json_object_get(header, "devices");
    result->device_count = json_array_size(devices);
    result->devices = memory_zeroed(result->device_count, sizeof *result->devices);
    for (size_t i = 0; i < result->device_count; i++) {
        const json_t *json = json_array_get(devices, i);
        const json_t *clock = json_object_get(json, "clock");
        result->devices[i] = (struct result_device){
            .json = json,
            .id = text_of(json, "id"),
            .name = text_of(json, "name"),
            .vendor = text_or_unknown(json, "vendor"),
            .driver = text_or_unknown(json, "driver"),
            .platform = text_or_unknown(json, "platform"),
            .type = text_of(json, "type"),
            .physical = text_of(json, "physical"),
            .uuid = text_of(json, "uuid"),
            .pci = text_of(json, "pci"),
            .software = json_is_true(json_object_get(json, "software")),
            .clock = text_or_unknown(clock, "source"),
            .clock_reason = text_of(clock, "reason"),
        };
    }
}

static void lift_samples(const json_t *json, struct samples *samples)
{
    const json_t *rounds = json_object_get(json, "rounds");
    samples->round_count = json_array_size(rounds);
    samples->round_begin = memory_zeroed(samples->round_count + 1, sizeof *samples->round_begin);
    for (size_t r = 0; r < samples->round_count; r++)
        samples->count += json_array_size(json_array_get(rounds, r));
    samples->ns = memory_zeroed(samples->count, sizeof *samples->ns);
    size_t next = 0;
    for (size_t r = 0; r < samples->round_count; r++) {
        const json_t *round = json_array_get(rounds, r);
        samples->round_begin[r] = next;
        for (size_t i = 0; i < json_array_size(round); i++)
            samples->ns[next++] = json_number_value(json_array_get(round, i));
    }
    samples->round_begin[samples->round_count] = next;
}

static void lift_phases(json_t *phases, struct record *record)
{
    size_t count = json_object_size(phases);
    if (count == 0)
        return;
    record->phases = memory_zeroed(count, sizeof *record->phases);
    const char *name;
    json_t *phase;
    json_object_foreach(phases, name, phase)
    {
        record->phases[record->phase_count].name = name;
        lift_samples(phase, &record->phases[record->phase_count++].samples);
    }
}

void lift_record(const json_t *json, struct record *record)
{
    const json_t *work = json_object_get(json, "work");
    const json_t *counted = json_object_get(work, "bytes_counted");
    *record = (struct record){
        .json = json,
        .key = text_of(json, "key"),
        .suite = text_of(json_object_get(json, "case"), "suite"),
        .device = text_of(json, "device"),
        .state = STATE_NOT_RUN,
        .reason = text_of(json, "reason"),
        .work_bytes = (uint64_t)json_integer_value(json_object_get(work, "bytes")),
        .work_operations = (uint64_t)json_integer_value(json_object_get(work, "operations")),
        .bytes_counted = json_is_string(counted) ? json_string_value(counted) : "",
        .by_operations = json_is_true(json_object_get(work, "by_operations")),
        .unit = json_is_object(work) ? text_of(work, "unit") : "",
        .clock = text_or_unknown(json_object_get(json, "clock"), "source"),
        .converged = json_is_true(json_object_get(json, "converged")),
    };
    state_from_name(text_of(json, "state"), &record->state);
    lift_samples(json_object_get(json, "samples"), &record->samples);
    lift_phases(json_object_get(json, "phases"), record);
}

static void samples_release(struct samples *samples)
{
    free(samples->ns);
    free(samples->round_begin);
}

void record_release(struct record *record)
{
    samples_release(&record->samples);
    for (size_t i = 0; i < record->phase_count; i++)
        samples_release(&record->phases[i].samples);
    free(record->phases);
}

const struct result_device *result_device_of(const struct result *result,
                                             const struct record *record)
{
    const struct result_device *device = result_device_find(result, record->device);
    assert(device != NULL);
    return device;
}

const struct result_device *result_device_find(const struct result *result, const char *id)
{
    for (size_t i = 0; i < result->device_count; i++)
        if (strcmp(result->devices[i].id, id) == 0)
            return &result->devices[i];
    return NULL;
}

const struct record *result_find(const struct result *result, const char *key, const char *device)
{
    for (size_t i = 0; i < result->record_count; i++)
        if (strcmp(result->records[i].key, key) == 0 &&
            strcmp(result->records[i].device, device) == 0)
            return &result->records[i];
    return NULL;
}

double record_rate(const struct record *record, double ns)
{
    uint64_t work = record->by_operations ? record->work_operations : record->work_bytes;
    return (double)work * 1e9 / ns;
}
