/* SPDX-License-Identifier: Apache-2.0
 *
 * The rest of the conformance checks: vectors of the kernel dialect, ways of waiting, timing; and
 * the table of all. Included by conformance.h, whose helpers it uses. */
#ifndef TESTS_BACKENDS_CONFORMANCE_QUEUE_H
#define TESTS_BACKENDS_CONFORMANCE_QUEUE_H

#include <stdio.h>

/* Expected values by hand: in[i] = i, words[i] = i, bytes[i] = 7 i mod 256. */
static void expect_vectors(const float *out, const uint32_t *words, const uint8_t *bytes)
{
    static const float four[] = {1, 2, 3, 4}, four_any[] = {6, 8, 10, 12};
    static const uint32_t aligned[] = {10, 21, 32, 43}, any[] = {1, 2, 3, 10};
    for (uint32_t i = 0; i < 16; i++) {
        assert_true(i >= 4 || out[i] == four[i]);
        assert_true(i >= 4 || out[5 + i] == four_any[i]);
        assert_true(i >= 8 || out[16 + i] == (float)(32 + 2 * i));
        assert_true(i >= 8 || out[25 + i] == (float)(24 + i));
        assert_true(out[48 + i] == (float)(49 + i));
        assert_true(out[65 + i] == (float)(131 + 2 * i));
        assert_true(i >= 4 || words[4 + i] == aligned[i]);
        assert_true(i >= 4 || words[9 + i] == any[i]);
        assert_int_equal(bytes[32 + i], 249); /* -7 */
        assert_int_equal(bytes[51 + i], 44);  /* 300 */
    }
    assert_true(out[100] == 3.0F);
    assert_true(out[101] == 16.0F); /* 3 * 2 + 1, and 1 + 4 + 1 + 1 + 2 */
    assert_true(out[102] == 8.0F);
}

