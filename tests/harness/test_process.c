/* SPDX-License-Identifier: Apache-2.0
 *
 * Worker processes: replies, driver chatter, hangs, deaths, and nothing left behind. The worker is
 * this program itself, called again with "worker" as its first argument; what it does is chosen by
 * the request. */
#include "harness/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)

/* ---- the worker ---- */

static void print_flood(void)
{
    char block[4096];
    memset(block, 'x', sizeof block);
    block[sizeof block - 1] = '\n';
    for (int i = 0; i < 1024; i++)
        fwrite(block, 1, sizeof block, i % 2 == 0 ? stdout : stderr);
    printf("the last line, \033[31mred\033[0m, \xff\n\n");
    fflush(stdout);
}

static void leave_child_behind(void)
{
    if (fork() == 0) {
        for (;;)
            pause(); /* holds the pipe and, were it not closed on exec only, the socket */
    }
}

static json_t *describe_self(void)
{
    json_t *reply = json_pack("{s:b}", "ok", 1);
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    char target[64] = "";
    ssize_t length = readlink("/proc/self/fd/0", target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    json_object_set_new(reply, "stdin", json_string(target));
    json_object_set_new(reply, "core_limit", json_integer((json_int_t)core.rlim_cur));
    json_object_set_new(reply, "leads_group", json_boolean(getpgid(0) == getpid()));
    const char *cache = getenv("POCL_CACHE_DIR");
    json_object_set_new(reply, "cache", cache != NULL ? json_string(cache) : json_null());
    const char *temporary = getenv("TMPDIR");
    json_object_set_new(reply, "temporary",
                        temporary != NULL ? json_string(temporary) : json_null());
    int open_count = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        if (fcntl(descriptor, F_GETFD) >= 0)
            open_count++;
    json_object_set_new(reply, "descriptors", json_integer(open_count));
    return reply;
}

static void obey(const char *op)
{
    signal(SIGSEGV, SIG_DFL); /* the address sanitizer would turn it into an exit */
    signal(SIGABRT, SIG_DFL);
    if (strcmp(op, "segv") == 0)
        raise(SIGSEGV);
    else if (strcmp(op, "abort") == 0)
        raise(SIGABRT);
    else if (strcmp(op, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(op, "exit") == 0)
        _exit(3);
    else if (strcmp(op, "hang") == 0)
        for (;;)
            pause();
    else if (strcmp(op, "stop") == 0)
        raise(SIGSTOP);
    else if (strcmp(op, "close") == 0) {
        close(3);
        for (;;)
            pause();
    } else if (strcmp(op, "flood") == 0)
        print_flood();
    else if (strcmp(op, "leave") == 0)
        leave_child_behind();
    else if (strcmp(op, "say-and-die") == 0) {
        fprintf(stderr, "first\nmy last words\n");
        raise(SIGABRT);
    } else if (strcmp(op, "garbage") == 0)
        send(3, "not json\n", 9, 0);
    else if (strcmp(op, "two") == 0)
        send(3, "{\"ok\":true}\n{\"ok\":true}\n", 24, 0);
    else if (strcmp(op, "answer-and-die") == 0) {
        json_t *reply = json_pack("{s:b,s:i}", "ok", 1, "value", 7);
        process_write_reply(reply);
        raise(SIGKILL);
    }
}

static int worker_main(void)
{
    for (json_t *request = process_read_request(); request != NULL;
         request = process_read_request()) {
        const char *op = json_string_value(json_object_get(request, "op"));
        obey(op);
        json_t *reply = NULL;
        if (strcmp(op, "describe") == 0)
            reply = describe_self();
        else if (strcmp(op, "refuse") == 0)
            reply = json_pack("{s:b,s:s,s:i,s:s}", "ok", 0, "code", "memory", "native", -4,
                              "message", "does not fit");
        else if (strcmp(op, "unwritable") == 0)
            reply = json_string("not an object");
        else
            reply = json_pack("{s:b,s:O}", "ok", 1, "echo", request);
        process_write_reply(reply);
        json_decref(reply);
        json_decref(request);
    }
    return 0;
}

/* ---- the tests ---- */

static struct worker *start(void)
{
    const struct worker_options options = {
        .backend = "opencl", .library = "libnone.so", .program = NULL};
    struct worker *worker = NULL;
    struct error err = {0};
    enum code code = worker_start(&options, &worker, &err);
    if (code != CODE_OK)
        fail_msg("worker_start: %s", err.message);
    return worker;
}

static enum code call(struct worker *worker, const char *op, uint64_t limit_ns, json_t **reply,
                      struct error *err)
{
    json_t *request = json_pack("{s:s}", "op", op);
    enum code code = worker_call(worker, request, limit_ns, reply, err);
    json_decref(request);
    return code;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        if (fcntl(descriptor, F_GETFD) >= 0)
            count++;
    return count;
}

static void test_call_echoes_request(void **state)
{
    (void)state;
    struct worker *worker = start();
    json_t *request =
        json_pack("{s:s,s:s,s:[i,i]}", "op", "echo", "text", "Prüfstand\n2", "list", 1, 2);
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(worker_call(worker, request, 10 * SECOND_NS, &reply, &err), CODE_OK);
    assert_true(json_equal(json_object_get(reply, "echo"), request));
    json_decref(reply);
    json_decref(request);
    worker_stop(worker);
}

/* More than any socket buffer holds, both ways. */
static void test_call_carries_megabytes(void **state)
{
    (void)state;
    struct worker *worker = start();
    size_t count = (size_t)5 << 20;
    char *big = malloc(count + 1);
    memset(big, 'b', count);
    big[count] = '\0';
    json_t *request = json_pack("{s:s,s:s}", "op", "echo", "big", big);
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(worker_call(worker, request, 60 * SECOND_NS, &reply, &err), CODE_OK);
    const json_t *echo = json_object_get(reply, "echo");
    assert_int_equal(json_string_length(json_object_get(echo, "big")), count);
    json_decref(reply);
    json_decref(request);
    free(big);
    worker_stop(worker);
}

static void test_start_gives_worker_a_clean_process(void **state)
{
    (void)state;
    unsetenv("POCL_CACHE_DIR");
    setenv("TMPDIR", "/nonexistent", 1);
    int spare = open("/dev/null", O_RDONLY); /* without close-on-exec, as libraries open theirs */
    int high = fcntl(spare, F_DUPFD, 200);
    assert_true(high >= 200);
    const struct worker_options options = {.backend = "opencl", .cache_dir = "/tmp/private"};
    struct worker *worker = NULL;
    struct error err = {0};
    assert_int_equal(worker_start(&options, &worker, &err), CODE_OK);
    json_t *reply = NULL;
    assert_int_equal(call(worker, "describe", 10 * SECOND_NS, &reply, &err), CODE_OK);
    assert_string_equal(json_string_value(json_object_get(reply, "stdin")), "/dev/null");
    assert_int_equal(json_integer_value(json_object_get(reply, "core_limit")), 0);
    assert_true(json_is_true(json_object_get(reply, "leads_group")));
    assert_string_equal(json_string_value(json_object_get(reply, "cache")), "/tmp/private");
    assert_string_equal(json_string_value(json_object_get(reply, "temporary")), "/tmp/private");
    assert_int_equal(json_integer_value(json_object_get(reply, "descriptors")),
                     4); /* 0, 1, 2 and the socket */
    json_decref(reply);
    worker_stop(worker);
    unsetenv("TMPDIR");
    close(spare);
    close(high);
}

static void test_start_keeps_the_users_cache_dir(void **state)
{
    (void)state;
    setenv("POCL_CACHE_DIR", "/users/own", 1);
    const struct worker_options options = {.backend = "opencl", .cache_dir = "/tmp/private"};
    struct worker *worker = NULL;
    struct error err = {0};
    assert_int_equal(worker_start(&options, &worker, &err), CODE_OK);
    json_t *reply = NULL;
    assert_int_equal(call(worker, "describe", 10 * SECOND_NS, &reply, &err), CODE_OK);
    assert_string_equal(json_string_value(json_object_get(reply, "cache")), "/users/own");
    json_decref(reply);
    worker_stop(worker);
    unsetenv("POCL_CACHE_DIR");
}

static void test_start_missing_program(void **state)
{
    (void)state;
    const struct worker_options options = {.backend = "opencl", .program = "/nonexistent/assay"};
    struct worker *worker = NULL;
    struct error err = {0};
    int before = open_descriptors();
    assert_int_equal(worker_start(&options, &worker, &err), CODE_IO);
    assert_null(worker);
    assert_int_equal(err.native, ENOENT);
    assert_non_null(strstr(err.message, "/nonexistent/assay"));
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_call_worker_refuses(void **state)
{
    (void)state;
    struct worker *worker = start();
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(call(worker, "refuse", 10 * SECOND_NS, &reply, &err), CODE_MEMORY);
    assert_null(reply);
    assert_int_equal(err.native, -4);
    assert_string_equal(err.message, "does not fit");
    assert_true(worker_alive(worker)); /* a refusal is no death */
    assert_int_equal(call(worker, "echo", 10 * SECOND_NS, &reply, &err), CODE_OK);
    json_decref(reply);
    worker_stop(worker);
}

static void test_call_worker_dies(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        long native;
        const char *part;
    } deaths[] = {
        {"segv", SIGSEGV, "died of signal 11 (SIGSEGV) in step 'segv'"},
        {"abort", SIGABRT, "died of signal 6 (SIGABRT) in step 'abort'"},
        {"kill", SIGKILL, "likely the memory limit"},
        {"exit", 0, "exit status 3, in step 'exit'"},
        {"say-and-die", SIGABRT, "it printed last: 'my last words'"},
    };
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
        struct worker *worker = start();
        json_t *reply = NULL;
        struct error err = {0};
        assert_int_equal(call(worker, deaths[i].op, 10 * SECOND_NS, &reply, &err), CODE_CRASHED);
        assert_null(reply);
        assert_int_equal(err.native, deaths[i].native);
        if (strstr(err.message, deaths[i].part) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, deaths[i].part);
        assert_non_null(strstr(err.message, "opencl"));
        assert_false(worker_alive(worker));
        assert_int_equal(call(worker, "echo", SECOND_NS, &reply, &err), CODE_CRASHED);
        worker_stop(worker);
    }
}

/* A death between two calls is reported by the next one. */
static void test_call_worker_died_before(void **state)
{
    (void)state;
    struct worker *worker = start();
    assert_int_equal(kill((pid_t)worker_pid(worker), SIGSEGV), 0);
    while (worker_alive(worker))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(call(worker, "next", 10 * SECOND_NS, &reply, &err), CODE_CRASHED);
    assert_int_equal(err.native, SIGSEGV);
    assert_non_null(strstr(err.message, "'next'"));
    worker_stop(worker);
}

static void test_call_answer_before_death_counts(void **state)
{
    (void)state;
    struct worker *worker = start();
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(call(worker, "answer-and-die", 10 * SECOND_NS, &reply, &err), CODE_OK);
    assert_int_equal(json_integer_value(json_object_get(reply, "value")), 7);
    json_decref(reply);
    assert_int_equal(call(worker, "echo", 10 * SECOND_NS, &reply, &err), CODE_CRASHED);
    worker_stop(worker);
}

static void test_call_limit_passes(void **state)
{
    (void)state;
    static const char *const ops[] = {"hang", "stop"};
    for (size_t i = 0; i < 2; i++) {
        struct worker *worker = start();
        json_t *reply = NULL;
        struct error err = {0};
        assert_int_equal(call(worker, ops[i], SECOND_NS / 5, &reply, &err), CODE_TIMEOUT);
        assert_non_null(strstr(err.message, "0.2 s"));
        assert_non_null(strstr(err.message, ops[i]));
        assert_false(worker_alive(worker));
        worker_stop(worker);
    }
}

static void test_call_not_a_reply(void **state)
{
    (void)state;
    static const char *const ops[] = {"garbage", "two", "close"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct worker *worker = start();
        json_t *reply = NULL;
        struct error err = {0};
        assert_int_equal(call(worker, ops[i], 20 * SECOND_NS, &reply, &err), CODE_CRASHED);
        assert_null(reply);
        assert_false(worker_alive(worker));
        worker_stop(worker);
    }
}

/* What JSON cannot hold is an error with a message, not a silence. */
static void test_call_reply_that_json_cannot_hold(void **state)
{
    (void)state;
    struct worker *worker = start();
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(call(worker, "unwritable", 20 * SECOND_NS, &reply, &err), CODE_INVALID);
    assert_non_null(strstr(err.message, "cannot be written as JSON"));
    assert_true(worker_alive(worker));
    worker_stop(worker);
}

/* 4 MiB on stdout and stderr neither block the worker nor are kept; the end is, made harmless. */
static void test_chatter_flood(void **state)
{
    (void)state;
    struct worker *worker = start();
    assert_string_equal(worker_chatter(worker), "");
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(call(worker, "flood", 60 * SECOND_NS, &reply, &err), CODE_OK);
    json_decref(reply);
    const char *chatter = worker_chatter(worker);
    assert_true(strlen(chatter) <= 8192);
    assert_non_null(strstr(chatter, "the last line, ?[31mred?[0m, ?\n"));
    worker_stop(worker);
}

/* The worker dies while a process that its driver started lives on and holds the pipe. */
static void test_death_with_process_left_behind(void **state)
{
    (void)state;
    struct worker *worker = start();
    json_t *reply = NULL;
    struct error err = {0};
    assert_int_equal(call(worker, "leave", 10 * SECOND_NS, &reply, &err), CODE_OK);
    json_decref(reply);
    pid_t group = (pid_t)worker_pid(worker);
    assert_int_equal(call(worker, "segv", 10 * SECOND_NS, &reply, &err), CODE_CRASHED);
    assert_int_equal(err.native, SIGSEGV);
    worker_stop(worker);
    for (int i = 0; i < 1000 && kill(-group, 0) == 0; i++) /* init reaps the killed grandchild */
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(kill(-group, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static void test_stop_leaves_nothing(void **state)
{
    (void)state;
    int before = open_descriptors();
    for (int i = 0; i < 5; i++) {
        struct worker *worker = start();
        json_t *reply = NULL;
        struct error err = {0};
        assert_int_equal(call(worker, "echo", 10 * SECOND_NS, &reply, &err), CODE_OK);
        json_decref(reply);
        worker_stop(worker);
    }
    worker_stop(NULL);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* A second process starts a worker and is killed: the worker must not live on. */
static void test_worker_dies_with_coordinator(void **state)
{
    (void)state;
    int channel[2];
    assert_int_equal(pipe(channel), 0);
    pid_t coordinator = fork();
    if (coordinator == 0) {
        struct worker *worker = start();
        long pid = worker_pid(worker);
        if (write(channel[1], &pid, sizeof pid) != (ssize_t)sizeof pid)
            _exit(1);
        json_t *reply = NULL; /* a worker that waited for a request would leave by itself */
        call(worker, "hang", WORKER_NO_LIMIT, &reply, NULL);
        _exit(1);
    }
    long pid = 0;
    assert_int_equal(read(channel[0], &pid, sizeof pid), sizeof pid);
    assert_int_equal(kill((pid_t)pid, 0), 0);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* it is in the request by now */
    kill(coordinator, SIGKILL);
    waitpid(coordinator, NULL, 0);
    for (int i = 0; i < 1000 && kill((pid_t)pid, 0) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(kill((pid_t)pid, 0), -1);
    close(channel[0]);
    close(channel[1]);
}

/* In a process of its own, since the flag stays set. */
static void test_call_interrupted(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        process_catch_signals();
        struct worker *worker = start();
        json_t *reply = NULL;
        struct error err = {0};
        pid_t parent = getpid();
        if (fork() == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
            kill(parent, SIGINT);
            _exit(0);
        }
        enum code code = call(worker, "hang", WORKER_NO_LIMIT, &reply, &err);
        bool right = code == CODE_INTERRUPTED && process_interrupted() && !worker_alive(worker);
        worker_stop(worker);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Standard streams closed, as some service managers start programs. */
static void test_start_without_standard_streams(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        close(0);
        close(1);
        close(2);
        struct worker *worker = start();
        json_t *reply = NULL;
        struct error err = {0};
        bool right = call(worker, "describe", 10 * SECOND_NS, &reply, &err) == CODE_OK &&
                     json_integer_value(json_object_get(reply, "descriptors")) == 4;
        json_decref(reply);
        worker_stop(worker);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return worker_main();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_echoes_request),
        cmocka_unit_test(test_call_carries_megabytes),
        cmocka_unit_test(test_start_gives_worker_a_clean_process),
        cmocka_unit_test(test_start_keeps_the_users_cache_dir),
        cmocka_unit_test(test_start_missing_program),
        cmocka_unit_test(test_call_worker_refuses),
        cmocka_unit_test(test_call_worker_dies),
        cmocka_unit_test(test_call_worker_died_before),
        cmocka_unit_test(test_call_answer_before_death_counts),
        cmocka_unit_test(test_call_limit_passes),
        cmocka_unit_test(test_call_not_a_reply),
        cmocka_unit_test(test_call_reply_that_json_cannot_hold),
        cmocka_unit_test(test_chatter_flood),
        cmocka_unit_test(test_death_with_process_left_behind),
        cmocka_unit_test(test_stop_leaves_nothing),
        cmocka_unit_test(test_worker_dies_with_coordinator),
        cmocka_unit_test(test_call_interrupted),
        cmocka_unit_test(test_start_without_standard_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
