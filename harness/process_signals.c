/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals of the coordinator, which only set a flag, and the worker's end of the socket. Must not
 * know: what is asked or answered. */
#include "harness/process_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A signal handler has no other way to say that it ran: the second exception to "no mutable
 * globals". */
static volatile sig_atomic_t interrupted;

#define REQUEST_BYTES_MAX ((size_t)64 << 20)

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* Without SA_RESTART, so that a wait in progress ends. A hang-up that was ignored at the start
 * (nohup) stays so. */
void process_catch_signals(void)
{
    struct sigaction catching = {.sa_handler = on_signal};
    sigemptyset(&catching.sa_mask);
    sigaction(SIGINT, &catching, NULL);
    sigaction(SIGTERM, &catching, NULL);
    sigaction(SIGXCPU, &catching, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &catching, NULL);
    struct sigaction ignoring = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignoring, NULL);
    sigaction(SIGXFSZ, &ignoring, NULL);
    /* An ignored SIGCHLD, inherited from a careless parent, would make every child vanish without a
     * status. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &standard, NULL);
}

void process_default_signals(void)
{
    static const int fatal[] = {SIGHUP, SIGINT,  SIGQUIT, SIGILL, SIGTRAP, SIGABRT,
                                SIGBUS, SIGSEGV, SIGTERM, SIGSYS, SIGXCPU};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        struct sigaction now;
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(fatal[i], &standard, NULL);
    }
}

bool process_interrupted(void)
{
    return interrupted != 0;
}

/* One request is on its way at a time, so nothing can follow its line end. */
json_t *process_read_request(void)
{
    /* Programs that a driver starts (linkers, compilers) must not hold the socket. */
    fcntl(WORKER_SOCKET, F_SETFD, FD_CLOEXEC);
    struct text line = {0};
    char bytes[16384];
    bool complete = false;
    while (!complete && line.length < REQUEST_BYTES_MAX) {
        ssize_t count = recv(WORKER_SOCKET, bytes, sizeof bytes, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        text_append_bytes(&line, bytes, (size_t)count);
        complete = bytes[count - 1] == '\n';
    }
    json_t *request =
        complete ? json_loadb(text_string(&line), line.length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    text_release(&line);
    return request;
}

void process_write_reply(const json_t *reply)
{
    static const char unwritable[] =
        "{\"ok\":false,\"code\":\"invalid\",\"native\":0,"
        "\"message\":\"the worker's reply cannot be written as JSON\"}";
    char *dumped = json_dumps(reply, JSON_COMPACT);
    struct text line = {0};
    text_append(&line, dumped != NULL ? dumped : unwritable);
    text_append(&line, "\n");
    free(dumped);
    for (size_t sent = 0; sent < line.length;) {
        ssize_t count = send(WORKER_SOCKET, line.bytes + sent, line.length - sent, MSG_NOSIGNAL);
        if (count >= 0)
            sent += (size_t)count;
        else if (errno != EINTR)
            break; /* the coordinator is gone; the next read says so */
    }
    text_release(&line);
}
