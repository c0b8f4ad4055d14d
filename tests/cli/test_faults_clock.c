/* SPDX-License-Identifier: Apache-2.0
 *
 * Drivers whose time stamps or waits lie: each lie is found by the audit of the device or by the
 * check of each sample, the case is timed by the host's clock with the reason, and no lie gets into
 * a number. */
#include "fault_support.h"

#define ONE_CASE CONFIG_HEAD "  - {suite: pixel, width: 1024, height: 256}\n"

/* Shortest sample without the layer. What a lie would do to it is orders of magnitude. */
static double plain_ns;
static const double wide = 8.0;

static int set_up_plain(void **state)
{
    if (set_up(state) != 0)
        return -1;
    struct measured result = {.config = ONE_CASE, .devices = {pocl}, .environment = {POCL_ALONE}};
    measure(*state, &result, 0);
    plain_ns = shortest_of(record_of(&result, pocl, "pixel@"));
    measured_release(&result);
    return 0;
}

static void assert_near_plain(const json_t *record)
{
    double ns = shortest_of(record);
    if (ns < plain_ns / wide || ns > plain_ns * wide)
        fail_msg("a step of %g ns, %g ns without the layer", ns, plain_ns);
}

struct lie {
    const char *faults, *reason;
};

/* The audit meets the lie: the whole device is timed by the host. */
static void test_clock_refused_by_audit(void **state)
{
    static const struct lie lies[] = {
        {"prof=swap", "timestamp-order"},                           /* TM-01 */
        {"prof=zero", "device time below resolution"},              /* TM-05 */
        {"prof=constant", "event-clock-implausible"},               /* TM-02 */
        {"prof=untouched", "returned success and wrote nothing"},   /* TM-03 */
        {"prof=na", "CL_PROFILING_INFO_NOT_AVAILABLE (-7)"},        /* TM-04 */
        {"prof=na3", "CL_PROFILING_INFO_NOT_AVAILABLE (-7)"},       /* TM-04 */
        {"prof=stale", "timestamps did not advance"},               /* TM-18 */
        {"queue=refuse-props", "CL_INVALID_QUEUE_PROPERTIES (-35)"} /* DD-19 */
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct measured result = fault_run(*state, ONE_CASE, lies[i].faults, 0);
        const json_t *device = header_device(&result, pocl);
        const json_t *record = record_of(&result, pocl, "pixel@");
        assert_string_equal(text_at(device, "clock.source"), "host");
        assert_says(text_at(device, "clock.reason"), lies[i].reason);
        assert_measured(record);
        assert_string_equal(text_at(record, "clock.source"), "host");
        assert_says(text_at(record, "clock.reason"), lies[i].reason);
        assert_near_plain(record);
        measured_release(&result);
    }
}

/* The lie begins after the audit: the case is measured again on the host's clock, the two are not
 * mixed. */
static void test_clock_refused_by_samples(void **state)
{
    static const struct lie lies[] = {
        {"prof=swap:1", "timestamp-order"},
        {"prof=zero:1", "device time below resolution"},
        {"prof=constant:1", "timestamps did not advance"},
        {"prof=untouched:1", "wrote nothing"},
        {"prof=na:1", "CL_PROFILING_INFO_NOT_AVAILABLE (-7)"},
        {"prof=stale:1", "timestamps did not advance"},
        {"timer_res=1000000000", "a clock step of 1000000000 ns"}, /* TM-07 */
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        char setting[512];
        snprintf(setting, sizeof setting, "ASSAY_FAKE_OPENCL=%s", lies[i].faults);
        struct measured result = {.config = ONE_CASE,
                                  .devices = {pocl},
                                  .environment = {POCL_ALONE, LAYER, setting},
                                  .device_clock = true};
        measure(*state, &result, 0);
        const json_t *record = record_of(&result, pocl, "pixel@");
        assert_measured(record);
        assert_string_equal(text_at(record, "clock.source"), "host");
        assert_says(text_at(record, "clock.reason"), "stamps of this case were unusable");
        assert_says(text_at(record, "clock.reason"), lies[i].reason);
        assert_near_plain(record);
        measured_release(&result);
    }
}

/* The lie begins in the middle of the rounds: launch 16 is the second round's sample (see
 * test_work_skipped_late in test_faults_work.c). The samples before it are dropped too. */
