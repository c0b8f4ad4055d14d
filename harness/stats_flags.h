/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of stats.c: order statistics, and the named oddities of a sample (two modes, drift,
 * outliers). Not for other modules: they read the flags of struct summary. */
#ifndef HARNESS_STATS_FLAGS_H
#define HARNESS_STATS_FLAGS_H

#include "harness/stats.h"

/* Ascending heap copy. */
double *stats_sorted(const double *values, size_t count);
/* Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); NaN
 * for count 0. */
double stats_quantile(const double *sorted, size_t count, double share);
/* Median absolute deviation times 1.4826, an estimate of the standard deviation of normal data. NaN
 * for count 0. */
double stats_mad(const double *sorted, size_t count, double median);

/* A value further from the median than 3.5 scaled MADs (Iglewicz and Hoaglin 1993, "How to Detect
 * and Handle Outliers"); where more than half of the values are equal, the mean absolute deviation
 * stands in, as they propose. */
bool stats_has_outliers(const double *sorted, size_t count, double median, double mad);

/* Two or more modes: the dip statistic (Hartigan and Hartigan 1985, Annals of Statistics 13(1)) is
 * above the 1 % point of uniform data, and the spread is large enough to matter. */
bool stats_is_bimodal(const struct samples *samples, const double *sorted);
/* The dip of count ascending values: the largest distance between their distribution and the
 * nearest unimodal one. */
double stats_dip(const double *sorted, size_t count);

/* A trend or a step over the rounds: the Mann-Kendall test of the round medians (Mann 1945, Kendall
 * 1975, with ties) or the Mann-Whitney test of the first half against the last (1947), each at 2.5
 * %, and a difference between the halves that is large enough to matter. */
bool stats_has_drift(const struct samples *samples);

#endif
