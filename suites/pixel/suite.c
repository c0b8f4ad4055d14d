/* SPDX-License-Identifier: Apache-2.0
 *
 * Pixel difference along the row-major image: out[i] = in[i] - in[i + 1] (mod 256). Memory bound: 2
 * bytes a pixel. This file shapes the launches for the three ways of dividing the image and for the
 * two paths, and knows no API. */
#include "suites/pixel/pixel.h"

#include "harness/partition.h"
#include "suites/step.h"

#include <stdio.h>

static const char *const partitions[] = {"linear", "strip", "tile", NULL};
static const char *const paths[] = {"kernel", "whole", NULL};
enum { LINEAR, STRIP, TILE };
enum { PATH_KERNEL, PATH_WHOLE };
enum { PARTITION, PATH, WIDTH, HEIGHT, WORKERS, TILE_WIDTH, TILE_HEIGHT }; /* order of params */

enum {
    GROUP_ITEMS = 256,        /* largest group asked for */
    GROUP_ITEMS_CPU = 64,     /* a CPU runs a group on one core: many small ones balance better */
    STRIP_ITERATIONS = 60000, /* most pixels of a work-item when workers is left to us: one driver
                                 stops at 65,535 */
    STRIP_UNIT_WORKERS = 1024,
    STRIP_UNIT_WORKERS_CPU = 64,
    TILE_WIDTH_AUTO = 64,
    TILE_WIDTH_IN_TURN = 1024,
    TILE_HEIGHT_AUTO = 16,
};

static const struct param params[] = {
    [PARTITION] = {.name = "partition",
                   .summary = "how pixels are divided over work-items",
                   .unit = "",
                   .kind = PARAM_CHOICE,
                   .def = LINEAR,
                   .choices = partitions},
    [PATH] = {.name = "path",
              .summary = "the kernel alone, or the whole way host, device, kernel, host",
              .unit = "",
              .kind = PARAM_CHOICE,
              .def = PATH_KERNEL,
              .choices = paths},
    [WIDTH] = {.name = "width",
               .summary = "pixels of a row",
               .unit = "px",
               .kind = PARAM_COUNT,
               .min = 1,
               .max = 65536,
               .def = 30000},
    [HEIGHT] = {.name = "height",
                .summary = "rows of the image",
                .unit = "px",
                .kind = PARAM_COUNT,
                .min = 1,
                .max = 65536,
                .def = 20000},
    [WORKERS] = {.name = "workers",
                 .summary = "work-items of partition=strip",
                 .unit = "",
                 .kind = PARAM_COUNT,
                 .min = 1,
                 .max = 4294967296,
                 .optional = true},
    [TILE_WIDTH] = {.name = "tile_width",
                    .summary = "width of a tile of partition=tile, a multiple of 16",
                    .unit = "px",
                    .kind = PARAM_COUNT,
                    .min = PIXEL_VECTOR,
                    .max = PIXEL_TILE_WIDTH_MAX,
                    .optional = true},
    [TILE_HEIGHT] = {.name = "tile_height",
                     .summary = "height of a tile of partition=tile",
                     .unit = "px",
                     .kind = PARAM_COUNT,
                     .min = 1,
                     .max = PIXEL_TILE_HEIGHT_MAX,
                     .optional = true},
};

/* Buffers: the device image and result come first in both paths. */
enum { IMAGE, RESULT, HOST_IMAGE, PINNED_IMAGE, PINNED_RESULT };

static uint64_t pixels(const struct case_spec *spec)
{
    return spec->values[WIDTH] * spec->values[HEIGHT];
}

static bool valid(const struct case_spec *spec, char reason[STEP_TEXT_BYTES])
{
    if (spec->values[WORKERS] != 0 && spec->values[PARTITION] != STRIP) {
        snprintf(reason, STEP_TEXT_BYTES, "workers is for partition=strip alone");
        return false;
    }
    bool tile_size = spec->values[TILE_WIDTH] != 0 || spec->values[TILE_HEIGHT] != 0;
    if (tile_size && spec->values[PARTITION] != TILE) {
        snprintf(reason, STEP_TEXT_BYTES,
                 "tile_width and tile_height are for partition=tile alone");
        return false;
    }
    if (spec->values[TILE_WIDTH] % PIXEL_VECTOR != 0) {
        snprintf(reason, STEP_TEXT_BYTES, "tile_width must be a multiple of %d, not %" PRIu64,
                 PIXEL_VECTOR, spec->values[TILE_WIDTH]);
        return false;
    }
    return true;
}

