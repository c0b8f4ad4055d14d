/* SPDX-License-Identifier: Apache-2.0
 *
 * The host as a block of a result's header: what it is and what this process may use of it, from
 * /proc and /sys. Unknown is null, never 0. Holds one name of the machine (hostname) and nothing
 * else that names a person, a site or one exemplar. */
#include "harness/host.h"

#include "base/quantity.h"
#include "harness/cgroup.h"
#include "harness/procfs.h"
#include "harness/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { VALUE_BYTES = 256, LIST_BYTES = 4096, CPUS_MAX = 8192 };

/* What the notes are drawn from. */
struct facts {
    uint64_t memory_bytes;              /* 0 unknown */
    uint64_t online_cpus, allowed_cpus; /* 0 unknown */
    double load;                        /* below 0 unknown */
    struct cgroup cgroup;
};

static json_t *text_or_null(const char *value)
{
    json_t *json = value[0] != '\0' ? json_string(value) : NULL;
    return json != NULL ? json : json_null();
}

static json_t *count_or_null(uint64_t count)
{
    return count > 0 && count <= INT64_MAX ? json_integer((json_int_t)count) : json_null();
}

/* CPUs in a kernel list ("0-3,8"), 0 if it is none; the first in *first. */
static uint64_t count_list(const char *list, uint64_t *first)
{
    uint64_t count = 0;
    const char *at = list;
    for (; *at != '\0'; at += *at == ',') {
        uint64_t begin = 0, end = 0;
        if (!procfs_number(at, &begin))
            return 0;
        end = begin;
        at += strspn(at, "0123456789");
        if (*at == '-') {
            if (!procfs_number(at + 1, &end) || end < begin)
                return 0;
            at += 1 + strspn(at + 1, "0123456789");
        }
        if (*at != ',' && *at != '\0')
            return 0;
        *first = count == 0 ? begin : *first;
        count += end - begin + 1;
    }
    return count;
}

static void describe_cpu(const char *root, json_t *json)
{
    /* x86, then the names that Arm, POWER and s390x kernels use. */
    static const char *const names[] = {"model name", "Model Name", "cpu", "Processor", "Hardware"};
    struct text text = {0};
    char value[VALUE_BYTES] = "";
    procfs_read(root, "/proc/cpuinfo", &text);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && value[0] == '\0'; i++)
        procfs_field(text_string(&text), names[i], value, sizeof value);
    json_object_set_new(json, "cpu", text_or_null(value));
    text_release(&text);
}

static void describe_system(const char *root, json_t *json)
{
    struct utsname system;
    bool known = uname(&system) >= 0;
    struct text text = {0};
    char value[VALUE_BYTES] = "";
    if (!procfs_read(root, "/etc/os-release", &text))
        procfs_read(root, "/usr/lib/os-release", &text);
    procfs_field(text_string(&text), "PRETTY_NAME", value, sizeof value);
    size_t length = strlen(value);
    if (length > 1 && value[0] == '"' && value[length - 1] == '"') {
        memmove(value, value + 1, length - 2);
        value[length - 2] = '\0';
    }
    json_object_set_new(json, "architecture", text_or_null(known ? system.machine : ""));
    json_object_set_new(json, "os", text_or_null(value));
    json_object_set_new(json, "kernel", text_or_null(known ? system.release : ""));
    json_object_set_new(json, "hostname", text_or_null(known ? system.nodename : ""));
    text_release(&text);
}

/* "MemTotal:  23456 kB", where kB is 1024 bytes (proc(5)). */
static uint64_t meminfo_bytes(const char *meminfo, const char *name)
{
    char value[VALUE_BYTES];
    uint64_t kib = 0;
    if (!procfs_field(meminfo, name, value, sizeof value) || !procfs_number(value, &kib) ||
        kib > UINT64_MAX / 1024)
        return 0;
    return kib * 1024;
}

