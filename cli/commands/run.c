/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay run`: measures the cases of a config on the selected devices and writes a result file. */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"

#include "base/log.h"
#include "base/quantity.h"
#include "harness/config.h"
#include "harness/inventory.h"
#include "harness/process.h"
#include "harness/resume.h"
#include "harness/run.h"
#include "harness/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEVICE, OUTPUT, FORCE, RESUME, FILTER, SEED, REDACT, OPTIONS };

extern const struct command command_run;

/* Everything of one invocation, so that there is one place to release it. */
struct job {
    struct config config;
    struct resume resume;
    struct inventory *inventory;
    struct writer *writer;
    size_t *selected;
    size_t selected_count;
    uint64_t seed;
    bool resumed;
};

static void default_output(bool redact, char path[256])
{
    char host[64] = "host", stamp[32];
    if (!redact && gethostname(host, sizeof host) == 0)
        host[sizeof host - 1] = '\0';
    for (char *c = host; *c != '\0'; c++)
        if (*c == '/' || *c == '.')
            *c = '-';
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
    snprintf(path, 256, "assay-%s-%s-%ld.jsonl", host, stamp, (long)getpid());
}

/* The seed asked for, else one that no other run is likely to have. */
static enum code read_seed(const struct option_spec *option, uint64_t *seed, struct error *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *seed =
        ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ^ ((uint64_t)getpid() << 40);
    if (option->count == 0)
        return CODE_OK;
    enum code code = quantity_parse_count(option->values[option->count - 1], seed, err);
    if (code != CODE_OK) {
        error_context(err, "--seed");
        err->code = CODE_USAGE;
    }
    return code;
}

/* What to measure: a config, or what a file still wants. */
static enum code plan_job(struct job *job, const char *config, const struct option_spec *options,
                          struct error *err)
{
    job->resumed = options[RESUME].count > 0;
    enum code code;
    if (job->resumed) {
        code = resume_load(options[RESUME].values[0], &job->resume, err);
        job->config = job->resume.config;
        job->resume.config = (struct config){0};
        job->seed = job->resume.seed;
        return code;
    }
    code = read_seed(&options[SEED], &job->seed, err);
    if (code == CODE_OK)
        code = config_load(config != NULL ? config : "quick", &job->config, err);
    for (size_t i = 0; i < options[FILTER].count && code == CODE_OK; i++)
        code = config_filter(&job->config, options[FILTER].values[i], err);
    if (code == CODE_OK && job->config.warnings[0] != '\0')
        log_warning("%s", job->config.warnings);
    return code;
}

/* Which devices: the command line's, else the file's or the config's. */
static enum code select_devices(struct job *job, const struct option_spec *options,
                                struct error *err)
{
    const char *const *selectors = options[DEVICE].values;
    size_t count = options[DEVICE].count;
    if (job->resumed) {
        selectors = (const char *const *)job->resume.devices;
        count = job->resume.device_count;
    } else if (count == 0) {
        selectors = (const char *const *)job->config.devices;
        count = job->config.device_count;
    }
    enum code code = inventory_load(&job->inventory, err);
    if (code != CODE_OK)
        return code;
    job->selected = memory_zeroed(job->inventory->device_count, sizeof *job->selected);
    code = inventory_select(job->inventory, selectors, count, job->selected, &job->selected_count,
                            err);
    if (code == CODE_OK && job->resumed)
        code = resume_check(&job->resume, job->inventory, job->selected, job->selected_count, err);
    return code;
}

static void warn_of_drivers(const struct inventory *inventory)
{
    if (inventory->loader[0] != '\0')
        log_warning("%s", inventory->loader);
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const struct inventory_driver *driver = &inventory->drivers[i];
        if (driver->state == DRIVER_CRASHED || driver->state == DRIVER_TIMEOUT ||
            driver->state == DRIVER_FAILED)
            log_warning("%s:%s is not measured: %s", driver->backend, driver->name, driver->reason);
    }
}

static enum code open_output(struct job *job, const struct option_spec *options, struct error *err)
{
    if (job->resumed)
        return writer_resume(options[RESUME].values[0], &job->writer, err);
    char path[256];
    default_output(options[REDACT].count > 0, path);
    size_t given = options[OUTPUT].count;
    return writer_create(given > 0 ? options[OUTPUT].values[given - 1] : path,
                         options[FORCE].count > 0, &job->writer, err);
}

static void print_outcome(const struct job *job, const struct run_outcome *outcome)
{
    size_t total = 0;
    struct text states = {0};
    for (int state = 0; state < STATE_COUNT; state++) {
        total += outcome->states[state];
        if (state != STATE_OK && outcome->states[state] > 0)
            text_printf(&states, ", %zu %s", outcome->states[state], state_name((enum state)state));
    }
    const char *path = writer_path(job->writer);
    if (!outcome->opened) {
        if (outcome->interrupted)
            log_info("interrupted before the first measurement; nothing was stored");
        return;
    }
    log_info("%zu of %zu measurements ok%s%s", outcome->states[STATE_OK], total,
             text_string(&states),
             outcome->interrupted ? "; interrupted, the case at hand was dropped" : "");
    if (strcmp(path, "-") != 0)
        log_info("result: %s (assay show, compare, report; %s)", path,
                 outcome->interrupted ? "assay run --resume goes on" : "assay export");
    text_release(&states);
}

/* Of all that the file holds, with what stood in it before it was continued. */
static int exit_of(const struct run_outcome *outcome, const size_t earlier[STATE_COUNT])
{
    size_t good = 0, total = 0;
    for (int state = 0; state < STATE_COUNT; state++) {
        size_t count = outcome->states[state] + earlier[state];
        total += count;
        good += state == STATE_OK || state == STATE_UNSUPPORTED ? count : 0;
    }
    if (outcome->interrupted || outcome->states[STATE_TIMEOUT] + earlier[STATE_TIMEOUT] > 0)
        return EXIT_INTERRUPTED;
    return good == total && total > 0 ? EXIT_OK : EXIT_FAILED_CASE;
}

static int run_job(struct job *job, bool redact)
{
    struct progress progress;
    progress_init(&progress);
    struct run_options run = {.config = &job->config,
                              .inventory = job->inventory,
                              .selected = job->selected,
                              .selected_count = job->selected_count,
                              .seed = job->seed,
                              .redact = redact,
                              .writer = job->writer,
                              .resumed = job->resume.done,
                              .progress = progress_show,
                              .context = &progress};
    struct run_outcome outcome;
    struct error err = {0};
    enum code code = run_cases(&run, &outcome, &err);
    progress_end(&progress);
    print_outcome(job, &outcome);
    return code == CODE_OK ? exit_of(&outcome, job->resume.states) : command_fail(&err);
}

static void release_job(struct job *job)
{
    config_release(&job->config);
    resume_release(&job->resume);
    inventory_destroy(job->inventory);
    free(job->selected);
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTIONS + 1] = {
        [DEVICE] = {.name = "device", .letter = 'd', .takes_value = true},
        [OUTPUT] = {.name = "output", .letter = 'o', .takes_value = true},
        [FORCE] = {.name = "force", .letter = 'f'},
        [RESUME] = {.name = "resume", .takes_value = true},
        [FILTER] = {.name = "filter", .takes_value = true},
        [SEED] = {.name = "seed", .takes_value = true},
        [REDACT] = {.name = "redact"},
    };
    const char **arguments = memory_zeroed((size_t)argc, sizeof *arguments);
    size_t count = 0;
    if (!options_parse(&command_run, argc, argv, options, arguments, &count)) {
        free(arguments);
        return EXIT_USAGE;
    }
    const char *config = count > 0 ? arguments[0] : NULL;
    free(arguments);
    bool contradiction =
        options[RESUME].count > 0 && (count > 0 || options[DEVICE].count + options[OUTPUT].count +
                                                       options[FILTER].count + options[SEED].count);
    if (count > 1 || contradiction)
        return command_usage(&command_run,
                             count > 1 ? "one config at a time"
                                       : "--resume takes config, devices and seed from the file");
    process_catch_signals();
    struct job job = {0};
    struct error err = {0};
    enum code code = plan_job(&job, config, options, &err);
    if (code == CODE_OK)
        code = select_devices(&job, options, &err);
    if (code == CODE_OK)
        code = open_output(&job, options, &err);
    int status;
    if (code == CODE_OK) {
        warn_of_drivers(job.inventory);
        status = run_job(&job, options[REDACT].count > 0);
        if (writer_close(job.writer, &err) != CODE_OK)
            status = command_fail(&err);
    } else {
        status = command_fail(&err);
    }
    release_job(&job);
    return status;
}

const struct command command_run = {
    .name = "run",
    .usage = "assay run [OPTIONS] [CONFIG]",
    .summary = "measure the cases of a config on devices and write a result file",
    .help =
        "CONFIG is a file, or the name of a config that is built in: quick (the default), "
        "standard,\n"
        "reference. 'assay plan CONFIG' prints what would run.\n"
        "\n"
        "Every case is measured on all selected devices in alternating rounds, verified before "
        "and\n"
        "after the timing, and stored and synced before the next one starts.\n"
        "\n"
        "Options:\n"
        "  -d, --device DEVICE  what to measure on; repeatable. 'all' (the default), 'host',\n"
        "                       'opencl:0', 'opencl:pocl:0', 'gpu', or a part of a device's name;\n"
        "                       see 'assay devices'\n"
        "  -o, --output FILE    result file; '-' is standard output. Default: "
        "assay-HOST-TIME-PID.jsonl\n"
        "                       in the current directory\n"
        "  -f, --force          move an existing result file aside (FILE.old) instead of refusing\n"
        "      --resume FILE    measure what is missing in a result file that was cut off\n"
        "      --filter TEXT    only cases whose key contains TEXT; repeatable, all must match\n"
        "      --seed N         seed of all inputs; default: a new one for each run\n"
        "      --redact         store a pseudonym in place of the host's name, and no paths\n"
        "\n"
        "Ctrl-C ends cleanly: the case at hand is dropped, the file holds all cases before it.\n"
        "\n"
        "Exit status: 0 all ok or not supported; 2 usage or config; 3 nothing to measure on; 4 a "
        "case\n"
        "failed (the file was written); 7 the result could not be stored; 8 interrupted or a case\n"
        "timed out (the partial file is kept).\n"
        "\n"
        "Examples:\n"
        "  assay run                                  the quick config on every device and the "
        "host\n"
        "  assay run standard -d gpu -d host -o a.jsonl\n"
        "  assay run --resume a.jsonl\n",
    .run = run,
};
