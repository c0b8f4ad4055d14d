/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of launches: kernel=skip|flip|nan|late-error|lost-after|hang|crash, kwg=. Counts the
 * launches of kernels whose name does not begin with "audit_", unless the switch 'audit' is given,
 * so that a fault can be aimed at a measurement alone. */
#include "layer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS_MAX = 512 };

/* Buffer arguments as they were set last. */
static struct {
    cl_kernel kernel;
    cl_mem buffers[ARGS_MAX];
} arguments[KERNELS_MAX];

static cl_mem *arguments_of(cl_kernel kernel)
{
    for (size_t i = 0; i < KERNELS_MAX; i++) {
        if (arguments[i].kernel == kernel)
            return arguments[i].buffers;
        if (arguments[i].kernel == NULL) {
            arguments[i].kernel = kernel;
            return arguments[i].buffers;
        }
    }
    return arguments[0].buffers;
}

cl_mem kernels_output(cl_kernel kernel)
{
    const cl_mem *buffers = arguments_of(kernel);
    for (int i = ARGS_MAX - 1; i >= 0; i--)
        if (buffers[i] != NULL)
            return buffers[i];
    return NULL;
}

static cl_int CL_API_CALL fake_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes,
                                              const void *value)
{
    cl_int native;
    if (fault_fails("clSetKernelArg", &native))
        return native;
    if (index < ARGS_MAX) {
        cl_mem id = NULL;
        if (value != NULL && bytes == sizeof id)
            memcpy(&id, value, sizeof id);
        arguments_of(kernel)[index] = id != NULL && memory_is_buffer(id) ? id : NULL;
    }
    return layer.target->clSetKernelArg(kernel, index, bytes, value);
}

static bool counts(cl_kernel kernel)
{
    char name[256] = "";
    layer.target->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    return strncmp(name, "audit_", strlen("audit_")) != 0 || fault_find("audit", NULL) != NULL;
}

/* The fault kernel=<what>[:<from>], active from the from-th counted launch on. */
static const struct fault *active(const char *what)
{
    const struct fault *fault = fault_find("kernel", what);
    return fault != NULL && layer.launches >= (unsigned long)fault_number(fault, 1) ? fault : NULL;
}

/* Puts a word of the kernel's output through (word & keep) ^ flip, once the kernel is done. */
static void spoil(cl_command_queue queue, cl_kernel kernel, size_t index, uint32_t keep,
                  uint32_t flip)
{
    uint32_t word = 0;
    cl_mem output = kernels_output(kernel);
    if (output == NULL || memory_bytes(output) < (index + 1) * sizeof word)
        return;
    layer.target->clEnqueueReadBuffer(queue, output, CL_TRUE, index * sizeof word, sizeof word,
                                      &word, 0, NULL, NULL);
    word = (word & keep) ^ flip;
    layer.target->clEnqueueWriteBuffer(queue, output, CL_TRUE, index * sizeof word, sizeof word,
                                       &word, 0, NULL, NULL);
}

/* kernel=flip:<word>[:<from>] and kernel=nan[:<from>] */
static void spoil_output(cl_command_queue queue, cl_kernel kernel)
{
    const struct fault *flip = fault_find("kernel", "flip");
    if (flip != NULL) {
        char *end = NULL;
        size_t index = strtoul(flip->value, &end, 10);
        unsigned long from = *end == ':' ? strtoul(end + 1, NULL, 10) : 1;
        if (layer.launches >= from)
            spoil(queue, kernel, index, 0xffffffffU, 0x00400000U);
    }
    if (active("nan") != NULL)
        spoil(queue, kernel, 0, 0, 0x7fc00000U);
}

/* kernel=late-error:<rc>[:<n>]: the n-th launch fails, and those after it because of it, in their
 * events alone. */
static void fail_late(cl_event event)
{
    const struct fault *late = fault_find("kernel", "late-error");
    if (late == NULL)
        return;
    char *end = NULL;
    long native = strtol(late->value, &end, 10);
    unsigned long nth = *end == ':' ? strtoul(end + 1, NULL, 10) : 1;
    if (layer.launches >= nth)
        waits_fail_event(event, layer.launches == nth
                                    ? (cl_int)native
                                    : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

/* Faults that end a launch before it reaches the driver; true if one did. */
static bool stops(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *local,
                  cl_int *native)
{
    const struct fault *lost = fault_find("kernel", "lost-after");
    const struct fault *limit = fault_find("kwg", NULL);
    const struct fault *crash = fault_find("kernel", "crash");
    size_t items = 1;
    for (cl_uint d = 0; local != NULL && d < dimensions; d++)
        items *= local[d];
    size_t lazy = memory_lazy_limit();
    cl_mem output = kernels_output(kernel);
    if (crash != NULL && layer.launches == (unsigned long)fault_number(crash, 1)) {
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
    }
    bool lost_before = layer.lost == queue;
    if (lost != NULL && layer.launches == (unsigned long)fault_number(lost, 0) + 1)
        layer.lost = queue;
    if (active("hang") != NULL)
        layer.hanging = true;
    if (layer.lost == queue)
        *native = lost_before ? CL_INVALID_COMMAND_QUEUE : CL_OUT_OF_RESOURCES;
    else if (limit != NULL && local != NULL && items > strtoul(limit->what, NULL, 10))
        *native = CL_INVALID_WORK_GROUP_SIZE;
    else if (lazy > 0 && output != NULL && memory_bytes(output) >= lazy)
        *native = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    else
        return false;
    return true;
}

static void count_launch(void)
{
    uint64_t now = layer_now_ns();
    if (layer.first_launch == 0)
        layer.first_launch = now;
    if (layer.batch++ == 0)
        layer.batch_begin = now;
    layer.launches++;
}

static cl_int CL_API_CALL fake_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                      cl_uint dimensions, const size_t *offset,
                                                      const size_t *global, const size_t *local,
                                                      cl_uint waits, const cl_event *wait_list,
                                                      cl_event *event)
{
    cl_int native;
    if (fault_fails("clEnqueueNDRangeKernel", &native))
        return native;
    if (!counts(kernel))
        return layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                    local, waits, wait_list, event);
    count_launch();
    if (stops(queue, kernel, dimensions, local, &native))
        return native;
    if (active("skip") != NULL)
        return layer.target->clEnqueueMarkerWithWaitList(queue, waits, wait_list, event);
    native = layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                  waits, wait_list, event);
    if (native != CL_SUCCESS)
        return native;
    spoil_output(queue, kernel);
    if (event != NULL)
        fail_late(*event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                        cl_kernel_work_group_info what,
                                                        size_t bytes, void *value,
                                                        size_t *bytes_given)
{
    const struct fault *limit = fault_find("kwg", NULL);
    cl_int native =
        layer.target->clGetKernelWorkGroupInfo(kernel, device, what, bytes, value, bytes_given);
    if (native == CL_SUCCESS && limit != NULL && what == CL_KERNEL_WORK_GROUP_SIZE &&
        value != NULL) {
        size_t items = strtoul(limit->what, NULL, 10);
        memcpy(value, &items, sizeof items);
    }
    return native;
}

void kernels_install(cl_icd_dispatch *table)
{
    table->clSetKernelArg = fake_clSetKernelArg;
    table->clEnqueueNDRangeKernel = fake_clEnqueueNDRangeKernel;
    table->clGetKernelWorkGroupInfo = fake_clGetKernelWorkGroupInfo;
}
