/* SPDX-License-Identifier: Apache-2.0
 *
 * Which entries become one physical thing, on made-up inventories; and device descriptions to JSON
 * and back. */
#include "harness/inventory.h"
#include "harness/inventory_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES_MAX = 8 };

struct entry {
    const char *id, *pci, *uuid, *expected; /* physical */
    enum device_type type;
    bool software;
};

static struct inventory_driver one_driver = {.backend = "opencl", .name = "d", .state = DRIVER_OK};

/* Fills devices from the entries and identifies them. */
static void identify(const struct entry *entries, size_t count,
                     struct inventory_device devices[ENTRIES_MAX])
{
    memset(devices, 0, ENTRIES_MAX * sizeof *devices);
    for (size_t i = 0; i < count; i++) {
        struct device_info *info = &devices[i].info;
        snprintf(info->id, sizeof info->id, "%s", entries[i].id);
        snprintf(info->name, sizeof info->name, "Example X1");
        snprintf(info->pci, sizeof info->pci, "%s", entries[i].pci);
        snprintf(info->uuid, sizeof info->uuid, "%s", entries[i].uuid);
        info->type = entries[i].type;
        info->software = entries[i].software;
        info->available = true;
        devices[i].index = i;
    }
    struct inventory inventory = {
        .drivers = &one_driver, .driver_count = 1, .devices = devices, .device_count = count};
    inventory_identify(&inventory);
    for (size_t i = 0; i < count; i++)
        if (strcmp(devices[i].physical, entries[i].expected) != 0)
            fail_msg("%s: '%s', expected '%s'", entries[i].id, devices[i].physical,
                     entries[i].expected);
}

#define UUID_A "01234567-89ab-cdef-0123-456789abcdef"
#define UUID_B "fedcba98-7654-3210-fedc-ba9876543210"
#define UUID_NONE "00000000-0000-0000-0000-000000000000"

/* One card through two APIs: one of them knows its UUID, the other its PCI address alone. */
static void test_identify_folds_by_pci(void **state)
{
    (void)state;
    static const struct entry entries[] = {
        {"cuda:0", "0000:41:00.0", UUID_A, "uuid:" UUID_A, DEVICE_GPU, false},
        {"opencl:a:0", "0000:41:00.0", "", "uuid:" UUID_A, DEVICE_GPU, false},
        {"opencl:b:0", "", UUID_A, "uuid:" UUID_A, DEVICE_GPU, false},
        {"opencl:b:1", "0000:81:00.0", "", "pci:0000:81:00.0", DEVICE_GPU, false},
    };
    struct inventory_device devices[ENTRIES_MAX];
    identify(entries, 4, devices);
    assert_string_equal(devices[0].note, "same physical card as opencl:a:0, opencl:b:0");
    assert_string_equal(devices[1].note, "same physical card as cuda:0, opencl:b:0");
    assert_string_equal(devices[3].note, "");
    for (size_t i = 0; i < 4; i++)
        assert_false(devices[i].duplicate); /* another API on one card is measured as well */
}

static void test_identify_keeps_the_pci_domain(void **state)
{
    (void)state;
    static const struct entry entries[] = {
        {"opencl:a:0", "0000:01:00.0", "", "pci:0000:01:00.0", DEVICE_GPU, false},
        {"opencl:a:1", "0001:01:00.0", "", "pci:0001:01:00.0", DEVICE_GPU, false},
        {"opencl:a:2", "0002:01:00.0", "", "pci:0002:01:00.0", DEVICE_GPU, false},
        {"opencl:a:3", "0003:01:00.0", "", "pci:0003:01:00.0", DEVICE_GPU, false},
    };
    struct inventory_device devices[ENTRIES_MAX];
    identify(entries, 4, devices);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(devices[i].note, "");
}

/* Two cards of one name without any id: both stay, and it is said that they cannot be told apart.
 */
static void test_identify_never_merges_without_an_id(void **state)
{
    (void)state;
    static const struct entry entries[] = {
        {"opencl:a:0", "", "", "", DEVICE_GPU, false},
        {"opencl:a:1", "", UUID_NONE, "", DEVICE_GPU, false},
        {"opencl:b:0", "0000:00:00.0", "", "", DEVICE_ACCELERATOR, false},
    };
    struct inventory_device devices[ENTRIES_MAX];
    identify(entries, 3, devices);
    assert_string_equal(devices[0].note,
                        "identity unknown: no UUID and no PCI address; cannot be told apart from "
                        "opencl:a:1, opencl:b:0");
    for (size_t i = 0; i < 3; i++)
        assert_false(devices[i].duplicate);
}

