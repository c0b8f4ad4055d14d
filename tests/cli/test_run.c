/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay run` from one end to the other on two different OpenCL drivers and the host: what the
 * records hold, which devices are taken, what ends a run before it begins. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "run_support.h"

#include <ftw.h>
#include <math.h>

#define RUSTICL "RUSTICL_ENABLE=llvmpipe"

/* ---- two drivers on one processor ---- */

/* What every record says beside its samples. */
static void check_circumstances(const json_t *record)
{
    assert_true(is_true_at(record, "memory.same_memory"));
    assert_true(json_integer_value(member(record, "memory.working_set_bytes")) > 0);
    bool copies = strncmp(text_at(record, "key"), "copy@", strlen("copy@")) == 0;
    if (copies)
        assert_string_equal(text_at(record, "work.bytes_counted"), "payload");
    else if (strncmp(text_at(record, "device"), "opencl", strlen("opencl")) == 0)
        assert_true(json_integer_value(member(record, "build.build_ns")) > 0);
    /* the smallest copy is far below what a clock can tell: its batch has grown */
    if (strstr(text_at(record, "key"), "bytes=4096") != NULL)
        assert_true(json_integer_value(member(record, "batch.steps")) > 10);
}

/* rusticl 22.3 stamps all commands 0, 1, 2, 3 ns: its rows must be timed by the host. */
static void check_rusticl(const struct measured *result)
{
    const json_t *device = header_device(result, "opencl:rusticl:0");
    assert_string_equal(text_at(device, "clock.source"), "host");
    assert_says(text_at(device, "clock.reason"), "event-clock-implausible");
    static const char *const keys[] = {"pixel@", "type=f32", "bytes=4096", "bytes=65536"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *record = record_of(result, "opencl:rusticl:0", keys[i]);
        assert_string_equal(text_at(record, "clock.source"), "host");
        assert_says(text_at(record, "clock.reason"), "event-clock-implausible");
    }
    /* llvmpipe has no double precision: no number, and no fault */
    const json_t *f64 = record_of(result, "opencl:rusticl:0", "type=f64");
    assert_failed(f64, "unsupported", "double precision");
    assert_true(is_null_at(f64, "samples"));
}

static void test_run_two_drivers(void **state)
{
    struct measured result = {.config = CONFIG_HEAD
                              "  - {suite: pixel, width: 257, height: 65}\n"
                              "  - {suite: gemm, m: 33, n: 65, k: 17, type: [f32, f64]}\n"
                              "  - {suite: copy, bytes: [4 KiB, 64 KiB]}\n",
                              .devices = {"host:one", "opencl:pocl:0", "opencl:rusticl:0"},
                              .environment = {RUSTICL}};
    measure(*state, &result, 0);
    static const char *const devices[] = {"host:one", "opencl:pocl:0", "opencl:rusticl:0"};
    assert_int_equal(count_of(result.lines, "record"), 15);
    for (size_t d = 0; d < 3; d++) {
        size_t index;
        json_t *line;
        json_array_foreach(result.lines, index, line)
        {
            bool unsupported = strcmp(text_at(line, "state"), "unsupported") == 0;
            if (strcmp(text_at(line, "device"), devices[d]) != 0 || unsupported)
                continue;
            assert_measured(line);
            check_circumstances(line);
        }
    }
    assert_measured(record_of(&result, "opencl:pocl:0", "type=f64"));
    check_rusticl(&result);
    const json_t *end = json_array_get(result.lines, json_array_size(result.lines) - 1);
    assert_true(is_true_at(end, "complete"));
    measured_release(&result);
}

/* 1024 x 512 pixels over 4 workers are 131,072 iterations each: rusticl's compiler stops a
 * work-item after 65,535 without a word. */
static void test_run_loop_cut_short(void **state)
{
    struct measured result = {
        .config = CONFIG_HEAD
        "  - {suite: pixel, partition: strip, width: 1024, height: 512, workers: 4}\n"
        "  - {suite: pixel, partition: strip, width: 1024, height: 512, workers: 16}\n",
        .devices = {"opencl:pocl:0", "opencl:rusticl:0"},
        .environment = {RUSTICL}};
    measure(*state, &result, 4);
    assert_measured(record_of(&result, "opencl:pocl:0", "workers=4 "));
    assert_measured(record_of(&result, "opencl:pocl:0", "workers=16 "));
    assert_measured(record_of(&result, "opencl:rusticl:0", "workers=16 "));
    const json_t *record = record_of(&result, "opencl:rusticl:0", "workers=4 ");
    assert_failed(record, "failed-verification", "before the timing");
    assert_true(is_null_at(record, "samples"));
    assert_true(json_integer_value(member(record, "check.before.mismatches")) > 0);
    /* worker 1 does its first 65,535 pixels */
    assert_true(json_integer_value(member(record, "check.before.first_bad")) >= 65535);
    measured_release(&result);
}

/* ---- which devices ---- */

static void test_run_devices_of_config(void **state)
{
    static const char config[] =
        "schema: 1\ndevices: [\"host:one\"]\n"
        "policy: {budget: 20ms, warmup: 5ms, rounds_min: 5, rounds_max: 5, samples_min: 5}\n"
        "cases:\n  - {suite: copy, bytes: 64 KiB}\n";
    struct measured result = {.config = config};
    measure(*state, &result, 0);
    assert_int_equal(count_of(result.lines, "record"), 1);
    assert_measured(record_of(&result, "host:one", "copy@"));
    measured_release(&result);
    struct measured other = {.config = config, .devices = {"opencl:pocl:0"}};
    measure(*state, &other, 0);
    assert_int_equal(count_of(other.lines, "record"), 1);
    assert_measured(record_of(&other, "opencl:pocl:0", "copy@"));
    measured_release(&other);
}

/* ---- what ends a run before it begins ---- */

static void test_run_refused(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048], output[2048];
    small_config(fixture, config);
    snprintf(output, sizeof output, "%s/never.jsonl", fixture->place);
    const struct {
        int exit_code;
        const char *arguments[8], *parts[4];
    } rows[] = {
        {2, {config, "--filter", "no such case"}, {"0 tests match 'no such case'", "small.yaml"}},
        {2, {"/nonexistent/x.yaml"}, {"/nonexistent/x.yaml", "No such file"}},
        {2, {"quikc"}, {"quikc"}},
        {2, {config, "-d", "opencl:pocl:9"}, {"opencl:pocl:9", "opencl:pocl:0", "host:one"}},
        {2, {config, "-d", "opencl:nosuch:7"}, {"opencl:nosuch:7", "opencl:pocl:0", "host:one"}},
        {3, {config, "-d", "example 9000"}, {"example 9000", "opencl:pocl:0", "host:one"}},
        {2, {config, "--seed", "1e6"}, {"--seed"}},
        {2, {config, "--resume", output}, {"--resume takes config, devices and seed"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct call call = {.arguments = {"run"}};
        size_t count = 1;
        bool own_output =
            strcmp(rows[i].arguments[1] != NULL ? rows[i].arguments[1] : "", "--resume") == 0;
        if (!own_output) {
            call.arguments[count++] = "-o";
            call.arguments[count++] = output;
        }
        for (size_t a = 0; rows[i].arguments[a] != NULL; a++)
            call.arguments[count++] = rows[i].arguments[a];
        expect(fixture, &call, rows[i].exit_code, rows[i].parts);
        assert_int_not_equal(access(output, F_OK), 0);
    }
}

/* ---- numbers in a comma locale ---- */

/* A German locale of our own making, since few test machines have one; false if even that cannot
 * be. */
static bool make_locale(const struct fixture *fixture, char variable[2048])
{
    char command[2048];
    snprintf(variable, 2048, "LOCPATH=%.1024s", fixture->place);
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%.1024s/de_DE.UTF-8' >/dev/null 2>&1", fixture->place);
    int status = system(command); /* it warns with status 1 and still makes the locale */
    snprintf(command, sizeof command, "%.1024s/de_DE.UTF-8/LC_NUMERIC", fixture->place);
    return status != -1 && access(command, R_OK) == 0;
}

static void test_run_comma_locale(void **state)
{
    const struct fixture *fixture = *state;
    char place[2048];
    if (!make_locale(fixture, place)) {
        print_message("no localedef with de_DE here\n");
        skip();
    }
    struct measured result = {
        .config = "schema: 1\n"
                  "policy: {budget: 20.5ms, warmup: 5ms, rounds_min: 5, rounds_max: 5,\n"
                  "         samples_min: 5, interval: 0.5%}\n"
                  "cases:\n  - {suite: gemm, m: 33, n: 33, k: 33}\n",
        .devices = {"host:one", "opencl:pocl:0"},
        .environment = {place, "LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8"}};
    measure(fixture, &result, 0); /* every line was parsed as JSON, which knows no comma */
    const json_t *policy = member(json_array_get(result.lines, 0), "policy");
    assert_int_equal(json_integer_value(member(policy, "budget_ns")), 20500000);
    assert_true(fabs(json_number_value(member(policy, "interval")) - 0.005) < 1e-12);
    assert_measured(record_of(&result, "opencl:pocl:0", "gemm@"));
    const struct call show = {.arguments = {"show", result.path},
                              .environment = {place, "LC_ALL=de_DE.UTF-8"}};
    struct outcome german = run(fixture, &show);
    const struct call plain = {.arguments = {"show", result.path}, .environment = {"LC_ALL=C"}};
    struct outcome english = run(fixture, &plain);
    assert_int_equal(german.exit_code, 0);
    assert_string_equal(german.out, english.out);
    release(&german);
    release(&english);
    measured_release(&result);
}

static int damage(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)place;
    FILE *file = type == FTW_F ? fopen(path, "w") : NULL;
    if (file == NULL)
        return 0;
    static const char zeros[16];
    size_t written = fwrite(zeros, 1, sizeof zeros, file);
    return fclose(file) == 0 && written == sizeof zeros ? 0 : 1;
}

/* A damaged kernel cache that the user has chosen aborts the driver at each start: the host's row
 * is there, the device's has a name for what happened, and the cache of its own that a run makes
 * otherwise is unharmed (EN-02). */
static void test_run_damaged_kernel_cache(void **state)
{
    const struct fixture *fixture = *state;
    char cache[2048], variable[2100];
    snprintf(cache, sizeof cache, "%.1024s/damaged", fixture->place);
    snprintf(variable, sizeof variable, "POCL_CACHE_DIR=%s", cache);
    struct measured result = {.config = CONFIG_HEAD "  - {suite: gemm, m: 33, n: 33, k: 33}\n",
                              .devices = {"host:one", "opencl:pocl:0"},
                              .environment = {variable}};
    measure(fixture, &result, 0);
    measured_release(&result);
    assert_int_equal(nftw(cache, damage, 16, FTW_PHYS), 0);
    measure(fixture, &result, 4);
    assert_measured(record_of(&result, "host:one", "gemm@"));
    const json_t *row = record_of(&result, "opencl:pocl:0", "gemm@");
    assert_true(is_null_at(row, "samples"));
    assert_true(strlen(text_at(row, "reason")) > 0);
    measured_release(&result);
    result.environment[0] = "POCL_CACHE_DIR"; /* not set */
    measure(fixture, &result, 0);
    measured_release(&result);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_two_drivers),
        cmocka_unit_test(test_run_loop_cut_short),
        cmocka_unit_test(test_run_devices_of_config),
        cmocka_unit_test(test_run_refused),
        cmocka_unit_test(test_run_comma_locale),
        cmocka_unit_test(test_run_damaged_kernel_cache),
    };
    return cmocka_run_group_tests_name("cli/run", tests, set_up, tear_down);
}
