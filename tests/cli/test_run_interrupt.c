/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that is disturbed from outside: its worker shot, its coordinator killed or told to end, its
 * file wanted by another run. What was finished before is never lost, and --resume does the rest.
 */
#include "run_live.h"

/* Four cases of some 300 ms on each device. */
#define LONG_CONFIG                                                                                \
    "schema: 1\n"                                                                                  \
    "policy: {budget: 300ms, warmup: 20ms, rounds_min: 5, rounds_max: 200, samples_min: 200,\n"    \
    "         interval: 0.01%}\n"                                                                  \
    "cases:\n"                                                                                     \
    "  - {suite: copy, direction: [h2d, d2h], bytes: [64 KiB, 256 KiB]}\n"

enum { CASES = 4 };

static const char *const nothing[] = {NULL};

static struct live start_long(const struct fixture *fixture, const char *faults)
{
    static char config[2048], output[2048], cache[2048], temporary[2048];
    write_text(fixture, "long.yaml", LONG_CONFIG);
    snprintf(config, sizeof config, "%s/long.yaml", fixture->place);
    snprintf(output, sizeof output, "%s/live.jsonl", fixture->place);
    snprintf(cache, sizeof cache, "POCL_CACHE_DIR=%s/kernels", fixture->place);
    /* a coordinator that is killed removes nothing */
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", fixture->place);
    unlink(output);
    struct call call = {
        .arguments = {"run", config, "-o", output, "-d", "host:one", "-d", "opencl:pocl:0"},
        .environment = {POCL_ALONE, cache, temporary, faults, faults != NULL ? LAYER : NULL}};
    return live_start(fixture, &call, 0);
}

/* A result that was cut off is readable, says so, and holds at least so many records. */
static void assert_readable(const struct live *live, size_t records)
{
    const struct call call = {.arguments = {"show", "--json", live->path}};
    json_t *shown = json_of(live->fixture, &call, 0);
    assert_true(!is_true_at(shown, "complete"));
    assert_true(json_integer_value(member(shown, "records")) >= (json_int_t)records);
    json_decref(shown);
}

/* Not all states need be ok on a busy machine; all records have to be there. */
static void resume(const struct live *live)
{
    const struct call call = {.arguments = {"run", "--resume", live->path},
                              .environment = {POCL_ALONE}};
    struct outcome outcome = run(live->fixture, &call);
    if (outcome.exit_code != 0 && outcome.exit_code != 4)
        fail_msg("exit %d; stderr:\n%s", outcome.exit_code, outcome.err);
    release(&outcome);
    assert_whole(live->path);
}

static long one_worker(const struct live *live, const char *backend)
{
    long pids[LIVE_WORKERS_MAX] = {0};
    for (double begin = seconds_now(); seconds_now() - begin < LIVE_SECONDS; nap())
        if (live_workers(live, backend, pids) == 1)
            return pids[0];
    fail_msg("no single %s worker", backend);
    return 0;
}

static void cut_end_line(const char *path)
{
    char *text = read_file(path);
    char *end = strstr(text, "{\"kind\":\"end\"");
    assert_non_null(end);
    assert_int_equal(truncate(path, end - text), 0);
    free(text);
}

/* ---- the worker dies ---- */

static void test_interrupt_worker_killed(void **state)
{
    struct live live = start_long(*state, NULL);
    live_wait_records(&live, 2);
    assert_int_equal(kill((pid_t)one_worker(&live, "opencl"), SIGSEGV), 0);
    expect_end(&live, 4);
    assert_whole(live.path);
    json_t *lines = lines_of(live.path);
    size_t crashed = 0, index;
    json_t *line;
    json_array_foreach(lines, index, line)
    {
        if (strcmp(string_of(line, "state"), "crashed") != 0)
            continue;
        crashed++;
        assert_string_equal(text_at(line, "device"), "opencl:pocl:0");
        assert_says(text_at(line, "reason"), "signal 11 (SIGSEGV) in step '");
    }
    assert_int_equal(crashed, 1);
    assert_int_equal(count_of(lines, "record"), 2 * CASES);
    json_decref(lines);
    /* continued for its end line alone, the file still holds a case that failed */
    cut_end_line(live.path);
    const struct call again = {.arguments = {"run", "--resume", live.path},
                               .environment = {POCL_ALONE}};
    expect(*state, &again, 4, nothing);
    assert_whole(live.path);
}

/* ---- the coordinator dies ---- */

