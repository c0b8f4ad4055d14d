/* SPDX-License-Identifier: Apache-2.0
 *
 * One case on the host device, from preparation to the last verification: real suites, small and
 * ragged sizes. */
#include "harness/bench.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct backend_driver *driver;
static struct backend_device *device;
static struct audit audit;

static int open_host(void **state)
{
    (void)state;
    struct error err = {0};
    enum code code = driver_open(backend_find("host"), NULL, &driver, &err);
    if (code == CODE_OK)
        code = device_open(driver, 0, &device, &err);
    if (code == CODE_OK)
        code = audit_device(device, &audit, &err);
    return code == CODE_OK ? 0 : -1;
}

static int close_host(void **state)
{
    (void)state;
    device_close(device);
    driver_close(driver);
    return 0;
}

static struct bench *new_bench(const char *key)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct error err = {0};
    assert_non_null(bench);
    bench->device = device;
    bench->audit = &audit;
    bench->seed = 42;
    bench->policy =
        (struct policy){.samples_min = 30, .budget_ns = 100000000, .warmup_ns = 20000000};
    if (case_parse(key, &bench->spec, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return bench;
}

static void measure(const char *key)
{
    struct bench *bench = new_bench(key);
    struct error err = {0};
    struct round round;
    struct check after;
    if (bench_prepare(bench, &err) != CODE_OK || bench->state != STATE_OK)
        fail_msg("%s: %s %s %s", key, state_name(bench->state), bench->reason, err.message);
    assert_true(check_passed(&bench->before));
    assert_true(bench->host_clock && bench->clock_reason[0] != '\0');
    assert_int_equal(bench_round(bench, 3, &round, &err), CODE_OK);
    assert_true(round.count == 3 && round.rejected == 0);
    for (int i = 0; i < 3; i++)
        assert_true(round.ns[i] > 0);
    for (uint32_t p = 0; p < bench->phase_count; p++)
        assert_true(round.phase_ns[p] > 0);
    assert_int_equal(bench_finish(bench, &after, &err), CODE_OK);
    assert_int_equal(bench->state, STATE_OK);
    assert_true(check_passed(&after));
    bench_release(bench);
    free(bench);
}

static void test_bench_every_suite(void **state)
{
    (void)state;
    measure("gemm@1 m=33 n=65 k=17 type=f32 tier=portable");
    measure("gemm@1 m=33 n=65 k=17 type=f64 tier=portable");
    measure("pixel@1 partition=linear path=kernel width=257 height=3 tier=portable");
    measure("pixel@1 partition=strip path=whole width=257 height=3 tier=portable");
    measure("pixel@1 partition=tile path=kernel width=257 height=3 tier=portable");
    measure("copy@1 direction=h2d memory=pageable bytes=4096 tier=portable");
    measure("copy@1 direction=d2h memory=pinned bytes=5000 tier=portable");
    measure("attention@1 stage=scores tokens=33 width=24 heads=3 head_dim=8 tier=portable");
    measure("attention@1 stage=qkv tokens=33 width=24 heads=3 head_dim=8 tier=portable");
    measure("attention@1 stage=softmax tokens=33 width=24 heads=3 head_dim=8 tier=portable");
}

/* An output that changes after the last launch is found, and the speed is lost with it. */
static void test_bench_finish_wrong_output(void **state)
{
    (void)state;
    struct bench *bench =
        new_bench("copy@1 direction=h2d memory=pageable bytes=4096 tier=portable");
    struct error err = {0};
    struct round round;
    struct check after;
    assert_int_equal(bench_prepare(bench, &err), CODE_OK);
    assert_int_equal(bench_round(bench, 1, &round, &err), CODE_OK);
    uint8_t *out = bench->buffers[1]->pointer;
    out[4095] ^= 1;
    assert_int_equal(bench_finish(bench, &after, &err), CODE_OK);
    assert_int_equal(bench->state, STATE_FAILED_VERIFICATION);
    assert_true(after.mismatches == 1 && after.first_bad == 4095);
    assert_non_null(strstr(bench->reason, "after the timing"));
    bench_release(bench);
    free(bench);
}

/* --- work that is skipped: a made-up kernel that works only if its answer is not there yet (CO-05)
 * --- */

enum { LAZY_COUNT = 64, LAZY_WORK_NS = 8000000 };

static void lazy_kernel(const struct launch *launch, void *const *pointers, int threads)
{
    static const uint8_t answer[LAZY_COUNT];
    (void)launch;
    (void)threads;
    if (memcmp(pointers[0], answer, LAZY_COUNT) == 0)
        return;
    uint64_t begin = clock_now_ns();
    while (clock_now_ns() - begin < LAZY_WORK_NS) {
    }
    memcpy(pointers[0], answer, LAZY_COUNT);
}

static struct work lazy_work(const struct case_spec *spec)
{
    (void)spec;
    return (struct work){.bytes = LAZY_COUNT, .bytes_counted = "payload", .unit = "B/s"};
}

static enum code lazy_build(const struct case_spec *spec, const struct device_caps *caps,
                            struct step *step, struct error *err)
{
    (void)spec;
    (void)caps;
    (void)err;
    step->buffers[0] = (struct buffer_spec){
        .name = "out", .role = BUFFER_OUT, .type = TYPE_U8, .count = LAZY_COUNT};
    step->buffer_count = step->op_count = 1;
    step->ops[0] = (struct op){.kind = OP_LAUNCH,
                               .kernel = "lazy",
                               .arg_count = 1,
                               .args = {{.kind = STEP_BUFFER, .buffer = 0}},
                               .global = {1, 1, 1},
                               .local = {1, 1, 1}};
    return CODE_OK;
}

static void lazy_reference(const struct case_spec *spec, const struct step *step,
                           const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                           double *result)
{
    (void)spec;
    (void)step;
    (void)data;
    (void)out;
    memset(result, 0, (end - begin) * sizeof *result);
}

static struct tolerance lazy_tolerance(const struct case_spec *spec)
{
    (void)spec;
    return (struct tolerance){.derivation = "zeros"};
}

/* The output is right each time, and twice the work takes no longer: no number. */
static void test_bench_prepare_work_not_done(void **state)
{
    (void)state;
    static const struct host_kernel kernels[] = {{"lazy", lazy_kernel}, {NULL, NULL}};
    static const struct suite lazy = {.name = "pixel", /* whose kernel text is embedded */
                                      .host = kernels,
                                      .work = lazy_work,
                                      .build = lazy_build,
                                      .reference = lazy_reference,
                                      .tolerance = lazy_tolerance};
    struct bench *bench =
        new_bench("copy@1 direction=h2d memory=pageable bytes=4096 tier=portable");
    struct error err = {0};
    bench->spec = (struct case_spec){.suite = &lazy};
    assert_int_equal(bench_prepare(bench, &err), CODE_OK);
    assert_int_equal(bench->state, STATE_NOT_SCALING);
    assert_non_null(strstr(bench->reason, "twice the work took"));
    bench_release(bench);
    free(bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_every_suite),
        cmocka_unit_test(test_bench_finish_wrong_output),
        cmocka_unit_test(test_bench_prepare_work_not_done),
    };
    return cmocka_run_group_tests_name("harness/bench", tests, open_host, close_host);
}
