/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases as values and as keys, and what must hold of every suite of the build. */
#include "base/text.h"
#include "harness/suite.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const char *const colours[] = {"red", "green", NULL};
static const struct param params[] = {
    {.name = "rows", .unit = "", .kind = PARAM_COUNT, .min = 1, .max = UINT64_MAX, .def = 1},
    {.name = "size", .unit = "B", .kind = PARAM_BYTES, .min = 1, .max = UINT64_MAX, .def = 1},
    {.name = "colour", .unit = "", .kind = PARAM_CHOICE, .choices = colours},
    {.name = "tile", .unit = "", .kind = PARAM_COUNT, .min = 2, .max = 64, .optional = true},
};
static const struct suite made_up = {
    .name = "made-up", .version = 12, .params = params, .param_count = COUNT_OF(params)};

static void test_type_bytes_and_names(void **state)
{
    (void)state;
    assert_int_equal(type_bytes(TYPE_U8), 1);
    assert_int_equal(type_bytes(TYPE_F32), 4);
    assert_int_equal(type_bytes(TYPE_F64), 8);
    assert_string_equal(type_name(TYPE_U8), "u8");
    assert_string_equal(type_name(TYPE_F32), "f32");
    assert_string_equal(type_name(TYPE_F64), "f64");
}

static void test_case_values_and_key(void **state)
{
    (void)state;
    char key[CASE_KEY_BYTES];
    struct case_spec spec = {.suite = &made_up, .values = {5, 1048576, 1, 0}};
    assert_int_equal(case_value(&spec, "rows"), 5);
    assert_int_equal(case_value(&spec, "tile"), 0);
    assert_string_equal(case_choice(&spec, "colour"), "green");
    case_key(&spec, key);
    assert_string_equal(key, "made-up@12 rows=5 size=1048576 colour=green tier=portable");
    spec = (struct case_spec){.suite = &made_up, .values = {UINT64_MAX, 1, 0, 64}};
    case_key(&spec, key);
    assert_string_equal(
        key, "made-up@12 rows=18446744073709551615 size=1 colour=red tile=64 tier=portable");
}

static const char *const built_in[] = {"attention", "copy", "gemm", "pixel"};

static bool is_built_in(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(built_in); i++)
        found = found || strcmp(built_in[i], name) == 0;
    return found;
}

static void test_find(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(built_in); i++) {
        assert_non_null(suite_find(built_in[i]));
        assert_string_equal(suite_find(built_in[i])->name, built_in[i]);
    }
    assert_null(suite_find("made-up"));
    assert_null(suite_find(""));
    assert_null(suite_find("Gemm"));
}

/* The rules that a suite's description has to keep, so that configs, keys and help can rely on
 * them. */
static void test_every_description(void **state)
{
    (void)state;
    for (const struct suite *const *entry = suite_all(); *entry != NULL; entry++) {
        const struct suite *suite = *entry;
        assert_ptr_equal(suite_find(suite->name), suite);
        assert_true(suite->version >= 1);
        assert_true(suite->summary != NULL && suite->summary[0] != '\0');
        assert_true(suite->source != NULL && suite->source[0] != '\0');
        assert_true(suite->param_count <= SUITE_PARAMS_MAX);
        assert_non_null(suite->work);
        assert_non_null(suite->build);
        assert_non_null(suite->reference);
        assert_non_null(suite->tolerance);
        for (uint32_t i = 0; i < suite->param_count; i++) {
            const struct param *param = &suite->params[i];
            assert_true(param->name[0] != '\0' && strpbrk(param->name, " =\t") == NULL);
            assert_true(param->summary != NULL && param->summary[0] != '\0');
            assert_non_null(param->unit);
            for (uint32_t k = 0; k < i; k++)
                assert_string_not_equal(param->name, suite->params[k].name);
            if (param->kind == PARAM_CHOICE) {
                for (uint64_t k = 0; k <= param->def; k++)
                    assert_non_null(param->choices[k]);
            } else if (param->optional) {
                assert_true(param->def == 0 && param->min >= 1 && param->min <= param->max);
            } else {
                assert_true(param->min <= param->def && param->def <= param->max);
            }
        }
    }
}

