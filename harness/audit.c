/* SPDX-License-Identifier: Apache-2.0
 *
 * Clock and completion audit; see audit.h. */
#include "harness/audit.h"

#include "base/clock.h"
#include "base/embedded.h"
#include "harness/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPIN_ITERATIONS = 4096, /* far below what any driver stops a work-item at */
    SPIN_GROUP = 16,
    SPIN_ITEMS_START = 1024,
    SPIN_BYTES_MAX = 1 << 28,
    OVERHEAD_SAMPLES = 21,
    CLOCK_ATTEMPTS = 8,
    CLOCK_LENGTHS = 3,
    WAY_TRIALS = 3,
    WAY_TRIALS_NEEDED = 2, /* of them; two that agree are enough */
};
static const double spin_target_ns = 100e6; /* of the completion audit */
static const double spin_least_ns = 20e6;   /* shortest length of the clock audit */
static const double least_share = 0.5; /* of the host interval around a kernel that is its time */
static const double slope_tolerance = 0.02;

/* The audit kernel, ready to launch with any number of items. */
struct spin {
    struct backend_device *device;
    struct program *program;
    struct buffer *out;
    uint32_t *host;
    uint64_t items; /* room of out and host */
    struct launch launch;
    uint32_t seed;
};

/* x_n of the recurrence x' = a x + c mod 2^32 is a^n x + c (a^n - 1)/(a - 1): both factors by
 * repeated squaring of the map. */
static void spin_jump(uint32_t iterations, uint32_t *factor, uint32_t *summand)
{
    uint32_t a = 1664525u, c = 1013904223u;
    *factor = 1;
    *summand = 0;
    for (; iterations > 0; iterations >>= 1) {
        if (iterations & 1u) {
            *factor *= a;
            *summand = *summand * a + c;
        }
        c = c * a + c;
        a *= a;
    }
}

static void spin_host(const struct launch *launch, void *const *pointers, int threads)
{
    uint32_t *out = pointers[0];
    uint32_t iterations = launch->args[1].u32, seed = launch->args[2].u32;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t item = 0; item < (int64_t)launch->global[0]; item++) {
        uint32_t x = (uint32_t)item + seed;
        for (uint32_t i = 0; i < iterations; i++)
            x = x * 1664525u + 1013904223u;
        out[item] = x;
    }
}

static const struct host_kernel spin_kernels[] = {{"audit_spin", spin_host}, {NULL, NULL}};

/* Wrong elements among the first `items` of host; 0 proves that the kernel of this seed ran to its
 * end. */
static uint64_t spin_wrong(const struct spin *spin, uint64_t items)
{
    uint32_t factor, summand;
    spin_jump(SPIN_ITERATIONS, &factor, &summand);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < items; i++)
        wrong += spin->host[i] != factor * ((uint32_t)i + spin->seed) + summand;
    return wrong;
}

static void spin_release(struct spin *spin)
{
    buffer_destroy(spin->device, spin->out);
    program_destroy(spin->device, spin->program);
    free(spin->host);
}

static enum code spin_resize(struct spin *spin, uint64_t items, struct error *err)
{
    buffer_destroy(spin->device, spin->out);
    free(spin->host);
    spin->items = items;
    spin->host = memory_zeroed(items, sizeof *spin->host);
    return buffer_create(spin->device, MEMORY_DEVICE, items * sizeof *spin->host, &spin->out, err);
}

static enum code spin_init(struct spin *spin, struct error *err)
{
    struct program_source source = {
        .text = embedded_text("harness/audit.cl"), .options = "", .host = spin_kernels};
    enum code code = program_build(spin->device, &source, &spin->program, NULL, err);
    if (code == CODE_OK)
        code = kernel_get(spin->device, spin->program, "audit_spin", &spin->launch.kernel, err);
    if (code == CODE_OK)
        code = spin_resize(spin, SPIN_ITEMS_START, err);
    return code;
}

