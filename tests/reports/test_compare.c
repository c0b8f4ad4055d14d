/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison of the sample results in tests/data/, whose figures generate.py chose by hand: which
 * pairs are judged and how, what is listed and not judged, what must not be compared, which device
 * is which. */
#include "reports/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DATA ASSAY_SOURCE_DIR "/tests/data/"
#define GEMM_KEY "gemm@1 m=512 n=512 k=512 type=f32 tier=portable"
#define CARD "opencl:card:0"
#define POCL "opencl:pocl:0"

/* Two results and their comparison, released together. */
struct pair {
    struct result *base, *other;
    struct comparison *comparison;
    struct error err;
    enum code code;
};

static struct result *load(const char *name)
{
    char path[512];
    struct result *result = NULL;
    struct error err = {0};
    snprintf(path, sizeof path, DATA "%s", name);
    if (result_load(path, &result, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return result;
}

static struct pair compare_devices(const char *base, const char *base_device, const char *other,
                                   const char *other_device, bool force, bool partial)
{
    struct pair pair = {.base = load(base)};
    pair.other = strcmp(base, other) == 0 ? pair.base : load(other);
    struct compare_side left = {pair.base, base_device}, right = {pair.other, other_device};
    struct compare_options options = {.difference = 0.02, .force = force, .partial = partial};
    pair.code = compare_sides(&left, &right, &options, &pair.comparison, &pair.err);
    return pair;
}

static struct pair compare_cards(const char *base, const char *other)
{
    struct pair pair = compare_devices(base, CARD, other, CARD, false, false);
    if (pair.code != CODE_OK)
        fail_msg("%s", pair.err.message);
    return pair;
}

static void release(struct pair *pair)
{
    comparison_destroy(pair->comparison);
    if (pair->other != pair->base)
        result_destroy(pair->other);
    result_destroy(pair->base);
}

static const struct compare_row *row_of(const struct pair *pair, const char *start)
{
    for (size_t i = 0; i < pair->comparison->row_count; i++)
        if (strncmp(pair->comparison->rows[i].key, start, strlen(start)) == 0)
            return &pair->comparison->rows[i];
    fail_msg("no row for '%s'", start);
    return &pair->comparison->rows[0]; /* not reached */
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

static bool about(double a, double b)
{
    return fabs(a / b - 1.0) < 0.001;
}

static void test_slower_card(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "card-slower.jsonl");
    assert_int_equal(pair.comparison->row_count, 3);
    assert_int_equal(pair.comparison->slower_count, 3);
    assert_false(pair.comparison->paired);
    char words[COMPARE_TEXT_BYTES];
    for (size_t i = 0; i < 3; i++) {
        const struct compare_row *row = &pair.comparison->rows[i];
        assert_int_equal(row->verdict, VERDICT_SLOWER);
        assert_true(about(row->ratio.value, 0.8));
        assert_string_equal(compare_words(row, words), "20 % slower");
    }
    assert_true(about(pair.comparison->geometric_mean, 0.8));
    release(&pair);
}

static void test_faster_card(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "card-faster.jsonl");
    char words[COMPARE_TEXT_BYTES];
    assert_int_equal(pair.comparison->faster_count, 3);
    assert_true(about(pair.comparison->rows[0].ratio.value, 1.5));
    assert_string_equal(compare_words(&pair.comparison->rows[0], words), "1.50 times as fast");
    release(&pair);
    /* swapped: the direction turns round, and the older "other" is pointed out */
    pair = compare_cards("card-faster.jsonl", "card.jsonl");
    assert_int_equal(pair.comparison->slower_count, 3);
    assert_true(about(pair.comparison->rows[0].ratio.value, 2.0 / 3.0));
    assert_says(pair.comparison->warnings, "the other was measured before the base");
    release(&pair);
}

static void test_same_card_again(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "card-again.jsonl");
    assert_int_equal(pair.comparison->same_count, 3);
    assert_true(pair.comparison->noise_floor == 0.0);
    assert_null(strstr(pair.comparison->warnings, "before the base"));
    release(&pair);
}

