/* SPDX-License-Identifier: Apache-2.0
 *
 * The run config as a whole: finding it, its top level, filtering it and writing it out; see
 * config.h. Must not know how a case is measured nor which devices exist. */
#include "harness/config.h"

#include "base/embedded.h"
#include "harness/config_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char embedded_prefix[] = "configs/";
static const char file_suffix[] = ".yaml";

enum { SCHEMA, NAME, POLICY, DEVICES, CASES };
const char *const config_top_keys[] = {
    [SCHEMA] = "schema",   [NAME] = "name",   [POLICY] = "policy",
    [DEVICES] = "devices", [CASES] = "cases", NULL};

const char *config_found(const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR)
        return node->kind == YAML_LIST ? "a list" : "a map";
    if (node->text[0] != '\0')
        return "text";
    return node->quoted ? "empty text" : "nothing";
}

const char *config_text(const struct config_reader *reader, const struct yaml_node *node,
                        const char *what, const char *expected)
{
    bool lines = node->kind == YAML_SCALAR && strpbrk(node->text, "\n\t") != NULL;
    if (node->kind == YAML_SCALAR && node->text[0] != '\0' && !lines)
        return node->text;
    yaml_error(reader->document, node, reader->err, "%s: expected %s, found %s", what, expected,
               lines ? "text of several lines" : config_found(node));
    return NULL;
}

