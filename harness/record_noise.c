/* SPDX-License-Identifier: Apache-2.0
 *
 * The noise of the machine, from the fixed pieces of host work that are timed before each round
 * (conditions.sentinel). The definition and its reasons are in docs/methodology.md, "Comparing". */
#include "harness/record_parts.h"

#include "base/text.h"
#include "harness/stats_flags.h"

#include <math.h>
#include <stdlib.h>

const char *const record_sentinels[] = {"compute_ns", "vector_ns", "memory_ns", NULL};

double record_sentinel(const struct record *record, const char *kind)
{
    const json_t *conditions = json_object_get(record->json, "conditions");
    const json_t *values = json_object_get(json_object_get(conditions, "sentinel"), kind);
    size_t count = json_array_size(values);
    if (count == 0)
        return (double)NAN;
    double *ns = memory_zeroed(count, sizeof *ns);
    for (size_t i = 0; i < count; i++)
        ns[i] = json_number_value(json_array_get(values, i));
    double median = stats_median(ns, count);
    free(ns);
    return median > 0.0 ? median : (double)NAN;
}

/* Half the distance between the 5 % and 95 % quantiles of the records' medians, as a share of their
 * median. */
static double noise_of(const struct result *result, const char *kind)
{
    double *medians = memory_zeroed(result->record_count, sizeof *medians);
    size_t count = 0;
    for (size_t i = 0; i < result->record_count; i++) {
        double median = record_sentinel(&result->records[i], kind);
        if (!isnan(median))
            medians[count++] = median;
    }
    double noise = 0.0;
    if (count >= 2) {
        double *sorted = stats_sorted(medians, count);
        double range = stats_quantile(sorted, count, 0.95) - stats_quantile(sorted, count, 0.05);
        noise = range / 2.0 / stats_quantile(sorted, count, 0.5);
        free(sorted);
    }
    free(medians);
    return noise;
}

double result_noise(const struct result *result)
{
    double noise = 0.0;
    for (const char *const *kind = record_sentinels; *kind != NULL; kind++)
        noise = fmax(noise, noise_of(result, *kind));
    return noise;
}
