/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of time stamps: prof=swap|zero|constant|untouched|na|na3|wrap32|stale|submit-late|overlap,
 * each optionally with
 * ":<n>", from the n-th counted launch on; and the stamps that go with delay= and slow=. */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

static cl_ulong real(cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    layer.target->clGetEventProfilingInfo(event, what, sizeof value, &value, NULL);
    return value;
}

static bool is(const char *what)
{
    const struct fault *fault = fault_find("prof", what);
    return fault != NULL && layer.launches >= (unsigned long)fault_number(fault, 0);
}

static cl_ulong constant(cl_profiling_info what)
{
    switch (what) {
    case CL_PROFILING_COMMAND_QUEUED:
        return 0;
    case CL_PROFILING_COMMAND_SUBMIT:
        return 1;
    case CL_PROFILING_COMMAND_START:
        return 2;
    default:
        return 3;
    }
}

/* A counter of 32 bits that wraps 50 ms after the first stamp that is read. */
static cl_ulong wrap32(cl_ulong stamp)
{
    static cl_ulong first;
    if (first == 0)
        first = stamp;
    return (stamp - first + 0x100000000ULL - 50000000ULL) & 0xffffffffULL;
}

static cl_ulong stale(cl_event event, cl_profiling_info what)
{
    static cl_event first;
    static cl_ulong start, end;
    if (first == NULL) {
        first = event;
        start = real(event, CL_PROFILING_COMMAND_START);
        end = real(event, CL_PROFILING_COMMAND_END);
    }
    return what == CL_PROFILING_COMMAND_START ? start : end;
}

/* Half of a command's time before its start, the one before it is still running. */
static cl_ulong overlap(cl_event event)
{
    cl_ulong start = real(event, CL_PROFILING_COMMAND_START);
    return start - (real(event, CL_PROFILING_COMMAND_END) - start) / 2;
}

/* An end that agrees with what delay= and slow= add to the wait. */
static cl_ulong later_end(cl_ulong start, cl_ulong end)
{
    const struct fault *delay = fault_find("delay", NULL);
    const struct fault *slow = fault_find("slow", NULL);
    if (delay != NULL)
        end += strtoull(delay->what, NULL, 10) * 1000000U * layer.last_batch;
    if (slow != NULL && start != 0 && end > start && layer.first_launch != 0 &&
        layer_now_ns() - layer.first_launch >= (uint64_t)fault_number(slow, 0) * 1000000000U)
        end = start + (cl_ulong)((double)(end - start) * strtod(slow->what, NULL));
    return end;
}

static cl_ulong stamp(cl_event event, cl_profiling_info what)
{
    static cl_ulong last_start;
    if (is("swap") && what == CL_PROFILING_COMMAND_START)
        return real(event, CL_PROFILING_COMMAND_END);
    if (is("swap") && what == CL_PROFILING_COMMAND_END)
        return real(event, CL_PROFILING_COMMAND_START);
    if (is("zero"))
        return 0;
    if (is("constant"))
        return constant(what);
    if (is("stale"))
        return stale(event, what);
    if (is("wrap32"))
        return wrap32(real(event, what));
    if (is("overlap") && what == CL_PROFILING_COMMAND_START)
        return overlap(event);
    if (is("submit-late") && what == CL_PROFILING_COMMAND_SUBMIT)
        return real(event, CL_PROFILING_COMMAND_END);
    cl_ulong value = real(event, what);
    if (what == CL_PROFILING_COMMAND_START)
        last_start = value;
    return what == CL_PROFILING_COMMAND_END ? later_end(last_start, value) : value;
}

static cl_int CL_API_CALL fake_clGetEventProfilingInfo(cl_event event, cl_profiling_info what,
                                                       size_t bytes, void *value,
                                                       size_t *bytes_given)
{
    static unsigned long starts;
    cl_int native;
    if (fault_fails("clGetEventProfilingInfo", &native))
        return native;
    cl_ulong untouched;
    native = layer.target->clGetEventProfilingInfo(event, what, sizeof untouched, &untouched,
                                                   bytes_given);
    if (native != CL_SUCCESS)
        return native;
    starts += what == CL_PROFILING_COMMAND_START;
    if (is("na") || (is("na3") && starts % 3 == 0))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (is("untouched"))
        return CL_SUCCESS;
    cl_ulong given = stamp(event, what);
    if (value != NULL && bytes < sizeof given)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, &given, sizeof given);
    return CL_SUCCESS;
}

void stamps_install(cl_icd_dispatch *table)
{
    table->clGetEventProfilingInfo = fake_clGetEventProfilingInfo;
}
