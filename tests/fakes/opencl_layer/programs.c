/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of queues and builds: queue=refuse-props (no queue with properties), 'old' (a 1.2 runtime
 * without the later calls), 'chatter' (a compiler that prints). */
#include "layer.h"

#include <stdio.h>

static bool refuses(cl_command_queue_properties properties)
{
    return properties != 0 && fault_find("queue", "refuse-props") != NULL;
}

static cl_command_queue CL_API_CALL fake_clCreateCommandQueue(
    cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *native)
{
    cl_int code = CL_INVALID_QUEUE_PROPERTIES;
    if (fault_fails("clCreateCommandQueue", &code) || refuses(properties)) {
        if (native != NULL)
            *native = code;
        return NULL;
    }
    return layer.target->clCreateCommandQueue(context, device, properties, native);
}

static cl_command_queue CL_API_CALL fake_clCreateCommandQueueWithProperties(
    cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *native)
{
    cl_int code = CL_INVALID_QUEUE_PROPERTIES;
    bool wants = false;
    for (const cl_queue_properties *p = properties; p != NULL && *p != 0; p += 2)
        wants = wants || (*p == CL_QUEUE_PROPERTIES && refuses(p[1]));
    if (fault_fails("clCreateCommandQueueWithProperties", &code) || wants ||
        fault_find("old", NULL) != NULL) {
        if (fault_find("old", NULL) != NULL) {
            layer_log("called clCreateCommandQueueWithProperties of a 1.2 runtime");
            code = CL_INVALID_OPERATION;
        }
        if (native != NULL)
            *native = code;
        return NULL;
    }
    return layer.target->clCreateCommandQueueWithProperties(context, device, properties, native);
}

static cl_int CL_API_CALL fake_clBuildProgram(
    cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
    void(CL_CALLBACK *notify)(cl_program program, void *user), void *user)
{
    cl_int native;
    if (fault_find("chatter", NULL) != NULL) {
        printf("{\"ok\": true}\nexample compiler: building with '%s'\n",
               options != NULL ? options : "");
        fflush(stdout);
        fprintf(stderr, "example compiler: warning: \033[31mred\033[0m\n");
    }
    if (fault_fails("clBuildProgram", &native))
        return native;
    return layer.target->clBuildProgram(program, count, devices, options, notify, user);
}

void programs_install(cl_icd_dispatch *table)
{
    table->clCreateCommandQueue = fake_clCreateCommandQueue;
    table->clCreateCommandQueueWithProperties = fake_clCreateCommandQueueWithProperties;
    table->clBuildProgram = fake_clBuildProgram;
}
