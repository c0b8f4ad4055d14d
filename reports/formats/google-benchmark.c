/* SPDX-License-Identifier: Apache-2.0
 *
 * Google Benchmark's JSON, as its tools/compare.py reads it: one entry a sample, then aggregates.
 * docs/formats.md says how a case becomes a name and why a failed case is an entry that compare.py
 * passes over. */
#include "reports/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *member(const json_t *object, const char *group, const char *name)
{
    return json_object_get(json_object_get(object, group), name);
}

/* A new reference, or a new null. */
static json_t *or_null(json_t *value)
{
    return value != NULL ? json_incref(value) : json_null();
}

static bool build_is_debug(const struct result *result)
{
    const char *build = json_string_value(member(result->header, "tool", "build"));
    return build != NULL && strstr(build, "debug") != NULL;
}

/* What compare.py and people expect in the head. The rest of the host is in the result file. */
static json_t *context_json(const struct report_input *input)
{
    const struct result *first = input->results[0];
    const json_t *host = json_object_get(first->header, "host");
    json_t *load = json_array();
    if (json_is_number(json_object_get(host, "load_1min")))
        json_array_append(load, json_object_get(host, "load_1min"));
    json_t *devices = json_object();
    for (size_t r = 0; r < input->result_count; r++)
        for (size_t d = 0; d < input->results[r]->device_count; d++)
            json_object_set_new(devices, input->results[r]->devices[d].id,
                                json_string(input->results[r]->devices[d].name));
    json_t *cores = member(host, "topology", "pus");
    json_t *context = json_object();
    json_object_set_new(context, "date", or_null(json_object_get(first->header, "created")));
    json_object_set_new(context, "host_name", or_null(json_object_get(host, "hostname")));
    json_object_set_new(context, "executable", json_string("assay"));
    json_object_set_new(context, "num_cpus", or_null(json_is_integer(cores) ? cores : NULL));
    json_object_set_new(context, "mhz_per_cpu", json_null());
    json_object_set_new(context, "cpu_scaling_enabled", json_null());
    json_object_set_new(context, "caches", json_array());
    json_object_set_new(context, "load_avg", load);
    json_object_set_new(context, "library_build_type",
                        json_string(build_is_debug(first) ? "debug" : "release"));
    json_object_set_new(context, "assay_version",
                        or_null(member(first->header, "tool", "version")));
    json_object_set_new(context, "assay_run", or_null(json_object_get(first->header, "run")));
    json_object_set_new(context, "assay_devices", devices);
    return context;
}

/* "<device>/<key>" with '/' for blanks; the device is left out where there is only one, so that two
 * exports pair up. */
static void run_name(const struct record *record, bool with_device, struct text *name)
{
    text_clear(name);
    if (with_device)
        text_printf(name, "%s/", record->device);
    text_append(name, record->key);
    for (char *c = name->bytes; *c != '\0'; c++)
        if (*c == ' ')
            *c = '/';
}

/* Members that all entries of a case share. */
static json_t *entry_json(const char *name, const char *run, const char *run_type, size_t family)
{
    return json_pack("{s:s,s:I,s:i,s:s,s:s,s:i}", "name", name, "family_index", (json_int_t)family,
                     "per_family_instance_index", 0, "run_name", run, "run_type", run_type,
                     "threads", 1);
}

static void set_times(json_t *entry, const struct record *record, json_int_t iterations, double ns)
{
    json_object_set_new(entry, "iterations", json_integer(iterations));
    json_object_set_new(entry, "real_time", json_real(ns));
    json_object_set_new(entry, "cpu_time", json_real(ns));
    json_object_set_new(entry, "time_unit", json_string("ns"));
    if (record->work_bytes > 0 && !record->by_operations)
        json_object_set_new(entry, "bytes_per_second",
                            json_real((double)record->work_bytes * 1e9 / ns));
    if (record->work_operations > 0 && record->by_operations)
        json_object_set_new(entry, "items_per_second",
                            json_real((double)record->work_operations * 1e9 / ns));
}

static json_int_t steps_of(const struct record *record)
{
    json_t *steps = member(record->json, "batch", "steps");
    return json_is_integer(steps) && json_integer_value(steps) > 0 ? json_integer_value(steps) : 1;
}

