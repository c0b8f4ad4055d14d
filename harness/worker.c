/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker process; see worker.h. Each request is one row of the table of operations. */
#include "harness/worker.h"

#include "backends/backend.h"
#include "harness/audit.h"
#include "harness/bench.h"
#include "harness/ceiling.h"
#include "harness/inventory.h"
#include "harness/process.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    const struct backend *backend;
    const char *library;
    struct backend_driver *driver;
    struct backend_device *device;
    struct audit audit;
    struct bench *bench; /* NULL: no case is prepared */
};

/* A text that was cut in the middle of a character is no JSON text: the rest of it is kept. */
static json_t *text_or_null(const char *text)
{
    if (text == NULL || text[0] == '\0')
        return json_null();
    json_t *json = json_string(text);
    if (json != NULL)
        return json;
    char *printable = text_duplicate(text);
    text_make_printable(printable);
    json = json_string(printable);
    free(printable);
    return json;
}

static enum code open_driver(struct server *server, struct error *err)
{
    if (server->driver != NULL)
        return CODE_OK;
    return driver_open(server->backend, server->library, &server->driver, err);
}

static enum code serve_list(struct server *server, json_t *request, json_t *reply,
                            struct error *err)
{
    (void)request;
    enum code code = open_driver(server, err);
    if (code != CODE_OK)
        return code;
    const struct device_info *infos;
    size_t count = driver_devices(server->driver, &infos);
    json_t *devices = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(devices, device_info_to_json(&infos[i]));
    json_object_set_new(reply, "devices", devices);
    json_object_set_new(reply, "platform", json_string(driver_platform(server->driver)));
    return CODE_OK;
}

/* {"index": n, "audit": object of an earlier open, or absent}: opens the device and audits it
 * unless that was done. */
static enum code serve_open(struct server *server, json_t *request, json_t *reply,
                            struct error *err)
{
    enum code code = open_driver(server, err);
    json_t *earlier = json_object_get(request, "audit");
    size_t index = (size_t)json_integer_value(json_object_get(request, "index"));
    if (code == CODE_OK && server->device == NULL)
        code = device_open(server->driver, index, &server->device, err);
    if (code != CODE_OK)
        return code;
    if (earlier != NULL) {
        code = audit_from_json(earlier, &server->audit, err);
        if (code == CODE_OK)
            device_set_wait(server->device, server->audit.way);
    } else {
        code = audit_device(server->device, &server->audit, err);
    }
    if (code == CODE_OK)
        json_object_set_new(reply, "audit",
                            earlier != NULL ? json_incref(earlier) : audit_to_json(&server->audit));
    return code;
}

static enum code serve_ceilings(struct server *server, json_t *request, json_t *reply,
                                struct error *err)
{
    (void)request;
    enum code code = open_driver(server, err);
    if (code != CODE_OK)
        return code;
    const struct device_info *infos;
    size_t count = driver_devices(server->driver, &infos);
    uint32_t threads = 1;
    for (size_t i = 0; i < count; i++)
        threads = infos[i].compute_units > threads ? infos[i].compute_units : threads;
    struct ceiling ceiling;
    ceiling_measure((int)threads, &ceiling);
    json_object_set_new(reply, "operations_per_s", json_real(ceiling.operations_per_s));
    json_object_set_new(reply, "bytes_per_s", json_real(ceiling.bytes_per_s));
    return CODE_OK;
}

static void read_policy(const json_t *json, struct policy *policy)
{
    *policy = (struct policy){
        .samples_min = (uint32_t)json_integer_value(json_object_get(json, "samples_min")),
        .budget_ns = (uint64_t)json_integer_value(json_object_get(json, "budget_ns")),
        .warmup_ns = (uint64_t)json_integer_value(json_object_get(json, "warmup_ns")),
    };
    if (policy->samples_min == 0)
        policy->samples_min = 1;
}

static void describe_build(const struct bench *bench, json_t *reply)
{
    if (bench->program == NULL)
        return;
    json_t *build =
        json_pack("{s:s,s:s,s:I,s:s,s:o}", "options", bench->step.options, "kernel_sha256",
                  bench->kernel_sha256, "build_ns", (json_int_t)bench->build_ns, "shape",
                  bench->step.shape, "log", text_or_null(text_string(&bench->build_log)));
    json_object_set_new(reply, "build", build);
}

static void describe_bench(const struct bench *bench, json_t *reply)
{
    json_object_set_new(reply, "state", json_string(state_name(bench->state)));
    json_object_set_new(reply, "reason", text_or_null(bench->reason));
    json_object_set_new(reply, "note", text_or_null(bench->step.note));
    describe_build(bench, reply);
    json_object_set_new(reply, "memory",
                        json_pack("{s:I,s:I}", "device_bytes", (json_int_t)bench->device_bytes,
                                  "working_set_bytes", (json_int_t)bench->working_set_bytes));
    if (bench->before.elements > 0)
        json_object_set_new(reply, "check", check_json(&bench->before));
    json_object_set_new(reply, "clock",
                        json_pack("{s:s,s:o}", "source", bench->host_clock ? "host" : "device",
                                  "reason", text_or_null(bench->clock_reason)));
    json_object_set_new(reply, "batch", json_integer((json_int_t)bench->batch));
    json_object_set_new(reply, "step_ns", json_real(bench->step_ns));
    json_object_set_new(reply, "doubling",
                        bench->doubling > 0 ? json_real(bench->doubling) : json_null());
}

