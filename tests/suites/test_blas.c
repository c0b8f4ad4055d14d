/* SPDX-License-Identifier: Apache-2.0
 *
 * The references of gemm against OpenBLAS in double precision: an answer that none of this
 * project's code computed. */
#include "tests/suites/cases.h"

#include <cblas.h>
#include <math.h>

/* Both sides round: at most k steps of 2^-53 each on sums of magnitudes below k (inputs are below
 * 1). */
static double bound(int k)
{
    return 2.0 * k * k * 0x1p-53;
}

static double *in_double(const struct bed *bed, uint32_t index)
{
    const struct buffer_spec *buffer = &bed->step.buffers[index];
    double *values = malloc(buffer->count * sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < buffer->count; i++)
        values[i] = buffer->type == TYPE_F32 ? (double)((const float *)bed->data[index])[i]
                                             : ((const double *)bed->data[index])[i];
    return values;
}

static void compare(const char *settings)
{
    struct case_spec spec = make_case("gemm", settings);
    struct device_caps caps = caps_cpu();
    static struct bed bed;
    bed_init(&bed, &spec, &caps);
    int m = (int)case_value(&spec, "m"), n = (int)case_value(&spec, "n");
    int k = (int)case_value(&spec, "k");
    uint32_t out = bed_first_out(&bed);
    double *reference = bed_reference(&bed, out);
    double *a = in_double(&bed, 0), *b = in_double(&bed, 1);
    double *c = malloc((size_t)m * (size_t)n * sizeof *c);
    assert_non_null(c);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a, k, b, n, 0.0, c, n);
    for (int i = 0; i < m * n; i++)
        if (!(fabs(c[i] - reference[i]) <= bound(k)))
            fail_msg("%s: element %d is %.17g, OpenBLAS has %.17g", settings, i, reference[i],
                     c[i]);
    free(a);
    free(b);
    free(c);
    free(reference);
    bed_release(&bed);
}

static void test_gemm_reference_equals_openblas(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "m=1 n=1 k=1 type=f32",     "m=64 n=64 k=64 type=f32",   "m=257 n=129 k=63 type=f32",
        "m=3 n=515 k=700 type=f32", "m=257 n=129 k=63 type=f64", "m=100 n=1 k=1000 type=f64",
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        compare(settings[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_reference_equals_openblas),
    };
    return cmocka_run_group_tests_name("suites/blas", tests, NULL, NULL);
}