static void append_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_interrupt_coordinator_killed(void **state)
{
    struct live live = start_long(*state, NULL);
    live_wait_records(&live, 4);
    long pids[LIVE_WORKERS_MAX];
    size_t workers = live_workers(&live, NULL, pids);
    assert_int_equal(workers, 2);
    assert_int_equal(kill(live.pid, SIGKILL), 0);
    assert_int_equal(live_end(&live), -SIGKILL);
    for (size_t i = 0; i < workers; i++)
        wait_gone(pids[i]);
    assert_readable(&live, 4);
    append_text(live.path, "{\"kind\":\"record\",\"key\":\"copy@1 dir");
    assert_readable(&live, 4); /* a line that was being written when the power went */
    resume(&live);
    const struct call again = {.arguments = {"run", "--resume", live.path}};
    static const char *const complete[] = {"nothing to resume", NULL};
    expect(*state, &again, 2, complete);
}

/* Cut off behind the last record: only the end line is wanted. */
static void test_interrupt_before_end_line(void **state)
{
    const struct fixture *fixture = *state;
    struct measured result = {.config = CONFIG_HEAD "  - {suite: copy, bytes: 64 KiB}\n",
                              .devices = {"host:one"}};
    measure(fixture, &result, 0);
    cut_end_line(result.path);
    const struct call call = {.arguments = {"run", "--resume", result.path}};
    expect(fixture, &call, 0, nothing);
    assert_whole(result.path);
    measured_release(&result);
}

/* ---- the coordinator is told to end ---- */

static void end_by(struct live *live, int signal_number)
{
    double begin = seconds_now();
    assert_int_equal(kill(live->pid, signal_number), 0);
    expect_end(live, 8);
    assert_true(seconds_now() - begin < 5);
}

static void test_interrupt_signals(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct live live = start_long(*state, NULL);
        live_wait_records(&live, 2);
        end_by(&live, signals[i]);
        json_t *lines = lines_of(live.path);
        const json_t *end = json_array_get(lines, json_array_size(lines) - 1);
        assert_string_equal(text_at(end, "kind"), "end");
        assert_false(is_true_at(end, "complete"));
        assert_says(text_at(end, "reason"), "interrupted");
        assert_int_equal(json_integer_value(member(end, "records")), count_of(lines, "record"));
        json_decref(lines);
        assert_readable(&live, 2);
        if (i == 0)
            resume(&live);
    }
}

/* Interrupted while a device is opened, whose driver hangs: nothing was stored, so nothing stands
 * in the way of the next run. */
static void test_interrupt_while_opening(void **state)
{
    struct live live = start_long(*state, "ASSAY_FAKE_OPENCL=audit,kernel=hang");
    one_worker(&live, "opencl");
    for (double begin = seconds_now(); access(live.path, F_OK) != 0; nap())
        assert_true(seconds_now() - begin <
                    LIVE_SECONDS); /* devices are listed, the file is made */
    one_worker(&live, "opencl");
    end_by(&live, SIGINT);
    assert_int_not_equal(access(live.path, F_OK), 0);
    char *messages = live_messages(&live);
    assert_says(messages, "nothing was stored");
    free(messages);
}

/* ---- two runs, one file ---- */

static void test_interrupt_by_second_run(void **state)
{
    const struct fixture *fixture = *state;
    struct live live = start_long(fixture, NULL);
    live_wait_records(&live, 0);
    char config[2048];
    small_config(fixture, config);
    struct call call = {.arguments = {"run", config, "-d", "host:one", "-o", live.path}};
    static const char *const busy[] = {"is being written by another run", NULL};
    expect(fixture, &call, 7, busy);
    call.arguments[6] = "--force";
    expect(fixture, &call, 7, busy);
    const struct call go_on = {.arguments = {"run", "--resume", live.path}};
    expect(fixture, &go_on, 7, busy);
    int status = live_end(&live);
    assert_true(status == 0 || status == 4);
    assert_whole(live.path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupt_worker_killed),
        cmocka_unit_test(test_interrupt_coordinator_killed),
        cmocka_unit_test(test_interrupt_before_end_line),
        cmocka_unit_test(test_interrupt_signals),
        cmocka_unit_test(test_interrupt_while_opening),
        cmocka_unit_test(test_interrupt_by_second_run),
    };
    return cmocka_run_group_tests_name("cli/run_interrupt", tests, set_up, tear_down);
}