static void test_launch_vectors(void **state)
{
    (void)state;
    enum { FLOATS = 112, WORDS = 16, BYTES = 80 };
    float floats[FLOATS];
    uint32_t words[WORDS];
    uint8_t bytes[BYTES];
    struct program *program = new_program(conformance_text, "", conformance_host);
    struct buffer *in = new_buffer(MEMORY_DEVICE, sizeof floats),
                  *out = new_buffer(MEMORY_DEVICE, sizeof floats);
    struct buffer *word = new_buffer(MEMORY_DEVICE, sizeof words),
                  *byte = new_buffer(MEMORY_DEVICE, sizeof bytes);
    for (uint32_t i = 0; i < FLOATS; i++)
        floats[i] = (float)i;
    for (uint32_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(7 * i);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
    write_all(in, floats, sizeof floats);
    write_all(word, words, sizeof words);
    write_all(byte, bytes, sizeof bytes);
    struct launch launch = {.kernel = find_kernel(program, "vectors"),
                            .args = {{.kind = ARG_BUFFER, .buffer = in},
                                     {.kind = ARG_BUFFER, .buffer = out},
                                     {.kind = ARG_BUFFER, .buffer = word},
                                     {.kind = ARG_BUFFER, .buffer = byte}},
                            .arg_count = 4,
                            .global = {1, 1, 1},
                            .local = {1, 1, 1}};
    launch_and_wait(&launch);
    read_all(floats, out, sizeof floats);
    read_all(words, word, sizeof words);
    read_all(bytes, byte, sizeof bytes);
    expect_vectors(floats, words, bytes);
    buffer_destroy(conformance.device, in);
    buffer_destroy(conformance.device, out);
    buffer_destroy(conformance.device, word);
    buffer_destroy(conformance.device, byte);
    program_destroy(conformance.device, program);
}

/* A way of waiting that is not known to lie has the data there when it returns. */
static void test_device_sync_by_every_way(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct buffer *buffer = new_buffer(MEMORY_DEVICE, BYTES);
    struct buffer *host = new_buffer(MEMORY_PAGEABLE, BYTES);
    struct error err = {0};
    for (int way = 0; way < WAIT_WAYS; way++) {
        const unsigned char *bytes = host->pointer;
        if (conformance.lies[way])
            continue;
        memset(host->pointer, 0, BYTES);
        expect_ok(buffer_fill(conformance.device, buffer, (uint8_t)(0x40 + way), BYTES, &err),
                  &err);
        expect_ok(buffer_read(conformance.device, host->pointer, buffer, 0, BYTES, &err), &err);
        expect_ok(device_sync_by(conformance.device, (enum wait_way)way, &err), &err);
        for (size_t i = 0; i < BYTES; i++)
            if (bytes[i] != 0x40 + way)
                fail_msg("%s: byte %zu is 0x%02x", wait_way_name((enum wait_way)way), i,
                         (unsigned)bytes[i]);
        expect_ok(device_sync_by(conformance.device, (enum wait_way)way, &err),
                  &err); /* a dry queue */
    }
    buffer_destroy(conformance.device, buffer);
    buffer_destroy(conformance.device, host);
}

static void test_timer_around_a_batch(void **state)
{
    (void)state;
    struct buffer *buffer = new_buffer(MEMORY_DEVICE, 4096);
    struct error err = {0};
    for (int round = 0; round < 3; round++) {
        struct timing timing;
        expect_ok(timer_start(conformance.device, &err), &err);
        for (int i = 0; i < 5; i++)
            expect_ok(buffer_fill(conformance.device, buffer, (uint8_t)i, 4096, &err), &err);
        expect_ok(timer_stop(conformance.device, &timing, &err), &err);
        assert_true(timing.host_end > timing.host_begin);
        assert_true(timing.has_device || timing.reason[0] != '\0');
    }
    buffer_destroy(conformance.device, buffer);
}

static void test_device_telemetry_says_why_not(void **state)
{
    (void)state;
    struct telemetry telemetry;
    device_telemetry(conformance.device, &telemetry);
    assert_true(telemetry.available || telemetry.reason[0] != '\0');
}

static void test_device_info_is_complete(void **state)
{
    (void)state;
    const struct device_info *info = device_get_info(conformance.device);
    assert_true(info->id[0] != '\0' && info->name[0] != '\0');
    assert_true(info->compute_units > 0 && info->memory_bytes > 0 && info->max_alloc_bytes > 0);
    assert_true(info->max_alloc_bytes <= info->memory_bytes);
    assert_true(info->max_group_items > 0 && info->max_group_size[0] > 0);
}

static int conformance_open(void **state)
{
    (void)state;
    struct error err = {0};
    enum code code = driver_open(backend_find(conformance.backend), conformance.library,
                                 &conformance.driver, &err);
    if (code == CODE_OK)
        code = device_open(conformance.driver, conformance.index, &conformance.device, &err);
    if (code != CODE_OK)
        fprintf(stderr, "%s\n", err.message);
    return code == CODE_OK ? 0 : -1;
}

static int conformance_close(void **state)
{
    (void)state;
    device_close(conformance.device);
    driver_close(conformance.driver);
    return 0;
}

/* Runs all checks; returns how many failed. */
static int conformance_run(const char *title)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_info_is_complete),
        cmocka_unit_test(test_buffer_create_every_kind),
        cmocka_unit_test(test_buffer_create_too_large),
        cmocka_unit_test(test_transfers_outside_the_buffer),
        cmocka_unit_test(test_transfers_at_odd_offsets),
        cmocka_unit_test(test_buffer_fill_first_bytes),
        cmocka_unit_test(test_buffer_copy_first_bytes),
        cmocka_unit_test(test_transfers_with_host_buffers),
        cmocka_unit_test(test_program_build_broken_text),
        cmocka_unit_test(test_kernel_get_unknown_name),
        cmocka_unit_test(test_launch_argument_kinds),
        cmocka_unit_test(test_launch_f64_argument),
        cmocka_unit_test(test_launch_three_dimensions),
        cmocka_unit_test(test_launch_local_memory),
        cmocka_unit_test(test_launch_vectors),
        cmocka_unit_test(test_device_sync_by_every_way),
        cmocka_unit_test(test_timer_around_a_batch),
        cmocka_unit_test(test_device_telemetry_says_why_not),
    };
    return cmocka_run_group_tests_name(title, tests, conformance_open, conformance_close);
}

#endif
