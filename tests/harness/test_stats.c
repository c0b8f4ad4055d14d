/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics: expected values by hand, from numpy, from the diptest package, or as rates over many
 * seeded synthetic samples. */
#include "harness/stats.h"

#include "harness/stats_flags.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { VALUES_MAX = 512, ROUNDS_MAX = 64 };

/* Samples without heap memory. */
struct fixture {
    double ns[VALUES_MAX];
    size_t begin[ROUNDS_MAX + 1];
    struct samples samples;
};

static void fixture_init(struct fixture *fixture, const double *ns, size_t rounds, size_t each)
{
    for (size_t i = 0; i < rounds * each; i++)
        fixture->ns[i] = ns[i];
    for (size_t r = 0; r <= rounds; r++)
        fixture->begin[r] = r * each;
    fixture->samples = (struct samples){fixture->ns, rounds * each, fixture->begin, rounds};
}

/* Park and Miller's generator: another one than that of the code under test. */
static double uniform(uint64_t *state)
{
    *state = *state * 48271u % 2147483647u;
    return (double)*state / 2147483647.0;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2.0 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* rounds x each samples: median * exp(round_sd * z_round + sd * z). */
static void fixture_noise(struct fixture *fixture, size_t rounds, size_t each, double median,
                          double round_sd, double sd, uint64_t *state)
{
    double ns[VALUES_MAX];
    for (size_t r = 0; r < rounds; r++) {
        double level = median * exp(round_sd * normal(state));
        for (size_t i = 0; i < each; i++)
            ns[r * each + i] = level * exp(sd * normal(state));
    }
    fixture_init(fixture, ns, rounds, each);
}

static void test_median_odd_even_and_none(void **unused)
{
    (void)unused;
    const double values[] = {5, 1, 4, 2};
    assert_true(stats_median(values, 3) == 4.0);
    assert_true(stats_median(values, 4) == 3.0);
    assert_true(stats_median(values, 1) == 5.0);
    assert_true(isnan(stats_median(values, 0)));
    assert_true(values[0] == 5.0);
}

static void test_summarise_order_statistics(void **unused)
{
    (void)unused;
    /* numpy.percentile gives 5 and 17, the deviations from 11 are 0 2 4 6 6 6 8 8 12 */
    const double ns[] = {23, 2, 3, 19, 5, 7, 17, 11, 13};
    struct fixture f;
    struct summary summary;
    fixture_init(&f, ns, 3, 3);
    stats_summarise(&f.samples, &summary);
    assert_int_equal(summary.count, 9);
    assert_int_equal(summary.rounds, 3);
    assert_true(summary.median == 11.0);
    assert_true(summary.minimum == 2.0 && summary.maximum == 23.0);
    assert_true(summary.p25 == 5.0 && summary.p75 == 17.0);
    assert_true(fabs(summary.mad - 8.8956) < 1e-9);
}

static void test_summarise_too_few(void **unused)
{
    (void)unused;
    const double ns[] = {100, 101, 99, 100, 98};
    struct fixture f;
    struct summary summary;
    fixture_init(&f, ns, 1, 3); /* one round */
    stats_summarise(&f.samples, &summary);
    assert_false(summary.has_interval);
    assert_true(summary.median == 100.0);
    fixture_init(&f, ns, 4, 1); /* four samples */
    stats_summarise(&f.samples, &summary);
    assert_false(summary.has_interval);
    fixture_init(&f, ns, 1, 1);
    stats_summarise(&f.samples, &summary);
    assert_false(summary.has_interval);
    assert_true(summary.median == 100.0 && summary.mad == 0.0);
    fixture_init(&f, ns, 0, 0);
    stats_summarise(&f.samples, &summary);
    assert_int_equal(summary.count, 0);
    assert_false(summary.has_interval || summary.bimodal || summary.drift || summary.outliers);
    assert_true(isnan(summary.median));
    fixture_init(&f, ns, 5, 1);
    stats_summarise(&f.samples, &summary);
    assert_true(summary.has_interval);
}

static void test_summarise_empty_round_counts_not(void **unused)
{
    (void)unused;
    const double ns[] = {100, 101, 99, 100, 98, 102};
    struct fixture f;
    struct summary summary;
    fixture_init(&f, ns, 3, 2);
    f.begin[1] = 0; /* round 0 is empty, round 1 has four */
    stats_summarise(&f.samples, &summary);
    assert_int_equal(summary.rounds, 2);
    assert_false(summary.has_interval);
}

static void test_summarise_outlier_keeps_interval_positive(void **unused)
{
    (void)unused;
    const double ns[] = {1, 1, 1, 1, 50};
    struct fixture f;
    struct summary summary;
    fixture_init(&f, ns, 5, 1);
    stats_summarise(&f.samples, &summary);
    assert_true(summary.has_interval);
    assert_true(summary.median_95.low >= 1.0 && summary.median_95.high <= 50.0);
    assert_true(summary.outliers);
}

static void test_summarise_interval_is_clipped_to_samples(void **unused)
{
    (void)unused;
    /* A resample of three rounds has median 1 (or 4) with probability 7/27, so the percentiles are
     * 1 and 4; widened by 2.69 they would pass the samples. */
    const double ns[] = {1, 1, 2, 2, 4, 4};
    struct fixture f;
    struct summary summary;
    fixture_init(&f, ns, 3, 2);
    stats_summarise(&f.samples, &summary);
    assert_true(summary.median_95.low == 1.0 && summary.median_95.high == 4.0);
}

static void test_ratio_widening_by_hand(void **unused)
{
    (void)unused;
    /* As above, against a constant: percentiles 1/2 and 2, widened in log space by t(2, 0.975)
     * / 1.96 * sqrt(3 / 2), which is 4.303 / 1.959964 * 1.224745 = 2.68887; 2 to that power
     * is 6.4480. */
    const double wide[] = {1, 1, 2, 2, 4, 4}, flat[] = {2, 2, 2, 2, 2, 2};
    struct fixture a, b;
    struct ratio ratio;
    fixture_init(&a, wide, 3, 2);
    fixture_init(&b, flat, 3, 2);
    stats_ratio(&a.samples, &b.samples, true, 0.0, &ratio);
    assert_true(ratio.value == 1.0);
    assert_true(ratio.has_interval);
    assert_true(fabs(ratio.interval_95.high - 6.4480) < 0.001);
    assert_true(fabs(ratio.interval_95.low - 1.0 / 6.4480) < 0.0001);
    struct ratio with_floor;
    stats_ratio(&a.samples, &b.samples, true, 0.1, &with_floor);
    assert_true(fabs(with_floor.interval_95.high - ratio.interval_95.high * 1.1) < 1e-12);
    assert_true(fabs(with_floor.interval_95.low - ratio.interval_95.low / 1.1) < 1e-12);
    assert_true(with_floor.value == ratio.value);
}

static void test_ratio_is_a_speed_up_of_other(void **unused)
{
    (void)unused;
    const double slow[] = {200, 200, 200, 200, 200, 200}, fast[] = {100, 100, 100, 100, 100, 100};
    struct fixture a, b;
    struct ratio ratio;
    fixture_init(&a, slow, 3, 2);
    fixture_init(&b, fast, 3, 2);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &ratio);
    assert_true(ratio.value == 2.0);
    assert_int_equal(stats_verdict(&ratio, 0.02), VERDICT_FASTER);
    stats_ratio(&b.samples, &a.samples, false, 0.0, &ratio);
    assert_true(ratio.value == 0.5);
    assert_int_equal(stats_verdict(&ratio, 0.02), VERDICT_SLOWER);
}

