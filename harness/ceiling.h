/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host's processors can do at most, measured: the ceiling above which a result of a device
 * that runs on these processors is implausible. A bound for plausibility, not a benchmark result.
 */
#ifndef HARNESS_CEILING_H
#define HARNESS_CEILING_H

struct ceiling {
    double operations_per_s; /* single-precision multiply-adds, two operations each, all threads,
                                registers only */
    double bytes_per_s;      /* bytes read and written by copying inside the first-level cache, all
                                threads */
};

/* Takes about 0.1 s where no one else runs on `threads` threads. */
void ceiling_measure(int threads, struct ceiling *ceiling);

/* The work that operations_per_s is measured with: steps times 12 vector multiply-adds in
 * registers; the result depends on all of them. */
float ceiling_multiply_adds(float factor, float summand, int steps);

#endif
