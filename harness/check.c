/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of whole outputs; see check.h. */
#include "harness/check.h"

#include "base/quantity.h"
#include "harness/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ELEMENTS = 1 << 18, CHUNKS_A_READ = 16 };

static double element_value(enum type type, const void *values, uint64_t index)
{
    switch (type) {
    case TYPE_U8:
        return (double)((const uint8_t *)values)[index];
    case TYPE_F32:
        return (double)((const float *)values)[index];
    case TYPE_F64:
        return ((const double *)values)[index];
    }
    return (double)NAN;
}

static uint64_t digest_bytes(const void *bytes, uint64_t count)
{
    uint64_t digest = count;
    const unsigned char *byte = bytes;
    for (; count >= 8; count -= 8, byte += 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 29;
    }
    for (; count > 0; count--, byte++)
        digest = data_mix(digest ^ *byte);
    return data_mix(digest) | 1u; /* never 0, which means "not verified" */
}

/* One chunk's part of a check. */
struct part {
    uint64_t mismatches, nonfinite, first_bad;
    double first_value, first_reference, max_error, square_sum;
};

static void compare_chunk(const struct buffer_spec *spec, const struct tolerance *tolerance,
                          const void *values, const double *reference, uint64_t begin,
                          uint64_t count, struct part *part)
{
    *part = (struct part){.first_bad = UINT64_MAX};
    for (uint64_t i = 0; i < count; i++) {
        double value = element_value(spec->type, values, i);
        double error = fabs(value - reference[i]);
        bool finite = isfinite(value) && isfinite(error);
        /* written so that NaN fails */
        bool right =
            finite && error <= tolerance->absolute + tolerance->relative * fabs(reference[i]);
        if (finite) {
            part->max_error = error > part->max_error ? error : part->max_error;
            part->square_sum += error * error;
        } else {
            part->nonfinite++;
        }
        if (!right && part->mismatches++ == 0) {
            part->first_bad = spec->first + begin + i;
            part->first_value = value;
            part->first_reference = reference[i];
        }
    }
}

static void merge_part(struct check *check, const struct part *part, double *square_sum)
{
    if (part->first_bad < check->first_bad) {
        check->first_bad = part->first_bad;
        check->first_value = part->first_value;
        check->first_reference = part->first_reference;
    }
    check->mismatches += part->mismatches;
    check->nonfinite += part->nonfinite;
    check->max_error = part->max_error > check->max_error ? part->max_error : check->max_error;
    *square_sum += part->square_sum;
}

/* Progress of one check over the chunks of all outputs. */
struct pass {
    const struct check_input *input;
    struct check_memory *memory;
    struct check *check;
    uint64_t chunk; /* index of the next chunk over all outputs */
    double square_sum;
    uint64_t compared;
};

/* Compares the chunks of one piece that was read back; base is the index of its first element in
 * the buffer. */
static enum code check_piece(struct pass *pass, uint32_t out, const void *values, uint64_t base,
                             uint64_t count, struct error *err)
{
    const struct buffer_spec *spec = &pass->input->step->buffers[out];
    const struct case_spec *spec_case = pass->input->spec;
    struct tolerance tolerance = pass->check->tolerance;
    int chunks = (int)((count + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS);
    bool out_of_memory = false;
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < chunks; c++) {
        uint64_t begin = (uint64_t)c * CHUNK_ELEMENTS;
        uint64_t length = count - begin < CHUNK_ELEMENTS ? count - begin : CHUNK_ELEMENTS;
        const void *chunk_values = (const char *)values + begin * type_bytes(spec->type);
        uint64_t digest = digest_bytes(chunk_values, length * type_bytes(spec->type));
        uint64_t *known = &pass->memory->digests[pass->chunk + (uint64_t)c];
        if (*known == digest)
            continue;
        struct part part;
        double *reference = malloc(length * sizeof *reference);
        if (reference != NULL) {
            spec_case->suite->reference(spec_case, pass->input->step, pass->input->data, out,
                                        base + begin, base + begin + length, reference);
            compare_chunk(spec, &tolerance, chunk_values, reference, base + begin, length, &part);
            free(reference);
        }
#pragma omp critical
        {
            if (reference == NULL)
                out_of_memory = true;
            else
                merge_part(pass->check, &part, &pass->square_sum);
            pass->compared += length;
        }
        if (reference != NULL && part.mismatches == 0)
            *known = digest;
    }
    pass->chunk += (uint64_t)chunks;
    pass->check->elements += count;
    if (out_of_memory)
        return error_set(err, CODE_MEMORY, 0, "no host memory for the reference of a verification");
    return CODE_OK;
}

