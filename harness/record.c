/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading result files line by line; see record.h. This file knows the order of lines, the chain of
 * digests and the limits of size; what a line must hold is in record_header.c and record_line.c. */
#include "harness/record.h"

#include "base/text.h"
#include "harness/record_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 64 << 20, READ_BYTES = 1 << 16 };
static const int64_t file_bytes_max = (int64_t)2 << 30;

/* The public result is the first member, so that a pointer to it is one to the whole. */
struct loaded {
    struct result result;
    json_t *lines; /* owns what result borrows */
    size_t record_capacity;
    size_t segment; /* resume lines so far */
    bool ended;     /* an end line was the last line so far */
    char previous[SHA256_HEX_BYTES];
};

static enum code check_file(int fd, const char *path, struct error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return error_set(err, CODE_IO, errno, "cannot read '%s': %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return error_set(err, CODE_CONFIG, 0, "'%s' is a directory: expected a result file", path);
    if (!S_ISREG(status.st_mode))
        return error_set(err, CODE_CONFIG, 0, "'%s' is no regular file: expected a result file",
                         path);
    if (status.st_size == 0)
        return error_set(err, CODE_CONFIG, 0, "%s:1: the file is empty: expected a result file",
                         path);
    if ((int64_t)status.st_size > file_bytes_max)
        return error_set(err, CODE_CONFIG, 0, "'%s' has %lld bytes: more than %lld are not read",
                         path, (long long)status.st_size, (long long)file_bytes_max);
    return CODE_OK;
}

static enum code open_result(const char *path, FILE **file, struct error *err)
{
    /* Without O_NONBLOCK the open of a FIFO would wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(err, CODE_IO, errno, "cannot read '%s': %s", path, strerror(errno));
    enum code code = check_file(fd, path, err);
    if (code == CODE_OK) {
        *file = fdopen(fd, "rb");
        if (*file != NULL)
            return CODE_OK;
        code = error_set(err, CODE_IO, errno, "cannot read '%s': %s", path, strerror(errno));
    }
    close(fd);
    return code;
}

/* One line without its end into line. *whole is false at the end of the file, with what stood after
 * the last line end. */
static enum code read_line(FILE *file, const struct place *place, struct text *line, bool *whole)
{
    text_clear(line);
    *whole = false;
    flockfile(file);
    enum code code = CODE_OK;
    for (int c = getc_unlocked(file); c != EOF; c = getc_unlocked(file)) {
        if (c == '\n') {
            *whole = true;
            break;
        }
        if (line->length >= LINE_BYTES_MAX) {
            code = place_error(place, "the line is longer than %d bytes: not a result file",
                               LINE_BYTES_MAX);
            break;
        }
        char byte = (char)c;
        text_append_bytes(line, &byte, 1);
    }
    funlockfile(file);
    if (code == CODE_OK && ferror(file))
        code = error_set(place->err, CODE_IO, errno, "cannot read '%s': %s", place->file,
                         strerror(errno));
    return code;
}

static enum code parse_line(const struct place *place, const struct text *line, json_t **json)
{
    json_error_t problem;
    *json = json_loadb(text_string(line), line->length, JSON_REJECT_DUPLICATES, &problem);
    const char *hint = place->line == 1 ? " (expected a result file: one JSON object a line)" : "";
    if (*json == NULL) {
        text_make_printable(problem.text);
        return error_set(place->err, CODE_CONFIG, 0, "%s:%zu:%d: not valid JSON: %s%s", place->file,
                         place->line, problem.column, problem.text, hint);
    }
    const json_t *kind = json_object_get(*json, "kind");
    if (json_is_object(*json) && json_is_string(kind))
        return CODE_OK;
    json_decref(*json);
    *json = NULL;
    return place_error(place, "$.kind: is missing or no text%s", hint);
}

static enum code check_chain(const struct place *place, const struct loaded *loaded,
                             const json_t *json)
{
    const char *previous = json_string_value(json_object_get(json, "previous"));
    if (previous == NULL)
        return place_error(place, "$.previous: expected the SHA-256 of line %zu", place->line - 1);
    if (strcmp(previous, loaded->previous) == 0)
        return CODE_OK;
    return place_error(place,
                       "$.previous: '%.64s' is not the SHA-256 of line %zu, '%s': the file was "
                       "changed after it was written, or lines are missing",
                       previous, place->line - 1, loaded->previous);
}

static enum code take_header(const struct place *place, struct loaded *loaded, const json_t *json)
{
    enum code code = schema_check_header(place, json);
    if (code != CODE_OK)
        return code;
    loaded->result.header = json;
    lift_devices(json, &loaded->result);
    return CODE_OK;
}

static enum code take_record(const struct place *place, struct loaded *loaded, const json_t *json)
{
    struct result *result = &loaded->result;
    enum code code = schema_check_record(place, json);
    if (code != CODE_OK)
        return code;
    if (result->record_count == loaded->record_capacity) {
        loaded->record_capacity = loaded->record_capacity * 2 + 64;
        result->records =
            memory_resize(result->records, loaded->record_capacity, sizeof *result->records);
    }
    struct record *record = &result->records[result->record_count++];
    lift_record(json, record);
    record->line = place->line;
    record->segment = loaded->segment;
    for (size_t i = 0; i < result->device_count; i++)
        if (strcmp(result->devices[i].id, record->device) == 0)
            return CODE_OK;
    return place_error(place, "$.device: '%s' is no device of the header", record->device);
}

static enum code take_end(const struct place *place, struct loaded *loaded, const json_t *json)
{
    enum code code = schema_check_end(place, json);
    if (code != CODE_OK)
        return code;
    uint64_t records = (uint64_t)json_integer_value(json_object_get(json, "records"));
    if (records != loaded->result.record_count)
        return place_error(place, "$.records: %llu, but the file has %zu records",
                           (unsigned long long)records, loaded->result.record_count);
    loaded->ended = true;
    loaded->result.complete = json_is_true(json_object_get(json, "complete"));
    return CODE_OK;
}

static enum code take_resume(const struct place *place, struct loaded *loaded, const json_t *json)
{
    loaded->segment++;
    return schema_check_resume(place, json);
}

/* Takes one parsed line. A kind that is not known is passed over: a later minor version may add
 * one. */
static enum code take_line(const struct place *place, struct loaded *loaded, const json_t *json)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    bool resume = strcmp(kind, "resume") == 0;
    if (place->line == 1) {
        if (strcmp(kind, "header") != 0)
            return place_error(place, "$.kind: expected 'header', found '%.40s'", kind);
        return take_header(place, loaded, json);
    }
    if (strcmp(kind, "header") == 0)
        return place_error(place, "$.kind: a second header: were two files joined?");
    enum code code = check_chain(place, loaded, json);
    if (code != CODE_OK)
        return code;
    if (loaded->ended && (loaded->result.complete || !resume))
        return place_error(place, "a line after the end line");
    loaded->ended = false;
    if (strcmp(kind, "record") == 0)
        return take_record(place, loaded, json);
    if (strcmp(kind, "end") == 0)
        return take_end(place, loaded, json);
    return resume ? take_resume(place, loaded, json) : CODE_OK;
}

static int compare_records(const void *a, const void *b)
{
    const struct record *x = *(const struct record *const *)a;
    const struct record *y = *(const struct record *const *)b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = strcmp(x->device, y->device);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* One case is measured once on a device: of two records, none can be told to be the right one. */
static enum code check_duplicates(const struct result *result, struct error *err)
{
    const struct record **sorted = memory_zeroed(result->record_count, sizeof *sorted);
    for (size_t i = 0; i < result->record_count; i++)
        sorted[i] = &result->records[i];
    qsort(sorted, result->record_count, sizeof *sorted, compare_records);
    enum code code = CODE_OK;
    for (size_t i = 1; code == CODE_OK && i < result->record_count; i++) {
        const struct record *first = sorted[i - 1], *second = sorted[i];
        if (strcmp(first->key, second->key) != 0 || strcmp(first->device, second->device) != 0)
            continue;
        struct place place = {result->path, second->line, err};
        code = place_error(&place, "duplicate record: '%s' on '%s' is also line %zu", second->key,
                           second->device, first->line);
    }
    free(sorted);
    return code;
}

static enum code read_lines(FILE *file, struct loaded *loaded, struct error *err)
{
    struct text line = {0};
    struct place place = {loaded->result.path, 0, err};
    enum code code = CODE_OK;
    while (code == CODE_OK) {
        place.line++;
        bool whole;
        code = read_line(file, &place, &line, &whole);
        if (code != CODE_OK || !whole) {
            loaded->result.torn = code == CODE_OK && line.length > 0;
            break;
        }
        json_t *json;
        code = parse_line(&place, &line, &json);
        if (code != CODE_OK)
            break;
        json_array_append_new(loaded->lines, json);
        code = take_line(&place, loaded, json);
        text_sha256(text_string(&line), line.length, loaded->previous);
    }
    if (code == CODE_OK && loaded->result.header == NULL)
        code = place_error(&(struct place){loaded->result.path, 1, err},
                           "no whole line: expected a result file, whose first line is its header");
    text_release(&line);
    return code;
}

enum code result_load(const char *path, struct result **result, struct error *err)
{
    FILE *file;
    enum code code = open_result(path, &file, err);
    if (code != CODE_OK)
        return code;
    struct loaded *loaded = memory_zeroed(1, sizeof *loaded);
    loaded->result.path = text_duplicate(path);
    loaded->lines = json_array();
    code = read_lines(file, loaded, err);
    if (code == CODE_OK)
        code = check_duplicates(&loaded->result, err);
    fclose(file);
    if (code != CODE_OK) {
        result_destroy(&loaded->result);
        return code;
    }
    /* A torn line after an end line, or no end line at all: the run did not end as it should. */
    loaded->result.complete = loaded->result.complete && loaded->ended && !loaded->result.torn;
    loaded->result.noise = result_noise(&loaded->result);
    *result = &loaded->result;
    return CODE_OK;
}

void result_destroy(struct result *result)
{
    if (result == NULL)
        return;
    struct loaded *loaded = (struct loaded *)result;
    for (size_t i = 0; i < result->record_count; i++)
        record_release(&result->records[i]);
    free(result->records);
    free(result->devices);
    free(result->path);
    json_decref(loaded->lines);
    free(loaded);
}
