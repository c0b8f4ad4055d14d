/* SPDX-License-Identifier: Apache-2.0
 *
 * Setting a case up on a device: the step is shaped for the device's limits and each kernel's own,
 * the program built, buffers made and filled, launches resolved once so that a timed loop only
 * enqueues. Knows no clock. */
#include "harness/bench.h"

#include "base/clock.h"
#include "base/embedded.h"
#include "base/quantity.h"
#include "harness/data.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE_ATTEMPTS = 8, MARK_BYTES = 32 };

enum code bench_outcome(struct bench *bench, enum state state, const char *format, ...)
{
    bench->state = state;
    va_list args;
    va_start(args, format);
    vsnprintf(bench->reason, sizeof bench->reason, format, args);
    va_end(args);
    return CODE_OK;
}

static void read_caps(struct bench *bench)
{
    const struct device_info *info = device_get_info(bench->device);
    bench->caps = (struct device_caps){
        .group_items = info->max_group_items > 0 ? info->max_group_items : 1,
        .local_bytes = info->local_bytes,
        .max_alloc_bytes = info->max_alloc_bytes > 0 ? info->max_alloc_bytes : UINT64_MAX,
        .memory_bytes = info->memory_bytes > 0 ? info->memory_bytes : UINT64_MAX,
        .compute_units = info->compute_units,
        .has_f64 = info->has_f64,
        .has_f16 = info->has_f16,
        .cpu = info->type == DEVICE_CPU,
    };
}

static bool has_launches(const struct step *step)
{
    for (uint32_t i = 0; i < step->op_count; i++)
        if (step->ops[i].kind == OP_LAUNCH)
            return true;
    return false;
}

/* Joins the suite's kernel files. */
static enum code kernel_text(const struct suite *suite, struct text *text, struct error *err)
{
    char own[128];
    snprintf(own, sizeof own, "suites/%s/kernel.cl", suite->name);
    const char *const alone[] = {own, NULL};
    const char *const *path = suite->kernels != NULL ? suite->kernels : alone;
    for (; *path != NULL; path++) {
        const char *part = embedded_text(*path);
        if (part == NULL)
            return error_set(err, CODE_UNSUPPORTED, 0, "no kernel file '%s' in this build", *path);
        text_append(text, part);
    }
    return CODE_OK;
}

static enum code build_program(struct bench *bench, struct error *err)
{
    struct text text = {0};
    enum code code = kernel_text(bench->spec.suite, &text, err);
    if (code == CODE_OK) {
        struct program_source source = {.text = text_string(&text),
                                        .options = bench->step.options,
                                        .host = bench->spec.suite->host};
        text_sha256(source.text, text.length, bench->kernel_sha256);
        program_destroy(bench->device, bench->program);
        text_clear(&bench->build_log);
        uint64_t begin = clock_now_ns();
        code = program_build(bench->device, &source, &bench->program, &bench->build_log, err);
        bench->build_ns = clock_now_ns() - begin;
    }
    text_release(&text);
    return code;
}

static uint64_t group_items(const struct op *op)
{
    return op->local[0] * op->local[1] * op->local[2];
}

/* Resolves kernels of the launches; *limit is lowered to the smallest kernel limit that a launch
 * passes, else untouched. */
static enum code resolve_kernels(struct bench *bench, uint64_t *limit, struct error *err)
{
    for (uint32_t i = 0; i < bench->step.op_count; i++) {
        const struct op *op = &bench->step.ops[i];
        if (op->kind != OP_LAUNCH)
            continue;
        enum code code =
            kernel_get(bench->device, bench->program, op->kernel, &bench->launches[i].kernel, err);
        if (code != CODE_OK)
            return code;
        uint64_t most = kernel_group_limit(bench->device, bench->launches[i].kernel);
        if (most > 0 && group_items(op) > most && most < *limit)
            *limit = most;
    }
    return CODE_OK;
}

/* Shapes, builds, and shapes again with the kernels' own group limit until it fits. */
static enum code shape_and_build(struct bench *bench, struct error *err)
{
    for (int attempt = 0; attempt < SHAPE_ATTEMPTS; attempt++) {
        bench->step = (struct step){0};
        enum code code = bench->spec.suite->build(&bench->spec, &bench->caps, &bench->step, err);
        if (code != CODE_OK || !has_launches(&bench->step))
            return code;
        code = build_program(bench, err);
        uint64_t limit = UINT64_MAX;
        if (code == CODE_OK)
            code = resolve_kernels(bench, &limit, err);
        if (code != CODE_OK || limit == UINT64_MAX)
            return code;
        if (limit >= bench->caps.group_items)
            return error_set(err, CODE_UNSUPPORTED, 0,
                             "the work-group asked for passes the kernel's limit of %llu "
                             "work-items on this device",
                             (unsigned long long)limit);
        bench->caps.group_items = limit;
    }
    return error_set(err, CODE_UNSUPPORTED, 0, "no work-group shape fits this device");
}

static uint64_t buffer_spec_bytes(const struct buffer_spec *spec)
{
    return spec->count * type_bytes(spec->type);
}

