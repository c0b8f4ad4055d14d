/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting and ending worker processes, and catching what their drivers print. Between fork and
 * exec only async-signal-safe functions are called: the coordinator may have threads. Must not
 * know: what is asked of a worker. */
#include "harness/process.h"

#include "base/clock.h"
#include "harness/process_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SPAWN_STATUS = 4, SPAWN_FIRST_FREE = 10, SPAWN_ARGUMENTS_MAX = 8, SPAWN_ADDED_MAX = 4 };

/* All that the child needs, made ready before the fork. */
struct spawn {
    const char *program;
    const char *arguments[SPAWN_ARGUMENTS_MAX];
    char **environment; /* the array is owned, its strings are not, but for those in added */
    char *added[SPAWN_ADDED_MAX];
    size_t added_count;
    pid_t parent;
    int socket[2]; /* [0] stays here, [1] goes to the child; -1 where closed */
    int output[2]; /* read, write */
    int status[2]; /* the child reports a failed exec on [1]; a successful one closes it */
    int null;
    int highest; /* no descriptor above it is open */
};

static void close_and_forget(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static int highest_descriptor(void)
{
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) {
        long limit = sysconf(_SC_OPEN_MAX);
        return limit > 0 && limit < 65536 ? (int)limit : 65536;
    }
    int highest = SPAWN_FIRST_FREE;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        long number = strtol(entry->d_name, NULL, 10);
        if (number > highest)
            highest = (int)number;
    }
    closedir(directory);
    return highest;
}

static void spawn_set(struct spawn *spawn, size_t index, const char *name, const char *value)
{
    struct text text = {0};
    text_printf(&text, "%s=%s", name, value);
    spawn->added[spawn->added_count] = text_duplicate(text_string(&text));
    spawn->environment[index] = spawn->added[spawn->added_count++];
    text_release(&text);
}

/* The environment for the child: this one, with the private directory as the place for the driver's
 * temporary files, which a crash would leave behind, and for its kernel cache unless the user has
 * chosen one. Threads of the host backend stay on a core each, unless the user has chosen
 * otherwise: left to the scheduler, one may wait for milliseconds behind another that spins. */
static void spawn_environment(struct spawn *spawn, const struct worker_options *options)
{
    const char *cache_dir = options->cache_dir;
    size_t count = 0, kept = 0;
    while (environ != NULL && environ[count] != NULL)
        count++;
    spawn->environment = memory_zeroed(count + SPAWN_ADDED_MAX + 1, sizeof *spawn->environment);
    for (size_t i = 0; i < count; i++)
        if (cache_dir == NULL || !text_starts_with(environ[i], "TMPDIR="))
            spawn->environment[kept++] = environ[i];
    if (cache_dir != NULL)
        spawn_set(spawn, kept++, "TMPDIR", cache_dir);
    if (cache_dir != NULL && getenv("POCL_CACHE_DIR") == NULL)
        spawn_set(spawn, kept++, "POCL_CACHE_DIR", cache_dir);
    bool chosen = getenv("OMP_PROC_BIND") != NULL || getenv("OMP_PLACES") != NULL ||
                  getenv("GOMP_CPU_AFFINITY") != NULL;
    if (!chosen && strcmp(options->backend, "host") == 0) {
        spawn_set(spawn, kept++, "OMP_PROC_BIND", "true");
        spawn_set(spawn, kept, "OMP_PLACES", "cores");
    }
}

static void spawn_arguments(struct spawn *spawn, const struct worker_options *options)
{
    const char *chosen = getenv("ASSAY_WORKER_PROGRAM");
    spawn->program = options->program != NULL              ? options->program
                     : chosen != NULL && chosen[0] != '\0' ? chosen
                                                           : "/proc/self/exe";
    size_t count = 0;
    spawn->arguments[count++] = "assay";
    spawn->arguments[count++] = "worker";
    spawn->arguments[count++] = "--backend";
    spawn->arguments[count++] = options->backend;
    if (options->library != NULL) {
        spawn->arguments[count++] = "--library";
        spawn->arguments[count++] = options->library;
    }
    spawn->arguments[count] = NULL;
}

