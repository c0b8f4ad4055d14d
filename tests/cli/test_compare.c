/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay compare`, `assay show` and `assay export` as a user or a script calls them: exit codes,
 * words, and messages for input that is wrong. What the figures are is in tests/reports/. */
#include "program.h"

#define DATA ASSAY_SOURCE_DIR "/tests/data/"

static void expect_exit(void **state, const char *const *arguments, int exit_code,
                        const char *const *parts)
{
    struct call call = {.environment = {"COLUMNS=", NULL}};
    for (size_t i = 0; arguments[i] != NULL && i + 1 < WORDS_MAX; i++)
        call.arguments[i] = arguments[i];
    expect(*state, &call, exit_code, parts);
}

#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define SAYS(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void test_compare_verdicts(void **state)
{
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "card-slower.jsonl"), 5,
                SAYS("20 % slower", "0.800 [", "over 3 of 3 cases", "0 faster, 3 slower",
                     "Example X1", "2026-01-10T09:00:00Z", "2026-01-10T11:00:00Z"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "card-faster.jsonl"), 0,
                SAYS("1.50 times as fast, faster", "3 faster, 0 slower"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "card-again.jsonl"), 0,
                SAYS("3 same (within 2 %)"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "card.jsonl"), 0,
                SAYS("identical input"));
}

static void test_compare_difference_that_matters(void **state)
{
    expect_exit(
        state,
        ARGUMENTS("compare", "--difference", "30%", DATA "card.jsonl", DATA "card-slower.jsonl"), 0,
        SAYS("3 same (within 30 %)"));
    expect_exit(
        state,
        ARGUMENTS("compare", "--difference", "30", DATA "card.jsonl", DATA "card-slower.jsonl"), 2,
        SAYS("'30'", "assay compare --help"));
}

static void test_compare_missing_cases(void **state)
{
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "card-missing.jsonl"), 6,
                SAYS("only in the base", "1 missing or failed", "over 2 of 3 cases"));
    expect_exit(state,
                ARGUMENTS("compare", "--partial", DATA "card.jsonl", DATA "card-missing.jsonl"), 0,
                SAYS("only in the base", "over 2 of 3 cases"));
}

static void test_compare_incomplete_files(void **state)
{
    expect_exit(state, ARGUMENTS("compare", DATA "card-again.jsonl", DATA "card-partial.jsonl"), 6,
                SAYS("card-partial.jsonl' is incomplete", "2 of 3 planned records"));
    expect_exit(
        state,
        ARGUMENTS("compare", "--partial", DATA "card-again.jsonl", DATA "card-partial.jsonl"), 0,
        SAYS("is incomplete", "over 2 of 3 cases"));
}

static void test_compare_what_must_not_be_compared(void **state)
{
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "card-fast-math.jsonl"), 6,
                SAYS("not comparable", "build options differ: none and -cl-fast-relaxed-math"));
    expect_exit(state,
                ARGUMENTS("compare", "--force", DATA "card.jsonl", DATA "card-fast-math.jsonl"), 0,
                SAYS("1.18 times as fast, faster", "build options differ"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "differs-version.jsonl"), 6,
                SAYS("suite version: 1 and 2"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "differs-counted.jsonl"), 6,
                SAYS("bytes counted differ: read+write and write"));
}

static void test_compare_too_few_samples(void **state)
{
    expect_exit(state,
                ARGUMENTS("compare", DATA "three-samples.jsonl", DATA "three-samples-new.jsonl"), 6,
                SAYS("n = 3 in 1 round", "at least 5 samples", "1.031", "not judged",
                     "geometric mean of the ratios: n/a, over 0 of 1 cases"));
}

static void test_compare_devices_of_one_file(void **state)
{
    expect_exit(state, ARGUMENTS("compare", DATA "two-devices.jsonl"), 6,
                SAYS("CPU (software OpenCL)", "100 times as fast, faster", "not supported",
                     "failed-verification", "over 2 of 4 cases"));
    expect_exit(state, ARGUMENTS("compare", "--base", "opencl:card:0", DATA "two-devices.jsonl"), 5,
                SAYS("88 % slower", "1/100 as fast"));
    expect_exit(state,
                ARGUMENTS("compare", DATA "two-devices.jsonl:opencl:card:0",
                          DATA "two-devices.jsonl:opencl:pocl:0"),
                5, SAYS("88 % slower"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl"), 2, SAYS("one device only"));
}

static void test_compare_pairs_devices_of_files(void **state)
{
    expect_exit(state, ARGUMENTS("compare", DATA "two-devices.jsonl", DATA "card.jsonl"), 6,
                SAYS("opencl:pocl:0 has no partner in the other file", "3 same"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "differs-card.jsonl"), 0,
                SAYS("another card of the same model"));
    expect_exit(state, ARGUMENTS("compare", DATA "two-devices.jsonl", DATA "hostile.jsonl"), 6,
                SAYS("FILE:DEVICE"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl:opencl:crad:0", DATA "card.jsonl"), 2,
                SAYS("no device 'opencl:crad:0'", "did you mean 'opencl:card:0'?"));
}

static void test_compare_wrong_input(void **state)
{
    expect_exit(state, ARGUMENTS("compare"), 2, SAYS("expected a result file"));
    expect_exit(state, ARGUMENTS("compare", "/nonexistent.jsonl", DATA "card.jsonl"), 2,
                SAYS("/nonexistent.jsonl", "No such file"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA "bad/schema-schema-99.jsonl"),
                2, SAYS("schema-schema-99.jsonl:1:", "schema 99: this tool reads schema 1"));
    expect_exit(state, ARGUMENTS("compare", DATA "card.jsonl", DATA), 2, SAYS("is a directory"));
    expect_exit(state, ARGUMENTS("compare", "--forse", DATA "card.jsonl"), 2,
                SAYS("--forse", "did you mean '--force'?"));
}

static void test_compare_json(void **state)
{
    struct call call = {
        .arguments = {"compare", "--json", DATA "card.jsonl", DATA "card-missing.jsonl", NULL}};
    json_t *json = json_of(*state, &call, 6);
    const json_t *comparison = json_array_get(json_object_get(json, "comparisons"), 0);
    const json_t *rows = json_object_get(comparison, "rows");
    assert_int_equal(json_array_size(rows), 3);
    const json_t *missing = json_array_get(rows, 2);
    assert_string_equal(string_of(missing, "state"), "base-only");
    assert_true(json_is_null(json_object_get(missing, "other")));
    assert_true(json_is_null(json_object_get(json_object_get(missing, "ratio"), "value")));
    assert_true(json_is_null(json_object_get(missing, "verdict")));
    assert_string_equal(string_of(json_array_get(rows, 0), "verdict"), "same");
    json_decref(json);
}

static void test_show_has_every_row(void **state)
{
    expect_exit(state, ARGUMENTS("show", DATA "two-devices.jsonl"), 0,
                SAYS("6 of 8 cases ok", "not supported: the device has no f64",
                     "17 of 1000000 elements are wrong", "CPU (software OpenCL)", "payload",
                     "20.0 GB/s ±0.")); /* 1,000,000 bytes in 50 us */
    expect_exit(state, ARGUMENTS("show", DATA "card-partial.jsonl"), 0,
                SAYS("2 of 3 cases ok", "incomplete", "the last line was cut short",
                     "no record: the run ended before"));
    expect_exit(state, ARGUMENTS("show", "--samples", DATA "three-samples.jsonl"), 0,
                SAYS("±-", "round 1: 100.0 101.0 99.0"));
    expect_exit(state, ARGUMENTS("show", DATA "card.jsonl", DATA "card.jsonl"), 2,
                SAYS("expected one result file, found 2"));
}

static void test_show_keeps_control_characters_off_the_terminal(void **state)
{
    struct call call = {.arguments = {"show", DATA "hostile.jsonl", NULL}};
    struct outcome outcome = run(*state, &call);
    assert_int_equal(outcome.exit_code, 0);
    assert_null(strchr(outcome.out, '\x1b'));
    assert_says(outcome.out, "-5 = CL_OUT_OF_RESOURCES");
    release(&outcome);
}

static void test_show_json(void **state)
{
    struct call call = {.arguments = {"show", "--json", DATA "card-partial.jsonl", NULL}};
    json_t *json = json_of(*state, &call, 0);
    assert_true(json_is_false(json_object_get(json, "complete")));
    assert_int_equal(json_integer_value(json_object_get(json, "missing")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 2);
    json_decref(json);
}

static void test_export_to_files(void **state)
{
    const struct fixture *fixture = *state;
    char path[2048];
    snprintf(path, sizeof path, "%s/out.csv", fixture->place);
    expect_exit(state, ARGUMENTS("export", "-f", "csv", "-o", path, DATA "card.jsonl"), 0,
                (const char *const[]){NULL});
    char *content = read_file(path);
    assert_int_equal(strncmp(content, "file,run,created,", 17), 0);
    free(content);
    expect_exit(state, ARGUMENTS("export", "-f", "csv", "-o", path, DATA "card.jsonl"), 2,
                SAYS("exists already"));
    expect_exit(state, ARGUMENTS("export", "-f", "csv", "-o", "/dev/full", DATA "card.jsonl"), 7,
                SAYS("/dev/full", "No space left on device"));
    expect_exit(state, ARGUMENTS("export", "-f", "csv", "-o", "/nonexistent/x", DATA "card.jsonl"),
                7, SAYS("/nonexistent/x"));
}

static void test_export_selects_devices(void **state)
{
    expect_exit(state,
                ARGUMENTS("export", "-f", "google-benchmark", "-d", "opencl:card:0",
                          DATA "two-devices.jsonl"),
                0, SAYS("\"name\": \"gemm@1/m=512/n=512/k=512/type=f32/tier=portable\""));
    expect_exit(state, ARGUMENTS("export", "-f", "google-benchmark", DATA "two-devices.jsonl"), 0,
                SAYS("\"name\": \"opencl:card:0/gemm@1/m=512"));
    expect_exit(state,
                ARGUMENTS("export", "-f", "csv", "-d", "opencl:x:0", DATA "two-devices.jsonl"), 2,
                SAYS("no file has a device 'opencl:x:0'", "opencl:pocl:0, opencl:card:0"));
    expect_exit(state, ARGUMENTS("export", "-f", "csvv", DATA "card.jsonl"), 2,
                SAYS("unknown format 'csvv'", "did you mean 'csv'?"));
    expect_exit(state, ARGUMENTS("export", DATA "card.jsonl"), 2, SAYS("expected one --format"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compare_verdicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_difference_that_matters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_missing_cases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_incomplete_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_what_must_not_be_compared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_too_few_samples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_devices_of_one_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_pairs_devices_of_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_wrong_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_show_has_every_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_show_keeps_control_characters_off_the_terminal, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_show_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_export_to_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_export_selects_devices, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
