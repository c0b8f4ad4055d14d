/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay report`: one or more result files as a report. The report takes the place of an older one
 * only when it is whole. Must not know: what a report holds. */
#include "base/log.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "harness/record.h"
#include "reports/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT, FORMAT, BASE, DIFFERENCE, FORCE, OPTION_COUNT };
enum { PATH_BYTES = 4096, HEAD_BYTES = 1024 };

extern const struct command command_report;

/* Where the report goes. */
struct target {
    const char *path; /* "-" is standard output */
    bool force;
};

static const char *default_path(const struct report_format *format)
{
    if (strcmp(format->name, "markdown") == 0)
        return "report.md";
    return strcmp(format->name, "csv") == 0 ? "report.csv" : "report.html";
}

/* An older report may be replaced: it can be made again. Any other file may be somebody's work. */
static bool is_report(const char *path)
{
    char head[HEAD_BYTES + 1] = "";
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    size_t count = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    head[count] = '\0';
    return count == 0 || strstr(head, "content=\"Assay ") != NULL ||
           text_starts_with(head, "# Assay report");
}

/* Before anything is read or computed: a path that cannot be right is said at once. */
static enum code target_check(const struct target *target, const char *const *inputs, size_t count,
                              struct error *err)
{
    struct stat status, input;
    if (strcmp(target->path, "-") == 0 || stat(target->path, &status) != 0)
        return CODE_OK;
    if (S_ISDIR(status.st_mode))
        return error_set(err, CODE_USAGE, 0, "output '%s' is a directory: name a file in it",
                         target->path);
    for (size_t i = 0; i < count; i++)
        if (stat(inputs[i], &input) == 0 && input.st_dev == status.st_dev &&
            input.st_ino == status.st_ino)
            return error_set(err, CODE_USAGE, 0,
                             "output '%s' is the result file '%s' itself: name another file",
                             target->path, inputs[i]);
    if (S_ISREG(status.st_mode) && !target->force && !is_report(target->path))
        return error_set(err, CODE_USAGE, 0,
                         "output '%s' exists and is no report of Assay's: name another file, or "
                         "overwrite it with --force",
                         target->path);
    return CODE_OK;
}

static enum code write_all(int descriptor, const struct text *report, const char *path,
                           struct error *err)
{
    for (size_t done = 0; done < report->length;) {
        ssize_t count = write(descriptor, report->bytes + done, report->length - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return error_set(err, CODE_IO, errno, "cannot write '%s': %s", path, strerror(errno));
        done += (size_t)count;
    }
    return CODE_OK;
}

/* Devices and pipes have nothing to take the place of; a symbolic link is kept and written through.
 */
static enum code write_directly(const char *path, const struct text *report, struct error *err)
{
    int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (descriptor < 0)
        return error_set(err, CODE_IO, errno, "cannot open '%s': %s", path, strerror(errno));
    enum code code = write_all(descriptor, report, path, err);
    if (close(descriptor) != 0 && code == CODE_OK)
        code = error_set(err, CODE_IO, errno, "cannot write '%s': %s", path, strerror(errno));
    return code;
}

/* mkstemp makes files that their owner alone may read; a report gets what any new file would. */
static mode_t file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static enum code fill_temporary(int descriptor, const char *temporary, const char *path,
                                const struct text *report, struct error *err)
{
    enum code code = write_all(descriptor, report, path, err);
    if (code == CODE_OK && (fchmod(descriptor, file_mode()) != 0 || fsync(descriptor) != 0))
        code = error_set(err, CODE_IO, errno, "cannot write '%s': %s", path, strerror(errno));
    if (close(descriptor) != 0 && code == CODE_OK)
        code = error_set(err, CODE_IO, errno, "cannot write '%s': %s", path, strerror(errno));
    if (code == CODE_OK && rename(temporary, path) != 0)
        code = error_set(err, CODE_IO, errno, "cannot put the report in place as '%s': %s", path,
                         strerror(errno));
    return code;
}

/* A file beside the target, then a rename: the older report stays whole until the new one is. */
static enum code write_replacing(const char *path, const struct text *report, struct error *err)
{
    char temporary[PATH_BYTES + 16];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return error_set(err, CODE_IO, errno, "cannot create a file beside '%s': %s", path,
                         strerror(errno));
    enum code code = fill_temporary(descriptor, temporary, path, report, err);
    if (code != CODE_OK)
        unlink(temporary);
    return code;
}

static enum code target_write(const struct target *target, const struct text *report,
                              struct error *err)
{
    struct stat status;
    if (strcmp(target->path, "-") == 0)
        return write_all(STDOUT_FILENO, report, "standard output", err);
    if (strlen(target->path) >= PATH_BYTES)
        return error_set(err, CODE_USAGE, 0, "the output path is longer than %d bytes", PATH_BYTES);
    if (lstat(target->path, &status) == 0 && !S_ISREG(status.st_mode))
        return write_directly(target->path, report, err);
    return write_replacing(target->path, report, err);
}

/* Loads every file or none: a report of half of what was asked for would mislead. */
static enum code results_load(const char *const *paths, size_t count, struct result **results,
                              struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        enum code code = result_load(paths[i], &results[i], err);
        if (code == CODE_IO) /* an input that is not there is a mistake of the command line */
            err->code = CODE_USAGE;
        if (code != CODE_OK)
            return err->code;
    }
    return CODE_OK;
}

static void results_destroy(struct result **results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        result_destroy(results[i]);
    free(results);
}

static enum code read_difference(const struct option_spec *option, double *difference,
                                 struct error *err)
{
    *difference = 0.02;
    if (option->count == 0)
        return CODE_OK;
    enum code code = quantity_parse_share(option->values[option->count - 1], difference, err);
    if (code != CODE_OK)
        error_context(err, "--difference");
    return code == CODE_OK ? CODE_OK : (err->code = CODE_USAGE);
}

static const struct report_format *find_format(const struct option_spec *option)
{
    const struct report_format *format =
        report_format_find(option->count > 0 ? option->values[option->count - 1] : "html");
    return format != NULL && format->report ? format : NULL;
}

static void list_formats(struct text *out)
{
    for (const struct report_format *const *format = report_format_all(); *format != NULL; format++)
        if ((*format)->report)
            text_printf(out, "%s%s", out->length > 0 ? ", " : "", (*format)->name);
}

static enum code make(const struct option_spec *options, const struct report_format *format,
                      const struct target *target, const char *const *paths, size_t count,
                      struct error *err)
{
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    struct text report = {0};
    struct result **results = memory_zeroed(count, sizeof(struct result *));
    struct report_input input = {.results = (const struct result *const *)results,
                                 .result_count = count};
    if (gmtime_r(&now, &utc) != NULL)
        strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    input.created = created;
    if (options[BASE].count > 0)
        input.base = options[BASE].values[options[BASE].count - 1];
    enum code code = read_difference(&options[DIFFERENCE], &input.difference, err);
    if (code == CODE_OK)
        code = target_check(target, paths, count, err);
    if (code == CODE_OK)
        code = results_load(paths, count, results, err);
    if (code == CODE_OK)
        code = format->write(&input, &report, err);
    if (code == CODE_OK)
        code = target_write(target, &report, err);
    if (code == CODE_OK && strcmp(target->path, "-") != 0)
        log_info("report of %zu file%s written to '%s'", count, count > 1 ? "s" : "", target->path);
    text_release(&report);
    results_destroy(results, count);
    return code;
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTION_COUNT + 1] = {
        [OUTPUT] = {.name = "output", .letter = 'o', .takes_value = true},
        [FORMAT] = {.name = "format", .letter = 'f', .takes_value = true},
        [BASE] = {.name = "base", .takes_value = true},
        [DIFFERENCE] = {.name = "difference", .takes_value = true},
        [FORCE] = {.name = "force"},
    };
    const char **paths = memory_zeroed((size_t)argc + 1, sizeof *paths);
    size_t count = 0;
    struct error err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of the write, not our end */
    int exit_code = EXIT_USAGE;
    if (!options_parse(&command_report, argc, argv, options, paths, &count)) {
        free(paths);
        return EXIT_USAGE;
    }
    const struct report_format *format = find_format(&options[FORMAT]);
    if (count == 0)
        exit_code = command_usage(&command_report, "name at least one result file");
    else if (format == NULL) {
        struct text names = {0};
        list_formats(&names);
        exit_code =
            command_usage(&command_report, "unknown report format '%s'; there are: %s",
                          options[FORMAT].values[options[FORMAT].count - 1], text_string(&names));
        text_release(&names);
    } else {
        struct target target = {.path = default_path(format), .force = options[FORCE].count > 0};
        if (options[OUTPUT].count > 0)
            target.path = options[OUTPUT].values[options[OUTPUT].count - 1];
        exit_code = EXIT_OK;
        if (make(options, format, &target, paths, count, &err) != CODE_OK)
            exit_code = command_fail(&err);
    }
    free(paths);
    return exit_code;
}

const struct command command_report = {
    .name = "report",
    .usage = "assay report [OPTIONS] FILE...",
    .summary = "write a report that compares the devices of result files",
    .help =
        "Arguments:\n"
        "  FILE                   a result file of 'assay run'; several are put side by side\n"
        "\n"
        "Options:\n"
        "  -o, --output PATH      where the report goes; '-' is standard output\n"
        "                         (default: report.html, report.md or report.csv)\n"
        "  -f, --format FORMAT    html, markdown or csv (default: html)\n"
        "      --base DEVICE      device that all others are compared with: an id such as\n"
        "                         'opencl:pocl:0', with several files 'opencl:pocl:0 [2]' for "
        "that\n"
        "                         of the second, or a part of one name (default: host:all, else\n"
        "                         the first device that has results)\n"
        "      --difference SHARE smallest difference that matters (default: 2%)\n"
        "      --force            overwrite a file that is no report\n"
        "\n"
        "An older report at PATH is replaced, and only once the new one is whole. A result file "
        "or\n"
        "a directory is never overwritten. Charts need gnuplot; without it the report has tables\n"
        "only and says so.\n"
        "\n"
        "Exit codes:\n"
        "  0  written\n"
        "  2  wrong usage, or a file that is no result\n"
        "  7  the report could not be stored\n"
        "\n"
        "Examples:\n"
        "  assay report result.jsonl\n"
        "  assay report --base host:one -o - result.jsonl > report.html\n"
        "  assay report offer-a.jsonl offer-b.jsonl --difference 5%\n",
    .run = run,
};
