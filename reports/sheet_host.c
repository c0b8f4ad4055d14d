/* SPDX-License-Identifier: Apache-2.0
 *
 * The sheet of a host (topology, memory, caches, what limits it) and that of a file. */
#include "reports/sheets.h"

#include "base/quantity.h"
#include "reports/labels.h"

#include <stdint.h>
#include <stdio.h>

/* One line for each kind of cache: "L2 4 × 1.00 MiB, 2 cpus each". */
static void write_caches(const json_t *caches, struct sheet *sheet)
{
    for (size_t i = 0; i < json_array_size(caches); i++) {
        const json_t *cache = json_array_get(caches, i);
        const char *name = json_string_value(json_object_get(cache, "name"));
        char size[LABEL_SIZE_BYTES], line[160];
        json_int_t bytes = json_integer_value(json_object_get(cache, "bytes"));
        label_size(bytes > 0 ? (uint64_t)bytes : 0, size);
        snprintf(line, sizeof line,
                 "%" JSON_INTEGER_FORMAT " × %s, %" JSON_INTEGER_FORMAT " cpus each",
                 json_integer_value(json_object_get(cache, "count")), size,
                 json_integer_value(json_object_get(cache, "cpus_each")));
        sheet_fact(sheet, name != NULL ? name : "Cache", line);
    }
}

static void write_nodes(const json_t *nodes, struct sheet *sheet)
{
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const json_t *memory = json_object_get(node, "memory_bytes");
        const char *cpus = json_string_value(json_object_get(node, "cpus"));
        char term[48], size[QUANTITY_BYTES];
        struct text line = {0};
        snprintf(term, sizeof term, "NUMA node %" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(node, "index")));
        if (json_is_integer(memory) && json_integer_value(memory) > 0)
            text_append(&line, quantity_format_bytes((uint64_t)json_integer_value(memory), size));
        else
            text_append(&line, "memory not told");
        text_printf(&line, ", cpus %s", cpus != NULL && cpus[0] != '\0' ? cpus : "none");
        sheet_fact(sheet, term, text_string(&line));
        text_release(&line);
    }
}

/* Accelerators only: a whole PCI tree is for `assay topology`. */
static void write_pci(const json_t *pci, struct sheet *sheet)
{
    for (size_t i = 0; i < json_array_size(pci); i++) {
        const json_t *item = json_array_get(pci, i);
        const json_t *node = json_object_get(item, "numa_node");
        const char *address = json_string_value(json_object_get(item, "address"));
        const char *name = json_string_value(json_object_get(item, "name"));
        if (!json_is_true(json_object_get(item, "accelerator")))
            continue;
        struct text term = {0}, line = {0};
        text_printf(&term, "PCI %s", address != NULL ? address : "unknown");
        text_append(&line, name != NULL ? name : "unnamed");
        if (json_is_integer(node))
            text_printf(&line, ", near NUMA node %" JSON_INTEGER_FORMAT, json_integer_value(node));
        sheet_fact(sheet, text_string(&term), text_string(&line));
        text_release(&term);
        text_release(&line);
    }
}

static void write_host(const json_t *host, struct sheet *sheet)
{
    const json_t *topology = json_object_get(host, "topology");
    sheet_text(sheet, "CPU", host, "cpu");
    sheet_count(sheet, "Packages", topology, "packages", "");
    sheet_count(sheet, "Cores", topology, "cores", "");
    sheet_count(sheet, "Hardware threads", topology, "pus", "");
    sheet_value(sheet, "CPUs allowed to the run", host, "allowed_cpus");
    sheet_value(sheet, "CPUs online", host, "online_cpus");
    sheet_bytes(sheet, "Memory", host, "memory_bytes");
    sheet_bytes(sheet, "Memory free at the start", host, "memory_free_bytes");
    write_caches(json_object_get(topology, "caches"), sheet);
    write_nodes(json_object_get(topology, "numa_nodes"), sheet);
    write_pci(json_object_get(topology, "pci"), sheet);
    sheet_text(sheet, "Operating system", host, "os");
    sheet_text(sheet, "Kernel", host, "kernel");
    sheet_text(sheet, "Host name", host, "hostname");
    sheet_text(sheet, "Frequency governor", host, "governor");
    sheet_value(sheet, "Turbo", host, "turbo");
    sheet_value(sheet, "Several threads a core (SMT)", host, "smt");
    sheet_text(sheet, "Virtual machine", host, "hypervisor");
    sheet_value(sheet, "Load before the start, 1 min", host, "load_1min");
    sheet_members(sheet, "Control group limits", json_object_get(host, "cgroup"));
}

static void write_noise(const struct result *result, struct sheet *sheet)
{
    char change[QUANTITY_BYTES];
    const char *text = quantity_format_change(result->noise, change);
    sheet_fact(sheet, "Spread of the machine's own speed during the run",
               result->noise > 0 ? text + (*text == '+' ? 1 : 0) : "unknown");
}

void sheet_host(const struct result *result, struct sheet *sheet)
{
    write_host(json_object_get(result->header, "host"), sheet);
    write_noise(result, sheet);
    const json_t *notes = json_object_get(json_object_get(result->header, "host"), "notes");
    for (size_t i = 0; i < json_array_size(notes); i++)
        sheet_fact(sheet, "Note", json_string_value(json_array_get(notes, i)));
    sheet_members(sheet, "Environment", json_object_get(result->header, "environment"));
}

void sheet_file(const struct result *result, struct sheet *sheet)
{
    const json_t *config = json_object_get(result->header, "config");
    const json_t *tool = json_object_get(result->header, "tool");
    sheet_fact(sheet, "File", result->path);
    sheet_text(sheet, "Measured", result->header, "created");
    sheet_text(sheet, "Run", result->header, "run");
    sheet_text(sheet, "Seed", result->header, "seed");
    sheet_text(sheet, "Config", config, "name");
    sheet_text(sheet, "Config path", config, "path");
    sheet_text(sheet, "Config SHA-256", config, "sha256");
    sheet_members(sheet, "Tool", tool);
    sheet_members(sheet, "Policy", json_object_get(result->header, "policy"));
    sheet_fact(sheet, "Complete",
               result->complete ? "yes"
               : result->torn   ? "no: the last line is cut short and was not used"
                                : "no");
}
