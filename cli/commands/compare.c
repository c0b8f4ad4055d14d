/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay compare`: which pairs of devices to compare, and the exit code. The tables are in
 * cli/compare_output.c, the judgement is in reports/compare.c. */
#include "cli/command.h"
#include "cli/compare_output.h"
#include "cli/inputs.h"
#include "cli/options.h"

#include "base/quantity.h"
#include "base/text.h"
#include "reports/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE, DIFFERENCE, JSON, FORCE, PARTIAL, OPTIONS };

extern const struct command command_compare;

/* What is compared with what. */
struct pairs {
    struct {
        struct compare_side base, other;
        char note[COMPARE_TEXT_BYTES];
    } items[INPUTS_MAX];
    size_t count;
    struct text notes; /* devices without a partner */
};

static enum code add_pair(struct pairs *pairs, const struct result *base, const char *base_device,
                          const struct result *other, const char *other_device, const char *note,
                          struct error *err)
{
    if (pairs->count == INPUTS_MAX)
        return error_set(err, CODE_USAGE, 0, "more than %d pairs to compare", INPUTS_MAX);
    size_t i = pairs->count++;
    pairs->items[i].base = (struct compare_side){base, base_device};
    pairs->items[i].other = (struct compare_side){other, other_device};
    snprintf(pairs->items[i].note, sizeof pairs->items[i].note, "%s", note);
    return CODE_OK;
}

/* Every other device of one result against the base. */
static enum code pair_within(struct pairs *pairs, const struct result *result, const char *base,
                             struct error *err)
{
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < result->device_count; i++)
        if (strcmp(result->devices[i].id, base) != 0)
            code = add_pair(pairs, result, base, result, result->devices[i].id, "", err);
    return code;
}

static bool in_pairs(const struct device_pair *pairs, size_t count, const char *id, bool base)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(base ? pairs[i].base : pairs[i].other, id) == 0)
            return true;
    return false;
}

static void note_unpaired(struct pairs *pairs, const struct device_pair *found, size_t count,
                          const struct result *result, bool base)
{
    for (size_t i = 0; i < result->device_count; i++)
        if (!in_pairs(found, count, result->devices[i].id, base))
            text_printf(&pairs->notes, "%s:%s has no partner in the other file\n", result->path,
                        result->devices[i].id);
}

/* The devices of two results that are the same thing. */
static enum code pair_between(struct pairs *pairs, const struct result *base,
                              const struct result *other, struct error *err)
{
    struct device_pair found[COMPARE_PAIRS_MAX];
    size_t count = compare_pair_devices(base, other, found);
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < count; i++)
        code = add_pair(pairs, base, found[i].base, other, found[i].other, found[i].note, err);
    note_unpaired(pairs, found, count, base, true);
    note_unpaired(pairs, found, count, other, false);
    if (count == 0)
        return error_set(err, CODE_INCOMPARABLE, 0,
                         "no device of '%s' is one of '%s': name the two to compare as "
                         "FILE:DEVICE ('assay show FILE' lists them)",
                         other->path, base->path);
    return code;
}

/* The only device of a side, or the one that was named; NULL if it has several. */
static const char *single_device(const struct input *input)
{
    if (input->device != NULL)
        return input->device;
    return input->result->device_count == 1 ? input->result->devices[0].id : NULL;
}

/* One base against one other argument. */
static enum code pair_arguments(struct pairs *pairs, const struct input *base, const char *asked,
                                const struct input *other, struct error *err)
{
    const char *base_device = base->device != NULL ? base->device : asked;
    if (base_device == NULL && other->device == NULL)
        return base->result == other->result
                   ? add_pair(pairs, base->result, base->result->devices[0].id, other->result,
                              base->result->devices[0].id, "", err)
                   : pair_between(pairs, base->result, other->result, err);
    if (base_device == NULL)
        base_device = single_device(base);
    const char *other_device = single_device(other);
    if (other_device == NULL && result_device_find(other->result, base_device) != NULL)
        other_device = base_device;
    if (base_device == NULL || other_device == NULL)
        return error_set(err, CODE_USAGE, 0,
                         "'%s' has %zu devices: name one as FILE:DEVICE ('assay show FILE' lists "
                         "them)",
                         base_device == NULL ? base->result->path : other->result->path,
                         base_device == NULL ? base->result->device_count
                                             : other->result->device_count);
    return add_pair(pairs, base->result, base_device, other->result, other_device, "", err);
}

static enum code find_pairs(const struct inputs *inputs, const char *asked, struct pairs *pairs,
                            struct error *err)
{
    const struct input *base = &inputs->items[0];
    if (base->result->device_count == 0)
        return error_set(err, CODE_INCOMPARABLE, 0, "'%s' names no device", base->result->path);
    if (asked != NULL && base->device != NULL)
        return error_set(err, CODE_USAGE, 0, "the base is named twice: '%s' and --base %s",
                         base->device, asked);
    if (asked != NULL && result_device_find(base->result, asked) == NULL)
        return error_set(err, CODE_USAGE, 0,
                         "'%s' has no device '%s' ('assay show FILE' lists them)",
                         base->result->path, asked);
    if (inputs->count == 1) {
        const char *device = base->device != NULL ? base->device : asked;
        if (base->result->device_count == 1)
            return error_set(err, CODE_USAGE, 0,
                             "'%s' has one device only: name a second file to compare it with",
                             base->result->path);
        return pair_within(pairs, base->result,
                           device != NULL ? device : base->result->devices[0].id, err);
    }
    enum code code = CODE_OK;
    for (size_t i = 1; code == CODE_OK && i < inputs->count; i++)
        code = pair_arguments(pairs, base, asked, &inputs->items[i], err);
    return code;
}

/* Slower is a verdict and goes first; then what kept a verdict from being given. */
static int exit_code_of(struct comparison *const *comparisons, size_t count, bool partial)
{
    size_t slower = 0, judged = 0, refused = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        slower += comparisons[i]->slower_count;
        judged += comparisons[i]->judged_count;
        refused += comparisons[i]->refused_count;
        missing += comparisons[i]->missing_count;
    }
    if (slower > 0)
        return EXIT_SLOWER;
    return judged == 0 || refused > 0 || (missing > 0 && !partial) ? EXIT_INCOMPARABLE : EXIT_OK;
}

static void print(const struct pairs *pairs, struct comparison *const *comparisons, size_t count,
                  double difference, bool as_json)
{
    struct text out = {0};
    if (as_json) {
        compare_write_json(comparisons, count, difference, &out);
    } else {
        for (size_t i = 0; i < count; i++)
            compare_write_table(comparisons[i], pairs->items[i].note, difference, &out);
        text_append(&out, text_string(&pairs->notes));
    }
    fputs(text_string(&out), stdout);
    text_release(&out);
}

static int compare_all(const struct pairs *pairs, const struct compare_options *options,
                       bool as_json)
{
    struct comparison *comparisons[INPUTS_MAX] = {0};
    struct error err = {0};
    size_t count = 0;
    enum code code = CODE_OK;
    for (; code == CODE_OK && count < pairs->count; count++)
        code = compare_sides(&pairs->items[count].base, &pairs->items[count].other, options,
                             &comparisons[count], &err);
    int exit_code = EXIT_OK;
    if (code != CODE_OK) {
        exit_code = command_fail(&err);
    } else {
        print(pairs, comparisons, count, options->difference, as_json);
        exit_code = exit_code_of(comparisons, count, options->partial);
    }
    for (size_t i = 0; i < count; i++)
        comparison_destroy(comparisons[i]);
    return exit_code;
}

static int run_with(const struct option_spec *options, const char *const *arguments, size_t count)
{
    struct compare_options compare = {.difference = 0.02,
                                      .force = options[FORCE].count > 0,
                                      .partial = options[PARTIAL].count > 0};
    struct error err = {0};
    if (count == 0)
        return command_usage(&command_compare, "expected a result file");
    if (options[BASE].count > 1 || options[DIFFERENCE].count > 1)
        return command_usage(&command_compare, "--base and --difference may be given once");
    if (options[DIFFERENCE].count > 0 &&
        quantity_parse_share(options[DIFFERENCE].values[0], &compare.difference, &err) != CODE_OK)
        return command_usage(&command_compare, "--difference %s", err.message);
    struct inputs inputs;
    struct pairs pairs = {0};
    int exit_code;
    const char *base = options[BASE].count > 0 ? options[BASE].values[0] : NULL;
    if (inputs_load(arguments, count, &inputs, &err) != CODE_OK)
        exit_code = inputs_fail(&err);
    else if (find_pairs(&inputs, base, &pairs, &err) != CODE_OK)
        exit_code = command_fail(&err);
    else
        exit_code = compare_all(&pairs, &compare, options[JSON].count > 0);
    text_release(&pairs.notes);
    inputs_release(&inputs);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTIONS + 1] = {
        [BASE] = {.name = "base", .takes_value = true},
        [DIFFERENCE] = {.name = "difference", .takes_value = true},
        [JSON] = {.name = "json"},
        [FORCE] = {.name = "force"},
        [PARTIAL] = {.name = "partial"},
    };
    const char **arguments = memory_zeroed((size_t)argc + 1, sizeof *arguments);
    size_t count = 0;
    int exit_code = EXIT_USAGE;
    if (options_parse(&command_compare, argc, argv, options, arguments, &count))
        exit_code = run_with(options, arguments, count);
    free(arguments);
    return exit_code;
}

const struct command command_compare = {
    .name = "compare",
    .usage = "assay compare [OPTIONS] FILE[:DEVICE] [FILE[:DEVICE]]...",
    .summary = "compare devices, or two runs of one device, case by case",
    .help = "The first argument is the base. With one file, every other device in it is compared "
            "with the base device; with\n"
            "several, each device with the same one of the base file (by UUID, then place and "
            "name, then name).\n"
            "FILE:DEVICE names one device by its id.\n"
            "\n"
            "Options:\n"
            "      --base DEVICE       id of the base device; default: the first of the base file\n"
            "      --difference SHARE  smallest difference that matters; default: 2%\n"
            "      --json              as JSON\n"
            "      --partial           accept files that are not complete, and cases on one side "
            "only\n"
            "      --force             judge cases although build options or the like differ; the "
            "rows say so\n"
            "\n"
            "RATIO is the speed of the other over that of the base, from the medians, with its "
            "95 % interval. A verdict\n"
            "is 'faster' or 'slower' if the interval excludes 1 and the difference matters, "
            "'same' if all of it lies\n"
            "within the difference, else 'undecided'. docs/methodology.md tells how.\n"
            "\n"
            "Exit codes: 0 ok; 2 wrong usage, or not a result file; 5 a case is slower; 6 nothing "
            "could be judged, a case\n"
            "must not be compared, or (without --partial) a case is on one side only or failed, "
            "or a file is incomplete.\n"
            "\n"
            "Examples:\n"
            "  assay compare result.jsonl --base host:all\n"
            "  assay compare before.jsonl after.jsonl --difference 5%\n"
            "  assay compare a.jsonl:opencl:pocl:0 b.jsonl:cuda:0\n",
    .run = run,
};
