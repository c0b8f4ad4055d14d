/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices that hang, are too small, refuse group sizes, or describe themselves at length: what
 * cannot be measured is named, what can is measured. */
#include "fault_support.h"

#include "run_live.h"

/* ---- hangs (TM-16) ---- */

#define HANG_CONFIG                                                                                \
    "schema: 1\n"                                                                                  \
    "policy: {budget: 100ms, warmup: 20ms, rounds_min: 5, rounds_max: 5, samples_min: 5,\n"        \
    "         step_timeout: 8s}\n"                                                                 \
    "cases:\n"                                                                                     \
    "  - {suite: copy, bytes: 64 KiB}\n"                                                           \
    "  - {suite: gemm, m: 32, n: 32, k: 32}\n"                                                     \
    "  - {suite: copy, bytes: 128 KiB}\n"

static void test_device_hangs_in_a_case(void **state)
{
    struct measured result = {.config = HANG_CONFIG,
                              .devices = {pocl, "host:one"},
                              .environment = {POCL_ALONE, LAYER, "ASSAY_FAKE_OPENCL=kernel=hang"}};
    measure(*state, &result, 8);
    assert_whole(result.path);
    const json_t *record = record_of(&result, pocl, "gemm@");
    assert_failed(record, "timeout", "passed the limit of 8 s in step 'prepare'");
    assert_no_rate(&result, record);
    assert_measured(record_of(&result, pocl, "bytes=65536"));
    assert_measured(record_of(&result, pocl, "bytes=131072"));
    assert_measured(record_of(&result, "host:one", "gemm@"));
    measured_release(&result);
}

/* One that never gets through its audit. Its workers are gone when the run is. */
static void test_device_hangs_at_once(void **state)
{
    const struct fixture *fixture = *state;
    char config[2048];
    write_text(fixture, "hang.yaml",
               "schema: 1\n"
               "policy: {budget: 20ms, warmup: 5ms, rounds_min: 5, rounds_max: 5, samples_min: 5,\n"
               "         step_timeout: 2s}\n"
               "cases:\n  - {suite: copy, bytes: 64 KiB}\n");
    snprintf(config, sizeof config, "%s/hang.yaml", fixture->place);
    char output[2048];
    snprintf(output, sizeof output, "%s/live.jsonl", fixture->place);
    const struct call call = {
        .arguments = {"run", config, "-o", output, "-d", pocl},
        .environment = {POCL_ALONE, LAYER, "ASSAY_FAKE_OPENCL=audit,kernel=hang"}};
    struct live live = live_start(fixture, &call, 0);
    long pids[LIVE_WORKERS_MAX];
    for (double begin = seconds_now(); live_workers(&live, "opencl", pids) != 1; nap())
        assert_true(seconds_now() - begin < LIVE_SECONDS);
    expect_end(&live, 3);
    wait_gone(pids[0]);
    json_t *lines = lines_of(output);
    assert_failed(
        find_record(lines, pocl, "copy@"), "not-run",
        "3 failures in a row, the last: the opencl worker passed the limit of 2 s in step "
        "'open'");
    json_decref(lines);
    assert_whole(output);
}

/* ---- memory ---- */

#define TWO_COPIES "  - {suite: copy, bytes: [2 MiB, 64 KiB]}\n"

