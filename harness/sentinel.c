/* SPDX-License-Identifier: Apache-2.0
 *
 * Two fixed pieces of host work; see sentinel.h. */
#include "harness/sentinel.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { AREA_BYTES = 32 << 20, CHAIN_STEPS = 400000 };

struct sentinel {
    uint64_t *source, *target;
    uint64_t integer;
    double real;
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

void sentinel_measure(struct sentinel *sentinel, uint64_t *compute_ns, uint64_t *memory_ns)
{
    uint64_t begin = clock_now_ns();
    chain(sentinel);
    uint64_t middle = clock_now_ns();
    memcpy(sentinel->target, sentinel->source, AREA_BYTES);
    uint64_t end = clock_now_ns();
    *compute_ns = middle - begin;
    *memory_ns = end - middle;
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
    return memcmp(sentinel->source, sentinel->target, AREA_BYTES) == 0;
}
