/* SPDX-License-Identifier: Apache-2.0
 *
 * How long and how often a case is measured; set by the config, printed by `assay plan`, stored in
 * the result. */
#ifndef HARNESS_POLICY_H
#define HARNESS_POLICY_H

#include <stdint.h>

struct policy {
    uint32_t rounds_min;  /* least rounds of a case (default 10; at least 5) */
    uint32_t rounds_max;  /* most rounds (default 40) */
    uint32_t samples_min; /* least samples in all (default 30) */
    double interval;    /* aimed half-width of the 95 % interval of the median, as a share (default
                           0.01) */
    uint64_t budget_ns; /* time for the rounds of one case on one device (default 3 s) */
    uint64_t warmup_ns; /* most time for warming up (default 500 ms) */
    uint64_t step_timeout_ns; /* limit of any single request to a worker (default 120 s) */
    double difference;        /* smallest relative difference that matters (default 0.02) */
};

#endif