static enum code spin_enqueue(struct spin *spin, uint64_t items, struct error *err)
{
    uint64_t group = kernel_group_limit(spin->device, spin->launch.kernel);
    group = group == 0 || items % SPIN_GROUP != 0 || group < SPIN_GROUP ? 1 : SPIN_GROUP;
    spin->launch.args[0] = (struct arg){.kind = ARG_BUFFER, .buffer = spin->out};
    spin->launch.args[1] = (struct arg){.kind = ARG_U32, .u32 = SPIN_ITERATIONS};
    spin->launch.args[2] = (struct arg){.kind = ARG_U32, .u32 = spin->seed};
    spin->launch.arg_count = 3;
    for (int d = 0; d < LAUNCH_DIMENSIONS; d++) {
        spin->launch.global[d] = d == 0 ? items : 1;
        spin->launch.local[d] = d == 0 ? group : 1;
    }
    return device_launch(spin->device, &spin->launch, err);
}

static enum code wait_in_every_way(struct spin *spin, struct error *err)
{
    enum code code = CODE_OK;
    for (int way = 0; way < WAIT_WAYS && code == CODE_OK; way++)
        code = device_sync_by(spin->device, (enum wait_way)way, err);
    return code;
}

/* Poisons the output on both sides and changes the seed, so that no earlier result can pass for
 * this one. */
static enum code spin_poison(struct spin *spin, struct error *err)
{
    spin->seed += 0x51ed27u;
    memset(spin->host, 0xa5, spin->items * sizeof *spin->host);
    enum code code =
        buffer_write(spin->device, spin->out, 0, spin->host, spin->items * sizeof *spin->host, err);
    if (code == CODE_OK)
        code = wait_in_every_way(spin, err);
    return code;
}

/* Duration of a launch of `items` by the host's clock, waited for in every way one after another:
 * if any of them waits, this is no less than the truth. Verifies the data. */
static enum code spin_time_all_ways(struct spin *spin, uint64_t items, double *ns,
                                    struct error *err)
{
    enum code code = spin_poison(spin, err);
    uint64_t begin = clock_now_ns();
    if (code == CODE_OK)
        code = spin_enqueue(spin, items, err);
    if (code == CODE_OK)
        code = wait_in_every_way(spin, err);
    *ns = (double)(clock_now_ns() - begin);
    if (code == CODE_OK)
        code = buffer_read(spin->device, spin->host, spin->out, 0, items * sizeof *spin->host, err);
    if (code == CODE_OK)
        code = wait_in_every_way(spin, err);
    uint64_t wrong = code == CODE_OK ? spin_wrong(spin, items) : 0;
    if (wrong > 0)
        return error_set(err, CODE_INVALID, 0,
                         "the audit kernel's output is wrong (%llu of %llu elements): the device "
                         "computes wrongly, or no way of waiting waits",
                         (unsigned long long)wrong, (unsigned long long)items);
    return code;
}

/* Finds the number of items that lasts about target_ns, at least doubling until the time can be
 * told from overhead. */
static enum code spin_calibrate(struct spin *spin, double target_ns, uint64_t *items,
                                struct error *err)
{
    double ns = 0.0;
    enum code code =
        spin_time_all_ways(spin, SPIN_ITEMS_START, &ns, err); /* pays for lazy compilation */
    uint64_t count = SPIN_ITEMS_START;
    for (; code == CODE_OK; count *= 2) {
        if (count > spin->items)
            code = spin_resize(spin, count, err);
        if (code == CODE_OK)
            code = spin_time_all_ways(spin, count, &ns, err);
        if (ns >= target_ns / 8 || count * 2 * sizeof *spin->host > SPIN_BYTES_MAX)
            break;
    }
    if (code != CODE_OK)
        return code;
    double scaled = (double)count * (ns < target_ns ? target_ns / ns : 1.0);
    double most = (double)SPIN_BYTES_MAX / sizeof *spin->host;
    *items = (uint64_t)(scaled < most ? scaled : most) / SPIN_GROUP * SPIN_GROUP;
    return *items > spin->items ? spin_resize(spin, *items, err) : CODE_OK;
}

/* What one try of a way of waiting showed. */
struct wait_trial {
    double wait_ns; /* until the way returned */
    double rest_ns; /* that the other ways waited after it */
    uint64_t wrong; /* elements of a read that were not there when the way returned */
};

