/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options: every spelling of a value, and a message with a way out for everything that
 * is wrong. */
#include "cli/options.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { OUTPUT, JSON, DEVICE, QUICK, OPTIONS, WORDS_MAX = 80, MESSAGE_BYTES = 2048 };

static int run_nothing(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

static const struct command show = {
    .name = "show", .usage = "", .summary = "", .help = "", .run = run_nothing};

struct outcome {
    bool good;
    struct option_spec options[OPTIONS + 1];
    const char *arguments[WORDS_MAX];
    size_t argument_count;
    char message[MESSAGE_BYTES]; /* what went to stderr */
};

/* Parses "show" and the words; the words end with NULL. */
static void parse(struct outcome *outcome, const char *const *words)
{
    static char name[] = "show";
    static char copies[WORDS_MAX][128];
    char *argv[WORDS_MAX] = {name};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++) {
        assert_true(argc < WORDS_MAX);
        snprintf(copies[argc], sizeof copies[argc], "%s", words[argc - 1]);
        argv[argc] = copies[argc];
    }
    *outcome = (struct outcome){
        .options = {[OUTPUT] = {.name = "output", .letter = 'o', .takes_value = true},
                    [JSON] = {.name = "json", .letter = 'j'},
                    [DEVICE] = {.name = "device", .letter = 'd', .takes_value = true},
                    [QUICK] = {.name = "quick", .letter = 'k'}}};
    FILE *caught = tmpfile();
    assert_non_null(caught);
    int kept = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(caught), STDERR_FILENO);
    outcome->good = options_parse(&show, argc, argv, outcome->options, outcome->arguments,
                                  &outcome->argument_count);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(caught);
    size_t count = fread(outcome->message, 1, sizeof outcome->message - 1, caught);
    outcome->message[count] = '\0';
    fclose(caught);
}

#define PARSE(outcome, ...) parse((outcome), (const char *const[]){__VA_ARGS__, NULL})

static void test_options_parse_spellings_of_a_value(void **state)
{
    (void)state;
    static const char *const forms[][3] = {{"--output", "a.jsonl", NULL},
                                           {"--output=a.jsonl", NULL, NULL},
                                           {"-o", "a.jsonl", NULL},
                                           {"-oa.jsonl", NULL, NULL}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct outcome outcome;
        parse(&outcome, forms[i]);
        assert_true(outcome.good);
        assert_int_equal(outcome.options[OUTPUT].count, 1);
        assert_string_equal(outcome.options[OUTPUT].values[0], "a.jsonl");
        assert_int_equal(outcome.argument_count, 0);
        assert_string_equal(outcome.message, "");
    }
}

static void test_options_parse_keeps_order_of_values_and_arguments(void **state)
{
    (void)state;
    struct outcome outcome;
    PARSE(&outcome, "first", "-d", "host", "second", "--device=opencl:0", "-jk", "--", "-j",
          "--device");
    assert_true(outcome.good);
    assert_int_equal(outcome.options[DEVICE].count, 2);
    assert_string_equal(outcome.options[DEVICE].values[0], "host");
    assert_string_equal(outcome.options[DEVICE].values[1], "opencl:0");
    assert_int_equal(outcome.options[JSON].count, 1);
    assert_int_equal(outcome.options[QUICK].count, 1);
    assert_int_equal(outcome.argument_count, 4);
    assert_string_equal(outcome.arguments[0], "first");
    assert_string_equal(outcome.arguments[1], "second");
    assert_string_equal(outcome.arguments[2], "-j");
    assert_string_equal(outcome.arguments[3], "--device");
}

static void test_options_parse_dash_is_an_argument_and_a_value(void **state)
{
    (void)state;
    struct outcome outcome;
    PARSE(&outcome, "-", "-o", "-", "-jo", "x", "");
    assert_true(outcome.good);
    assert_int_equal(outcome.argument_count, 2);
    assert_string_equal(outcome.arguments[0], "-");
    assert_string_equal(outcome.arguments[1], "");
    assert_int_equal(outcome.options[OUTPUT].count, 2);
    assert_string_equal(outcome.options[OUTPUT].values[0], "-");
    assert_string_equal(outcome.options[OUTPUT].values[1], "x");
}

static void test_options_parse_empty_value(void **state)
{
    (void)state;
    struct outcome outcome;
    PARSE(&outcome, "--output=");
    assert_true(outcome.good);
    assert_string_equal(outcome.options[OUTPUT].values[0], "");
}

