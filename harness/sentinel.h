/* SPDX-License-Identifier: Apache-2.0
 *
 * Two fixed pieces of host work, timed before each round. The work never changes, so a change of
 * their times is a change of the machine: its clocks, its neighbours, its memory. That is the noise
 * that every comparison has to beat. */
#ifndef HARNESS_SENTINEL_H
#define HARNESS_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>

struct sentinel;

/* Two areas of 32 MiB, written through so that no page fault falls into a measurement. Aborts when
 * out of memory. */
struct sentinel *sentinel_create(void);
void sentinel_destroy(struct sentinel *sentinel); /* NULL is allowed */

/* Times both pieces of work once on CLOCK_MONOTONIC_RAW: a chain of dependent integer and
 * floating-point steps on one core (1 to 2 ms on a core of 2 to 3 GHz), and one copy of 32 MiB. */
void sentinel_measure(struct sentinel *sentinel, uint64_t *compute_ns, uint64_t *memory_ns);

/* Results of the work since sentinel_create, kept so that no compiler leaves it out. The chain
 * starts from where it ended. */
uint64_t sentinel_integer(const struct sentinel *sentinel);
double sentinel_real(const struct sentinel *sentinel);
/* True if the last copy equals its source. */
bool sentinel_copied(const struct sentinel *sentinel);

#endif
