/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay show`: what a result file holds, as a table. Every case that was planned has a row; one
 * without a number has the reason in its place. It shows and does not judge: its exit code is 0 for
 * every file it could read. */
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/table.h"

#include "base/quantity.h"
#include "base/text.h"
#include "reports/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON, SAMPLES, OPTIONS };

extern const struct command command_show;

static const struct summary *no_summary(void)
{
    static const struct summary none;
    return &none;
}

static bool is_verified(const struct record *record)
{
    const json_t *check = json_object_get(record->json, "check");
    return json_is_object(json_object_get(check, "before")) &&
           json_is_object(json_object_get(check, "after"));
}

static void add_note(struct text *out, const char *note)
{
    text_printf(out, "%s%s", out->length > 0 ? "; " : "", note);
}

/* What goes with a number, or why there is none. */
static void notes_text(const struct record *record, const struct summary *summary, struct text *out)
{
    if (record->state == STATE_UNSUPPORTED)
        text_printf(out, "not supported: %s", record->reason);
    else if (record->state != STATE_OK)
        add_note(out, record->reason);
    else if (!record->converged)
        add_note(out, "not converged");
    if (summary->bimodal)
        add_note(out, "two modes");
    if (summary->drift)
        add_note(out, "drift");
    if (summary->outliers)
        add_note(out, "outliers");
    size_t index;
    json_t *note;
    json_array_foreach(json_object_get(record->json, "notes"), index, note)
    {
        if (json_is_string(note))
            add_note(out, json_string_value(note));
    }
    if (out->length > 0)
        text_make_printable(out->bytes);
}

static void add_row(struct table *table, const struct result *result, const struct record *record,
                    const struct summary *summary)
{
    char rate[RATE_TEXT_BYTES], count[32], kind[LABEL_KIND_BYTES];
    struct text notes = {0}, key = {0};
    bool ok = record->state == STATE_OK;
    notes_text(record, summary, &notes);
    text_append(&key, record->key);
    text_make_printable(key.bytes);
    snprintf(count, sizeof count, "%zu", record->samples.count);
    label_kind(result_device_of(result, record), kind);
    rate_text(record, summary, rate);
    const char *cells[] = {
        text_string(&key),
        record->device,
        kind,
        state_name(record->state),
        ok ? rate : "-",
        ok && !record->by_operations ? record->bytes_counted : "-",
        ok ? count : "-",
        ok ? record->clock : "-",
        ok ? (is_verified(record) ? "yes" : "no") : "-",
        text_string(&notes),
    };
    table_row(table, cells);
    text_release(&notes);
    text_release(&key);
}

/* Cases that were planned and have no record: the run was cut off before them. */
static size_t add_missing(struct table *table, const struct result *result)
{
    size_t index, missing = 0;
    json_t *planned;
    json_array_foreach(json_object_get(result->header, "planned"), index, planned)
    {
        const char *key = json_string_value(json_object_get(planned, "case"));
        const char *id = json_string_value(json_object_get(planned, "device"));
        if (result_find(result, key, id) != NULL)
            continue;
        missing++;
        char kind[LABEL_KIND_BYTES] = "-";
        const struct result_device *device = result_device_find(result, id);
        if (device != NULL)
            label_kind(device, kind);
        const char *cells[] = {key, id,  kind, "not-run", "-",
                               "-", "-", "-",  "-",       "no record: the run ended before"};
        if (table != NULL)
            table_row(table, cells);
    }
    return missing;
}

static void write_head(const struct result *result, size_t ok, size_t missing, struct text *out)
{
    size_t begin = out->length;
    text_printf(out, "%s: %zu of %zu cases ok", result->path, ok, result->record_count + missing);
    text_printf(out, ", measured %s on %s, run %s", header_text(result, "created"),
                json_is_string(json_object_get(json_object_get(result->header, "host"), "hostname"))
                    ? json_string_value(
                          json_object_get(json_object_get(result->header, "host"), "hostname"))
                    : "unknown host",
                header_text(result, "run"));
    text_make_printable(out->bytes + begin);
    text_append(out, "\n");
    if (!result->complete)
        text_printf(out, "incomplete: the run did not end, %zu planned cases have no record%s\n",
                    missing, result->torn ? "; the last line was cut short and is not used" : "");
    for (size_t i = 0; i < result->device_count; i++) {
        device_text(&result->devices[i], out);
        text_append(out, "\n");
    }
    text_append(out, "\n");
}

static void write_samples(const struct record *record, struct text *out)
{
    for (size_t r = 0; r < record->samples.round_count; r++) {
        text_printf(out, "  round %zu:", r + 1);
        for (size_t i = record->samples.round_begin[r]; i < record->samples.round_begin[r + 1]; i++)
            text_printf(out, " %.1f", record->samples.ns[i]);
        text_append(out, "\n");
    }
}

static void write_all_samples(const struct result *result, struct text *out)
{
    for (size_t i = 0; i < result->record_count; i++) {
        const struct record *record = &result->records[i];
        if (record->samples.count == 0)
            continue;
        size_t begin = out->length;
        text_printf(out, "\n%s on %s, ns a step%s", record->key, record->device,
                    record->state == STATE_OK ? "" : " (not to be used: ");
        if (record->state != STATE_OK)
            text_printf(out, "%s)", state_name(record->state));
        text_make_printable(out->bytes + begin + 1);
        text_append(out, "\n");
        write_samples(record, out);
    }
}

static void write_table(const struct result *result, const struct summary *summaries,
                        struct text *out)
{
    static const struct table_column columns[] = {
        {.title = "CASE", .shrinks = true},
        {.title = "DEVICE"},
        {.title = "TYPE", .shrinks = true},
        {.title = "STATE"},
        {.title = "RATE ±95 %", .align = TABLE_RIGHT},
        {.title = "COUNTED"},
        {.title = "N", .align = TABLE_RIGHT},
        {.title = "CLOCK"},
        {.title = "VERIFIED"},
        {.title = "NOTES", .shrinks = true},
    };
    struct table *table = table_create(columns, sizeof columns / sizeof columns[0]);
    size_t ok = 0;
    for (size_t i = 0; i < result->record_count; i++) {
        ok += result->records[i].state == STATE_OK;
        add_row(table, result, &result->records[i], &summaries[i]);
    }
    size_t missing = add_missing(table, result);
    write_head(result, ok, missing, out);
    table_write(table, terminal_width(STDOUT_FILENO), out);
    table_destroy(table);
}

static json_t *row_json(const struct result *result, const struct record *record,
                        const struct summary *summary, bool samples)
{
    char kind[LABEL_KIND_BYTES];
    bool ok = record->state == STATE_OK;
    label_kind(result_device_of(result, record), kind);
    json_t *row = json_pack(
        "{s:s,s:s,s:s,s:s,s:s?,s:s,s:s,s:s,s:b,s:b}", "case", record->key, "device", record->device,
        "kind", kind, "state", state_name(record->state), "reason", record->reason, "unit",
        record->unit, "bytes_counted", record->bytes_counted, "clock", record->clock, "verified",
        ok && is_verified(record), "converged", record->converged);
    bool interval = ok && summary->has_interval;
    json_object_set_new(row, "rate",
                        ok ? json_real(record_rate(record, summary->median)) : json_null());
    json_object_set_new(row, "rate_low",
                        interval ? json_real(record_rate(record, summary->median_95.high))
                                 : json_null());
    json_object_set_new(row, "rate_high",
                        interval ? json_real(record_rate(record, summary->median_95.low))
                                 : json_null());
    json_object_set_new(row, "median_ns", ok ? json_real(summary->median) : json_null());
    json_object_set_new(row, "samples", json_integer((json_int_t)record->samples.count));
    json_object_set_new(row, "rounds", json_integer((json_int_t)record->samples.round_count));
    json_object_set_new(row, "two_modes", json_boolean(summary->bimodal));
    json_object_set_new(row, "drift", json_boolean(summary->drift));
    json_object_set_new(row, "outliers", json_boolean(summary->outliers));
    if (samples)
        json_object_set(row, "samples_ns",
                        json_object_get(json_object_get(record->json, "samples"), "rounds"));
    return row;
}

static void write_json(const struct result *result, const struct summary *summaries, bool samples,
                       struct text *out)
{
    json_t *rows = json_array();
    size_t ok = 0;
    for (size_t i = 0; i < result->record_count; i++) {
        ok += result->records[i].state == STATE_OK;
        json_array_append_new(rows, row_json(result, &result->records[i], &summaries[i], samples));
    }
    size_t missing = add_missing(NULL, result);
    json_t *json =
        json_pack("{s:o,s:s,s:s,s:b,s:I,s:I,s:I,s:o}", "file", path_json(result->path), "run",
                  header_text(result, "run"), "created", header_text(result, "created"), "complete",
                  result->complete, "ok", (json_int_t)ok, "records",
                  (json_int_t)result->record_count, "missing", (json_int_t)missing, "rows", rows);
    char *dump = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    if (dump != NULL)
        text_printf(out, "%s\n", dump);
    free(dump);
    json_decref(json);
}

static void show_result(const struct result *result, bool as_json, bool samples)
{
    struct summary *summaries = memory_zeroed(result->record_count, sizeof *summaries);
    for (size_t i = 0; i < result->record_count; i++) {
        summaries[i] = *no_summary();
        if (result->records[i].state == STATE_OK)
            stats_summarise(&result->records[i].samples, &summaries[i]);
    }
    struct text out = {0};
    if (as_json)
        write_json(result, summaries, samples, &out);
    else
        write_table(result, summaries, &out);
    if (samples && !as_json)
        write_all_samples(result, &out);
    fputs(text_string(&out), stdout);
    text_release(&out);
    free(summaries);
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTIONS + 1] = {
        [JSON] = {.name = "json"}, [SAMPLES] = {.name = "samples"}};
    const char **arguments = memory_zeroed((size_t)argc + 1, sizeof *arguments);
    size_t count = 0;
    int exit_code = EXIT_OK;
    struct inputs inputs = {0};
    struct error err = {0};
    if (!options_parse(&command_show, argc, argv, options, arguments, &count))
        exit_code = EXIT_USAGE;
    else if (count != 1)
        exit_code = command_usage(&command_show, "expected one result file, found %zu", count);
    else if (inputs_load(arguments, count, &inputs, &err) != CODE_OK)
        exit_code = inputs_fail(&err);
    else
        show_result(inputs.results[0], options[JSON].count > 0, options[SAMPLES].count > 0);
    inputs_release(&inputs);
    free(arguments);
    return exit_code;
}

const struct command command_show = {
    .name = "show",
    .usage = "assay show [--json] [--samples] FILE",
    .summary = "show what a result file holds",
    .help = "Options:\n"
            "      --json     as JSON\n"
            "      --samples  with every sample, by round\n"
            "\n"
            "Every planned case has a row. RATE is computed from the median time and the work of "
            "the case, with the wider\n"
            "side of its 95 % interval; '±-' stands where there are too few samples for one. A "
            "case that is not ok has\n"
            "no rate, and the reason under NOTES.\n"
            "\n"
            "Exit codes: 0 the file was read and shown, whatever it holds; 2 wrong usage, or not "
            "a result file.\n",
    .run = run,
};
