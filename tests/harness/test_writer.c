/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing result files: what is written reads back, nothing is written over, and every failure to
 * store is a code and a message. */
#include "harness/writer.h"

#include "base/text.h"
#include "harness/record.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA ASSAY_SOURCE_DIR "/tests/data/"
enum { PATH_BYTES = 256 };

/* A directory of its own for each test. */
struct place {
    char directory[64];
    char path[PATH_BYTES]; /* result.jsonl in it */
};

static void in_place(const struct place *place, const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", place->directory, name);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL)
        return -1;
    snprintf(place->directory, sizeof place->directory, "/tmp/assay-test-writer-XXXXXX");
    if (mkdtemp(place->directory) == NULL)
        return -1;
    in_place(place, "result.jsonl", place->path);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"result.jsonl", "result.jsonl.old", "result.jsonl.old.2"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_BYTES];
        in_place(place, names[i], path);
        unlink(path);
    }
    int failed = rmdir(place->directory);
    free(place);
    return failed;
}

/* The lines of a sample file, without their place in its chain. */
static json_t *sample_lines(const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, DATA "%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    json_t *lines = json_array();
    json_t *line;
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        json_object_del(line, "previous");
        json_array_append_new(lines, line);
    }
    fclose(file);
    assert_in_range(json_array_size(lines), 2, 100);
    return lines;
}

static void append(struct writer *writer, const json_t *lines, size_t begin, size_t end)
{
    struct error err = {0};
    for (size_t i = begin; i < end; i++)
        if (writer_append(writer, json_deep_copy(json_array_get(lines, i)), &err) != CODE_OK)
            fail_msg("%s", err.message);
}

static struct writer *create(const char *path, bool force)
{
    struct writer *writer = NULL;
    struct error err = {0};
    if (writer_create(path, force, &writer, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return writer;
}

static void close_writer(struct writer *writer)
{
    struct error err = {0};
    if (writer_close(writer, &err) != CODE_OK)
        fail_msg("%s", err.message);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct text text = {0};
    for (int c = getc(file); c != EOF; c = getc(file)) {
        char byte = (char)c;
        text_append_bytes(&text, &byte, 1);
    }
    fclose(file);
    return text.bytes != NULL ? text.bytes : text_duplicate("");
}

static size_t records_in(const char *path, bool *complete)
{
    struct result *result = NULL;
    struct error err = {0};
    if (result_load(path, &result, &err) != CODE_OK)
        fail_msg("%s", err.message);
    size_t count = result->record_count;
    if (complete != NULL)
        *complete = result->complete;
    result_destroy(result);
    return count;
}

static void test_append_writes_what_the_samples_hold(void **state)
{
    const struct place *place = *state;
    json_t *lines = sample_lines("hostile.jsonl");
    struct writer *writer = create(place->path, false);
    assert_string_equal(writer_path(writer), place->path);
    append(writer, lines, 0, json_array_size(lines));
    close_writer(writer);
    char *written = read_all(place->path);
    bool complete = false;
    assert_int_equal(records_in(place->path, &complete), 2);
    assert_true(complete);
    assert_null(strchr(written, '\x1b'));
    assert_non_null(strstr(written, "\\u001B"));
    free(written);
    json_decref(lines);
}

static void test_append_is_stable_over_a_round_trip(void **state)
{
    const struct place *place = *state;
    json_t *line = json_pack("{s:s,s:f,s:I}", "kind", "header", "value", 1234567.891, "count",
                             (json_int_t)9007199254740993);
    struct writer *writer = create(place->path, false);
    struct error err = {0};
    assert_int_equal(writer_append(writer, json_deep_copy(line), &err), CODE_OK);
    close_writer(writer);
    char *first = read_all(place->path);
    json_t *again = json_loads(first, 0, NULL);
    assert_non_null(again);
    writer = create(place->path, true);
    assert_int_equal(writer_append(writer, again, &err), CODE_OK);
    close_writer(writer);
    char *second = read_all(place->path);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "9007199254740993"));
    free(first);
    free(second);
    json_decref(line);
}

static void test_append_chains_by_sha256(void **state)
{
    const struct place *place = *state;
    struct writer *writer = create(place->path, false);
    struct error err = {0};
    assert_int_equal(writer_append(writer, json_pack("{s:s}", "kind", "header"), &err), CODE_OK);
    assert_int_equal(writer_append(writer, json_pack("{s:s}", "kind", "x"), &err), CODE_OK);
    close_writer(writer);
    char *written = read_all(place->path);
    /* printf '%s' '{"kind":"header","previous":null}' | sha256sum */
    assert_string_equal(written,
                        "{\"kind\":\"header\",\"previous\":null}\n"
                        "{\"kind\":\"x\",\"previous\":"
                        "\"46d3358e5246de7d73d36c355f55094d521d25af0eb8c55fcfe76d7e794a2229\"}\n");
    free(written);
}

/* A file that got no line is no result, and does not stand in the way of the next run. */
static void test_close_without_a_line_leaves_no_file(void **state)
{
    const struct place *place = *state;
    close_writer(create(place->path, false));
    assert_int_not_equal(access(place->path, F_OK), 0);
}

