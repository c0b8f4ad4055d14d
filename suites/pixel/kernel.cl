/* SPDX-License-Identifier: Apache-2.0
 *
 * out[i] = in[i] - in[i + 1] (mod 256) over a row-major u8 image of `count` pixels; in[count] is
 * the halo pixel. Three ways of dividing the image over work-items, which give the same bytes.
 * Every index is 64 bits wide.
 *
 * Built with: GROUP (work-items of a group), VECTORS (vectors of 16 pixels an item of pixel_linear
 * does), and for pixel_tile TILE_VECTORS (vectors of 16 pixels in tile_height rows of tile_width +
 * 16), GROUP_X (items along a row of the tile; divides GROUP) and ROWS_ALIGNED. */

/* Neighbouring items take neighbouring vectors; an item's own vectors are a group's width apart. */
KERNEL void pixel_linear(GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT out, u64 count)
{
    u64 first = group_id(0) * (GROUP * VECTORS) + local_id(0);
    if ((first + GROUP * (VECTORS - 1) + 1) * 16 <= count) {
#pragma unroll
        for (u32 j = 0; j < VECTORS; j++) {
            u64 vector = first + j * GROUP;
            u8x16 pixels = load_u8x16(in, vector);
            store_u8x16(out, vector, pixels - shift_in_u8x16(pixels, in[vector * 16 + 16]));
        }
        return;
    }
    for (u32 i = 0; i < VECTORS * 16; i++) {
        u64 e = (first + i / 16 * GROUP) * 16 + i % 16;
        if (e < count)
            out[e] = (u8)(in[e] - in[e + 1]);
    }
}

/* Item w takes `share` consecutive pixels and reads one more. */
KERNEL void pixel_strip(GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT out, u64 count,
                        u64 workers, u64 share)
{
    u64 worker = group_id(0) * GROUP + local_id(0);
    if (worker >= workers || worker * share >= count)
        return;
    u64 begin = worker * share;
    u64 left = count - begin;
    u64 end = begin + (left < share ? left : share);
    u8 pixel = in[begin];
    for (u64 i = begin; i < end; i++) {
        u8 next = in[i + 1];
        out[i] = (u8)(pixel - next);
        pixel = next;
    }
}

#ifdef TILE_VECTORS
#define GROUP_Y (GROUP / GROUP_X)
/* Rows of the image start at a multiple of 16, or anywhere. */
#if ROWS_ALIGNED
#define load_row(p, e) load_u8x16(p, (e) / 16)
#define store_row(p, e, v) store_u8x16(p, (e) / 16, v)
#else
#define load_row(p, e) load_any_u8x16(p, e)
#define store_row(p, e, v) store_any_u8x16(p, e, v)
#endif

/* A group stages a tile and the column after it in local memory; at the right edge of the image
 * that column is the first pixel of the next row, as the definition follows the row-major order.
 * tile_width is a multiple of 16; a staged row has room for 16 pixels more. */
KERNEL void pixel_tile(GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT out, u64 width, u64 height,
                       u32 tile_width, u32 tile_height)
{
    LOCAL_ARRAY(u8x16, vectors, TILE_VECTORS);
    LOCAL u8 *tile = (LOCAL u8 *)vectors;
    u32 pitch = tile_width + 16;
    u64 tiles_across = (width + tile_width - 1) / tile_width;
    u64 left = group_id(0) % tiles_across * tile_width;
    u64 top = group_id(0) / tiles_across * tile_height;
    u32 columns = (u32)(width - left < tile_width ? width - left : tile_width);
    u32 rows = (u32)(height - top < tile_height ? height - top : tile_height);
    u32 first_column = (u32)local_id(0) % GROUP_X * 16;
    u32 first_row = (u32)local_id(0) / GROUP_X;

    for (u32 y = first_row; y < rows; y += GROUP_Y) {
        u64 row = (top + y) * width + left;
        for (u32 x = first_column; x < columns; x += GROUP_X * 16) {
            if (x + 16 <= columns) {
                store_local_u8x16(tile, (y * pitch + x) / 16, load_row(in, row + x));
            } else {
                for (u32 i = x; i < columns; i++)
                    tile[y * pitch + i] = in[row + i];
            }
        }
        if (first_column == 0)
            tile[y * pitch + columns] = in[row + columns];
    }
    local_barrier();
    for (u32 y = first_row; y < rows; y += GROUP_Y) {
        u64 row = (top + y) * width + left;
        for (u32 x = first_column; x < columns; x += GROUP_X * 16) {
            u32 e = y * pitch + x;
            if (x + 16 <= columns) {
                u8x16 pixels = load_local_u8x16(tile, e / 16);
                store_row(out, row + x, pixels - shift_in_u8x16(pixels, tile[e + 16]));
            } else {
                for (u32 i = 0; i < columns - x; i++)
                    out[row + x + i] = (u8)(tile[e + i] - tile[e + i + 1]);
            }
        }
    }
}
#endif
