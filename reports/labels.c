/* SPDX-License-Identifier: Apache-2.0
 *
 * Short names for cases and devices. A case key is too long for a table, so the parameters that a
 * whole suite shares are said once. Must not know: output formats. */
#include "reports/labels.h"

#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One "name=value" of a key; begin is not terminated. */
struct token {
    const char *begin;
    size_t length;
};

/* Takes the next token; false at the end. */
static bool token_next(const char **rest, struct token *token)
{
    *rest += strspn(*rest, " ");
    token->begin = *rest;
    token->length = strcspn(*rest, " ");
    *rest += token->length;
    return token->length > 0;
}

static bool key_has(const char *key, const struct token *wanted)
{
    struct token token;
    while (token_next(&key, &token))
        if (token.length == wanted->length && memcmp(token.begin, wanted->begin, token.length) == 0)
            return true;
    return false;
}

static bool all_have(const struct matrix_group *group, const struct matrix_row *rows,
                     const struct token *token)
{
    for (size_t i = 0; i < group->count; i++)
        if (!key_has(rows[group->first + i].key, token))
            return false;
    return true;
}

/* By convention of the suites, a parameter that counts bytes says so in its name. */
static bool names_bytes(const char *name, size_t length)
{
    static const char suffix[] = "_bytes";
    size_t tail = sizeof suffix - 1;
    if (length == 5 && memcmp(name, "bytes", 5) == 0)
        return true;
    if (length == 4 && memcmp(name, "size", 4) == 0)
        return true;
    return length > tail && memcmp(name + length - tail, suffix, tail) == 0;
}

/* Appends a token to a label that has room for capacity bytes; a token that does not fit is cut,
 * never overrun. */
static void label_add(char *label, size_t capacity, const struct token *token)
{
    size_t used = strlen(label);
    const char *equals = memchr(token->begin, '=', token->length);
    size_t name = equals == NULL ? token->length : (size_t)(equals - token->begin);
    size_t value = equals == NULL ? 0 : token->length - name - 1;
    char digits[24];
    if (value > 0 && value < 20 && names_bytes(token->begin, name) &&
        strspn(equals + 1, "0123456789") >= value) {
        char size[LABEL_SIZE_BYTES];
        memcpy(digits, equals + 1, value);
        digits[value] = '\0';
        label_size(strtoull(digits, NULL, 10), size);
        snprintf(label + used, capacity - used, "%s%.*s=%s", used > 0 ? " " : "", (int)name,
                 token->begin, size);
        return;
    }
    snprintf(label + used, capacity - used, "%s%.*s", used > 0 ? " " : "", (int)token->length,
             token->begin);
}

void labels_fill(struct matrix_group *group, struct matrix_row *rows)
{
    const char *rest = rows[group->first].key;
    struct token token;
    if (token_next(&rest, &token))
        snprintf(group->name, sizeof group->name, "%.*s", (int)token.length, token.begin);
    while (group->count > 1 && token_next(&rest, &token))
        if (all_have(group, rows, &token))
            label_add(group->common, sizeof group->common, &token);
    for (size_t i = 0; i < group->count; i++) {
        struct matrix_row *row = &rows[group->first + i];
        rest = row->key;
        token_next(&rest, &token);
        while (token_next(&rest, &token))
            if (group->count == 1 || !all_have(group, rows, &token))
                label_add(row->label, sizeof row->label, &token);
        if (row->label[0] == '\0')
            snprintf(row->label, sizeof row->label, "%s", group->name);
    }
}

void labels_column(struct matrix_column *column, bool number_files)
{
    if (number_files)
        snprintf(column->label, sizeof column->label, "%s [%zu]", column->device->id,
                 column->file + 1);
    else
        snprintf(column->label, sizeof column->label, "%s", column->device->id);
}

static const char *api_of(const struct result_device *device)
{
    if (text_starts_with(device->id, "opencl:"))
        return "OpenCL";
    if (text_starts_with(device->id, "cuda:"))
        return "CUDA";
    return NULL;
}

void label_kind(const struct result_device *device, char out[LABEL_KIND_BYTES])
{
    const char *api = api_of(device);
    const char *type = device->type == NULL ? "other" : device->type;
    if (strcmp(device->id, "host:one") == 0)
        snprintf(out, LABEL_KIND_BYTES, "host CPU, one core");
    else if (strcmp(device->id, "host:all") == 0)
        snprintf(out, LABEL_KIND_BYTES, "host CPU, all cores");
    else if (device->software)
        snprintf(out, LABEL_KIND_BYTES, "CPU (software%s%s)", api != NULL ? " " : "",
                 api != NULL ? api : "");
    else if (strcmp(type, "gpu") == 0)
        snprintf(out, LABEL_KIND_BYTES, "GPU%s%s%s", api != NULL ? " (" : "",
                 api != NULL ? api : "", api != NULL ? ")" : "");
    else if (strcmp(type, "cpu") == 0)
        snprintf(out, LABEL_KIND_BYTES, "CPU%s%s%s", api != NULL ? " (" : "",
                 api != NULL ? api : "", api != NULL ? ")" : "");
    else
        snprintf(out, LABEL_KIND_BYTES, "%s",
                 strcmp(type, "accelerator") == 0 ? type : "other device");
}

void label_size(uint64_t bytes, char out[LABEL_SIZE_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    char count[QUANTITY_BYTES];
    size_t unit = 0;
    uint64_t value = bytes;
    while (value > 0 && value % 1024 == 0 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    if (value >= 10000 && unit > 0) { /* 11718750 KiB helps nobody */
        value = bytes;
        unit = 0;
    }
    snprintf(out, LABEL_SIZE_BYTES, "%s %s", quantity_format_count(value, count), units[unit]);
}
