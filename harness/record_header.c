/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of the header, resume and end lines of a result, as tables of members; the same as
 * docs/schemas/, which the sample files hold together. */
#include "harness/record_kinds.h"

#include <stdio.h>
#include <string.h>

static enum code check_device_clock(const struct place *place, size_t index, const json_t *device)
{
    static const struct member members[] = {
        {"source", KIND_TEXT},
        {"reason", KIND_TEXT | KIND_NULL | KIND_OPTIONAL},
        {"slope", KIND_NUMBER | KIND_NULL | KIND_OPTIONAL},
        {NULL, 0},
    };
    const json_t *clock = schema_present(device, "clock");
    if (clock == NULL)
        return CODE_OK;
    char inner[PLACE_PATH_BYTES];
    snprintf(inner, sizeof inner, "$.devices[%zu].clock", index);
    enum code code = schema_check_members(place, inner, clock, members);
    if (code != CODE_OK)
        return code;
    return schema_check_one_of(place, inner, json_object_get(clock, "source"), schema_clock_names);
}

static enum code check_device(const struct place *place, size_t index, const json_t *device)
{
    enum { TEXT = KIND_TEXT, MAYBE = KIND_NULL | KIND_OPTIONAL };
    static const struct member members[] = {
        {"id", TEXT},
        {"name", TEXT},
        {"vendor", TEXT | MAYBE},
        {"driver", TEXT | MAYBE},
        {"api", TEXT | MAYBE},
        {"platform", TEXT | MAYBE},
        {"type", TEXT},
        {"software", KIND_BOOL},
        {"pci", TEXT | KIND_NULL},
        {"uuid", TEXT | KIND_NULL},
        {"physical", TEXT | KIND_NULL},
        {"compute_units", KIND_COUNT | MAYBE},
        {"clock_mhz", KIND_NUMBER | MAYBE},
        {"memory_bytes", KIND_COUNT | MAYBE},
        {"max_alloc_bytes", KIND_COUNT | MAYBE},
        {"local_bytes", KIND_COUNT | MAYBE},
        {"cache_bytes", KIND_COUNT | MAYBE},
        {"max_group_items", KIND_COUNT | MAYBE},
        {"timer_step_ns", KIND_NUMBER | MAYBE},
        {"has_f64", KIND_BOOL | MAYBE},
        {"has_f16", KIND_BOOL | MAYBE},
        {"unified_memory", KIND_BOOL | MAYBE},
        {"clock", KIND_OBJECT | MAYBE},
        {"wait", KIND_OBJECT | MAYBE},
        {"overhead_ns", KIND_NUMBER | MAYBE},
        {"ceilings", KIND_OBJECT | MAYBE},
        {"reason", TEXT | MAYBE},
        {"notes", KIND_LIST | MAYBE},
        {NULL, 0},
    };
    static const char *const types[] = {"cpu", "gpu", "accelerator", "other", NULL};
    char path[PLACE_PATH_BYTES];
    snprintf(path, sizeof path, "$.devices[%zu]", index);
    enum code code = schema_check_members(place, path, device, members);
    if (code != CODE_OK)
        return code;
    code = check_device_clock(place, index, device);
    if (code != CODE_OK)
        return code;
    snprintf(path, sizeof path, "$.devices[%zu].type", index);
    return schema_check_one_of(place, path, json_object_get(device, "type"), types);
}

static enum code check_schema_number(const struct place *place, const json_t *header)
{
    const json_t *schema = json_object_get(header, "schema");
    if (schema == NULL)
        return place_error(place, "$.schema: is missing: this tool reads schema %d", RECORD_SCHEMA);
    if (json_is_integer(schema) && json_integer_value(schema) == RECORD_SCHEMA)
        return CODE_OK;
    char found[VALUE_TEXT_BYTES];
    schema_value_text(schema, found);
    return place_error(place, "$.schema: schema %s: this tool reads schema %d", found,
                       RECORD_SCHEMA);
}

static enum code check_devices(const struct place *place, const json_t *header)
{
    const json_t *devices = json_object_get(header, "devices");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        enum code code = check_device(place, i, json_array_get(devices, i));
        if (code != CODE_OK)
            return code;
        const char *id = json_string_value(json_object_get(json_array_get(devices, i), "id"));
        for (size_t j = 0; j < i; j++) {
            const json_t *other = json_object_get(json_array_get(devices, j), "id");
            if (strcmp(id, json_string_value(other)) == 0)
                return place_error(place, "$.devices[%zu].id: '%s' is also $.devices[%zu].id", i,
                                   id, j);
        }
    }
    return CODE_OK;
}

static enum code check_planned(const struct place *place, const json_t *header)
{
    static const struct member members[] = {{"case", KIND_TEXT}, {"device", KIND_TEXT}, {NULL, 0}};
    const json_t *planned = json_object_get(header, "planned");
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < json_array_size(planned); i++) {
        char path[PLACE_PATH_BYTES];
        snprintf(path, sizeof path, "$.planned[%zu]", i);
        code = schema_check_members(place, path, json_array_get(planned, i), members);
    }
    return code;
}

enum code schema_check_header(const struct place *place, const json_t *header)
{
    static const struct member members[] = {
        {"tool", KIND_OBJECT},  {"created", KIND_TEXT},       {"run", KIND_TEXT},
        {"seed", KIND_TEXT},    {"config", KIND_OBJECT},      {"policy", KIND_OBJECT},
        {"host", KIND_OBJECT},  {"environment", KIND_OBJECT}, {"devices", KIND_LIST},
        {"planned", KIND_LIST}, {"previous", KIND_NULL},      {NULL, 0},
    };
    static const struct member tool[] = {{"name", KIND_TEXT},
                                         {"version", KIND_TEXT},
                                         {"build", KIND_TEXT | KIND_OPTIONAL},
                                         {NULL, 0}};
    enum code code = check_schema_number(place, header);
    if (code == CODE_OK)
        code = schema_check_members(place, "$", header, members);
    if (code == CODE_OK)
        code = schema_check_members(place, "$.tool", json_object_get(header, "tool"), tool);
    if (code == CODE_OK)
        code = check_devices(place, header);
    if (code == CODE_OK)
        code = check_planned(place, header);
    return code;
}

enum code schema_check_resume(const struct place *place, const json_t *resume)
{
    static const struct member members[] = {
        {"created", KIND_TEXT}, {"tool", KIND_OBJECT}, {NULL, 0}};
    return schema_check_members(place, "$", resume, members);
}

enum code schema_check_end(const struct place *place, const json_t *end)
{
    static const struct member members[] = {{"complete", KIND_BOOL},
                                            {"reason", KIND_TEXT | KIND_NULL},
                                            {"records", KIND_COUNT},
                                            {"created", KIND_TEXT},
                                            {NULL, 0}};
    return schema_check_members(place, "$", end, members);
}
