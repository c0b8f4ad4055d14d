/* SPDX-License-Identifier: Apache-2.0
 *
 * One command of the program: a file in cli/commands/ that ends in one const struct command. Data
 * goes to stdout, diagnostics to stderr. Only this layer prints. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/error.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_USAGE = 2,        /* usage or config */
    EXIT_NOTHING = 3,      /* nothing to measure on, or a required backend is absent */
    EXIT_FAILED_CASE = 4,  /* a case failed or is invalid; the file was written */
    EXIT_SLOWER = 5,       /* slower than the baseline, or a claim not met */
    EXIT_INCOMPARABLE = 6, /* not comparable, or too little data */
    EXIT_STORE = 7,        /* the result could not be stored */
    EXIT_INTERRUPTED = 8   /* interrupted or timed out; the partial file is kept */
};

struct command {
    const char *name;
    const char *usage;   /* "assay show [OPTIONS] FILE" */
    const char *summary; /* one line */
    const char *
        help; /* the whole text after usage and summary: arguments, options, exit codes, examples */
    bool hidden; /* not listed (worker) */
    /* argv[0] is the command's name. Returns an exit code. --help is handled before. */
    int (*run)(int argc, char **argv);
};

/* The generated table, ends with NULL. */
const struct command *const *command_all(void);

/* Prints "assay: <message>" and gives the exit code that belongs to err->code. */
int command_fail(const struct error *err);
/* Usage error: message, then "try 'assay NAME --help'"; EXIT_USAGE. */
int command_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