static enum code check_buffer(struct pass *pass, uint32_t out, void *staging, struct error *err)
{
    const struct buffer_spec *spec = &pass->input->step->buffers[out];
    struct buffer *buffer = pass->input->buffers[out];
    const uint64_t piece = (uint64_t)CHUNK_ELEMENTS * CHUNKS_A_READ;
    enum code code = CODE_OK;
    for (uint64_t base = 0; base < spec->count && code == CODE_OK; base += piece) {
        uint64_t count = spec->count - base < piece ? spec->count - base : piece;
        uint64_t offset = base * type_bytes(spec->type);
        const void *values = staging;
        if (buffer->pointer != NULL) {
            values = (const char *)buffer->pointer + offset;
        } else {
            code = buffer_read(pass->input->device, staging, buffer, offset,
                               count * type_bytes(spec->type), err);
            if (code == CODE_OK)
                code = device_sync(pass->input->device, err);
        }
        if (code == CODE_OK)
            code = check_piece(pass, out, values, base, count, err);
    }
    return code;
}

static uint64_t count_chunks(const struct step *step)
{
    uint64_t chunks = 0;
    for (uint32_t i = 0; i < step->buffer_count; i++)
        if (step->buffers[i].role == BUFFER_OUT)
            chunks += (step->buffers[i].count + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS;
    return chunks;
}

enum code check_outputs(const struct check_input *input, struct check_memory *memory,
                        struct check *check, struct error *err)
{
    const struct step *step = input->step;
    if (memory->digests == NULL) {
        memory->count = count_chunks(step);
        memory->digests = memory_zeroed(memory->count, sizeof *memory->digests);
    }
    *check = (struct check){.first_bad = UINT64_MAX,
                            .tolerance = input->spec->suite->tolerance(input->spec)};
    struct pass pass = {.input = input, .memory = memory, .check = check};
    void *staging = malloc((size_t)CHUNK_ELEMENTS * CHUNKS_A_READ * sizeof(double));
    if (staging == NULL)
        return error_set(err, CODE_MEMORY, 0, "no host memory to read an output back");
    enum code code = CODE_OK;
    for (uint32_t i = 0; i < step->buffer_count && code == CODE_OK; i++)
        if (step->buffers[i].role == BUFFER_OUT)
            code = check_buffer(&pass, i, staging, err);
    free(staging);
    if (pass.compared > 0) {
        memory->rms_error = sqrt(pass.square_sum / (double)pass.compared);
        memory->max_error = check->max_error;
    }
    /* A pass that compared nothing anew found the verified bits again: its norms are the earlier
     * pass's. */
    check->rms_error = memory->rms_error;
    check->max_error = memory->max_error;
    return code;
}

bool check_passed(const struct check *check)
{
    return check->elements > 0 && check->mismatches == 0 && check->nonfinite == 0;
}

void check_memory_release(struct check_memory *memory)
{
    free(memory->digests);
    *memory = (struct check_memory){0};
}

void check_reason(const struct check *check, char *reason, size_t bytes)
{
    char wrong[QUANTITY_BYTES], all[QUANTITY_BYTES], place[QUANTITY_BYTES];
    char finite[96] = "";
    if (check->nonfinite > 0)
        snprintf(finite, sizeof finite, "; output has %s non-finite values",
                 quantity_format_count(check->nonfinite, wrong));
    snprintf(reason, bytes, "%s of %s elements are wrong, first at index %s: %.9g, expected %.9g%s",
             quantity_format_count(check->mismatches, wrong),
             quantity_format_count(check->elements, all),
             quantity_format_count(check->first_bad, place), check->first_value,
             check->first_reference, finite);
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *check_json(const struct check *check)
{
    bool bad = check->first_bad != UINT64_MAX;
    return json_pack(
        "{s:I,s:I,s:I,s:o,s:o,s:o,s:f,s:f,s:s}", "elements", (json_int_t)check->elements,
        "mismatches", (json_int_t)check->mismatches, "nonfinite", (json_int_t)check->nonfinite,
        "first_bad", bad ? json_integer((json_int_t)check->first_bad) : json_null(), "max_error",
        number_or_null(check->max_error), "rms_error", number_or_null(check->rms_error), "absolute",
        check->tolerance.absolute, "relative", check->tolerance.relative, "derivation",
        check->tolerance.derivation);
}
