/* SPDX-License-Identifier: Apache-2.0
 *
 * The exports: CSV as a spreadsheet reads it, and Google Benchmark's JSON as its own compare.py
 * reads it. */
#include "reports/format.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA ASSAY_SOURCE_DIR "/tests/data/"
#define COMPARE_PY "/usr/share/benchmark/compare.py"
enum { CELLS_MAX = 64, LINES_MAX = 64 };

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

/* The format's output for one sample file; the caller frees it. */
static char *write_format(const char *format, const char *name)
{
    struct result *result = load(name);
    const struct result *results[] = {result};
    struct report_input input = {.results = results, .result_count = 1, .difference = 0.02};
    struct text out = {0};
    struct error err = {0};
    const struct report_format *found = report_format_find(format);
    assert_non_null(found);
    assert_true(found->export);
    if (found->write(&input, &out, &err) != CODE_OK)
        fail_msg("%s", err.message);
    result_destroy(result);
    return out.bytes;
}

/* A table read by the rules of RFC 4180, in place. */
struct csv {
    char *cells[LINES_MAX][CELLS_MAX];
    size_t widths[LINES_MAX];
    size_t lines;
};

/* Reads one cell at *in, unquotes it to the front of itself, and leaves *in at what ended it. */
static char *read_cell(char **in)
{
    char *cell = *in, *out = *in;
    bool quoted = **in == '"';
    if (quoted)
        (*in)++;
    while (quoted ? !(**in == '"' && (*in)[1] != '"') : strchr(",\r\n", **in) == NULL) {
        assert_int_not_equal(**in, '\0');
        if (quoted && **in == '"')
            (*in)++;
        *out++ = *(*in)++;
    }
    if (quoted)
        (*in)++;
    /* the terminator may fall on the byte that ended the cell: the caller has read it before */
    char *end = out;
    char after = **in;
    assert_non_null(strchr(",\r", after));
    (*in)++;
    *end = '\0';
    if (after == '\r') {
        assert_int_equal(**in, '\n');
        **in = '\1'; /* marks the end of the line for the caller */
    }
    return cell;
}

static void read_csv(char *text, struct csv *csv)
{
    *csv = (struct csv){0};
    while (*text != '\0') {
        assert_in_range(csv->lines, 0, LINES_MAX - 1);
        size_t *width = &csv->widths[csv->lines];
        for (bool more = true; more;) {
            assert_in_range(*width, 0, CELLS_MAX - 1);
            csv->cells[csv->lines][(*width)++] = read_cell(&text);
            more = *text != '\1';
        }
        text++;
        csv->lines++;
    }
}

static const char *cell(const struct csv *csv, size_t line, const char *column)
{
    for (size_t i = 0; i < csv->widths[0]; i++)
        if (strcmp(csv->cells[0][i], column) == 0)
            return csv->cells[line][i];
    fail_msg("no column '%s'", column);
    return NULL;
}

static bool about(const char *number, double expected)
{
    char *end;
    double value = strtod(number, &end);
    return *end == '\0' && fabs(value / expected - 1.0) < 0.001;
}

static void test_csv_has_every_record(void **unused)
{
    (void)unused;
    char *text = write_format("csv", "two-devices.jsonl");
    struct csv csv;
    read_csv(text, &csv);
    assert_int_equal(csv.lines, 1 + 8);
    for (size_t i = 0; i < csv.lines; i++) {
        assert_int_equal(csv.widths[i], csv.widths[0]);
        for (size_t c = 0; c < csv.widths[i]; c++) {
            assert_string_not_equal(csv.cells[i][c], "");
            assert_string_not_equal(csv.cells[i][c], "nan");
            assert_string_not_equal(csv.cells[i][c], "inf");
        }
    }
    size_t ok = 0, failed = 0, unsupported = 0;
    for (size_t i = 1; i < csv.lines; i++) {
        bool is_ok = strcmp(cell(&csv, i, "state"), "ok") == 0;
        ok += is_ok;
        failed += strcmp(cell(&csv, i, "state"), "failed-verification") == 0;
        unsupported += strcmp(cell(&csv, i, "reason"), "not supported: the device has no f64") == 0;
        if (!is_ok) {
            assert_string_equal(cell(&csv, i, "rate"), "n/a");
            assert_string_equal(cell(&csv, i, "median_ns"), "n/a");
            assert_string_not_equal(cell(&csv, i, "reason"), "n/a");
        }
    }
    assert_int_equal(ok, 6);
    assert_int_equal(failed, 1);
    assert_int_equal(unsupported, 1);
    free(text);
}

