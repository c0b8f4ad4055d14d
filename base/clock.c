/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's clock; see clock.h. */
#define _DEFAULT_SOURCE /* CLOCK_MONOTONIC_RAW */
#include "base/clock.h"

#include <time.h>

uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

char *clock_stamp(char out[CLOCK_STAMP_BYTES])
{
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, CLOCK_STAMP_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}
