/* SPDX-License-Identifier: Apache-2.0
 *
 * Short forms for what every suite's build does: add a buffer, add a launch and its arguments, see
 * that the buffers fit the device. Fills struct step and nothing else; it must not know any
 * workload, clock or API. */
#ifndef SUITES_STEP_H
#define SUITES_STEP_H

#include "harness/suite.h"

#include <assert.h>
#include <inttypes.h>

/* Adds a buffer and returns its index. */
static inline uint32_t step_add_buffer(struct step *step, struct buffer_spec spec)
{
    assert(step->buffer_count < STEP_BUFFERS_MAX);
    step->buffers[step->buffer_count] = spec;
    return step->buffer_count++;
}

/* Adds an empty operation. */
static inline struct op *step_add_op(struct step *step, enum op_kind kind)
{
    assert(step->op_count < STEP_OPS_MAX);
    struct op *op = &step->ops[step->op_count++];
    op->kind = kind;
    return op;
}

/* Adds a one-dimensional launch of groups times group work-items. */
static inline struct op *step_add_launch(struct step *step, const char *kernel, uint64_t groups,
                                         uint64_t group)
{
    struct op *op = step_add_op(step, OP_LAUNCH);
    op->kernel = kernel;
    op->global[0] = groups * group;
    op->local[0] = group;
    for (int i = 1; i < LAUNCH_DIMENSIONS; i++)
        op->global[i] = op->local[i] = 1;
    return op;
}

static inline void op_add_buffer(struct op *op, uint32_t buffer)
{
    assert(op->arg_count < LAUNCH_ARGS_MAX);
    op->args[op->arg_count++] = (struct step_arg){.kind = STEP_BUFFER, .buffer = buffer};
}

static inline void op_add_u32(struct op *op, uint32_t value)
{
    assert(op->arg_count < LAUNCH_ARGS_MAX);
    op->args[op->arg_count++] = (struct step_arg){.kind = STEP_U32, .u32 = value};
}

static inline void op_add_u64(struct op *op, uint64_t value)
{
    assert(op->arg_count < LAUNCH_ARGS_MAX);
    op->args[op->arg_count++] = (struct step_arg){.kind = STEP_U64, .u64 = value};
}

static inline void op_add_f32(struct op *op, float value)
{
    assert(op->arg_count < LAUNCH_ARGS_MAX);
    op->args[op->arg_count++] = (struct step_arg){.kind = STEP_F32, .f32 = value};
}

/* CODE_UNSUPPORTED, with both numbers, if a buffer passes the largest allocation or all device
 * buffers together pass the memory. A limit of 0 is unknown and not checked. */
static inline enum code step_check_memory(const struct step *step, const struct device_caps *caps,
                                          struct error *err)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < step->buffer_count; i++) {
        const struct buffer_spec *spec = &step->buffers[i];
        uint64_t bytes = spec->count * type_bytes(spec->type);
        if (spec->memory == MEMORY_PAGEABLE)
            continue;
        if (caps->max_alloc_bytes != 0 && bytes > caps->max_alloc_bytes)
            return error_set(err, CODE_UNSUPPORTED, 0,
                             "buffer '%s' needs %" PRIu64
                             " bytes, the largest allocation of the device is %" PRIu64,
                             spec->name, bytes, caps->max_alloc_bytes);
        if (spec->memory == MEMORY_DEVICE)
            total += bytes;
    }
    if (caps->memory_bytes != 0 && total > caps->memory_bytes)
        return error_set(err, CODE_UNSUPPORTED, 0,
                         "the buffers need %" PRIu64 " bytes together, the device has %" PRIu64,
                         total, caps->memory_bytes);
    return CODE_OK;
}

/* True if a work-item should fill the vector registers by itself: a CPU whose driver runs the items
 * of a group one after another. False: neighbouring items are lanes that run together, as on a GPU.
 * A CPU driver that offers no more local memory than a GPU has works as one. */
static inline bool items_run_in_turn(const struct device_caps *caps)
{
    const uint64_t lanes_local_bytes = 65536;
    return caps->cpu && (caps->local_bytes == 0 || caps->local_bytes > lanes_local_bytes);
}

/* The largest power of two that is at most value (value > 0). */
static inline uint64_t power_of_two_below(uint64_t value)
{
    uint64_t power = 1;
    while (power <= value / 2)
        power *= 2;
    return power;
}

/* ceil(value / divisor) without overflow. */
static inline uint64_t divide_up(uint64_t value, uint64_t divisor)
{
    return value / divisor + (value % divisor != 0);
}

#endif
