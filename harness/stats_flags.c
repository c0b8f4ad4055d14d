/* SPDX-License-Identifier: Apache-2.0
 *
 * Order statistics and the named oddities of a sample; see stats_flags.h. Each flag has a published
 * test and a size below which it is not worth a word: a flag that fires on every run is read by
 * nobody. */
#include "harness/stats_flags.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const double normal_consistency =
    1.4826; /* 1 / the 75 % quantile of the normal distribution */
static const double mean_consistency =
    1.2533141; /* sqrt(pi / 2), the same for the mean absolute deviation */
static const double outlier_limit = 3.5;
static const double size_that_matters = 0.02; /* of the median */
static const double trend_z = 2.2414;         /* two-sided 2.5 % */
enum { BIMODAL_SAMPLES_LEAST = 8, BIMODAL_EFFECTIVE_LEAST = 4, DRIFT_ROUNDS_LEAST = 5 };

double stats_mad(const double *sorted, size_t count, double median)
{
    double *deviations = memory_zeroed(count, sizeof *deviations);
    for (size_t i = 0; i < count; i++)
        deviations[i] = fabs(sorted[i] - median);
    double mad = stats_median(deviations, count) * normal_consistency;
    free(deviations);
    return mad;
}

bool stats_has_outliers(const double *sorted, size_t count, double median, double mad)
{
    if (count < STATS_SAMPLES_LEAST)
        return false;
    double scale = mad;
    if (scale == 0.0) {
        for (size_t i = 0; i < count; i++)
            scale += fabs(sorted[i] - median) / (double)count;
        scale *= mean_consistency;
    }
    double reach = fmax(median - sorted[0], sorted[count - 1] - median);
    return reach > outlier_limit * scale;
}

/* Distinct values with the number of samples below each and up to each. */
struct steps {
    double *x, *below, *upto;
    double *minorant, *majorant; /* hulls of (x, below) and (x, upto) over the present interval */
    size_t *touch;               /* scratch: indices of a hull's corners */
    size_t count;
};

static void steps_init(struct steps *steps, const double *sorted, size_t count)
{
    double *block = memory_zeroed(count * 5, sizeof *block);
    *steps = (struct steps){.x = block,
                            .below = block + count,
                            .upto = block + 2 * count,
                            .minorant = block + 3 * count,
                            .majorant = block + 4 * count,
                            .touch = memory_zeroed(count, sizeof(size_t))};
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1]) {
            steps->x[steps->count] = sorted[i];
            steps->below[steps->count++] = (double)i;
        }
        steps->upto[steps->count - 1] = (double)(i + 1);
    }
}

static void steps_release(struct steps *steps)
{
    free(steps->x);
    free(steps->touch);
}

/* Writes the hull of (x, y) over [first, last] into hull: the greatest convex minorant (side 1) or
 * the least concave majorant (side -1). Corners by Andrew's monotone chain. */
static void hull_of(const struct steps *steps, const double *y, double side, size_t first,
                    size_t last, double *hull)
{
    const double *x = steps->x;
    size_t *touch = steps->touch;
    size_t corners = 0;
    for (size_t i = first; i <= last; i++) {
        while (corners >= 2) {
            size_t a = touch[corners - 2], b = touch[corners - 1];
            double turn = (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]);
            if (turn * side > 0.0)
                break;
            corners--;
        }
        touch[corners++] = i;
    }
    hull[first] = y[first];
    for (size_t c = 1; c < corners; c++) {
        size_t a = touch[c - 1], b = touch[c];
        double slope = (y[b] - y[a]) / (x[b] - x[a]);
        for (size_t i = a + 1; i < b; i++)
            hull[i] = y[a] + slope * (x[i] - x[a]);
        hull[b] = y[b];
    }
}

/* Widest gap between the hulls over [first, last], and the modal interval [low, high] there: from
 * the last corner of the minorant at or before it to the first corner of the majorant at or after
 * it. */
static double modal_interval(const struct steps *steps, size_t first, size_t last, size_t *low,
                             size_t *high)
{
    double gap = -1.0;
    size_t at = first;
    for (size_t i = first; i <= last; i++) {
        double here = steps->majorant[i] - steps->minorant[i];
        bool corner = steps->minorant[i] == steps->below[i] || steps->majorant[i] == steps->upto[i];
        if (corner && here > gap) {
            gap = here;
            at = i;
        }
    }
    *low = *high = at;
    while (*low > first && steps->minorant[*low] != steps->below[*low])
        (*low)--;
    while (*high < last && steps->majorant[*high] != steps->upto[*high])
        (*high)++;
    return gap;
}

double stats_dip(const double *sorted, size_t count)
{
    if (count == 0)
        return (double)NAN;
    struct steps steps;
    steps_init(&steps, sorted, count);
    double dip = 1.0; /* in samples, twice over */
    size_t first = 0, last = steps.count - 1;
    while (first < last) {
        hull_of(&steps, steps.below, 1.0, first, last, steps.minorant);
        hull_of(&steps, steps.upto, -1.0, first, last, steps.majorant);
        size_t low, high;
        double gap = modal_interval(&steps, first, last, &low, &high);
        if (gap <= dip)
            break;
        for (size_t i = first; i < low; i++)
            dip = fmax(dip, steps.upto[i] - steps.minorant[i]);
        for (size_t i = high + 1; i <= last; i++)
            dip = fmax(dip, steps.majorant[i] - steps.below[i]);
        if (low == first && high == last)
            break;
        first = low;
        last = high;
    }
    steps_release(&steps);
    return dip / (2.0 * (double)count);
}

