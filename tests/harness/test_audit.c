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

/* Stamps b and e inside a host interval of 60 ns; last is the newest stamp accepted before. */
#define STAMPS(b, e)                                                                               \
    {                                                                                              \
        .device_begin = (b), .device_end = (e), .host_begin = 0, .host_end = 60,                   \
        .has_device = true                                                                         \
    }

static const struct {
    const char *what;
    struct timing timing;
    uint64_t last;
    const char *reason; /* NULL: usable */
} stamp_rows[] = {
    {"right", STAMPS(100, 150), 90, NULL},
    {"touching the last", STAMPS(100, 150), 100, NULL},
    {"swapped", STAMPS(150, 100), 0, "timestamp-order"},
    {"constant", STAMPS(5, 5), 0, "below resolution"},
    {"stale", STAMPS(100, 150), 150, "did not advance"},
    {"too long", STAMPS(100, 161), 0, "longer than"},
    {"wrapped at 32 bits", STAMPS(0xfffffff0u, 0x10u), 0, "timestamp-order"},
    {"absent", {.host_begin = 0, .host_end = 60, .reason = "why"}, 0, "why"},
};

static void test_audit_stamps_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stamp_rows / sizeof stamp_rows[0]; i++) {
        char reason[AUDIT_REASON_BYTES] = "";
        uint64_t last = stamp_rows[i].last;
        bool usable = audit_stamps(&stamp_rows[i].timing, &last, reason);
        if (usable != (stamp_rows[i].reason == NULL))
            fail_msg("%s: usable %d, reason '%s'", stamp_rows[i].what, usable, reason);
        if (usable)
            assert_true(last == stamp_rows[i].timing.device_end);
        else if (strstr(reason, stamp_rows[i].reason) == NULL || last != stamp_rows[i].last)
            fail_msg("%s: reason '%s'", stamp_rows[i].what, reason);
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

/* An audit that found the device's clock good has no reason: a worker that takes the place of a
 * dead one has to read that too. */
static void test_audit_from_json_device_clock(void **state)
{
    (void)state;
    struct error err = {0};
    const struct audit audit = {.way = WAIT_FINISH,
                                .way_usable = {[WAIT_FINISH] = true},
                                .device_clock = true,
                                .slope = 1.001,
                                .overhead_ns = 12345.5,
                                .step_ns = 80};
    struct audit copy;
    json_t *json = audit_to_json(&audit);
    if (audit_from_json(json, &copy, &err) != CODE_OK)
        fail_msg("%s", err.message);
    assert_true(copy.device_clock);
    assert_string_equal(copy.clock_reason, "");
    assert_int_equal(copy.way, WAIT_FINISH);
    assert_true(copy.overhead_ns > 12345 && copy.overhead_ns < 12346);
    assert_int_equal(copy.step_ns, 80);
    json_decref(json);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_audit_stamps_rules),
        cmocka_unit_test(test_audit_device_host),
        cmocka_unit_test(test_audit_from_json_device_clock),
    };
    return cmocka_run_group_tests_name("harness/audit", tests, NULL, NULL);
}
