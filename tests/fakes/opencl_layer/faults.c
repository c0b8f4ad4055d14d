/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the list of switches, and the few services that the layer's files share. */
#include "layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct layer layer;

/* "key=what:value", "what:value" (same key as the one before) or "key". */
static void add_fault(char *item)
{
    if (item[0] == '\0' || layer.fault_count == FAULTS_MAX)
        return;
    struct fault *fault = &layer.faults[layer.fault_count++];
    char *equals = strchr(item, '=');
    char *colon = strchr(equals != NULL ? equals : item, ':');
    bool same_key = equals == NULL && colon != NULL && layer.fault_count > 1;
    *fault = (struct fault){.key = same_key ? fault[-1].key : item, .what = "", .value = ""};
    if (equals != NULL) {
        *equals = '\0';
        fault->what = equals + 1;
    } else if (same_key) {
        fault->what = item;
    }
    if (colon != NULL) {
        *colon = '\0';
        fault->value = colon + 1;
    }
}

void faults_parse(const char *text)
{
    layer.text = strdup(text);
    for (char *item = layer.text, *next; item != NULL; item = next) {
        next = strchr(item, ',');
        if (next != NULL)
            *next++ = '\0';
        add_fault(item);
    }
}

const struct fault *fault_find(const char *key, const char *what)
{
    for (size_t i = 0; i < layer.fault_count; i++)
        if (strcmp(layer.faults[i].key, key) == 0 &&
            (what == NULL || strcmp(layer.faults[i].what, what) == 0))
            return &layer.faults[i];
    return NULL;
}

long fault_number(const struct fault *fault, long fallback)
{
    return fault != NULL && fault->value[0] != '\0' ? strtol(fault->value, NULL, 10) : fallback;
}

bool fault_fails(const char *call, cl_int *native)
{
    static unsigned long calls[FAULTS_MAX];
    for (size_t i = 0; i < layer.fault_count; i++) {
        const struct fault *fault = &layer.faults[i];
        if (strcmp(fault->key, "fail") != 0 || strcmp(fault->what, call) != 0)
            continue;
        char *end = NULL;
        *native = (cl_int)strtol(fault->value, &end, 10);
        unsigned long nth = *end == ':' ? strtoul(end + 1, NULL, 10) : 1;
        if (++calls[i] == nth)
            return true;
    }
    return false;
}

uint64_t layer_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void layer_sleep_ns(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000U),
                            .tv_nsec = (long)(ns % 1000000000U)};
    while (nanosleep(&time, &time) != 0)
        ;
}

void layer_log(const char *format, ...)
{
    const char *path = getenv("ASSAY_FAKE_LOG");
    FILE *file = path != NULL ? fopen(path, "ae") : NULL;
    if (file == NULL)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}
