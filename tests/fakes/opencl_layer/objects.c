/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the objects that the program holds: each creation and retain is one, each release one
 * less. The switch 'objects' logs the counts when the last context goes, so that a test sees what
 * was left over. Wraps whatever the other files installed, and so is installed last. */
#include "layer.h"

enum { CONTEXTS, QUEUES, BUFFERS, PROGRAMS, KERNELS, EVENTS, KINDS };

static long held[KINDS];
static cl_icd_dispatch inner; /* the table as the other files left it */

static void log_objects(void)
{
    layer_log("objects contexts=%ld queues=%ld buffers=%ld programs=%ld kernels=%ld events=%ld",
              held[CONTEXTS], held[QUEUES], held[BUFFERS], held[PROGRAMS], held[KERNELS],
              held[EVENTS]);
}

static cl_context CL_API_CALL count_clCreateContext(
    const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
    cl_int *native)
{
    cl_int code;
    if (fault_fails("clCreateContext", &code)) {
        if (native != NULL)
            *native = code;
        return NULL;
    }
    cl_context id = inner.clCreateContext(properties, count, devices, notify, user, native);
    held[CONTEXTS] += id != NULL;
    return id;
}

static cl_command_queue CL_API_CALL count_clCreateCommandQueue(
    cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *native)
{
    cl_command_queue id = inner.clCreateCommandQueue(context, device, properties, native);
    held[QUEUES] += id != NULL;
    return id;
}

static cl_command_queue CL_API_CALL count_clCreateCommandQueueWithProperties(
    cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *native)
{
    cl_command_queue id =
        inner.clCreateCommandQueueWithProperties(context, device, properties, native);
    held[QUEUES] += id != NULL;
    return id;
}

static cl_mem CL_API_CALL count_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
                                               void *host, cl_int *native)
{
    cl_mem id = inner.clCreateBuffer(context, flags, bytes, host, native);
    held[BUFFERS] += id != NULL;
    return id;
}

static cl_program CL_API_CALL count_clCreateProgramWithSource(cl_context context, cl_uint count,
                                                              const char **texts,
                                                              const size_t *lengths, cl_int *native)
{
    cl_int code;
    if (fault_fails("clCreateProgramWithSource", &code)) {
        if (native != NULL)
            *native = code;
        return NULL;
    }
    cl_program id = inner.clCreateProgramWithSource(context, count, texts, lengths, native);
    held[PROGRAMS] += id != NULL;
    return id;
}

static cl_kernel CL_API_CALL count_clCreateKernel(cl_program program, const char *name,
                                                  cl_int *native)
{
    cl_int code;
    if (fault_fails("clCreateKernel", &code)) {
        if (native != NULL)
            *native = code;
        return NULL;
    }
    cl_kernel id = inner.clCreateKernel(program, name, native);
    held[KERNELS] += id != NULL;
    return id;
}

static cl_int CL_API_CALL count_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint dimensions, const size_t *offset,
                                                       const size_t *global, const size_t *local,
                                                       cl_uint waits, const cl_event *wait_list,
                                                       cl_event *event)
{
    cl_int native = inner.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                 waits, wait_list, event);
    held[EVENTS] += native == CL_SUCCESS && event != NULL;
    return native;
}

static cl_int CL_API_CALL count_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                                    cl_bool blocking, size_t offset, size_t bytes,
                                                    void *target, cl_uint waits,
                                                    const cl_event *wait_list, cl_event *event)
{
    cl_int native = inner.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, target, waits,
                                              wait_list, event);
    held[EVENTS] += native == CL_SUCCESS && event != NULL;
    return native;
}

static cl_int CL_API_CALL count_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                     cl_bool blocking, size_t offset, size_t bytes,
                                                     const void *source, cl_uint waits,
                                                     const cl_event *wait_list, cl_event *event)
{
    cl_int native = inner.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, source,
                                               waits, wait_list, event);
    held[EVENTS] += native == CL_SUCCESS && event != NULL;
    return native;
}

