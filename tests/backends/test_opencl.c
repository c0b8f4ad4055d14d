/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend on the real drivers of this machine: conformance on PoCL and on Mesa's
 * rusticl, and finding and loading drivers. Each test has a process of its own, because a loader
 * reads its settings once. */
#define _DEFAULT_SOURCE /* chroot */

#include "tests/backends/conformance.h"

#include "tests/backends/child.h"

#include <dirent.h>
#include <sys/stat.h>

static const char pocl[] = "/etc/OpenCL/vendors/pocl.icd";
static const char rusticl[] = "/etc/OpenCL/vendors/rusticl.icd";

static void require(const char *path)
{
    if (access(path, R_OK) != 0) {
        print_message("no '%s' here\n", path);
        skip();
    }
}

/* ---- conformance ---- */

static void child_conformance(struct child *child)
{
    child_say(child, "failed=%d", conformance_run(conformance.library));
}

static void run_conformance(const char *library, const char *const *environment)
{
    static struct child child;
    require(library);
    conformance.backend = "opencl";
    conformance.library = library;
    conformance.compiles = true;
    child_run(&child, environment, child_conformance, CHILD_SECONDS);
    assert_string_equal(child.text, "failed=0");
}

static void test_conformance_pocl(void **state)
{
    (void)state;
    conformance.lies[WAIT_FINISH] = false;
    run_conformance(pocl, NULL);
}

static void test_conformance_rusticl(void **state)
{
    (void)state;
    static const char *const environment[] = {"RUSTICL_ENABLE=llvmpipe", NULL};
    conformance.lies[WAIT_FINISH] = true; /* Mesa 22.3: clFinish after clFlush returns at once */
    run_conformance(rusticl, environment);
}

/* ---- finding drivers ---- */

static const char *library_to_open;

static void say_open(struct child *child, const char *library)
{
    struct backend_driver *driver = NULL;
    const struct device_info *infos;
    struct error err = {0};
    enum code code = driver_open(backend_find("opencl"), library, &driver, &err);
    if (code == CODE_OK) {
        size_t count = driver_devices(driver, &infos);
        child_say(child, "ok devices=%zu", count);
        for (size_t i = 0; i < count; i++)
            child_say(child, " %s=%s/%s", infos[i].id, infos[i].platform,
                      device_type_name(infos[i].type));
    } else {
        child_say(child, "%s: %s", code_name(code), err.message);
    }
    driver_close(driver);
}

static void child_open(struct child *child)
{
    say_open(child, library_to_open);
}

static const char *open_in_child(const char *library, const char *const *environment)
{
    static struct child child;
    library_to_open = library;
    child_run(&child, environment, child_open, CHILD_SECONDS);
    assert_int_equal(child.status, 0);
    return child.text;
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not contain '%s'", text, part);
}

static void test_driver_open_one_library(void **state)
{
    (void)state;
    static const char *const environment[] = {"RUSTICL_ENABLE=llvmpipe",
                                              "OCL_ICD_FILENAMES=/nonexistent.so", NULL};
    require(pocl);
    require(rusticl);
    assert_string_equal(open_in_child(pocl, environment),
                        "ok devices=1 opencl:0=Portable Computing Language/cpu");
    assert_string_equal(open_in_child(rusticl, environment), "ok devices=1 opencl:0=rusticl/cpu");
    assert_string_equal(open_in_child("libpocl.so.2", environment),
                        "ok devices=1 opencl:0=Portable Computing Language/cpu");
}

static void test_driver_open_empty_platform(void **state)
{
    (void)state;
    require(pocl);
    require(rusticl);
    unsetenv("RUSTICL_ENABLE");
    assert_string_equal(open_in_child(rusticl, NULL), "ok devices=0");
    /* an empty platform before or after does not hide the other's device */
    expect_text(open_in_child("", NULL), "ok devices=1 ");
}

static void test_driver_open_no_driver(void **state)
{
    (void)state;
    char directory[] = "/tmp/assay-test-XXXXXX";
    char setting[64];
    assert_non_null(mkdtemp(directory));
    snprintf(setting, sizeof setting, "OCL_ICD_VENDORS=%s", directory);
    const char *const environment[] = {setting, NULL};
    const char *text = open_in_child(NULL, environment);
    expect_text(text, "nothing: OpenCL loader found, no driver registered");
    expect_text(text, directory);
    expect_text(text, "install");
    rmdir(directory);
}