static void test_identify_host_cores_are_one(void **state)
{
    (void)state;
    static const struct entry entries[] = {
        {"opencl:pocl:0", "", UUID_A, "cpu:0", DEVICE_CPU, true},
        {"opencl:pocl:1", "", UUID_B, "cpu:0", DEVICE_CPU, false},
        {"opencl:rusticl:0", "", "", "cpu:0", DEVICE_GPU,
         true}, /* a software renderer that says GPU */
        {"host:one", "", "", "cpu:0", DEVICE_CPU, true},
        {"host:all", "", "", "cpu:0", DEVICE_CPU, true},
    };
    struct inventory_device devices[ENTRIES_MAX];
    identify(entries, 5, devices);
    assert_string_equal(
        devices[0].note,
        "the host's own cores, as opencl:pocl:1, opencl:rusticl:0, host:one and 1 more");
}

/* The parts of a partitioned card have UUIDs of their own at one address: not one thing, and an
 * entry that knows the address alone could be any. */
static void test_identify_partitions_stay_apart(void **state)
{
    (void)state;
    static const struct entry entries[] = {
        {"cuda:0", "0000:41:00.0", UUID_A, "uuid:" UUID_A, DEVICE_GPU, false},
        {"cuda:1", "0000:41:00.0", UUID_B, "uuid:" UUID_B, DEVICE_GPU, false},
        {"opencl:a:0", "0000:41:00.0", "", "pci:0000:41:00.0", DEVICE_GPU, false},
    };
    struct inventory_device devices[ENTRIES_MAX];
    identify(entries, 3, devices);
}

/* A driver that gives every card the same UUID: the addresses tell them apart. */
static void test_identify_uuid_at_two_addresses(void **state)
{
    (void)state;
    static const struct entry entries[] = {
        {"opencl:a:0", "0000:41:00.0", UUID_A, "pci:0000:41:00.0", DEVICE_GPU, false},
        {"opencl:a:1", "0000:81:00.0", UUID_A, "pci:0000:81:00.0", DEVICE_GPU, false},
    };
    struct inventory_device devices[ENTRIES_MAX];
    identify(entries, 2, devices);
}

static void test_identify_second_registration(void **state)
{
    (void)state;
    struct inventory_driver drivers[] = {
        {.backend = "opencl", .name = "a", .file = "/v/a.icd", .state = DRIVER_OK},
        {.backend = "opencl",
         .name = "b",
         .file = "/v/b.icd",
         .state = DRIVER_DUPLICATE,
         .duplicate_of = 0},
    };
    struct inventory_device devices[2] = {
        {.info = {.id = "opencl:a:0", .type = DEVICE_CPU, .available = true}, .driver = 0},
        {.info = {.id = "opencl:b:0", .type = DEVICE_CPU, .available = true}, .driver = 1},
    };
    struct inventory inventory = {
        .drivers = drivers, .driver_count = 2, .devices = devices, .device_count = 2};
    inventory_identify(&inventory);
    assert_false(devices[0].duplicate);
    assert_true(devices[1].duplicate);
    assert_string_equal(devices[0].physical, devices[1].physical);
    assert_string_equal(devices[0].note,
                        "same driver as opencl:b:0, registered twice: /v/a.icd and /v/b.icd");
    assert_string_equal(devices[1].note,
                        "same driver as opencl:a:0, registered twice: /v/b.icd and /v/a.icd");
}

static void test_identify_unavailable_is_said(void **state)
{
    (void)state;
    struct inventory_device device = {
        .info = {.id = "opencl:d:0", .pci = "0000:41:00.0", .type = DEVICE_GPU}};
    struct inventory inventory = {
        .drivers = &one_driver, .driver_count = 1, .devices = &device, .device_count = 1};
    inventory_identify(&inventory);
    assert_string_equal(device.note, "the driver says it is not available");
}

/* ---- JSON ---- */

static struct device_info example(void)
{
    struct device_info info = {
        .id = "opencl:a:0",
        .name = "Example X1 \"Größe\"",
        .vendor = "Example",
        .driver = "1.2.3",
        .api = "OpenCL 3.0",
        .platform = "Example Platform",
        .pci = "0001:41:00.0",
        .uuid = UUID_A,
        .type = DEVICE_ACCELERATOR,
        .unified_memory = true,
        .has_f64 = true,
        .available = true,
        .compute_units = 4294967295U,
        .clock_mhz = 1980,
        .memory_bytes = UINT64_C(151111434240),
        .max_alloc_bytes = UINT64_C(37777858560),
        .local_bytes = 49152,
        .cache_bytes = 52428800,
        .max_group_items = 1024,
        .max_group_size = {1024, 1024, 64},
        .timer_step_ns = 1000,
    };
    return info;
}

