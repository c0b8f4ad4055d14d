/* SPDX-License-Identifier: Apache-2.0
 *
 * The references of the suites against hand calculations and against the definition written out in
 * long double. */
#include "tests/suites/cases.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The reference of a case whose inputs are given; in[i] belongs to buffer i. */
static void reference_of(const char *suite, const char *settings, const void *const *in,
                         size_t in_count, double *result, uint64_t count)
{
    struct case_spec spec = make_case(suite, settings);
    struct device_caps caps = caps_cpu();
    static struct step step;
    struct error err = {0};
    memset(&step, 0, sizeof step);
    assert_int_equal(spec.suite->build(&spec, &caps, &step, &err), CODE_OK);
    const void *data[STEP_BUFFERS_MAX] = {0};
    memcpy(data, in, in_count * sizeof *in);
    uint32_t out = 0;
    while (step.buffers[out].role != BUFFER_OUT)
        out++;
    assert_int_equal(step.buffers[out].count, count);
    spec.suite->reference(&spec, &step, data, out, 0, count, result);
}

static void test_pixel_reference_by_hand(void **state)
{
    (void)state;
    static const uint8_t image[] = {5, 7, 7, 0, 1, 0, 255, 9};
    /* 5-7 = -2; 7-7; 7-0; 0-1 = -1; 1-0; 0-255 = -255; 255-9 */
    static const double expected[] = {254, 0, 7, 255, 1, 1, 246};
    const void *in[] = {image};
    double result[7];
    reference_of("pixel", "width=7 height=1", in, 1, result, 7);
    assert_memory_equal(result, expected, sizeof expected);
    static const char *const forms[] = {"width=7 height=1 partition=strip workers=3",
                                        "width=1 height=7 partition=tile", "width=1 height=7"};
    for (size_t i = 0; i < COUNT(forms);
         i++) { /* row-major order and the halo are the same however it is divided */
        reference_of("pixel", forms[i], in, 1, result, 7);
        assert_memory_equal(result, expected, sizeof expected);
    }
}

static void test_pixel_reference_of_the_whole_path(void **state)
{
    (void)state;
    static const uint8_t image[] = {10, 20, 30, 0, 255};
    static const double expected[] = {246, 246, 30,
                                      1}; /* rows follow each other: 20-30, not the halo */
    const void *in[] = {NULL, NULL,
                        image}; /* the host image; device and pinned copies are no inputs */
    double result[4];
    reference_of("pixel", "width=2 height=2 path=whole", in, 3, result, 4);
    assert_memory_equal(result, expected, sizeof expected);
}

/* 2^32 pixels: only a few pages of the image are ever touched. */
static void test_pixel_reference_beyond_32_bits(void **state)
{
    (void)state;
    const uint64_t count = UINT64_C(1) << 32;
    int zeros = open("/dev/zero", O_RDWR);
    assert_true(zeros >= 0);
    uint8_t *image = mmap(NULL, count + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);
    close(zeros);
    if (image == MAP_FAILED)
        skip();
    image[count - 2] = 9;
    image[count] = 3;
    image[0] = 77; /* what a 32-bit index would find in place of the halo */
    struct case_spec spec = make_case("pixel", "width=65536 height=65536");
    const void *data[] = {image, NULL};
    double result[3];
    spec.suite->reference(&spec, NULL, data, 1, count - 3, count, result);
    assert_true(result[0] == 247 && result[1] == 9 && result[2] == 253); /* 0-9, 9-0, 0-3 */
    munmap(image, count + 1);
}

static void test_copy_reference(void **state)
{
    (void)state;
    static uint8_t source[4096];
    static double result[4096];
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (uint8_t)(i * 37 + 11);
    const void *in[] = {source};
    static const char *const forms[] = {"bytes=4096", "bytes=4096 direction=d2h memory=pageable"};
    for (size_t f = 0; f < COUNT(forms); f++) {
        memset(result, 0, sizeof result);
        reference_of("copy", forms[f], in, 1, result, 4096);
        for (size_t i = 0; i < sizeof source; i++)
            assert_true(result[i] == (double)source[i]);
    }
}

static void test_gemm_reference_by_hand(void **state)
{
    (void)state;
    /* (1 2 3; 4 5 6) (7 8; 9 10; 11 12) = (58 64; 139 154) */
    static const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
    static const double wide_a[] = {1, 2, 3, 4, 5, 6}, wide_b[] = {7, 8, 9, 10, 11, 12};
    static const double expected[] = {58, 64, 139, 154};
    double result[4];
    reference_of("gemm", "m=2 n=2 k=3", (const void *[]){a, b}, 2, result, 4);
    assert_memory_equal(result, expected, sizeof expected);
    reference_of("gemm", "m=2 n=2 k=3 type=f64", (const void *[]){wide_a, wide_b}, 2, result, 4);
    assert_memory_equal(result, expected, sizeof expected);
    /* and as an outer product: m and n differ */
    static const double outer[] = {7, 8, 9, 14, 16, 18};
    double six[6];
    reference_of("gemm", "m=2 n=3 k=1", (const void *[]){a, b}, 2, six, 6);
    assert_memory_equal(six, outer, sizeof outer);
}

