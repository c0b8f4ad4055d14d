/* SPDX-License-Identifier: Apache-2.0
 *
 * Division of items over workers. The figures of the reference image are those of its
 * specification; the others are small enough to count by hand, or products of powers of two. */
#include "harness/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct partition divide(uint64_t items, uint64_t workers)
{
    struct partition partition;
    struct error err = {0};
    assert_int_equal(partition_init(&partition, items, workers, &err), CODE_OK);
    return partition;
}

static void test_partition_init_reference_image(void **state)
{
    (void)state;
    struct partition partition = divide(600000000, 16384);
    assert_int_equal(partition.share, 36622);
    assert_int_equal(partition.slots, 600014848);
    assert_int_equal(partition.idle_slots, 14848);
    assert_int_equal(partition.last_share, 21774);
    assert_int_equal(partition.busy_workers, 16384);
    assert_int_equal(partition.empty_workers, 0);
}

/* Worker i (from 1) reads items 36,622 (i - 1) + 1 to 36,622 i + 1, counted from 1: it takes
 * [begin, end) from 0 and reads one more, so the first item read is begin + 1 and the last is end
 * + 1. */
static void test_partition_range_reference_image(void **state)
{
    (void)state;
    struct partition partition = divide(600000000, 16384);
    uint64_t begin = 0, end = 0;
    for (uint64_t i = 1; i < 16384; i++) {
        partition_range(&partition, i - 1, &begin, &end);
        assert_int_equal(begin + 1, 36622 * (i - 1) + 1);
        assert_int_equal(end + 1, 36622 * i + 1);
    }
    partition_range(&partition, 16383, &begin, &end);
    assert_int_equal(begin, 599978226);
    assert_int_equal(end, 600000000);
}

static void test_partition_init_small(void **state)
{
    (void)state;
    static const struct {
        uint64_t items, workers;
        struct partition expected;
    } cases[] = {
        {1, 1, {.share = 1, .slots = 1, .busy_workers = 1, .last_share = 1}},
        {10, 3, {.share = 4, .slots = 12, .idle_slots = 2, .busy_workers = 3, .last_share = 2}},
        {12, 3, {.share = 4, .slots = 12, .busy_workers = 3, .last_share = 4}},
        /* 2 each: five workers do it all, two stand idle */
        {10,
         7,
         {.share = 2,
          .slots = 14,
          .idle_slots = 4,
          .busy_workers = 5,
          .empty_workers = 2,
          .last_share = 2}},
        /* 2 each: the fifth has one, the last three none */
        {9,
         8,
         {.share = 2,
          .slots = 16,
          .idle_slots = 7,
          .busy_workers = 5,
          .empty_workers = 3,
          .last_share = 1}},
        {3,
         1000,
         {.share = 1,
          .slots = 1000,
          .idle_slots = 997,
          .busy_workers = 3,
          .empty_workers = 997,
          .last_share = 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct partition partition = divide(cases[i].items, cases[i].workers);
        struct partition expected = cases[i].expected;
        expected.items = cases[i].items;
        expected.workers = cases[i].workers;
        assert_memory_equal(&partition, &expected, sizeof expected);
    }
}

static void test_partition_range_covers_every_item_once(void **state)
{
    (void)state;
    for (uint64_t items = 1; items <= 60; items++) {
        for (uint64_t workers = 1; workers <= 70; workers++) {
            struct partition partition = divide(items, workers);
            uint64_t next = 0, empty = 0;
            for (uint64_t worker = 0; worker < workers; worker++) {
                uint64_t begin = 0, end = 0;
                partition_range(&partition, worker, &begin, &end);
                assert_int_equal(begin, next);
                assert_true(end - begin <= partition.share);
                empty += begin == end;
                next = end;
            }
            assert_int_equal(next, items);
            assert_int_equal(empty, partition.empty_workers);
        }
    }
}

static void test_partition_init_beyond_32_bits(void **state)
{
    (void)state;
    /* 2^40 + 1 items over 2^20 workers: 2^20 + 1 each; 2^40 + 2^20 slots. 2^40 + 1 = (2^20 -
     * 1)(2^20 + 1) + 2: worker 2^20 has 2. */
    struct partition partition = divide((UINT64_C(1) << 40) + 1, UINT64_C(1) << 20);
    assert_int_equal(partition.share, (UINT64_C(1) << 20) + 1);
    assert_int_equal(partition.slots, (UINT64_C(1) << 40) + (UINT64_C(1) << 20));
    assert_int_equal(partition.last_share, 2);
    assert_int_equal(partition.empty_workers, 0);
    uint64_t begin = 0, end = 0;
    partition_range(&partition, (UINT64_C(1) << 20) - 1, &begin, &end);
    assert_int_equal(begin, (UINT64_C(1) << 40) - 1);
    assert_int_equal(end, (UINT64_C(1) << 40) + 1);
    /* the most there can be: 2^64 - 2 items and the halo item 2^64 - 1 */
    partition = divide(UINT64_MAX - 1, 1);
    assert_int_equal(partition.slots, UINT64_MAX - 1);
}

static void test_partition_init_refuses(void **state)
{
    (void)state;
    static const struct {
        uint64_t items, workers;
        const char *names; /* what the message must speak of */
    } cases[] = {
        {0, 5, "0 items"},
        {5, 0, "0 workers"},
        {0, 0, "0 items"},
        {UINT64_MAX, 1, "64 bits"},                          /* no room for the halo item */
        {UINT64_MAX - 1, UINT64_C(1) << 63, "64 bits"},      /* 2 each: 2^64 slots */
        {UINT64_MAX / 2 + 2, UINT64_MAX / 2 + 1, "64 bits"}, /* 2 each: 2^64 slots */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct partition partition;
        struct error err = {0};
        assert_int_equal(partition_init(&partition, cases[i].items, cases[i].workers, &err),
                         CODE_USAGE);
        assert_non_null(strstr(err.message, cases[i].names));
    }
}

static void test_partition_idle_share(void **state)
{
    (void)state;
    struct partition partition = divide(9, 8); /* 7 of 16 */
    assert_float_equal((float)partition_idle_share(&partition), 0.4375F, 0);
    partition = divide(12, 3);
    assert_float_equal((float)partition_idle_share(&partition), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_init_reference_image),
        cmocka_unit_test(test_partition_range_reference_image),
        cmocka_unit_test(test_partition_init_small),
        cmocka_unit_test(test_partition_range_covers_every_item_once),
        cmocka_unit_test(test_partition_init_beyond_32_bits),
        cmocka_unit_test(test_partition_init_refuses),
        cmocka_unit_test(test_partition_idle_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
