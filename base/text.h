/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing text, and the few string operations that more than one module needs. The program never
 * calls setlocale, so printf and strtod always use the decimal point. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growing text. Start from {0}; release with text_release. Out of memory aborts with a message: a
 * tool that cannot allocate a few kilobytes of text has nothing left to report with. */
struct text {
    char *bytes; /* always terminated once anything was appended; NULL before */
    size_t length;
    size_t capacity;
};

void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const char *bytes, size_t count);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends count times the character. */
void text_pad(struct text *text, char character, size_t count);
/* The characters so far; "" for an empty text, never NULL. Borrowed until the next append. */
const char *text_string(const struct text *text);
void text_clear(struct text *text);
void text_release(struct text *text);

/* Heap copy of string; NULL stays NULL. Aborts when out of memory. */
char *text_duplicate(const char *string);

/* malloc and realloc that abort with a message when out of memory: for small bookkeeping only,
 * never for buffers of a workload. Zero-filled. */
void *memory_zeroed(size_t count, size_t bytes);
void *memory_resize(void *block, size_t count, size_t bytes);

/* Replaces control characters (ESC and C1 included) and bytes that are not UTF-8, in place, by '?':
 * driver text and labels reach terminals and JSON, which holds UTF-8 only. */
void text_make_printable(char *string);
/* Copy of string for a message that repeats it: at most TEXT_CLIP_COLUMNS characters, then "…",
 * printable. Returns out. */
enum { TEXT_CLIP_COLUMNS = 60, TEXT_CLIP_BYTES = 4 * TEXT_CLIP_COLUMNS + 4 };
char *text_clip(const char *string, char out[TEXT_CLIP_BYTES]);
bool text_equal_ignoring_case(const char *a, const char *b);
bool text_contains_ignoring_case(const char *haystack, const char *needle);
bool text_starts_with(const char *string, const char *prefix);

/* Checks that length bytes are UTF-8; *offset is the first bad byte when they are not. */
bool text_is_utf8(const char *bytes, size_t length, size_t *offset);
/* Terminal columns of a UTF-8 string, one a code point. */
size_t text_columns(const char *string);

/* The candidate nearest to word by edit distance, NULL if none is near enough to be a misspelling.
 * candidates ends with NULL. */
const char *text_nearest(const char *word, const char *const *candidates);

/* Lower-case hexadecimal SHA-256 of the bytes into hex (65 bytes with the terminator). */
enum { SHA256_HEX_BYTES = 65 };
void text_sha256(const void *bytes, size_t count, char hex[SHA256_HEX_BYTES]);

#endif