static bool set_flags(int descriptor, bool nonblocking)
{
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    if (!nonblocking)
        return true;
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool spawn_descriptors(struct spawn *spawn)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, spawn->socket) != 0) {
        spawn->socket[0] = spawn->socket[1] = -1;
        return false;
    }
    if (pipe(spawn->output) != 0) {
        spawn->output[0] = spawn->output[1] = -1;
        return false;
    }
    if (pipe(spawn->status) != 0) {
        spawn->status[0] = spawn->status[1] = -1;
        return false;
    }
    spawn->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (spawn->null < 0)
        return false;
    if (!set_flags(spawn->socket[0], true) || !set_flags(spawn->output[0], true))
        return false;
    if (!set_flags(spawn->socket[1], false) || !set_flags(spawn->output[1], false))
        return false;
    if (!set_flags(spawn->status[0], false) || !set_flags(spawn->status[1], false))
        return false;
    spawn->highest = highest_descriptor();
    return true;
}

static void spawn_release(struct spawn *spawn)
{
    close_and_forget(&spawn->socket[0]);
    close_and_forget(&spawn->socket[1]);
    close_and_forget(&spawn->output[0]);
    close_and_forget(&spawn->output[1]);
    close_and_forget(&spawn->status[0]);
    close_and_forget(&spawn->status[1]);
    close_and_forget(&spawn->null);
    free(spawn->environment);
    for (size_t i = 0; i < spawn->added_count; i++)
        free(spawn->added[i]);
}

