/* SPDX-License-Identifier: Apache-2.0
 *
 * Others' share of the processors, on made-up /proc files and on the machine at hand. */
#define _DEFAULT_SOURCE /* mkdtemp, usleep */
#include "harness/occupancy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/assay-test-occupancy-XXXXXX";

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/proc", root);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/%s", root, directory);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/%s/%s", root, directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void write_process(long pid, unsigned user, unsigned system)
{
    char directory[32], line[256];
    snprintf(directory, sizeof directory, "%ld", pid);
    snprintf(line, sizeof line, "%ld (a) (b c) S 1 2 3 4 5 6 7 8 9 10 %u %u 0 0 20\n", pid, user,
             system);
    write_file(directory, "stat", line);
}

static void write_processors(const char *fields)
{
    write_file(".", "stat", fields);
}

/* 200 ticks pass on two processors: 60 busy and 10 stolen of which this process has 20 and its
 * worker 30: others 20 of 200. */
static void test_occupancy_made_up(void **state)
{
    (void)state;
    struct occupancy begin, end;
    long pids[] = {4242, 0};
    write_process((long)getpid(), 100, 10);
    write_process(4242, 50, 0);
    write_processors("cpu  1000 0 100 5000 10 0 0 0 0 0\ncpu0 1 2 3\n");
    occupancy_read(root, pids, 2, &begin);
    assert_true(begin.known && begin.busy == 1100 && begin.total == 6110 && begin.own == 160);
    write_process((long)getpid(), 115, 15);
    write_process(4242, 70, 10);
    write_processors("cpu  1050 0 110 5125 15 0 0 10 7 0\n");
    occupancy_read(root, pids, 2, &end);
    double share = occupancy_foreign_share(&begin, &end);
    assert_true(fabs(share - 20.0 / 200.0) < 1e-12);
}

static void test_occupancy_unknown(void **state)
{
    (void)state;
    struct occupancy begin, end;
    long gone[] = {4243};
    occupancy_read(root, NULL, 0, &begin);
    assert_true(isnan(occupancy_foreign_share(&begin, &begin))); /* no time passed */
    occupancy_read(root, gone, 1, &end);
    assert_false(end.known);
    assert_true(isnan(occupancy_foreign_share(&begin, &end)));
    write_processors("intr 1 2 3\n");
    occupancy_read(root, NULL, 0, &end);
    assert_false(end.known);
}

static void test_occupancy_this_machine(void **state)
{
    (void)state;
    struct occupancy begin, end;
    occupancy_read("", NULL, 0, &begin);
    usleep(100000);
    occupancy_read("", NULL, 0, &end);
    double share = occupancy_foreign_share(&begin, &end);
    assert_true(begin.known && end.known && share >= 0.0 && share <= 1.0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_occupancy_made_up),
        cmocka_unit_test(test_occupancy_unknown),
        cmocka_unit_test(test_occupancy_this_machine),
    };
    if (mkdtemp(root) == NULL)
        return 1;
    int failed = cmocka_run_group_tests_name("harness/occupancy", tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
