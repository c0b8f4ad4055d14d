/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units: what is accepted and exactly what it means, what is refused and why, and how
 * numbers are shown. Expected values are powers worked out by hand: 1 MB = 10^6 B, 1 MiB = 2^20 =
 * 1,048,576 B. */
#include "base/quantity.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

struct refused {
    const char *text, *why;
};

static void expect_refused(enum code code, const struct error *err, const struct refused *row)
{
    char begin[128];
    snprintf(begin, sizeof begin, "'%s': ", row->text);
    if (code != CODE_CONFIG || !text_starts_with(err->message, begin) ||
        strstr(err->message, row->why) == NULL)
        fail_msg("'%s': code %s, message '%s', expected '%s'", row->text, code_name(code),
                 err->message, row->why);
}

static void test_parse_count(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t count;
    } good[] = {{"0", 0}, {"1", 1}, {"30", 30}, {"18446744073709551615", UINT64_MAX}};
    static const char plain[] = "expected a plain decimal number";
    static const struct refused bad[] = {
        {"", plain},
        {"no", plain},
        {"on", plain},
        {"0777", plain},
        {"012", plain},
        {"1:30", plain},
        {"1e6", plain},
        {"1_000", plain},
        {"0x10", plain},
        {".5", plain},
        {"+5", plain},
        {"-5", plain},
        {"1e400", plain},
        {"5.0", plain},
        {" 5", plain},
        {"5 ", plain},
        {"1,000", plain},
        {"00", plain},
        {"\xd9\xa3", plain},
        {"18446744073709551616", "64 bits"},
        {"99999999999999999999999", "64 bits"},
    };
    struct error err;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        uint64_t count = 77;
        assert_int_equal(quantity_parse_count(good[i].text, &count, &err), CODE_OK);
        assert_true(count == good[i].count);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint64_t count = 77;
        expect_refused(quantity_parse_count(bad[i].text, &count, &err), &err, &bad[i]);
        assert_true(count == 77);
    }
}

static const struct refused refused_bytes[] = {
    {"64M", "ambiguous, expected MB (1000) or MiB (1024)"},
    {"64k", "ambiguous, expected kB (1000) or KiB (1024)"},
    {"64K", "ambiguous, expected kB (1000) or KiB (1024)"},
    {"64mib", "did you mean 'MiB'?"},
    {"64 KB", "did you mean 'kB'?"},
    {"64", "unit is missing"},
    {"0", "unit is missing"},
    {"0 B", "more than 0"},
    {"0.0 MiB", "more than 0"},
    {"-1MiB", "plain decimal number"},
    {"+1MiB", "plain decimal number"},
    {"0.3B", "whole number of bytes"},
    {"0.3 KiB", "whole number of bytes"},
    {"18446744073709551616", "64 bits"},
    {"18446744073709551616 B", "64 bits"},
    {"16EiB", "unknown unit 'EiB'"},
    {"16777216 TiB", "more than 18446744073709551615 bytes"},
    {"16777215.9999999999999999 TiB", "whole number"},
    {"1e6 MiB", "unknown unit"},
    {"1e6", "unknown unit"},
    {"0x10 B", "unknown unit"},
    {"012 MiB", "plain decimal number"},
    {".5 MiB", "plain decimal number"},
    {"5. MiB", "digits after the point"},
    {"1,5 MiB", "plain decimal number"},
    {"1 000 MiB", "plain decimal number"},
    {"64  MiB", "plain decimal number"},
    {"64 MiB ", "unknown unit"},
    {"64 ", "plain decimal number"},
    {"MiB", "plain decimal number"},
    {"", "plain decimal number"},
    {"0.000000000000931322574615478515625 TiB", "18 decimals"},
    {"5 \xc2\xb5s", "unknown unit"},
};