static void test_clock_refused_in_rounds(void **state)
{
    struct measured result = {
        .config = "schema: 1\n"
                  "policy: {budget: 10s, warmup: 20ms, rounds_min: 5, rounds_max: 5,\n"
                  "         samples_min: 5}\n"
                  "cases:\n  - {suite: pixel, width: 64, height: 64}\n",
        .devices = {pocl},
        .environment = {POCL_ALONE, LAYER, "ASSAY_FAKE_OPENCL=delay=60,prof=swap:16"},
        .device_clock = true};
    measure(*state, &result, 0);
    const json_t *record = record_of(&result, pocl, "pixel@");
    assert_measured(record);
    assert_string_equal(text_at(record, "clock.source"), "host");
    assert_says(text_at(record, "clock.reason"), " samples: timestamp-order");
    assert_int_equal(json_integer_value(member(record, "clock.rejected")), 0);
    assert_true(shortest_of(record) >= 60e6);
    measured_release(&result);
}

/* What must not matter, or may be judged either way: the number is right. */
static void test_clock_harmless(void **state)
{
    static const char *const faults[] = {
        "prof=submit-late", /* TM-01: not a stamp that is used */
        "timer_res=80",     /* TM-06: stamps are nanoseconds, whatever the resolution */
        "prof=overlap",     /* TM-15: from the first start to the last end */
        "prof=overlap:1",   "prof=wrap32", /* TM-17 */
        "prof=wrap32:1",    "old"          /* DD-19 */
    };
    const struct fixture *fixture = *state;
    char log_path[2048], variable[2100];
    snprintf(log_path, sizeof log_path, "%s/layer.log", fixture->place);
    snprintf(variable, sizeof variable, "ASSAY_FAKE_LOG=%s", log_path);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char setting[512];
        snprintf(setting, sizeof setting, "ASSAY_FAKE_OPENCL=%s", faults[i]);
        struct measured result = {.config = ONE_CASE,
                                  .devices = {pocl},
                                  .environment = {POCL_ALONE, LAYER, setting, variable}};
        measure(fixture, &result, 0);
        const json_t *record = record_of(&result, pocl, "pixel@");
        assert_measured(record);
        assert_near_plain(record);
        if (strcmp(faults[i], "timer_res=80") == 0)
            assert_int_equal(
                json_integer_value(member(header_device(&result, pocl), "timer_step_ns")), 80);
        measured_release(&result);
    }
    /* the layer would have written of calls that a 1.2 runtime has not */
    assert_int_not_equal(access(log_path, F_OK), 0);
}

/* TM-14: a launch that returns at once and completes 20 ms later, without stamps. */
static void test_clock_completion_not_enqueue(void **state)
{
    struct measured result = fault_run(
        *state, CONFIG_HEAD "  - {suite: pixel, width: 64, height: 64}\n", "delay=20,prof=na", 0);
    const json_t *record = record_of(&result, pocl, "pixel@");
    assert_measured(record);
    assert_true(shortest_of(record) >= 20e6);
    measured_release(&result);
}

/* ---- ways of waiting that do not wait ---- */

static void test_clock_waits_refused(void **state)
{
    static const struct {
        const char *faults, *refused;
    } rows[] = {{"wait=event-early", "event wait"}, {"wait=finish-early", "finish"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct measured result = fault_run(*state, ONE_CASE, rows[i].faults, 0);
        const json_t *wait = member(header_device(&result, pocl), "wait");
        const json_t *refused = json_array_get(member(wait, "refused"), 0);
        assert_int_equal(json_array_size(member(wait, "refused")), 1);
        assert_string_equal(text_at(refused, "way"), rows[i].refused);
        assert_says(text_at(refused, "reason"), "kernel ran");
        assert_string_not_equal(text_at(wait, "way"), rows[i].refused);
        assert_measured(record_of(&result, pocl, "pixel@"));
        assert_near_plain(record_of(&result, pocl, "pixel@"));
        measured_release(&result);
    }
}

/* Nothing can be measured on a device that cannot be waited for; the others are. */
static void test_clock_no_wait_waits(void **state)
{
    struct measured result = {
        .config = ONE_CASE,
        .devices = {pocl, "host:one"},
        .environment = {POCL_ALONE, LAYER,
                        "ASSAY_FAKE_OPENCL=wait=event-early,wait=finish-early,wait=read-early"}};
    measure(*state, &result, 4);
    assert_failed(record_of(&result, pocl, "pixel@"), "not-run", "no way of waiting waits");
    assert_says(text_at(header_device(&result, pocl), "reason"), "no way of waiting waits");
    assert_measured(record_of(&result, "host:one", "pixel@"));
    measured_release(&result);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_refused_by_audit),
        cmocka_unit_test(test_clock_refused_by_samples),
        cmocka_unit_test(test_clock_refused_in_rounds),
        cmocka_unit_test(test_clock_harmless),
        cmocka_unit_test(test_clock_completion_not_enqueue),
        cmocka_unit_test(test_clock_waits_refused),
        cmocka_unit_test(test_clock_no_wait_waits),
    };
    return cmocka_run_group_tests_name("cli/faults_clock", tests, set_up_plain, tear_down);
}