static void test_ratio_three_samples_give_no_verdict(void **unused)
{
    (void)unused;
    const double base[] = {100, 101, 99}, other[] = {97, 98, 96};
    struct fixture a, b;
    struct ratio ratio;
    fixture_init(&a, base, 3, 1);
    fixture_init(&b, other, 3, 1);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &ratio);
    assert_true(fabs(ratio.value - 100.0 / 97.0) < 1e-12);
    assert_false(ratio.has_interval);
    assert_int_equal(stats_verdict(&ratio, 0.02), VERDICT_TOO_FEW);
}

static void test_ratio_without_samples(void **unused)
{
    (void)unused;
    const double base[] = {100, 101, 99, 100, 100, 100};
    struct fixture a, b;
    struct ratio ratio;
    fixture_init(&a, base, 3, 2);
    fixture_init(&b, base, 0, 0);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &ratio);
    assert_true(isnan(ratio.value));
    assert_int_equal(stats_verdict(&ratio, 0.02), VERDICT_TOO_FEW);
    stats_ratio(&a.samples, &b.samples, true, 0.0, &ratio);
    assert_true(isnan(ratio.value));
}

static void test_ratio_clear_difference_is_called(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    struct fixture a, b;
    struct ratio ratio;
    fixture_noise(&a, 10, 2, 100.0, 0.0, 0.001, &state);
    fixture_noise(&b, 10, 2, 50.0, 0.0, 0.001, &state);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &ratio);
    assert_int_equal(stats_verdict(&ratio, 0.02), VERDICT_FASTER);
    assert_true(fabs(ratio.value - 2.0) < 0.01);
}

