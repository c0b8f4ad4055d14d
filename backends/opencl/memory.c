/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of the OpenCL backend and the transfers between them and the host. Transfers are
 * enqueued; the queue keeps their events. Must not know what the bytes mean. */
#include "backends/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_ALIGNMENT = 4096, FILL_BLOCK_BYTES = 1024 * 1024, FILL_CHECK_BYTES = 1027 };

static struct opencl_buffer *own(struct buffer *buffer)
{
    return (struct opencl_buffer *)buffer;
}

static enum code create_pageable(struct opencl_buffer *buffer, struct error *err)
{
    int reason = posix_memalign(&buffer->base.pointer, HOST_ALIGNMENT, (size_t)buffer->base.bytes);
    if (reason == 0)
        return CODE_OK;
    buffer->base.pointer = NULL;
    return error_set(err, CODE_MEMORY, reason, "cannot allocate %llu bytes of host memory: %s",
                     (unsigned long long)buffer->base.bytes, strerror(reason));
}

/* A failure to create is told with both numbers: what was asked for and what the device allows at
 * once. */
static enum code create_error(const struct device *device, cl_int native, uint64_t bytes,
                              struct error *err)
{
    enum code code = opencl_error(err, native, "clCreateBuffer");
    if (native == CL_INVALID_BUFFER_SIZE || native == CL_OUT_OF_RESOURCES)
        code = CODE_MEMORY;
    if (code != CODE_MEMORY)
        return code;
    return error_set(err, CODE_MEMORY, native,
                     "cannot allocate %llu bytes of device memory (at most %llu at once): "
                     "clCreateBuffer failed: %s (%d)",
                     (unsigned long long)bytes, (unsigned long long)device->max_alloc_bytes,
                     opencl_code_name(native), (int)native);
}

static enum code create_memory(struct device *device, cl_mem_flags flags,
                               struct opencl_buffer *buffer, struct error *err)
{
    cl_int native = CL_SUCCESS;
    buffer->memory = device->api->clCreateBuffer(device->context, flags, (size_t)buffer->base.bytes,
                                                 NULL, &native);
    if (native == CL_SUCCESS && buffer->memory != NULL)
        return CODE_OK;
    buffer->memory = NULL;
    return create_error(device, native, buffer->base.bytes, err);
}

/* OpenCL has no call for pinned memory: a buffer that the driver places in host memory, mapped for
 * as long as it lives, is what every vendor's guide calls it. */
static enum code create_pinned(struct device *device, struct opencl_buffer *buffer,
                               struct error *err)
{
    enum code code = create_memory(device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, buffer, err);
    if (code != CODE_OK)
        return code;
    cl_int native = CL_SUCCESS;
    buffer->base.pointer = device->api->clEnqueueMapBuffer(
        device->queue, buffer->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
        (size_t)buffer->base.bytes, 0, NULL, NULL, &native);
    if (native == CL_SUCCESS && buffer->base.pointer != NULL)
        return CODE_OK;
    buffer->base.pointer = NULL;
    device->api->clReleaseMemObject(buffer->memory);
    if (native == CL_MAP_FAILURE || native == CL_SUCCESS)
        return error_set(err, CODE_UNSUPPORTED, native,
                         "the driver cannot map memory of its own: clEnqueueMapBuffer "
                         "failed: %s (%d)",
                         opencl_code_name(native), (int)native);
    return opencl_queue_error(device, err, native, "clEnqueueMapBuffer");
}

enum code opencl_buffer_create(struct device *device, enum memory_kind kind, uint64_t bytes,
                               struct buffer **buffer, struct error *err)
{
    if (!opencl_size_fits(bytes))
        return error_set(err, CODE_MEMORY, 0, "%llu bytes are more than this process can address",
                         (unsigned long long)bytes);
    struct opencl_buffer *created = memory_zeroed(1, sizeof *created);
    created->base.kind = kind;
    created->base.bytes = bytes;
    enum code code = kind == MEMORY_PAGEABLE ? create_pageable(created, err)
                     : kind == MEMORY_PINNED
                         ? create_pinned(device, created, err)
                         : create_memory(device, CL_MEM_READ_WRITE, created, err);
    if (code != CODE_OK) {
        free(created);
        return code;
    }
    *buffer = &created->base;
    return CODE_OK;
}

void opencl_buffer_destroy(struct device *device, struct buffer *buffer)
{
    if (buffer == NULL)
        return;
    struct opencl_buffer *owned = own(buffer);
    if (buffer->kind == MEMORY_PAGEABLE) {
        free(buffer->pointer);
    } else {
        cl_event event = NULL;
        if (buffer->pointer != NULL &&
            device->api->clEnqueueUnmapMemObject(device->queue, owned->memory, buffer->pointer, 0,
                                                 NULL, &event) == CL_SUCCESS &&
            event != NULL) {
            device->api->clWaitForEvents(1, &event);
            device->api->clReleaseEvent(event);
        }
        device->api->clReleaseMemObject(owned->memory);
    }
    free(owned);
}

static enum code check_device_buffer(const struct buffer *buffer, struct error *err)
{
    if (buffer->kind == MEMORY_DEVICE)
        return CODE_OK;
    return error_set(err, CODE_USAGE, 0,
                     "a transfer needs a device buffer, this one is host memory");
}

enum code opencl_buffer_write(struct device *device, struct buffer *target, uint64_t offset,
                              const void *source, uint64_t bytes, struct error *err)
{
    cl_event event = NULL;
    enum code code = check_device_buffer(target, err);
    if (code == CODE_OK)
        code = opencl_queue_room(device, err);
    if (code != CODE_OK)
        return code;
    cl_int native =
        device->api->clEnqueueWriteBuffer(device->queue, own(target)->memory, CL_FALSE,
                                          (size_t)offset, (size_t)bytes, source, 0, NULL, &event);
    if (native != CL_SUCCESS)
        return opencl_queue_error(device, err, native, "clEnqueueWriteBuffer");
    return opencl_queue_add(device, event, "clEnqueueWriteBuffer", err);
}

