/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the OpenCL backend: the loader's entry points, the four objects behind
 * backends/backend.h, and what its files share. Included by backends/opencl/ alone. */
#ifndef BACKENDS_OPENCL_OPENCL_H
#define BACKENDS_OPENCL_OPENCL_H

#include "backends/backend.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: all that a 1.2 runtime has */
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Every entry point that is called, spelled once; the types are those of the Khronos headers, so a
 * signature cannot drift. A loader without a REQUIRED one is refused; an OPTIONAL one may be NULL
 * and is tested before each call. */
#define OPENCL_REQUIRED(X)                                                                         \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clCreateContext)                                                                             \
    X(clReleaseContext)                                                                            \
    X(clReleaseCommandQueue)                                                                       \
    X(clCreateBuffer)                                                                              \
    X(clReleaseMemObject)                                                                          \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clCreateProgramWithSource)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clGetProgramBuildInfo)                                                                       \
    X(clReleaseProgram)                                                                            \
    X(clCreateKernel)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clSetKernelArg)                                                                              \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clWaitForEvents)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clRetainEvent)                                                                               \
    X(clReleaseEvent)                                                                              \
    X(clFlush)                                                                                     \
    X(clFinish)
#define OPENCL_OPTIONAL(X)                                                                         \
    X(clCreateCommandQueueWithProperties)                                                          \
    X(clCreateCommandQueue)                                                                        \
    X(clEnqueueFillBuffer)

struct opencl_api {
#define OPENCL_MEMBER(name) __typeof__(name) *name;
    OPENCL_REQUIRED(OPENCL_MEMBER)
    OPENCL_OPTIONAL(OPENCL_MEMBER)
#undef OPENCL_MEMBER
};

enum {
    OPENCL_PLATFORMS_MAX = 64,
    OPENCL_DEVICES_MAX = 4096,      /* over all platforms */
    OPENCL_COMMANDS_MAX = 262144,   /* between two syncs: their events are kept for their status */
    OPENCL_LOG_BYTES = 16 * 1024,   /* of a compiler's log */
    OPENCL_INFO_BYTES = 1024 * 1024 /* of one info string: longer is a broken driver */
};

struct driver {
    void *library; /* of dlopen; never closed: drivers leave threads and exit handlers behind */
    struct opencl_api api;
    struct opencl_slot {
        cl_platform_id platform;
        cl_device_id device;
    } * slots;
    size_t slot_count;
    char platform[DEVICE_TEXT_BYTES]; /* name of the first platform; "" unknown */
};

struct device {
    const struct opencl_api *api;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    unsigned version; /* 102 for OpenCL 1.2: what may be called on it */
    uint64_t max_alloc_bytes;
    bool profiling;
    char no_profiling[160]; /* why not; "" when profiling */
    bool fill_works;        /* clEnqueueFillBuffer was tried and fills */
    cl_mem scratch;         /* one small buffer for the blocking read that waits */
    cl_event *pending; /* commands since the last sync in order; room for OPENCL_COMMANDS_MAX */
    size_t pending_count;
    cl_event newest; /* own reference: the last command of the last sync, NULL for none */
    cl_event first;  /* own reference: the first command of the running timer */
    bool timing;
    uint64_t timer_begin; /* host time of timer_start */
    uint64_t wait_end;    /* host time at which the last wait returned */
};

struct program {
    cl_program id;
    struct kernel *kernels; /* handed out so far, newest first */
};

struct kernel {
    cl_kernel id;
    uint64_t group_limit;
    struct kernel *next;
    char name[128];
};

/* Behind every struct buffer of this backend. */
struct opencl_buffer {
    struct buffer base; /* first */
    cl_mem memory;      /* NULL for PAGEABLE */
};

/* ---- errors.c ---- */
/* "CL_OUT_OF_RESOURCES"; "unknown code" for one that the specification does not have. */
const char *opencl_code_name(cl_int native);
/* Fills err with "call: NAME (code)[: more]" and the code that the native one stands for: MEMORY,
 * LOST or DRIVER. */
