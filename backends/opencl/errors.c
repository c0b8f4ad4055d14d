/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenCL's error codes: their names, and which code of ours each stands for. Must not know what was
 * being done. */
#include "backends/opencl/opencl.h"

#include <stdio.h>

struct native_name {
    cl_int code;
    const char *name;
};

#define NAME(code)                                                                                 \
    {                                                                                              \
        code, #code                                                                                \
    }
static const struct native_name native_names[] = {
    NAME(CL_SUCCESS),
    NAME(CL_DEVICE_NOT_FOUND),
    NAME(CL_DEVICE_NOT_AVAILABLE),
    NAME(CL_COMPILER_NOT_AVAILABLE),
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAME(CL_OUT_OF_RESOURCES),
    NAME(CL_OUT_OF_HOST_MEMORY),
    NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAME(CL_MEM_COPY_OVERLAP),
    NAME(CL_IMAGE_FORMAT_MISMATCH),
    NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    NAME(CL_BUILD_PROGRAM_FAILURE),
    NAME(CL_MAP_FAILURE),
    NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAME(CL_COMPILE_PROGRAM_FAILURE),
    NAME(CL_LINKER_NOT_AVAILABLE),
    NAME(CL_LINK_PROGRAM_FAILURE),
    NAME(CL_DEVICE_PARTITION_FAILED),
    NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAME(CL_INVALID_VALUE),
    NAME(CL_INVALID_DEVICE_TYPE),
    NAME(CL_INVALID_PLATFORM),
    NAME(CL_INVALID_DEVICE),
    NAME(CL_INVALID_CONTEXT),
    NAME(CL_INVALID_QUEUE_PROPERTIES),
    NAME(CL_INVALID_COMMAND_QUEUE),
    NAME(CL_INVALID_HOST_PTR),
    NAME(CL_INVALID_MEM_OBJECT),
    NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    NAME(CL_INVALID_IMAGE_SIZE),
    NAME(CL_INVALID_SAMPLER),
    NAME(CL_INVALID_BINARY),
    NAME(CL_INVALID_BUILD_OPTIONS),
    NAME(CL_INVALID_PROGRAM),
    NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    NAME(CL_INVALID_KERNEL_NAME),
    NAME(CL_INVALID_KERNEL_DEFINITION),
    NAME(CL_INVALID_KERNEL),
    NAME(CL_INVALID_ARG_INDEX),
    NAME(CL_INVALID_ARG_VALUE),
    NAME(CL_INVALID_ARG_SIZE),
    NAME(CL_INVALID_KERNEL_ARGS),
    NAME(CL_INVALID_WORK_DIMENSION),
    NAME(CL_INVALID_WORK_GROUP_SIZE),
    NAME(CL_INVALID_WORK_ITEM_SIZE),
    NAME(CL_INVALID_GLOBAL_OFFSET),
    NAME(CL_INVALID_EVENT_WAIT_LIST),
    NAME(CL_INVALID_EVENT),
    NAME(CL_INVALID_OPERATION),
    NAME(CL_INVALID_GL_OBJECT),
    NAME(CL_INVALID_BUFFER_SIZE),
    NAME(CL_INVALID_MIP_LEVEL),
    NAME(CL_INVALID_GLOBAL_WORK_SIZE),
    NAME(CL_INVALID_PROPERTY),
    NAME(CL_INVALID_IMAGE_DESCRIPTOR),
    NAME(CL_INVALID_COMPILER_OPTIONS),
    NAME(CL_INVALID_LINKER_OPTIONS),
    NAME(CL_INVALID_DEVICE_PARTITION_COUNT),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "illegal access to device memory, in NVIDIA's driver"},
};
#undef NAME

const char *opencl_code_name(cl_int native)
{
    for (size_t i = 0; i < sizeof native_names / sizeof native_names[0]; i++)
        if (native_names[i].code == native)
            return native_names[i].name;
    return "unknown code";
}

static enum code meaning(cl_int native)
{
    switch (native) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
        return CODE_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_COMMAND_QUEUE:
        return CODE_LOST;
    default:
        return CODE_DRIVER;
    }
}

enum code opencl_error(struct error *err, cl_int native, const char *call)
{
    enum code code = meaning(native);
    const char *more = code == CODE_LOST ? ": the device is lost" : "";
    return error_set(err, code, native, "%s failed: %s (%d)%s", call, opencl_code_name(native),
                     (int)native, more);
}

enum code opencl_queue_error(struct device *device, struct error *err, cl_int native,
                             const char *call)
{
    if (meaning(native) == CODE_MEMORY)
        return error_set(err, CODE_MEMORY, native, "out of memory at first use: %s failed: %s (%d)",
                         call, opencl_code_name(native), (int)native);
    if (native != CL_OUT_OF_RESOURCES && native != -9999)
        return opencl_error(err, native, call);
    /* The code of many small failures and of a dead device alike: a dead one cannot finish either.
     */
    cl_int finish = device->api->clFinish(device->queue);
    if (finish == CL_SUCCESS)
        return opencl_error(err, native, call);
    return error_set(err, CODE_LOST, native,
                     "%s failed: %s (%d), and so does clFinish after it (%s, %d): the device "
                     "is lost",
                     call, opencl_code_name(native), (int)native, opencl_code_name(finish),
                     (int)finish);
}

bool opencl_size_fits(uint64_t bytes)
{
    return (uint64_t)(size_t)bytes == bytes;
}