static struct work work(const struct case_spec *spec)
{
    bool whole = spec->values[PATH] == PATH_WHOLE;
    return (struct work){
        .bytes = 2 * pixels(spec),
        .bytes_counted = whole ? "payload" : "read+write",
        .unit = "B/s",
    };
}

static uint64_t group_items(const struct device_caps *caps)
{
    uint64_t wanted = caps->cpu ? GROUP_ITEMS_CPU : GROUP_ITEMS;
    return power_of_two_below(wanted < caps->group_items ? wanted : caps->group_items);
}

static void add_linear(const struct case_spec *spec, const struct device_caps *caps,
                       struct step *step)
{
    uint64_t group = group_items(caps);
    uint64_t vectors = caps->cpu ? 4 : 1; /* of an item */
    uint64_t groups = divide_up(pixels(spec), group * vectors * PIXEL_VECTOR);
    struct op *op = step_add_launch(step, "pixel_linear", groups, group);
    op_add_buffer(op, IMAGE);
    op_add_buffer(op, RESULT);
    op_add_u64(op, pixels(spec));
    snprintf(step->options, STEP_TEXT_BYTES, "-D GROUP=%" PRIu64 " -D VECTORS=%" PRIu64, group,
             vectors);
    snprintf(step->shape, STEP_TEXT_BYTES,
             "group %" PRIu64 ", %" PRIu64 " vectors of %d pixels an item", group, vectors,
             PIXEL_VECTOR);
}

/* Enough workers to fill the device and for each to have at most STRIP_ITERATIONS pixels, not more
 * than there are pixels. */
static uint64_t strip_workers(const struct case_spec *spec, const struct device_caps *caps)
{
    if (spec->values[WORKERS] != 0)
        return spec->values[WORKERS];
    uint64_t units = caps->compute_units > 0 ? caps->compute_units : 1;
    uint64_t workers = units * (caps->cpu ? STRIP_UNIT_WORKERS_CPU : STRIP_UNIT_WORKERS);
    uint64_t least = divide_up(pixels(spec), STRIP_ITERATIONS);
    if (workers < least)
        workers = least;
    return workers < pixels(spec) ? workers : pixels(spec);
}

static enum code add_strip(const struct case_spec *spec, const struct device_caps *caps,
                           struct step *step, struct error *err)
{
    struct partition partition;
    enum code code = partition_init(&partition, pixels(spec), strip_workers(spec, caps), err);
    if (code != CODE_OK)
        return code;
    uint64_t group = group_items(caps);
    uint64_t groups = divide_up(partition.workers, group);
    struct op *op = step_add_launch(step, "pixel_strip", groups, group);
    op_add_buffer(op, IMAGE);
    op_add_buffer(op, RESULT);
    op_add_u64(op, partition.items);
    op_add_u64(op, partition.workers);
    op_add_u64(op, partition.share);
    snprintf(step->options, STEP_TEXT_BYTES, "-D GROUP=%" PRIu64 " -D VECTORS=1", group);
    snprintf(step->shape, STEP_TEXT_BYTES,
             "group %" PRIu64 ", %" PRIu64 " workers of %" PRIu64 " pixels", group,
             partition.workers, partition.share);
    return CODE_OK;
}

static enum code add_tile(const struct case_spec *spec, const struct device_caps *caps,
                          struct step *step, struct error *err)
{
    bool in_turn = items_run_in_turn(caps);
    uint64_t width = spec->values[TILE_WIDTH];
    if (width == 0)
        width = in_turn ? TILE_WIDTH_IN_TURN : TILE_WIDTH_AUTO;
    uint64_t height = spec->values[TILE_HEIGHT] != 0 ? spec->values[TILE_HEIGHT] : TILE_HEIGHT_AUTO;
    uint64_t bytes = (width + PIXEL_VECTOR) * height;
    if (caps->local_bytes != 0 && bytes > caps->local_bytes)
        return error_set(err, CODE_UNSUPPORTED, 0,
                         "a tile of %" PRIu64 "x%" PRIu64 " pixels needs %" PRIu64
                         " bytes of local memory, a group has %" PRIu64,
                         width, height, bytes, caps->local_bytes);
    uint64_t group =
        in_turn ? 1 : group_items(caps); /* items in turn would only be overhead around a barrier */
    uint64_t across = width / PIXEL_VECTOR; /* items along a row */
    if (across > group)
        across = group;
    uint64_t down = group / across < height ? group / across : height;
    group = across * down;
    uint64_t tiles =
        divide_up(spec->values[WIDTH], width) * divide_up(spec->values[HEIGHT], height);
    struct op *op = step_add_launch(step, "pixel_tile", tiles, group);
    op_add_buffer(op, IMAGE);
    op_add_buffer(op, RESULT);
    op_add_u64(op, spec->values[WIDTH]);
    op_add_u64(op, spec->values[HEIGHT]);
    op_add_u32(op, (uint32_t)width);
    op_add_u32(op, (uint32_t)height);
    snprintf(step->options, STEP_TEXT_BYTES,
             "-D GROUP=%" PRIu64 " -D GROUP_X=%" PRIu64 " -D VECTORS=1 -D TILE_VECTORS=%" PRIu64
             " -D ROWS_ALIGNED=%d",
             group, across, bytes / PIXEL_VECTOR, spec->values[WIDTH] % PIXEL_VECTOR == 0 ? 1 : 0);
    snprintf(step->shape, STEP_TEXT_BYTES,
             "group %" PRIu64 "x%" PRIu64 ", tile %" PRIu64 "x%" PRIu64, across, down, width,
             height);
    return CODE_OK;
}

