/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay partition` as a user runs it: the figures of the reference image, JSON, and bad input. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* Runs the program with these arguments, standard error with the output; returns the exit code. */
static int run(const char *arguments, char *out, size_t capacity)
{
    char line[512];
    snprintf(line, sizeof line, "'%s' partition %s 2>&1", ASSAY_BINARY, arguments);
    FILE *pipe = popen(line, "r"); /* NOLINT(cert-env33-c): a fixed command of this test */
    assert_non_null(pipe);
    size_t length = fread(out, 1, capacity - 1, pipe);
    out[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_partition_prints_the_reference_division(void **state)
{
    (void)state;
    static const char *const figures[] = {
        "600,000,000", "16,384", "36,622",      "600,014,848",
        "14,848",      "21,774", "600,000,001", "36,622·(i−1)+1 to 36,622·i+1"};
    char out[2048];
    assert_int_equal(run("--items 600000000 --workers 16384", out, sizeof out), 0);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (strstr(out, figures[i]) == NULL)
            fail_msg("'%s' is not in: %s", figures[i], out);
}

static void test_partition_json(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        json_int_t value;
    } members[] = {{"items", 600000000},         {"workers", 16384},    {"items_per_worker", 36622},
                   {"slots", 600014848},         {"idle_slots", 14848}, {"busy_workers", 16384},
                   {"last_worker_items", 21774}, {"empty_workers", 0},  {"halo_item", 600000001}};
    char out[2048];
    assert_int_equal(run("-n 600000000 -w 16384 --json", out, sizeof out), 0);
    json_t *json = json_loads(out, 0, NULL);
    assert_non_null(json);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        assert_int_equal(json_integer_value(json_object_get(json, members[i].name)),
                         members[i].value);
    /* 14,848 / 600,014,848 */
    double share = json_real_value(json_object_get(json, "idle_share"));
    assert_true(share > 2.47460e-5 && share < 2.47461e-5);
    json_decref(json);
}

static void test_partition_refuses_bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *names;
    } cases[] = {
        {"--items 0 --workers 3", "0 items"},
        {"--items 3 --workers 0", "0 workers"},
        {"--items 1e6 --workers 3", "'1e6'"},
        {"--items -5 --workers 3", "'-5'"},
        {"--items 5", "'--workers' is missing"},
        {"--items 5 --items 6 --workers 2", "more than once"},
        {"--items 99999999999999999999 --workers 2", "99999999999999999999"},
        {"--items 18446744073709551615 --workers 1", "64 bits"},
        {"--items 5 --workers 2 extra", "'extra'"},
        {"--item 5 --workers 2", "'--item'"},
    };
    char out[2048];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(run(cases[i].arguments, out, sizeof out), 2);
        if (strstr(out, cases[i].names) == NULL)
            fail_msg("%s: '%s' is not in: %s", cases[i].arguments, cases[i].names, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_prints_the_reference_division),
        cmocka_unit_test(test_partition_json),
        cmocka_unit_test(test_partition_refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
