/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading result files: the samples of tests/data/ (written by generate.py, independently of this
 * reader), each bad file refused with its place, and inputs that are no files at all. */
#include "harness/record.h"

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA ASSAY_SOURCE_DIR "/tests/data/"
#define GEMM_KEY "gemm@1 m=512 n=512 k=512 type=f32 tier=portable"

static struct result *load(const char *path)
{
    struct result *result = NULL;
    struct error err = {0};
    if (result_load(path, &result, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return result;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_load_lifts_records(void **unused)
{
    (void)unused;
    struct result *result = load(DATA "two-devices.jsonl");
    assert_true(result->complete);
    assert_false(result->torn);
    assert_int_equal(result->device_count, 2);
    assert_int_equal(result->record_count, 8);
    const struct result_device *card = result_device_find(result, "opencl:card:0");
    assert_non_null(card);
    assert_string_equal(card->name, "Example X1");
    assert_string_equal(card->pci, "0000:41:00.0");
    assert_string_equal(card->clock, "device");
    assert_null(card->clock_reason);
    assert_false(card->software);
    assert_null(result_device_find(result, "opencl:pocl:0")->uuid);
    assert_true(result_device_find(result, "opencl:pocl:0")->software);
    const struct record *record = result_find(result, GEMM_KEY, "opencl:card:0");
    assert_non_null(record);
    assert_ptr_equal(result_device_of(result, record), card);
    assert_int_equal(record->state, STATE_OK);
    assert_null(record->reason);
    assert_int_equal(record->samples.round_count, 10);
    assert_int_equal(record->samples.count, 30);
    assert_true(near(record->samples.ns[1], 100000.0));
    assert_true(near(record->samples.ns[4], 100400.0)); /* round 2, middle: x 1.004 */
    assert_int_equal(record->samples.round_begin[1], 3);
    assert_true(record->by_operations);
    /* 2 * 512^3 operations in 100 us */
    assert_true(near(record_rate(record, 100000.0), 268435456.0 * 1e9 / 100000.0));
    result_destroy(result);
}

static void test_load_keeps_failed_rows(void **unused)
{
    (void)unused;
    struct result *result = load(DATA "two-devices.jsonl");
    const struct record *unsupported =
        result_find(result, "gemm@1 m=512 n=512 k=512 type=f64 tier=portable", "opencl:card:0");
    assert_int_equal(unsupported->state, STATE_UNSUPPORTED);
    assert_string_equal(unsupported->reason, "the device has no f64");
    assert_int_equal(unsupported->samples.count, 0);
    const struct record *wrong = result_find(
        result, "pixel@1 width=1000 height=1000 partition=linear tier=portable", "opencl:pocl:0");
    assert_int_equal(wrong->state, STATE_FAILED_VERIFICATION);
    assert_null(result_find(result, GEMM_KEY, "opencl:card:1"));
    result_destroy(result);
}

static void test_load_torn_interrupted_and_resumed(void **unused)
{
    (void)unused;
    struct result *torn = load(DATA "card-partial.jsonl");
    assert_true(torn->torn);
    assert_false(torn->complete);
    assert_int_equal(torn->record_count, 2);
    result_destroy(torn);
    struct result *interrupted = load(DATA "card-interrupted.jsonl");
    assert_false(interrupted->torn || interrupted->complete);
    assert_int_equal(interrupted->record_count, 1);
    result_destroy(interrupted);
    struct result *resumed = load(DATA "card-resumed.jsonl");
    assert_true(resumed->complete);
    assert_int_equal(resumed->record_count, 3);
    assert_int_equal(resumed->records[0].segment, 0);
    assert_int_equal(resumed->records[2].segment, 1);
    result_destroy(resumed);
}

static void test_load_keeps_every_digit(void **unused)
{
    (void)unused;
    struct result *result = load(DATA "large-integers.jsonl");
    assert_true(result->records[0].work_bytes == 9007199254740993u); /* 2^53 + 1 */
    assert_int_equal(json_integer_value(json_object_get(result->devices[0].json, "memory_bytes")),
                     9007199254740993);
    assert_string_equal(json_string_value(json_object_get(result->header, "seed")),
                        "18446744073709551557");
    result_destroy(result);
}

/* A locale with a decimal comma, compiled for the test because few machines have one. */
static bool use_comma_locale(void)
{
    char directory[] = "/tmp/assay-test-locale-XXXXXX", command[256];
    if (mkdtemp(directory) == NULL)
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
             directory);
    bool chosen = system(command) == 0 && setenv("LOCPATH", directory, 1) == 0 &&
                  setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) == 0 && chosen;
}

static void test_load_under_a_comma_locale(void **unused)
{
    (void)unused;
    if (!use_comma_locale())
        skip(); /* no locale sources on this machine */
    char number[16];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* the locale works */
    struct result *result = load(DATA "card.jsonl");
    assert_true(near(result->records[0].samples.ns[0], 99900.0));
    assert_true(near(result->records[2].samples.ns[3], 20059.92)); /* 20000 * 1.004 * 0.999 */
    result_destroy(result);
    setlocale(LC_ALL, "C");
}

static void test_load_text_of_all_kinds(void **unused)
{
    (void)unused;
    struct result *result = load(DATA "hostile.jsonl");
    assert_string_equal(result->devices[0].platform, "a \"quoted\"\tname\\ \xe2\x80\xa8 \x1b[31m");
    result_destroy(result);
}

static void test_noise_of_the_run(void **unused)
{
    (void)unused;
    /* Medians 900, 1000, 1100: the 5 % and 95 % quantiles are 910 and 1090, half their distance is
     * 90, a share of 0.09. */
    struct result *noisy = load(DATA "noisy.jsonl");
    assert_true(near(noisy->noise, 0.09));
    assert_true(record_sentinel(&noisy->records[0], "compute_ns") == 900.0);
    assert_true(record_sentinel(&noisy->records[0], "memory_ns") == 2000.0);
    result_destroy(noisy);
    struct result *quiet = load(DATA "quiet.jsonl");
    assert_true(quiet->noise == 0.0);
    result_destroy(quiet);
    struct result *failed = load(DATA "hostile.jsonl");
    assert_true(isnan(record_sentinel(&failed->records[1], "compute_ns")));
    result_destroy(failed);
}

/* Every file of tests/data/bad/ is refused with the file and a line in front. */
static void test_load_refuses_every_bad_file(void **unused)
{
    (void)unused;
    DIR *directory = opendir(DATA "bad");
    assert_non_null(directory);
    size_t count = 0;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] == '.')
            continue;
        char path[1024], place[1100];
        snprintf(path, sizeof path, DATA "bad/%s", entry->d_name);
        snprintf(place, sizeof place, "%s:", path);
        struct result *result = NULL;
        struct error err = {0};
        if (result_load(path, &result, &err) != CODE_CONFIG)
            fail_msg("%s was not refused as it should be: %s", path, err.message);
        if (strncmp(err.message, place, strlen(place)) != 0 || err.message[strlen(place)] < '1' ||
            err.message[strlen(place)] > '9')
            fail_msg("no place in: %s", err.message);
        count++;
    }
    closedir(directory);
    assert_in_range(count, 40, 1000);
}

