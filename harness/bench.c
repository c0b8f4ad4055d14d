/* SPDX-License-Identifier: Apache-2.0
 *
 * Measuring a prepared case: first verification, warm-up, calibration of the batch, doubling check,
 * rounds, last verification. See bench.h and docs/methodology.md for the rules. */
#include "harness/bench.h"

#include "base/clock.h"
#include "harness/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DOUBLING_LEAST = 3,
    DOUBLING_ATTEMPTS = 24,
    DOUBLING_REPEATS = 3,
    REJECTED_IN_A_ROW_MAX = 8
};
static const double sample_least_ns = 1e6;
static const double sample_most_ns = 10e6; /* what the batch grows to where nothing asks for more */
static const double steps_of_clock = 1000.0; /* a sample lasts at least so many clock steps */
static const double overhead_share = 0.005;  /* of launch overhead in a sample on the host clock */
static const double warm_agreement = 0.01;
static const double warm_window_ns = 20e6;
static const double doubling_patience_ns = 2e9; /* a busy machine gets so long to show it */
static const double doubling_low = 1.7, doubling_high = 2.3;

/* Time of `steps` steps as one batch, on the case's clock. *usable false: stamps were rejected, for
 * the reason. The outputs are marked first, so that no answer of an earlier batch is left to be
 * kept. */
static enum code time_batch(struct bench *bench, uint64_t steps, double *ns, bool *usable,
                            char *reason, struct error *err)
{
    struct timing timing;
    enum code code = bench_mark(bench, err);
    if (code == CODE_OK)
        code = timer_start(bench->device, err);
    for (uint64_t i = 0; i < steps && code == CODE_OK; i++)
        code = bench_enqueue_step(bench, err);
    if (code == CODE_OK)
        code = timer_stop(bench->device, &timing, err);
    if (code != CODE_OK)
        return code;
    *usable = true;
    if (bench->host_clock) {
        *ns = (double)(timing.host_end - timing.host_begin);
        return CODE_OK;
    }
    *usable = audit_stamps(&timing, &bench->last_end, reason);
    *ns = *usable ? (double)(timing.device_end - timing.device_begin) : 0.0;
    return CODE_OK;
}

static void choose_clock(struct bench *bench)
{
    bool host_work = false;
    for (uint32_t i = 0; i < bench->step.op_count; i++)
        host_work = host_work || bench->step.ops[i].kind == OP_HOST_COPY;
    const char *why = "";
    if (!bench->audit->device_clock)
        why = bench->audit->clock_reason;
    else if (host_work)
        why = "the step has a part on the host";
    else
        why = bench->host_clock_why;
    bench->host_clock = why[0] != '\0';
    snprintf(bench->clock_reason, sizeof bench->clock_reason, "%s", why);
}

static enum code verify(struct bench *bench, struct check *check, const char *when,
                        struct error *err)
{
    struct check_input input = {.device = bench->device,
                                .spec = &bench->spec,
                                .step = &bench->step,
                                .buffers = bench->buffers,
                                .data = (const void *const *)bench->data};
    enum code code = check_outputs(&input, &bench->check_memory, check, err);
    if (code != CODE_OK)
        return error_context(err, "verification %s the timing", when);
    if (!check_passed(check)) {
        char reason[BENCH_REASON_BYTES - 64];
        check_reason(check, reason, sizeof reason);
        return bench_outcome(bench, STATE_FAILED_VERIFICATION, "%s the timing: %s", when, reason);
    }
    return CODE_OK;
}

static enum code run_and_verify(struct bench *bench, struct error *err)
{
    enum code code = bench_poison(bench, err);
    if (code == CODE_OK)
        code = bench_enqueue_step(bench, err);
    if (code == CODE_OK)
        code = device_sync(bench->device, err);
    return code == CODE_OK ? verify(bench, &bench->before, "before", err) : code;
}

/* Windows of steps until two in a row agree, or the policy's time is over. Leaves the time of a
 * step, by the host's clock. */
