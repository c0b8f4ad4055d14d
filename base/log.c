/* SPDX-License-Identifier: Apache-2.0
 *
 * Diagnostics on stderr; see log.h. */
#include "base/log.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level current_level = LOG_NORMAL;

void log_set_level(enum log_level level)
{
    current_level = level;
}

enum log_level log_get_level(void)
{
    return current_level;
}

static void __attribute__((format(printf, 2, 0)))
log_line(const char *prefix, const char *format, va_list args)
{
    char message[2048];
    vsnprintf(message, sizeof message, format, args);
    text_make_printable(message);
    char line[2200];
    int length = snprintf(line, sizeof line, "assay: %s%s\n", prefix, message);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* there is nowhere left to say it */
}

#define LOG_FUNCTION(name, level, prefix)                                                          \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        if (current_level >= (level))                                                              \
            log_line(prefix, format, args);                                                        \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_warning, LOG_QUIET, "warning: ")
LOG_FUNCTION(log_info, LOG_NORMAL, "")
LOG_FUNCTION(log_verbose, LOG_VERBOSE, "")