static void test_same_run_is_paired(void **unused)
{
    (void)unused;
    struct pair pair =
        compare_devices("two-devices.jsonl", POCL, "two-devices.jsonl", CARD, false, false);
    const struct comparison *c = pair.comparison;
    assert_int_equal(pair.code, CODE_OK);
    assert_true(c->paired);
    assert_int_equal(c->row_count, 4);
    assert_int_equal(c->judged_count, 2);
    assert_int_equal(c->faster_count, 2);
    assert_true(about(row_of(&pair, GEMM_KEY)->ratio.value, 100.0)); /* 10 ms and 0.1 ms */
    assert_true(about(row_of(&pair, "copy")->ratio.value, 8.0));     /* 400 us and 50 us */
    assert_true(about(c->geometric_mean, sqrt(800.0)));
    assert_says(row_of(&pair, "copy")->reason, "no bus in the base");
    assert_says(row_of(&pair, GEMM_KEY)->reason, "clocks: host and device");
    /* a case not supported is listed, one that failed is missing as well */
    const struct compare_row *f64 = row_of(&pair, "gemm@1 m=512 n=512 k=512 type=f64");
    assert_false(f64->judged);
    assert_string_equal(f64->reason, "other not supported: the device has no f64");
    assert_false(row_of(&pair, "pixel")->judged);
    assert_says(row_of(&pair, "pixel")->reason, "base failed-verification: 17 of 1000000");
    assert_int_equal(c->missing_count, 1);
    release(&pair);
}

static void test_identical_input_is_said(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "card.jsonl");
    assert_says(pair.comparison->warnings, "identical input");
    assert_int_equal(pair.comparison->same_count, 3);
    release(&pair);
}

static void test_missing_case_is_listed_not_averaged(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "card-missing.jsonl");
    assert_int_equal(pair.comparison->row_count, 3);
    assert_int_equal(pair.comparison->judged_count, 2);
    assert_int_equal(pair.comparison->missing_count, 1);
    const struct compare_row *pixel = row_of(&pair, "pixel");
    assert_int_equal(pixel->state, COMPARE_BASE_ONLY);
    assert_null(pixel->other);
    assert_says(pixel->reason, "only in the base");
    assert_true(about(pair.comparison->geometric_mean, 1.0));
    release(&pair);
    pair = compare_cards("card-missing.jsonl", "card.jsonl");
    assert_int_equal(row_of(&pair, "pixel")->state, COMPARE_OTHER_ONLY);
    release(&pair);
}

static void test_too_few_samples(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("three-samples.jsonl", "three-samples-new.jsonl");
    const struct compare_row *row = &pair.comparison->rows[0];
    assert_false(row->judged);
    assert_int_equal(row->verdict, VERDICT_TOO_FEW);
    assert_true(about(row->ratio.value, 100.0 / 97.0));
    assert_says(row->reason, "n = 3 in 1 round");
    assert_says(row->reason, "at least 5 samples in 3 rounds");
    assert_int_equal(pair.comparison->judged_count, 0);
    assert_true(isnan(pair.comparison->geometric_mean));
    release(&pair);
}

static void test_what_must_not_be_compared(void **unused)
{
    (void)unused;
    static const struct {
        const char *base, *other, *says;
        size_t refused;
    } cases[] = {
        {"card.jsonl", "card-fast-math.jsonl",
         "build options differ: none and -cl-fast-relaxed-math", 1},
        {"card.jsonl", "differs-counted.jsonl", "bytes counted differ: read+write and write", 1},
        {"differs-ecc-off.jsonl", "differs-ecc-on.jsonl", "ECC differs: false and true", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pair pair = compare_cards(cases[i].base, cases[i].other);
        const struct compare_row *row = row_of(&pair, GEMM_KEY);
        assert_int_equal(row->state, COMPARE_NOT_COMPARABLE);
        assert_false(row->judged);
        assert_says(row->reason, cases[i].says);
        assert_int_equal(pair.comparison->refused_count, cases[i].refused);
        release(&pair);
    }
    struct pair forced =
        compare_devices("card.jsonl", CARD, "card-fast-math.jsonl", CARD, true, false);
    const struct compare_row *row = row_of(&forced, GEMM_KEY);
    assert_true(row->judged);
    assert_true(about(row->ratio.value, 1.0 / 0.85));
    assert_says(row->reason, "build options differ: none and -cl-fast-relaxed-math");
    assert_int_equal(forced.comparison->refused_count, 0);
    release(&forced);
}

static void test_other_version_or_size_is_named(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"differs-version.jsonl", "suite version: 1 and 2"},
        {"differs-size.jsonl", "'m': 512 and 1024; 'n': 512 and 1024; 'k': 512 and 1024"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct pair pair = compare_cards("card.jsonl", cases[i][0]);
        const struct compare_row *row = row_of(&pair, GEMM_KEY);
        assert_int_equal(row->state, COMPARE_BASE_ONLY);
        assert_says(row->reason, cases[i][1]);
        assert_int_equal(pair.comparison->missing_count, 2);
        assert_int_equal(pair.comparison->judged_count, 2);
        release(&pair);
    }
}

