/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay export`: results in a form that other tools read. */
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/options.h"

#include "base/text.h"
#include "reports/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT, DEVICE, BASE, OUTPUT, OPTIONS };

extern const struct command command_export;

/* Views of the results with the selected devices only; the arrays are ours, all else is borrowed.
 */
struct views {
    struct result items[INPUTS_MAX];
    const struct result *pointers[INPUTS_MAX];
    size_t count;
};

static bool is_selected(const struct option_spec *devices, const char *named, const char *id)
{
    if (named != NULL)
        return strcmp(named, id) == 0;
    for (size_t i = 0; i < devices->count; i++)
        if (strcmp(devices->values[i], id) == 0)
            return true;
    return devices->count == 0;
}

static void add_view(struct views *views, const struct input *input,
                     const struct option_spec *devices)
{
    const struct result *whole = input->result;
    struct result *view = &views->items[views->count];
    *view = *whole;
    view->devices = memory_zeroed(whole->device_count, sizeof *view->devices);
    view->records = memory_zeroed(whole->record_count, sizeof *view->records);
    view->device_count = view->record_count = 0;
    for (size_t i = 0; i < whole->device_count; i++)
        if (is_selected(devices, input->device, whole->devices[i].id))
            view->devices[view->device_count++] = whole->devices[i];
    for (size_t i = 0; i < whole->record_count; i++)
        if (result_device_find(view, whole->records[i].device) != NULL)
            view->records[view->record_count++] = whole->records[i];
    views->pointers[views->count] = view;
    views->count++;
}

static void views_release(struct views *views)
{
    for (size_t i = 0; i < views->count; i++) {
        free(views->items[i].devices);
        free(views->items[i].records);
    }
}

/* Each --device must be in one of the files at least. */
static enum code check_devices(const struct inputs *inputs, const struct option_spec *devices,
                               struct error *err)
{
    for (size_t d = 0; d < devices->count; d++) {
        struct text ids = {0};
        bool found = false;
        for (size_t r = 0; r < inputs->result_count; r++) {
            const struct result *result = inputs->results[r];
            found = found || result_device_find(result, devices->values[d]) != NULL;
            for (size_t i = 0; i < result->device_count; i++)
                text_printf(&ids, "%s%s", ids.length > 0 ? ", " : "", result->devices[i].id);
        }
        if (!found)
            error_set(err, CODE_USAGE, 0, "no file has a device '%s': there is %s",
                      devices->values[d], text_string(&ids));
        text_release(&ids);
        if (!found)
            return CODE_USAGE;
    }
    return CODE_OK;
}

static bool is_character_device(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISCHR(status.st_mode);
}

/* A new file only, or a device such as /dev/null: an export is made again in a moment, but what
 * stands there may not be. */
static enum code write_file(const char *path, const struct text *out, struct error *err)
{
    bool device = is_character_device(path);
    FILE *file = fopen(path, device ? "we" : "wxe");
    if (file == NULL && errno == EEXIST)
        return error_set(err, CODE_USAGE, 0, "'%s' exists already: name another file", path);
    if (file == NULL)
        return error_set(err, CODE_IO, errno, "cannot create '%s': %s", path, strerror(errno));
    bool written = fwrite(text_string(out), 1, out->length, file) == out->length;
    int number = errno;
    if (fclose(file) != 0 && written) {
        written = false;
        number = errno;
    }
    if (written)
        return CODE_OK;
    if (!device)
        remove(path);
    return error_set(err, CODE_IO, number, "cannot write '%s': %s", path, strerror(number));
}

static enum code export_inputs(const struct inputs *inputs, const struct report_format *format,
                               const struct option_spec *options, struct error *err)
{
    enum code code = check_devices(inputs, &options[DEVICE], err);
    if (code != CODE_OK)
        return code;
    struct views views = {0};
    for (size_t i = 0; i < inputs->count; i++)
        add_view(&views, &inputs->items[i], &options[DEVICE]);
    struct report_input input = {
        .results = views.pointers,
        .result_count = views.count,
        .difference = 0.02,
        .base = options[BASE].count > 0 ? options[BASE].values[0] : NULL,
    };
    struct text out = {0};
    code = format->write(&input, &out, err);
    if (code == CODE_OK && options[OUTPUT].count > 0 && strcmp(options[OUTPUT].values[0], "-") != 0)
        code = write_file(options[OUTPUT].values[0], &out, err);
    else if (code == CODE_OK)
        fputs(text_string(&out), stdout);
    text_release(&out);
    views_release(&views);
    return code;
}

static const struct report_format *find_format(const char *name)
{
    const struct report_format *format = report_format_find(name);
    if (format != NULL && format->export)
        return format;
    const char *names[16] = {0};
    size_t count = 0;
    struct text list = {0};
    for (const struct report_format *const *f = report_format_all(); *f != NULL && count < 15;
         f++) {
        if (!(*f)->export)
            continue;
        names[count++] = (*f)->name;
        text_printf(&list, "%s%s", list.length > 0 ? ", " : "", (*f)->name);
    }
    const char *nearest = text_nearest(name, names);
    command_usage(&command_export, "unknown format '%s'%s%s%s: there is %s", name,
                  nearest != NULL ? ", did you mean '" : "", nearest != NULL ? nearest : "",
                  nearest != NULL ? "'?" : "", text_string(&list));
    text_release(&list);
    return NULL;
}

static int run_with(const struct option_spec *options, const char *const *arguments, size_t count)
{
    if (count == 0)
        return command_usage(&command_export, "expected a result file");
    if (options[FORMAT].count != 1)
        return command_usage(&command_export, "expected one --format");
    const struct report_format *format = find_format(options[FORMAT].values[0]);
    if (format == NULL)
        return EXIT_USAGE;
    struct inputs inputs;
    struct error err = {0};
    int exit_code = EXIT_OK;
    if (inputs_load(arguments, count, &inputs, &err) != CODE_OK)
        exit_code = inputs_fail(&err);
    else if (export_inputs(&inputs, format, options, &err) != CODE_OK)
        exit_code = command_fail(&err);
    inputs_release(&inputs);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTIONS + 1] = {
        [FORMAT] = {.name = "format", .letter = 'f', .takes_value = true},
        [DEVICE] = {.name = "device", .letter = 'd', .takes_value = true},
        [BASE] = {.name = "base", .takes_value = true},
        [OUTPUT] = {.name = "output", .letter = 'o', .takes_value = true},
    };
    const char **arguments = memory_zeroed((size_t)argc + 1, sizeof *arguments);
    size_t count = 0;
    int exit_code = EXIT_USAGE;
    if (options_parse(&command_export, argc, argv, options, arguments, &count))
        exit_code = run_with(options, arguments, count);
    free(arguments);
    return exit_code;
}

const struct command command_export = {
    .name = "export",
    .usage = "assay export --format FORMAT [-d DEVICE]... [-o OUTPUT] FILE[:DEVICE]...",
    .summary = "write results in a form that other tools read",
    .help = "Options:\n"
            "  -f, --format FORMAT  csv, or google-benchmark for its tools/compare.py\n"
            "  -d, --device DEVICE  this device id only; may be repeated\n"
            "      --base DEVICE    csv: the device that the others are compared with; default: "
            "the first\n"
            "  -o, --output OUTPUT  a file that does not exist yet; default: standard output\n"
            "\n"
            "In Google Benchmark's form a case is named '<device>/<key>' with '/' for blanks; with "
            "one device only, the\n"
            "device is left out, so that two exports pair up:\n"
            "  assay export -f google-benchmark -d opencl:pocl:0 -o a.json a.jsonl\n"
            "  assay export -f google-benchmark -d opencl:pocl:0 -o b.json b.jsonl\n"
            "  compare.py benchmarks a.json b.json\n"
            "\n"
            "Exit codes: 0 ok; 2 wrong usage, or not a result file; 7 the output could not be "
            "written.\n",
    .run = run,
};