static void test_csv_figures(void **unused)
{
    (void)unused;
    char *text = write_format("csv", "two-devices.jsonl");
    struct csv csv;
    read_csv(text, &csv);
    size_t found = 0;
    for (size_t i = 1; i < csv.lines; i++) {
        if (strcmp(cell(&csv, i, "device"), "opencl:card:0") != 0 ||
            strncmp(cell(&csv, i, "case"), "copy", 4) != 0)
            continue;
        found++;
        assert_true(about(cell(&csv, i, "rate"), 2e10)); /* 1,000,000 bytes in 50 us */
        assert_string_equal(cell(&csv, i, "unit"), "B/s");
        assert_string_equal(cell(&csv, i, "bytes_counted"), "payload");
        assert_string_equal(cell(&csv, i, "samples"), "30");
        assert_string_equal(cell(&csv, i, "base"), "opencl:pocl:0");
        assert_true(about(cell(&csv, i, "ratio"), 8.0));
        assert_string_equal(cell(&csv, i, "verdict"), "faster");
        assert_string_equal(cell(&csv, i, "device_kind"), "GPU (OpenCL)");
    }
    assert_int_equal(found, 1);
    free(text);
}

static void test_csv_neutralises_formulas(void **unused)
{
    (void)unused;
    char *text = write_format("csv", "hostile.jsonl");
    assert_null(strstr(text, ",="));
    assert_non_null(strstr(text, "\"'=HYPERLINK(\"\"http://example.invalid\"\")\""));
    struct csv csv;
    read_csv(text, &csv);
    assert_int_equal(csv.lines, 3);
    assert_string_equal(cell(&csv, 1, "device_name"), "'=HYPERLINK(\"http://example.invalid\")");
    /* a reason that starts with a sign is text; a number would not get the apostrophe */
    assert_string_equal(cell(&csv, 2, "reason"), "'-5 = CL_OUT_OF_RESOURCES");
    assert_true(about(cell(&csv, 1, "median_ns"), 100000.0));
    free(text);
}

static void test_csv_keeps_integers(void **unused)
{
    (void)unused;
    char *text = write_format("csv", "large-integers.jsonl");
    struct csv csv;
    read_csv(text, &csv);
    assert_string_equal(cell(&csv, 1, "work_bytes"), "9007199254740993");
    free(text);
}

static json_t *google_benchmark(const char *name)
{
    char *text = write_format("google-benchmark", name);
    json_error_t problem;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    if (json == NULL)
        fail_msg("%s", problem.text);
    free(text);
    return json;
}

static const char *text_of(const json_t *entry, const char *name)
{
    const char *text = json_string_value(json_object_get(entry, name));
    return text != NULL ? text : "";
}

static double number_of(const json_t *entry, const char *name)
{
    return json_number_value(json_object_get(entry, name));
}

static void test_google_benchmark_entries(void **unused)
{
    (void)unused;
    json_t *json = google_benchmark("card.jsonl");
    json_t *benchmarks = json_object_get(json, "benchmarks");
    /* three cases of 30 samples, and mean, median, stddev and cv of each */
    assert_int_equal(json_array_size(benchmarks), 3 * (30 + 4));
    const json_t *first = json_array_get(benchmarks, 0);
    assert_string_equal(text_of(first, "name"), "gemm@1/m=512/n=512/k=512/type=f32/tier=portable");
    assert_string_equal(text_of(first, "run_type"), "iteration");
    assert_string_equal(text_of(first, "time_unit"), "ns");
    assert_true(number_of(first, "real_time") == 99900.0);
    assert_true(number_of(first, "iterations") == 4.0);
    assert_true(number_of(first, "repetitions") == 30.0);
    assert_true(fabs(number_of(first, "items_per_second") / (268435456e9 / 99900.0) - 1.0) < 1e-12);
    assert_null(json_object_get(first, "bytes_per_second"));
    const json_t *median = json_array_get(benchmarks, 31);
    assert_string_equal(text_of(median, "aggregate_name"), "median");
    assert_true(fabs(number_of(median, "real_time") / 100000.0 - 1.0) < 0.001);
    assert_string_equal(text_of(json_object_get(json, "context"), "date"), "2026-01-10T09:00:00Z");
    json_decref(json);
}

