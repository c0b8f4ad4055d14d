/* SPDX-License-Identifier: Apache-2.0
 *
 * The header line of a result file (docs/formats.md): tool, config, policy, host, environment,
 * devices with their audits, and what is planned. No user name and no home path gets into it. */
#define _DEFAULT_SOURCE /* getentropy */
#include "harness/run_parts.h"

#include "harness/host.h"

#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Variables that change what drivers and runtimes do. */
static const char *const kept_prefixes[] = {
    "OCL_ICD_",
    "OPENCL_",
    "POCL_",
    "RUSTICL_",
    "MESA_",
    "LP_",
    "GALLIUM_",
    "LIBGL_",
    "CUDA_",
    "NVIDIA_",
    "OMP_",
    "GOMP_",
    "KMP_",
    "OPENBLAS_",
    "MKL_",
    "BLIS_",
    "HSA_",
    "ROCR_",
    "HIP_",
    "GPU_",
    "AMD_",
    "SYCL_",
    "ZE_",
    "ASSAY_",
    "MALLOC_",
    "HWLOC_",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "SLURM_CPUS_PER_TASK",
};

/* The value with the home directory written as '~'. */
static json_t *without_home(const char *value)
{
    const char *home = getenv("HOME");
    size_t length = home != NULL ? strlen(home) : 0;
    struct text text = {0};
    while (*value != '\0') {
        if (length > 1 && strncmp(value, home, length) == 0) {
            text_append(&text, "~");
            value += length;
        } else {
            text_append_bytes(&text, value++, 1);
        }
    }
    size_t bad;
    json_t *json = text_is_utf8(text_string(&text), text.length, &bad)
                       ? json_string(text_string(&text))
                       : json_string("(not UTF-8)");
    text_release(&text);
    return json;
}

static json_t *environment_json(void)
{
    json_t *environment = json_object();
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        for (size_t i = 0; equals != NULL && i < sizeof kept_prefixes / sizeof kept_prefixes[0];
             i++) {
            if (!text_starts_with(*entry, kept_prefixes[i]))
                continue;
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)(equals - *entry), *entry);
            json_object_set_new(environment, name, without_home(equals + 1));
            break;
        }
    }
    return environment;
}

static json_t *policy_full_json(const struct policy *policy)
{
    return json_pack("{s:I,s:I,s:I,s:f,s:I,s:I,s:I,s:f}", "rounds_min",
                     (json_int_t)policy->rounds_min, "rounds_max", (json_int_t)policy->rounds_max,
                     "samples_min", (json_int_t)policy->samples_min, "interval", policy->interval,
                     "budget_ns", (json_int_t)policy->budget_ns, "warmup_ns",
                     (json_int_t)policy->warmup_ns, "step_timeout_ns",
                     (json_int_t)policy->step_timeout_ns, "difference", policy->difference);
}

static json_t *number_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *ceilings_json(const struct run *run, const struct lane *lane)
{
    bool known = lane->device->info.type == DEVICE_CPU && run->ceilings.operations_per_s > 0;
    return json_pack("{s:o,s:o,s:s?}", "operations_per_s",
                     known ? number_or_null(run->ceilings.operations_per_s) : json_null(),
                     "bytes_per_s", known ? number_or_null(run->ceilings.bytes_per_s) : json_null(),
                     "source", known ? "measured on all cores of the host" : NULL);
}

static json_t *device_json(const struct run *run, const struct lane *lane, const json_t *host)
{
    json_t *device = device_info_to_json(&lane->device->info);
    const char *physical = lane->device->physical;
    json_object_set_new(device, "physical",
                        physical[0] != '\0' ? json_string(physical) : json_null());
    static const char *const from_audit[] = {"clock", "wait", "overhead_ns"};
    for (size_t i = 0; i < sizeof from_audit / sizeof from_audit[0]; i++) {
        json_t *value = lane->audit != NULL ? json_object_get(lane->audit, from_audit[i]) : NULL;
        json_object_set_new(device, from_audit[i],
                            value != NULL ? json_incref(value) : json_null());
    }
    json_object_set_new(device, "ceilings", ceilings_json(run, lane));
    json_object_set_new(device, "reason", lane->closed ? json_string(lane->reason) : json_null());
    json_t *notes = json_array();
    if (lane->device->note[0] != '\0')
        json_array_append_new(notes, json_string(lane->device->note));
    char note[HOST_NOTE_BYTES];
    if (host_device_note(host, &lane->device->info, note))
        json_array_append_new(notes, json_string(note));
    json_object_set_new(device, "notes", notes);
    return device;
}

static json_t *planned_json(const struct run *run)
{
    json_t *planned = json_array();
    const struct config *config = run->options->config;
    for (size_t c = 0; c < config->case_count; c++) {
        char key[CASE_KEY_BYTES];
        case_key(&config->cases[c], key);
        for (size_t i = 0; i < run->lane_count; i++)
            json_array_append_new(planned, json_pack("{s:s,s:s}", "case", key, "device",
                                                     run->lanes[i].device->info.id));
    }
    return planned;
}

/* The machine; with redaction its name is a pseudonym that stays the same for the same name. */
static json_t *host_json(const struct run *run, const struct topology *topology)
{
    json_t *host = host_describe(topology);
    const char *name = json_string_value(json_object_get(host, "hostname"));
    if (run->options->redact && name != NULL) {
        char hex[SHA256_HEX_BYTES], pseudonym[24];
        text_sha256(name, strlen(name), hex);
        snprintf(pseudonym, sizeof pseudonym, "host-%.12s", hex);
        json_object_set_new(host, "hostname", json_string(pseudonym));
    }
    return host;
}

static json_t *config_json(const struct run *run)
{
    const struct config *config = run->options->config;
    struct text resolved = {0};
    config_resolved(config, &resolved);
    const char *slash = strrchr(config->path, '/');
    const char *path = run->options->redact && slash != NULL ? slash + 1 : config->path;
    json_t *json = json_pack("{s:s,s:o,s:s,s:s}", "name", config->name, "path", without_home(path),
                             "sha256", config->sha256, "resolved", text_string(&resolved));
    text_release(&resolved);
    return json;
}

json_t *run_header(const struct run *run, const struct topology *topology)
{
    unsigned char random[16] = {0};
    char name[sizeof random * 2 + 1], seed[32], stamp[CLOCK_STAMP_BYTES];
    if (getentropy(random, sizeof random) != 0)
        memcpy(random, &run->begin_ns, sizeof run->begin_ns);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(name + 2 * i, 3, "%02x", random[i]);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->options->seed);
    json_t *host = host_json(run, topology);
    json_t *devices = json_array();
    for (size_t i = 0; i < run->lane_count; i++)
        json_array_append_new(devices, device_json(run, &run->lanes[i], host));
    return json_pack("{s:s,s:i,s:{s:s,s:s,s:s},s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "kind",
                     "header", "schema", 1, "tool", "name", "assay", "version", ASSAY_VERSION,
                     "build", ASSAY_BUILD, "created", clock_stamp(stamp), "run", name, "seed", seed,
                     "config", config_json(run), "policy",
                     policy_full_json(&run->options->config->policy), "host", host, "environment",
                     environment_json(), "devices", devices, "planned", planned_json(run));
}
