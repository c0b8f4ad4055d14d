/* SPDX-License-Identifier: Apache-2.0
 *
 * The named outcomes of a case on a device. There is no number without OK, and no row without a
 * state. */
#ifndef HARNESS_STATE_H
#define HARNESS_STATE_H

#include <stdbool.h>

enum state {
    STATE_OK,
    STATE_UNSUPPORTED,         /* the device cannot do it, with the reason; not a fault */
    STATE_FAILED_VERIFICATION, /* the output was wrong */
    STATE_NOT_SCALING,         /* twice the work did not take twice as long: work was skipped */
    STATE_IMPLAUSIBLE,         /* above a physical limit */
    STATE_INVALID_CLOCK, /* too many samples had unusable time stamps, on the host clock too */
    STATE_THROTTLED,
    STATE_ERROR, /* a driver call failed; the code and its name are in the reason */
    STATE_TIMEOUT,
    STATE_CRASHED,
    STATE_DEVICE_LOST,
    STATE_NOT_RUN,
    STATE_COUNT
};

/* "ok", "failed-verification", … as in the result file. */
const char *state_name(enum state state);
/* False if name is no state. */
bool state_from_name(const char *name, enum state *state);

#endif
