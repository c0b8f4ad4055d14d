/* SPDX-License-Identifier: Apache-2.0
 *
 * Drivers that do not do the work, do it wrongly or fail at it: no number, the reason, and all
 * other cases measured. Copies launch no kernel, so a fault of launches leaves them alone. */
#include "fault_support.h"

#define SMALL_GEMM "  - {suite: gemm, m: 32, n: 32, k: 32}\n"
#define COPY "  - {suite: copy, bytes: 64 KiB}\n"
#define COPY_BACK "  - {suite: copy, direction: d2h, bytes: 64 KiB}\n"

struct row {
    const char *faults, *state, *reason;
};

/* A small gemm between two copies, which must come out right. */
static void check_rows(const struct fixture *fixture, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct measured result =
            fault_run(fixture, CONFIG_HEAD COPY SMALL_GEMM COPY_BACK, rows[i].faults, 4);
        assert_int_equal(count_of(result.lines, "record"), 3);
        assert_measured(record_of(&result, pocl, "direction=h2d"));
        assert_measured(record_of(&result, pocl, "direction=d2h"));
        const json_t *record = record_of(&result, pocl, "gemm@");
        assert_failed(record, rows[i].state, rows[i].reason);
        assert_no_rate(&result, record);
        measured_release(&result);
    }
}

/* ---- wrong results ---- */

static void test_work_wrong_from_the_start(void **state)
{
    static const struct row rows[] = {
        /* CO-01: nothing ran, the poison is still there */
        {"kernel=skip", "failed-verification",
         "before the timing: 1,024 of 1,024 elements are wrong, first at index 0: "},
        /* CO-02 */
        {"kernel=nan", "failed-verification", "output has 1 non-finite value"},
        /* CO-04, CO-15, CO-17: one bit of one element that no spot check would look at */
        {"kernel=flip:5", "failed-verification",
         "before the timing: 1 of 1,024 elements are wrong, first at index 5: "},
        {"kernel=flip:1023", "failed-verification", "first at index 1,023: "},
    };
    check_rows(*state, rows, sizeof rows / sizeof rows[0]);
}

/* A driver whose launches take 60 ms, so that the number of launches is known: 1 to verify, 1 to
 * warm up, 1 to calibrate, 3 + 6 for the doubling check, and in each of 5 rounds 1 ahead of the
 * samples and 1 sample. */
#define KNOWN_LAUNCHES "delay=60,prof=na,"
#define KNOWN_CONFIG                                                                               \
    "schema: 1\n"                                                                                  \
    "policy: {budget: 10s, warmup: 20ms, rounds_min: 5, rounds_max: 5, samples_min: 5}\n"          \
    "cases:\n" SMALL_GEMM
enum { LAST_LAUNCH = 22 };

static struct measured late_run(const struct fixture *fixture, const char *fault, int launch,
                                int exit_code)
{
    char faults[128];
    snprintf(faults, sizeof faults, KNOWN_LAUNCHES "kernel=%s:%d", fault, launch);
    return fault_run(fixture, KNOWN_CONFIG, faults, exit_code);
}

/* CO-03: right at first, wrong from some launch on, the last timed one at the latest. */
static void test_work_skipped_late(void **state)
{
    static const struct {
        const char *fault;
        int launch;
    } rows[] = {{"skip", 5},
                {"skip", LAST_LAUNCH - 1},
                {"skip", LAST_LAUNCH},
                {"flip:1023", LAST_LAUNCH},
                {"nan", LAST_LAUNCH}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct measured result = late_run(*state, rows[i].fault, rows[i].launch, 4);
        const json_t *record = record_of(&result, pocl, "gemm@");
        assert_failed(record, "failed-verification", "after the timing: ");
        assert_no_rate(&result, record);
        assert_true(is_clean(member(record, "check.before")));
        assert_false(is_clean(member(record, "check.after")));
        measured_release(&result);
    }
}

/* That LAST_LAUNCH is the last: one later is none. */
static void test_work_launches_known(void **state)
{
    struct measured result = late_run(*state, "crash", LAST_LAUNCH + 1, 0);
    assert_measured(record_of(&result, pocl, "gemm@"));
    measured_release(&result);
    result = late_run(*state, "crash", LAST_LAUNCH, 4);
    assert_failed(record_of(&result, pocl, "gemm@"), "crashed", "in step 'round'");
    measured_release(&result);
}

/* ---- failures ---- */

