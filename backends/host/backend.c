/* SPDX-License-Identifier: Apache-2.0
 *
 * The host as a device: plain C on one core ("in turn") or on all cores (OpenMP). It is the
 * baseline that a buyer wants beside the cards. "Device" memory is host memory; commands run at
 * once, so every way of waiting returns with the work done. */
#include "backends/backend.h"

#include "base/clock.h"

#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HOST_ONE,
    HOST_ALL,
    HOST_DEVICES,
    HOST_ALIGNMENT = 4096,
    HOST_LOCAL_BYTES = 65536,
    HOST_GROUP_ITEMS = 4096
};

struct driver {
    int threads;
};

struct device {
    int threads;
    uint64_t begin; /* host time of timer_start */
};

struct program {
    const struct host_kernel *kernels;
};

/* A kernel is a row of the suite's table. */
struct kernel {
    struct host_kernel row;
};

static enum code host_driver_open(const char *library, struct driver **driver, struct error *err)
{
    (void)library;
    (void)err;
    *driver = memory_zeroed(1, sizeof **driver);
    (*driver)->threads = omp_get_num_procs(); /* honours the affinity mask */
    int limit = omp_get_max_threads();        /* honours OMP_NUM_THREADS */
    if (limit < (*driver)->threads)
        (*driver)->threads = limit;
    return CODE_OK;
}

static void host_driver_close(struct driver *driver)
{
    free(driver);
}

static const char *host_driver_platform(struct driver *driver)
{
    (void)driver;
    return "host baseline";
}

static void cpu_model(char *name, size_t bytes)
{
    snprintf(name, bytes, "host processor");
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, "model name", strlen("model name")) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, bytes, "%s", colon + 2);
        text_make_printable(name);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static uint64_t physical_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static enum code host_device_list(struct driver *driver, struct device_info **infos, size_t *count,
                                  struct error *err)
{
    (void)err;
    *infos = memory_zeroed(HOST_DEVICES, sizeof **infos);
    *count = HOST_DEVICES;
    for (int i = 0; i < HOST_DEVICES; i++) {
        struct device_info *info = &(*infos)[i];
        int threads = i == HOST_ONE ? 1 : driver->threads;
        char model[DEVICE_TEXT_BYTES - 32];
        cpu_model(model, sizeof model);
        snprintf(info->id, sizeof info->id, "host:%s", i == HOST_ONE ? "one" : "all");
        snprintf(info->name, sizeof info->name, "%s (%d %s)", model, threads,
                 threads == 1 ? "core" : "cores");
        const char *bound = getenv("OMP_PROC_BIND");
        snprintf(info->driver, sizeof info->driver, "plain C, OpenMP %d%s", _OPENMP,
                 bound != NULL && strcmp(bound, "false") != 0 ? ", threads bound to cores" : "");
        snprintf(info->api, sizeof info->api, "C11");
        snprintf(info->platform, sizeof info->platform, "host baseline");
        info->type = DEVICE_CPU;
        info->unified_memory = info->has_f64 = info->available = true;
        info->compute_units = (uint32_t)threads;
        info->memory_bytes = info->max_alloc_bytes = physical_memory();
        info->max_group_items = HOST_GROUP_ITEMS; /* a group is a tile of the loops */
        info->local_bytes = HOST_LOCAL_BYTES;
        for (int d = 0; d < LAUNCH_DIMENSIONS; d++)
            info->max_group_size[d] = HOST_GROUP_ITEMS;
        info->timer_step_ns = 1;
    }
    return CODE_OK;
}

static enum code host_device_open(struct driver *driver, size_t index, struct device **device,
                                  struct error *err)
{
    (void)err;
    *device = memory_zeroed(1, sizeof **device);
    (*device)->threads = index == HOST_ONE ? 1 : driver->threads;
    return CODE_OK;
}

static void host_device_close(struct device *device)
{
    free(device);
}

static enum code host_buffer_create(struct device *device, enum memory_kind kind, uint64_t bytes,
                                    struct buffer **buffer, struct error *err)
{
    (void)device;
    struct buffer *created = memory_zeroed(1, sizeof *created);
    uint64_t padded = (bytes + HOST_ALIGNMENT - 1) / HOST_ALIGNMENT * HOST_ALIGNMENT;
    void *pointer = NULL;
    int status = posix_memalign(&pointer, HOST_ALIGNMENT, padded);
    if (status != 0) {
        free(created);
        return error_set(err, CODE_MEMORY, status, "%llu bytes of host memory: %s",
                         (unsigned long long)bytes, strerror(status));
    }
    memset(pointer, 0, padded); /* touch every page before any timing */
    *created = (struct buffer){.kind = kind, .bytes = bytes, .pointer = pointer};
    *buffer = created;
    return CODE_OK;
}

static void host_buffer_destroy(struct device *device, struct buffer *buffer)
{
    (void)device;
    free(buffer->pointer);
    free(buffer);
}