static void test_device_too_small(void **state)
{
    static const struct {
        const char *faults;
        int exit_code;
        const char *state, *reason;
    } rows[] = {
        /* ME-02: too large for what the device says */
        {"dev=maxalloc:1000000", 0, "unsupported",
         "needs 2097152 bytes, the largest allocation of the device is 1000000"},
        /* ME-02: too large for what it has */
        {"alloc=cap:1500000", 4, "error", "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"},
        /* ME-04: made, and refused at first use */
        {"alloc=lazy-fail", 4, "error", "out of memory at first use"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct measured result =
            fault_run(*state, CONFIG_HEAD TWO_COPIES, rows[i].faults, rows[i].exit_code);
        const json_t *record = record_of(&result, pocl, "bytes=2097152");
        assert_failed(record, rows[i].state, rows[i].reason);
        assert_no_rate(&result, record);
        assert_true(is_null_at(record, "samples"));
        assert_measured(record_of(&result, pocl, "bytes=65536"));
        measured_release(&result);
    }
}

/* TM-09, ME-07: what is copied was written before, is no constant, and does not compress. ME-08: on
 * a processor no bus was involved, and the record says so. */
static void test_device_copies_noise(void **state)
{
    const struct fixture *fixture = *state;
    char log_path[2048], variable[2100];
    snprintf(log_path, sizeof log_path, "%s/hash.log", fixture->place);
    snprintf(variable, sizeof variable, "ASSAY_FAKE_LOG=%s", log_path);
    struct measured result = {
        .config = CONFIG_HEAD "  - {suite: copy, bytes: 1 MiB, memory: [pinned, pageable]}\n",
        .devices = {pocl},
        .environment = {POCL_ALONE, LAYER, "ASSAY_FAKE_OPENCL=hash", variable}};
    measure(fixture, &result, 0);
    assert_true(is_true_at(record_of(&result, pocl, "memory=pinned"), "memory.same_memory"));
    assert_true(is_true_at(record_of(&result, pocl, "memory=pageable"), "memory.same_memory"));
    char *log = read_file(log_path);
    size_t copies = 0;
    for (const char *line = strstr(log, "write bytes=1048576 "); line != NULL;
         line = strstr(line + 1, "write bytes=1048576 ")) {
        unsigned long long first = 0, last = 0;
        double ratio = 0.0;
        assert_int_equal(sscanf(line, "write bytes=1048576 first=%llx last=%llx ratio=%lf", &first,
                                &last, &ratio),
                         3);
        assert_true(first != last && ratio > 0.95);
        copies++;
    }
    assert_true(copies >= 10);
    free(log);
    measured_release(&result);
}

/* ---- work-groups (ME-09) ---- */

static void test_device_group_limit(void **state)
{
    static const char *const limits[] = {"kwg=1", "kwg=24"};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct measured result = fault_run(
            *state,
            CONFIG_HEAD
            "  - {suite: gemm, m: 33, n: 17, k: 20}\n"
            "  - {suite: pixel, width: 257, height: 17, partition: [linear, strip, tile]}\n"
            "  - {suite: attention, stage: [qkv, scores, softmax], tokens: 16, width: 24,\n"
            "     heads: 2, head_dim: 8}\n",
            limits[i], 0);
        assert_int_equal(count_of(result.lines, "record"), 7);
        size_t index;
        json_t *line;
        json_array_foreach(result.lines, index, line)
        {
            if (strcmp(text_at(line, "kind"), "record") != 0)
                continue;
            assert_measured(line);
            assert_true(strlen(text_at(line, "build.shape")) > 0);
        }
        measured_release(&result);
    }
}

/* A tile that is asked for and does not fit the kernel's limit is not quietly another one. */
static void test_device_group_asked_for(void **state)
{
    struct measured result = fault_run(
        *state,
        CONFIG_HEAD "  - {suite: gemm, m: 64, n: 64, k: 64, tile_m: 512, tile_n: 512, tile_k: 4}\n"
                    "  - {suite: copy, bytes: 64 KiB}\n",
        "kwg=4", 0);
    const json_t *record = record_of(&result, pocl, "gemm@");
    assert_state(record, "unsupported");
    assert_says(text_at(record, "reason"), "work-items");
    assert_measured(record_of(&result, pocl, "copy@"));
    measured_release(&result);
}

/* ---- descriptions (DD-20) ---- */

static void test_device_long_texts(void **state)
{
    struct measured result =
        fault_run(*state, CONFIG_HEAD "  - {suite: copy, bytes: 64 KiB}\n", "longinfo", 0);
    assert_measured(record_of(&result, pocl, "copy@"));
    assert_int_equal(strlen(text_at(header_device(&result, pocl), "api")), 300);
    measured_release(&result);
}

/* ---- compilation (TM-10) ---- */

/* The first launch pays for the compiler where there is no kernel cache yet: 100 ms and more, and
 * ten times a sample. It is none of the samples; a busy machine may spoil an attempt. */
static void test_device_cold_compiler(void **state)
{
    const struct fixture *fixture = *state;
    bool seen_right = false;
    for (int attempt = 0; attempt < RUN_ATTEMPTS && !seen_right; attempt++) {
        char cache[2048];
        snprintf(cache, sizeof cache, "POCL_CACHE_DIR=%s/cold%d", fixture->place, attempt);
        struct measured result = {.config = CONFIG_HEAD "  - {suite: gemm, m: 64, n: 64, k: 64}\n",
                                  .devices = {pocl},
                                  .environment = {POCL_ALONE, cache}};
        measure(fixture, &result, 0);
        const json_t *record = record_of(&result, pocl, "gemm@");
        assert_measured(record);
        assert_true(json_integer_value(member(record, "build.build_ns")) > 0);
        const json_t *rounds = member(record, "samples.rounds");
        const json_t *first = json_array_get(json_array_get(rounds, 0), 0);
        seen_right = json_number_value(first) < 5.0 * shortest_of(record);
        measured_release(&result);
    }
    assert_true(seen_right);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_hangs_in_a_case),
        cmocka_unit_test(test_device_hangs_at_once),
        cmocka_unit_test(test_device_too_small),
        cmocka_unit_test(test_device_copies_noise),
        cmocka_unit_test(test_device_group_limit),
        cmocka_unit_test(test_device_group_asked_for),
        cmocka_unit_test(test_device_long_texts),
        cmocka_unit_test(test_device_cold_compiler),
    };
    return cmocka_run_group_tests_name("cli/faults_device", tests, set_up, tear_down);
}