static void test_create_refuses_an_existing_file(void **state)
{
    const struct place *place = *state;
    struct writer *first = create(place->path, false);
    assert_int_equal(writer_append(first, json_pack("{s:s}", "kind", "header"), NULL), CODE_OK);
    close_writer(first);
    struct writer *writer = NULL;
    struct error err = {0};
    assert_int_equal(writer_create(place->path, false, &writer, &err), CODE_USAGE);
    assert_null(writer);
    assert_non_null(strstr(err.message, "--force"));
    assert_non_null(strstr(err.message, "--resume"));
    assert_non_null(strstr(err.message, place->path));
}

static void test_create_with_force_destroys_nothing(void **state)
{
    const struct place *place = *state;
    struct error err = {0};
    static const char *const kinds[] = {"first", "second", "third"};
    for (size_t i = 0; i < 3; i++) {
        struct writer *writer = create(place->path, i > 0);
        assert_int_equal(writer_append(writer, json_pack("{s:s}", "kind", kinds[i]), &err),
                         CODE_OK);
        close_writer(writer);
    }
    static const char *const names[] = {"result.jsonl.old", "result.jsonl.old.2", "result.jsonl"};
    for (size_t i = 0; i < 3; i++) {
        char path[PATH_BYTES];
        in_place(place, names[i], path);
        char *content = read_all(path);
        assert_non_null(strstr(content, kinds[i]));
        free(content);
    }
}

static void test_create_refuses_a_file_in_use(void **state)
{
    const struct place *place = *state;
    struct writer *first = create(place->path, false), *second = NULL;
    struct error err = {0};
    assert_int_equal(writer_create(place->path, false, &second, &err), CODE_IO);
    assert_non_null(strstr(err.message, "another run"));
    assert_int_equal(writer_create(place->path, true, &second, &err), CODE_IO);
    assert_int_equal(writer_resume(place->path, &second, &err), CODE_IO);
    assert_null(second);
    assert_int_equal(access(place->path, F_OK), 0);
    close_writer(first);
}

