/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL backend under the fault layer: each fault does what it is for, and the backend tells
 * it as it is. Each test runs in a child process with PoCL behind the layer. */
#include "tests/fakes/opencl_scenes.h"

#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

static struct child child;
static char log_path[] = "/tmp/assay-test-log-XXXXXX";

static const char *run_for(child_function *scene, const char *faults, int seconds)
{
    char setting[512], log_setting[64];
    if (access(scene_library, R_OK) != 0) {
        print_message("no '%s' here\n", scene_library);
        skip();
    }
    snprintf(setting, sizeof setting, "ASSAY_FAKE_OPENCL=%s", faults);
    snprintf(log_setting, sizeof log_setting, "ASSAY_FAKE_LOG=%s", log_path);
    const char *const environment[] = {"OPENCL_LAYERS=" ASSAY_FAKES_DIR "/libassay_fake_opencl.so",
                                       setting, log_setting, NULL};
    assert_int_equal(truncate(log_path, 0), 0);
    child_run(&child, environment, scene, seconds);
    return child.text;
}

static const char *run(child_function *scene, const char *faults)
{
    const char *text = run_for(scene, faults, CHILD_SECONDS);
    if (child.status != 0)
        fail_msg("'%s': the child ended with status %d after '%s'", faults, child.status, text);
    return text;
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not contain '%s'", text, part);
}

