/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of a record line as tables of members, and what a state of ok demands: samples, work,
 * a clock, and an output that was verified before and after the timing. */
#include "harness/record_kinds.h"

#include <stdio.h>
#include <string.h>

/* {"unit": "ns", "rounds": [[…], …]}; *count gets the number of samples, *zero whether one is 0. */
static enum code check_samples(const struct place *place, const char *path, const json_t *samples,
                               size_t *count, bool *zero)
{
    static const struct member members[] = {{"unit", KIND_TEXT}, {"rounds", KIND_LIST}, {NULL, 0}};
    *count = 0;
    *zero = false;
    enum code code = schema_check_members(place, path, samples, members);
    if (code != CODE_OK)
        return code;
    const char *unit = json_string_value(json_object_get(samples, "unit"));
    if (strcmp(unit, "ns") != 0)
        return place_error(place, "%s.unit: expected 'ns', found '%.40s'", path, unit);
    const json_t *rounds = json_object_get(samples, "rounds");
    for (size_t r = 0; r < json_array_size(rounds); r++) {
        const json_t *round = json_array_get(rounds, r);
        char inner[PLACE_PATH_BYTES];
        snprintf(inner, sizeof inner, "%s.rounds[%zu]", path, r);
        code = schema_check_kind(place, inner, round, KIND_LIST);
        for (size_t i = 0; code == CODE_OK && i < json_array_size(round); i++) {
            const json_t *value = json_array_get(round, i);
            snprintf(inner, sizeof inner, "%s.rounds[%zu][%zu]", path, r, i);
            code = schema_check_kind(place, inner, value, KIND_NUMBER);
            *zero = *zero || json_number_value(value) == 0.0;
            (*count)++;
        }
        if (code != CODE_OK)
            return code;
    }
    return CODE_OK;
}

static enum code check_phases(const struct place *place, const json_t *record)
{
    const char *name;
    json_t *phase;
    json_t *phases = json_object_get(record, "phases");
    json_object_foreach(phases, name, phase)
    {
        char path[PLACE_PATH_BYTES];
        snprintf(path, sizeof path, "$.phases.%.60s", name);
        size_t count;
        bool zero;
        enum code code = check_samples(place, path, phase, &count, &zero);
        if (code != CODE_OK)
            return code;
    }
    return CODE_OK;
}

static enum code check_case(const struct place *place, const json_t *record)
{
    static const struct member members[] = {{"suite", KIND_TEXT},
                                            {"version", KIND_COUNT},
                                            {"tier", KIND_TEXT},
                                            {"parameters", KIND_OBJECT},
                                            {NULL, 0}};
    json_t *definition = json_object_get(record, "case");
    enum code code = schema_check_members(place, "$.case", definition, members);
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(definition, "parameters"), name, value)
    {
        if (code != CODE_OK)
            break;
        char path[PLACE_PATH_BYTES];
        snprintf(path, sizeof path, "$.case.parameters.%.60s", name);
        code = schema_check_kind(place, path, value, KIND_TEXT | KIND_COUNT);
    }
    return code;
}

static enum code check_work(const struct place *place, const json_t *record, bool needed)
{
    static const struct member members[] = {{"bytes", KIND_COUNT},
                                            {"operations", KIND_COUNT},
                                            {"bytes_counted", KIND_TEXT | KIND_NULL},
                                            {"by_operations", KIND_BOOL},
                                            {"unit", KIND_TEXT},
                                            {NULL, 0}};
    const json_t *work = schema_present(record, "work");
    if (work == NULL)
        return needed ? place_error(place, "$.work: state 'ok' needs the work that was done")
                      : CODE_OK;
    enum code code = schema_check_members(place, "$.work", work, members);
    if (code != CODE_OK || !needed)
        return code;
    const char *measure =
        json_is_true(json_object_get(work, "by_operations")) ? "operations" : "bytes";
    if (json_integer_value(json_object_get(work, measure)) == 0)
        return place_error(place, "$.work.%s: is 0, so there is no rate", measure);
    return CODE_OK;
}

static enum code check_side(const struct place *place, const char *when, const json_t *check)
{
    enum { UNKNOWN = KIND_NULL | KIND_OPTIONAL };
    static const struct member members[] = {{"elements", KIND_COUNT},
                                            {"mismatches", KIND_COUNT},
                                            {"nonfinite", KIND_COUNT},
                                            {"first_bad", KIND_COUNT | KIND_OBJECT | UNKNOWN},
                                            {"max_error", KIND_NUMBER | UNKNOWN},
                                            {"rms_error", KIND_NUMBER | UNKNOWN},
                                            {"absolute", KIND_NUMBER | UNKNOWN},
                                            {"relative", KIND_NUMBER | UNKNOWN},
                                            {"derivation", KIND_TEXT | UNKNOWN},
                                            {NULL, 0}};
    char path[PLACE_PATH_BYTES];
    snprintf(path, sizeof path, "$.check.%s", when);
    return schema_check_members(place, path, check, members);
}

/* A state of ok means that the output was verified before and after the timing, without a mismatch.
 */
