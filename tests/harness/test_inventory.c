/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding drivers and listing their devices. Registrations are made in a temporary directory; the
 * worker that lists is this program itself, and the "library" tells it how to behave: no driver is
 * involved. */
#include "harness/inventory.h"
#include "harness/inventory_parts.h"
#include "harness/process.h"
#include "harness/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the worker ---- */

static json_t *device_json(const char *name)
{
    struct device_info info = {.type = DEVICE_GPU, .available = true};
    snprintf(info.name, sizeof info.name, "%s", name);
    snprintf(info.id, sizeof info.id, "opencl:7"); /* the inventory gives its own ids */
    return device_info_to_json(&info);
}

/* "/…/two.so" and "two.so" behave alike: the base name decides. */
static json_t *list_reply(const char *library)
{
    const char *slash = strrchr(library, '/');
    const char *how = slash != NULL ? slash + 1 : library;
    signal(SIGABRT, SIG_DFL);
    if (strcmp(how, "crash.so") == 0) {
        fprintf(stderr, "LLVM ERROR: option registered more than once\n");
        raise(SIGABRT);
    }
    while (strcmp(how, "hang.so") == 0)
        pause();
    if (strcmp(how, "broken.so") == 0)
        return json_pack("{s:b,s:s,s:i,s:s}", "ok", 0, "code", "nothing", "native", -1001,
                         "message", "OpenCL loader found, but 'broken.so' gives it no platform");
    if (getenv("TEST_NO_LOADER") != NULL)
        return json_pack("{s:b,s:s,s:i,s:s}", "ok", 0, "code", "nothing", "native", 0, "message",
                         "no OpenCL loader: tried 'libOpenCL.so.1' and 'libOpenCL.so'");
    json_t *devices = json_array();
    if (strcmp(how, "empty.so") != 0 && library[0] != '\0')
        json_array_append_new(devices, device_json("Example X1"));
    if (strcmp(how, "two.so") == 0)
        json_array_append_new(devices, device_json("Example X2"));
    for (int i = 0; i < 200 && strcmp(how, "many.so") == 0; i++)
        json_array_append_new(devices, device_json("Example X3"));
    return json_pack("{s:b,s:s,s:o}", "ok", 1, "platform", "Example Platform", "devices", devices);
}

static int worker_main(int argc, char **argv)
{
    const char *library = argc > 5 ? argv[5] : "";
    if (strcmp(argv[3], "host") == 0)
        library = "two.so";
    for (json_t *request = process_read_request(); request != NULL;
         request = process_read_request()) {
        json_t *reply = list_reply(library);
        process_write_reply(reply);
        json_decref(reply);
        json_decref(request);
    }
    return 0;
}

/* ---- the tests ---- */

struct fixture {
    char place[SCRATCH_PATH_BYTES];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error err = {0};
    if (fixture == NULL || scratch_create(fixture->place, &err) != CODE_OK)
        return -1;
    unsetenv("OCL_ICD_FILENAMES");
    unsetenv("POCL_CACHE_DIR");
    unsetenv("TEST_NO_LOADER");
    setenv("OCL_ICD_VENDORS", fixture->place, 1);
    setenv("ASSAY_DEV_DRI", "/nonexistent", 1);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    scratch_remove(fixture->place);
    free(fixture);
    return 0;
}

static const char *path_in(const struct fixture *fixture, const char *name, char path[2048])
{
    snprintf(path, 2048, "%s/%s", fixture->place, name);
    return path;
}

