/* SPDX-License-Identifier: Apache-2.0
 *
 * What `assay devices` and `assay doctor` say of what is missing or broken: loader, registrations,
 * drivers, caches, rights. */
#include "program.h"

/* ---- what is missing ---- */

static void test_devices_no_registration(void **state)
{
    char variable[2048];
    make_vendors(*state, "none", variable);
    const char *const parts[] = {"OpenCL loader found, no driver registered", "pocl-opencl-icd",
                                 variable + 16, "host:one", NULL};
    const struct call call = {.arguments = {"devices"}, .environment = {variable}};
    expect(*state, &call, 3, parts);
    const struct call doctor = {.arguments = {"doctor"}, .environment = {variable}};
    static const char *const advice[] = {"problem  registered OpenCL drivers: none in",
                                         "ok       OpenCL loader", NULL};
    expect(*state, &doctor, 3, advice);
}

/* Files that are no libraries stand before the real ones: as if there were none. Then one under the
 * second name. */
static void test_devices_loader_names(void **state)
{
    const struct fixture *fixture = *state;
    char variable[2048], path[2048];
    snprintf(path, sizeof path, "%s/loader", fixture->place);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=%.1024s", path);
    write_text(fixture, "loader/libOpenCL.so.1", "");
    write_text(fixture, "loader/libOpenCL.so", "");
    const struct call call = {.arguments = {"devices"}, .environment = {variable}};
    static const char *const parts[] = {"no OpenCL loader", "'libOpenCL.so.1' and 'libOpenCL.so'",
                                        "ocl-icd-libopencl1", NULL};
    expect(fixture, &call, 3, parts);
    const struct call doctor = {.arguments = {"doctor"}, .environment = {variable}};
    static const char *const problem[] = {"problem  OpenCL loader: no OpenCL loader", NULL};
    expect(fixture, &doctor, 3, problem);
    assert_true(strlen(fixture->pocl) > 0);
    char directory[1024], source[1100], target[2100];
    snprintf(directory, sizeof directory, "%s", fixture->pocl);
    *strrchr(directory, '/') = '\0';
    snprintf(source, sizeof source, "%s/libOpenCL.so.1", directory);
    snprintf(target, sizeof target, "%s/libOpenCL.so", path);
    if (access(source, R_OK) != 0)
        return; /* the loader stands elsewhere */
    copy_file(source, target);
    static const char *const found[] = {"opencl:pocl:0", NULL};
    expect(fixture, &call, 0, found);
}

static void test_devices_broken_registrations(void **state)
{
    const struct fixture *fixture = *state;
    char variable[2048], line[1100];
    make_vendors(fixture, "broken", variable);
    write_text(fixture, "broken/a.icd", "");
    write_text(fixture, "broken/b.icd", "/nonexistent/libdriver.so\n");
    write_text(fixture, "broken/c.icd", "libm.so.6\n"); /* a library, and no driver */
    snprintf(line, sizeof line, "%s\n", fixture->pocl);
    write_text(fixture, "broken/d.icd", line);
    static const char *const parts[] = {
        "opencl:d:0",         "opencl:a  failed: the .icd file is empty",
        "opencl:b  failed: ", "/nonexistent/libdriver.so",
        "opencl:c  failed: ", NULL};
    const struct call call = {.arguments = {"devices"}, .environment = {variable}};
    expect(fixture, &call, 0, parts);
}

/* A driver that aborts when it is loaded, compiled here. It hides no other and is named with its
 * signal. */
static void test_devices_driver_that_aborts(void **state)
{
    const struct fixture *fixture = *state;
    char variable[2048], command[4096], line[1100];
    make_vendors(fixture, "abort", variable);
    write_text(fixture, "abort/driver.c",
               "#include <stdio.h>\n#include <stdlib.h>\n"
               "__attribute__((constructor)) static void start(void)\n"
               "{ fputs(\"LLVM ERROR: option registered twice\\n\", stderr); abort(); }\n");
    snprintf(command, sizeof command,
             "cc -shared -fPIC -o '%s/abort/driver.so' '%s/abort/driver.c'", fixture->place,
             fixture->place);
    if (system(command) != 0)
        skip(); /* an installed tree without a compiler */
    snprintf(line, sizeof line, "%s/abort/driver.so\n", fixture->place);
    write_text(fixture, "abort/a.icd", line);
    static const char *const alone[] = {"1 platform, 0 devices",
                                        "opencl worker died of signal 6 (SIGABRT)",
                                        "LLVM ERROR: option registered twice", NULL};
    const struct call call = {.arguments = {"devices"}, .environment = {variable}};
    expect(fixture, &call, 3, alone);
    snprintf(line, sizeof line, "%s\n", fixture->pocl);
    write_text(fixture, "abort/b.icd", line);
    static const char *const parts[] = {"opencl:b:0", "opencl:a  crashed: ", "signal 6 (SIGABRT)",
                                        NULL};
    expect(fixture, &call, 0, parts);
    const struct call doctor = {.arguments = {"doctor"}, .environment = {variable}};
    static const char *const problem[] = {"problem  driver opencl:a: crashed",
                                          "ok       driver opencl:b: 1 device", NULL};
    expect(fixture, &doctor, 0, problem);
}

/* The real library beside a copy of it: in one process that aborts, each alone does not hurt the
 * other. */
static void test_devices_copy_of_a_driver(void **state)
{
    const struct fixture *fixture = *state;
    char variable[2048], copy[2048], line[2100];
    make_vendors(fixture, "copy", variable);
    snprintf(copy, sizeof copy, "%s/copy/libpocl-copy.so", fixture->place);
    copy_file(fixture->pocl, copy);
    snprintf(line, sizeof line, "%s\n", copy);
    write_text(fixture, "copy/a.icd", line);
    snprintf(line, sizeof line, "%s\n", fixture->pocl);
    write_text(fixture, "copy/b.icd", line);
    const struct call call = {.arguments = {"devices", "--json"}, .environment = {variable}};
    json_t *json = json_of(fixture, &call, 0);
    assert_true(json_is_false(json_object_get(device_with_id(json, "opencl:b:0"), "duplicate")));
    const json_t *driver = json_array_get(json_object_get(json, "drivers"), 0);
    assert_string_equal(string_of(driver, "name"), "a");
    assert_string_not_equal(string_of(driver, "state"), "duplicate");
    json_decref(json);
}

/* ---- doctor, and use of both ---- */

static void test_doctor_healthy(void **state)
{
    const struct call call = {.arguments = {"doctor", "--json"},
                              .environment = {POCL_ALONE, "POCL_DEBUG=0"}};
    json_t *json = json_of(*state, &call, 0);
    assert_true(json_is_true(json_object_get(json, "healthy")));
    assert_int_equal(json_integer_value(json_object_get(json, "devices")), 1);
    size_t index = 0, variables = 0;
    const json_t *finding = NULL;
    json_array_foreach(json_object_get(json, "findings"), index, finding)
    {
        if (strcmp(string_of(finding, "state"), "problem") == 0)
            fail_msg("problem: %s", string_of(finding, "message"));
        bool environment = strcmp(string_of(finding, "check"), "environment") == 0;
        variables +=
            environment && strstr(string_of(finding, "message"), "POCL_DEBUG='0'") != NULL ? 1 : 0;
    }
    assert_int_equal(variables, 1);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_devices_no_registration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_loader_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_broken_registrations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_driver_that_aborts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_copy_of_a_driver, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_doctor_healthy, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
