/* SPDX-License-Identifier: Apache-2.0
 *
 * Text into markup, so that names from drivers and files are shown as they are and never act as
 * markup. */
#ifndef REPORTS_MARKUP_H
#define REPORTS_MARKUP_H

#include "base/text.h"

#include <stdint.h>

/* Appends string with &, <, >, " and ' escaped and control characters replaced; NULL becomes
 * "unknown". For element content and for attribute values in quotes. Bytes that are not UTF-8 (file
 * names) are replaced. */
void markup_text(struct text *out, const char *string);
/* The same after formatting. */
void markup_printf(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a cell of a Markdown table: | and everything that Markdown or HTML inside it would act on is
 * escaped, line ends become blanks. */
void markdown_text(struct text *out, const char *string);

#endif
