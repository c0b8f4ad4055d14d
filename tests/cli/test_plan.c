/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay plan` as a user sees it: exit codes, messages and output of the program itself, hostile
 * configs within a small stack and a short time, and the same bytes under a locale with a decimal
 * comma. */
#include "base/text.h"
#include "cli/command.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-test-plan-XXXXXX";

/* Runs a shell command; what it prints is appended to output. Returns its exit code, 1000 + signal
 * if it was killed. */
static int run_shell(struct text *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int run_shell(struct text *output, const char *format, ...)
{
    char command[2048], bytes[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
        text_append_bytes(output, bytes, count);
    int status = pclose(pipe);
    assert_true(status != -1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void write_file(const char *name, const char *bytes, size_t count)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void expect_plan(const char *arguments, int expected, const char *part)
{
    struct text output = {0};
    int exit_code =
        run_shell(&output, "cd %s && '%s' plan %s 2>&1", folder, ASSAY_BINARY, arguments);
    if (exit_code != expected || strstr(text_string(&output), part) == NULL)
        fail_msg("assay plan %s: exit %d, expected %d with '%s':\n%s", arguments, exit_code,
                 expected, part, text_string(&output));
    text_release(&output);
}

static const char small[] =
    "schema: 1\nname: small\npolicy: {interval: 0.5%, budget: 900.5 ms}\ndevices: [host]\n"
    "cases:\n- {suite: copy, direction: [h2d, d2h], memory: pinned, bytes: [64 KiB, 1.5 MiB]}\n";

static void test_plan_prints_cases(void **state)
{
    (void)state;
    write_file("small.yaml", small, strlen(small));
    expect_plan("small.yaml", EXIT_OK,
                "copy@1 direction=h2d memory=pinned bytes=65536 tier=portable");
    expect_plan("small.yaml", EXIT_OK,
                "copy@1 direction=d2h memory=pinned bytes=1572864 tier=portable");
    expect_plan("small.yaml", EXIT_OK, "4 cases");
    expect_plan("", EXIT_OK, "embedded:quick");
    expect_plan("standard --filter copy", EXIT_OK, "embedded:standard");
}

static void test_plan_json(void **state)
{
    (void)state;
    struct text output = {0};
    assert_int_equal(run_shell(&output,
                               "cd %s && '%s' plan small.yaml --json -d opencl:0 --filter 1572864",
                               folder, ASSAY_BINARY),
                     0);
    json_error_t why;
    json_t *root = json_loads(text_string(&output), JSON_REJECT_DUPLICATES, &why);
    assert_non_null(root);
    const char *name, *device, *key;
    json_int_t budget, bytes, device_bytes, host_bytes;
    double interval;
    assert_int_equal(json_unpack_ex(root, &why, 0, "{s:{s:s}, s:{s:I, s:F}, s:[s!]}", "config",
                                    "name", &name, "policy", "budget_ns", &budget, "interval",
                                    &interval, "devices", &device),
                     0);
    assert_string_equal(name, "small");
    assert_string_equal(device, "opencl:0");
    assert_int_equal(budget, 900500000);
    assert_true(interval > 0.00499 && interval < 0.00501);
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 2);
    assert_int_equal(json_unpack_ex(json_array_get(json_object_get(root, "cases"), 1), &why, 0,
                                    "{s:s, s:{s:{s:I}}, s:I, s:I}", "key", &key, "case",
                                    "parameters", "bytes", &bytes, "device_bytes", &device_bytes,
                                    "host_bytes", &host_bytes),
                     0);
    assert_string_equal(key, "copy@1 direction=d2h memory=pinned bytes=1572864 tier=portable");
    assert_int_equal(bytes, 1572864);
    assert_int_equal(device_bytes, 1572864);
    assert_int_equal(host_bytes, 1572864);
    json_decref(root);
    text_release(&output);
}

static void test_plan_yaml_reads_as_itself(void **state)
{
    (void)state;
    struct text first = {0}, second = {0};
    assert_int_equal(
        run_shell(&first, "cd %s && '%s' plan quick --yaml | tee again.yaml", folder, ASSAY_BINARY),
        0);
    assert_int_equal(
        run_shell(&second, "cd %s && '%s' plan again.yaml --yaml", folder, ASSAY_BINARY), 0);
    assert_true(first.length > 100);
    assert_string_equal(text_string(&first), text_string(&second));
    text_release(&first);
    text_release(&second);
}

static void test_plan_usage(void **state)
{
    (void)state;
    expect_plan("--josn", EXIT_USAGE, "--json");
    expect_plan("quick standard", EXIT_USAGE, "2 configs given, at most 1");
    expect_plan("quick --json --yaml", EXIT_USAGE, "exclude each other");
    expect_plan("missing.yaml", EXIT_USAGE, "built-in configs: quick, reference, standard");
    expect_plan("quick --filter no.such.test", EXIT_USAGE, "0 tests match 'no.such.test'");
    expect_plan("quick -d ''", EXIT_USAGE, "device ''");
    expect_plan("--help", EXIT_OK, "assay plan [OPTIONS] [CONFIG]");
}

/* Every hostile config: exit 2 with file, line and column, in a second of processor time, a stack
 * of 256 KiB and 100 MB of memory. */
static void expect_refused(const char *bytes, size_t count, const char *part)
{
    struct text output = {0};
    write_file("bad.yaml", bytes, count);
    /* AddressSanitizer reserves terabytes of address space, so the memory limit holds in other
     * builds only. */
#if defined(__SANITIZE_ADDRESS__)
    const char *limits = "ulimit -s 1024; ulimit -t 20;";
#else
    const char *limits = "ulimit -s 256; ulimit -t 10; ulimit -v 1000000;";
#endif
    int exit_code =
        run_shell(&output, "cd %s && %s '%s' plan bad.yaml 2>&1", folder, limits, ASSAY_BINARY);
    if (exit_code != EXIT_USAGE || strstr(text_string(&output), "bad.yaml:") == NULL ||
        strstr(text_string(&output), part) == NULL)
        fail_msg("exit %d, expected '%s':\n%s", exit_code, part, text_string(&output));
    text_release(&output);
}

static void test_plan_hostile_configs(void **state)
{
    (void)state;
    struct text text = {0};
    text_append(&text, "schema: 1\nx-deep: ");
    text_pad(&text, '[', 100000);
    text_pad(&text, ']', 100000);
    expect_refused(text_string(&text), text.length, "bad.yaml:2:40: nested too deeply");
    text_clear(&text);
    text_append(&text, "a0: &a0 [x, x]\n");
    for (int i = 1; i < 10; i++) {
        text_printf(&text, "a%d: &a%d [*a%d", i, i, i - 1);
        for (int k = 1; k < 10; k++)
            text_printf(&text, ", *a%d", i - 1);
        text_append(&text, "]\n");
    }
    expect_refused(text_string(&text), text.length, "bad.yaml:1:5: anchors");
    text_clear(&text);
    text_append(&text, "schema: 1\ncases:\n- {suite: copy, bytes: [4 KiB");
    for (int i = 0; i < 90000; i++)
        text_printf(&text, ", %d B", 4097 + i);
    text_append(&text, "]}\n");
    expect_refused(text_string(&text), text.length,
                   "make 90001 cases, with 0 before them; a config has at most 4096");
    text_clear(&text);
    for (int i = 0; i < 99000; i++)
        text_printf(&text, "k%d: 1\n", i);
    expect_refused(text_string(&text), text.length, "'schema' is missing");
    text_release(&text);

    expect_refused("", 0, "bad.yaml:1:1: the file is empty");
    expect_refused("\xff\xfe"
                   "s\0c\0",
                   6, "bad.yaml:1:1: the file is UTF-16");
    static const char *const rows[][2] = {
        {"schema: 1\npolicy:\n\tbudget: 3s\n", "bad.yaml:3:1: tab as indentation"},
        {"schema: 1\npolicy: {rounds_min: 30}\npolicy: {}\n",
         "bad.yaml:3:1: duplicate key 'policy', first given in line 2"},
        {"schema: 1\ncases: [{suite: copy}]\n---\nschema: 1\n", "bad.yaml:3:1: a second document"},
        {"schema: 1\npolicy: {rounds_min: 1e6}\n",
         "bad.yaml:2:22: rounds_min: '1e6': expected a plain decimal number"},
        {"schema: 1\ncases: [{suite: copy, bytes: 64}]\n",
         "bad.yaml:2:30: bytes: '64': the unit is missing"},
        {"schema: 1\ncases: [{suite: copy, byts: 64 KiB}]\n",
         "bad.yaml:2:23: unknown key 'byts' in a case of suite 'copy', did you mean 'bytes'?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_refused(rows[i][0], strlen(rows[i][0]), rows[i][1]);
}

/* RF-02: output under a locale with a decimal comma is the same to the byte. Skipped where no such
 * locale can be made. */
static void test_plan_under_comma_locale(void **state)
{
    (void)state;
    static const char *const forms[] = {"", "--json", "--yaml"};
    struct text shown = {0};
    char locale[512];
    snprintf(locale, sizeof locale, "LOCPATH=%s LC_ALL=de_DE.UTF-8", folder);
    run_shell(&shown,
              "cd %s && localedef -f UTF-8 -i de_DE ./de_DE.UTF-8 >/dev/null 2>&1; %s "
              "/usr/bin/printf %%.1f 0,5 2>&1",
              folder, locale);
    bool comma = strcmp(text_string(&shown), "0,5") == 0;
    text_release(&shown);
    if (!comma)
        skip();
    write_file("small.yaml", small, strlen(small));
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct text plain = {0}, german = {0};
        assert_int_equal(run_shell(&plain, "cd %s && LC_ALL=C '%s' plan small.yaml %s", folder,
                                   ASSAY_BINARY, forms[i]),
                         0);
        assert_int_equal(run_shell(&german, "cd %s && %s '%s' plan small.yaml %s", folder, locale,
                                   ASSAY_BINARY, forms[i]),
                         0);
        assert_true(plain.length > 100);
        assert_string_equal(text_string(&plain), text_string(&german));
        text_release(&plain);
        text_release(&german);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    struct text ignored = {0};
    int failed = run_shell(&ignored, "rm -r '%s'", folder);
    text_release(&ignored);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_prints_cases),
        cmocka_unit_test(test_plan_json),
        cmocka_unit_test(test_plan_yaml_reads_as_itself),
        cmocka_unit_test(test_plan_usage),
        cmocka_unit_test(test_plan_hostile_configs),
        cmocka_unit_test(test_plan_under_comma_locale),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