static struct case_spec defaults_of(const struct suite *suite)
{
    struct case_spec spec = {.suite = suite};
    for (uint32_t i = 0; i < suite->param_count; i++)
        spec.values[i] = suite->params[i].def;
    return spec;
}

static void expect_round_trip(const struct case_spec *spec)
{
    char key[CASE_KEY_BYTES], reason[STEP_TEXT_BYTES] = "";
    struct case_spec parsed;
    struct error err = {.code = CODE_OK};
    case_key(spec, key);
    bool valid = spec->suite->valid == NULL || spec->suite->valid(spec, reason);
    enum code code = case_parse(key, &parsed, &err);
    assert_int_equal(code, valid ? CODE_OK : CODE_CONFIG);
    if (!valid) {
        assert_non_null(strstr(err.message, reason));
        return;
    }
    assert_ptr_equal(parsed.suite, spec->suite);
    assert_memory_equal(parsed.values, spec->values, sizeof parsed.values);
}

/* The default case, and for each parameter its least, its largest and each of its choices. */
static void test_key_round_trip(void **state)
{
    (void)state;
    for (const struct suite *const *entry = suite_all(); *entry != NULL; entry++) {
        struct case_spec spec = defaults_of(*entry);
        char reason[STEP_TEXT_BYTES] = "";
        if ((*entry)->valid != NULL && !(*entry)->valid(&spec, reason))
            fail_msg("the default case of %s is not possible: %s", (*entry)->name, reason);
        expect_round_trip(&spec);
        for (uint32_t i = 0; i < (*entry)->param_count; i++) {
            const struct param *param = &(*entry)->params[i];
            spec = defaults_of(*entry);
            for (uint64_t k = 0; param->kind == PARAM_CHOICE && param->choices[k] != NULL; k++) {
                spec.values[i] = k;
                expect_round_trip(&spec);
            }
            if (param->kind == PARAM_CHOICE)
                continue;
            spec.values[i] = param->min;
            expect_round_trip(&spec);
            spec.values[i] = param->max;
            expect_round_trip(&spec);
        }
    }
}

/* The longest key that a suite can make has room; case_key asserts it. */
static void test_longest_key(void **state)
{
    (void)state;
    for (const struct suite *const *entry = suite_all(); *entry != NULL; entry++) {
        struct case_spec spec = {.suite = *entry};
        char key[CASE_KEY_BYTES];
        for (uint32_t i = 0; i < (*entry)->param_count; i++)
            if ((*entry)->params[i].kind != PARAM_CHOICE)
                spec.values[i] = (*entry)->params[i].max;
        case_key(&spec, key);
        assert_true(strlen(key) < CASE_KEY_BYTES);
    }
}

static void test_case_parse_values(void **state)
{
    (void)state;
    char key[CASE_KEY_BYTES];
    struct case_spec spec;
    struct error err = {.code = CODE_OK};
    snprintf(key, sizeof key,
             "copy@%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=portable",
             suite_find("copy")->version);
    assert_int_equal(case_parse(key, &spec, &err), CODE_OK);
    assert_string_equal(case_choice(&spec, "direction"), "d2h");
    assert_string_equal(case_choice(&spec, "memory"), "pageable");
    assert_int_equal(case_value(&spec, "bytes"), 65536);
}

