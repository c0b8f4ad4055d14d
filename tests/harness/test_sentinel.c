/* SPDX-License-Identifier: Apache-2.0
 *
 * The sentinel does its work: the results are those of the same steps in another language. No time
 * is judged. */
#include "harness/sentinel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 400,000 and 800,000 steps of xorshift (13, 7, 17) from 1 and of x/2 + 1/4 + bit/8 from 1/2, in
 * Python: integers masked to 64 bits, floats shown by float.hex(). */
static const uint64_t integers[] = {UINT64_C(338568194340093460), UINT64_C(3463105387330856090)};
static const double reals[] = {0x1.0c162143c2026p-1, 0x1.0a2fb3b69a179p-1};

static void test_sentinel_measure_does_the_work(void **state)
{
    (void)state;
    struct sentinel *sentinel = sentinel_create();
    assert_false(sentinel_copied(sentinel));
    for (int i = 0; i < 2; i++) {
        uint64_t compute_ns = 0, memory_ns = 0;
        sentinel_measure(sentinel, &compute_ns, &memory_ns);
        assert_true(compute_ns > 0);
        assert_true(memory_ns > 0);
        assert_true(sentinel_integer(sentinel) == integers[i]);
        assert_true(sentinel_real(sentinel) >= reals[i] && sentinel_real(sentinel) <= reals[i]);
        assert_true(sentinel_copied(sentinel));
    }
    sentinel_destroy(sentinel);
    sentinel_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentinel_measure_does_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
