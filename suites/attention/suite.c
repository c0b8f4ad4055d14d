/* SPDX-License-Identifier: Apache-2.0
 *
 * The heavy stages of a transformer's attention layer, one at a time: the projections to queries,
 * keys and values, the scores of every head, and their softmax. This file says what a case is and
 * divides heads into chunks where a buffer would pass the device's largest allocation. */
#include "suites/attention/attention.h"

#include "suites/gemm/product.h"
#include "suites/gemm/tiles.h"
#include "suites/step.h"

#include <math.h>
#include <stdio.h>

static const char *const stages[] = {"qkv", "scores", "softmax", NULL};
enum { QKV, SCORES, SOFTMAX };
enum { STAGE, TOKENS, WIDTH, HEADS, HEAD_DIM }; /* order of params */
enum { INPUT_SCALE = 1, SCORE_SCALE = 8 }; /* scores in [-8, 8): e^x spans seven powers of ten */
enum { PROJECTIONS = 3 };                  /* query, key, value */
enum { F32_BYTES = 4 };
enum {
    SOFTMAX_WIDTH = 4,
    SOFTMAX_WIDTH_IN_TURN = 16,
    SOFTMAX_ROWS_IN_TURN = 8,
    SOFTMAX_ITEMS = 128,
    SOFTMAX_LANES_CPU = 8,
    SOFTMAX_LANE_VECTORS = 4, /* vectors of a row that a lane should have at least */
};

/* Buffers. qkv: the tokens, then weights and results by chunk; scores: queries, keys, then results
 * by chunk; softmax: scores and results by chunk. */
enum { TOKENS_IN = 0, QUERIES = 0, KEYS = 1 };

static const struct param params[] = {
    [STAGE] = {.name = "stage",
               .summary = "the part of the layer that is run",
               .unit = "",
               .kind = PARAM_CHOICE,
               .def = SCORES,
               .choices = stages},
    [TOKENS] = {.name = "tokens",
                .summary = "length of the sequence",
                .unit = "",
                .min = 1,
                .max = 131072,
                .def = 2048},
    [WIDTH] = {.name = "width",
               .summary = "elements of a token's vector (stage=qkv)",
               .unit = "",
               .min = 1,
               .max = 65536,
               .def = 12288},
    [HEADS] = {.name = "heads",
               .summary = "attention heads",
               .unit = "",
               .min = 1,
               .max = 1024,
               .def = 96},
    [HEAD_DIM] = {.name = "head_dim",
                  .summary = "elements of a head's query, key and value (stages qkv and scores)",
                  .unit = "",
                  .min = 1,
                  .max = 4096,
                  .def = 128},
};

/* Heads are divided into chunks of `heads` each, the last of which may be smaller. */
struct chunks {
    uint64_t count, heads, last_heads;
};

/* head_bytes: of the largest buffer of one head. buffers: how many each chunk needs, beside those
 * already in the step. */
static enum code divide_heads(uint64_t heads, uint64_t head_bytes, uint32_t buffers,
                              const struct device_caps *caps, struct step *step,
                              struct chunks *chunks, struct error *err)
{
    uint64_t limit = caps->max_alloc_bytes != 0 ? caps->max_alloc_bytes : UINT64_MAX;
    uint64_t most = limit / head_bytes;
    if (most == 0)
        return error_set(err, CODE_UNSUPPORTED, 0,
                         "one head needs a buffer of %" PRIu64
                         " bytes, the largest allocation of the device is %" PRIu64,
                         head_bytes, limit);
    chunks->count = divide_up(heads, most);
    chunks->heads = divide_up(heads, chunks->count);
    chunks->count = divide_up(heads, chunks->heads);
    chunks->last_heads = heads - (chunks->count - 1) * chunks->heads;
    uint64_t room = (STEP_BUFFERS_MAX - step->buffer_count) / buffers;
    if (chunks->count > room)
        return error_set(err, CODE_UNSUPPORTED, 0,
                         "the heads need %" PRIu64 " chunks for buffers of at most %" PRIu64
                         " bytes, at most %" PRIu64 " are possible",
                         chunks->count, limit, room);
    if (chunks->count > 1 && chunks->last_heads == chunks->heads)
        snprintf(step->note, STEP_TEXT_BYTES, "heads in %" PRIu64 " chunks of %" PRIu64,
                 chunks->count, chunks->heads);
    else if (chunks->count > 1)
        snprintf(step->note, STEP_TEXT_BYTES,
                 "heads in %" PRIu64 " chunks of %" PRIu64 ", the last of %" PRIu64, chunks->count,
                 chunks->heads, chunks->last_heads);
    return CODE_OK;
}

