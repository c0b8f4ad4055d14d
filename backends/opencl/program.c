/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs and kernels of the OpenCL backend: builds kernel text behind the prelude, hands out
 * kernels by name, launches. Must not know what a kernel computes. */
#include "backends/opencl/opencl.h"

#include "base/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MESSAGE_BYTES = 600 };

/* Options that let a compiler change results: a rate measured with them is not comparable. */
static const char *const refused_options[] = {
    "-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
    "-cl-mad-enable",        "-cl-denorms-are-zero",          NULL};

static enum code check_options(const char *options, struct error *err)
{
    for (const char *const *refused = refused_options; *refused != NULL; refused++)
        if (strstr(options, *refused) != NULL)
            return error_set(err, CODE_USAGE, 0,
                             "build option '%s' changes results and is never used", *refused);
    return CODE_OK;
}

/* The compiler's log, heap, at most OPENCL_LOG_BYTES; "" if there is none. */
static char *build_log(const struct device *device, cl_program program)
{
    const struct opencl_api *api = device->api;
    size_t bytes = 0;
    if (api->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) !=
            CL_SUCCESS ||
        bytes > OPENCL_INFO_BYTES)
        bytes = 0;
    char *log = memory_zeroed(bytes + 1, 1);
    if (bytes > 0 && api->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes,
                                                log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    if (strlen(log) > OPENCL_LOG_BYTES)
        log[OPENCL_LOG_BYTES] = '\0';
    return log;
}

/* What a message shows of the log: from its first line that speaks of an error, as one line. */
static void log_excerpt(const char *log, char excerpt[LOG_MESSAGE_BYTES])
{
    const char *begin = strstr(log, "error");
    for (begin = begin != NULL ? begin : log; begin > log && begin[-1] != '\n';)
        begin--;
    size_t length = 0;
    for (; *begin != '\0' && length + 4 < LOG_MESSAGE_BYTES; begin++) {
        bool line_end = *begin == '\n';
        if (line_end && (length == 0 || begin[1] == '\0'))
            continue;
        if (line_end)
            excerpt[length++] = ' ';
        excerpt[length++] = line_end ? '|' : *begin;
        if (line_end)
            excerpt[length++] = ' ';
    }
    excerpt[length] = '\0';
    text_make_printable(excerpt);
}

static enum code build_error(cl_int native, const char *log, struct error *err)
{
    char excerpt[LOG_MESSAGE_BYTES];
    enum code code = opencl_error(err, native, "clBuildProgram");
    log_excerpt(log, excerpt);
    if (excerpt[0] == '\0')
        return code;
    return error_set(err, code, native, "clBuildProgram failed: %s (%d): %s",
                     opencl_code_name(native), (int)native, excerpt);
}

static enum code create_program(struct device *device, const char *source, cl_program *program,
                                struct error *err)
{
    const char *prelude = embedded_text("backends/opencl/prelude.h");
    if (prelude == NULL)
        return error_set(err, CODE_USAGE, 0, "this build holds no OpenCL prelude");
    /* Line numbers in the log are those of the kernel file. */
    const char *texts[] = {prelude, "#line 1\n", source};
    cl_int native = CL_SUCCESS;
    *program = device->api->clCreateProgramWithSource(device->context, 3, texts, NULL, &native);
    return native == CL_SUCCESS && *program != NULL
               ? CODE_OK
               : opencl_error(err, native, "clCreateProgramWithSource");
}

enum code opencl_program_build(struct device *device, const struct program_source *source,
                               struct program **program, struct text *log, struct error *err)
{
    enum code code = check_options(source->options, err);
    if (code != CODE_OK)
        return code;
    struct program *built = memory_zeroed(1, sizeof *built);
    struct text options = {0};
    text_printf(&options, "-cl-std=CL1.2 %s", source->options);
    code = create_program(device, source->text, &built->id, err);
    if (code == CODE_OK) {
        cl_int native = device->api->clBuildProgram(built->id, 1, &device->id,
                                                    text_string(&options), NULL, NULL);
        char *said = build_log(device, built->id);
        if (log != NULL)
            text_append(log, said);
        if (native != CL_SUCCESS)
            code = build_error(native, said, err);
        free(said);
    }
    text_release(&options);
    if (code != CODE_OK) {
        opencl_program_destroy(device, built);
        return code;
    }
    *program = built;
    return CODE_OK;
}

void opencl_program_destroy(struct device *device, struct program *program)
{
    if (program == NULL)
        return;
    while (program->kernels != NULL) {
        struct kernel *kernel = program->kernels;
        program->kernels = kernel->next;
        device->api->clReleaseKernel(kernel->id);
        free(kernel);
    }
    if (program->id != NULL)
        device->api->clReleaseProgram(program->id);
    free(program);
}

