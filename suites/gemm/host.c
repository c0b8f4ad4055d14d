/* SPDX-License-Identifier: Apache-2.0
 *
 * The matrix product in plain C for the host baseline, on one thread or several: blocks of B are
 * packed into panels that stay in the cache and strips of rows are kept in registers. The reference
 * must not share code with it. */
#include "suites/gemm/gemm.h"
#include "suites/gemm/product.h"

#include "suites/multiversion.h"

#include <string.h>

enum {
    VECTOR_BYTES = 64,
    PANEL_VECTORS = 2,
    BLOCK_PANELS = 8,
    STRIP_ROWS = 8,
    BLOCK_ROWS = 128, /* a multiple of STRIP_ROWS */
    BLOCK_DEPTH = 256,
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#define REAL float
#define NAME(x) f32_##x
#include "suites/gemm/block.inc"

#define REAL double
#define NAME(x) f64_##x
#include "suites/gemm/block.inc"

void product_host(const struct product *product, void *c, int threads)
{
    if (product->type == TYPE_F64)
        f64_product(product, c, threads);
    else
        f32_product(product, c, threads);
}

static void run(enum type type, const struct launch *launch, void *const *pointers, int threads)
{
    const struct product product = {
        .type = type,
        .a = pointers[GEMM_ARG_A],
        .b = pointers[GEMM_ARG_B],
        .m = launch->args[GEMM_ARG_M].u64,
        .n = launch->args[GEMM_ARG_N].u64,
        .k = launch->args[GEMM_ARG_K].u64,
        .scale = 1,
    };
    product_host(&product, pointers[GEMM_ARG_C], threads);
}

static void gemm_f32(const struct launch *launch, void *const *pointers, int threads)
{
    run(TYPE_F32, launch, pointers, threads);
}

static void gemm_f64(const struct launch *launch, void *const *pointers, int threads)
{
    run(TYPE_F64, launch, pointers, threads);
}

const struct host_kernel gemm_host_kernels[] = {
    {"gemm_f32", gemm_f32},
    {"gemm_f64", gemm_f64},
    {NULL, NULL},
};