/* Cancellation that double alone gets wrong: 2^60 + 1 - 2^60 = 1 needs more than 53 bits. */
static void test_gemm_f64_reference_is_compensated(void **state)
{
    (void)state;
    static const double a[] = {0x1p60, 1, -0x1p60, 0x1p-30 + 0x1p-60},
                        b[] = {1, 1, 1, 0x1p-30 - 0x1p-60};
    double result = 0;
    reference_of("gemm", "m=1 n=1 k=3 type=f64", (const void *[]){a, b}, 2, &result, 1);
    assert_true(result == 1);
    /* (2^-30 + 2^-60)(2^-30 - 2^-60) = 2^-60 - 2^-120: its last term only survives if products are
     * not rounded */
    static const double factors[] = {0x1p-30 + 0x1p-60, 0x1p-60},
                        others[] = {0x1p-30 - 0x1p-60, -1};
    reference_of("gemm", "m=1 n=1 k=2 type=f64", (const void *[]){factors, others}, 2, &result, 1);
    assert_true(result == -0x1p-120);
}

static long double matrix_element(const struct bed *bed, uint32_t buffer, uint64_t index)
{
    if (bed->step.buffers[buffer].type == TYPE_F64)
        return (long double)((const double *)bed->memory[buffer])[index];
    return (long double)((const float *)bed->memory[buffer])[index];
}

/* |reference - exact| is at most a few roundings to double: of the sum for f32, of the result for
 * f64. */
static void assert_close(double reference, long double exact, long double sum_of_magnitudes)
{
    long double bound = 0x1p-53L * fabsl(exact) + 0x1p-60L * sum_of_magnitudes;
    assert_true(fabsl((long double)reference - exact) <= bound);
}

static void check_gemm(const char *settings)
{
    struct case_spec spec = make_case("gemm", settings);
    struct device_caps caps = caps_cpu();
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    uint64_t m = spec.values[0], n = spec.values[1], k = spec.values[2];
    bool wide = bed.step.buffers[0].type == TYPE_F64;
    double *reference = bed_reference(&bed, 2);
    for (uint64_t i = 0; i < m * n; i++) {
        long double exact = 0, magnitudes = 0;
        for (uint64_t p = 0; p < k; p++) {
            long double term =
                matrix_element(&bed, 0, i / n * k + p) * matrix_element(&bed, 1, p * n + i % n);
            exact += term;
            magnitudes += fabsl(term);
        }
        /* f32: products are exact and every one of k sums is rounded to double */
        assert_close(reference[i], exact, wide ? magnitudes : magnitudes * 0x1p7L * (long double)k);
    }
    free(reference);
    bed_release(&bed);
}

static void test_gemm_reference_against_long_double(void **state)
{
    (void)state;
    static const char *const cases[] = {"m=1 n=1 k=1",
                                        "m=3 n=5 k=7",
                                        "m=1 n=257 k=3",
                                        "m=257 n=1 k=64",
                                        "m=33 n=65 k=67",
                                        "m=31 n=63 k=129",
                                        "m=33 n=65 k=67 type=f64",
                                        "m=32 n=64 k=64 type=f64",
                                        "m=1 n=1 k=1 type=f64",
                                        "m=5 n=130 k=3 type=f64"};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_gemm(cases[i]);
}

/* Every range gives what the whole gives. */
static void check_ranges(const char *suite, const char *settings, const struct device_caps *caps)
{
    struct case_spec spec = make_case(suite, settings);
    struct bed bed;
    bed_init(&bed, &spec, caps);
    uint32_t out = bed_first_out(&bed);
    uint64_t count = bed.step.buffers[out].count;
    double *whole = bed_reference(&bed, out);
    double *part = malloc((count + 2) * sizeof *part);
    assert_non_null(part);
    for (uint64_t round = 0; round < 60; round++) {
        uint64_t begin = data_mix(round) % count;
        uint64_t end = begin + 1 + data_mix(round + 1000) % (count - begin);
        part[0] = part[end - begin + 1] = -12345; /* one element to each side must stay as it is */
        spec.suite->reference(&spec, &bed.step, bed.data, out, begin, end, part + 1);
        assert_true(part[0] == -12345 && part[end - begin + 1] == -12345);
        for (uint64_t i = begin; i < end; i++)
            assert_true(fabs(part[1 + i - begin] - whole[i]) <= 0x1p-44);
    }
    free(part);
    free(whole);
    bed_release(&bed);
}

