/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay devices`: every device that can be measured, which entries are one physical thing, and
 * every driver that gives none, with the reason. */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"

#include "base/log.h"
#include "base/quantity.h"
#include "base/text.h"
#include "harness/inventory.h"
#include "harness/inventory_parts.h"
#include "harness/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct command command_devices;

static const char *type_shown(const struct inventory *inventory,
                              const struct inventory_device *device)
{
    if (strcmp(inventory->drivers[device->driver].backend, "host") == 0)
        return "CPU (host)";
    switch (device->info.type) {
    case DEVICE_CPU:
        return "CPU (software)";
    case DEVICE_GPU:
        return device->info.software ? "GPU (software)" : "GPU";
    case DEVICE_ACCELERATOR:
        return "accelerator";
    case DEVICE_OTHER:
        break;
    }
    return "other";
}

static void add_row(struct table *table, const struct inventory *inventory,
                    const struct inventory_device *device)
{
    const struct device_info *info = &device->info;
    char units[16] = "?", memory[QUANTITY_BYTES] = "?";
    if (info->compute_units > 0)
        snprintf(units, sizeof units, "%u", (unsigned)info->compute_units);
    if (info->memory_bytes > 0)
        quantity_format_bytes(info->memory_bytes, memory);
    const char *cells[] = {
        info->id,
        type_shown(inventory, device),
        info->name,
        info->driver[0] != '\0' ? info->driver : "?",
        units,
        memory,
        device->physical[0] != '\0' ? device->physical : "unknown",
        device->note,
    };
    table_row(table, cells);
}

static void write_table(const struct inventory *inventory, struct text *out)
{
    static const struct table_column columns[] = {
        {.title = "ID"},
        {.title = "TYPE"},
        {.title = "NAME", .shrinks = true},
        {.title = "DRIVER", .shrinks = true},
        {.title = "UNITS", .align = TABLE_RIGHT},
        {.title = "MEMORY", .align = TABLE_RIGHT},
        {.title = "PHYSICAL"},
        {.title = "NOTE", .shrinks = true},
    };
    struct table *table = table_create(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < inventory->device_count; i++)
        add_row(table, inventory, &inventory->devices[i]);
    table_write(table, terminal_width(STDOUT_FILENO), out);
    table_destroy(table);
}

/* One line for each driver that gives nothing of its own. */
static void write_drivers(const struct inventory *inventory, struct text *out)
{
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const struct inventory_driver *driver = &inventory->drivers[i];
        if (driver->state == DRIVER_OK)
            continue;
        text_printf(out, "%s:%s  %s: %s\n", driver->backend, driver->name,
                    driver_state_name(driver->state), driver->reason);
    }
}

static void write_json(const struct inventory *inventory, struct text *out)
{
    json_t *json = inventory_to_json(inventory);
    char *bytes = json_dumps(json, JSON_INDENT(2));
    if (bytes != NULL)
        text_printf(out, "%s\n", bytes);
    free(bytes);
    json_decref(json);
}

static int show(bool as_json)
{
    process_catch_signals();
    struct inventory *inventory = NULL;
    struct error err = {0};
    if (inventory_load(&inventory, &err) != CODE_OK)
        return command_fail(&err);
    bool any = inventory_has_accelerator(inventory);
    struct text out = {0};
    if (as_json)
        write_json(inventory, &out);
    else
        write_table(inventory, &out);
    if (!as_json && any)
        write_drivers(inventory, &out);
    fputs(text_string(&out), stdout);
    text_clear(&out);
    if (any && hint_cache(&out)) /* it lists devices and fails later */
        log_warning("PoCL, where a device of it is used: %s", text_string(&out));
    text_clear(&out);
    int exit_code = EXIT_OK;
    if (!any) {
        inventory_explain(inventory, &out);
        error_set(&err, CODE_NOTHING, 0, "no accelerator device: %s", text_string(&out));
        exit_code = command_fail(&err);
    }
    text_release(&out);
    inventory_destroy(inventory);
    return exit_code;
}

static int run(int argc, char **argv)
{
    bool json = false;
    int exit_code = options_parse_json(&command_devices, argc, argv, &json);
    return exit_code == EXIT_OK ? show(json) : exit_code;
}

const struct command command_devices = {
    .name = "devices",
    .usage = "assay devices [--json]",
    .summary = "list the devices that can be measured, and the drivers that give none",
    .help = "Options:\n"
            "      --json  as JSON, with all that a device says of itself (docs/devices.md)\n"
            "\n"
            "Each driver library is loaded in a process of its own: one that crashes or hangs is a "
            "line below the\n"
            "table and hides no other. PHYSICAL tells which entries are one thing: 'uuid:…' or "
            "'pci:…' for a card,\n"
            "'cpu:0' for all that runs on the host's own cores, 'unknown' where the driver gives "
            "no identity.\n"
            "\n"
            "An ID is what 'assay run -d' takes; so are all, host, opencl, opencl:N, "
            "opencl:DRIVER, opencl:DRIVER:N,\n"
            "cpu, gpu, accelerator, and a part of a name that fits one device only.\n"
            "\n"
            "A driver gets 20 s to list its devices; ASSAY_LIST_TIMEOUT_MS sets another limit.\n"
            "\n"
            "Exit codes: 0 ok, 2 wrong usage, 3 no device but the host itself, 8 interrupted.\n",
    .run = run,
};
