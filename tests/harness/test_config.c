/* SPDX-License-Identifier: Apache-2.0
 *
 * The run config: what it resolves to, and every mistake with its place. Most cases read against
 * the two suites below, so that their positions and values can be worked out by hand; the built-in
 * configs are read against the real ones. */
#include "harness/config.h"
#include "harness/config_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const char *const styles[] = {"flat", "round", "no", NULL};
static const struct param paint_params[] = {
    {.name = "width", .unit = "px", .kind = PARAM_COUNT, .min = 1, .max = 100, .def = 10},
    {.name = "size", .unit = "B", .kind = PARAM_BYTES, .min = 1, .max = 1 << 30, .def = 4096},
    {.name = "style", .unit = "", .kind = PARAM_CHOICE, .choices = styles},
    {.name = "tile", .unit = "px", .kind = PARAM_COUNT, .min = 2, .max = 64, .optional = true},
};

static bool paint_valid(const struct case_spec *spec, char reason[STEP_TEXT_BYTES])
{
    if (spec->values[3] <= spec->values[0])
        return true;
    snprintf(reason, STEP_TEXT_BYTES, "tile is wider than width");
    return false;
}

static const struct param mix_params[] = {
    {.name = "n", .unit = "", .kind = PARAM_COUNT, .min = 0, .max = UINT64_MAX, .def = 7},
    {.name = "m", .unit = "", .kind = PARAM_COUNT, .min = 0, .max = UINT64_MAX, .def = 7},
    {.name = "k", .unit = "", .kind = PARAM_COUNT, .min = 0, .max = UINT64_MAX, .def = 7},
    {.name = "j", .unit = "", .kind = PARAM_COUNT, .min = 0, .max = UINT64_MAX, .def = 7},
};
static const struct suite paint = {.name = "paint",
                                   .version = 3,
                                   .params = paint_params,
                                   .param_count = COUNT_OF(paint_params),
                                   .valid = paint_valid};
static const struct suite mix = {
    .name = "mix", .version = 1, .params = mix_params, .param_count = COUNT_OF(mix_params)};
#define WIDE(letter)                                                                               \
    {                                                                                              \
        .name = letter, .unit = "", .kind = PARAM_COUNT, .min = 0, .max = 10000, .def = 0          \
    }
static const struct param wide_params[SUITE_PARAMS_MAX] = {
    WIDE("a"), WIDE("b"), WIDE("c"), WIDE("d"), WIDE("e"), WIDE("f"),
    WIDE("g"), WIDE("h"), WIDE("i"), WIDE("j"), WIDE("k"), WIDE("l"),
};
static const struct suite wide = {
    .name = "wide", .version = 1, .params = wide_params, .param_count = SUITE_PARAMS_MAX};
static const struct suite *const suites[] = {&paint, &mix, &wide, NULL};

static enum code read_bytes(const char *bytes, size_t count, struct config *config,
                            struct error *err)
{
    struct yaml_document *document = NULL;
    *err = (struct error){.code = CODE_OK};
    enum code code = yaml_parse("t.yaml", bytes, count, &document, err);
    if (code == CODE_OK)
        code = config_read(document, suites, config, err);
    yaml_destroy(document);
    return code;
}