static cl_int CL_API_CALL count_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
                                                    const void *pattern, size_t pattern_bytes,
                                                    size_t offset, size_t bytes, cl_uint waits,
                                                    const cl_event *wait_list, cl_event *event)
{
    cl_int native = inner.clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset, bytes,
                                              waits, wait_list, event);
    held[EVENTS] += native == CL_SUCCESS && event != NULL;
    return native;
}

static cl_int CL_API_CALL count_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source,
                                                    cl_mem target, size_t source_offset,
                                                    size_t target_offset, size_t bytes,
                                                    cl_uint waits, const cl_event *wait_list,
                                                    cl_event *event)
{
    cl_int native = inner.clEnqueueCopyBuffer(queue, source, target, source_offset, target_offset,
                                              bytes, waits, wait_list, event);
    held[EVENTS] += native == CL_SUCCESS && event != NULL;
    return native;
}

static void *CL_API_CALL count_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
                                                  cl_bool blocking, cl_map_flags flags,
                                                  size_t offset, size_t bytes, cl_uint waits,
                                                  const cl_event *wait_list, cl_event *event,
                                                  cl_int *native)
{
    cl_int code;
    if (fault_fails("clEnqueueMapBuffer", &code)) {
        if (native != NULL)
            *native = code;
        return NULL;
    }
    void *pointer = inner.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, waits,
                                             wait_list, event, native);
    held[EVENTS] += pointer != NULL && event != NULL;
    return pointer;
}

static cl_int CL_API_CALL count_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem id,
                                                        void *pointer, cl_uint waits,
                                                        const cl_event *wait_list, cl_event *event)
{
    cl_int native = inner.clEnqueueUnmapMemObject(queue, id, pointer, waits, wait_list, event);
    held[EVENTS] += native == CL_SUCCESS && event != NULL;
    return native;
}

#define COUNT(call, type, kind, step)                                                              \
    static cl_int CL_API_CALL count_##call(type id)                                                \
    {                                                                                              \
        cl_int native = inner.call(id);                                                            \
        held[kind] += native == CL_SUCCESS ? (step) : 0;                                           \
        return native;                                                                             \
    }
COUNT(clReleaseCommandQueue, cl_command_queue, QUEUES, -1)
COUNT(clReleaseMemObject, cl_mem, BUFFERS, -1)
COUNT(clReleaseProgram, cl_program, PROGRAMS, -1)
COUNT(clReleaseKernel, cl_kernel, KERNELS, -1)
COUNT(clRetainEvent, cl_event, EVENTS, 1)
COUNT(clReleaseEvent, cl_event, EVENTS, -1)

static cl_int CL_API_CALL count_clReleaseContext(cl_context id)
{
    cl_int native = inner.clReleaseContext(id);
    held[CONTEXTS] -= native == CL_SUCCESS;
    if (held[CONTEXTS] == 0 && fault_find("objects", NULL) != NULL)
        log_objects();
    return native;
}

void objects_install(cl_icd_dispatch *table)
{
    inner = *table;
#define INSTALL(call) table->call = count_##call
    INSTALL(clCreateContext);
    INSTALL(clCreateCommandQueue);
    INSTALL(clCreateCommandQueueWithProperties);
    INSTALL(clCreateBuffer);
    INSTALL(clCreateProgramWithSource);
    INSTALL(clCreateKernel);
    INSTALL(clEnqueueNDRangeKernel);
    INSTALL(clEnqueueReadBuffer);
    INSTALL(clEnqueueWriteBuffer);
    INSTALL(clEnqueueFillBuffer);
    INSTALL(clEnqueueCopyBuffer);
    INSTALL(clEnqueueMapBuffer);
    INSTALL(clEnqueueUnmapMemObject);
    INSTALL(clReleaseContext);
    INSTALL(clReleaseCommandQueue);
    INSTALL(clReleaseMemObject);
    INSTALL(clReleaseProgram);
    INSTALL(clReleaseKernel);
    INSTALL(clRetainEvent);
    INSTALL(clReleaseEvent);
#undef INSTALL
}
