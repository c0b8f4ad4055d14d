/* SPDX-License-Identifier: Apache-2.0
 *
 * The host block and control groups, on small made-up /proc and /sys trees, and on this machine. */
#include "harness/cgroup.h"
#include "harness/host.h"
#include "harness/procfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILES_MAX = 32, PATH_BYTES = 512 };

/* A folder that stands for "/". */
struct root {
    char folder[64];
    char files[FILES_MAX][PATH_BYTES];
    size_t count;
};

static void root_open(struct root *root)
{
    *root = (struct root){.folder = "/tmp/assay-test-XXXXXX"};
    assert_non_null(mkdtemp(root->folder));
}

static void root_write(struct root *root, const char *path, const char *text)
{
    assert_true(root->count < FILES_MAX);
    char full[PATH_BYTES];
    snprintf(full, sizeof full, "%s%s", root->folder, path);
    memcpy(root->files[root->count++], full, sizeof full);
    for (char *slash = strchr(full + strlen(root->folder) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Removes the files and the folders that became empty. */
static void root_close(struct root *root)
{
    for (size_t i = 0; i < root->count; i++)
        unlink(root->files[i]);
    for (size_t i = 0; i < root->count; i++)
        for (char *slash = strrchr(root->files[i], '/');
             slash > root->files[i] + strlen(root->folder); slash = strrchr(root->files[i], '/')) {
            *slash = '\0';
            rmdir(root->files[i]);
        }
    assert_int_equal(rmdir(root->folder), 0);
}

static const char *string(const json_t *json, const char *name)
{
    return json_string_value(json_object_get(json, name));
}

static json_int_t integer(const json_t *json, const char *name)
{
    assert_true(json_is_integer(json_object_get(json, name)));
    return json_integer_value(json_object_get(json, name));
}

static bool has_note(const json_t *json, const char *note)
{
    size_t index = 0;
    const json_t *entry = NULL;
    json_array_foreach(json_object_get(json, "notes"), index,
                       entry) if (strcmp(json_string_value(entry), note) == 0) return true;
    return false;
}

static void write_machine(struct root *root)
{
    root_write(root, "/proc/cpuinfo",
               "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Example "
               "CPU @ 2.00GHz\n"
               "flags\t\t: fpu vme hypervisor avx\n\nprocessor\t: 1\nmodel name\t: Other\n");
    root_write(root, "/proc/meminfo",
               "MemTotal:       16384 kB\nMemFree:         1 kB\nMemAvailable:    8192 kB\n");
    root_write(root, "/proc/loadavg", "1.50 0.70 0.30 2/300 12345\n");
    root_write(root, "/proc/self/status",
               "Name:\tassay\nCpus_allowed:\t000f\nCpus_allowed_list:\t1-2,5\n");
    root_write(root, "/etc/os-release",
               "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 1 (first)\"\n");
    root_write(root, "/sys/devices/system/cpu/online", "0-3,5,7\n");
    root_write(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    root_write(root, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    root_write(root, "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
    root_write(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    root_write(root, "/sys/devices/system/cpu/smt/active", "1\n");
    root_write(root, "/sys/class/dmi/id/sys_vendor", "Example Cloud\n");
    root_write(root, "/sys/class/dmi/id/product_name", "m1.large\n");
    root_write(root, "/sys/class/dmi/id/product_serial", "SECRET-1\n");
    root_write(root, "/sys/class/net/eth0/address", "02:5e:c5:e7:00:01\n");
}

static void test_host_describe_fields(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    write_machine(&root);
    json_t *json = host_describe_at(root.folder, NULL);
    assert_string_equal(string(json, "cpu"), "Example CPU @ 2.00GHz");
    assert_string_equal(string(json, "os"), "Example Linux 1 (first)");
    assert_int_equal(integer(json, "memory_bytes"), 16384 * 1024);
    assert_int_equal(integer(json, "memory_free_bytes"), 8192 * 1024);
    assert_int_equal(integer(json, "online_cpus"), 6);
    assert_int_equal(integer(json, "allowed_cpus"), 3);
    assert_string_equal(string(json, "allowed_cpu_list"), "1-2,5");
    assert_string_equal(string(json, "governor"), "mixed: performance, powersave");
    assert_true(json_is_false(json_object_get(json, "turbo")));
    assert_true(json_is_true(json_object_get(json, "smt")));
    assert_string_equal(string(json, "hypervisor"), "Example Cloud m1.large");
    assert_true(json_real_value(json_object_get(json, "load_1min")) == 1.5);
    assert_true(json_is_null(json_object_get(json, "cgroup")));
    assert_true(has_note(json, "3 of 6 online CPUs allowed to this process"));
    assert_true(has_note(json, "load of 1.50 before the start"));
    char *dump = json_dumps(json, 0);
    assert_null(strstr(dump, "SECRET"));
    assert_null(strstr(dump, "5e:c5"));
    free(dump);
    json_decref(json);
    root_close(&root);
}

static void test_host_describe_unknown_is_null(void **state)
{
    (void)state;
    static const char *const names[] = {
        "cpu",         "os",           "memory_bytes",     "memory_free_bytes",
        "online_cpus", "allowed_cpus", "allowed_cpu_list", "governor",
        "turbo",       "smt",          "cgroup",           "load_1min",
        "hypervisor",  "topology"};
    struct root root;
    root_open(&root);
    for (int round = 0; round < 2; round++) {
        json_t *json = host_describe_at(root.folder, NULL);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (!json_is_null(json_object_get(json, names[i])))
                fail_msg("'%s' is not null", names[i]);
        json_decref(json);
        /* The second time with files that hold nothing of use. */
        root_write(&root, "/proc/meminfo", "MemTotal: lots\nMemTotalNot: 5 kB\n");
        root_write(&root, "/proc/loadavg", "nan\n");
        root_write(&root, "/proc/self/status", "Cpus_allowed_list:\t7-3\n");
        root_write(&root, "/sys/devices/system/cpu/online", "all\n");
        root_write(&root, "/sys/devices/system/cpu/smt/active", "yes\n");
        root_write(&root, "/proc/self/mountinfo", "\n - \n1 2 3 - cgroup2\n");
        root_write(&root, "/proc/self/cgroup", "0\n:\n0:\n");
    }
    root_close(&root);
}

static void test_host_describe_this_machine(void **state)
{
    (void)state;
    struct topology *topology = NULL;
    struct error err = {0};
    assert_int_equal(topology_load(NULL, &topology, &err), CODE_OK);
    json_t *json = host_describe(topology);
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    assert_string_equal(string(json, "hostname"), name);
    assert_int_equal(integer(json, "online_cpus"), sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(json_is_object(json_object_get(json, "topology")));
    /* The name of the machine stands in one member only. */
    json_object_del(json, "hostname");
    char *dump = json_dumps(json, 0);
    char quoted[300];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    assert_null(strstr(dump, quoted));
    free(dump);
    json_decref(json);
    topology_destroy(topology);
}

/* ---- control groups ---- */

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"

static void test_cgroup_read_v2_least_of_all_levels(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    root_write(&root, "/proc/self/mountinfo", "22 1 0:5 / /proc rw - proc proc rw\n" V2_MOUNT);
    root_write(&root, "/proc/self/cgroup", "0::/batch/job7\n");
    root_write(&root, "/sys/fs/cgroup/batch/job7/cpu.max", "400000 100000\n");
    root_write(&root, "/sys/fs/cgroup/batch/job7/memory.max", "max\n");
    root_write(&root, "/sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
    root_write(&root, "/sys/fs/cgroup/batch/memory.max", "1073741824\n");
    struct cgroup cgroup;
    cgroup_read(root.folder, &cgroup);
    assert_int_equal(cgroup.cpu_version, 2);
    assert_int_equal(cgroup.memory_version, 2);
    assert_string_equal(cgroup.cpu_path, "/batch/job7");
    assert_true(cgroup.cpu_quota == 1.5);
    assert_int_equal(cgroup.memory_bytes, 1 << 30);
    root_close(&root);
}

static void test_cgroup_read_v2_without_limits(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    root_write(&root, "/proc/self/mountinfo", V2_MOUNT);
    root_write(&root, "/proc/self/cgroup", "0::/\n");
    root_write(&root, "/sys/fs/cgroup/cpu.max", "max 100000\n");
    root_write(&root, "/sys/fs/cgroup/memory.max", "max\n");
    struct cgroup cgroup;
    cgroup_read(root.folder, &cgroup);
    assert_int_equal(cgroup.cpu_version, 2);
    assert_string_equal(cgroup.cpu_path, "/");
    assert_true(cgroup.cpu_quota == 0);
    assert_int_equal(cgroup.memory_bytes, 0);
    root_close(&root);
}

/* A container without a group namespace: the paths are the host's, the mounts show the container's
 * part. */
static void test_cgroup_read_v1_in_a_container(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    root_write(
        &root, "/proc/self/mountinfo",
        "40 30 0:27 /docker/ab /sys/fs/cgroup/cpu\\040set rw - cgroup cgroup rw,cpu,cpuacct\n"
        "41 30 0:28 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "42 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    root_write(&root, "/proc/self/cgroup",
               "5:cpu,cpuacct:/docker/ab\n4:memory:/docker/ab/in\n1:cpuset:/other\n0::/x\n");
    root_write(&root, "/sys/fs/cgroup/cpu set/cpu.cfs_quota_us", "50000\n");
    root_write(&root, "/sys/fs/cgroup/cpu set/cpu.cfs_period_us", "100000\n");
    root_write(&root, "/sys/fs/cgroup/memory/in/memory.limit_in_bytes", "9223372036854771712\n");
    root_write(&root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    struct cgroup cgroup;
    cgroup_read(root.folder, &cgroup);
    assert_int_equal(cgroup.cpu_version, 1);
    assert_string_equal(cgroup.cpu_path, "/docker/ab");
    assert_true(cgroup.cpu_quota == 0.5);
    assert_int_equal(cgroup.memory_version, 1);
    assert_string_equal(cgroup.memory_path, "/docker/ab/in");
    assert_int_equal(cgroup.memory_bytes, 512 << 20);
    root_close(&root);
}

static void test_cgroup_read_v1_without_limits(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    root_write(&root, "/proc/self/mountinfo",
               "40 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    root_write(&root, "/proc/self/cgroup", "5:cpu:/\n");
    root_write(&root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    root_write(&root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    struct cgroup cgroup;
    cgroup_read(root.folder, &cgroup);
    assert_int_equal(cgroup.cpu_version, 1);
    assert_true(cgroup.cpu_quota == 0);
    assert_int_equal(cgroup.memory_version, 0);
    root_close(&root);
}

/* "/../.." is how a group outside of the namespace is shown: no path to follow. */
static void test_cgroup_read_group_outside_of_the_namespace(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    root_write(&root, "/proc/self/mountinfo", V2_MOUNT);
    root_write(&root, "/proc/self/cgroup", "0::/../../other\n");
    root_write(&root, "/other/cpu.max", "1 100000\n");
    root_write(&root, "/sys/fs/cgroup/cpu.max", "200000 100000\n");
    struct cgroup cgroup;
    cgroup_read(root.folder, &cgroup);
    assert_true(cgroup.cpu_quota == 2.0);
    root_close(&root);
}

static void test_cgroup_read_period_zero(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    root_write(&root, "/proc/self/mountinfo", V2_MOUNT);
    root_write(&root, "/proc/self/cgroup", "0::/\n");
    root_write(&root, "/sys/fs/cgroup/cpu.max", "50000 0\n");
    struct cgroup cgroup;
    cgroup_read(root.folder, &cgroup);
    assert_true(cgroup.cpu_quota == 0);
    root_close(&root);
}

static void test_host_describe_notes_limits(void **state)
{
    (void)state;
    struct root root;
    root_open(&root);
    write_machine(&root);
    root_write(&root, "/proc/self/mountinfo", V2_MOUNT);
    root_write(&root, "/proc/self/cgroup", "0::/a\n");
    root_write(&root, "/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    root_write(&root, "/sys/fs/cgroup/a/memory.max", "8388608\n");
    json_t *json = host_describe_at(root.folder, NULL);
    assert_true(has_note(json, "cgroup quota of 0.50 CPUs on 3 allowed"));
    assert_true(has_note(json, "cgroup memory limit of 8.00 MiB"));
    const json_t *cgroup = json_object_get(json, "cgroup");
    assert_true(json_real_value(json_object_get(cgroup, "cpu_quota")) == 0.5);
    assert_int_equal(integer(cgroup, "memory_limit_bytes"), 8388608);
    json_decref(json);
    root_close(&root);
}

static void test_host_device_note(void **state)
{
    (void)state;
    static const struct {
        json_int_t allowed; /* 0: null */
        double quota;       /* 0: null */
        uint32_t units;
        bool software;
        const char *note;
    } cases[] = {
        {1, 0, 2, true, "2 compute units on 1 allowed CPU"},
        {2, 0, 8, true, "8 compute units on 2 allowed CPUs"},
        {2, 0, 2, true, ""},
        {2, 1.5, 2, true, "2 compute units on a cgroup quota of 1.50 CPUs"},
        {1, 0, 132, false, ""}, /* a card has units of its own */
        {0, 0, 2, true, ""},    /* unknown is no claim */
        {1, 0, 0, true, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *host =
            json_pack("{s:o, s:{s:o}}", "allowed_cpus",
                      cases[i].allowed > 0 ? json_integer(cases[i].allowed) : json_null(), "cgroup",
                      "cpu_quota", cases[i].quota > 0 ? json_real(cases[i].quota) : json_null());
        struct device_info device = {.software = cases[i].software,
                                     .compute_units = cases[i].units};
        char note[HOST_NOTE_BYTES];
        assert_int_equal(host_device_note(host, &device, note), cases[i].note[0] != '\0');
        assert_string_equal(note, cases[i].note);
        json_decref(host);
    }
}

static void test_procfs_field_names(void **state)
{
    (void)state;
    static const char text[] = "cpu cores\t: 4\ncpu\t\t: POWER9\nname=\"x\"\n";
    char value[32];
    assert_true(procfs_field(text, "cpu cores", value, sizeof value));
    assert_string_equal(value, "4");
    assert_true(procfs_field(text, "name", value, sizeof value));
    assert_string_equal(value, "\"x\"");
    assert_true(procfs_field(text, "cpu", value, sizeof value));
    assert_string_equal(value, "POWER9");
    assert_false(procfs_field(text, "nam", value, sizeof value));
    assert_false(procfs_field("", "cpu", value, sizeof value));
    /* Cut to the room there is. */
    char four[4];
    assert_true(procfs_field("a: \xc3\xa4\xc3\xa4\xc3\xa4", "a", four, sizeof four));
    assert_string_equal(four, "\xc3\xa4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_describe_fields),
        cmocka_unit_test(test_host_describe_unknown_is_null),
        cmocka_unit_test(test_host_describe_this_machine),
        cmocka_unit_test(test_cgroup_read_v2_least_of_all_levels),
        cmocka_unit_test(test_cgroup_read_v2_without_limits),
        cmocka_unit_test(test_cgroup_read_v1_in_a_container),
        cmocka_unit_test(test_cgroup_read_v1_without_limits),
        cmocka_unit_test(test_cgroup_read_group_outside_of_the_namespace),
        cmocka_unit_test(test_cgroup_read_period_zero),
        cmocka_unit_test(test_host_describe_notes_limits),
        cmocka_unit_test(test_host_device_note),
        cmocka_unit_test(test_procfs_field_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
