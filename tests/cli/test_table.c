/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables for a terminal: alignment, cutting, and text that no terminal should get as it is. */
#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct table_column columns[] = {
    {.title = "name", .align = TABLE_LEFT, .shrinks = true},
    {.title = "rate", .align = TABLE_RIGHT},
    {.title = "state", .align = TABLE_LEFT},
};

static struct table *make(void)
{
    struct table *table = table_create(columns, 3);
    table_row(table, (const char *const[]){"a rather long device name", "12.3 GB/s", "ok"});
    table_row(table, (const char *const[]){"b", "456 MB/s", NULL});
    return table;
}

static void check(const struct table *table, size_t width, const char *expected)
{
    struct text out = {0};
    table_write(table, width, &out);
    assert_string_equal(text_string(&out), expected);
    text_release(&out);
}

static void test_table_write_aligns(void **state)
{
    (void)state;
    struct table *table = make();
    check(table, 0,
          "name                            rate  state\n"
          "a rather long device name  12.3 GB/s  ok\n"
          "b                           456 MB/s\n");
    table_destroy(table);
}

static void test_table_write_cuts_what_may_be_cut(void **state)
{
    (void)state;
    struct table *table = make();
    /* 43 columns are needed: 25 + 2 + 9 + 2 + 5; at 34 the name has 16. */
    check(table, 34,
          "name                   rate  state\n"
          "a rather long d…  12.3 GB/s  ok\n"
          "b                  456 MB/s\n");
    table_destroy(table);
}

static void test_table_write_never_cuts_numbers(void **state)
{
    (void)state;
    struct table *table = make();
    /* Down to 8 columns for the name, and no further. */
    check(table, 5,
          "name           rate  state\n"
          "a rathe…  12.3 GB/s  ok\n"
          "b          456 MB/s\n");
    table_destroy(table);
}

static void test_table_write_counts_code_points(void **state)
{
    (void)state;
    struct table *table = table_create(columns, 2);
    table_row(table, (const char *const[]){"\xc3\xa4\xc3\xb6\xc3\xbc", "\xe2\x88\x92"
                                                                       "3.0 %"});
    table_row(table, (const char *const[]){"abcd", "10.0 %"});
    check(table, 0,
          "name    rate\n"
          "\xc3\xa4\xc3\xb6\xc3\xbc   \xe2\x88\x92"
          "3.0 %\n"
          "abcd  10.0 %\n");
    table_destroy(table);
}

static void test_table_write_cuts_between_code_points(void **state)
{
    (void)state;
    struct table *table = table_create(columns, 1);
    table_row(table,
              (const char *const[]){
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"});
    check(table, 8, "name\n\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4…\n");
    table_destroy(table);
}

static void test_table_write_control_characters(void **state)
{
    (void)state;
    struct table *table = table_create(columns, 1);
    table_row(table, (const char *const[]){"a\nb\x1b[2J"});
    check(table, 0, "name\na?b?[2J\n");
    table_destroy(table);
}

static void test_table_write_without_rows(void **state)
{
    (void)state;
    struct table *table = table_create(columns, 3);
    check(table, 0, "name  rate  state\n");
    table_destroy(table);
    table_destroy(NULL);
}

static void test_table_write_many_rows(void **state)
{
    (void)state;
    struct table *table = table_create(columns, 1);
    for (int i = 0; i < 1000; i++)
        table_row(table, (const char *const[]){"x"});
    struct text out = {0};
    table_write(table, 80, &out);
    assert_int_equal(out.length, strlen("name\n") + 1000 * strlen("x\n"));
    text_release(&out);
    table_destroy(table);
}

static void test_terminal_of_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    setenv("COLUMNS", "77", 1);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    assert_int_equal(terminal_width(ends[1]), 0);
    assert_false(terminal_colour(ends[1]));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_write_aligns),
        cmocka_unit_test(test_table_write_cuts_what_may_be_cut),
        cmocka_unit_test(test_table_write_never_cuts_numbers),
        cmocka_unit_test(test_table_write_counts_code_points),
        cmocka_unit_test(test_table_write_cuts_between_code_points),
        cmocka_unit_test(test_table_write_control_characters),
        cmocka_unit_test(test_table_write_without_rows),
        cmocka_unit_test(test_table_write_many_rows),
        cmocka_unit_test(test_terminal_of_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