static void test_incomplete_files(void **unused)
{
    (void)unused;
    static const char *const names[] = {"card-partial.jsonl", "card-interrupted.jsonl"};
    for (size_t i = 0; i < 2; i++) {
        struct pair pair = compare_devices("card-again.jsonl", CARD, names[i], CARD, false, false);
        assert_int_equal(pair.code, CODE_INCOMPARABLE);
        assert_null(pair.comparison);
        assert_says(pair.err.message, names[i]);
        assert_says(pair.err.message, "--partial");
        release(&pair);
        pair = compare_devices("card-again.jsonl", CARD, names[i], CARD, false, true);
        assert_int_equal(pair.code, CODE_OK);
        assert_says(pair.comparison->warnings, "is incomplete");
        assert_int_equal(pair.comparison->judged_count, 2 - i);
        release(&pair);
    }
}

static void test_unknown_device(void **unused)
{
    (void)unused;
    struct pair pair =
        compare_devices("card.jsonl", "opencl:x:0", "card-again.jsonl", CARD, false, false);
    assert_int_equal(pair.code, CODE_USAGE);
    assert_says(pair.err.message, "it has opencl:card:0");
    release(&pair);
}

/* noisy.jsonl has a noise of 0.09, quiet.jsonl none: 1.96 / 1.645 * 0.09 = 0.1072. The case at n =
 * 128 ran at a sentinel of 900 against 1000, a shift of 0.1111, and the one at 512 at 1100 against
 * 1000, 0.1. */
static void test_noise_floor_by_hand(void **unused)
{
    (void)unused;
    struct pair pair = compare_devices("noisy.jsonl", POCL, "quiet.jsonl", POCL, false, false);
    assert_int_equal(pair.code, CODE_OK);
    assert_true(about(row_of(&pair, "gemm@1 m=128")->floor, 0.11111));
    assert_true(about(row_of(&pair, "gemm@1 m=256")->floor, 0.10724));
    assert_true(about(row_of(&pair, "gemm@1 m=512")->floor, 0.10724));
    assert_true(about(pair.comparison->noise_floor, 0.11111));
    assert_says(pair.comparison->warnings, "11.1 %");
    /* 5 % slower, but within the noise: not called */
    assert_int_equal(pair.comparison->undecided_count, 3);
    release(&pair);
}

/* A load of 5 on two processors passes them by 1.5 times their number. */
static void test_overload_widens_the_interval(void **unused)
{
    (void)unused;
    struct pair pair = compare_devices("noisy.jsonl", POCL, "busy.jsonl", POCL, false, false);
    assert_int_equal(pair.code, CODE_OK);
    assert_true(about(row_of(&pair, "gemm@1 m=256")->floor, 1.5));
    assert_int_equal(row_of(&pair, "gemm@1 m=256")->verdict, VERDICT_UNDECIDED);
    release(&pair);
}

/* Others took a fifth of the processors: 4 * 0.2 / 0.8 = 1. */
static void test_occupied_processors_widen_the_interval(void **unused)
{
    (void)unused;
    struct pair pair = compare_devices("noisy.jsonl", POCL, "occupied.jsonl", POCL, false, false);
    assert_int_equal(pair.code, CODE_OK);
    assert_true(about(row_of(&pair, "gemm@1 m=256")->floor, 1.0));
    release(&pair);
}

static void test_resumed_run_is_not_side_by_side(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "card-resumed.jsonl"); /* one run id */
    assert_true(pair.comparison->paired);
    assert_null(strstr(row_of(&pair, GEMM_KEY)->reason, "resumed"));
    assert_says(row_of(&pair, "copy")->reason, "the run was resumed in between");
    release(&pair);
}

static void test_devices_measured_alone_are_not_paired(void **unused)
{
    (void)unused;
    struct pair pair =
        compare_devices("measured-alone.jsonl", POCL, "measured-alone.jsonl", CARD, false, false);
    assert_int_equal(pair.code, CODE_OK);
    assert_says(pair.comparison->rows[0].reason, "not measured side by side");
    assert_true(pair.comparison->rows[0].judged);
    release(&pair);
}

