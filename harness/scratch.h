/* SPDX-License-Identifier: Apache-2.0
 *
 * A private directory for the files of one run (kernel caches of drivers): made by mkdtemp, mode
 * 0700, removed at the end. */
#ifndef HARNESS_SCRATCH_H
#define HARNESS_SCRATCH_H

#include "base/error.h"

enum { SCRATCH_PATH_BYTES = 512 };

/* Below $TMPDIR or, where that is not writable, /tmp. CODE_IO. */
enum code scratch_create(char path[SCRATCH_PATH_BYTES], struct error *err);
/* Removes the directory and all below it; links are not followed. "" is allowed. */
void scratch_remove(const char *path);

#endif
