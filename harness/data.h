/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded inputs: random in value, incompressible, normal numbers, never zero for floating point,
 * the same on every platform and thread count (integer mixing of seed, stream and index alone). */
#ifndef HARNESS_DATA_H
#define HARNESS_DATA_H

#include "harness/suite.h"

#include <stdint.h>

/* splitmix64's finaliser (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
 * generators"). */
uint64_t data_mix(uint64_t value);
/* Fills count elements of a sequence from its element `first` on: u8 all values (first is a
 * multiple of 8); f32, f64 odd multiples of 2^-24 (2^-53) times scale in (-scale, scale). The same
 * sequence in one piece or in several, for any number of threads; uses all. */
void data_fill(enum type type, double scale, uint64_t seed, uint64_t first, void *target,
               uint64_t count);
/* A seed of its own for whatever the text names: a case of a run (its key), a buffer of a case (its
 * name). */
uint64_t data_derive_seed(uint64_t seed, const char *text);

#endif