static void test_driver_open_no_such_library(void **state)
{
    (void)state;
    expect_text(open_in_child("/nonexistent/libexample.so", NULL), "nothing: ");
    expect_text(open_in_child("/nonexistent/libexample.so", NULL),
                "'/nonexistent/libexample.so': No such file");
    expect_text(open_in_child("/etc/passwd", NULL),
                "nothing: OpenCL loader found, but '/etc/passwd' gives it no");
    expect_text(open_in_child("/nonexistent/example.icd", NULL),
                "'/nonexistent/example.icd': No such file");
}

static void child_two_libraries(struct child *child)
{
    say_open(child, pocl);
    child_say(child, "|");
    say_open(child, pocl);
    child_say(child, "|");
    say_open(child, rusticl);
}

static void test_driver_open_second_library(void **state)
{
    (void)state;
    static struct child child;
    require(pocl);
    child_run(&child, NULL, child_two_libraries, CHILD_SECONDS);
    assert_int_equal(child.status, 0);
    assert_string_equal(child.text, "ok devices=1 opencl:0=Portable Computing Language/cpu|"
                                    "ok devices=1 opencl:0=Portable Computing Language/cpu|"
                                    "usage: the OpenCL loader of this process was opened for "
                                    "'/etc/OpenCL/vendors/pocl.icd' and cannot be opened for "
                                    "'/etc/OpenCL/vendors/rusticl.icd' as well");
}

static void test_driver_open_leaves_no_directory(void **state)
{
    (void)state;
    char directory[] = "/tmp/assay-test-XXXXXX";
    char setting[64];
    require(pocl);
    assert_non_null(mkdtemp(directory));
    snprintf(setting, sizeof setting, "TMPDIR=%s", directory);
    const char *const environment[] = {setting, NULL};
    expect_text(open_in_child(pocl, environment), "ok devices=1");
    expect_text(open_in_child("/etc/passwd", environment), "nothing: ");
    assert_int_equal(rmdir(directory), 0); /* fails if anything is in it */
}

/* A root directory that holds no loader, or only one under its unversioned name. */
static void child_in_root(struct child *child)
{
    if (chroot(library_to_open) != 0 || chdir("/") != 0)
        child_say(child, "cannot chroot");
    else
        say_open(child, NULL);
}

static void copy_loader(const char *target)
{
    char command[512];
    snprintf(command, sizeof command,
             "cp -L \"$(/sbin/ldconfig -p | sed -n 's/.*libOpenCL.so.1 .*=> //p' | head -n 1)\" %s",
             target);
    assert_int_equal(system(command), 0);
}

