/* SPDX-License-Identifier: Apache-2.0
 *
 * The seam between the harness and a workload. A suite says what its parameters are, which buffers
 * and launches a case needs, how much work that is, what the right answer is and how far an answer
 * may be from it. It knows no clock, no API, no driver error and allocates nothing. A folder
 * suites/<name>/ with suite.c and kernel.cl is a suite; nothing else is to be edited. */
#ifndef HARNESS_SUITE_H
#define HARNESS_SUITE_H

#include "backends/backend.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type { TYPE_U8, TYPE_F32, TYPE_F64 };
size_t type_bytes(enum type type);
const char *type_name(enum type type); /* "u8", "f32", "f64" */

/* One parameter of a suite. A config gives it one value or a list (an axis). */
enum param_kind { PARAM_COUNT, PARAM_BYTES, PARAM_CHOICE };
struct param {
    const char *name;
    const char *summary; /* one line for help and docs */
    const char *unit;    /* "px", "rows"; "" for none */
    enum param_kind kind;
    uint64_t min, max, def;     /* PARAM_CHOICE: def is an index into choices */
    const char *const *choices; /* PARAM_CHOICE: ends with NULL */
    bool optional; /* 0 stands for "chosen for the device"; then def is 0 and min applies to other
                      values */
};

enum { SUITE_PARAMS_MAX = 12, STEP_BUFFERS_MAX = 64, STEP_OPS_MAX = 160, STEP_TEXT_BYTES = 512 };

/* One case: a suite and a value for each of its parameters, in the order of suite->params. */
struct case_spec {
    const struct suite *suite;
    uint64_t values[SUITE_PARAMS_MAX];
};

/* What a suite may know of the device when it shapes its launches. */
struct device_caps {
    uint64_t group_items;     /* most work-items in a group; lowered to the kernel's own limit, then
                                 build is called again */
    uint64_t local_bytes;     /* local memory of a group */
    uint64_t max_alloc_bytes; /* largest single buffer */
    uint64_t memory_bytes;
    uint32_t compute_units;
    bool has_f64, has_f16;
    bool cpu; /* the device is a CPU: fewer, longer work-items pay */
};

/* IN: filled with seeded data before the timing and never written by the step. OUT: poisoned, then
 * verified. SCRATCH: neither. */
enum buffer_role { BUFFER_IN, BUFFER_OUT, BUFFER_SCRATCH };
struct buffer_spec {
    const char *name;
    enum buffer_role role;
    enum type type;
    enum memory_kind memory;
    uint64_t count; /* elements */
    double scale;   /* IN f32 and f64: uniform in [-scale, scale); u8: all values, scale unused */
    uint64_t
        first; /* index of element 0 in the whole, for data that span several buffers of one name */
};

enum op_kind { OP_LAUNCH, OP_WRITE, OP_READ, OP_HOST_COPY };
enum step_arg_kind { STEP_BUFFER, STEP_U32, STEP_U64, STEP_F32, STEP_F64 };
struct step_arg {
    enum step_arg_kind kind;
    union {
        uint32_t buffer; /* index into step->buffers */
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    };
};

struct op {
    enum op_kind kind;
    const char *phase; /* names a part that is also timed by itself ("upload"); NULL in cases
                          without phases */
    /* OP_LAUNCH */
    const char *kernel;
    struct step_arg args[LAUNCH_ARGS_MAX];
    uint32_t arg_count;
    uint64_t global[LAUNCH_DIMENSIONS], local[LAUNCH_DIMENSIONS]; /* unused dimensions 1 */
    /* OP_WRITE: host buffer source to device buffer target; OP_READ: device to host; OP_HOST_COPY:
     * host to host */
    uint32_t source, target;
    uint64_t bytes;
};

/* What one step of a case is: built once per case and device, zero-filled by the harness before
 * build. */
