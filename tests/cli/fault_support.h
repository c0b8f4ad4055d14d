/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that measure with PoCL behind the OpenCL fault layer
 * (tests/fakes/opencl_layer/README.md). */
#ifndef TESTS_CLI_FAULT_SUPPORT_H
#define TESTS_CLI_FAULT_SUPPORT_H

#include "run_support.h"

static const char pocl[] = "opencl:pocl:0";

/* One run of a config with the layer's switches in force. */
static inline struct measured fault_run(const struct fixture *fixture, const char *config,
                                        const char *faults, int exit_code)
{
    static char setting[512];
    snprintf(setting, sizeof setting, "ASSAY_FAKE_OPENCL=%s", faults);
    struct measured result = {
        .config = config, .devices = {pocl}, .environment = {POCL_ALONE, LAYER, setting}};
    measure(fixture, &result, exit_code);
    return result;
}

/* No number anywhere in the record, nor in what was printed of it. */
static inline void assert_no_rate(const struct measured *result, const json_t *record)
{
    assert_true(strcmp(text_at(record, "state"), "ok") != 0);
    assert_true(strlen(text_at(record, "reason")) > 0);
    const char *line = strstr(result->outcome.err, text_at(record, "key"));
    assert_non_null(line);
    size_t length = strcspn(line, "\n");
    char text[2048];
    snprintf(text, sizeof text, "%.*s", (int)(length < 2000 ? length : 2000), line);
    const char *after = strstr(text, "tier=portable: ");
    assert_non_null(after);
    assert_int_equal(strncmp(after + strlen("tier=portable: "), text_at(record, "state"),
                             strlen(text_at(record, "state"))),
                     0);
}

#endif
