/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the tree of yaml.h from libyaml's events. The stack of open lists and maps is an array, so
 * depth costs no C stack; nodes come from blocks that the document owns. Must not know what the
 * keys mean. */
#include "base/yaml.h"

#include "base/text.h"
#include "base/yaml_bytes.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { BLOCK_NODES = 256 };

struct block {
    struct block *next;
    size_t used;
    struct yaml_node nodes[BLOCK_NODES];
};

struct yaml_document {
    char *name; /* printable */
    char *bytes;
    size_t byte_count; /* without the byte order mark */
    struct block *blocks;
    size_t node_count;
    char **strings; /* every text and key of the tree */
    size_t string_count, string_capacity;
    struct yaml_node *root;
};

/* An open list or map. */
struct frame {
    struct yaml_node *node;
    struct yaml_node **tail; /* where the next child is chained */
    const char *key;         /* of the next value of a map; NULL while a key is expected */
    size_t key_line, key_column;
};

struct builder {
    struct yaml_document *document;
    struct error *err;
    struct frame frames[YAML_DEPTH_MAX];
    size_t depth;
    size_t documents;
    bool finished;
};

static enum code fail_at(const struct builder *builder, yaml_mark_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum code fail_at(const struct builder *builder, yaml_mark_t mark, const char *format, ...)
{
    char what[ERROR_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set(builder->err, CODE_CONFIG, 0, "%s:%zu:%zu: %s", builder->document->name,
                     mark.line + 1, mark.column + 1, what);
}

static struct yaml_node *node_create(struct yaml_document *document, enum yaml_kind kind,
                                     const yaml_event_t *event)
{
    if (document->blocks == NULL || document->blocks->used == BLOCK_NODES) {
        struct block *block = memory_zeroed(1, sizeof *block);
        block->next = document->blocks;
        document->blocks = block;
    }
    struct yaml_node *node = &document->blocks->nodes[document->blocks->used++];
    document->node_count++;
    node->kind = kind;
    node->line = event->start_mark.line + 1;
    node->column = event->start_mark.column + 1;
    node->end_line = event->end_mark.line + 1;
    node->end_column = event->end_mark.column + 1;
    return node;
}

/* Copy of a scalar's text that lives as long as the document. */
static const char *keep_text(struct yaml_document *document, const yaml_event_t *event)
{
    if (document->string_count == document->string_capacity) {
        document->string_capacity = document->string_capacity * 2 + BLOCK_NODES;
        document->strings =
            memory_resize(document->strings, document->string_capacity, sizeof(char *));
    }
    char *copy = text_duplicate((const char *)event->data.scalar.value);
    document->strings[document->string_count++] = copy;
    return copy;
}

static enum code check_scalar(const struct builder *builder, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t offset = 0;
    uint32_t character = 0;
    if (yaml_bytes_control(text, event->data.scalar.length, &offset, &character))
        return fail_at(builder, event->start_mark,
                       "the text stands for the control character U+%04X, expected printable text",
                       (unsigned)character);
    return CODE_OK;
}

static enum code take_key(const struct builder *builder, struct frame *frame,
                          const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    enum code code = check_scalar(builder, event);
    if (code != CODE_OK)
        return code;
    if (text[0] == '\0')
        return fail_at(builder, event->start_mark, "empty key, expected a name before ':'");
    if (plain && strcmp(text, "<<") == 0)
        return fail_at(builder, event->start_mark,
                       "merge keys ('<<') are not supported, write the keys out");
    frame->key = keep_text(builder->document, event);
    frame->key_line = event->start_mark.line + 1;
    frame->key_column = event->start_mark.column + 1;
    return CODE_OK;
}

/* Puts node where the innermost open list or map expects it, or at the root. */
static void attach(struct builder *builder, struct yaml_node *node)
{
    if (builder->depth == 0) {
        builder->document->root = node;
        return;
    }
    struct frame *frame = &builder->frames[builder->depth - 1];
    *frame->tail = node;
    frame->tail = &node->next;
    frame->node->count++;
    node->key = frame->key;
    node->key_line = frame->key_line;
    node->key_column = frame->key_column;
    frame->key = NULL;
}

static bool key_expected(const struct builder *builder)
{
    if (builder->depth == 0)
        return false;
    const struct frame *frame = &builder->frames[builder->depth - 1];
    return frame->node->kind == YAML_MAP && frame->key == NULL;
}

static enum code check_room(const struct builder *builder, const yaml_event_t *event)
{
    if (builder->document->node_count < YAML_NODES_MAX)
        return CODE_OK;
    return fail_at(builder, event->start_mark, "more than %d values, the most that a file may hold",
                   (int)YAML_NODES_MAX);
}

static enum code take_scalar(struct builder *builder, const yaml_event_t *event)
{
    if (event->data.scalar.anchor != NULL)
        return fail_at(builder, event->start_mark,
                       "anchors ('&%s') are not supported, write the value out",
                       (const char *)event->data.scalar.anchor);
    if (event->data.scalar.tag != NULL)
        return fail_at(builder, event->start_mark, "tags ('!') are not supported");
    if (key_expected(builder))
        return take_key(builder, &builder->frames[builder->depth - 1], event);
    enum code code = check_room(builder, event);
    if (code == CODE_OK)
        code = check_scalar(builder, event);
    if (code != CODE_OK)
        return code;
    struct yaml_node *node = node_create(builder->document, YAML_SCALAR, event);
    node->text = keep_text(builder->document, event);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    attach(builder, node);
    return CODE_OK;
}

static enum code open_frame(struct builder *builder, enum yaml_kind kind, const yaml_event_t *event,
                            const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL)
        return fail_at(builder, event->start_mark,
                       "anchors ('&%s') are not supported, write the value out",
                       (const char *)anchor);
    if (tag != NULL)
        return fail_at(builder, event->start_mark, "tags ('!') are not supported");
    if (key_expected(builder))
        return fail_at(builder, event->start_mark, "a %s as a key, expected text",
                       yaml_kind_name(kind));
    if (builder->depth == YAML_DEPTH_MAX)
        return fail_at(builder, event->start_mark, "nested too deeply, at most %d levels",
                       (int)YAML_DEPTH_MAX);
    enum code code = check_room(builder, event);
    if (code != CODE_OK)
        return code;
    struct yaml_node *node = node_create(builder->document, kind, event);
    node->text = "";
    attach(builder, node);
    builder->frames[builder->depth++] = (struct frame){.node = node, .tail = &node->first};
    return CODE_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const struct yaml_node *first = *(const struct yaml_node *const *)a;
    const struct yaml_node *second = *(const struct yaml_node *const *)b;
    int order = strcmp(first->key, second->key);
    if (order != 0)
        return order;
    if (first->key_line != second->key_line)
        return first->key_line < second->key_line ? -1 : 1;
    return first->key_column < second->key_column ? -1 : 1;
}

static enum code check_duplicates(const struct builder *builder, const struct yaml_node *map)
{
    if (map->count < 2)
        return CODE_OK;
    const struct yaml_node **children = memory_zeroed(map->count, sizeof *children);
    size_t count = 0;
    for (const struct yaml_node *child = map->first; child != NULL; child = child->next)
        children[count++] = child;
    qsort(children, count, sizeof *children, compare_keys);
    enum code code = CODE_OK;
    for (size_t i = 1; i < count && code == CODE_OK; i++) {
        char key[TEXT_CLIP_BYTES];
        if (strcmp(children[i - 1]->key, children[i]->key) == 0)
            code = yaml_key_error(builder->document, children[i], builder->err,
                                  "duplicate key '%s', first given in line %zu",
                                  text_clip(children[i]->key, key), children[i - 1]->key_line);
    }
    free(children);
    return code;
}

static enum code close_frame(struct builder *builder)
{
    const struct frame *frame = &builder->frames[--builder->depth];
    assert(frame->node != NULL);
    return frame->node->kind == YAML_MAP ? check_duplicates(builder, frame->node) : CODE_OK;
}

static enum code check_whole(const struct builder *builder)
{
    const struct yaml_node *root = builder->document->root;
    if (root == NULL || (root->kind == YAML_SCALAR && !root->quoted && root->text[0] == '\0'))
        return error_set(builder->err, CODE_CONFIG, 0, "%s:1:1: the file is empty, expected a map",
                         builder->document->name);
    return CODE_OK;
}

static enum code take_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return CODE_OK;
    case YAML_STREAM_END_EVENT:
        builder->finished = true;
        return check_whole(builder);
    case YAML_DOCUMENT_START_EVENT:
        if (builder->documents++ > 0)
            return fail_at(builder, event->start_mark,
                           "a second document begins here, 1 document expected");
        return CODE_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(builder, event->start_mark,
                       "aliases ('*%s') are not supported, write the value out",
                       (const char *)event->data.alias.anchor);
    case YAML_SCALAR_EVENT:
        return take_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_frame(builder, YAML_LIST, event, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_frame(builder, YAML_MAP, event, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_frame(builder);
    }
    return CODE_OK;
}

/* What the author should do about a fault that libyaml words for programmers; "" if there is
 * nothing to add. */
static const char *hint(const struct yaml_document *document, const yaml_parser_t *parser)
{
    struct yaml_position position = {parser->problem_mark.line + 1,
                                     parser->problem_mark.column + 1};
    size_t offset = yaml_bytes_offset(document->bytes, document->byte_count, position);
    bool tab = offset < document->byte_count && document->bytes[offset] == '\t';
    if (strstr(parser->problem, "mapping values are not allowed") != NULL)
        return "; a text that holds ': ' must stand in quotes";
    if (strstr(parser->problem, "cannot start any token") == NULL)
        return "";
    return tab ? "; it is a tab, use blanks" : "; a text that begins with it must stand in quotes";
}

static enum code parser_fault(const struct builder *builder, const yaml_parser_t *parser)
{
    const struct yaml_document *document = builder->document;
    if (parser->error == YAML_MEMORY_ERROR)
        return error_set(builder->err, CODE_MEMORY, 0, "%s: out of memory", document->name);
    if (parser->error == YAML_READER_ERROR) {
        struct yaml_position at =
            yaml_bytes_position(document->bytes, document->byte_count, parser->problem_offset);
        return error_set(builder->err, CODE_CONFIG, 0, "%s:%zu:%zu: %s", document->name, at.line,
                         at.column, parser->problem);
    }
    if (parser->problem == NULL)
        return fail_at(builder, parser->mark, "not YAML");
    if (parser->context == NULL || parser->context_mark.line == parser->problem_mark.line)
        return fail_at(builder, parser->problem_mark, "not YAML: %s%s", parser->problem,
                       hint(document, parser));
    return fail_at(builder, parser->problem_mark, "not YAML: %s %s of line %zu%s", parser->problem,
                   parser->context, parser->context_mark.line + 1, hint(document, parser));
}

static enum code build(struct builder *builder)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return error_set(builder->err, CODE_MEMORY, 0, "%s: out of memory",
                         builder->document->name);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)builder->document->bytes,
                                 builder->document->byte_count);
    enum code code = CODE_OK;
    while (code == CODE_OK && !builder->finished) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            code = parser_fault(builder, &parser);
            break;
        }
        code = take_event(builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return code;
}

