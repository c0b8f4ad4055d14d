/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs the records of two devices and judges each pair; see compare.h. The judgement itself is
 * harness/stats.c, what forbids one is compare_pair.c, the head lines are compare_head.c. */
#include "reports/compare.h"

#include "base/text.h"
#include "reports/compare_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_run(const struct result *a, const struct result *b)
{
    if (a == b)
        return true;
    const char *run = json_string_value(json_object_get(a->header, "run"));
    const char *other = json_string_value(json_object_get(b->header, "run"));
    return run[0] != '\0' && strcmp(run, other) == 0;
}

static enum code check_side(const struct compare_side *side, const struct compare_options *options,
                            struct error *err)
{
    const struct result *result = side->result;
    if (result_device_find(result, side->device) == NULL) {
        struct text ids = {0};
        for (size_t i = 0; i < result->device_count; i++)
            text_printf(&ids, "%s%s", i > 0 ? ", " : "", result->devices[i].id);
        error_set(err, CODE_USAGE, 0, "'%s' has no device '%s': it has %s", result->path,
                  side->device, text_string(&ids));
        text_release(&ids);
        return CODE_USAGE;
    }
    if (result->complete || options->partial)
        return CODE_OK;
    return error_set(err, CODE_INCOMPARABLE, 0,
                     "'%s' is incomplete: its run did not end, it has %zu of %zu planned records "
                     "(--resume finishes it, --partial compares what is there)",
                     result->path, result->record_count,
                     json_array_size(json_object_get(result->header, "planned")));
}

/* A cut must not leave half a character behind: it would be no text any more. */
static void copy_cut(const struct text *text, char *out, size_t capacity)
{
    size_t bad;
    snprintf(out, capacity, "%s", text_string(text));
    if (!text_is_utf8(out, strlen(out), &bad))
        out[bad] = '\0';
}

static void take_reason(struct compare_row *row, struct text *reason)
{
    copy_cut(reason, row->reason, sizeof row->reason);
    text_make_printable(row->reason);
    text_release(reason);
}

/* "base: crashed: signal 11" for a side that is not ok. */
static void side_reason(const char *side, const struct record *record, struct text *out)
{
    if (record->state == STATE_OK)
        return;
    const char *name =
        record->state == STATE_UNSUPPORTED ? "not supported" : state_name(record->state);
    text_printf(out, "%s%s %s: %s", out->length > 0 ? "; " : "", side, name, record->reason);
}

static void too_few_reason(const struct compare_row *row, struct text *out)
{
    const struct summary *sides[] = {&row->base_summary, &row->other_summary};
    static const char *const names[] = {"base", "other"};
    for (size_t i = 0; i < 2; i++)
        if (!sides[i]->has_interval)
            text_printf(out, "%s%s: n = %zu in %zu round%s", out->length > 0 ? "; " : "", names[i],
                        sides[i]->count, sides[i]->rounds, sides[i]->rounds == 1 ? "" : "s");
    text_printf(out, "%sat least %d samples in %d rounds needed", out->length > 0 ? "; " : "",
                STATS_SAMPLES_LEAST, STATS_ROUNDS_LEAST);
}

/* Of one run: were the rounds of the two measured in turn? */
static bool side_by_side(const struct record *base, const struct record *other)
{
    return base->segment == other->segment &&
           !json_is_false(json_object_get(base->json, "alternated")) &&
           !json_is_false(json_object_get(other->json, "alternated"));
}

/* Both sides are ok and may be compared. */
static void judge(struct comparison *comparison, struct compare_row *row,
                  const struct compare_options *options, struct text *reason)
{
    bool paired = comparison->paired && side_by_side(row->base, row->other);
    row->floor = paired ? 0.0 : pair_noise_floor(comparison, row->base, row->other);
    stats_ratio(&row->base->samples, &row->other->samples, paired, row->floor, &row->ratio);
    row->verdict = stats_verdict(&row->ratio, options->difference);
    row->judged = row->verdict != VERDICT_TOO_FEW;
    if (!row->judged)
        too_few_reason(row, reason);
    if (comparison->paired && !paired)
        text_printf(reason, "%snot measured side by side: %s", reason->length > 0 ? "; " : "",
                    row->base->segment != row->other->segment
                        ? "the run was resumed in between"
                        : "the buffers of the devices did not fit together");
    pair_remarks(row->base, row->other, reason);
}

static void fill_pair(struct comparison *comparison, struct compare_row *row,
                      const struct compare_options *options)
{
    struct text reason = {0};
    if (row->base->state == STATE_OK)
        stats_summarise(&row->base->samples, &row->base_summary);
    if (row->other->state == STATE_OK)
        stats_summarise(&row->other->samples, &row->other_summary);
    row->state = COMPARE_PAIRED;
    side_reason("base", row->base, &reason);
    side_reason("other", row->other, &reason);
    if (reason.length == 0) {
        pair_refusal(comparison, row->base, row->other, &reason);
        if (reason.length == 0 || options->force)
            judge(comparison, row, options, &reason);
        else
            row->state = COMPARE_NOT_COMPARABLE;
    }
    take_reason(row, &reason);
}

static void fill_single(const struct comparison *comparison, struct compare_row *row)
{
    bool base = row->base != NULL;
    const struct record *record = base ? row->base : row->other;
    struct text reason = {0};
    text_append(&reason, base ? "only in the base" : "only in the other");
    pair_near_miss(record, base ? &comparison->other : &comparison->base,
                   base ? &comparison->base : &comparison->other, &reason);
    side_reason(base ? "base" : "other", record, &reason);
    row->state = base ? COMPARE_BASE_ONLY : COMPARE_OTHER_ONLY;
    if (record->state == STATE_OK)
        stats_summarise(&record->samples, base ? &row->base_summary : &row->other_summary);
    take_reason(row, &reason);
}

