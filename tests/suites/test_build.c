/* SPDX-License-Identifier: Apache-2.0
 *
 * What the suites' build makes of ragged sizes on devices of all kinds: launches that fit, buffers
 * and work that agree with the definition, and refusals that name both numbers. Nothing is
 * launched. */
#include "tests/suites/cases.h"

#include "base/embedded.h"

#include <inttypes.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A case, and what the definition says of it. */
struct expectation {
    const char *suite, *settings;
    uint64_t bytes, operations, results; /* results: elements of all OUT buffers together */
};

static const struct expectation expectations[] = {
    {"pixel", "width=1 height=1", 2, 0, 1},
    {"pixel", "width=257 height=1", 514, 0, 257},
    {"pixel", "width=1 height=257", 514, 0, 257},
    {"pixel", "width=4095 height=3", 24570, 0, 12285},
    {"pixel", "width=4097 height=1 path=whole", 8194, 0, 4097},
    {"pixel", "width=30000 height=20000", 1200000000, 0, 600000000},
    {"pixel", "width=65536 height=65536", UINT64_C(8589934592), 0, UINT64_C(4294967296)},
    {"pixel", "width=1 height=1 partition=strip", 2, 0, 1},
    {"pixel", "width=257 height=1 partition=strip workers=1000", 514, 0, 257},
    {"pixel", "width=30000 height=20000 partition=strip", 1200000000, 0, 600000000},
    {"pixel", "width=65536 height=65536 partition=strip path=whole", UINT64_C(8589934592), 0,
     UINT64_C(4294967296)},
    {"pixel", "width=1 height=1 partition=tile", 2, 0, 1},
    {"pixel", "width=63 height=17 partition=tile", 2142, 0, 1071},
    {"pixel", "width=65 height=15 partition=tile tile_width=16 tile_height=1", 1950, 0, 975},
    {"pixel", "width=1025 height=9 partition=tile tile_width=1024 tile_height=9", 18450, 0, 9225},
    {"gemm", "m=1 n=1 k=1", 0, 2, 1},
    {"gemm", "m=257 n=1 k=3", 0, 1542, 257},
    {"gemm", "m=127 n=129 k=63", 0, 2064258, 16383},
    {"gemm", "m=129 n=31 k=65", 0, 519870, 3999},
    {"gemm", "m=33 n=17 k=5 type=f64", 0, 5610, 561},
    {"gemm", "m=33 n=65 k=9 tile_m=8 tile_n=8 tile_k=4", 0, 38610, 2145},
    {"gemm", "m=1048576 n=1048576 k=1048576", 0, UINT64_C(1) << 61, UINT64_C(1) << 40},
    {"attention", "stage=qkv tokens=1 width=1 heads=1 head_dim=1", 0, 6, 3},
    {"attention", "stage=qkv tokens=257 width=31 heads=3 head_dim=5", 0, 717030, 11565},
    /* 589,824 projections (2,048 tokens, 96 heads, 3 each) of 128 elements, 12,288 products each */
    {"attention", "stage=qkv", 0, UINT64_C(1855425871872), 75497472},
    {"attention", "stage=scores tokens=1 heads=1 head_dim=1", 0, 2, 1},
    {"attention", "stage=scores tokens=257 heads=3 head_dim=65", 0, 25759110, 198147},
    {"attention", "stage=scores", 0, UINT64_C(103079215104), 402653184},
    {"attention", "stage=softmax tokens=1 heads=1", 8, 0, 1},
    {"attention", "stage=softmax tokens=129 heads=5", 665640, 0, 83205},
    {"attention", "stage=softmax", UINT64_C(3221225472), 0, 402653184},
    {"copy", "bytes=4096", 4096, 0, 4096},
    {"copy", "bytes=1073741824 direction=d2h memory=pageable", 1073741824, 0, 1073741824},
};

static const uint64_t group_limits[] = {1, 3, 24, 32, 256, 4096};

static struct device_caps device(size_t kind, uint64_t group_items)
{
    struct device_caps caps = kind == 0 ? caps_cpu() : kind == 1 ? caps_lanes() : caps_gpu();
    caps.group_items = group_items;
    return caps;
}

static struct step *build(const struct case_spec *spec, const struct device_caps *caps)
{
    static struct step step;
    struct error err = {0};
    memset(&step, 0, sizeof step);
    enum code code = spec->suite->build(spec, caps, &step, &err);
    if (code != CODE_OK)
        fail_msg("%s", err.message);
    return &step;
}