static struct config read_good(const char *text)
{
    struct config config = {.device_count = 0};
    struct error err;
    if (read_bytes(text, strlen(text), &config, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return config;
}

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

static void expect_key(const struct config *config, size_t index, const char *expected)
{
    char key[CASE_KEY_BYTES];
    case_key(&config->cases[index], key);
    assert_string_equal(key, expected);
}

static void test_read_defaults(void **state)
{
    (void)state;
    struct config config = read_good("schema: 1\ncases:\n- suite: paint\n");
    assert_string_equal(config.name, "unnamed");
    assert_string_equal(config.path, "t.yaml");
    assert_string_equal(config.warnings, "");
    assert_int_equal(config.policy.rounds_min, 10);
    assert_int_equal(config.policy.rounds_max, 40);
    assert_int_equal(config.policy.samples_min, 30);
    assert_true(config.policy.interval > 0.00999 && config.policy.interval < 0.01001);
    assert_int_equal(config.policy.budget_ns, 3000000000);
    assert_int_equal(config.policy.warmup_ns, 500000000);
    assert_int_equal(config.policy.step_timeout_ns, 120000000000);
    assert_true(config.policy.difference > 0.01999 && config.policy.difference < 0.02001);
    assert_int_equal(config.device_count, 0);
    assert_int_equal(config.case_count, 1);
    expect_key(&config, 0, "paint@3 width=10 size=4096 style=flat tile=auto tier=portable");
    config_release(&config);
}

static void test_read_everything(void **state)
{
    (void)state;
    struct config config = read_good(
        "schema: 1\n"
        "name: no\n"
        "x-note: {author: someone, list: [1, 2]}\n"
        "policy: {rounds_min: 5, rounds_max: 6, samples_min: 40, interval: 0.5%, budget: 1.5 s,\n"
        "         warmup: 20ms, step_timeout: 2 min, difference: 5 %, x-why: fast}\n"
        "devices: [host, 'opencl:0', 0777]\n"
        "cases:\n"
        "- {suite: paint, width: 64, size: 1.5 KiB, style: no, tile: 8, x-why: a note}\n");
    assert_string_equal(config.name, "no");
    assert_int_equal(config.policy.rounds_min, 5);
    assert_int_equal(config.policy.rounds_max, 6);
    assert_int_equal(config.policy.samples_min, 40);
    assert_true(config.policy.interval > 0.00499 && config.policy.interval < 0.00501);
    assert_int_equal(config.policy.budget_ns, 1500000000);
    assert_int_equal(config.policy.warmup_ns, 20000000);
    assert_int_equal(config.policy.step_timeout_ns, 120000000000);
    assert_true(config.policy.difference > 0.0499 && config.policy.difference < 0.0501);
    assert_int_equal(config.device_count, 3);
    assert_string_equal(config.devices[0], "host");
    assert_string_equal(config.devices[1], "opencl:0");
    assert_string_equal(config.devices[2], "0777");
    expect_key(&config, 0, "paint@3 width=64 size=1536 style=no tile=8 tier=portable");
    config_release(&config);
}

/* Axes multiply in the order in which the suite declares its parameters, not that of the file; the
 * first varies slowest. */
static void test_read_axes(void **state)
{
    (void)state;
    struct config config = read_good("schema: 1\ncases:\n"
                                     "- {suite: paint, style: [round, flat], width: [20, 9]}\n"
                                     "- {suite: mix, n: [3, 1], j: [0]}\n"
                                     "- {suite: paint, tile: [auto, 2], size: [1 B, 1 kB]}\n");
    static const char *const keys[] = {
        "paint@3 width=20 size=4096 style=round tile=auto tier=portable",
        "paint@3 width=20 size=4096 style=flat tile=auto tier=portable",
        "paint@3 width=9 size=4096 style=round tile=auto tier=portable",
        "paint@3 width=9 size=4096 style=flat tile=auto tier=portable",
        "mix@1 n=3 m=7 k=7 j=0 tier=portable",
        "mix@1 n=1 m=7 k=7 j=0 tier=portable",
        "paint@3 width=10 size=1 style=flat tile=auto tier=portable",
        "paint@3 width=10 size=1 style=flat tile=2 tier=portable",
        "paint@3 width=10 size=1000 style=flat tile=auto tier=portable",
        "paint@3 width=10 size=1000 style=flat tile=2 tier=portable",
    };
    assert_int_equal(config.case_count, COUNT_OF(keys));
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        expect_key(&config, i, keys[i]);
    config_release(&config);
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
         "t.yaml:2:18: ", "devices: expected a device such as"},
        {"schema: 1\ndevices: [host, '']\n", "t.yaml:2:18: ", "found empty text"},
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
    expect_key(&config, 4095, "mix@1 n=15 m=15 k=15 j=7 tier=portable");
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

/* CF-07: one config in several spellings of its bytes has one digest, which the file's name does
 * not enter. */
static void test_digest_is_of_the_contents(void **state)
{
    (void)state;
    static const char plain[] =
        "schema: 1\nname: a\ndevices: [host]\ncases:\n- {suite: mix, n: [1, 2]}\n";
    static const char *const same[] = {
        "\xef\xbb\xbfschema: 1\r\nname: a\r\ndevices: [host]\r\ncases:\r\n- {suite: mix, n: [1, "
        "2]}\r\n",
        "# note\nname: 'a'\nschema: 1\npolicy: {budget: 3000 ms}\ncases:\n- suite: mix\n  n: 1\n- "
        "{suite: mix, n: 2, m: 7}\ndevices: [\"host\"]\nx-n: 1\n",
    };
    static const char *const other[] = {
        "schema: 1\nname: b\ndevices: [host]\ncases:\n- {suite: mix, n: [1, 2]}\n",
        "schema: 1\nname: a\ndevices: [host]\ncases:\n- {suite: mix, n: [2, 1]}\n",
        "schema: 1\nname: a\npolicy: {budget: 3001 ms}\ndevices: [host]\ncases:\n- {suite: mix, n: "
        "[1, 2]}\n",
    };
    struct config reference = read_good(plain);
    assert_int_equal(strlen(reference.sha256), 64);
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct config config = read_good(same[i]);
        assert_string_equal(config.sha256, reference.sha256);
        config_release(&config);
    }
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        struct config config = read_good(other[i]);
        assert_string_not_equal(config.sha256, reference.sha256);
        config_release(&config);
    }
    config_release(&reference);
}

