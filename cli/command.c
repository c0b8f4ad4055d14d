/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands, and how a command reports failure: one message on stderr and one exit
 * code. Must not know what any command does. */
#include "cli/command.h"

#include "base/text.h"

#include "command_table.inc"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct command *const *command_all(void)
{
    return command_table;
}

/* Names in messages come from files and drivers: control characters must not reach the terminal.
 * Line ends stay, so that a message may list things. */
static void print_message(const char *message)
{
    char copy[2 * ERROR_MESSAGE_BYTES];
    snprintf(copy, sizeof copy, "%s", message);
    struct text out = {0};
    for (char *line = copy; line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        text_make_printable(line);
        text_printf(&out, "%s%s\n", line == copy ? "assay: " : "  ", line);
        line = end != NULL && end[1] != '\0' ? end + 1 : NULL;
    }
    fflush(stdout);
    fputs(text_string(&out), stderr);
    text_release(&out);
}

static int exit_code_of(enum code code)
{
    switch (code) {
    case CODE_OK:
        return EXIT_OK;
    case CODE_USAGE:
    case CODE_CONFIG:
        return EXIT_USAGE;
    case CODE_NOTHING:
        return EXIT_NOTHING;
    case CODE_INCOMPARABLE:
        return EXIT_INCOMPARABLE;
    case CODE_IO:
        return EXIT_STORE;
    case CODE_TIMEOUT:
    case CODE_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case CODE_UNSUPPORTED:
    case CODE_MEMORY:
    case CODE_DRIVER:
    case CODE_LOST:
    case CODE_CRASHED:
    case CODE_INVALID:
    case CODE_COUNT:
        break;
    }
    return EXIT_FAILED_CASE;
}

int command_fail(const struct error *err)
{
    print_message(err->message);
    return exit_code_of(err->code);
}

int command_usage(const struct command *command, const char *format, ...)
{
    char message[ERROR_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    print_message(message);
    fprintf(stderr, "try 'assay %s --help'\n", command->name);
    return EXIT_USAGE;
}
