/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the conformance checks: every name of the kernel dialect in use, and the same in
 * plain C for the host backend. Expected values stand in conformance.h, worked out by hand, never
 * by these forms. */
#ifndef TESTS_BACKENDS_CONFORMANCE_KERNELS_H
#define TESTS_BACKENDS_CONFORMANCE_KERNELS_H

#include "backends/backend.h"

#include <string.h>

static const char conformance_text[] =
    "DEVICE_FN u32 quarters(f32 x) { return (u32)(x * 4.0f); }\n"
    "KERNEL void args(GLOBAL u32 *out, u32 a, u64 b, f32 c)\n"
    "{\n"
    "    out[0] = a;\n"
    "    out[1] = (u32)(b >> 32);\n"
    "    out[2] = (u32)b;\n"
    "    out[3] = quarters(c);\n"
    "}\n"
    "KERNEL void ids(GLOBAL u32 *out)\n"
    "{\n"
    "    u64 at = (global_id(2) * global_size(1) + global_id(1)) * global_size(0) + global_id(0);\n"
    "    out[at] = (u32)(100000 * global_id(2) + 1000 * global_id(1) + 10 * global_id(0) + "
    "group_count(0));\n"
    "}\n"
    /* each group turns its items round, once through a local argument and once through a local
       array */
    "KERNEL void turn(GLOBAL const u32 *in, GLOBAL u32 *out, LOCAL u32 *room)\n"
    "{\n"
    "    LOCAL_ARRAY(u32, again, 8);\n"
    "    u64 last = local_size(0) - 1;\n"
    "    room[local_id(0)] = in[group_id(0) * local_size(0) + local_id(0)];\n"
    "    local_barrier();\n"
    "    again[local_id(0)] = room[last - local_id(0)] + 1;\n"
    "    local_barrier();\n"
    "    out[global_id(0)] = again[local_id(0)];\n"
    "}\n"
    /* out is [f32x4 aligned, any][f32x8 …][f32x16 …] of in + 1, words is u32x4, bytes is u8x16 */
    "KERNEL void vectors(GLOBAL const f32 *RESTRICT in, GLOBAL f32 *RESTRICT out,\n"
    "                    GLOBAL u32 *words, GLOBAL u8 *bytes)\n"
    "{\n"
    "    LOCAL_ARRAY(f32, four, 4);\n"
    "    f32x16 any = load_any_f32x16(in, 65);\n"
    "    store_f32x4(out, 0, load_f32x4(in, 0) + splat_f32x4(1.0f));\n"
    "    store_any_f32x4(out, 5, load_any_f32x4(in, 5) + make_f32x4(1.0f, 2.0f, 3.0f, 4.0f));\n"
    "    store_f32x8(out, 2, load_f32x8(in, 2) * splat_f32x8(2.0f));\n"
    "    store_any_f32x8(out, 25, load_any_f32x8(in, 25) - splat_f32x8(1.0f));\n"
    "    store_f32x16(out, 3, load_f32x16(in, 3) + splat_f32x16(1.0f));\n"
    "    store_any_f32x16(out, 65, fma(any, splat_f32x16(2.0f), splat_f32x16(1.0f)));\n"
    "    store_u32x4(words, 1, load_u32x4(words, 0) + make_u32x4(1, 2, 3, 4) * splat_u32x4(10));\n"
    "    store_any_u32x4(words, 9, load_any_u32x4(words, 1));\n"
    "    store_u8x16(bytes, 2, load_u8x16(bytes, 0) - load_any_u8x16(bytes, 1));\n"
    "    store_any_u8x16(bytes, 51, splat_u8x16(200) + splat_u8x16(100));\n"
    "    store_local_f32x4(four, 0, splat_f32x4(3.0f));\n"
    "    out[100] = load_local_f32x4(four, 0).s3;\n"
    "    out[101] = mad(in[3], 2.0f, 1.0f) + exp(0.0f) + sqrt(16.0f) + fabs(-1.0f) +\n"
    "               fmin(1.0f, 2.0f) + fmax(1.0f, 2.0f);\n"
    "    out[102] = (f32)(min(3, 5) + max(3, 5));\n"
    "}\n";

static const char conformance_f64_text[] =
    "KERNEL void wide(GLOBAL f64 *out, f64 x) { out[0] = x + 1.0; }\n";

static void host_args(const struct launch *launch, void *const *pointers, int threads)
{
    (void)threads;
    uint32_t *out = pointers[0];
    out[0] = launch->args[1].u32;
    out[1] = (uint32_t)(launch->args[2].u64 >> 32);
    out[2] = (uint32_t)launch->args[2].u64;
    out[3] = (uint32_t)(launch->args[3].f32 * 4.0F);
}

static void host_ids(const struct launch *launch, void *const *pointers, int threads)
{
    (void)threads;
    uint32_t *out = pointers[0];
    const uint64_t *global = launch->global;
    for (uint64_t at = 0; at < global[0] * global[1] * global[2]; at++)
        out[at] = (uint32_t)(100000 * (at / (global[0] * global[1])) +
                             1000 * (at / global[0] % global[1]) + 10 * (at % global[0]) +
                             global[0] / launch->local[0]);
}

static void host_turn(const struct launch *launch, void *const *pointers, int threads)
{
    (void)threads;
    const uint32_t *in = pointers[0];
    uint32_t *out = pointers[1];
    uint64_t size = launch->local[0];
    for (uint64_t i = 0; i < launch->global[0]; i++)
        out[i] = in[i / size * size + (size - 1 - i % size)] + 1;
}

static void host_vectors(const struct launch *launch, void *const *pointers, int threads)
{
    (void)launch;
    (void)threads;
    const float *in = pointers[0];
    float *out = pointers[1];
    uint32_t *words = pointers[2];
    uint8_t *bytes = pointers[3];
    for (uint32_t i = 0; i < 16; i++) {
        if (i < 4) {
            out[i] = in[i] + 1.0F;
            out[5 + i] = in[5 + i] + 1.0F + (float)i;
            words[4 + i] = words[i] + 10 * (i + 1);
        }
        if (i < 8) {
            out[16 + i] = in[16 + i] * 2.0F;
            out[25 + i] = in[25 + i] - 1.0F;
        }
        out[48 + i] = in[48 + i] + 1.0F;
        out[65 + i] = in[65 + i] * 2.0F + 1.0F;
        bytes[32 + i] = (uint8_t)(bytes[i] - bytes[i + 1]);
        bytes[51 + i] = (uint8_t)300;
    }
    memmove(words + 9, words + 1, 4 * sizeof *words);
    out[100] = 3.0F;
    out[101] = in[3] * 2.0F + 1.0F + 9.0F;
    out[102] = 8.0F;
}

static void host_wide(const struct launch *launch, void *const *pointers, int threads)
{
    (void)threads;
    *(double *)pointers[0] = launch->args[1].f64 + 1.0;
}

static const struct host_kernel conformance_host[] = {{"args", host_args},
                                                      {"ids", host_ids},
                                                      {"turn", host_turn},
                                                      {"vectors", host_vectors},
                                                      {NULL, NULL}};
static const struct host_kernel conformance_f64_host[] = {{"wide", host_wide}, {NULL, NULL}};

#endif
