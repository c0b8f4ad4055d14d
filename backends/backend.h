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

#include "backends/types.h"
#include "base/error.h"
#include "base/text.h"

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
 * in the way set. */
enum code timer_start(struct backend_device *device, struct error *err);
enum code timer_stop(struct backend_device *device, struct timing *timing, struct error *err);

void device_telemetry(struct backend_device *device, struct telemetry *telemetry);

#endif