static uint64_t chunk_heads(const struct chunks *chunks, uint64_t chunk)
{
    return chunk + 1 < chunks->count ? chunks->heads : chunks->last_heads;
}

static uint32_t add_matrix(struct step *step, const char *name, enum buffer_role role,
                           uint64_t count, uint64_t first, double scale)
{
    return step_add_buffer(step, (struct buffer_spec){.name = name,
                                                      .role = role,
                                                      .type = TYPE_F32,
                                                      .count = count,
                                                      .scale = scale,
                                                      .first = first});
}

/* One launch of attention_product. */
struct product_launch {
    uint32_t a, b, c;
    uint64_t m, n, k;
    uint64_t first, heads;
    float scale;
};

static void add_product(struct step *step, const struct tiles *tiles,
                        const struct product_launch *launch)
{
    uint64_t groups = tiles_groups(tiles, launch->m, launch->n) * launch->heads;
    struct op *op =
        step_add_launch(step, "attention_product", groups, tiles->items_m * tiles->items_n);
    op_add_buffer(op, launch->a);
    op_add_buffer(op, launch->b);
    op_add_buffer(op, launch->c);
    op_add_u64(op, launch->m);
    op_add_u64(op, launch->n);
    op_add_u64(op, launch->k);
    op_add_u64(op, launch->first);
    op_add_f32(op, launch->scale);
    op_add_u64(op, launch->heads);
}

static enum code choose_tiles(uint64_t m, uint64_t n, uint64_t k, const struct device_caps *caps,
                              struct step *step, struct tiles *tiles, struct error *err)
{
    struct tiles_request request = {.type = TYPE_F32, .m = m, .n = n, .k = k};
    enum code code = tiles_choose(&request, caps, tiles, err);
    if (code == CODE_OK)
        tiles_describe(tiles, TYPE_F32, step);
    return code;
}

/* The weights are held by output, as frameworks hold them: row (head, projection, element) of
 * `width` numbers, so that a chunk of heads is a run of rows. */
static enum code build_qkv(const struct case_spec *spec, const struct device_caps *caps,
                           struct step *step, struct error *err)
{
    uint64_t tokens = spec->values[TOKENS], width = spec->values[WIDTH];
    uint64_t head_outputs = PROJECTIONS * spec->values[HEAD_DIM];
    uint64_t larger = width > tokens ? width : tokens;
    add_matrix(step, "tokens", BUFFER_IN, tokens * width, 0, INPUT_SCALE);
    struct chunks chunks;
    enum code code = divide_heads(spec->values[HEADS], head_outputs * larger * F32_BYTES, 2, caps,
                                  step, &chunks, err);
    struct tiles tiles;
    if (code == CODE_OK)
        code = choose_tiles(tokens, head_outputs * chunks.heads, width, caps, step, &tiles, err);
    for (uint64_t i = 0; code == CODE_OK && i < chunks.count; i++) {
        uint64_t outputs = head_outputs * chunk_heads(&chunks, i);
        uint64_t before = head_outputs * chunks.heads * i;
        uint32_t weights =
            add_matrix(step, "weights", BUFFER_IN, outputs * width, before * width, INPUT_SCALE);
        uint32_t result = add_matrix(step, "qkv", BUFFER_OUT, tokens * outputs, tokens * before, 0);
        add_product(step, &tiles,
                    &(struct product_launch){.a = TOKENS_IN,
                                             .b = weights,
                                             .c = result,
                                             .m = tokens,
                                             .n = outputs,
                                             .k = width,
                                             .heads = 1,
                                             .scale = 1});
    }
    return code;
}