static void release_bench(struct server *server)
{
    if (server->bench == NULL)
        return;
    bench_release(server->bench);
    free(server->bench);
    server->bench = NULL;
}

/* {"key": case key, "seed": text, "policy": {…}, "host_clock": why, or null: the audited clock} */
static enum code serve_prepare(struct server *server, json_t *request, json_t *reply,
                               struct error *err)
{
    if (server->device == NULL)
        return error_set(err, CODE_USAGE, 0, "no device is open");
    release_bench(server);
    struct bench *bench = memory_zeroed(1, sizeof *bench);
    server->bench = bench;
    bench->device = server->device;
    bench->audit = &server->audit;
    const char *key = json_string_value(json_object_get(request, "key"));
    const char *seed = json_string_value(json_object_get(request, "seed"));
    enum code code = case_parse(key != NULL ? key : "", &bench->spec, err);
    bench->seed = seed != NULL ? strtoull(seed, NULL, 10) : 0;
    const char *why = json_string_value(json_object_get(request, "host_clock"));
    snprintf(bench->host_clock_why, sizeof bench->host_clock_why, "%s", why != NULL ? why : "");
    read_policy(json_object_get(request, "policy"), &bench->policy);
    if (code == CODE_OK)
        code = bench_prepare(bench, err);
    if (code == CODE_OK)
        describe_bench(bench, reply);
    if (code != CODE_OK || bench->state != STATE_OK)
        release_bench(server);
    return code;
}

static enum code serve_round(struct server *server, json_t *request, json_t *reply,
                             struct error *err)
{
    if (server->bench == NULL)
        return error_set(err, CODE_USAGE, 0, "no case is prepared");
    struct round round;
    uint32_t count = (uint32_t)json_integer_value(json_object_get(request, "samples"));
    enum code code = bench_round(server->bench, count, &round, err);
    if (code != CODE_OK)
        return code;
    json_t *ns = json_array();
    for (uint32_t i = 0; i < round.count; i++)
        json_array_append_new(ns, json_real(round.ns[i]));
    json_object_set_new(reply, "ns", ns);
    json_object_set_new(reply, "rejected", json_integer(round.rejected));
    json_object_set_new(reply, "rejected_reason", text_or_null(round.rejected_reason));
    json_t *phases = json_object();
    for (uint32_t p = 0; p < server->bench->phase_count; p++)
        json_object_set_new(phases, server->bench->phases[p], json_real(round.phase_ns[p]));
    json_object_set_new(reply, "phases", phases);
    struct telemetry telemetry;
    device_telemetry(server->device, &telemetry);
    json_object_set_new(reply, "telemetry_reason", text_or_null(telemetry.reason));
    return CODE_OK;
}

static enum code serve_finish(struct server *server, json_t *request, json_t *reply,
                              struct error *err)
{
    (void)request;
    if (server->bench == NULL)
        return error_set(err, CODE_USAGE, 0, "no case is prepared");
    struct check after;
    enum code code = bench_finish(server->bench, &after, err);
    if (code == CODE_OK) {
        json_object_set_new(reply, "state", json_string(state_name(server->bench->state)));
        json_object_set_new(reply, "reason", text_or_null(server->bench->reason));
        json_object_set_new(reply, "check", check_json(&after));
    }
    release_bench(server);
    return code;
}

static const struct operation {
    const char *name;
    enum code (*serve)(struct server *server, json_t *request, json_t *reply, struct error *err);
} operations[] = {
    {"list", serve_list},       {"open", serve_open},   {"ceilings", serve_ceilings},
    {"prepare", serve_prepare}, {"round", serve_round}, {"finish", serve_finish},
};

static enum code dispatch(struct server *server, json_t *request, json_t *reply, struct error *err)
{
    const char *name = json_string_value(json_object_get(request, "op"));
    for (size_t i = 0; name != NULL && i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].serve(server, request, reply, err);
    return error_set(err, CODE_USAGE, 0, "unknown request '%s'", name != NULL ? name : "");
}

void worker_serve(const char *backend, const char *library)
{
    struct server server = {.backend = backend_find(backend), .library = library};
    json_t *request;
    while ((request = process_read_request()) != NULL) {
        struct error err = {0};
        json_t *reply = json_object();
        enum code code = CODE_OK;
        if (server.backend == NULL)
            code = error_set(&err, CODE_NOTHING, 0, "this build has no backend '%s'", backend);
        else
            code = dispatch(&server, request, reply, &err);
        json_object_set_new(reply, "ok", json_boolean(code == CODE_OK));
        if (code != CODE_OK) {
            text_make_printable(err.message);
            json_object_set_new(reply, "code", json_string(code_name(code)));
            json_object_set_new(reply, "native", json_integer(err.native));
            json_object_set_new(reply, "message", json_string(err.message));
        }
        process_default_signals(); /* what the request made the driver load is there now */
        process_write_reply(reply);
        json_decref(reply);
        json_decref(request);
    }
    release_bench(&server);
    device_close(server.device);
    driver_close(server.driver);
}
