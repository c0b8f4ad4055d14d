/* SPDX-License-Identifier: Apache-2.0
 *
 * An OpenCL layer that lies, fails, hangs and dies on demand: loaded by OPENCL_LAYERS under
 * ocl-icd, it stands between the program and a real driver. What it does is in ASSAY_FAKE_OPENCL, a
 * comma-separated list of switches (README.md). State is one struct: a layer has no other place for
 * it. Not thread safe, as the program under test is not. */
#ifndef TESTS_FAKES_OPENCL_LAYER_H
#define TESTS_FAKES_OPENCL_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <stdbool.h>
#include <stdint.h>

enum { FAULTS_MAX = 64, BUFFERS_MAX = 4096, ARGS_MAX = 32, EVENTS_MAX = 4096 };

struct fault {
    const char *key;   /* "kernel" */
    const char *what;  /* "skip"; "" for a bare switch */
    const char *value; /* "3"; "" for none */
};

struct layer {
    const cl_icd_dispatch *target; /* the driver, or the next layer */
    char *text;                    /* backing of the faults */
    struct fault faults[FAULTS_MAX];
    size_t fault_count;
    /* launches of kernels that count: all, or those whose name does not begin with "audit_" */
    unsigned long launches;
    unsigned long batch;  /* counted launches since the last wait */
    uint64_t batch_begin; /* host time of the first of them */
    unsigned long last_batch;
    uint64_t first_launch; /* host time of the first counted launch, 0 before */
    bool hanging;
    cl_command_queue lost;       /* the queue whose device is gone */
    cl_event failed[EVENTS_MAX]; /* events of failed commands, retained, and their status */
    cl_int failed_status[EVENTS_MAX];
    size_t failed_count;
    struct {
        cl_mem id;
        size_t bytes;
    } buffers[BUFFERS_MAX];
    size_t buffer_count;
};

extern struct layer layer;

/* ---- faults.c ---- */
void faults_parse(const char *text);
/* The fault "key=what", NULL if it was not asked for. what NULL: the first of this key. */
const struct fault *fault_find(const char *key, const char *what);
/* Decimal or negative number of a fault's value; fallback where it has none. */
long fault_number(const struct fault *fault, long fallback);
/* True and *native set if "fail=<call>:<rc>[:<n>]" says that this call, the n-th of its name,
 * fails. */
bool fault_fails(const char *call, cl_int *native);
uint64_t layer_now_ns(void);
void layer_sleep_ns(uint64_t ns);
/* Appends one line to the file named by ASSAY_FAKE_LOG, if any. */
void layer_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the calls that are replaced; each file puts its own into the table ---- */
void devices_install(cl_icd_dispatch *table);
void kernels_install(cl_icd_dispatch *table);
void waits_install(cl_icd_dispatch *table);
void stamps_install(cl_icd_dispatch *table);
void memory_install(cl_icd_dispatch *table);
void programs_install(cl_icd_dispatch *table);
void objects_install(cl_icd_dispatch *table);

/* ---- shared between them ---- */
/* A buffer that was created through the layer, among the arguments of a kernel: the one of the
 * highest index. */
cl_mem kernels_output(cl_kernel kernel);
bool memory_is_buffer(cl_mem id);
size_t memory_bytes(cl_mem id);
/* Size from which on "alloc=lazy-fail" makes the first use of a buffer fail; 0 without the fault.
 */
size_t memory_lazy_limit(void);
void waits_fail_event(cl_event event, cl_int status);

#endif
