/* SPDX-License-Identifier: Apache-2.0
 *
 * The run config: what it resolves to, its digest, its filter and where it is found. Most cases
 * read against the two suites below, so that their positions and values can be worked out by hand;
 * the built-in configs are read against the real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/harness/config_suites.h"

static void expect_key(const struct config *config, size_t index, const char *expected)
{
    char key[CASE_KEY_BYTES];
    case_key(&config->cases[index], key);
    assert_string_equal(key, expected);
}

static void test_read_defaults(void **state)
{
    (void)state;
    struct config config = read_good("schema: 1\ncases:\n- suite: paint\n");
    assert_string_equal(config.name, "unnamed");
    assert_string_equal(config.path, "t.yaml");
    assert_string_equal(config.warnings, "");
    assert_int_equal(config.policy.rounds_min, 10);
    assert_int_equal(config.policy.rounds_max, 40);
    assert_int_equal(config.policy.samples_min, 30);
    assert_true(config.policy.interval > 0.00999 && config.policy.interval < 0.01001);
    assert_int_equal(config.policy.budget_ns, 3000000000);
    assert_int_equal(config.policy.warmup_ns, 500000000);
    assert_int_equal(config.policy.step_timeout_ns, 120000000000);
    assert_true(config.policy.difference > 0.01999 && config.policy.difference < 0.02001);
    assert_int_equal(config.device_count, 0);
    assert_int_equal(config.case_count, 1);
    expect_key(&config, 0, "paint@3 width=10 size=4096 style=flat tier=portable");
    config_release(&config);
}

static void test_read_everything(void **state)
{
    (void)state;
    struct config config = read_good(
        "schema: 1\n"
        "name: no\n"
        "x-note: {author: someone, list: [1, 2]}\n"
        "policy: {rounds_min: 5, rounds_max: 6, samples_min: 40, interval: 0.5%, budget: 1.5 s,\n"
        "         warmup: 20ms, step_timeout: 2 min, difference: 5 %, x-why: fast}\n"
        "devices: [host, 'opencl:0', 0777]\n"
        "cases:\n"
        "- {suite: paint, width: 64, size: 1.5 KiB, style: no, tile: 8, x-why: a note}\n");
    assert_string_equal(config.name, "no");
    assert_int_equal(config.policy.rounds_min, 5);
    assert_int_equal(config.policy.rounds_max, 6);
    assert_int_equal(config.policy.samples_min, 40);
    assert_true(config.policy.interval > 0.00499 && config.policy.interval < 0.00501);
    assert_int_equal(config.policy.budget_ns, 1500000000);
    assert_int_equal(config.policy.warmup_ns, 20000000);
    assert_int_equal(config.policy.step_timeout_ns, 120000000000);
    assert_true(config.policy.difference > 0.0499 && config.policy.difference < 0.0501);
    assert_int_equal(config.device_count, 3);
    assert_string_equal(config.devices[0], "host");
    assert_string_equal(config.devices[1], "opencl:0");
    assert_string_equal(config.devices[2], "0777");
    expect_key(&config, 0, "paint@3 width=64 size=1536 style=no tile=8 tier=portable");
    config_release(&config);
}

/* Axes multiply in the order in which the suite declares its parameters, not that of the file; the
 * first varies slowest. */
static void test_read_axes(void **state)
{
    (void)state;
    struct config config = read_good("schema: 1\ncases:\n"
                                     "- {suite: paint, style: [round, flat], width: [20, 9]}\n"
                                     "- {suite: mix, n: [3, 1], j: [0]}\n"
                                     "- {suite: paint, tile: [auto, 2], size: [1 B, 1 kB]}\n");
    static const char *const keys[] = {
        "paint@3 width=20 size=4096 style=round tier=portable",
        "paint@3 width=20 size=4096 style=flat tier=portable",
        "paint@3 width=9 size=4096 style=round tier=portable",
        "paint@3 width=9 size=4096 style=flat tier=portable",
        "mix@1 n=3 m=7 k=7 j=0 tier=portable",
        "mix@1 n=1 m=7 k=7 j=0 tier=portable",
        "paint@3 width=10 size=1 style=flat tier=portable",
        "paint@3 width=10 size=1 style=flat tile=2 tier=portable",
        "paint@3 width=10 size=1000 style=flat tier=portable",
        "paint@3 width=10 size=1000 style=flat tile=2 tier=portable",
    };
    assert_int_equal(config.case_count, COUNT_OF(keys));
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        expect_key(&config, i, keys[i]);
    config_release(&config);
}

/* CF-07: one config in several spellings of its bytes has one digest, which the file's name does
 * not enter. */
