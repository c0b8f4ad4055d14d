/* SPDX-License-Identifier: Apache-2.0
 *
 * What the conformance checks run on: one open device, and what is known of its driver. */
#ifndef TESTS_BACKENDS_CONFORMANCE_STATE_H
#define TESTS_BACKENDS_CONFORMANCE_STATE_H

#include "backends/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct conformance {
    /* set before conformance_run */
    const char *backend;  /* "host", "opencl" */
    const char *library;  /* as driver_open takes it */
    size_t index;         /* of the device */
    bool compiles;        /* kernel text is compiled; false: its C forms are looked up */
    bool lies[WAIT_WAYS]; /* ways of waiting that are known not to wait on this driver */
    /* set by conformance_run */
    struct backend_driver *driver;
    struct backend_device *device;
};

static struct conformance conformance;

static void expect_ok(enum code code, const struct error *err)
{
    if (code != CODE_OK)
        fail_msg("%s: %s", code_name(code), err->message);
}

#endif
