/* SPDX-License-Identifier: Apache-2.0
 *
 * Topologies: stored machines (tests/harness/machines/README.md says what is in them), this
 * machine, and files that are none. */
#include "harness/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MACHINES ASSAY_SOURCE_DIR "/tests/harness/machines/"

static struct topology *load(const char *path)
{
    struct topology *topology = NULL;
    struct error err = {0};
    if (topology_load(path, &topology, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return topology;
}

static json_int_t integer(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static const char *string(const json_t *json, const char *name)
{
    const char *value = json_string_value(json_object_get(json, name));
    assert_non_null(value);
    return value;
}

static const json_t *pci_of(const json_t *json, const char *address)
{
    size_t index = 0;
    const json_t *pci = NULL;
    json_array_foreach(json_object_get(json, "pci"), index,
                       pci) if (strcmp(string(pci, "address"), address) == 0) return pci;
    fail_msg("no PCI device %s", address);
    return NULL;
}

static const json_t *cache_of(const json_t *json, const char *name)
{
    size_t index = 0;
    const json_t *cache = NULL;
    json_array_foreach(json_object_get(json, "caches"), index,
                       cache) if (strcmp(string(cache, "name"), name) == 0) return cache;
    fail_msg("no cache %s", name);
    return NULL;
}

static void check_devices(const json_t *pci, const char *const *names)
{
    const json_t *devices = json_object_get(pci, "devices");
    size_t count = 0;
    for (; names[count] != NULL; count++)
        assert_string_equal(json_string_value(json_array_get(devices, count)), names[count]);
    assert_int_equal(json_array_size(devices), count);
}

static void test_topology_json_dual_socket(void **state)
{
    (void)state;
    struct topology *topology = load(MACHINES "dual-socket.xml");
    json_t *json = topology_json(topology);
    assert_int_equal(integer(json, "packages"), 2);
    assert_int_equal(integer(json, "cores"), 16);
    assert_int_equal(integer(json, "pus"), 32);
    assert_int_equal(integer(json, "memory_bytes"), 2 * (INT64_C(64) << 30));
    const json_t *nodes = json_object_get(json, "numa_nodes");
    assert_int_equal(json_array_size(nodes), 2);
    assert_string_equal(string(json_array_get(nodes, 0), "cpus"), "0-15");
    assert_string_equal(string(json_array_get(nodes, 1), "cpus"), "16-31");
    assert_int_equal(integer(cache_of(json, "l3"), "count"), 2);
    assert_int_equal(integer(cache_of(json, "l3"), "bytes"), 32 << 20);
    assert_int_equal(integer(cache_of(json, "l3"), "cpus_each"), 16);
    assert_int_equal(integer(cache_of(json, "l2"), "count"), 16);
    assert_int_equal(integer(cache_of(json, "l1d"), "bytes"), 32 << 10);
    assert_int_equal(integer(cache_of(json, "l1i"), "count"), 16);
    assert_int_equal(topology_last_cache_bytes(topology), 32 << 20);
    json_decref(json);
    topology_destroy(topology);
}

static void test_topology_json_folds_names_of_one_card(void **state)
{
    (void)state;
    struct topology *topology = load(MACHINES "dual-socket.xml");
    json_t *json = topology_json(topology);
    assert_int_equal(json_array_size(json_object_get(json, "pci")), 2);
    const json_t *card = pci_of(json, "0000:c3:00.0");
    check_devices(card, (const char *const[]){"card0", "renderD128", "rsmi0", "opencl0d0", NULL});
    assert_string_equal(string(card, "class"), "display");
    assert_string_equal(string(card, "vendor_id"), "1002");
    assert_string_equal(string(card, "device_id"), "740f");
    assert_true(json_is_true(json_object_get(card, "accelerator")));
    /* 16 lanes at 16 GT/s with 128/130 coding: 31.508 GB/s. */
    assert_int_equal(integer(card, "link_bytes_per_s"), INT64_C(31508000000));
    json_decref(json);
    topology_destroy(topology);
}

static void test_topology_numa_of_pci_dual_socket(void **state)
{
    (void)state;
    struct topology *topology = load(MACHINES "dual-socket.xml");
    assert_int_equal(topology_numa_of_pci(topology, "0000:c3:00.0"), 1);
    /* The second card has no place: unknown, not node 0. */
    assert_int_equal(topology_numa_of_pci(topology, "0001:01:00.0"), -1);
    /* The same bus in another domain is another device. */
    assert_int_equal(topology_numa_of_pci(topology, "0001:c3:00.0"), -1);
    assert_int_equal(topology_numa_of_pci(topology, "nonsense"), -1);
    assert_int_equal(topology_numa_of_pci(topology, ""), -1);
    assert_int_equal(topology_numa_of_pci(topology, NULL), -1);
    json_t *json = topology_json(topology);
    const json_t *card = pci_of(json, "0001:01:00.0");
    assert_true(json_is_null(json_object_get(card, "numa_node")));
    assert_true(json_is_string(json_object_get(card, "numa_reason")));
    assert_true(json_is_null(json_object_get(card, "link_bytes_per_s")));
    json_decref(json);
    topology_destroy(topology);
}

static void test_topology_json_eight_gpus(void **state)
{
    (void)state;
    static const char *const addresses[] = {"0000:1b:00.0", "0000:43:00.0", "0000:52:00.0",
                                            "0000:61:00.0", "0000:9d:00.0", "0000:c3:00.0",
                                            "0000:d1:00.0", "0000:df:00.0"};
    struct topology *topology = load(MACHINES "eight-gpu.xml");
    json_t *json = topology_json(topology);
    /* 8 cards, 2 network cards and a console: 11 entries for 45 names. */
    assert_int_equal(json_array_size(json_object_get(json, "pci")), 11);
    for (int i = 0; i < 8; i++) {
        char names[5][16];
        snprintf(names[0], sizeof names[0], "card%d", i + 1);
        snprintf(names[1], sizeof names[1], "renderD%d", 128 + i);
        snprintf(names[2], sizeof names[2], "cuda%d", i);
        snprintf(names[3], sizeof names[3], "opencl0d%d", i);
        snprintf(names[4], sizeof names[4], "nvml%d", i);
        const json_t *card = pci_of(json, addresses[i]);
        check_devices(
            card, (const char *const[]){names[0], names[1], names[2], names[3], names[4], NULL});
        assert_int_equal(integer(card, "numa_node"), i / 4);
        assert_int_equal(topology_numa_of_pci(topology, addresses[i]), i / 4);
    }
    const json_t *network = pci_of(json, "0000:18:00.0");
    assert_string_equal(string(network, "class"), "network");
    assert_true(json_is_false(json_object_get(network, "accelerator")));
    check_devices(network, (const char *const[]){"eth0", "mlx5_0", NULL});
    json_decref(json);
    topology_destroy(topology);
}

static void test_topology_json_node_without_cpus(void **state)
{
    (void)state;
    struct topology *topology = load(MACHINES "cpuless-node.xml");
    json_t *json = topology_json(topology);
    const json_t *nodes = json_object_get(json, "numa_nodes");
    assert_int_equal(json_array_size(nodes), 3);
    static const char *const expected[] = {"0-1", "2-3", ""};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(integer(json_array_get(nodes, i), "index"), i);
        assert_string_equal(string(json_array_get(nodes, i), "cpus"), expected[i]);
    }
    assert_int_equal(integer(json_array_get(nodes, 2), "memory_bytes"), INT64_C(128) << 30);
    /* Node 2 surrounds all, and is nobody's neighbour. */
    assert_int_equal(topology_numa_of_pci(topology, "0000:81:00.0"), 1);
    assert_int_equal(topology_numa_of_pci(topology, "0000:01:00.0"), -1);
    json_decref(json);
    topology_destroy(topology);
}

static void test_topology_print_tells_all(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "machine: 128 GiB, CPUs 0-31\n",
        "  package 1: AMD EPYC 7302 16-Core Processor, CPUs 16-31\n",
        "    NUMA node 1: 64.0 GiB, CPUs 16-31\n",
        "    L3 32.0 MiB, 8 × (L2 1.00 MiB, L1d 32.0 KiB, L1i 32.0 KiB, core, 2 × PU), CPUs 0-15\n",
        "NUMA node 1: card0, renderD128, rsmi0, opencl0d0\n",
        "NUMA node unknown: card1\n",
    };
    struct topology *topology = load(MACHINES "dual-socket.xml");
    struct text out = {0};
    topology_print(topology, &out);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strstr(text_string(&out), lines[i]) == NULL)
            fail_msg("'%s' is not in:\n%s", lines[i], text_string(&out));
    text_release(&out);
    topology_destroy(topology);
}

