/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the result of `assay run` goes: it is lost in no way without a message and exit code 7,
 * nothing old is destroyed, and nothing but the result is on standard output. */
#include "run_live.h"

#define HOST_CONFIG                                                                                \
    "schema: 1\ndevices: [\"host:one\"]\n"                                                         \
    "policy: {budget: 20ms, warmup: 5ms, rounds_min: 5, rounds_max: 5, samples_min: 5}\n"          \
    "cases:\n  - {suite: copy, direction: [h2d, d2h], bytes: 64 KiB}\n"

/* Path below the place. */
static const char *place(const struct fixture *fixture, const char *name, char path[2048])
{
    snprintf(path, 2048, "%s/%s", fixture->place, name);
    return path;
}

static struct call run_call(const struct fixture *fixture, char config[2048], const char *output)
{
    write_text(fixture, "output.yaml", HOST_CONFIG);
    place(fixture, "output.yaml", config);
    return (struct call){.arguments = {"run", config, "-o", output}};
}

/* ---- what cannot be written ---- */

static void test_output_device_full(void **state)
{
    char config[2048];
    const struct call call = run_call(*state, config, "/dev/full");
    struct outcome outcome = run(*state, &call);
    assert_int_equal(outcome.exit_code, 7);
    assert_says(outcome.err, "'/dev/full': No space left on device");
    assert_null(strstr(outcome.err, "copy@")); /* nothing was measured before */
    release(&outcome);
}

static void test_output_refused_places(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048], locked[2048], file[2048], fifo[2048], directory[2048];
    assert_int_equal(mkdir(place(fixture, "locked", locked), 0555), 0);
    assert_int_equal(mkdir(place(fixture, "directory", directory), 0755), 0);
    assert_int_equal(mkfifo(place(fixture, "fifo", fifo), 0644), 0);
    place(fixture, "locked/result.jsonl", file);
    const struct {
        const char *output, *parts[3];
        bool as_nobody;
    } rows[] = {
        {file, {file, "Permission denied"}, true},
        {directory, {directory, "is a directory"}, false},
        {fifo, {fifo, "no regular file"}, false},
        {"/nonexistent/result.jsonl", {"/nonexistent/result.jsonl", "No such file"}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct call call = run_call(fixture, config, rows[i].output);
        call.as_nobody = rows[i].as_nobody;
        expect(fixture, &call, 7, rows[i].parts);
    }
    struct stat status;
    assert_true(stat(fifo, &status) == 0 && S_ISFIFO(status.st_mode));
}

/* The limit of `ulimit -f`: first too small for the header, then for the first record. SIGXFSZ must
 * not be what the user sees. */
static void test_output_size_limit(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048], output[2048];
    place(fixture, "live.jsonl", output);
    struct call call = run_call(fixture, config, output);
    struct live live = live_start(fixture, &call, 1024);
    expect_end(&live, 7);
    char *messages = live_messages(&live);
    assert_says(messages, output);
    assert_says(messages, "File too large");
    free(messages);
    assert_int_not_equal(access(output, F_OK), 0); /* an empty file is no result */

    live = live_start(fixture, &call, 0);
    expect_end(&live, 0);
    json_t *lines = lines_of(output);
    char *header = json_dumps(json_array_get(lines, 0), JSON_COMPACT);
    call.arguments[4] = "--force";
    live = live_start(fixture, &call, (rlim_t)strlen(header) + 600);
    expect_end(&live, 7);
    free(header);
    json_decref(lines);
    lines = lines_of(output); /* the torn record was cut off again */
    assert_int_equal(json_array_size(lines), 1);
    json_decref(lines);
    const struct call resume = {.arguments = {"run", "--resume", output}};
    static const char *const nothing[] = {NULL};
    expect(fixture, &resume, 0, nothing);
    assert_whole(output);
    unlink(output);
}

/* ---- what is there already ---- */

