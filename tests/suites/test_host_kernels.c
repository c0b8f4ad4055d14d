/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels in plain C, run as a step of every suite on one thread and on several, against the
 * references. */
#include "tests/suites/cases.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static host_function *find(const struct suite *suite, const char *name)
{
    const struct host_kernel *host = suite->host;
    while (host->name != NULL && strcmp(host->name, name) != 0)
        host++;
    assert_non_null(host->name);
    return host->run;
}

static void run_launch(struct bed *bed, const struct op *op, int threads)
{
    struct launch launch = {.arg_count = op->arg_count};
    void *pointers[LAUNCH_ARGS_MAX] = {0};
    memcpy(launch.global, op->global, sizeof launch.global);
    memcpy(launch.local, op->local, sizeof launch.local);
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const struct step_arg *arg = &op->args[i];
        if (arg->kind == STEP_BUFFER)
            pointers[i] = bed->memory[arg->buffer];
        else if (arg->kind == STEP_U32)
            launch.args[i] = (struct arg){.kind = ARG_U32, .u32 = arg->u32};
        else if (arg->kind == STEP_U64)
            launch.args[i] = (struct arg){.kind = ARG_U64, .u64 = arg->u64};
        else
            launch.args[i] = (struct arg){.kind = ARG_F32, .f32 = arg->f32};
    }
    find(bed->spec.suite, op->kernel)(&launch, pointers, threads);
}

static void run_step(struct bed *bed, int threads)
{
    for (uint32_t i = 0; i < bed->step.op_count; i++) {
        const struct op *op = &bed->step.ops[i];
        if (op->kind == OP_LAUNCH)
            run_launch(bed, op, threads);
        else
            memcpy(bed->memory[op->target], bed->memory[op->source], op->bytes);
    }
}

static double value_at(const struct bed *bed, uint32_t buffer, uint64_t index)
{
    switch (bed->step.buffers[buffer].type) {
    case TYPE_U8:
        return ((const uint8_t *)bed->memory[buffer])[index];
    case TYPE_F32:
        return (double)((const float *)bed->memory[buffer])[index];
    case TYPE_F64:
        return ((const double *)bed->memory[buffer])[index];
    }
    return 0;
}

static void check_outputs_of(const struct bed *bed, const char *name)
{
    struct tolerance tolerance = bed->spec.suite->tolerance(&bed->spec);
    for (uint32_t out = 0; out < bed->step.buffer_count; out++) {
        if (bed->step.buffers[out].role != BUFFER_OUT)
            continue;
        double *reference = bed_reference(bed, out);
        for (uint64_t i = 0; i < bed->step.buffers[out].count; i++) {
            if (!within(&tolerance, value_at(bed, out, i), reference[i]))
                fail_msg("%s: element %llu is %g, not %g", name, (unsigned long long)i,
                         value_at(bed, out, i), reference[i]);
        }
        free(reference);
    }
}

static void check(const char *suite, const char *settings, const struct device_caps *caps)
{
    struct case_spec spec = make_case(suite, settings);
    for (int threads = 1; threads <= 3; threads += 2) {
        struct bed bed;
        bed_init(&bed, &spec, caps);
        run_step(&bed, threads);
        check_outputs_of(&bed, settings);
        bed_release(&bed);
    }
}

/* Sizes around the kernels' own blocks: 8 rows, 32 columns, 128 rows, 256 columns or deep, 16
 * lanes, 2^20 pixels. */
static void test_host_kernels_at_ragged_sizes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"pixel", "width=1 height=1"},
        {"pixel", "width=257 height=1"},
        {"pixel", "width=1048577 height=1"},
        {"pixel", "width=1023 height=3 path=whole"},
        {"pixel", "width=257 height=3 partition=strip workers=7"},
        {"pixel", "width=3 height=1 partition=strip workers=100"},
        {"pixel", "width=1 height=1 partition=tile"},
        {"pixel", "width=65 height=17 partition=tile"},
        {"pixel", "width=1025 height=65 partition=tile tile_width=1024 tile_height=64"},
        {"gemm", "m=1 n=1 k=1"},
        {"gemm", "m=7 n=33 k=257"},
        {"gemm", "m=129 n=257 k=255"},
        {"gemm", "m=9 n=31 k=1"},
        {"gemm", "m=129 n=129 k=257 type=f64"},
        {"gemm", "m=1 n=15 k=3 type=f64"},
        {"attention", "stage=qkv tokens=1 width=1 heads=1 head_dim=1"},
        {"attention", "stage=qkv tokens=31 width=257 heads=3 head_dim=11"},
        {"attention", "stage=scores tokens=1 heads=1 head_dim=1"},
        {"attention", "stage=scores tokens=33 heads=5 head_dim=9"},
        {"attention", "stage=softmax tokens=1 heads=3"},
        {"attention", "stage=softmax tokens=15 heads=3"},
        {"attention", "stage=softmax tokens=257 heads=2"},
        {"copy", "bytes=4096"},
    };
    struct device_caps caps = caps_cpu();
    for (size_t i = 0; i < COUNT(cases); i++)
        check(cases[i][0], cases[i][1], &caps);
}

static void test_host_kernels_with_heads_in_chunks(void **state)
{
    (void)state;
    struct device_caps caps = caps_cpu();
    caps.max_alloc_bytes = 2 * 17 * 17 * 4; /* the scores of two heads */
    check("attention", "stage=scores tokens=17 heads=5 head_dim=3", &caps);
    check("attention", "stage=softmax tokens=17 heads=5", &caps);
    caps.max_alloc_bytes = 2 * 6 * 17 * 4; /* the outputs of two heads */
    check("attention", "stage=qkv tokens=17 width=11 heads=5 head_dim=2", &caps);
}

/* Logits far apart, and beyond where e^x overflows: shares of 1, 0 and 1/n, and no NaN. */
static void test_host_softmax_of_large_logits(void **state)
{
    (void)state;
    struct case_spec spec = make_case("attention", "stage=softmax tokens=4 heads=1");
    struct device_caps caps = caps_cpu();
    struct bed bed;
    bed_init(&bed, &spec, &caps);
    static const float scores[16] = {1000, 1000, 1000, 1000, -3e38F, 0,  -3e38F, -3e38F,
                                     500,  -500, 500,  -500, 88,     88, 88,     88};
    static const double expected[16] = {0.25, 0.25, 0.25, 0.25, 0,    1,    0,    0,
                                        0.5,  0,    0.5,  0,    0.25, 0.25, 0.25, 0.25};
    memcpy(bed.memory[0], scores, sizeof scores);
    run_step(&bed, 1);
    for (uint64_t i = 0; i < 16; i++) {
        double error = value_at(&bed, 1, i) - expected[i];
        assert_true(error <= 1e-6 && error >= -1e-6);
    }
    bed_release(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_kernels_at_ragged_sizes),
        cmocka_unit_test(test_host_kernels_with_heads_in_chunks),
        cmocka_unit_test(test_host_softmax_of_large_logits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