static void test_create_refuses_places_that_are_no_file(void **state)
{
    const struct place *place = *state;
    struct writer *writer = NULL;
    struct error err = {0};
    assert_int_equal(writer_create(place->directory, false, &writer, &err), CODE_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(writer_create(place->directory, true, &writer, &err), CODE_IO);
    assert_int_equal(writer_create("/nonexistent/r.jsonl", false, &writer, &err), CODE_IO);
    assert_non_null(strstr(err.message, "/nonexistent/r.jsonl"));
    assert_int_equal(mkfifo(place->path, 0600), 0);
    assert_int_equal(writer_create(place->path, false, &writer, &err), CODE_IO);
    assert_null(writer);
}

static void test_create_in_a_directory_without_permission(void **state)
{
    const struct place *place = *state;
    struct writer *writer = NULL;
    struct error err = {0};
    enum { NOBODY = 65534 };
    assert_int_equal(chmod(place->directory, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(99);
        enum code code = writer_create(place->path, false, &writer, &err);
        _exit(code == CODE_IO && strstr(err.message, "Permission denied") != NULL ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(place->directory, 0755), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_append_to_a_full_disk(void **state)
{
    (void)state;
    struct writer *writer = create("/dev/full", false);
    struct error err = {0};
    assert_int_equal(writer_append(writer, json_pack("{s:s}", "kind", "header"), &err), CODE_IO);
    assert_non_null(strstr(err.message, "/dev/full"));
    assert_non_null(strstr(err.message, "No space left on device"));
    assert_int_equal(writer_append(writer, json_pack("{s:s}", "kind", "end"), &err), CODE_IO);
    close_writer(writer);
}

/* The limit of ulimit -f. Signals are ignored as `assay run` does it. Exit 0: refused with the
 * right code. */
static int write_up_to_a_limit(const struct place *place, const json_t *lines)
{
    struct rlimit limit = {.rlim_cur = 5000, .rlim_max = RLIM_INFINITY};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &ignore, NULL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 99;
    struct writer *writer = NULL;
    struct error err = {0};
    if (writer_create(place->path, false, &writer, &err) != CODE_OK)
        return 98;
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < json_array_size(lines); i++)
        code = writer_append(writer, json_deep_copy(json_array_get(lines, i)), &err);
    writer_close(writer, NULL);
    return code == CODE_IO && strstr(err.message, "File too large") != NULL ? 0 : 1;
}

static void test_append_past_the_file_size_limit(void **state)
{
    const struct place *place = *state;
    json_t *lines = sample_lines("card.jsonl");
    pid_t child = fork();
    if (child == 0)
        _exit(write_up_to_a_limit(place, lines));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* what was written whole is there, the torn line is not */
    bool complete = true;
    assert_in_range(records_in(place->path, &complete), 1, 2);
    assert_false(complete);
    char *content = read_all(place->path);
    assert_int_equal(content[strlen(content) - 1], '\n');
    free(content);
    json_decref(lines);
}

/* Exit 0: wrote the file; 1: refused because of another run; else a fault. */
static int race(const struct place *place, const json_t *lines)
{
    struct writer *writer = NULL;
    struct error err = {0};
    enum code code = writer_create(place->path, false, &writer, &err);
    if (code == CODE_IO || code == CODE_USAGE)
        return 1;
    for (size_t i = 0; code == CODE_OK && i < json_array_size(lines); i++)
        code = writer_append(writer, json_deep_copy(json_array_get(lines, i)), &err);
    return code == CODE_OK && writer_close(writer, &err) == CODE_OK ? 0 : 2;
}

static void test_create_has_one_winner_of_twenty(void **state)
{
    const struct place *place = *state;
    json_t *lines = sample_lines("card.jsonl");
    enum { RUNS = 20 };
    pid_t children[RUNS];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < RUNS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char byte;
            close(gate[1]);
            while (read(gate[0], &byte, 1) > 0) /* ends when the parent opens the gate */
                ;
            _exit(race(place, lines));
        }
    }
    close(gate[0]);
    close(gate[1]);
    int outcomes[3] = {0};
    for (int i = 0; i < RUNS; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 3);
        outcomes[WEXITSTATUS(status)]++;
    }
    assert_int_equal(outcomes[0], 1);
    assert_int_equal(outcomes[1], RUNS - 1);
    bool complete = false;
    assert_int_equal(records_in(place->path, &complete), 3);
    assert_true(complete);
    json_decref(lines);
}

static void copy_sample(const char *name, const struct place *place)
{
    char source[PATH_BYTES];
    snprintf(source, sizeof source, DATA "%s", name);
    char *content = read_all(source);
    FILE *file = fopen(place->path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(content);
}

static void test_resume_cuts_the_torn_line_and_goes_on(void **state)
{
    const struct place *place = *state;
    static const char *const names[] = {"card-partial.jsonl", "card-interrupted.jsonl"};
    static const size_t done[] = {2, 1};
    json_t *lines = sample_lines("card.jsonl");
    for (size_t n = 0; n < 2; n++) {
        copy_sample(names[n], place);
        struct writer *writer = NULL;
        struct error err = {0};
        if (writer_resume(place->path, &writer, &err) != CODE_OK)
            fail_msg("%s", err.message);
        json_t *resume = json_pack("{s:s,s:s,s:{}}", "kind", "resume", "created",
                                   "2026-01-10T12:00:00Z", "tool");
        assert_int_equal(writer_append(writer, resume, &err), CODE_OK);
        append(writer, lines, 1 + done[n], json_array_size(lines));
        close_writer(writer);
        bool complete = false;
        assert_int_equal(records_in(place->path, &complete), 3);
        assert_true(complete);
    }
    json_decref(lines);
}

static void test_resume_refuses_what_cannot_go_on(void **state)
{
    const struct place *place = *state;
    struct writer *writer = NULL;
    struct error err = {0};
    assert_int_equal(writer_resume(place->path, &writer, &err), CODE_IO); /* is not there */
    copy_sample("card.jsonl", place);
    assert_int_equal(writer_resume(place->path, &writer, &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "nothing to resume"));
    copy_sample("bad/file-google-benchmark.jsonl", place);
    char *before = read_all(place->path);
    assert_int_equal(writer_resume(place->path, &writer, &err), CODE_CONFIG);
    char *after = read_all(place->path);
    assert_string_equal(before, after);
    assert_int_equal(writer_resume(place->directory, &writer, &err), CODE_CONFIG);
    assert_null(writer);
    free(before);
    free(after);
}

static void test_create_on_standard_output(void **state)
{
    const struct place *place = *state;
    pid_t child = fork();
    if (child == 0) {
        int fd = open(place->path, O_WRONLY | O_CREAT, 0600);
        struct writer *writer = NULL;
        struct error err = {0};
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
            writer_create("-", false, &writer, &err) != CODE_OK ||
            writer_append(writer, json_pack("{s:s}", "kind", "header"), &err) != CODE_OK ||
            writer_close(writer, &err) != CODE_OK)
            _exit(1);
        _exit(write(STDOUT_FILENO, "x", 1) == 1 ? 0 : 2); /* it is still open */
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char *content = read_all(place->path);
    assert_string_equal(content, "{\"kind\":\"header\",\"previous\":null}\nx");
    free(content);
}

static void test_close_of_nothing(void **state)
{
    (void)state;
    assert_int_equal(writer_close(NULL, NULL), CODE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_append_writes_what_the_samples_hold, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_append_is_stable_over_a_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_append_chains_by_sha256, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close_without_a_line_leaves_no_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_create_refuses_an_existing_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_with_force_destroys_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_refuses_a_file_in_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_refuses_places_that_are_no_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_create_in_a_directory_without_permission, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_append_to_a_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_append_past_the_file_size_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_has_one_winner_of_twenty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resume_cuts_the_torn_line_and_goes_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_resume_refuses_what_cannot_go_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_create_on_standard_output, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close_of_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
