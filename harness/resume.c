/* SPDX-License-Identifier: Apache-2.0
 *
 * Continuing a result file; see resume.h. */
#include "harness/resume.h"

#include "harness/record.h"
#include "harness/run.h"

#include <stdlib.h>
#include <string.h>

static const json_t *path_get(const json_t *json, const char *first, const char *second)
{
    const json_t *value = json_object_get(json, first);
    return second != NULL ? json_object_get(value, second) : value;
}

static void take_devices(const struct result *result, struct resume *resume)
{
    resume->devices = memory_zeroed(result->device_count, sizeof *resume->devices);
    resume->device_count = result->device_count;
    for (size_t i = 0; i < result->device_count; i++)
        resume->devices[i] = text_duplicate(result->devices[i].id);
}

static void take_records(const struct result *result, struct resume *resume)
{
    resume->done = json_object();
    for (size_t i = 0; i < result->record_count; i++) {
        char pair[RUN_PAIR_BYTES];
        run_pair(result->records[i].key, result->records[i].device, pair);
        json_object_set_new(resume->done, pair, json_true());
        resume->states[result->records[i].state]++;
    }
}

enum code resume_load(const char *path, struct resume *resume, struct error *err)
{
    *resume = (struct resume){0};
    struct result *result = NULL;
    enum code code = result_load(path, &result, err);
    if (code != CODE_OK)
        return code;
    const char *resolved = json_string_value(path_get(result->header, "config", "resolved"));
    const char *name = json_string_value(path_get(result->header, "config", "path"));
    const char *seed = json_string_value(path_get(result->header, "seed", NULL));
    if (resolved == NULL || name == NULL || seed == NULL)
        code = error_set(err, CODE_CONFIG, 0, "%s:1: the header has no config to go on with", path);
    else
        code = config_parse(name, resolved, strlen(resolved), &resume->config, err);
    if (code == CODE_OK) {
        resume->seed = strtoull(seed, NULL, 10);
        resume->header = json_deep_copy(result->header);
        take_devices(result, resume);
        take_records(result, resume);
        /* One that was cut off behind its last record still wants its end line. */
        if (result->complete)
            code = error_set(err, CODE_USAGE, 0,
                             "'%s' has all of its %zu records; there is nothing to resume", path,
                             result->record_count);
    }
    result_destroy(result);
    return code;
}

enum code resume_check(const struct resume *resume, const struct inventory *inventory,
                       const size_t *selected, size_t count, struct error *err)
{
    size_t index;
    json_t *device;
    json_array_foreach(json_object_get(resume->header, "devices"), index, device)
    {
        const char *id = json_string_value(json_object_get(device, "id"));
        const char *name = json_string_value(json_object_get(device, "name"));
        const char *driver = json_string_value(json_object_get(device, "driver"));
        for (size_t i = 0; i < count; i++) {
            const struct device_info *info = &inventory->devices[selected[i]].info;
            if (id == NULL || strcmp(info->id, id) != 0)
                continue;
            if (name != NULL && strcmp(info->name, name) != 0)
                return error_set(err, CODE_INCOMPARABLE, 0,
                                 "'%s' was '%s' when the file was begun and is '%s' here", id, name,
                                 info->name);
            if (driver != NULL && strcmp(info->driver, driver) != 0)
                return error_set(err, CODE_INCOMPARABLE, 0,
                                 "'%s' had driver '%s' when the file was begun and has '%s' here",
                                 id, driver, info->driver);
        }
    }
    return CODE_OK;
}

void resume_release(struct resume *resume)
{
    for (size_t i = 0; i < resume->device_count; i++)
        free(resume->devices[i]);
    free(resume->devices);
    config_release(&resume->config);
    json_decref(resume->header);
    json_decref(resume->done);
}
