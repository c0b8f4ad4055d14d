/* SPDX-License-Identifier: Apache-2.0
 *
 * The sentinel does its work: the results are those of the same steps in another language. No time
 * is judged. */
#define _GNU_SOURCE /* CPU_EQUAL */
#include "harness/sentinel.h"

#include "harness/ceiling.h"

#include <sched.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 400,000 and 800,000 steps of xorshift (13, 7, 17) from 1 and of x/2 + 1/4 + bit/8 from 1/2, in
 * Python: integers masked to 64 bits, floats shown by float.hex(). */
static const uint64_t integers[] = {UINT64_C(338568194340093460), UINT64_C(3463105387330856090)};
static const double reals[] = {0x1.0c162143c2026p-1, 0x1.0a2fb3b69a179p-1};

static void test_sentinel_pass_does_the_work(void **state)
{
    (void)state;
    struct sentinel *sentinel = sentinel_create();
    assert_false(sentinel_copied(sentinel));
    for (int i = 0; i < 8; i++) {
        struct sentinel_times times = {0};
        sentinel_pass(sentinel, &times);
        assert_true(times.compute_ns > 0 && times.vector_ns > 0 && times.memory_ns > 0);
        assert_true(sentinel_copied(sentinel));
        double real = reals[i / 4];
        if (i % 4 == 3) {
            assert_true(sentinel_integer(sentinel) == integers[i / 4]);
            assert_true(sentinel_real(sentinel) >= real && sentinel_real(sentinel) <= real);
        }
    }
    sentinel_destroy(sentinel);
    sentinel_destroy(NULL);
}

/* Every allowed processor is visited, and the affinity is as it was. */
static void test_sentinel_measure_leaves_the_affinity(void **state)
{
    (void)state;
    struct sentinel *sentinel = sentinel_create();
    struct sentinel_times slowest = {0};
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    sentinel_measure(sentinel, &slowest);
    assert_true(slowest.compute_ns > 0 && slowest.vector_ns > 0 && slowest.memory_ns > 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    sentinel_destroy(sentinel);
}

/* x' = x / 2 + 1/4 from 1 to 12 ends at 1/2 in all 12 chains of 16 lanes: 96. */
static void test_ceiling_multiply_adds(void **state)
{
    (void)state;
    float sum = ceiling_multiply_adds(0.5f, 0.25f, 1000);
    assert_true(sum >= 96.0f && sum <= 96.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentinel_pass_does_the_work),
        cmocka_unit_test(test_sentinel_measure_leaves_the_affinity),
        cmocka_unit_test(test_ceiling_multiply_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
