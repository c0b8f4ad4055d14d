/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress of a run on stderr: one line that is rewritten on a terminal, plain lines otherwise. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "harness/run.h"

#include <stdbool.h>

struct progress {
    bool terminal;
    bool quiet;
    bool shown; /* the rewritten line is on the screen */
};

void progress_init(struct progress *progress);
/* The callback of run_options; context is a struct progress. */
void progress_show(void *context, const struct run_progress *event);
/* Clears the rewritten line. */
void progress_end(struct progress *progress);

#endif
