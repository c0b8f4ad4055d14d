/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed pieces of host work, timed before each round. The work never changes, so a change of their
 * times is a change of the machine: its clocks, its neighbours, its memory. That is the noise that
 * every comparison between runs has to beat. */
#ifndef HARNESS_SENTINEL_H
#define HARNESS_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>

struct sentinel;

/* Times of the three pieces, each of a fraction of a millisecond. They notice different neighbours:
 * a chain of dependent steps the clock, vector multiply-adds whoever shares the core's units
 * (another hardware thread), a copy whoever shares its memory. */
struct sentinel_times {
    uint64_t compute_ns, vector_ns, memory_ns;
};

/* Two areas of 32 MiB, written through so that no page fault falls into a measurement. Aborts when
 * out of memory. */
struct sentinel *sentinel_create(void);
void sentinel_destroy(struct sentinel *sentinel); /* NULL is allowed */

/* One pass over the three pieces on the processor at hand. */
void sentinel_pass(struct sentinel *sentinel, struct sentinel_times *times);
/* A pass on each allowed processor in turn (on SENTINEL_PROCESSORS_MAX of them, spread evenly,
 * where there are more); the slowest of each piece counts, since work on all cores waits for it.
 * The caller's affinity is as before afterwards. */
enum { SENTINEL_PROCESSORS_MAX = 8 };
void sentinel_measure(struct sentinel *sentinel, struct sentinel_times *slowest);

/* Results of the work since sentinel_create, kept so that no compiler leaves it out. The chain
 * starts from where it ended. */
uint64_t sentinel_integer(const struct sentinel *sentinel);
double sentinel_real(const struct sentinel *sentinel);
/* True if all that was copied so far equals its source. */
bool sentinel_copied(const struct sentinel *sentinel);

#endif
