/* SPDX-License-Identifier: Apache-2.0
 *
 * Conformance of buffers and transfers: what backends/backend.h promises of them, the same for
 * every backend. */
#ifndef TESTS_BACKENDS_CONFORMANCE_MEMORY_H
#define TESTS_BACKENDS_CONFORMANCE_MEMORY_H

#include "tests/backends/conformance_state.h"

static struct buffer *new_buffer(enum memory_kind kind, uint64_t bytes)
{
    struct buffer *buffer = NULL;
    struct error err = {0};
    expect_ok(buffer_create(conformance.device, kind, bytes, &buffer, &err), &err);
    assert_non_null(buffer);
    return buffer;
}

static void write_all(struct buffer *target, const void *source, uint64_t bytes)
{
    struct error err = {0};
    expect_ok(buffer_write(conformance.device, target, 0, source, bytes, &err), &err);
    expect_ok(device_sync(conformance.device, &err), &err);
}

static void read_all(void *target, struct buffer *source, uint64_t bytes)
{
    struct error err = {0};
    expect_ok(buffer_read(conformance.device, target, source, 0, bytes, &err), &err);
    expect_ok(device_sync(conformance.device, &err), &err);
}

static void test_buffer_create_every_kind(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 257, 4096, 1000003};
    for (int kind = MEMORY_DEVICE; kind <= MEMORY_PAGEABLE; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct buffer *buffer = new_buffer((enum memory_kind)kind, sizes[i]);
            assert_int_equal(buffer->kind, kind);
            assert_int_equal(buffer->bytes, sizes[i]);
            if (kind != MEMORY_DEVICE)
                memset(buffer->pointer, 0x5c, sizes[i]); /* the whole of it is there */
            buffer_destroy(conformance.device, buffer);
        }
    buffer_destroy(conformance.device, NULL);
}

static void test_buffer_create_too_large(void **state)
{
    (void)state;
    struct buffer *buffer = NULL;
    struct error err = {0};
    assert_int_equal(buffer_create(conformance.device, MEMORY_DEVICE, 1ULL << 60, &buffer, &err),
                     CODE_MEMORY);
    assert_null(buffer);
    assert_non_null(strstr(err.message, "1152921504606846976"));
}

static void test_transfers_outside_the_buffer(void **state)
{
    (void)state;
    static const uint64_t ranges[][2] = {
        {0, 101}, {100, 1}, {101, 0}, {1, UINT64_MAX}, {UINT64_MAX, 2}};
    struct buffer *buffer = new_buffer(MEMORY_DEVICE, 100);
    char host[128] = {0};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        struct error err = {0};
        assert_int_equal(
            buffer_write(conformance.device, buffer, ranges[i][0], host, ranges[i][1], &err),
            CODE_USAGE);
        assert_int_equal(
            buffer_read(conformance.device, host, buffer, ranges[i][0], ranges[i][1], &err),
            CODE_USAGE);
    }
    struct error err = {0};
    assert_int_equal(buffer_fill(conformance.device, buffer, 0, 101, &err), CODE_USAGE);
    assert_int_equal(buffer_copy(conformance.device, buffer, buffer, 101, &err), CODE_USAGE);
    buffer_destroy(conformance.device, buffer);
}

/* Every byte outside the range stays, every byte inside changes, whatever the alignment. */
static void test_transfers_at_odd_offsets(void **state)
{
    (void)state;
    static const uint64_t ranges[][2] = {{0, 1},  {13, 257},  {1026, 1},
                                         {3, 64}, {511, 516}, {0, 1027}};
    unsigned char base[1027], part[1027], back[1027], piece[1027];
    struct buffer *buffer = new_buffer(MEMORY_DEVICE, sizeof base);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        uint64_t offset = ranges[i][0], bytes = ranges[i][1];
        struct error err = {0};
        for (size_t k = 0; k < sizeof base; k++) {
            base[k] = (unsigned char)(k * 31 + i);
            part[k] = (unsigned char)(k * 17 + 101 + i);
        }
        write_all(buffer, base, sizeof base);
        expect_ok(buffer_write(conformance.device, buffer, offset, part, bytes, &err), &err);
        expect_ok(buffer_read(conformance.device, piece, buffer, offset, bytes, &err), &err);
        expect_ok(buffer_read(conformance.device, back, buffer, 0, sizeof back, &err), &err);
        expect_ok(device_sync(conformance.device, &err), &err);
        memcpy(base + offset, part, bytes);
        assert_memory_equal(back, base, sizeof base);
        assert_memory_equal(piece, part, bytes);
    }
    buffer_destroy(conformance.device, buffer);
}

static void test_buffer_fill_first_bytes(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 1001, 1024, 1027};
    unsigned char back[1027];
    for (int kind = MEMORY_DEVICE; kind <= MEMORY_PAGEABLE; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            struct buffer *buffer = new_buffer((enum memory_kind)kind, sizeof back);
            struct error err = {0};
            expect_ok(buffer_fill(conformance.device, buffer, 0x11, sizeof back, &err), &err);
            expect_ok(buffer_fill(conformance.device, buffer, 0xa7, counts[i], &err), &err);
            expect_ok(device_sync(conformance.device, &err), &err);
            if (kind == MEMORY_DEVICE)
                read_all(back, buffer, sizeof back);
            else
                memcpy(back, buffer->pointer, sizeof back);
            for (size_t k = 0; k < sizeof back; k++)
                assert_int_equal(back[k], k < counts[i] ? 0xa7 : 0x11);
            buffer_destroy(conformance.device, buffer);
        }
}

static void test_buffer_copy_first_bytes(void **state)
{
    (void)state;
    unsigned char bytes[1027], back[1027];
    struct error err = {0};
    struct buffer *source = new_buffer(MEMORY_DEVICE, sizeof bytes);
    struct buffer *target = new_buffer(MEMORY_DEVICE, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 13);
    write_all(source, bytes, sizeof bytes);
    expect_ok(buffer_fill(conformance.device, target, 0x3c, sizeof bytes, &err), &err);
    expect_ok(buffer_copy(conformance.device, target, source, 1001, &err), &err);
    read_all(back, target, sizeof back);
    assert_memory_equal(back, bytes, 1001);
    for (size_t i = 1001; i < sizeof back; i++)
        assert_int_equal(back[i], 0x3c);
    buffer_destroy(conformance.device, source);
    buffer_destroy(conformance.device, target);
}

/* Pinned and pageable buffers are host memory that transfers can go from and to. */
static void test_transfers_with_host_buffers(void **state)
{
    (void)state;
    enum { BYTES = 100003 };
    struct buffer *device = new_buffer(MEMORY_DEVICE, BYTES);
    for (int kind = MEMORY_PINNED; kind <= MEMORY_PAGEABLE; kind++) {
        struct buffer *from = new_buffer((enum memory_kind)kind, BYTES);
        struct buffer *to = new_buffer((enum memory_kind)kind, BYTES);
        struct error err = {0};
        for (size_t i = 0; i < BYTES; i++)
            ((unsigned char *)from->pointer)[i] = (unsigned char)(i * 7 + (size_t)kind);
        memset(to->pointer, 0, BYTES);
        expect_ok(buffer_write(conformance.device, device, 0, from->pointer, BYTES, &err), &err);
        expect_ok(buffer_read(conformance.device, to->pointer, device, 0, BYTES, &err), &err);
        expect_ok(device_sync(conformance.device, &err), &err);
        assert_memory_equal(to->pointer, from->pointer, BYTES);
        buffer_destroy(conformance.device, from);
        buffer_destroy(conformance.device, to);
    }
    buffer_destroy(conformance.device, device);
}

#endif
