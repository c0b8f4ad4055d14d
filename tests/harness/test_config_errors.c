/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrong configs: each mistake gives one message with its place, what was found and what was
 * expected. Positions are counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/harness/config_suites.h"

static void expect_error(const char *text, const char *begin, const char *part)
{
    struct config config = {.device_count = 0};
    struct error err;
    enum code code = read_bytes(text, strlen(text), &config, &err);
    if (code != CODE_CONFIG || strncmp(err.message, begin, strlen(begin)) != 0 ||
        strstr(err.message, part) == NULL)
        fail_msg("for\n%s\ncode %s, message '%s', expected '%s' and '%s'", text, code_name(code),
                 err.message, begin, part);
}

static void test_read_top_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *begin, *part;
    } rows[] = {
        {"- 1\n", "t.yaml:1:1: ", "expected a map with 'schema: 1' and 'cases:', found a list"},
        {"just text\n", "t.yaml:1:1: ", "found text"},
        {"cases: []\n", "t.yaml:1:1: ", "'schema' is missing"},
        {"x: 1\nschema: 2\n", "t.yaml:2:9: ", "schema '2', expected 1"},
        {"schema: 01\ncases: []\n", "t.yaml:1:9: ", "schema '01', expected 1"},
        {"schema:\n", "t.yaml:1:8: ", "schema: expected 1, found nothing"},
        {"schema: 1\n", "t.yaml:1:1: ", "'cases' is missing: 0 tests"},
        {"schema: 1\ncases: []\n", "t.yaml:2:8: ", "0 tests"},
        {"schema: 1\ncases:\n", "t.yaml:2:7: ", "cases: expected a list of maps, found nothing"},
        {"schema: 1\ncases: {suite: mix}\n",
         "t.yaml:2:8: ", "cases: expected a list of maps, found a map"},
        {"schema: 1\ncase: []\n",
         "t.yaml:2:1: ", "unknown key 'case' in the config, did you mean 'cases'?"},
        {"schema: 1\noutput: ../x.jsonl\n", "t.yaml:2:1: ", "unknown key 'output'"},
        {"schema: 1\nbudget: 3s\n",
         "t.yaml:2:1: ", "unknown key 'budget' in the config, it belongs under 'policy:'"},
        {"schema: 1\npolicy: {devices: [host]}\n",
         "t.yaml:2:10: ", "unknown key 'devices' in policy, it belongs at the top level"},
        {"schema: 1\nname: [a]\n", "t.yaml:2:7: ", "name: expected text, found a list"},
        {"schema: 1\nname: ''\n", "t.yaml:2:7: ", "name: expected text, found empty text"},
        {"schema: 1\nname: \"a\\nb\"\n", "t.yaml:2:7: ", "several lines"},
        {"schema: 1\ndevices: host\n", "t.yaml:2:10: ", "devices: expected a list such as"},
        {"schema: 1\ndevices: []\n", "t.yaml:2:10: ", "the list is empty"},
        {"schema: 1\ndevices: [host, {a: b}]\n",
         "t.yaml:2:17: ", "devices: expected a device such as"},
        {"schema: 1\ndevices: [host, '']\n", "t.yaml:2:17: ", "found empty text"},
        {"schema: 1\nschema: 1\n", "t.yaml:2:1: ", "duplicate key 'schema', first given in line 1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_error(rows[i].text, rows[i].begin, rows[i].part);
}

static void test_read_policy_faults(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *begin, *part;
    } rows[] = {
        {"{rounds_min: 1e6}",
         "t.yaml:2:22: ", "rounds_min: '1e6': expected a plain decimal number"},
        {"{rounds_min: no}", "t.yaml:2:22: ", "rounds_min: 'no': expected a plain decimal number"},
        {"{rounds_min: 012}", "t.yaml:2:22: ", "'012': expected a plain decimal number"},
        {"{rounds_min: 0777}", "t.yaml:2:22: ", "'0777': expected a plain decimal number"},
        {"{rounds_min: \"1:30\"}", "t.yaml:2:22: ", "'1:30': expected a plain decimal number"},
        {"{rounds_min: 1_000}", "t.yaml:2:22: ", "'1_000': expected a plain decimal number"},
        {"{rounds_min: 0x10}", "t.yaml:2:22: ", "'0x10': expected a plain decimal number"},
        {"{rounds_min: +5}", "t.yaml:2:22: ", "'+5': expected a plain decimal number"},
        {"{rounds_min: .5}", "t.yaml:2:22: ", "'.5': expected a plain decimal number"},
        {"{rounds_min: 4}", "t.yaml:2:22: ", "rounds_min: '4': expected 5 to 10000"},
        {"{rounds_min: 4294967306}", "t.yaml:2:22: ", "expected 5 to 10000"},
        {"{rounds_min: 50}",
         "t.yaml:2:22: ", "rounds_max is 40 (the default), less than rounds_min, 50"},
        {"{rounds_max: 9}",
         "t.yaml:2:22: ", "rounds_max is 9, less than rounds_min, 10 (the default)"},
        {"{rounds_min: 12, rounds_max: 11}",
         "t.yaml:2:38: ", "rounds_max is 11, less than rounds_min, 12"},
        {"{samples_min: 0}", "t.yaml:2:23: ", "expected 5 to 100000"},
        {"{interval: 0.01}", "t.yaml:2:20: ", "interval: '0.01': the unit is missing"},
        {"{interval: 0%}", "t.yaml:2:20: ", "interval: '0%': expected 0.01% to 50%"},
        {"{interval: 51%}", "t.yaml:2:20: ", "expected 0.01% to 50%"},
        {"{interval: .nan}", "t.yaml:2:20: ", "plain decimal number"},
        {"{difference: 101%}", "t.yaml:2:22: ", "more than 100 %"},
        {"{budget: 3}", "t.yaml:2:18: ", "budget: '3': the unit is missing"},
        {"{budget: 0.5us}", "t.yaml:2:18: ", "budget: '0.5us': expected 1ms to 2592000s"},
        {"{step_timeout: 1ms}", "t.yaml:2:24: ", "expected 100ms to 2592000s"},
        {"{warmup: [1s]}",
         "t.yaml:2:18: ", "warmup: expected a time such as 3 s or 500 ms, found a list"},
        {"{warmup: }",
         "t.yaml:2:18: ", "warmup: expected a time such as 3 s or 500 ms, found nothing"},
        {"{round_min: 5}",
         "t.yaml:2:10: ", "unknown key 'round_min' in policy, did you mean 'rounds_min'?"},
        {"[1]", "t.yaml:2:9: ", "policy: expected a map, found a list"},
        {"", "t.yaml:2:", "policy: expected a map, found nothing"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "schema: 1\npolicy: %s\ncases: [{suite: mix}]\n",
                 rows[i].policy);
        expect_error(text, rows[i].begin, rows[i].part);
    }
}

