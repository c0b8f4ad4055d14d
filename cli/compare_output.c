/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing comparisons; see compare_output.h. Says in words what the numbers mean, and never leaves
 * out a case. */
#include "cli/compare_output.h"

#include "cli/inputs.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_side(const char *title, const struct compare_side *side, struct text *out)
{
    text_printf(out, "%s %s, measured %s, run %.8s\n        ", title, side->result->path,
                header_text(side->result, "created"), header_text(side->result, "run"));
    device_text(result_device_find(side->result, side->device), out);
    text_append(out, "\n");
}

static void write_warnings(const char *warnings, struct text *out)
{
    while (*warnings != '\0') {
        size_t length = strcspn(warnings, "\n");
        size_t begin = out->length;
        text_printf(out, "note:   %.*s", (int)length, warnings);
        text_make_printable(out->bytes + begin);
        text_append(out, "\n");
        warnings += length + (warnings[length] == '\n');
    }
}

/* Why a side has no rate, for its cell. */
static const char *side_cell(const struct record *record, const struct summary *summary,
                             char rate[RATE_TEXT_BYTES])
{
    if (record == NULL)
        return "missing";
    if (record->state == STATE_UNSUPPORTED)
        return "not supported";
    if (record->state != STATE_OK)
        return state_name(record->state);
    return rate_text(record, summary, rate);
}

static void ratio_cell(const struct compare_row *row, struct text *out)
{
    char value[COMPARE_TEXT_BYTES], low[COMPARE_TEXT_BYTES], high[COMPARE_TEXT_BYTES];
    if (!isfinite(row->ratio.value)) {
        text_append(out, "n/a");
        return;
    }
    text_append(out, compare_format_ratio(row->ratio.value, value));
    if (row->ratio.has_interval)
        text_printf(out, " [%s, %s]", compare_format_ratio(row->ratio.interval_95.low, low),
                    compare_format_ratio(row->ratio.interval_95.high, high));
}

/* "faster", "not judged" and the words that go with it. */
static void verdict_cell(const struct compare_row *row, struct text *out)
{
    char words[COMPARE_TEXT_BYTES];
    compare_words(row, words);
    if (row->state == COMPARE_NOT_COMPARABLE)
        text_append(out, "not comparable");
    else if (!row->judged)
        text_append(out, "not judged");
    else if (row->verdict == VERDICT_FASTER)
        text_printf(out, "%s, faster", words);
    else
        text_append(out, words);
}

static void add_row(struct table *table, const struct compare_row *row)
{
    char base[RATE_TEXT_BYTES], other[RATE_TEXT_BYTES];
    struct text ratio = {0}, verdict = {0}, key = {0};
    text_append(&key, row->key);
    text_make_printable(key.bytes);
    ratio_cell(row, &ratio);
    verdict_cell(row, &verdict);
    const char *cells[] = {
        text_string(&key),
        side_cell(row->base, &row->base_summary, base),
        side_cell(row->other, &row->other_summary, other),
        text_string(&ratio),
        text_string(&verdict),
        row->reason,
    };
    table_row(table, cells);
    text_release(&ratio);
    text_release(&verdict);
    text_release(&key);
}

static void write_totals(const struct comparison *comparison, double difference, struct text *out)
{
    char mean[COMPARE_TEXT_BYTES];
    text_printf(out, "%zu faster, %zu slower, %zu same (within %.3g %%), %zu undecided",
                comparison->faster_count, comparison->slower_count, comparison->same_count,
                difference * 100.0, comparison->undecided_count);
    if (comparison->refused_count > 0)
        text_printf(out, ", %zu not comparable", comparison->refused_count);
    if (comparison->missing_count > 0)
        text_printf(out, ", %zu missing or failed", comparison->missing_count);
    text_printf(out, "\ngeometric mean of the ratios: %s, over %zu of %zu cases\n\n",
                compare_format_ratio(comparison->geometric_mean, mean), comparison->judged_count,
                comparison->row_count);
}