static enum code warm_up(struct bench *bench, struct error *err)
{
    uint64_t begin = clock_now_ns();
    double previous = 0.0;
    uint64_t steps = 1;
    for (;;) {
        uint64_t window = clock_now_ns();
        enum code code = CODE_OK;
        for (uint64_t i = 0; i < steps && code == CODE_OK; i++)
            code = bench_enqueue_step(bench, err);
        if (code == CODE_OK)
            code = device_sync(bench->device, err);
        if (code != CODE_OK)
            return error_context(err, "warm-up");
        double ns = (double)(clock_now_ns() - window);
        bench->step_ns = ns / (double)steps;
        bool agree = previous > 0 && fabs(bench->step_ns - previous) <= warm_agreement * previous;
        if ((agree && ns >= warm_window_ns) || clock_now_ns() - begin >= bench->policy.warmup_ns)
            return CODE_OK;
        previous = bench->step_ns;
        if (ns < warm_window_ns && steps < bench->batch_max) {
            double wanted = (double)steps * warm_window_ns / (ns > 1 ? ns : 1);
            double most = (double)steps * 8;
            steps = (uint64_t)fmin(fmin(wanted, most) + 1, (double)bench->batch_max);
        }
    }
}

static double sample_floor_ns(const struct bench *bench)
{
    /* The step is the device's clock's; the host's has one of a nanosecond. */
    double asked = bench->host_clock ? bench->audit->overhead_ns / overhead_share
                                     : steps_of_clock * (double)bench->audit->step_ns;
    return fmax(sample_least_ns, asked);
}

/* Grows the batch until a sample is long enough on the case's own clock. */
static enum code calibrate(struct bench *bench, struct error *err)
{
    double floor_ns = sample_floor_ns(bench);
    if (!bench->host_clock && floor_ns > (double)bench->policy.budget_ns)
        return bench_outcome(bench, STATE_INVALID_CLOCK,
                             "a clock step of %llu ns asks for samples of %.3g s, longer than the "
                             "time of the whole case",
                             (unsigned long long)bench->audit->step_ns, floor_ns * 1e-9);
    double fair = (double)bench->policy.budget_ns / (2.0 * (double)bench->policy.samples_min);
    double target = fmax(floor_ns, fmin(fair, sample_most_ns));
    bench->batch = 1;
    int rejected = 0;
    for (;;) {
        double ns = 0.0;
        bool usable = false;
        char reason[AUDIT_REASON_BYTES];
        enum code code = time_batch(bench, bench->batch, &ns, &usable, reason, err);
        if (code != CODE_OK)
            return error_context(err, "calibration");
        if (!usable && ++rejected >= REJECTED_IN_A_ROW_MAX)
            return bench_outcome(bench, STATE_INVALID_CLOCK, "%s", reason);
        if (!usable)
            continue;
        bench->step_ns = ns / (double)bench->batch;
        if (ns >= target)
            return CODE_OK;
        if (bench->batch >= bench->batch_max) {
            if (ns >= floor_ns)
                return CODE_OK;
            return bench_outcome(bench, STATE_INVALID_CLOCK,
                                 "%llu steps last %.0f ns, below the %.0f ns that this clock needs",
                                 (unsigned long long)bench->batch, ns, floor_ns);
        }
        double wanted =
            ns > 0 ? (double)bench->batch * target / ns * 1.1 : (double)bench->batch * 4;
        double most = (double)bench->batch * 16;
        double next = fmin(fmin(wanted, most) + 1, (double)bench->batch_max);
        bench->batch = next > (double)bench->batch ? (uint64_t)next : bench->batch + 1;
    }
}

/* Batches of one length that were timed. */
struct lengths {
    double shortest, sum;
    int count;
    char reason[AUDIT_REASON_BYTES]; /* of the last that was not usable */
};

static enum code time_batches(struct bench *bench, uint64_t steps, struct lengths *lengths,
                              struct error *err)
{
    double step_s = bench->step_ns * (double)steps * 1e-9;
    int repeats = step_s > 0.5 ? 1 : DOUBLING_REPEATS;
    for (int i = 0; i < repeats; i++) {
        double ns = 0.0;
        bool usable = false;
        enum code code = time_batch(bench, steps, &ns, &usable, lengths->reason, err);
        if (code != CODE_OK)
            return error_context(err, "doubling check");
        if (!usable)
            continue;
        lengths->shortest = lengths->count == 0 ? ns : fmin(lengths->shortest, ns);
        lengths->sum += ns;
        lengths->count++;
    }
    return CODE_OK;
}

static bool doubled(double ratio)
{
    return ratio >= doubling_low && ratio <= doubling_high;
}

/* Disturbances only lengthen, so the shortest of all attempts are compared. On a machine so busy
 * that only short batches ever run undisturbed, those disagree, and the means have to do. */