static void test_json_round_trip(void **state)
{
    (void)state;
    struct device_info before = example(), after;
    char extensions[] = "cl_khr_fp64 cl_khr_fp16";
    before.extensions = extensions;
    json_t *json = device_info_to_json(&before);
    char *bytes = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    json = json_loads(bytes, 0, NULL);
    free(bytes);
    struct error err = {0};
    assert_int_equal(device_info_from_json(json, &after, &err), CODE_OK);
    assert_string_equal(after.extensions, extensions);
    free(after.extensions);
    assert_string_equal(after.name, before.name);
    assert_string_equal(after.pci, before.pci);
    assert_string_equal(after.uuid, before.uuid);
    assert_string_equal(after.platform, before.platform);
    assert_int_equal(after.type, before.type);
    assert_true(after.unified_memory && after.has_f64 && after.available);
    assert_false(after.software || after.has_f16);
    assert_int_equal(after.compute_units, before.compute_units);
    assert_int_equal(after.memory_bytes, before.memory_bytes);
    assert_int_equal(after.max_alloc_bytes, before.max_alloc_bytes);
    assert_int_equal(after.timer_step_ns, before.timer_step_ns);
    assert_int_equal(after.max_group_size[2], 64);
    json_decref(json);
}

/* The members and values that docs/formats.md promises. */
static void test_json_members(void **state)
{
    (void)state;
    struct device_info info = example();
    json_t *json = device_info_to_json(&info);
    assert_string_equal(json_string_value(json_object_get(json, "type")), "accelerator");
    assert_int_equal(json_integer_value(json_object_get(json, "memory_bytes")), 151111434240);
    assert_true(json_is_false(json_object_get(json, "software")));
    assert_true(json_is_null(json_object_get(json, "extensions")));
    json_decref(json);
    struct device_info nothing = {.type = DEVICE_OTHER};
    json = device_info_to_json(&nothing);
    static const char *const unknown[] = {
        "name",         "pci",         "uuid",        "compute_units", "clock_mhz",
        "memory_bytes", "local_bytes", "cache_bytes", "timer_step_ns", "driver"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        if (!json_is_null(json_object_get(json, unknown[i])))
            fail_msg("'%s' is not null", unknown[i]);
    json_decref(json);
}

static void test_json_what_json_cannot_hold(void **state)
{
    (void)state;
    struct device_info info = example();
    memcpy(info.name, "bad \xff byte", 11);
    info.max_alloc_bytes = UINT64_MAX;
    json_t *json = device_info_to_json(&info);
    assert_string_equal(json_string_value(json_object_get(json, "name")), "bad ? byte");
    assert_int_equal(json_integer_value(json_object_get(json, "max_alloc_bytes")), INT64_MAX);
    json_decref(json);
}

/* Longer than its room: cut at a character, no error. */
static void test_json_long_text(void **state)
{
    (void)state;
    char text[2 * DEVICE_TEXT_BYTES];
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "ü", 2);
    text[sizeof text - 2] = '\0';
    json_t *json = json_pack("{s:s,s:s}", "type", "gpu", "name", text);
    struct device_info info;
    struct error err = {0};
    assert_int_equal(device_info_from_json(json, &info, &err), CODE_OK);
    assert_int_equal(strlen(info.name),
                     DEVICE_TEXT_BYTES - 2); /* 510 bytes are 255 characters of 2 bytes */
    assert_true(text_is_utf8(info.name, strlen(info.name), &(size_t){0}));
    json_decref(json);
}

static void test_json_malformed(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "[]",
        "{}",
        "{\"type\":\"toaster\"}",
        "{\"type\":\"gpu\",\"name\":3}",
        "{\"type\":\"gpu\",\"memory_bytes\":-1}",
        "{\"type\":\"gpu\",\"memory_bytes\":\"4 GiB\"}",
        "{\"type\":\"gpu\",\"compute_units\":4294967296}",
        "{\"type\":\"gpu\",\"software\":1}",
        "{\"type\":\"gpu\",\"max_group_size\":[1,2]}",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        json_t *json = json_loads(malformed[i], 0, NULL);
        struct device_info info;
        struct error err = {0};
        if (device_info_from_json(json, &info, &err) != CODE_INVALID || err.message[0] == '\0')
            fail_msg("%s was taken", malformed[i]);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identify_folds_by_pci),
        cmocka_unit_test(test_identify_keeps_the_pci_domain),
        cmocka_unit_test(test_identify_never_merges_without_an_id),
        cmocka_unit_test(test_identify_host_cores_are_one),
        cmocka_unit_test(test_identify_partitions_stay_apart),
        cmocka_unit_test(test_identify_uuid_at_two_addresses),
        cmocka_unit_test(test_identify_second_registration),
        cmocka_unit_test(test_identify_unavailable_is_said),
        cmocka_unit_test(test_json_round_trip),
        cmocka_unit_test(test_json_members),
        cmocka_unit_test(test_json_what_json_cannot_hold),
        cmocka_unit_test(test_json_long_text),
        cmocka_unit_test(test_json_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
