/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of the outcomes; see state.h. */
#include "harness/state.h"

#include <stddef.h>
#include <string.h>

static const char *const state_names[STATE_COUNT] = {
    [STATE_OK] = "ok",
    [STATE_UNSUPPORTED] = "unsupported",
    [STATE_FAILED_VERIFICATION] = "failed-verification",
    [STATE_NOT_SCALING] = "not-scaling",
    [STATE_IMPLAUSIBLE] = "implausible",
    [STATE_INVALID_CLOCK] = "invalid-clock",
    [STATE_THROTTLED] = "throttled",
    [STATE_ERROR] = "error",
    [STATE_TIMEOUT] = "timeout",
    [STATE_CRASHED] = "crashed",
    [STATE_DEVICE_LOST] = "device-lost",
    [STATE_NOT_RUN] = "not-run",
};

const char *state_name(enum state state)
{
    return (unsigned)state < STATE_COUNT ? state_names[state] : "unknown";
}

bool state_from_name(const char *name, enum state *state)
{
    for (int i = 0; i < STATE_COUNT; i++) {
        if (name != NULL && strcmp(state_names[i], name) == 0) {
            *state = (enum state)i;
            return true;
        }
    }
    return false;
}
