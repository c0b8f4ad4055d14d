/* SPDX-License-Identifier: Apache-2.0
 *
 * One case on one open device, inside a worker: prepared (built, filled, verified, warmed up,
 * calibrated), measured round by round, verified again. It decides what a sample is; when to stop
 * is the coordinator's decision. */
#ifndef HARNESS_BENCH_H
#define HARNESS_BENCH_H

#include "backends/backend.h"
#include "harness/audit.h"
#include "harness/check.h"
#include "harness/policy.h"
#include "harness/state.h"
#include "harness/suite.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    BENCH_REASON_BYTES = 512,
    BENCH_SAMPLES_MAX = 64,
    BENCH_PHASES_MAX = 8,
    BENCH_COMMANDS_MAX = 131072
};

struct bench {
    /* given */
    struct backend_device *device;
    const struct audit *audit;
    struct case_spec spec;
    struct policy policy;
    uint64_t seed;                           /* of this case */
    char host_clock_why[AUDIT_REASON_BYTES]; /* the host's clock is wanted, for this reason; "" not
                                              */
    /* made by bench_prepare */
    struct device_caps caps;
    struct step step;
    struct buffer *buffers[STEP_BUFFERS_MAX];
    void *data[STEP_BUFFERS_MAX];
    struct program *program;
    struct launch launches[STEP_OPS_MAX];
    struct text build_log;
    char kernel_sha256[SHA256_HEX_BYTES];
    uint64_t build_ns;
    uint64_t device_bytes, working_set_bytes;
    struct check_memory check_memory;
    struct check before;
    bool host_clock;
    char clock_reason[AUDIT_REASON_BYTES]; /* why the host clock; "" on the device clock */
    uint64_t batch;                        /* steps in a sample */
    uint64_t batch_max; /* so that twice a batch stays within BENCH_COMMANDS_MAX commands */
    double step_ns, doubling;
    const char *phases[BENCH_PHASES_MAX];
    uint32_t phase_count;
    /* running */
    uint64_t last_end; /* newest device stamp accepted */
    uint64_t round;
    /* outcome that is not a driver error: why the case has no number */
    enum state state;
    char reason[BENCH_REASON_BYTES];
};

/* Samples of one round. */
struct round {
    double ns[BENCH_SAMPLES_MAX];
    uint32_t count;
    uint32_t rejected;
    char rejected_reason[AUDIT_REASON_BYTES];
    double phase_ns[BENCH_PHASES_MAX];
};

/* Fills the rest of bench from its given part. On CODE_OK bench->state tells whether there is
 * anything to measure (STATE_OK) or why not; errors are the driver's. bench_release afterwards in
 * any case. */
enum code bench_prepare(struct bench *bench, struct error *err);
/* Poisons the outputs, whole before the round and a few bytes of each before every sample, and
 * takes count samples (at most BENCH_SAMPLES_MAX). Samples with unusable stamps are rejected and
 * counted.
 */
enum code bench_round(struct bench *bench, uint32_t count, struct round *round, struct error *err);
/* Verifies what the last timed launch left. bench->state becomes STATE_FAILED_VERIFICATION if it is
 * wrong. */
enum code bench_finish(struct bench *bench, struct check *after, struct error *err);
void bench_release(struct bench *bench);

/* --- for bench_setup.c and bench.c --- */

/* Shapes the step for the device, builds, allocates, fills. Sets state where the case cannot be. */
enum code bench_setup(struct bench *bench, struct error *err);
/* Enqueues the operations of one step. */
enum code bench_enqueue_step(struct bench *bench, struct error *err);
enum code bench_enqueue_op(struct bench *bench, uint32_t op, struct error *err);
/* Overwrites every OUT buffer with bytes that are no right answer (all ones, a NaN, for floating
 * point). */
enum code bench_poison(struct bench *bench, struct error *err);
/* The same for a few bytes at the begin, the middle and the end of every OUT buffer: too few to
 * change what the caches hold, enough to betray a launch that did not run. */
enum code bench_mark(struct bench *bench, struct error *err);
/* Sets state and reason; returns CODE_OK. */
enum code bench_outcome(struct bench *bench, enum state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
