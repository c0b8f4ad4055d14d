/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay report` as a user sees it: where the report goes, what is never overwritten, exit codes
 * and messages. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-test-report-XXXXXX";

/* Runs a shell command in the folder with $assay and $result set; returns its exit code. */
static int run_shell(struct text *output, const char *command)
{
    char whole[4096], bytes[4096];
    snprintf(whole, sizeof whole, "cd %s; assay='%s'; result='%s/tests/data/card.jsonl'; %s",
             folder, ASSAY_BINARY, ASSAY_SOURCE_DIR, command);
    FILE *pipe = popen(whole, "r");
    assert_non_null(pipe);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
        text_append_bytes(output, bytes, count);
    int status = pclose(pipe);
    assert_true(status != -1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void expect(const char *command, int expected, const char *part)
{
    struct text output = {0};
    int exit_code = run_shell(&output, command);
    if (exit_code != expected || strstr(text_string(&output), part) == NULL)
        fail_msg("%s: exit %d, expected %d with '%s':\n%.2000s", command, exit_code, expected, part,
                 text_string(&output));
    text_release(&output);
}

static void test_report_formats(void **state)
{
    (void)state;
    expect("$assay report $result 2>&1", 0, "written to 'report.html'");
    expect("head -c 15 report.html", 0, "<!DOCTYPE html>");
    expect("tail -c 8 report.html", 0, "</html>");
    expect("$assay report -f markdown $result 2>&1 && head -1 report.md", 0, "# Assay report");
    expect("$assay report --format csv -o - $result | head -1", 0, "device");
    expect("$assay report -o - $result 2>/dev/null | head -c 15", 0, "<!DOCTYPE html>");
    expect("$assay report --format pdf $result 2>&1", 2,
           "unknown report format 'pdf'; there are: ");
    expect("ls -1 | wc -l", 0, "2"); /* nothing is left over */
}

static void test_report_usage(void **state)
{
    (void)state;
    expect("$assay report 2>&1", 2, "at least one result file");
    expect("$assay report nowhere.jsonl 2>&1", 2, "nowhere.jsonl");
    expect("$assay report --base nobody $result -o x.html 2>&1", 2, "'nobody' is in none");
    expect("$assay report --difference 2 $result 2>&1", 2, "--difference: '2'");
    expect("$assay report --differnce 2% $result 2>&1", 2, "--difference");
    expect("echo '{' > bad.jsonl; $assay report $result bad.jsonl -o x.html 2>&1", 2,
           "bad.jsonl:1");
    expect("ls x.html 2>&1; rm bad.jsonl", 0, "No such file"); /* no half of a report */
}

static void test_report_overwrites_reports_only(void **state)
{
    (void)state;
    expect("$assay report $result -o a.html 2>&1 && $assay report $result -o a.html 2>&1", 0,
           "written");
    expect("echo 'my notes' > notes.html; $assay report $result -o notes.html 2>&1", 2,
           "is no report of Assay's");
    expect("cat notes.html", 0, "my notes");
    expect("$assay report $result -o notes.html --force 2>&1 && head -c 15 notes.html", 0,
           "<!DOCTYPE html>");
    expect("cp $result mine.jsonl; $assay report mine.jsonl --force -o mine.jsonl 2>&1", 2,
           "is the result file");
    expect("ln -s mine.jsonl link.html; $assay report mine.jsonl --force -o link.html 2>&1", 2,
           "is the result file");
    expect("cmp mine.jsonl $result && echo intact", 0, "intact");
    expect("mkdir -p place; $assay report $result -o place 2>&1", 2, "is a directory");
}

static void test_report_cannot_be_stored(void **state)
{
    (void)state;
    expect("$assay report $result -o /dev/full 2>&1", 7, "No space left");
    expect("$assay report $result -o - 2>&1 >/dev/full", 7, "No space left");
    expect("$assay report $result -o nowhere/report.html 2>&1", 7, "nowhere/report.html");
    /* A limit on file sizes: the older report stays whole, nothing else is left behind. */
    expect("$assay report $result -o old.html 2>/dev/null; cp old.html copy.html;"
           "(ulimit -f 2; $assay report $result -o old.html 2>&1)",
           7, "old.html");
    expect("cmp old.html copy.html && ls old.html*", 0, "old.html\n");
    expect("ls old.html.* 2>&1", 2, "No such file");
}

static void test_report_under_comma_locale(void **state)
{
    (void)state;
    expect("$assay report $result -f markdown -o c.md 2>&1; $assay report $result -f markdown -o - "
           "2>/dev/null | sed 's/, written [^.]*//' > a; LC_ALL=de_DE.UTF-8 $assay report $result "
           "-f markdown -o - 2>/dev/null | sed 's/, written [^.]*//' > b; cmp a b && echo same",
           0, "same");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    struct text ignored = {0};
    int failed = run_shell(&ignored, "cd /; rm -r $OLDPWD");
    text_release(&ignored);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_formats),
        cmocka_unit_test(test_report_usage),
        cmocka_unit_test(test_report_overwrites_reports_only),
        cmocka_unit_test(test_report_cannot_be_stored),
        cmocka_unit_test(test_report_under_comma_locale),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
