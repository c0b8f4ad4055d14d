/* SPDX-License-Identifier: Apache-2.0
 *
 * C [m x n] = A [m x k] * B [k x n], row-major and dense, for any m, n, k. A group computes a tile
 * of C, an item a block of the tile in registers; tiles of B, and of A where STAGE_A is 1, stand in
 * local memory. Every index is 64 bits wide.
 *
 * Stands behind suites/tile.cl; built with the sizes that it names, and STAGE_A. */

/* The first `count` elements at p + e and zeros after them; count < WIDTH. */
DEVICE_FN VECTOR load_part(GLOBAL const REAL *p, u64 e, u64 count)
{
    VECTOR v = splat(0);
    v.s0 = p[e];
    if (count > 1)
        v.s1 = p[e + 1];
    if (count > 2)
        v.s2 = p[e + 2];
#if WIDTH > 4
    if (count > 3)
        v.s3 = p[e + 3];
    if (count > 4)
        v.s4 = p[e + 4];
    if (count > 5)
        v.s5 = p[e + 5];
    if (count > 6)
        v.s6 = p[e + 6];
#endif
#if WIDTH > 8
    if (count > 7)
        v.s7 = p[e + 7];
    if (count > 8)
        v.s8 = p[e + 8];
    if (count > 9)
        v.s9 = p[e + 9];
    if (count > 10)
        v.sa = p[e + 10];
    if (count > 11)
        v.sb = p[e + 11];
    if (count > 12)
        v.sc = p[e + 12];
    if (count > 13)
        v.sd = p[e + 13];
    if (count > 14)
        v.se = p[e + 14];
#endif
    return v;
}

KERNEL void JOIN(gemm_, REAL)(GLOBAL const REAL *RESTRICT a, GLOBAL const REAL *RESTRICT b,
                              GLOBAL REAL *RESTRICT c, u64 m, u64 n, u64 k)
{
    LOCAL_ARRAY(VECTOR, b_tile, TILE_K * TILE_VECTORS);
#if STAGE_A
    LOCAL_ARRAY(REAL, a_tile, TILE_K * TILE_M);
#endif
    u64 tiles_across = (n + TILE_N - 1) / TILE_N;
    u64 top = group_id(0) / tiles_across * TILE_M;
    u64 left = group_id(0) % tiles_across * TILE_N;
    u32 item = (u32)local_id(0);
    u32 item_row = item / ITEMS_N * ITEM_M;
    u32 item_vector = item % ITEMS_N;

    VECTOR sum[ITEM_M][ITEM_VECTORS];
    u64 row[ITEM_M]; /* index of A's element (row, 0); a row past the end repeats the last one and
                        is not stored */
#pragma unroll
    for (u32 i = 0; i < ITEM_M; i++) {
        u64 y = top + item_row + i;
        row[i] = (y < m ? y : m - 1) * k;
#pragma unroll
        for (u32 j = 0; j < ITEM_VECTORS; j++)
            sum[i][j] = splat(0);
    }

    for (u64 begin = 0; begin < k; begin += TILE_K) {
        u32 depth = (u32)(k - begin < TILE_K ? k - begin : TILE_K);
        for (u32 v = item; v < depth * TILE_VECTORS; v += ITEMS) {
            u64 column = left + v % TILE_VECTORS * WIDTH;
            u64 e = (begin + v / TILE_VECTORS) * n + column;
            if (column + WIDTH <= n)
                b_tile[v] = load_any(b, e);
            else if (column < n)
                b_tile[v] = load_part(b, e, n - column);
            else
                b_tile[v] = splat(0);
        }
#if STAGE_A
        for (u32 e = item; e < TILE_M * TILE_K; e += ITEMS) {
            u64 y = top + e / TILE_K;
            u32 p = e % TILE_K;
            a_tile[p * TILE_M + e / TILE_K] = y < m && p < depth ? a[y * k + begin + p] : 0;
        }
#endif
        local_barrier();
        for (u32 p = 0; p < depth; p++) {
            VECTOR right[ITEM_VECTORS];
#pragma unroll
            for (u32 j = 0; j < ITEM_VECTORS; j++)
                right[j] = b_tile[p * TILE_VECTORS + j * ITEMS_N + item_vector];
#pragma unroll
            for (u32 i = 0; i < ITEM_M; i++) {
#if STAGE_A
                VECTOR factor = splat(a_tile[p * TILE_M + item_row + i]);
#else
                VECTOR factor = splat(a[row[i] + begin + p]);
#endif
#pragma unroll
                for (u32 j = 0; j < ITEM_VECTORS; j++)
                    sum[i][j] = sum[i][j] + factor * right[j];
            }
        }
        local_barrier();
    }

#pragma unroll
    for (u32 i = 0; i < ITEM_M; i++) {
        u64 y = top + item_row + i;
#pragma unroll
        for (u32 j = 0; j < ITEM_VECTORS; j++) {
            u64 column = left + (j * ITEMS_N + item_vector) * WIDTH;
            if (y < m && column + WIDTH <= n)
                store_any(c, y * n + column, sum[i][j]);
            else if (y < m && column < n)
                store_part(c, y * n + column, sum[i][j], n - column);
        }
    }
}
