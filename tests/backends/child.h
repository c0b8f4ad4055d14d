/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a piece of a test in a child process with an environment of its own: an OpenCL loader reads
 * its settings once in a process, and a driver may crash or hang. What the child found out comes
 * back as text. */
#ifndef TESTS_BACKENDS_CHILD_H
#define TESTS_BACKENDS_CHILD_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_TEXT_BYTES = 64 * 1024, CHILD_SECONDS = 120 };

struct child {
    int output;
    char text[CHILD_TEXT_BYTES]; /* what child_say wrote */
    int status;                  /* of waitpid */
    bool timed_out;
};

typedef void child_function(struct child *child);

__attribute__((format(printf, 2, 3))) static void child_say(struct child *child, const char *format,
                                                            ...)
{
    va_list args;
    va_start(args, format);
    vdprintf(child->output, format, args);
    va_end(args);
}

static void child_set_environment(const char *const *environment)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        const char *equals = strchr(*environment, '=');
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(equals - *environment), *environment);
        setenv(name, equals + 1, 1);
    }
}

/* Reads until the child closes its end; kills it when it passes the limit. */
static void child_read(struct child *child, int input, pid_t pid, int seconds)
{
    size_t length = 0;
    time_t end = time(NULL) + seconds;
    struct pollfd descriptor = {.fd = input, .events = POLLIN};
    while (length < sizeof child->text - 1) {
        time_t left = end - time(NULL);
        if (left <= 0 || poll(&descriptor, 1, (int)left * 1000) == 0) {
            child->timed_out = true;
            kill(pid, SIGKILL);
            break;
        }
        ssize_t count = read(input, child->text + length, sizeof child->text - 1 - length);
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    child->text[length] = '\0';
}

/* Runs function in a child whose environment has the given NAME=VALUE settings (ends with NULL). */
static void child_run(struct child *child, const char *const *environment, child_function *function,
                      int seconds)
{
    int ends[2];
    *child = (struct child){0};
    fflush(NULL);
    if (pipe(ends) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child->output = ends[1];
        child_set_environment(environment);
        function(child);
        fflush(NULL);
        _exit(0);
    }
    close(ends[1]);
    child_read(child, ends[0], pid, seconds);
    close(ends[0]);
    waitpid(pid, &child->status, 0);
}

#endif
