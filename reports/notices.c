/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers warnings. Those of single cases are counted, a line for each kind and device, so that the
 * list stays one that is read. Must not know: output formats. */
#include "reports/notices.h"

#include "base/quantity.h"
#include "base/text.h"
#include "reports/figures.h"
#include "reports/labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTICE_BYTES = 2048 };

static bool is_known(const struct notices *notices, const char *about, const char *line)
{
    for (size_t i = 0; i < notices->count; i++)
        if (strcmp(notices->about[i], about) == 0 && strcmp(notices->lines[i], line) == 0)
            return true;
    return false;
}

void notices_add(struct notices *notices, const char *about, const char *format, ...)
{
    char line[NOTICE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (is_known(notices, about, line))
        return;
    if (notices->count == notices->capacity) {
        notices->capacity = notices->capacity == 0 ? 16 : 2 * notices->capacity;
        notices->lines = memory_resize(notices->lines, notices->capacity, sizeof(char *));
        notices->about = memory_resize(notices->about, notices->capacity, sizeof(char *));
    }
    notices->lines[notices->count] = text_duplicate(line);
    notices->about[notices->count] = text_duplicate(about);
    notices->count++;
}

void notices_release(struct notices *notices)
{
    for (size_t i = 0; i < notices->count; i++) {
        free(notices->lines[i]);
        free(notices->about[i]);
    }
    free(notices->lines);
    free(notices->about);
    *notices = (struct notices){0};
}

static const char *header_text(const struct result *result, const char *name)
{
    const char *text = json_string_value(json_object_get(result->header, name));
    return text != NULL ? text : "";
}

static void file_notices(const struct result *result, double difference, struct notices *notices)
{
    char size[QUANTITY_BYTES];
    if (result->torn)
        notices_add(notices, result->path, "the last line is cut short and was not used");
    if (!result->complete)
        notices_add(notices, result->path,
                    "incomplete: the run did not finish, %zu of %zu planned records are there",
                    result->record_count,
                    json_array_size(json_object_get(result->header, "planned")));
    if (result->noise > difference)
        notices_add(notices, result->path,
                    "the machine itself became faster or slower by %s during the run, more than "
                    "the smallest difference that matters",
                    quantity_format_change(result->noise, size) + 1);
    const json_t *host = json_object_get(result->header, "host");
    const json_t *load = json_object_get(host, "load_1min");
    if (json_is_number(load) && json_number_value(load) >= 0.5)
        notices_add(notices, result->path,
                    "the host was busy before the start: load %.2f over the last minute",
                    json_number_value(load));
}

/* The same run given twice. What else two files tell about each other comes from the comparison. */
static void files_notices(const struct matrix *matrix, struct notices *notices)
{
    const struct report_input *input = matrix->input;
    for (size_t i = 0; i < input->result_count; i++)
        for (size_t k = 0; k < i; k++)
            if (header_text(input->results[i], "run")[0] != '\0' &&
                strcmp(header_text(input->results[i], "run"),
                       header_text(input->results[k], "run")) == 0)
                notices_add(notices, input->results[i]->path,
                            "identical input: this is the same run as %s", input->results[k]->path);
}

static void device_notices(const struct matrix_column *column, struct notices *notices)
{
    const struct result_device *device = column->device;
    const char *failed = json_string_value(json_object_get(device->json, "reason"));
    if (failed != NULL && failed[0] != '\0')
        notices_add(notices, column->label, "could not be opened: %s", failed);
    if (device->software && !text_starts_with(device->id, "host:"))
        notices_add(notices, column->label,
                    "a driver that runs on the host's own cores: this is no accelerator");
    if (device->clock != NULL && strcmp(device->clock, "host") == 0 &&
        !text_starts_with(device->id, "host:"))
        notices_add(notices, column->label, "timed by the host's clock: %s",
                    device->clock_reason != NULL ? device->clock_reason : "no reason was recorded");
    const json_t *refused = json_object_get(json_object_get(device->json, "wait"), "refused");
    for (size_t i = 0; i < json_array_size(refused); i++) {
        const json_t *item = json_array_get(refused, i);
        const char *way = json_string_value(json_object_get(item, "way"));
        const char *reason = json_string_value(json_object_get(item, "reason"));
        if (way != NULL)
            notices_add(notices, column->label, "%s is not used for waiting: %s", way,
                        reason != NULL ? reason : "no reason was recorded");
    }
    if (column->refusal[0] != '\0')
        notices_add(notices, column->label, "not compared with the base: %s", column->refusal);
}

/* Within one run these say that models and drivers differ, which the table of devices shows. Lines
 * about the runs are the same for all devices of a file, so they are kept under its name. */
static void comparison_notices(const struct matrix_column *column, struct notices *notices)
{
    if (column->comparison == NULL || column->comparison->paired)
        return;
    char *warnings = text_duplicate(column->comparison->warnings);
    for (char *line = warnings; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        if (*line != '\0' && strstr(line, "is incomplete:") == NULL) /* said for each file */
            notices_add(notices, column->result->path, "%s", line);
        line = end;
    }
    free(warnings);
}

/* What is counted over the cases of a device. */
struct tally {
    size_t states[STATE_COUNT];
    size_t missing, unverified, unconverged, bimodal, drift, few;
    const struct matrix_cell *first[STATE_COUNT]; /* the first of each state, to quote its reason */
};

static void tally_cell(const struct matrix_cell *cell, struct tally *tally)
{
    if (cell->record == NULL) {
        tally->missing += cell->planned;
        return;
    }
    enum state state = cell->record->state;
    if (tally->states[state]++ == 0)
        tally->first[state] = cell;
    if (state == STATE_OK && !cell->has_number)
        tally->unverified++;
    if (!cell->has_number)
        return;
    tally->unconverged += !cell->record->converged;
    tally->bimodal += cell->summary.bimodal;
    tally->drift += cell->summary.drift;
    tally->few += !cell->summary.has_interval;
}

static void tally_add(struct notices *notices, const char *about, size_t count, size_t all,
                      const char *what)
{
    if (count > 0)
        notices_add(notices, about, "%zu of %zu cases: %s", count, all, what);
}

static void tally_notices(const struct matrix_column *column, const struct tally *tally,
                          struct notices *notices)
{
    size_t all = column->expected_count;
    for (size_t i = 0; i < STATE_COUNT; i++) {
        if (i == STATE_OK || tally->states[i] == 0)
            continue;
        const char *reason = tally->first[i]->record->reason;
        notices_add(notices, column->label, "%zu of %zu cases: %s%s: %s", tally->states[i], all,
                    figure_absence_short(tally->first[i]),
                    tally->states[i] > 1 ? "; the first" : "",
                    reason != NULL ? reason : "no reason was recorded");
    }
    tally_add(notices, column->label, tally->missing, all,
              "missing, the file ends before they were measured");
    tally_add(notices, column->label, tally->unverified, all,
              "no clean check is stored, so no number is shown");
    tally_add(notices, column->label, tally->few, all, "too few samples for an interval");
    tally_add(notices, column->label, tally->unconverged, all,
              "not converged, the interval is wider than aimed at");
    tally_add(notices, column->label, tally->bimodal, all,
              "samples in two modes, so that the median may describe neither");
    tally_add(notices, column->label, tally->drift, all, "drift over the rounds");
}

/* Devices that are one piece of hardware under several names. */
static void physical_notices(const struct matrix *matrix, struct notices *notices)
{
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct matrix_column *first = &matrix->columns[i];
        struct text others = {0};
        bool is_first = first->device->physical != NULL;
        for (size_t k = 0; is_first && k < matrix->column_count; k++) {
            const struct matrix_column *other = &matrix->columns[k];
            if (k == i || other->file != first->file || other->device->physical == NULL ||
                strcmp(other->device->physical, first->device->physical) != 0)
                continue;
            is_first = k > i;
            text_printf(&others, "%s%s", others.length > 0 ? ", " : "", other->label);
        }
        if (is_first && others.length > 0)
            notices_add(notices, first->label, "the same hardware (%s) as %s",
                        first->device->physical, text_string(&others));
        text_release(&others);
    }
}

void notices_collect(const struct matrix *matrix, struct notices *notices)
{
    for (size_t i = 0; i < matrix->input->result_count; i++)
        file_notices(matrix->input->results[i], matrix->input->difference, notices);
    files_notices(matrix, notices);
    physical_notices(matrix, notices);
    for (size_t i = 0; i < matrix->column_count; i++) {
        struct tally tally = {0};
        for (size_t row = 0; row < matrix->row_count; row++)
            tally_cell(matrix_cell(matrix, row, i), &tally);
        device_notices(&matrix->columns[i], notices);
        tally_notices(&matrix->columns[i], &tally, notices);
        comparison_notices(&matrix->columns[i], notices);
    }
}
