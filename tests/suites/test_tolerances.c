/* SPDX-License-Identifier: Apache-2.0
 *
 * Tolerances of the suites: every honest order of the same arithmetic passes, arithmetic with fewer
 * digits fails. The products here are plain loops, written apart from the suites. */
#include "tests/suites/cases.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Rounds to `bits` significant bits, to nearest: 11 are those of TF32 and of half precision, 8
 * those of bfloat16. */
static float shortened(float x, int bits)
{
    int exponent = 0;
    float fraction = frexpf(x, &exponent);
    return ldexpf(rintf(ldexpf(fraction, bits)), exponent - bits);
}

/* One element of A B in f32, in one of several ways. */
enum way { IN_ORDER, FUSED, BACKWARDS, IN_LANES, TF32, BFLOAT16, HALF_SUMS };
struct pair {
    const float *a, *b; /* row of A; column of B, `stride` apart */
    uint64_t k, stride;
};

static float dot_in_lanes(const struct pair *pair)
{
    float lanes[8] = {0}, sum = 0;
    for (uint64_t p = 0; p < pair->k; p++)
        lanes[p % 8] += pair->a[p] * pair->b[p * pair->stride];
    for (size_t l = 0; l < 8; l++)
        sum += lanes[l];
    return sum;
}

static float dot(const struct pair *pair, enum way way)
{
    if (way == IN_LANES)
        return dot_in_lanes(pair);
    float sum = 0;
    for (uint64_t i = 0; i < pair->k; i++) {
        uint64_t p = way == BACKWARDS ? pair->k - 1 - i : i;
        float a = pair->a[p], b = pair->b[p * pair->stride];
        if (way == TF32 || way == BFLOAT16) {
            a = shortened(a, way == TF32 ? 11 : 8);
            b = shortened(b, way == TF32 ? 11 : 8);
        }
        sum = way == FUSED ? fmaf(a, b, sum) : sum + a * b;
        if (way == HALF_SUMS)
            sum = shortened(sum, 11);
    }
    return sum;
}

/* Elements of the case computed in this way that are not within the tolerance of another case (of
 * more elements). */
static uint64_t count_failures(const char *settings, const struct tolerance *tolerance,
                               enum way way)
{
    struct case_spec spec = make_case("gemm", settings);
    struct device_caps caps = caps_cpu();
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    uint64_t m = spec.values[0], n = spec.values[1], k = spec.values[2], failures = 0;
    double *reference = bed_reference(&bed, 2);
    for (uint64_t i = 0; i < m * n; i++) {
        const struct pair pair = {(const float *)bed.memory[0] + i / n * k,
                                  (const float *)bed.memory[1] + i % n, k, n};
        failures += !within(tolerance, (double)dot(&pair, way), reference[i]);
    }
    free(reference);
    bed_release(&bed);
    return failures;
}

static struct tolerance tolerance_of(const char *suite, const char *settings)
{
    struct case_spec spec = make_case(suite, settings);
    return spec.suite->tolerance(&spec);
}

static const char *const sizes[] = {"m=32 n=32 k=16", "m=32 n=32 k=512", "m=32 n=32 k=4096",
                                    "m=16 n=16 k=12288"};

static void test_gemm_tolerance_takes_any_order(void **state)
{
    (void)state;
    static const enum way ways[] = {IN_ORDER, FUSED, BACKWARDS, IN_LANES};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct tolerance tolerance = tolerance_of("gemm", sizes[s]);
        for (size_t w = 0; w < COUNT(ways); w++)
            assert_int_equal(count_failures(sizes[s], &tolerance, ways[w]), 0);
    }
    struct tolerance one = tolerance_of("gemm", "m=1 n=1 k=1");
    assert_int_equal(count_failures("m=1 n=1 k=1", &one, IN_ORDER), 0);
}

/* A bound that does not grow with k would refuse right results here. */
static void test_gemm_tolerance_of_long_sums(void **state)
{
    (void)state;
    static const char *const lengths[] = {"m=4 n=4 k=262144", "m=1 n=2 k=1048576"};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct tolerance tolerance = tolerance_of("gemm", lengths[i]);
        assert_int_equal(count_failures(lengths[i], &tolerance, IN_ORDER), 0);
        assert_int_equal(count_failures(lengths[i], &tolerance, BACKWARDS), 0);
    }
}

static void test_gemm_tolerance_refuses_fewer_digits(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct tolerance tolerance = tolerance_of("gemm", sizes[s]);
        assert_true(count_failures(sizes[s], &tolerance, TF32) > 0);
        assert_true(count_failures(sizes[s], &tolerance, BFLOAT16) > 0);
        assert_true(count_failures(sizes[s], &tolerance, HALF_SUMS) > 0);
    }
}