static void test_work_failures(void **state)
{
    static const struct row rows[] = {
        /* CO-14: enqueued and waited for with success, the cause is in the event alone */
        {"kernel=late-error:-5", "error", "CL_OUT_OF_RESOURCES (-5)"},
        {"kernel=late-error:-5:4", "error", "CL_OUT_OF_RESOURCES (-5)"},
        /* CO-12: the worker is started anew for the next case */
        {"kernel=lost-after:7", "device-lost", "the device is lost"},
        {"kernel=crash:3", "crashed", "signal 11 (SIGSEGV) in step 'prepare'"},
        {"fail=clBuildProgram:-11:2", "error", "CL_BUILD_PROGRAM_FAILURE (-11)"},
        {"fail=clEnqueueNDRangeKernel:-54:1000", "error", "CL_INVALID_WORK_GROUP_SIZE (-54)"},
    };
    check_rows(*state, rows, sizeof rows / sizeof rows[0]);
}

/* What the driver had printed stays with the row of a worker that died. */
static void test_work_last_words(void **state)
{
    struct measured result = fault_run(*state, CONFIG_HEAD SMALL_GEMM, "chatter,kernel=crash:1", 4);
    const json_t *record = record_of(&result, pocl, "gemm@");
    assert_state(record, "crashed");
    assert_says(text_at(record, "driver_output"), "example compiler: building with");
    measured_release(&result);
}

#define FOUR_GEMMS "  - {suite: gemm, m: [32, 48, 64, 80], n: 32, k: 32}\n"

/* Three in a row close the device; a case between them that came to its end, even a wrong one, does
 * not count as one. */
static void test_work_three_crashes(void **state)
{
    struct measured result = {.config = CONFIG_HEAD COPY FOUR_GEMMS COPY_BACK,
                              .devices = {pocl, "host:one"},
                              .environment = {POCL_ALONE, LAYER, "ASSAY_FAKE_OPENCL=kernel=crash"}};
    measure(*state, &result, 4);
    assert_whole(result.path);
    assert_measured(record_of(&result, pocl, "direction=h2d"));
    assert_failed(record_of(&result, pocl, "m=32"), "crashed", "signal 11");
    assert_failed(record_of(&result, pocl, "m=48"), "crashed", "signal 11");
    assert_failed(record_of(&result, pocl, "m=64"), "crashed", "signal 11");
    assert_failed(record_of(&result, pocl, "m=80"), "not-run", "3 failures in a row, the last: ");
    assert_failed(record_of(&result, pocl, "direction=d2h"), "not-run", "signal 11");
    static const char *const keys[] = {"direction=h2d", "direction=d2h", "m=32",
                                       "m=48",          "m=64",          "m=80"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_measured(record_of(&result, "host:one", keys[i]));
    measured_release(&result);
}

static void test_work_crashes_not_in_a_row(void **state)
{
    /* what is too large for the device is an end of a case, with no launch */
    struct measured result =
        fault_run(*state,
                  CONFIG_HEAD
                  "  - {suite: gemm, m: 32, n: 32, k: 32}\n  - {suite: gemm, m: 48, n: 32, k: 32}\n"
                  "  - {suite: copy, bytes: 2 MiB}\n"
                  "  - {suite: gemm, m: 64, n: 32, k: 32}\n  - {suite: copy, bytes: 3 MiB}\n"
                  "  - {suite: gemm, m: 80, n: 32, k: 32}\n" COPY,
                  "kernel=crash,dev=maxalloc:1000000", 4);
    assert_state(record_of(&result, pocl, "m=32"), "crashed");
    assert_state(record_of(&result, pocl, "m=48"), "crashed");
    assert_state(record_of(&result, pocl, "bytes=2097152"), "unsupported");
    assert_state(record_of(&result, pocl, "m=64"), "crashed");
    assert_state(record_of(&result, pocl, "bytes=3145728"), "unsupported");
    assert_state(record_of(&result, pocl, "m=80"), "crashed");
    assert_measured(record_of(&result, pocl, "bytes=65536"));
    measured_release(&result);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_wrong_from_the_start), cmocka_unit_test(test_work_skipped_late),
        cmocka_unit_test(test_work_launches_known),       cmocka_unit_test(test_work_failures),
        cmocka_unit_test(test_work_last_words),           cmocka_unit_test(test_work_three_crashes),
        cmocka_unit_test(test_work_crashes_not_in_a_row),
    };
    return cmocka_run_group_tests_name("cli/faults_work", tests, set_up, tear_down);
}
