/* SPDX-License-Identifier: Apache-2.0
 *
 * Tries a stored machine in a child process first. hwloc trusts files that it wrote itself: on
 * others its reader may fail an assertion, run out of stack or memory, or take for ever, and none
 * of that may take the program down. */
#include "harness/topology_parts.h"
#include "harness/topology_trial.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIAL_SECONDS = 10, TRIAL_MEMORY_BYTES = 512 << 20, COMPLAINT_BYTES = 256 };

/* AddressSanitizer reserves terabytes of addresses: no limit can be set under it. */
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESSES_LIMITED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESSES_LIMITED 0
#endif
#endif
#ifndef ADDRESSES_LIMITED
#define ADDRESSES_LIMITED 1
#endif

static void limit(int resource, rlim_t value)
{
    struct rlimit limits = {.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &limits);
}

/* The child: what hwloc says of the file goes to the pipe, the outcome is the exit status. */
static void try_in_child(int pipe_out, const char *bytes, size_t count)
{
    /* A handler of the parent must not run here, and a stop or kill must end the child. */
    static const int usual[] = {SIGINT,  SIGTERM, SIGHUP,  SIGXCPU,
                                SIGALRM, SIGABRT, SIGSEGV, SIGPIPE};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        signal(usual[i], SIG_DFL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, TRIAL_SECONDS);
    if (ADDRESSES_LIMITED)
        limit(RLIMIT_AS, TRIAL_MEMORY_BYTES);
    alarm(2 * TRIAL_SECONDS);
    dup2(pipe_out, STDERR_FILENO);
    setenv("HWLOC_XML_VERBOSE", "1", 1);
    hwloc_topology_t hwloc = NULL;
    bool loaded = topology_load_xml(&hwloc, bytes, count);
    _exit(loaded ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The first line that the child printed; the rest is read and dropped, so that the child never
 * waits for the reader. */
static void read_complaint(int pipe_in, char complaint[COMPLAINT_BYTES])
{
    char chunk[4096];
    size_t kept = 0;
    ssize_t got = 0;
    while ((got = read(pipe_in, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t i = 0; i < got; i++)
            if (kept + 1 < COMPLAINT_BYTES)
                complaint[kept++] = chunk[i];
    complaint[kept] = '\0';
    complaint[strcspn(complaint, "\n")] = '\0';
    text_make_printable(complaint);
}

static enum code outcome(const char *path, int status, const char *complaint, struct error *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return CODE_OK;
    const char *gap = complaint[0] != '\0' ? ": " : "";
    if (WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL))
        return error_set(err, CODE_CONFIG, WTERMSIG(status),
                         "%s: hwloc did not read it within %d s", path, (int)TRIAL_SECONDS);
    if (WIFSIGNALED(status))
        return error_set(err, CODE_CONFIG, WTERMSIG(status),
                         "%s: no topology that hwloc can read, its reader died of signal %d%s%s",
                         path, WTERMSIG(status), gap, complaint);
    return error_set(err, CODE_CONFIG, 0, "%s: no topology that hwloc can read%s%s", path, gap,
                     complaint);
}

enum code topology_try_xml(const char *path, const char *bytes, size_t count, struct error *err)
{
    int ends[2];
    if (pipe(ends) != 0)
        return error_set(err, CODE_IO, errno, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) {
        int number = errno;
        close(ends[0]);
        close(ends[1]);
        return error_set(err, CODE_IO, number, "cannot start a process: %s", strerror(number));
    }
    if (child == 0) {
        close(ends[0]);
        try_in_child(ends[1], bytes, count);
    }
    close(ends[1]);
    char complaint[COMPLAINT_BYTES];
    read_complaint(ends[0], complaint);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return outcome(path, status, complaint, err);
}