/* The widest case is the loosest; one element in twenty fails even there. */
static void test_qkv_tolerance_refuses_tf32_at_reference_size(void **state)
{
    (void)state;
    struct tolerance tolerance =
        tolerance_of("attention", "stage=qkv tokens=2048 width=12288 heads=96 head_dim=128");
    assert_true(count_failures("m=16 n=16 k=12288", &tolerance, TF32) > 256 / 20);
    assert_int_equal(count_failures("m=16 n=16 k=12288", &tolerance, IN_ORDER), 0);
}

static void test_scores_tolerance_refuses_tf32_at_reference_size(void **state)
{
    (void)state;
    struct tolerance scaled =
        tolerance_of("attention", "stage=scores tokens=2048 heads=96 head_dim=128");
    /* the bound for the plain product: the scores are it over sqrt(128) */
    struct tolerance tolerance = {.absolute = scaled.absolute * sqrt(128),
                                  .relative = scaled.relative};
    assert_true(count_failures("m=32 n=32 k=128", &tolerance, TF32) > 1024 / 2);
    assert_int_equal(count_failures("m=32 n=32 k=128", &tolerance, FUSED), 0);
}

/* f64 that is f64 passes; computed through f32, in any part of it, it does not. */
static void test_gemm_f64_tolerance(void **state)
{
    (void)state;
    struct case_spec spec = make_case("gemm", "m=16 n=16 k=1024 type=f64");
    struct device_caps caps = caps_cpu();
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    double *reference = bed_reference(&bed, 2);
    struct tolerance tolerance = spec.suite->tolerance(&spec);
    const double *a = bed.memory[0], *b = bed.memory[1];
    for (uint64_t i = 0; i < 256; i++) {
        double sum = 0;
        double through_f32 = 0;
        for (uint64_t p = 0; p < 1024; p++) {
            sum += a[i / 16 * 1024 + p] * b[p * 16 + i % 16];
            through_f32 += (double)(float)a[i / 16 * 1024 + p] * b[p * 16 + i % 16];
        }
        assert_true(within(&tolerance, sum, reference[i]));
        assert_false(within(&tolerance, through_f32, reference[i]));
        assert_false(within(&tolerance, (double)(float)sum, reference[i]));
    }
    free(reference);
    bed_release(&bed);
}

/* Softmax with an exponential of so many right bits; `plain`: as it should be, in f32 throughout.
 */
static uint64_t count_softmax_failures(const char *settings, int bits)
{
    struct case_spec spec = make_case("attention", settings);
    struct device_caps caps = caps_cpu();
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    struct tolerance tolerance = spec.suite->tolerance(&spec);
    uint64_t columns = spec.values[1], rows = bed.step.buffers[1].count / columns, failures = 0;
    double *reference = bed_reference(&bed, 1);
    for (uint64_t row = 0; row < rows; row++) {
        const float *in = (const float *)bed.memory[0] + row * columns;
        float *out = (float *)bed.memory[1] + row * columns;
        float top = in[0], sum = 0;
        for (uint64_t i = 0; i < columns; i++)
            top = in[i] > top ? in[i] : top;
        for (uint64_t i = 0; i < columns; i++) {
            out[i] = shortened(expf(in[i] - top), bits);
            sum += out[i];
        }
        for (uint64_t i = 0; i < columns; i++)
            failures += !within(&tolerance, (double)(out[i] / sum), reference[row * columns + i]);
    }
    free(reference);
    bed_release(&bed);
    return failures;
}

static void test_softmax_tolerance(void **state)
{
    (void)state;
    static const char *const cases[] = {"stage=softmax tokens=1 heads=2",
                                        "stage=softmax tokens=61 heads=1",
                                        "stage=softmax tokens=512 heads=1"};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(count_softmax_failures(cases[i], 24), 0);
    assert_true(count_softmax_failures(cases[1], 16) > 0);
    assert_true(count_softmax_failures(cases[2], 11) > 512 * 512 / 2);
}

static void test_exact_suites_have_no_tolerance(void **state)
{
    (void)state;
    static const char *const suites[][2] = {{"pixel", "width=5 height=5"}, {"copy", "bytes=4096"}};
    for (size_t i = 0; i < COUNT(suites); i++) {
        struct tolerance tolerance = tolerance_of(suites[i][0], suites[i][1]);
        assert_true(tolerance.absolute == 0 && tolerance.relative == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_tolerance_takes_any_order),
        cmocka_unit_test(test_gemm_tolerance_of_long_sums),
        cmocka_unit_test(test_gemm_tolerance_refuses_fewer_digits),
        cmocka_unit_test(test_qkv_tolerance_refuses_tf32_at_reference_size),
        cmocka_unit_test(test_scores_tolerance_refuses_tf32_at_reference_size),
        cmocka_unit_test(test_gemm_f64_tolerance),
        cmocka_unit_test(test_softmax_tolerance),
        cmocka_unit_test(test_exact_suites_have_no_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
