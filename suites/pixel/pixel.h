/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the pixel suite share: the plain C kernels and the limits of a tile. */
#ifndef SUITES_PIXEL_PIXEL_H
#define SUITES_PIXEL_PIXEL_H

#include "backends/backend.h"

enum {
    PIXEL_VECTOR = 16, /* pixels of one vector access of the kernel */
    PIXEL_TILE_WIDTH_MAX = 1024,
    PIXEL_TILE_HEIGHT_MAX = 64,
};

/* pixel_linear, pixel_strip and pixel_tile of kernel.cl, with the same arguments. */
extern const struct host_kernel pixel_host_kernels[];

#endif
