/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands between two records of one key: differences that forbid a verdict, differences that
 * go with one, and the noise between their runs; see compare_parts.h. */
#include "reports/compare_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, OPTIONS_BYTES = 1024, NEAR_MISS_MAX = 3 };

static void separate(struct text *out)
{
    if (out->length > 0)
        text_append(out, "; ");
}

static void differ(struct text *out, const char *field, const char *base, const char *other)
{
    separate(out);
    text_printf(out, "%s: %s and %s", field, base, other);
}

static const json_t *member(const struct record *record, const char *group, const char *name)
{
    return json_object_get(json_object_get(record->json, group), name);
}

/* Macros hold the shape chosen for the device, and the language version is that of the API: neither
 * changes what a result is allowed to be. Everything else may. */
static bool option_matters(const char *option)
{
    static const char *const passed[] = {
        "-D", "-I", "-cl-std=", "-std=", "--std=", "-arch", "--gpu-arch", "-cl-kernel-arg-info",
        "-w"};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (text_starts_with(option, passed[i]))
            return false;
    return true;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The options that matter, sorted, "none" if there are none. */
static void options_text(const struct record *record, char out[OPTIONS_BYTES])
{
    const char *options = json_string_value(member(record, "build", "options"));
    char copy[OPTIONS_BYTES];
    snprintf(copy, sizeof copy, "%s", options != NULL ? options : "");
    char *found[OPTIONS_MAX];
    size_t count = 0;
    bool macro = false; /* the word before was a bare -D or -I */
    char *rest = copy;
    for (char *word = strtok_r(copy, " \t\n", &rest); word != NULL && count < OPTIONS_MAX;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if (!macro && option_matters(word))
            found[count++] = word;
        macro = !macro && (strcmp(word, "-D") == 0 || strcmp(word, "-I") == 0);
    }
    qsort(found, count, sizeof found[0], compare_strings);
    size_t used = 0;
    snprintf(out, OPTIONS_BYTES, "none");
    for (size_t i = 0; i < count && used < OPTIONS_BYTES; i++) {
        int more = snprintf(out + used, OPTIONS_BYTES - used, "%s%s", i > 0 ? " " : "", found[i]);
        used += more > 0 ? (size_t)more : 0;
    }
}

/* A value of JSON as text for a message; the caller frees it. */
static char *value_text(const json_t *value)
{
    if (json_is_string(value))
        return text_duplicate(json_string_value(value));
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    return dump != NULL ? dump : text_duplicate("unknown");
}

/* Adds the field if both sides tell it and they differ. */
static void differ_if_known(struct text *out, const char *field, const json_t *base,
                            const json_t *other)
{
    if (base == NULL || other == NULL || json_is_null(base) || json_is_null(other) ||
        json_equal(base, other))
        return;
    char *left = value_text(base), *right = value_text(other);
    differ(out, field, left, right);
    free(left);
    free(right);
}

static void work_refusal(const struct record *base, const struct record *other, struct text *out)
{
    static const char *const fields[][2] = {{"bytes_counted", "bytes counted differ"},
                                            {"unit", "units of the rate differ"},
                                            {"bytes", "bytes of one step differ"},
                                            {"operations", "operations of one step differ"}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        differ_if_known(out, fields[i][1], member(base, "work", fields[i][0]),
                        member(other, "work", fields[i][0]));
}

/* A card in another mode is another card. */
static void mode_refusal(const struct comparison *comparison, const struct record *base,
                         const struct record *other, struct text *out)
{
    static const char *const fields[][2] = {{"ecc", "ECC differs"},
                                            {"partition", "partition differs"}};
    const json_t *base_device = result_device_of(comparison->base.result, base)->json;
    const json_t *other_device = result_device_of(comparison->other.result, other)->json;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const json_t *left = json_object_get(base_device, fields[i][0]);
        const json_t *right = json_object_get(other_device, fields[i][0]);
        if (left == NULL && right == NULL) {
            left = json_object_get(member(base, "conditions", "telemetry"), fields[i][0]);
            right = json_object_get(member(other, "conditions", "telemetry"), fields[i][0]);
        }
        differ_if_known(out, fields[i][1], left, right);
    }
}

void pair_refusal(const struct comparison *comparison, const struct record *base,
                  const struct record *other, struct text *out)
{
    char left[OPTIONS_BYTES], right[OPTIONS_BYTES];
    differ_if_known(out, "suite versions differ", member(base, "case", "version"),
                    member(other, "case", "version"));
    differ_if_known(out, "tiers differ", member(base, "case", "tier"),
                    member(other, "case", "tier"));
    options_text(base, left);
    options_text(other, right);
    if (strcmp(left, right) != 0)
        differ(out, "build options differ", left, right);
    work_refusal(base, other, out);
    mode_refusal(comparison, base, other, out);
}

void pair_remarks(const struct record *base, const struct record *other, struct text *out)
{
    const json_t *left = member(base, "build", "kernel_sha256");
    const json_t *right = member(other, "build", "kernel_sha256");
    if (json_is_string(left) && json_is_string(right) && !json_equal(left, right)) {
        separate(out);
        text_append(out, "kernel text differs");
    }
    if (strcmp(base->clock, other->clock) != 0)
        differ(out, "clocks", base->clock, other->clock);
    differ_if_known(out, "residence", member(base, "memory", "residence"),
                    member(other, "memory", "residence"));
    left = member(base, "memory", "same_memory");
    right = member(other, "memory", "same_memory");
    if (strcmp(base->bytes_counted, "payload") == 0 && json_is_true(left) != json_is_true(right)) {
        separate(out);
        text_printf(out, "no bus in the %s: host and device memory are the same there",
                    json_is_true(left) ? "base" : "other");
    }
}

/* Number of things in which two records of a suite differ, which are listed in out. */
static size_t case_differences(const struct record *a, const struct record *b, struct text *out)
{
    static const char *const fields[] = {"version", "tier"};
    size_t count = 0;
    text_clear(out);
    for (size_t i = 0; i < 2; i++) {
        const json_t *left = member(a, "case", fields[i]), *right = member(b, "case", fields[i]);
        differ_if_known(out, i == 0 ? "suite version" : "tier", left, right);
        count += !json_equal(left, right);
    }
    json_t *parameters = json_object_get(json_object_get(a->json, "case"), "parameters");
    const json_t *others = json_object_get(json_object_get(b->json, "case"), "parameters");
    const char *name;
    json_t *value;
    json_object_foreach(parameters, name, value)
    {
        char field[COMPARE_TEXT_BYTES];
        snprintf(field, sizeof field, "'%.100s'", name);
        differ_if_known(out, field, value, json_object_get(others, name));
        count += !json_equal(value, json_object_get(others, name));
    }
    return count + (json_object_size(parameters) != json_object_size(others));
}

void pair_near_miss(const struct record *record, const struct compare_side *side,
                    const struct compare_side *matched, struct text *out)
{
    struct text found = {0}, nearest = {0};
    size_t fewest = NEAR_MISS_MAX + 1;
    for (size_t i = 0; i < side->result->record_count; i++) {
        const struct record *near = &side->result->records[i];
        if (strcmp(near->device, side->device) != 0 || strcmp(near->suite, record->suite) != 0 ||
            result_find(matched->result, near->key, matched->device) != NULL)
            continue;
        size_t count = case_differences(record, near, &found);
        if (count == 0 || count >= fewest)
            continue;
        fewest = count;
        text_clear(&nearest);
        text_append(&nearest, text_string(&found));
    }
    if (fewest <= NEAR_MISS_MAX)
        text_printf(out, "; the nearest there differs: %s", text_string(&nearest));
    text_release(&found);
    text_release(&nearest);
}

/* Relative shift of a sentinel between the two records; 0 if one was not taken. */
static double sentinel_shift(const struct record *base, const struct record *other,
                             const char *kind)
{
    double ratio = record_sentinel(base, kind) / record_sentinel(other, kind);
    if (isnan(ratio))
        return 0.0;
    return ratio >= 1.0 ? ratio - 1.0 : 1.0 / ratio - 1.0;
}

/* The host's own speed is part of the record. */
static bool depends_on_host(const struct result_device *device, const struct record *record)
{
    return device->software || strcmp(device->type, "cpu") == 0 || record->phase_count > 0 ||
           strcmp(record->bytes_counted, "payload") == 0;
}

/* What others' use of the processors can have done to a record. With a share f taken, the rest is
 * 1 - f; work on several threads waits for the slowest of them, so its loss is a multiple of f / (1
 * - f): at most 4 in the runs seen. Files without the share have the load alone: how far it passes
 * the processors, of which the run's own threads are one each at most. */
static double occupied(const struct result *result, const struct record *record)
{
    static const double coupling = 4.0;
    const json_t *share = member(record, "conditions", "foreign_share");
    if (json_is_number(share)) {
        double taken = json_number_value(share);
        return taken < 1.0 ? coupling * taken / (1.0 - taken) : coupling;
    }
    const json_t *host = json_object_get(result->header, "host");
    double cpus = json_number_value(json_object_get(host, "online_cpus"));
    double load = json_number_value(member(record, "conditions", "load_1min"));
    return cpus > 0.0 && load > cpus ? load / cpus - 1.0 : 0.0;
}

double pair_noise_floor(const struct comparison *comparison, const struct record *base,
                        const struct record *other)
{
    /* The noise figure is half a 5 % to 95 % range, 1.645 deviations of normal data; 1.96 are
     * wanted. */
    static const double scale = 1.959964 / 1.644854;
    const struct result *left = comparison->base.result, *right = comparison->other.result;
    if (!depends_on_host(result_device_of(left, base), base) &&
        !depends_on_host(result_device_of(right, other), other))
        return 0.0;
    double floor = scale * hypot(left->noise, right->noise);
    for (const char *const *kind = record_sentinels; *kind != NULL; kind++)
        floor = fmax(floor, sentinel_shift(base, other, *kind));
    return fmax(floor, fmax(occupied(left, base), occupied(right, other)));
}
