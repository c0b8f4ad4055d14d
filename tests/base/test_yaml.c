/* SPDX-License-Identifier: Apache-2.0
 *
 * The strict YAML reader: the tree and its positions, and every form of input that it refuses with
 * a place. Positions are counted by hand on the texts below. */
#include "base/text.h"
#include "base/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct yaml_document *parse(const char *text)
{
    struct yaml_document *document = NULL;
    struct error err = {.code = CODE_OK};
    if (yaml_parse("t.yaml", text, strlen(text), &document, &err) != CODE_OK)
        fail_msg("%s", err.message);
    return document;
}

static void expect_error(const char *bytes, size_t count, const char *begin, const char *part)
{
    struct yaml_document *document = NULL;
    struct error err = {.code = CODE_OK};
    enum code code = yaml_parse("t.yaml", bytes, count, &document, &err);
    if (code != CODE_CONFIG || !text_starts_with(err.message, begin) ||
        strstr(err.message, part) == NULL)
        fail_msg("code %s, message '%s', expected '%s' and '%s'", code_name(code), err.message,
                 begin, part);
    assert_null(document);
}

static void test_parse_tree_and_positions(void **state)
{
    (void)state;
    struct yaml_document *document = parse("a: one\n"
                                           "b:\n"
                                           "  - x\n"
                                           "  - \"y z\"\n"
                                           "c: {k: v}\n"
                                           "d:\n");
    const struct yaml_node *root = yaml_root(document);
    assert_int_equal(root->kind, YAML_MAP);
    assert_int_equal(root->count, 4);
    assert_string_equal(yaml_name(document), "t.yaml");

    const struct yaml_node *a = yaml_get(root, "a");
    assert_ptr_equal(a, root->first);
    assert_string_equal(a->text, "one");
    assert_false(a->quoted);
    assert_int_equal(a->line, 1);
    assert_int_equal(a->column, 4);
    assert_int_equal(a->end_column, 7);
    assert_int_equal(a->key_column, 1);

    const struct yaml_node *b = yaml_get(root, "b");
    assert_int_equal(b->kind, YAML_LIST);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->key_line, 2);
    assert_int_equal(b->first->line, 3);
    assert_int_equal(b->first->column, 5);
    assert_null(b->first->key);
    assert_string_equal(b->first->next->text, "y z");
    assert_true(b->first->next->quoted);
    assert_null(b->first->next->next);

    assert_string_equal(yaml_get(yaml_get(root, "c"), "k")->text, "v");
    assert_int_equal(yaml_get(yaml_get(root, "c"), "k")->column, 8);
    assert_string_equal(yaml_get(root, "d")->text, "");
    assert_false(yaml_get(root, "d")->quoted);
    assert_null(yaml_get(root, "e"));
    yaml_destroy(document);
}

/* CF-03: what other readers turn into booleans, octal, base 60 or floats stays the text that was
 * written. */
static void test_parse_words_stay_text(void **state)
{
    (void)state;
    static const char *const words[] = {"no",  "on",    "yes",  "0777", "012",       "1:30",
                                        "1e6", "1_000", "0x10", ".5",   "+5",        "1e400",
                                        "~",   "null",  "true", ".nan", "2001-01-01"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "k: %s\n", words[i]);
        struct yaml_document *document = parse(text);
        assert_string_equal(yaml_get(yaml_root(document), "k")->text, words[i]);
        yaml_destroy(document);
    }
}

