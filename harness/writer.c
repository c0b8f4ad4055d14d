/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing result files; see writer.h. What was written once is never written over: a new file is
 * created exclusively, an old one is moved aside, a line that could not be written whole is cut off
 * again. Knows nothing of what a line means. */
#include "harness/writer.h"

#include "base/text.h"
#include "harness/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct writer {
    char *path;
    int fd;
    bool regular; /* a file of our own: synced, and cut back after a failed write */
    bool failed;
    off_t end;                       /* end of the last whole line */
    char previous[SHA256_HEX_BYTES]; /* digest of the last line; "" before the first */
};

static enum code io_error(const char *path, const char *what, struct error *err)
{
    return error_set(err, CODE_IO, errno, "cannot %s '%s': %s", what, path, strerror(errno));
}

static struct writer *writer_new(const char *path, int fd, bool regular)
{
    struct writer *writer = memory_zeroed(1, sizeof *writer);
    writer->path = text_duplicate(path);
    writer->fd = fd;
    writer->regular = regular;
    return writer;
}

/* CODE_IO if another process holds the lock. Where the file system has no locks, exclusive creation
 * has to do. */
static enum code lock_file(int fd, const char *path, struct error *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return CODE_OK;
    return error_set(err, CODE_IO, errno, "'%s' is being written by another run", path);
}

/* Locks a file that this process has just created. One that comes second holds the lock for the
 * moment in which it finds that out, so a few tries are given. */
static enum code lock_created(int fd, const char *path, struct error *err)
{
    enum { TRIES = 100 };
    static const struct timespec pause = {.tv_nsec = 5000000};
    enum code code = lock_file(fd, path, err);
    for (int i = 0; code != CODE_OK && i < TRIES; i++) {
        nanosleep(&pause, NULL);
        code = lock_file(fd, path, err);
    }
    struct stat ours, there;
    if (code == CODE_OK && fstat(fd, &ours) == 0 &&
        (stat(path, &there) != 0 || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev))
        code = error_set(err, CODE_IO, 0, "'%s' was moved away by another run", path);
    return code;
}

/* The name of a new file is safe only once its directory is on the disk. Best effort: some file
 * systems cannot. */
static void sync_directory(const char *path)
{
    char *copy = text_duplicate(path);
    char *slash = strrchr(copy, '/');
    const char *directory = slash == NULL ? "." : slash == copy ? "/" : copy;
    if (slash != NULL && slash != copy)
        *slash = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

/* Gives path the further name old unless that exists. Without hard links (some file systems have
 * none), a rename. */
static bool move_to(const char *path, const char *old)
{
    if (link(path, old) == 0)
        return unlink(path) == 0;
    if (errno == EEXIST)
        return false;
    struct stat status;
    if (lstat(old, &status) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(path, old) == 0;
}

/* Moves path to "<path>.old", or "<path>.old.2" and so on if that exists: nothing is destroyed. */
static enum code move_aside(const char *path, struct error *err)
{
    enum { OLD_MAX = 99 };
    struct text old = {0};
    bool moved = false;
    for (int i = 1; !moved && i <= OLD_MAX; i++) {
        text_clear(&old);
        text_printf(&old, "%s.old", path);
        if (i > 1)
            text_printf(&old, ".%d", i);
        moved = move_to(path, text_string(&old));
        if (!moved && errno != EEXIST)
            break;
    }
    enum code code = CODE_OK;
    if (!moved)
        code = error_set(err, CODE_IO, errno, "cannot move '%s' aside to '%s': %s", path,
                         text_string(&old), strerror(errno));
    text_release(&old);
    return code;
}

/* A character device such as /dev/null: written, neither locked nor synced. */
static enum code open_device(const char *path, struct writer **writer, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return io_error(path, "write", err);
    *writer = writer_new(path, fd, false);
    return CODE_OK;
}

/* A regular file stands at path already. */
static enum code refuse_or_move(const char *path, bool force, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && !(force && errno == EACCES))
        return io_error(path, "open the existing result", err);
    enum code code = fd >= 0 ? lock_file(fd, path, err) : CODE_OK;
    if (code == CODE_OK && !force)
        code = error_set(err, CODE_USAGE, 0,
                         "'%s' exists already: --resume continues it, --force moves it to '%s.old' "
                         "and starts anew",
                         path, path);
    if (code == CODE_OK)
        code = move_aside(path, err);
    if (fd >= 0)
        close(fd);
    return code;
}

static enum code take_created(const char *path, int fd, struct writer **writer, struct error *err)
{
    enum code code = lock_created(fd, path, err);
    if (code != CODE_OK) {
        close(fd);
        return code;
    }
    sync_directory(path);
    *writer = writer_new(path, fd, true);
    return CODE_OK;
}

static enum code open_stdout(struct writer **writer, struct error *err)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return io_error("standard output", "write", err);
    *writer = writer_new("standard output", fd, false);
    return CODE_OK;
}

