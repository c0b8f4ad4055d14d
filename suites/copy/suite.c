/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between host and device memory: one transfer of a whole buffer, no kernel. Payload bytes
 * are counted once. */
#include "suites/step.h"

static const char *const directions[] = {"h2d", "d2h", NULL};
static const char *const memories[] = {"pageable", "pinned", NULL};
enum { DIRECTION, MEMORY, BYTES }; /* order of params */
enum { HOST_TO_DEVICE, DEVICE_TO_HOST };
enum { FROM_PAGEABLE, FROM_PINNED };
enum { IN, OUT }; /* order of buffers */

static const struct param params[] = {
    [DIRECTION] = {.name = "direction",
                   .summary = "host to device or device to host",
                   .unit = "",
                   .kind = PARAM_CHOICE,
                   .def = HOST_TO_DEVICE,
                   .choices = directions},
    [MEMORY] = {.name = "memory",
                .summary = "host side: ordinary pages, or memory the driver made for transfers",
                .unit = "",
                .kind = PARAM_CHOICE,
                .def = FROM_PINNED,
                .choices = memories},
    [BYTES] = {.name = "bytes",
               .summary = "payload of one copy",
               .unit = "B",
               .kind = PARAM_BYTES,
               .min = 4096,
               .max = 1073741824,
               .def = 67108864},
};

static struct work work(const struct case_spec *spec)
{
    return (struct work){.bytes = spec->values[BYTES], .bytes_counted = "payload", .unit = "B/s"};
}

static enum code build(const struct case_spec *spec, const struct device_caps *caps,
                       struct step *step, struct error *err)
{
    bool to_device = spec->values[DIRECTION] == HOST_TO_DEVICE;
    enum memory_kind host = spec->values[MEMORY] == FROM_PINNED ? MEMORY_PINNED : MEMORY_PAGEABLE;
    struct buffer_spec buffer = {.type = TYPE_U8, .count = spec->values[BYTES]};

    buffer.name = "source";
    buffer.role = BUFFER_IN;
    buffer.memory = to_device ? host : MEMORY_DEVICE;
    uint32_t source = step_add_buffer(step, buffer);
    buffer.name = "target";
    buffer.role = BUFFER_OUT;
    buffer.memory = to_device ? MEMORY_DEVICE : host;
    uint32_t target = step_add_buffer(step, buffer);

    struct op *op = step_add_op(step, to_device ? OP_WRITE : OP_READ);
    op->source = source;
    op->target = target;
    op->bytes = spec->values[BYTES];
    return step_check_memory(step, caps, err);
}

static void reference(const struct case_spec *spec, const struct step *step,
                      const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                      double *result)
{
    (void)spec;
    (void)step;
    (void)out;
    const uint8_t *source = data[IN];
    for (uint64_t i = begin; i < end; i++)
        result[i - begin] = source[i];
}

static struct tolerance tolerance(const struct case_spec *spec)
{
    (void)spec;
    return (struct tolerance){.derivation = "bytes are copied: equal to the bit"};
}

const struct suite suite_copy = {
    .name = "copy",
    .summary = "copy between host and device memory",
    .source = "the definition of a copy: target[i] = source[i]",
    .version = 1,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .work = work,
    .build = build,
    .reference = reference,
    .tolerance = tolerance,
};