enum code opencl_error(struct error *err, cl_int native, const char *call);
/* As opencl_error, for a call on the queue: -5 is LOST only if the queue then fails to finish. */
enum code opencl_queue_error(struct device *device, struct error *err, cl_int native,
                             const char *call);
bool opencl_size_fits(uint64_t bytes); /* in this process's size_t */

/* ---- loader.c ---- */
enum code opencl_driver_open(const char *library, struct driver **driver, struct error *err);
void opencl_driver_close(struct driver *driver);
const char *opencl_driver_platform(struct driver *driver);

/* ---- identity.c: reading what a device says ---- */
/* Text of an info, heap, printable UTF-8; "" where the device refuses it. Never NULL. */
char *opencl_device_text(const struct opencl_api *api, cl_device_id device, cl_device_info what);
char *opencl_platform_text(const struct opencl_api *api, cl_platform_id platform,
                           cl_platform_info what);
/* One value of exactly this size; false, and value untouched, where the device refuses it. */
bool opencl_device_value(const struct opencl_api *api, cl_device_id device, cl_device_info what,
                         void *value, size_t bytes);
bool opencl_has_extension(const char *extensions, const char *name);
/* pci and uuid of info, from the extensions in info->extensions. */
void opencl_read_identity(const struct opencl_api *api, cl_device_id device,
                          struct device_info *info);

/* ---- device.c ---- */
enum code opencl_device_list(struct driver *driver, struct device_info **infos, size_t *count,
                             struct error *err);
enum code opencl_device_open(struct driver *driver, size_t index, struct device **device,
                             struct error *err);
void opencl_device_close(struct device *device);

/* ---- memory.c ---- */
enum code opencl_buffer_create(struct device *device, enum memory_kind kind, uint64_t bytes,
                               struct buffer **buffer, struct error *err);
void opencl_buffer_destroy(struct device *device, struct buffer *buffer);
enum code opencl_buffer_write(struct device *device, struct buffer *target, uint64_t offset,
                              const void *source, uint64_t bytes, struct error *err);
enum code opencl_buffer_read(struct device *device, void *target, struct buffer *source,
                             uint64_t offset, uint64_t bytes, struct error *err);
enum code opencl_buffer_fill(struct device *device, struct buffer *target, uint8_t byte,
                             uint64_t bytes, struct error *err);
enum code opencl_buffer_copy(struct device *device, struct buffer *target, struct buffer *source,
                             uint64_t bytes, struct error *err);
/* Fills a small buffer, reads it back and sets fill_works. CODE_OK also where it does not work. */
enum code opencl_check_fill(struct device *device, struct error *err);

/* ---- program.c ---- */
enum code opencl_program_build(struct device *device, const struct program_source *source,
                               struct program **program, struct text *log, struct error *err);
void opencl_program_destroy(struct device *device, struct program *program);
enum code opencl_kernel_get(struct device *device, struct program *program, const char *name,
                            struct kernel **kernel, struct error *err);
uint64_t opencl_kernel_group_limit(struct device *device, struct kernel *kernel);
enum code opencl_launch(struct device *device, const struct launch *launch, struct error *err);

/* ---- queue.c ---- */
/* CODE_USAGE when no further command may be enqueued before a sync. Before every enqueue. */
enum code opencl_queue_room(const struct device *device, struct error *err);
/* Keeps the event of a command that was enqueued. Takes over the reference. */
enum code opencl_queue_add(struct device *device, cl_event event, const char *call,
                           struct error *err);
enum code opencl_sync(struct device *device, enum wait_way way, struct error *err);
/* Drops the events without reading them. */
void opencl_queue_forget(struct device *device);
enum code opencl_timer_start(struct device *device, struct error *err);
enum code opencl_timer_stop(struct device *device, enum wait_way way, struct timing *timing,
                            struct error *err);

#endif
