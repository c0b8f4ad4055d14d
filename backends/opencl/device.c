/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes the OpenCL devices and opens one: context, one in-order queue with profiling where the
 * driver allows it. Must not know kernels and measurements. */
#include "backends/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The type is the API's alone: marketing names of a card and a processor may be the same. */
static enum device_type type_of(cl_device_type type)
{
    if ((type & CL_DEVICE_TYPE_GPU) != 0)
        return DEVICE_GPU;
    if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0)
        return DEVICE_ACCELERATOR;
    return (type & CL_DEVICE_TYPE_CPU) != 0 ? DEVICE_CPU : DEVICE_OTHER;
}

/* Moves heap text into a field, cut at a whole character where it does not fit. */
static void set_text(char field[DEVICE_TEXT_BYTES], char *text)
{
    size_t length = strlen(text);
    if (length >= DEVICE_TEXT_BYTES) {
        length = DEVICE_TEXT_BYTES - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(field, text, length);
    field[length] = '\0';
    free(text);
}

static uint64_t value_u64(const struct opencl_api *api, cl_device_id device, cl_device_info what)
{
    cl_ulong value = 0;
    return opencl_device_value(api, device, what, &value, sizeof value) ? value : 0;
}

static uint32_t value_u32(const struct opencl_api *api, cl_device_id device, cl_device_info what)
{
    cl_uint value = 0;
    return opencl_device_value(api, device, what, &value, sizeof value) ? value : 0;
}

static uint64_t value_size(const struct opencl_api *api, cl_device_id device, cl_device_info what)
{
    size_t value = 0;
    return opencl_device_value(api, device, what, &value, sizeof value) ? value : 0;
}

static void read_limits(const struct opencl_api *api, cl_device_id device, struct device_info *info)
{
    size_t sizes[LAUNCH_DIMENSIONS] = {0};
    info->compute_units = value_u32(api, device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->clock_mhz = value_u32(api, device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info->memory_bytes = value_u64(api, device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_alloc_bytes = value_u64(api, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->local_bytes = value_u64(api, device, CL_DEVICE_LOCAL_MEM_SIZE);
    info->cache_bytes = value_u64(api, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    info->max_group_items = value_size(api, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->timer_step_ns = value_size(api, device, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
    if (opencl_device_value(api, device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes, sizeof sizes))
        for (int d = 0; d < LAUNCH_DIMENSIONS; d++)
            info->max_group_size[d] = sizes[d];
}

static void describe(const struct driver *driver, size_t index, struct device_info *info)
{
    const struct opencl_api *api = &driver->api;
    cl_device_id device = driver->slots[index].device;
    cl_device_type type = 0;
    (void)opencl_device_value(api, device, CL_DEVICE_TYPE, &type, sizeof type);
    snprintf(info->id, sizeof info->id, "opencl:%zu", index);
    set_text(info->name, opencl_device_text(api, device, CL_DEVICE_NAME));
    set_text(info->vendor, opencl_device_text(api, device, CL_DEVICE_VENDOR));
    set_text(info->driver, opencl_device_text(api, device, CL_DRIVER_VERSION));
    set_text(info->api, opencl_device_text(api, device, CL_DEVICE_VERSION));
    set_text(info->platform,
             opencl_platform_text(api, driver->slots[index].platform, CL_PLATFORM_NAME));
    info->extensions = opencl_device_text(api, device, CL_DEVICE_EXTENSIONS);
    info->type = type_of(type);
    info->software = info->type == DEVICE_CPU;
    info->unified_memory = value_u32(api, device, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info->available = value_u32(api, device, CL_DEVICE_AVAILABLE) != 0;
    info->has_f64 = opencl_has_extension(info->extensions, "cl_khr_fp64");
    info->has_f16 = opencl_has_extension(info->extensions, "cl_khr_fp16");
    read_limits(api, device, info);
    opencl_read_identity(api, device, info);
}

enum code opencl_device_list(struct driver *driver, struct device_info **infos, size_t *count,
                             struct error *err)
{
    (void)err;
    *infos = memory_zeroed(driver->slot_count, sizeof **infos);
    *count = driver->slot_count;
    for (size_t i = 0; i < driver->slot_count; i++)
        describe(driver, i, &(*infos)[i]);
    return CODE_OK;
}

/* "OpenCL 1.2 …" is 102; 0 for a text that is none. */
static unsigned parse_version(char *text)
{
    unsigned major = 0, minor = 0;
    int fields = sscanf(text, "OpenCL %2u.%2u", &major, &minor);
    free(text);
    return fields == 2 ? 100 * major + minor : 0;
}

/* The version that both the platform and the device have: a loader that knows more calls through
 * NULL. */
static unsigned version_of(const struct device *device)
{
    unsigned of_platform =
        parse_version(opencl_platform_text(device->api, device->platform, CL_PLATFORM_VERSION));
    unsigned of_device =
        parse_version(opencl_device_text(device->api, device->id, CL_DEVICE_VERSION));
    return of_device < of_platform ? of_device : of_platform;
}

static cl_command_queue new_queue(struct device *device, cl_command_queue_properties properties,
                                  cl_int *native)
{
    const struct opencl_api *api = device->api;
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    cl_command_queue queue = NULL;
    *native = CL_INVALID_OPERATION;
    if (api->clCreateCommandQueueWithProperties != NULL && device->version >= 200)
        queue = api->clCreateCommandQueueWithProperties(device->context, device->id, list, native);
    if ((queue == NULL || *native != CL_SUCCESS) && api->clCreateCommandQueue != NULL)
        queue = api->clCreateCommandQueue(device->context, device->id, properties, native);
    return *native == CL_SUCCESS ? queue : NULL;
}

static enum code open_queue(struct device *device, struct error *err)
{
    cl_int native;
    device->queue = new_queue(device, CL_QUEUE_PROFILING_ENABLE, &native);
    device->profiling = device->queue != NULL;
    if (device->queue != NULL)
        return CODE_OK;
    snprintf(device->no_profiling, sizeof device->no_profiling,
             "the driver refuses a queue with profiling: %s (%d)", opencl_code_name(native),
             (int)native);
    device->queue = new_queue(device, 0, &native);
    return device->queue != NULL ? CODE_OK : opencl_error(err, native, "clCreateCommandQueue");
}

static enum code open_parts(struct device *device, struct error *err)
{
    const struct opencl_api *api = device->api;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->platform, 0};
    cl_int native = CL_SUCCESS;
    device->context = api->clCreateContext(properties, 1, &device->id, NULL, NULL, &native);
    if (native != CL_SUCCESS || device->context == NULL)
        return opencl_error(err, native, "clCreateContext");
    enum code code = open_queue(device, err);
    if (code != CODE_OK)
        return code;
    device->scratch = api->clCreateBuffer(device->context, CL_MEM_READ_WRITE, 4096, NULL, &native);
    if (native != CL_SUCCESS || device->scratch == NULL)
        return opencl_error(err, native, "clCreateBuffer");
    return opencl_check_fill(device, err);
}

enum code opencl_device_open(struct driver *driver, size_t index, struct device **device,
                             struct error *err)
{
    if (index >= driver->slot_count)
        return error_set(err, CODE_USAGE, 0, "no OpenCL device %zu: there are %zu", index,
                         driver->slot_count);
    struct device *opened = memory_zeroed(1, sizeof *opened);
    opened->api = &driver->api;
    opened->platform = driver->slots[index].platform;
    opened->id = driver->slots[index].device;
    opened->version = version_of(opened);
    opened->max_alloc_bytes = value_u64(opened->api, opened->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    opened->pending = memory_zeroed(OPENCL_COMMANDS_MAX, sizeof(cl_event));
    /* Written once, so that no page of it is first touched inside a timed batch. */
    cl_event volatile *pending = opened->pending;
    for (size_t i = 0; i < OPENCL_COMMANDS_MAX; i++)
        pending[i] = NULL;
    enum code code = open_parts(opened, err);
    if (code != CODE_OK) {
        opencl_device_close(opened);
        return code;
    }
    *device = opened;
    return CODE_OK;
}

void opencl_device_close(struct device *device)
{
    if (device == NULL)
        return;
    opencl_queue_forget(device);
    if (device->scratch != NULL)
        device->api->clReleaseMemObject(device->scratch);
    if (device->queue != NULL)
        device->api->clReleaseCommandQueue(device->queue);
    if (device->context != NULL)
        device->api->clReleaseContext(device->context);
    free(device->pending);
    free(device);
}
