/* SPDX-License-Identifier: Apache-2.0
 *
 * The sheet of a device: what it says of itself, which clock and way of waiting were found good,
 * known limits. */
#include "reports/sheets.h"

#include "base/quantity.h"
#include "reports/labels.h"

static void write_identity(const struct matrix_column *column, struct sheet *sheet)
{
    const json_t *json = column->device->json;
    char kind[LABEL_KIND_BYTES];
    label_kind(column->device, kind);
    sheet_fact(sheet, "What it is", kind);
    sheet_text(sheet, "Name", json, "name");
    sheet_text(sheet, "Vendor", json, "vendor");
    sheet_text(sheet, "Platform", json, "platform");
    sheet_text(sheet, "Driver", json, "driver");
    sheet_text(sheet, "Interface", json, "api");
    sheet_text(sheet, "Physical device", json, "physical");
    sheet_text(sheet, "PCI address", json, "pci");
    sheet_text(sheet, "UUID", json, "uuid");
}

static const char *yes_or_no(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "not told";
}

static void write_abilities(const json_t *json, struct sheet *sheet)
{
    sheet_count(sheet, "Compute units", json, "compute_units", "");
    sheet_count(sheet, "Clock it states", json, "clock_mhz", "MHz");
    sheet_bytes(sheet, "Memory", json, "memory_bytes");
    sheet_bytes(sheet, "Largest buffer", json, "max_alloc_bytes");
    sheet_bytes(sheet, "Local memory", json, "local_bytes");
    sheet_bytes(sheet, "Cache", json, "cache_bytes");
    sheet_count(sheet, "Largest work-group", json, "max_group_items", "work-items");
    sheet_fact(sheet, "Shares memory with the host", yes_or_no(json, "unified_memory"));
    struct text types = {0};
    text_printf(&types, "f64 %s, f16 %s", yes_or_no(json, "has_f64"), yes_or_no(json, "has_f16"));
    sheet_fact(sheet, "Number types", text_string(&types));
    text_release(&types);
}

static void write_clock(const struct result_device *device, struct sheet *sheet)
{
    const json_t *clock = json_object_get(device->json, "clock");
    const json_t *slope = json_object_get(clock, "slope");
    struct text line = {0};
    text_printf(&line, "%s clock", device->clock != NULL ? device->clock : "unknown");
    if (device->clock_reason != NULL)
        text_printf(&line, ": %s", device->clock_reason);
    if (json_is_number(slope))
        text_printf(&line, "; device time over host time %.4f", json_number_value(slope));
    sheet_fact(sheet, "Clock used", text_string(&line));
    text_release(&line);
    sheet_count(sheet, "Step of the device's timer", device->json, "timer_step_ns", "ns");
}

static void write_wait(const json_t *json, struct sheet *sheet)
{
    const json_t *wait = json_object_get(json, "wait");
    const json_t *refused = json_object_get(wait, "refused");
    sheet_text(sheet, "Way of waiting", wait, "way");
    struct text line = {0};
    for (size_t i = 0; i < json_array_size(refused); i++) {
        const json_t *item = json_array_get(refused, i);
        const char *way = json_string_value(json_object_get(item, "way"));
        const char *reason = json_string_value(json_object_get(item, "reason"));
        text_printf(&line, "%s%s: %s", i > 0 ? "; " : "", way != NULL ? way : "unnamed",
                    reason != NULL ? reason : "no reason was recorded");
    }
    sheet_fact(sheet, "Ways of waiting refused", line.length > 0 ? text_string(&line) : "none");
    text_release(&line);
}

static void write_ceiling(const json_t *ceilings, const char *term, const char *member,
                          const char *unit, struct sheet *sheet)
{
    const json_t *value = json_object_get(ceilings, member);
    char rate[QUANTITY_BYTES];
    if (json_is_number(value))
        sheet_fact(sheet, term, quantity_format_si(json_number_value(value), unit, rate));
    else
        sheet_fact(sheet, term, "unknown");
}

static void write_limits(const json_t *json, struct sheet *sheet)
{
    const json_t *ceilings = json_object_get(json, "ceilings");
    const json_t *overhead = json_object_get(json, "overhead_ns");
    char time[QUANTITY_BYTES];
    sheet_fact(sheet, "Launch and wait",
               json_is_number(overhead)
                   ? quantity_format_duration(json_number_value(overhead), time)
                   : "not measured");
    write_ceiling(ceilings, "Memory ceiling", "bytes_per_s", "B/s", sheet);
    write_ceiling(ceilings, "Operations ceiling", "operations_per_s", "op/s", sheet);
    write_ceiling(ceilings, "Copy ceiling", "copy_bytes_per_s", "B/s", sheet);
    sheet_text(sheet, "Source of the ceilings", ceilings, "source");
}

static void write_notes(const json_t *json, struct sheet *sheet)
{
    const char *reason = json_string_value(json_object_get(json, "reason"));
    const json_t *notes = json_object_get(json, "notes");
    if (reason != NULL && reason[0] != '\0')
        sheet_fact(sheet, "Not opened", reason);
    for (size_t i = 0; i < json_array_size(notes); i++)
        sheet_fact(sheet, "Note", json_string_value(json_array_get(notes, i)));
}

void sheet_device(const struct matrix_column *column, struct sheet *sheet)
{
    const json_t *json = column->device->json;
    write_identity(column, sheet);
    write_clock(column->device, sheet);
    write_wait(json, sheet);
    write_limits(json, sheet);
    write_abilities(json, sheet);
    write_notes(json, sheet);
}
