/* SPDX-License-Identifier: Apache-2.0
 *
 * The section cases: of a config: maps of a suite's parameters, where a list is an axis, become a
 * flat list of cases. Sizes of products are known before anything is expanded. Must not know what a
 * parameter means. */
#include "harness/config_parts.h"

#include "base/quantity.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values that one map gives one parameter: one, or an axis. */
struct axis {
    const struct yaml_node *node; /* NULL: the default */
    uint64_t *values;
    size_t count;
};

/* One map of the list. */
struct family {
    const struct yaml_node *node;
    const struct suite *suite;
    struct axis axes[SUITE_PARAMS_MAX];
    size_t product;
};

/* The cases so far, each with the map that made it. */
struct collection {
    const struct config_reader *reader;
    const struct yaml_node **origins;
};

static size_t axis_length(const struct yaml_node *node)
{
    return node != NULL && node->kind == YAML_LIST ? node->count : 1;
}

/* The suite called name, or NULL after an error at node. */
static const struct suite *find_suite(const struct config_reader *reader,
                                      const struct yaml_node *node, const char *name)
{
    struct text list = {0};
    size_t count = 0;
    for (; reader->suites[count] != NULL; count++) {
        if (strcmp(reader->suites[count]->name, name) == 0) {
            text_release(&list);
            return reader->suites[count];
        }
        text_printf(&list, "%s%s", count > 0 ? ", " : "", reader->suites[count]->name);
    }
    const char **names = memory_zeroed(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = reader->suites[i]->name;
    char shown[TEXT_CLIP_BYTES];
    const char *nearest = text_nearest(name, names);
    text_clip(name, shown);
    if (nearest != NULL)
        yaml_error(reader->document, node, reader->err, "unknown suite '%s', did you mean '%s'?",
                   shown, nearest);
    else
        yaml_error(reader->document, node, reader->err, "unknown suite '%s', expected one of: %s",
                   shown, text_string(&list));
    free(names);
    text_release(&list);
    return NULL;
}

static enum code read_suite(const struct config_reader *reader, struct family *family)
{
    if (family->node->kind != YAML_MAP)
        return yaml_error(reader->document, family->node, reader->err,
                          "a case: expected a map such as {suite: gemm, m: 512}, found %s",
                          config_found(family->node));
    const struct yaml_node *node = yaml_get(family->node, "suite");
    if (node == NULL)
        return yaml_error(reader->document, family->node, reader->err,
                          "the case has no key 'suite'");
    const char *name = config_text(reader, node, "suite", "the name of a suite");
    if (name == NULL)
        return CODE_CONFIG;
    family->suite = find_suite(reader, node, name);
    return family->suite != NULL ? CODE_OK : CODE_CONFIG;
}

static enum code check_params(const struct config_reader *reader, const struct family *family)
{
    const char *allowed[SUITE_PARAMS_MAX + 2] = {"suite"};
    char what[128];
    for (uint32_t i = 0; i < family->suite->param_count; i++)
        allowed[i + 1] = family->suite->params[i].name;
    snprintf(what, sizeof what, "a case of suite '%s'", family->suite->name);
    return config_check_keys(reader, family->node, what, allowed);
}

/* Finds the values of each parameter in the map and how many cases they make, without reading them.
 */
static enum code size_family(const struct config_reader *reader, struct family *family)
{
    uint64_t product = 1;
    bool overflow = false;
    for (uint32_t i = 0; i < family->suite->param_count; i++) {
        struct axis *axis = &family->axes[i];
        axis->node = yaml_get(family->node, family->suite->params[i].name);
        axis->count = axis_length(axis->node);
        if (axis->count == 0)
            return yaml_error(reader->document, axis->node, reader->err,
                              "%s: the list is empty, expected a value",
                              family->suite->params[i].name);
        overflow = overflow || product > UINT64_MAX / axis->count;
        product = overflow ? UINT64_MAX : product * axis->count;
    }
    uint64_t before = reader->config->case_count;
    if (product > CONFIG_CASES_MAX - before)
        return yaml_error(reader->document, family->node, reader->err,
                          "the axes make %s%" PRIu64 " cases, with %" PRIu64
                          " before them; a config has at most %d",
                          overflow ? "more than " : "", product, before, CONFIG_CASES_MAX);
    family->product = (size_t)product;
    return CODE_OK;
}

static enum code parse_choice(const struct config_reader *reader, const struct param *param,
                              const struct yaml_node *node, uint64_t *value)
{
    struct text list = {0};
    for (uint64_t i = 0; param->choices[i] != NULL; i++) {
        text_printf(&list, "%s%s", i > 0 ? ", " : "", param->choices[i]);
        if (strcmp(param->choices[i], node->text) == 0) {
            *value = i;
            text_release(&list);
            return CODE_OK;
        }
    }
    char shown[TEXT_CLIP_BYTES];
    const char *nearest = text_nearest(node->text, param->choices);
    enum code code = yaml_error(
        reader->document, node, reader->err, "%s: unknown value '%s', %s%s%s", param->name,
        text_clip(node->text, shown), nearest != NULL ? "did you mean '" : "expected one of: ",
        nearest != NULL ? nearest : text_string(&list), nearest != NULL ? "'?" : "");
    text_release(&list);
    return code;
}

/* A number in [min, max], or "auto" where the parameter is optional. */
static enum code parse_number(const struct config_reader *reader, const struct param *param,
                              const struct yaml_node *node, uint64_t *value)
{
    struct error why;
    char shown[TEXT_CLIP_BYTES];
    const char *or_auto = param->optional ? " or auto" : "";
    *value = 0;
    if (param->optional && strcmp(node->text, "auto") == 0)
        return CODE_OK;
    enum code code = param->kind == PARAM_BYTES ? quantity_parse_bytes(node->text, value, &why)
                                                : quantity_parse_count(node->text, value, &why);
    if (code != CODE_OK)
        return yaml_error(reader->document, node, reader->err, "%s: %s%s", param->name, why.message,
                          or_auto);
    if (*value >= param->min && *value <= param->max && !(param->optional && *value == 0))
        return CODE_OK;
    const char *unit = param->kind == PARAM_BYTES ? "B" : param->unit;
    return yaml_error(reader->document, node, reader->err,
                      "%s: '%s': expected %" PRIu64 " to %" PRIu64 "%s%s%s", param->name,
                      text_clip(node->text, shown), param->min, param->max,
                      unit[0] != '\0' ? " " : "", unit, or_auto);
}

static enum code parse_value(const struct config_reader *reader, const struct param *param,
                             const struct yaml_node *node, uint64_t *value)
{
    static const char *const expected[] = {
        [PARAM_COUNT] = "a plain decimal number",
        [PARAM_BYTES] = "a size such as 64 MiB",
        [PARAM_CHOICE] = "one of its values",
    };
    if (config_text(reader, node, param->name, expected[param->kind]) == NULL)
        return CODE_CONFIG;
    return param->kind == PARAM_CHOICE ? parse_choice(reader, param, node, value)
                                       : parse_number(reader, param, node, value);
}

static enum code read_axis(const struct config_reader *reader, const struct param *param,
                           struct axis *axis)
{
    axis->values = memory_zeroed(axis->count, sizeof *axis->values);
    axis->values[0] = param->def;
    const struct yaml_node *node = axis->node;
    if (node != NULL && node->kind == YAML_LIST)
        node = node->first;
    for (size_t i = 0; node != NULL && i < axis->count; i++, node = node->next) {
        enum code code = parse_value(reader, param, node, &axis->values[i]);
        if (code != CODE_OK)
            return code;
        for (size_t k = 0; k < i; k++)
            if (axis->values[k] == axis->values[i])
                return yaml_error(reader->document, node, reader->err,
                                  "%s: '%s' equals value %zu of the list", param->name, node->text,
                                  k + 1);
    }
    return CODE_OK;
}

/* Case index of the family: the first parameter varies slowest. */
static struct case_spec pick(const struct family *family, size_t index)
{
    struct case_spec spec = {.suite = family->suite};
    for (uint32_t i = family->suite->param_count; i-- > 0;) {
        assert(family->axes[i].count > 0);
        spec.values[i] = family->axes[i].values[index % family->axes[i].count];
        index /= family->axes[i].count;
    }
    return spec;
}

static enum code expand(struct collection *collection, const struct family *family)
{
    struct config *config = collection->reader->config;
    size_t total = config->case_count + family->product;
    config->cases = memory_resize(config->cases, total, sizeof *config->cases);
    collection->origins = memory_resize(collection->origins, total, sizeof(struct yaml_node *));
    for (size_t i = 0; i < family->product; i++) {
        struct case_spec spec = pick(family, i);
        char reason[STEP_TEXT_BYTES] = "", key[CASE_KEY_BYTES];
        if (spec.suite->valid != NULL && !spec.suite->valid(&spec, reason)) {
            case_key(&spec, key);
            return yaml_error(collection->reader->document, family->node, collection->reader->err,
                              "impossible case '%s': %s", key, reason);
        }
        collection->origins[config->case_count] = family->node;
        config->cases[config->case_count++] = spec;
    }
    return CODE_OK;
}

static enum code read_family(struct collection *collection, const struct yaml_node *node)
{
    const struct config_reader *reader = collection->reader;
    struct family family = {.node = node};
    enum code code = read_suite(reader, &family);
    if (code != CODE_OK || family.suite == NULL)
        return code;
    code = check_params(reader, &family);
    if (code == CODE_OK)
        code = size_family(reader, &family);
    for (uint32_t i = 0; code == CODE_OK && i < family.suite->param_count; i++)
        code = read_axis(reader, &family.suite->params[i], &family.axes[i]);
    if (code == CODE_OK)
        code = expand(collection, &family);
    for (size_t i = 0; i < SUITE_PARAMS_MAX; i++)
        free(family.axes[i].values);
    return code;
}

/* A case with its place in the config, for sorting. */
struct placed {
    struct case_spec spec;
    size_t index;
};

static int compare_specs(const struct case_spec *a, const struct case_spec *b)
{
    int order = strcmp(a->suite->name, b->suite->name);
    for (uint32_t i = 0; order == 0 && i < a->suite->param_count; i++)
        order = (a->values[i] > b->values[i]) - (a->values[i] < b->values[i]);
    return order;
}

static int compare_placed(const void *a, const void *b)
{
    const struct placed *first = a, *second = b;
    int order = compare_specs(&first->spec, &second->spec);
    return order != 0 ? order : (first->index > second->index) - (first->index < second->index);
}

static enum code check_duplicates(const struct collection *collection)
{
    const struct config_reader *reader = collection->reader;
    size_t count = reader->config->case_count;
    assert(collection->origins != NULL && count > 0);
    struct placed *placed = memory_zeroed(count, sizeof *placed);
    for (size_t i = 0; i < count; i++)
        placed[i] = (struct placed){.spec = reader->config->cases[i], .index = i};
    qsort(placed, count, sizeof *placed, compare_placed);
    enum code code = CODE_OK;
    for (size_t i = 1; i < count && code == CODE_OK; i++) {
        char key[CASE_KEY_BYTES];
        if (compare_specs(&placed[i - 1].spec, &placed[i].spec) != 0)
            continue;
        case_key(&placed[i].spec, key);
        code = yaml_error(reader->document, collection->origins[placed[i].index], reader->err,
                          "duplicate case '%s', made by line %zu too", key,
                          collection->origins[placed[i - 1].index]->line);
    }
    free(placed);
    return code;
}

enum code config_read_cases(const struct config_reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_LIST)
        return yaml_error(reader->document, node, reader->err,
                          "cases: expected a list of maps, found %s", config_found(node));
    if (node->count == 0)
        return yaml_error(reader->document, node, reader->err,
                          "cases: the list is empty: 0 tests to run");
    struct collection collection = {.reader = reader};
    enum code code = CODE_OK;
    for (const struct yaml_node *child = node->first; child != NULL && code == CODE_OK;
         child = child->next)
        code = read_family(&collection, child);
    if (code == CODE_OK)
        code = check_duplicates(&collection);
    free(collection.origins);
    return code;
}

void config_cases_resolved(const struct config *config, struct text *out)
{
    text_append(out, "cases:\n");
    for (size_t k = 0; k < config->case_count; k++) {
        const struct case_spec *spec = &config->cases[k];
        text_printf(out, "  - suite: %s\n", spec->suite->name);
        for (uint32_t i = 0; i < spec->suite->param_count; i++) {
            const struct param *param = &spec->suite->params[i];
            if (param->kind == PARAM_CHOICE)
                text_printf(out, "    %s: %s\n", param->name, param->choices[spec->values[i]]);
            else if (param->optional && spec->values[i] == 0)
                text_printf(out, "    %s: auto\n", param->name);
            else
                text_printf(out, "    %s: %" PRIu64 "%s\n", param->name, spec->values[i],
                            param->kind == PARAM_BYTES ? " B" : "");
        }
    }
}
