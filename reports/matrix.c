/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the matrix of cases and devices that reports show. Keys are found by binary search, so
 * that fleets of devices stay cheap. Must not know: output formats. */
#include "reports/matrix.h"

#include "base/text.h"
#include "reports/figures.h"
#include "reports/labels.h"

#include <stdlib.h>
#include <string.h>

/* A key and where it was first seen. */
struct seen {
    const char *key;
    size_t order;
    size_t group; /* rank of its suite, by first appearance */
};

static int by_key(const void *a, const void *b)
{
    const struct seen *left = a, *right = b;
    int keys = strcmp(left->key, right->key);
    if (keys != 0)
        return keys;
    return left->order < right->order ? -1 : left->order > right->order;
}

static int by_order(const void *a, const void *b)
{
    const struct seen *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* The planned cases of a file; NULL if the header has none. */
static const json_t *planned_of(const struct result *result)
{
    return json_object_get(result->header, "planned");
}

static size_t keys_most(const struct report_input *input)
{
    size_t most = 0;
    for (size_t i = 0; i < input->result_count; i++)
        most += input->results[i]->record_count + json_array_size(planned_of(input->results[i]));
    return most;
}

static void keys_add(struct seen *seen, size_t *count, const char *key)
{
    if (key == NULL)
        return;
    seen[*count] = (struct seen){.key = key, .order = *count};
    (*count)++;
}

/* Every key of every file, planned ones first: the order of the config survives a run that measured
 * in another one. */
static size_t keys_collect(const struct report_input *input, struct seen *seen)
{
    size_t count = 0;
    for (size_t i = 0; i < input->result_count; i++) {
        const json_t *planned = planned_of(input->results[i]);
        for (size_t k = 0; k < json_array_size(planned); k++)
            keys_add(seen, &count,
                     json_string_value(json_object_get(json_array_get(planned, k), "case")));
        for (size_t k = 0; k < input->results[i]->record_count; k++)
            keys_add(seen, &count, input->results[i]->records[k].key);
    }
    qsort(seen, count, sizeof *seen, by_key);
    size_t unique = 0;
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || strcmp(seen[i].key, seen[unique - 1].key) != 0)
            seen[unique++] = seen[i];
    return unique;
}

static bool same_suite(const char *a, const char *b)
{
    size_t length = strcspn(a, " ");
    return strncmp(a, b, length) == 0 && (b[length] == ' ' || b[length] == '\0');
}

/* Gives each key the rank of its suite and puts the keys in the order of the table. */
static size_t keys_group(struct seen *seen, size_t count)
{
    for (size_t i = 0; i < count; i++)
        seen[i].group = 0;
    qsort(seen, count, sizeof *seen, by_order);
    size_t groups = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < i && !same_suite(seen[k].key, seen[i].key))
            k++;
        seen[i].group = k < i ? seen[k].group : groups++;
    }
    qsort(seen, count, sizeof *seen, by_order);
    return groups;
}

static void rows_create(struct matrix *matrix)
{
    struct seen *seen = memory_zeroed(keys_most(matrix->input) + 1, sizeof *seen);
    matrix->row_count = keys_collect(matrix->input, seen);
    matrix->group_count = keys_group(seen, matrix->row_count);
    matrix->rows = memory_zeroed(matrix->row_count + 1, sizeof *matrix->rows);
    matrix->groups = memory_zeroed(matrix->group_count + 1, sizeof *matrix->groups);
    for (size_t i = 0; i < matrix->row_count; i++) {
        struct matrix_group *group = &matrix->groups[seen[i].group];
        matrix->rows[i].key = seen[i].key;
        if (group->count++ == 0)
            group->first = i;
    }
    free(seen);
    for (size_t i = 0; i < matrix->group_count; i++)
        labels_fill(&matrix->groups[i], matrix->rows);
}

static size_t columns_most(const struct report_input *input)
{
    size_t most = 0;
    for (size_t i = 0; i < input->result_count; i++)
        most += input->results[i]->device_count;
    return most;
}

static void columns_create(struct matrix *matrix)
{
    const struct report_input *input = matrix->input;
    matrix->columns = memory_zeroed(columns_most(input) + 1, sizeof *matrix->columns);
    for (size_t i = 0; i < input->result_count; i++) {
        for (size_t k = 0; k < input->results[i]->device_count; k++) {
            struct matrix_column *column = &matrix->columns[matrix->column_count++];
            column->file = i;
            column->result = input->results[i];
            column->device = &input->results[i]->devices[k];
            labels_column(column, input->result_count > 1);
        }
    }
}

