/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing text and string operations. UTF-8 vectors are those of RFC 3629 (sections 3, 4 and 10)
 * and of Unicode's table 3-7; digests are the test vectors of FIPS 180-4. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static void test_append_grows(void **state)
{
    (void)state;
    struct text text = {0};
    assert_string_equal(text_string(&text), "");
    for (int i = 0; i < 1000; i++)
        text_append(&text, "abc");
    assert_int_equal(text.length, 3000);
    assert_int_equal(strlen(text_string(&text)), 3000);
    assert_memory_equal(text_string(&text) + 2994, "abcabc", 7);
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    text_append_bytes(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text_string(&text), "a\0b", 4);
    text_append_bytes(&text, NULL, 0);
    assert_int_equal(text.length, 3);
    text_release(&text);
    assert_null(text.bytes);
    text_release(&text);
}

static void test_printf_longer_than_room(void **state)
{
    (void)state;
    struct text text = {0};
    text_printf(&text, "%s", "");
    assert_string_equal(text_string(&text), "");
    text_printf(&text, "%0*d", 500, 7);
    text_printf(&text, "|%s", "end");
    assert_int_equal(text.length, 504);
    assert_string_equal(text_string(&text) + 499, "7|end");
    text_pad(&text, '-', 3);
    assert_string_equal(text_string(&text) + 499, "7|end---");
    text_release(&text);
}

static void test_duplicate(void **state)
{
    (void)state;
    char original[] = "text";
    char *copy = text_duplicate(original);
    original[0] = 'T';
    assert_string_equal(copy, "text");
    free(copy);
    assert_null(text_duplicate(NULL));
}

static void test_memory_zeroed(void **state)
{
    (void)state;
    unsigned char *block = memory_zeroed(100, 7);
    for (size_t i = 0; i < 700; i++)
        assert_int_equal(block[i], 0);
    block = memory_resize(block, 2000, 7);
    assert_int_equal(block[699], 0);
    free(block);
    free(memory_zeroed(0, 8));
}

static void test_make_printable(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printable;
    } rows[] = {
        {"plain text", "plain text"},
        {"", ""},
        {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
        {"a\tb\nc\rd\x7f", "a?b?c?d?"},
        {"caf\u00e9 \u2026 \U0001f600", "caf\u00e9 \u2026 \U0001f600"},
        {"\xc2\x9b"
         "31m",
         "??31m"},                /* U+009B, the one-character form of ESC [ */
        {"\xc2\xa0", "\xc2\xa0"}, /* U+00A0 is no control character */
        {"\x9b"
         "31m",
         "?31m"},            /* the same as a bare byte, not UTF-8 */
        {"caf\xe9", "caf?"}, /* Latin-1 */
        {"\xe2\x80", "??"},  /* cut off */
        {"\xe2\x28\xa1", "?(?"},
        {"\xc2", "?"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char copy[64];
        size_t offset = 0;
        strcpy(copy, rows[i].text);
        text_make_printable(copy);
        assert_string_equal(copy, rows[i].printable);
        assert_true(text_is_utf8(copy, strlen(copy), &offset));
    }
}

static void test_clip(void **state)
{
    (void)state;
    char out[TEXT_CLIP_BYTES];
    struct text text = {0};
    assert_string_equal(text_clip("short", out), "short");
    assert_string_equal(text_clip("a\nb", out), "a?b");
    text_pad(&text, 'x', 60);
    assert_string_equal(text_clip(text_string(&text), out), text_string(&text));
    text_append(&text, "y");
    text_clip(text_string(&text), out);
    assert_int_equal(strlen(out), 63);
    assert_string_equal(out + 59, "x\u2026");
    text_clear(&text);
    for (int i = 0; i < 100; i++)
        text_append(&text, "\U0001f600"); /* four bytes each: the most there can be */
    text_clip(text_string(&text), out);
    assert_int_equal(strlen(out), 60 * 4 + 3);
    assert_int_equal(text_columns(out), 61);
    text_clear(&text);
    text_pad(&text, '\xff', 100);
    text_clip(text_string(&text), out);
    assert_int_equal(text_columns(out), 61);
    text_release(&text);
}

static void test_is_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t bad; /* offset of the first bad byte; SIZE_MAX: all good */
    } rows[] = {
        {"", SIZE_MAX},
        {"A\xe2\x89\xa2\xce\x91.", SIZE_MAX},               /* RFC 3629, section 7 */
        {"\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4", SIZE_MAX}, /* the same */
        {"\xef\xbb\xbf\xf0\xa3\x8e\xb4", SIZE_MAX},         /* the same */
        {"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", SIZE_MAX},
        {"\xc0\x80", 0},                        /* overlong NUL: RFC 3629, section 10 */
        {"a\xc1\xbf", 1},                       /* overlong */
        {"\xe0\x9f\xbf", 0},                    /* overlong */
        {"\xf0\x8f\xbf\xbf", 0},                /* overlong */
        {"ok\xed\xa0\x80", 2},                  /* surrogate D800 */
        {"\xed\x9f\xbf\xee\x80\x80", SIZE_MAX}, /* its neighbours */
        {"\xf4\x90\x80\x80", 0},                /* U+110000 */
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\x80", 0},
        {"ab\xe2\x82", 2},
        {"\xe2\x82\xac\xe2", 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t offset = SIZE_MAX;
        bool good = text_is_utf8(rows[i].bytes, strlen(rows[i].bytes), &offset);
        assert_int_equal(good, rows[i].bad == SIZE_MAX);
        if (!good)
            assert_int_equal(offset, rows[i].bad);
    }
    size_t offset = 0;
    assert_true(text_is_utf8("a\0b", 3, &offset));
}

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("abc"), 3);
    assert_int_equal(text_columns("caf\u00e9\u2026"), 5);
}