struct step {
    struct buffer_spec buffers[STEP_BUFFERS_MAX];
    uint32_t buffer_count;
    struct op ops[STEP_OPS_MAX];
    uint32_t op_count;
    char options[STEP_TEXT_BYTES]; /* build options, "-D TILE=16" */
    char note[STEP_TEXT_BYTES];  /* shown with the result: "heads in 2 chunks of 64"; "" for none */
    char shape[STEP_TEXT_BYTES]; /* the launch shape that was chosen, for the record: "group 16x16,
                                    tile 64x64x16" */
};

/* The least work that the definition needs, whatever an implementation does. */
struct work {
    uint64_t bytes;            /* bytes counted; 0 if bytes are not the measure */
    uint64_t operations;       /* 0 if operations are not the measure */
    const char *bytes_counted; /* "read+write", "payload"; how bytes are counted, for every table */
    bool by_operations; /* the rate shown first: operations/s ("FLOP/s") or bytes/s ("B/s") */
    const char *unit;   /* unit of the rate shown first: "B/s", "FLOP/s" */
};

/* A result x with reference r passes if |x - r| <= absolute + relative * |r|; 0 and 0 is "equal to
 * the bit". */
struct tolerance {
    double absolute, relative;
    const char *derivation; /* one line; the whole derivation stands in the suite's README */
};

struct suite {
    const char *name;
    const char *summary;
    const char *source; /* where the definition comes from */
    uint32_t version;   /* raised whenever a change makes results incomparable; part of the key */
    const struct param *params;
    uint32_t param_count;
    /* Embedded kernel files in the order in which they are joined, ends with NULL; NULL: the
     * folder's kernel.cl alone. */
    const char *const *kernels;
    const struct host_kernel *host; /* the kernels in plain C; ends with {NULL, NULL} */
    /* True if the case is possible at all; else false with why in reason ("m must be a multiple of
     * 4"). NULL: always. */
    bool (*valid)(const struct case_spec *spec, char reason[STEP_TEXT_BYTES]);
    /* Data types beyond u8 and f32 that the case needs (needs_f64 → caps.has_f64). NULL: none. */
    bool (*needs_f64)(const struct case_spec *spec);
    struct work (*work)(const struct case_spec *spec);
    /* Fills step for a device. CODE_UNSUPPORTED with both numbers if it cannot fit. Called again
     * with smaller caps->group_items if the kernel's limit is lower. Only OP_LAUNCH reads options.
     */
    enum code (*build)(const struct case_spec *spec, const struct device_caps *caps,
                       struct step *step, struct error *err);
    /* Elements [begin, end) of OUT buffer `out` of the step, in double, from the host copies of the
     * inputs; data[i] is the host copy of step->buffers[i] (NULL unless BUFFER_IN). Plain C, higher
     * precision than the kernel where that matters; must be callable from several threads at once.
     */
    void (*reference)(const struct case_spec *spec, const struct step *step,
                      const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                      double *result);
    struct tolerance (*tolerance)(const struct case_spec *spec);
};

/* The generated table of suites, ends with NULL; lookup by name (NULL if unknown). */
const struct suite *const *suite_all(void);
const struct suite *suite_find(const char *name);

/* Value of a parameter by name; asserts that the suite has it. */
uint64_t case_value(const struct case_spec *spec, const char *param);
/* Text of the chosen value of a PARAM_CHOICE parameter. */
const char *case_choice(const struct case_spec *spec, const char *param);
/* The case key: "gemm@1 m=512 n=512 k=512 type=f32 tier=portable"; the device is not part of it,
 * and a parameter that is chosen for the device (optional, 0) is left out. */
enum { CASE_KEY_BYTES = 384 };
void case_key(const struct case_spec *spec, char key[CASE_KEY_BYTES]);
/* The reverse of case_key, for worker requests. CODE_CONFIG if key is none of this build. */
enum code case_parse(const char *key, struct case_spec *spec, struct error *err);

#endif