static void test_references_of_ranges(void **state)
{
    (void)state;
    struct device_caps caps = caps_cpu();
    check_ranges("gemm", "m=37 n=71 k=19", &caps);
    check_ranges("gemm", "m=37 n=71 k=19 type=f64", &caps);
    check_ranges("pixel", "width=31 height=7", &caps);
    check_ranges("attention", "stage=scores tokens=13 heads=5 head_dim=6", &caps);
    check_ranges("attention", "stage=qkv tokens=13 width=9 heads=2 head_dim=6", &caps);
    check_ranges("attention", "stage=softmax tokens=13 heads=5", &caps);
}

static void test_scores_reference_by_hand(void **state)
{
    (void)state;
    /* one head, two tokens, four elements: Q K' / 2 with q0 = (1 2 3 4), q1 = (1 0 0 -1), k0 = (1 1
     * 1 1), k1 = (2 0 0 6): q0 k0 = 10, q0 k1 = 26, q1 k0 = 0, q1 k1 = -4 */
    static const float queries[] = {1, 2, 3, 4, 1, 0, 0, -1}, keys[] = {1, 1, 1, 1, 2, 0, 0, 6};
    static const double expected[] = {5, 13, 0, -2};
    double result[4];
    reference_of("attention", "stage=scores tokens=2 heads=1 head_dim=4",
                 (const void *[]){queries, keys}, 2, result, 4);
    assert_memory_equal(result, expected, sizeof expected);
}

/* Runs over every OUT buffer of a case whose heads are in chunks; element `index` of the whole
 * result is head by head. */
static void check_scores(const struct device_caps *caps, uint32_t chunks)
{
    enum { TOKENS = 9, HEADS = 7, DIM = 3 };
    struct case_spec spec = make_case("attention", "stage=scores tokens=9 heads=7 head_dim=3");
    struct bed bed;
    bed_init(&bed, &spec, caps);
    uint64_t next = 0;
    uint32_t outs = 0;
    for (uint32_t out = 0; out < bed.step.buffer_count; out++) {
        if (bed.step.buffers[out].role != BUFFER_OUT)
            continue;
        outs++;
        assert_int_equal(bed.step.buffers[out].first, next);
        double *reference = bed_reference(&bed, out);
        for (uint64_t i = 0; i < bed.step.buffers[out].count; i++, next++) {
            uint64_t head = next / (TOKENS * TOKENS), row = next / TOKENS % TOKENS,
                     column = next % TOKENS;
            long double dot = 0;
            for (uint64_t p = 0; p < DIM; p++)
                dot += matrix_element(&bed, 0, (head * TOKENS + row) * DIM + p) *
                       matrix_element(&bed, 1, (head * TOKENS + column) * DIM + p);
            assert_true(fabsl((long double)reference[i] - dot / sqrtl(DIM)) <= 0x1p-48L);
        }
        free(reference);
    }
    assert_int_equal(next, HEADS * TOKENS * TOKENS);
    assert_int_equal(outs, chunks);
    bed_release(&bed);
}

static void test_scores_reference_against_long_double(void **state)
{
    (void)state;
    struct device_caps caps = caps_cpu();
    check_scores(&caps, 1);
    caps.max_alloc_bytes =
        7 * 9 * 3 *
        4; /* 756: all queries just fit, and the scores of two heads (324 each): 2 + 2 + 2 + 1 */
    check_scores(&caps, 4);
}

/* Weights are held by output; the outputs of a chunk are columns of a matrix of its own. */
static void check_qkv(uint64_t max_alloc, uint32_t chunks)
{
    enum { TOKENS = 5, WIDTH = 9, HEADS = 7, DIM = 3, OUTPUTS = 3 * DIM };
    struct case_spec spec = make_case("attention", "stage=qkv tokens=5 width=9 heads=7 head_dim=3");
    struct device_caps caps = caps_cpu();
    caps.max_alloc_bytes = max_alloc;
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    uint64_t next = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t weights = 1 + 2 * chunk, out = 2 + 2 * chunk;
        assert_int_equal(bed.step.buffers[out].first, next);
        uint64_t count = bed.step.buffers[out].count, outputs = count / TOKENS;
        double *reference = bed_reference(&bed, out);
        for (uint64_t i = 0; i < count; i++) {
            long double dot = 0;
            for (uint64_t p = 0; p < WIDTH; p++)
                dot += matrix_element(&bed, 0, i / outputs * WIDTH + p) *
                       matrix_element(&bed, weights, i % outputs * WIDTH + p);
            assert_true(fabsl((long double)reference[i] - dot) <= 0x1p-48L);
        }
        next += count;
        free(reference);
    }
    assert_int_equal(next, TOKENS * HEADS * OUTPUTS);
    assert_int_equal(bed.step.buffer_count, 1 + 2 * chunks);
    bed_release(&bed);
}

