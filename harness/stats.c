/* SPDX-License-Identifier: Apache-2.0
 *
 * Medians, bootstrap intervals and verdicts; see stats.h and docs/methodology.md. Knows durations
 * and rounds only: no records, no units, no clock. Flags (bimodal, drift, outliers) are in
 * stats_flags.c. */
#include "harness/stats.h"

#include "base/text.h"
#include "harness/stats_flags.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { REPLICATES = 2000 };
static const uint64_t bootstrap_seed =
    0x6173736179; /* "assay": fixed, so that one input has one answer */
static const double normal_quantile_975 = 1.959963984540054;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double *stats_sorted(const double *values, size_t count)
{
    double *sorted = memory_zeroed(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    return sorted;
}

double stats_quantile(const double *sorted, size_t count, double share)
{
    if (count == 0)
        return (double)NAN;
    double position = share * (double)(count - 1);
    size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_median(const double *values, size_t count)
{
    if (count == 0)
        return (double)NAN;
    double *sorted = stats_sorted(values, count);
    double median = stats_quantile(sorted, count, 0.5);
    free(sorted);
    return median;
}

/* SplitMix64 (Steele, Lea, Flood 2014): small, and good enough to draw indices. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t random_below(uint64_t *state, size_t bound)
{
    return (size_t)(random_next(state) % bound); /* the bias, bound / 2^64, is nothing here */
}

/* Samples in ascending order with the round of each: a resample of rounds is then a weight for each
 * round, and its median is found in one pass without sorting again. */
struct entry {
    double ns;
    size_t round;
};

struct ranked {
    struct entry *entries;
    size_t count;
    uint32_t *weights; /* how often each round is in the present resample */
    size_t round_count;
};

static int compare_entries(const void *a, const void *b)
{
    double x = ((const struct entry *)a)->ns;
    double y = ((const struct entry *)b)->ns;
    return (x > y) - (x < y);
}

static size_t round_samples(const struct samples *samples, size_t round)
{
    return samples->round_begin[round + 1] - samples->round_begin[round];
}

/* Takes the given rounds of samples; they become rounds 0, 1, … of ranked. */
static void ranked_init(struct ranked *ranked, const struct samples *samples, const size_t *rounds,
                        size_t round_count)
{
    *ranked = (struct ranked){.round_count = round_count};
    ranked->entries = memory_zeroed(samples->count, sizeof *ranked->entries);
    ranked->weights = memory_zeroed(round_count, sizeof *ranked->weights);
    for (size_t r = 0; r < round_count; r++) {
        size_t begin = samples->round_begin[rounds[r]];
        for (size_t i = 0; i < round_samples(samples, rounds[r]); i++)
            ranked->entries[ranked->count++] = (struct entry){samples->ns[begin + i], r};
    }
    qsort(ranked->entries, ranked->count, sizeof *ranked->entries, compare_entries);
}

static void ranked_release(struct ranked *ranked)
{
    free(ranked->entries);
    free(ranked->weights);
}

static void ranked_draw(struct ranked *ranked, uint64_t *random)
{
    for (size_t r = 0; r < ranked->round_count; r++)
        ranked->weights[r] = 0;
    for (size_t r = 0; r < ranked->round_count; r++)
        ranked->weights[random_below(random, ranked->round_count)]++;
}

/* Median of all samples with their rounds' weights. Every round has a sample, so the total is at
 * least 1. */
static double ranked_median(const struct ranked *ranked)
{
    uint64_t total = 0;
    for (size_t i = 0; i < ranked->count; i++)
        total += ranked->weights[ranked->entries[i].round];
    uint64_t lower = (total - 1) / 2, upper = total / 2; /* equal for an odd total */
    uint64_t seen = 0;
    double low = (double)NAN;
    for (size_t i = 0; i < ranked->count; i++) {
        seen += ranked->weights[ranked->entries[i].round];
        if (isnan(low) && seen > lower)
            low = ranked->entries[i].ns;
        if (seen > upper)
            return (low + ranked->entries[i].ns) / 2.0;
    }
    return low;
}

/* 97.5 % quantile of Student's t: a table to 30 degrees of freedom, then the expansion of
 * Abramowitz and Stegun 26.7.5. */
static double student_975(size_t freedom)
{
    static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    assert(freedom > 0);
    if (freedom <= sizeof table / sizeof table[0])
        return table[freedom - 1];
    double z = normal_quantile_975;
    double n = (double)freedom;
    double first = (z * z * z + z) / 4.0;
    double second = (5.0 * pow(z, 5) + 16.0 * z * z * z + 3.0 * z) / 96.0;
    return z + first / n + second / (n * n);
}

/* Percentile interval of the replicates, widened about the estimate in log space. With few clusters
 * the percentile interval is too narrow, by sqrt((n - 1) / n) and by using a normal instead of a t
 * quantile (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", The American
 * Statistician 69(4): narrowness bias, expanded percentile interval). */
static struct interval widened_interval(double *replicates, double estimate, size_t rounds)
{
    qsort(replicates, REPLICATES, sizeof *replicates, compare_doubles);
    double low = fmin(stats_quantile(replicates, REPLICATES, 0.025), estimate);
    double high = fmax(stats_quantile(replicates, REPLICATES, 0.975), estimate);
    double n = (double)rounds;
    double factor = student_975(rounds - 1) / normal_quantile_975 * sqrt(n / (n - 1.0));
    return (struct interval){estimate * pow(low / estimate, factor),
                             estimate * pow(high / estimate, factor)};
}

/* Rounds that hold a sample, in rounds (room for samples->round_count). */
static size_t filled_rounds(const struct samples *samples, size_t *rounds)
{
    size_t count = 0;
    for (size_t r = 0; r < samples->round_count; r++)
        if (round_samples(samples, r) > 0)
            rounds[count++] = r;
    return count;
}

static bool enough(size_t rounds, size_t samples)
{
    return rounds >= STATS_ROUNDS_LEAST && samples >= STATS_SAMPLES_LEAST;
}

static void median_interval(const struct samples *samples, const size_t *rounds, size_t round_count,
                            struct summary *summary)
{
    struct ranked ranked;
    ranked_init(&ranked, samples, rounds, round_count);
    double *replicates = memory_zeroed(REPLICATES, sizeof *replicates);
    uint64_t random = bootstrap_seed;
    for (size_t i = 0; i < REPLICATES; i++) {
        ranked_draw(&ranked, &random);
        replicates[i] = ranked_median(&ranked);
    }
    struct interval interval = widened_interval(replicates, summary->median, round_count);
    summary->has_interval = true;
    summary->median_95.low = fmax(interval.low, summary->minimum);
    summary->median_95.high = fmin(interval.high, summary->maximum);
    free(replicates);
    ranked_release(&ranked);
}

void stats_summarise(const struct samples *samples, struct summary *summary)
{
    *summary = (struct summary){.count = samples->count};
    size_t *rounds = memory_zeroed(samples->round_count, sizeof *rounds);
    summary->rounds = filled_rounds(samples, rounds);
    double *sorted = stats_sorted(samples->ns, samples->count);
    summary->median = stats_quantile(sorted, samples->count, 0.5);
    summary->minimum = stats_quantile(sorted, samples->count, 0.0);
    summary->maximum = stats_quantile(sorted, samples->count, 1.0);
    summary->p25 = stats_quantile(sorted, samples->count, 0.25);
    summary->p75 = stats_quantile(sorted, samples->count, 0.75);
    summary->mad = stats_mad(sorted, samples->count, summary->median);
    if (enough(summary->rounds, summary->count) && summary->minimum > 0.0)
        median_interval(samples, rounds, summary->rounds, summary);
    summary->outliers = stats_has_outliers(sorted, samples->count, summary->median, summary->mad);
    summary->bimodal = stats_is_bimodal(samples, sorted);
    summary->drift = stats_has_drift(samples);
    free(sorted);
    free(rounds);
}

/* Rounds that both sides have, for rounds measured next to each other. */
static size_t common_rounds(const struct samples *base, const struct samples *other, size_t *rounds)
{
    size_t least = base->round_count < other->round_count ? base->round_count : other->round_count;
    size_t count = 0;
    for (size_t r = 0; r < least; r++)
        if (round_samples(base, r) > 0 && round_samples(other, r) > 0)
            rounds[count++] = r;
    return count;
}

static void ratio_interval(struct ranked *base, struct ranked *other, bool paired,
                           struct ratio *ratio)
{
    double *replicates = memory_zeroed(REPLICATES, sizeof *replicates);
    uint64_t random = bootstrap_seed;
    for (size_t i = 0; i < REPLICATES; i++) {
        ranked_draw(base, &random);
        if (paired) {
            for (size_t r = 0; r < other->round_count; r++)
                other->weights[r] = base->weights[r];
        } else {
            ranked_draw(other, &random);
        }
        replicates[i] = ranked_median(base) / ranked_median(other);
    }
    size_t rounds = base->round_count < other->round_count ? base->round_count : other->round_count;
    ratio->interval_95 = widened_interval(replicates, ratio->value, rounds);
    ratio->has_interval = true;
    free(replicates);
}

/* The median of what is in ranked, each round once. */
static double whole_median(struct ranked *ranked)
{
    for (size_t r = 0; r < ranked->round_count; r++)
        ranked->weights[r] = 1;
    return ranked_median(ranked);
}

void stats_ratio(const struct samples *base, const struct samples *other, bool paired, double floor,
                 struct ratio *ratio)
{
    assert(floor >= 0.0);
    *ratio = (struct ratio){.value = (double)NAN};
    size_t most = base->round_count + other->round_count;
    size_t *base_rounds = memory_zeroed(most, sizeof *base_rounds);
    size_t *other_rounds = memory_zeroed(most, sizeof *other_rounds);
    size_t base_count, other_count;
    if (paired) {
        base_count = common_rounds(base, other, base_rounds);
        other_count = common_rounds(base, other, other_rounds);
    } else {
        base_count = filled_rounds(base, base_rounds);
        other_count = filled_rounds(other, other_rounds);
    }
    struct ranked a, b;
    ranked_init(&a, base, base_rounds, base_count);
    ranked_init(&b, other, other_rounds, other_count);
    if (a.count > 0 && b.count > 0 && a.entries[0].ns > 0.0 && b.entries[0].ns > 0.0) {
        ratio->value = whole_median(&a) / whole_median(&b);
        if (enough(base_count, a.count) && enough(other_count, b.count)) {
            ratio_interval(&a, &b, paired, ratio);
            ratio->interval_95.low /= 1.0 + floor;
            ratio->interval_95.high *= 1.0 + floor;
        }
    }
    ranked_release(&a);
    ranked_release(&b);
    free(base_rounds);
    free(other_rounds);
}

enum verdict stats_verdict(const struct ratio *ratio, double difference)
{
    if (!ratio->has_interval || !isfinite(ratio->value))
        return VERDICT_TOO_FEW;
    double most = 1.0 + difference;
    double least = 1.0 / most;
    if (ratio->interval_95.low >= least && ratio->interval_95.high <= most)
        return VERDICT_SAME;
    if (ratio->interval_95.low > 1.0 && ratio->value >= most)
        return VERDICT_FASTER;
    if (ratio->interval_95.high < 1.0 && ratio->value <= least)
        return VERDICT_SLOWER;
    return VERDICT_UNDECIDED;
}

const char *verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_FASTER:
        return "faster";
    case VERDICT_SLOWER:
        return "slower";
    case VERDICT_SAME:
        return "same";
    case VERDICT_UNDECIDED:
        return "undecided";
    case VERDICT_TOO_FEW:
        break;
    }
    return "too few samples";
}
