/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookup of embedded files; the table itself is generated. */
#include "base/embedded.h"

#include <stddef.h>
#include <string.h>

const char *embedded_text(const char *path)
{
    for (const struct embedded_file *file = embedded_files; file->path != NULL; file++)
        if (strcmp(file->path, path) == 0)
            return file->text;
    return NULL;
}