enum code opencl_kernel_get(struct device *device, struct program *program, const char *name,
                            struct kernel **kernel, struct error *err)
{
    for (struct kernel *known = program->kernels; known != NULL; known = known->next)
        if (strcmp(known->name, name) == 0) {
            *kernel = known;
            return CODE_OK;
        }
    struct kernel *created = memory_zeroed(1, sizeof *created);
    if (strlen(name) >= sizeof created->name) {
        free(created);
        return error_set(err, CODE_USAGE, 0, "kernel name '%.40s...' is longer than %zu bytes",
                         name, sizeof created->name - 1);
    }
    strcpy(created->name, name);
    cl_int native = CL_SUCCESS;
    created->id = device->api->clCreateKernel(program->id, name, &native);
    if (native != CL_SUCCESS || created->id == NULL) {
        free(created);
        enum code code = opencl_error(err, native, "clCreateKernel");
        error_context(err, "kernel '%s'", name);
        return code;
    }
    size_t limit = 0;
    if (device->api->clGetKernelWorkGroupInfo(created->id, device->id, CL_KERNEL_WORK_GROUP_SIZE,
                                              sizeof limit, &limit, NULL) == CL_SUCCESS)
        created->group_limit = limit;
    if (created->group_limit == 0) /* a driver that does not say: the one size that always works */
        created->group_limit = 1;
    created->next = program->kernels;
    program->kernels = created;
    *kernel = created;
    return CODE_OK;
}

uint64_t opencl_kernel_group_limit(struct device *device, struct kernel *kernel)
{
    (void)device;
    return kernel->group_limit;
}

static cl_int set_argument(const struct opencl_api *api, cl_kernel kernel, cl_uint index,
                           const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_BUFFER: {
        const struct opencl_buffer *buffer = (const struct opencl_buffer *)arg->buffer;
        return api->clSetKernelArg(kernel, index, sizeof buffer->memory, &buffer->memory);
    }
    case ARG_LOCAL:
        return api->clSetKernelArg(kernel, index, (size_t)arg->local_bytes, NULL);
    case ARG_U32:
        return api->clSetKernelArg(kernel, index, sizeof arg->u32, &arg->u32);
    case ARG_U64:
        return api->clSetKernelArg(kernel, index, sizeof arg->u64, &arg->u64);
    case ARG_F32:
        return api->clSetKernelArg(kernel, index, sizeof arg->f32, &arg->f32);
    case ARG_F64:
        return api->clSetKernelArg(kernel, index, sizeof arg->f64, &arg->f64);
    }
    return CL_INVALID_ARG_VALUE;
}

static enum code set_arguments(struct device *device, const struct launch *launch,
                               struct error *err)
{
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        const struct arg *arg = &launch->args[i];
        if (arg->kind == ARG_BUFFER && (arg->buffer == NULL || arg->buffer->kind != MEMORY_DEVICE))
            return error_set(err, CODE_USAGE, 0, "argument %u of kernel '%s' is no device buffer",
                             i, launch->kernel->name);
        cl_int native = set_argument(device->api, launch->kernel->id, i, arg);
        if (native != CL_SUCCESS) {
            enum code code = opencl_error(err, native, "clSetKernelArg");
            error_context(err, "argument %u of kernel '%s'", i, launch->kernel->name);
            return code;
        }
    }
    return CODE_OK;
}

static enum code launch_error(struct device *device, const struct launch *launch, cl_int native,
                              struct error *err)
{
    enum code code = opencl_queue_error(device, err, native, "clEnqueueNDRangeKernel");
    if (native == CL_INVALID_WORK_GROUP_SIZE)
        error_context(
            err,
            "kernel '%s': a group of %llu x %llu x %llu work-items, the kernel's limit is %llu",
            launch->kernel->name, (unsigned long long)launch->local[0],
            (unsigned long long)launch->local[1], (unsigned long long)launch->local[2],
            (unsigned long long)launch->kernel->group_limit);
    else
        error_context(err, "kernel '%s'", launch->kernel->name);
    return code;
}

enum code opencl_launch(struct device *device, const struct launch *launch, struct error *err)
{
    size_t global[LAUNCH_DIMENSIONS], local[LAUNCH_DIMENSIONS];
    cl_uint dimensions = 1;
    for (cl_uint d = 0; d < LAUNCH_DIMENSIONS; d++) {
        if (!opencl_size_fits(launch->global[d]) || !opencl_size_fits(launch->local[d]))
            return error_set(err, CODE_USAGE, 0,
                             "kernel '%s': dimension %u does not fit this process's size_t",
                             launch->kernel->name, d);
        global[d] = (size_t)launch->global[d];
        local[d] = launch->local[d] > 0 ? (size_t)launch->local[d] : 1;
        if (global[d] > 1)
            dimensions = d + 1;
    }
    enum code code = opencl_queue_room(device, err);
    if (code == CODE_OK)
        code = set_arguments(device, launch, err);
    if (code != CODE_OK)
        return code;
    cl_event event = NULL;
    cl_int native = device->api->clEnqueueNDRangeKernel(
        device->queue, launch->kernel->id, dimensions, NULL, global,
        launch->local[0] > 0 ? local : NULL, 0, NULL, &event);
    if (native != CL_SUCCESS)
        return launch_error(device, launch, native, err);
    return opencl_queue_add(device, event, "clEnqueueNDRangeKernel", err);
}