uint64_t host_free_memory_bytes(const char *root)
{
    struct text text = {0};
    procfs_read(root, "/proc/meminfo", &text);
    uint64_t bytes = meminfo_bytes(text_string(&text), "MemAvailable");
    text_release(&text);
    return bytes;
}

static void describe_memory(const char *root, struct facts *facts, json_t *json)
{
    struct text text = {0};
    procfs_read(root, "/proc/meminfo", &text);
    facts->memory_bytes = meminfo_bytes(text_string(&text), "MemTotal");
    json_object_set_new(json, "memory_bytes", count_or_null(facts->memory_bytes));
    json_object_set_new(json, "memory_free_bytes", count_or_null(host_free_memory_bytes(root)));
    text_release(&text);
}

static void describe_cpus(const char *root, struct facts *facts, json_t *json)
{
    char list[LIST_BYTES] = "";
    struct text status = {0};
    uint64_t first = 0;
    if (procfs_line(root, "/sys/devices/system/cpu/online", list, sizeof list))
        facts->online_cpus = count_list(list, &first);
    json_object_set_new(json, "online_cpus", count_or_null(facts->online_cpus));
    list[0] = '\0';
    procfs_read(root, "/proc/self/status", &status);
    if (procfs_field(text_string(&status), "Cpus_allowed_list", list, sizeof list))
        facts->allowed_cpus = count_list(list, &first);
    json_object_set_new(json, "allowed_cpus", count_or_null(facts->allowed_cpus));
    json_object_set_new(json, "allowed_cpu_list",
                        text_or_null(facts->allowed_cpus > 0 ? list : ""));
    text_release(&status);
}

/* The governor of all CPUs, or all that there are: "mixed: performance, powersave". */
static void describe_governor(const char *root, const struct facts *facts, json_t *json)
{
    struct text seen = {0};
    char first[VALUE_BYTES] = "";
    bool mixed = false;
    for (uint64_t cpu = 0; cpu < facts->online_cpus && cpu < CPUS_MAX; cpu++) {
        char path[128], value[VALUE_BYTES];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
                 (unsigned)cpu);
        if (!procfs_line(root, path, value, sizeof value))
            continue;
        if (first[0] == '\0')
            snprintf(first, sizeof first, "%s", value);
        mixed = mixed || strcmp(first, value) != 0;
        if (seen.length == 0 || strstr(text_string(&seen), value) == NULL)
            text_printf(&seen, "%s%s", seen.length > 0 ? ", " : "mixed: ", value);
    }
    json_object_set_new(json, "governor", text_or_null(mixed ? text_string(&seen) : first));
    text_release(&seen);
}

/* A switch file that holds 0 or 1; inverted where the file says "off". */
static json_t *switch_or_null(const char *root, const char *path, bool inverted)
{
    char value[VALUE_BYTES];
    if (!procfs_line(root, path, value, sizeof value) ||
        (strcmp(value, "0") != 0 && strcmp(value, "1") != 0))
        return json_null();
    return json_boolean((value[0] == '1') != inverted);
}

