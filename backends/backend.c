/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked wrappers around the backends' tables: NULL and range checks once, for every backend; see
 * backend.h. */
#include "backends/backend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend_table.inc"

struct backend_driver {
    const struct backend *backend;
    struct driver *driver;
    struct device_info *infos;
    size_t count;
};

struct backend_device {
    const struct backend *backend;
    struct device *device;
    struct device_info info; /* extensions borrowed from the driver's list */
    enum wait_way wait;
};

const struct backend *const *backend_all(void)
{
    return backend_table;
}

const struct backend *backend_find(const char *name)
{
    for (const struct backend *const *backend = backend_table; *backend != NULL; backend++)
        if (strcmp((*backend)->name, name) == 0)
            return *backend;
    return NULL;
}

const char *device_type_name(enum device_type type)
{
    static const char *const names[] = {[DEVICE_CPU] = "cpu",
                                        [DEVICE_GPU] = "gpu",
                                        [DEVICE_ACCELERATOR] = "accelerator",
                                        [DEVICE_OTHER] = "other"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "other";
}

const char *wait_way_name(enum wait_way way)
{
    static const char *const names[WAIT_WAYS] = {
        [WAIT_EVENT] = "event wait", [WAIT_FINISH] = "finish", [WAIT_READ] = "blocking read"};
    assert((unsigned)way < WAIT_WAYS);
    return names[way];
}

void device_info_release(struct device_info *info)
{
    free(info->extensions);
    info->extensions = NULL;
}

static void device_list_release(struct device_info *infos, size_t count)
{
    for (size_t i = 0; infos != NULL && i < count; i++)
        device_info_release(&infos[i]);
    free(infos);
}

enum code driver_open(const struct backend *backend, const char *library,
                      struct backend_driver **driver, struct error *err)
{
    assert(backend != NULL && driver != NULL);
    struct backend_driver *opened = memory_zeroed(1, sizeof *opened);
    opened->backend = backend;
    enum code code = backend->driver_open(library != NULL ? library : "", &opened->driver, err);
    if (code == CODE_OK)
        code = backend->device_list(opened->driver, &opened->infos, &opened->count, err);
    if (code != CODE_OK) {
        driver_close(opened);
        return code;
    }
    *driver = opened;
    return CODE_OK;
}

void driver_close(struct backend_driver *driver)
{
    if (driver == NULL)
        return;
    device_list_release(driver->infos, driver->count);
    if (driver->driver != NULL)
        driver->backend->driver_close(driver->driver);
    free(driver);
}

size_t driver_devices(const struct backend_driver *driver, const struct device_info **infos)
{
    *infos = driver->infos;
    return driver->count;
}

const char *driver_platform(const struct backend_driver *driver)
{
    return driver->backend->driver_platform(driver->driver);
}

enum code device_open(struct backend_driver *driver, size_t index, struct backend_device **device,
                      struct error *err)
{
    if (index >= driver->count)
        return error_set(err, CODE_USAGE, 0, "no device %zu: the driver has %zu", index,
                         driver->count);
    struct backend_device *opened = memory_zeroed(1, sizeof *opened);
    opened->backend = driver->backend;
    opened->info = driver->infos[index];
    enum code code = driver->backend->device_open(driver->driver, index, &opened->device, err);
    if (code != CODE_OK) {
        free(opened);
        return code;
    }
    *device = opened;
    return CODE_OK;
}

void device_close(struct backend_device *device)
{
    if (device == NULL)
        return;
    device->backend->device_close(device->device);
    free(device);
}

const struct device_info *device_get_info(const struct backend_device *device)
{
    return &device->info;
}

void device_set_wait(struct backend_device *device, enum wait_way way)
{
    assert((unsigned)way < WAIT_WAYS);
    device->wait = way;
}

enum code buffer_create(struct backend_device *device, enum memory_kind kind, uint64_t bytes,
                        struct buffer **buffer, struct error *err)
{
    *buffer = NULL;
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return error_set(err, CODE_MEMORY, 0, "a buffer of %llu bytes cannot be made",
                         (unsigned long long)bytes);
    return device->backend->buffer_create(device->device, kind, bytes, buffer, err);
}

void buffer_destroy(struct backend_device *device, struct buffer *buffer)
{
    if (buffer != NULL)
        device->backend->buffer_destroy(device->device, buffer);
}

static enum code check_range(const struct buffer *buffer, uint64_t offset, uint64_t bytes,
                             struct error *err)
{
    if (buffer == NULL)
        return error_set(err, CODE_USAGE, 0, "no buffer");
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return error_set(err, CODE_USAGE, 0,
                         "%llu bytes at %llu pass the end of a buffer of %llu bytes",
                         (unsigned long long)bytes, (unsigned long long)offset,
                         (unsigned long long)buffer->bytes);
    return CODE_OK;
}

enum code buffer_write(struct backend_device *device, struct buffer *target, uint64_t offset,
                       const void *source, uint64_t bytes, struct error *err)
{
    assert(source != NULL);
    enum code code = check_range(target, offset, bytes, err);
    if (code != CODE_OK || bytes == 0)
        return code;
    return device->backend->buffer_write(device->device, target, offset, source, bytes, err);
}

enum code buffer_read(struct backend_device *device, void *target, struct buffer *source,
                      uint64_t offset, uint64_t bytes, struct error *err)
{
    assert(target != NULL);
    enum code code = check_range(source, offset, bytes, err);
    if (code != CODE_OK || bytes == 0)
        return code;
    return device->backend->buffer_read(device->device, target, source, offset, bytes, err);
}

enum code buffer_fill(struct backend_device *device, struct buffer *target, uint8_t byte,
                      uint64_t bytes, struct error *err)
{
    enum code code = check_range(target, 0, bytes, err);
    if (code != CODE_OK || bytes == 0)
        return code;
    if (target->pointer != NULL) {
        memset(target->pointer, byte, bytes);
        return CODE_OK;
    }
    return device->backend->buffer_fill(device->device, target, byte, bytes, err);
}

enum code buffer_copy(struct backend_device *device, struct buffer *target, struct buffer *source,
                      uint64_t bytes, struct error *err)
{
    enum code code = check_range(target, 0, bytes, err);
    if (code == CODE_OK)
        code = check_range(source, 0, bytes, err);
    if (code != CODE_OK || bytes == 0)
        return code;
    return device->backend->buffer_copy(device->device, target, source, bytes, err);
}

enum code program_build(struct backend_device *device, const struct program_source *source,
                        struct program **program, struct text *log, struct error *err)
{
    assert(source->text != NULL && source->options != NULL);
    *program = NULL;
    return device->backend->program_build(device->device, source, program, log, err);
}

void program_destroy(struct backend_device *device, struct program *program)
{
    if (program != NULL)
        device->backend->program_destroy(device->device, program);
}

enum code kernel_get(struct backend_device *device, struct program *program, const char *name,
                     struct kernel **kernel, struct error *err)
{
    assert(program != NULL && name != NULL);
    *kernel = NULL;
    return device->backend->kernel_get(device->device, program, name, kernel, err);
}

uint64_t kernel_group_limit(struct backend_device *device, struct kernel *kernel)
{
    return device->backend->kernel_group_limit(device->device, kernel);
}

enum code device_launch(struct backend_device *device, const struct launch *launch,
                        struct error *err)
{
    assert(launch->kernel != NULL && launch->arg_count <= LAUNCH_ARGS_MAX);
    for (int d = 0; d < LAUNCH_DIMENSIONS; d++) {
        uint64_t local = launch->local[d] > 0 ? launch->local[d] : 1;
        if (launch->global[d] == 0 || launch->global[d] % local != 0)
            return error_set(err, CODE_USAGE, 0,
                             "dimension %d: %llu work-items are no multiple of the group's %llu", d,
                             (unsigned long long)launch->global[d], (unsigned long long)local);
    }
    return device->backend->launch(device->device, launch, err);
}

enum code device_sync(struct backend_device *device, struct error *err)
{
    return device_sync_by(device, device->wait, err);
}

enum code device_sync_by(struct backend_device *device, enum wait_way way, struct error *err)
{
    assert((unsigned)way < WAIT_WAYS);
    return device->backend->sync(device->device, way, err);
}

enum code timer_start(struct backend_device *device, struct error *err)
{
    return device->backend->timer_start(device->device, err);
}

enum code timer_stop(struct backend_device *device, struct timing *timing, struct error *err)
{
    *timing = (struct timing){0};
    return device->backend->timer_stop(device->device, device->wait, timing, err);
}

void device_telemetry(struct backend_device *device, struct telemetry *telemetry)
{
    *telemetry = (struct telemetry){0};
    device->backend->telemetry(device->device, telemetry);
}
