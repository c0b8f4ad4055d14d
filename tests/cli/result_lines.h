/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that read a result file line by line, as JSON and not by the reader under test. */
#ifndef TESTS_CLI_RESULT_LINES_H
#define TESTS_CLI_RESULT_LINES_H

#include "program.h"

#include <math.h>

/* Lines of a result file; NULL if there is none. */
static inline json_t *lines_of(const char *path)
{
    if (access(path, R_OK) != 0)
        return NULL;
    char *text = read_file(path);
    json_t *lines = json_array();
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        if (json == NULL)
            fail_msg("'%s' is no JSON", line);
        json_array_append_new(lines, json);
    }
    free(text);
    return lines;
}

static inline size_t count_of(const json_t *lines, const char *kind)
{
    size_t count = 0, index;
    json_t *line;
    json_array_foreach((json_t *)(uintptr_t)lines, index, line) count +=
        strcmp(string_of(line, "kind"), kind) == 0;
    return count;
}

/* The record of the device whose key contains part; NULL if there is none. */
static inline json_t *find_record(const json_t *lines, const char *device, const char *part)
{
    size_t index;
    json_t *line;
    json_array_foreach((json_t *)(uintptr_t)lines, index, line)
    {
        if (strcmp(string_of(line, "kind"), "record") == 0 &&
            strcmp(string_of(line, "device"), device) == 0 &&
            strstr(string_of(line, "key"), part) != NULL)
            return line;
    }
    return NULL;
}

/* "clock.source" and the like. */
static inline json_t *member(const json_t *json, const char *path)
{
    char name[64];
    while (json != NULL && path != NULL) {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        json = json_object_get(json, name);
        path = path[length] == '.' ? path + length + 1 : NULL;
    }
    return (json_t *)(uintptr_t)json;
}

static inline const char *text_at(const json_t *json, const char *path)
{
    const char *text = json_string_value(member(json, path));
    return text != NULL ? text : "(null)";
}

static inline bool is_true_at(const json_t *json, const char *path)
{
    const json_t *value = member(json, path);
    return json_is_true(value);
}

static inline bool is_null_at(const json_t *json, const char *path)
{
    const json_t *value = member(json, path);
    return json_is_null(value);
}

static inline void assert_state(const json_t *record, const char *state)
{
    if (strcmp(text_at(record, "state"), state) != 0)
        fail_msg("'%s' on '%s' is %s (%s), expected %s", text_at(record, "key"),
                 text_at(record, "device"), text_at(record, "state"), text_at(record, "reason"),
                 state);
}

/* Not measured, for a reason that says part. */
static inline void assert_failed(const json_t *record, const char *state, const char *part)
{
    assert_state(record, state);
    assert_says(text_at(record, "reason"), part);
}

/* Shortest of the record's samples in ns; every one is checked to be a duration. */
static inline double shortest_of(const json_t *record)
{
    double shortest = (double)INFINITY;
    size_t r, s;
    json_t *round, *sample;
    json_array_foreach(member(record, "samples.rounds"), r, round)
        json_array_foreach(round, s, sample)
    {
        double ns = json_number_value(sample);
        assert_true(isfinite(ns) && ns > 0);
        shortest = ns < shortest ? ns : shortest;
    }
    assert_true(isfinite(shortest));
    return shortest;
}

static inline bool is_clean(const json_t *check)
{
    return json_integer_value(member(check, "elements")) > 0 &&
           json_integer_value(member(check, "mismatches")) == 0 &&
           json_integer_value(member(check, "nonfinite")) == 0;
}

/* Measured: verified before and after, on a named clock, and slower than 1 TB/s and 1 TFLOP/s,
 * which the processors that run these tests are far from. */
static inline void assert_measured(const json_t *record)
{
    assert_state(record, "ok");
    double seconds = shortest_of(record) * 1e-9;
    assert_true((double)json_integer_value(member(record, "work.bytes")) / seconds < 1e12);
    assert_true((double)json_integer_value(member(record, "work.operations")) / seconds < 1e12);
    assert_true(is_clean(member(record, "check.before")));
    assert_true(is_clean(member(record, "check.after")));
    double doubling = json_number_value(member(record, "doubling"));
    assert_true(doubling >= 1.7 && doubling <= 2.3);
    const char *source = text_at(record, "clock.source");
    assert_true(strcmp(source, "device") == 0 || strcmp(source, "host") == 0);
    assert_true(strcmp(source, "device") == 0 || !is_null_at(record, "clock.reason"));
}

/* Every planned pair has one record, and no other is there. */
static inline void assert_whole(const char *path)
{
    json_t *lines = lines_of(path);
    assert_non_null(lines);
    const json_t *planned = member(json_array_get(lines, 0), "planned");
    size_t index;
    json_t *pair;
    json_array_foreach((json_t *)(uintptr_t)planned, index, pair)
    {
        const json_t *record = find_record(lines, text_at(pair, "device"), text_at(pair, "case"));
        if (record == NULL)
            fail_msg("'%s' on '%s' is missing", text_at(pair, "case"), text_at(pair, "device"));
    }
    assert_int_equal(count_of(lines, "record"), json_array_size(planned));
    const json_t *end = json_array_get(lines, json_array_size(lines) - 1);
    assert_string_equal(text_at(end, "kind"), "end");
    assert_true(is_true_at(end, "complete"));
    json_decref(lines);
}

#endif
