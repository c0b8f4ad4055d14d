/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tiled kernels share, before their own text: the names of the vector type that they are
 * built for, and the tile that their shape makes.
 *
 * Built with: REAL (f32 or f64; f32 if not given), WIDTH (elements of a vector: 4, 8 or 16); and
 * for a product ITEMS_M x ITEMS_N (items of a group), ITEM_M (rows of an item), ITEM_VECTORS
 * (vectors of an item), TILE_K. */

#ifndef REAL
#define REAL f32
#endif
#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define VECTOR JOIN(REAL, JOIN(x, WIDTH))
#define splat JOIN(splat_, VECTOR)
#define load_any JOIN(load_any_, VECTOR)
#define store_any JOIN(store_any_, VECTOR)

#ifdef TILE_K
#define ITEMS (ITEMS_M * ITEMS_N)
#define TILE_M (ITEMS_M * ITEM_M)
#define TILE_VECTORS (ITEMS_N * ITEM_VECTORS)
#define TILE_N (TILE_VECTORS * WIDTH)

/* Stores the first `count` elements; 0 < count < WIDTH. */
DEVICE_FN void store_part(GLOBAL REAL *p, u64 e, VECTOR v, u64 count)
{
    p[e] = v.s0;
    if (count > 1)
        p[e + 1] = v.s1;
    if (count > 2)
        p[e + 2] = v.s2;
#if WIDTH > 4
    if (count > 3)
        p[e + 3] = v.s3;
    if (count > 4)
        p[e + 4] = v.s4;
    if (count > 5)
        p[e + 5] = v.s5;
    if (count > 6)
        p[e + 6] = v.s6;
#endif
#if WIDTH > 8
    if (count > 7)
        p[e + 7] = v.s7;
    if (count > 8)
        p[e + 8] = v.s8;
    if (count > 9)
        p[e + 9] = v.s9;
    if (count > 10)
        p[e + 10] = v.sa;
    if (count > 11)
        p[e + 11] = v.sb;
    if (count > 12)
        p[e + 12] = v.sc;
    if (count > 13)
        p[e + 13] = v.sd;
    if (count > 14)
        p[e + 14] = v.se;
#endif
}
#endif