static void test_digest_is_of_the_contents(void **state)
{
    (void)state;
    static const char plain[] =
        "schema: 1\nname: a\ndevices: [host]\ncases:\n- {suite: mix, n: [1, 2]}\n";
    static const char *const same[] = {
        "\xef\xbb\xbfschema: 1\r\nname: a\r\ndevices: [host]\r\ncases:\r\n- {suite: mix, n: [1, "
        "2]}\r\n",
        "# note\nname: 'a'\nschema: 1\npolicy: {budget: 3000 ms}\ncases:\n- suite: mix\n  n: 1\n- "
        "{suite: mix, n: 2, m: 7}\ndevices: [\"host\"]\nx-n: 1\n",
    };
    static const char *const other[] = {
        "schema: 1\nname: b\ndevices: [host]\ncases:\n- {suite: mix, n: [1, 2]}\n",
        "schema: 1\nname: a\ndevices: [host]\ncases:\n- {suite: mix, n: [2, 1]}\n",
        "schema: 1\nname: a\npolicy: {budget: 4s}\ndevices: [host]\ncases: [{suite: mix}]\n",
        "schema: 1\nname: a\ndevices: [all]\ncases:\n- {suite: mix, n: [1, 2]}\n",
    };
    struct config reference = read_good(plain);
    assert_int_equal(strlen(reference.sha256), 64);
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct config config = read_good(same[i]);
        assert_string_equal(config.sha256, reference.sha256);
        config_release(&config);
    }
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        struct config config = read_good(other[i]);
        assert_string_not_equal(config.sha256, reference.sha256);
        config_release(&config);
    }
    config_release(&reference);
}

static void test_resolved_text(void **state)
{
    (void)state;
    struct config config =
        read_good("schema: 1\nname: 'say \"hi\" \\ there'\npolicy: {interval: 0.25%, difference: "
                  "0%, budget: 90 s, warmup: 1500us}\n"
                  "devices: ['opencl:0']\ncases:\n- {suite: paint, size: 1 MB}\n");
    struct text out = {0};
    config_resolved(&config, &out);
    assert_string_equal(text_string(&out), "schema: 1\n"
                                           "name: \"say \\\"hi\\\" \\\\ there\"\n"
                                           "policy:\n"
                                           "  rounds_min: 10\n"
                                           "  rounds_max: 40\n"
                                           "  samples_min: 30\n"
                                           "  interval: 0.25%\n"
                                           "  budget: 90s\n"
                                           "  warmup: 1500us\n"
                                           "  step_timeout: 120s\n"
                                           "  difference: 0%\n"
                                           "devices:\n"
                                           "  - \"opencl:0\"\n"
                                           "cases:\n"
                                           "  - suite: paint\n"
                                           "    width: 10\n"
                                           "    size: 1000000 B\n"
                                           "    style: flat\n"
                                           "    tile: auto\n");
    struct config again = read_good(text_string(&out));
    assert_string_equal(again.sha256, config.sha256);
    assert_memory_equal(&again.policy, &config.policy, sizeof config.policy);
    assert_int_equal(again.case_count, config.case_count);
    assert_memory_equal(again.cases, config.cases, sizeof *config.cases);
    config_release(&again);
    config_release(&config);
    text_release(&out);
}

/* CF-10 */
static void test_read_warns_of_hash(void **state)
{
    (void)state;
    struct config config = read_good(
        "schema: 1\nname: card #2\ndevices:\n- host # fine\n- gpu #1\ncases: [{suite: mix}]\n");
    assert_string_equal(config.name, "card");
    assert_string_equal(
        config.warnings,
        "t.yaml:2:7: name is 'card': what follows ' #' is a comment, quotes would keep it; "
        "t.yaml:5:3: the device is 'gpu': what follows ' #' is a comment, quotes would keep it");
    config_release(&config);
}

/* CF-12 */
static void test_filter(void **state)
{
    (void)state;
    struct error err;
    struct config config =
        read_good("schema: 1\ncases:\n- {suite: paint, width: [20, 30]}\n- {suite: mix}\n");
    char before[SHA256_HEX_BYTES];
    snprintf(before, sizeof before, "%s", config.sha256);
    assert_int_equal(config_filter(&config, "no.such.test", &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "0 tests match 'no.such.test' among the 3 cases"));
    assert_int_equal(config.case_count, 3);
    assert_int_equal(config_filter(&config, "WIDTH=", &err), CODE_OK);
    assert_int_equal(config.case_count, 2);
    expect_key(&config, 1, "paint@3 width=30 size=4096 style=flat tier=portable");
    assert_string_not_equal(config.sha256, before);
    assert_int_equal(config_filter(&config, "", &err), CODE_OK);
    assert_int_equal(config.case_count, 2);
    config_release(&config);
}

