/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the OpenCL backend. */
#include "backends/opencl/opencl.h"

#include <stdio.h>

static void no_telemetry(struct device *device, struct telemetry *telemetry)
{
    (void)device;
    telemetry->available = false;
    snprintf(telemetry->reason, sizeof telemetry->reason,
             "OpenCL gives no clock, power, temperature or link state");
}

const struct backend backend_opencl = {
    .name = "opencl",
    .summary = "every device that an OpenCL 1.2 or newer driver shows",
    .driver_open = opencl_driver_open,
    .driver_close = opencl_driver_close,
    .driver_platform = opencl_driver_platform,
    .device_list = opencl_device_list,
    .device_open = opencl_device_open,
    .device_close = opencl_device_close,
    .buffer_create = opencl_buffer_create,
    .buffer_destroy = opencl_buffer_destroy,
    .buffer_write = opencl_buffer_write,
    .buffer_read = opencl_buffer_read,
    .buffer_fill = opencl_buffer_fill,
    .buffer_copy = opencl_buffer_copy,
    .program_build = opencl_program_build,
    .program_destroy = opencl_program_destroy,
    .kernel_get = opencl_kernel_get,
    .kernel_group_limit = opencl_kernel_group_limit,
    .launch = opencl_launch,
    .sync = opencl_sync,
    .timer_start = opencl_timer_start,
    .timer_stop = opencl_timer_stop,
    .telemetry = no_telemetry,
};