/* Copies with the device's threads, in pieces of whole pages. */
static void parallel_copy(int threads, void *target, const void *source, uint64_t bytes)
{
    enum { PIECE = 1 << 20 };
    int64_t pieces = (int64_t)((bytes + PIECE - 1) / PIECE);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && pieces > 1)
    for (int64_t i = 0; i < pieces; i++) {
        uint64_t begin = (uint64_t)i * PIECE;
        uint64_t count = bytes - begin < PIECE ? bytes - begin : PIECE;
        memcpy((char *)target + begin, (const char *)source + begin, count);
    }
}

static enum code host_buffer_write(struct device *device, struct buffer *target, uint64_t offset,
                                   const void *source, uint64_t bytes, struct error *err)
{
    (void)err;
    parallel_copy(device->threads, (char *)target->pointer + offset, source, bytes);
    return CODE_OK;
}

static enum code host_buffer_read(struct device *device, void *target, struct buffer *source,
                                  uint64_t offset, uint64_t bytes, struct error *err)
{
    (void)err;
    parallel_copy(device->threads, target, (const char *)source->pointer + offset, bytes);
    return CODE_OK;
}

static enum code host_buffer_fill(struct device *device, struct buffer *target, uint8_t byte,
                                  uint64_t bytes, struct error *err)
{
    (void)device;
    (void)err;
    memset(target->pointer, byte, bytes);
    return CODE_OK;
}

static enum code host_buffer_copy(struct device *device, struct buffer *target,
                                  struct buffer *source, uint64_t bytes, struct error *err)
{
    (void)err;
    parallel_copy(device->threads, target->pointer, source->pointer, bytes);
    return CODE_OK;
}

static enum code host_program_build(struct device *device, const struct program_source *source,
                                    struct program **program, struct text *log, struct error *err)
{
    (void)device;
    (void)log;
    if (source->host == NULL)
        return error_set(err, CODE_UNSUPPORTED, 0, "the workload has no plain C form");
    *program = memory_zeroed(1, sizeof **program);
    (*program)->kernels = source->host;
    return CODE_OK;
}

static void host_program_destroy(struct device *device, struct program *program)
{
    (void)device;
    free(program);
}

static enum code host_kernel_get(struct device *device, struct program *program, const char *name,
                                 struct kernel **kernel, struct error *err)
{
    (void)device;
    for (const struct host_kernel *row = program->kernels; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            /* struct kernel wraps the row; the row outlives the program */
            *kernel = (struct kernel *)(uintptr_t)row;
            return CODE_OK;
        }
    }
    return error_set(err, CODE_DRIVER, 0, "no kernel '%s' in plain C", name);
}

static uint64_t host_kernel_group_limit(struct device *device, struct kernel *kernel)
{
    (void)device;
    (void)kernel;
    return HOST_GROUP_ITEMS;
}

static enum code host_launch(struct device *device, const struct launch *launch, struct error *err)
{
    (void)err;
    void *pointers[LAUNCH_ARGS_MAX] = {0};
    for (uint32_t i = 0; i < launch->arg_count; i++)
        if (launch->args[i].kind == ARG_BUFFER)
            pointers[i] = launch->args[i].buffer->pointer;
    launch->kernel->row.run(launch, pointers, device->threads);
    return CODE_OK;
}

static enum code host_sync(struct device *device, enum wait_way way, struct error *err)
{
    (void)device;
    (void)way;
    (void)err;
    return CODE_OK;
}

static enum code host_timer_start(struct device *device, struct error *err)
{
    (void)err;
    device->begin = clock_now_ns();
    return CODE_OK;
}

static enum code host_timer_stop(struct device *device, enum wait_way way, struct timing *timing,
                                 struct error *err)
{
    (void)way;
    (void)err;
    timing->host_begin = device->begin;
    timing->host_end = clock_now_ns();
    snprintf(timing->reason, sizeof timing->reason, "the host is timed by its own clock");
    return CODE_OK;
}

static void host_telemetry(struct device *device, struct telemetry *telemetry)
{
    (void)device;
    snprintf(telemetry->reason, sizeof telemetry->reason, "no telemetry for a processor");
}

const struct backend backend_host = {
    .name = "host",
    .summary = "the host itself in plain C: one core, all cores",
    .driver_open = host_driver_open,
    .driver_close = host_driver_close,
    .driver_platform = host_driver_platform,
    .device_list = host_device_list,
    .device_open = host_device_open,
    .device_close = host_device_close,
    .buffer_create = host_buffer_create,
    .buffer_destroy = host_buffer_destroy,
    .buffer_write = host_buffer_write,
    .buffer_read = host_buffer_read,
    .buffer_fill = host_buffer_fill,
    .buffer_copy = host_buffer_copy,
    .program_build = host_program_build,
    .program_destroy = host_program_destroy,
    .kernel_get = host_kernel_get,
    .kernel_group_limit = host_kernel_group_limit,
    .launch = host_launch,
    .sync = host_sync,
    .timer_start = host_timer_start,
    .timer_stop = host_timer_stop,
    .telemetry = host_telemetry,
};
