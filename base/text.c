/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing text and string operations; see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void die_of_memory(void)
{
    static const char message[] = "assay: out of memory\n";
    fputs(message, stderr);
    abort();
}

void *memory_zeroed(size_t count, size_t bytes)
{
    void *block = calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    if (block == NULL)
        die_of_memory();
    return block;
}

void *memory_resize(void *block, size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes)
        die_of_memory();
    void *resized = realloc(block, count * bytes > 0 ? count * bytes : 1);
    if (resized == NULL)
        die_of_memory();
    return resized;
}

static void text_reserve(struct text *text, size_t more)
{
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity;
    while (capacity < needed)
        capacity *= 2;
    text->bytes = memory_resize(text->bytes, capacity, 1);
    text->capacity = capacity;
}

void text_append_bytes(struct text *text, const char *bytes, size_t count)
{
    text_reserve(text, count);
    if (count > 0)
        memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
    text_append_bytes(text, string, strlen(string));
}

void text_pad(struct text *text, char character, size_t count)
{
    text_reserve(text, count);
    memset(text->bytes + text->length, character, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        text_reserve(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

const char *text_string(const struct text *text)
{
    return text->bytes != NULL ? text->bytes : "";
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void text_release(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

char *text_duplicate(const char *string)
{
    if (string == NULL)
        return NULL;
    size_t bytes = strlen(string) + 1;
    char *copy = memory_resize(NULL, bytes, 1);
    memcpy(copy, string, bytes);
    return copy;
}

/* Length of the well-formed UTF-8 sequence at bytes (RFC 3629, section 4), 0 if it is not one. */
static size_t utf8_sequence(const unsigned char *bytes, size_t left)
{
    unsigned char lead = bytes[0];
    if (lead < 0x80)
        return 1;
    size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (lead == 0xe0 && bytes[1] < 0xa0) || (lead == 0xf0 && bytes[1] < 0x90);
    bool surrogate = lead == 0xed && bytes[1] >= 0xa0;
    bool too_large = lead == 0xf4 && bytes[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

void text_make_printable(char *string)
{
    size_t left = strlen(string);
    for (unsigned char *c = (unsigned char *)string; left > 0;) {
        size_t sequence = utf8_sequence(c, left);
        bool control = sequence == 1 && (*c < 0x20 || *c == 0x7f);
        bool c1 = sequence == 2 && *c == 0xc2 && c[1] < 0xa0; /* U+0080 to U+009F */
        size_t step = sequence > 0 ? sequence : 1;
        if (sequence == 0 || control || c1)
            memset(c, '?', step);
        c += step;
        left -= step;
    }
}

char *text_clip(const char *string, char out[TEXT_CLIP_BYTES])
{
    static const char ellipsis[] = "\u2026";
    size_t length = 0, left = strlen(string);
    for (size_t columns = 0; string[length] != '\0' && columns < TEXT_CLIP_COLUMNS; columns++) {
        size_t sequence = utf8_sequence((const unsigned char *)string + length, left - length);
        length += sequence > 0 ? sequence : 1;
    }
    memcpy(out, string, length);
    out[length] = '\0';
    text_make_printable(out);
    if (string[length] != '\0')
        memcpy(out + length, ellipsis, sizeof ellipsis);
    return out;
}

bool text_equal_ignoring_case(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

bool text_contains_ignoring_case(const char *haystack, const char *needle)
{
    size_t length = strlen(needle);
    for (; *haystack != '\0'; haystack++)
        if (strncasecmp(haystack, needle, length) == 0)
            return true;
    return length == 0;
}

bool text_starts_with(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool text_is_utf8(const char *bytes, size_t length, size_t *offset)
{
    for (size_t i = 0; i < length;) {
        size_t sequence = utf8_sequence((const unsigned char *)bytes + i, length - i);
        if (sequence == 0) {
            *offset = i;
            return false;
        }
        i += sequence;
    }
    return true;
}

size_t text_columns(const char *string)
{
    size_t columns = 0;
    for (; *string != '\0'; string++)
        columns += ((unsigned char)*string & 0xc0) != 0x80;
    return columns;
}

enum { NEAREST_WORD_BYTES = 48 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NEAREST_WORD_BYTES + 1];
    size_t length_b = strlen(b);
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t above = row[j];
            size_t best =
                diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[length_b];
}

const char *text_nearest(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t length = strlen(word);
    size_t limit = length <= 3 ? 1 : length <= 7 ? 2 : 3;
    for (; length <= NEAREST_WORD_BYTES && *candidates != NULL; candidates++) {
        if (strlen(*candidates) > NEAREST_WORD_BYTES)
            continue;
        size_t distance = edit_distance(word, *candidates);
        if (distance <= limit) {
            nearest = *candidates;
            limit = distance > 0 ? distance - 1 : 0;
            if (distance == 0)
                break;
        }
    }
    return nearest;
}

void text_sha256(const void *bytes, size_t count, char hex[SHA256_HEX_BYTES])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, bytes, count);
    sodium_bin2hex(hex, SHA256_HEX_BYTES, digest, sizeof digest);
}
