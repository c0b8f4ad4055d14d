/* SPDX-License-Identifier: Apache-2.0
 *
 * No clock and no way of waiting is trusted before it is audited (docs/methodology.md, "Clock and
 * completion audit"): run once after a device is opened. A way of waiting is used only after it was
 * shown, by the data of a ~100 ms kernel, to wait; the device's time stamps only if kernels of
 * three known lengths agree with the host's clock. */
#ifndef HARNESS_AUDIT_H
#define HARNESS_AUDIT_H

#include "backends/backend.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { AUDIT_REASON_BYTES = 256 };

struct audit {
    enum wait_way way; /* the first way that really waits */
    bool way_usable[WAIT_WAYS];
    char way_reason[WAIT_WAYS][AUDIT_REASON_BYTES]; /* why it is refused */
    bool device_clock;                              /* the device's time stamps may be used */
    char clock_reason[AUDIT_REASON_BYTES];          /* why not */
    double slope;       /* device time over host time between the lengths; 0 unknown */
    double overhead_ns; /* launch of a tiny kernel and the wait for it, host clock */
    uint64_t step_ns;   /* clock step: floor of a duration */
};

/* Audits device and sets its way of waiting. CODE_INVALID: no way of waiting waits, so nothing can
 * be measured here; other codes from the driver. */
enum code audit_device(struct backend_device *device, struct audit *audit, struct error *err);

/* Checks one pair of stamps against the rules: ordered, non-zero, advancing past *last_end
 * (updated), not longer than the host interval around it. False with the reason in words. */
bool audit_stamps(const struct timing *timing, uint64_t *last_end, char reason[AUDIT_REASON_BYTES]);

json_t *audit_to_json(const struct audit *audit);
enum code audit_from_json(const json_t *json, struct audit *audit, struct error *err);

#endif
