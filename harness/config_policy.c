/* SPDX-License-Identifier: Apache-2.0
 *
 * The section policy: of a config: defaults, bounds, reading and writing. Must not know how the
 * policy is followed. */
#include "harness/config_parts.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum field_kind { FIELD_COUNT, FIELD_DURATION, FIELD_SHARE };
struct field {
    enum field_kind kind;
    size_t offset;     /* of a uint32_t, a uint64_t or a double in struct policy */
    uint64_t min, max; /* a plain count, ns, or 1e-8 */
};

enum {
    ROUNDS_MIN,
    ROUNDS_MAX,
    SAMPLES_MIN,
    INTERVAL,
    BUDGET,
    WARMUP,
    STEP_TIMEOUT,
    DIFFERENCE,
    FIELDS
};

const char *const config_policy_keys[] = {
    [ROUNDS_MIN] = "rounds_min",     [ROUNDS_MAX] = "rounds_max", [SAMPLES_MIN] = "samples_min",
    [INTERVAL] = "interval",         [BUDGET] = "budget",         [WARMUP] = "warmup",
    [STEP_TIMEOUT] = "step_timeout", [DIFFERENCE] = "difference", [FIELDS] = NULL,
};

#define MILLISECONDS(n) ((n)*UINT64_C(1000000))
#define DAYS(n) ((n)*24 * 3600 * UINT64_C(1000000000))

static const struct field fields[FIELDS] = {
    [ROUNDS_MIN] = {FIELD_COUNT, offsetof(struct policy, rounds_min), 5, 10000},
    [ROUNDS_MAX] = {FIELD_COUNT, offsetof(struct policy, rounds_max), 5, 10000},
    [SAMPLES_MIN] = {FIELD_COUNT, offsetof(struct policy, samples_min), 5, 100000},
    [INTERVAL] = {FIELD_SHARE, offsetof(struct policy, interval), 10000, 50000000},
    [BUDGET] = {FIELD_DURATION, offsetof(struct policy, budget_ns), MILLISECONDS(1), DAYS(30)},
    [WARMUP] = {FIELD_DURATION, offsetof(struct policy, warmup_ns), MILLISECONDS(1), DAYS(30)},
    [STEP_TIMEOUT] = {FIELD_DURATION, offsetof(struct policy, step_timeout_ns), MILLISECONDS(100),
                      DAYS(30)},
    [DIFFERENCE] = {FIELD_SHARE, offsetof(struct policy, difference), 0, 100000000},
};

void policy_defaults(struct policy *policy)
{
    *policy = (struct policy){
        .rounds_min = 10,
        .rounds_max = 40,
        .samples_min = 30,
        .interval = 0.01,
        .budget_ns = MILLISECONDS(3000),
        .warmup_ns = MILLISECONDS(500),
        .step_timeout_ns = MILLISECONDS(120000),
        .difference = 0.02,
    };
}

/* "1.5%": every share that quantity_parse_share reads is a whole number of 1e-8. */
static char *print_share(uint64_t share, char out[QUANTITY_BYTES])
{
    snprintf(out, QUANTITY_BYTES, "%" PRIu64 ".%06" PRIu64, share / 1000000, share % 1000000);
    size_t length = strlen(out);
    while (out[length - 1] == '0')
        length--;
    length -= out[length - 1] == '.';
    memcpy(out + length, "%", 2);
    return out;
}

/* "1500ms": in the largest unit that needs no point. */
static char *print_duration(uint64_t ns, char out[QUANTITY_BYTES])
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    size_t unit = 0;
    while (ns % units[unit].ns != 0)
        unit++;
    snprintf(out, QUANTITY_BYTES, "%" PRIu64 "%s", ns / units[unit].ns, units[unit].name);
    return out;
}

/* A value in the unit of the field's bounds, as a config says it. */
static char *print_value(const struct field *field, uint64_t value, char out[QUANTITY_BYTES])
{
    if (field->kind == FIELD_SHARE)
        return print_share(value, out);
    if (field->kind == FIELD_DURATION)
        return print_duration(value, out);
    snprintf(out, QUANTITY_BYTES, "%" PRIu64, value);
    return out;
}

