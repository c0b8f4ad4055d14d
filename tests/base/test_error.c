/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values: messages, context, the bound of the message, NULL. */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_error_set_and_context(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(error_set(&err, CODE_IO, 2, "cannot open '%s'", "x"), CODE_IO);
    assert_int_equal(error_context(&err, "suite '%s'", "gemm"), CODE_IO);
    assert_string_equal(err.message, "suite 'gemm': cannot open 'x'");
    assert_int_equal(err.native, 2);
    error_clear(&err);
    assert_int_equal(err.code, CODE_OK);
    assert_string_equal(err.message, "");
}

static void test_error_null_is_never_ok(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, CODE_DRIVER, -5, "x"), CODE_DRIVER);
    assert_int_not_equal(error_context(NULL, "x"), CODE_OK);
    error_clear(NULL);
}

static void test_error_message_is_bounded(void **state)
{
    (void)state;
    struct error err = {0};
    char longest[2 * ERROR_MESSAGE_BYTES];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    error_set(&err, CODE_IO, 0, "%s", longest);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_BYTES - 1);
    for (size_t length = ERROR_MESSAGE_BYTES - 4; length <= ERROR_MESSAGE_BYTES + 1; length++) {
        error_set(&err, CODE_IO, 0, "message");
        error_context(&err, "%.*s", (int)length, longest);
        assert_true(strlen(err.message) < ERROR_MESSAGE_BYTES);
    }
}

static void test_code_names_round_trip(void **state)
{
    (void)state;
    for (int code = 0; code < CODE_COUNT; code++)
        assert_int_equal(code_from_name(code_name((enum code)code)), code);
    assert_int_equal(code_from_name("nonsense"), CODE_INVALID);
    assert_int_equal(code_from_name(NULL), CODE_INVALID);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_set_and_context),
        cmocka_unit_test(test_error_null_is_never_ok),
        cmocka_unit_test(test_error_message_is_bounded),
        cmocka_unit_test(test_code_names_round_trip),
    };
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