/* 1 % point of the dip of uniform data: a fit, good to 3 %, of a simulation whose figures are in
 * docs/methodology.md. */
static double dip_limit(double count)
{
    double root = sqrt(count);
    return (0.635 - 0.39 / root) / root;
}

/* How many independent samples they are worth: count / design effect, where samples of one round
 * resemble each other (Kish 1965, "Survey Sampling", section 5.4; intraclass correlation by one-way
 * analysis of variance, of the ranks so that an outlier does not hide it). */
static double effective_count(const struct samples *samples, const double *sorted)
{
    size_t rounds = 0;
    double between = 0.0, within = 0.0, n = (double)samples->count;
    double centre = (n - 1.0) / 2.0;
    for (size_t r = 0; r < samples->round_count; r++) {
        size_t begin = samples->round_begin[r], end = samples->round_begin[r + 1];
        double sum = 0.0, squares = 0.0;
        for (size_t i = begin; i < end; i++) {
            size_t low = 0, high = samples->count; /* rank: values below, by bisection */
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (sorted[middle] < samples->ns[i])
                    low = middle + 1;
                else
                    high = middle;
            }
            sum += (double)low;
            squares += (double)low * (double)low;
        }
        if (begin == end)
            continue;
        rounds++;
        double size = (double)(end - begin);
        between += size * (sum / size - centre) * (sum / size - centre);
        within += squares - sum * sum / size;
    }
    if (rounds < 2 || samples->count <= rounds)
        return n;
    double size = n / (double)rounds;
    between /= (double)(rounds - 1);
    within /= n - (double)rounds;
    double correlation = (between - within) / (between + (size - 1.0) * within);
    return correlation > 0.0 ? n / (1.0 + (size - 1.0) * correlation) : n;
}

bool stats_is_bimodal(const struct samples *samples, const double *sorted)
{
    size_t count = samples->count;
    if (count < BIMODAL_SAMPLES_LEAST)
        return false;
    double spread = stats_quantile(sorted, count, 0.9) - stats_quantile(sorted, count, 0.1);
    if (spread < size_that_matters * stats_quantile(sorted, count, 0.5))
        return false;
    double effective = effective_count(samples, sorted);
    return effective >= BIMODAL_EFFECTIVE_LEAST && stats_dip(sorted, count) > dip_limit(effective);
}

/* Variance of Kendall's S for n values, corrected for ties. */
static double kendall_variance(const double *values, size_t count)
{
    double *sorted = stats_sorted(values, count);
    double n = (double)count;
    double variance = n * (n - 1.0) * (2.0 * n + 5.0);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && sorted[end] == sorted[i])
            end++;
        double ties = (double)(end - i);
        variance -= ties * (ties - 1.0) * (2.0 * ties + 5.0);
        i = end;
    }
    free(sorted);
    return variance / 18.0;
}

/* Mann-Kendall score of all pairs: later ones larger less later ones smaller. */
static double kendall_z(const double *values, size_t count)
{
    double score = 0.0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            score += (values[j] > values[i]) - (values[j] < values[i]);
    double variance = kendall_variance(values, count);
    return variance > 0.0 ? (fabs(score) - 1.0) / sqrt(variance) : 0.0;
}

/* Mann-Whitney test of the first against the last half: one step in the middle, of which the trend
 * test sees little. */
static double halves_z(const double *values, size_t count)
{
    size_t half = count / 2;
    double larger = 0.0, n = (double)half;
    for (size_t i = 0; i < half; i++)
        for (size_t j = count - half; j < count; j++)
            larger += values[j] > values[i] ? 1.0 : values[j] < values[i] ? 0.0 : 0.5;
    return (fabs(larger - n * n / 2.0) - 0.5) / sqrt(n * n * (2.0 * n + 1.0) / 12.0);
}

static bool has_trend(const double *medians, size_t count)
{
    if (kendall_z(medians, count) < trend_z && halves_z(medians, count) < trend_z)
        return false;
    size_t half = count / 2;
    double before = stats_median(medians, half);
    double after = stats_median(medians + (count - half), half);
    return fabs(after - before) >= size_that_matters * stats_median(medians, count);
}

bool stats_has_drift(const struct samples *samples)
{
    double *medians = memory_zeroed(samples->round_count, sizeof *medians);
    size_t count = 0;
    for (size_t r = 0; r < samples->round_count; r++) {
        size_t begin = samples->round_begin[r], end = samples->round_begin[r + 1];
        if (end > begin)
            medians[count++] = stats_median(samples->ns + begin, end - begin);
    }
    bool drift = count >= DRIFT_ROUNDS_LEAST && has_trend(medians, count);
    free(medians);
    return drift;
}
