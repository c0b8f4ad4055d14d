/* SPDX-License-Identifier: Apache-2.0
 *
 * A rate above what the host's processors can do is implausible on a device that runs on them;
 * without a known ceiling, and on other devices, nothing is judged. */
#include "harness/run_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 2 * 10^3 operations in ns[0] ns: 1,000 ns are 2 GFLOP/s. */
static enum state judged(double ns, enum device_type type, double ceiling, char *reason)
{
    struct inventory_device device = {.info = {.type = type}};
    struct lane lane = {.device = &device};
    struct run run = {.ceilings = {.operations_per_s = ceiling, .bytes_per_s = 1.0}};
    struct case_spec spec;
    struct error err = {0};
    double samples[] = {ns, ns, ns};
    struct trial trial = {.lane = &lane, .state = STATE_OK, .ns = samples, .sample_count = 3};
    assert_int_equal(case_parse("gemm@1 m=10 n=10 k=10 type=f32 tier=portable", &spec, &err),
                     CODE_OK);
    run_judge_plausible(&run, &spec, &trial);
    strcpy(reason, trial.reason);
    return trial.state;
}

static void test_run_judge_plausible(void **state)
{
    (void)state;
    char reason[RUN_REASON_BYTES];
    assert_int_equal(judged(1000.0, DEVICE_CPU, 1.1e9, reason),
                     STATE_OK); /* below twice the ceiling */
    assert_int_equal(judged(1000.0, DEVICE_CPU, 0.9e9, reason), STATE_IMPLAUSIBLE);
    assert_non_null(strstr(reason, "2e+09 FLOP/s"));
    assert_non_null(strstr(reason, "1.8e+09 FLOP/s"));
    assert_int_equal(judged(1.0, DEVICE_CPU, 0.0, reason), STATE_OK); /* no ceiling is known */
    assert_int_equal(judged(1.0, DEVICE_GPU, 0.9e9, reason),
                     STATE_OK); /* not the host's processors */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_judge_plausible)};
    return cmocka_run_group_tests_name("harness/run_record", tests, NULL, NULL);
}