static void test_ratio_paired_uses_common_rounds(void **unused)
{
    (void)unused;
    /* The last rounds of the longer side would move its median from 100 to 300. */
    const double longer[] = {100, 100, 100, 100, 100, 100, 300, 300, 300, 300, 300, 300, 300, 300};
    const double shorter[] = {50, 50, 50, 50, 50, 50};
    struct fixture a, b;
    struct ratio ratio;
    fixture_init(&a, longer, 7, 2);
    fixture_init(&b, shorter, 3, 2);
    stats_ratio(&a.samples, &b.samples, true, 0.0, &ratio);
    assert_true(ratio.value == 2.0);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &ratio);
    assert_true(ratio.value == 6.0);
}

static void test_ratio_same_input_same_output(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct fixture a, b;
    struct ratio first, second;
    fixture_noise(&a, 10, 3, 100.0, 0.02, 0.01, &state);
    fixture_noise(&b, 10, 3, 100.0, 0.02, 0.01, &state);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &first);
    stats_ratio(&a.samples, &b.samples, false, 0.0, &second);
    assert_memory_equal(&first.interval_95, &second.interval_95, sizeof first.interval_95);
}

/* The interval must hold the true median in about 95 of 100 cases: the limits are more than three
 * standard errors away. */
static void test_interval_coverage(void **unused)
{
    (void)unused;
    enum { TRIALS = 400 };
    static const struct {
        double round_sd, sd;
    } kinds[] = {{0.0, 0.02}, {0.02, 0.005}, {0.02, 0.02}};
    uint64_t state = 20260110;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int inside = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct fixture f;
            struct summary s;
            fixture_noise(&f, 10, 3, 1000.0, kinds[k].round_sd, kinds[k].sd, &state);
            stats_summarise(&f.samples, &s);
            inside += s.median_95.low <= 1000.0 && s.median_95.high >= 1000.0;
        }
        assert_in_range(inside, TRIALS * 91 / 100, TRIALS);
    }
}

/* Rounds of both sides share their level, as in one run. */
static void shared_levels(struct fixture *a, struct fixture *b, double factor, uint64_t *state)
{
    fixture_noise(a, 10, 3, 1000.0, 0.05, 0.0, state);
    *b = *a;
    b->samples.ns = b->ns;
    b->samples.round_begin = b->begin;
    for (size_t i = 0; i < a->samples.count; i++) {
        a->ns[i] *= exp(0.005 * normal(state));
        b->ns[i] *= factor * exp(0.005 * normal(state));
    }
}

