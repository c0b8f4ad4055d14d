/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options as a table: long and short names, values, repetition; unknown ones get the
 * nearest spelling. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/command.h"

#include <stdbool.h>
#include <stddef.h>

enum { OPTION_VALUES_MAX = 64 };

struct option_spec {
    const char *name; /* "output" for --output */
    char letter;      /* 'o' for -o, 0 for none */
    bool takes_value; /* "--output FILE", "--output=FILE", "-o FILE", "-oFILE" */
    const char *values[OPTION_VALUES_MAX]; /* out: values given, in order */
    size_t count;                          /* out: times given */
};

/* Parses argv[1…] into options (ends with a zero name); the rest are arguments, in order, in place:
 * *argument_count of them in arguments (room for argc). "--" ends options. False after a usage
 * message was printed (exit EXIT_USAGE). */
bool options_parse(const struct command *command, int argc, char **argv,
                   struct option_spec *options, const char **arguments, size_t *argument_count);

/* For a command whose one option is --json and that takes no arguments. EXIT_OK, or EXIT_USAGE
 * after the message. */
int options_parse_json(const struct command *command, int argc, char **argv, bool *json);

#endif