static void test_google_benchmark_failed_cases(void **unused)
{
    (void)unused;
    json_t *json = google_benchmark("two-devices.jsonl");
    size_t index, failed = 0;
    json_t *entry;
    json_array_foreach(json_object_get(json, "benchmarks"), index, entry)
    {
        assert_non_null(strchr(text_of(entry, "name"), '/'));
        assert_int_equal(strncmp(text_of(entry, "name"), "opencl:", 7), 0);
        if (!json_is_true(json_object_get(entry, "error_occurred"))) {
            assert_true(number_of(entry, "real_time") > 0.0);
            continue;
        }
        failed++;
        assert_null(json_object_get(entry, "real_time"));
        assert_true(strlen(text_of(entry, "error_message")) > 10);
    }
    assert_int_equal(failed, 2);
    json_decref(json);
}

/* A file of the export, for the other tool. */
static void write_export(const char *name, char path[64])
{
    snprintf(path, 64, "/tmp/assay-test-export-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char *text = write_format("google-benchmark", name);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    free(text);
}

/* Output of compare.py over two sample files; NULL if the tool or its libraries are not installed.
 */
static char *run_compare_py(const char *base, const char *other)
{
    char left[64], right[64], command[512];
    if (access(COMPARE_PY, R_OK) != 0 ||
        system("/usr/bin/python3 -c 'import scipy' 2>/dev/null") != 0)
        return NULL;
    write_export(base, left);
    write_export(other, right);
    snprintf(command, sizeof command,
             "/usr/bin/python3 " COMPARE_PY " --no-color benchmarks %s %s 2>&1", left, right);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct text out = {0};
    for (int c = getc(pipe); c != EOF; c = getc(pipe)) {
        char byte = (char)c;
        text_append_bytes(&out, &byte, 1);
    }
    int status = pclose(pipe);
    unlink(left);
    unlink(right);
    if (status != 0)
        fail_msg("%s", text_string(&out));
    return out.bytes;
}

/* First number after the name at the start of a line. */
static double change_of(const char *output, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(output, line);
    if (found == NULL)
        fail_msg("no line '%s' in:\n%s", name, output);
    return strtod(found + strlen(line), NULL);
}

static void test_google_benchmark_compare_py(void **unused)
{
    (void)unused;
    char *out = run_compare_py("card.jsonl", "card-slower.jsonl");
    if (out == NULL)
        skip(); /* packages libbenchmark-tools and python3-scipy */
    assert_true(fabs(change_of(out, "gemm@1/m=512/n=512/k=512/type=f32/tier=portable_median") -
                     0.25) < 0.001);
    assert_true(fabs(change_of(out, "OVERALL_GEOMEAN") - 0.25) < 0.001);
    free(out);
    /* failed cases on both sides: passed over, and no geometric mean of 0 */
    out = run_compare_py("two-devices.jsonl", "two-devices.jsonl");
    assert_non_null(out);
    assert_true(fabs(change_of(out, "OVERALL_GEOMEAN")) < 0.001);
    assert_null(strstr(out, "nan"));
    free(out);
    /* a case that failed on one side only */
    out = run_compare_py("hostile.jsonl", "quiet.jsonl");
    assert_non_null(out);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_has_every_record),
        cmocka_unit_test(test_csv_figures),
        cmocka_unit_test(test_csv_neutralises_formulas),
        cmocka_unit_test(test_csv_keeps_integers),
        cmocka_unit_test(test_google_benchmark_entries),
        cmocka_unit_test(test_google_benchmark_failed_cases),
        cmocka_unit_test(test_google_benchmark_compare_py),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