static void test_pairs_of_devices(void **unused)
{
    (void)unused;
    static const struct {
        const char *base, *other;
        size_t count;
        const char *note;
    } cases[] = {
        {"two-devices.jsonl", "two-devices.jsonl", 2, ""},
        {"two-devices.jsonl", "card.jsonl", 1, ""},
        {"card.jsonl", "differs-name.jsonl", 1, ""}, /* another name, the same UUID */
        {"card.jsonl", "differs-card.jsonl", 1, "another card of the same model"},
        {"card.jsonl", "quiet.jsonl", 1, "paired as the only device of each"},
        {"two-devices.jsonl", "hostile.jsonl", 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct device_pair pairs[COMPARE_PAIRS_MAX];
        struct result *base = load(cases[i].base), *other = load(cases[i].other);
        size_t count = compare_pair_devices(base, other, pairs);
        if (count != cases[i].count)
            fail_msg("%s and %s: %zu pairs", cases[i].base, cases[i].other, count);
        if (count > 0) {
            assert_says(pairs[0].note, cases[i].note);
            assert_int_equal(pairs[0].note[0] == '\0', cases[i].note[0] == '\0');
        }
        result_destroy(base);
        result_destroy(other);
    }
}

static void test_feature_suffix_is_shown(void **unused)
{
    (void)unused;
    struct pair pair = compare_cards("card.jsonl", "differs-name.jsonl");
    assert_says(pair.comparison->warnings, "device features differ: none and :sramecc+:xnack-");
    assert_null(strstr(pair.comparison->warnings, "device models differ"));
    assert_int_equal(pair.comparison->judged_count, 3);
    release(&pair);
}

static void test_normalise_name(void **unused)
{
    (void)unused;
    static const char *const cases[][3] = {
        {"NVIDIA GeForce RTX 4090", "GeForce RTX 4090", ""},
        {"Intel(R)  Xeon(R) Gold", "Intel Xeon Gold", ""},
        {"Intel(R) UHD(TM) 770 ", "Intel UHD 770", ""},
        {"gfx90a:sramecc+:xnack-", "gfx90a", ":sramecc+:xnack-"},
        {"card: with a colon", "card: with a colon", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char normal[DEVICE_NAME_BYTES], suffix[DEVICE_NAME_BYTES];
        compare_normalise_name(cases[i][0], normal, suffix);
        assert_string_equal(normal, cases[i][1]);
        assert_string_equal(suffix, cases[i][2]);
    }
}

static void test_words_and_ratios(void **unused)
{
    (void)unused;
    static const struct {
        double ratio;
        enum verdict verdict;
        const char *words, *text;
    } cases[] = {
        {0.8, VERDICT_SLOWER, "20 % slower", "0.800"},
        {0.968, VERDICT_SLOWER, "3.2 % slower", "0.968"},
        {0.005, VERDICT_SLOWER, "1/200 as fast", "0.00500"},
        {1.32, VERDICT_FASTER, "1.32 times as fast", "1.320"},
        {123.4, VERDICT_FASTER, "123 times as fast", "123"},
        {1.0004, VERDICT_SAME, "same", "1.000"},
        {1.03, VERDICT_UNDECIDED, "undecided", "1.030"},
    };
    char words[COMPARE_TEXT_BYTES], text[COMPARE_TEXT_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct compare_row row = {
            .judged = true, .verdict = cases[i].verdict, .ratio = {.value = cases[i].ratio}};
        assert_string_equal(compare_words(&row, words), cases[i].words);
        assert_string_equal(compare_format_ratio(cases[i].ratio, text), cases[i].text);
    }
    struct compare_row none = {.ratio = {.value = 2.0}};
    assert_string_equal(compare_words(&none, words), "");
    assert_string_equal(compare_format_ratio((double)NAN, text), "n/a");
    assert_string_equal(compare_format_ratio((double)INFINITY, text), "n/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slower_card),
        cmocka_unit_test(test_faster_card),
        cmocka_unit_test(test_same_card_again),
        cmocka_unit_test(test_same_run_is_paired),
        cmocka_unit_test(test_identical_input_is_said),
        cmocka_unit_test(test_missing_case_is_listed_not_averaged),
        cmocka_unit_test(test_too_few_samples),
        cmocka_unit_test(test_what_must_not_be_compared),
        cmocka_unit_test(test_other_version_or_size_is_named),
        cmocka_unit_test(test_incomplete_files),
        cmocka_unit_test(test_unknown_device),
        cmocka_unit_test(test_noise_floor_by_hand),
        cmocka_unit_test(test_overload_widens_the_interval),
        cmocka_unit_test(test_occupied_processors_widen_the_interval),
        cmocka_unit_test(test_resumed_run_is_not_side_by_side),
        cmocka_unit_test(test_devices_measured_alone_are_not_paired),
        cmocka_unit_test(test_pairs_of_devices),
        cmocka_unit_test(test_feature_suffix_is_shown),
        cmocka_unit_test(test_normalise_name),
        cmocka_unit_test(test_words_and_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