static void test_qkv_reference_against_long_double(void **state)
{
    (void)state;
    check_qkv(UINT64_C(1) << 30, 1);
    check_qkv(3 * 9 * 9 * 4,
              3); /* three heads' weights (of 9 outputs with 9 numbers) a buffer: 3 + 3 + 1 */
}

static void test_softmax_reference_by_hand(void **state)
{
    (void)state;
    /* a row of equals gives 1/n, also where e^x is far beyond every type */
    static const float scores[] = {0, 0, 30000, 30000};
    static const double expected[] = {0.5, 0.5, 0.5, 0.5};
    double result[4];
    reference_of("attention", "stage=softmax tokens=2 heads=1", (const void *[]){scores}, 1, result,
                 4);
    assert_memory_equal(result, expected, sizeof expected);
    /* and far apart 1 and 0: e^-2000 is 0 in every type */
    static const float apart[] = {-1000, 1000, 1000, -1000};
    static const double ends[] = {0, 1, 1, 0};
    reference_of("attention", "stage=softmax tokens=2 heads=1", (const void *[]){apart}, 1, result,
                 4);
    assert_memory_equal(result, ends, sizeof ends);
}

static void test_softmax_reference_against_long_double(void **state)
{
    (void)state;
    struct case_spec spec = make_case("attention", "stage=softmax tokens=67 heads=3");
    struct device_caps caps = caps_cpu();
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    double *reference = bed_reference(&bed, 1);
    for (uint64_t row = 0; row < 3 * 67; row++) {
        long double sum = 0, shares = 0;
        for (uint64_t i = 0; i < 67; i++)
            sum += expl(
                matrix_element(&bed, 0, row * 67 + i)); /* scores are in [-8, 8): no overflow */
        for (uint64_t i = 0; i < 67; i++) {
            long double exact = expl(matrix_element(&bed, 0, row * 67 + i)) / sum;
            assert_true(fabsl((long double)reference[row * 67 + i] - exact) <= 0x1p-48L * exact);
            shares += (long double)reference[row * 67 + i];
        }
        assert_true(fabsl(shares - 1) <= 0x1p-48L);
    }
    free(reference);
    bed_release(&bed);
}

/* No input leads to a subnormal, an infinity or a NaN anywhere: the smallest product of two inputs
 * is 2^-48, the smallest weight of a softmax e^-16 in the longest row. */
static void test_values_stay_normal(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"gemm", "m=64 n=64 k=64"},
        {"attention", "stage=scores tokens=64 heads=2 head_dim=64"},
        {"attention", "stage=softmax tokens=128 heads=2"}};
    struct device_caps caps = caps_cpu();
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct case_spec spec = make_case(cases[c][0], cases[c][1]);
        struct bed bed;
        bed_init(&bed, &spec, &caps);
        uint32_t out = bed_first_out(&bed);
        double *reference = bed_reference(&bed, out);
        for (uint64_t i = 0; i < bed.step.buffers[out].count; i++)
            assert_int_equal(fpclassify((float)reference[i]), FP_NORMAL);
        for (uint64_t i = 0; i < bed.step.buffers[0].count; i++)
            assert_true(fabsl(matrix_element(&bed, 0, i)) >= 0x1p-24L);
        free(reference);
        bed_release(&bed);
    }
    assert_true(exp(-16) / 131072 > (double)FLT_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixel_reference_by_hand),
        cmocka_unit_test(test_pixel_reference_of_the_whole_path),
        cmocka_unit_test(test_pixel_reference_beyond_32_bits),
        cmocka_unit_test(test_copy_reference),
        cmocka_unit_test(test_gemm_reference_by_hand),
        cmocka_unit_test(test_gemm_f64_reference_is_compensated),
        cmocka_unit_test(test_gemm_reference_against_long_double),
        cmocka_unit_test(test_references_of_ranges),
        cmocka_unit_test(test_scores_reference_by_hand),
        cmocka_unit_test(test_scores_reference_against_long_double),
        cmocka_unit_test(test_qkv_reference_against_long_double),
        cmocka_unit_test(test_softmax_reference_by_hand),
        cmocka_unit_test(test_softmax_reference_against_long_double),
        cmocka_unit_test(test_values_stay_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
