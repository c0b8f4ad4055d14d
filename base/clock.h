/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's clock: CLOCK_MONOTONIC_RAW, which no time daemon slews or steps. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds since an arbitrary start. */
uint64_t clock_now_ns(void);
/* Wall-clock time stamp, ISO 8601 in UTC ("2026-11-30T20:31:00Z"); for labels, never for durations.
 */
enum { CLOCK_STAMP_BYTES = 32 };
char *clock_stamp(char out[CLOCK_STAMP_BYTES]);

#endif
