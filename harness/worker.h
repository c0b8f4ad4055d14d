/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker process: loads one driver, opens at most one device and one case at a time, and
 * answers the coordinator's requests until its socket closes. Requests and replies:
 * docs/architecture.md, "Worker protocol". */
#ifndef HARNESS_WORKER_H
#define HARNESS_WORKER_H

/* Serves requests; returns when the coordinator is gone. library: see driver_open, NULL for the
 * default. */
void worker_serve(const char *backend, const char *library);

#endif