static void test_output_exists(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048], output[2048], old[2048];
    write_text(fixture, "kept.jsonl", "precious\n");
    place(fixture, "kept.jsonl", output);
    struct call call = run_call(fixture, config, output);
    const char *const refused[] = {output, "exists already", "--resume", "--force", NULL};
    expect(fixture, &call, 2, refused);
    char *text = read_file(output);
    assert_string_equal(text, "precious\n");
    free(text);
    call.arguments[4] = "--force";
    static const char *const nothing[] = {NULL};
    expect(fixture, &call, 0, nothing);
    assert_whole(output);
    text = read_file(place(fixture, "kept.jsonl.old", old));
    assert_string_equal(text, "precious\n");
    free(text);
    /* a whole file is not continued */
    const struct call resume = {.arguments = {"run", "--resume", output}};
    static const char *const complete[] = {"nothing to resume", NULL};
    expect(fixture, &resume, 2, complete);
    assert_whole(output);
}

/* ---- standard output ---- */

/* A driver that prints, even what looks like a reply of ours, spoils neither the result nor the
 * talk with the worker; its words are kept. */
static void test_output_stdout_with_chatter(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048], saved[2048];
    write_text(fixture, "stdout.yaml", CONFIG_HEAD "  - {suite: gemm, m: 33, n: 33, k: 33}\n");
    place(fixture, "stdout.yaml", config);
    const struct call call = {.arguments = {"run", config, "-d", "opencl:pocl:0", "-o", "-"},
                              .environment = {POCL_ALONE, LAYER, "ASSAY_FAKE_OPENCL=chatter"}};
    struct outcome outcome = run(fixture, &call);
    assert_true(outcome.exit_code == 0 || outcome.exit_code == 4); /* not-scaling: a busy machine */
    write_text(fixture, "saved.jsonl", outcome.out);
    json_t *lines = lines_of(place(fixture, "saved.jsonl", saved)); /* JSON and nothing else */
    assert_int_equal(json_array_size(lines), 3);
    const json_t *record = find_record(lines, "opencl:pocl:0", "gemm@");
    assert_non_null(record);
    assert_says(text_at(record, "driver_output"), "example compiler: building with");
    assert_null(strchr(text_at(record, "driver_output"), '\033'));
    assert_null(strstr(outcome.err, "example compiler: building"));
    json_decref(lines);
    release(&outcome);
    assert_whole(saved);
}

/* A reader that leaves, as in `| head -1`: told, and no death by SIGPIPE. */
static void test_output_reader_leaves(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048];
    const struct call call = run_call(fixture, config, "-");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int err = open(place(fixture, "leaves.err", config), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    place(fixture, "output.yaml", config);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(fixture, &call, ends[1], err);
    }
    close(ends[1]);
    close(err);
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    const struct live live = {.pid = pid, .fixture = fixture};
    assert_int_equal(live_end(&live), 7);
    char *messages = read_file(place(fixture, "leaves.err", config));
    assert_says(messages, "standard output");
    assert_says(messages, "Broken pipe");
    free(messages);
}

/* A closed standard output is no loss where the result goes to a file. */
static void test_output_closed_stdout(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048], output[2048];
    place(fixture, "closed.jsonl", output);
    const struct call call = run_call(fixture, config, output);
    pid_t pid = fork();
    if (pid == 0) {
        int closed[2];
        if (pipe(closed) != 0)
            _exit(99);
        close(closed[0]);
        child(fixture, &call, closed[1], closed[1]);
    }
    const struct live live = {.pid = pid, .fixture = fixture};
    assert_int_equal(live_end(&live), 0);
    assert_whole(output);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_device_full),
        cmocka_unit_test(test_output_refused_places),
        cmocka_unit_test(test_output_size_limit),
        cmocka_unit_test(test_output_exists),
        cmocka_unit_test(test_output_stdout_with_chatter),
        cmocka_unit_test(test_output_reader_leaves),
        cmocka_unit_test(test_output_closed_stdout),
    };
    return cmocka_run_group_tests_name("cli/run_output", tests, set_up, tear_down);
}
