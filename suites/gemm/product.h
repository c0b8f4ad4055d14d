/* SPDX-License-Identifier: Apache-2.0
 *
 * The matrix product on the host, twice and from different code: a blocked kernel in the type of
 * the inputs (the host baseline) and the reference in higher precision. Shared by the suites that
 * are made of products. Knows no device. */
#ifndef SUITES_GEMM_PRODUCT_H
#define SUITES_GEMM_PRODUCT_H

#include "harness/suite.h"

/* C [m x n] = scale * A [m x k] * B, all row-major and dense; B is [k x n], or [n x k] and used
 * transposed. */
struct product {
    enum type type; /* TYPE_F32 or TYPE_F64, of A, B and C */
    const void *a, *b;
    uint64_t m, n, k;
    bool b_transposed;
    double scale;
};

/* Writes the whole of c. */
void product_host(const struct product *product, void *c, int threads);

/* Elements [begin, end) of C counted along the rows, in double. f32 inputs are multiplied exactly
 * and added in double; f64 inputs with compensation (as if in twice the precision), then rounded
 * once. Fast if the range spans many rows. */
void product_reference(const struct product *product, uint64_t begin, uint64_t end, double *result);

/* The bound on |device - reference| for inputs uniform in [-scale_a, scale_a) and [-scale_b,
 * scale_b): README.md of suites/gemm derives it. elements: of the whole result. */
double product_tolerance(const struct product *product, double scale_a, double scale_b,
                         uint64_t elements);

#endif
