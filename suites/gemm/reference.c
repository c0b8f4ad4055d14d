/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference of the matrix product, in higher precision than the inputs, and the bound for the
 * difference to it. Shares no code with the host kernels: blocks of B are converted to double once
 * and used for many rows. */
#include "suites/gemm/product.h"

#include "suites/multiversion.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROWS = 32, COLUMNS = 64, DEPTH = 64 }; /* of a block */

/* Rows of A and B in double; past the end of k they are 0. */
struct block {
    double a[ROWS][DEPTH];
    double b[DEPTH][COLUMNS];
    double sum[ROWS][COLUMNS];
    double rest[ROWS][COLUMNS]; /* f64: what sum lost to rounding */
};

/* A rectangle of C. */
struct rectangle {
    uint64_t row, rows, column, columns;
};

static double element(const struct product *product, const void *matrix, uint64_t index)
{
    if (product->type == TYPE_F64)
        return ((const double *)matrix)[index];
    return (double)((const float *)matrix)[index];
}

static void load(const struct product *product, const struct rectangle *at, uint64_t p0,
                 size_t depth, struct block *block)
{
    memset(block->a, 0, sizeof block->a);
    memset(block->b, 0, sizeof block->b);
    for (size_t i = 0; i < at->rows; i++) {
        for (size_t p = 0; p < depth; p++)
            block->a[i][p] = element(product, product->a, (at->row + i) * product->k + p0 + p);
    }
    for (size_t j = 0; j < at->columns && product->b_transposed; j++) {
        for (size_t p = 0; p < depth; p++)
            block->b[p][j] = element(product, product->b, (at->column + j) * product->k + p0 + p);
    }
    for (size_t p = 0; p < depth && !product->b_transposed; p++) {
        for (size_t j = 0; j < at->columns; j++)
            block->b[p][j] = element(product, product->b, (p0 + p) * product->n + at->column + j);
    }
}

/* Products of two f32 are exact in double; four depths at a time to spare loads and stores of the
 * sums. */
MULTIVERSION static void add_f32(struct block *block, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        const double *a = block->a[i];
        double *sum = block->sum[i];
        for (size_t p = 0; p < DEPTH; p += 4) {
            const double *b = block->b[p];
            for (size_t j = 0; j < COLUMNS; j++)
                sum[j] += a[p] * b[j] + a[p + 1] * b[COLUMNS + j] +
                          (a[p + 2] * b[2 * COLUMNS + j] + a[p + 3] * b[3 * COLUMNS + j]);
        }
    }
}

/* The upper half of the digits of x, so that products of halves are exact (Veltkamp). */
static inline double upper_half(double x)
{
    double t = 134217729.0 * x; /* 2^27 + 1 */
    return t - (t - x);
}

/* Dot product with compensation (Ogita, Rump, Oishi 2005, Dot2): error-free product (Dekker) and
 * sum (Knuth), whose errors are added up beside the sum. */
MULTIVERSION static void add_f64(struct block *block, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        double *sum = block->sum[i], *rest = block->rest[i];
        for (size_t p = 0; p < DEPTH; p++) {
            const double *b = block->b[p];
            double a = block->a[i][p];
            double a_upper = upper_half(a), a_lower = a - a_upper;
            for (size_t j = 0; j < COLUMNS; j++) {
                double b_upper = upper_half(b[j]), b_lower = b[j] - b_upper;
                double product = a * b[j];
                double product_error =
                    ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) +
                    a_lower * b_lower;
                double total = sum[j] + product;
                double added = total - sum[j];
                double sum_error = (sum[j] - (total - added)) + (product - added);
                sum[j] = total;
                rest[j] += product_error + sum_error;
            }
        }
    }
}

/* The rectangle, of at most ROWS x COLUMNS, to result, whose rows are product->n apart. */
static void reference_block(const struct product *product, const struct rectangle *at,
                            double *result)
{
    struct block block;
    memset(block.sum, 0, sizeof block.sum);
    memset(block.rest, 0, sizeof block.rest);
    for (uint64_t p0 = 0; p0 < product->k; p0 += DEPTH) {
        uint64_t left = product->k - p0;
        load(product, at, p0, left < DEPTH ? (size_t)left : DEPTH, &block);
        if (product->type == TYPE_F64)
            add_f64(&block, at->rows);
        else
            add_f32(&block, at->rows);
    }
    for (size_t i = 0; i < at->rows; i++) {
        for (size_t j = 0; j < at->columns; j++)
            result[i * product->n + j] = (block.sum[i][j] + block.rest[i][j]) * product->scale;
    }
}

static void reference_rectangle(const struct product *product, const struct rectangle *at,
                                double *result)
{
    for (uint64_t i = 0; i < at->rows; i += ROWS) {
        for (uint64_t j = 0; j < at->columns; j += COLUMNS) {
            struct rectangle part = {
                .row = at->row + i,
                .rows = at->rows - i < ROWS ? at->rows - i : ROWS,
                .column = at->column + j,
                .columns = at->columns - j < COLUMNS ? at->columns - j : COLUMNS,
            };
            reference_block(product, &part, result + i * product->n + j);
        }
    }
}

/* A range along the rows is the rest of a row, whole rows and the start of a row. */
void product_reference(const struct product *product, uint64_t begin, uint64_t end, double *result)
{
    assert(begin <= end && end <= product->m * product->n);
    uint64_t n = product->n;
    uint64_t at = begin;
    while (at < end) {
        uint64_t column = at % n;
        struct rectangle part = {.row = at / n, .rows = 1, .column = column, .columns = n - column};
        if (part.columns > end - at)
            part.columns = end - at;
        else if (column == 0)
            part.rows = (end - at) / n;
        reference_rectangle(product, &part, result + (at - begin));
        at += part.rows * part.columns;
    }
}

/* See README.md: with lambda such that all elements hold with probability 1 - 1e-6, a partial sum
 * is at most lambda * sigma * sqrt(k) and each of k additions rounds it by at most u of that, at
 * random. */
double product_tolerance(const struct product *product, double scale_a, double scale_b,
                         uint64_t elements)
{
    double unit = product->type == TYPE_F64 ? 0x1p-53 : 0x1p-24;
    double k = (double)product->k;
    double lambda = sqrt(2 * log(4e6 * (double)elements));
    double sigma = scale_a * scale_b / 3; /* of one product */
    double partial_sum = lambda * sigma * sqrt(k);
    if (partial_sum > k * scale_a * scale_b)
        partial_sum = k * scale_a * scale_b;
    double additions = lambda * unit * sqrt(k) * partial_sum;
    double products = lambda * unit * sigma * sqrt(k);
    return (additions + products + 2 * unit * scale_a * scale_b) * fabs(product->scale);
}
