/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of the inventory, each usable on a made-up one. */
#ifndef HARNESS_INVENTORY_PARTS_H
#define HARNESS_INVENTORY_PARTS_H

#include "base/text.h"
#include "harness/inventory.h"

/* inventory_icd.c: appends one driver per registered OpenCL platform library, in the loader's
 * places. A registration that cannot be read is a driver in state FAILED with the reason. */
void inventory_find_icds(struct inventory *inventory);
/* Where that looks: "OCL_ICD_VENDORS='/dir'" or "/etc/OpenCL/vendors". */
void inventory_icd_places(struct text *out);
/* Appends an empty driver, state OK. Borrowed until the next one. */
struct inventory_driver *inventory_add_driver(struct inventory *inventory);

/* inventory_identity.c: fills physical, duplicate and note of all devices from what they say of
 * themselves and from the drivers' states. */
void inventory_identify(struct inventory *inventory);

/* inventory_hints.c: each appends what is wrong and what to do, and returns true, if something is
 * wrong. */
bool hint_cache(struct text *out); /* POCL_CACHE_DIR names a place that cannot be used */
bool hint_render_nodes(
    struct text *out); /* /dev/dri (or $ASSAY_DEV_DRI) holds nodes that this user may not open */
/* The directory of render nodes: $ASSAY_DEV_DRI (for tests), else /dev/dri. */
const char *render_node_place(void);
bool hint_limits(struct text *out); /* an address space limit is set */
/* What to do about a driver that gives no device, or died. */
void hint_driver(const struct inventory_driver *driver, struct text *out);
/* For a device of a working driver: that the user's own kernel cache is used, and what is wrong
 * with it or may be. */
void hint_device(const struct inventory_driver *driver, struct text *out);

#endif