/* A launch and this way of waiting, and what the other ways still wait after it; then a launch and
 * a read into poisoned host memory, whose data are looked at as soon as the way returns. */
static enum code try_way(struct spin *spin, uint64_t items, enum wait_way way,
                         struct wait_trial *trial, struct error *err)
{
    enum code code = spin_poison(spin, err);
    uint64_t begin = clock_now_ns();
    if (code == CODE_OK)
        code = spin_enqueue(spin, items, err);
    if (code == CODE_OK)
        code = device_sync_by(spin->device, way, err);
    uint64_t returned = clock_now_ns();
    if (code == CODE_OK)
        code = wait_in_every_way(spin, err);
    trial->wait_ns = (double)(returned - begin);
    trial->rest_ns = (double)(clock_now_ns() - returned);
    if (code == CODE_OK)
        code = spin_poison(spin, err);
    if (code == CODE_OK)
        code = spin_enqueue(spin, items, err);
    if (code == CODE_OK)
        code = buffer_read(spin->device, spin->host, spin->out, 0, items * sizeof *spin->host, err);
    if (code == CODE_OK)
        code = device_sync_by(spin->device, way, err);
    trial->wrong = code == CODE_OK ? spin_wrong(spin, items) : 0;
    /* let everything end, whatever this way did, before the host memory is used again */
    return code == CODE_OK ? wait_in_every_way(spin, err) : code;
}

/* A way is usable if no try read wrong data, and if in most tries most of the time passed inside
 * its wait: a busy machine may stop the host between two calls, so one try alone decides nothing by
 * its duration. */
static enum code audit_way(struct spin *spin, uint64_t items, enum wait_way way,
                           struct audit *audit, struct error *err)
{
    int waited = 0;
    char *reason = audit->way_reason[way];
    for (int i = 0; i < WAY_TRIALS; i++) {
        struct wait_trial trial = {0};
        enum code code = try_way(spin, items, way, &trial, err);
        if (code != CODE_OK)
            return error_context(err, "audit of the %s", wait_way_name(way));
        bool did_wait = trial.wait_ns >= trial.rest_ns;
        waited += did_wait;
        if (trial.wrong > 0) {
            snprintf(reason, AUDIT_REASON_BYTES,
                     "returned with wrong data (%llu of %llu elements) while a kernel ran",
                     (unsigned long long)trial.wrong, (unsigned long long)items);
            return CODE_OK;
        }
        if (!did_wait)
            snprintf(reason, AUDIT_REASON_BYTES,
                     "returned after %.2f ms; the kernel ran %.2f ms more", trial.wait_ns * 1e-6,
                     trial.rest_ns * 1e-6);
        if (waited >= WAY_TRIALS_NEEDED || i + 1 - waited >= WAY_TRIALS_NEEDED)
            break;
    }
    audit->way_usable[way] = waited >= WAY_TRIALS_NEEDED;
    if (audit->way_usable[way])
        reason[0] = '\0';
    return CODE_OK;
}

static enum code audit_completion(struct spin *spin, uint64_t items, struct audit *audit,
                                  struct error *err)
{
    enum code code = CODE_OK;
    for (int way = 0; way < WAIT_WAYS && code == CODE_OK; way++)
        code = audit_way(spin, items, (enum wait_way)way, audit, err);
    if (code != CODE_OK)
        return code;
    for (int way = 0; way < WAIT_WAYS; way++) {
        if (audit->way_usable[way]) {
            audit->way = (enum wait_way)way;
            device_set_wait(spin->device, audit->way);
            return CODE_OK;
        }
    }
    return error_set(err, CODE_INVALID, 0,
                     "no way of waiting waits for the end of a kernel: event wait %s",
                     audit->way_reason[WAIT_EVENT]);
}

