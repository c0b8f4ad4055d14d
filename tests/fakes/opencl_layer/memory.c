/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of buffers: alloc=cap:<bytes> (all buffers together), alloc=lazy-fail[:<bytes>] (creation
 * succeeds, the first use of a buffer of that size or more fails), and 'hash', which logs what is
 * written to buffers. */
#include "layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAZY_BYTES = 1024 * 1024, PAGE_BYTES = 4096, RATIO_BYTES = 64 * 1024 };

static size_t find(cl_mem id)
{
    size_t i = 0;
    while (i < layer.buffer_count && layer.buffers[i].id != id)
        i++;
    return i;
}

bool memory_is_buffer(cl_mem id)
{
    return find(id) < layer.buffer_count;
}

size_t memory_bytes(cl_mem id)
{
    size_t index = find(id);
    return index < layer.buffer_count ? layer.buffers[index].bytes : 0;
}

size_t memory_lazy_limit(void)
{
    const struct fault *lazy = fault_find("alloc", "lazy-fail");
    return lazy != NULL ? (size_t)fault_number(lazy, LAZY_BYTES) : 0;
}

static bool lazy_fails(cl_mem id)
{
    size_t limit = memory_lazy_limit();
    return limit > 0 && memory_bytes(id) >= limit;
}

static cl_mem CL_API_CALL fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
                                              void *host, cl_int *native)
{
    const struct fault *cap = fault_find("alloc", "cap");
    const struct fault *largest = fault_find("dev", "maxalloc");
    size_t total = bytes;
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i < layer.buffer_count; i++)
        total += layer.buffers[i].bytes;
    if (cap != NULL && total > strtoull(cap->value, NULL, 10))
        code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (largest != NULL && bytes > strtoull(largest->value, NULL, 10))
        code = CL_INVALID_BUFFER_SIZE;
    if (fault_fails("clCreateBuffer", &code) || code != CL_SUCCESS) {
        if (native != NULL)
            *native = code;
        return NULL;
    }
    cl_mem id = layer.target->clCreateBuffer(context, flags, bytes, host, native);
    if (id != NULL && layer.buffer_count < BUFFERS_MAX) {
        layer.buffers[layer.buffer_count].id = id;
        layer.buffers[layer.buffer_count++].bytes = bytes;
    }
    return id;
}

static cl_int CL_API_CALL fake_clReleaseMemObject(cl_mem id)
{
    cl_uint references = 0;
    size_t index = find(id);
    layer.target->clGetMemObjectInfo(id, CL_MEM_REFERENCE_COUNT, sizeof references, &references,
                                     NULL);
    if (references == 1 && index < layer.buffer_count)
        layer.buffers[index] = layer.buffers[--layer.buffer_count];
    return layer.target->clReleaseMemObject(id);
}

/* FNV-1a of a page. */
static uint64_t page_hash(const unsigned char *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    return hash;
}

/* How far the first bytes would compress, as entropy of the byte values over 8 bits: 0 for a
 * constant, 1 for noise. */
static double ratio(const unsigned char *bytes, size_t count)
{
    size_t seen[256] = {0};
    double bits = 0.0;
    count = count < RATIO_BYTES ? count : RATIO_BYTES;
    for (size_t i = 0; i < count; i++)
        seen[bytes[i]]++;
    for (int i = 0; i < 256; i++)
        if (seen[i] > 0)
            bits -= (double)seen[i] * log2((double)seen[i] / (double)count);
    return count > 0 ? bits / (8.0 * (double)count) : 0.0;
}

static void log_write(const unsigned char *bytes, size_t count)
{
    size_t page = count < PAGE_BYTES ? count : PAGE_BYTES;
    layer_log("write bytes=%zu first=%016llx last=%016llx ratio=%.3f", count,
              (unsigned long long)page_hash(bytes, page),
              (unsigned long long)page_hash(bytes + count - page, page), ratio(bytes, count));
}

static cl_int CL_API_CALL fake_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                    cl_bool blocking, size_t offset, size_t bytes,
                                                    const void *source, cl_uint waits,
                                                    const cl_event *wait_list, cl_event *event)
{
    cl_int native;
    if (fault_fails("clEnqueueWriteBuffer", &native))
        return native;
    if (layer.lost == queue)
        return CL_INVALID_COMMAND_QUEUE;
    if (lazy_fails(buffer))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (fault_find("hash", NULL) != NULL && source != NULL)
        log_write(source, bytes);
    return layer.target->clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, source, waits,
                                              wait_list, event);
}

static cl_int CL_API_CALL fake_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
                                                   const void *pattern, size_t pattern_bytes,
                                                   size_t offset, size_t bytes, cl_uint waits,
                                                   const cl_event *wait_list, cl_event *event)
{
    cl_int native;
    if (fault_fails("clEnqueueFillBuffer", &native))
        return native;
    if (layer.lost == queue)
        return CL_INVALID_COMMAND_QUEUE;
    if (lazy_fails(buffer))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (fault_find("fill", "wrong") != NULL) /* a driver that fills half */
        bytes = bytes / pattern_bytes / 2 * pattern_bytes;
    return layer.target->clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset, bytes,
                                             waits, wait_list, event);
}

static cl_int CL_API_CALL fake_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source,
                                                   cl_mem target, size_t source_offset,
                                                   size_t target_offset, size_t bytes,
                                                   cl_uint waits, const cl_event *wait_list,
                                                   cl_event *event)
{
    cl_int native;
    if (fault_fails("clEnqueueCopyBuffer", &native))
        return native;
    if (layer.lost == queue)
        return CL_INVALID_COMMAND_QUEUE;
    if (lazy_fails(source) || lazy_fails(target))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return layer.target->clEnqueueCopyBuffer(queue, source, target, source_offset, target_offset,
                                             bytes, waits, wait_list, event);
}

void memory_install(cl_icd_dispatch *table)
{
    table->clCreateBuffer = fake_clCreateBuffer;
    table->clReleaseMemObject = fake_clReleaseMemObject;
    table->clEnqueueWriteBuffer = fake_clEnqueueWriteBuffer;
    table->clEnqueueFillBuffer = fake_clEnqueueFillBuffer;
    table->clEnqueueCopyBuffer = fake_clEnqueueCopyBuffer;
}