/* Contents of the layer's log. */
static const char *read_log(void)
{
    static char text[16384];
    FILE *file = fopen(log_path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static const char all_ok[] = "1 ok 1001\n2 ok 1002\n3 ok 1003\n4 ok 1004\n5 ok 1005\n";

static void test_layer_without_faults(void **state)
{
    (void)state;
    assert_string_equal(run(scene_launches, ""), all_ok);
    assert_string_equal(run(scene_launches, "objects"), all_ok);
    assert_string_equal(read_log(),
                        "objects contexts=0 queues=0 buffers=0 programs=0 kernels=0 events=0\n");
}

static void test_devices_counted(void **state)
{
    (void)state;
    expect_text(run(scene_list, ""), "count=1\n");
    assert_string_equal(run(scene_list, "dev=none"), "count=0\n");
    expect_text(run(scene_list, "dev=dup"), "count=2\n");
    expect_text(run(scene_list, "dev=many:200"), "count=200\n");
}

static void test_devices_described(void **state)
{
    (void)state;
    static const struct {
        const char *faults, *expected;
    } cases[] = {
        {"dev=type:GPU,name:Example 16-Core Processor (radeonsi)",
         "name=Example 16-Core Processor (radeonsi) type=gpu"},
        {"dev=type:GPU,name:Example 16-Core Processor (radeonsi)", " software=0 "},
        {"dev=type:CPU,dev=name:Example GPU Emulator",
         "name=Example GPU Emulator type=cpu software=1 "},
        {"dev=type:CUSTOM", " type=other "},
        {"dev=mem:123456789012,maxalloc:34567", " memory=123456789012 alloc=34567 "},
        {"timer_res=80", " step=80 "},
        {"dev=ext:-cl_khr_fp64", " f64=0 f16=0 "},
        {"dev=ext:+cl_khr_fp16;-cl_khr_fp64", " f64=0 f16=1 "},
        {"dev=ext:+cl_khr_fp16_example", " f64=1 f16=0 "},
        {"dev=pci:0001:41:1f.7", " pci=0001:41:1f.7 "},
        {"dev=uuid:00112233-4455-6677-8899-aabbccddeeff",
         " uuid=00112233-4455-6677-8899-aabbccddeeff "},
        {"dev=uuid:00000000-0000-0000-0000-000000000000", " uuid= "},
        {"dev=name:evil\033[31m\xff text", "name=evil?[31m? text "},
        {"longinfo", " api=300 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_text(run(scene_list, cases[i].faults), cases[i].expected);
    const char *extensions = strstr(run(scene_list, "longinfo"), " extensions=");
    assert_true(strtoul(extensions + strlen(" extensions="), NULL, 10) >= 20 * 1024);
}

static void test_queue_without_profiling(void **state)
{
    (void)state;
    const char *text = run(scene_timers, "queue=refuse-props");
    expect_text(text, "0 0 0 ");
    expect_text(text, "refuses a queue with profiling: CL_INVALID_QUEUE_PROPERTIES (-35)");
    assert_string_equal(run(scene_launches, "queue=refuse-props"), all_ok);
}

static void test_runtime_of_version_1_2(void **state)
{
    (void)state;
    assert_string_equal(run(scene_launches, "old"), all_ok);
    assert_string_equal(read_log(), ""); /* the call of 2.0 was not tried */
    expect_text(run(scene_timers, "old"), "1 ");
}

static void scene_chatter(struct child *out)
{
    if (freopen(log_path, "a", stdout) != NULL && freopen(log_path, "a", stderr) != NULL)
        scene_launches(out);
}

static void test_build_that_prints(void **state)
{
    (void)state;
    assert_string_equal(run(scene_chatter, "chatter"), all_ok);
    expect_text(read_log(), "example compiler: building with '-cl-std=CL1.2 ");
    expect_text(read_log(), "example compiler: warning: \033[31mred");
}

struct stamps {
    int has[3];
    uint64_t begin[3], end[3], host[3];
};

static struct stamps read_stamps(const char *faults)
{
    struct stamps stamps;
    const char *line = run(scene_timers, faults);
    for (int i = 0; i < 3; i++) {
        if (sscanf(line, "%d %" SCNu64 " %" SCNu64 " %" SCNu64, &stamps.has[i], &stamps.begin[i],
                   &stamps.end[i], &stamps.host[i]) != 4)
            fail_msg("'%s': '%s'", faults, child.text);
        line = strchr(line, '\n') + 1;
    }
    return stamps;
}

static void test_stamps_given_as_they_are(void **state)
{
    (void)state;
    struct stamps stamps = read_stamps("");
    for (int i = 0; i < 3; i++)
        assert_true(stamps.has[i] && stamps.begin[i] < stamps.end[i] &&
                    stamps.end[i] - stamps.begin[i] <= stamps.host[i]);
    stamps = read_stamps("prof=swap");
    for (int i = 0; i < 3; i++)
        assert_true(stamps.has[i] && stamps.end[i] < stamps.begin[i]);
    stamps = read_stamps("prof=zero");
    assert_true(stamps.has[0] && stamps.begin[0] == 0 && stamps.end[0] == 0);
    stamps = read_stamps("prof=constant");
    assert_true(stamps.has[2] && stamps.begin[2] == 2 && stamps.end[2] == 3);
    stamps = read_stamps("prof=stale");
    assert_true(stamps.has[0] && stamps.has[2]);
    assert_true(stamps.begin[0] == stamps.begin[2] && stamps.end[0] == stamps.end[2]);
    stamps = read_stamps("prof=wrap32");
    assert_int_equal(stamps.begin[0], 4294967296ULL - 50000000ULL);
    stamps = read_stamps("prof=zero:5"); /* launches 5 and 6 are the third batch */
    assert_true(stamps.end[0] != 0 && stamps.end[1] != 0 && stamps.end[2] == 0);
}

static void test_stamps_refused(void **state)
{
    (void)state;
    expect_text(run(scene_timers, "prof=untouched"), "returned success and wrote nothing");
    expect_text(child.text, "0 0 0 ");
    expect_text(run(scene_timers, "prof=na"), "CL_PROFILING_INFO_NOT_AVAILABLE (-7)");
    struct stamps stamps = read_stamps("prof=na3");
    assert_true(stamps.has[0] && stamps.has[1] && !stamps.has[2]);
}

static void test_late_completion_is_waited_for(void **state)
{
    (void)state;
    struct stamps stamps = read_stamps("delay=20,prof=na");
    for (int i = 0; i < 3; i++)
        assert_true(!stamps.has[i] && stamps.host[i] >= 2 * 20000000); /* two launches a batch */
    stamps = read_stamps("delay=20");
    for (int i = 0; i < 3; i++)
        assert_true(stamps.has[i] && stamps.end[i] - stamps.begin[i] >= 2 * 20000000);
    stamps = read_stamps("slow=4:0");
    for (int i = 0; i < 3; i++)
        assert_true(stamps.has[i] && stamps.end[i] - stamps.begin[i] <= stamps.host[i]);
}

static void scene_memory(struct child *out)
{
    struct scene scene;
    static const uint64_t sizes[] = {1 << 19, 1 << 24};
    if (!scene_open(out, &scene, "mark"))
        return;
    for (size_t i = 0; i < 2; i++) {
        struct error err = {0};
        struct buffer *buffer = NULL;
        char *bytes = calloc(1, sizes[i]);
        enum code code = buffer_create(scene.device, MEMORY_DEVICE, sizes[i], &buffer, &err);
        child_say(out, "create %s %s\n", code_name(code), err.message);
        if (code == CODE_OK) {
            code = buffer_write(scene.device, buffer, 0, bytes, sizes[i], &err);
            child_say(out, "write %s %s\n", code_name(code), err.message);
            error_clear(&err);
            code = buffer_fill(scene.device, buffer, 0, sizes[i], &err);
            child_say(out, "fill %s %s\n", code_name(code), err.message);
        }
        (void)device_sync(scene.device, NULL);
        buffer_destroy(scene.device, buffer);
        free(bytes);
    }
    scene_close(&scene);
}

static void test_memory_exhausted(void **state)
{
    (void)state;
    static const char small_ok[] = "create ok \nwrite ok \nfill ok \n";
    expect_text(run(scene_memory, "alloc=cap:8388608"), small_ok);
    expect_text(child.text,
                "create memory cannot allocate 16777216 bytes of device memory (at most ");
    expect_text(child.text, "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
    expect_text(run(scene_memory, "dev=maxalloc:8388608"), small_ok);
    expect_text(
        child.text,
        "create memory cannot allocate 16777216 bytes of device memory (at most 8388608 at once)");
    expect_text(run(scene_memory, "alloc=lazy-fail"), small_ok);
    expect_text(child.text,
                "create ok \nwrite memory out of memory at first use: clEnqueueWriteBuffer failed: "
                "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)\nfill memory out of memory at first use: ");
}

static void test_fill_that_is_wrong_is_replaced(void **state)
{
    (void)state;
    /* the layer fills half; the backend finds out at opening and writes instead, so no fill is
     * called later */
    expect_text(run(scene_memory, "fill=wrong,hash"), "create ok \nwrite ok \nfill ok \n");
    expect_text(read_log(), "write bytes=1048576 ");
}

static void test_kernels_that_are_wrong(void **state)
{
    (void)state;
    assert_string_equal(run(scene_launches, "kernel=skip:3"),
                        "1 ok 1001\n2 ok 1002\n3 ok 1002\n4 ok 1002\n5 ok 1002\n");
    /* 1004 ^ 0x00400000 and 1005 ^ 0x00400000 */
    assert_string_equal(run(scene_launches, "kernel=flip:0:4"),
                        "1 ok 1001\n2 ok 1002\n3 ok 1003\n4 ok 4195308\n5 ok 4195309\n");
    assert_string_equal(run(scene_launches, "kernel=flip:1"), all_ok);
    expect_text(run(scene_launches, "kernel=nan"), "1 ok 2143289344\n"); /* 0x7fc00000 */
}

static void test_audit_kernels_are_not_counted(void **state)
{
    (void)state;
    assert_string_equal(run(scene_audit_launches, "kernel=skip:2"), all_ok);
    expect_text(run(scene_audit_launches, "kernel=skip:2,audit"), "1 ok 1001\n2 ok 1001\n");
}

static void test_error_in_the_event_alone(void **state)
{
    (void)state;
    /* in a batch of four, the second fails and the rest depend on it */
    assert_string_equal(
        run(scene_batch, "kernel=late-error:-5:2"),
        "driver: command 2 of 4 (kernel launch) failed: CL_OUT_OF_RESOURCES (-5)\nok: \n");
    assert_string_equal(
        run(scene_batch, "kernel=late-error:-52"),
        "driver: command 1 of 4 (kernel launch) failed: CL_INVALID_KERNEL_ARGS (-52)\nok: \n");
    expect_text(run(scene_batch, "kernel=late-error:-4"),
                "memory: out of memory at first use: command 1 of 4");
    expect_text(run(scene_batch, "kernel=late-error:-7777"), "unknown code (-7777)");
}

static void test_device_lost(void **state)
{
    (void)state;
    const char *text = run(scene_launches, "kernel=lost-after:2");
    expect_text(
        text,
        "1 ok 1001\n2 ok 1002\n3 lost: kernel 'mark': clEnqueueNDRangeKernel failed: "
        "CL_OUT_OF_RESOURCES (-5), and so does clFinish after it (CL_INVALID_COMMAND_QUEUE, -36)");
    expect_text(
        text,
        "4 lost: kernel 'mark': clEnqueueNDRangeKernel failed: CL_INVALID_COMMAND_QUEUE (-36)");
}

static void scene_lost_and_rebuilt(struct child *out)
{
    scene_launches(out);
    scene_launches(out);
}

static void test_device_lost_and_rebuilt(void **state)
{
    (void)state;
    expect_text(run(scene_lost_and_rebuilt, "kernel=lost-after:4"), "5 lost: ");
    expect_text(child.text, all_ok);
}

static void test_kernel_that_hangs(void **state)
{
    (void)state;
    run_for(scene_launches, "kernel=hang:3", 3);
    assert_true(child.timed_out);
    assert_string_equal(child.text, "1 ok 1001\n2 ok 1002\n");
}

static void test_kernel_that_crashes(void **state)
{
    (void)state;
    run_for(scene_launches, "kernel=crash:3", CHILD_SECONDS);
    assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGSEGV);
    assert_string_equal(child.text, "1 ok 1001\n2 ok 1002\n");
}

static void scene_group(struct child *out)
{
    struct scene scene;
    struct error err = {0};
    if (!scene_open(out, &scene, "mark"))
        return;
    child_say(out, "limit=%" PRIu64 "\n", kernel_group_limit(scene.device, scene.kernel));
    enum code code = scene_launch(&scene, 1, 32, &err);
    child_say(out, "%s: %s\n", code_name(code), err.message);
    code = scene_launch(&scene, 1, 0, &err);
    child_say(out, "free %s\n", code_name(code));
    scene_close(&scene);
}

static void test_kernel_group_limit(void **state)
{
    (void)state;
    expect_text(run(scene_group, "kwg=24"),
                "limit=24\ndriver: kernel 'mark': a group of 32 x 1 x 1 work-items, the "
                "kernel's limit is 24: clEnqueueNDRangeKernel failed: "
                "CL_INVALID_WORK_GROUP_SIZE (-54)\nfree ok\n");
    expect_text(run(scene_group, "kwg=1"), "limit=1\n");
}

/* A long kernel waited for in each way inside a timer: "way code". */
static void scene_ways(struct child *out)
{
    struct scene scene;
    if (!scene_open(out, &scene, "spin"))
        return;
    for (int way = 0; way < WAIT_WAYS; way++) {
        struct error err = {0};
        struct timing timing;
        device_set_wait(scene.device, (enum wait_way)way);
        enum code code = timer_start(scene.device, &err);
        if (code == CODE_OK)
            code = scene_launch(&scene, 20000000, 1, &err);
        if (code == CODE_OK)
            code = timer_stop(scene.device, &timing, &err);
        child_say(out, "%s %s %s\n", wait_way_name((enum wait_way)way), code_name(code),
                  err.message);
        for (int other = 0; other < WAIT_WAYS; other++)
            (void)device_sync_by(scene.device, (enum wait_way)other, NULL);
    }
    scene_close(&scene);
}

static void test_waits_that_return_early(void **state)
{
    (void)state;
    assert_string_equal(run(scene_ways, ""), "event wait ok \nfinish ok \nblocking read ok \n");
    assert_string_equal(
        run(scene_ways, "wait=finish-early"),
        "event wait ok \nfinish invalid the finish returned while 1 commands were still running\n"
        "blocking read ok \n");
    assert_string_equal(
        run(scene_ways, "wait=event-early,wait=read-early"),
        "event wait invalid the event wait returned while 1 commands were still running\nfinish ok "
        "\n"
        "blocking read invalid the blocking read returned while 1 commands were still running\n");
}

static void scene_writes(struct child *out)
{
    struct scene scene;
    static unsigned char bytes[8192];
    if (!scene_open(out, &scene, "mark"))
        return;
    struct buffer *buffer = NULL;
    (void)buffer_create(scene.device, MEMORY_DEVICE, sizeof bytes, &buffer, NULL);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = round == 0 ? 0 : (unsigned char)i;
        (void)buffer_write(scene.device, buffer, 0, bytes, sizeof bytes, NULL);
        (void)device_sync(scene.device, NULL);
    }
    buffer_destroy(scene.device, buffer);
    scene_close(&scene);
}

static void test_writes_are_logged(void **state)
{
    (void)state;
    run(scene_writes, "hash");
    /* all zero: no entropy; every byte value as often as any other: all of it */
    expect_text(read_log(), "write bytes=8192 first=");
    expect_text(read_log(), " ratio=0.000\n");
    expect_text(read_log(), " ratio=1.000\n");
}

/* Everything once, with no regard to failures: what is created is destroyed. */
static void scene_everything(struct child *out)
{
    struct scene scene;
    uint32_t words[SCENE_WORDS] = {0};
    struct timing timing;
    struct buffer *pinned = NULL;
    if (!scene_open(out, &scene, "mark"))
        return;
    (void)buffer_create(scene.device, MEMORY_PINNED, 4096, &pinned, NULL);
    for (int round = 0; round < 3; round++) {
        (void)timer_start(scene.device, NULL);
        (void)buffer_write(scene.device, scene.out, 0, words, sizeof words, NULL);
        (void)buffer_fill(scene.device, scene.out, 1, sizeof words, NULL);
        (void)scene_launch(&scene, 1, 1, NULL);
        (void)buffer_copy(scene.device, scene.out, scene.out, 0, NULL);
        (void)buffer_read(scene.device, words, scene.out, 0, sizeof words, NULL);
        device_set_wait(scene.device, (enum wait_way)round);
        (void)timer_stop(scene.device, &timing, NULL);
        (void)device_sync(scene.device, NULL);
    }
    buffer_destroy(scene.device, pinned);
    child_say(out, "closed\n");
    scene_close(&scene);
}

/* Each call fails in turn, at its first and at a later use: nothing is left over, nothing crashes.
 */
static void test_every_call_fails_in_turn(void **state)
{
    (void)state;
    static const char *const calls[] = {"clGetDeviceIDs",
                                        "clCreateContext",
                                        "clCreateCommandQueueWithProperties",
                                        "clCreateBuffer",
                                        "clEnqueueMapBuffer",
                                        "clCreateProgramWithSource",
                                        "clBuildProgram",
                                        "clCreateKernel",
                                        "clSetKernelArg",
                                        "clEnqueueNDRangeKernel",
                                        "clEnqueueReadBuffer",
                                        "clEnqueueWriteBuffer",
                                        "clEnqueueFillBuffer",
                                        "clFlush",
                                        "clFinish",
                                        "clWaitForEvents",
                                        "clGetEventInfo",
                                        "clGetEventProfilingInfo"};
    static const char none_left[] =
        "objects contexts=0 queues=0 buffers=0 programs=0 kernels=0 events=0\n";
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (int nth = 1; nth <= 2; nth++) {
            char faults[128];
            snprintf(faults, sizeof faults, "objects,fail=%s:-6:%d", calls[i], nth);
            run(scene_everything, faults);
            bool opened = strcmp(calls[i], "clGetDeviceIDs") != 0 &&
                          (strcmp(calls[i], "clCreateContext") != 0 || nth > 1);
            if (opened && strcmp(read_log(), none_left) != 0)
                fail_msg("'%s' leaves '%s' after '%s'", faults, read_log(), child.text);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_without_faults),
        cmocka_unit_test(test_devices_counted),
        cmocka_unit_test(test_devices_described),
        cmocka_unit_test(test_queue_without_profiling),
        cmocka_unit_test(test_runtime_of_version_1_2),
        cmocka_unit_test(test_build_that_prints),
        cmocka_unit_test(test_stamps_given_as_they_are),
        cmocka_unit_test(test_stamps_refused),
        cmocka_unit_test(test_late_completion_is_waited_for),
        cmocka_unit_test(test_memory_exhausted),
        cmocka_unit_test(test_fill_that_is_wrong_is_replaced),
        cmocka_unit_test(test_kernels_that_are_wrong),
        cmocka_unit_test(test_audit_kernels_are_not_counted),
        cmocka_unit_test(test_error_in_the_event_alone),
        cmocka_unit_test(test_device_lost),
        cmocka_unit_test(test_device_lost_and_rebuilt),
        cmocka_unit_test(test_kernel_that_hangs),
        cmocka_unit_test(test_kernel_that_crashes),
        cmocka_unit_test(test_kernel_group_limit),
        cmocka_unit_test(test_waits_that_return_early),
        cmocka_unit_test(test_writes_are_logged),
        cmocka_unit_test(test_every_call_fails_in_turn),
    };
    char cache[] = "/tmp/assay-test-cache-XXXXXX";
    char remove[64];
    int log = mkstemp(log_path);
    if (log < 0 || mkdtemp(cache) == NULL)
        return 1;
    close(log);
    setenv("POCL_CACHE_DIR", cache, 1);
    int failed = cmocka_run_group_tests_name("fakes/opencl_layer", tests, NULL, NULL);
    snprintf(remove, sizeof remove, "rm -rf %s %s", cache, log_path);
    return system(remove) == 0 ? failed : failed + 1;
}