bool audit_stamps(const struct timing *timing, uint64_t *last_end, char reason[AUDIT_REASON_BYTES])
{
    uint64_t device = timing->device_end - timing->device_begin;
    uint64_t host = timing->host_end - timing->host_begin;
    if (!timing->has_device)
        snprintf(reason, AUDIT_REASON_BYTES, "no time stamps: %s", timing->reason);
    else if (timing->device_end < timing->device_begin)
        snprintf(reason, AUDIT_REASON_BYTES, "timestamp-order: the end is before the start");
    else if (device == 0)
        snprintf(reason, AUDIT_REASON_BYTES,
                 "device time below resolution: start and end are equal");
    else if (*last_end != 0 && timing->device_begin < *last_end)
        snprintf(reason, AUDIT_REASON_BYTES, "timestamps did not advance");
    else if (device > host)
        snprintf(reason, AUDIT_REASON_BYTES,
                 "device time of %llu ns is longer than the %llu ns of host time around it",
                 (unsigned long long)device, (unsigned long long)host);
    else {
        *last_end = timing->device_end;
        return true;
    }
    return false;
}

/* Time of each length on both clocks: of all tries the one whose host interval fits closest around
 * the device's. */
struct clock_lengths {
    double device[CLOCK_LENGTHS], host[CLOCK_LENGTHS];
    uint64_t last_end;
};

/* Times one length. *usable false, with clock_reason: these stamps are not to be believed. */
static enum code clock_length(struct spin *spin, uint64_t items, int i,
                              struct clock_lengths *lengths, struct audit *audit, bool *usable,
                              struct error *err)
{
    struct timing timing;
    enum code code = timer_start(spin->device, err);
    if (code == CODE_OK)
        code = spin_enqueue(spin, items << i, err);
    if (code == CODE_OK)
        code = timer_stop(spin->device, &timing, err);
    if (code != CODE_OK)
        return code;
    *usable = audit_stamps(&timing, &lengths->last_end, audit->clock_reason);
    double device = (double)(timing.device_end - timing.device_begin);
    double host = (double)(timing.host_end - timing.host_begin);
    if (*usable && device < host * least_share) {
        snprintf(audit->clock_reason, AUDIT_REASON_BYTES,
                 "event-clock-implausible: a kernel of %.0f ms lasts %.4g ms by device time",
                 host * 1e-6, device * 1e-6);
        *usable = false;
    }
    if (*usable &&
        (lengths->host[i] <= 0 || host - device < lengths->host[i] - lengths->device[i])) {
        lengths->host[i] = host;
        lengths->device[i] = device;
    }
    return CODE_OK;
}

static bool judge_slope(const struct clock_lengths *lengths, struct audit *audit)
{
    const double *host = lengths->host, *device = lengths->device;
    double host_span = host[CLOCK_LENGTHS - 1] - host[0];
    audit->slope = host_span > 0 ? (device[CLOCK_LENGTHS - 1] - device[0]) / host_span : 0.0;
    if (fabs(audit->slope - 1.0) <= slope_tolerance)
        return true;
    snprintf(audit->clock_reason, AUDIT_REASON_BYTES,
             "event-clock-implausible: kernels of %.4g, %.4g and %.4g ms last %.4g, %.4g and %.4g "
             "ms by device time",
             host[0] * 1e-6, host[1] * 1e-6, host[2] * 1e-6, device[0] * 1e-6, device[1] * 1e-6,
             device[2] * 1e-6);
    return false;
}

/* A host thread that was stopped in between spoils a try; a wrong clock spoils all. Stamps that
 * break a rule twice need no third try; the first reason is kept, since later ones may only follow
 * from it. */
static enum code audit_clock(struct spin *spin, uint64_t items, struct audit *audit,
                             struct error *err)
{
    struct clock_lengths lengths = {0};
    char first[AUDIT_REASON_BYTES] = "";
    int broken = 0;
    for (int attempt = 0; attempt < CLOCK_ATTEMPTS && broken < 2; attempt++) {
        bool usable = true;
        for (int i = 0; i < CLOCK_LENGTHS && usable; i++) {
            enum code code = clock_length(spin, items, i, &lengths, audit, &usable, err);
            if (code != CODE_OK)
                return error_context(err, "clock audit");
        }
        if (usable && judge_slope(&lengths, audit)) {
            audit->device_clock = true;
            audit->clock_reason[0] = '\0';
            return CODE_OK;
        }
        if (!usable && broken++ == 0)
            memcpy(first, audit->clock_reason, sizeof first);
    }
    if (broken > 0)
        memcpy(audit->clock_reason, first, sizeof first);
    return CODE_OK;
}

