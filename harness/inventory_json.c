/* SPDX-License-Identifier: Apache-2.0
 *
 * Device descriptions and the whole inventory as JSON (docs/formats.md, "A device"). What a device
 * does not say is null, never 0 or "". */
#include "harness/inventory.h"

#include "base/text.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The members that are text of a fixed room, whole numbers and yes-or-no, by offset, so that both
 * directions agree. */
struct text_member {
    const char *name;
    size_t offset, bytes;
};
struct member {
    const char *name;
    size_t offset;
};

#define TEXT_MEMBER(field)                                                                         \
    {                                                                                              \
#field, offsetof(struct device_info, field), sizeof((struct device_info *)0)->field        \
    }
#define MEMBER(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct device_info, field)                                                \
    }

static const struct text_member texts[] = {
    TEXT_MEMBER(id),  TEXT_MEMBER(name),     TEXT_MEMBER(vendor), TEXT_MEMBER(driver),
    TEXT_MEMBER(api), TEXT_MEMBER(platform), TEXT_MEMBER(pci),    TEXT_MEMBER(uuid),
};
static const struct member flags[] = {
    MEMBER(software), MEMBER(unified_memory), MEMBER(has_f64), MEMBER(has_f16), MEMBER(available),
};
static const struct member short_counts[] = {MEMBER(compute_units), MEMBER(clock_mhz)};
static const struct member counts[] = {
    MEMBER(memory_bytes), MEMBER(max_alloc_bytes), MEMBER(local_bytes),
    MEMBER(cache_bytes),  MEMBER(max_group_items), MEMBER(timer_step_ns),
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static json_t *text_json(const char *text)
{
    if (text == NULL || text[0] == '\0')
        return json_null();
    json_t *json = json_string(text);
    if (json != NULL)
        return json;
    char *copy = text_duplicate(text); /* not UTF-8 */
    text_make_printable(copy);
    json = json_string(copy);
    free(copy);
    return json != NULL ? json : json_null();
}

/* JSON integers end at 2^63 - 1 here; a driver that says "no limit" gives 2^64 - 1. */
static json_t *count_json(uint64_t count)
{
    if (count == 0)
        return json_null();
    return json_integer(count > LLONG_MAX ? LLONG_MAX : (json_int_t)count);
}

json_t *device_info_to_json(const struct device_info *info)
{
    json_t *json = json_object();
    const char *base = (const char *)info;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        json_object_set_new(json, texts[i].name, text_json(base + texts[i].offset));
    json_object_set_new(json, "type", json_string(device_type_name(info->type)));
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        bool value;
        memcpy(&value, base + flags[i].offset, sizeof value);
        json_object_set_new(json, flags[i].name, json_boolean(value));
    }
    for (size_t i = 0; i < COUNT_OF(short_counts); i++) {
        uint32_t value;
        memcpy(&value, base + short_counts[i].offset, sizeof value);
        json_object_set_new(json, short_counts[i].name, count_json(value));
    }
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        uint64_t value;
        memcpy(&value, base + counts[i].offset, sizeof value);
        json_object_set_new(json, counts[i].name, count_json(value));
    }
    json_t *sizes = json_array();
    for (size_t i = 0; i < COUNT_OF(info->max_group_size); i++)
        json_array_append_new(sizes, count_json(info->max_group_size[i]));
    json_object_set_new(json, "max_group_size", sizes);
    json_object_set_new(json, "extensions", text_json(info->extensions));
    return json;
}

static enum code bad(const char *name, const char *expected, struct error *err)
{
    return error_set(err, CODE_INVALID, 0, "device description: '%s' is not %s", name, expected);
}

static enum code read_text(const json_t *json, const struct text_member *member, char *base,
                           struct error *err)
{
    const json_t *value = json_object_get(json, member->name);
    char *target = base + member->offset;
    target[0] = '\0';
    if (value == NULL || json_is_null(value))
        return CODE_OK;
    const char *text = json_string_value(value);
    if (text == NULL)
        return bad(member->name, "text or null", err);
    size_t count = strlen(text);
    if (count >= member->bytes) {
        count = member->bytes - 1;
        while (count > 0 && ((unsigned char)text[count] & 0xc0) == 0x80)
            count--; /* not in the middle of a character */
    }
    memcpy(target, text, count);
    target[count] = '\0';
    return CODE_OK;
}

static enum code read_count(const json_t *value, const char *name, uint64_t max, uint64_t *count,
                            struct error *err)
{
    *count = 0;
    if (value == NULL || json_is_null(value))
        return CODE_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > max)
        return bad(name, "a whole number in range or null", err);
    *count = (uint64_t)json_integer_value(value);
    return CODE_OK;
}

