/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the config reader share: config.c (the whole), config_policy.c and
 * config_cases.c (their sections). Used by nothing else but their tests, which read configs against
 * a table of suites of their own. */
#ifndef HARNESS_CONFIG_PARTS_H
#define HARNESS_CONFIG_PARTS_H

#include "base/yaml.h"
#include "harness/config.h"

/* A config on its way from a tree to a struct config. */
struct config_reader {
    const struct yaml_document *document;
    const struct suite *const *suites; /* ends with NULL */
    struct config *config;
    struct error *err;
};

/* Fills config, to be released on CODE_OK, from a tree, against these suites in place of the
 * build's own. */
enum code config_read(const struct yaml_document *document, const struct suite *const *suites,
                      struct config *config, struct error *err);

/* "nothing", "empty text", "text", "a list", "a map": what a message says was found. */
const char *config_found(const struct yaml_node *node);
/* The text of a scalar that is there, of one line and not empty; else NULL after an error that says
 * "what: expected <expected>". */
const char *config_text(const struct config_reader *reader, const struct yaml_node *node,
                        const char *what, const char *expected);
/* yaml_check_keys, which also says where a known key of another level belongs. */
enum code config_check_keys(const struct config_reader *reader, const struct yaml_node *map,
                            const char *what, const char *const *allowed);

/* The keys of each level, for the message about a key at the wrong one; each ends with NULL. */
extern const char *const config_top_keys[];
extern const char *const config_policy_keys[];

/* Reads the section; node is the value of its key. */
enum code config_read_policy(const struct config_reader *reader, const struct yaml_node *node);
enum code config_read_cases(const struct config_reader *reader, const struct yaml_node *node);

/* Appends "policy:" and "cases:" with every value written out. */
void config_policy_resolved(const struct policy *policy, struct text *out);
void config_cases_resolved(const struct config *config, struct text *out);

#endif
