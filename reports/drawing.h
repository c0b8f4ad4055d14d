/* SPDX-License-Identifier: Apache-2.0
 *
 * One drawing: a gnuplot script that is being written, and its way to an SVG element that can stand
 * in a page with others. gnuplot sees numbers and placeholders only; texts are put in afterwards,
 * escaped here, so that no name of a device can be a command or markup. Must not know: what is
 * drawn. */
#ifndef REPORTS_DRAWING_H
#define REPORTS_DRAWING_H

#include "base/error.h"
#include "base/text.h"

#include <stddef.h>

enum { DRAWING_MARK_BYTES = 128, DRAWING_SERIES = 8, DRAWING_LIMIT_MS = 20000 };

/* Colours in a script; the style sheet gives them their light and dark values. A series is
 * "#0102NN" (DRAWING_SERIES_RGB). */
#define DRAWING_INK "rgb '#000000'"
#define DRAWING_MUTED "rgb '#010300'"
#define DRAWING_GRID "rgb '#010301'"
#define DRAWING_BAND "rgb '#010302'"
#define DRAWING_SERIES_RGB "rgb '#0102%02x'"

struct drawing {
    struct text script;
    char **labels;
    size_t label_count, label_capacity;
    unsigned width, height;
};

/* Starts a script for a picture of this many pixels. */
void drawing_begin(struct drawing *drawing, unsigned width, unsigned height);
/* Keeps text for the picture and gives the placeholder that stands for it in the script, between
 * single quotes. The placeholder is as long as the text, because gnuplot lays legends out by
 * length. */
const char *drawing_mark(struct drawing *drawing, const char *text, char mark[DRAWING_MARK_BYTES]);
/* Runs gnuplot and appends the <svg> element. id: prefix of all ids inside, unique in the page;
 * title and description are for those who cannot see it. Errors as gnuplot_run. */
enum code drawing_render(struct drawing *drawing, const char *id, const char *title,
                         const char *description, struct text *out, struct error *err);
void drawing_release(struct drawing *drawing);

/* The same without gnuplot: its output to the element. CODE_IO if svg is no whole SVG document. */
enum code drawing_finish(const struct drawing *drawing, const char *svg, const char *id,
                         const char *title, const char *description, struct text *out,
                         struct error *err);

#endif
