/* SPDX-License-Identifier: Apache-2.0
 *
 * The run config: schema 1, a policy, device selectors, and cases as suites with axes. Reading it
 * resolves everything: the product is a flat list of cases in a fixed order. */
#ifndef HARNESS_CONFIG_H
#define HARNESS_CONFIG_H

#include "base/error.h"
#include "base/text.h"
#include "harness/policy.h"
#include "harness/suite.h"

#include <stddef.h>

enum { CONFIG_NAME_BYTES = 128, CONFIG_DEVICES_MAX = 64, CONFIG_CASES_MAX = 4096 };

struct config {
    char name[CONFIG_NAME_BYTES];
    char path[1024];               /* as given, or "embedded:quick" */
    char sha256[SHA256_HEX_BYTES]; /* of the resolved form (config_resolved), so CRLF or comments do
                                      not change it */
    struct policy policy;
    char *devices[CONFIG_DEVICES_MAX]; /* selectors as written; none = all */
    size_t device_count;
    struct case_spec *cases;
    size_t case_count;
    char warnings[1024]; /* things a person should hear that are no errors, in one line; "" for none
                          */
};

/* Reads path. A word without '/' that does not end in ".yaml" and names an embedded config
 * ("quick", "standard", "reference") is that config, whatever files there are; anything else is a
 * file. CODE_CONFIG with file:line:column, or if it cannot be read (that is the caller's mistake,
 * not a lost result). */
enum code config_load(const char *path, struct config *config, struct error *err);
/* The same from text; name stands for the path. On failure there is nothing to release. */
enum code config_parse(const char *name, const char *bytes, size_t count, struct config *config,
                       struct error *err);
void config_release(struct config *config);
/* Keeps the cases whose key contains filter (case-insensitive substring). CODE_USAGE if none is
 * left: "0 tests match". */
enum code config_filter(struct config *config, const char *filter, struct error *err);
/* Puts these selectors in the place of the config's own. CODE_USAGE if they are too many or one is
 * not a line of text. */
enum code config_set_devices(struct config *config, const char *const *selectors, size_t count,
                             struct error *err);
/* The resolved form as YAML with every default written out and sizes in bytes; reading it gives the
 * same config. */
void config_resolved(const struct config *config, struct text *out);
void policy_defaults(struct policy *policy);

#endif