static const char *const secrets[] = {"secret",   "SECRET",    "5ec5e7",
                                      "02:5e:c5", "025e:c5ff", "ProcessName"};
enum { SECRETS = sizeof secrets / sizeof secrets[0] };

static void test_topology_holds_no_private_data(void **state)
{
    (void)state;
    struct topology *topology = load(MACHINES "eight-gpu.xml");
    struct text out = {0};
    struct error err = {0};
    assert_int_equal(topology_xml(topology, false, &out, &err), CODE_OK);
    topology_print(topology, &out);
    json_t *json = topology_json(topology);
    char *dump = json_dumps(json, 0);
    text_append(&out, dump);
    for (size_t i = 0; i < SECRETS; i++)
        if (strstr(text_string(&out), secrets[i]) != NULL)
            fail_msg("'%s' is in the output", secrets[i]);
    /* What describes the model and not the exemplar stays. */
    assert_non_null(strstr(text_string(&out), "name=\"DMIProductName\" value=\"Example 8-way\""));
    free(dump);
    json_decref(json);
    text_release(&out);
    topology_destroy(topology);
}

static void test_topology_xml_with_private_data(void **state)
{
    (void)state;
    struct topology *topology = load(MACHINES "eight-gpu.xml");
    struct text out = {0};
    struct error err = {0};
    assert_int_equal(topology_xml(topology, true, &out, &err), CODE_OK);
    assert_non_null(strstr(text_string(&out), "secrethost"));
    assert_non_null(strstr(text_string(&out), "SECRET-GPU-7"));
    assert_non_null(strstr(text_string(&out), "02:5e:c5:e7:00:01"));
    text_release(&out);
    /* Leaving attributes out works on a copy. */
    assert_int_equal(topology_xml(topology, false, &out, &err), CODE_OK);
    text_clear(&out);
    assert_int_equal(topology_xml(topology, true, &out, &err), CODE_OK);
    assert_non_null(strstr(text_string(&out), "secrethost"));
    text_release(&out);
    topology_destroy(topology);
}

