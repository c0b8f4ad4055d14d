/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports as HTML and Markdown: the figures are worked out by hand from constant samples; names
 * that would be markup, rows without a number, the same file twice. */
#include "made_result.h"

#include "reports/figures.h"
#include "reports/format.h"
#include "reports/labels.h"
#include "reports/markup.h"
#include "reports/matrix.h"

static const char path_a[] = "test_html_a.jsonl";
static const char path_b[] = "test_html_b.jsonl";
static const char run_a[] = "0123456789abcdef0123456789abcdef";
static const char run_b[] = "fedcba9876543210fedcba9876543210";

static enum code write_report(const char *format, const char *const *paths, size_t count,
                              const char *base, struct text *out, struct error *err)
{
    struct result *results[4];
    struct report_input input = {.results = (const struct result *const *)results,
                                 .result_count = count,
                                 .difference = 0.02,
                                 .base = base,
                                 .created = "2025-02-03T04:05:06Z"};
    for (size_t i = 0; i < count; i++)
        made_load(paths[i], &results[i]);
    enum code code = report_format_find(format)->write(&input, out, err);
    for (size_t i = 0; i < count; i++)
        result_destroy(results[i]);
    return code;
}

static void expect(const struct text *report, const char *text)
{
    if (strstr(text_string(report), text) == NULL)
        fail_msg("the report lacks: %s", text);
}

static void expect_not(const struct text *report, const char *text)
{
    const char *found = strstr(text_string(report), text);
    if (found != NULL)
        fail_msg("the report holds '%s': %.120s", text, found);
}