static enum code read_type(const json_t *json, enum device_type *type, struct error *err)
{
    static const enum device_type types[] = {DEVICE_CPU, DEVICE_GPU, DEVICE_ACCELERATOR,
                                             DEVICE_OTHER};
    const char *name = json_string_value(json_object_get(json, "type"));
    for (size_t i = 0; name != NULL && i < COUNT_OF(types); i++) {
        if (strcmp(device_type_name(types[i]), name) == 0) {
            *type = types[i];
            return CODE_OK;
        }
    }
    return bad("type", "cpu, gpu, accelerator or other", err);
}

static enum code read_numbers(const json_t *json, char *base, struct error *err)
{
    uint64_t value;
    for (size_t i = 0; i < COUNT_OF(short_counts); i++) {
        const char *name = short_counts[i].name;
        enum code code = read_count(json_object_get(json, name), name, UINT32_MAX, &value, err);
        if (code != CODE_OK)
            return code;
        uint32_t narrow = (uint32_t)value;
        memcpy(base + short_counts[i].offset, &narrow, sizeof narrow);
    }
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        const char *name = counts[i].name;
        enum code code = read_count(json_object_get(json, name), name, LLONG_MAX, &value, err);
        if (code != CODE_OK)
            return code;
        memcpy(base + counts[i].offset, &value, sizeof value);
    }
    return CODE_OK;
}

static enum code read_group_size(const json_t *json, struct device_info *info, struct error *err)
{
    const json_t *sizes = json_object_get(json, "max_group_size");
    if (sizes != NULL &&
        (!json_is_array(sizes) || json_array_size(sizes) != COUNT_OF(info->max_group_size)))
        return bad("max_group_size", "a list of three", err);
    for (size_t i = 0; i < COUNT_OF(info->max_group_size); i++) {
        enum code code = read_count(json_array_get(sizes, i), "max_group_size", LLONG_MAX,
                                    &info->max_group_size[i], err);
        if (code != CODE_OK)
            return code;
    }
    return CODE_OK;
}

enum code device_info_from_json(const json_t *json, struct device_info *info, struct error *err)
{
    *info = (struct device_info){.extensions = NULL};
    if (!json_is_object(json))
        return error_set(err, CODE_INVALID, 0, "a device description is no JSON object");
    char *base = (char *)info;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        enum code code = read_text(json, &texts[i], base, err);
        if (code != CODE_OK)
            return code;
    }
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        const json_t *value = json_object_get(json, flags[i].name);
        if (value != NULL && !json_is_boolean(value))
            return bad(flags[i].name, "true or false", err);
        bool flag = json_is_true(value);
        memcpy(base + flags[i].offset, &flag, sizeof flag);
    }
    enum code code = read_type(json, &info->type, err);
    if (code == CODE_OK)
        code = read_numbers(json, base, err);
    if (code == CODE_OK)
        code = read_group_size(json, info, err);
    if (code != CODE_OK)
        return code;
    info->extensions = text_duplicate(json_string_value(json_object_get(json, "extensions")));
    return CODE_OK;
}

static json_t *driver_json(const struct inventory_driver *driver)
{
    json_t *json = json_object();
    json_object_set_new(json, "backend", text_json(driver->backend));
    json_object_set_new(json, "name", text_json(driver->name));
    json_object_set_new(json, "library", text_json(driver->library));
    json_object_set_new(json, "file", text_json(driver->file));
    json_object_set_new(json, "platform", text_json(driver->platform));
    json_object_set_new(json, "state", json_string(driver_state_name(driver->state)));
    json_object_set_new(json, "reason", text_json(driver->reason));
    json_object_set_new(json, "devices", json_integer((json_int_t)driver->device_count));
    return json;
}

json_t *inventory_to_json(const struct inventory *inventory)
{
    json_t *drivers = json_array();
    for (size_t i = 0; i < inventory->driver_count; i++)
        json_array_append_new(drivers, driver_json(&inventory->drivers[i]));
    json_t *devices = json_array();
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct inventory_device *device = &inventory->devices[i];
        json_t *json = device_info_to_json(&device->info);
        json_t *notes = json_array();
        if (device->note[0] != '\0')
            json_array_append_new(notes, text_json(device->note));
        json_object_set_new(json, "physical", text_json(device->physical));
        json_object_set_new(json, "duplicate", json_boolean(device->duplicate));
        json_object_set_new(json, "notes", notes);
        json_array_append_new(devices, json);
    }
    json_t *json = json_object();
    json_object_set_new(json, "loader", text_json(inventory->loader));
    json_object_set_new(json, "drivers", drivers);
    json_object_set_new(json, "devices", devices);
    return json;
}