static enum code audit_overhead(struct spin *spin, struct audit *audit, struct error *err)
{
    double ns[OVERHEAD_SAMPLES];
    for (int i = 0; i < OVERHEAD_SAMPLES; i++) {
        uint64_t begin = clock_now_ns();
        struct launch tiny = spin->launch;
        tiny.args[1].u32 = 1;
        tiny.global[0] = tiny.local[0] = 1;
        enum code code = device_launch(spin->device, &tiny, err);
        if (code == CODE_OK)
            code = device_sync(spin->device, err);
        if (code != CODE_OK)
            return code;
        ns[i] = (double)(clock_now_ns() - begin);
    }
    audit->overhead_ns = stats_median(ns, OVERHEAD_SAMPLES);
    return CODE_OK;
}

enum code audit_device(struct backend_device *device, struct audit *audit, struct error *err)
{
    *audit = (struct audit){0};
    const struct device_info *info = device_get_info(device);
    audit->step_ns = info->timer_step_ns > 0 ? info->timer_step_ns : 1;
    struct spin spin = {.device = device, .seed = 1};
    uint64_t items = 0;
    enum code code = spin_init(&spin, err);
    if (code == CODE_OK)
        code = spin_calibrate(&spin, spin_target_ns, &items, err);
    if (code == CODE_OK)
        code = audit_completion(&spin, items, audit, err);
    if (code == CODE_OK) {
        uint64_t least =
            (uint64_t)((double)items * spin_least_ns / spin_target_ns) / SPIN_GROUP * SPIN_GROUP;
        least =
            least << (CLOCK_LENGTHS - 1) > spin.items ? spin.items >> (CLOCK_LENGTHS - 1) : least;
        code = audit_clock(&spin, least / SPIN_GROUP * SPIN_GROUP, audit, err);
    }
    if (code == CODE_OK)
        code = audit_overhead(&spin, audit, err);
    spin_release(&spin);
    return code;
}

json_t *audit_to_json(const struct audit *audit)
{
    json_t *refused = json_array();
    for (int way = 0; way < WAIT_WAYS; way++)
        if (!audit->way_usable[way])
            json_array_append_new(refused,
                                  json_pack("{s:s,s:s}", "way", wait_way_name((enum wait_way)way),
                                            "reason", audit->way_reason[way]));
    json_t *reason = audit->device_clock ? json_null() : json_string(audit->clock_reason);
    return json_pack("{s:{s:s,s:o,s:o},s:{s:s,s:o},s:f,s:I}", "clock", "source",
                     audit->device_clock ? "device" : "host", "reason", reason, "slope",
                     audit->slope > 0 ? json_real(audit->slope) : json_null(), "wait", "way",
                     wait_way_name(audit->way), "refused", refused, "overhead_ns",
                     audit->overhead_ns, "step_ns", (json_int_t)audit->step_ns);
}

enum code audit_from_json(const json_t *json, struct audit *audit, struct error *err)
{
    *audit = (struct audit){0};
    const char *source = NULL, *way = NULL;
    json_t *reason = NULL; /* null on the device's clock */
    json_int_t step = 0;
    json_t *mutable_json = json_deep_copy(json); /* jansson's unpack wants a mutable value */
    int status = json_unpack(mutable_json, "{s:{s:s,s?o},s:{s:s},s:F,s:I}", "clock", "source",
                             &source, "reason", &reason, "wait", "way", &way, "overhead_ns",
                             &audit->overhead_ns, "step_ns", &step);
    if (status == 0) {
        audit->device_clock = strcmp(source, "device") == 0;
        const char *why = json_string_value(reason);
        snprintf(audit->clock_reason, AUDIT_REASON_BYTES, "%s", why != NULL ? why : "");
        audit->step_ns = (uint64_t)step;
        for (int i = 0; i < WAIT_WAYS; i++)
            if (strcmp(way, wait_way_name((enum wait_way)i)) == 0)
                audit->way = (enum wait_way)i;
    }
    json_decref(mutable_json);
    return status == 0 ? CODE_OK
                       : error_set(err, CODE_INVALID, 0, "the audit of a worker cannot be read");
}
