/* SPDX-License-Identifier: Apache-2.0
 *
 * Made-up suites for the tests of the config reader, small enough that positions and values can be
 * worked out by hand, and reading against them. Included by those tests alone, after cmocka. */
#ifndef TESTS_HARNESS_CONFIG_SUITES_H
#define TESTS_HARNESS_CONFIG_SUITES_H

#include "harness/config.h"
#include "harness/config_parts.h"

#include <stdio.h>
#include <string.h>

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

static inline enum code read_bytes(const char *bytes, size_t count, struct config *config,
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

static inline struct config read_good(const char *text)
{
    struct config config = {.device_count = 0};
    struct error err;
    if (read_bytes(text, strlen(text), &config, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return config;
}

#endif
