/* SPDX-License-Identifier: Apache-2.0
 *
 * One request to a worker and its reply, within a time limit, while the driver may print, hang or
 * die. Must not know: what the requests mean. */
#include "base/clock.h"
#include "harness/process_parts.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* A line longer than this is no reply of ours. */
#define REPLY_BYTES_MAX ((size_t)64 << 20)

enum { CALL_SLICE_MS = 200, OP_BYTES = 64 };

struct call {
    struct worker *worker;
    char op[OP_BYTES];
    char *line; /* the request with its line end */
    size_t length, sent;
    uint64_t deadline_ns; /* WORKER_NO_LIMIT: none */
    uint64_t limit_ns;
    bool complete; /* the reply's line end is in worker->input */
    bool closed;   /* the worker closed its end */
};

const char *process_signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == number)
            return names[i].name;
    return "unknown signal";
}

char *worker_last_line(const struct worker *worker, char line[WORKER_LINE_BYTES])
{
    const char *chatter = worker->chatter;
    size_t end = strlen(chatter);
    while (end > 0 && (chatter[end - 1] == '\n' || chatter[end - 1] == ' '))
        end--;
    size_t begin = end;
    while (begin > 0 && chatter[begin - 1] != '\n')
        begin--;
    size_t count = end - begin < WORKER_LINE_BYTES ? end - begin : WORKER_LINE_BYTES - 1;
    while (count > 0 && count < end - begin &&
           ((unsigned char)chatter[begin + count] & 0xc0) == 0x80)
        count--; /* not in the middle of a character */
    memcpy(line, chatter + begin, count);
    line[count] = '\0';
    return line;
}

static void append_limits(struct text *text, int signal_number)
{
    if (signal_number == SIGKILL)
        text_append(text,
                    "; killed from outside, likely the memory limit of this machine or container");
    if (signal_number == SIGXCPU)
        text_append(text, "; the CPU time limit (ulimit -t) was reached");
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        text_printf(
            text,
            "; an address space limit of %llu KiB is set (ulimit -v), which drivers often pass",
            (unsigned long long)(limit.rlim_cur / 1024));
}

/* The worker is dead and reaped: says what of. */
static enum code report_death(const struct call *call, struct error *err)
{
    struct worker *worker = call->worker;
    worker_clean_chatter(worker);
    struct text text = {0};
    long native = 0;
    if (worker->status_known && WIFSIGNALED(worker->status)) {
        native = WTERMSIG(worker->status);
        text_printf(&text, "died of signal %ld (%s)", native, process_signal_name((int)native));
    } else if (worker->status_known && WIFEXITED(worker->status)) {
        text_printf(&text, "ended without a reply, exit status %d,", WEXITSTATUS(worker->status));
    } else {
        text_append(&text, "ended without a reply");
    }
    text_printf(&text, " in step '%s'", call->op);
    append_limits(&text, (int)native);
    char line[WORKER_LINE_BYTES];
    worker_last_line(worker, line);
    if (line[0] != '\0')
        text_printf(&text, "; it printed last: '%s'", line);
    enum code code = error_set(err, CODE_CRASHED, native, "the %s worker %s", worker->backend,
                               text_string(&text));
    text_release(&text);
    return code;
}

static enum code report_kill(const struct call *call, enum code code, const char *what,
                             struct error *err)
{
    worker_kill(call->worker);
    worker_drain(call->worker);
    return error_set(err, code, 0, "the %s worker %s in step '%s' and was stopped",
                     call->worker->backend, what, call->op);
}

static void call_send(struct call *call)
{
    while (call->sent < call->length) {
        ssize_t count = send(call->worker->socket, call->line + call->sent,
                             call->length - call->sent, MSG_NOSIGNAL);
        if (count >= 0)
            call->sent += (size_t)count;
        else if (errno == EINTR)
            continue;
        else {
            if (errno != EAGAIN)
                call->closed = true;
            return;
        }
    }
}

