/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of host_describe (topology.h) that others need: the description with another root for
 * tests, and the note on devices that run on the host's own cores. */
#ifndef HARNESS_HOST_H
#define HARNESS_HOST_H

#include "backends/backend.h"
#include "harness/topology.h"

#include <jansson.h>
#include <stdbool.h>

/* host_describe reading root + "/proc/…" and root + "/sys/…"; "" is the machine at hand. */
json_t *host_describe_at(const char *root, const struct topology *topology);

/* Memory that can be had without swapping, and the load average over a minute, read below root; 0
 * and a negative number where unknown. */
uint64_t host_free_memory_bytes(const char *root);
double host_load_1min(const char *root);

/* For a device that runs on the host's cores and says it has more compute units than CPUs are
 * allowed (or the quota is smaller): "2 compute units on 1 allowed CPU". host is what host_describe
 * gave. False, and note "", if there is nothing to say. */
enum { HOST_NOTE_BYTES = 160 };
bool host_device_note(const json_t *host, const struct device_info *device,
                      char note[HOST_NOTE_BYTES]);

#endif