static void child_reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &standard, NULL);
    sigaction(SIGXFSZ, &standard, NULL);
    sigaction(SIGCHLD, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Puts the descriptors in their places. They go through high numbers first, since a source may sit
 * in the place of another one's target (a parent that runs with its standard streams closed). */
static bool child_descriptors(const struct spawn *spawn)
{
    int base = spawn->highest >= SPAWN_FIRST_FREE ? spawn->highest + 1 : SPAWN_FIRST_FREE;
    int null = fcntl(spawn->null, F_DUPFD, base);
    int output = fcntl(spawn->output[1], F_DUPFD, base);
    int socket = fcntl(spawn->socket[1], F_DUPFD, base);
    int status = fcntl(spawn->status[1], F_DUPFD, base);
    if (null < 0 || output < 0 || socket < 0 || status < 0)
        return false;
    if (dup2(status, SPAWN_STATUS) < 0 || fcntl(SPAWN_STATUS, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
        return false;
    if (dup2(output, STDERR_FILENO) < 0 || dup2(socket, WORKER_SOCKET) < 0)
        return false;
    for (int descriptor = SPAWN_STATUS + 1; descriptor <= status; descriptor++)
        close(descriptor);
    return true;
}

static _Noreturn void child_run(const struct spawn *spawn)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != spawn->parent)
        _exit(126); /* the coordinator died before the line above */
    child_reset_signals();
    /* A crash is contained and reported; it leaves no core file in the user's directory. */
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    int failure = 0;
    int channel = spawn->status[1];
    if (child_descriptors(spawn)) {
        channel = SPAWN_STATUS;
        char *arguments[SPAWN_ARGUMENTS_MAX];
        memcpy(arguments, spawn->arguments, sizeof arguments); /* execve takes them without const */
        execve(spawn->program, arguments, spawn->environment);
    }
    failure = errno;
    if (write(channel, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

/* Waits for the exec. 0, or the errno of its failure. */
static int spawn_result(struct spawn *spawn)
{
    close_and_forget(&spawn->status[1]);
    int failure = 0;
    ssize_t count;
    do
        count = read(spawn->status[0], &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    return count == (ssize_t)sizeof failure ? failure : 0;
}

enum code worker_start(const struct worker_options *options, struct worker **worker,
                       struct error *err)
{
    *worker = NULL;
    struct spawn spawn = {
        .socket = {-1, -1}, .output = {-1, -1}, .status = {-1, -1}, .null = -1, .parent = getpid()};
    spawn_arguments(&spawn, options);
    spawn_environment(&spawn, options);
    enum code code = CODE_OK;
    int failure = 0;
    pid_t pid = -1;
    if (!spawn_descriptors(&spawn) || (pid = fork()) < 0) {
        code = error_set(err, CODE_IO, errno, "cannot start a worker process: %s", strerror(errno));
        goto out;
    }
    if (pid == 0)
        child_run(&spawn);
    setpgid(pid, pid); /* the child does the same: whoever comes first */
    failure = spawn_result(&spawn);
    if (failure != 0) {
        waitpid(pid, NULL, 0);
        code = error_set(err, CODE_IO, failure, "cannot start the worker '%s': %s", spawn.program,
                         strerror(failure));
        goto out;
    }
    *worker = memory_zeroed(1, sizeof **worker);
    snprintf((*worker)->backend, sizeof(*worker)->backend, "%s", options->backend);
    (*worker)->pid = pid;
    (*worker)->socket = spawn.socket[0];
    (*worker)->output = spawn.output[0];
    spawn.socket[0] = spawn.output[0] = -1;
out:
    spawn_release(&spawn);
    return code;
}

bool worker_alive(const struct worker *worker)
{
    if (worker->pid == 0)
        return false;
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return false;
    return info.si_pid == 0;
}

long worker_pid(const struct worker *worker)
{
    return worker->pid;
}

/* The group is killed before its leader is reaped: until then its number cannot belong to anyone
 * else. */
static void reap(struct worker *worker)
{
    if (worker->pid == 0)
        return;
    kill(-worker->pid, SIGKILL);
    pid_t result;
    do
        result = waitpid(worker->pid, &worker->status, 0);
    while (result < 0 && errno == EINTR);
    worker->status_known = result == worker->pid;
    worker->pid = 0;
    worker->finished = true;
}

bool worker_reap(struct worker *worker)
{
    if (worker_alive(worker))
        return false;
    reap(worker);
    return true;
}

void worker_kill(struct worker *worker)
{
    reap(worker);
}

static void chatter_append(struct worker *worker, const char *bytes, size_t count)
{
    if (count > CHATTER_BYTES) {
        bytes += count - CHATTER_BYTES;
        count = CHATTER_BYTES;
    }
    size_t room = CHATTER_BYTES - worker->raw_count;
    if (count > room) {
        size_t drop = count - room;
        memmove(worker->raw, worker->raw + drop, worker->raw_count - drop);
        worker->raw_count -= drop;
    }
    memcpy(worker->raw + worker->raw_count, bytes, count);
    worker->raw_count += count;
}

void worker_drain(struct worker *worker)
{
    char bytes[4096];
    for (int i = 0; i < 16 && worker->output >= 0; i++) {
        ssize_t count = read(worker->output, bytes, sizeof bytes);
        if (count > 0)
            chatter_append(worker, bytes, (size_t)count);
        else if (count < 0 && errno == EINTR)
            continue;
        else if (count < 0 && errno == EAGAIN)
            return;
        else
            close_and_forget(&worker->output);
    }
}

/* A driver prints what it likes, in any encoding, and the cut may have split a character. */
void worker_clean_chatter(struct worker *worker)
{
    char *clean = worker->chatter;
    size_t skip = 0;
    while (worker->raw_count == CHATTER_BYTES && skip < 3 &&
           ((unsigned char)worker->raw[skip] & 0xc0) == 0x80)
        skip++;
    size_t count = worker->raw_count - skip;
    memcpy(clean, worker->raw + skip, count);
    clean[count] = '\0';
    for (size_t i = 0; i < count; i++)
        if (clean[i] == '\0' || clean[i] == '\r')
            clean[i] = ' ';
    for (char *line = clean; line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        text_make_printable(line);
        if (end != NULL)
            *end++ = '\n';
        line = end;
    }
}

const char *worker_chatter(const struct worker *worker)
{
    return worker->chatter;
}

bool worker_wait_end(struct worker *worker, uint64_t limit_ns)
{
    uint64_t begin = clock_now_ns();
    while (!worker_reap(worker)) {
        if (clock_now_ns() - begin >= limit_ns)
            return false;
        struct pollfd output = {.fd = worker->output, .events = POLLIN};
        poll(&output, 1, 5);
        if (output.revents != 0)
            worker_drain(worker);
    }
    worker_drain(worker);
    return true;
}

void worker_stop(struct worker *worker)
{
    if (worker == NULL)
        return;
    close_and_forget(&worker->socket); /* the worker reads the end of its requests and leaves */
    uint64_t grace_ns = process_interrupted() ? 200000000U : 2000000000U;
    if (worker->finished || !worker_wait_end(worker, grace_ns))
        worker_kill(worker);
    close_and_forget(&worker->output);
    text_release(&worker->input);
    free(worker);
}
