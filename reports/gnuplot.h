/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs gnuplot as a child process: script in, SVG out, a time limit, never a shell. Must not know:
 * what is drawn. */
#ifndef REPORTS_GNUPLOT_H
#define REPORTS_GNUPLOT_H

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>

enum { GNUPLOT_OUTPUT_MOST = 64 << 20 };

/* Feeds script to gnuplot's standard input and appends what it prints to output. CODE_NOTHING:
 * gnuplot is not installed; CODE_TIMEOUT: it was killed after limit_ms; CODE_IO: it failed, with
 * its own first line of complaint, or printed too much. */
enum code gnuplot_run(const char *script, uint64_t limit_ms, struct text *output,
                      struct error *err);

#endif
