/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing result files: JSON Lines, each line appended and synced before the next case starts, each
 * carrying the SHA-256 of the line before. The file is created before the first measurement and
 * locked while it is written. */
#ifndef HARNESS_WRITER_H
#define HARNESS_WRITER_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct writer;

/* path "-" is standard output. An existing file is refused (CODE_USAGE says how: --force, --resume)
 * unless force: then it is first moved aside to "<path>.old". CODE_IO: cannot be written, is a
 * directory, is locked by another run. */
enum code writer_create(const char *path, bool force, struct writer **writer, struct error *err);
/* Opens an existing result to continue it: a torn last line is cut off, the chain goes on from the
 * last whole line. CODE_CONFIG if it is no result file. */
enum code writer_resume(const char *path, struct writer **writer, struct error *err);
/* Takes line (steals the reference), sets its "previous" member, writes one line and syncs it.
 * CODE_IO. A value that JSON cannot hold must have been replaced by null and a reason before. */
enum code writer_append(struct writer *writer, json_t *line, struct error *err);
/* CODE_IO if the close fails. A file into which no line was written is removed. NULL is allowed. */
enum code writer_close(struct writer *writer, struct error *err);
const char *writer_path(const struct writer *writer);

#endif
