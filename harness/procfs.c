/* SPDX-License-Identifier: Apache-2.0
 *
 * Small text files of /proc and /sys; see procfs.h. */
#include "harness/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool procfs_read(const char *root, const char *path, struct text *out)
{
    char full[2048];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof full)
        return false;
    int fd = open(full, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t before = out->length;
    char chunk[4096];
    ssize_t got = 0;
    while (out->length - before < PROCFS_BYTES_MAX) {
        got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        text_append_bytes(out, chunk, (size_t)got);
    }
    close(fd);
    if (got < 0) {
        out->length = before;
        if (out->bytes != NULL)
            out->bytes[before] = '\0';
    }
    return got >= 0;
}

/* Copies text without the blanks around, cut on a code point so that it stays UTF-8. */
static bool copy_trimmed(const char *text, size_t length, char *target, size_t capacity)
{
    while (length > 0 && strchr(" \t", *text) != NULL) {
        text++;
        length--;
    }
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    if (length > capacity - 1) {
        length = capacity - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(target, text, length);
    target[length] = '\0';
    text_make_printable(target);
    return length > 0;
}

bool procfs_line(const char *root, const char *path, char *line, size_t capacity)
{
    struct text text = {0};
    bool found = procfs_read(root, path, &text);
    const char *string = text_string(&text);
    found = found && copy_trimmed(string, strcspn(string, "\n"), line, capacity);
    text_release(&text);
    return found;
}

bool procfs_field(const char *text, const char *name, char *value, size_t capacity)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *rest = line + length;
        rest += strspn(rest, " \t");
        if (*rest != ':' && *rest != '=')
            continue; /* a longer name */
        rest++;
        return copy_trimmed(rest, strcspn(rest, "\n"), value, capacity);
    }
    return false;
}

char *procfs_next_line(char **cursor)
{
    char *line = *cursor;
    if (line == NULL || *line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    if (end != NULL)
        *end = '\0';
    *cursor = end != NULL ? end + 1 : NULL;
    return line;
}

bool procfs_number(const char *text, uint64_t *number)
{
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    *number = (uint64_t)value;
    return errno == 0;
}
