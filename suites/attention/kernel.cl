/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of an attention layer in f32: products of rows by rows for the projections and the
 * scores, and a row-wise softmax. Every index is 64 bits wide.
 *
 * Stands behind suites/tile.cl. attention_product is built with the sizes that it names (TILE_K a
 * multiple of WIDTH) and STAGE_A; attention_softmax with WIDTH, LANES (items that share a row, a
 * power of two) and ROWS (rows of a group). */

#ifdef TILE_K
/* Puts element i of v at tile[i * TILE_N]. */
DEVICE_FN void scatter(LOCAL f32 *tile, VECTOR v)
{
    tile[0] = v.s0;
    tile[TILE_N] = v.s1;
    tile[2 * TILE_N] = v.s2;
    tile[3 * TILE_N] = v.s3;
#if WIDTH > 4
    tile[4 * TILE_N] = v.s4;
    tile[5 * TILE_N] = v.s5;
    tile[6 * TILE_N] = v.s6;
    tile[7 * TILE_N] = v.s7;
#endif
#if WIDTH > 8
    tile[8 * TILE_N] = v.s8;
    tile[9 * TILE_N] = v.s9;
    tile[10 * TILE_N] = v.sa;
    tile[11 * TILE_N] = v.sb;
    tile[12 * TILE_N] = v.sc;
    tile[13 * TILE_N] = v.sd;
    tile[14 * TILE_N] = v.se;
    tile[15 * TILE_N] = v.sf;
#endif
}

/* For each head h of the launch: C_h [m x n] = scale * A_g [m x k] * transposed B_g [n x k], where
 * g = first + h; heads follow each other in every buffer, and C holds those of the launch alone. */