static void check_launch(const struct case_spec *spec, const struct step *step, const struct op *op,
                         uint64_t group_items)
{
    uint64_t items = 1;
    for (int d = 0; d < LAUNCH_DIMENSIONS; d++) {
        assert_true(op->local[d] >= 1 && op->global[d] >= 1);
        assert_int_equal(op->global[d] % op->local[d], 0);
        items *= op->local[d];
    }
    assert_true(items <= group_items);
    const struct host_kernel *host = spec->suite->host;
    while (host->name != NULL && strcmp(host->name, op->kernel) != 0)
        host++;
    assert_non_null(host->name);
    assert_true(op->arg_count <= LAUNCH_ARGS_MAX);
    for (uint32_t i = 0; i < op->arg_count; i++) {
        if (op->args[i].kind != STEP_BUFFER)
            continue;
        assert_true(op->args[i].buffer < step->buffer_count);
        assert_int_equal(step->buffers[op->args[i].buffer].memory, MEMORY_DEVICE);
    }
}

static void check_transfer(const struct step *step, const struct op *op)
{
    assert_true(op->source < step->buffer_count && op->target < step->buffer_count);
    const struct buffer_spec *source = &step->buffers[op->source],
                             *target = &step->buffers[op->target];
    assert_true(op->bytes > 0 && op->bytes <= source->count * type_bytes(source->type));
    assert_int_equal(op->bytes, target->count *
                                    type_bytes(target->type)); /* the target is filled to its end */
    assert_int_equal(source->memory == MEMORY_DEVICE, op->kind == OP_READ);
    assert_int_equal(target->memory == MEMORY_DEVICE, op->kind == OP_WRITE);
    assert_int_not_equal(target->role, BUFFER_IN);
}

static void check_step(const struct case_spec *spec, const struct step *step,
                       const struct device_caps *caps, uint64_t results)
{
    uint64_t next = 0;
    assert_true(step->op_count > 0);
    for (uint32_t i = 0; i < step->op_count; i++) {
        if (step->ops[i].kind == OP_LAUNCH)
            check_launch(spec, step, &step->ops[i], caps->group_items);
        else
            check_transfer(step, &step->ops[i]);
    }
    for (uint32_t i = 0; i < step->buffer_count; i++) {
        assert_true(step->buffers[i].count > 0);
        if (step->buffers[i].role != BUFFER_OUT)
            continue;
        assert_int_equal(step->buffers[i].first, next);
        next += step->buffers[i].count;
    }
    assert_int_equal(next, results);
    assert_true(strlen(step->options) < STEP_TEXT_BYTES - 1);
}

static void test_build_fits_every_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(expectations); i++) {
        const struct expectation *expected = &expectations[i];
        struct case_spec spec = make_case(expected->suite, expected->settings);
        char reason[STEP_TEXT_BYTES] = "";
        if (spec.suite->valid != NULL && !spec.suite->valid(&spec, reason))
            fail_msg("%s %s: %s", expected->suite, expected->settings, reason);
        for (size_t kind = 0; kind < 3; kind++) {
            for (size_t g = 0; g < COUNT(group_limits); g++) {
                struct device_caps caps = device(kind, group_limits[g]);
                check_step(&spec, build(&spec, &caps), &caps, expected->results);
            }
        }
    }
}

static void test_work_counts_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(expectations); i++) {
        const struct expectation *expected = &expectations[i];
        struct case_spec spec = make_case(expected->suite, expected->settings);
        struct work work = spec.suite->work(&spec);
        assert_int_equal(work.bytes, expected->bytes);
        assert_int_equal(work.operations, expected->operations);
        assert_int_equal(work.by_operations, expected->operations != 0);
        assert_string_equal(work.unit, expected->operations != 0 ? "FLOP/s" : "B/s");
        assert_int_equal(work.bytes_counted != NULL, expected->bytes != 0);
    }
}

static void test_needs_f64_is_told(void **state)
{
    (void)state;
    struct case_spec narrow = make_case("gemm", "type=f32"), wide = make_case("gemm", "type=f64");
    assert_false(narrow.suite->needs_f64(&narrow));
    assert_true(wide.suite->needs_f64(&wide));
    struct device_caps caps = caps_gpu();
    assert_non_null(strstr(build(&wide, &caps)->options, "-D FP64"));
    assert_null(strstr(build(&narrow, &caps)->options, "FP64"));
}

