/* SPDX-License-Identifier: Apache-2.0
 *
 * The coordinator's side of a worker process. Drivers crash, hang and print: they run in `assay
 * worker`, a child started by exec of this very binary, which talks JSON lines over a socket pair
 * on descriptor 3. Its stdout and stderr are caught and kept, bounded, as driver chatter. A worker
 * dies with its coordinator. Must not know: suites, records. */
#ifndef HARNESS_PROCESS_H
#define HARNESS_PROCESS_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct worker;

struct worker_options {
    /* backend_find name: "opencl", "host" */
    const char *backend;
    /* opencl: the one platform library (or .icd entry) to load; NULL: the default */
    const char *library;
    /* Private directory for what drivers write: TMPDIR of the worker, and its POCL_CACHE_DIR unless
     * the user set one. NULL: the user's own places. */
    const char *cache_dir;
    /* Executable that is started; NULL: $ASSAY_WORKER_PROGRAM if set (for tests), else this one. */
    const char *program;
};

/* No limit, as a timeout. */
#define WORKER_NO_LIMIT UINT64_MAX

/* Returns once the program runs. CODE_IO: it could not be started, native is the errno. The worker
 * is the leader of a process group of its own, so that a terminal's Ctrl-C does not reach it; its
 * standard input is /dev/null. */
enum code worker_start(const struct worker_options *options, struct worker **worker,
                       struct error *err);
/* Sends request ({"op": …}) and waits for the reply ({"ok": true, …}), which the caller owns. A
 * reply {"ok": false, "code", "native", "message"} becomes that error. CODE_TIMEOUT: the limit
 * passed, the worker was killed. CODE_CRASHED: it died; native is the signal, the message names it
 * and the op. CODE_INTERRUPTED: process_interrupted() became true; the worker was killed. After one
 * of the three the worker can only be stopped. */
enum code worker_call(struct worker *worker, const json_t *request, uint64_t timeout_ns,
                      json_t **reply, struct error *err);
/* What the driver printed up to the end of the last call, at most 8 KiB (the last), UTF-8,
 * printable but for line ends; "" for none. Borrowed until the next call. */
const char *worker_chatter(const struct worker *worker);
/* The last line with something on it, whole or cut to the room; "" for none. */
enum { WORKER_LINE_BYTES = 200 };
char *worker_last_line(const struct worker *worker, char line[WORKER_LINE_BYTES]);
bool worker_alive(const struct worker *worker);
/* Its process id, for /proc; 0 once it was reaped. */
long worker_pid(const struct worker *worker);
/* Ends the worker (asks, then kills) and reaps it. NULL is allowed. */
void worker_stop(struct worker *worker);

/* Installs handlers for SIGINT, SIGTERM, SIGHUP (and SIGXCPU) that only set a flag, and ignores
 * SIGPIPE and SIGXFSZ. */
void process_catch_signals(void);
bool process_interrupted(void);

/* For a worker: a signal that ends a process ends this one, whatever the driver has installed.
 * LLVM, inside most drivers' compilers, catches them all and lets the first that is sent from
 * outside pass. SIGFPE is left alone: PoCL needs its handler for divisions by zero in kernels. */
void process_default_signals(void);

/* The worker's side of the same socket: request in (NULL at the end of the stream), reply out. */
json_t *process_read_request(void);
void process_write_reply(const json_t *reply);

#endif