static void test_load_says_what_is_wrong(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *line, *what;
    } cases[] = {
        {"schema-number-thousands", "2",
         "$.samples.rounds[0][0]: expected a number of 0 or more, found \"1,234\""},
        {"schema-number-not-available", "2", "found \"N/A\""},
        {"schema-number-empty", "2", "found \"\""},
        {"schema-number-unit", "2", "found \"24 GB\""},
        {"schema-schema-99", "1", "schema 99: this tool reads schema 1"},
        {"schema-schema-text", "1", "schema \"1\": this tool reads schema 1"},
        {"schema-schema-missing", "1", "$.schema: is missing"},
        {"schema-no-samples", "2", "$.samples: state 'ok' needs at least one sample"},
        {"schema-unknown-state", "2", "did you mean 'crashed'?"},
        {"schema-wrong-output", "2", "state 'ok' with a wrong output"},
        {"file-nan", "2", "'NaN'"},
        {"file-infinity", "2", "'Infinity'"},
        {"file-overflow", "2", "1e400"},
        {"file-duplicate-record", "3", "duplicate record"},
        {"file-duplicate-key", "2", "duplicate object key"},
        {"file-edited", "3", "the file was changed after it was written"},
        {"file-line-missing", "2", "lines are missing"},
        {"file-joined", "4", "a second header"},
        {"file-two-objects", "1", "end of file expected"},
        {"file-unknown-device", "2", "'opencl:gone:0' is no device of the header"},
        {"file-record-count", "2", "3, but the file has 0 records"},
        {"file-after-end", "3", "a line after the end line"},
        {"file-no-header", "1", "expected 'header', found 'record'"},
        {"file-torn-header", "1", "no whole line"},
        {"file-empty", "1", "the file is empty"},
        {"file-google-benchmark", "1", "expected a result file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[1024], place[1100];
        struct result *result = NULL;
        struct error err = {0};
        snprintf(path, sizeof path, DATA "bad/%s.jsonl", cases[i].name);
        snprintf(place, sizeof place, "%s:%s:", path, cases[i].line);
        assert_int_equal(result_load(path, &result, &err), CODE_CONFIG);
        if (strncmp(err.message, place, strlen(place)) != 0 ||
            strstr(err.message, cases[i].what) == NULL)
            fail_msg("expected '%s … %s', found '%s'", place, cases[i].what, err.message);
    }
}

