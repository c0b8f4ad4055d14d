/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of suites, and cases as values and as keys; see suite.h. Must not know configs, devices
 * or results. */
#include "harness/suite.h"

#include "base/quantity.h"
#include "base/text.h"

#include "suite_table.inc"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t type_bytes(enum type type)
{
    switch (type) {
    case TYPE_U8:
        return 1;
    case TYPE_F32:
        return 4;
    case TYPE_F64:
        return 8;
    }
    assert(false);
    return 0;
}

const char *type_name(enum type type)
{
    static const char *const names[] = {[TYPE_U8] = "u8", [TYPE_F32] = "f32", [TYPE_F64] = "f64"};
    assert((size_t)type < sizeof names / sizeof names[0]);
    return names[type];
}

const struct suite *const *suite_all(void)
{
    return suite_table;
}

const struct suite *suite_find(const char *name)
{
    for (const struct suite *const *suite = suite_table; *suite != NULL; suite++)
        if (strcmp((*suite)->name, name) == 0)
            return *suite;
    return NULL;
}

static uint32_t param_index(const struct case_spec *spec, const char *param)
{
    const struct suite *suite = spec->suite;
    uint32_t index = 0;
    while (index < suite->param_count && strcmp(suite->params[index].name, param) != 0)
        index++;
    assert(index < suite->param_count);
    return index;
}

uint64_t case_value(const struct case_spec *spec, const char *param)
{
    return spec->values[param_index(spec, param)];
}

const char *case_choice(const struct case_spec *spec, const char *param)
{
    uint32_t index = param_index(spec, param);
    assert(spec->suite->params[index].kind == PARAM_CHOICE);
    return spec->suite->params[index].choices[spec->values[index]];
}

void case_key(const struct case_spec *spec, char key[CASE_KEY_BYTES])
{
    const struct suite *suite = spec->suite;
    struct text text = {0};
    text_printf(&text, "%s@%" PRIu32, suite->name, suite->version);
    for (uint32_t i = 0; i < suite->param_count; i++) {
        const struct param *param = &suite->params[i];
        if (param->kind == PARAM_CHOICE)
            text_printf(&text, " %s=%s", param->name, param->choices[spec->values[i]]);
        else if (!param->optional || spec->values[i] != 0)
            text_printf(&text, " %s=%" PRIu64, param->name, spec->values[i]);
    }
    text_append(&text, " tier=portable");
    assert(text.length < CASE_KEY_BYTES); /* parameters are few and their names short */
    memcpy(key, text_string(&text), text.length + 1);
    text_release(&text);
}

/* Takes the word up to the next blank or the end from *rest into word; false if there is none or it
 * is too long. */
static bool take_word(const char **rest, char word[CASE_KEY_BYTES])
{
    size_t length = strcspn(*rest, " ");
    if (length == 0 || length >= CASE_KEY_BYTES)
        return false;
    memcpy(word, *rest, length);
    word[length] = '\0';
    *rest += length;
    if (**rest == ' ')
        (*rest)++;
    return true;
}

static bool parse_choice(const struct param *param, const char *text, uint64_t *value)
{
    for (uint64_t i = 0; param->choices[i] != NULL; i++)
        if (strcmp(param->choices[i], text) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static bool parse_value(const struct param *param, const char *text, uint64_t *value)
{
    if (param->kind == PARAM_CHOICE)
        return parse_choice(param, text, value);
    *value = 0;
    return quantity_parse_count(text, value, NULL) == CODE_OK && *value >= param->min &&
           *value <= param->max && !(param->optional && *value == 0);
}

static enum code parse_suite(const char *word, const char *key, struct case_spec *spec,
                             struct error *err)
{
    char name[CASE_KEY_BYTES], shown[TEXT_CLIP_BYTES];
    size_t length = strcspn(word, "@");
    uint64_t version = 0;
    memcpy(name, word, length);
    name[length] = '\0';
    spec->suite = suite_find(name);
    if (word[length] != '@' || spec->suite == NULL)
        return error_set(err, CODE_CONFIG, 0, "case '%s': this build has no such suite",
                         text_clip(key, shown));
    if (quantity_parse_count(word + length + 1, &version, NULL) != CODE_OK ||
        version != spec->suite->version)
        return error_set(err, CODE_CONFIG, 0,
                         "case '%s': this build has version %" PRIu32 " of suite '%s'",
                         text_clip(key, shown), spec->suite->version, name);
    return CODE_OK;
}

/* True if word is "name=…" of the parameter. */
static bool names_param(const char *word, const struct param *param)
{
    size_t length = strlen(param->name);
    return strncmp(word, param->name, length) == 0 && word[length] == '=';
}

/* Takes "name=value" of parameter i from *rest. One that is left out is chosen for the device. */
static bool take_param(const char **rest, uint32_t i, struct case_spec *spec)
{
    const struct param *param = &spec->suite->params[i];
    char word[CASE_KEY_BYTES];
    if (param->optional && !names_param(*rest, param)) {
        spec->values[i] = 0;
        return true;
    }
    return take_word(rest, word) && names_param(word, param) &&
           parse_value(param, word + strlen(param->name) + 1, &spec->values[i]);
}

enum code case_parse(const char *key, struct case_spec *spec, struct error *err)
{
    char word[CASE_KEY_BYTES], shown[TEXT_CLIP_BYTES], reason[STEP_TEXT_BYTES];
    const char *rest = key;
    *spec = (struct case_spec){.suite = NULL};
    if (!take_word(&rest, word))
        return error_set(err, CODE_CONFIG, 0, "case '%s': expected a suite", text_clip(key, shown));
    enum code code = parse_suite(word, key, spec, err);
    if (code != CODE_OK)
        return code;
    for (uint32_t i = 0; i < spec->suite->param_count; i++)
        if (!take_param(&rest, i, spec))
            return error_set(err, CODE_CONFIG, 0,
                             "case '%s': expected a value of '%s' that this build knows",
                             text_clip(key, shown), spec->suite->params[i].name);
    if (strcmp(rest, "tier=portable") != 0)
        return error_set(err, CODE_CONFIG, 0, "case '%s': expected 'tier=portable' at the end",
                         text_clip(key, shown));
    if (spec->suite->valid != NULL && !spec->suite->valid(spec, reason))
        return error_set(err, CODE_CONFIG, 0, "case '%s': %s", text_clip(key, shown), reason);
    return CODE_OK;
}