static void write_file(const struct fixture *fixture, const char *name, const char *text)
{
    char path[2048];
    FILE *file = fopen(path_in(fixture, name, path), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct inventory *load(void)
{
    struct inventory *inventory = NULL;
    struct error err = {0};
    if (inventory_load(&inventory, &err) != CODE_OK)
        fail_msg("inventory_load: %s", err.message);
    return inventory;
}

static const struct inventory_driver *driver_named(const struct inventory *inventory,
                                                   const char *name)
{
    static const struct inventory_driver none = {.name = "none"};
    for (size_t i = 0; i < inventory->driver_count; i++)
        if (strcmp(inventory->drivers[i].name, name) == 0)
            return &inventory->drivers[i];
    fail_msg("no driver '%s'", name);
    return &none;
}

static void assert_says(const char *message, const char *part)
{
    if (strstr(message, part) == NULL)
        fail_msg("'%s' does not say '%s'", message, part);
}

static void test_icds_are_read_in_order(void **state)
{
    write_file(*state, "b.icd", "libb.so.1\n");
    write_file(*state, "a.icd", "  /opt/liba.so\t\r\nsecond line\n");
    write_file(*state, "c.icd", "libc-without-line-end.so");
    write_file(*state, "readme.txt", "not a registration\n");
    write_file(*state, "d.icd.disabled", "libd.so\n");
    struct inventory inventory = {0};
    inventory_find_icds(&inventory);
    assert_int_equal(inventory.driver_count, 3);
    static const char *const names[] = {"a", "b", "c"};
    static const char *const libraries[] = {"/opt/liba.so", "libb.so.1",
                                            "libc-without-line-end.so"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(inventory.drivers[i].name, names[i]);
        assert_string_equal(inventory.drivers[i].library, libraries[i]);
        assert_string_equal(inventory.drivers[i].backend, "opencl");
        assert_int_equal(inventory.drivers[i].state, DRIVER_OK);
    }
    free(inventory.drivers);
}

static void test_icds_broken_are_entries(void **state)
{
    const struct fixture *fixture = *state;
    char path[2048], long_line[3000];
    write_file(fixture, "empty.icd", "");
    write_file(fixture, "blank.icd", "  \nlib.so\n");
    memset(long_line, 'x', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    write_file(fixture, "long.icd", long_line);
    write_file(fixture, "binary.icd",
               "\x7f"
               "ELF\xff\xfe\n");
    assert_int_equal(mkdir(path_in(fixture, "directory.icd", path), 0700), 0);
    assert_int_equal(symlink("/nonexistent/target", path_in(fixture, "dangling.icd", path)), 0);
    struct inventory inventory = {0};
    inventory_find_icds(&inventory);
    assert_int_equal(inventory.driver_count, 6);
    static const char *const parts[][2] = {
        {"binary", "not text"},         {"blank", "blank"},    {"dangling", "No such file"},
        {"directory", "not a regular"}, {"empty", "is empty"}, {"long", "longer than 1023"},
    };
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(inventory.drivers[i].name, parts[i][0]);
        assert_int_equal(inventory.drivers[i].state, DRIVER_FAILED);
        assert_says(inventory.drivers[i].reason, parts[i][1]);
    }
    free(inventory.drivers);
}

/* The forms of the loaders' variables: a directory with a slash, one .icd file, a library, a list.
 */
static void test_icds_forms_of_the_variables(void **state)
{
    const struct fixture *fixture = *state;
    char path[2048], list[4200];
    write_file(fixture, "a.icd", "liba.so\n");
    write_file(fixture, "b.icd", "libb.so\n");
    write_file(fixture, "libdirect.so.1.2", "");
    snprintf(list, sizeof list, "%s/", fixture->place);
    static const struct {
        const char *vendors; /* below the place; NULL: list as it stands */
        size_t count;
        const char *first;
    } forms[] = {
        {"", 2, "a"}, {"/", 2, "a"}, {"/b.icd", 1, "b"}, {"/libdirect.so.1.2", 1, "direct"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        snprintf(path, sizeof path, "%s%s", fixture->place, forms[i].vendors);
        setenv("OCL_ICD_VENDORS", path, 1);
        struct inventory inventory = {0};
        inventory_find_icds(&inventory);
        assert_int_equal(inventory.driver_count, forms[i].count);
        assert_string_equal(inventory.drivers[0].name, forms[i].first);
        free(inventory.drivers);
    }
    snprintf(list, sizeof list, "%s/a.icd::libother.so.3", fixture->place);
    setenv("OCL_ICD_FILENAMES", list, 1);
    snprintf(path, sizeof path, "%s/b.icd", fixture->place);
    setenv("OCL_ICD_VENDORS", path, 1);
    struct inventory inventory = {0};
    inventory_find_icds(&inventory);
    assert_int_equal(inventory.driver_count, 3);
    assert_string_equal(inventory.drivers[1].name, "a");
    assert_string_equal(inventory.drivers[2].name, "other");
    assert_string_equal(inventory.drivers[2].library, "libother.so.3");
    free(inventory.drivers);
}

static void test_icds_names_are_unique_and_plain(void **state)
{
    const struct fixture *fixture = *state;
    char list[4200];
    write_file(fixture, "my card:1.icd", "libx.so\n");
    write_file(fixture, "x.icd", "liby.so\n");
    snprintf(list, sizeof list, "%s/x.icd:libx.so.1:libX.so.2", fixture->place);
    setenv("OCL_ICD_FILENAMES", list, 1);
    struct inventory inventory = {0};
    inventory_find_icds(&inventory);
    static const char *const names[] = {"my_card_1", "x", "x#2", "x#3", "X#4"};
    assert_int_equal(inventory.driver_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(inventory.drivers[i].name, names[i]);
    free(inventory.drivers);
}

static void test_icds_variable_names_nothing(void **state)
{
    (void)state;
    setenv("OCL_ICD_VENDORS", "/nonexistent/vendors", 1);
    struct inventory inventory = {0};
    inventory_find_icds(&inventory);
    assert_int_equal(inventory.driver_count, 1);
    assert_int_equal(inventory.drivers[0].state, DRIVER_FAILED);
    assert_says(inventory.drivers[0].reason, "OCL_ICD_VENDORS names '/nonexistent/vendors'");
    free(inventory.drivers);
}

/* A crashing, a hanging, an empty, a broken and a missing driver hide neither each other nor the
 * good ones. */
static void test_load_each_driver_alone(void **state)
{
    const struct fixture *fixture = *state;
    write_file(fixture, "a-crash.icd", "crash.so\n");
    write_file(fixture, "b-empty.icd", "empty.so\n");
    write_file(fixture, "c-hang.icd", "hang.so\n");
    write_file(fixture, "d-broken.icd", "broken.so\n");
    write_file(fixture, "e-void.icd", "");
    write_file(fixture, "f-two.icd", "two.so\n");
    setenv("ASSAY_LIST_TIMEOUT_MS", "2000", 1);
    struct inventory *inventory = load();
    unsetenv("ASSAY_LIST_TIMEOUT_MS");
    const struct inventory_driver *crash = driver_named(inventory, "a-crash");
    assert_int_equal(crash->state, DRIVER_CRASHED);
    assert_says(crash->reason, "opencl");
    assert_says(crash->reason, "signal 6 (SIGABRT)");
    assert_says(crash->reason, "LLVM ERROR: option registered more than once");
    assert_int_equal(driver_named(inventory, "b-empty")->state, DRIVER_EMPTY);
    assert_says(driver_named(inventory, "b-empty")->reason, "'Example Platform' gives no device");
    assert_int_equal(driver_named(inventory, "c-hang")->state, DRIVER_TIMEOUT);
    assert_says(driver_named(inventory, "c-hang")->reason, "2 s");
    assert_int_equal(driver_named(inventory, "d-broken")->state, DRIVER_FAILED);
    assert_int_equal(driver_named(inventory, "e-void")->state, DRIVER_FAILED);
    assert_int_equal(driver_named(inventory, "f-two")->state, DRIVER_OK);
    assert_int_equal(inventory->device_count, 4);
    assert_string_equal(inventory->devices[0].info.id, "opencl:f-two:0");
    assert_string_equal(inventory->devices[1].info.id, "opencl:f-two:1");
    assert_int_equal(inventory->devices[1].index, 1);
    assert_string_equal(inventory->devices[1].info.name, "Example X2");
    assert_true(inventory_has_accelerator(inventory));
    assert_string_equal(inventory->loader, "");
    inventory_destroy(inventory);
}

/* The same library twice: by the same text, and by a link to it. A copy is another library. */
static void test_load_duplicates(void **state)
{
    const struct fixture *fixture = *state;
    char library[2048], copy[2048], link[2048], line[2100];
    write_file(fixture, "one.so", "");
    write_file(fixture, "two.so", "");
    path_in(fixture, "one.so", library);
    path_in(fixture, "two.so", copy);
    assert_int_equal(symlink(library, path_in(fixture, "link.so", link)), 0);
    snprintf(line, sizeof line, "%s\n", library);
    write_file(fixture, "a.icd", line);
    write_file(fixture, "b.icd", line);
    snprintf(line, sizeof line, "%s\n", link);
    write_file(fixture, "c.icd", line);
    snprintf(line, sizeof line, "%s\n", copy);
    write_file(fixture, "d.icd", line);
    struct inventory *inventory = load();
    assert_int_equal(driver_named(inventory, "a")->state, DRIVER_OK);
    static const char *const duplicates[] = {"b", "c"};
    for (size_t i = 0; i < 2; i++) {
        const struct inventory_driver *driver = driver_named(inventory, duplicates[i]);
        assert_int_equal(driver->state, DRIVER_DUPLICATE);
        assert_says(driver->reason, "'a'");
        assert_says(driver->reason, "a.icd");
        assert_int_equal(driver->duplicate_of, 0);
    }
    assert_int_equal(driver_named(inventory, "d")->state, DRIVER_OK);
    size_t selected[16], count = 0;
    struct error err = {0};
    static const char *const opencl[] = {"opencl"};
    assert_int_equal(inventory_select(inventory, opencl, 1, selected, &count, &err), CODE_OK);
    assert_int_equal(count, 3); /* one of a, two of d */
    inventory_destroy(inventory);
}

/* A library that crashes is not tried again under its second name. */
static void test_load_duplicate_of_a_crash(void **state)
{
    write_file(*state, "a.icd", "crash.so\n");
    write_file(*state, "b.icd", "crash.so\n");
    struct inventory *inventory = load();
    assert_int_equal(driver_named(inventory, "a")->state, DRIVER_CRASHED);
    assert_int_equal(driver_named(inventory, "b")->state, DRIVER_DUPLICATE);
    assert_false(inventory_has_accelerator(inventory));
    inventory_destroy(inventory);
}

static void test_load_many_devices(void **state)
{
    write_file(*state, "m.icd", "many.so\n");
    struct inventory *inventory = load();
    assert_int_equal(inventory->device_count, 203); /* 200 and the first, and two of the host */
    assert_string_equal(inventory->devices[200].info.id, "opencl:m:200");
    size_t selected[256], count = 0;
    struct error err = {0};
    static const char *const last[] = {"opencl:0:200"}, *const beyond[] = {"opencl:0:201"};
    assert_int_equal(inventory_select(inventory, last, 1, selected, &count, &err), CODE_OK);
    assert_int_equal(selected[0], 200);
    assert_int_equal(inventory_select(inventory, beyond, 1, selected, &count, &err), CODE_USAGE);
    assert_says(err.message, "opencl:m:0 to opencl:m:200");
    inventory_destroy(inventory);
}

static void assert_explains(const struct inventory *inventory, const char *part)
{
    struct text text = {0};
    inventory_explain(inventory, &text);
    assert_says(text_string(&text), part);
    text_release(&text);
}

static void test_explain_nothing_registered(void **state)
{
    const struct fixture *fixture = *state;
    struct inventory *inventory = load();
    assert_false(inventory_has_accelerator(inventory));
    assert_string_equal(inventory->loader, "");
    assert_explains(inventory, "no driver registered");
    assert_explains(inventory, "OCL_ICD_VENDORS");
    assert_explains(inventory, fixture->place);
    assert_explains(inventory, "pocl-opencl-icd");
    inventory_destroy(inventory);
}

/* The loader's absence is found with and without registered drivers. */
static void test_explain_no_loader(void **state)
{
    setenv("TEST_NO_LOADER", "1", 1);
    struct inventory *inventory = load();
    assert_explains(inventory, "tried 'libOpenCL.so.1' and 'libOpenCL.so'");
    inventory_destroy(inventory);
    write_file(*state, "a.icd", "one.so\n");
    inventory = load();
    assert_says(inventory->loader, "no OpenCL loader");
    assert_explains(inventory, "no OpenCL loader");
    inventory_destroy(inventory);
}

static void test_explain_all_empty(void **state)
{
    write_file(*state, "a.icd", "empty.so\n");
    write_file(*state, "b.icd", "./empty.so\n");
    write_file(*state, "c.icd", "crash.so\n");
    struct inventory *inventory = load();
    assert_explains(inventory, "3 platforms, 0 devices");
    assert_explains(inventory, "SIGABRT");
    inventory_destroy(inventory);
}

/* ---- hints ---- */

static void assert_hint(bool (*hint)(struct text *), const char *part)
{
    struct text text = {0};
    bool wrong = hint(&text);
    if (part == NULL && wrong)
        fail_msg("'%s' is not expected", text_string(&text));
    if (part != NULL) {
        assert_true(wrong);
        assert_says(text_string(&text), part);
    }
    text_release(&text);
}

static void test_hint_cache(void **state)
{
    const struct fixture *fixture = *state;
    char path[2048];
    assert_hint(hint_cache, NULL);
    write_file(fixture, "plain", "");
    setenv("POCL_CACHE_DIR", path_in(fixture, "plain", path), 1);
    assert_hint(hint_cache, "is no directory");
    assert_hint(hint_cache, path);
    setenv("POCL_CACHE_DIR", "/proc/nope", 1);
    assert_hint(hint_cache, "unwritable");
    assert_hint(hint_cache, "/proc/nope");
    setenv("POCL_CACHE_DIR", fixture->place, 1);
    assert_hint(hint_cache, NULL);
    setenv("POCL_CACHE_DIR", path_in(fixture, "new/deep er/Prüfstand", path), 1);
    assert_hint(hint_cache, NULL);
    struct stat status;
    assert_int_not_equal(stat(path_in(fixture, "new", path), &status),
                         0); /* the trial left nothing */
}

/* As a user without rights: a root process may open anything. */
static void test_hint_render_nodes(void **state)
{
    const struct fixture *fixture = *state;
    char path[2048];
    setenv("ASSAY_DEV_DRI", fixture->place, 1);
    assert_hint(hint_render_nodes, NULL);
    write_file(fixture, "renderD128", "");
    write_file(fixture, "card0", "");
    assert_int_equal(chmod(path_in(fixture, "card0", path), 0), 0);
    assert_int_equal(chmod(fixture->place, 0755), 0);
    assert_int_equal(chmod(path_in(fixture, "renderD128", path), 0666), 0);
    assert_hint(hint_render_nodes, NULL);
    assert_int_equal(chmod(path_in(fixture, "renderD128", path), 0), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        struct text text = {0};
        bool right = hint_render_nodes(&text) &&
                     strstr(text_string(&text), "renderD128 exists but") != NULL &&
                     strstr(text_string(&text), "(groups ") != NULL &&
                     strstr(text_string(&text), "card0") == NULL;
        text_release(&text);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_hint_limits(void **state)
{
    (void)state;
    assert_hint(hint_limits, NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = (rlim_t)1 << 45; /* far above what the sanitizers map */
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(2);
        struct text text = {0};
        bool right = hint_limits(&text) && strstr(text_string(&text), "34359738368 KiB") != NULL;
        text_release(&text);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_hint_of_known_drivers(void **state)
{
    (void)state;
    static const struct {
        struct inventory_driver driver;
        const char *part;
    } known[] = {
        {{.name = "rusticl", .state = DRIVER_EMPTY}, "RUSTICL_ENABLE=llvmpipe"},
        {{.name = "mesa", .library = "libMesaOpenCL.so.1", .state = DRIVER_EMPTY}, "Clover"},
        {{.name = "x", .platform = "Portable Computing Language", .state = DRIVER_EMPTY},
         "POCL_CACHE_DIR"},
        {{.name = "pocl", .state = DRIVER_CRASHED}, "may be damaged"},
    };
    const struct fixture *fixture = *state;
    unsetenv("RUSTICL_ENABLE");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct text text = {0};
        setenv("POCL_CACHE_DIR", i == 3 ? fixture->place : "/proc/nope", 1);
        hint_driver(&known[i].driver, &text);
        assert_says(text_string(&text), known[i].part);
        text_release(&text);
    }
    struct text text = {0};
    setenv("POCL_CACHE_DIR", fixture->place, 1);
    hint_device(&known[0].driver, &text);
    assert_string_equal(text_string(&text), ""); /* rusticl has no such cache */
    hint_device(&known[3].driver, &text);
    assert_says(text_string(&text), "clear it if they fail to build");
    text_release(&text);
    unsetenv("POCL_CACHE_DIR");
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "worker") == 0)
        return worker_main(argc, argv);
    setenv("ASSAY_WORKER_PROGRAM", "/proc/self/exe", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_icds_are_read_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_icds_broken_are_entries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_icds_forms_of_the_variables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_icds_names_are_unique_and_plain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_icds_variable_names_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_load_each_driver_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_load_duplicates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_load_duplicate_of_a_crash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_load_many_devices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explain_nothing_registered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explain_no_loader, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explain_all_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hint_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hint_render_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hint_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hint_of_known_drivers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