static void test_parse_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *begin, *part;
    } rows[] = {
        {"a: 1\nb: 2\nc: {a: 1}\na: 3\n",
         "t.yaml:4:1: ", "duplicate key 'a', first given in line 1"},
        {"p: {q: 1, r: 2, q: 3}\n", "t.yaml:1:17: ", "duplicate key 'q', first given in line 1"},
        {"base: &b {size: 64MiB}\nt1: {<<: *b, n: 5}\n",
         "t.yaml:1:7: ", "anchors ('&b') are not supported"},
        {"t1: {<<: {n: 5}}\n", "t.yaml:1:6: ", "merge keys"},
        {"a: *b\n", "t.yaml:1:4: ", "aliases ('*b') are not supported"},
        {"a: &b 1\n", "t.yaml:1:4: ", "anchors ('&b')"},
        {"a: &b [1]\n", "t.yaml:1:4: ", "anchors ('&b')"},
        {"a: !!int 1\n", "t.yaml:1:4: ", "tags ('!') are not supported"},
        {"a: !x {b: 1}\n", "t.yaml:1:4: ", "tags"},
        {"a:\n\tb: 1\n", "t.yaml:2:1: ", "tab as indentation"},
        {"a:\n  b: 1\n \t c: 1\n", "t.yaml:3:2: ", "tab as indentation"},
        {"a:\n-\t- b\n", "t.yaml:2:2: ", "tab"},
        {"a: 1\n---\nb: 2\n", "t.yaml:2:1: ", "1 document expected"},
        {"", "t.yaml:1:1: ", "empty"},
        {"# only\n# comments\n", "t.yaml:1:1: ", "empty"},
        {"---\n", "t.yaml:1:1: ", "empty"},
        {"\xef\xbb\xbf", "t.yaml:1:1: ", "empty"},
        {"note: peak: 900 GB/s\n", "t.yaml:1:11: ", "must stand in quotes"},
        {"a: @b\n", "t.yaml:1:4: ", "must stand in quotes"},
        {"a: [1, 2\nb: 3\n", "t.yaml:2:", "not YAML"},
        {"a: \"open\n", "t.yaml:2:", "not YAML"},
        {"? [a]\n: 1\n", "t.yaml:1:3: ", "a list as a key"},
        {"{[a]: 1}\n", "t.yaml:1:2: ", "a list as a key"},
        {"'': 1\n", "t.yaml:1:1: ", "empty key"},
        {"a: 1\n: 1\n", "t.yaml:2:1: ", ""},
        {"a: \"x\\0y\"\n", "t.yaml:1:4: ", "control character U+0000"},
        {"a: \"x\\e[31m\"\n", "t.yaml:1:4: ", "control character U+001B"},
        {"\"x\\a\": 1\n", "t.yaml:1:1: ", "control character U+0007"},
        {"a: 1\nb: \x1b[0m\n", "t.yaml:2:4: ", "U+001B"},
        {"a: \xc2\x85 1\n", "t.yaml:1:4: ", "U+0085"},
        {"a: \xe2\x80\xa8 1\n", "t.yaml:1:4: ", "U+2028"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_error(rows[i].text, strlen(rows[i].text), rows[i].begin, rows[i].part);
}

/* CF-13: byte 0xE9 (e acute in Latin-1) in line 40, after "name: caf" */
static void test_parse_latin1_names_its_line(void **state)
{
    (void)state;
    struct text text = {0};
    for (int line = 1; line < 40; line++)
        text_append(&text, "# caf\u00e9\r\n");
    text_append(&text, "name: caf\xe9\n");
    expect_error(text_string(&text), text.length, "t.yaml:40:10: ", "byte 0xE9 is not UTF-8");
    text_release(&text);
}

static void test_parse_utf16(void **state)
{
    (void)state;
    static const char little[] = "\xff\xfe"
                                 "a\0:\0 \0\x31\0\n";
    static const char big[] = "\xfe\xff\0a\0:\0 \0\x31\0\n";
    static const char unmarked[] = "a\0:\0 \0\x31\0\n";
    expect_error(little, sizeof little, "t.yaml:1:1: ", "UTF-16");
    expect_error(big, sizeof big - 1, "t.yaml:1:1: ", "UTF-16");
    expect_error(unmarked, sizeof unmarked, "t.yaml:1:2: ", "UTF-16");
}

/* CF-07 */
static void test_parse_byte_order_mark_and_crlf(void **state)
{
    (void)state;
    struct yaml_document *document = parse("\xef\xbb\xbf"
                                           "a: 1\r\nb:\r\n  c: 2\r\n");
    const struct yaml_node *root = yaml_root(document);
    assert_string_equal(yaml_get(root, "a")->text, "1");
    assert_int_equal(yaml_get(root, "a")->column, 4);
    assert_int_equal(yaml_get(root, "b")->key_line, 2);
    assert_string_equal(yaml_get(yaml_get(root, "b"), "c")->text, "2");
    yaml_destroy(document);
}

static void test_parse_tabs_that_indent_nothing(void **state)
{
    (void)state;
    struct yaml_document *document = parse("a: 1\t# note\nb: \"x\ty\"\n");
    assert_string_equal(yaml_get(yaml_root(document), "b")->text, "x\ty");
    yaml_destroy(document);
}

static void nest(struct text *text, int levels)
{
    text_append(text, "a: ");
    text_pad(text, '[', (size_t)levels);
    text_pad(text, ']', (size_t)levels);
    text_append(text, "\n");
}

/* CF-06. The root map is level 1, so 31 lists fit below it and 32 do not. */
static void test_parse_depth(void **state)
{
    (void)state;
    struct text text = {0};
    nest(&text, YAML_DEPTH_MAX - 1);
    yaml_destroy(parse(text_string(&text)));
    text_clear(&text);
    nest(&text, YAML_DEPTH_MAX);
    expect_error(text_string(&text), text.length, "t.yaml:1:35: ", "nested too deeply");
    text_clear(&text);
    nest(&text, 100000);
    expect_error(text_string(&text), text.length, "t.yaml:1:35: ", "nested too deeply");
    text_clear(&text);
    for (int i = 0; i < 50000; i++)
        text_append(&text, "{a: ");
    expect_error(text_string(&text), text.length, "t.yaml:1:", "nested too deeply");
    text_release(&text);
}

/* CF-05: nine levels of ten aliases: refused at the first anchor. */
static void test_parse_alias_bomb(void **state)
{
    (void)state;
    struct text text = {0};
    text_append(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 10; i++) {
        text_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            text_printf(&text, "%s*a%d", k > 0 ? "," : "", i - 1);
        text_append(&text, "]\n");
    }
    expect_error(text_string(&text), text.length, "t.yaml:1:5: ", "anchors");
    text_release(&text);
}

static void test_parse_node_limit(void **state)
{
    (void)state;
    struct text text = {0};
    text_append(&text, "a: [");
    for (int i = 0; i < YAML_NODES_MAX; i++)
        text_append(&text, "1,");
    text_append(&text, "]\n");
    expect_error(text_string(&text), text.length, "t.yaml:1:", "more than 100000 values");
    text_release(&text);
}

/* Many keys in one map: duplicates are found by sorting, and the whole stays far from quadratic.
 * The last key repeats. */
static void test_parse_many_keys(void **state)
{
    (void)state;
    struct text text = {0};
    for (int i = 0; i < 90000; i++)
        text_printf(&text, "k%d: 1\n", i);
    yaml_destroy(parse(text_string(&text)));
    text_append(&text, "k7: 2\n");
    expect_error(text_string(&text), text.length,
                 "t.yaml:90001:1: ", "duplicate key 'k7', first given in line 8");
    text_release(&text);
}

static void test_parse_byte_limit(void **state)
{
    (void)state;
    struct text text = {0};
    text_append(&text, "a: 1\n#");
    text_pad(&text, 'x', YAML_BYTES_MAX);
    expect_error(text_string(&text), text.length, "t.yaml:1:1: ", "4194304 bytes");
    text_release(&text);
}

/* A file of any bytes gives a tree or an error; every prefix of a good one too. */
static void test_parse_prefixes(void **state)
{
    (void)state;
    static const char whole[] =
        "a: {b: [1, \"two \\u00e9\", 'x'], c: |\n    text\n  }\nd: \xc3\xa9\n";
    for (size_t count = 0; count < sizeof whole; count++) {
        struct yaml_document *document = NULL;
        struct error err = {.code = CODE_OK};
        enum code code = yaml_parse("t.yaml", whole, count, &document, &err);
        assert_true(code == CODE_OK || code == CODE_CONFIG);
        assert_true((code == CODE_OK) == (document != NULL));
        yaml_destroy(document);
    }
}

static void test_load_file(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-test-yaml-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: 1\na: 2\n", 10), 10);
    close(fd);
    struct yaml_document *document = NULL;
    struct error err = {.code = CODE_OK};
    assert_int_equal(yaml_load(path, &document, &err), CODE_CONFIG);
    assert_true(text_starts_with(err.message, path));
    assert_non_null(strstr(err.message, ":2:1: duplicate key 'a'"));
    unlink(path);
    assert_int_equal(yaml_load(path, &document, &err), CODE_IO);
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(yaml_load("/tmp", &document, &err), CODE_IO);
    assert_non_null(strstr(err.message, "directory"));
    assert_null(document);
}

static void test_check_keys(void **state)
{
    (void)state;
    static const char *const allowed[] = {"repetitions", "seed", NULL};
    struct error err = {.code = CODE_OK};
    struct yaml_document *document = parse("seed: 1\nx-note: {any: thing}\nrepetition: 30\n");
    assert_int_equal(yaml_check_keys(document, yaml_root(document), "policy", allowed, &err),
                     CODE_CONFIG);
    assert_string_equal(
        err.message, "t.yaml:3:1: unknown key 'repetition' in policy, did you mean 'repetitions'?");
    yaml_destroy(document);

    document = parse("other: 1\n");
    assert_int_equal(yaml_check_keys(document, yaml_root(document), "policy", allowed, &err),
                     CODE_CONFIG);
    assert_string_equal(
        err.message,
        "t.yaml:1:1: unknown key 'other' in policy, expected one of: repetitions, seed");
    yaml_destroy(document);

    document = parse("x-only: 1\n");
    assert_int_equal(yaml_check_keys(document, yaml_root(document), "policy", allowed, &err),
                     CODE_OK);
    yaml_destroy(document);

    document = parse("- 1\n");
    assert_int_equal(yaml_check_keys(document, yaml_root(document), "policy", allowed, &err),
                     CODE_CONFIG);
    assert_string_equal(err.message, "t.yaml:1:1: policy: expected a map, found a list");
    yaml_destroy(document);
}

static void test_error_clips_long_text(void **state)
{
    (void)state;
    struct text text = {0};
    text_pad(&text, 'k', 900);
    text_append(&text, ": 1\n");
    struct yaml_document *document = parse(text_string(&text));
    static const char *const allowed[] = {"seed", NULL};
    struct error err = {.code = CODE_OK};
    yaml_check_keys(document, yaml_root(document), "policy", allowed, &err);
    assert_non_null(strstr(err.message, "kkk\u2026' in policy, expected one of: seed"));
    yaml_destroy(document);
    text_release(&text);
}

/* CF-10 */
static void test_hash_follows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool follows;
    } rows[] = {
        {"k: card #2\n", true},      {"k: caf\u00e9 #2\n", true}, {"k: card # a note\n", false},
        {"k: card#2\n", false},      {"k: card\n#2\n", false},    {"k: 'card' #2\n", false},
        {"k: \"card #2\"\n", false}, {"k: card #\n", false},      {"k: card", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct yaml_document *document = parse(rows[i].text);
        assert_int_equal(yaml_hash_follows(document, yaml_get(yaml_root(document), "k")),
                         rows[i].follows);
        yaml_destroy(document);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_tree_and_positions),
        cmocka_unit_test(test_parse_words_stay_text),
        cmocka_unit_test(test_parse_faults),
        cmocka_unit_test(test_parse_latin1_names_its_line),
        cmocka_unit_test(test_parse_utf16),
        cmocka_unit_test(test_parse_byte_order_mark_and_crlf),
        cmocka_unit_test(test_parse_tabs_that_indent_nothing),
        cmocka_unit_test(test_parse_depth),
        cmocka_unit_test(test_parse_alias_bomb),
        cmocka_unit_test(test_parse_node_limit),
        cmocka_unit_test(test_parse_many_keys),
        cmocka_unit_test(test_parse_byte_limit),
        cmocka_unit_test(test_parse_prefixes),
        cmocka_unit_test(test_load_file),
        cmocka_unit_test(test_check_keys),
        cmocka_unit_test(test_error_clips_long_text),
        cmocka_unit_test(test_hash_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