KERNEL void attention_product(GLOBAL const f32 *RESTRICT a, GLOBAL const f32 *RESTRICT b,
                              GLOBAL f32 *RESTRICT c, u64 m, u64 n, u64 k, u64 first, f32 scale,
                              u64 heads)
{
    LOCAL_ARRAY(VECTOR, b_tile, TILE_K * TILE_VECTORS);
#if STAGE_A
    LOCAL_ARRAY(f32, a_tile, TILE_K * TILE_M);
#endif
    LOCAL f32 *b_elements = (LOCAL f32 *)b_tile;
    u64 tiles_across = (n + TILE_N - 1) / TILE_N;
    u64 tiles = group_count(0) / heads; /* of one head */
    u64 head = group_id(0) / tiles;
    u64 top = group_id(0) % tiles / tiles_across * TILE_M;
    u64 left = group_id(0) % tiles % tiles_across * TILE_N;
    u32 item = (u32)local_id(0);
    u32 item_row = item / ITEMS_N * ITEM_M;
    u32 item_vector = item % ITEMS_N;
    u64 a_head = (first + head) * m * k;
    u64 b_head = (first + head) * n * k;

    VECTOR sum[ITEM_M][ITEM_VECTORS];
    u64 row[ITEM_M]; /* index of A's element (row, 0); a row past the end repeats the last one and
                        is not stored */
#pragma unroll
    for (u32 i = 0; i < ITEM_M; i++) {
        u64 y = top + item_row + i;
        row[i] = a_head + (y < m ? y : m - 1) * k;
#pragma unroll
        for (u32 j = 0; j < ITEM_VECTORS; j++)
            sum[i][j] = splat(0);
    }

    for (u64 begin = 0; begin < k; begin += TILE_K) {
        u32 depth = (u32)(k - begin < TILE_K ? k - begin : TILE_K);
        /* Rows of B are read along k and become columns of the tile; what lies past n or k is never
         * used. */
        for (u32 v = item; v < TILE_N * (TILE_K / WIDTH); v += ITEMS) {
            u32 column = v / (TILE_K / WIDTH);
            u32 p = v % (TILE_K / WIDTH) * WIDTH;
            u64 e = b_head + (left + column) * k + begin + p;
            if (left + column < n && p + WIDTH <= depth) {
                scatter(b_elements + p * TILE_N + column, load_any(b, e));
            } else {
                for (u32 i = 0; i < WIDTH; i++)
                    b_elements[(p + i) * TILE_N + column] =
                        left + column < n && p + i < depth ? b[e + i] : 0;
            }
        }
#if STAGE_A
        for (u32 e = item; e < TILE_M * TILE_K; e += ITEMS) {
            u64 y = top + e / TILE_K;
            u32 p = e % TILE_K;
            a_tile[p * TILE_M + e / TILE_K] =
                y < m && p < depth ? a[a_head + y * k + begin + p] : 0;
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
        u64 e = (head * m + y) * n;
#pragma unroll
        for (u32 j = 0; j < ITEM_VECTORS; j++) {
            u64 column = left + (j * ITEMS_N + item_vector) * WIDTH;
            VECTOR result = sum[i][j] * splat(scale);
            if (y < m && column + WIDTH <= n)
                store_any(c, e + column, result);
            else if (y < m && column < n)
                store_part(c, e + column, result, n - column);
        }
    }
}
#endif

#ifdef ROWS
#define LOWEST -3.402823466e+38f

DEVICE_FN f32 largest_element(VECTOR v)
{
    f32 x = fmax(fmax(v.s0, v.s1), fmax(v.s2, v.s3));
#if WIDTH > 4
    x = fmax(x, fmax(fmax(v.s4, v.s5), fmax(v.s6, v.s7)));
#endif
#if WIDTH > 8
    x = fmax(x, fmax(fmax(v.s8, v.s9), fmax(v.sa, v.sb)));
    x = fmax(x, fmax(fmax(v.sc, v.sd), fmax(v.se, v.sf)));
#endif
    return x;
}

DEVICE_FN f32 sum_of_elements(VECTOR v)
{
    f32 x = (v.s0 + v.s1) + (v.s2 + v.s3);
#if WIDTH > 4
    x += (v.s4 + v.s5) + (v.s6 + v.s7);
#endif
#if WIDTH > 8
    x += (v.s8 + v.s9) + (v.sa + v.sb);
    x += (v.sc + v.sd) + (v.se + v.sf);
#endif
    return x;
}

/* For each of `rows` rows: out = exp(in - m) / sum of exp(in - m), where m is the row's largest
 * element. An item writes and reads again only its own elements of a row. Every item of a group
 * takes part in every barrier, with rows past the end empty. */
KERNEL void attention_softmax(GLOBAL const f32 *RESTRICT in, GLOBAL f32 *RESTRICT out, u64 rows,
                              u64 columns)
{
    LOCAL_ARRAY(f32, shared, LANES * ROWS);
    u32 item = (u32)local_id(0);
    u32 lane = item % LANES;
    u64 row = group_id(0) * ROWS + item / LANES;
    u64 base = row * columns;
    u64 end = row < rows ? columns : 0;
    u64 whole = end / WIDTH * WIDTH; /* elements in whole vectors; the rest one by one */

    VECTOR largest = splat(LOWEST);
    for (u64 e = lane * WIDTH; e < whole; e += LANES * WIDTH)
        largest = fmax(largest, load_any(in, base + e));
    f32 top = largest_element(largest);
    for (u64 e = whole + lane; e < end; e += LANES)
        top = fmax(top, in[base + e]);
#if LANES > 1
    shared[item] = top;
    local_barrier();
    for (u32 step = LANES / 2; step > 0; step /= 2) {
        if (lane < step)
            shared[item] = fmax(shared[item], shared[item + step]);
        local_barrier();
    }
    top = shared[item - lane];
    local_barrier();
#endif

    VECTOR sums = splat(0);
    for (u64 e = lane * WIDTH; e < whole; e += LANES * WIDTH) {
        VECTOR power = exp(load_any(in, base + e) - splat(top));
        store_any(out, base + e, power);
        sums = sums + power;
    }
    f32 sum = sum_of_elements(sums);
    for (u64 e = whole + lane; e < end; e += LANES) {
        f32 power = exp(in[base + e] - top);
        out[base + e] = power;
        sum += power;
    }
#if LANES > 1
    shared[item] = sum;
    local_barrier();
    for (u32 step = LANES / 2; step > 0; step /= 2) {
        if (lane < step)
            shared[item] += shared[item + step];
        local_barrier();
    }
    sum = shared[item - lane];
#endif

    f32 factor = 1.0f / sum;
    for (u64 e = lane * WIDTH; e < whole; e += LANES * WIDTH)
        store_any(out, base + e, load_any(out, base + e) * splat(factor));
    for (u64 e = whole + lane; e < end; e += LANES)
        out[base + e] *= factor;
}
#endif
