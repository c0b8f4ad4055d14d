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
/* Fills count elements: u8 all values; f32, f64 odd multiples of 2^-24 (2^-53) times scale in
 * (-scale, scale). stream tells the buffers of a case apart. Uses all threads. */
void data_fill(enum type type, double scale, uint64_t seed, uint64_t stream, void *target,
               uint64_t count);
/* Seed of a case: the run's seed mixed with the case key, so that cases do not share inputs. */
uint64_t data_case_seed(uint64_t seed, const char *key);

#endif