/* Rows sorted by key, for lookups. */
static struct seen *index_create(const struct matrix *matrix)
{
    struct seen *index = memory_zeroed(matrix->row_count + 1, sizeof *index);
    for (size_t i = 0; i < matrix->row_count; i++)
        index[i] = (struct seen){.key = matrix->rows[i].key, .order = i};
    qsort(index, matrix->row_count, sizeof *index, by_key);
    return index;
}

static size_t index_find(const struct seen *index, size_t count, const char *key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(index[middle].key, key);
        if (order == 0)
            return index[middle].order;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

static struct matrix_cell *cell_at(struct matrix *matrix, const struct seen *index, const char *key,
                                   size_t column)
{
    size_t row = key == NULL ? SIZE_MAX : index_find(index, matrix->row_count, key);
    return row == SIZE_MAX ? NULL : &matrix->cells[row * matrix->column_count + column];
}

static void cell_set_record(struct matrix *matrix, struct matrix_cell *cell,
                            const struct record *record)
{
    struct matrix_row *row = &matrix->rows[(size_t)(cell - matrix->cells) / matrix->column_count];
    cell->record = record;
    cell->has_number =
        record->state == STATE_OK && record->samples.count > 0 && figure_verified(record);
    if (record->unit == NULL || row->unit != NULL)
        return;
    row->unit = record->unit;
    row->bytes_counted = record->bytes_counted;
    row->by_operations = record->by_operations;
}

static size_t column_of(const struct matrix *matrix, const struct result *result,
                        const char *device)
{
    for (size_t i = 0; device != NULL && i < matrix->column_count; i++)
        if (matrix->columns[i].result == result &&
            strcmp(matrix->columns[i].device->id, device) == 0)
            return i;
    return SIZE_MAX;
}

static void cells_fill(struct matrix *matrix, const struct seen *index, const struct result *result)
{
    for (size_t i = 0; i < result->record_count; i++) {
        const struct record *record = &result->records[i];
        size_t column = column_of(matrix, result, record->device);
        struct matrix_cell *cell =
            column != SIZE_MAX ? cell_at(matrix, index, record->key, column) : NULL;
        if (cell != NULL)
            cell_set_record(matrix, cell, record);
    }
    const json_t *planned = planned_of(result);
    for (size_t i = 0; i < json_array_size(planned); i++) {
        const json_t *item = json_array_get(planned, i);
        size_t column =
            column_of(matrix, result, json_string_value(json_object_get(item, "device")));
        struct matrix_cell *cell =
            column == SIZE_MAX
                ? NULL
                : cell_at(matrix, index, json_string_value(json_object_get(item, "case")), column);
        if (cell != NULL)
            cell->planned = true;
    }
}

static void columns_count(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->row_count * matrix->column_count; i++) {
        const struct matrix_cell *cell = &matrix->cells[i];
        struct matrix_column *column = &matrix->columns[i % matrix->column_count];
        column->measured_count += cell->has_number;
        column->expected_count += cell->record != NULL || cell->planned;
    }
    for (size_t i = 0; i < matrix->column_count; i++) {
        matrix->measured_count += matrix->columns[i].measured_count;
        matrix->expected_count += matrix->columns[i].expected_count;
    }
}

static enum code base_ambiguous(const struct matrix *matrix, const char *name, const char *problem,
                                struct error *err)
{
    struct text list = {0};
    for (size_t i = 0; i < matrix->column_count && i < 12; i++)
        text_printf(&list, "%s%s", i == 0 ? "" : ", ", matrix->columns[i].label);
    if (matrix->column_count > 12)
        text_printf(&list, " and %zu more", matrix->column_count - 12);
    error_set(err, CODE_USAGE, 0, "base device '%s' %s; devices: %s", name, problem,
              text_string(&list));
    text_release(&list);
    return CODE_USAGE;
}

/* The whole label or id first (of the first file that has it), then a part of one id or name only.
 */
static enum code base_find(struct matrix *matrix, const char *name, struct error *err)
{
    matrix->base_reason = "as asked for";
    for (size_t i = 0; i < matrix->column_count; i++) {
        matrix->base = i;
        if (strcmp(matrix->columns[i].label, name) == 0 ||
            strcmp(matrix->columns[i].device->id, name) == 0)
            return CODE_OK;
    }
    size_t found = 0;
    for (size_t i = 0; i < matrix->column_count; i++) {
        const struct result_device *device = matrix->columns[i].device;
        if (!text_contains_ignoring_case(device->id, name) &&
            !text_contains_ignoring_case(device->name, name))
            continue;
        matrix->base = i;
        found++;
    }
    if (found == 1)
        return CODE_OK;
    return base_ambiguous(matrix, name, found == 0 ? "is in none of the files" : "is ambiguous",
                          err);
}

