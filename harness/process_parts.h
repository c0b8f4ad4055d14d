/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the process module only: what a worker is to its coordinator. */
#ifndef HARNESS_PROCESS_PARTS_H
#define HARNESS_PROCESS_PARTS_H

#include "base/text.h"
#include "harness/process.h"

#include <sys/types.h>

enum { CHATTER_BYTES = 8192, WORKER_NAME_BYTES = 64, WORKER_SOCKET = 3 };

struct worker {
    char backend[WORKER_NAME_BYTES];
    pid_t pid;  /* 0 once it was reaped */
    int socket; /* -1 once closed; does not block */
    int output; /* read end of the worker's stdout and stderr, -1 once closed; does not block */
    int status; /* of waitpid, valid once pid is 0 */
    bool status_known;
    bool finished;     /* nothing but worker_stop may follow */
    struct text input; /* bytes of the reply so far */
    size_t raw_count;
    char raw[CHATTER_BYTES];         /* the last bytes that were printed, as they came */
    char chatter[CHATTER_BYTES + 1]; /* the same, made printable */
};

/* True if the worker is dead; reaps it and kills what is left of its process group. */
bool worker_reap(struct worker *worker);
/* Kills the whole process group and reaps the worker. */
void worker_kill(struct worker *worker);
/* Reads what was printed, never blocks, at most 64 KiB a call so that a flood cannot hold up the
 * caller. */
void worker_drain(struct worker *worker);
/* Brings worker->chatter up to date. */
void worker_clean_chatter(struct worker *worker);
/* Waits up to limit_ns for the worker to end by itself, draining what it prints. True if it ended.
 */
bool worker_wait_end(struct worker *worker, uint64_t limit_ns);

/* "SIGSEGV", "unknown signal" where it has no name here. */
const char *process_signal_name(int number);

#endif