static void add_samples(json_t *benchmarks, const struct record *record, const char *run,
                        size_t family)
{
    for (size_t i = 0; i < record->samples.count; i++) {
        json_t *entry = entry_json(run, run, "iteration", family);
        json_object_set_new(entry, "repetitions", json_integer((json_int_t)record->samples.count));
        json_object_set_new(entry, "repetition_index", json_integer((json_int_t)i));
        set_times(entry, record, steps_of(record), record->samples.ns[i]);
        json_object_set_new(entry, "label", json_string(record->clock));
        json_array_append_new(benchmarks, entry);
    }
}

struct moments {
    double mean, deviation;
};

static struct moments moments_of(const struct samples *samples)
{
    struct moments moments = {0};
    double n = (double)samples->count;
    for (size_t i = 0; i < samples->count; i++)
        moments.mean += samples->ns[i] / n;
    double squares = 0.0;
    for (size_t i = 0; i < samples->count; i++)
        squares += (samples->ns[i] - moments.mean) * (samples->ns[i] - moments.mean);
    moments.deviation = sqrt(squares / (n - 1.0));
    return moments;
}

/* As Google Benchmark does it: only with two repetitions or more; "cv" is a share, the others are
 * times. */
static void add_aggregates(json_t *benchmarks, const struct record *record, const char *run,
                           size_t family)
{
    static const char *const names[] = {"mean", "median", "stddev", "cv"};
    if (record->samples.count < 2)
        return;
    struct moments moments = moments_of(&record->samples);
    const double values[] = {moments.mean, stats_median(record->samples.ns, record->samples.count),
                             moments.deviation, moments.deviation / moments.mean};
    struct text name = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool rate = i < 2;
        text_clear(&name);
        text_printf(&name, "%s_%s", run, names[i]);
        json_t *entry = entry_json(text_string(&name), run, "aggregate", family);
        json_object_set_new(entry, "repetitions", json_integer((json_int_t)record->samples.count));
        json_object_set_new(entry, "aggregate_name", json_string(names[i]));
        json_object_set_new(entry, "aggregate_unit", json_string(i == 3 ? "percentage" : "time"));
        set_times(entry, record, (json_int_t)record->samples.count, values[i]);
        if (!rate) {
            json_object_del(entry, "bytes_per_second");
            json_object_del(entry, "items_per_second");
        }
        json_array_append_new(benchmarks, entry);
    }
    text_release(&name);
}

/* compare.py takes every entry with times into its geometric mean, a failed one with time 0 makes
 * that 0. An aggregate without times and with a unit that pairs with none is passed over by it, and
 * error_occurred is there for those who read on. */
static void add_failure(json_t *benchmarks, const struct record *record, const char *run,
                        size_t family)
{
    struct text message = {0};
    text_printf(&message, "%s: %s", state_name(record->state), record->reason);
    json_t *entry = entry_json(run, run, "aggregate", family);
    json_object_set_new(entry, "aggregate_name", json_string("error"));
    json_object_set_new(entry, "time_unit", json_string(""));
    json_object_set_new(entry, "error_occurred", json_true());
    json_object_set_new(entry, "error_message", json_string(text_string(&message)));
    json_array_append_new(benchmarks, entry);
    text_release(&message);
}

static enum code write(const struct report_input *input, struct text *out, struct error *err)
{
    size_t devices = 0, family = 0;
    for (size_t r = 0; r < input->result_count; r++)
        devices += input->results[r]->device_count;
    if (input->result_count == 0)
        return error_set(err, CODE_USAGE, 0, "there is no result to export");
    json_t *benchmarks = json_array();
    struct text name = {0};
    for (size_t r = 0; r < input->result_count; r++) {
        for (size_t i = 0; i < input->results[r]->record_count; i++, family++) {
            const struct record *record = &input->results[r]->records[i];
            run_name(record, devices > 1, &name);
            if (record->state == STATE_OK) {
                add_samples(benchmarks, record, text_string(&name), family);
                add_aggregates(benchmarks, record, text_string(&name), family);
            } else {
                add_failure(benchmarks, record, text_string(&name), family);
            }
        }
    }
    text_release(&name);
    json_t *root = json_pack("{s:o,s:o}", "context", context_json(input), "benchmarks", benchmarks);
    char *dump = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (dump == NULL)
        return error_set(err, CODE_INVALID, 0, "the export is no valid JSON");
    text_printf(out, "%s\n", dump);
    free(dump);
    return CODE_OK;
}

extern const struct report_format report_google_benchmark;
const struct report_format report_google_benchmark = {
    .name = "google-benchmark",
    .summary = "JSON that Google Benchmark's tools/compare.py reads",
    .report = false,
    .export = true,
    .write = write,
};