enum code writer_create(const char *path, bool force, struct writer **writer, struct error *err)
{
    *writer = NULL;
    if (strcmp(path, "-") == 0)
        return open_stdout(writer, err);
    /* Twice: the second time after the old file was moved aside. */
    for (int attempt = 0; attempt < 2; attempt++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return take_created(path, fd, writer, err);
        struct stat status;
        if (errno != EEXIST)
            return io_error(path, "create", err);
        if (stat(path, &status) != 0)
            return io_error(path, "create", err);
        if (S_ISDIR(status.st_mode))
            return error_set(err, CODE_IO, EISDIR, "'%s' is a directory: expected a file to write",
                             path);
        if (S_ISCHR(status.st_mode))
            return open_device(path, writer, err);
        if (!S_ISREG(status.st_mode))
            return error_set(err, CODE_IO, 0, "'%s' is no regular file: '-' is standard output",
                             path);
        enum code code = refuse_or_move(path, force, err);
        if (code != CODE_OK)
            return code;
    }
    return error_set(err, CODE_IO, EEXIST, "'%s' was created by another run at the same time",
                     path);
}

/* Finds the end of the last whole line and its digest. */
static enum code find_last_line(struct writer *writer, struct error *err)
{
    FILE *file = fopen(writer->path, "rbe");
    if (file == NULL)
        return io_error(writer->path, "read", err);
    struct text line = {0};
    off_t offset = 0;
    for (int c = getc(file); c != EOF; c = getc(file)) {
        offset++;
        char byte = (char)c;
        if (c != '\n') {
            text_append_bytes(&line, &byte, 1);
            continue;
        }
        text_sha256(text_string(&line), line.length, writer->previous);
        writer->end = offset;
        text_clear(&line);
    }
    enum code code = ferror(file) ? io_error(writer->path, "read", err) : CODE_OK;
    fclose(file);
    text_release(&line);
    return code;
}

static enum code continue_file(struct writer *writer, struct error *err)
{
    struct result *result;
    enum code code = result_load(writer->path, &result, err);
    if (code != CODE_OK)
        return code;
    bool complete = result->complete;
    result_destroy(result);
    if (complete)
        return error_set(err, CODE_USAGE, 0, "'%s' is complete: there is nothing to resume",
                         writer->path);
    code = find_last_line(writer, err);
    if (code != CODE_OK)
        return code;
    if (ftruncate(writer->fd, writer->end) != 0 || lseek(writer->fd, writer->end, SEEK_SET) < 0)
        return io_error(writer->path, "cut the torn last line of", err);
    return CODE_OK;
}

enum code writer_resume(const char *path, struct writer **writer, struct error *err)
{
    *writer = NULL;
    struct stat status;
    if (stat(path, &status) != 0)
        return io_error(path, "resume", err);
    if (!S_ISREG(status.st_mode))
        return error_set(err, CODE_CONFIG, 0, "'%s' is no regular file: expected a result file",
                         path);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(path, "resume", err);
    enum code code = lock_file(fd, path, err);
    if (code != CODE_OK) {
        close(fd);
        return code;
    }
    struct writer *opened = writer_new(path, fd, true);
    code = continue_file(opened, err);
    if (code != CODE_OK) {
        opened->regular = false; /* whatever it is, it is not ours */
        writer_close(opened, NULL);
        return code;
    }
    *writer = opened;
    return CODE_OK;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            if (written == 0)
                errno = ENOSPC;
            return false;
        }
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static bool sync_all(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

/* After a failure the file ends with its last whole line again, so that it stays a valid, shorter
 * result. */
static enum code write_failed(struct writer *writer, struct error *err)
{
    enum code code = io_error(writer->path, "write the result to", err);
    writer->failed = true;
    if (writer->regular && ftruncate(writer->fd, writer->end) != 0 && err != NULL) {
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used,
                 "; its last line may be cut short");
    }
    return code;
}

enum code writer_append(struct writer *writer, json_t *line, struct error *err)
{
    if (writer->failed) {
        json_decref(line);
        return error_set(err, CODE_IO, 0, "'%s' is not written further after a failed write",
                         writer->path);
    }
    json_object_set_new(line, "previous",
                        writer->previous[0] != '\0' ? json_string(writer->previous) : json_null());
    char *dump = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    if (dump == NULL)
        return error_set(err, CODE_INVALID, 0, "a result line for '%s' is no valid JSON",
                         writer->path);
    size_t length = strlen(dump);
    char digest[SHA256_HEX_BYTES];
    text_sha256(dump, length, digest);
    dump[length] = '\n'; /* in the place of the terminator: one write a line */
    bool done =
        write_all(writer->fd, dump, length + 1) && (!writer->regular || sync_all(writer->fd));
    free(dump);
    if (!done)
        return write_failed(writer, err);
    writer->end += (off_t)(length + 1);
    memcpy(writer->previous, digest, sizeof digest);
    return CODE_OK;
}

enum code writer_close(struct writer *writer, struct error *err)
{
    if (writer == NULL)
        return CODE_OK;
    enum code code = CODE_OK;
    /* Without a line it is no result, and would stand in the way of the next run. The lock still
     * holds. */
    if (writer->regular && writer->end == 0)
        unlink(writer->path);
    if (close(writer->fd) != 0 && errno != EINTR)
        code = io_error(writer->path, "close", err);
    free(writer->path);
    free(writer);
    return code;
}

const char *writer_path(const struct writer *writer)
{
    return writer->path;
}