static enum code check_verification(const struct place *place, const json_t *record, bool ok)
{
    static const struct member members[] = {
        {"before", KIND_OBJECT | KIND_NULL}, {"after", KIND_OBJECT | KIND_NULL}, {NULL, 0}};
    static const char *const sides[] = {"before", "after"};
    const json_t *check = schema_present(record, "check");
    if (check == NULL)
        return ok ? place_error(place, "$.check: state 'ok' needs a verified output") : CODE_OK;
    enum code code = schema_check_members(place, "$.check", check, members);
    for (size_t i = 0; code == CODE_OK && i < 2; i++) {
        const json_t *side = schema_present(check, sides[i]);
        if (side == NULL && ok)
            return place_error(place, "$.check.%s: state 'ok' needs a verified output", sides[i]);
        if (side != NULL)
            code = check_side(place, sides[i], side);
        if (code != CODE_OK || !ok)
            continue;
        if (json_integer_value(json_object_get(side, "mismatches")) > 0 ||
            json_integer_value(json_object_get(side, "nonfinite")) > 0)
            return place_error(place, "$.check.%s: state 'ok' with a wrong output", sides[i]);
    }
    return code;
}

static enum code check_sentinel(const struct place *place, const json_t *record)
{
    static const char *const names[] = {"compute_ns", "memory_ns"};
    const json_t *conditions = schema_present(record, "conditions");
    const json_t *sentinel = conditions != NULL ? schema_present(conditions, "sentinel") : NULL;
    if (sentinel == NULL)
        return CODE_OK;
    for (size_t n = 0; n < 2; n++) {
        const json_t *values = json_object_get(sentinel, names[n]);
        for (size_t i = 0; i < json_array_size(values); i++) {
            char path[PLACE_PATH_BYTES];
            snprintf(path, sizeof path, "$.conditions.sentinel.%s[%zu]", names[n], i);
            enum code code = schema_check_kind(place, path, json_array_get(values, i), KIND_NUMBER);
            if (code != CODE_OK)
                return code;
        }
    }
    return CODE_OK;
}

static enum code check_state(const struct place *place, const json_t *record, enum state *state)
{
    const char *names[STATE_COUNT + 1];
    for (int i = 0; i < STATE_COUNT; i++)
        names[i] = state_name((enum state)i);
    names[STATE_COUNT] = NULL;
    const json_t *value = json_object_get(record, "state");
    enum code code = schema_check_one_of(place, "$.state", value, names);
    if (code != CODE_OK)
        return code;
    state_from_name(json_string_value(value), state);
    const json_t *reason = schema_present(record, "reason");
    if (*state == STATE_OK && reason != NULL)
        return place_error(place, "$.reason: state 'ok' has no reason: expected null");
    if (*state != STATE_OK && (reason == NULL || json_string_length(reason) == 0))
        return place_error(place, "$.reason: state '%s' needs a reason", state_name(*state));
    return CODE_OK;
}

/* Samples, phases and the clock that timed them. */
static enum code check_timing(const struct place *place, const json_t *record, bool ok)
{
    static const struct member members[] = {{"source", KIND_TEXT},
                                            {"reason", KIND_TEXT | KIND_NULL | KIND_OPTIONAL},
                                            {"rejected", KIND_COUNT | KIND_OPTIONAL},
                                            {NULL, 0}};
    size_t count = 0;
    bool zero = false;
    enum code code = CODE_OK;
    if (schema_present(record, "samples") != NULL)
        code = check_samples(place, "$.samples", schema_present(record, "samples"), &count, &zero);
    if (code == CODE_OK && ok && count == 0)
        return place_error(place, "$.samples: state 'ok' needs at least one sample");
    if (code == CODE_OK && ok && zero)
        return place_error(place, "$.samples: a duration of 0 in a record with state 'ok'");
    if (code == CODE_OK)
        code = check_phases(place, record);
    const json_t *clock = schema_present(record, "clock");
    if (code == CODE_OK && clock != NULL)
        code = schema_check_members(place, "$.clock", clock, members);
    if (code == CODE_OK && clock != NULL)
        code = schema_check_one_of(place, "$.clock.source", json_object_get(clock, "source"),
                                   schema_clock_names);
    if (code == CODE_OK && clock == NULL && ok)
        return place_error(place, "$.clock: state 'ok' needs the clock that was used");
    return code;
}

enum code schema_check_record(const struct place *place, const json_t *record)
{
    enum { UNKNOWN = KIND_NULL | KIND_OPTIONAL };
    static const struct member members[] = {
        {"key", KIND_TEXT},
        {"case", KIND_OBJECT},
        {"device", KIND_TEXT},
        {"state", KIND_TEXT},
        {"reason", KIND_TEXT | KIND_NULL},
        {"work", KIND_OBJECT | KIND_NULL},
        {"samples", KIND_OBJECT | KIND_NULL},
        {"phases", KIND_OBJECT | UNKNOWN},
        {"batch", KIND_OBJECT | UNKNOWN},
        {"clock", KIND_OBJECT | KIND_NULL},
        {"converged", KIND_BOOL | UNKNOWN},
        {"check", KIND_OBJECT | KIND_NULL},
        {"doubling", KIND_NUMBER | UNKNOWN},
        {"build", KIND_OBJECT | UNKNOWN},
        {"memory", KIND_OBJECT | UNKNOWN},
        {"conditions", KIND_OBJECT | UNKNOWN},
        {"notes", KIND_LIST | UNKNOWN},
        {"started", KIND_TEXT | UNKNOWN},
        {"elapsed_ns", KIND_COUNT | UNKNOWN},
        {NULL, 0},
    };
    enum state state = STATE_NOT_RUN;
    enum code code = schema_check_members(place, "$", record, members);
    if (code == CODE_OK)
        code = check_case(place, record);
    if (code == CODE_OK)
        code = check_state(place, record, &state);
    if (code == CODE_OK)
        code = check_work(place, record, state == STATE_OK);
    if (code == CODE_OK)
        code = check_timing(place, record, state == STATE_OK);
    if (code == CODE_OK)
        code = check_verification(place, record, state == STATE_OK);
    if (code == CODE_OK)
        code = check_sentinel(place, record);
    return code;
}