/* Launches cover every pixel: groups times what a group does is at least the image, and not a group
 * more. */
static void test_pixel_linear_covers_the_image(void **state)
{
    (void)state;
    static const char *const sizes[] = {"width=1 height=1", "width=4096 height=1",
                                        "width=4097 height=1", "width=30000 height=20000",
                                        "width=65536 height=65536"};
    struct device_caps caps = caps_cpu();
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct case_spec spec = make_case("pixel", sizes[i]);
        const struct step *step = build(&spec, &caps);
        uint64_t group = step->ops[0].local[0], vectors = 0, told = 0;
        assert_int_equal(
            sscanf(step->options, "-D GROUP=%" SCNu64 " -D VECTORS=%" SCNu64, &told, &vectors), 2);
        assert_int_equal(told, group);
        uint64_t groups = step->ops[0].global[0] / group, of_a_group = group * vectors * 16;
        uint64_t count = step->buffers[1].count;
        assert_true(groups * of_a_group >= count && (groups - 1) * of_a_group < count);
    }
}

static void test_pixel_strip_divides_as_specified(void **state)
{
    (void)state;
    struct case_spec spec =
        make_case("pixel", "width=30000 height=20000 partition=strip workers=16384");
    struct device_caps caps = caps_cpu();
    const struct op *op = &build(&spec, &caps)->ops[0];
    assert_int_equal(op->args[2].u64, 600000000);
    assert_int_equal(op->args[3].u64, 16384);
    assert_int_equal(op->args[4].u64, 36622);
    assert_int_equal(op->global[0], 16384);
    /* 2^32 pixels over one worker: a share that 32 bits do not hold */
    spec = make_case("pixel", "width=65536 height=65536 partition=strip workers=1");
    assert_int_equal(build(&spec, &caps)->ops[0].args[4].u64, UINT64_C(1) << 32);
}

/* Left to the suite, no work-item has more than 60,000 pixels: one driver stops a work-item after
 * 65,535 iterations. */
static void test_pixel_strip_keeps_loops_short(void **state)
{
    (void)state;
    static const char *const sizes[] = {"width=1 height=1",         "width=59999 height=1",
                                        "width=60001 height=1",     "width=65536 height=2",
                                        "width=30000 height=20000", "width=65536 height=65536"};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char settings[96];
        snprintf(settings, sizeof settings, "%s partition=strip", sizes[i]);
        struct case_spec spec = make_case("pixel", settings);
        for (size_t kind = 0; kind < 3; kind++) {
            struct device_caps caps = device(kind, 32);
            const struct op *op = &build(&spec, &caps)->ops[0];
            uint64_t workers = op->args[3].u64, share = op->args[4].u64;
            assert_true(share <= 60000);
            assert_true(workers <= op->args[2].u64 && workers * share >= op->args[2].u64);
            assert_true(op->global[0] >= workers);
        }
    }
}

static void test_pixel_whole_path_has_four_phases(void **state)
{
    (void)state;
    static const struct {
        enum op_kind kind;
        const char *phase;
        enum memory_kind source, target;
    } expected[] = {
        {OP_HOST_COPY, "stage", MEMORY_PAGEABLE, MEMORY_PINNED},
        {OP_WRITE, "upload", MEMORY_PINNED, MEMORY_DEVICE},
        {OP_LAUNCH, "kernel", 0, 0},
        {OP_READ, "download", MEMORY_DEVICE, MEMORY_PINNED},
    };
    struct case_spec spec = make_case("pixel", "width=100 height=50 path=whole");
    struct device_caps caps = caps_gpu();
    const struct step *step = build(&spec, &caps);
    assert_int_equal(step->op_count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct op *op = &step->ops[i];
        assert_int_equal(op->kind, expected[i].kind);
        assert_string_equal(op->phase, expected[i].phase);
        if (op->kind == OP_LAUNCH)
            continue;
        assert_int_equal(step->buffers[op->source].memory, expected[i].source);
        assert_int_equal(step->buffers[op->target].memory, expected[i].target);
        assert_int_equal(op->bytes,
                         op->kind == OP_READ ? 5000 : 5001); /* the halo pixel goes in, not out */
    }
    assert_string_equal(spec.suite->work(&spec).bytes_counted, "payload");
    spec = make_case("pixel", "width=100 height=50");
    assert_int_equal(build(&spec, &caps)->op_count, 1);
    assert_null(build(&spec, &caps)->ops[0].phase);
    assert_string_equal(spec.suite->work(&spec).bytes_counted, "read+write");
}

