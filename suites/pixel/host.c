/* SPDX-License-Identifier: Apache-2.0
 *
 * The pixel kernels in plain C, on one thread or several. Each divides the image as its device
 * kernel does. */
#include "suites/pixel/pixel.h"

#include "suites/multiversion.h"

#include <stddef.h>

enum { IN, OUT }; /* arguments that are buffers */
enum { LINEAR_COUNT = 2 };
enum { STRIP_COUNT = 2, STRIP_WORKERS, STRIP_SHARE };
enum { TILE_IMAGE_WIDTH = 2, TILE_IMAGE_HEIGHT, TILE_WIDTH, TILE_HEIGHT };
enum { CHUNK_PIXELS = 1 << 20 }; /* of pixel_linear: what a thread takes at a time */

/* in has one element more than out. */
MULTIVERSION static void difference(const uint8_t *restrict in, uint8_t *restrict out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(in[i] - in[i + 1]);
}

MULTIVERSION static void copy_row(const uint8_t *restrict in, uint8_t *restrict out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[i];
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void pixel_linear(const struct launch *launch, void *const *pointers, int threads)
{
    const uint8_t *in = pointers[IN];
    uint8_t *out = pointers[OUT];
    uint64_t count = launch->args[LINEAR_COUNT].u64;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t begin = 0; begin < count; begin += CHUNK_PIXELS)
        difference(in + begin, out + begin, least(CHUNK_PIXELS, count - begin));
}

static void pixel_strip(const struct launch *launch, void *const *pointers, int threads)
{
    const uint8_t *in = pointers[IN];
    uint8_t *out = pointers[OUT];
    uint64_t count = launch->args[STRIP_COUNT].u64;
    uint64_t workers = launch->args[STRIP_WORKERS].u64;
    uint64_t share = launch->args[STRIP_SHARE].u64;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t worker = 0; worker < workers; worker++) {
        uint64_t begin = least(worker * share, count);
        difference(in + begin, out + begin, least(share, count - begin));
    }
}

struct image {
    const uint8_t *in;
    uint8_t *out;
    uint64_t width, height;
    uint64_t tile_width, tile_height;
};

static void tile(const struct image *image, uint64_t left, uint64_t top)
{
    uint8_t staged[PIXEL_TILE_HEIGHT_MAX][PIXEL_TILE_WIDTH_MAX + 1];
    uint64_t columns = least(image->tile_width, image->width - left);
    uint64_t rows = least(image->tile_height, image->height - top);
    for (uint64_t y = 0; y < rows; y++)
        copy_row(image->in + (top + y) * image->width + left, staged[y], columns + 1);
    for (uint64_t y = 0; y < rows; y++)
        difference(staged[y], image->out + (top + y) * image->width + left, columns);
}

static void pixel_tile(const struct launch *launch, void *const *pointers, int threads)
{
    const struct image image = {
        .in = pointers[IN],
        .out = pointers[OUT],
        .width = launch->args[TILE_IMAGE_WIDTH].u64,
        .height = launch->args[TILE_IMAGE_HEIGHT].u64,
        .tile_width = launch->args[TILE_WIDTH].u32,
        .tile_height = launch->args[TILE_HEIGHT].u32,
    };
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t top = 0; top < image.height; top += image.tile_height) {
        for (uint64_t left = 0; left < image.width; left += image.tile_width)
            tile(&image, left, top);
    }
}

const struct host_kernel pixel_host_kernels[] = {
    {"pixel_linear", pixel_linear},
    {"pixel_strip", pixel_strip},
    {"pixel_tile", pixel_tile},
    {NULL, NULL},
};
