/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that disturb a run while it measures: started in the background, watched by its result
 * file, its workers found by /proc. */
#ifndef TESTS_CLI_RUN_LIVE_H
#define TESTS_CLI_RUN_LIVE_H

#include "run_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <signal.h>
#include <time.h>

enum { LIVE_SECONDS = 120, LIVE_WORKERS_MAX = 8 };

struct live {
    pid_t pid;
    char path[2048]; /* of the result */
    const struct fixture *fixture;
};

static inline void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Starts the program; its streams go to the files live.out and live.err of the place. file_bytes:
 * largest file that it may write, 0 for no limit. */
static inline struct live live_start(const struct fixture *fixture, const struct call *call,
                                     rlim_t file_bytes)
{
    char out_path[2048], err_path[2048];
    struct live live = {.fixture = fixture};
    snprintf(live.path, sizeof live.path, "%s/live.jsonl", fixture->place);
    snprintf(out_path, sizeof out_path, "%s/live.out", fixture->place);
    snprintf(err_path, sizeof err_path, "%s/live.err", fixture->place);
    int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int err = open(err_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(out >= 0 && err >= 0);
    live.pid = fork();
    if (live.pid == 0) {
        struct rlimit limit = {.rlim_cur = file_bytes, .rlim_max = RLIM_INFINITY};
        if (file_bytes != 0 && setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(99);
        child(fixture, call, out, err);
    }
    close(out);
    close(err);
    return live;
}

static inline char *live_messages(const struct live *live)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/live.err", live->fixture->place);
    return read_file(path);
}

/* Waits for the end. Exit code, or minus the signal. */
static inline int live_end(const struct live *live)
{
    int status = 0;
    assert_int_equal(waitpid(live->pid, &status, 0), live->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline void expect_end(const struct live *live, int exit_code)
{
    int status = live_end(live);
    if (status != exit_code)
        fail_msg("ended with %d, expected %d; stderr:\n%s", status, exit_code, live_messages(live));
}

/* Waits until the result holds so many records; 0: until it has its header. */
static inline void live_wait_records(const struct live *live, size_t count)
{
    for (double begin = seconds_now(); seconds_now() - begin < LIVE_SECONDS; nap()) {
        json_t *lines = lines_of(live->path);
        bool reached =
            lines != NULL && json_array_size(lines) > 0 && count_of(lines, "record") >= count;
        json_decref(lines);
        if (reached)
            return;
        if (waitpid(live->pid, NULL, WNOHANG) != 0)
            break;
    }
    fail_msg("the run never stored %zu records; stderr:\n%s", count, live_messages(live));
}

/* The parent of a process and its state; false if there is no such process. */
static inline bool process_stat(long pid, long *parent, char *state)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';
    const char *after = strrchr(text, ')');
    return after != NULL && sscanf(after + 1, " %c %ld", state, parent) == 2;
}

static inline bool is_worker_of(long pid, long coordinator, const char *backend)
{
    char path[64], words[512] = "";
    char state = 0;
    long parent = 0;
    if (!process_stat(pid, &parent, &state) || parent != coordinator || state == 'Z')
        return false;
    snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t count = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    for (size_t i = 0; i < count; i++)
        if (words[i] == '\0')
            words[i] = ' ';
    return strstr(words, "worker --backend") != NULL &&
           (backend == NULL || strstr(words, backend) != NULL);
}

/* Workers of a backend, or all (NULL). */
static inline size_t live_workers(const struct live *live, const char *backend,
                                  long pids[LIVE_WORKERS_MAX])
{
    size_t count = 0;
    DIR *directory = opendir("/proc");
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL && count < LIVE_WORKERS_MAX;) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && is_worker_of(pid, (long)live->pid, backend))
            pids[count++] = pid;
    }
    closedir(directory);
    return count;
}

/* Dead, though perhaps not reaped by whoever inherited it. */
static inline void wait_gone(long pid)
{
    char state = 0;
    long parent = 0;
    for (double begin = seconds_now(); seconds_now() - begin < 10; nap())
        if (!process_stat(pid, &parent, &state) || state == 'Z')
            return;
    fail_msg("worker %ld survived", pid);
}

#endif