static void test_set_devices(void **state)
{
    (void)state;
    static const char *const given[] = {"host", "opencl:pocl:0"}, *const bad[] = {"host", "a\nb"},
                             *const empty[] = {""};
    const char *many[CONFIG_DEVICES_MAX + 1];
    struct error err;
    struct config config = read_good("schema: 1\ndevices: [all]\ncases: [{suite: mix}]\n");
    assert_int_equal(config_set_devices(&config, bad, 2, &err), CODE_USAGE);
    assert_non_null(strstr(err.message, "'a?b'"));
    assert_int_equal(config_set_devices(&config, empty, 1, &err), CODE_USAGE);
    assert_string_equal(config.devices[0], "all");
    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = "host";
    assert_int_equal(config_set_devices(&config, many, COUNT_OF(many), &err), CODE_USAGE);
    assert_int_equal(config_set_devices(&config, given, 2, &err), CODE_OK);
    assert_int_equal(config.device_count, 2);
    assert_string_equal(config.devices[1], "opencl:pocl:0");
    config_release(&config);
}

/* CF-11 and the rule by which a word is a built-in config and a path is a file. */
static void test_load_files_and_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-test-config-XXXXXX";
    char path[128], back[1024];
    struct config config;
    struct error err;
    assert_non_null(getcwd(back, sizeof back));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    static const char *const files[] = {"quick", "quick.yaml"};
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "w");
        assert_non_null(file);
        fputs("schema: 1\nname: from a file\ncases: [{suite: none}]\n", file);
        fclose(file);
    }
    assert_int_equal(config_load("quick", &config, &err), CODE_OK);
    assert_string_equal(config.path, "embedded:quick");
    config_release(&config);
    snprintf(path, sizeof path, "%s/quick", folder);
    static const char *const as_files[] = {"./quick", "quick.yaml"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(config_load(as_files[i], &config, &err), CODE_CONFIG);
        assert_non_null(strstr(err.message, ":3:17: unknown suite 'none'"));
    }
    assert_int_equal(config_load(path, &config, &err), CODE_CONFIG);
    assert_true(strncmp(err.message, path, strlen(path)) == 0);
    assert_int_equal(config_load("missing.yaml", &config, &err), CODE_CONFIG);
    assert_non_null(strstr(err.message, "cannot open 'missing.yaml': No such file"));
    assert_non_null(strstr(err.message, "quick"));
    assert_non_null(strstr(err.message, "reference"));
    assert_non_null(strstr(err.message, "standard"));
    assert_int_equal(config_load("quik", &config, &err), CODE_CONFIG);
    assert_int_equal(config_load(folder, &config, &err), CODE_CONFIG);
    assert_non_null(strstr(err.message, "directory"));
    unlink("quick");
    unlink("quick.yaml");
    assert_int_equal(chdir(back), 0);
    rmdir(folder);
}

/* The built-in configs: they read, name themselves, and no work-item of the quick and standard ones
 * needs more loop iterations than the 65,535 after which one driver stops it. */
static void test_embedded_configs(void **state)
{
    (void)state;
    static const char *const names[] = {"quick", "standard", "reference"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct config config;
        struct error err;
        if (config_load(names[i], &config, &err) != CODE_OK)
            fail_msg("%s", err.message);
        assert_string_equal(config.name, names[i]);
        assert_string_equal(config.warnings, "");
        struct text out = {0};
        struct config again;
        config_resolved(&config, &out);
        assert_int_equal(config_parse("again", text_string(&out), out.length, &again, &err),
                         CODE_OK);
        assert_string_equal(again.sha256, config.sha256);
        for (size_t k = 0; k < config.case_count; k++) {
            const struct case_spec *spec = &config.cases[k];
            bool strip = strcmp(spec->suite->name, "pixel") == 0 &&
                         strcmp(case_choice(spec, "partition"), "strip") == 0;
            if (strip && case_value(spec, "workers") != 0 && i < 2)
                assert_true(case_value(spec, "width") * case_value(spec, "height") /
                                case_value(spec, "workers") <
                            60000);
        }
        text_release(&out);
        config_release(&again);
        config_release(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_defaults),
        cmocka_unit_test(test_read_everything),
        cmocka_unit_test(test_read_axes),
        cmocka_unit_test(test_digest_is_of_the_contents),
        cmocka_unit_test(test_resolved_text),
        cmocka_unit_test(test_read_warns_of_hash),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_set_devices),
        cmocka_unit_test(test_load_files_and_names),
        cmocka_unit_test(test_embedded_configs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
