/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded inputs; see data.h. */
#include "harness/data.h"

#include <assert.h>
#include <string.h>

static const uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

uint64_t data_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9u;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebu;
    value ^= value >> 31;
    return value;
}

static void fill_u8(uint64_t base, uint8_t *target, uint64_t count)
{
    int64_t words = (int64_t)((count + 7) / 8);
#pragma omp parallel for schedule(static)
    for (int64_t w = 0; w < words; w++) {
        uint64_t bits = data_mix(base + (uint64_t)w * golden_gamma);
        uint64_t begin = (uint64_t)w * 8;
        memcpy(target + begin, &bits, count - begin < 8 ? count - begin : 8);
    }
}

static void fill_f32(uint64_t base, float scale, float *target, uint64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        uint64_t bits = data_mix(base + (uint64_t)i * golden_gamma);
        int32_t odd = (int32_t)((uint32_t)(bits >> 40) | 1u) - (1 << 23); /* 24 bits, odd */
        target[i] = (float)odd * 0x1p-23f * scale;
    }
}

static void fill_f64(uint64_t base, double scale, double *target, uint64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        uint64_t bits = data_mix(base + (uint64_t)i * golden_gamma);
        int64_t odd = (int64_t)((bits >> 11) | 1u) - ((int64_t)1 << 52); /* 53 bits, odd */
        target[i] = (double)odd * 0x1p-52 * scale;
    }
}

void data_fill(enum type type, double scale, uint64_t seed, uint64_t first, void *target,
               uint64_t count)
{
    uint64_t base = data_mix(seed) + first * golden_gamma;
    switch (type) {
    case TYPE_U8:
        assert(first % 8 == 0);
        fill_u8(data_mix(seed) + first / 8 * golden_gamma, target, count);
        break;
    case TYPE_F32:
        fill_f32(base, (float)scale, target, count);
        break;
    case TYPE_F64:
        fill_f64(base, scale, target, count);
        break;
    }
}

uint64_t data_derive_seed(uint64_t seed, const char *text)
{
    uint64_t mixed = data_mix(seed + golden_gamma);
    for (; *text != '\0'; text++)
        mixed = data_mix(mixed ^ (unsigned char)*text) + golden_gamma;
    return mixed;
}