static void test_driver_open_loader_names(void **state)
{
    (void)state;
    static struct child child;
    char root[] = "/tmp/assay-test-XXXXXX";
    char path[64];
    if (geteuid() != 0) {
        print_message("needs chroot\n");
        skip();
    }
    assert_non_null(mkdtemp(root));
    library_to_open = root;
    child_run(&child, NULL, child_in_root, CHILD_SECONDS);
    expect_text(child.text, "nothing: no OpenCL loader: tried 'libOpenCL.so.1' and 'libOpenCL.so'");
    snprintf(path, sizeof path, "%s/usr", root);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/lib");
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/libOpenCL.so");
    copy_loader(path);
    child_run(&child, NULL, child_in_root, CHILD_SECONDS);
    expect_text(child.text, "nothing: OpenCL loader found, no driver registered");
    unlink(path);
    for (char *slash = strrchr(path, '/'); strlen(path) > strlen(root);
         slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
}

/* ---- wrong use ---- */

static void say(struct child *child, enum code code, const struct error *err)
{
    child_say(child, "%s: %s\n", code_name(code), code == CODE_OK ? "" : err->message);
}

static void say_wrong_launches(struct child *child, struct backend_device *device,
                               struct program *program, struct buffer *out)
{
    struct error err = {0};
    struct buffer *host = NULL;
    struct kernel *kernel = NULL;
    say(child, kernel_get(device, program, "ids", &kernel, &err), &err);
    struct launch launch = {.kernel = kernel, .global = {1, 1, 1}, .local = {1, 1, 1}};
    say(child, device_launch(device, &launch, &err), &err); /* an argument is missing */
    launch.arg_count = 2;
    launch.args[0] = (struct arg){.kind = ARG_BUFFER, .buffer = out};
    launch.args[1] = (struct arg){.kind = ARG_U32, .u32 = 1};
    say(child, device_launch(device, &launch, &err), &err); /* there is no second */
    say(child, buffer_create(device, MEMORY_PAGEABLE, 64, &host, &err), &err);
    launch.arg_count = 1;
    launch.args[0].buffer = host;
    say(child, device_launch(device, &launch, &err), &err);
    say(child, buffer_read(device, host->pointer, host, 0, 64, &err), &err);
    buffer_destroy(device, host);
}

static void say_wrong_timers(struct child *child, struct backend_device *device, struct buffer *out)
{
    struct error err = {0};
    struct timing timing;
    say(child, timer_stop(device, &timing, &err), &err);
    say(child, buffer_fill(device, out, 1, 64, &err), &err);
    say(child, timer_start(device, &err), &err);
    say(child, device_sync(device, &err), &err);
    say(child, timer_start(device, &err), &err);
    say(child, timer_stop(device, &timing, &err), &err);
    child_say(child, "%d %s\n", timing.has_device, timing.reason);
    enum code code = CODE_OK;
    int commands = 0;
    for (; code == CODE_OK && commands <= 262144; commands++)
        code = buffer_fill(device, out, 1, 1, &err);
    child_say(child, "%d ", commands);
    say(child, code, &err);
    say(child, device_sync(device, &err), &err);
}

static void child_misuse(struct child *child)
{
    struct error err = {0};
    struct backend_driver *driver = NULL;
    struct backend_device *device = NULL;
    struct program *program = NULL;
    struct buffer *out = NULL;
    struct program_source source = {.text = conformance_text, .options = "-cl-fast-relaxed-math"};
    say(child, driver_open(backend_find("opencl"), pocl, &driver, &err), &err);
    say(child, device_open(driver, 1, &device, &err), &err);
    say(child, device_open(driver, 0, &device, &err), &err);
    say(child, program_build(device, &source, &program, NULL, &err), &err);
    source.options = "";
    say(child, program_build(device, &source, &program, NULL, &err), &err);
    say(child, buffer_create(device, MEMORY_DEVICE, 64, &out, &err), &err);
    child_say(child, "|\n");
    say_wrong_launches(child, device, program, out);
    child_say(child, "|\n");
    say_wrong_timers(child, device, out);
    buffer_destroy(device, out);
    program_destroy(device, program);
    device_close(device);
    driver_close(driver);
}

static void test_wrong_use_is_told(void **state)
{
    (void)state;
    static struct child child;
    require(pocl);
    child_run(&child, NULL, child_misuse, CHILD_SECONDS);
    assert_int_equal(child.status, 0);
    assert_string_equal(
        child.text,
        "ok: \nusage: no device 1: the driver has 1\nok: \n"
        "usage: build option '-cl-fast-relaxed-math' changes results and is never used\nok: \nok: "
        "\n"
        "|\n"
        "ok: \n"
        "driver: kernel 'ids': clEnqueueNDRangeKernel failed: CL_INVALID_KERNEL_ARGS (-52)\n"
        "driver: argument 1 of kernel 'ids': clSetKernelArg failed: CL_INVALID_ARG_INDEX (-49)\n"
        "ok: \n"
        "usage: argument 0 of kernel 'ids' is no device buffer\n"
        "usage: a transfer needs a device buffer, this one is host memory\n"
        "|\n"
        "usage: the timer was not started\n"
        "ok: \n"
        "usage: a timer needs a dry queue: 1 commands are not known to be done\n"
        "ok: \nok: \nok: \n"
        "0 no command was enqueued between the start and the stop\n"
        "262145 usage: 262144 commands since the last sync, of at most 262144\n"
        "ok: \n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conformance_pocl),
        cmocka_unit_test(test_conformance_rusticl),
        cmocka_unit_test(test_driver_open_one_library),
        cmocka_unit_test(test_driver_open_empty_platform),
        cmocka_unit_test(test_driver_open_no_driver),
        cmocka_unit_test(test_driver_open_no_such_library),
        cmocka_unit_test(test_driver_open_second_library),
        cmocka_unit_test(test_driver_open_leaves_no_directory),
        cmocka_unit_test(test_driver_open_loader_names),
        cmocka_unit_test(test_wrong_use_is_told),
    };
    char cache[] = "/tmp/assay-test-cache-XXXXXX";
    char remove[64];
    if (mkdtemp(cache) == NULL)
        return 1;
    setenv("POCL_CACHE_DIR", cache, 1);
    unsetenv("OPENCL_LAYERS");
    int failed = cmocka_run_group_tests_name("backends/opencl", tests, NULL, NULL);
    snprintf(remove, sizeof remove, "rm -rf %s", cache);
    return system(remove) == 0 ? failed : failed + 1;
}