/* CF-04 */
static void test_parse_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"1 B", 1},
        {"64MB", 64000000},
        {"64MiB", 67108864},
        {"64 MiB", 67108864},
        {"1.5GiB", 1610612736},
        {"0.5 KiB", 512},
        {"1.000000001 TB", 1000000001000},
        {"1.50 kB", 1500},
        {"4 KiB", 4096},
        {"2TiB", 2199023255552},
        {"3 TB", 3000000000000},
        {"18446744073709551615 B", UINT64_MAX},
        {"16777215 TiB", 16777215ull << 40},
    };
    struct error err;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        uint64_t bytes = 77;
        enum code code = quantity_parse_bytes(good[i].text, &bytes, &err);
        if (code != CODE_OK || bytes != good[i].bytes)
            fail_msg("'%s': %s", good[i].text, code == CODE_OK ? "wrong value" : err.message);
    }
    for (size_t i = 0; i < COUNT_OF(refused_bytes); i++) {
        uint64_t bytes = 77;
        expect_refused(quantity_parse_bytes(refused_bytes[i].text, &bytes, &err), &err,
                       &refused_bytes[i]);
        assert_true(bytes == 77);
    }
}

static void test_parse_duration(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"1ns", 1},
        {"20 us", 20000},
        {"500ms", 500000000},
        {"0.5ms", 500000},
        {"3s", 3000000000},
        {"3 s", 3000000000},
        {"1.5 min", 90000000000},
        {"2h", 7200000000000},
        {"720 h", 2592000000000000},
    };
    static const struct refused bad[] = {
        {"3", "unit is missing"},
        {"1:30", "plain decimal number"},
        {"0s", "more than 0"},
        {"0.5ns", "whole number of nanoseconds"},
        {"721 h", "30 days"},
        {"-3s", "plain decimal number"},
        {"3 S", "did you mean 's'?"},
        {"3 sec", "unknown unit 'sec'"},
        {"1e3 s", "unknown unit"},
        {"3 d", "unknown unit"},
        {"5124096 h", "more than 18446744073709551615"},
    };
    struct error err;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        uint64_t ns = 77;
        if (quantity_parse_duration_ns(good[i].text, &ns, &err) != CODE_OK || ns != good[i].ns)
            fail_msg("'%s' is not %llu ns", good[i].text, (unsigned long long)good[i].ns);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint64_t ns = 77;
        expect_refused(quantity_parse_duration_ns(bad[i].text, &ns, &err), &err, &bad[i]);
        assert_true(ns == 77);
    }
}

static void test_parse_share(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double share;
    } good[] = {{"2%", 0.02},
                {"2 %", 0.02},
                {"0.5%", 0.005},
                {"0%", 0},
                {"100%", 1},
                {"100.0 %", 1},
                {"33.333333 %", 0.33333333},
                {"7%", 0.07}};
    static const struct refused bad[] = {
        {"0.02", "unit is missing"},
        {"2", "unit is missing"},
        {"-2%", "plain decimal number"},
        {"101%", "more than 100 %"},
        {"100.1%", "more than 100 %"},
        {"2 percent", "unknown unit"},
        {"0,5%", "plain decimal number"},
        {"1.1234567%", "6 decimals"},
        {"18446744073709551615%", "more than 100 %"},
    };
    struct error err;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        double share = 77;
        if (quantity_parse_share(good[i].text, &share, &err) != CODE_OK ||
            memcmp(&share, &good[i].share, sizeof share) != 0)
            fail_msg("'%s' is not %.17g", good[i].text, good[i].share);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        double share = 77;
        expect_refused(quantity_parse_share(bad[i].text, &share, &err), &err, &bad[i]);
    }
}

