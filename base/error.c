/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values; see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[CODE_COUNT] = {
    [CODE_OK] = "ok",
    [CODE_USAGE] = "usage",
    [CODE_CONFIG] = "config",
    [CODE_NOTHING] = "nothing",
    [CODE_UNSUPPORTED] = "unsupported",
    [CODE_MEMORY] = "memory",
    [CODE_IO] = "io",
    [CODE_DRIVER] = "driver",
    [CODE_LOST] = "lost",
    [CODE_TIMEOUT] = "timeout",
    [CODE_CRASHED] = "crashed",
    [CODE_INTERRUPTED] = "interrupted",
    [CODE_INCOMPARABLE] = "incomparable",
    [CODE_INVALID] = "invalid",
};

enum code error_set(struct error *err, enum code code, long native, const char *format, ...)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->native = native;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return code;
}

/* Copies as much of source as fits, terminated. */
static void copy_bounded(char *target, size_t room, const char *source)
{
    size_t length = strlen(source);
    length = length < room ? length : room - 1;
    memcpy(target, source, length);
    target[length] = '\0';
}

enum code error_context(struct error *err, const char *format, ...)
{
    if (err == NULL)
        return CODE_INVALID; /* never OK: callers return this where something has failed */
    char message[ERROR_MESSAGE_BYTES];
    memcpy(message, err->message, sizeof message);
    va_list args;
    va_start(args, format);
    int written = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    size_t length = written < 0 ? 0 : (size_t)written;
    if (length + 2 < sizeof err->message) {
        copy_bounded(err->message + length, sizeof err->message - length, ": ");
        copy_bounded(err->message + length + 2, sizeof err->message - length - 2, message);
    }
    return err->code;
}

void error_clear(struct error *err)
{
    if (err != NULL)
        *err = (struct error){.code = CODE_OK};
}

const char *code_name(enum code code)
{
    return (unsigned)code < CODE_COUNT ? code_names[code] : "unknown";
}

enum code code_from_name(const char *name)
{
    for (int i = 0; i < CODE_COUNT; i++)
        if (name != NULL && strcmp(code_names[i], name) == 0)
            return (enum code)i;
    return CODE_INVALID;
}
