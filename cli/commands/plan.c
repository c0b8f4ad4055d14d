/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay plan`: what a config resolves to, without touching any device. */
#include "base/log.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "harness/config.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_plan;

/* What a case takes on a device that sets no limit. */
struct footprint {
    uint64_t device_bytes, host_bytes;
    struct work work;
    struct step *step;
};

/* A device that sets no limit of its own: sizes are those of the definition, not of a card. */
static const struct device_caps no_limits = {.group_items = 1024,
                                             .local_bytes = 1 << 20,
                                             .compute_units = 64,
                                             .has_f64 = true,
                                             .has_f16 = true};

/* False with err filled if the case cannot be shaped at all. step is the caller's scratch. */
static bool measure(const struct case_spec *spec, struct step *step, struct footprint *footprint,
                    struct error *err)
{
    memset(step, 0, sizeof *step);
    *footprint = (struct footprint){.work = spec->suite->work(spec), .step = step};
    if (spec->suite->build(spec, &no_limits, step, err) != CODE_OK)
        return false;
    for (uint32_t i = 0; i < step->buffer_count; i++) {
        uint64_t bytes = step->buffers[i].count * type_bytes(step->buffers[i].type);
        if (step->buffers[i].memory == MEMORY_DEVICE)
            footprint->device_bytes += bytes;
        else
            footprint->host_bytes += bytes;
    }
    return true;
}

/* Unit of an amount from that of its rate: "FLOP/s" -> "FLOP". */
static void amount_unit(const struct work *work, char unit[QUANTITY_BYTES])
{
    snprintf(unit, QUANTITY_BYTES, "%s", work->unit);
    size_t length = strlen(unit);
    if (length > 2 && strcmp(unit + length - 2, "/s") == 0)
        unit[length - 2] = '\0';
}

static void add_row(struct table *table, size_t index, const struct case_spec *spec,
                    struct step *step)
{
    char number[QUANTITY_BYTES], device[QUANTITY_BYTES], host[QUANTITY_BYTES],
        amount[QUANTITY_BYTES];
    char unit[QUANTITY_BYTES], key[CASE_KEY_BYTES], work[128];
    struct footprint footprint;
    struct error err;
    bool shaped = measure(spec, step, &footprint, &err);
    snprintf(number, sizeof number, "%zu", index + 1);
    amount_unit(&footprint.work, unit);
    uint64_t value =
        footprint.work.by_operations ? footprint.work.operations : footprint.work.bytes;
    quantity_format_si((double)value, unit, amount);
    bool counted = !footprint.work.by_operations && footprint.work.bytes_counted != NULL;
    snprintf(work, sizeof work, "%s%s%s", amount, counted ? " " : "",
             counted ? footprint.work.bytes_counted : "");
    case_key(spec, key);
    if (!shaped)
        log_warning("case '%s': %s", key, err.message);
    const char *cells[] = {
        number, shaped ? quantity_format_bytes(footprint.device_bytes, device) : "unknown",
        shaped ? quantity_format_bytes(footprint.host_bytes, host) : "unknown", work, key};
    table_row(table, cells);
}

static void print_cases(const struct config *config, struct text *out)
{
    static const struct table_column columns[] = {{"#", TABLE_RIGHT, false},
                                                  {"on device", TABLE_RIGHT, false},
                                                  {"on host", TABLE_RIGHT, false},
                                                  {"work", TABLE_LEFT, false},
                                                  {"case", TABLE_LEFT, false}};
    struct table *table = table_create(columns, sizeof columns / sizeof columns[0]);
    struct step *step = memory_zeroed(1, sizeof *step);
    for (size_t i = 0; i < config->case_count; i++)
        add_row(table, i, &config->cases[i], step);
    /* Keys are identifiers: they wrap on a narrow terminal and are never cut. */
    table_write(table, 0, out);
    table_destroy(table);
    free(step);
}

static void print_head(const struct config *config, struct text *out)
{
    const struct policy *policy = &config->policy;
    char a[QUANTITY_BYTES], b[QUANTITY_BYTES], c[QUANTITY_BYTES];
    text_printf(out, "config   %s (%s)\n", config->name, config->path);
    text_printf(out, "digest   sha256:%s\n", config->sha256);
    text_printf(out,
                "rounds   %" PRIu32 " to %" PRIu32 ", at least %" PRIu32
                " samples, until the 95 %% interval is within %.6g %%\n",
                policy->rounds_min, policy->rounds_max, policy->samples_min,
                policy->interval * 100);
    text_printf(out, "limits   %s a case, %s to warm up, %s a request to a device\n",
                quantity_format_duration((double)policy->budget_ns, a),
                quantity_format_duration((double)policy->warmup_ns, b),
                quantity_format_duration((double)policy->step_timeout_ns, c));
    text_printf(out, "matters  a difference of %.6g %% or more\n", policy->difference * 100);
    text_append(out, "devices  ");
    for (size_t i = 0; i < config->device_count; i++)
        text_printf(out, "%s%s", i > 0 ? ", " : "", config->devices[i]);
    text_append(out, config->device_count > 0 ? "\n\n" : "all\n\n");
}

static void print_text(const struct config *config, struct text *out)
{
    char time[QUANTITY_BYTES];
    print_head(config, out);
    print_cases(config, out);
    double each = (double)(config->policy.budget_ns + config->policy.warmup_ns);
    text_printf(out,
                "\n%zu cases; the budgets allow %s a device, preparing and verifying come on "
                "top\n",
                config->case_count,
                quantity_format_duration((double)config->case_count * each, time));
}

static json_t *parameters_json(const struct case_spec *spec)
{
    json_t *parameters = json_object();
    for (uint32_t i = 0; i < spec->suite->param_count; i++) {
        const struct param *param = &spec->suite->params[i];
        json_t *value;
        if (param->kind == PARAM_CHOICE)
            value = json_string(param->choices[spec->values[i]]);
        else if (param->optional && spec->values[i] == 0)
            value = json_string("auto");
        else
            value = json_integer((json_int_t)spec->values[i]);
        json_object_set_new(parameters, param->name, value);
    }
    return parameters;
}

static json_t *work_json(const struct work *work)
{
    return json_pack("{s:I, s:I, s:s?, s:b, s:s}", "bytes", (json_int_t)work->bytes, "operations",
                     (json_int_t)work->operations, "bytes_counted", work->bytes_counted,
                     "by_operations", (int)work->by_operations, "unit", work->unit);
}

static json_t *buffers_json(const struct step *step)
{
    static const char *const roles[] = {
        [BUFFER_IN] = "in", [BUFFER_OUT] = "out", [BUFFER_SCRATCH] = "scratch"};
    static const char *const memories[] = {
        [MEMORY_DEVICE] = "device", [MEMORY_PINNED] = "pinned", [MEMORY_PAGEABLE] = "pageable"};
    json_t *buffers = json_array();
    for (uint32_t i = 0; i < step->buffer_count; i++) {
        const struct buffer_spec *buffer = &step->buffers[i];
        uint64_t bytes = buffer->count * type_bytes(buffer->type);
        json_array_append_new(
            buffers, json_pack("{s:s, s:s, s:s, s:s, s:I}", "name", buffer->name, "role",
                               roles[buffer->role], "type", type_name(buffer->type), "memory",
                               memories[buffer->memory], "bytes", (json_int_t)bytes));
    }
    return buffers;
}

static json_t *case_json(const struct case_spec *spec, struct step *step)
{
    char key[CASE_KEY_BYTES];
    struct footprint footprint;
    struct error err;
    bool shaped = measure(spec, step, &footprint, &err);
    case_key(spec, key);
    json_t *json = json_pack("{s:s, s:{s:s, s:I, s:s, s:o}, s:o}", "key", key, "case", "suite",
                             spec->suite->name, "version", (json_int_t)spec->suite->version, "tier",
                             "portable", "parameters", parameters_json(spec), "work",
                             work_json(&footprint.work));
    json_object_set_new(json, "device_bytes",
                        shaped ? json_integer((json_int_t)footprint.device_bytes) : json_null());
    json_object_set_new(json, "host_bytes",
                        shaped ? json_integer((json_int_t)footprint.host_bytes) : json_null());
    json_object_set_new(json, "buffers", shaped ? buffers_json(step) : json_null());
    json_object_set_new(json, "reason", shaped ? json_null() : json_string(err.message));
    return json;
}

static json_t *policy_json(const struct policy *policy)
{
    return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:f}", "rounds_min",
                     (json_int_t)policy->rounds_min, "rounds_max", (json_int_t)policy->rounds_max,
                     "samples_min", (json_int_t)policy->samples_min, "interval", policy->interval,
                     "budget_ns", (json_int_t)policy->budget_ns, "warmup_ns",
                     (json_int_t)policy->warmup_ns, "step_timeout_ns",
                     (json_int_t)policy->step_timeout_ns, "difference", policy->difference);
}

static void print_json(const struct config *config, struct text *out)
{
    json_t *devices = json_array(), *cases = json_array();
    struct step *step = memory_zeroed(1, sizeof *step);
    for (size_t i = 0; i < config->device_count; i++)
        json_array_append_new(devices, json_string(config->devices[i]));
    for (size_t i = 0; i < config->case_count; i++)
        json_array_append_new(cases, case_json(&config->cases[i], step));
    free(step);
    json_t *root = json_pack("{s:{s:s, s:s, s:s}, s:o, s:o, s:o}", "config", "name", config->name,
                             "path", config->path, "sha256", config->sha256, "policy",
                             policy_json(&config->policy), "devices", devices, "cases", cases);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    text_printf(out, "%s\n", text);
    free(text);
    json_decref(root);
}

enum { JSON, YAML, FILTER, DEVICE };

static enum code resolve(const char *path, const struct option_spec *options, struct config *config,
                         struct error *err)
{
    enum code code = config_load(path, config, err);
    if (code == CODE_OK && options[DEVICE].count > 0)
        code = config_set_devices(config, options[DEVICE].values, options[DEVICE].count, err);
    for (size_t i = 0; code == CODE_OK && i < options[FILTER].count; i++)
        code = config_filter(config, options[FILTER].values[i], err);
    return code;
}

static int run(int argc, char **argv)
{
    struct option_spec options[] = {
        [JSON] = {.name = "json"},
        [YAML] = {.name = "yaml"},
        [FILTER] = {.name = "filter", .takes_value = true},
        [DEVICE] = {.name = "device", .letter = 'd', .takes_value = true},
        {.name = NULL}};
    const char **arguments = memory_zeroed((size_t)argc + 1, sizeof *arguments);
    size_t count = 0;
    bool parsed = options_parse(&command_plan, argc, argv, options, arguments, &count);
    const char *path = count > 0 ? arguments[0] : "quick";
    free(arguments);
    if (!parsed)
        return EXIT_USAGE;
    if (count > 1)
        return command_usage(&command_plan, "%zu configs given, at most 1", count);
    if (options[JSON].count > 0 && options[YAML].count > 0)
        return command_usage(&command_plan, "--json and --yaml exclude each other");
    struct config config = {.device_count = 0};
    struct error err = {.code = CODE_OK};
    struct text out = {0};
    if (resolve(path, options, &config, &err) != CODE_OK) {
        config_release(&config);
        return command_fail(&err);
    }
    if (config.warnings[0] != '\0')
        log_warning("%s", config.warnings);
    if (options[JSON].count > 0)
        print_json(&config, &out);
    else if (options[YAML].count > 0)
        config_resolved(&config, &out);
    else
        print_text(&config, &out);
    fputs(text_string(&out), stdout);
    text_release(&out);
    config_release(&config);
    return EXIT_OK;
}

const struct command command_plan = {
    .name = "plan",
    .usage = "assay plan [OPTIONS] [CONFIG]",
    .summary = "print what a config would run, without touching a device",
    .help =
        "CONFIG is a YAML file, or the name of a built-in config: quick (the default), standard,\n"
        "reference. The policy is printed with every default filled in, then each case: the bytes\n"
        "of its buffers on the device and on the host, its least work, and its key, which holds\n"
        "the value of every parameter. The sizes are those on a device without limits; one that\n"
        "is too small for a case says so when it runs.\n"
        "\n"
        "Options:\n"
        "  -d, --device SELECTOR  take this device in place of the config's; may be repeated\n"
        "      --filter TEXT      keep the cases whose key contains TEXT, in upper or lower case;\n"
        "                         repeated: all must be contained\n"
        "      --json             print JSON\n"
        "      --yaml             print the resolved config, which reads as the same config\n"
        "  -h, --help             this text\n"
        "\n"
        "Exit codes: 0 ok, 2 the command line or the config is wrong, or no case is left.\n"
        "\n"
        "Examples:\n"
        "  assay plan\n"
        "  assay plan standard --filter gemm\n"
        "  assay plan quick --yaml > mine.yaml\n",
    .run = run,
};