/* ---- files ---- */

struct scratch {
    char folder[64];
    char path[96];
};

static void scratch_open(struct scratch *scratch)
{
    snprintf(scratch->folder, sizeof scratch->folder, "/tmp/assay-test-XXXXXX");
    assert_non_null(mkdtemp(scratch->folder));
    snprintf(scratch->path, sizeof scratch->path, "%s/file.xml", scratch->folder);
}

static void scratch_close(const struct scratch *scratch)
{
    unlink(scratch->path);
    rmdir(scratch->folder);
}

static void scratch_write(const struct scratch *scratch, const char *bytes, size_t count)
{
    FILE *file = fopen(scratch->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void expect_error(const char *path, enum code code, const char *part)
{
    struct topology *topology = NULL;
    struct error err = {0};
    assert_int_equal(topology_load(path, &topology, &err), code);
    assert_null(topology);
    if (strstr(err.message, path) == NULL || strstr(err.message, part) == NULL)
        fail_msg("'%s' does not hold '%s'", err.message, part);
}

static void test_topology_xml_is_read_again(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_open(&scratch);
    struct topology *topology = load(MACHINES "eight-gpu.xml");
    struct text out = {0};
    struct error err = {0};
    assert_int_equal(topology_xml(topology, false, &out, &err), CODE_OK);
    scratch_write(&scratch, out.bytes, out.length);
    struct topology *again = load(scratch.path);
    json_t *first = topology_json(topology), *second = topology_json(again);
    json_object_del(first, "source");
    json_object_del(second, "source");
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
    text_release(&out);
    topology_destroy(topology);
    topology_destroy(again);
    scratch_close(&scratch);
}

#define HEAD                                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"

static void test_topology_load_refuses_text_that_is_no_topology(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *part;
    } cases[] = {
        {"", "is empty"},
        {"   \n\n  ", "no element"},
        {"garbage", ":1:1: text outside of elements"},
        {"{\"benchmarks\": []}", ":1:1: text outside of elements"},
        {"<html><body/></html>", ":1:1: root element 'html', expected 'topology'"},
        {HEAD "<topology version=\"2.0\">\n<object type=\"Machine\"", ":4:1: tag without an end"},
        {HEAD "<topology version=\"2.0\">\n<object type=\"Machine\">\n", "'topology' has no end"},
        {HEAD "<topology version=\"2.0\">\n<object>\n</topology>",
         ":5:1: expected the end of 'object', found the end of 'topology'"},
        {"<topology version=\"2.0\"></topology>\n<topology version=\"2.0\"></topology>",
         ":2:1: second root element"},
        {"<topology version=\"2.0\"></topology>", "no topology that hwloc can read"},
        {"<topology version=\"2.0\"/>", "no topology that hwloc can read"},
        {"<topology version=\"99.0\"><object type=\"Machine\"></object></topology>",
         "no topology that hwloc can read"},
        {"<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\" "
         "os_index=\"zero\"/></topology>",
         "no topology that hwloc can read"},
        {"<!DOCTYPE topology [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n<topology "
         "version=\"2.0\">&a;</topology>",
         ":1:1: declarations are refused"},
        {"<topology version=\"2.0\"><![CDATA[x]]></topology>", ":1:25: declarations are refused"},
        {"<topology version=\"2.0\">\n\n<!-- never closed", ":3:1: comment without an end"},
        {"\xff\xfe<\xff", ":1:1: no UTF-8"},
        {"\x89PNG\r\n\x1a\n", "no UTF-8"},
    };
    struct scratch scratch;
    scratch_open(&scratch);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch_write(&scratch, cases[i].bytes, strlen(cases[i].bytes));
        expect_error(scratch.path, CODE_CONFIG, cases[i].part);
    }
    static const char zeros[] = "<\0t\0o\0p\0o";
    scratch_write(&scratch, zeros, sizeof zeros);
    expect_error(scratch.path, CODE_CONFIG, ":1:2: zero byte");
    scratch_close(&scratch);
}

