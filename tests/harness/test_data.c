/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs: known values of the mixing function, the same for any thread count, never zero, never
 * compressible. */
#include "harness/data.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 100003 };

/* Outputs of the published splitmix64 for seed 1234567 (its state advances by the golden gamma
 * before each). */
static void test_data_mix_published_values(void **state)
{
    (void)state;
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    uint64_t value = 1234567u;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        value += 0x9e3779b97f4a7c15u;
        assert_true(data_mix(value) == expected[i]);
    }
}

static void test_data_fill_same_for_any_thread_count(void **state)
{
    (void)state;
    static const enum type types[] = {TYPE_U8, TYPE_F32, TYPE_F64};
    void *one = malloc(COUNT * sizeof(double)), *many = malloc(COUNT * sizeof(double));
    assert_non_null(one);
    assert_non_null(many);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        size_t bytes = type_bytes(types[t]);
        omp_set_num_threads(1);
        data_fill(types[t], 1.0, 7, 0, one, COUNT);
        omp_set_num_threads(5);
        data_fill(types[t], 1.0, 7, 0, many, COUNT);
        assert_memory_equal(one, many, COUNT * bytes);
        /* in two pieces */
        data_fill(types[t], 1.0, 7, 0, many, 4000);
        data_fill(types[t], 1.0, 7, 4000, (char *)many + 4000 * bytes, COUNT - 4000);
        assert_memory_equal(one, many, COUNT * bytes);
        data_fill(types[t], 1.0, 8, 0, many, COUNT);
        assert_memory_not_equal(one, many, COUNT * bytes);
    }
    free(one);
    free(many);
}

static void test_data_fill_floats_are_normal_and_spread(void **state)
{
    (void)state;
    float *values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    data_fill(TYPE_F32, 0.5, 1, 0, values, COUNT);
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(isnormal(values[i]));
        assert_true(fabsf(values[i]) < 0.5f);
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    /* uniform in (-1/2, 1/2): mean 0 with deviation sqrt(1/12/n), variance 1/12; 6 deviations */
    assert_true(fabs(sum / COUNT) < 6 * sqrt(1.0 / 12 / COUNT));
    assert_true(fabs(squares / COUNT - 1.0 / 12) < 6 * sqrt(1.0 / 180 / COUNT));
    free(values);
}

static void test_data_fill_bytes_are_incompressible(void **state)
{
    (void)state;
    uint8_t *values = malloc(COUNT);
    assert_non_null(values);
    data_fill(TYPE_U8, 1.0, 1, 0, values, COUNT);
    double counts[256] = {0}, entropy = 0;
    for (int i = 0; i < COUNT; i++)
        counts[values[i]]++;
    for (int v = 0; v < 256; v++)
        entropy -= counts[v] / COUNT * log2(counts[v] / COUNT);
    assert_true(entropy > 7.99); /* bits a byte */
    free(values);
}

static void test_data_derive_seed_depends_on_text(void **state)
{
    (void)state;
    assert_true(data_derive_seed(1, "a") != data_derive_seed(1, "b"));
    assert_true(data_derive_seed(1, "a") != data_derive_seed(2, "a"));
    assert_true(data_derive_seed(1, "a") == data_derive_seed(1, "a"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_mix_published_values),
        cmocka_unit_test(test_data_fill_same_for_any_thread_count),
        cmocka_unit_test(test_data_fill_floats_are_normal_and_spread),
        cmocka_unit_test(test_data_fill_bytes_are_incompressible),
        cmocka_unit_test(test_data_derive_seed_depends_on_text),
    };
    return cmocka_run_group_tests_name("harness/data", tests, NULL, NULL);
}
