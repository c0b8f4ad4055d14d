/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of waiting and of what events say: wait=finish-early|event-early|read-early, delay=<ms>,
 * slow=<factor>:<seconds>, a hang, a lost device, and the status of commands that failed late. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void waits_fail_event(cl_event event, cl_int status)
{
    if (layer.failed_count == EVENTS_MAX)
        return;
    layer.target->clRetainEvent(event); /* so that the address is not reused */
    layer.failed[layer.failed_count] = event;
    layer.failed_status[layer.failed_count++] = status;
}

static cl_int failed_status(cl_event event)
{
    for (size_t i = 0; i < layer.failed_count; i++)
        if (layer.failed[i] == event)
            return layer.failed_status[i];
    return CL_SUCCESS;
}

static void hang_if_asked(void)
{
    while (layer.hanging)
        pause();
}

/* slow=<factor>[:<seconds>]: the factor in force now, 1 before its time. */
static double slowness(void)
{
    const struct fault *slow = fault_find("slow", NULL);
    if (slow == NULL || layer.first_launch == 0)
        return 1.0;
    uint64_t after = (uint64_t)fault_number(slow, 0) * 1000000000U;
    return layer_now_ns() - layer.first_launch >= after ? strtod(slow->what, NULL) : 1.0;
}

/* What a true wait takes longer by: the batch that it ended is over. */
static void end_batch(void)
{
    const struct fault *delay = fault_find("delay", NULL);
    if (layer.batch == 0)
        return;
    double factor = slowness();
    if (delay != NULL)
        layer_sleep_ns(strtoull(delay->what, NULL, 10) * 1000000U * layer.batch);
    if (factor > 1.0)
        layer_sleep_ns((uint64_t)((factor - 1.0) * (double)(layer_now_ns() - layer.batch_begin)));
    layer.last_batch = layer.batch;
    layer.batch = 0;
}

static cl_int CL_API_CALL fake_clFinish(cl_command_queue queue)
{
    cl_int native;
    if (fault_fails("clFinish", &native))
        return native;
    hang_if_asked();
    if (layer.lost == queue)
        return CL_INVALID_COMMAND_QUEUE;
    if (fault_find("wait", "finish-early") != NULL)
        return layer.target->clFlush(queue);
    native = layer.target->clFinish(queue);
    end_batch();
    return native;
}

static cl_int CL_API_CALL fake_clFlush(cl_command_queue queue)
{
    cl_int native;
    if (fault_fails("clFlush", &native))
        return native;
    return layer.lost == queue ? CL_INVALID_COMMAND_QUEUE : layer.target->clFlush(queue);
}

static cl_int CL_API_CALL fake_clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int native;
    if (fault_fails("clWaitForEvents", &native))
        return native;
    hang_if_asked();
    if (fault_find("wait", "event-early") != NULL)
        return CL_SUCCESS;
    native = layer.target->clWaitForEvents(count, events);
    end_batch();
    for (cl_uint i = 0; i < count; i++)
        if (failed_status(events[i]) != CL_SUCCESS)
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return native;
}

static cl_int CL_API_CALL fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                                   cl_bool blocking, size_t offset, size_t bytes,
                                                   void *target, cl_uint waits,
                                                   const cl_event *wait_list, cl_event *event)
{
    cl_int native;
    if (fault_fails("clEnqueueReadBuffer", &native))
        return native;
    if (blocking)
        hang_if_asked();
    if (layer.lost == queue)
        return CL_INVALID_COMMAND_QUEUE;
    /* only the blocking read of a byte or so, with no event asked for, which would have to be
     * invented */
    if (blocking && event == NULL && bytes <= 16 && fault_find("wait", "read-early") != NULL)
        return layer.target->clFlush(queue);
    native = layer.target->clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, target,
                                               waits, wait_list, event);
    if (blocking)
        end_batch();
    return native;
}

static cl_int CL_API_CALL fake_clGetEventInfo(cl_event event, cl_event_info what, size_t bytes,
                                              void *value, size_t *bytes_given)
{
    cl_int native;
    if (fault_fails("clGetEventInfo", &native))
        return native;
    native = layer.target->clGetEventInfo(event, what, bytes, value, bytes_given);
    cl_int status = failed_status(event);
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && native == CL_SUCCESS && status != CL_SUCCESS &&
        value != NULL)
        memcpy(value, &status, sizeof status);
    return native;
}

void waits_install(cl_icd_dispatch *table)
{
    table->clFinish = fake_clFinish;
    table->clFlush = fake_clFlush;
    table->clWaitForEvents = fake_clWaitForEvents;
    table->clEnqueueReadBuffer = fake_clEnqueueReadBuffer;
    table->clGetEventInfo = fake_clGetEventInfo;
}