static void test_read_case_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *begin, *part;
    } rows[] = {
        {"- text\n", "t.yaml:3:3: ", "a case: expected a map such as"},
        {"- {width: 1}\n", "t.yaml:3:3: ", "no key 'suite'"},
        {"- {suite: pain}\n", "t.yaml:3:11: ", "unknown suite 'pain', did you mean 'paint'?"},
        {"- {suite: other}\n",
         "t.yaml:3:11: ", "unknown suite 'other', expected one of: paint, mix, wide"},
        {"- {suite: [paint, mix]}\n",
         "t.yaml:3:11: ", "suite: expected the name of a suite, found a list"},
        {"- {suite: paint, widht: 5}\n",
         "t.yaml:3:18: ", "unknown key 'widht' in a case of suite 'paint', did you mean 'width'?"},
        {"- {suite: paint, tier: portable}\n",
         "t.yaml:3:18: ", "unknown key 'tier' in a case of suite 'paint', did you mean 'tile'?"},
        {"- {suite: mix, width: 1}\n", "t.yaml:3:16: ",
         "unknown key 'width' in a case of suite 'mix', expected one of: suite, n, m, k, j"},
        {"- {suite: mix, budget: 1s}\n", "t.yaml:3:16: ", "it belongs under 'policy:'"},
        {"- {suite: paint, width: 0}\n", "t.yaml:3:25: ", "width: '0': expected 1 to 100 px"},
        {"- {suite: paint, width: 101}\n", "t.yaml:3:25: ", "width: '101': expected 1 to 100 px"},
        {"- {suite: paint, width: 1e1}\n",
         "t.yaml:3:25: ", "width: '1e1': expected a plain decimal number"},
        {"- {suite: paint, width: auto}\n",
         "t.yaml:3:25: ", "width: 'auto': expected a plain decimal number"},
        {"- {suite: paint, width: [5, [6]]}\n",
         "t.yaml:3:29: ", "width: expected a plain decimal number, found a list"},
        {"- {suite: paint, width: []}\n", "t.yaml:3:25: ", "width: the list is empty"},
        {"- {suite: paint, width: {a: 1}}\n",
         "t.yaml:3:25: ", "width: expected a plain decimal number, found a map"},
        {"- {suite: paint, width: }\n",
         "t.yaml:3:25: ", "width: expected a plain decimal number, found nothing"},
        {"- {suite: paint, width: [5, 6, 5]}\n",
         "t.yaml:3:32: ", "width: '5' equals value 1 of the list"},
        {"- {suite: paint, size: [1 kB, 1000 B]}\n",
         "t.yaml:3:31: ", "size: '1000 B' equals value 1 of the list"},
        {"- {suite: paint, size: 64}\n", "t.yaml:3:24: ", "size: '64': the unit is missing"},
        {"- {suite: paint, size: 64M}\n", "t.yaml:3:24: ", "ambiguous"},
        {"- {suite: paint, size: 2 GiB}\n",
         "t.yaml:3:24: ", "size: '2 GiB': expected 1 to 1073741824 B"},
        {"- {suite: paint, style: rund}\n",
         "t.yaml:3:25: ", "style: unknown value 'rund', did you mean 'round'?"},
        {"- {suite: paint, style: 7}\n",
         "t.yaml:3:25: ", "style: unknown value '7', expected one of: flat, round, no"},
        {"- {suite: paint, tile: 0}\n", "t.yaml:3:24: ", "tile: '0': expected 2 to 64 px or auto"},
        {"- {suite: paint, tile: 1}\n", "t.yaml:3:24: ", "tile: '1': expected 2 to 64 px or auto"},
        {"- {suite: paint, tile: Auto}\n", "t.yaml:3:24: ", "plain decimal number or auto"},
        {"- {suite: mix, n: 18446744073709551616}\n", "t.yaml:3:19: ", "64 bits"},
        {"- {suite: paint, width: [9, 40], tile: [8, 16]}\n", "t.yaml:3:3: ",
         "impossible case 'paint@3 width=9 size=4096 style=flat tile=16 tier=portable': tile is "
         "wider than width"},
        {"- {suite: mix}\n- {suite: paint}\n- {suite: mix, n: [1, 7]}\n", "t.yaml:5:3: ",
         "duplicate case 'mix@1 n=7 m=7 k=7 j=7 tier=portable', made by line 3 too"},
        {"- {suite: paint, tile: auto}\n- {suite: paint}\n", "t.yaml:4:3: ", "duplicate case"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[512];
        snprintf(text, sizeof text, "schema: 1\ncases:\n%s", rows[i].text);
        expect_error(text, rows[i].begin, rows[i].part);
    }
}