static enum code add_kernel(const struct case_spec *spec, const struct device_caps *caps,
                            struct step *step, struct error *err)
{
    if (spec->values[PARTITION] == STRIP)
        return add_strip(spec, caps, step, err);
    if (spec->values[PARTITION] == TILE)
        return add_tile(spec, caps, step, err);
    add_linear(spec, caps, step);
    return CODE_OK;
}

static void add_transfer(struct step *step, enum op_kind kind, const char *phase, uint32_t source,
                         uint32_t target)
{
    struct op *op = step_add_op(step, kind);
    op->phase = phase;
    op->source = source;
    op->target = target;
    op->bytes = step->buffers[source].count < step->buffers[target].count
                    ? step->buffers[source].count
                    : step->buffers[target].count;
}

static void add_buffers(const struct case_spec *spec, struct step *step)
{
    bool whole = spec->values[PATH] == PATH_WHOLE;
    struct buffer_spec image = {.type = TYPE_U8, .count = pixels(spec) + 1};
    struct buffer_spec result = {.type = TYPE_U8, .count = pixels(spec)};
    image.name = "image";
    image.role = whole ? BUFFER_SCRATCH : BUFFER_IN;
    step_add_buffer(step, image);
    result.name = "result";
    result.role = whole ? BUFFER_SCRATCH : BUFFER_OUT;
    step_add_buffer(step, result);
    if (!whole)
        return;
    image.name = "host image";
    image.role = BUFFER_IN;
    image.memory = MEMORY_PAGEABLE;
    step_add_buffer(step, image);
    image.name = "pinned image";
    image.role = BUFFER_SCRATCH;
    image.memory = MEMORY_PINNED;
    step_add_buffer(step, image);
    result.name = "pinned result";
    result.role = BUFFER_OUT;
    result.memory = MEMORY_PINNED;
    step_add_buffer(step, result);
}

static enum code build(const struct case_spec *spec, const struct device_caps *caps,
                       struct step *step, struct error *err)
{
    bool whole = spec->values[PATH] == PATH_WHOLE;
    add_buffers(spec, step);
    enum code code = step_check_memory(step, caps, err);
    if (code != CODE_OK)
        return code;
    if (whole) {
        add_transfer(step, OP_HOST_COPY, "stage", HOST_IMAGE, PINNED_IMAGE);
        add_transfer(step, OP_WRITE, "upload", PINNED_IMAGE, IMAGE);
    }
    code = add_kernel(spec, caps, step, err);
    if (code == CODE_OK && whole) {
        step->ops[step->op_count - 1].phase = "kernel";
        add_transfer(step, OP_READ, "download", RESULT, PINNED_RESULT);
    }
    return code;
}

static void reference(const struct case_spec *spec, const struct step *step,
                      const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                      double *result)
{
    (void)step;
    (void)out;
    const uint8_t *image = data[spec->values[PATH] == PATH_WHOLE ? HOST_IMAGE : IMAGE];
    for (uint64_t i = begin; i < end; i++) {
        int difference = image[i] - image[i + 1];
        result[i - begin] = difference < 0 ? difference + 256 : difference;
    }
}

static struct tolerance tolerance(const struct case_spec *spec)
{
    (void)spec;
    return (struct tolerance){.derivation = "integer arithmetic: equal to the bit"};
}

const struct suite suite_pixel = {
    .name = "pixel",
    .summary = "difference of neighbouring pixels of a u8 image",
    .source = "definition: out[i] = in[i] - in[i + 1] mod 256 along the row-major image, one halo "
              "pixel at the end",
    .version = 1,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .host = pixel_host_kernels,
    .valid = valid,
    .work = work,
    .build = build,
    .reference = reference,
    .tolerance = tolerance,
};
