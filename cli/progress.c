/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress of a run on stderr; see progress.h. A figure is shown only with its record, after the
 * last verification. */
#include "cli/progress.h"

#include "base/log.h"
#include "base/quantity.h"
#include "cli/table.h"
#include "harness/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void progress_init(struct progress *progress)
{
    const char *term = getenv("TERM");
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO) && !dumb,
                                  .quiet = log_get_level() == LOG_QUIET};
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

static const char *stage_name(enum run_stage stage)
{
    switch (stage) {
    case RUN_OPENING:
        return "opening and auditing clocks";
    case RUN_PREPARING:
        return "preparing";
    case RUN_MEASURING:
        return "measuring";
    case RUN_VERIFYING:
        return "verifying";
    case RUN_RECORDED:
        break;
    }
    return "recorded";
}

/* Cuts a line to the width of the terminal, by code points. */
static void cut_to_width(struct text *line, size_t width)
{
    if (width == 0 || text_columns(text_string(line)) < width)
        return;
    size_t columns = 0, at = 0;
    for (; at < line->length; at++) {
        columns += ((unsigned char)line->bytes[at] & 0xc0) != 0x80;
        if (columns == width - 1)
            break;
    }
    line->length = at;
    text_append(line, "…");
}

static void show_line(struct progress *progress, const struct run_progress *event)
{
    struct text line = {0};
    char left[QUANTITY_BYTES] = "";
    text_printf(&line, "[%zu/%zu", event->done, event->total);
    if (event->seconds_left >= 0)
        text_printf(&line, ", %s left", quantity_format_duration(event->seconds_left * 1e9, left));
    text_printf(&line, "] %s: %s", event->device, stage_name(event->stage));
    if (event->stage == RUN_MEASURING)
        text_printf(&line, ", round %zu", event->round);
    if (event->key != NULL)
        text_printf(&line, ", %s", event->key);
    cut_to_width(&line, terminal_width(STDERR_FILENO));
    fprintf(stderr, "\r\033[K%s", text_string(&line));
    fflush(stderr);
    progress->shown = true;
    text_release(&line);
}

/* Median over all samples of a record, as a rate in its own unit; "" where there is none. */
static void format_rate(const json_t *record, char out[QUANTITY_BYTES])
{
    out[0] = '\0';
    json_t *work = json_object_get(record, "work");
    json_t *rounds = json_object_get(json_object_get(record, "samples"), "rounds");
    bool by_operations = json_is_true(json_object_get(work, "by_operations"));
    double amount =
        json_number_value(json_object_get(work, by_operations ? "operations" : "bytes"));
    double *ns = NULL;
    size_t count = 0, r, s;
    json_t *round, *sample;
    json_array_foreach(rounds, r, round) json_array_foreach(round, s, sample)
    {
        ns = memory_resize(ns, count + 1, sizeof *ns);
        ns[count++] = json_number_value(sample);
    }
    if (count > 0)
        quantity_format_si(amount / (stats_median(ns, count) * 1e-9),
                           json_string_value(json_object_get(work, "unit")), out);
    free(ns);
}

static void show_record(const struct run_progress *event)
{
    const char *state = json_string_value(json_object_get(event->record, "state"));
    const char *reason = json_string_value(json_object_get(event->record, "reason"));
    bool ok = state != NULL && strcmp(state, "ok") == 0;
    char rate[QUANTITY_BYTES] = "", left[QUANTITY_BYTES] = "";
    if (ok)
        format_rate(event->record, rate);
    struct text line = {0};
    text_printf(&line, "[%zu/%zu] %s %s: %s", event->done, event->total, event->device, event->key,
                ok ? rate : state);
    if (!ok && reason != NULL)
        text_printf(&line, " (%s)", reason);
    if (ok && json_is_false(json_object_get(event->record, "converged")))
        text_append(&line, " (not converged)");
    if (event->seconds_left >= 0 && event->done < event->total)
        text_printf(&line, ", %s left", quantity_format_duration(event->seconds_left * 1e9, left));
    text_make_printable(line.bytes);
    fprintf(stderr, "%s\n", text_string(&line));
    text_release(&line);
}

/* What --verbose adds to a record: how it was launched and timed, and what the driver printed. */
static void tell_more(const json_t *record)
{
    const json_t *clock = json_object_get(record, "clock");
    const char *shape =
        json_string_value(json_object_get(json_object_get(record, "build"), "shape"));
    const char *source = json_string_value(json_object_get(clock, "source"));
    const char *reason = json_string_value(json_object_get(clock, "reason"));
    const char *output = json_string_value(json_object_get(record, "driver_output"));
    if (shape != NULL && shape[0] != '\0')
        log_verbose("  shape: %s", shape);
    if (source != NULL)
        log_verbose("  clock: %s%s%s", source, reason != NULL ? ", " : "",
                    reason != NULL ? reason : "");
    if (output != NULL)
        log_verbose("  driver: %s", output);
}

void progress_show(void *context, const struct run_progress *event)
{
    struct progress *progress = context;
    if (progress->quiet)
        return;
    if (event->stage == RUN_RECORDED) {
        progress_end(progress);
        show_record(event);
        tell_more(event->record);
    } else if (progress->terminal) {
        show_line(progress, event);
    } else if (event->stage == RUN_OPENING) {
        fprintf(stderr, "%s: %s\n", event->device, stage_name(event->stage));
    }
}