static void test_resolved_text(void **state)
{
    (void)state;
    struct config config =
        read_good("schema: 1\nname: 'say \"hi\" \\ there'\npolicy: {interval: 0.25%, difference: "
                  "0%, budget: 90 s, warmup: 1500us}\n"
                  "devices: ['opencl:0']\ncases:\n- {suite: paint, size: 1 MB}\n");
    struct text out = {0};
    config_resolved(&config, &out);
    assert_string_equal(text_string(&out), "schema: 1\n"
                                           "name: \"say \\\"hi\\\" \\\\ there\"\n"
                                           "policy:\n"
                                           "  rounds_min: 10\n"
                                           "  rounds_max: 40\n"
                                           "  samples_min: 30\n"
                                           "  interval: 0.25%\n"
                                           "  budget: 90s\n"
                                           "  warmup: 1500us\n"
                                           "  step_timeout: 120s\n"
                                           "  difference: 0%\n"
                                           "devices:\n"
                                           "  - \"opencl:0\"\n"
                                           "cases:\n"
                                           "  - suite: paint\n"
                                           "    width: 10\n"
                                           "    size: 1000000 B\n"
                                           "    style: flat\n"
                                           "    tile: auto\n");
    struct config again = read_good(text_string(&out));
    assert_string_equal(again.sha256, config.sha256);
    assert_memory_equal(&again.policy, &config.policy, sizeof config.policy);
    assert_int_equal(again.case_count, config.case_count);
    assert_memory_equal(again.cases, config.cases, sizeof *config.cases);
    config_release(&again);
    config_release(&config);
    text_release(&out);
}

/* CF-10 */
static void test_read_warns_of_hash(void **state)
{
    (void)state;
    struct config config = read_good(
        "schema: 1\nname: card #2\ndevices:\n- host # fine\n- gpu #1\ncases: [{suite: mix}]\n");
    assert_string_equal(config.name, "card");
    assert_string_equal(
        config.warnings,
        "t.yaml:2:7: name is 'card': what follows ' #' is a comment, quotes would keep it\n"
        "t.yaml:5:3: the device is 'gpu': what follows ' #' is a comment, quotes would keep it");
    config_release(&config);
}

/* CF-12 */
static void test_filter(void **state)
{
    (void)state;
    struct error err;
    struct config config =
        read_good("schema: 1\ncases:\n- {suite: paint, width: [20, 30]}\n- {suite: mix}\n");
    char before[SHA256_HEX_BYTES];
    snprintf(before, sizeof before, "%s", config.sha256);
    assert_int_equal(config_filter(&config, "no.such.test", &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "0 tests match 'no.such.test' among the 3 cases"));
    assert_int_equal(config.case_count, 3);
    assert_int_equal(config_filter(&config, "WIDTH=", &err), CODE_OK);
    assert_int_equal(config.case_count, 2);
    expect_key(&config, 1, "paint@3 width=30 size=4096 style=flat tile=auto tier=portable");
    assert_string_not_equal(config.sha256, before);
    assert_int_equal(config_filter(&config, "", &err), CODE_OK);
    assert_int_equal(config.case_count, 2);
    config_release(&config);
}