/* All cores of the host are what a card is bought to replace, so they are the base where they were
 * measured. */
static void base_choose(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->column_count; i++) {
        if (strcmp(matrix->columns[i].device->id, "host:all") != 0 ||
            matrix->columns[i].measured_count == 0)
            continue;
        matrix->base = i;
        matrix->base_reason = "all cores of the host, chosen because no other base was asked for";
        return;
    }
    matrix->base_reason = "the first device with results, chosen because no other base was asked "
                          "for";
    for (size_t i = 0; i < matrix->column_count; i++) {
        matrix->base = i;
        if (matrix->columns[i].measured_count > 0)
            return;
    }
    matrix->base = 0;
}

static void column_compare(struct matrix *matrix, const struct seen *index, size_t number)
{
    struct matrix_column *column = &matrix->columns[number];
    const struct matrix_column *base = &matrix->columns[matrix->base];
    struct compare_side base_side = {.result = base->result, .device = base->device->id};
    struct compare_side other_side = {.result = column->result, .device = column->device->id};
    struct compare_options options = {.difference = matrix->input->difference, .partial = true};
    struct error err = {0};
    if (compare_sides(&base_side, &other_side, &options, &column->comparison, &err) != CODE_OK) {
        memcpy(column->refusal, err.message, sizeof column->refusal);
        column->comparison = NULL;
        return;
    }
    for (size_t i = 0; i < column->comparison->row_count; i++) {
        const struct compare_row *row = &column->comparison->rows[i];
        struct matrix_cell *cell = cell_at(matrix, index, row->key, number);
        if (cell != NULL)
            cell->row = row;
    }
}

/* A comparison is thousands of bootstraps and touches its own column only: a fleet of devices is
 * compared on all cores. */
static void columns_compare(struct matrix *matrix, const struct seen *index)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < matrix->column_count; i++)
        if (i != matrix->base)
            column_compare(matrix, index, i);
}

/* The comparisons hold summaries already; those are bootstraps, so they are taken from there where
 * they are. */
static void summaries_fill(struct matrix *matrix)
{
    for (size_t row = 0; row < matrix->row_count; row++) {
        struct matrix_cell *cells = &matrix->cells[row * matrix->column_count];
        for (size_t i = 0; i < matrix->column_count; i++) {
            const struct compare_row *compared = cells[i].row;
            if (!cells[i].has_number)
                continue;
            if (compared != NULL && compared->judged && compared->other == cells[i].record)
                cells[i].summary = compared->other_summary;
            else if (i != matrix->base)
                stats_summarise(&cells[i].record->samples, &cells[i].summary);
        }
        struct matrix_cell *base = &cells[matrix->base];
        if (!base->has_number)
            continue;
        size_t i = 0;
        while (i < matrix->column_count && !(cells[i].row != NULL && cells[i].row->judged &&
                                             cells[i].row->base == base->record))
            i++;
        if (i < matrix->column_count)
            base->summary = cells[i].row->base_summary;
        else
            stats_summarise(&base->record->samples, &base->summary);
    }
}

enum code matrix_create(const struct report_input *input, struct matrix **matrix, struct error *err)
{
    *matrix = NULL;
    if (input->result_count == 0 || columns_most(input) == 0)
        return error_set(err, CODE_CONFIG, 0, "the results name no device: nothing to report");
    struct matrix *made = memory_zeroed(1, sizeof *made);
    made->input = input;
    rows_create(made);
    columns_create(made);
    made->cells = memory_zeroed(made->row_count * made->column_count + 1, sizeof *made->cells);
    struct seen *index = index_create(made);
    for (size_t i = 0; i < input->result_count; i++)
        cells_fill(made, index, input->results[i]);
    columns_count(made);
    enum code code = CODE_OK;
    if (input->base != NULL)
        code = base_find(made, input->base, err);
    else
        base_choose(made);
    if (code == CODE_OK) {
        columns_compare(made, index);
        summaries_fill(made);
    }
    free(index);
    if (code != CODE_OK) {
        matrix_destroy(made);
        return code;
    }
    *matrix = made;
    return CODE_OK;
}

void matrix_destroy(struct matrix *matrix)
{
    if (matrix == NULL)
        return;
    for (size_t i = 0; i < matrix->column_count; i++)
        comparison_destroy(matrix->columns[i].comparison);
    free(matrix->columns);
    free(matrix->rows);
    free(matrix->groups);
    free(matrix->cells);
    free(matrix);
}

const struct matrix_cell *matrix_cell(const struct matrix *matrix, size_t row, size_t column)
{
    return &matrix->cells[row * matrix->column_count + column];
}
