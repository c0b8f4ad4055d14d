/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of figures. Must not know: output formats, so nothing here is escaped. */
#include "reports/figures.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool check_clean(const json_t *check)
{
    const json_t *mismatches = json_object_get(check, "mismatches");
    return json_is_integer(mismatches) && json_integer_value(mismatches) == 0;
}

bool figure_verified(const struct record *record)
{
    const json_t *check = json_object_get(record->json, "check");
    const json_t *before = json_object_get(check, "before");
    const json_t *after = json_object_get(check, "after");
    bool has_before = json_is_object(before), has_after = json_is_object(after);
    return (has_before || has_after) && (!has_before || check_clean(before)) &&
           (!has_after || check_clean(after));
}

static const char *unit_of(const struct record *record)
{
    return record->unit != NULL ? record->unit : "1/s";
}

const char *figure_rate(const struct matrix_cell *cell, char out[FIGURE_BYTES])
{
    char rate[QUANTITY_BYTES];
    snprintf(out, FIGURE_BYTES, "%s",
             quantity_format_si(record_rate(cell->record, cell->summary.median),
                                unit_of(cell->record), rate));
    return out;
}

bool figure_rate_interval(const struct matrix_cell *cell, double *low, double *high)
{
    if (!cell->has_number || !cell->summary.has_interval)
        return false;
    *low = record_rate(cell->record, cell->summary.median_95.high);
    *high = record_rate(cell->record, cell->summary.median_95.low);
    return isfinite(*low) && isfinite(*high);
}

const char *figure_margin(const struct matrix_cell *cell, char out[FIGURE_BYTES])
{
    double low, high;
    if (!figure_rate_interval(cell, &low, &high)) {
        snprintf(out, FIGURE_BYTES, "no interval (n = %zu)", cell->summary.count);
        return out;
    }
    double rate = record_rate(cell->record, cell->summary.median);
    double share = 100 * fmax(high - rate, rate - low) / rate;
    if (share < 0.01)
        snprintf(out, FIGURE_BYTES, "±<0.01 %%");
    else
        snprintf(out, FIGURE_BYTES, "±%.*f %%", share < 0.095 ? 2 : share < 9.95 ? 1 : 0, share);
    return out;
}

const char *figure_interval(const struct matrix_cell *cell, char out[FIGURE_BYTES])
{
    double low, high;
    if (!figure_rate_interval(cell, &low, &high)) {
        snprintf(out, FIGURE_BYTES, "none");
        return out;
    }
    char from[QUANTITY_BYTES], to[QUANTITY_BYTES];
    quantity_format_si(low, unit_of(cell->record), from);
    quantity_format_si(high, unit_of(cell->record), to);
    char *unit = strchr(from, ' ');
    const char *last_unit = strchr(to, ' ');
    if (unit != NULL && last_unit != NULL && strcmp(unit, last_unit) == 0)
        *unit = '\0'; /* the unit once, "8.07 to 8.10 GB/s" */
    snprintf(out, FIGURE_BYTES, "%s to %s", from, to);
    return out;
}

const char *figure_ratio(double ratio, char out[FIGURE_BYTES])
{
    if (!isfinite(ratio) || ratio <= 0)
        snprintf(out, FIGURE_BYTES, "n/a");
    else if (ratio > 0.8 && ratio < 1.25)
        snprintf(out, FIGURE_BYTES, "%.3f×", ratio);
    else if (ratio >= 1000)
        snprintf(out, FIGURE_BYTES, "%.0f×", ratio);
    else if (ratio < 0.01)
        snprintf(out, FIGURE_BYTES, "%.2g×", ratio);
    else
        snprintf(out, FIGURE_BYTES, "%.*f×",
                 ratio >= 100  ? 0
                 : ratio >= 10 ? 1
                 : ratio >= 1  ? 2
                               : 3,
                 ratio);
    return out;
}

const char *figure_ratio_interval(const struct ratio *ratio, char out[FIGURE_BYTES])
{
    if (!ratio->has_interval) {
        snprintf(out, FIGURE_BYTES, "no interval");
        return out;
    }
    char low[FIGURE_BYTES], high[FIGURE_BYTES];
    snprintf(out, FIGURE_BYTES, "%.30s to %.30s", figure_ratio(ratio->interval_95.low, low),
             figure_ratio(ratio->interval_95.high, high));
    return out;
}

const char *figure_verdict(const struct matrix_cell *cell)
{
    if (!cell->has_number || cell->row == NULL || !cell->row->judged)
        return NULL;
    return verdict_name(cell->row->verdict);
}