static void test_set_devices(void **state)
{
    (void)state;
    static const char *const given[] = {"host", "opencl:pocl:0"}, *const bad[] = {"host", "a\nb"},
                             *const empty[] = {""};
    const char *many[CONFIG_DEVICES_MAX + 1];
    struct error err;
    struct config config = read_good("schema: 1\ndevices: [all]\ncases: [{suite: mix}]\n");
    assert_int_equal(config_set_devices(&config, bad, 2, &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "'a?b'"));
    assert_int_equal(config_set_devices(&config, empty, 1, &err), CODE_USAGE);
    assert_string_equal(config.devices[0], "all");
    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = "host";
    assert_int_equal(config_set_devices(&config, many, COUNT_OF(many), &err), CODE_USAGE);
    assert_int_equal(config_set_devices(&config, given, 2, &err), CODE_OK);
    assert_int_equal(config.device_count, 2);
    assert_string_equal(config.devices[1], "opencl:pocl:0");
    config_release(&config);
}

/* CF-11 and the rule by which a word is a built-in config and a path is a file. */
static void test_load_files_and_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-test-config-XXXXXX";
    char path[128], back[1024];
    struct config config;
    struct error err;
    assert_non_null(getcwd(back, sizeof back));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    static const char *const files[] = {"quick", "quick.yaml"};
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "w");
        assert_non_null(file);
        fputs("schema: 1\nname: from a file\ncases: [{suite: none}]\n", file);
        fclose(file);
    }
    assert_int_equal(config_load("quick", &config, &err), CODE_OK);
    assert_string_equal(config.path, "embedded:quick");
    config_release(&config);
    snprintf(path, sizeof path, "%s/quick", folder);
    static const char *const as_files[] = {"./quick", "quick.yaml"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(config_load(as_files[i], &config, &err), CODE_CONFIG);
        assert_non_null(strstr(err.message, ":3:17: unknown suite 'none'"));
    }
    assert_int_equal(config_load(path, &config, &err), CODE_CONFIG);
    assert_true(strncmp(err.message, path, strlen(path)) == 0);
    assert_int_equal(config_load("missing.yaml", &config, &err), CODE_CONFIG);
    assert_non_null(strstr(err.message, "cannot open 'missing.yaml': No such file"));
    assert_non_null(strstr(err.message, "quick"));
    assert_non_null(strstr(err.message, "reference"));
    assert_non_null(strstr(err.message, "standard"));
    assert_int_equal(config_load("quik", &config, &err), CODE_CONFIG);
    assert_int_equal(config_load(folder, &config, &err), CODE_CONFIG);
    assert_non_null(strstr(err.message, "directory"));
    unlink("quick");
    unlink("quick.yaml");
    assert_int_equal(chdir(back), 0);
    rmdir(folder);
}

/* The built-in configs: they read, name themselves, and no work-item of the quick and standard ones
 * needs more loop iterations than the 65,535 after which one driver stops it. */
static void test_embedded_configs(void **state)
{
    (void)state;
    static const char *const names[] = {"quick", "standard", "reference"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct config config;
        struct error err;
        if (config_load(names[i], &config, &err) != CODE_OK)
            fail_msg("%s", err.message);
        assert_string_equal(config.name, names[i]);
        assert_string_equal(config.warnings, "");
        struct text out = {0};
        struct config again;
        config_resolved(&config, &out);
        assert_int_equal(config_parse("again", text_string(&out), out.length, &again, &err),
                         CODE_OK);
        assert_string_equal(again.sha256, config.sha256);
        for (size_t k = 0; k < config.case_count; k++) {
            const struct case_spec *spec = &config.cases[k];
            bool strip = strcmp(spec->suite->name, "pixel") == 0 &&
                         strcmp(case_choice(spec, "partition"), "strip") == 0;
            if (strip && case_value(spec, "workers") != 0 && i < 2)
                assert_true(case_value(spec, "width") * case_value(spec, "height") /
                                case_value(spec, "workers") <
                            60000);
        }
        text_release(&out);
        config_release(&again);
        config_release(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_defaults),
        cmocka_unit_test(test_read_everything),
        cmocka_unit_test(test_read_axes),
        cmocka_unit_test(test_read_top_faults),
        cmocka_unit_test(test_read_policy_faults),
        cmocka_unit_test(test_read_case_faults),
        cmocka_unit_test(test_read_axis_bombs),
        cmocka_unit_test(test_read_too_many_devices),
        cmocka_unit_test(test_read_every_kind_for_every_key),
        cmocka_unit_test(test_digest_is_of_the_contents),
        cmocka_unit_test(test_resolved_text),
        cmocka_unit_test(test_read_warns_of_hash),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_set_devices),
        cmocka_unit_test(test_load_files_and_names),
        cmocka_unit_test(test_embedded_configs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
