/* SPDX-License-Identifier: Apache-2.0
 *
 * The program as it is called: help, wrong names, output that cannot be written; and `assay
 * topology`. Each case is one shell command with its exit code and a part of what it prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MACHINES ASSAY_SOURCE_DIR "/tests/harness/machines/"

struct call {
    const char *command; /* $A is the program */
    int exit_code;
    const char *part;   /* in stdout and stderr together, NULL for none */
    const char *absent; /* not in them, NULL for none */
};

static void check(const struct call *call)
{
    char output[65536];
    setenv("A", ASSAY_BINARY, 1);
    setenv("M", MACHINES, 1);
    char command[1024];
    snprintf(command, sizeof command, "( %s ) 2>&1", call->command);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t count = fread(output, 1, sizeof output - 1, pipe);
    output[count] = '\0';
    int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != call->exit_code)
        fail_msg("'%s': status %d, expected exit %d; output:\n%s", call->command, status,
                 call->exit_code, output);
    if (call->part != NULL && strstr(output, call->part) == NULL)
        fail_msg("'%s': '%s' is not in:\n%s", call->command, call->part, output);
    if (call->absent != NULL && strstr(output, call->absent) != NULL)
        fail_msg("'%s': '%s' is in:\n%s", call->command, call->absent, output);
}

#define CHECK_ALL(calls)                                                                           \
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls)[0]; i++)                                  \
    check(&(calls)[i])

static void test_dispatch_help_and_version(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"$A --help", 0, "  topology ", "  worker "},
        {"$A -h", 0, "Usage: assay ", NULL},
        {"$A help", 0, "Exit codes: 0 ok", NULL},
        {"$A help help", 0, "Usage: assay ", NULL},
        {"$A help topology", 0, "Usage: assay topology [--from FILE.xml]", NULL},
        {"$A topology --help", 0, "Usage: assay topology [--from FILE.xml]", NULL},
        {"$A topology --json -h", 0, "Usage: assay topology [--from FILE.xml]", NULL},
        {"$A --version", 0, "assay ", NULL},
        {"$A --help 2>&1 >/dev/null | wc -c", 0, "0\n", NULL},
    };
    CHECK_ALL(calls);
}

static void test_dispatch_wrong_usage(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"$A", 2, "Usage: assay ", NULL},
        {"$A 2>/dev/null", 2, NULL, "Usage"},
        {"$A topolgy", 2, "no command 'topolgy', did you mean 'topology'?", NULL},
        {"$A Topology", 2, "did you mean 'topology'?", NULL},
        {"$A something-else", 2, "no command 'something-else'\n", NULL},
        {"$A help topolgy", 2, "did you mean 'topology'?", NULL},
        {"$A help a b", 2, "'help' takes one command", NULL},
        {"$A --verbos topology", 2, "unknown option '--verbos', did you mean '--verbose'?", NULL},
        {"$A -z", 2, "unknown option '-z' before the command", NULL},
        {"$A ''", 2, "no command ''", NULL},
        {"$A \"$(printf 'a\\033[31m')\"", 2, "no command 'a?[31m'", "\033"},
    };
    CHECK_ALL(calls);
}

static void test_dispatch_output_that_cannot_be_written(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"$A --help > /dev/full", 7, "cannot write standard output: No space left on device", NULL},
        {"$A topology > /dev/full", 7, "cannot write standard output", NULL},
        {"$A topology --xml >&-", 7, "cannot write standard output", NULL},
        {"$A --version <&- 2>&-", 0, "assay ", NULL},
        /* The reader has left before the first byte: quiet, and the exit code of the command. */
        {"{ sleep 0.5; $A topology --json; echo \"code $?\" >&2; } | true", 0, "code 0", "assay:"},
    };
    CHECK_ALL(calls);
}

static void test_topology_forms(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"$A topology", 0, "machine: ", NULL},
        {"$A topology --json", 0, "\"source\": \"this machine\"", NULL},
        {"$A topology --xml", 0, "<topology version=\"2.0\">", "HostName"},
        {"$A topology --xml --private", 0, "HostName", NULL},
        {"$A topology --from ${M}dual-socket.xml", 0, "package 1: AMD EPYC", "kernel "},
        {"$A topology --from=${M}eight-gpu.xml --json", 0, "\"nvml7\"", "secret"},
        {"$A topology --from ${M}cpuless-node.xml", 0, "NUMA node 2: 128 GiB, no CPUs", NULL},
        {"$A topology --from ${M}cpuless-node.xml --xml | $A topology --from /dev/stdin", 2,
         "no regular file", NULL},
        {"HWLOC_XMLFILE=${M}eight-gpu.xml $A topology", 0,
         "HWLOC_XMLFILE is set in the environment and was ignored", "nvml"},
        {"HWLOC_SYNTHETIC=pu:3 $A topology --json", 0, "assay: warning: HWLOC_SYNTHETIC is set",
         NULL},
    };
    CHECK_ALL(calls);
}

static void test_topology_wrong_usage(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"$A topology machine.xml", 2, "unexpected argument 'machine.xml'", NULL},
        {"$A topology --json --xml", 2, "not both", NULL},
        {"$A topology --private", 2, "'--private' belongs to '--xml'", NULL},
        {"$A topology --from", 2, "option '--from' needs a value", NULL},
        {"$A topology --from /nonexistent.xml", 2, "cannot open '/nonexistent.xml': No such file",
         NULL},
        {"$A topology --from /", 2, "/: is a directory", NULL},
        {"$A topology --form x", 2, "did you mean '--from'?", NULL},
    };
    CHECK_ALL(calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatch_help_and_version),
        cmocka_unit_test(test_dispatch_wrong_usage),
        cmocka_unit_test(test_dispatch_output_that_cannot_be_written),
        cmocka_unit_test(test_topology_forms),
        cmocka_unit_test(test_topology_wrong_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
