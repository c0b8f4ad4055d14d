/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that run the real program in chosen surroundings (environment, user, limits) and look
 * at what it prints and how it ends. */
#ifndef TESTS_CLI_PROGRAM_H
#define TESTS_CLI_PROGRAM_H

#include "base/text.h"
#include "harness/scratch.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 16, NOBODY = 65534 };
#define LAYER "OPENCL_LAYERS=" ASSAY_FAKES_DIR "/libassay_fake_opencl.so"
#define POCL_ALONE "OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd"

struct fixture {
    char place[SCRATCH_PATH_BYTES];
    char binary[SCRATCH_PATH_BYTES + 16]; /* a copy that every user can execute */
    char pocl[1024];                      /* path of the PoCL library */
};

/* What is run, and in what surroundings. */
struct call {
    const char *arguments[WORDS_MAX];   /* after the program's name; ends with NULL */
    const char *environment[WORDS_MAX]; /* "NAME=value" sets, "NAME" removes; ends with NULL */
    bool as_nobody;
    rlim_t address_space; /* 0: no limit */
    const char *directory;
};

struct outcome {
    int exit_code; /* -1: it died */
    char *out, *err;
};

char *read_file(const char *path);
/* In a forked child: becomes the program, with out and err as its streams. */
void child(const struct fixture *fixture, const struct call *call, int out, int err);
struct outcome run(const struct fixture *fixture, const struct call *call);
void release(struct outcome *outcome);
void assert_says(const char *text, const char *part);
/* Runs and checks exit code and what both streams together must say; NULL ends the parts. */
void expect(const struct fixture *fixture, const struct call *call, int exit_code,
            const char *const *parts);
/* Runs with --json; the caller owns the reply. */
json_t *json_of(const struct fixture *fixture, const struct call *call, int exit_code);
const json_t *device_with_id(const json_t *json, const char *id);
const char *string_of(const json_t *object, const char *name);
void write_text(const struct fixture *fixture, const char *name, const char *text);
int set_up(void **state);
int tear_down(void **state);
/* A copy that can be executed. */
void copy_file(const char *source, const char *target);
/* A fresh directory of registrations below the place; "OCL_ICD_VENDORS=<it>" in variable. */
void make_vendors(const struct fixture *fixture, const char *name, char variable[2048]);
/* Path of a config with one small case. */
const char *small_config(const struct fixture *fixture, char path[2048]);

#endif
