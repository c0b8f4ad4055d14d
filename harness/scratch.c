/* SPDX-License-Identifier: Apache-2.0
 *
 * A private directory for one run; see scratch.h. */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */
#include "harness/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum code scratch_create(char path[SCRATCH_PATH_BYTES], struct error *err)
{
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "."};
    int last = ENOENT;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || places[i][0] == '\0')
            continue;
        int length = snprintf(path, SCRATCH_PATH_BYTES, "%s/assay-XXXXXX", places[i]);
        if (length < SCRATCH_PATH_BYTES && mkdtemp(path) != NULL)
            return CODE_OK;
        last = errno;
    }
    path[0] = '\0';
    return error_set(err, CODE_IO, last,
                     "no place for temporary files (TMPDIR, /tmp, /var/tmp): %s", strerror(last));
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    (void)remove(path); /* what cannot be removed stays; there is nobody to tell */
    return 0;
}

void scratch_remove(const char *path)
{
    if (path[0] != '\0')
        nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
