/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of dividing n items over W workers, each of which takes ceil(n / W) consecutive
 * ones: pure functions in 64 bits. It must not know what an item is or who the workers are. */
#ifndef HARNESS_PARTITION_H
#define HARNESS_PARTITION_H

#include "base/error.h"

#include <stdint.h>

struct partition {
    uint64_t items;         /* n */
    uint64_t workers;       /* W */
    uint64_t share;         /* ceil(n / W): items of every worker but the last ones */
    uint64_t slots;         /* share * W: items there would be room for */
    uint64_t idle_slots;    /* slots - n */
    uint64_t busy_workers;  /* workers with at least one item; they are the first ones */
    uint64_t empty_workers; /* workers with no item at all */
    uint64_t last_share;    /* items of the last worker that has any */
};

/* CODE_USAGE: items or workers is 0, or slots and one halo item do not fit 64 bits. */
enum code partition_init(struct partition *partition, uint64_t items, uint64_t workers,
                         struct error *err);

/* Items [begin, end), from 0, of a worker (from 0, below partition->workers); begin == end for an
 * empty one. */
void partition_range(const struct partition *partition, uint64_t worker, uint64_t *begin,
                     uint64_t *end);

/* idle_slots as a share of slots. */
double partition_idle_share(const struct partition *partition);

#endif
