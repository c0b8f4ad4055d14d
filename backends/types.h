/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes through the backend seam: descriptions of devices, buffers, launches, programs,
 * timings. Plain data; the functions are in backends/backend.h. */
#ifndef BACKENDS_TYPES_H
#define BACKENDS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver; /* each backend defines its own four */
struct device;
struct program;
struct kernel;

enum device_type { DEVICE_CPU, DEVICE_GPU, DEVICE_ACCELERATOR, DEVICE_OTHER };
const char *device_type_name(enum device_type type); /* "cpu", "gpu", "accelerator", "other" */

enum { DEVICE_TEXT_BYTES = 512, DEVICE_ID_BYTES = 96 };

/* What a device says of itself; filled by device_list without opening it. Text a driver gave is
 * kept whole up to the limit, printable. 0 or "" is "the device does not say". */
struct device_info {
    char id[DEVICE_ID_BYTES]; /* "opencl:pocl:0", "host:one", "cuda:0"; unique in a run */
    char name[DEVICE_TEXT_BYTES];
    char vendor[DEVICE_TEXT_BYTES];
    char driver[DEVICE_TEXT_BYTES];
    char api[DEVICE_TEXT_BYTES];      /* "OpenCL 3.0 PoCL HSTR: …" */
    char platform[DEVICE_TEXT_BYTES]; /* platform name */
    char pci[16];                     /* "0000:41:00.0" with the domain, "" unknown */
    char uuid[40];                    /* 32 hex digits with dashes, "" unknown */
    char *extensions;                 /* heap, may be NULL; released with device_info_release */
    enum device_type type;            /* from the API only, never from the name */
    bool software;                    /* runs on the host's own cores */
    bool unified_memory;
    bool has_f64, has_f16;
    bool available;
    uint32_t compute_units;
    uint32_t clock_mhz;
    uint64_t memory_bytes;
    uint64_t max_alloc_bytes;
    uint64_t local_bytes;     /* local memory of a work-group */
    uint64_t cache_bytes;     /* largest device cache it reports */
    uint64_t max_group_items; /* the device's limit; a kernel may have a smaller one */
    uint64_t max_group_size[3];
    uint64_t timer_step_ns; /* a floor for a duration, never a factor */
};
void device_info_release(struct device_info *info);

enum memory_kind { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_PAGEABLE };
/* The part of a buffer that callers may read; a backend's own struct begins with it. */
struct buffer {
    enum memory_kind kind;
    uint64_t bytes;
    void *pointer; /* host address of a PINNED or PAGEABLE buffer, else NULL */
};

/* Ways of waiting for the queue to run dry. Which of them really waits is shown by the audit before
 * one is used. */
enum wait_way { WAIT_EVENT, WAIT_FINISH, WAIT_READ, WAIT_WAYS };
const char *wait_way_name(enum wait_way way); /* "event wait", "finish", "blocking read" */

enum arg_kind { ARG_BUFFER, ARG_LOCAL, ARG_U32, ARG_U64, ARG_F32, ARG_F64 };
struct arg {
    enum arg_kind kind;
    union {
        struct buffer *buffer; /* ARG_BUFFER: a MEMORY_DEVICE buffer */
        uint64_t local_bytes;  /* ARG_LOCAL */
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    };
};

enum { LAUNCH_ARGS_MAX = 12, LAUNCH_DIMENSIONS = 3 };
struct launch {
    struct kernel *kernel;
    struct arg args[LAUNCH_ARGS_MAX];
    uint32_t arg_count;
    uint64_t
        global[LAUNCH_DIMENSIONS]; /* work-items, a multiple of local; unused dimensions are 1 */
    uint64_t local[LAUNCH_DIMENSIONS]; /* the work-group; 0 in [0] lets the driver choose */
};

/* A workload's plain C form for the host backend: runs one whole launch on this many threads.
 * pointers[i] is the address of the buffer in args[i], NULL for other kinds. */
typedef void host_function(const struct launch *launch, void *const *pointers, int threads);
struct host_kernel {
    const char *name; /* the kernel's name in the .cl file; NULL ends the list */
    host_function *run;
};

struct program_source {
    const char *text;               /* the .cl text without the prelude */
    const char *options;            /* "-D TILE=16 …"; "" for none */
    const struct host_kernel *host; /* the same kernels in C; NULL if there is none */
};

/* Device time stamps around what was enqueued between timer_start and timer_stop, as the driver
 * gave them, unchecked; and the host's time around the same, which ends when the wait returned. */
struct timing {
    uint64_t device_begin,
        device_end; /* ns on the device's clock: start of the first, end of the last command */
    uint64_t host_begin, host_end; /* ns on CLOCK_MONOTONIC_RAW */
    bool has_device;               /* false: the driver gave no stamps; error text in reason */
    char reason[160];
};

struct telemetry {
    bool available; /* false: reason says why; no value is ever 0 for "unknown" */
    char reason[160];
};

#endif
