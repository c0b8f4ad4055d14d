/* SPDX-License-Identifier: Apache-2.0
 *
 * The seam between the harness and an accelerator API. A backend is one const table of functions;
 * callers never call the table: they use the checked wrappers below (backends/backend.c), which do
 * all NULL and range checks once. An ability that a device lacks is a field of its description or
 * the code UNSUPPORTED, never a missing member.
 *
 * A driver is loaded in a worker process only. Nothing here is thread safe: one process, one
 * device, one in-order queue. Must not know: suites, statistics, records. */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include "base/error.h"
#include "base/text.h"

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

/* The table. Every function gets a driver or device that its own open made. Comments in the
 * wrappers below hold. */
struct backend {
    const char *name; /* "opencl" */
    const char *summary;
    enum code (*driver_open)(const char *library, struct driver **driver, struct error *err);
    void (*driver_close)(struct driver *driver);
    const char *(*driver_platform)(struct driver *driver);
    enum code (*device_list)(struct driver *driver, struct device_info **infos, size_t *count,
                             struct error *err);
    enum code (*device_open)(struct driver *driver, size_t index, struct device **device,
                             struct error *err);
    void (*device_close)(struct device *device);
    enum code (*buffer_create)(struct device *device, enum memory_kind kind, uint64_t bytes,
                               struct buffer **buffer, struct error *err);
    void (*buffer_destroy)(struct device *device, struct buffer *buffer);
    enum code (*buffer_write)(struct device *device, struct buffer *target, uint64_t offset,
                              const void *source, uint64_t bytes, struct error *err);
    enum code (*buffer_read)(struct device *device, void *target, struct buffer *source,
                             uint64_t offset, uint64_t bytes, struct error *err);
    enum code (*buffer_fill)(struct device *device, struct buffer *target, uint8_t byte,
                             uint64_t bytes, struct error *err);
    enum code (*buffer_copy)(struct device *device, struct buffer *target, struct buffer *source,
                             uint64_t bytes, struct error *err);
    enum code (*program_build)(struct device *device, const struct program_source *source,
                               struct program **program, struct text *log, struct error *err);
    void (*program_destroy)(struct device *device, struct program *program);
    enum code (*kernel_get)(struct device *device, struct program *program, const char *name,
                            struct kernel **kernel, struct error *err);
    uint64_t (*kernel_group_limit)(struct device *device, struct kernel *kernel);
    enum code (*launch)(struct device *device, const struct launch *launch, struct error *err);
    enum code (*sync)(struct device *device, enum wait_way way, struct error *err);
    enum code (*timer_start)(struct device *device, struct error *err);
    enum code (*timer_stop)(struct device *device, enum wait_way way, struct timing *timing,
                            struct error *err);
    void (*telemetry)(struct device *device, struct telemetry *telemetry);
};

/* The generated table, ends with NULL; and lookup by name (NULL if unknown). */
const struct backend *const *backend_all(void);
const struct backend *backend_find(const char *name);

/* ---- checked wrappers: the only way to call a backend ---- */

struct backend_driver; /* a backend and its open driver */
struct backend_device; /* an open device: a backend, its device, the way of waiting that may be used
                        */

/* Loads the driver library. library: path of the platform library to load alone (opencl: the ICD's
 * .so or .icd path), NULL for the default. CODE_NOTHING: no such library on this machine, with what
 * was tried. */
enum code driver_open(const struct backend *backend, const char *library,
                      struct backend_driver **driver, struct error *err);
void driver_close(
    struct backend_driver *driver); /* NULL is allowed, here and in every close and destroy */

/* The devices that driver_open found; an empty platform has 0. Borrowed until driver_close. */
size_t driver_devices(const struct backend_driver *driver, const struct device_info **infos);
/* Name of the platform that was loaded; known even if it has no device. "" unknown. */
const char *driver_platform(const struct backend_driver *driver);

/* Opens device index (of device_list). CODE_USAGE: no such index. */
enum code device_open(struct backend_driver *driver, size_t index, struct backend_device **device,
                      struct error *err);
void device_close(struct backend_device *device);
const struct device_info *device_get_info(const struct backend_device *device);
/* The way that later waits use; the first of the enum until set. Set by the audit alone. */
void device_set_wait(struct backend_device *device, enum wait_way way);
enum wait_way device_get_wait(const struct backend_device *device);

/* bytes > 0. CODE_MEMORY: does not fit. PINNED falls under CODE_UNSUPPORTED where the API has no
 * such memory. */
enum code buffer_create(struct backend_device *device, enum memory_kind kind, uint64_t bytes,
                        struct buffer **buffer, struct error *err);
void buffer_destroy(struct backend_device *device, struct buffer *buffer);
/* Transfers between a DEVICE buffer and host memory. Enqueued; the host memory must stay until
 * device_sync. Ranges outside the buffer are CODE_USAGE. */
enum code buffer_write(struct backend_device *device, struct buffer *target, uint64_t offset,
                       const void *source, uint64_t bytes, struct error *err);
enum code buffer_read(struct backend_device *device, void *target, struct buffer *source,
                      uint64_t offset, uint64_t bytes, struct error *err);
/* Sets the first bytes to a byte value; works on every kind of buffer. */
enum code buffer_fill(struct backend_device *device, struct buffer *target, uint8_t byte,
                      uint64_t bytes, struct error *err);
/* Device to device. */
enum code buffer_copy(struct backend_device *device, struct buffer *target, struct buffer *source,
                      uint64_t bytes, struct error *err);

/* Builds source behind the backend's prelude. log (may be NULL) gets the compiler's text, bounded
 * to 16 KiB. CODE_DRIVER: the build failed; the first lines of the log are in the message. */
enum code program_build(struct backend_device *device, const struct program_source *source,
                        struct program **program, struct text *log, struct error *err);
void program_destroy(struct backend_device *device, struct program *program);
/* Borrowed from the program. CODE_DRIVER: no such kernel. */
enum code kernel_get(struct backend_device *device, struct program *program, const char *name,
                     struct kernel **kernel, struct error *err);
/* Most work-items of a group for this kernel on this device (the kernel query, not the device's).
 */
uint64_t kernel_group_limit(struct backend_device *device, struct kernel *kernel);

/* Enqueues one launch. */
enum code device_launch(struct backend_device *device, const struct launch *launch,
                        struct error *err);
/* Waits until all that was enqueued is done, in the device's way of waiting or in a given one;
 * reads the status of each command since the last sync and reports the first failure by its own
 * code (not only the dependants'). */
enum code device_sync(struct backend_device *device, struct error *err);
enum code device_sync_by(struct backend_device *device, enum wait_way way, struct error *err);

/* Time what is enqueued between the two. timer_start needs a dry queue; timer_stop waits
 * (device_get_wait). */
enum code timer_start(struct backend_device *device, struct error *err);
enum code timer_stop(struct backend_device *device, struct timing *timing, struct error *err);

void device_telemetry(struct backend_device *device, struct telemetry *telemetry);

#endif