/* Fails with CODE_UNSUPPORTED and both numbers if the device cannot hold the buffers. */
static enum code check_memory_fits(struct bench *bench, struct error *err)
{
    char needs[QUANTITY_BYTES], limit[QUANTITY_BYTES];
    for (uint32_t i = 0; i < bench->step.buffer_count; i++) {
        const struct buffer_spec *spec = &bench->step.buffers[i];
        uint64_t bytes = buffer_spec_bytes(spec);
        bench->working_set_bytes += bytes;
        if (spec->memory != MEMORY_DEVICE)
            continue;
        bench->device_bytes += bytes;
        if (bytes > bench->caps.max_alloc_bytes)
            return error_set(err, CODE_UNSUPPORTED, 0,
                             "buffer '%s' needs %s, the device's largest allocation is %s",
                             spec->name, quantity_format_bytes(bytes, needs),
                             quantity_format_bytes(bench->caps.max_alloc_bytes, limit));
    }
    if (bench->device_bytes > bench->caps.memory_bytes)
        return error_set(err, CODE_UNSUPPORTED, 0, "needs %s of device memory, the device has %s",
                         quantity_format_bytes(bench->device_bytes, needs),
                         quantity_format_bytes(bench->caps.memory_bytes, limit));
    return CODE_OK;
}

/* Seeded data in host memory, kept for the reference; and in the buffer itself. Pages are touched
 * by the filling. */
static enum code fill_input(struct bench *bench, uint32_t index, struct error *err)
{
    const struct buffer_spec *spec = &bench->step.buffers[index];
    struct buffer *buffer = bench->buffers[index];
    uint64_t bytes = buffer_spec_bytes(spec);
    bench->data[index] = malloc(bytes);
    if (bench->data[index] == NULL)
        return error_set(err, CODE_MEMORY, 0, "no host memory for input '%s' of %llu bytes",
                         spec->name, (unsigned long long)bytes);
    uint64_t seed = data_derive_seed(bench->seed, spec->name);
    data_fill(spec->type, spec->scale, seed, spec->first, bench->data[index], spec->count);
    if (buffer->pointer != NULL) {
        memcpy(buffer->pointer, bench->data[index], bytes);
        return CODE_OK;
    }
    enum code code = buffer_write(bench->device, buffer, 0, bench->data[index], bytes, err);
    return code == CODE_OK ? device_sync(bench->device, err) : code;
}

static enum code make_buffers(struct bench *bench, struct error *err)
{
    for (uint32_t i = 0; i < bench->step.buffer_count; i++) {
        const struct buffer_spec *spec = &bench->step.buffers[i];
        enum code code = buffer_create(bench->device, spec->memory, buffer_spec_bytes(spec),
                                       &bench->buffers[i], err);
        if (code == CODE_OK && spec->role == BUFFER_IN)
            code = fill_input(bench, i, err);
        else if (code == CODE_OK)
            code =
                buffer_fill(bench->device, bench->buffers[i], 0xff, buffer_spec_bytes(spec), err);
        if (code == CODE_OK)
            code = device_sync(bench->device, err);
        if (code != CODE_OK)
            return error_context(err, "buffer '%s'", spec->name);
    }
    return CODE_OK;
}

static void resolve_launch(struct bench *bench, uint32_t index)
{
    const struct op *op = &bench->step.ops[index];
    struct launch *launch = &bench->launches[index];
    launch->arg_count = op->arg_count;
    memcpy(launch->global, op->global, sizeof launch->global);
    memcpy(launch->local, op->local, sizeof launch->local);
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const struct step_arg *from = &op->args[i];
        struct arg *to = &launch->args[i];
        switch (from->kind) {
        case STEP_BUFFER:
            *to = (struct arg){.kind = ARG_BUFFER, .buffer = bench->buffers[from->buffer]};
            break;
        case STEP_U32:
            *to = (struct arg){.kind = ARG_U32, .u32 = from->u32};
            break;
        case STEP_U64:
            *to = (struct arg){.kind = ARG_U64, .u64 = from->u64};
            break;
        case STEP_F32:
            *to = (struct arg){.kind = ARG_F32, .f32 = from->f32};
            break;
        case STEP_F64:
            *to = (struct arg){.kind = ARG_F64, .f64 = from->f64};
            break;
        }
    }
}

static void collect_phases(struct bench *bench)
{
    for (uint32_t i = 0; i < bench->step.op_count; i++) {
        const char *phase = bench->step.ops[i].phase;
        bool known = phase == NULL;
        for (uint32_t p = 0; p < bench->phase_count && !known; p++)
            known = strcmp(bench->phases[p], phase) == 0;
        if (!known && bench->phase_count < BENCH_PHASES_MAX)
            bench->phases[bench->phase_count++] = phase;
    }
}