void compare_write_table(const struct comparison *comparison, const char *note, double difference,
                         struct text *out)
{
    static const struct table_column columns[] = {
        {.title = "CASE", .shrinks = true},
        {.title = "BASE ±95 %", .align = TABLE_RIGHT},
        {.title = "OTHER ±95 %", .align = TABLE_RIGHT},
        {.title = "RATIO [95 %]", .align = TABLE_RIGHT},
        {.title = "VERDICT"},
        {.title = "NOTES", .shrinks = true},
    };
    write_side("base:  ", &comparison->base, out);
    write_side("other: ", &comparison->other, out);
    if (note[0] != '\0')
        text_printf(out, "note:   %s\n", note);
    write_warnings(comparison->warnings, out);
    text_append(out, "\n");
    struct table *table = table_create(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < comparison->row_count; i++)
        add_row(table, &comparison->rows[i]);
    table_write(table, terminal_width(STDOUT_FILENO), out);
    table_destroy(table);
    text_append(out, "\n");
    write_totals(comparison, difference, out);
}

static json_t *number_or_null(bool known, double value)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

static json_t *side_json(const struct compare_side *side)
{
    const struct result_device *device = result_device_find(side->result, side->device);
    return json_pack("{s:o,s:s,s:s,s:s,s:s,s:s,s:b,s:b}", "file", path_json(side->result->path),
                     "run", header_text(side->result, "run"), "created",
                     header_text(side->result, "created"), "device", side->device, "name",
                     device->name, "driver", device->driver, "software", device->software,
                     "complete", side->result->complete);
}

static json_t *measured_json(const struct record *record, const struct summary *summary)
{
    if (record == NULL)
        return json_null();
    bool ok = record->state == STATE_OK, interval = ok && summary->has_interval;
    json_t *json = json_pack("{s:s,s:s?,s:s}", "state", state_name(record->state), "reason",
                             record->reason, "unit", record->unit);
    json_object_set_new(json, "rate", number_or_null(ok, record_rate(record, summary->median)));
    json_object_set_new(json, "rate_low",
                        number_or_null(interval, record_rate(record, summary->median_95.high)));
    json_object_set_new(json, "rate_high",
                        number_or_null(interval, record_rate(record, summary->median_95.low)));
    json_object_set_new(json, "median_ns", number_or_null(ok, summary->median));
    json_object_set_new(json, "samples", json_integer((json_int_t)record->samples.count));
    return json;
}

static json_t *row_json(const struct compare_row *row)
{
    static const char *const states[] = {
        [COMPARE_PAIRED] = "paired",
        [COMPARE_BASE_ONLY] = "base-only",
        [COMPARE_OTHER_ONLY] = "other-only",
        [COMPARE_NOT_COMPARABLE] = "not-comparable",
    };
    json_t *ratio =
        json_pack("{s:o,s:o,s:o}", "value", number_or_null(true, row->ratio.value), "low",
                  number_or_null(row->ratio.has_interval, row->ratio.interval_95.low), "high",
                  number_or_null(row->ratio.has_interval, row->ratio.interval_95.high));
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:f,s:b,s:s?,s:s}", "case", row->key, "state",
                     states[row->state], "base", measured_json(row->base, &row->base_summary),
                     "other", measured_json(row->other, &row->other_summary), "ratio", ratio,
                     "noise_floor", row->floor, "judged", row->judged, "verdict",
                     row->judged ? verdict_name(row->verdict) : NULL, "reason", row->reason);
}

static json_t *comparison_json(const struct comparison *comparison)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < comparison->row_count; i++)
        json_array_append_new(rows, row_json(&comparison->rows[i]));
    json_t *counts = json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "cases", (json_int_t)comparison->row_count, "judged",
        (json_int_t)comparison->judged_count, "faster", (json_int_t)comparison->faster_count,
        "slower", (json_int_t)comparison->slower_count, "same", (json_int_t)comparison->same_count,
        "undecided", (json_int_t)comparison->undecided_count, "missing",
        (json_int_t)comparison->missing_count, "not_comparable",
        (json_int_t)comparison->refused_count);
    return json_pack("{s:o,s:o,s:b,s:f,s:o,s:o,s:s,s:o}", "base", side_json(&comparison->base),
                     "other", side_json(&comparison->other), "paired", comparison->paired,
                     "noise_floor", comparison->noise_floor, "geometric_mean",
                     number_or_null(true, comparison->geometric_mean), "counts", counts, "warnings",
                     comparison->warnings, "rows", rows);
}

void compare_write_json(struct comparison *const *comparisons, size_t count, double difference,
                        struct text *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, comparison_json(comparisons[i]));
    json_t *json = json_pack("{s:f,s:o}", "difference", difference, "comparisons", list);
    char *dump = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    if (dump != NULL)
        text_printf(out, "%s\n", dump);
    free(dump);
    json_decref(json);
}