static void test_topology_load_refuses_deep_nesting(void **state)
{
    (void)state;
    struct scratch scratch;
    struct text bytes = {0};
    scratch_open(&scratch);
    text_append(&bytes, "<topology version=\"2.0\">");
    for (int i = 0; i < 100000; i++)
        text_append(&bytes, "<object type=\"Group\">");
    scratch_write(&scratch, bytes.bytes, bytes.length);
    expect_error(scratch.path, CODE_CONFIG, "nested more than 64 deep");
    text_release(&bytes);
    scratch_close(&scratch);
}

static void test_topology_load_refuses_half_of_a_good_file(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_open(&scratch);
    char bytes[8192];
    FILE *file = fopen(MACHINES "dual-socket.xml", "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    scratch_write(&scratch, bytes, sizeof bytes);
    expect_error(scratch.path, CODE_CONFIG, "cut off");
    scratch_close(&scratch);
}

static void test_topology_load_refuses_what_is_no_regular_file(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_open(&scratch);
    expect_error(scratch.folder, CODE_CONFIG, "is a directory");
    expect_error(scratch.path, CODE_IO, "No such file");
    assert_int_equal(mkfifo(scratch.path, 0600), 0);
    expect_error(scratch.path, CODE_CONFIG, "is no regular file");
    expect_error("/dev/zero", CODE_CONFIG, "is no regular file");
    scratch_close(&scratch);
}

static void test_topology_load_refuses_large_files(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_open(&scratch);
    scratch_write(&scratch, " ", 1);
    assert_int_equal(truncate(scratch.path, 200000000), 0);
    expect_error(scratch.path, CODE_CONFIG, "200000000 bytes, a topology has at most 16777216");
    scratch_close(&scratch);
}

static void test_topology_load_comments_and_line_ends(void **state)
{
    (void)state;
    static const char bytes[] =
        "\xef\xbb\xbf" HEAD "<!-- noted\r\nby hand -->\r\n<topology version=\"2.0\">\r\n"
        "<!-- > and < and \" do not matter here -->\r\n"
        "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
        "allowed_cpuset=\"0x1\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\r\n"
        "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
        "nodeset=\"0x1\" complete_nodeset=\"0x1\" "
        "gp_index=\"2\" local_memory=\"1000\"/>\r\n"
        "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" gp_index=\"3\"/>\r\n"
        "</object>\r\n</topology>\r\n";
    struct scratch scratch;
    scratch_open(&scratch);
    scratch_write(&scratch, bytes, sizeof bytes - 1);
    struct topology *topology = load(scratch.path);
    json_t *json = topology_json(topology);
    assert_int_equal(integer(json, "pus"), 1);
    assert_int_equal(integer(json, "memory_bytes"), 1000);
    assert_int_equal(topology_last_cache_bytes(topology), 0);
    json_decref(json);
    topology_destroy(topology);
    scratch_close(&scratch);
}

/* ---- this machine ---- */

static void test_topology_load_describes_this_machine_whatever_the_environment_says(void **state)
{
    (void)state;
    struct topology *plain = load(NULL);
    assert_null(topology_warning(plain, 0));
    setenv("HWLOC_XMLFILE", MACHINES "eight-gpu.xml", 1);
    setenv("HWLOC_SYNTHETIC", "pack:4 core:4 pu:2", 1);
    setenv("HWLOC_FSROOT", MACHINES, 1);
    setenv("HWLOC_COMPONENTS", "xml,synthetic,stop", 1);
    struct topology *steered = load(NULL);
    json_t *first = topology_json(plain), *second = topology_json(steered);
    assert_int_equal(json_array_size(json_object_get(first, "warnings")), 0);
    assert_int_equal(json_array_size(json_object_get(second, "warnings")), 4);
    assert_string_equal(string(second, "source"), "this machine");
    json_object_del(first, "warnings");
    json_object_del(second, "warnings");
    assert_true(json_equal(first, second));
    /* As many CPUs as the system has: another source than hwloc. */
    assert_int_equal(integer(second, "pus"), sysconf(_SC_NPROCESSORS_ONLN));
    /* The environment is as it was. */
    assert_string_equal(getenv("HWLOC_SYNTHETIC"), "pack:4 core:4 pu:2");
    assert_string_equal(getenv("HWLOC_COMPONENTS"), "xml,synthetic,stop");
    assert_null(getenv("HWLOC_PLUGINS_PATH"));
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_FSROOT");
    unsetenv("HWLOC_COMPONENTS");
    json_decref(first);
    json_decref(second);
    topology_destroy(plain);
    topology_destroy(steered);
}

static void test_topology_load_loads_no_plugin_and_prints_nothing(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_open(&scratch);
    char plugin[128];
    snprintf(plugin, sizeof plugin, "%s/hwloc_opencl.so", scratch.folder);
    FILE *file = fopen(plugin, "wb");
    assert_non_null(file);
    fputs("this is no shared object", file);
    fclose(file);
    setenv("HWLOC_PLUGINS_PATH", scratch.folder, 1);
    setenv("HWLOC_COMPONENTS_VERBOSE", "1", 1);
    FILE *caught = tmpfile();
    int kept = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(caught), STDERR_FILENO);
    struct topology *topology = load(NULL);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    fseek(caught, 0, SEEK_END);
    assert_int_equal(ftell(caught), 0);
    fclose(caught);
    unsetenv("HWLOC_PLUGINS_PATH");
    unsetenv("HWLOC_COMPONENTS_VERBOSE");
    unlink(plugin);
    topology_destroy(topology);
    scratch_close(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topology_json_dual_socket),
        cmocka_unit_test(test_topology_json_folds_names_of_one_card),
        cmocka_unit_test(test_topology_numa_of_pci_dual_socket),
        cmocka_unit_test(test_topology_json_eight_gpus),
        cmocka_unit_test(test_topology_json_node_without_cpus),
        cmocka_unit_test(test_topology_print_tells_all),
        cmocka_unit_test(test_topology_holds_no_private_data),
        cmocka_unit_test(test_topology_xml_with_private_data),
        cmocka_unit_test(test_topology_xml_is_read_again),
        cmocka_unit_test(test_topology_load_refuses_text_that_is_no_topology),
        cmocka_unit_test(test_topology_load_refuses_deep_nesting),
        cmocka_unit_test(test_topology_load_refuses_half_of_a_good_file),
        cmocka_unit_test(test_topology_load_refuses_what_is_no_regular_file),
        cmocka_unit_test(test_topology_load_refuses_large_files),
        cmocka_unit_test(test_topology_load_comments_and_line_ends),
        cmocka_unit_test(test_topology_load_describes_this_machine_whatever_the_environment_says),
        cmocka_unit_test(test_topology_load_loads_no_plugin_and_prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
