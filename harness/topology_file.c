/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a stored machine as bytes: bounded, from a regular file only, and checked as markup
 * before hwloc's reader (recursive, and made for files that hwloc wrote) sees it. Must not know
 * what the elements mean. */
#include "harness/topology_parts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { XML_DEPTH_MAX = 64, SHOWN_NAME_BYTES = 64 };

/* A walk over the markup. Offsets, not pointers, so that positions can be told as lines. */
struct scan {
    const char *path;
    char *bytes; /* terminated */
    size_t count;
    size_t at;
    size_t open[XML_DEPTH_MAX]; /* offsets of the names of open elements */
    size_t depth;
    size_t root; /* offset of "<topology", SIZE_MAX before it was seen */
    bool done;   /* the root was closed */
};

static enum code scan_error(const struct scan *scan, size_t offset, struct error *err,
                            const char *what)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset && i < scan->count; i++) {
        column = scan->bytes[i] == '\n' ? 1 : column + 1;
        line += scan->bytes[i] == '\n';
    }
    return error_set(err, CODE_CONFIG, 0, "%s:%zu:%zu: %s", scan->path, line, column, what);
}

static bool begins(const struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    return scan->count - scan->at >= length && memcmp(scan->bytes + scan->at, word, length) == 0;
}

static size_t name_length(const char *name)
{
    return strcspn(name, " \t\n\r/><=\"'");
}

/* Blanks what hwloc's reader does not know: comments, declarations. Line ends stay. */
static void blank(struct scan *scan, size_t end)
{
    for (; scan->at < end; scan->at++)
        if (scan->bytes[scan->at] != '\n')
            scan->bytes[scan->at] = ' ';
}

static enum code scan_until(struct scan *scan, const char *end, const char *what, struct error *err)
{
    const char *found = strstr(scan->bytes + scan->at, end);
    if (found == NULL)
        return scan_error(scan, scan->at, err, what);
    blank(scan, (size_t)(found - scan->bytes) + strlen(end));
    return CODE_OK;
}

static enum code scan_doctype(struct scan *scan, struct error *err)
{
    size_t length = strcspn(scan->bytes + scan->at, "[>");
    if (scan->root != SIZE_MAX || scan->bytes[scan->at + length] == '[')
        return scan_error(scan, scan->at, err, "declarations are refused, expected plain elements");
    return scan_until(scan, ">", "declaration without an end, the file is cut off", err);
}

/* Length of the tag at the position up to and with its '>', 0 if there is none. */
static size_t tag_length(const struct scan *scan)
{
    char quote = '\0';
    for (size_t i = scan->at + 1; i < scan->count; i++) {
        char c = scan->bytes[i];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i - scan->at + 1;
        else if (c == '<')
            return 0;
    }
    return 0;
}

static enum code scan_end_tag(struct scan *scan, struct error *err)
{
    const char *name = scan->bytes + scan->at + 2;
    size_t length = name_length(name);
    if (scan->depth == 0)
        return scan_error(scan, scan->at, err, "end of an element that was not begun");
    const char *open = scan->bytes + scan->open[scan->depth - 1];
    if (name_length(open) != length || memcmp(open, name, length) != 0) {
        struct text what = {0};
        text_printf(
            &what, "expected the end of '%.*s', found the end of '%.*s'",
            (int)(name_length(open) < SHOWN_NAME_BYTES ? name_length(open) : SHOWN_NAME_BYTES),
            open, (int)(length < SHOWN_NAME_BYTES ? length : SHOWN_NAME_BYTES), name);
        enum code code = scan_error(scan, scan->at, err, text_string(&what));
        text_release(&what);
        return code;
    }
    scan->depth--;
    scan->done = scan->depth == 0;
    return CODE_OK;
}

static enum code scan_root(struct scan *scan, struct error *err)
{
    const char *name = scan->bytes + scan->at + 1;
    size_t length = name_length(name);
    if (scan->done)
        return scan_error(scan, scan->at, err, "second root element, expected the end of the file");
    if (length != strlen("topology") || memcmp(name, "topology", length) != 0) {
        struct text what = {0};
        text_printf(
            &what,
            "root element '%.*s', expected 'topology' (hwloc XML, as 'lstopo --of xml' writes)",
            (int)(length < SHOWN_NAME_BYTES ? length : SHOWN_NAME_BYTES), name);
        enum code code = scan_error(scan, scan->at, err, text_string(&what));
        text_release(&what);
        return code;
    }
    scan->root = scan->at;
    return CODE_OK;
}

static enum code scan_tag(struct scan *scan, struct error *err)
{
    size_t length = tag_length(scan);
    if (length == 0)
        return scan_error(scan, scan->at, err, "tag without an end, the file is cut off or no XML");
    enum code code = CODE_OK;
    if (scan->bytes[scan->at + 1] == '/') {
        code = scan_end_tag(scan, err);
    } else {
        if (name_length(scan->bytes + scan->at + 1) == 0)
            return scan_error(scan, scan->at, err, "tag without a name");
        if (scan->depth == 0)
            code = scan_root(scan, err);
        bool closed = scan->bytes[scan->at + length - 2] == '/';
        if (code == CODE_OK && !closed && scan->depth == XML_DEPTH_MAX)
            return scan_error(scan, scan->at, err, "elements are nested more than 64 deep");
        if (code == CODE_OK && !closed)
            scan->open[scan->depth++] = scan->at + 1;
        if (closed && scan->depth == 0)
            scan->done = true;
    }
    scan->at += length;
    return code;
}