static void add_rows(struct comparison *comparison, const struct compare_options *options)
{
    const struct compare_side *base = &comparison->base, *other = &comparison->other;
    comparison->rows = memory_zeroed(base->result->record_count + other->result->record_count,
                                     sizeof *comparison->rows);
    for (size_t i = 0; i < base->result->record_count; i++) {
        const struct record *record = &base->result->records[i];
        if (strcmp(record->device, base->device) != 0)
            continue;
        struct compare_row *row = &comparison->rows[comparison->row_count++];
        *row = (struct compare_row){.key = record->key,
                                    .base = record,
                                    .verdict = VERDICT_TOO_FEW,
                                    .ratio = {.value = (double)NAN}};
        row->other = result_find(other->result, record->key, other->device);
        if (row->other != NULL)
            fill_pair(comparison, row, options);
        else
            fill_single(comparison, row);
    }
    for (size_t i = 0; i < other->result->record_count; i++) {
        const struct record *record = &other->result->records[i];
        if (strcmp(record->device, other->device) != 0 ||
            result_find(base->result, record->key, base->device) != NULL)
            continue;
        struct compare_row *row = &comparison->rows[comparison->row_count++];
        *row = (struct compare_row){.key = record->key,
                                    .other = record,
                                    .verdict = VERDICT_TOO_FEW,
                                    .ratio = {.value = (double)NAN}};
        fill_single(comparison, row);
    }
}

static bool failed(const struct record *record)
{
    return record->state != STATE_OK && record->state != STATE_UNSUPPORTED;
}

static void count_rows(struct comparison *comparison)
{
    double logarithms = 0.0;
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        comparison->refused_count += row->state == COMPARE_NOT_COMPARABLE;
        comparison->missing_count +=
            row->base == NULL || row->other == NULL || failed(row->base) || failed(row->other);
        comparison->noise_floor = fmax(comparison->noise_floor, row->floor);
        if (!row->judged)
            continue;
        comparison->judged_count++;
        comparison->faster_count += row->verdict == VERDICT_FASTER;
        comparison->slower_count += row->verdict == VERDICT_SLOWER;
        comparison->same_count += row->verdict == VERDICT_SAME;
        comparison->undecided_count += row->verdict == VERDICT_UNDECIDED;
        logarithms += log(row->ratio.value);
    }
    comparison->geometric_mean = comparison->judged_count > 0
                                     ? exp(logarithms / (double)comparison->judged_count)
                                     : (double)NAN;
}

enum code compare_sides(const struct compare_side *base, const struct compare_side *other,
                        const struct compare_options *options, struct comparison **comparison,
                        struct error *err)
{
    *comparison = NULL;
    enum code code = check_side(base, options, err);
    if (code == CODE_OK)
        code = check_side(other, options, err);
    if (code != CODE_OK)
        return code;
    struct comparison *made = memory_zeroed(1, sizeof *made);
    made->base = *base;
    made->other = *other;
    made->paired = same_run(base->result, other->result);
    add_rows(made, options);
    count_rows(made);
    struct text warnings = {0};
    comparison_warnings(made, &warnings);
    copy_cut(&warnings, made->warnings, sizeof made->warnings);
    text_release(&warnings);
    *comparison = made;
    return CODE_OK;
}

void comparison_destroy(struct comparison *comparison)
{
    if (comparison == NULL)
        return;
    free(comparison->rows);
    free(comparison);
}

char *compare_format_ratio(double ratio, char out[COMPARE_TEXT_BYTES])
{
    if (!isfinite(ratio))
        snprintf(out, COMPARE_TEXT_BYTES, "n/a");
    else if (ratio >= 99.95)
        snprintf(out, COMPARE_TEXT_BYTES, "%.0f", ratio);
    else if (ratio >= 9.995)
        snprintf(out, COMPARE_TEXT_BYTES, "%.2f", ratio);
    else if (ratio >= 0.1)
        snprintf(out, COMPARE_TEXT_BYTES, "%.3f", ratio);
    else
        snprintf(out, COMPARE_TEXT_BYTES, "%#.3g", ratio);
    return out;
}

static void slower_words(double ratio, char out[COMPARE_TEXT_BYTES])
{
    double percent = (1.0 - ratio) * 100.0;
    if (ratio <
        0.05) /* "97 % slower" and "99 % slower" look alike and are a factor of three apart */
        snprintf(out, COMPARE_TEXT_BYTES, "1/%.0f as fast", 1.0 / ratio);
    else
        snprintf(out, COMPARE_TEXT_BYTES, percent < 9.95 ? "%.1f %% slower" : "%.0f %% slower",
                 percent);
}

char *compare_words(const struct compare_row *row, char out[COMPARE_TEXT_BYTES])
{
    out[0] = '\0';
    if (!row->judged)
        return out;
    if (row->verdict == VERDICT_SLOWER)
        slower_words(row->ratio.value, out);
    else if (row->verdict == VERDICT_FASTER)
        snprintf(out, COMPARE_TEXT_BYTES,
                 row->ratio.value < 9.995 ? "%.2f times as fast" : "%.0f times as fast",
                 row->ratio.value);
    else
        snprintf(out, COMPARE_TEXT_BYTES, "%s", verdict_name(row->verdict));
    return out;
}