static bool is_among(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

enum code config_check_keys(const struct config_reader *reader, const struct yaml_node *map,
                            const char *what, const char *const *allowed)
{
    const struct yaml_node *child = map->kind == YAML_MAP ? map->first : NULL;
    for (; child != NULL; child = child->next) {
        if (is_among(child->key, allowed))
            continue;
        if (is_among(child->key, config_policy_keys))
            return yaml_key_error(reader->document, child, reader->err,
                                  "unknown key '%s' in %s, it belongs under 'policy:'", child->key,
                                  what);
        if (is_among(child->key, config_top_keys))
            return yaml_key_error(reader->document, child, reader->err,
                                  "unknown key '%s' in %s, it belongs at the top level", child->key,
                                  what);
    }
    return yaml_check_keys(reader->document, map, what, allowed, reader->err);
}

static void warn_of_hash(const struct config_reader *reader, const struct yaml_node *node,
                         const char *what)
{
    struct config *config = reader->config;
    char shown[TEXT_CLIP_BYTES];
    size_t length = strlen(config->warnings);
    if (yaml_hash_follows(reader->document, node))
        snprintf(config->warnings + length, sizeof config->warnings - length,
                 "%s%s:%zu:%zu: %s is '%s': what follows ' #' is a comment, quotes would keep it",
                 length > 0 ? "; " : "", yaml_name(reader->document), node->line, node->column,
                 what, text_clip(node->text, shown));
}

static enum code read_schema(const struct config_reader *reader, const struct yaml_node *root)
{
    const struct yaml_node *node = yaml_get(root, config_top_keys[SCHEMA]);
    if (node == NULL)
        return yaml_error(reader->document, root, reader->err,
                          "the key 'schema' is missing, expected 'schema: 1'");
    const char *text = config_text(reader, node, "schema", "1");
    if (text == NULL)
        return CODE_CONFIG;
    if (strcmp(text, "1") == 0)
        return CODE_OK;
    char shown[TEXT_CLIP_BYTES];
    return yaml_error(reader->document, node, reader->err,
                      "schema '%s', expected 1, the one that this build reads",
                      text_clip(text, shown));
}

static enum code read_name(const struct config_reader *reader, const struct yaml_node *node)
{
    const char *text = config_text(reader, node, "name", "text");
    if (text == NULL)
        return CODE_CONFIG;
    if (strlen(text) >= CONFIG_NAME_BYTES)
        return yaml_error(reader->document, node, reader->err, "name: %zu bytes, at most %d",
                          strlen(text), CONFIG_NAME_BYTES - 1);
    snprintf(reader->config->name, sizeof reader->config->name, "%s", text);
    warn_of_hash(reader, node, "name");
    return CODE_OK;
}

static enum code read_devices(const struct config_reader *reader, const struct yaml_node *node)
{
    struct config *config = reader->config;
    if (node->kind != YAML_LIST)
        return yaml_error(reader->document, node, reader->err,
                          "devices: expected a list such as [host, 'opencl:0'], found %s",
                          config_found(node));
    if (node->count == 0)
        return yaml_error(reader->document, node, reader->err,
                          "devices: the list is empty; leave the key out to take all devices");
    if (node->count > CONFIG_DEVICES_MAX)
        return yaml_error(reader->document, node, reader->err, "devices: %zu selectors, at most %d",
                          node->count, CONFIG_DEVICES_MAX);
    for (const struct yaml_node *child = node->first; child != NULL; child = child->next) {
        const char *text =
            config_text(reader, child, "devices", "a device such as host or opencl:0");
        if (text == NULL)
            return CODE_CONFIG;
        config->devices[config->device_count++] = text_duplicate(text);
        warn_of_hash(reader, child, "the device");
    }
    return CODE_OK;
}

static enum code read_top(const struct config_reader *reader)
{
    const struct yaml_node *root = yaml_root(reader->document);
    if (root->kind != YAML_MAP)
        return yaml_error(reader->document, root, reader->err,
                          "expected a map with 'schema: 1' and 'cases:', found %s",
                          config_found(root));
    /* The schema first: a later one may have keys that this build does not know. */
    enum code code = read_schema(reader, root);
    if (code == CODE_OK)
        code = config_check_keys(reader, root, "the config", config_top_keys);
    const struct yaml_node *node = yaml_get(root, config_top_keys[NAME]);
    if (code == CODE_OK && node != NULL)
        code = read_name(reader, node);
    node = yaml_get(root, config_top_keys[POLICY]);
    if (code == CODE_OK && node != NULL)
        code = config_read_policy(reader, node);
    node = yaml_get(root, config_top_keys[DEVICES]);
    if (code == CODE_OK && node != NULL)
        code = read_devices(reader, node);
    if (code != CODE_OK)
        return code;
    node = yaml_get(root, config_top_keys[CASES]);
    if (node == NULL)
        return yaml_error(reader->document, root, reader->err,
                          "the key 'cases' is missing: 0 tests to run");
    return config_read_cases(reader, node);
}

static void digest(struct config *config)
{
    struct text resolved = {0};
    config_resolved(config, &resolved);
    text_sha256(text_string(&resolved), resolved.length, config->sha256);
    text_release(&resolved);
}

enum code config_read(const struct yaml_document *document, const struct suite *const *suites,
                      struct config *config, struct error *err)
{
    *config = (struct config){.name = "unnamed"};
    snprintf(config->path, sizeof config->path, "%s", yaml_name(document));
    text_make_printable(config->path); /* the end may have been cut off inside a character */
    policy_defaults(&config->policy);
    struct config_reader reader = {
        .document = document, .suites = suites, .config = config, .err = err};
    enum code code = read_top(&reader);
    if (code == CODE_OK)
        digest(config);
    else
        config_release(config);
    return code;
}

enum code config_parse(const char *name, const char *bytes, size_t count, struct config *config,
                       struct error *err)
{
    struct yaml_document *document = NULL;
    *config = (struct config){.device_count = 0};
    enum code code = yaml_parse(name, bytes, count, &document, err);
    if (code == CODE_OK)
        code = config_read(document, suite_all(), config, err);
    yaml_destroy(document);
    return code;
}

/* The name of an embedded config ("quick"), or false for any other embedded file. */
static bool embedded_name(const struct embedded_file *file, char name[CONFIG_NAME_BYTES])
{
    size_t prefix = sizeof embedded_prefix - 1, suffix = sizeof file_suffix - 1;
    size_t length = strlen(file->path);
    if (!text_starts_with(file->path, embedded_prefix) || length <= prefix + suffix ||
        length - prefix - suffix >= CONFIG_NAME_BYTES || strchr(file->path + prefix, '/') != NULL ||
        strcmp(file->path + length - suffix, file_suffix) != 0)
        return false;
    memcpy(name, file->path + prefix, length - prefix - suffix);
    name[length - prefix - suffix] = '\0';
    return true;
}

static const char *find_embedded(const char *word)
{
    char name[CONFIG_NAME_BYTES];
    for (const struct embedded_file *file = embedded_files; file->path != NULL; file++)
        if (embedded_name(file, name) && strcmp(name, word) == 0)
            return file->text;
    return NULL;
}

/* A config that cannot be read is the user's mistake, not a result that could not be stored:
 * CODE_CONFIG. */
static enum code unreadable(const char *path, struct error *err)
{
    char name[CONFIG_NAME_BYTES];
    struct text list = {0};
    for (const struct embedded_file *file = embedded_files; file->path != NULL; file++)
        if (embedded_name(file, name))
            text_printf(&list, "%s%s", list.length > 0 ? ", " : "", name);
    char why[ERROR_MESSAGE_BYTES];
    snprintf(why, sizeof why, "%s", err->message);
    bool bare = strchr(path, '/') == NULL;
    enum code code = error_set(err, CODE_CONFIG, err->native, "%s%s%s", why,
                               bare ? "; built-in configs: " : "", bare ? text_string(&list) : "");
    text_release(&list);
    return code;
}

static bool names_a_file(const char *path)
{
    size_t length = strlen(path), suffix = sizeof file_suffix - 1;
    return strchr(path, '/') != NULL ||
           (length >= suffix && strcmp(path + length - suffix, file_suffix) == 0);
}

enum code config_load(const char *path, struct config *config, struct error *err)
{
    *config = (struct config){.device_count = 0};
    const char *embedded = names_a_file(path) ? NULL : find_embedded(path);
    if (embedded != NULL) {
        char name[CONFIG_NAME_BYTES + sizeof "embedded:"];
        snprintf(name, sizeof name, "embedded:%s", path);
        return config_parse(name, embedded, strlen(embedded), config, err);
    }
    struct yaml_document *document = NULL;
    struct error why = {.code = CODE_OK};
    enum code code = yaml_load(path, &document, &why);
    if (code == CODE_IO)
        code = unreadable(path, &why);
    if (code != CODE_OK)
        return error_set(err, code, why.native, "%s", why.message);
    code = config_read(document, suite_all(), config, err);
    yaml_destroy(document);
    return code;
}

void config_release(struct config *config)
{
    for (size_t i = 0; i < config->device_count; i++)
        free(config->devices[i]);
    free(config->cases);
    *config = (struct config){.device_count = 0};
}

enum code config_filter(struct config *config, const char *filter, struct error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < config->case_count; i++) {
        char key[CASE_KEY_BYTES];
        case_key(&config->cases[i], key);
        if (text_contains_ignoring_case(key, filter))
            config->cases[kept++] = config->cases[i];
    }
    if (kept == 0) {
        char shown[TEXT_CLIP_BYTES];
        return error_set(err, CODE_USAGE, 0,
                         "0 tests match '%s' among the %zu cases of '%s' (assay plan lists them)",
                         text_clip(filter, shown), config->case_count, config->path);
    }
    config->case_count = kept;
    digest(config);
    return CODE_OK;
}

