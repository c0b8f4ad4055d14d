/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading result files (JSON Lines, docs/formats.md). Every line is checked against the schema, the
 * chain of digests is checked, and what reports need is lifted into plain structs; the rest stays
 * reachable as JSON. */
#ifndef HARNESS_RECORD_H
#define HARNESS_RECORD_H

#include "base/error.h"
#include "harness/state.h"
#include "harness/stats.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_SCHEMA = 1 };

struct phase {
    const char *name;
    struct samples samples;
};

/* One case on one device. Strings are borrowed from json and live as long as the result. */
struct record {
    const json_t *json;
    size_t line;
    size_t segment;  /* resume lines before it: rounds of records of one segment were measured next
                        to each other */
    const char *key; /* case key */
    const char *suite;
    const char *device; /* device id in this file */
    enum state state;
    const char *reason;     /* NULL for ok */
    struct samples samples; /* ns per step; count 0 unless measured */
    struct phase *phases;
    size_t phase_count;
    uint64_t work_bytes, work_operations;
    const char *bytes_counted; /* "read+write", "payload" */
    const char *unit;          /* of the rate shown: "B/s", "FLOP/s" */
    bool by_operations;
    const char *clock; /* "device" or "host" */
    bool converged;
};

struct result_device {
    const json_t *json;
    const char *id, *name, *vendor, *driver, *platform, *type,
        *physical;          /* physical may be NULL: unknown */
    const char *uuid, *pci; /* NULL: unknown */
    bool software;
    const char *clock, *clock_reason; /* "device" or "host"; NULL reason */
};

struct result {
    char *path;
    const json_t *header;
    struct result_device *devices;
    size_t device_count;
    struct record *records;
    size_t record_count;
    bool complete; /* a closing line with complete true was read */
    bool torn;     /* the last line was cut short (a killed run) and is not used */
    double noise;  /* relative spread of the host sentinel over the run, see docs/methodology.md; 0
                      unknown */
};

/* CODE_CONFIG with "file:line: …" for anything that is not a result of a schema this tool reads;
 * CODE_IO. Bounded memory: lines over 64 MiB and files over 2 GiB are refused. */
enum code result_load(const char *path, struct result **result, struct error *err);
void result_destroy(struct result *result);
/* Device of a record; never NULL for a loaded result. */
const struct result_device *result_device_of(const struct result *result,
                                             const struct record *record);
/* Device with this id, NULL if there is none. */
const struct result_device *result_device_find(const struct result *result, const char *id);
/* The record for a key and a device id, NULL if there is none. */
const struct record *result_find(const struct result *result, const char *key, const char *device);
/* Rate for a duration: operations or bytes per second as the record's suite defines it. */
double record_rate(const struct record *record, double ns);
/* The pieces of host work of conditions.sentinel; ends with NULL. */
extern const char *const record_sentinels[];
/* Median of the host sentinel "compute_ns" or "memory_ns" during the record; NaN if it was not
 * taken. */
double record_sentinel(const struct record *record, const char *kind);

#endif