static void test_paired_difference_is_called_and_none_is_not(void **unused)
{
    (void)unused;
    enum { TRIALS = 200 };
    uint64_t state = 77;
    int called = 0, wrong = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct fixture a, b;
        struct ratio ratio;
        shared_levels(&a, &b, 1.0 / 1.03, &state); /* truly 3 % faster */
        stats_ratio(&a.samples, &b.samples, true, 0.0, &ratio);
        called += stats_verdict(&ratio, 0.02) == VERDICT_FASTER;
        shared_levels(&a, &b, 1.0, &state);
        stats_ratio(&a.samples, &b.samples, true, 0.0, &ratio);
        enum verdict verdict = stats_verdict(&ratio, 0.02);
        wrong += verdict == VERDICT_FASTER || verdict == VERDICT_SLOWER;
    }
    assert_in_range(called, TRIALS * 80 / 100, TRIALS);
    assert_in_range(wrong, 0, TRIALS / 20);
}

static void test_unpaired_without_difference_is_not_called(void **unused)
{
    (void)unused;
    enum { TRIALS = 300 };
    uint64_t state = 99;
    int wrong = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct fixture a, b;
        struct ratio ratio;
        fixture_noise(&a, 10, 3, 1000.0, 0.03, 0.01, &state);
        fixture_noise(&b, 10, 3, 1000.0, 0.03, 0.01, &state);
        stats_ratio(&a.samples, &b.samples, false, 0.0, &ratio);
        enum verdict verdict = stats_verdict(&ratio, 0.02);
        wrong += verdict == VERDICT_FASTER || verdict == VERDICT_SLOWER;
    }
    assert_in_range(wrong, 0, TRIALS / 20);
}

static void test_verdict_table(void **unused)
{
    (void)unused;
    static const struct {
        double value, low, high;
        enum verdict verdict;
    } cases[] = {
        {1.05, 1.01, 1.09, VERDICT_FASTER},     {0.95, 0.92, 0.99, VERDICT_SLOWER},
        {1.00, 0.99, 1.01, VERDICT_SAME},       {1.01, 1.005, 1.015, VERDICT_SAME},
        {1.01, 1.005, 1.03, VERDICT_UNDECIDED}, {1.05, 0.98, 1.12, VERDICT_UNDECIDED},
        {0.97, 0.95, 1.00, VERDICT_UNDECIDED},  {0.985, 0.975, 0.995, VERDICT_UNDECIDED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ratio ratio = {cases[i].value, true, {cases[i].low, cases[i].high}};
        assert_int_equal(stats_verdict(&ratio, 0.02), cases[i].verdict);
    }
    struct ratio none = {.value = 2.0};
    assert_int_equal(stats_verdict(&none, 0.02), VERDICT_TOO_FEW);
}

static void test_dip_against_reference(void **unused)
{
    (void)unused;
    /* from the Python package diptest 0.12.0 */
    const double two[] = {700,  700,  700,  700,  700,  700,  700,  700,  700,  700,
                          1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    const double three[] = {1, 1.1, 1.2, 5, 5.1, 5.2, 5.3, 9};
    const double skewed[] = {0.02, 0.11, 0.25, 0.31, 0.55, 0.56, 0.58, 0.91, 0.95, 1.4, 2.2, 3.9};
    assert_true(fabs(stats_dip(two, 20) - 0.25) < 1e-12);
    assert_true(fabs(stats_dip(three, 8) - 0.178125) < 1e-12);
    assert_true(fabs(stats_dip(skewed, 12) - 0.07547169811320757) < 1e-12);
}

static void test_flags_two_modes(void **unused)
{
    (void)unused;
    double alternating[20], halves[20];
    for (size_t i = 0; i < 20; i++) {
        alternating[i] = (i % 2 == 0 ? 1000.0 : 700.0) + (double)(i % 5);
        halves[i] = (i < 10 ? 1000.0 : 700.0) + (double)(i % 5);
    }
    struct fixture f;
    struct summary summary;
    fixture_init(&f, alternating, 10, 2);
    stats_summarise(&f.samples, &summary);
    assert_true(summary.bimodal);
    assert_false(summary.drift);
    fixture_init(&f, halves, 10, 2);
    stats_summarise(&f.samples, &summary);
    assert_true(summary.bimodal);
    assert_true(summary.drift);
}

static void test_flags_tiny_differences_are_no_modes(void **unused)
{
    (void)unused;
    double ticks[20];
    for (size_t i = 0; i < 20; i++)
        ticks[i] = i % 2 == 0 ? 1000000.0 : 1000100.0; /* 0.01 % apart: a step of the clock */
    struct fixture f;
    struct summary summary;
    fixture_init(&f, ticks, 10, 2);
    stats_summarise(&f.samples, &summary);
    assert_false(summary.bimodal);
    assert_false(summary.drift);
}

/* On noise without modes or trend, each flag may be wrong in 5 of 100 cases. */
static void test_flags_on_noise(void **unused)
{
    (void)unused;
    enum { TRIALS = 500 };
    static const struct {
        double round_sd, sd;
    } kinds[] = {{0.0, 0.03}, {0.03, 0.003}, {0.03, 0.03}, {0.0, 0.3}};
    uint64_t state = 4711;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int modes = 0, drifts = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct fixture f;
            struct summary summary;
            fixture_noise(&f, 10, trial % 2 == 0 ? 3 : 5, 1000.0, kinds[k].round_sd, kinds[k].sd,
                          &state);
            stats_summarise(&f.samples, &summary);
            modes += summary.bimodal;
            drifts += summary.drift;
        }
        assert_in_range(modes, 0, TRIALS / 20);
        assert_in_range(drifts, 0, TRIALS / 20);
    }
}