static enum code check_doubling(struct bench *bench, struct error *err)
{
    struct lengths once = {0}, twice = {0};
    uint64_t begin = clock_now_ns();
    for (int attempt = 0; attempt < DOUBLING_ATTEMPTS; attempt++) {
        enum code code = time_batches(bench, bench->batch, &once, err);
        if (code == CODE_OK)
            code = time_batches(bench, 2 * bench->batch, &twice, err);
        if (code != CODE_OK)
            return code;
        if (once.count == 0 || twice.count == 0)
            return bench_outcome(bench, STATE_INVALID_CLOCK, "%s",
                                 once.count == 0 ? once.reason : twice.reason);
        bench->doubling = twice.shortest / once.shortest;
        double means = twice.sum / twice.count / (once.sum / once.count);
        if (!doubled(bench->doubling) && doubled(means))
            bench->doubling = means;
        if (doubled(bench->doubling))
            return CODE_OK;
        bool patient = (double)(clock_now_ns() - begin) < doubling_patience_ns;
        if (attempt + 1 >= DOUBLING_LEAST && !patient)
            break;
    }
    return bench_outcome(bench, STATE_NOT_SCALING,
                         "twice the work took %.2f times as long (%.1f to %.1f expected)",
                         bench->doubling, doubling_low, doubling_high);
}

enum code bench_prepare(struct bench *bench, struct error *err)
{
    static enum code (*const stages[])(struct bench *, struct error *) = {
        bench_setup, run_and_verify, warm_up, calibrate, check_doubling};
    bench->state = STATE_OK;
    enum code code = CODE_OK;
    for (size_t i = 0;
         i < sizeof stages / sizeof stages[0] && code == CODE_OK && bench->state == STATE_OK; i++) {
        code = stages[i](bench, err);
        if (i == 0)
            choose_clock(bench);
    }
    return code;
}

/* What the timed loop of a round carries. */
struct loop {
    struct bench *bench;
    struct round *round;
};

static enum code take_sample(void *context, double *ns, struct error *err)
{
    struct loop *loop = context;
    struct bench *bench = loop->bench;
    bool usable = false;
    for (int attempt = 0; attempt < REJECTED_IN_A_ROW_MAX; attempt++) {
        enum code code =
            time_batch(bench, bench->batch, ns, &usable, loop->round->rejected_reason, err);
        if (code != CODE_OK)
            return code;
        if (usable) {
            *ns /= (double)bench->batch;
            loop->round->ns[loop->round->count++] = *ns;
            return CODE_OK;
        }
        loop->round->rejected++;
    }
    return CODE_OK; /* the round comes back short; the coordinator sees the count of rejected
                       samples */
}

/* Each phase by itself, once: its operations, a wait, the host's clock around both. */
static enum code time_phases(struct bench *bench, struct round *round, struct error *err)
{
    for (uint32_t p = 0; p < bench->phase_count; p++) {
        uint64_t begin = clock_now_ns();
        enum code code = CODE_OK;
        for (uint32_t i = 0; i < bench->step.op_count && code == CODE_OK; i++)
            if (bench->step.ops[i].phase != NULL &&
                strcmp(bench->step.ops[i].phase, bench->phases[p]) == 0)
                code = bench_enqueue_op(bench, i, err);
        if (code == CODE_OK)
            code = device_sync(bench->device, err);
        if (code != CODE_OK)
            return error_context(err, "phase '%s'", bench->phases[p]);
        round->phase_ns[p] = (double)(clock_now_ns() - begin);
    }
    return CODE_OK;
}

enum code bench_round(struct bench *bench, uint32_t count, struct round *round, struct error *err)
{
    *round = (struct round){0};
    bench->round++;
    if (count > BENCH_SAMPLES_MAX)
        count = BENCH_SAMPLES_MAX;
    enum code code = bench_poison(bench, err);
    if (code == CODE_OK)
        code = bench_enqueue_step(bench, err); /* caches hold the case again, not the poison */
    if (code == CODE_OK)
        code = device_sync(bench->device, err);
    if (code == CODE_OK)
        code = time_phases(bench, round, err);
    /* last, so that what is verified in the end is what a timed step left */
    struct loop loop = {.bench = bench, .round = round};
    if (code == CODE_OK)
        code = engine_run(bench->spec.suite->name, count, take_sample, &loop, err);
    return code;
}

enum code bench_finish(struct bench *bench, struct check *after, struct error *err)
{
    enum code code = device_sync(bench->device, err);
    return code == CODE_OK ? verify(bench, after, "after", err) : code;
}
