/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of samples taken in rounds. Pure functions: the same input gives the same output (the
 * bootstrap is seeded). Samples of one round are not independent, so intervals resample rounds, not
 * samples (cluster bootstrap; Davison & Hinkley 1997, "Bootstrap Methods and their Application",
 * section 3.8). */
#ifndef HARNESS_STATS_H
#define HARNESS_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Durations in ns, one array, rounds one after another: round r is ns[round_begin[r]] to
 * ns[round_begin[r + 1] - 1]; round_begin has round_count + 1 entries. */
struct samples {
    double *ns;
    size_t count;
    size_t *round_begin;
    size_t round_count;
};

struct interval {
    double low, high;
};

enum { STATS_SAMPLES_LEAST = 5, STATS_ROUNDS_LEAST = 3 };

struct summary {
    size_t count, rounds;
    double median, minimum, maximum, p25, p75;
    double mad;        /* median absolute deviation, times 1.4826 */
    bool has_interval; /* false below STATS_ROUNDS_LEAST rounds or STATS_SAMPLES_LEAST samples */
    struct interval
        median_95; /* 95 % interval of the median; within [minimum, maximum], so never below zero */
    bool bimodal, drift, outliers; /* named, not averaged away */
};

/* Median of count values; does not change them. NaN for count 0. */
double stats_median(const double *values, size_t count);
void stats_summarise(const struct samples *samples, struct summary *summary);

/* Ratio of medians base/other as a speed-up of `other` (> 1: other is faster) with its 95 %
 * interval. paired: round r of both was measured next to each other (same run), so rounds are
 * resampled together. floor: relative noise between runs that is added to the interval (0 within
 * one run). */
struct ratio {
    double value;
    bool has_interval;
    struct interval interval_95;
};
void stats_ratio(const struct samples *base, const struct samples *other, bool paired, double floor,
                 struct ratio *ratio);

enum verdict { VERDICT_FASTER, VERDICT_SLOWER, VERDICT_SAME, VERDICT_UNDECIDED, VERDICT_TOO_FEW };
/* FASTER: the interval excludes 1 and value >= 1 + difference; SLOWER: likewise with value <= 1 /
 * (1 + difference); SAME: the whole interval lies within [1 / (1 + difference), 1 + difference];
 * TOO_FEW: no interval; else UNDECIDED. */
enum verdict stats_verdict(const struct ratio *ratio, double difference);
const char *verdict_name(enum verdict verdict);

#endif