static void test_flags_drift_of_five_percent(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    struct fixture f;
    struct summary summary;
    fixture_noise(&f, 10, 3, 1000.0, 0.0, 0.005, &state);
    for (size_t i = 0; i < f.samples.count; i++)
        f.ns[i] *= 1.0 + 0.05 * (double)(i / 3) / 9.0;
    stats_summarise(&f.samples, &summary);
    assert_true(summary.drift);
}

static void test_flags_outlier(void **unused)
{
    (void)unused;
    const double clean[] = {98, 99, 100, 101, 102, 103}, odd[] = {98, 99, 100, 101, 102, 150};
    struct fixture f;
    struct summary summary;
    fixture_init(&f, clean, 3, 2);
    stats_summarise(&f.samples, &summary);
    assert_false(summary.outliers);
    fixture_init(&f, odd, 3, 2);
    stats_summarise(&f.samples, &summary);
    assert_true(summary.outliers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_odd_even_and_none),
        cmocka_unit_test(test_summarise_order_statistics),
        cmocka_unit_test(test_summarise_too_few),
        cmocka_unit_test(test_summarise_empty_round_counts_not),
        cmocka_unit_test(test_summarise_outlier_keeps_interval_positive),
        cmocka_unit_test(test_summarise_interval_is_clipped_to_samples),
        cmocka_unit_test(test_ratio_widening_by_hand),
        cmocka_unit_test(test_ratio_is_a_speed_up_of_other),
        cmocka_unit_test(test_ratio_three_samples_give_no_verdict),
        cmocka_unit_test(test_ratio_without_samples),
        cmocka_unit_test(test_ratio_clear_difference_is_called),
        cmocka_unit_test(test_ratio_paired_uses_common_rounds),
        cmocka_unit_test(test_ratio_same_input_same_output),
        cmocka_unit_test(test_interval_coverage),
        cmocka_unit_test(test_paired_difference_is_called_and_none_is_not),
        cmocka_unit_test(test_unpaired_without_difference_is_not_called),
        cmocka_unit_test(test_verdict_table),
        cmocka_unit_test(test_dip_against_reference),
        cmocka_unit_test(test_flags_two_modes),
        cmocka_unit_test(test_flags_tiny_differences_are_no_modes),
        cmocka_unit_test(test_flags_on_noise),
        cmocka_unit_test(test_flags_drift_of_five_percent),
        cmocka_unit_test(test_flags_outlier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
