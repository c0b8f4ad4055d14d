/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection of devices on made-up inventories: every form, and every way to get it wrong. */
#include "harness/inventory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { DEVICES_MAX = 8 };

static struct inventory_driver drivers[] = {
    {.backend = "opencl", .name = "mesa", .state = DRIVER_EMPTY, .reason = "gives no device"},
    {.backend = "opencl", .name = "pocl", .state = DRIVER_OK, .device_count = 2},
    {.backend = "opencl",
     .name = "pocl-again",
     .state = DRIVER_DUPLICATE,
     .device_count = 1,
     .duplicate_of = 1,
     .reason = "registers the same library as 'pocl'"},
    {.backend = "opencl", .name = "nvidia", .state = DRIVER_OK, .device_count = 2},
    {.backend = "host", .name = "host", .state = DRIVER_OK, .device_count = 2},
};

/* Indices: 0 and 1 pocl, 2 its duplicate, 3 and 4 two alike cards, 5 and 6 the host. */
static struct inventory_device devices[] = {
    {.info = {.id = "opencl:pocl:0", .name = "pthread-Example CPU", .type = DEVICE_CPU},
     .driver = 1,
     .index = 0},
    {.info = {.id = "opencl:pocl:1", .name = "basic-Example CPU", .type = DEVICE_CPU},
     .driver = 1,
     .index = 1},
    {.info = {.id = "opencl:pocl-again:0", .name = "pthread-Example CPU", .type = DEVICE_CPU},
     .driver = 2,
     .index = 0,
     .duplicate = true},
    {.info = {.id = "opencl:nvidia:0", .name = "Example X1", .type = DEVICE_GPU},
     .driver = 3,
     .index = 0},
    {.info = {.id = "opencl:nvidia:1", .name = "Example X1 Ti", .type = DEVICE_GPU},
     .driver = 3,
     .index = 1},
    {.info = {.id = "host:one", .name = "Example CPU (1 core)", .type = DEVICE_CPU},
     .driver = 4,
     .index = 0},
    {.info = {.id = "host:all", .name = "Example CPU (8 cores)", .type = DEVICE_CPU},
     .driver = 4,
     .index = 1},
};

static const struct inventory full = {
    .drivers = drivers,
    .driver_count = sizeof drivers / sizeof drivers[0],
    .devices = devices,
    .device_count = sizeof devices / sizeof devices[0],
};

/* Selects and writes the indices as "0 1 5"; err is filled on failure. */
static enum code indices(const struct inventory *inventory, const char *const *selectors,
                         size_t count, char out[64], struct error *err)
{
    size_t selected[DEVICES_MAX], selected_count = 99;
    out[0] = '\0';
    enum code code = inventory_select(inventory, selectors, count, selected, &selected_count, err);
    if (code != CODE_OK) {
        assert_int_equal(selected_count, 0);
        return code;
    }
    for (size_t i = 0; i < selected_count; i++)
        snprintf(out + strlen(out), 64 - strlen(out), "%s%zu", i > 0 ? " " : "", selected[i]);
    return code;
}

static void test_select_forms(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *expected;
    } forms[] = {
        {"all", "0 1 3 4 5 6"}, {"host", "5 6"},
        {"host:one", "5"},      {"host:all", "6"},
        {"HOST:ALL", "6"},      {"opencl", "0 1 3 4"},
        {"opencl:0", "0"},      {"opencl:2", "3"}, /* the duplicate is not counted */
        {"opencl:3", "4"},      {"opencl:pocl", "0 1"},
        {"opencl:pocl:1", "1"}, {"opencl:POCL:1", "1"},
        {"opencl:1:0", "0"}, /* driver 1 of the OpenCL drivers is pocl */
        {"opencl:3:1", "4"},    {"opencl:pocl-again:0", "2"}, /* a duplicate, by its id */
        {"gpu", "3 4"},         {"cpu", "0 1 5 6"},
        {"basic", "1"},         {"x1 ti", "4"},
        {"Example X1", "3"}, /* a whole name comes before being a part of another */
        {"nvidia:1", "4"},   /* a part of an id */
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char out[64];
        struct error err = {0};
        enum code code = indices(&full, &forms[i].selector, 1, out, &err);
        if (code != CODE_OK || strcmp(out, forms[i].expected) != 0)
            fail_msg("'%s': got '%s' (%s), expected '%s'", forms[i].selector, out, err.message,
                     forms[i].expected);
    }
}

static void test_select_several_keeps_order_without_repetition(void **state)
{
    (void)state;
    static const char *const selectors[] = {"host:one", "opencl:1", "opencl:pocl:1", "opencl:0"};
    char out[64];
    struct error err = {0};
    assert_int_equal(indices(&full, selectors, 4, out, &err), CODE_OK);
    assert_string_equal(out, "0 1 5");
}

static void test_select_nothing_means_all(void **state)
{
    (void)state;
    char out[64];
    struct error err = {0};
    assert_int_equal(indices(&full, NULL, 0, out, &err), CODE_OK);
    assert_string_equal(out, "0 1 3 4 5 6");
}

