/* SPDX-License-Identifier: Apache-2.0
 *
 * The timed loop takes exactly the samples it is asked for, whatever their time is (a clock that
 * reads zero makes Google Benchmark's own search climb to 1e9 iterations), and ends at an error. */
#include "harness/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct counter {
    int calls, fail_at;
    double ns;
};

static enum code sample(void *context, double *ns, struct error *err)
{
    struct counter *counter = context;
    *ns = counter->ns;
    if (++counter->calls == counter->fail_at)
        return error_set(err, CODE_DRIVER, -5, "call %d failed", counter->calls);
    return CODE_OK;
}

static void test_engine_run_exact_count(void **state)
{
    (void)state;
    static const double durations[] = {0.0, 1.0, 1e6};
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        struct counter counter = {.ns = durations[i]};
        struct error err = {0};
        assert_int_equal(engine_run("case", 7, sample, &counter, &err), CODE_OK);
        assert_int_equal(counter.calls, 7);
    }
}

static void test_engine_run_ends_at_error(void **state)
{
    (void)state;
    struct counter counter = {.ns = 10.0, .fail_at = 3};
    struct error err = {0};
    assert_int_equal(engine_run("case", 7, sample, &counter, &err), CODE_DRIVER);
    assert_int_equal(counter.calls, 3);
    assert_string_equal(err.message, "call 3 failed");
    counter.fail_at = 0;
    counter.calls = 0;
    assert_int_equal(engine_run("case", 2, sample, &counter, &err), CODE_OK); /* usable again */
    assert_int_equal(counter.calls, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_run_exact_count),
        cmocka_unit_test(test_engine_run_ends_at_error),
    };
    return cmocka_run_group_tests_name("harness/engine", tests, NULL, NULL);
}