enum code opencl_buffer_read(struct device *device, void *target, struct buffer *source,
                             uint64_t offset, uint64_t bytes, struct error *err)
{
    cl_event event = NULL;
    enum code code = check_device_buffer(source, err);
    if (code == CODE_OK)
        code = opencl_queue_room(device, err);
    if (code != CODE_OK)
        return code;
    cl_int native =
        device->api->clEnqueueReadBuffer(device->queue, own(source)->memory, CL_FALSE,
                                         (size_t)offset, (size_t)bytes, target, 0, NULL, &event);
    if (native != CL_SUCCESS)
        return opencl_queue_error(device, err, native, "clEnqueueReadBuffer");
    return opencl_queue_add(device, event, "clEnqueueReadBuffer", err);
}

/* Where clEnqueueFillBuffer is absent or wrong. The writes block, because the block is one; a fill
 * is never timed. */
static enum code fill_by_writing(struct device *device, struct buffer *target, uint8_t byte,
                                 uint64_t bytes, struct error *err)
{
    size_t block_bytes = bytes < FILL_BLOCK_BYTES ? (size_t)bytes : FILL_BLOCK_BYTES;
    unsigned char *block = malloc(block_bytes);
    if (block == NULL)
        return error_set(err, CODE_MEMORY, 0, "cannot allocate %zu bytes of host memory",
                         block_bytes);
    memset(block, byte, block_bytes);
    cl_int native = CL_SUCCESS;
    for (uint64_t done = 0; native == CL_SUCCESS && done < bytes;) {
        size_t count = bytes - done < block_bytes ? (size_t)(bytes - done) : block_bytes;
        native = device->api->clEnqueueWriteBuffer(device->queue, own(target)->memory, CL_TRUE,
                                                   (size_t)done, count, block, 0, NULL, NULL);
        done += count;
    }
    free(block);
    return native == CL_SUCCESS ? CODE_OK
                                : opencl_queue_error(device, err, native, "clEnqueueWriteBuffer");
}

static enum code fill_by_call(struct device *device, struct buffer *target, uint8_t byte,
                              uint64_t bytes, struct error *err)
{
    cl_event event = NULL;
    enum code code = opencl_queue_room(device, err);
    if (code != CODE_OK)
        return code;
    cl_int native = device->api->clEnqueueFillBuffer(
        device->queue, own(target)->memory, &byte, sizeof byte, 0, (size_t)bytes, 0, NULL, &event);
    if (native != CL_SUCCESS)
        return opencl_queue_error(device, err, native, "clEnqueueFillBuffer");
    return opencl_queue_add(device, event, "clEnqueueFillBuffer", err);
}

enum code opencl_buffer_fill(struct device *device, struct buffer *target, uint8_t byte,
                             uint64_t bytes, struct error *err)
{
    if (target->kind != MEMORY_DEVICE) {
        memset(target->pointer, byte, (size_t)bytes);
        return CODE_OK;
    }
    return device->fill_works ? fill_by_call(device, target, byte, bytes, err)
                              : fill_by_writing(device, target, byte, bytes, err);
}

enum code opencl_buffer_copy(struct device *device, struct buffer *target, struct buffer *source,
                             uint64_t bytes, struct error *err)
{
    cl_event event = NULL;
    enum code code = check_device_buffer(target, err);
    if (code == CODE_OK)
        code = check_device_buffer(source, err);
    if (code == CODE_OK)
        code = opencl_queue_room(device, err);
    if (code != CODE_OK)
        return code;
    cl_int native =
        device->api->clEnqueueCopyBuffer(device->queue, own(source)->memory, own(target)->memory, 0,
                                         0, (size_t)bytes, 0, NULL, &event);
    if (native != CL_SUCCESS)
        return opencl_queue_error(device, err, native, "clEnqueueCopyBuffer");
    return opencl_queue_add(device, event, "clEnqueueCopyBuffer", err);
}

/* True if exactly the bytes before the last hold fill. */
static bool is_filled(const unsigned char *bytes, size_t count, unsigned char fill,
                      unsigned char last)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (bytes[i] != fill)
            return false;
    return bytes[count - 1] == last;
}

enum code opencl_check_fill(struct device *device, struct error *err)
{
    unsigned char bytes[FILL_CHECK_BYTES];
    struct buffer *buffer = NULL;
    if (device->api->clEnqueueFillBuffer == NULL || device->version < 102)
        return CODE_OK;
    enum code code = opencl_buffer_create(device, MEMORY_DEVICE, sizeof bytes, &buffer, err);
    if (code != CODE_OK)
        return code;
    code = fill_by_writing(device, buffer, 0x11, sizeof bytes, err);
    /* A fill that fails, or fills wrongly, is replaced, not reported. */
    if (code == CODE_OK && fill_by_call(device, buffer, 0xa7, sizeof bytes - 1, NULL) == CODE_OK &&
        opencl_sync(device, WAIT_EVENT, NULL) == CODE_OK) {
        cl_int native = device->api->clEnqueueReadBuffer(
            device->queue, own(buffer)->memory, CL_TRUE, 0, sizeof bytes, bytes, 0, NULL, NULL);
        device->fill_works = native == CL_SUCCESS && is_filled(bytes, sizeof bytes, 0xa7, 0x11);
    }
    opencl_queue_forget(device);
    opencl_buffer_destroy(device, buffer);
    return code;
}
