/* SPDX-License-Identifier: Apache-2.0
 *
 * Result files made by hand for tests of reports: a header with devices and lines of records with
 * constant samples, so that every rate can be worked out in the head. */
#ifndef TESTS_REPORTS_MADE_RESULT_H
#define TESTS_REPORTS_MADE_RESULT_H

#include "base/text.h"
#include "harness/record.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct made {
    json_t *header, *devices, *planned, *records;
};

static inline void made_init(struct made *made, const char *run)
{
    made->devices = json_array();
    made->planned = json_array();
    made->records = json_array();
    made->header = json_pack(
        "{s:s, s:i, s:{s:s,s:s,s:s}, s:s, s:s, s:s, s:{s:s,s:s,s:s,s:s},"
        " s:{s:i,s:i,s:i,s:f,s:i,s:i,s:i,s:f}, s:{s:s,s:s,s:i,s:n,s:{s:i,s:i,s:i,s:[],s:[],s:[]}},"
        " s:{}}",
        "kind", "header", "schema", 1, "tool", "name", "assay", "version", "0.1.0", "build", "test",
        "created", "2025-01-02T03:04:05Z", "run", run, "seed", "18446744073709551615", "config",
        "name", "made", "path", "made.yaml", "sha256",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "resolved",
        "schema: 1\n", "policy", "rounds_min", 10, "rounds_max", 40, "samples_min", 30, "interval",
        0.01, "budget_ns", 1000000, "warmup_ns", 1000000, "step_timeout_ns", 1000000, "difference",
        0.02, "host", "cpu", "Test CPU", "kernel", "Linux", "memory_bytes", 1024, "load_1min",
        "topology", "packages", 1, "cores", 2, "pus", 4, "numa_nodes", "caches", "pci",
        "environment");
    assert_non_null(made->header);
}

/* A device with everything said; software and clock are what tests vary. */
static inline json_t *made_device(struct made *made, const char *id, const char *name,
                                  const char *type, bool software, const char *clock)
{
    bool host_clock = strcmp(clock, "host") == 0;
    json_t *device = json_pack(
        "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:n,s:n,s:s,s:i,s:{s:s,s:o,s:n},s:{s:s,s:[]},s:n,"
        "s:{s:n,s:n,s:n,s:n},s:n,s:[],s:b,s:b,s:b}",
        "id", id, "name", name, "vendor", "Test", "driver", "1.0", "api", "test", "platform",
        "Test platform", "type", type, "software", software, "pci", "uuid", "physical", id,
        "compute_units", 2, "clock", "source", clock, "reason",
        host_clock ? json_string("event stamps are constants") : json_null(), "slope", "wait",
        "way", "event wait", "refused", "overhead_ns", "ceilings", "bytes_per_s",
        "operations_per_s", "copy_bytes_per_s", "source", "reason", "notes", "has_f64", 1,
        "has_f16", 0, "unified_memory", 1);
    assert_non_null(device);
    json_array_append_new(made->devices, device);
    return device;
}

static inline json_t *made_rounds(const double *ns, size_t round_count, size_t each)
{
    json_t *rounds = json_array();
    for (size_t r = 0; r < round_count; r++) {
        json_t *round = json_array();
        for (size_t i = 0; i < each; i++)
            json_array_append_new(round, json_real(ns[r]));
        json_array_append_new(rounds, round);
    }
    return json_pack("{s:s,s:o}", "unit", "ns", "rounds", rounds);
}

static inline json_t *made_check(void)
{
    return json_pack("{s:i,s:i,s:i,s:n,s:f,s:f,s:f,s:f,s:s}", "elements", 1000, "mismatches", 0,
                     "nonfinite", 0, "first_bad", "max_error", 0.0, "rms_error", 0.0, "absolute",
                     0.0, "relative", 0.0, "derivation", "equal to the bit");
}

/* A planned case with a record; samples is stolen (json_null() for none). */
static inline json_t *made_record(struct made *made, const char *key, const char *device,
                                  const char *state, const char *reason, int64_t bytes,
                                  json_t *samples)
{
    char suite[64];
    bool measured = json_is_object(samples);
    snprintf(suite, sizeof suite, "%.*s", (int)strcspn(key, "@"), key);
    json_t *record = json_pack(
        "{s:s,s:s,s:{s:s,s:i,s:s,s:{}},s:s,s:s,s:s?,s:{s:I,s:i,s:s,s:b,s:s},s:o,s:n,s:o,s:o,s:o,"
        "s:o,s:n,s:n,s:n,s:n,s:[],s:s,s:i}",
        "kind", "record", "key", key, "case", "suite", suite, "version", 1, "tier", "portable",
        "parameters", "device", device, "state", state, "reason", reason, "work", "bytes",
        (json_int_t)bytes, "operations", 0, "bytes_counted", "read+write", "by_operations", 0,
        "unit", "B/s", "samples", samples, "phases", "batch",
        measured ? json_pack("{s:i}", "steps", 1) : json_null(), "clock",
        measured ? json_pack("{s:s,s:n,s:i}", "source", "device", "reason", "rejected", 0)
                 : json_null(),
        "converged", measured ? json_true() : json_null(), "check",
        measured ? json_pack("{s:o,s:o}", "before", made_check(), "after", made_check())
                 : json_null(),
        "doubling", "build", "memory", "conditions", "notes", "started", "2025-01-02T03:05:00Z",
        "elapsed_ns", 1);
    assert_non_null(record);
    json_array_append_new(made->records, record);
    json_array_append_new(made->planned, json_pack("{s:s,s:s}", "case", key, "device", device));
    return record;
}

/* An ok record whose samples are all ns, 10 rounds of 4. */
static inline json_t *made_ok(struct made *made, const char *key, const char *device, int64_t bytes,
                              double ns)
{
    double rounds[10];
    for (size_t i = 0; i < 10; i++)
        rounds[i] = ns;
    return made_record(made, key, device, "ok", NULL, bytes, made_rounds(rounds, 10, 4));
}

static inline void made_write_line(FILE *file, json_t *line, char previous[SHA256_HEX_BYTES])
{
    json_object_set_new(line, "previous",
                        previous[0] != '\0' ? json_string(previous) : json_null());
    char *text = json_dumps(line, JSON_COMPACT);
    assert_non_null(text);
    text_sha256(text, strlen(text), previous);
    fprintf(file, "%s\n", text);
    free(text);
}

/* Writes the file with its chain of digests, frees what was made. */
static inline void made_write(struct made *made, const char *path, bool complete)
{
    char previous[SHA256_HEX_BYTES] = "";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    size_t count = json_array_size(made->records);
    json_object_set_new(made->header, "devices", made->devices);
    json_object_set_new(made->header, "planned", made->planned);
    made_write_line(file, made->header, previous);
    for (size_t i = 0; i < count; i++)
        made_write_line(file, json_array_get(made->records, i), previous);
    if (complete) {
        json_t *end = json_pack("{s:s,s:b,s:n,s:i,s:s}", "kind", "end", "complete", 1, "reason",
                                "records", (int)count, "created", "2025-01-02T04:00:00Z");
        made_write_line(file, end, previous);
        json_decref(end);
    }
    assert_int_equal(fclose(file), 0);
    json_decref(made->header);
    json_decref(made->records);
}

static inline void made_load(const char *path, struct result **result)
{
    struct error err = {0};
    if (result_load(path, result, &err) != CODE_OK)
        fail_msg("%s", err.message);
}

#endif