enum code bench_setup(struct bench *bench, struct error *err)
{
    read_caps(bench);
    const struct suite *suite = bench->spec.suite;
    if (suite->needs_f64 != NULL && suite->needs_f64(&bench->spec) && !bench->caps.has_f64)
        return bench_outcome(bench, STATE_UNSUPPORTED,
                             "the device has no double precision (not claimed)");
    enum code code = shape_and_build(bench, err);
    if (code == CODE_DRIVER && bench->program == NULL && suite->needs_f64 != NULL &&
        suite->needs_f64(&bench->spec))
        return bench_outcome(bench, STATE_UNSUPPORTED,
                             "double precision is claimed, but the build failed: %s", err->message);
    if (code == CODE_OK)
        code = check_memory_fits(bench, err);
    if (code == CODE_UNSUPPORTED)
        return bench_outcome(bench, STATE_UNSUPPORTED, "%s", err->message);
    if (code == CODE_OK)
        code = make_buffers(bench, err);
    for (uint32_t i = 0; code == CODE_OK && i < bench->step.op_count; i++)
        if (bench->step.ops[i].kind == OP_LAUNCH)
            resolve_launch(bench, i);
    collect_phases(bench);
    bench->batch_max = BENCH_COMMANDS_MAX / (bench->step.op_count > 0 ? bench->step.op_count : 1);
    return code;
}

enum code bench_enqueue_op(struct bench *bench, uint32_t index, struct error *err)
{
    const struct op *op = &bench->step.ops[index];
    struct buffer *source = bench->buffers[op->source], *target = bench->buffers[op->target];
    enum code code = CODE_OK;
    switch (op->kind) {
    case OP_LAUNCH:
        return device_launch(bench->device, &bench->launches[index], err);
    case OP_WRITE:
        return buffer_write(bench->device, target, 0, source->pointer, op->bytes, err);
    case OP_READ:
        return buffer_read(bench->device, target->pointer, source, 0, op->bytes, err);
    case OP_HOST_COPY:
        code = device_sync(bench->device,
                           err); /* a transfer may still read or write the host memory */
        if (code == CODE_OK)
            memcpy(target->pointer, source->pointer, op->bytes);
        return code;
    }
    return code;
}

enum code bench_enqueue_step(struct bench *bench, struct error *err)
{
    enum code code = CODE_OK;
    for (uint32_t i = 0; i < bench->step.op_count && code == CODE_OK; i++)
        code = bench_enqueue_op(bench, i, err);
    return code;
}

/* No right answer: a NaN in floating point, a value that changes from round to round for bytes. */
static uint8_t poison_byte(const struct bench *bench, const struct buffer_spec *spec)
{
    return spec->type == TYPE_U8 ? (uint8_t)(0xa5u + 37u * bench->round) : 0xff;
}

enum code bench_poison(struct bench *bench, struct error *err)
{
    enum code code = CODE_OK;
    for (uint32_t i = 0; i < bench->step.buffer_count && code == CODE_OK; i++) {
        const struct buffer_spec *spec = &bench->step.buffers[i];
        if (spec->role != BUFFER_OUT)
            continue;
        code = buffer_fill(bench->device, bench->buffers[i], poison_byte(bench, spec),
                           buffer_spec_bytes(spec), err);
    }
    return code == CODE_OK ? device_sync(bench->device, err) : code;
}

static enum code mark_buffer(struct bench *bench, uint32_t index, const uint8_t mark[MARK_BYTES],
                             struct error *err)
{
    struct buffer *buffer = bench->buffers[index];
    uint64_t all = buffer_spec_bytes(&bench->step.buffers[index]);
    uint64_t bytes = all < MARK_BYTES ? all : MARK_BYTES;
    const uint64_t places[] = {0, (all - bytes) / 2, all - bytes};
    enum code code = CODE_OK;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && code == CODE_OK; i++) {
        if (buffer->pointer != NULL)
            memcpy((char *)buffer->pointer + places[i], mark, bytes);
        else
            code = buffer_write(bench->device, buffer, places[i], mark, bytes, err);
    }
    return code;
}

enum code bench_mark(struct bench *bench, struct error *err)
{
    uint8_t marks[STEP_BUFFERS_MAX][MARK_BYTES];
    enum code code = CODE_OK;
    for (uint32_t i = 0; i < bench->step.buffer_count && code == CODE_OK; i++) {
        if (bench->step.buffers[i].role != BUFFER_OUT)
            continue;
        memset(marks[i], poison_byte(bench, &bench->step.buffers[i]), MARK_BYTES);
        code = mark_buffer(bench, i, marks[i], err);
    }
    /* after a failure too: a write that is on its way still reads the marks */
    enum code synced = device_sync(bench->device, code == CODE_OK ? err : NULL);
    return code == CODE_OK ? synced : code;
}

void bench_release(struct bench *bench)
{
    for (uint32_t i = 0; i < STEP_BUFFERS_MAX; i++) {
        buffer_destroy(bench->device, bench->buffers[i]);
        free(bench->data[i]);
        bench->buffers[i] = NULL;
        bench->data[i] = NULL;
    }
    program_destroy(bench->device, bench->program);
    bench->program = NULL;
    check_memory_release(&bench->check_memory);
    text_release(&bench->build_log);
}
