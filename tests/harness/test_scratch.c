/* SPDX-License-Identifier: Apache-2.0
 *
 * Private directories: mode 0700, removed with what is in them; links in them are removed, not
 * followed; a TMPDIR that is not there is passed over. */
#define _DEFAULT_SOURCE
#include "harness/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_scratch_create_and_remove(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_BYTES], kept[SCRATCH_PATH_BYTES], name[2 * SCRATCH_PATH_BYTES];
    struct error err = {0};
    struct stat status;
    assert_int_equal(scratch_create(kept, &err), CODE_OK);
    assert_int_equal(scratch_create(path, &err), CODE_OK);
    assert_string_not_equal(kept, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    snprintf(name, sizeof name, "%s/inner", path);
    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(name, sizeof name, "%s/inner/link", path);
    assert_int_equal(symlink(kept, name), 0);
    scratch_remove(path);
    assert_int_not_equal(stat(path, &status), 0);
    assert_int_equal(stat(kept, &status), 0);
    scratch_remove(kept);
    scratch_remove("");
}

static void test_scratch_create_without_tmpdir(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_BYTES];
    struct error err = {0};
    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(scratch_create(path, &err), CODE_OK);
    assert_null(strstr(path, "/nowhere"));
    scratch_remove(path);
    unsetenv("TMPDIR");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scratch_create_and_remove),
        cmocka_unit_test(test_scratch_create_without_tmpdir),
    };
    return cmocka_run_group_tests_name("harness/scratch", tests, NULL, NULL);
}
