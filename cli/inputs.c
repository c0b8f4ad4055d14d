/* SPDX-License-Identifier: Apache-2.0
 *
 * Result files from a command line, and the words for them that several commands share; see
 * inputs.h. */
#include "cli/inputs.h"

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command.h"
#include "reports/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool file_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* Length of the path in "FILE:DEVICE-ID": all of it if such a file exists, else up to the first
 * colon before which one does. Device ids hold colons, and so may paths. */
static size_t path_length(const char *argument)
{
    size_t length = strlen(argument);
    if (file_exists(argument))
        return length;
    char *copy = text_duplicate(argument);
    for (size_t i = 1; i < length; i++) {
        if (argument[i] != ':')
            continue;
        copy[i] = '\0';
        if (file_exists(copy)) {
            free(copy);
            return i;
        }
        copy[i] = ':';
    }
    free(copy);
    return length;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return strcmp(a, b) == 0 ||
           (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static enum code load_once(const char *path, struct inputs *inputs, struct result **result,
                           struct error *err)
{
    for (size_t i = 0; i < inputs->result_count; i++) {
        if (same_file(inputs->results[i]->path, path)) {
            *result = inputs->results[i];
            return CODE_OK;
        }
    }
    enum code code = result_load(path, result, err);
    if (code == CODE_OK)
        inputs->results[inputs->result_count++] = *result;
    return code;
}

static enum code check_device(const struct input *input, struct error *err)
{
    const struct result *result = input->result;
    if (input->device == NULL || result_device_find(result, input->device) != NULL)
        return CODE_OK;
    struct text ids = {0};
    const char *candidates[INPUTS_MAX + 1] = {0};
    for (size_t i = 0; i < result->device_count; i++) {
        text_printf(&ids, "%s%s", i > 0 ? ", " : "", result->devices[i].id);
        if (i < INPUTS_MAX)
            candidates[i] = result->devices[i].id;
    }
    const char *nearest = text_nearest(input->device, candidates);
    error_set(err, CODE_USAGE, 0, "'%s' has no device '%s'%s%s%s: it has %s", result->path,
              input->device, nearest != NULL ? " (did you mean '" : "",
              nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "", text_string(&ids));
    text_release(&ids);
    return CODE_USAGE;
}

static enum code load_one(const char *argument, struct inputs *inputs, struct error *err)
{
    struct input *input = &inputs->items[inputs->count];
    size_t length = path_length(argument);
    char *path = text_duplicate(argument);
    path[length] = '\0';
    input->device = argument[length] == ':' ? argument + length + 1 : NULL;
    enum code code = load_once(path, inputs, &input->result, err);
    free(path);
    if (code == CODE_OK)
        code = check_device(input, err);
    if (code == CODE_OK)
        inputs->count++;
    return code;
}

enum code inputs_load(const char *const *arguments, size_t count, struct inputs *inputs,
                      struct error *err)
{
    *inputs = (struct inputs){0};
    if (count > INPUTS_MAX)
        return error_set(err, CODE_USAGE, 0, "%zu files: at most %d", count, INPUTS_MAX);
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < count; i++)
        code = load_one(arguments[i], inputs, err);
    return code;
}

void inputs_release(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->result_count; i++)
        result_destroy(inputs->results[i]);
    *inputs = (struct inputs){0};
}

int inputs_fail(const struct error *err)
{
    int exit_code = command_fail(err);
    return err->code == CODE_IO ? EXIT_USAGE : exit_code;
}

char *rate_text(const struct record *record, const struct summary *summary,
                char out[RATE_TEXT_BYTES])
{
    char rate[QUANTITY_BYTES];
    out[0] = '\0';
    if (record == NULL || record->state != STATE_OK)
        return out;
    quantity_format_si(record_rate(record, summary->median), record->unit, rate);
    if (!summary->has_interval) {
        snprintf(out, RATE_TEXT_BYTES, "%s ±-", rate);
        return out;
    }
    double below = summary->median / summary->median_95.high;
    double above = summary->median / summary->median_95.low;
    double widest = fmax(1.0 - below, above - 1.0) * 100.0;
    snprintf(out, RATE_TEXT_BYTES, widest < 9.95 ? "%s ±%.1f %%" : "%s ±%.0f %%", rate, widest);
    return out;
}

void device_text(const struct result_device *device, struct text *out)
{
    char kind[LABEL_KIND_BYTES];
    label_kind(device, kind);
    size_t begin = out->length;
    text_printf(out, "%s: %s (%s), driver %s", device->id, device->name, kind, device->driver);
    text_make_printable(out->bytes + begin);
}

json_t *path_json(const char *path)
{
    size_t bad;
    if (text_is_utf8(path, strlen(path), &bad))
        return json_string(path);
    char *copy = text_duplicate(path);
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_t *json = json_string(copy);
    free(copy);
    return json;
}

const char *header_text(const struct result *result, const char *name)
{
    const char *text = json_string_value(json_object_get(result->header, name));
    return text != NULL ? text : "unknown";
}
