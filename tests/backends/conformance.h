/* SPDX-License-Identifier: Apache-2.0
 *
 * One table of checks that every backend passes: what backends/backend.h promises. A test of a
 * backend fills 'conformance' and calls conformance_run. */
#ifndef TESTS_BACKENDS_CONFORMANCE_H
#define TESTS_BACKENDS_CONFORMANCE_H

#include "tests/backends/conformance_kernels.h"
#include "tests/backends/conformance_memory.h"

static struct program *new_program(const char *text, const char *options,
                                   const struct host_kernel *host)
{
    struct program *program = NULL;
    struct error err = {0};
    struct program_source source = {.text = text, .options = options, .host = host};
    expect_ok(program_build(conformance.device, &source, &program, NULL, &err), &err);
    assert_non_null(program);
    return program;
}

static struct kernel *find_kernel(struct program *program, const char *name)
{
    struct kernel *kernel = NULL;
    struct error err = {0};
    expect_ok(kernel_get(conformance.device, program, name, &kernel, &err), &err);
    assert_non_null(kernel);
    assert_true(kernel_group_limit(conformance.device, kernel) >= 1);
    return kernel;
}

static void launch_and_wait(const struct launch *launch)
{
    struct error err = {0};
    expect_ok(device_launch(conformance.device, launch, &err), &err);
    expect_ok(device_sync(conformance.device, &err), &err);
}

static void test_program_build_broken_text(void **state)
{
    (void)state;
    if (!conformance.compiles)
        skip();
    struct program *program = NULL;
    struct error err = {0};
    struct text log = {0};
    struct program_source source = {
        .text = "KERNEL void broken(GLOBAL u32 *out)\n{\n    out[0] = undeclared_name;\n}\n",
        .options = ""};
    assert_int_equal(program_build(conformance.device, &source, &program, &log, &err), CODE_DRIVER);
    assert_null(program);
    assert_non_null(strstr(text_string(&log), "undeclared_name"));
    assert_non_null(strstr(err.message, "undeclared_name"));
    assert_non_null(
        strstr(err.message, "3:")); /* the line in the kernel file, not behind the prelude */
    assert_null(strchr(err.message, '\n'));
    text_release(&log);
}

static void test_kernel_get_unknown_name(void **state)
{
    (void)state;
    struct program *program = new_program(conformance_text, "", conformance_host);
    struct kernel *kernel = NULL;
    struct error err = {0};
    assert_int_equal(kernel_get(conformance.device, program, "no_such_kernel", &kernel, &err),
                     CODE_DRIVER);
    assert_null(kernel);
    assert_non_null(strstr(err.message, "no_such_kernel"));
    assert_ptr_equal(find_kernel(program, "ids"), find_kernel(program, "ids"));
    program_destroy(conformance.device, program);
    program_destroy(conformance.device, NULL);
}

static void test_launch_argument_kinds(void **state)
{
    (void)state;
    struct program *program = new_program(conformance_text, "", conformance_host);
    struct buffer *out = new_buffer(MEMORY_DEVICE, 4 * sizeof(uint32_t));
    uint32_t words[4] = {0};
    struct launch launch = {.kernel = find_kernel(program, "args"),
                            .args = {{.kind = ARG_BUFFER, .buffer = out},
                                     {.kind = ARG_U32, .u32 = 4000000001U},
                                     {.kind = ARG_U64, .u64 = 0x123456789abcdef0ULL},
                                     {.kind = ARG_F32, .f32 = 2.75F}},
                            .arg_count = 4,
                            .global = {1, 1, 1},
                            .local = {1, 1, 1}};
    launch_and_wait(&launch);
    read_all(words, out, sizeof words);
    assert_int_equal(words[0], 4000000001U);
    assert_int_equal(words[1], 0x12345678U);
    assert_int_equal(words[2], 0x9abcdef0U);
    assert_int_equal(words[3], 11);
    buffer_destroy(conformance.device, out);
    program_destroy(conformance.device, program);
}

static void test_launch_f64_argument(void **state)
{
    (void)state;
    if (!device_get_info(conformance.device)->has_f64)
        skip();
    struct program *program = new_program(conformance_f64_text, "-D FP64", conformance_f64_host);
    struct buffer *out = new_buffer(MEMORY_DEVICE, sizeof(double));
    double value = 0.0;
    struct launch launch = {
        .kernel = find_kernel(program, "wide"),
        .args = {{.kind = ARG_BUFFER, .buffer = out}, {.kind = ARG_F64, .f64 = 0x1p-50}},
        .arg_count = 2,
        .global = {1, 1, 1},
        .local = {1, 1, 1}};
    launch_and_wait(&launch);
    read_all(&value, out, sizeof value);
    assert_true(value == 1.0 + 0x1p-50); /* lost if it went through f32 */
    buffer_destroy(conformance.device, out);
    program_destroy(conformance.device, program);
}

static void test_launch_three_dimensions(void **state)
{
    (void)state;
    enum { X = 6, Y = 5, Z = 3 };
    struct program *program = new_program(conformance_text, "", conformance_host);
    struct buffer *out = new_buffer(MEMORY_DEVICE, X * Y * Z * sizeof(uint32_t));
    uint32_t words[X * Y * Z];
    struct launch launch = {.kernel = find_kernel(program, "ids"),
                            .args = {{.kind = ARG_BUFFER, .buffer = out}},
                            .arg_count = 1,
                            .global = {X, Y, Z},
                            .local = {2, 1, 3}};
    launch_and_wait(&launch);
    read_all(words, out, sizeof words);
    for (uint32_t i = 0; i < X * Y * Z; i++)
        assert_int_equal(words[i], 100000 * (i / (X * Y)) + 1000 * (i / X % Y) + 10 * (i % X) +
                                       3); /* 6 / 2 groups */
    struct error err = {0};
    launch.global[0] = 7;
    assert_int_equal(device_launch(conformance.device, &launch, &err), CODE_USAGE);
    buffer_destroy(conformance.device, out);
    program_destroy(conformance.device, program);
}

static void test_launch_local_memory(void **state)
{
    (void)state;
    enum { ITEMS = 64, GROUP = 8 };
    struct program *program = new_program(conformance_text, "", conformance_host);
    struct buffer *in = new_buffer(MEMORY_DEVICE, ITEMS * sizeof(uint32_t));
    struct buffer *out = new_buffer(MEMORY_DEVICE, ITEMS * sizeof(uint32_t));
    uint32_t words[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++)
        words[i] = 1000 * i;
    write_all(in, words, sizeof words);
    struct launch launch = {.kernel = find_kernel(program, "turn"),
                            .args = {{.kind = ARG_BUFFER, .buffer = in},
                                     {.kind = ARG_BUFFER, .buffer = out},
                                     {.kind = ARG_LOCAL, .local_bytes = GROUP * sizeof(uint32_t)}},
                            .arg_count = 3,
                            .global = {ITEMS, 1, 1},
                            .local = {GROUP, 1, 1}};
    launch_and_wait(&launch);
    read_all(words, out, sizeof words);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(words[i], 1000 * (i / GROUP * GROUP + 7 - i % GROUP) + 1);
    buffer_destroy(conformance.device, in);
    buffer_destroy(conformance.device, out);
    program_destroy(conformance.device, program);
}

#include "tests/backends/conformance_queue.h"

#endif
