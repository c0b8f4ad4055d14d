/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting and timing. Keeps the event of every command since the last sync, because a command that
 * fails may say so in its event alone; and reads time stamps as the driver gives them. Whether a
 * way of waiting waits, and whether stamps are to be believed, is not judged here: the audits do
 * that. */
#include "backends/opencl/opencl.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

/* Value of a variable that a call left untouched (TM-03): no clock has run for 341 years. */
static const cl_ulong stamp_untouched = 0x9556a3c1d27b48efULL;

enum code opencl_queue_room(const struct device *device, struct error *err)
{
    if (device->pending_count < OPENCL_COMMANDS_MAX)
        return CODE_OK;
    return error_set(err, CODE_USAGE, 0, "%zu commands since the last sync, of at most %d",
                     device->pending_count, OPENCL_COMMANDS_MAX);
}

enum code opencl_queue_add(struct device *device, cl_event event, const char *call,
                           struct error *err)
{
    if (event == NULL)
        return error_set(err, CODE_DRIVER, 0, "%s returned success without an event", call);
    device->pending[device->pending_count++] = event;
    return CODE_OK;
}

static void set_reference(const struct device *device, cl_event *reference, cl_event event)
{
    if (*reference != NULL)
        device->api->clReleaseEvent(*reference);
    *reference = event != NULL && device->api->clRetainEvent(event) == CL_SUCCESS ? event : NULL;
}

/* Own references to the newest command, to be waited for again after a sync, and to the first
 * command of the running timer, whose stamp is read at its end. */
static void keep_references(struct device *device)
{
    if (device->pending_count == 0)
        return;
    set_reference(device, &device->newest, device->pending[device->pending_count - 1]);
    if (device->timing && device->first == NULL)
        set_reference(device, &device->first, device->pending[0]);
}

static void drop_all(struct device *device)
{
    for (size_t i = 0; i < device->pending_count; i++)
        device->api->clReleaseEvent(device->pending[i]);
    device->pending_count = 0;
}

void opencl_queue_forget(struct device *device)
{
    drop_all(device);
    set_reference(device, &device->newest, NULL);
    set_reference(device, &device->first, NULL);
    device->timing = false;
}

/* Waits in the given way; *call is what failed. Done even where nothing is known to be running:
 * after a way that returned early, the driver's word that a command is complete may be as false. */
static cl_int wait_by(struct device *device, enum wait_way way, const char **call)
{
    const struct opencl_api *api = device->api;
    unsigned char byte;
    *call = "clFlush";
    cl_int native = api->clFlush(device->queue);
    if (native == CL_SUCCESS && way == WAIT_FINISH) {
        *call = "clFinish";
        native = api->clFinish(device->queue);
    } else if (native == CL_SUCCESS && way == WAIT_READ) {
        *call = "clEnqueueReadBuffer";
        native = api->clEnqueueReadBuffer(device->queue, device->scratch, CL_TRUE, 0, sizeof byte,
                                          &byte, 0, NULL, NULL);
    } else if (native == CL_SUCCESS && device->newest != NULL) {
        /* All of them: rusticl marks the commands of an in-order queue complete out of order. */
        *call = "clWaitForEvents";
        native = device->pending_count > 0
                     ? api->clWaitForEvents((cl_uint)device->pending_count, device->pending)
                     : api->clWaitForEvents(1, &device->newest);
    }
    device->wait_end = clock_now_ns();
    return native;
}

static const char *command_name(const struct device *device, cl_event event)
{
    cl_command_type type = 0;
    if (device->api->clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) !=
        CL_SUCCESS)
        return "unknown";
    switch (type) {
    case CL_COMMAND_NDRANGE_KERNEL:
        return "kernel launch";
    case CL_COMMAND_WRITE_BUFFER:
        return "write";
    case CL_COMMAND_READ_BUFFER:
        return "read";
    case CL_COMMAND_COPY_BUFFER:
        return "copy";
    case CL_COMMAND_FILL_BUFFER:
        return "fill";
    default:
        return "other";
    }
}

/* Execution status of a command; a refused query is that error. */
static cl_int status_of(const struct device *device, cl_event event)
{
    cl_int status = CL_QUEUED;
    cl_int native = device->api->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                sizeof status, &status, NULL);
    return native == CL_SUCCESS ? status : native;
}

/* Index of the command that failed: the first with a cause of its own, else the first that only
 * names another's failure; pending_count if none failed. */
