/* SPDX-License-Identifier: Apache-2.0
 *
 * Choice of tile sizes (tiles.h). The defaults are the usual ones: on a GPU many items of 4 x 4 or
 * 8 x 8, on a CPU few items that fill the vector registers. */
#include "suites/gemm/tiles.h"

#include "suites/step.h"

#include <stdio.h>

enum {
    CPU_VECTOR_BYTES = 64,
    CPU_ITEM_M = 8,
    CPU_ITEM_VECTORS = 2,
    CPU_ITEMS_M = 16,
    CPU_TILE_K = 128,
    LANES_LOCAL_BYTES_MAX =
        65536, /* a CPU driver that offers no more local memory than a GPU works as one */
    GPU_WIDTH = 4,
    GPU_ITEMS = 16, /* along each side of a tile */
    GPU_TILE_K = 16,
    GROUPS_PER_UNIT =
        2,           /* groups a device should have for each of its units before larger tiles pay */
    ITEM_M_MAX = 16, /* of an item's registers */
    ITEM_VECTORS_MAX = 4,
    TILE_K_MIN = 4,
};

static bool power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

bool tiles_valid(const struct tiles_request *request, char reason[STEP_TEXT_BYTES])
{
    const struct {
        const char *name;
        uint64_t value, max;
    } sizes[] = {
        {"tile_m", request->tile_m, TILES_MAX},
        {"tile_n", request->tile_n, TILES_MAX},
        {"tile_k", request->tile_k, TILES_DEPTH_MAX},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t value = sizes[i].value;
        if (value == 0 || (power_of_two(value) && value >= TILES_MIN && value <= sizes[i].max))
            continue;
        snprintf(reason, STEP_TEXT_BYTES,
                 "%s must be a power of two from %d to %" PRIu64 ", not %" PRIu64, sizes[i].name,
                 TILES_MIN, sizes[i].max, value);
        return false;
    }
    return true;
}

static void choose_cpu(const struct tiles_request *request, struct tiles *tiles)
{
    *tiles = (struct tiles){
        .width = CPU_VECTOR_BYTES / type_bytes(request->type),
        .item_m = CPU_ITEM_M,
        .item_vectors = CPU_ITEM_VECTORS,
        .items_m = CPU_ITEMS_M,
        .items_n = 1,
        .tile_k = CPU_TILE_K,
    };
}

static void choose_gpu(const struct tiles_request *request, const struct device_caps *caps,
                       struct tiles *tiles)
{
    *tiles = (struct tiles){
        .width = GPU_WIDTH,
        .item_m = 4,
        .item_vectors = 1,
        .items_m = GPU_ITEMS,
        .items_n = GPU_ITEMS,
        .tile_k = GPU_TILE_K,
        .stage_a = true,
    };
    if (caps->cpu)
        return;
    uint64_t large = GPU_ITEMS * 2 * GPU_WIDTH;
    uint64_t groups = divide_up(request->m, large) * divide_up(request->n, large);
    if (request->type == TYPE_F32 && groups >= (uint64_t)GROUPS_PER_UNIT * caps->compute_units) {
        tiles->item_m = 8;
        tiles->item_vectors = 2;
    }
}

static uint64_t tile_n(const struct tiles *tiles)
{
    return tiles->items_n * tiles->item_vectors * tiles->width;
}

/* Shapes one side of the tile to a size asked for: fewer registers if it is smaller than an item's,
 * else more items. */
static void ask_m(uint64_t size, struct tiles *tiles)
{
    if (tiles->item_m > size)
        tiles->item_m = size;
    tiles->items_m = size / tiles->item_m;
}

static void ask_n(uint64_t size, struct tiles *tiles)
{
    if (tiles->width > size)
        tiles->width = size;
    while (tiles->item_vectors * tiles->width > size)
        tiles->item_vectors /= 2;
    tiles->items_n = size / (tiles->item_vectors * tiles->width);
}

/* Makes the group fit: first fewer items along sides left to us, then larger items along sides
 * asked for. */