static float score_scale(const struct case_spec *spec)
{
    return (float)(1 / sqrt((double)spec->values[HEAD_DIM]));
}

static enum code build_scores(const struct case_spec *spec, const struct device_caps *caps,
                              struct step *step, struct error *err)
{
    uint64_t tokens = spec->values[TOKENS], dim = spec->values[HEAD_DIM],
             heads = spec->values[HEADS];
    add_matrix(step, "queries", BUFFER_IN, heads * tokens * dim, 0, INPUT_SCALE);
    add_matrix(step, "keys", BUFFER_IN, heads * tokens * dim, 0, INPUT_SCALE);
    struct chunks chunks;
    enum code code = divide_heads(heads, tokens * tokens * F32_BYTES, 1, caps, step, &chunks, err);
    struct tiles tiles;
    if (code == CODE_OK)
        code = choose_tiles(tokens, tokens, dim, caps, step, &tiles, err);
    for (uint64_t i = 0; code == CODE_OK && i < chunks.count; i++) {
        uint64_t first = i * chunks.heads, count = chunk_heads(&chunks, i);
        uint32_t result = add_matrix(step, "scores", BUFFER_OUT, count * tokens * tokens,
                                     first * tokens * tokens, 0);
        add_product(step, &tiles,
                    &(struct product_launch){.a = QUERIES,
                                             .b = KEYS,
                                             .c = result,
                                             .m = tokens,
                                             .n = tokens,
                                             .k = dim,
                                             .first = first,
                                             .heads = count,
                                             .scale = score_scale(spec)});
    }
    return code;
}

/* Work-items that share a row, and rows of a group. */
struct softmax_shape {
    uint64_t width, lanes, rows;
};

static struct softmax_shape shape_softmax(uint64_t columns, const struct device_caps *caps,
                                          struct step *step)
{
    struct softmax_shape shape = {.width = SOFTMAX_WIDTH, .lanes = 1, .rows = 1};
    uint64_t items =
        power_of_two_below(caps->group_items < SOFTMAX_ITEMS ? caps->group_items : SOFTMAX_ITEMS);
    if (items_run_in_turn(caps)) {
        shape.width = SOFTMAX_WIDTH_IN_TURN;
        shape.rows = items < SOFTMAX_ROWS_IN_TURN ? items : SOFTMAX_ROWS_IN_TURN;
    } else {
        uint64_t most = caps->cpu && items > SOFTMAX_LANES_CPU ? SOFTMAX_LANES_CPU : items;
        while (shape.lanes < most && shape.lanes * shape.width * SOFTMAX_LANE_VECTORS < columns)
            shape.lanes *= 2;
        shape.rows = items / shape.lanes;
    }
    snprintf(step->options, STEP_TEXT_BYTES,
             "-D WIDTH=%" PRIu64 " -D LANES=%" PRIu64 " -D ROWS=%" PRIu64, shape.width, shape.lanes,
             shape.rows);
    snprintf(step->shape, STEP_TEXT_BYTES,
             "group %" PRIu64 " rows of %" PRIu64 " items, vectors of %" PRIu64, shape.rows,
             shape.lanes, shape.width);
    return shape;
}