static enum code scan_markup(struct scan *scan, struct error *err)
{
    enum code code = CODE_OK;
    while (code == CODE_OK && scan->at < scan->count) {
        if (scan->bytes[scan->at] != '<') {
            if (scan->depth == 0 && strchr(" \t\r\n", scan->bytes[scan->at]) == NULL)
                return scan_error(scan, scan->at, err,
                                  "text outside of elements, expected hwloc XML");
            if (scan->bytes[scan->at] == '\r')
                scan->bytes[scan->at] = ' ';
            scan->at++;
        } else if (begins(scan, "<!--")) {
            code = scan_until(scan, "-->", "comment without an end", err);
        } else if (begins(scan, "<?")) {
            code = scan_until(scan, "?>", "'<?' without '?>'", err);
        } else if (begins(scan, "<!DOCTYPE")) {
            code = scan_doctype(scan, err);
        } else if (begins(scan, "<!")) {
            code = scan_error(scan, scan->at, err,
                              "declarations are refused, expected plain elements");
        } else {
            code = scan_tag(scan, err);
        }
    }
    if (code != CODE_OK)
        return code;
    if (scan->root == SIZE_MAX)
        return error_set(err, CODE_CONFIG, 0, "%s: no element in the file, expected hwloc XML",
                         scan->path);
    if (!scan->done)
        return scan_error(scan, scan->count, err,
                          "element 'topology' has no end, the file is cut off");
    return CODE_OK;
}

static enum code check(const char *path, char *bytes, size_t count, size_t *begin,
                       struct error *err)
{
    struct scan scan = {.path = path, .bytes = bytes, .count = count, .root = SIZE_MAX};
    size_t offset = 0;
    if (count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        blank(&scan, 3);
    const char *zero = memchr(bytes, '\0', count);
    if (zero != NULL)
        return scan_error(&scan, (size_t)(zero - bytes), err, "zero byte, expected XML in UTF-8");
    if (!text_is_utf8(bytes, count, &offset))
        return scan_error(&scan, offset, err, "no UTF-8, expected XML in UTF-8");
    enum code code = scan_markup(&scan, err);
    *begin = code == CODE_OK ? scan.root : 0;
    return code;
}

static enum code check_kind(const char *path, const struct stat *status, struct error *err)
{
    if (S_ISDIR(status->st_mode))
        return error_set(err, CODE_CONFIG, EISDIR, "%s: is a directory, expected an hwloc XML file",
                         path);
    if (!S_ISREG(status->st_mode))
        return error_set(err, CODE_CONFIG, 0, "%s: is no regular file, expected an hwloc XML file",
                         path);
    if (status->st_size == 0)
        return error_set(err, CODE_CONFIG, 0, "%s: is empty, expected an hwloc XML file", path);
    if (status->st_size > TOPOLOGY_FILE_BYTES_MAX)
        return error_set(err, CODE_CONFIG, EFBIG, "%s: %lld bytes, a topology has at most %d", path,
                         (long long)status->st_size, (int)TOPOLOGY_FILE_BYTES_MAX);
    return CODE_OK;
}

/* Reads at most capacity bytes: the file may grow or shrink meanwhile. */
static enum code read_bytes(int fd, const char *path, char *bytes, size_t capacity, size_t *count,
                            struct error *err)
{
    *count = 0;
    while (*count < capacity) {
        ssize_t got = read(fd, bytes + *count, capacity - *count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, CODE_IO, errno, "cannot read '%s': %s", path, strerror(errno));
        if (got == 0)
            break;
        *count += (size_t)got;
    }
    bytes[*count] = '\0';
    return CODE_OK;
}

enum code topology_read_file(const char *path, char **bytes, size_t *count, struct error *err)
{
    assert(path != NULL && bytes != NULL && count != NULL);
    /* Not blocking: the open of a FIFO without a writer would wait for ever. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, CODE_IO, errno, "cannot open '%s': %s", path, strerror(errno));
    struct stat status;
    char *all = NULL;
    size_t begin = 0;
    enum code code =
        fstat(fd, &status) == 0
            ? check_kind(path, &status, err)
            : error_set(err, CODE_IO, errno, "cannot read '%s': %s", path, strerror(errno));
    if (code == CODE_OK) {
        size_t capacity = (size_t)status.st_size;
        all = memory_resize(NULL, capacity + 1, 1);
        code = read_bytes(fd, path, all, capacity, count, err);
    }
    close(fd);
    if (code == CODE_OK)
        code = check(path, all, *count, &begin, err);
    if (code != CODE_OK) {
        free(all);
        return code;
    }
    *count -= begin;
    memmove(all, all + begin, *count + 1);
    *bytes = all;
    return CODE_OK;
}
