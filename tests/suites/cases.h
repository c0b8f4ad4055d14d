/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of suites: cases from short text, devices that do not exist, and the host memory of a
 * step's buffers. */
#ifndef TESTS_SUITES_CASES_H
#define TESTS_SUITES_CASES_H

#include "harness/data.h"
#include "harness/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Defaults everywhere but for "name=value" settings with one blank between: "m=3 n=5 type=f64". */
static inline struct case_spec make_case(const char *suite, const char *settings)
{
    struct case_spec spec = {.suite = suite_find(suite)};
    assert_non_null(spec.suite);
    for (uint32_t i = 0; i < spec.suite->param_count; i++)
        spec.values[i] = spec.suite->params[i].def;
    char text[256];
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = text; *word != '\0';) {
        char *end = word + strcspn(word, " ");
        char *next = *end == ' ' ? end + 1 : end;
        *end = '\0';
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = '\0';
        uint32_t i = 0;
        while (i < spec.suite->param_count && strcmp(spec.suite->params[i].name, word) != 0)
            i++;
        assert_true(i < spec.suite->param_count);
        const char *const *choices = spec.suite->params[i].choices;
        spec.values[i] = choices == NULL ? strtoull(value, NULL, 10) : 0;
        while (choices != NULL && strcmp(choices[spec.values[i]], value) != 0) {
            spec.values[i]++;
            assert_non_null(choices[spec.values[i]]);
        }
        word = next;
    }
    return spec;
}

/* A CPU that runs the items of a group in turn, one that runs them as lanes, and a GPU. */
static inline struct device_caps caps_cpu(void)
{
    return (struct device_caps){.group_items = 4096,
                                .local_bytes = 2097152,
                                .max_alloc_bytes = UINT64_C(1) << 44,
                                .memory_bytes = UINT64_C(1) << 46,
                                .compute_units = 2,
                                .has_f64 = true,
                                .cpu = true};
}

static inline struct device_caps caps_lanes(void)
{
    struct device_caps caps = caps_cpu();
    caps.group_items = 32;
    caps.local_bytes = 32768;
    return caps;
}

static inline struct device_caps caps_gpu(void)
{
    struct device_caps caps = caps_cpu();
    caps.group_items = 1024;
    caps.local_bytes = 49152;
    caps.compute_units = 132;
    caps.cpu = false;
    return caps;
}

/* A step and host memory for every buffer of it; IN filled. */
struct bed {
    struct case_spec spec;
    struct step step;
    void *memory[STEP_BUFFERS_MAX];
    const void *data[STEP_BUFFERS_MAX]; /* as a reference gets it */
};

static inline void bed_init(struct bed *bed, const struct case_spec *spec,
                            const struct device_caps *caps)
{
    struct error err = {0};
    *bed = (struct bed){.spec = *spec};
    assert_int_equal(spec->suite->build(spec, caps, &bed->step, &err), CODE_OK);
    for (uint32_t i = 0; i < bed->step.buffer_count; i++) {
        const struct buffer_spec *buffer = &bed->step.buffers[i];
        bed->memory[i] = malloc(buffer->count * type_bytes(buffer->type));
        assert_non_null(bed->memory[i]);
        memset(bed->memory[i], 0xff, buffer->count * type_bytes(buffer->type));
        if (buffer->role != BUFFER_IN)
            continue;
        data_fill(buffer->type, buffer->scale, data_derive_seed(7, buffer->name), buffer->first,
                  bed->memory[i], buffer->count);
        bed->data[i] = bed->memory[i];
    }
}

static inline void bed_release(struct bed *bed)
{
    for (uint32_t i = 0; i < bed->step.buffer_count; i++)
        free(bed->memory[i]);
}

/* The whole reference of OUT buffer out, to be freed. */
static inline double *bed_reference(const struct bed *bed, uint32_t out)
{
    uint64_t count = bed->step.buffers[out].count;
    double *result = malloc(count * sizeof *result);
    assert_non_null(result);
    bed->spec.suite->reference(&bed->spec, &bed->step, bed->data, out, 0, count, result);
    return result;
}

static inline uint32_t bed_first_out(const struct bed *bed)
{
    uint32_t out = 0;
    while (out < bed->step.buffer_count && bed->step.buffers[out].role != BUFFER_OUT)
        out++;
    assert_true(out < bed->step.buffer_count);
    return out;
}

static inline bool within(const struct tolerance *tolerance, double value, double reference)
{
    double difference = value > reference ? value - reference : reference - value;
    double magnitude = reference < 0 ? -reference : reference;
    return difference <= tolerance->absolute + tolerance->relative * magnitude;
}

#endif