/* The value of a field in the unit of its bounds. */
static uint64_t field_value(const struct policy *policy, const struct field *field)
{
    const char *place = (const char *)policy + field->offset;
    uint32_t count = 0;
    uint64_t ns = 0;
    double share = 0;
    if (field->kind == FIELD_COUNT)
        memcpy(&count, place, sizeof count);
    else if (field->kind == FIELD_DURATION)
        memcpy(&ns, place, sizeof ns);
    else
        memcpy(&share, place, sizeof share);
    return count + ns + (uint64_t)(share * 1e8 + 0.5);
}

/* Parses text into the field; the message says nothing of the place. */
static enum code parse_field(struct policy *policy, const struct field *field, const char *text,
                             struct error *err)
{
    char *place = (char *)policy + field->offset;
    uint64_t value = 0;
    double share = 0;
    enum code code = CODE_OK;
    if (field->kind == FIELD_SHARE)
        code = quantity_parse_share(text, &share, err);
    else if (field->kind == FIELD_DURATION)
        code = quantity_parse_duration_ns(text, &value, err);
    else
        code = quantity_parse_count(text, &value, err);
    if (code != CODE_OK)
        return code;
    if (field->kind == FIELD_SHARE)
        value = (uint64_t)(share * 1e8 + 0.5);
    if (value < field->min || value > field->max) {
        char min[QUANTITY_BYTES], max[QUANTITY_BYTES], shown[TEXT_CLIP_BYTES];
        return error_set(err, CODE_CONFIG, 0, "'%s': expected %s to %s", text_clip(text, shown),
                         print_value(field, field->min, min), print_value(field, field->max, max));
    }
    uint32_t count = (uint32_t)value;
    if (field->kind == FIELD_COUNT)
        memcpy(place, &count, sizeof count);
    else if (field->kind == FIELD_DURATION)
        memcpy(place, &value, sizeof value);
    else
        memcpy(place, &share, sizeof share);
    return CODE_OK;
}

static enum code check_rounds(const struct config_reader *reader, const struct yaml_node *node)
{
    const struct policy *policy = &reader->config->policy;
    if (policy->rounds_max >= policy->rounds_min)
        return CODE_OK;
    const struct yaml_node *least = yaml_get(node, config_policy_keys[ROUNDS_MIN]);
    const struct yaml_node *most = yaml_get(node, config_policy_keys[ROUNDS_MAX]);
    return yaml_error(reader->document, most != NULL ? most : least, reader->err,
                      "rounds_max is %" PRIu32 "%s, less than rounds_min, %" PRIu32 "%s",
                      policy->rounds_max, most != NULL ? "" : " (the default)", policy->rounds_min,
                      least != NULL ? "" : " (the default)");
}

enum code config_read_policy(const struct config_reader *reader, const struct yaml_node *node)
{
    static const char *const expected[] = {
        [FIELD_COUNT] = "a plain decimal number",
        [FIELD_DURATION] = "a time such as 3 s or 500 ms",
        [FIELD_SHARE] = "a share such as 2 %",
    };
    enum code code = config_check_keys(reader, node, "policy", config_policy_keys);
    for (size_t i = 0; i < FIELDS && code == CODE_OK; i++) {
        const struct yaml_node *value = yaml_get(node, config_policy_keys[i]);
        if (value == NULL)
            continue;
        struct error why = {.code = CODE_OK};
        const char *text =
            config_text(reader, value, config_policy_keys[i], expected[fields[i].kind]);
        if (text == NULL)
            return CODE_CONFIG;
        code = parse_field(&reader->config->policy, &fields[i], text, &why);
        if (code != CODE_OK)
            yaml_error(reader->document, value, reader->err, "%s: %s", config_policy_keys[i],
                       why.message);
    }
    return code == CODE_OK ? check_rounds(reader, node) : code;
}

void config_policy_resolved(const struct policy *policy, struct text *out)
{
    text_append(out, "policy:\n");
    for (size_t i = 0; i < FIELDS; i++) {
        char value[QUANTITY_BYTES];
        print_value(&fields[i], field_value(policy, &fields[i]), value);
        text_printf(out, "  %s: %s\n", config_policy_keys[i], value);
    }
}
