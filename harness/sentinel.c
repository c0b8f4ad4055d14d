/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed pieces of host work; see sentinel.h. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "harness/sentinel.h"

#include "base/clock.h"
#include "base/text.h"
#include "harness/ceiling.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { AREA_BYTES = 32 << 20, PIECE_BYTES = 4 << 20, CHAIN_STEPS = 100000, VECTOR_STEPS = 100000 };

struct sentinel {
    uint64_t *source, *target;
    size_t offset; /* of the next piece to copy */
    size_t copied; /* bytes from the beginning that were copied at least once */
    uint64_t integer;
    double real;
    float vector; /* keeps the multiply-adds */
};

/* Marsaglia, "Xorshift RNGs", 2003: three shifts, each waits for the one before. */
static uint64_t xorshift(uint64_t state)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^ state << 17;
}

struct sentinel *sentinel_create(void)
{
    struct sentinel *sentinel = memory_zeroed(1, sizeof *sentinel);
    sentinel->source = memory_resize(NULL, AREA_BYTES, 1);
    sentinel->target = memory_resize(NULL, AREA_BYTES, 1);
    sentinel->integer = 1;
    sentinel->real = 0.5;
    uint64_t state = 1;
    for (size_t i = 0; i < AREA_BYTES / sizeof *sentinel->source; i++) {
        state = xorshift(state);
        sentinel->source[i] = state;
        sentinel->target[i] = ~state;
    }
    return sentinel;
}

void sentinel_destroy(struct sentinel *sentinel)
{
    if (sentinel == NULL)
        return;
    free(sentinel->source);
    free(sentinel->target);
    free(sentinel);
}

/* Every step needs the step before, so no vector unit and no second core shortens it; x/2 + 1/4
 * keeps the real part between 0 and 1, a normal number, whatever the integer adds. */
static void chain(struct sentinel *sentinel)
{
    uint64_t integer = sentinel->integer;
    double real = sentinel->real;
    for (int i = 0; i < CHAIN_STEPS; i++) {
        integer = xorshift(integer);
        real = real * 0.5 + 0.25 + (double)(integer & 1) * 0.125;
    }
    sentinel->integer = integer;
    sentinel->real = real;
}

void sentinel_pass(struct sentinel *sentinel, struct sentinel_times *times)
{
    uint64_t begin = clock_now_ns();
    chain(sentinel);
    uint64_t chained = clock_now_ns();
    sentinel->vector += ceiling_multiply_adds(0.5f, 0.25f, VECTOR_STEPS);
    uint64_t added = clock_now_ns();
    memcpy((char *)sentinel->target + sentinel->offset,
           (const char *)sentinel->source + sentinel->offset, PIECE_BYTES);
    uint64_t end = clock_now_ns();
    sentinel->offset = (sentinel->offset + PIECE_BYTES) % AREA_BYTES;
    if (sentinel->copied < AREA_BYTES)
        sentinel->copied += PIECE_BYTES;
    *times = (struct sentinel_times){
        .compute_ns = chained - begin, .vector_ns = added - chained, .memory_ns = end - added};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void sentinel_measure(struct sentinel *sentinel, struct sentinel_times *slowest)
{
    cpu_set_t before;
    *slowest = (struct sentinel_times){0};
    bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    int count = known ? CPU_COUNT(&before) : 0;
    int stride = (count + SENTINEL_PROCESSORS_MAX - 1) / SENTINEL_PROCESSORS_MAX;
    int seen = 0;
    for (size_t cpu = 0; known && cpu < CPU_SETSIZE && seen < count; cpu++) {
        if (!CPU_ISSET(cpu, &before) || seen++ % stride != 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            continue;
        struct sentinel_times times;
        sentinel_pass(sentinel, &times);
        slowest->compute_ns = larger(slowest->compute_ns, times.compute_ns);
        slowest->vector_ns = larger(slowest->vector_ns, times.vector_ns);
        slowest->memory_ns = larger(slowest->memory_ns, times.memory_ns);
    }
    if (slowest->compute_ns == 0)
        sentinel_pass(sentinel,
                      slowest); /* more processors than a set holds, or none may be chosen */
    else
        sched_setaffinity(0, sizeof before, &before);
}

uint64_t sentinel_integer(const struct sentinel *sentinel)
{
    return sentinel->integer;
}

double sentinel_real(const struct sentinel *sentinel)
{
    return sentinel->real;
}

bool sentinel_copied(const struct sentinel *sentinel)
{
    return sentinel->copied > 0 &&
           memcmp(sentinel->source, sentinel->target, sentinel->copied) == 0;
}
