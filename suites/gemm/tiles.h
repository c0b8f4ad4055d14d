/* SPDX-License-Identifier: Apache-2.0
 *
 * How a product is divided over groups and work-items: the sizes that the tiled kernels are built
 * with, chosen for a device's limits. Shared by the suites that are made of products. Pure
 * arithmetic; knows no kernel text and no API. */
#ifndef SUITES_GEMM_TILES_H
#define SUITES_GEMM_TILES_H

#include "harness/suite.h"

enum { TILES_MIN = 4, TILES_MAX = 512, TILES_DEPTH_MAX = 256 };

struct tiles_request {
    enum type type;
    uint64_t m, n, k;
    uint64_t tile_m, tile_n, tile_k; /* powers of two, TILES_MIN or more; 0: choose */
};

struct tiles {
    uint64_t width;            /* elements of a vector */
    uint64_t item_m;           /* rows of a work-item */
    uint64_t item_vectors;     /* vectors of a work-item along a row */
    uint64_t items_m, items_n; /* work-items of a group */
    uint64_t tile_m, tile_n, tile_k;
    bool stage_a; /* the tile of A stands in local memory too; on a CPU its cache serves as well */
};

/* CODE_UNSUPPORTED, with both numbers, if the tile asked for needs more work-items or local memory
 * than a group has. */
enum code tiles_choose(const struct tiles_request *request, const struct device_caps *caps,
                       struct tiles *tiles, struct error *err);

/* True if every size asked for is 0 or a power of two in its bounds; else false with why in reason.
 */
bool tiles_valid(const struct tiles_request *request, char reason[STEP_TEXT_BYTES]);

/* Groups that cover an m x n result. */
uint64_t tiles_groups(const struct tiles *tiles, uint64_t m, uint64_t n);

/* Fills the step's build options and its shape for the record. */
void tiles_describe(const struct tiles *tiles, enum type type, struct step *step);

#endif
