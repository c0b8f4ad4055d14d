/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules for time stamps, and the audit of the host device, whose waits are known to wait. What
 * lying drivers do to the audit is tested with the fault layer in tests/cli/test_faults.c. */
#include "harness/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_audit_stamps_rules(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct timing timing;
        uint64_t last_end;
        const char *reason; /* NULL: usable */
    } rows[] = {
        {"right",
         {.device_begin = 100,
          .device_end = 150,
          .host_begin = 0,
          .host_end = 60,
          .has_device = true},
         90,
         NULL},
        {"touching the last",
         {.device_begin = 100,
          .device_end = 150,
          .host_begin = 0,
          .host_end = 60,
          .has_device = true},
         100,
         NULL},
        {"swapped",
         {.device_begin = 150,
          .device_end = 100,
          .host_begin = 0,
          .host_end = 60,
          .has_device = true},
         0,
         "timestamp-order"},
        {"constant",
         {.device_begin = 5, .device_end = 5, .host_begin = 0, .host_end = 60, .has_device = true},
         0,
         "below resolution"},
        {"stale",
         {.device_begin = 100,
          .device_end = 150,
          .host_begin = 0,
          .host_end = 60,
          .has_device = true},
         150,
         "did not advance"},
        {"too long",
         {.device_begin = 100,
          .device_end = 161,
          .host_begin = 0,
          .host_end = 60,
          .has_device = true},
         0,
         "longer than"},
        {"absent", {.host_begin = 0, .host_end = 60, .reason = "why"}, 0, "why"},
        {"wrapped at 32 bits",
         {.device_begin = 0xfffffff0u,
          .device_end = 0x10u,
          .host_begin = 0,
          .host_end = 60,
          .has_device = true},
         0,
         "timestamp-order"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char reason[AUDIT_REASON_BYTES] = "";
        uint64_t last_end = rows[i].last_end;
        bool usable = audit_stamps(&rows[i].timing, &last_end, reason);
        if (usable != (rows[i].reason == NULL))
            fail_msg("%s: usable %d, reason '%s'", rows[i].what, usable, reason);
        if (usable)
            assert_true(last_end == rows[i].timing.device_end);
        else if (strstr(reason, rows[i].reason) == NULL || last_end != rows[i].last_end)
            fail_msg("%s: reason '%s'", rows[i].what, reason);
    }
}

static void test_audit_device_host(void **state)
{
    (void)state;
    struct backend_driver *driver = NULL;
    struct backend_device *device = NULL;
    struct error err = {0};
    struct audit audit, copy;
    assert_int_equal(driver_open(backend_find("host"), NULL, &driver, &err), CODE_OK);
    assert_int_equal(device_open(driver, 1, &device, &err), CODE_OK);
    assert_int_equal(audit_device(device, &audit, &err), CODE_OK);
    assert_false(audit.device_clock); /* a host has no clock of its own */
    assert_true(audit.clock_reason[0] != '\0');
    for (int way = 0; way < WAIT_WAYS; way++)
        assert_true(audit.way_usable[way]);
    assert_true(audit.overhead_ns > 0);
    json_t *json = audit_to_json(&audit);
    assert_int_equal(audit_from_json(json, &copy, &err), CODE_OK);
    assert_int_equal(copy.device_clock, audit.device_clock);
    assert_string_equal(copy.clock_reason, audit.clock_reason);
    assert_int_equal(copy.way, audit.way);
    json_decref(json);
    device_close(device);
    driver_close(driver);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_audit_stamps_rules),
        cmocka_unit_test(test_audit_device_host),
    };
    return cmocka_run_group_tests_name("harness/audit", tests, NULL, NULL);
}