static void test_parse_long_text_is_clipped(void **state)
{
    (void)state;
    char text[3000];
    memset(text, '7', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    uint64_t count = 0;
    struct error err;
    assert_int_equal(quantity_parse_count(text, &count, &err), CODE_CONFIG);
    assert_non_null(strstr(err.message, "777\u2026': "));
    assert_true(strlen(err.message) < 200);
}

static void test_format_si(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *unit, *text;
    } rows[] = {
        {12.3e9, "B/s", "12.3 GB/s"},
        {456e9, "FLOP/s", "456 GFLOP/s"},
        {1.5, "B/s", "1.50 B/s"},
        {999.4, "B/s", "999 B/s"},
        {999.6, "B/s", "1.00 kB/s"},
        {999.96e6, "B/s", "1.00 GB/s"},
        {99.96e6, "B/s", "100 MB/s"},
        {9.996e6, "B/s", "10.0 MB/s"},
        {0, "B/s", "0 B/s"},
        {1e18, "B/s", "1.00 EB/s"},
        {2e21, "B/s", "2000 EB/s"},
        {0.0123, "B/s", "0.0123 B/s"},
        {-1500, "B", "-1.50 kB"},
        {(double)NAN, "B/s", "n/a"},
        {(double)INFINITY, "B/s", "n/a"},
        {1e300, "B/s", "1e+282 EB/s"},
        {1.5e-7, "B/s", "1.5e-07 B/s"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[QUANTITY_BYTES];
        assert_string_equal(quantity_format_si(rows[i].value, rows[i].unit, out), rows[i].text);
    }
}

static void test_format_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {17, "17 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {67108864, "64.0 MiB"},
        {1073741824, "1.00 GiB"},
        {600000000, "572 MiB"},   /* 572.2 */
        {1073741823, "1.00 GiB"}, /* 1023.999999 MiB is not shown as 1024 MiB */
        {1072693248, "1023 MiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[QUANTITY_BYTES];
        assert_string_equal(quantity_format_bytes(rows[i].bytes, out), rows[i].text);
    }
}

static void test_format_duration(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } rows[] = {
        {0, "0 ns"},
        {1, "1 ns"},
        {0.25, "0.250 ns"},
        {1.23e6, "1.23 ms"},
        {500e6, "500 ms"},
        {3e9, "3 s"},
        {45e9, "45 s"},
        {12.34e9, "12.3 s"},
        {999.7, "1.00 us"},
        {59.94e9, "59.9 s"},
        {59.96e9, "1 min"},
        {60e9, "1 min"},
        {200e9, "3 min 20 s"},
        {3599.4e9, "59 min 59 s"},
        {3599.6e9, "1 h"},
        {7500e9, "2 h 5 min"},
        {-2e6, "-2 ms"},
        {(double)NAN, "n/a"},
        {(double)-INFINITY, "n/a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[QUANTITY_BYTES];
        assert_string_equal(quantity_format_duration(rows[i].ns, out), rows[i].text);
    }
}

static void test_format_change(void **state)
{
    (void)state;
    static const struct {
        double change;
        const char *text;
    } rows[] = {
        {0.032, "+3.2 %"},    {-0.032, "\u22123.2 %"},   {-0.0004, "0.0 %"},  {0.0004, "0.0 %"},
        {0.0006, "+0.1 %"},   {-0.0006, "\u22120.1 %"},  {12.5, "+1250.0 %"}, {0, "0.0 %"},
        {(double)NAN, "n/a"}, {(double)INFINITY, "n/a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[QUANTITY_BYTES];
        assert_string_equal(quantity_format_change(rows[i].change, out), rows[i].text);
    }
}

static void test_format_count(void **state)
{
    (void)state;
    char out[QUANTITY_BYTES];
    assert_string_equal(quantity_format_count(0, out), "0");
    assert_string_equal(quantity_format_count(999, out), "999");
    assert_string_equal(quantity_format_count(1000, out), "1,000");
    assert_string_equal(quantity_format_count(600014848, out), "600,014,848");
    assert_string_equal(quantity_format_count(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

/* No value overflows its text: the largest and the smallest numbers there are. */
static void test_format_extremes(void **state)
{
    (void)state;
    static const double values[] = {DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 5e-324};
    char out[QUANTITY_BYTES];
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        assert_true(strlen(quantity_format_si(values[i], "FLOP/s", out)) < QUANTITY_BYTES - 1);
        assert_true(strlen(quantity_format_duration(values[i], out)) < QUANTITY_BYTES - 1);
        assert_true(strlen(quantity_format_change(values[i], out)) < QUANTITY_BYTES - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_count),
        cmocka_unit_test(test_parse_bytes),
        cmocka_unit_test(test_parse_duration),
        cmocka_unit_test(test_parse_share),
        cmocka_unit_test(test_parse_long_text_is_clipped),
        cmocka_unit_test(test_format_si),
        cmocka_unit_test(test_format_bytes),
        cmocka_unit_test(test_format_duration),
        cmocka_unit_test(test_format_change),
        cmocka_unit_test(test_format_count),
        cmocka_unit_test(test_format_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