static void test_compare_ignoring_case(void **state)
{
    (void)state;
    assert_true(text_equal_ignoring_case("PoCL", "pocl"));
    assert_false(text_equal_ignoring_case("pocl", "pocl2"));
    assert_true(text_contains_ignoring_case("Tesla T4", "tesla"));
    assert_true(text_contains_ignoring_case("Tesla T4", "T4"));
    assert_true(text_contains_ignoring_case("Tesla T4", ""));
    assert_true(text_contains_ignoring_case("", ""));
    assert_false(text_contains_ignoring_case("", "a"));
    assert_false(text_contains_ignoring_case("Tesla T4", "T40"));
    assert_true(text_starts_with("x-note", "x-"));
    assert_true(text_starts_with("x-", "x-"));
    assert_true(text_starts_with("abc", ""));
    assert_false(text_starts_with("x", "x-"));
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const words[] = {"rounds_min", "rounds_max", "budget", "warmup",
                                        "f32",        "f64",        NULL};
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        {"budgte", "budget"},        /* distance 2 */
        {"Budget", "budget"},        /* case costs nothing */
        {"round_min", "rounds_min"}, /* 1, and 3 to rounds_max */
        {"rounds_maxx", "rounds_max"},
        {"warm_up", "warmup"},
        {"f46", NULL}, /* 2 from f64, too far for 3 letters */
        {"f3", "f32"},
        {"f", NULL}, /* 2 from every word */
        {"f33", "f32"},
        {"temperature", NULL},
        {"", NULL},
        {"budget", "budget"},
        {"rounds_mix", "rounds_min"}, /* as near to rounds_max: the first wins */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *nearest = text_nearest(rows[i].word, words);
        if (rows[i].nearest == NULL)
            assert_null(nearest);
        else
            assert_string_equal(nearest, rows[i].nearest);
    }
    char huge[5000];
    memset(huge, 'b', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(text_nearest(huge, words));
    const char *const long_candidates[] = {huge, "budget", NULL};
    assert_string_equal(text_nearest("budgets", long_candidates), "budget");
}

/* FIPS 180-4 examples, and the empty message. */
static void test_sha256(void **state)
{
    (void)state;
    char hex[SHA256_HEX_BYTES];
    text_sha256("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    text_sha256(two_blocks, sizeof two_blocks - 1, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    text_sha256("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_grows),
        cmocka_unit_test(test_printf_longer_than_room),
        cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_memory_zeroed),
        cmocka_unit_test(test_make_printable),
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_is_utf8),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_compare_ignoring_case),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