enum code yaml_parse(const char *name, const char *bytes, size_t count,
                     struct yaml_document **document, struct error *err)
{
    *document = NULL;
    struct yaml_document *made = memory_zeroed(1, sizeof *made);
    made->name = text_duplicate(name);
    text_make_printable(made->name);
    size_t mark = yaml_bytes_mark(bytes, count);
    made->byte_count = count - mark;
    made->bytes = memory_zeroed(made->byte_count + 1, 1);
    if (made->byte_count > 0)
        memcpy(made->bytes, bytes + mark, made->byte_count);
    enum code code = CODE_OK;
    if (count > YAML_BYTES_MAX)
        code = error_set(err, CODE_CONFIG, 0, "%s:1:1: the file has more than %d bytes, the limit",
                         made->name, (int)YAML_BYTES_MAX);
    if (code == CODE_OK)
        code = yaml_bytes_check(made->name, made->bytes, made->byte_count, err);
    if (code == CODE_OK) {
        struct builder builder = {.document = made, .err = err};
        code = build(&builder);
    }
    if (code != CODE_OK) {
        yaml_destroy(made);
        return code;
    }
    *document = made;
    return CODE_OK;
}

enum code yaml_load(const char *path, struct yaml_document **document, struct error *err)
{
    *document = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_set(err, CODE_IO, errno, "cannot open '%s': %s", path, strerror(errno));
    /* One byte more than allowed, so that yaml_parse sees a file that is too large. */
    char *bytes = memory_zeroed((size_t)YAML_BYTES_MAX + 1, 1);
    size_t count = fread(bytes, 1, (size_t)YAML_BYTES_MAX + 1, file);
    int failure = ferror(file) ? errno : 0;
    fclose(file);
    enum code code;
    if (failure != 0)
        code = error_set(err, CODE_IO, failure, "cannot read '%s': %s", path, strerror(failure));
    else
        code = yaml_parse(path, bytes, count, document, err);
    free(bytes);
    return code;
}