const char *figure_absence_short(const struct matrix_cell *cell)
{
    static const char *const words[STATE_COUNT] = {
        [STATE_OK] = "not verified",
        [STATE_UNSUPPORTED] = "not supported",
        [STATE_FAILED_VERIFICATION] = "failed verification",
        [STATE_NOT_SCALING] = "not scaling",
        [STATE_IMPLAUSIBLE] = "implausible",
        [STATE_INVALID_CLOCK] = "invalid clock",
        [STATE_THROTTLED] = "throttled",
        [STATE_ERROR] = "error",
        [STATE_TIMEOUT] = "timeout",
        [STATE_CRASHED] = "crashed",
        [STATE_DEVICE_LOST] = "device lost",
        [STATE_NOT_RUN] = "not run",
    };
    if (cell->record == NULL)
        return cell->planned ? "missing" : "not planned";
    if (cell->record->state == STATE_OK && cell->record->samples.count == 0)
        return "no samples";
    return words[cell->record->state];
}

void figure_absence(const struct matrix_cell *cell, struct text *out)
{
    text_append(out, figure_absence_short(cell));
    if (cell->record == NULL)
        text_append(out, cell->planned ? ": the file ends before this case"
                                       : ": not a case of this run");
    else if (cell->record->state == STATE_OK)
        text_append(out, ": the record holds no clean check, so its number is not shown");
    else
        text_printf(out, ": %s",
                    cell->record->reason != NULL ? cell->record->reason : "no reason was recorded");
}

static void check_numbers(const json_t *check, struct text *out)
{
    char count[QUANTITY_BYTES];
    const json_t *elements = json_object_get(check, "elements");
    const json_t *largest = json_object_get(check, "max_error");
    if (json_is_integer(elements) && json_integer_value(elements) >= 0)
        text_printf(out, ", %s elements",
                    quantity_format_count((uint64_t)json_integer_value(elements), count));
    if (!json_is_number(largest))
        return;
    double error = json_number_value(largest);
    if (error > 0)
        text_printf(out, ", largest error %.2g", error);
    else
        text_append(out, ", no error");
}

void figure_check(const struct record *record, struct text *out)
{
    const json_t *check = json_object_get(record->json, "check");
    const json_t *before = json_object_get(check, "before");
    const json_t *after = json_object_get(check, "after");
    bool has_before = json_is_object(before), has_after = json_is_object(after);
    if (!has_before && !has_after) {
        text_append(out, "not verified");
        return;
    }
    if (!figure_verified(record))
        text_append(out, "wrong output ");
    text_append(out, has_before && has_after ? "before and after"
                     : has_before            ? "before the timing only"
                                             : "after the timing only");
    check_numbers(has_after ? after : before, out);
}

static void remark_add(struct text *out, const char *remark)
{
    text_printf(out, "%s%s", out->length > 0 ? "; " : "", remark);
}

static void remarks_of_record(const struct record *record, struct text *out)
{
    const json_t *memory = json_object_get(record->json, "memory");
    const char *residence = json_string_value(json_object_get(memory, "residence"));
    if (residence != NULL && strcmp(residence, "cache") == 0)
        remark_add(out, "fits in a cache");
    if (json_is_true(json_object_get(memory, "same_memory")))
        remark_add(out, "host memory, no bus involved");
    const json_t *notes = json_object_get(record->json, "notes");
    for (size_t i = 0; i < json_array_size(notes); i++) {
        const char *note = json_string_value(json_array_get(notes, i));
        if (note != NULL && note[0] != '\0')
            remark_add(out, note);
    }
}

void figure_remarks(const struct matrix_cell *cell, struct text *out)
{
    struct text remarks = {0};
    if (cell->has_number) {
        if (!cell->record->converged)
            remark_add(&remarks, "not converged");
        if (cell->summary.bimodal)
            remark_add(&remarks, "two modes");
        if (cell->summary.drift)
            remark_add(&remarks, "drift over the rounds");
        if (cell->summary.outliers)
            remark_add(&remarks, "outliers");
        if (cell->row != NULL && cell->row->reason[0] != '\0')
            remark_add(&remarks, cell->row->reason);
    }
    if (cell->record != NULL)
        remarks_of_record(cell->record, &remarks);
    text_append(out, text_string(&remarks));
    text_release(&remarks);
}

void figure_mean(const struct matrix_column *column, struct text *out)
{
    const struct comparison *comparison = column->comparison;
    if (comparison == NULL)
        return;
    if (comparison->judged_count == 0) {
        text_printf(out, "none: no case of %zu can be compared", comparison->row_count);
        return;
    }
    char ratio[FIGURE_BYTES];
    text_printf(out, "%s over %zu of %zu cases", figure_ratio(comparison->geometric_mean, ratio),
                comparison->judged_count, comparison->row_count);
}