enum code config_set_devices(struct config *config, const char *const *selectors, size_t count,
                             struct error *err)
{
    if (count > CONFIG_DEVICES_MAX)
        return error_set(err, CODE_USAGE, 0, "%zu devices given, at most %d", count,
                         CONFIG_DEVICES_MAX);
    for (size_t i = 0; i < count; i++) {
        char *printable = text_duplicate(selectors[i]), shown[TEXT_CLIP_BYTES];
        text_make_printable(printable);
        bool good = printable[0] != '\0' && strcmp(printable, selectors[i]) == 0;
        free(printable);
        if (!good)
            return error_set(err, CODE_USAGE, 0,
                             "device '%s': expected text such as host or opencl:0",
                             text_clip(selectors[i], shown));
    }
    for (size_t i = 0; i < config->device_count; i++)
        free(config->devices[i]);
    for (size_t i = 0; i < count; i++)
        config->devices[i] = text_duplicate(selectors[i]);
    config->device_count = count;
    digest(config);
    return CODE_OK;
}

/* A double-quoted YAML scalar; text is one printable line. */
static void append_quoted(struct text *out, const char *text)
{
    text_append(out, "\"");
    for (; *text != '\0'; text++)
        text_printf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    text_append(out, "\"");
}

void config_resolved(const struct config *config, struct text *out)
{
    text_append(out, "schema: 1\nname: ");
    append_quoted(out, config->name);
    text_append(out, "\n");
    config_policy_resolved(&config->policy, out);
    if (config->device_count > 0)
        text_append(out, "devices:\n");
    for (size_t i = 0; i < config->device_count; i++) {
        text_append(out, "  - ");
        append_quoted(out, config->devices[i]);
        text_append(out, "\n");
    }
    config_cases_resolved(config, out);
}