static void test_copy_directions(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        enum op_kind kind;
        enum memory_kind in, out;
    } cases[] = {
        {"bytes=4096 direction=h2d memory=pageable", OP_WRITE, MEMORY_PAGEABLE, MEMORY_DEVICE},
        {"bytes=4096 direction=h2d memory=pinned", OP_WRITE, MEMORY_PINNED, MEMORY_DEVICE},
        {"bytes=4096 direction=d2h memory=pageable", OP_READ, MEMORY_DEVICE, MEMORY_PAGEABLE},
        {"bytes=4096 direction=d2h memory=pinned", OP_READ, MEMORY_DEVICE, MEMORY_PINNED},
    };
    struct device_caps caps = caps_gpu();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct case_spec spec = make_case("copy", cases[i].settings);
        const struct step *step = build(&spec, &caps);
        assert_int_equal(step->op_count, 1);
        assert_int_equal(step->ops[0].kind, cases[i].kind);
        assert_int_equal(step->buffers[step->ops[0].source].memory, cases[i].in);
        assert_int_equal(step->buffers[step->ops[0].source].role, BUFFER_IN);
        assert_int_equal(step->buffers[step->ops[0].target].memory, cases[i].out);
        assert_int_equal(step->buffers[step->ops[0].target].role, BUFFER_OUT);
    }
    assert_null(embedded_text("suites/copy/kernel.cl"));
}

static void test_attention_says_how_heads_are_divided(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t max_alloc, results;
        const char *note;
        uint32_t launches;
    } cases[] = {
        {"stage=scores", UINT64_C(1) << 31, 402653184, "", 1}, /* 1,610,612,736 bytes of scores */
        /* a head's scores are 2,048^2 x 4 = 2^24 bytes: 64 of them in 2^30 */
        {"stage=scores", UINT64_C(1) << 30, 402653184, "heads in 2 chunks of 48", 2},
        {"stage=softmax", UINT64_C(1) << 30, 402653184, "heads in 2 chunks of 48", 2},
        {"stage=scores", UINT64_C(600000000), 402653184, "heads in 3 chunks of 32", 3}, /* 35 fit */
        /* 10 heads, 4 fit */
        {"stage=scores heads=10", UINT64_C(1) << 26, 41943040,
         "heads in 3 chunks of 4, the last of 2", 3},
        {"stage=scores", 0, 402653184, "", 1}, /* the device does not say */
        /* a head's weights are 384 x 12,288 x 4 = 18,874,368 bytes: 56 in 2^30 */
        {"stage=qkv", UINT64_C(1) << 30, 75497472, "heads in 2 chunks of 48", 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct case_spec spec = make_case("attention", cases[i].settings);
        struct device_caps caps = caps_cpu();
        caps.max_alloc_bytes = cases[i].max_alloc;
        const struct step *step = build(&spec, &caps);
        assert_string_equal(step->note, cases[i].note);
        assert_int_equal(step->op_count, cases[i].launches);
        for (uint32_t b = 0; b < step->buffer_count && caps.max_alloc_bytes != 0; b++)
            assert_true(step->buffers[b].count * type_bytes(step->buffers[b].type) <=
                        caps.max_alloc_bytes);
        check_step(&spec, step, &caps, cases[i].results);
    }
}

