/* SPDX-License-Identifier: Apache-2.0
 *
 * The attention kernels in plain C for the host baseline, on one thread or several. The reference
 * must not share code with it. */
#include "suites/attention/attention.h"

#include "suites/gemm/product.h"
#include "suites/multiversion.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 16
}; /* sums and maxima kept side by side, so that loops over them become vector code */

static void attention_product(const struct launch *launch, void *const *pointers, int threads)
{
    const struct arg *args = launch->args;
    const float *a = pointers[PRODUCT_ARG_A], *b = pointers[PRODUCT_ARG_B];
    float *c = pointers[PRODUCT_ARG_C];
    struct product product = {
        .type = TYPE_F32,
        .m = args[PRODUCT_ARG_M].u64,
        .n = args[PRODUCT_ARG_N].u64,
        .k = args[PRODUCT_ARG_K].u64,
        .b_transposed = true,
        .scale = (double)args[PRODUCT_ARG_SCALE].f32,
    };
    uint64_t first = args[PRODUCT_ARG_FIRST].u64;
    for (uint64_t head = 0; head < args[PRODUCT_ARG_HEADS].u64; head++) {
        product.a = a + (first + head) * product.m * product.k;
        product.b = b + (first + head) * product.n * product.k;
        product_host(&product, c + head * product.m * product.n, threads);
    }
}

/* e^x for x <= 0, without a branch: 2^n e^r with r in [-ln 2 / 2, ln 2 / 2] and the polynomial of
 * Cephes' expf (Moshier 1989), within 2 ulp; below -87 as if x were -87. */
static inline float power_of_e(float x)
{
    const float magic =
        12582912; /* 1.5 * 2^23: adding it rounds to an integer in the lowest bits */
    x = x < -87.0F ? -87.0F : x;
    float shifted = x * 1.44269504F + magic;
    float n = shifted - magic;
    float r = x - n * 0.693359375F - n * -2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    uint32_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 23; /* the rest of the magic number's bits are shifted out */
    memcpy(&p, &bits, sizeof p);
    return p;
}

MULTIVERSION_FUSED static void softmax_row(const float *restrict in, float *restrict out,
                                           size_t columns)
{
    FUSE_PRODUCTS
    float top[LANES], sum[LANES] = {0};
    size_t whole = columns / LANES * LANES;
    for (size_t l = 0; l < LANES; l++)
        top[l] = in[0];
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t l = 0; l < LANES; l++)
            top[l] = in[i + l] > top[l] ? in[i + l] : top[l];
    }
    for (size_t i = whole; i < columns; i++)
        top[0] = in[i] > top[0] ? in[i] : top[0];
    float largest = top[0];
    for (size_t l = 1; l < LANES; l++)
        largest = top[l] > largest ? top[l] : largest;

    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t l = 0; l < LANES; l++) {
            float power = power_of_e(in[i + l] - largest);
            out[i + l] = power;
            sum[l] += power;
        }
    }
    for (size_t i = whole; i < columns; i++) {
        out[i] = power_of_e(in[i] - largest);
        sum[0] += out[i];
    }
    float total = 0;
    for (size_t l = 0; l < LANES; l++)
        total += sum[l];
    float factor = 1 / total;
    for (size_t i = 0; i < columns; i++)
        out[i] *= factor;
}

static void attention_softmax(const struct launch *launch, void *const *pointers, int threads)
{
    const float *in = pointers[SOFTMAX_ARG_IN];
    float *out = pointers[SOFTMAX_ARG_OUT];
    uint64_t rows = launch->args[SOFTMAX_ARG_ROWS].u64;
    uint64_t columns = launch->args[SOFTMAX_ARG_COLUMNS].u64;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t row = 0; row < rows; row++)
        softmax_row(in + row * columns, out + row * columns, columns);
}

const struct host_kernel attention_host_kernels[] = {
    {"attention_product", attention_product},
    {"attention_softmax", attention_softmax},
    {NULL, NULL},
};