static size_t find_failure(const struct device *device, cl_int *status)
{
    size_t found = device->pending_count;
    for (size_t i = 0; i < device->pending_count; i++) {
        cl_int one = status_of(device, device->pending[i]);
        bool dependant = one == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        if (one >= 0 || (dependant && found < device->pending_count))
            continue;
        found = i;
        *status = one;
        if (!dependant)
            break;
    }
    return found;
}

/* Releases the events of finished commands and keeps the others: a way of waiting that returned
 * early leaves them to the next sync. */
static void drop_finished(struct device *device)
{
    size_t kept = 0;
    for (size_t i = 0; i < device->pending_count; i++) {
        cl_event event = device->pending[i];
        if (status_of(device, event) > CL_COMPLETE)
            device->pending[kept++] = event;
        else
            device->api->clReleaseEvent(event);
    }
    device->pending_count = kept;
}

enum code opencl_sync(struct device *device, enum wait_way way, struct error *err)
{
    const char *call = "";
    keep_references(device);
    cl_int native = wait_by(device, way, &call);
    cl_int status = CL_COMPLETE;
    size_t failed = find_failure(device, &status);
    enum code code = CODE_OK;
    if (failed < device->pending_count) {
        char what[64];
        snprintf(what, sizeof what, "command %zu of %zu (%s)", failed + 1, device->pending_count,
                 command_name(device, device->pending[failed]));
        code = opencl_queue_error(device, err, status, what);
    } else if (native != CL_SUCCESS) {
        code = opencl_queue_error(device, err, native, call);
    }
    if (code == CODE_OK) {
        drop_finished(device);
        return CODE_OK;
    }
    drop_all(device);
    set_reference(device, &device->newest, NULL); /* a failed command fails each wait for it */
    return code;
}

enum code opencl_timer_start(struct device *device, struct error *err)
{
    if (device->pending_count > 0)
        return error_set(err, CODE_USAGE, 0,
                         "a timer needs a dry queue: %zu commands are not known to be done",
                         device->pending_count);
    set_reference(device, &device->first, NULL);
    device->timing = true;
    device->timer_begin = clock_now_ns();
    return CODE_OK;
}

/* One stamp; false with a reason where the driver gives none. */
static bool read_stamp(const struct device *device, cl_event event, cl_profiling_info what,
                       uint64_t *stamp, struct timing *timing)
{
    cl_ulong value = stamp_untouched;
    const char *name = what == CL_PROFILING_COMMAND_START ? "start" : "end";
    cl_int native = device->api->clGetEventProfilingInfo(event, what, sizeof value, &value, NULL);
    if (native != CL_SUCCESS)
        snprintf(timing->reason, sizeof timing->reason,
                 "no %s stamp: clGetEventProfilingInfo failed: %s (%d)", name,
                 opencl_code_name(native), (int)native);
    else if (value == stamp_untouched)
        snprintf(timing->reason, sizeof timing->reason,
                 "no %s stamp: clGetEventProfilingInfo returned success and wrote nothing", name);
    *stamp = value;
    return native == CL_SUCCESS && value != stamp_untouched;
}

/* Start of the first and end of the last command. Where a driver swaps a command's stamps, a batch
 * of several would look shorter but sane; so the first command's own end is read too and handed on
 * in place of the last one's if it is before its start. */
static void read_stamps(const struct device *device, struct timing *timing)
{
    uint64_t begin, first_end, end;
    if (!device->profiling)
        snprintf(timing->reason, sizeof timing->reason, "%s", device->no_profiling);
    else if (device->first == NULL || device->newest == NULL)
        snprintf(timing->reason, sizeof timing->reason,
                 "no command was enqueued between the start and the stop");
    else if (read_stamp(device, device->first, CL_PROFILING_COMMAND_START, &begin, timing) &&
             read_stamp(device, device->first, CL_PROFILING_COMMAND_END, &first_end, timing) &&
             read_stamp(device, device->newest, CL_PROFILING_COMMAND_END, &end, timing)) {
        timing->device_begin = begin;
        timing->device_end = first_end < begin ? first_end : end;
        timing->has_device = true;
    }
}

enum code opencl_timer_stop(struct device *device, enum wait_way way, struct timing *timing,
                            struct error *err)
{
    if (!device->timing)
        return error_set(err, CODE_USAGE, 0, "the timer was not started");
    enum code code = opencl_sync(device, way, err);
    timing->host_begin = device->timer_begin;
    timing->host_end = device->wait_end;
    if (code == CODE_OK && device->pending_count > 0)
        code =
            error_set(err, CODE_INVALID, 0, "the %s returned while %zu commands were still running",
                      wait_way_name(way), device->pending_count);
    if (code == CODE_OK)
        read_stamps(device, timing);
    set_reference(device, &device->first, NULL);
    device->timing = false;
    return code;
}