/* What cannot fit is refused with what it needs and what there is. */
static void test_build_refuses_with_both_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *suite, *settings;
        struct device_caps caps;
        const char *needs, *has;
    } cases[] = {
        {"pixel", "width=1000 height=1000", {.max_alloc_bytes = 1000000}, "1000001", "1000000"},
        {"pixel", "width=1000 height=1000", {.memory_bytes = 2000000}, "2000001", "2000000"},
        {"pixel",
         "width=64 height=64 partition=tile tile_width=64 tile_height=64",
         {.local_bytes = 5119},
         "5120",
         "5119"},
        {"copy", "bytes=8192", {.max_alloc_bytes = 8191}, "8192", "8191"},
        {"gemm", "m=100 n=10 k=10", {.max_alloc_bytes = 3999}, "4000", "3999"},
        {"gemm", "m=10 n=10 k=10", {.memory_bytes = 1199}, "1200", "1199"},
        {"gemm", "tile_m=512 tile_n=512", {.group_items = 32}, "work-items", "32"},
        {"gemm", "tile_m=64 tile_n=64 tile_k=64", {.local_bytes = 32767}, "32768", "32767"},
        {"attention",
         "stage=scores tokens=1000 heads=2",
         {.max_alloc_bytes = 3999999},
         "4000000",
         "3999999"},
        {"attention",
         "stage=scores tokens=1000 heads=2 head_dim=1",
         {.memory_bytes = 8015999},
         "8016000",
         "8015999"},
        {"attention",
         "stage=scores tokens=1000 heads=1024 head_dim=1",
         {.max_alloc_bytes = 7999999},
         "1024 chunks",
         "62"},
        {"attention",
         "stage=qkv tokens=10 width=100 heads=4 head_dim=10",
         {.max_alloc_bytes = 11999},
         "12000",
         "11999"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct case_spec spec = make_case(cases[i].suite, cases[i].settings);
        struct device_caps caps = cases[i].caps;
        if (caps.group_items == 0)
            caps.group_items = 256;
        static struct step step;
        struct error err = {0};
        memset(&step, 0, sizeof step);
        assert_int_equal(spec.suite->build(&spec, &caps, &step, &err), CODE_UNSUPPORTED);
        if (strstr(err.message, cases[i].needs) == NULL ||
            strstr(err.message, cases[i].has) == NULL)
            fail_msg("'%s' lacks '%s' or '%s'", err.message, cases[i].needs, cases[i].has);
    }
}

static void test_valid_explains(void **state)
{
    (void)state;
    static const struct {
        const char *suite, *settings, *reason; /* NULL: valid */
    } cases[] = {
        {"pixel", "workers=5", "partition=strip"},
        {"pixel", "workers=5 partition=strip", NULL},
        {"pixel", "tile_width=32", "partition=tile"},
        {"pixel", "tile_height=2 partition=strip", "partition=tile"},
        {"pixel", "tile_width=33 partition=tile", "multiple of 16, not 33"},
        {"pixel", "tile_width=48 tile_height=5 partition=tile", NULL},
        {"gemm", "tile_m=48", "tile_m must be a power of two from 4 to 512, not 48"},
        {"gemm", "tile_n=5", "tile_n must be a power of two from 4 to 512, not 5"},
        {"gemm", "tile_k=512", "tile_k must be a power of two from 4 to 256, not 512"},
        {"gemm", "tile_m=4 tile_n=512 tile_k=256", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct case_spec spec = make_case(cases[i].suite, cases[i].settings);
        char reason[STEP_TEXT_BYTES] = "";
        assert_int_equal(spec.suite->valid(&spec, reason), cases[i].reason == NULL);
        if (cases[i].reason != NULL && strstr(reason, cases[i].reason) == NULL)
            fail_msg("'%s' lacks '%s'", reason, cases[i].reason);
    }
}

/* A tile that was asked for is the tile that is built, on whatever number of items. */
static void test_gemm_builds_the_tile_asked_for(void **state)
{
    (void)state;
    struct case_spec spec = make_case("gemm", "m=100 n=200 k=50 tile_m=32 tile_n=64 tile_k=8");
    for (size_t kind = 0; kind < 3; kind++) {
        struct device_caps caps = device(kind, 32);
        const struct step *step = build(&spec, &caps);
        assert_non_null(strstr(step->shape, "tile 32x64x8"));
        /* 4 x 4 tiles cover 100 x 200 */
        assert_int_equal(step->ops[0].global[0] / step->ops[0].local[0], 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_fits_every_device),
        cmocka_unit_test(test_work_counts_the_definition),
        cmocka_unit_test(test_needs_f64_is_told),
        cmocka_unit_test(test_pixel_linear_covers_the_image),
        cmocka_unit_test(test_pixel_strip_divides_as_specified),
        cmocka_unit_test(test_pixel_strip_keeps_loops_short),
        cmocka_unit_test(test_pixel_whole_path_has_four_phases),
        cmocka_unit_test(test_copy_directions),
        cmocka_unit_test(test_attention_says_how_heads_are_divided),
        cmocka_unit_test(test_build_refuses_with_both_numbers),
        cmocka_unit_test(test_valid_explains),
        cmocka_unit_test(test_gemm_builds_the_tile_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