static void describe_clocks(const char *root, json_t *json)
{
    json_t *turbo = switch_or_null(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", true);
    if (json_is_null(turbo))
        turbo = switch_or_null(root, "/sys/devices/system/cpu/cpufreq/boost", false);
    json_object_set_new(json, "turbo", turbo);
    json_object_set_new(json, "smt",
                        switch_or_null(root, "/sys/devices/system/cpu/smt/active", false));
}

double host_load_1min(const char *root)
{
    char value[VALUE_BYTES];
    if (!procfs_line(root, "/proc/loadavg", value, sizeof value) || value[0] < '0' ||
        value[0] > '9')
        return -1.0;
    double load = strtod(value, NULL); /* the program never sets a locale */
    return load < 1e9 ? load : -1.0;
}

static void describe_load(const char *root, struct facts *facts, json_t *json)
{
    facts->load = host_load_1min(root);
    json_object_set_new(json, "load_1min", facts->load >= 0 ? json_real(facts->load) : json_null());
}

/* The signature of a hypervisor that shows no firmware tables ("KVMKVMKVM"): leaf 0x40000000 (Intel
 * SDM and the hypervisors' own documents agree on it). Empty on other machines. */
static void hypervisor_signature(char signature[13])
{
    signature[0] = '\0';
#if defined(__x86_64__)
    unsigned leaf = 0, words[3] = {0};
    __cpuid(0x40000000, leaf, words[0], words[1], words[2]);
    if (leaf >= 0x40000000)
        memcpy(signature, words, sizeof words);
    signature[12] = '\0';
    text_make_printable(signature);
#endif
}

/* "none" only where the CPU would say so: the flag exists on x86 alone. */
static void describe_hypervisor(const char *root, json_t *json)
{
    char value[2 * VALUE_BYTES] = "", product[VALUE_BYTES] = "";
    struct text text = {0};
    char *flags = memory_zeroed(LIST_BYTES, 1);
    procfs_read(root, "/proc/cpuinfo", &text);
    bool has_flags = procfs_field(text_string(&text), "flags", flags, LIST_BYTES - 1);
    strcat(flags, " ");
    bool present = has_flags && strstr(flags, " hypervisor ") != NULL;
    if (!procfs_line(root, "/sys/hypervisor/type", value, VALUE_BYTES) && present) {
        procfs_line(root, "/sys/class/dmi/id/sys_vendor", value, VALUE_BYTES);
        if (procfs_line(root, "/sys/class/dmi/id/product_name", product, sizeof product))
            snprintf(value + strlen(value), sizeof value - strlen(value), "%s%s",
                     value[0] != '\0' ? " " : "", product);
        char signature[13] = "";
        if (value[0] == '\0' && root[0] == '\0')
            hypervisor_signature(signature);
        if (value[0] == '\0')
            snprintf(value, sizeof value, "%s",
                     signature[0] != '\0' ? signature : "present, name unknown");
    } else if (value[0] == '\0' && has_flags) {
        snprintf(value, sizeof value, "none");
    }
    json_object_set_new(json, "hypervisor", text_or_null(value));
    free(flags);
    text_release(&text);
}

static json_t *version_or_null(int version)
{
    return version > 0 ? json_integer(version) : json_null();
}

static void describe_cgroup(const char *root, struct facts *facts, json_t *json)
{
    struct cgroup *cgroup = &facts->cgroup;
    cgroup_read(root, cgroup);
    if (cgroup->cpu_version == 0 && cgroup->memory_version == 0) {
        json_object_set_new(json, "cgroup", json_null());
        return;
    }
    json_t *block = json_object();
    json_object_set_new(block, "cpu_version", version_or_null(cgroup->cpu_version));
    json_object_set_new(block, "cpu_path", text_or_null(cgroup->cpu_path));
    json_object_set_new(block, "cpu_quota",
                        cgroup->cpu_quota > 0 ? json_real(cgroup->cpu_quota) : json_null());
    json_object_set_new(block, "memory_version", version_or_null(cgroup->memory_version));
    json_object_set_new(block, "memory_path", text_or_null(cgroup->memory_path));
    json_object_set_new(block, "memory_limit_bytes", count_or_null(cgroup->memory_bytes));
    json_object_set_new(json, "cgroup", block);
}

/* A container's /proc may be made up, and hot-plugged memory may be missing in one of the two. */
static void note_memory(json_t *notes, const struct facts *facts, const struct topology *topology)
{
    uint64_t nodes = topology != NULL ? topology_memory_bytes(topology) : 0;
    uint64_t known = facts->memory_bytes;
    if (nodes == 0 || known == 0 || (nodes / 10 * 9 <= known && known / 10 * 9 <= nodes))
        return;
    char shown[QUANTITY_BYTES], shown_nodes[QUANTITY_BYTES];
    json_array_append_new(notes,
                          json_sprintf("/proc/meminfo tells %s of memory, the NUMA nodes have %s",
                                       quantity_format_bytes(known, shown),
                                       quantity_format_bytes(nodes, shown_nodes)));
}

static void add_note(json_t *notes, const struct text *note)
{
    json_array_append_new(notes, json_string(text_string(note)));
}

static json_t *notes_of(const struct facts *facts, const struct topology *topology)
{
    json_t *notes = json_array();
    struct text note = {0};
    const struct cgroup *cgroup = &facts->cgroup;
    if (facts->allowed_cpus > 0 && facts->allowed_cpus < facts->online_cpus) {
        text_printf(&note, "%llu of %llu online CPUs allowed to this process",
                    (unsigned long long)facts->allowed_cpus,
                    (unsigned long long)facts->online_cpus);
        add_note(notes, &note);
    }
    if (cgroup->cpu_quota > 0 &&
        (facts->allowed_cpus == 0 || cgroup->cpu_quota < (double)facts->allowed_cpus)) {
        text_clear(&note);
        text_printf(&note, "cgroup quota of %.2f CPUs on %llu allowed", cgroup->cpu_quota,
                    (unsigned long long)facts->allowed_cpus);
        add_note(notes, &note);
    }
    if (cgroup->memory_bytes > 0 &&
        (facts->memory_bytes == 0 || cgroup->memory_bytes < facts->memory_bytes)) {
        char limit[QUANTITY_BYTES];
        text_clear(&note);
        text_printf(&note, "cgroup memory limit of %s",
                    quantity_format_bytes(cgroup->memory_bytes, limit));
        add_note(notes, &note);
    }
    note_memory(notes, facts, topology);
    if (facts->load >= 0.5) {
        text_clear(&note);
        text_printf(&note, "load of %.2f before the start", facts->load);
        add_note(notes, &note);
    }
    for (size_t i = 0; topology != NULL && topology_warning(topology, i) != NULL; i++)
        json_array_append_new(notes, json_string(topology_warning(topology, i)));
    if (topology == NULL)
        json_array_append_new(notes, json_string("the topology could not be read"));
    text_release(&note);
    return notes;
}

json_t *host_describe_at(const char *root, const struct topology *topology)
{
    struct facts facts = {0};
    json_t *json = json_object();
    describe_cpu(root, json);
    describe_system(root, json);
    describe_memory(root, &facts, json);
    describe_cpus(root, &facts, json);
    describe_governor(root, &facts, json);
    describe_clocks(root, json);
    describe_cgroup(root, &facts, json);
    describe_load(root, &facts, json);
    describe_hypervisor(root, json);
    json_object_set_new(json, "notes", notes_of(&facts, topology));
    json_object_set_new(json, "topology", topology != NULL ? topology_json(topology) : json_null());
    return json;
}

json_t *host_describe(const struct topology *topology)
{
    return host_describe_at("", topology);
}

bool host_device_note(const json_t *host, const struct device_info *device,
                      char note[HOST_NOTE_BYTES])
{
    note[0] = '\0';
    if (!device->software || device->compute_units == 0)
        return false;
    json_int_t allowed = json_integer_value(json_object_get(host, "allowed_cpus"));
    double quota = json_number_value(json_object_get(json_object_get(host, "cgroup"), "cpu_quota"));
    const char *units = device->compute_units == 1 ? "" : "s";
    if (allowed > 0 && (json_int_t)device->compute_units > allowed)
        snprintf(note, HOST_NOTE_BYTES, "%u compute unit%s on %lld allowed CPU%s",
                 device->compute_units, units, (long long)allowed, allowed == 1 ? "" : "s");
    else if (quota > 0 && (double)device->compute_units > quota)
        snprintf(note, HOST_NOTE_BYTES, "%u compute unit%s on a cgroup quota of %.2f CPUs",
                 device->compute_units, units, quota);
    return note[0] != '\0';
}
