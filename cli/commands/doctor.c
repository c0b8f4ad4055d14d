/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay doctor`: why is my card not listed? Each thing that devices need is looked at in turn and
 * said to be right or wrong, with what to do about it. Changes nothing on the machine. */
#include "cli/command.h"
#include "cli/options.h"

#include "base/text.h"
#include "harness/host.h"
#include "harness/inventory.h"
#include "harness/inventory_parts.h"
#include "harness/process.h"
#include "harness/scratch.h"
#include "harness/topology.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum finding { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };

extern const struct command command_doctor;

static const char *const finding_names[] = {
    [FINDING_OK] = "ok",
    [FINDING_NOTE] = "note",
    [FINDING_PROBLEM] = "problem",
};

/* Findings go into one JSON list, which both forms of output are made from. Empties the message. */
static void add(json_t *findings, const char *check, enum finding finding, struct text *message)
{
    char *copy = text_duplicate(text_string(message));
    text_make_printable(copy);
    json_array_append_new(findings, json_pack("{s:s,s:s,s:s}", "check", check, "state",
                                              finding_names[finding], "message", copy));
    free(copy);
    text_release(message);
}

static void check_loader(const struct inventory *inventory, json_t *findings)
{
    struct text message = {0};
    bool absent = inventory->loader[0] != '\0';
    text_append(&message, absent ? inventory->loader : "found");
    add(findings, "OpenCL loader", absent ? FINDING_PROBLEM : FINDING_OK, &message);
}

static void check_registration(const struct inventory *inventory, json_t *findings)
{
    size_t count = 0;
    for (size_t i = 0; i < inventory->driver_count; i++)
        count += strcmp(inventory->drivers[i].backend, "opencl") == 0 ? 1 : 0;
    struct text message = {0};
    if (count > 0)
        text_printf(&message, "%zu in ", count);
    else
        text_append(&message, "none in ");
    inventory_icd_places(&message);
    if (count == 0)
        text_append(&message,
                    ": install the card's OpenCL driver (nvidia-opencl-icd, intel-opencl-icd, "
                    "mesa-opencl-icd), or pocl-opencl-icd for the processor");
    add(findings, "registered OpenCL drivers", count > 0 ? FINDING_OK : FINDING_PROBLEM, &message);
}

static enum finding state_of(enum driver_state state)
{
    switch (state) {
    case DRIVER_OK:
        return FINDING_OK;
    case DRIVER_DUPLICATE:
        return FINDING_NOTE;
    case DRIVER_EMPTY:
    case DRIVER_CRASHED:
    case DRIVER_TIMEOUT:
    case DRIVER_FAILED:
        break;
    }
    return FINDING_PROBLEM;
}

static void check_drivers(const struct inventory *inventory, json_t *findings)
{
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const struct inventory_driver *driver = &inventory->drivers[i];
        struct text check = {0}, message = {0};
        text_printf(&check, "driver %s:%s", driver->backend, driver->name);
        if (driver->state == DRIVER_OK)
            text_printf(&message, "%zu device%s", driver->device_count,
                        driver->device_count == 1 ? "" : "s");
        else
            text_printf(&message, "%s: %s", driver_state_name(driver->state), driver->reason);
        if (driver->state != DRIVER_OK && driver->file[0] != '\0')
            text_printf(&message, " (registered by %s)", driver->file);
        add(findings, text_string(&check), state_of(driver->state), &message);
        text_release(&check);
    }
}

/* Drivers write compiled kernels to a cache; some list no device, or crash, where they cannot. */
static void check_cache(json_t *findings)
{
    struct text message = {0};
    struct error err = {0};
    char path[SCRATCH_PATH_BYTES];
    const char *chosen = getenv("POCL_CACHE_DIR");
    enum finding finding = FINDING_OK;
    if (hint_cache(&message)) {
        finding = FINDING_PROBLEM;
    } else if (chosen != NULL) {
        finding = FINDING_NOTE;
        text_printf(
            &message,
            "POCL_CACHE_DIR='%s' is used; unset it and each run gets an empty one of its own",
            chosen);
    } else if (scratch_create(path, &err) != CODE_OK) {
        finding = FINDING_PROBLEM;
        text_printf(&message, "%s; set TMPDIR to a directory that can be written", err.message);
    } else {
        text_append(&message, "each run gets one of its own, which is removed afterwards");
        scratch_remove(path);
    }
    add(findings, "kernel cache", finding, &message);
}

static size_t count_render_nodes(const char *place)
{
    size_t count = 0;
    DIR *directory = opendir(place);
    if (directory == NULL)
        return 0;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        count += text_starts_with(entry->d_name, "renderD") ? 1 : 0;
    closedir(directory);
    return count;
}

static void check_render_nodes(json_t *findings)
{
    struct text message = {0};
    enum finding finding = FINDING_PROBLEM;
    if (!hint_render_nodes(&message)) {
        size_t count = count_render_nodes(render_node_place());
        finding = count > 0 ? FINDING_OK : FINDING_NOTE;
        if (count > 0)
            text_printf(&message, "%zu in %s, readable and writable", count, render_node_place());
        else
            text_printf(&message,
                        "none in %s: GPUs with an open kernel driver (amdgpu, i915, xe, nouveau) "
                        "have one; in a "
                        "container it has to be passed through",
                        render_node_place());
    }
    add(findings, "render nodes", finding, &message);
}

static void check_limits(json_t *findings)
{
    struct text message = {0};
    bool limited = hint_limits(&message);
    if (!limited)
        text_append(&message, "no address space limit");
    add(findings, "memory limits", limited ? FINDING_NOTE : FINDING_OK, &message);
}

/* What affinity and quota leave of the host's cores; software devices run on them. */
static void check_host(const struct inventory *inventory, json_t *findings)
{
    struct topology *topology = NULL;
    struct error err = {0};
    struct text message = {0};
    if (topology_load(NULL, &topology, &err) != CODE_OK) {
        text_append(&message, err.message);
        add(findings, "host CPUs", FINDING_PROBLEM, &message);
        return;
    }
    json_t *host = host_describe(topology);
    size_t before = json_array_size(findings);
    size_t index = 0;
    const json_t *note = NULL;
    json_array_foreach(json_object_get(host, "notes"), index, note)
    {
        text_append(&message, json_string_value(note));
        add(findings, "host CPUs", FINDING_NOTE, &message);
    }
    for (size_t i = 0; i < inventory->device_count; i++) {
        char text[HOST_NOTE_BYTES];
        if (!host_device_note(host, &inventory->devices[i].info, text))
            continue;
        text_printf(&message, "%s: %s", inventory->devices[i].info.id, text);
        add(findings, "host CPUs", FINDING_NOTE, &message);
    }
    if (json_array_size(findings) == before) {
        text_append(&message, "all of them may be used");
        add(findings, "host CPUs", FINDING_OK, &message);
    }
    json_decref(host);
    topology_destroy(topology);
}

/* Variables that change which devices drivers show, and how. */
static bool changes_devices(const char *assignment)
{
    static const char *const beginnings[] = {
        "OCL_ICD_",
        "OPENCL_",
        "POCL_",
        "RUSTICL_",
        "CLOVER_",
        "MESA_",
        "GALLIUM_",
        "LIBGL_",
        "LP_",
        "CUDA_",
        "NVIDIA_",
        "ROCR_",
        "HIP_",
        "GPU_",
        "HSA_",
        "AMD_",
        "ZE_",
        "NEO",
        "CL_",
        "INTEL_",
        "OMP_",
        "LD_PRELOAD=",
        "LD_LIBRARY_PATH=",
        "KMP_",
        "GOMP_",
        "ASSAY_",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (text_starts_with(assignment, beginnings[i]))
            return true;
    return false;
}

static void check_environment(json_t *findings)
{
    size_t before = json_array_size(findings);
    struct text message = {0};
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        const char *value = strchr(*variable, '=');
        if (value == NULL || !changes_devices(*variable))
            continue;
        text_append_bytes(&message, *variable, (size_t)(value - *variable));
        text_printf(&message, "='%s' is set", value + 1);
        add(findings, "environment", FINDING_NOTE, &message);
    }
    if (json_array_size(findings) > before)
        return;
    text_append(&message, "no variable is set that changes devices");
    add(findings, "environment", FINDING_OK, &message);
}

static void write_findings(const json_t *findings, struct text *out)
{
    size_t index = 0;
    const json_t *finding = NULL;
    json_array_foreach(findings, index, finding)
    {
        text_printf(out, "%-8s %s: %s\n", json_string_value(json_object_get(finding, "state")),
                    json_string_value(json_object_get(finding, "check")),
                    json_string_value(json_object_get(finding, "message")));
    }
}

static size_t count_accelerators(const struct inventory *inventory)
{
    size_t count = 0;
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct inventory_device *device = &inventory->devices[i];
        count +=
            !device->duplicate && strcmp(inventory->drivers[device->driver].backend, "host") != 0
                ? 1
                : 0;
    }
    return count;
}

static void write_result(const struct inventory *inventory, json_t *findings, bool as_json,
                         struct text *out)
{
    size_t count = count_accelerators(inventory);
    if (as_json) {
        json_t *json = json_pack("{s:b,s:I,s:O}", "healthy", count > 0, "devices",
                                 (json_int_t)count, "findings", findings);
        char *bytes = json_dumps(json, JSON_INDENT(2));
        if (bytes != NULL)
            text_printf(out, "%s\n", bytes);
        free(bytes);
        json_decref(json);
        return;
    }
    write_findings(findings, out);
    if (count > 0)
        text_printf(out,
                    "\n%zu device%s can be measured beside the host: 'assay devices' lists them\n",
                    count, count == 1 ? "" : "s");
    else
        text_append(out, "\nno device can be measured but the host itself ('assay run -d host')\n");
}

static int diagnose(bool as_json)
{
    process_catch_signals();
    struct inventory *inventory = NULL;
    struct error err = {0};
    if (inventory_load(&inventory, &err) != CODE_OK)
        return command_fail(&err);
    json_t *findings = json_array();
    check_loader(inventory, findings);
    check_registration(inventory, findings);
    check_drivers(inventory, findings);
    check_cache(findings);
    check_render_nodes(findings);
    check_limits(findings);
    check_host(inventory, findings);
    check_environment(findings);
    struct text out = {0};
    write_result(inventory, findings, as_json, &out);
    fputs(text_string(&out), stdout);
    text_release(&out);
    int exit_code = EXIT_OK;
    if (!inventory_has_accelerator(inventory)) {
        inventory_explain(inventory, &out);
        error_set(&err, CODE_NOTHING, 0, "no accelerator device: %s", text_string(&out));
        exit_code = command_fail(&err);
        text_release(&out);
    }
    json_decref(findings);
    inventory_destroy(inventory);
    return exit_code;
}

static int run(int argc, char **argv)
{
    bool json = false;
    int exit_code = options_parse_json(&command_doctor, argc, argv, &json);
    return exit_code == EXIT_OK ? diagnose(json) : exit_code;
}

const struct command command_doctor = {
    .name = "doctor",
    .usage = "assay doctor [--json]",
    .summary = "why is my card not listed? Checks all that devices need, and says what to do",
    .help = "Options:\n"
            "      --json  as JSON: {\"healthy\", \"devices\", \"findings\": [{\"check\", "
            "\"state\", \"message\"}]}\n"
            "\n"
            "Checked in this order: the OpenCL loader, the registered drivers, each driver in a "
            "process of its own,\n"
            "the kernel cache, the rights on render nodes (/dev/dri, or ASSAY_DEV_DRI), memory "
            "limits, the CPUs that\n"
            "affinity and quotas leave, and the variables that change devices. Each line is ok, a "
            "note or a problem;\n"
            "a problem says what to do. Nothing is changed.\n"
            "\n"
            "Exit codes: 0 a device can be measured, 2 wrong usage, 3 none but the host itself, 8 "
            "interrupted.\n",
    .run = run,
};
