/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay devices` with the real OpenCL loader, PoCL and the OpenCL fault layer: what is listed,
 * under which identity, in which surroundings; and selection by the run command. */
#include "program.h"

#include <dirent.h>

/* ---- what is there ---- */

static void test_devices_stock_machine(void **state)
{
    static const char *const parts[] = {"opencl:pocl:0", "CPU (software)", "host:one",
                                        "host:all",      "cpu:0",          NULL};
    const struct call call = {.arguments = {"devices"}};
    expect(*state, &call, 0, parts);
}

/* An empty platform, first in order, neither ends the search nor is passed over in silence. */
static void test_devices_empty_platform_first(void **state)
{
    char variable[2048], line[1100];
    const struct fixture *fixture = *state;
    make_vendors(fixture, "order", variable);
    write_text(fixture, "order/a-empty.icd", "libRusticlOpenCL.so.1\n");
    snprintf(line, sizeof line, "%s\n", fixture->pocl);
    write_text(fixture, "order/b-pocl.icd", line);
    static const char *const parts[] = {"opencl:b-pocl:0", "opencl:a-empty  empty",
                                        "RUSTICL_ENABLE=llvmpipe", NULL};
    const struct call call = {.arguments = {"devices"}, .environment = {variable}};
    expect(fixture, &call, 0, parts);
}

static void test_devices_one_library_registered_twice(void **state)
{
    char variable[2048], line[1100];
    const struct fixture *fixture = *state;
    make_vendors(fixture, "twice", variable);
    snprintf(line, sizeof line, "%s\n", fixture->pocl);
    write_text(fixture, "twice/a.icd", line);
    write_text(fixture, "twice/b.icd", line);
    const char *slash = strrchr(fixture->pocl, '/');
    write_text(fixture, "twice/c.icd",
               slash + 1); /* the same file, by the name that the linker looks up */
    const struct call call = {.arguments = {"devices", "--json"}, .environment = {variable}};
    json_t *json = json_of(fixture, &call, 0);
    const json_t *first = device_with_id(json, "opencl:a:0");
    assert_true(json_is_false(json_object_get(first, "duplicate")));
    static const char *const others[] = {"opencl:b:0", "opencl:c:0"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *second = device_with_id(json, others[i]);
        assert_true(json_is_true(json_object_get(second, "duplicate")));
        assert_string_equal(string_of(first, "physical"), string_of(second, "physical"));
    }
    const char *note = json_string_value(json_array_get(json_object_get(first, "notes"), 0));
    assert_non_null(note);
    assert_says(note, "twice/a.icd");
    assert_says(note, "twice/b.icd");
    json_decref(json);
}

static void test_devices_two_kinds_on_one_processor(void **state)
{
    static const char *const kinds[] = {"POCL_DEVICES=pthread pthread",
                                        "POCL_DEVICES=pthread basic"};
    for (size_t i = 0; i < 2; i++) {
        const struct call call = {.arguments = {"devices", "--json"},
                                  .environment = {kinds[i], POCL_ALONE}};
        json_t *json = json_of(*state, &call, 0);
        assert_string_equal(string_of(device_with_id(json, "opencl:pocl:0"), "physical"), "cpu:0");
        assert_string_equal(string_of(device_with_id(json, "opencl:pocl:1"), "physical"), "cpu:0");
        assert_string_equal(string_of(device_with_id(json, "host:all"), "physical"), "cpu:0");
        json_decref(json);
    }
}

static void test_devices_alike_without_identity(void **state)
{
    const struct call call = {
        .arguments = {"devices", "--json"},
        .environment = {LAYER, POCL_ALONE, "ASSAY_FAKE_OPENCL=dev=many:2,dev=type:GPU"}};
    json_t *json = json_of(*state, &call, 0);
    static const char *const ids[] = {"opencl:pocl:0", "opencl:pocl:1"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *device = device_with_id(json, ids[i]);
        assert_true(json_is_null(json_object_get(device, "physical")));
        assert_true(json_is_false(json_object_get(device, "duplicate")));
        const char *note = json_string_value(json_array_get(json_object_get(device, "notes"), 0));
        assert_non_null(note);
        assert_says(note, "identity unknown");
        assert_says(note, ids[1 - i]);
    }
    json_decref(json);
}

static void test_devices_identity_from_the_driver(void **state)
{
    static const struct {
        const char *fault, *physical;
    } cases[] = {
        {"ASSAY_FAKE_OPENCL=dev=type:GPU,dev=pci:0001:41:00.0", "pci:0001:41:00.0"},
        {"ASSAY_FAKE_OPENCL=dev=type:GPU,dev=uuid:0123456789abcdef0123456789abcdef",
         "uuid:01234567-89ab-cdef-0123-456789abcdef"},
    };
    for (size_t i = 0; i < 2; i++) {
        const struct call call = {.arguments = {"devices", "--json"},
                                  .environment = {LAYER, POCL_ALONE, cases[i].fault}};
        json_t *json = json_of(*state, &call, 0);
        assert_string_equal(string_of(device_with_id(json, "opencl:pocl:0"), "physical"),
                            cases[i].physical);
        json_decref(json);
    }
}

static void test_devices_two_hundred(void **state)
{
    struct text kinds = {0};
    text_append(&kinds, "POCL_DEVICES=basic");
    for (int i = 1; i < 200; i++)
        text_append(&kinds, " basic");
    const struct call call = {.arguments = {"devices"},
                              .environment = {text_string(&kinds), POCL_ALONE}};
    struct outcome outcome = run(*state, &call);
    assert_int_equal(outcome.exit_code, 0);
    size_t rows = 0;
    for (const char *at = strstr(outcome.out, "\nopencl:pocl:"); at != NULL;
         at = strstr(at + 1, "\nopencl:pocl:"))
        rows++;
    assert_int_equal(rows, 200);
    assert_says(outcome.out, "opencl:pocl:199 ");
    release(&outcome);
    char config[2048];
    const struct call beyond = {
        .arguments = {"run", small_config(*state, config), "-d", "opencl:0:200", "-o", "/dev/null"},
        .environment = {text_string(&kinds), POCL_ALONE}};
    static const char *const parts[] = {"opencl:pocl:0 to opencl:pocl:199", NULL};
    expect(*state, &beyond, 2, parts);
    text_release(&kinds);
}

static void test_devices_long_texts_are_kept(void **state)
{
    const struct call call = {.arguments = {"devices", "--json"},
                              .environment = {LAYER, POCL_ALONE, "ASSAY_FAKE_OPENCL=longinfo"}};
    json_t *json = json_of(*state, &call, 0);
    const json_t *device = device_with_id(json, "opencl:pocl:0");
    assert_int_equal(json_string_length(json_object_get(device, "api")), 300);
    assert_true(json_string_length(json_object_get(device, "extensions")) >= 20 * 1024);
    json_decref(json);
}

static void test_devices_type_is_what_the_driver_says(void **state)
{
    static const struct {
        const char *fault, *type, *name;
    } cases[] = {
        {"ASSAY_FAKE_OPENCL=dev=type:GPU,dev=name:Example Ryzen 9 16-Core Processor (radeonsi)",
         "gpu", "Example Ryzen 9 16-Core Processor (radeonsi)"},
        {"ASSAY_FAKE_OPENCL=dev=type:CPU,dev=name:Example GPU Emulator", "cpu",
         "Example GPU Emulator"},
    };
    for (size_t i = 0; i < 2; i++) {
        const struct call call = {.arguments = {"devices", "--json"},
                                  .environment = {LAYER, POCL_ALONE, cases[i].fault}};
        json_t *json = json_of(*state, &call, 0);
        const json_t *device = device_with_id(json, "opencl:pocl:0");
        assert_string_equal(string_of(device, "type"), cases[i].type);
        assert_string_equal(string_of(device, "name"), cases[i].name);
        json_decref(json);
    }
}

/* ---- surroundings ---- */

static void test_devices_unusable_cache(void **state)
{
    const struct fixture *fixture = *state;
    char variable[2048];
    const struct call nowhere = {.arguments = {"devices"},
                                 .environment = {"POCL_CACHE_DIR=/proc/nope", POCL_ALONE}};
    static const char *const parts[] = {"'Portable Computing Language' gives no device",
                                        "POCL_CACHE_DIR='/proc/nope'", "unwritable", NULL};
    expect(fixture, &nowhere, 3, parts);
    write_text(fixture, "plain", "");
    snprintf(variable, sizeof variable, "POCL_CACHE_DIR=%s/plain", fixture->place);
    const struct call doctor = {.arguments = {"doctor"}, .environment = {variable, POCL_ALONE}};
    struct outcome outcome = run(fixture, &doctor);
    assert_true(outcome.exit_code == 0 ||
                outcome.exit_code == 3); /* PoCL lists devices, or crashes: contained */
    assert_says(outcome.out, "problem  kernel cache: ");
    assert_says(outcome.out, "is no directory");
    release(&outcome);
}

/* Service accounts: no home, or one that cannot be written; an own temporary directory that is
 * gone; blanks and umlauts. */
static void test_devices_without_a_home(void **state)
{
    const struct fixture *fixture = *state;
    char odd[2048], odd_variable[2100];
    snprintf(odd, sizeof odd, "%s/Prüfstand 2", fixture->place);
    assert_int_equal(mkdir(odd, 0777), 0);
    assert_int_equal(chmod(odd, 0777), 0);
    snprintf(odd_variable, sizeof odd_variable, "TMPDIR=%s", odd);
    const struct call calls[] = {
        {.arguments = {"devices"}, .environment = {"HOME", POCL_ALONE}, .as_nobody = true},
        {.arguments = {"devices"}, .environment = {"HOME=/", POCL_ALONE}, .as_nobody = true},
        {.arguments = {"devices"},
         .environment = {"HOME=/proc", "TMPDIR=/nonexistent", POCL_ALONE},
         .as_nobody = true},
        {.arguments = {"devices"},
         .environment = {"HOME=/", odd_variable, POCL_ALONE},
         .as_nobody = true},
    };
    static const char *const parts[] = {"opencl:pocl:0", NULL};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        expect(fixture, &calls[i], 0, parts);
    DIR *directory = opendir(odd);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        if (entry->d_name[0] != '.')
            fail_msg("'%s' was left behind", entry->d_name);
    closedir(directory);
}

static void test_devices_render_node_not_permitted(void **state)
{
    const struct fixture *fixture = *state;
    char node[2048], variable[2048];
    snprintf(node, sizeof node, "%s/dri", fixture->place);
    assert_int_equal(mkdir(node, 0755), 0);
    snprintf(variable, sizeof variable, "ASSAY_DEV_DRI=%.1024s", node);
    write_text(fixture, "dri/renderD128", "");
    snprintf(node, sizeof node, "%s/dri/renderD128", fixture->place);
    assert_int_equal(chmod(node, geteuid() == 0 ? 0600 : 0), 0);
    static const char *const parts[] = {
        "renderD128 exists but is not readable and writable by this user (groups ", NULL};
    static const char *const commands[] = {"devices", "doctor"};
    for (size_t i = 0; i < 2; i++) {
        const struct call call = {
            .arguments = {commands[i]},
            .environment = {LAYER, POCL_ALONE, "ASSAY_FAKE_OPENCL=dev=none", variable},
            .as_nobody = true};
        expect(fixture, &call, 3, parts);
    }
}

static void test_devices_forms_of_the_loader_variables(void **state)
{
    const struct fixture *fixture = *state;
    char library[2048], files[2048];
    snprintf(library, sizeof library, "OCL_ICD_VENDORS=%s", fixture->pocl);
    snprintf(files, sizeof files, "OCL_ICD_FILENAMES=%s", fixture->pocl);
    const struct call calls[] = {
        {.arguments = {"devices"}, .environment = {"OCL_ICD_VENDORS=/etc/OpenCL/vendors"}},
        {.arguments = {"devices"}, .environment = {"OCL_ICD_VENDORS=/etc/OpenCL/vendors/"}},
        {.arguments = {"devices"}, .environment = {POCL_ALONE}},
        {.arguments = {"devices"}, .environment = {"OCL_ICD_VENDORS=pocl.icd"}},
        {.arguments = {"devices"}, .environment = {library}},
        {.arguments = {"devices"}, .environment = {"OCL_ICD_VENDORS=/etc/OpenCL", files}},
    };
    static const char *const parts[] = {"opencl:pocl:0", NULL};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        expect(fixture, &calls[i], 0, parts);
    const struct call nothing = {.arguments = {"devices"},
                                 .environment = {"OCL_ICD_VENDORS=/nonexistent/place"}};
    static const char *const repeated[] = {"OCL_ICD_VENDORS", "/nonexistent/place", NULL};
    expect(fixture, &nothing, 3, repeated);
}

/* Some limits make the driver abort, some make its library fail to load: never success with an
 * empty list. */
static void test_devices_memory_limit(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* the sanitizer itself reserves terabytes */
#endif
    static const struct {
        rlim_t kib;
        const char *text;
    } limits[] = {{180000, "180000 KiB"}, {250000, "250000 KiB"}};
    for (size_t i = 0; i < 2; i++) {
        const struct call call = {.arguments = {"devices"},
                                  .environment = {POCL_ALONE},
                                  .address_space = limits[i].kib * 1024};
        struct outcome outcome = run(*state, &call);
        if (outcome.exit_code == 0)
            assert_says(outcome.out, "opencl:pocl:0");
        else {
            assert_int_equal(outcome.exit_code, 3);
            assert_says(outcome.err, limits[i].text);
            assert_says(outcome.err, "ulimit -v");
        }
        release(&outcome);
    }
}

static void test_wrong_use(void **state)
{
    static const char *const commands[] = {"devices", "doctor"};
    static const char *const argument[] = {"unexpected argument 'extra'", NULL};
    static const char *const option[] = {"--jsn", "json", NULL};
    for (size_t i = 0; i < 2; i++) {
        const struct call extra = {.arguments = {commands[i], "extra"}};
        expect(*state, &extra, 2, argument);
        const struct call misspelt = {.arguments = {commands[i], "--jsn"}};
        expect(*state, &misspelt, 2, option);
    }
}

/* A bad device selector stops a run before anything is measured. */
static void test_run_with_a_bad_selector(void **state)
{
    static const struct {
        const char *selector;
        int exit_code;
    } cases[] = {{"opencl:9:0", 2},  {"cuda:99", 2}, {"gpu:", 2},
                 {"--device=-1", 2}, {"gpu", 3},     {"Radeon", 3}};
    static const char *const parts[] = {"opencl:pocl:0", NULL};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char config[2048];
        bool whole = cases[i].selector[0] == '-';
        struct call call = {.arguments = {"run", small_config(*state, config), "-o", "/dev/null",
                                          whole ? cases[i].selector : "-d",
                                          whole ? NULL : cases[i].selector},
                            .environment = {POCL_ALONE}};
        expect(*state, &call, cases[i].exit_code, parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_devices_stock_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_empty_platform_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_one_library_registered_twice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_devices_two_kinds_on_one_processor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_alike_without_identity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_identity_from_the_driver, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_two_hundred, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_long_texts_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_type_is_what_the_driver_says, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_devices_unusable_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_without_a_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_render_node_not_permitted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_forms_of_the_loader_variables, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_devices_memory_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_with_a_bad_selector, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