static enum code build_softmax(const struct case_spec *spec, const struct device_caps *caps,
                               struct step *step, struct error *err)
{
    uint64_t tokens = spec->values[TOKENS];
    struct chunks chunks;
    enum code code =
        divide_heads(spec->values[HEADS], tokens * tokens * F32_BYTES, 2, caps, step, &chunks, err);
    if (code != CODE_OK)
        return code;
    struct softmax_shape shape = shape_softmax(tokens, caps, step);
    for (uint64_t i = 0; i < chunks.count; i++) {
        uint64_t rows = chunk_heads(&chunks, i) * tokens,
                 first = i * chunks.heads * tokens * tokens;
        uint32_t scores = add_matrix(step, "scores", BUFFER_IN, rows * tokens, first, SCORE_SCALE);
        uint32_t result = add_matrix(step, "weights", BUFFER_OUT, rows * tokens, first, 0);
        struct op *op = step_add_launch(step, "attention_softmax", divide_up(rows, shape.rows),
                                        shape.lanes * shape.rows);
        op_add_buffer(op, scores);
        op_add_buffer(op, result);
        op_add_u64(op, rows);
        op_add_u64(op, tokens);
    }
    return CODE_OK;
}

static enum code build(const struct case_spec *spec, const struct device_caps *caps,
                       struct step *step, struct error *err)
{
    enum code code = CODE_OK;
    if (spec->values[STAGE] == QKV)
        code = build_qkv(spec, caps, step, err);
    else if (spec->values[STAGE] == SCORES)
        code = build_scores(spec, caps, step, err);
    else
        code = build_softmax(spec, caps, step, err);
    return code == CODE_OK ? step_check_memory(step, caps, err) : code;
}

static struct work work(const struct case_spec *spec)
{
    uint64_t tokens = spec->values[TOKENS], outputs = spec->values[HEADS] * spec->values[HEAD_DIM];
    struct work work = {.by_operations = true, .unit = "FLOP/s"};
    if (spec->values[STAGE] == QKV) {
        work.operations = 2 * tokens * spec->values[WIDTH] * PROJECTIONS * outputs;
    } else if (spec->values[STAGE] == SCORES) {
        work.operations = 2 * tokens * tokens * outputs;
    } else {
        uint64_t scores = spec->values[HEADS] * tokens * tokens;
        work = (struct work){
            .bytes = 2 * F32_BYTES * scores, .bytes_counted = "read+write", .unit = "B/s"};
    }
    return work;
}

static void reference_qkv(const struct case_spec *spec, const struct step *step,
                          const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                          double *result)
{
    struct product product = {
        .type = TYPE_F32,
        .a = data[TOKENS_IN],
        .b = data[out - 1], /* each result stands after its weights */
        .m = spec->values[TOKENS],
        .n = step->buffers[out].count / spec->values[TOKENS],
        .k = spec->values[WIDTH],
        .b_transposed = true,
        .scale = 1,
    };
    product_reference(&product, begin, end, result);
}

static void reference_scores(const struct case_spec *spec, const struct step *step,
                             const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                             double *result)
{
    const float *queries = data[QUERIES], *keys = data[KEYS];
    uint64_t tokens = spec->values[TOKENS], dim = spec->values[HEAD_DIM];
    uint64_t head_scores = tokens * tokens;
    uint64_t first = step->buffers[out].first / head_scores;
    struct product product = {
        .type = TYPE_F32,
        .m = tokens,
        .n = tokens,
        .k = dim,
        .b_transposed = true,
        .scale = 1 / sqrt((double)dim),
    };
    for (uint64_t at = begin; at < end;) {
        uint64_t head = at / head_scores;
        uint64_t stop = (head + 1) * head_scores < end ? (head + 1) * head_scores : end;
        product.a = queries + (first + head) * tokens * dim;
        product.b = keys + (first + head) * tokens * dim;
        product_reference(&product, at - head * head_scores, stop - head * head_scores,
                          result + (at - begin));
        at = stop;
    }
}