static bool fit_group(const struct tiles_request *request, uint64_t group_items,
                      struct tiles *tiles)
{
    while (tiles->items_m * tiles->items_n > group_items) {
        bool shrink_m = request->tile_m == 0 && tiles->items_m > 1;
        bool shrink_n = request->tile_n == 0 && tiles->items_n > 1;
        if (shrink_m && (!shrink_n || tiles->items_m >= tiles->items_n)) {
            tiles->items_m /= 2;
        } else if (shrink_n) {
            tiles->items_n /= 2;
        } else if (tiles->items_m > 1 && tiles->item_m < ITEM_M_MAX) {
            tiles->items_m /= 2;
            tiles->item_m *= 2;
        } else if (tiles->items_n > 1 && tiles->item_vectors < ITEM_VECTORS_MAX) {
            tiles->items_n /= 2;
            tiles->item_vectors *= 2;
        } else {
            return false;
        }
    }
    return true;
}

static uint64_t local_bytes(const struct tiles *tiles, enum type type)
{
    uint64_t lines = tile_n(tiles) + (tiles->stage_a ? tiles->items_m * tiles->item_m : 0);
    return lines * tiles->tile_k * type_bytes(type);
}

/* A device that does not say how much it has is not held to a limit. */
static uint64_t local_limit(const struct device_caps *caps)
{
    return caps->local_bytes != 0 ? caps->local_bytes : UINT64_MAX;
}

enum code tiles_choose(const struct tiles_request *request, const struct device_caps *caps,
                       struct tiles *tiles, struct error *err)
{
    uint64_t local = local_limit(caps);
    if (items_run_in_turn(caps))
        choose_cpu(request, tiles);
    else
        choose_gpu(request, caps, tiles);
    if (request->tile_m != 0)
        ask_m(request->tile_m, tiles);
    if (request->tile_n != 0)
        ask_n(request->tile_n, tiles);
    if (request->tile_k != 0)
        tiles->tile_k = request->tile_k;
    bool fits = fit_group(request, caps->group_items, tiles);
    tiles->tile_m = tiles->items_m * tiles->item_m;
    tiles->tile_n = tile_n(tiles);
    if (!fits)
        return error_set(err, CODE_UNSUPPORTED, 0,
                         "a tile of %" PRIu64 "x%" PRIu64 " needs %" PRIu64
                         " work-items, a group has at most %" PRIu64,
                         tiles->tile_m, tiles->tile_n, tiles->items_m * tiles->items_n,
                         caps->group_items);
    while (request->tile_k == 0 && tiles->tile_k > TILE_K_MIN &&
           local_bytes(tiles, request->type) > local)
        tiles->tile_k /= 2;
    uint64_t bytes = local_bytes(tiles, request->type);
    if (bytes > local)
        return error_set(err, CODE_UNSUPPORTED, 0,
                         "a tile of %" PRIu64 "x%" PRIu64 "x%" PRIu64 " needs %" PRIu64
                         " bytes of local memory, a group has %" PRIu64,
                         tiles->tile_m, tiles->tile_n, tiles->tile_k, bytes, local);
    return CODE_OK;
}

uint64_t tiles_groups(const struct tiles *tiles, uint64_t m, uint64_t n)
{
    return divide_up(m, tiles->tile_m) * divide_up(n, tiles->tile_n);
}

void tiles_describe(const struct tiles *tiles, enum type type, struct step *step)
{
    snprintf(
        step->options, STEP_TEXT_BYTES,
        "%s-D REAL=%s -D WIDTH=%" PRIu64 " -D ITEMS_M=%" PRIu64 " -D ITEMS_N=%" PRIu64
        " -D ITEM_M=%" PRIu64 " -D ITEM_VECTORS=%" PRIu64 " -D TILE_K=%" PRIu64 " -D STAGE_A=%d",
        type == TYPE_F64 ? "-D FP64 " : "", type_name(type), tiles->width, tiles->items_m,
        tiles->items_n, tiles->item_m, tiles->item_vectors, tiles->tile_k, tiles->stage_a ? 1 : 0);
    snprintf(step->shape, STEP_TEXT_BYTES,
             "group %" PRIu64 "x%" PRIu64 ", item %" PRIu64 "x%" PRIu64 ", tile %" PRIu64
             "x%" PRIu64 "x%" PRIu64,
             tiles->items_m, tiles->items_n, tiles->item_m, tiles->item_vectors * tiles->width,
             tiles->tile_m, tiles->tile_n, tiles->tile_k);
}
