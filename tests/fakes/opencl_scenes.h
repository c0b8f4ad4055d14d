/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the OpenCL fault layer do in a child process: open PoCL's device through the
 * layer, do one thing, and say what came of it. The faults are in the environment. */
#ifndef TESTS_FAKES_OPENCL_SCENES_H
#define TESTS_FAKES_OPENCL_SCENES_H

#include "backends/backend.h"
#include "tests/backends/child.h"

#include <inttypes.h>

enum { SCENE_WORDS = 64, SCENE_LAUNCHES = 5 };

static const char scene_library[] = "/etc/OpenCL/vendors/pocl.icd";
static const char scene_text[] =
    "KERNEL void mark(GLOBAL u32 *out, u32 value) { out[global_id(0)] = value; }\n"
    "KERNEL void audit_mark(GLOBAL u32 *out, u32 value) { out[global_id(0)] = value; }\n"
    "KERNEL void spin(GLOBAL u32 *out, u32 count)\n"
    "{\n"
    "    u32 x = (u32)global_id(0);\n"
    "    for (u32 i = 0; i < count; i++)\n"
    "        x = x * 1664525u + 1013904223u;\n"
    "    out[global_id(0)] = x;\n"
    "}\n";

struct scene {
    struct backend_driver *driver;
    struct backend_device *device;
    struct buffer *out;
    struct program *program;
    struct kernel *kernel;
};

static void scene_close(struct scene *scene)
{
    if (scene->device != NULL) {
        buffer_destroy(scene->device, scene->out);
        program_destroy(scene->device, scene->program);
    }
    device_close(scene->device);
    driver_close(scene->driver);
}

/* Opens device 0 and gets a kernel; on failure says so, closes and returns false. */
static bool scene_open(struct child *child, struct scene *scene, const char *kernel)
{
    struct error err = {0};
    struct program_source source = {.text = scene_text, .options = ""};
    *scene = (struct scene){0};
    enum code code = driver_open(backend_find("opencl"), scene_library, &scene->driver, &err);
    if (code == CODE_OK)
        code = device_open(scene->driver, 0, &scene->device, &err);
    if (code == CODE_OK)
        code = buffer_create(scene->device, MEMORY_DEVICE, SCENE_WORDS * sizeof(uint32_t),
                             &scene->out, &err);
    if (code == CODE_OK)
        code = program_build(scene->device, &source, &scene->program, NULL, &err);
    if (code == CODE_OK)
        code = kernel_get(scene->device, scene->program, kernel, &scene->kernel, &err);
    if (code == CODE_OK)
        return true;
    child_say(child, "open %s: %s\n", code_name(code), err.message);
    scene_close(scene);
    return false;
}

static enum code scene_launch(struct scene *scene, uint32_t value, uint64_t group,
                              struct error *err)
{
    struct launch launch = {
        .kernel = scene->kernel,
        .args = {{.kind = ARG_BUFFER, .buffer = scene->out}, {.kind = ARG_U32, .u32 = value}},
        .arg_count = 2,
        .global = {SCENE_WORDS, 1, 1},
        .local = {group, 1, 1}};
    return device_launch(scene->device, &launch, err);
}

static enum code scene_read(struct scene *scene, uint32_t *word, struct error *err)
{
    enum code code = buffer_read(scene->device, word, scene->out, 0, sizeof *word, err);
    return code == CODE_OK ? device_sync_by(scene->device, WAIT_EVENT, err) : code;
}

/* Five launches, each waited for and its first word read: "1 ok 1001" … or "3 lost: message". */
static void scene_launches_of(struct child *child, const char *kernel)
{
    struct scene scene;
    if (!scene_open(child, &scene, kernel))
        return;
    for (uint32_t i = 1; i <= SCENE_LAUNCHES; i++) {
        struct error err = {0};
        uint32_t word = 0;
        enum code code = scene_launch(&scene, 1000 + i, 1, &err);
        if (code == CODE_OK)
            code = device_sync(scene.device, &err);
        if (code == CODE_OK)
            code = scene_read(&scene, &word, &err);
        if (code == CODE_OK)
            child_say(child, "%u ok %u\n", i, word);
        else
            child_say(child, "%u %s: %s\n", i, code_name(code), err.message);
    }
    scene_close(&scene);
}

static void scene_launches(struct child *child)
{
    scene_launches_of(child, "mark");
}

static void scene_audit_launches(struct child *child)
{
    scene_launches_of(child, "audit_mark");
}

/* A batch of four launches and one wait. */
static void scene_batch(struct child *child)
{
    struct scene scene;
    struct error err = {0};
    enum code code = CODE_OK;
    if (!scene_open(child, &scene, "mark"))
        return;
    for (uint32_t i = 0; i < 4 && code == CODE_OK; i++)
        code = scene_launch(&scene, i, 1, &err);
    if (code == CODE_OK)
        code = device_sync(scene.device, &err);
    child_say(child, "%s: %s\n", code_name(code), err.message);
    error_clear(&err);
    code = device_sync(scene.device, &err); /* a failure is told once */
    child_say(child, "%s: %s\n", code_name(code), err.message);
    scene_close(&scene);
}

/* Three timed batches of two launches: "has begin end host-ns reason". */
static void scene_timers(struct child *child)
{
    struct scene scene;
    if (!scene_open(child, &scene, "mark"))
        return;
    for (int i = 0; i < 3; i++) {
        struct error err = {0};
        struct timing timing;
        enum code code = timer_start(scene.device, &err);
        for (uint32_t k = 0; k < 2 && code == CODE_OK; k++)
            code = scene_launch(&scene, k, 1, &err);
        if (code == CODE_OK)
            code = timer_stop(scene.device, &timing, &err);
        if (code == CODE_OK)
            child_say(child, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", timing.has_device,
                      timing.device_begin, timing.device_end, timing.host_end - timing.host_begin,
                      timing.reason);
        else
            child_say(child, "%s: %s\n", code_name(code), err.message);
    }
    scene_close(&scene);
}

/* The device list: one line a device. */
static void scene_list(struct child *child)
{
    struct backend_driver *driver = NULL;
    struct error err = {0};
    const struct device_info *infos;
    if (driver_open(backend_find("opencl"), scene_library, &driver, &err) != CODE_OK) {
        child_say(child, "%s: %s\n", code_name(err.code), err.message);
        return;
    }
    size_t count = driver_devices(driver, &infos);
    child_say(child, "count=%zu\n", count);
    for (size_t i = 0; i < count && i < 2; i++)
        child_say(child,
                  "name=%s type=%s software=%d memory=%" PRIu64 " alloc=%" PRIu64 " step=%" PRIu64
                  " f64=%d f16=%d pci=%s uuid=%s api=%zu extensions=%zu\n",
                  infos[i].name, device_type_name(infos[i].type), infos[i].software,
                  infos[i].memory_bytes, infos[i].max_alloc_bytes, infos[i].timer_step_ns,
                  infos[i].has_f64, infos[i].has_f16, infos[i].pci, infos[i].uuid,
                  strlen(infos[i].api), strlen(infos[i].extensions));
    driver_close(driver);
}

#endif