/* False if the reply is longer than any of ours or goes on behind its end. */
static bool call_receive(struct call *call)
{
    char bytes[65536];
    struct text *input = &call->worker->input;
    for (int i = 0; i < 64 && !call->complete; i++) {
        ssize_t count = recv(call->worker->socket, bytes, sizeof bytes, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return true;
        if (count <= 0) {
            call->closed = true;
            return true;
        }
        const char *end = memchr(bytes, '\n', (size_t)count);
        if (end != NULL && end != bytes + count - 1)
            return false;
        if ((size_t)count > REPLY_BYTES_MAX - input->length)
            return false;
        call->complete = end != NULL;
        text_append_bytes(input, bytes, (size_t)count);
    }
    return true;
}

/* One wait for news, at most a slice: a signal may arrive between the test of the flag and the
 * poll, and a process that the driver left behind may hold the socket open after the worker's
 * death. */
static bool call_step(struct call *call)
{
    struct worker *worker = call->worker;
    uint64_t now = clock_now_ns();
    uint64_t left_ms = call->deadline_ns > now ? (call->deadline_ns - now) / 1000000U + 1 : 0;
    struct pollfd polled[2] = {
        {.fd = worker->socket,
         .events = (short)(POLLIN | (call->sent < call->length ? POLLOUT : 0))},
        {.fd = worker->output, .events = POLLIN},
    };
    int ready = poll(polled, 2, left_ms < CALL_SLICE_MS ? (int)left_ms : CALL_SLICE_MS);
    if (ready <= 0)
        return true;
    if (polled[1].revents != 0)
        worker_drain(worker);
    if ((polled[0].revents & POLLOUT) != 0)
        call_send(call);
    if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
        return call_receive(call);
    return true;
}

static enum code call_run(struct call *call, struct error *err)
{
    struct worker *worker = call->worker;
    char what[96];
    for (;;) {
        if (process_interrupted())
            return report_kill(call, CODE_INTERRUPTED, "was interrupted", err);
        if (!call_step(call))
            return report_kill(call, CODE_CRASHED, "sent what is no reply", err);
        if (call->complete)
            return CODE_OK;
        bool dead = !worker_alive(worker);
        if (dead && call_receive(call) && call->complete) /* it may have answered last */
            return CODE_OK;
        if (dead || call->closed) {
            if (!worker_wait_end(worker, 1000000000U))
                return report_kill(call, CODE_CRASHED, "closed its connection", err);
            return report_death(call, err);
        }
        if (clock_now_ns() >= call->deadline_ns) {
            snprintf(what, sizeof what, "passed the limit of %.3g s", (double)call->limit_ns / 1e9);
            return report_kill(call, CODE_TIMEOUT, what, err);
        }
    }
}

/* Turns the reply's text into the caller's JSON or error. */
static enum code call_reply(const struct call *call, json_t **reply, struct error *err)
{
    const struct text *input = &call->worker->input;
    json_t *json = json_loadb(text_string(input), input->length, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json)) {
        json_decref(json);
        return report_kill(call, CODE_CRASHED, "sent what is no reply", err);
    }
    if (json_is_true(json_object_get(json, "ok"))) {
        *reply = json;
        return CODE_OK;
    }
    const char *message = json_string_value(json_object_get(json, "message"));
    enum code code = code_from_name(json_string_value(json_object_get(json, "code")));
    error_set(err, code == CODE_OK ? CODE_INVALID : code,
              (long)json_integer_value(json_object_get(json, "native")), "%s",
              message != NULL ? message : "the worker refused without a reason");
    json_decref(json);
    return code == CODE_OK ? CODE_INVALID : code;
}

enum code worker_call(struct worker *worker, const json_t *request, uint64_t timeout_ns,
                      json_t **reply, struct error *err)
{
    *reply = NULL;
    struct call call = {.worker = worker, .limit_ns = timeout_ns};
    const char *op = json_string_value(json_object_get(request, "op"));
    snprintf(call.op, sizeof call.op, "%s", op != NULL ? op : "?");
    if (worker->finished)
        return error_set(err, CODE_CRASHED, 0, "the %s worker is gone, step '%s' was not tried",
                         worker->backend, call.op);
    char *dumped = json_dumps(request, JSON_COMPACT);
    assert(dumped != NULL); /* requests are built here, from values that JSON can hold */
    struct text line = {0};
    text_append(&line, dumped);
    text_append(&line, "\n");
    free(dumped);
    call.line = line.bytes;
    call.length = line.length;
    uint64_t now = clock_now_ns();
    call.deadline_ns = timeout_ns > UINT64_MAX - now ? WORKER_NO_LIMIT : now + timeout_ns;
    text_clear(&worker->input);
    enum code code = call_run(&call, err);
    if (code == CODE_OK)
        code = call_reply(&call, reply, err);
    worker_drain(worker);
    worker_clean_chatter(worker);
    text_release(&line);
    if (worker->input.capacity > (size_t)1 << 20)
        text_release(&worker->input);
    return code;
}
