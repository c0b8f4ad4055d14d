/* SPDX-License-Identifier: Apache-2.0
 *
 * Diagnostics on stderr. The level is the one mutable global of the program. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Each writes one line "assay: [warning: ]…" on stderr in a single write, control characters
 * replaced. */
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
