/* SPDX-License-Identifier: Apache-2.0
 *
 * hwloc's reader on bytes that others wrote: the trial in a child process, and the load itself. */
#ifndef HARNESS_TOPOLOGY_TRIAL_H
#define HARNESS_TOPOLOGY_TRIAL_H

#include "base/error.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

/* Builds hwloc's tree from checked XML (topology_read_file). False: hwloc refuses it, *hwloc is
 * NULL. */
bool topology_load_xml(hwloc_topology_t *hwloc, const char *bytes, size_t count);

/* The same in a child with limits on time and memory. CODE_CONFIG with hwloc's first complaint;
 * path is for the message. */
enum code topology_try_xml(const char *path, const char *bytes, size_t count, struct error *err);

#endif
