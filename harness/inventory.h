/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be measured on this machine: every driver library that is registered, loaded alone in a
 * worker of its own so that one that aborts hides no other, and every device behind it; which
 * entries are one physical thing; and selection by name. */
#ifndef HARNESS_INVENTORY_H
#define HARNESS_INVENTORY_H

#include "backends/backend.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { INVENTORY_TEXT_BYTES = 1024, INVENTORY_PATH_BYTES = 1024, INVENTORY_NAME_BYTES = 64 };

enum driver_state {
    DRIVER_OK,
    DRIVER_EMPTY,
    DRIVER_CRASHED,
    DRIVER_TIMEOUT,
    DRIVER_FAILED,
    DRIVER_DUPLICATE
};
const char *driver_state_name(enum driver_state state);

struct inventory_driver {
    char backend[16];                    /* "opencl", "host" */
    char name[INVENTORY_NAME_BYTES];     /* "pocl": base name of the .icd file, unique */
    char library[INVENTORY_PATH_BYTES];  /* what driver_open takes; "" = default */
    char file[INVENTORY_PATH_BYTES];     /* the .icd file that registers it, "" for none */
    char platform[INVENTORY_NAME_BYTES]; /* platform name it gave, "" unknown */
    enum driver_state state;
    char reason[INVENTORY_TEXT_BYTES]; /* why it gives no device, and what to do; "" for ok */
    size_t device_count;
    size_t duplicate_of; /* DRIVER_DUPLICATE: index of the driver that was registered first */
};

struct inventory_device {
    struct device_info info;
    size_t driver; /* index into drivers */
    size_t index;  /* for device_open */
    /* "pci:0000:41:00.0", "uuid:…", "cpu:0" (all of the host's cores); "" = identity unknown */
    char physical[DEVICE_ID_BYTES];
    /* "same physical card as opencl:nvidia:0", "identity unknown: …"; "" for none */
    char note[256];
    /* The same driver on the same hardware, registered twice: not part of `all`. */
    bool duplicate;
};

struct inventory {
    struct inventory_driver *drivers;
    size_t driver_count;
    struct inventory_device *devices;
    size_t device_count;
    /* Why OpenCL as a whole is absent ("no OpenCL loader: tried …"), "" if it is there. */
    char loader[INVENTORY_TEXT_BYTES];
};

/* Lists everything. Drivers that fail are entries with a state, not an error; CODE_INTERRUPTED is
 * one. */
enum code inventory_load(struct inventory **inventory, struct error *err);
void inventory_destroy(struct inventory *inventory);

/* Resolves selectors into indices of devices, in inventory order without repetition; selected has
 * room for device_count. Forms: "all"; "host" (both host devices), "host:one", "host:all"; "opencl"
 * ; "opencl:N" (N-th OpenCL device of the list), "opencl:P:N" (P is a driver's name or number),
 * "cpu" "gpu" "accelerator" (device type); else a case-insensitive part of device name or id that
 * fits one device only. CODE_USAGE: bad form, ambiguous (lists them), or out of range (lists the
 * valid range); CODE_NOTHING: a valid form that nothing here fits. No selectors = "all". A
 * duplicate is selected by its id alone. */
enum code inventory_select(const struct inventory *inventory, const char *const *selectors,
                           size_t count, size_t *selected, size_t *selected_count,
                           struct error *err);

/* True if a device other than the host baseline is there. */
bool inventory_has_accelerator(const struct inventory *inventory);
/* Why there is none, in a sentence, with where was looked and what to do ("3 platforms, 0 devices:
 * …"). */
void inventory_explain(const struct inventory *inventory, struct text *out);
/* {"loader": null or why not, "drivers": [...], "devices": [...]}: what `assay devices --json`
 * prints (docs/devices.md). */
json_t *inventory_to_json(const struct inventory *inventory);

/* device_info over the worker's socket and into result headers (docs/formats.md, "A device";
 * unknown = null). */
json_t *device_info_to_json(const struct device_info *info);
enum code device_info_from_json(const json_t *json, struct device_info *info, struct error *err);

#endif
