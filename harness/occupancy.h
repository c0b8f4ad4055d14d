/* SPDX-License-Identifier: Apache-2.0
 *
 * What others took of the processors while something was measured: the machine's busy time (stolen
 * time of a virtual machine included) less that of this run's own processes. A busy neighbour slows
 * all-core work by more than any piece of host work that fits into one time slice can show. */
#ifndef HARNESS_OCCUPANCY_H
#define HARNESS_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reading of the counters, in clock ticks (10 ms). */
struct occupancy {
    bool known;
    uint64_t busy, total; /* of all processors */
    uint64_t own;         /* of this process and of the processes asked for */
};

/* Reads root + "/proc"; root "" is the machine at hand. pids of 0 are passed over; one that is gone
 * makes it unknown. */
void occupancy_read(const char *root, const long *pids, size_t count, struct occupancy *reading);
/* Share of all processors' time between two readings that others took, 0 to 1; NaN if unknown or if
 * no time passed. */
double occupancy_foreign_share(const struct occupancy *begin, const struct occupancy *end);

#endif