static void test_options_parse_refuses_with_a_way_out(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *message;
    } cases[] = {
        {{"--outptu", "x", NULL}, "assay: unknown option '--outptu', did you mean '--output'?\n"},
        {{"--jsn=1", NULL}, "assay: unknown option '--jsn', did you mean '--json'?\n"},
        {{"--completely-else", NULL}, "assay: unknown option '--completely-else'\n"},
        {{"--out", "x", NULL}, "assay: unknown option '--out'\n"}, /* no abbreviations */
        {{"-json", NULL}, "assay: unknown option '-json', did you mean '--json'?\n"},
        {{"-jz", NULL}, "assay: unknown option '-z'\n"},
        {{"-\xc3\xa4", NULL}, "assay: unknown option '-\xc3\xa4'\n"},
        {{"--json=yes", NULL}, "assay: option '--json' takes no value, found '--json=yes'\n"},
        {{"-o", NULL}, "assay: option '--output' needs a value\n"},
        {{"--output", NULL}, "assay: option '--output' needs a value\n"},
        {{"--output", "--json", NULL},
         "assay: option '--output' needs a value, but '--json' follows"},
        {{"-v", NULL}, "assay: option '-v' goes before the command: assay -v show\n"},
        {{"--quiet", NULL},
         "assay: option '--quiet' goes before the command: assay --quiet show\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome;
        parse(&outcome, cases[i].words);
        assert_false(outcome.good);
        if (strncmp(outcome.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("found '%s', expected '%s'", outcome.message, cases[i].message);
        assert_non_null(strstr(outcome.message, "try 'assay show --help'\n"));
    }
}

static void test_options_parse_value_that_looks_like_no_known_option(void **state)
{
    (void)state;
    struct outcome outcome;
    PARSE(&outcome, "-o", "--strange-name");
    assert_true(outcome.good);
    assert_string_equal(outcome.options[OUTPUT].values[0], "--strange-name");
}

static void test_options_parse_too_many_values(void **state)
{
    (void)state;
    const char *words[WORDS_MAX] = {0};
    struct outcome outcome;
    for (size_t i = 0; i < OPTION_VALUES_MAX; i++)
        words[i] = "-dhost";
    parse(&outcome, words);
    assert_true(outcome.good);
    assert_int_equal(outcome.options[DEVICE].count, 64);
    words[OPTION_VALUES_MAX] = "-dhost";
    parse(&outcome, words);
    assert_false(outcome.good);
    assert_non_null(strstr(outcome.message, "more than 64 times"));
}

static void test_options_parse_control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    struct outcome outcome;
    PARSE(&outcome, "--\x1b[31mred");
    assert_false(outcome.good);
    assert_null(strchr(outcome.message, '\x1b'));
}

static void test_command_fail_exit_codes(void **state)
{
    (void)state;
    /* The list of exit codes in the design. */
    static const int expected[CODE_COUNT] = {
        [CODE_OK] = 0,           [CODE_USAGE] = 2,   [CODE_CONFIG] = 2,  [CODE_NOTHING] = 3,
        [CODE_UNSUPPORTED] = 4,  [CODE_MEMORY] = 4,  [CODE_IO] = 7,      [CODE_DRIVER] = 4,
        [CODE_LOST] = 4,         [CODE_TIMEOUT] = 8, [CODE_CRASHED] = 4, [CODE_INTERRUPTED] = 8,
        [CODE_INCOMPARABLE] = 6, [CODE_INVALID] = 4};
    int kept = dup(STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    int found[CODE_COUNT];
    for (int code = 0; code < CODE_COUNT; code++) {
        struct error err = {.code = (enum code)code, .message = "why"};
        found[code] = command_fail(&err);
    }
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(null);
    for (int code = 0; code < CODE_COUNT; code++)
        assert_int_equal(found[code], expected[code]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_parse_spellings_of_a_value),
        cmocka_unit_test(test_options_parse_keeps_order_of_values_and_arguments),
        cmocka_unit_test(test_options_parse_dash_is_an_argument_and_a_value),
        cmocka_unit_test(test_options_parse_empty_value),
        cmocka_unit_test(test_options_parse_refuses_with_a_way_out),
        cmocka_unit_test(test_options_parse_value_that_looks_like_no_known_option),
        cmocka_unit_test(test_options_parse_too_many_values),
        cmocka_unit_test(test_options_parse_control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(test_command_fail_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
