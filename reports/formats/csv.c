/* SPDX-License-Identifier: Apache-2.0
 *
 * One line a record, failed ones too, for spreadsheets and scripts (RFC 4180). Text that a
 * spreadsheet would run as a formula is neutralised; numbers are plain numbers; what is not known
 * is "n/a", never 0 and never an empty cell. */
#include "reports/format.h"

#include "reports/compare.h"
#include "reports/labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "file",        "run",          "created",       "device",
    "device_name", "device_kind",  "case",          "suite",
    "state",       "reason",       "rate",          "rate_low",
    "rate_high",   "unit",         "bytes_counted", "median_ns",
    "median_low",  "median_high",  "minimum_ns",    "maximum_ns",
    "mad_ns",      "samples",      "rounds",        "converged",
    "two_modes",   "drift",        "outliers",      "clock",
    "verified",    "max_error",    "work_bytes",    "work_operations",
    "base",        "ratio",        "ratio_low",     "ratio_high",
    "verdict",     "verdict_note",
};

/* One line while it is written. */
struct line {
    struct text *out;
    size_t cells;
};

static void separate(struct line *line)
{
    if (line->cells++ > 0)
        text_append(line->out, ",");
}

/* A leading = + - @, tab or line end makes a spreadsheet read the cell as a formula: an apostrophe
 * makes it text again. */
static void put_text(struct line *line, const char *text)
{
    separate(line);
    bool formula = text[0] != '\0' && strchr("=+-@\t\r\n", text[0]) != NULL;
    bool quoted = formula || strpbrk(text, ",\"\r\n") != NULL || text[0] == ' ';
    if (!quoted) {
        text_append(line->out, text[0] != '\0' ? text : "n/a");
        return;
    }
    text_append(line->out, formula ? "\"'" : "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            text_append(line->out, "\"");
        text_append_bytes(line->out, text, 1);
    }
    text_append(line->out, "\"");
}

/* The fewest digits that read back as the same value. */
static void put_number(struct line *line, double value)
{
    if (!isfinite(value)) {
        put_text(line, "n/a");
        return;
    }
    char digits[40];
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    separate(line);
    text_append(line->out, digits);
}

static void put_count(struct line *line, uint64_t count)
{
    separate(line);
    text_printf(line->out, "%" PRIu64, count);
}

static void put_bool(struct line *line, bool value)
{
    put_text(line, value ? "yes" : "no");
}

static void put_unknown(struct line *line, size_t cells)
{
    for (size_t i = 0; i < cells; i++)
        put_text(line, "n/a");
}

static const char *header_text(const struct result *result, const char *name)
{
    const char *text = json_string_value(json_object_get(result->header, name));
    return text != NULL ? text : "";
}

static void put_identity(struct line *line, const struct result *result,
                         const struct record *record)
{
    const struct result_device *device = result_device_of(result, record);
    char kind[LABEL_KIND_BYTES];
    label_kind(device, kind);
    put_text(line, result->path);
    put_text(line, header_text(result, "run"));
    put_text(line, header_text(result, "created"));
    put_text(line, device->id);
    put_text(line, device->name);
    put_text(line, kind);
    put_text(line, record->key);
    put_text(line, record->suite);
    put_text(line, state_name(record->state));
    struct text reason = {0};
    if (record->state != STATE_OK)
        text_printf(&reason, "%s%s", record->state == STATE_UNSUPPORTED ? "not supported: " : "",
                    record->reason);
    put_text(line, text_string(&reason));
    text_release(&reason);
}

/* Eleven cells from rate to rounds; of a record that is not ok none is a measured figure. */
static void put_figures(struct line *line, const struct record *record,
                        const struct summary *summary)
{
    bool ok = record->state == STATE_OK;
    if (ok)
        put_number(line, record_rate(record, summary->median));
    if (ok && summary->has_interval) {
        put_number(line, record_rate(record, summary->median_95.high));
        put_number(line, record_rate(record, summary->median_95.low));
    } else {
        put_unknown(line, ok ? 2 : 3);
    }
    put_text(line, record->unit);
    put_text(line, record->bytes_counted);
    if (!ok) {
        put_unknown(line, 12);
        return;
    }
    put_number(line, summary->median);
    put_number(line, summary->has_interval ? summary->median_95.low : (double)NAN);
    put_number(line, summary->has_interval ? summary->median_95.high : (double)NAN);
    put_number(line, summary->minimum);
    put_number(line, summary->maximum);
    put_number(line, summary->mad);
    put_count(line, summary->count);
    put_count(line, summary->rounds);
    put_bool(line, record->converged);
    put_bool(line, summary->bimodal);
    put_bool(line, summary->drift);
    put_bool(line, summary->outliers);
}

