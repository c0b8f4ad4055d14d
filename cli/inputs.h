/* SPDX-License-Identifier: Apache-2.0
 *
 * Result files named on a command line, "FILE" or "FILE:DEVICE-ID". Each file is read once, however
 * often it is named; if one of them cannot be read, none is used. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "base/error.h"
#include "base/text.h"
#include "harness/record.h"

#include <stddef.h>

enum { INPUTS_MAX = 64 };

struct input {
    struct result *result;
    const char *device; /* id inside result; NULL: none was named */
};

struct inputs {
    struct input items[INPUTS_MAX];
    size_t count;
    struct result *results[INPUTS_MAX]; /* each file once, in the order of the command line */
    size_t result_count;
};

/* CODE_USAGE for a device that a file lacks, CODE_CONFIG for what is no result, CODE_IO. Release it
 * also after a failure. */
enum code inputs_load(const char *const *arguments, size_t count, struct inputs *inputs,
                      struct error *err);
void inputs_release(struct inputs *inputs);
/* Prints the message of inputs_load; EXIT_USAGE, because an input that cannot be read is not a
 * result that could not be stored. */
int inputs_fail(const struct error *err);

/* "48.2 GB/s ±0.4 %" for a record that is ok, else "". The wider side of the interval; "-" in its
 * place where there is none. */
enum { RATE_TEXT_BYTES = 64 };
char *rate_text(const struct record *record, const struct summary *summary,
                char out[RATE_TEXT_BYTES]);
/* "NAME (KIND), DRIVER" of a device, printable. */
void device_text(const struct result_device *device, struct text *out);
/* A path as JSON text, whatever bytes it has. */
json_t *path_json(const char *path);
/* Text of the header, "unknown" where it is missing. */
const char *header_text(const struct result *result, const char *name);

#endif
