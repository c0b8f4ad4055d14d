/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that measure with the real program: small configs, one run, and what stands in its
 * result file afterwards. No time is asserted but what a lie of a clock or a skipped kernel would
 * change by orders of magnitude. */
#ifndef TESTS_CLI_RUN_SUPPORT_H
#define TESTS_CLI_RUN_SUPPORT_H

#include "result_lines.h"

/* So short that a case takes a fraction of a second. */
#define CONFIG_HEAD                                                                                \
    "schema: 1\n"                                                                                  \
    "name: test\n"                                                                                 \
    "policy: {budget: 100ms, warmup: 20ms, rounds_min: 5, rounds_max: 5, samples_min: 5,\n"        \
    "         step_timeout: 60s}\n"                                                                \
    "cases:\n"

enum { RUN_ATTEMPTS = 4, RUN_DEVICES_MAX = 4 };

/* A run and its outcome. The first part is given. */
struct measured {
    const char *config;                   /* text */
    const char *devices[RUN_DEVICES_MAX]; /* ends with NULL; none: the config's */
    const char *environment[WORDS_MAX - 2];
    bool device_clock; /* wanted of every OpenCL device: repeated where the audit refused it, as it
                          may on a busy machine */
    /* made */
    char path[2048]; /* of the result */
    struct outcome outcome;
    json_t *lines; /* of the result; NULL: there is no file */
};

static inline json_t *record_of(const struct measured *result, const char *device, const char *part)
{
    json_t *record = find_record(result->lines, device, part);
    if (record == NULL)
        fail_msg("no record of '%s' on '%s'; stderr:\n%s", part, device, result->outcome.err);
    return record;
}

static inline const json_t *header_device(const struct measured *result, const char *id)
{
    return device_with_id(json_array_get(result->lines, 0), id);
}

/* What the noise of a busy machine alone can do to a run. */
static inline bool was_disturbed(const struct measured *result)
{
    size_t index;
    json_t *line;
    json_array_foreach(result->lines, index, line)
    {
        const char *state = string_of(line, "state");
        if (strcmp(state, "not-scaling") == 0)
            return true;
        /* a launch cost of milliseconds asks for samples that small copies cannot fill */
        if (strcmp(state, "invalid-clock") == 0 &&
            strstr(string_of(line, "reason"), "that this clock needs") != NULL)
            return true;
    }
    if (!result->device_clock || result->lines == NULL)
        return false;
    json_array_foreach(member(json_array_get(result->lines, 0), "devices"), index, line)
    {
        if (strncmp(string_of(line, "id"), "opencl", strlen("opencl")) == 0 &&
            strcmp(text_at(line, "clock.source"), "host") == 0)
            return true;
    }
    return false;
}

static inline void measure_once(const struct fixture *fixture, struct measured *result)
{
    char config[2048], cache[2048];
    write_text(fixture, "config.yaml", result->config);
    snprintf(config, sizeof config, "%s/config.yaml", fixture->place);
    snprintf(result->path, sizeof result->path, "%s/result.jsonl", fixture->place);
    /* kernels are compiled once for all tests */
    snprintf(cache, sizeof cache, "POCL_CACHE_DIR=%s/kernels", fixture->place);
    unlink(result->path);
    struct call call = {.arguments = {"run", "-o", result->path, config}};
    size_t count = 4;
    for (size_t i = 0; i < RUN_DEVICES_MAX && result->devices[i] != NULL; i++) {
        call.arguments[count++] = "-d";
        call.arguments[count++] = result->devices[i];
    }
    call.environment[0] = cache;
    for (size_t i = 0; i < WORDS_MAX - 2 && result->environment[i] != NULL; i++)
        call.environment[i + 1] = result->environment[i];
    result->outcome = run(fixture, &call);
    result->lines = lines_of(result->path);
}

static inline void measured_release(struct measured *result)
{
    release(&result->outcome);
    json_decref(result->lines);
    result->lines = NULL;
}

/* Runs, and checks the exit code. */
static inline void measure(const struct fixture *fixture, struct measured *result, int exit_code)
{
    for (int attempt = 0; attempt < RUN_ATTEMPTS; attempt++) {
        if (attempt > 0)
            measured_release(result);
        measure_once(fixture, result);
        if (!was_disturbed(result))
            break;
    }
    if (result->outcome.exit_code != exit_code)
        fail_msg("exit %d, expected %d; stderr:\n%s", result->outcome.exit_code, exit_code,
                 result->outcome.err);
}

#endif
