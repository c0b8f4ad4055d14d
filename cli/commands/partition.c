/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay partition`: how n items are divided over W workers of equal share, as the pixel suite's
 * partition=strip does it. Prints what harness/partition.c computes and knows no device. */
#include "cli/command.h"
#include "cli/options.h"

#include "base/quantity.h"
#include "base/text.h"
#include "harness/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS, WORKERS, JSON, OPTIONS };

extern const struct command command_partition;

static void print_count(struct text *out, const char *title, uint64_t count, const char *note)
{
    char shown[QUANTITY_BYTES];
    text_printf(out, "  %-23s %20s%s\n", title, quantity_format_count(count, shown), note);
}

static void print_text(const struct partition *partition, struct text *out)
{
    char items[QUANTITY_BYTES], workers[QUANTITY_BYTES], share[QUANTITY_BYTES],
        halo[QUANTITY_BYTES];
    char idle[64], last[64], busy[QUANTITY_BYTES];
    quantity_format_count(partition->items, items);
    quantity_format_count(partition->workers, workers);
    quantity_format_count(partition->share, share);
    quantity_format_count(partition->items + 1, halo);
    snprintf(idle, sizeof idle, "  (%.4g %% of the slots)", 100 * partition_idle_share(partition));
    snprintf(last, sizeof last, "  (worker %s)",
             quantity_format_count(partition->busy_workers, busy));
    text_printf(out, "%s items over %s workers\n", items, workers);
    print_count(out, "each worker", partition->share, "");
    print_count(out, "slots", partition->slots, "");
    print_count(out, "idle slots", partition->idle_slots, idle);
    print_count(out, "last worker with items", partition->last_share, last);
    print_count(out, "workers without an item", partition->empty_workers, "");
    text_printf(out,
                "worker i (from 1) reads items %s·(i−1)+1 to %s·i+1; the last one stops at %s, the "
                "halo item\n",
                share, share, halo);
}

static void print_json(const struct partition *partition, struct text *out)
{
    text_printf(out, "{\n  \"items\": %" PRIu64 ",\n  \"workers\": %" PRIu64 ",\n",
                partition->items, partition->workers);
    text_printf(out, "  \"items_per_worker\": %" PRIu64 ",\n  \"slots\": %" PRIu64 ",\n",
                partition->share, partition->slots);
    text_printf(out, "  \"idle_slots\": %" PRIu64 ",\n  \"idle_share\": %.9g,\n",
                partition->idle_slots, partition_idle_share(partition));
    text_printf(out, "  \"busy_workers\": %" PRIu64 ",\n  \"empty_workers\": %" PRIu64 ",\n",
                partition->busy_workers, partition->empty_workers);
    text_printf(out, "  \"last_worker_items\": %" PRIu64 ",\n  \"halo_item\": %" PRIu64 "\n}\n",
                partition->last_share, partition->items + 1);
}

/* The one value of an option that must be given once; EXIT_OK or the exit code of a usage error
 * that was printed. */
static int read_count(const struct option_spec *option, uint64_t *count)
{
    const struct command *self = &command_partition;
    if (option->count != 1)
        return command_usage(self, "option '--%s' is %s", option->name,
                             option->count == 0 ? "missing" : "given more than once");
    struct error err = {0};
    if (quantity_parse_count(option->values[0], count, &err) != CODE_OK)
        return command_usage(self, "option '--%s': %s", option->name, err.message);
    return EXIT_OK;
}

static int show(const struct option_spec *options)
{
    uint64_t items = 0, workers = 0;
    int exit_code = read_count(&options[ITEMS], &items);
    if (exit_code == EXIT_OK)
        exit_code = read_count(&options[WORKERS], &workers);
    if (exit_code != EXIT_OK)
        return exit_code;
    struct partition partition;
    struct error err = {0};
    if (partition_init(&partition, items, workers, &err) != CODE_OK)
        return command_usage(&command_partition, "%s", err.message);
    struct text out = {0};
    if (options[JSON].count > 0)
        print_json(&partition, &out);
    else
        print_text(&partition, &out);
    fputs(text_string(&out), stdout);
    text_release(&out);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTIONS + 1] = {
        [ITEMS] = {.name = "items", .letter = 'n', .takes_value = true},
        [WORKERS] = {.name = "workers", .letter = 'w', .takes_value = true},
        [JSON] = {.name = "json"},
    };
    const char **arguments = memory_zeroed((size_t)argc, sizeof *arguments);
    size_t count = 0;
    int exit_code = EXIT_USAGE;
    if (options_parse(&command_partition, argc, argv, options, arguments, &count))
        exit_code = count == 0 ? show(options)
                               : command_usage(&command_partition, "unexpected argument '%s'",
                                               arguments[0]);
    free(arguments);
    return exit_code;
}

const struct command command_partition = {
    .name = "partition",
    .usage = "assay partition --items N --workers W [--json]",
    .summary = "how N items are divided over W workers",
    .help = "Every worker takes ceil(N / W) consecutive items and reads one more, as in the pixel "
            "suite with\n"
            "partition=strip. Items and workers are counted from 1.\n"
            "\n"
            "Options:\n"
            "  -n, --items N     items to divide, at least 1\n"
            "  -w, --workers W   workers, at least 1\n"
            "      --json        print JSON\n"
            "\n"
            "Exit codes: 0 done, 2 usage.\n"
            "\n"
            "Example:\n"
            "  assay partition --items 600000000 --workers 16384\n",
    .run = run,
};