static void append_axis(struct text *text, const char *name, int count)
{
    text_printf(text, ", %s: [0", name);
    for (int i = 1; i < count; i++)
        text_printf(text, ",%d", i);
    text_append(text, "]");
}

/* Axes multiply: sizes are refused before anything is expanded, with both numbers. */
static void test_read_axis_bombs(void **state)
{
    (void)state;
    static const char *const names[] = {"n", "m", "k", "j"};
    struct text text = {0};
    text_append(&text, "schema: 1\ncases:\n- {suite: mix");
    for (size_t i = 0; i < 3; i++)
        append_axis(&text, names[i], 16);
    text_append(&text, "}\n"); /* 16^3 = 4096, the most there may be */
    struct config config = read_good(text_string(&text));
    assert_int_equal(config.case_count, 4096);
    assert_int_equal(config.cases[4095].values[0], 15);
    assert_int_equal(config.cases[4095].values[2], 15);
    config_release(&config);
    text_append(&text, "- {suite: mix}\n");
    expect_error(text_string(&text),
                 "t.yaml:4:3: ", "make 1 cases, with 4096 before them; a config has at most 4096");

    text_clear(&text);
    text_append(&text, "schema: 1\ncases:\n- {suite: mix");
    for (size_t i = 0; i < 3; i++)
        append_axis(&text, names[i], 17);
    text_append(&text, "}\n");
    expect_error(text_string(&text),
                 "t.yaml:3:3: ", "make 4913 cases, with 0 before them; a config has at most 4096");

    text_clear(&text); /* 24,000^4 */
    text_append(&text, "schema: 1\ncases:\n- {suite: mix");
    for (size_t i = 0; i < 4; i++)
        append_axis(&text, names[i], 24000);
    text_append(&text, "}\n");
    expect_error(text_string(&text), "t.yaml:3:3: ", "make 331776000000000000 cases");

    text_clear(&text); /* 8,000^12 is about 7e46 */
    text_append(&text, "schema: 1\ncases:\n- {suite: wide");
    for (size_t i = 0; i < SUITE_PARAMS_MAX; i++)
        append_axis(&text, wide_params[i].name, 8000);
    text_append(&text, "}\n");
    expect_error(text_string(&text), "t.yaml:3:3: ", "make more than 18446744073709551615 cases");
    text_release(&text);
}

