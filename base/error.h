/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values. A function that can fail returns an enum code and fills a struct error whose
 * message is complete enough to print as it is. Nothing in here prints; only cli/ does. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

enum code {
    CODE_OK = 0,
    CODE_USAGE,        /* the command line is wrong */
    CODE_CONFIG,       /* a config or an input file is wrong: the message holds file:line:column */
    CODE_NOTHING,      /* nothing to measure on, or a required backend is absent */
    CODE_UNSUPPORTED,  /* the device or the build cannot do this; not a fault */
    CODE_MEMORY,       /* host or device memory is exhausted */
    CODE_IO,           /* a file could not be read or written */
    CODE_DRIVER,       /* a driver call failed; native holds its code */
    CODE_LOST,         /* the device is gone: everything on it has to be rebuilt */
    CODE_TIMEOUT,      /* a step passed its time limit */
    CODE_CRASHED,      /* a worker process died; native holds the signal */
    CODE_INTERRUPTED,  /* SIGINT, SIGTERM or SIGHUP */
    CODE_INCOMPARABLE, /* two results must not be compared, or there is too little data */
    CODE_INVALID,      /* a measurement is not to be believed (verification, clock, scaling) */
    CODE_COUNT
};

enum { ERROR_MESSAGE_BYTES = 1024 };

struct error {
    enum code code;
    long native; /* errno, cl_int, CUresult or a signal; 0 where there is none */
    char message[ERROR_MESSAGE_BYTES];
};

/* Fills err (which may be NULL) and returns code, so that a failing path is one statement. */
enum code error_set(struct error *err, enum code code, long native, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "<context>: " before the message. Returns err->code; CODE_INVALID for a NULL err. */
enum code error_context(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Forgets an error that was handled. */
void error_clear(struct error *err);

/* Stable lower-case name of a code ("config", "driver", …); used between processes. Never NULL. */
const char *code_name(enum code code);

/* The code with this name, CODE_INVALID if there is none. */
enum code code_from_name(const char *name);

#endif