/* Elements [begin, end) of one row. */
static void reference_softmax_row(const float *row, uint64_t columns, uint64_t begin, uint64_t end,
                                  double *result)
{
    double top = (double)row[0], sum = 0;
    for (uint64_t i = 1; i < columns; i++)
        top = (double)row[i] > top ? (double)row[i] : top;
    for (uint64_t i = 0; i < columns; i++) {
        double power = exp((double)row[i] - top);
        sum += power;
        if (i >= begin && i < end)
            result[i - begin] = power;
    }
    for (uint64_t i = 0; i < end - begin; i++)
        result[i] /= sum;
}

static void reference_softmax(const struct case_spec *spec, const void *const *data, uint32_t out,
                              uint64_t begin, uint64_t end, double *result)
{
    const float *scores = data[out - 1]; /* each result stands after its scores */
    uint64_t columns = spec->values[TOKENS];
    for (uint64_t at = begin; at < end;) {
        uint64_t row = at / columns;
        uint64_t stop = (row + 1) * columns < end ? (row + 1) * columns : end;
        reference_softmax_row(scores + row * columns, columns, at - row * columns,
                              stop - row * columns, result + (at - begin));
        at = stop;
    }
}

static void reference(const struct case_spec *spec, const struct step *step,
                      const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                      double *result)
{
    if (spec->values[STAGE] == QKV)
        reference_qkv(spec, step, data, out, begin, end, result);
    else if (spec->values[STAGE] == SCORES)
        reference_scores(spec, step, data, out, begin, end, result);
    else
        reference_softmax(spec, data, out, begin, end, result);
}

/* Per unit u of f32: the difference to the maximum (at most 2 SCORE_SCALE) moves e^x by as much,
 * exp itself by 3 ulp, both in every term and so in the sum; adding n terms by lambda sqrt(n); the
 * reciprocal by 2.5 ulp and the product by 1/2 ulp. An ulp is at most 2 u. README.md has the
 * derivation. */
static struct tolerance softmax_tolerance(const struct case_spec *spec)
{
    double tokens = (double)spec->values[TOKENS];
    double rows = tokens * (double)spec->values[HEADS];
    double lambda = sqrt(2 * log(4e6 * rows));
    double term = 2 * SCORE_SCALE + 6;
    return (struct tolerance){
        .relative = (2 * term + lambda * sqrt(tokens) + 6) * 0x1p-24,
        .derivation = "exp within 3 ulp (OpenCL full profile), argument and sum rounded: (50 + "
                      "lambda sqrt(n)) u",
    };
}

static struct tolerance tolerance(const struct case_spec *spec)
{
    uint64_t tokens = spec->values[TOKENS], heads = spec->values[HEADS],
             dim = spec->values[HEAD_DIM];
    if (spec->values[STAGE] == SOFTMAX)
        return softmax_tolerance(spec);
    bool qkv = spec->values[STAGE] == QKV;
    struct product product = {
        .type = TYPE_F32,
        .k = qkv ? spec->values[WIDTH] : dim,
        .scale = qkv ? 1 : 1 / sqrt((double)dim),
    };
    uint64_t elements = qkv ? tokens * PROJECTIONS * heads * dim : heads * tokens * tokens;
    return (struct tolerance){
        .absolute = product_tolerance(&product, INPUT_SCALE, INPUT_SCALE, elements),
        .relative =
            qkv ? 0 : 2 * 0x1p-24, /* the scale and the product with it, each rounded once */
        .derivation =
            "as gemm with k = width (qkv) or head_dim (scores); the scaling adds 2 u of the score",
    };
}

static const char *const kernels[] = {"suites/tile.cl", "suites/attention/kernel.cl", NULL};

const struct suite suite_attention = {
    .name = "attention",
    .summary = "projections, scores and softmax of an attention layer in f32",
    .source = "Vaswani et al. 2017, scaled dot-product attention; sizes of GPT-3's layer, Brown et "
              "al. 2020, table 2.1",
    .version = 1,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .kernels = kernels,
    .host = attention_host_kernels,
    .work = work,
    .build = build,
    .reference = reference,
    .tolerance = tolerance,
};
