/* SPDX-License-Identifier: Apache-2.0
 *
 * The gnuplot child. Its three streams are pumped together, so that neither side can block the
 * other for ever; its environment is made here, so that neither a locale nor a personal start-up
 * file changes a chart. Must not know: what is drawn. */
#include "reports/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAMS };

struct child {
    pid_t pid;
    int ends[STREAMS]; /* our ends, -1 once closed */
};

static uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void close_ends(int ends[STREAMS])
{
    for (int i = 0; i < STREAMS; i++)
        close_end(&ends[i]);
}

/* Moves a descriptor out of the way of 0 to 2, which the child's streams will take, and keeps it
 * from the child. */
static int above_standard(int descriptor)
{
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STREAMS);
    close(descriptor);
    return moved;
}

/* Socket pairs, not pipes: writing to one whose reader is gone gives EPIPE without the signal
 * (MSG_NOSIGNAL). */
static enum code streams_open(int ours[STREAMS], int theirs[STREAMS], struct error *err)
{
    for (int i = 0; i < STREAMS; i++)
        ours[i] = theirs[i] = -1;
    for (int i = 0; i < STREAMS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            return error_set(err, CODE_IO, errno, "cannot open a socket pair for gnuplot: %s",
                             strerror(errno));
        ours[i] = above_standard(pair[0]);
        theirs[i] = above_standard(pair[1]);
        if (ours[i] < 0 || theirs[i] < 0)
            return error_set(err, CODE_IO, errno, "cannot duplicate a descriptor: %s",
                             strerror(errno));
        fcntl(ours[i], F_SETFL, O_NONBLOCK);
    }
    return CODE_OK;
}

static enum code spawn(int theirs[STREAMS], pid_t *pid, struct error *err)
{
    const char *path = getenv("PATH");
    char search[4096] = "PATH=/usr/local/bin:/usr/bin:/bin";
    if (path != NULL && strlen(path) < sizeof search - 6)
        memcpy(search + 5, path, strlen(path) + 1);
    char locale[] = "LC_ALL=C", name[] = "gnuplot", defaults[] = "--default-settings";
    char *environment[] = {search, locale, NULL};
    char *arguments[] = {name, defaults, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < STREAMS; i++)
        posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
    /* A group of its own: what gnuplot starts is killed with it, and Ctrl-C is ours to handle. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int failure = posix_spawnp(pid, name, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT)
        return error_set(err, CODE_NOTHING, failure, "gnuplot is not installed");
    if (failure != 0)
        return error_set(err, CODE_IO, failure, "cannot start gnuplot: %s", strerror(failure));
    return CODE_OK;
}

/* Sends what the socket takes; closes the stream at the end of the script, or when gnuplot no
 * longer reads. */
static void feed(int *end, const char **script)
{
    size_t length = strlen(*script);
    ssize_t sent = length > 0 ? send(*end, *script, length, MSG_NOSIGNAL) : 0;
    if (sent > 0)
        *script += sent;
    bool failed = sent < 0 && errno != EAGAIN && errno != EINTR;
    if (failed || **script == '\0')
        close_end(end);
}

static void drain(int *end, struct text *into)
{
    char bytes[65536];
    ssize_t got = read(*end, bytes, sizeof bytes);
    if (got > 0)
        text_append_bytes(into, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(end);
}

/* Until both output streams are at their end. */
static enum code pump(struct child *child, const char *script, uint64_t deadline,
                      struct text into[STREAMS], struct error *err)
{
    while (child->ends[STREAM_OUT] >= 0 || child->ends[STREAM_ERR] >= 0) {
        struct pollfd polled[STREAMS];
        for (int i = 0; i < STREAMS; i++)
            polled[i] =
                (struct pollfd){.fd = child->ends[i], .events = i == STREAM_IN ? POLLOUT : POLLIN};
        uint64_t now = now_ms();
        if (now >= deadline)
            return error_set(err, CODE_TIMEOUT, 0, "gnuplot passed its time limit");
        if (poll(polled, STREAMS, (int)(deadline - now > 1000 ? 1000 : deadline - now)) <= 0)
            continue;
        if (child->ends[STREAM_IN] >= 0 && polled[STREAM_IN].revents != 0)
            feed(&child->ends[STREAM_IN], &script);
        for (int i = STREAM_OUT; i <= STREAM_ERR; i++)
            if (child->ends[i] >= 0 && polled[i].revents != 0)
                drain(&child->ends[i], &into[i]);
        if (into[STREAM_OUT].length + into[STREAM_ERR].length > GNUPLOT_OUTPUT_MOST)
            return error_set(err, CODE_IO, 0, "gnuplot printed more than %d bytes",
                             GNUPLOT_OUTPUT_MOST);
    }
    return CODE_OK;
}

/* Waits for the end of the child; one that is still there at the deadline is killed. Whatever it
 * started and left behind is killed in any case, while its group still bears its name. */
static int reap(pid_t pid, uint64_t deadline, bool *killed)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    siginfo_t info = {0};
    int status = 0;
    *killed = false;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid != pid) {
        *killed = now_ms() >= deadline;
        if (*killed)
            break;
        nanosleep(&pause, NULL);
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* gnuplot repeats the script before it says what is wrong. */
static void last_line(const char **text, size_t *length)
{
    const char *line = *text;
    for (const char *at = *text; *at != '\0';) {
        at += strspn(at, " \t\r\n");
        size_t found = strcspn(at, "\n");
        if (found > 0) {
            line = at;
            *length = found < 200 ? found : 200;
        }
        at += found;
    }
    *text = line;
}

static enum code judge(int status, bool killed, const struct text *complaint, struct error *err)
{
    if (killed)
        return error_set(err, CODE_TIMEOUT, 0, "gnuplot passed its time limit");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CODE_OK;
    const char *line = text_string(complaint);
    size_t length = 0;
    last_line(&line, &length);
    return error_set(err, CODE_IO, status, "gnuplot failed: %.*s", length > 0 ? (int)length : 10,
                     length > 0 ? line : "no message");
}

enum code gnuplot_run(const char *script, uint64_t limit_ms, struct text *output, struct error *err)
{
    struct child child = {0};
    int theirs[STREAMS];
    struct text into[STREAMS] = {{0}};
    enum code code = streams_open(child.ends, theirs, err);
    if (code == CODE_OK)
        code = spawn(theirs, &child.pid, err);
    close_ends(theirs);
    if (code == CODE_OK) {
        uint64_t deadline = now_ms() + limit_ms;
        bool killed;
        code = pump(&child, script, deadline, into, err);
        close_ends(child.ends);
        int status = reap(child.pid, code == CODE_OK ? deadline : 0, &killed);
        if (code == CODE_OK)
            code = judge(status, killed, &into[STREAM_ERR], err);
    }
    close_ends(child.ends);
    if (code == CODE_OK)
        text_append_bytes(output, text_string(&into[STREAM_OUT]), into[STREAM_OUT].length);
    for (int i = 0; i < STREAMS; i++)
        text_release(&into[i]);
    return code;
}