static void test_case_parse_faults(void **state)
{
    (void)state;
    static const char *const formats[] = {
        "",
        " ",
        "copy",
        "copy@",
        "copy@%" PRIu32,
        "copi@%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=portable",
        "copy@0%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=portable",
        "copy@9999 direction=d2h memory=pageable bytes=65536 tier=portable",
        "copy@%" PRIu32 "  direction=d2h memory=pageable bytes=65536 tier=portable",
        " copy@%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=portable ",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=65536",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=tuned",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=65536 tier=portable tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable tier=portable",
        "copy@%" PRIu32 " memory=pageable direction=d2h bytes=65536 tier=portable",
        "copy@%" PRIu32 " direction=d2d memory=pageable bytes=65536 tier=portable",
        "copy@%" PRIu32 " direction= memory=pageable bytes=65536 tier=portable",
        "copy@%" PRIu32 " direction memory=pageable bytes=65536 tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=64KiB tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=065536 tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=-1 tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=1 tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=auto tier=portable",
        "copy@%" PRIu32 " direction=d2h memory=pageable bytes=18446744073709551616 tier=portable",
    };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        struct text key = {0};
        struct case_spec spec;
        struct error err = {.code = CODE_OK};
        const char *mark = strchr(formats[i], '%');
        text_append_bytes(&key, formats[i],
                          mark != NULL ? (size_t)(mark - formats[i]) : strlen(formats[i]));
        if (mark != NULL)
            text_printf(&key, "%" PRIu32 "%s", suite_find("copy")->version,
                        mark + strlen("%" PRIu32));
        if (case_parse(text_string(&key), &spec, &err) != CODE_CONFIG)
            fail_msg("'%s' was taken", text_string(&key));
        assert_true(text_starts_with(err.message, "case '"));
        text_release(&key);
    }
    char huge[2000];
    struct case_spec spec;
    struct error err;
    memset(huge, 'a', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_int_equal(case_parse(huge, &spec, &err), CODE_CONFIG);
}

/* The row of a parameter in docs/configs.md. */
static void append_row(struct text *row, const struct param *param)
{
    const char *unit = param->kind == PARAM_BYTES ? "B" : param->unit;
    const char *blank = unit[0] != '\0' ? " " : "";
    text_printf(row, "| `%s` | ", param->name);
    if (param->kind == PARAM_CHOICE) {
        for (uint64_t i = 0; param->choices[i] != NULL; i++)
            text_printf(row, "`%s` ", param->choices[i]);
        text_printf(row, "| `%s` ", param->choices[param->def]);
    } else {
        text_printf(row, "%s%s%" PRIu64 " to %" PRIu64 "%s%s | ",
                    param->kind == PARAM_BYTES ? "size, " : "", param->optional ? "`auto` or " : "",
                    param->min, param->max, blank, unit);
        if (param->optional)
            text_append(row, "`auto` ");
        else
            text_printf(row, "%" PRIu64 "%s%s ", param->def, blank, unit);
    }
    text_printf(row, "| %s |\n", param->summary);
}

/* docs/configs.md lists the suites that Assay comes with, every parameter with its bounds and its
 * default. A suite that is added as one folder may leave that to its README. */
static void test_every_parameter_is_documented(void **state)
{
    (void)state;
    struct text manual = {0}, section = {0};
    char bytes[4096];
    FILE *file = fopen(ASSAY_SOURCE_DIR "/docs/configs.md", "rb");
    assert_non_null(file);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;)
        text_append_bytes(&manual, bytes, count);
    fclose(file);
    for (const struct suite *const *entry = suite_all(); *entry != NULL; entry++) {
        text_clear(&section);
        text_printf(&section, "### %s\n\n", (*entry)->name);
        const char *head = strstr(text_string(&manual), text_string(&section));
        if (head == NULL && is_built_in((*entry)->name))
            fail_msg("docs/configs.md has no section of suite '%s'", (*entry)->name);
        if (head == NULL)
            continue;
        text_clear(&section);
        for (uint32_t i = 0; i < (*entry)->param_count; i++)
            append_row(&section, &(*entry)->params[i]);
        if (strstr(head, text_string(&section)) == NULL)
            fail_msg("docs/configs.md, suite '%s': expected the rows\n%s", (*entry)->name,
                     text_string(&section));
    }
    text_release(&manual);
    text_release(&section);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type_bytes_and_names),
        cmocka_unit_test(test_case_values_and_key),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_every_description),
        cmocka_unit_test(test_key_round_trip),
        cmocka_unit_test(test_longest_key),
        cmocka_unit_test(test_case_parse_values),
        cmocka_unit_test(test_case_parse_faults),
        cmocka_unit_test(test_every_parameter_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