static void test_load_refuses_what_is_no_file(void **unused)
{
    (void)unused;
    struct result *result = NULL;
    struct error err = {0};
    assert_int_equal(result_load(DATA "does-not-exist.jsonl", &result, &err), CODE_IO);
    assert_non_null(strstr(err.message, "does-not-exist.jsonl"));
    assert_int_equal(result_load(DATA, &result, &err), CODE_CONFIG);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(result_load("/dev/zero", &result, &err), CODE_CONFIG);
    char fifo[] = "/tmp/assay-test-fifo-XXXXXX";
    int fd = mkstemp(fifo);
    assert_true(fd >= 0);
    close(fd);
    unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(result_load(fifo, &result, &err), CODE_CONFIG);
    unlink(fifo);
}

static void test_load_refuses_a_line_without_end(void **unused)
{
    (void)unused;
    char path[] = "/tmp/assay-test-blank-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char blanks[65536];
    memset(blanks, ' ', sizeof blanks);
    for (int i = 0; i < (65 << 20) / (int)sizeof blanks; i++)
        assert_int_equal(write(fd, blanks, sizeof blanks), sizeof blanks);
    close(fd);
    struct result *result = NULL;
    struct error err = {0};
    enum code code = result_load(path, &result, &err);
    unlink(path);
    assert_int_equal(code, CODE_CONFIG);
    assert_non_null(strstr(err.message, "longer than"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_lifts_records),
        cmocka_unit_test(test_load_keeps_failed_rows),
        cmocka_unit_test(test_load_torn_interrupted_and_resumed),
        cmocka_unit_test(test_load_keeps_every_digit),
        cmocka_unit_test(test_load_under_a_comma_locale),
        cmocka_unit_test(test_load_text_of_all_kinds),
        cmocka_unit_test(test_noise_of_the_run),
        cmocka_unit_test(test_load_refuses_every_bad_file),
        cmocka_unit_test(test_load_says_what_is_wrong),
        cmocka_unit_test(test_load_refuses_what_is_no_file),
        cmocka_unit_test(test_load_refuses_a_line_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
