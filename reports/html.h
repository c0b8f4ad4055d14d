/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the HTML report, in the order of the page; reports/formats/html.c puts them
 * together. Each appends whole elements. */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "base/text.h"
#include "reports/charts.h"
#include "reports/matrix.h"
#include "reports/notices.h"

/* ---- parts ---- */

/* Verdicts at first sight: how much was measured, all warnings, devices at a glance, the verdict
 * tables. */
void html_summary(const struct matrix *matrix, const struct notices *notices, struct text *out);
/* A section for each suite: its charts, every measurement with its conditions, steps timed one by
 * one. */
void html_suites(const struct matrix *matrix, const struct charts *charts, struct text *out);
/* A sheet for each device, each host and each file. */
void html_devices(const struct matrix *matrix, struct text *out);
void html_hosts(const struct matrix *matrix, struct text *out);
void html_files(const struct matrix *matrix, struct text *out);
void html_method(const struct matrix *matrix, struct text *out);

/* ---- shared by the parts ---- */

/* "<th scope=col>" with the device's label, what it is, and its name. */
void html_device_heading(const struct matrix *matrix, size_t column, struct text *out);
/* Opens a table that scrolls by itself on a narrow screen, with its caption (plain text). */
void html_table_begin(struct text *out, const char *class_name, const char *caption);
void html_table_end(struct text *out);
#endif
