/* SPDX-License-Identifier: Apache-2.0
 *
 * The ceilings are finite numbers above what any processor of this century does at least; their
 * height is a matter for benchmarks. */
#include "harness/ceiling.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_ceiling_measure(void **state)
{
    (void)state;
    struct ceiling ceiling;
    ceiling_measure(1, &ceiling);
    assert_true(isfinite(ceiling.operations_per_s) && ceiling.operations_per_s > 1e8);
    assert_true(isfinite(ceiling.bytes_per_s) && ceiling.bytes_per_s > 1e8);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_ceiling_measure)};
    return cmocka_run_group_tests_name("harness/ceiling", tests, NULL, NULL);
}
