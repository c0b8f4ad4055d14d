/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix product C = A * B, row-major, f32 or f64: 2 m n k operations. This file says what a case
 * is and shapes its one launch; the tile sizes come from tiles.c, the answers from reference.c. */
#include "suites/gemm/gemm.h"
#include "suites/gemm/product.h"
#include "suites/gemm/tiles.h"
#include "suites/step.h"

#include <string.h>

static const char *const types[] = {"f32", "f64", NULL};
enum { M, N, K, TYPE, TILE_M, TILE_N, TILE_K }; /* order of params */
enum { CHOICE_F32, CHOICE_F64 };
enum { A, B, C }; /* order of buffers */

static const struct param params[] = {
    [M] = {.name = "m",
           .summary = "rows of A and C",
           .unit = "",
           .min = 1,
           .max = 1048576,
           .def = 1024},
    [N] = {.name = "n",
           .summary = "columns of B and C",
           .unit = "",
           .min = 1,
           .max = 1048576,
           .def = 1024},
    [K] = {.name = "k",
           .summary = "columns of A, rows of B",
           .unit = "",
           .min = 1,
           .max = 1048576,
           .def = 1024},
    [TYPE] = {.name = "type",
              .summary = "type of the elements",
              .unit = "",
              .kind = PARAM_CHOICE,
              .def = CHOICE_F32,
              .choices = types},
    [TILE_M] = {.name = "tile_m",
                .summary = "rows of the tile of a group, a power of two",
                .unit = "",
                .min = TILES_MIN,
                .max = TILES_MAX,
                .optional = true},
    [TILE_N] = {.name = "tile_n",
                .summary = "columns of the tile of a group, a power of two",
                .unit = "",
                .min = TILES_MIN,
                .max = TILES_MAX,
                .optional = true},
    [TILE_K] = {.name = "tile_k",
                .summary = "depth of a tile in local memory, a power of two",
                .unit = "",
                .min = TILES_MIN,
                .max = TILES_DEPTH_MAX,
                .optional = true},
};

static enum type element_type(const struct case_spec *spec)
{
    return spec->values[TYPE] == CHOICE_F64 ? TYPE_F64 : TYPE_F32;
}

static struct tiles_request request(const struct case_spec *spec)
{
    return (struct tiles_request){
        .type = element_type(spec),
        .m = spec->values[M],
        .n = spec->values[N],
        .k = spec->values[K],
        .tile_m = spec->values[TILE_M],
        .tile_n = spec->values[TILE_N],
        .tile_k = spec->values[TILE_K],
    };
}

static bool valid(const struct case_spec *spec, char reason[STEP_TEXT_BYTES])
{
    struct tiles_request asked = request(spec);
    return tiles_valid(&asked, reason);
}

static bool needs_f64(const struct case_spec *spec)
{
    return spec->values[TYPE] == CHOICE_F64;
}

static struct work work(const struct case_spec *spec)
{
    return (struct work){
        .operations = 2 * spec->values[M] * spec->values[N] * spec->values[K],
        .by_operations = true,
        .unit = "FLOP/s",
    };
}

static enum code build(const struct case_spec *spec, const struct device_caps *caps,
                       struct step *step, struct error *err)
{
    uint64_t m = spec->values[M], n = spec->values[N], k = spec->values[K];
    enum type type = element_type(spec);
    struct buffer_spec buffer = {.role = BUFFER_IN, .type = type, .scale = 1};
    buffer.name = "a";
    buffer.count = m * k;
    step_add_buffer(step, buffer);
    buffer.name = "b";
    buffer.count = k * n;
    step_add_buffer(step, buffer);
    buffer.name = "c";
    buffer.role = BUFFER_OUT;
    buffer.count = m * n;
    step_add_buffer(step, buffer);

    struct tiles_request asked = request(spec);
    struct tiles tiles;
    enum code code = step_check_memory(step, caps, err);
    if (code == CODE_OK)
        code = tiles_choose(&asked, caps, &tiles, err);
    if (code != CODE_OK)
        return code;
    tiles_describe(&tiles, type, step);
    struct op *op = step_add_launch(step, type == TYPE_F64 ? "gemm_f64" : "gemm_f32",
                                    tiles_groups(&tiles, m, n), tiles.items_m * tiles.items_n);
    op_add_buffer(op, A);
    op_add_buffer(op, B);
    op_add_buffer(op, C);
    op_add_u64(op, m);
    op_add_u64(op, n);
    op_add_u64(op, k);
    return CODE_OK;
}

static struct product product(const struct case_spec *spec)
{
    return (struct product){
        .type = element_type(spec),
        .m = spec->values[M],
        .n = spec->values[N],
        .k = spec->values[K],
        .scale = 1,
    };
}

static void reference(const struct case_spec *spec, const struct step *step,
                      const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                      double *result)
{
    (void)step;
    (void)out;
    struct product matrices = product(spec);
    matrices.a = data[A];
    matrices.b = data[B];
    product_reference(&matrices, begin, end, result);
}

static struct tolerance tolerance(const struct case_spec *spec)
{
    struct product matrices = product(spec);
    return (struct tolerance){
        .absolute = product_tolerance(&matrices, 1, 1, matrices.m * matrices.n),
        .derivation = "k additions, each rounding a partial sum at random: lambda^2 u k / 3, "
                      "lambda for 1 - 1e-6 "
                      "over all elements (Higham and Mary 2019, 2020)",
    };
}

static const char *const kernels[] = {"suites/tile.cl", "suites/gemm/kernel.cl", NULL};

const struct suite suite_gemm = {
    .name = "gemm",
    .summary = "matrix product C = A B in f32 or f64",
    .source =
        "BLAS level 3 GEMM (Dongarra et al. 1990) with alpha = 1, beta = 0; 2 m n k operations",
    .version = 1,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .kernels = kernels,
    .host = gemm_host_kernels,
    .valid = valid,
    .needs_f64 = needs_f64,
    .work = work,
    .build = build,
    .reference = reference,
    .tolerance = tolerance,
};