static void test_read_too_many_devices(void **state)
{
    (void)state;
    struct text text = {0};
    text_append(&text, "schema: 1\ndevices: [d0");
    for (int i = 1; i < 65; i++)
        text_printf(&text, ", d%d", i);
    text_append(&text, "]\ncases: [{suite: mix}]\n");
    expect_error(text_string(&text), "t.yaml:2:10: ", "65 selectors, at most 64");
    text_release(&text);
}

/* CF-14: each key of the schema with each kind of value: an error with a place, or a config; never
 * anything else. The columns say which kinds are right: nothing, text, a list, a map, empty text.
 */
static void test_read_every_kind_for_every_key(void **state)
{
    (void)state;
    static const char *const values[] = {"", "word", "[word]", "{word: word}", "''"};
    static const struct {
        const char *before, *after, *accepted; /* accepted: one digit a kind */
    } rows[] = {
        {"schema: ", "\ncases: [{suite: mix}]\n", "00000"},
        {"schema: 1\nname: ", "\ncases: [{suite: mix}]\n", "01000"},
        {"schema: 1\npolicy: ", "\ncases: [{suite: mix}]\n", "00000"},
        {"schema: 1\npolicy:\n  rounds_min: ", "\ncases: [{suite: mix}]\n", "00000"},
        {"schema: 1\npolicy:\n  interval: ", "\ncases: [{suite: mix}]\n", "00000"},
        {"schema: 1\npolicy:\n  budget: ", "\ncases: [{suite: mix}]\n", "00000"},
        {"schema: 1\npolicy:\n  x-note: ", "\ncases: [{suite: mix}]\n", "11111"},
        {"schema: 1\ndevices: ", "\ncases: [{suite: mix}]\n", "00100"},
        {"schema: 1\ndevices:\n- ", "\ncases: [{suite: mix}]\n", "01000"},
        {"schema: 1\ncases: ", "\n", "00000"},
        {"schema: 1\ncases:\n- ", "\n", "00000"},
        {"schema: 1\ncases:\n- suite: ", "\n", "00000"},
        {"schema: 1\ncases:\n- suite: mix\n  n: ", "\n", "00000"},
        {"schema: 1\ncases:\n- suite: paint\n  size: ", "\n", "00000"},
        {"schema: 1\ncases:\n- suite: paint\n  style: ", "\n", "00000"},
        {"schema: 1\ncases:\n- suite: mix\n  x-note: ", "\n", "11111"},
        {"schema: 1\nx-note: ", "\ncases: [{suite: mix}]\n", "11111"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t k = 0; k < COUNT_OF(values); k++) {
            char text[256];
            struct config config = {.device_count = 0};
            struct error err;
            snprintf(text, sizeof text, "%s%s%s", rows[i].before, values[k], rows[i].after);
            enum code code = read_bytes(text, strlen(text), &config, &err);
            if ((code == CODE_OK) != (rows[i].accepted[k] == '1') ||
                (code != CODE_OK &&
                 (code != CODE_CONFIG || strncmp(err.message, "t.yaml:", 7) != 0)))
                fail_msg("for\n%s\n%s %s", text, code_name(code), err.message);
            config_release(&config);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_top_faults),
        cmocka_unit_test(test_read_policy_faults),
        cmocka_unit_test(test_read_case_faults),
        cmocka_unit_test(test_read_axis_bombs),
        cmocka_unit_test(test_read_too_many_devices),
        cmocka_unit_test(test_read_every_kind_for_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
