/* SPDX-License-Identifier: Apache-2.0
 *
 * Division of items over workers (partition.h). Every product is checked before it is made. */
#include "harness/partition.h"

#include <assert.h>
#include <inttypes.h>

enum code partition_init(struct partition *partition, uint64_t items, uint64_t workers,
                         struct error *err)
{
    if (items == 0)
        return error_set(err, CODE_USAGE, 0, "cannot divide 0 items: expected at least 1");
    if (workers == 0)
        return error_set(err, CODE_USAGE, 0, "cannot divide over 0 workers: expected at least 1");
    uint64_t share = items / workers + (items % workers != 0);
    if (share > (UINT64_MAX - 1) / workers) /* room for the halo item after the last slot */
        return error_set(err, CODE_USAGE, 0,
                         "%" PRIu64 " items over %" PRIu64 " workers: %" PRIu64
                         " for each worker and a halo item pass 64 bits",
                         items, workers, share);
    uint64_t busy = items / share + (items % share != 0);
    *partition = (struct partition){
        .items = items,
        .workers = workers,
        .share = share,
        .slots = share * workers,
        .idle_slots = share * workers - items,
        .busy_workers = busy,
        .empty_workers = workers - busy,
        .last_share = items - share * (busy - 1),
    };
    return CODE_OK;
}

void partition_range(const struct partition *partition, uint64_t worker, uint64_t *begin,
                     uint64_t *end)
{
    assert(worker < partition->workers);
    uint64_t first = worker * partition->share; /* below slots, which fits */
    *begin = first < partition->items ? first : partition->items;
    uint64_t left = partition->items - *begin;
    *end = *begin + (left < partition->share ? left : partition->share);
}

double partition_idle_share(const struct partition *partition)
{
    return (double)partition->idle_slots / (double)partition->slots;
}