static void test_select_errors(void **state)
{
    (void)state;
    static const struct {
        const char *selector;
        enum code code;
        const char *part; /* of the message */
    } cases[] = {
        {"", CODE_USAGE, "empty"},
        {"0", CODE_USAGE, "opencl:0"},
        {"-1", CODE_USAGE, "bare number"},
        {"gpu:", CODE_USAGE, "'gpu'"},
        {"opencl:", CODE_USAGE, "nothing follows the colon"},
        {"opencl:4", CODE_USAGE, "opencl:0 to opencl:3"},
        {"opencl:99999999999999999999999", CODE_USAGE, "opencl:0 to opencl:3"},
        {"opencl:00", CODE_USAGE, "leading zero"},
        {"opencl:pocl:2", CODE_USAGE, "opencl:pocl:0 to opencl:pocl:1"},
        {"opencl:pocl:x", CODE_USAGE, "index"},
        {"opencl:pocl:", CODE_USAGE, "index"},
        {"opencl:pcol:0", CODE_USAGE, "did you mean 'opencl:pocl'"},
        {"opencl:9:0", CODE_USAGE, "mesa, pocl, pocl-again, nvidia"},
        {"opencl:mesa:0", CODE_NOTHING, "gives no device"},
        {"opencl:mesa", CODE_NOTHING, "gives no device"},
        {"opencl:pocl-again", CODE_USAGE, "same library"},
        {"host:two", CODE_USAGE, "host:one"},
        {"opncl:0", CODE_USAGE, "did you mean 'opencl'"},
        {"cuda:99", CODE_USAGE, "'cuda'"},
        {"accelerator", CODE_NOTHING, "no device of this type"},
        {"Radeon", CODE_NOTHING, "opencl:nvidia:0"},
        {"Example", CODE_USAGE,
         "opencl:pocl:0 (pthread-Example CPU), opencl:pocl:1 (basic-Example CPU)"},
        {"pthread", CODE_OK, ""}, /* the duplicate does not make it ambiguous */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64];
        struct error err = {0};
        enum code code = indices(&full, &cases[i].selector, 1, out, &err);
        if (code != cases[i].code || strstr(err.message, cases[i].part) == NULL)
            fail_msg("'%s': %s, '%s'; expected %s, '%s'", cases[i].selector, code_name(code),
                     err.message, code_name(cases[i].code), cases[i].part);
        if (code != CODE_OK && strstr(err.message, cases[i].selector) == NULL)
            fail_msg("'%s' is not named in '%s'", cases[i].selector, err.message);
    }
}

/* One bad selector among good ones selects nothing at all. */
static void test_select_bad_among_good(void **state)
{
    (void)state;
    static const char *const selectors[] = {"host", "opencl:17"};
    char out[64];
    struct error err = {0};
    assert_int_equal(indices(&full, selectors, 2, out, &err), CODE_USAGE);
}

static void test_select_control_characters_are_not_repeated(void **state)
{
    (void)state;
    static const char *const selectors[] = {"\033[31mred"};
    char out[64];
    struct error err = {0};
    assert_int_equal(indices(&full, selectors, 1, out, &err), CODE_NOTHING);
    assert_null(strchr(err.message, '\033'));
}

/* Two cards of one name: the name is ambiguous, never the first of them. */
static void test_select_alike_names(void **state)
{
    (void)state;
    struct inventory_driver driver = {.backend = "opencl", .name = "x", .device_count = 2};
    struct inventory_device alike[] = {
        {.info = {.id = "opencl:x:0", .name = "Twin", .type = DEVICE_GPU}, .index = 0},
        {.info = {.id = "opencl:x:1", .name = "Twin", .type = DEVICE_GPU}, .index = 1},
    };
    const struct inventory inventory = {
        .drivers = &driver, .driver_count = 1, .devices = alike, .device_count = 2};
    static const char *const selectors[] = {"twin"};
    char out[64];
    struct error err = {0};
    assert_int_equal(indices(&inventory, selectors, 1, out, &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "opencl:x:0"));
    assert_non_null(strstr(err.message, "opencl:x:1"));
}

static void test_select_without_opencl(void **state)
{
    (void)state;
    struct inventory_driver driver = {.backend = "host", .name = "host", .device_count = 1};
    struct inventory_device host = {.info = {.id = "host:one", .name = "CPU", .type = DEVICE_CPU}};
    struct inventory inventory = {
        .drivers = &driver, .driver_count = 1, .devices = &host, .device_count = 1};
    static const char *const opencl[] = {"opencl:0", "opencl", "opencl:pocl:0"};
    char out[64];
    struct error err = {0};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(indices(&inventory, &opencl[i], 1, out, &err), CODE_NOTHING);
        assert_non_null(strstr(err.message, "no driver registered"));
    }
    snprintf(inventory.loader, sizeof inventory.loader, "no OpenCL loader: tried 'libOpenCL.so.1'");
    assert_int_equal(indices(&inventory, opencl, 1, out, &err), CODE_NOTHING);
    assert_non_null(strstr(err.message, "tried 'libOpenCL.so.1'"));
    static const char *const host_form[] = {"host"};
    assert_int_equal(indices(&inventory, host_form, 1, out, &err), CODE_OK);
    assert_string_equal(out, "0");
    assert_false(inventory_has_accelerator(&inventory));
    assert_true(inventory_has_accelerator(&full));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select_forms),
        cmocka_unit_test(test_select_several_keeps_order_without_repetition),
        cmocka_unit_test(test_select_nothing_means_all),
        cmocka_unit_test(test_select_errors),
        cmocka_unit_test(test_select_bad_among_good),
        cmocka_unit_test(test_select_control_characters_are_not_repeated),
        cmocka_unit_test(test_select_alike_names),
        cmocka_unit_test(test_select_without_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