void yaml_destroy(struct yaml_document *document)
{
    if (document == NULL)
        return;
    while (document->blocks != NULL) {
        struct block *block = document->blocks;
        document->blocks = block->next;
        free(block);
    }
    for (size_t i = 0; i < document->string_count; i++)
        free(document->strings[i]);
    free(document->strings);
    free(document->name);
    free(document->bytes);
    free(document);
}

const struct yaml_node *yaml_root(const struct yaml_document *document)
{
    return document->root;
}

const char *yaml_name(const struct yaml_document *document)
{
    return document->name;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    for (const struct yaml_node *child = map->first; child != NULL; child = child->next)
        if (child->key != NULL && strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

const char *yaml_kind_name(enum yaml_kind kind)
{
    static const char *const names[] = {
        [YAML_SCALAR] = "scalar", [YAML_LIST] = "list", [YAML_MAP] = "map"};
    return names[kind];
}

bool yaml_hash_follows(const struct yaml_document *document, const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR || node->quoted)
        return false;
    struct yaml_position end = {node->end_line, node->end_column};
    size_t at = yaml_bytes_offset(document->bytes, document->byte_count, end);
    size_t begin = at;
    while (at < document->byte_count && document->bytes[at] == ' ')
        at++;
    return at > begin && document->byte_count - at >= 2 && document->bytes[at] == '#' &&
           strchr(" \t\r\n", document->bytes[at + 1]) == NULL;
}