static void put_trust(struct line *line, const struct record *record)
{
    const json_t *check = json_object_get(record->json, "check");
    const json_t *after = json_object_get(check, "after");
    const json_t *error = json_object_get(after, "max_error");
    put_text(line, record->state == STATE_OK ? record->clock : "n/a");
    put_text(line, record->state == STATE_OK ? "before and after" : "no");
    put_number(line, json_is_number(error) ? json_number_value(error) : (double)NAN);
    if (json_is_object(json_object_get(record->json, "work"))) {
        put_count(line, record->work_bytes);
        put_count(line, record->work_operations);
    } else {
        put_unknown(line, 2);
    }
}

static void put_comparison(struct line *line, const struct comparison *comparison,
                           const struct compare_row *row)
{
    if (comparison == NULL || row == NULL) {
        put_unknown(line, 6);
        return;
    }
    put_text(line, comparison->base.device);
    put_number(line, row->ratio.value);
    put_number(line, row->ratio.has_interval ? row->ratio.interval_95.low : (double)NAN);
    put_number(line, row->ratio.has_interval ? row->ratio.interval_95.high : (double)NAN);
    put_text(line, row->judged ? verdict_name(row->verdict) : "not judged");
    put_text(line, row->reason);
}

static const struct compare_row *row_of(const struct comparison *comparison,
                                        const struct record *record)
{
    for (size_t i = 0; comparison != NULL && i < comparison->row_count; i++)
        if (comparison->rows[i].other == record)
            return &comparison->rows[i];
    return NULL;
}

static void write_record(const struct result *result, const struct record *record,
                         const struct comparison *comparison, struct text *out)
{
    struct line line = {.out = out};
    const struct compare_row *row = row_of(comparison, record);
    struct summary summary = {0};
    if (row != NULL)
        summary = row->other_summary;
    else if (record->state == STATE_OK)
        stats_summarise(&record->samples, &summary);
    put_identity(&line, result, record);
    put_figures(&line, record, &summary);
    put_trust(&line, record);
    put_comparison(&line, comparison, row);
    text_append(out, "\r\n");
}

/* The side that the others are compared with: the device asked for, else the first one that there
 * is. */
static struct compare_side base_side(const struct report_input *input)
{
    struct compare_side base = {0};
    for (size_t r = 0; r < input->result_count; r++) {
        const struct result *result = input->results[r];
        for (size_t d = 0; d < result->device_count; d++) {
            bool asked = input->base != NULL && strcmp(input->base, result->devices[d].id) == 0;
            if (base.result == NULL || asked)
                base = (struct compare_side){result, result->devices[d].id};
            if (asked)
                return base;
        }
    }
    return base;
}

static void write_device(const struct report_input *input, const struct compare_side *base,
                         const struct compare_side *side, struct text *out)
{
    struct compare_options options = {.difference = input->difference, .partial = true};
    struct comparison *comparison = NULL;
    bool itself = base->result == side->result && strcmp(base->device, side->device) == 0;
    if (!itself)
        compare_sides(base, side, &options, &comparison, NULL);
    for (size_t i = 0; i < side->result->record_count; i++) {
        const struct record *record = &side->result->records[i];
        if (strcmp(record->device, side->device) == 0)
            write_record(side->result, record, comparison, out);
    }
    comparison_destroy(comparison);
}

static enum code write(const struct report_input *input, struct text *out, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        text_printf(out, "%s%s", i > 0 ? "," : "", columns[i]);
    text_append(out, "\r\n");
    struct compare_side base = base_side(input);
    for (size_t r = 0; r < input->result_count; r++) {
        const struct result *result = input->results[r];
        for (size_t d = 0; d < result->device_count; d++) {
            struct compare_side side = {result, result->devices[d].id};
            write_device(input, &base, &side, out);
        }
    }
    return CODE_OK;
}

extern const struct report_format report_csv;
const struct report_format report_csv = {
    .name = "csv",
    .summary = "one line a record, for spreadsheets and scripts",
    .report = true,
    .export = true,
    .write = write,
};
