/* SPDX-License-Identifier: Apache-2.0
 *
 * Ceilings of the host's processors; see ceiling.h. This file alone is compiled with fused
 * multiply-adds allowed. */
#include "harness/ceiling.h"

#include "base/clock.h"

#include <string.h>

/* Compiled once for each vector width; the widest that the processor has is chosen when the program
 * starts. */
#if defined(__x86_64__)
#define MULTIVERSION __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define MULTIVERSION
#endif

enum {
    CHAINS = 12,
    FMA_STEPS = 3000000,
    COPY_BYTES = 8192,
    COPY_STEPS = 200000,
    REPEATS = 6,
    LANES = 16
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* Twelve independent chains of multiply-adds in named variables, so that they stay in registers
 * (latency 4 times 2 units needs 8); the sum keeps them alive. */
MULTIVERSION static float fma_chains(float factor, float summand, int steps)
{
    lanes a = (lanes){0} + 1.0f, b = a + 1.0f, c = b + 1.0f, d = c + 1.0f, e = d + 1.0f,
          f = e + 1.0f;
    lanes g = f + 1.0f, h = g + 1.0f, i = h + 1.0f, j = i + 1.0f, k = j + 1.0f, l = k + 1.0f;
    lanes m = (lanes){0} + factor, s = (lanes){0} + summand;
    for (int step = 0; step < steps; step++) {
        a = a * m + s, b = b * m + s, c = c * m + s, d = d * m + s, e = e * m + s, f = f * m + s;
        g = g * m + s, h = h * m + s, i = i * m + s, j = j * m + s, k = k * m + s, l = l * m + s;
    }
    lanes all = a + b + c + d + e + f + g + h + i + j + k + l;
    float sum = 0.0f;
    for (int lane = 0; lane < LANES; lane++)
        sum += all[lane];
    return sum;
}

float ceiling_multiply_adds(float factor, float summand, int steps)
{
    return fma_chains(factor, summand, steps);
}

static unsigned copy_in_cache(unsigned char seed)
{
    unsigned char source[COPY_BYTES], target[COPY_BYTES];
    memset(source, seed, sizeof source);
    unsigned sum = 0;
    for (int i = 0; i < COPY_STEPS; i++) {
        source[i % COPY_BYTES] = (unsigned char)i;
        memcpy(target, source, sizeof target);
        __asm__ volatile("" : : "r"(target) : "memory"); /* the copy is not to be removed */
        sum += target[i % COPY_BYTES];
    }
    return sum;
}

void ceiling_measure(int threads, struct ceiling *ceiling)
{
    *ceiling = (struct ceiling){0};
    volatile float keep_sum = 0.0f;
    volatile unsigned keep_bytes = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        float sum = 0.0f;
        unsigned bytes = 0;
        uint64_t begin = clock_now_ns();
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(static, 1)
        for (int t = 0; t < threads; t++)
            sum += fma_chains(0.5f, 0.25f, FMA_STEPS);
        uint64_t middle = clock_now_ns();
#pragma omp parallel for num_threads(threads) reduction(+ : bytes) schedule(static, 1)
        for (int t = 0; t < threads; t++)
            bytes += copy_in_cache((unsigned char)t);
        uint64_t end = clock_now_ns();
        keep_sum = keep_sum + sum;
        keep_bytes = keep_bytes + bytes;
        double operations =
            2.0 * LANES * CHAINS * (double)FMA_STEPS * threads / ((double)(middle - begin) * 1e-9);
        double moved =
            2.0 * COPY_BYTES * (double)COPY_STEPS * threads / ((double)(end - middle) * 1e-9);
        if (operations > ceiling->operations_per_s)
            ceiling->operations_per_s = operations;
        if (moved > ceiling->bytes_per_s)
            ceiling->bytes_per_s = moved;
    }
}
