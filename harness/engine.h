/* SPDX-License-Identifier: Apache-2.0
 *
 * The timed loop, run by Google Benchmark behind this C header: one registered benchmark with
 * manual time and an explicit iteration count (its own search for a count would climb to 1e9 on a
 * clock that reads zero). Must not know: devices, cases. */
#ifndef HARNESS_ENGINE_H
#define HARNESS_ENGINE_H

#include "base/error.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes one sample; *ns is its duration. An error ends the loop. */
typedef enum code engine_sample(void *context, double *ns, struct error *err);

/* Calls sample `iterations` times under the name. CODE_OK, or the first error of sample. */
enum code engine_run(const char *name, uint64_t iterations, engine_sample *sample, void *context,
                     struct error *err);

#ifdef __cplusplus
}
#endif

#endif