static size_t count_of(const struct text *report, const char *text)
{
    size_t count = 0;
    for (const char *at = text_string(report); (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* Two devices, five cases, three of them ok on both: 16,000,000 bytes in 2 ms and 1 ms are 8 and 16
 * GB/s, twice as fast; in 4 ms and 0.5 ms 4 and 32 GB/s, eight times; in 1 ms and 2 ms 16 and 8
 * GB/s, half as fast. Their geometric mean is (2 · 8 · 0.5)^(1/3) = 2. */
static void make_five(const char *path)
{
    struct made made;
    made_init(&made, run_a);
    made_device(&made, "host:all", "Test CPU", "cpu", true, "host");
    made_device(&made, "opencl:test:0", "Test card", "gpu", false, "device");
    made_ok(&made, "pixel@1 n=1 tier=portable", "host:all", 16000000, 2e6);
    made_ok(&made, "pixel@1 n=2 tier=portable", "host:all", 16000000, 4e6);
    made_ok(&made, "pixel@1 n=3 tier=portable", "host:all", 16000000, 1e6);
    made_ok(&made, "pixel@1 n=4 tier=portable", "host:all", 16000000, 1e6);
    made_ok(&made, "pixel@1 n=5 tier=portable", "host:all", 16000000, 1e6);
    made_ok(&made, "pixel@1 n=1 tier=portable", "opencl:test:0", 16000000, 1e6);
    made_ok(&made, "pixel@1 n=2 tier=portable", "opencl:test:0", 16000000, 0.5e6);
    made_ok(&made, "pixel@1 n=3 tier=portable", "opencl:test:0", 16000000, 2e6);
    made_record(&made, "pixel@1 n=4 tier=portable", "opencl:test:0", "unsupported",
                "no fp64 on this device", 16000000, json_null());
    double wrong[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; /* 16,000 TB/s, if it were believed */
    made_record(&made, "pixel@1 n=5 tier=portable", "opencl:test:0", "failed-verification",
                "7 of 9 elements are wrong", 16000000, made_rounds(wrong, 10, 4));
    made_write(&made, path, true);
}

static void test_html_figures_by_hand(void **state)
{
    (void)state;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    make_five(path_a);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    expect(&html, "<b>8 of 10 measurements passed.</b>");
    expect(&html, "Base: host:all");
    expect(&html, ">8.00 GB/s</a>");
    expect(&html, ">16.0 GB/s</a>");
    expect(&html, ">32.0 GB/s</a>");
    expect(&html, "2.00× · faster");
    expect(&html, "8.00× · faster");
    expect(&html, "0.500× · slower");
    expect(&html, "2.00× over 3 of 5 cases");
    expect(&html, "counted: read+write");
    expect(&html, "GPU (OpenCL)");
    expect(&html, "host CPU, all cores");
    text_release(&html);
}

static void test_html_rows_without_a_number_stay(void **state)
{
    (void)state;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    make_five(path_a);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    expect(&html, "not supported</a>: no fp64 on this device");
    expect(&html, "failed verification</a>: 7 of 9 elements are wrong");
    expect_not(&html, "TB/s");  /* the rate of the wrong result */
    expect_not(&html, ">0.00"); /* coordinates of charts may be 0.00 */
    expect_not(&html, "nan");
    expect_not(&html, ">inf");
    expect_not(&html, "<td></td>");
    expect_not(&html, "<td class=\"n\"></td>");
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 2; column++) {
            char id[32];
            snprintf(id, sizeof id, "id=\"m-%d-%d\"", row, column);
            assert_int_equal(count_of(&html, id), 1);
        }
    text_release(&html);
}

/* Each number with its statistic, count, interval, work, clock and check: the row of 16,000,000
 * bytes in 1 ms. */
static void test_html_details_of_a_number(void **state)
{
    (void)state;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    make_five(path_a);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    const char *begin = strstr(text_string(&html), "<tr id=\"m-0-1\">");
    assert_non_null(begin);
    struct text row = {0};
    text_append_bytes(&row, begin, (size_t)(strstr(begin, "</tr>") - begin));
    expect(&row, "16.0 GB/s");
    expect(&row, "16.0 to 16.0 GB/s");
    expect(&row, "40<small>in 10 rounds</small>");
    expect(&row, "1 ms");
    expect(&row, "<data value=\"16000000\">16,000,000</data> B<small>read+write");
    expect(&row, "<td>device</td>");
    expect(&row, "before and after, 1,000 elements, no error");
    expect(&row, "2.00× · faster<small>2.00× to 2.00×</small>");
    expect(&html, "Median rate");
    text_release(&row);
    text_release(&html);
}

static void test_html_names_are_text(void **state)
{
    (void)state;
    struct made made;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {"test_html_a&b'.jsonl"};
    made_init(&made, run_a);
    json_t *device =
        made_device(&made, "opencl:x:0", "<img src=x onerror=alert(1)>", "gpu", false, "device");
    json_object_set_new(device, "notes", json_pack("[s]", "</ScRiPt><!--<script>"));
    json_t *record = made_ok(&made, "pixel@1 n=1 tier=portable", "opencl:x:0", 16000000, 1e6);
    json_object_set_new(json_object_get(record, "work"), "unit", json_string("\"><b>"));
    json_object_set_new(record, "notes", json_pack("[s]", "<i>&\x1b[31m"));
    made_write(&made, paths[0], true);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    expect(&html, "&lt;img src=x onerror=alert(1)&gt;");
    expect(&html, "&lt;/ScRiPt&gt;&lt;!--&lt;script&gt;");
    expect(&html, "&quot;&gt;&lt;b&gt;");
    expect(&html, "test_html_a&amp;b&#39;.jsonl");
    expect(&html, "&lt;i&gt;&amp;");
    expect_not(&html, "<img");
    expect_not(&html, "<i>");
    expect_not(&html, "<!--");
    expect_not(&html, "\x1b");
    struct text lower = {0};
    for (const char *at = text_string(&html); *at != '\0'; at++)
        text_pad(&lower, *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at, 1);
    expect_not(&lower, "<script");
    text_release(&lower);
    text_release(&html);
    unlink(paths[0]);
}

static void test_html_needs_nothing_else(void **state)
{
    (void)state;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    static const char *const loaded[] = {"http:", "https:", "//",      "src=",    "@import",
                                         "url(h", "<link",  "<script", "<iframe", "javascript:"};
    make_five(path_a);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++)
        expect_not(&html, loaded[i]);
    expect(&html, "prefers-color-scheme: dark");
    expect(&html, "<nav aria-label=\"Contents\">");
    assert_int_equal(count_of(&html, "<table"), count_of(&html, "<caption>"));
    assert_int_equal(count_of(&html, "<table"), count_of(&html, "</table>"));
    text_release(&html);
}

/* All ids of the page, charts included, differ, and every link within the page has its target. */
static void test_html_ids(void **state)
{
    (void)state;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    make_five(path_a);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    size_t ids = 0;
    for (const char *at = text_string(&html); (at = strstr(at, " id=")) != NULL; at++) {
        char quote = at[4], id[256];
        size_t length = strcspn(at + 5, quote == '"' ? "\"" : "'");
        assert_true(length + 8 < sizeof id);
        snprintf(id, sizeof id, " id=%c%.*s%c", quote, (int)length, at + 5, quote);
        if (count_of(&html, id) != 1)
            fail_msg("not once: %s", id);
        ids++;
    }
    assert_true(ids > 10);
    for (const char *at = text_string(&html); (at = strstr(at, "href=\"#")) != NULL; at++) {
        char id[256];
        size_t length = strcspn(at + 7, "\"");
        snprintf(id, sizeof id, "id=\"%.*s\"", (int)length, at + 7);
        expect(&html, id);
    }
    text_release(&html);
}

/* A reader of files refuses such a record already; what is drawn must not depend on that. */
static void test_figure_verified(void **state)
{
    (void)state;
    static const struct {
        const char *check;
        bool verified;
        const char *text;
    } cases[] = {
        {"{\"check\": null}", false, "not verified"},
        {"{\"check\": {\"before\": null, \"after\": null}}", false, "not verified"},
        {"{\"check\": {\"before\": {\"elements\": 5, \"mismatches\": 0}, \"after\": null}}", true,
         "before the timing only, 5 elements"},
        {"{\"check\": {\"before\": {\"elements\": 5, \"mismatches\": 0},"
         " \"after\": {\"elements\": 5, \"mismatches\": 1}}}",
         false, "wrong output before and after, 5 elements"},
        {"{\"check\": {\"before\": {\"elements\": 5, \"mismatches\": null}, \"after\": null}}",
         false, "wrong output before the timing only, 5 elements"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *json = json_loads(cases[i].check, 0, NULL);
        struct record record = {.json = json};
        struct text text = {0};
        assert_int_equal(figure_verified(&record), cases[i].verified);
        figure_check(&record, &text);
        assert_string_equal(text_string(&text), cases[i].text);
        text_release(&text);
        json_decref(json);
    }
}

static void test_html_cut_off_file(void **state)
{
    (void)state;
    struct made made;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    made_init(&made, run_a);
    made_device(&made, "opencl:x:0", "Card", "gpu", false, "device");
    made_ok(&made, "pixel@1 n=1 tier=portable", "opencl:x:0", 16000000, 1e6);
    json_array_append_new(made.planned, json_pack("{s:s,s:s}", "case", "pixel@1 n=2 tier=portable",
                                                  "device", "opencl:x:0"));
    made_write(&made, path_a, false);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    expect(&html, "<b>1 of 2 measurements passed.</b>");
    expect(&html, "missing</a>: the file ends before this case");
    expect(&html, "1 of 2 planned records");
    text_release(&html);
}

static void test_html_whole_numbers_keep_their_digits(void **state)
{
    (void)state;
    struct made made;
    struct text html = {0}, markdown = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    made_init(&made, run_a);
    made_device(&made, "opencl:x:0", "Card", "gpu", false, "device");
    made_ok(&made, "copy@1 bytes=9007199254740993 tier=portable", "opencl:x:0", 9007199254740993,
            1e15);
    made_write(&made, path_a, true);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    expect(&html, "value=\"9007199254740993\"");
    expect(&html, "9,007,199,254,740,993 B");
    expect(&html, "18446744073709551615"); /* the seed */
    expect_not(&html, "9007199254740992");
    assert_int_equal(write_report("markdown", paths, 1, NULL, &markdown, &err), CODE_OK);
    expect(&markdown, "9007199254740993 B");
    text_release(&html);
    text_release(&markdown);
}

static void test_html_software_devices_are_named(void **state)
{
    (void)state;
    struct made made;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    made_init(&made, run_a);
    made_device(&made, "opencl:pocl:0", "pthread", "cpu", true, "host");
    made_ok(&made, "pixel@1 n=1 tier=portable", "opencl:pocl:0", 16000000, 1e6);
    made_write(&made, path_a, true);
    assert_int_equal(write_report("html", paths, 1, NULL, &html, &err), CODE_OK);
    expect(&html, "CPU (software OpenCL)");
    expect(&html, "this is no accelerator");
    expect(&html, "timed by the host&#39;s clock: event stamps are constants");
    text_release(&html);
}

static void test_html_two_files(void **state)
{
    (void)state;
    struct made made;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a, path_b};
    make_five(path_a);
    made_init(&made, run_b);
    json_object_set_new(made.header, "created", json_string("2024-01-01T00:00:00Z"));
    made_device(&made, "host:all", "Test CPU", "cpu", true, "host");
    made_ok(&made, "pixel@1 n=1 tier=portable", "host:all", 16000000, 1e6);
    made_write(&made, path_b, true);
    assert_int_equal(write_report("html", paths, 2, NULL, &html, &err), CODE_OK);
    expect(&html, "host:all [1]");
    expect(&html, "host:all [2]");
    expect(&html, path_a);
    expect(&html, path_b);
    expect(&html, "2025-01-02T03:04:05Z");
    expect(&html, "measured before the base");
    expect(&html, "2.00× over 1 of");
    text_release(&html);
    const char *same[] = {path_a, path_a};
    struct text twice = {0};
    assert_int_equal(write_report("html", same, 2, NULL, &twice, &err), CODE_OK);
    expect(&twice, "identical input");
    text_release(&twice);
    unlink(path_b);
}

static void test_html_base_by_name(void **state)
{
    (void)state;
    struct text html = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    make_five(path_a);
    assert_int_equal(write_report("html", paths, 1, "card", &html, &err), CODE_OK);
    expect(&html, "Base: opencl:test:0");
    expect(&html, "0.500× · slower");
    text_release(&html);
    assert_int_equal(write_report("html", paths, 1, "nothing", &html, &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "'nothing' is in none"));
    assert_non_null(strstr(err.message, "host:all, opencl:test:0"));
    assert_int_equal(write_report("html", paths, 1, "test", &html, &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "ambiguous"));
    text_release(&html);
}

static void test_markdown(void **state)
{
    (void)state;
    struct text markdown = {0};
    struct error err = {0};
    const char *paths[] = {path_a};
    make_five(path_a);
    assert_int_equal(write_report("markdown", paths, 1, NULL, &markdown, &err), CODE_OK);
    assert_true(text_starts_with(text_string(&markdown), "# Assay report\n"));
    expect(&markdown, "**8 of 10 measurements passed.**");
    expect(&markdown, "| n=1 | read+write | 8.00 GB/s");
    expect(&markdown, "**2.00× · faster**");
    expect(&markdown, "2.00× over 3 of 5 cases");
    expect(&markdown, "not supported: no fp64 on this device");
    expect(&markdown, "failed verification: 7 of 9 elements are wrong");
    expect_not(&markdown, "TB/s");
    expect_not(&markdown, "0.00");
    text_release(&markdown);
}

static void test_markdown_text(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {{"plain 1.0", "plain 1.0"},
                 {"a|b", "a\\|b"},
                 {"<b>&", "&lt;b\\>&amp;"},
                 {"a\nb\tc", "a b c"},
                 {"[x](y) *z* `q`", "\\[x\\](y) \\*z\\* \\`q\\`"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        markdown_text(&out, cases[i].in);
        assert_string_equal(text_string(&out), cases[i].out);
        text_release(&out);
    }
}

static void test_markup_text(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {{"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
                 {"\x01\x1b", "\xEF\xBF\xBD\xEF\xBF\xBD"},
                 {"\xc2\x9b"
                  "31m",
                  "\xEF\xBF\xBD"
                  "31m"}, /* C1: CSI */
                 {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
                 {"bad \xff", "bad \xEF\xBF\xBD"},
                 {NULL, "unknown"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        markup_text(&out, cases[i].in);
        assert_string_equal(text_string(&out), cases[i].out);
        text_release(&out);
    }
}

static void test_figure_ratio(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        const char *text;
    } cases[] = {{1.0, "1.000×"}, {0.968, "0.968×"}, {2.314, "2.31×"}, {12.34, "12.3×"},
                 {123.4, "123×"}, {0.5, "0.500×"},   {1234, "1234×"},  {0.0012, "0.0012×"},
                 {-1.0, "n/a"},   {0.0 / 1.0, "n/a"}};
    char out[FIGURE_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(figure_ratio(cases[i].ratio, out), cases[i].text);
}

static void test_label_size(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {4096, "4 KiB"},
                 {4097, "4,097 B"},
                 {67108864, "64 MiB"},
                 {1073741824, "1 GiB"},
                 {UINT64_C(9007199254740993), "9,007,199,254,740,993 B"},
                 {UINT64_MAX, "18,446,744,073,709,551,615 B"}};
    char out[LABEL_SIZE_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        label_size(cases[i].bytes, out);
        assert_string_equal(out, cases[i].text);
    }
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path_a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html_figures_by_hand),
        cmocka_unit_test(test_html_rows_without_a_number_stay),
        cmocka_unit_test(test_html_details_of_a_number),
        cmocka_unit_test(test_html_names_are_text),
        cmocka_unit_test(test_html_needs_nothing_else),
        cmocka_unit_test(test_html_ids),
        cmocka_unit_test(test_figure_verified),
        cmocka_unit_test(test_html_cut_off_file),
        cmocka_unit_test(test_html_whole_numbers_keep_their_digits),
        cmocka_unit_test(test_html_software_devices_are_named),
        cmocka_unit_test(test_html_two_files),
        cmocka_unit_test(test_html_base_by_name),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_markdown_text),
        cmocka_unit_test(test_markup_text),
        cmocka_unit_test(test_figure_ratio),
        cmocka_unit_test(test_label_size),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
