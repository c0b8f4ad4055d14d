/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay topology`: the machine at hand, or a stored one, as a tree, as JSON or as hwloc's XML. */
#include "cli/command.h"
#include "cli/options.h"

#include "base/log.h"
#include "base/quantity.h"
#include "base/text.h"
#include "harness/topology.h"

#include <stdio.h>
#include <stdlib.h>

enum { FROM, JSON, XML, PRIVATE, OPTIONS };

extern const struct command command_topology;

/* "cpu  Intel …"; what is unknown is left out of the text form. */
static void print_member(struct text *out, const char *title, const json_t *value)
{
    if (json_is_string(value))
        text_printf(out, "%-11s %s\n", title, json_string_value(value));
    else if (json_is_integer(value))
        text_printf(out, "%-11s %" JSON_INTEGER_FORMAT "\n", title, json_integer_value(value));
    else if (json_is_real(value))
        text_printf(out, "%-11s %.2f\n", title, json_real_value(value));
    else if (json_is_boolean(value))
        text_printf(out, "%-11s %s\n", title, json_is_true(value) ? "on" : "off");
}

static void print_bytes(struct text *out, const char *title, const json_t *value)
{
    char shown[QUANTITY_BYTES];
    if (json_is_integer(value))
        text_printf(out, "%-11s %s\n", title,
                    quantity_format_bytes((uint64_t)json_integer_value(value), shown));
}

static void print_host(const json_t *host, struct text *out)
{
    print_member(out, "host", json_object_get(host, "hostname"));
    print_member(out, "cpu", json_object_get(host, "cpu"));
    print_member(out, "os", json_object_get(host, "os"));
    print_member(out, "kernel", json_object_get(host, "kernel"));
    print_member(out, "hypervisor", json_object_get(host, "hypervisor"));
    print_bytes(out, "memory", json_object_get(host, "memory_bytes"));
    print_bytes(out, "available", json_object_get(host, "memory_free_bytes"));
    print_member(out, "CPUs online", json_object_get(host, "online_cpus"));
    print_member(out, "allowed", json_object_get(host, "allowed_cpu_list"));
    print_member(out, "governor", json_object_get(host, "governor"));
    print_member(out, "turbo", json_object_get(host, "turbo"));
    print_member(out, "SMT", json_object_get(host, "smt"));
    const json_t *cgroup = json_object_get(host, "cgroup");
    print_member(out, "CPU quota", json_object_get(cgroup, "cpu_quota"));
    print_bytes(out, "mem. limit", json_object_get(cgroup, "memory_limit_bytes"));
    print_member(out, "load 1 min", json_object_get(host, "load_1min"));
    size_t index = 0;
    const json_t *note = NULL;
    json_array_foreach(json_object_get(host, "notes"), index, note) print_member(out, "note", note);
    text_append(out, "\n");
}

static json_t *describe(const struct topology *topology, bool stored)
{
    if (!stored)
        return host_describe(topology);
    json_t *json = json_object();
    json_object_set_new(json, "topology", topology_json(topology));
    return json;
}

static void write_json(const json_t *json, struct text *out)
{
    char *bytes = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    if (bytes != NULL)
        text_printf(out, "%s\n", bytes);
    free(bytes);
}

static enum code write_form(const struct topology *topology, const struct option_spec *options,
                            struct text *out, struct error *err)
{
    bool stored = options[FROM].count > 0;
    if (options[XML].count > 0)
        return topology_xml(topology, options[PRIVATE].count > 0, out, err);
    json_t *json = describe(topology, stored);
    if (options[JSON].count > 0)
        write_json(json, out);
    else if (!stored)
        print_host(json, out);
    if (options[JSON].count == 0)
        topology_print(topology, out);
    json_decref(json);
    return CODE_OK;
}

/* EXIT_OK if the options make sense together. */
static int check_options(const struct option_spec *options, const char *extra)
{
    const struct command *self = &command_topology;
    if (extra != NULL)
        return command_usage(
            self, "unexpected argument '%s' (a stored machine is read by --from %s)", extra, extra);
    if (options[FROM].count > 1)
        return command_usage(self, "option '--from' is given more than once");
    if (options[JSON].count > 0 && options[XML].count > 0)
        return command_usage(self, "one of '--json' and '--xml' can be given, not both");
    if (options[PRIVATE].count > 0 && options[XML].count == 0)
        return command_usage(self, "option '--private' belongs to '--xml'");
    return EXIT_OK;
}

static int show(const struct option_spec *options)
{
    struct topology *topology = NULL;
    struct error err = {0};
    struct text out = {0};
    const char *path = options[FROM].count > 0 ? options[FROM].values[0] : NULL;
    enum code code = topology_load(path, &topology, &err);
    if (code == CODE_OK)
        code = write_form(topology, options, &out, &err);
    /* The text form has them among its notes. */
    bool quiet = code != CODE_OK || options[JSON].count + options[XML].count == 0;
    for (size_t i = 0; !quiet && topology_warning(topology, i) != NULL; i++)
        log_warning("%s", topology_warning(topology, i));
    fputs(text_string(&out), stdout);
    text_release(&out);
    topology_destroy(topology);
    if (code == CODE_OK)
        return EXIT_OK;
    /* Nothing is stored by this command: a file that cannot be read is a wrong argument. */
    int exit_code = command_fail(&err);
    return code == CODE_IO ? EXIT_USAGE : exit_code;
}

static int run(int argc, char **argv)
{
    struct option_spec options[OPTIONS + 1] = {
        [FROM] = {.name = "from", .takes_value = true},
        [JSON] = {.name = "json"},
        [XML] = {.name = "xml"},
        [PRIVATE] = {.name = "private"},
    };
    const char **arguments = memory_zeroed((size_t)argc, sizeof *arguments);
    size_t count = 0;
    int exit_code = EXIT_USAGE;
    if (options_parse(&command_topology, argc, argv, options, arguments, &count))
        exit_code = check_options(options, count > 0 ? arguments[0] : NULL);
    free(arguments);
    return exit_code == EXIT_OK ? show(options) : exit_code;
}

const struct command command_topology = {
    .name = "topology",
    .usage = "assay topology [--from FILE.xml] [--json | --xml [--private]]",
    .summary = "show the machine: CPUs, caches, memory, PCI devices, and what this process may use",
    .help =
        "Options:\n"
        "      --from FILE.xml  show a stored machine (hwloc XML, at most 16 MiB) instead of this "
        "one\n"
        "      --json           as JSON, as in the header of a result (docs/topology.md)\n"
        "      --xml            as hwloc XML, which --from, hwloc and lstopo read\n"
        "      --private        keep host name, serial numbers and network addresses in the XML\n"
        "\n"
        "Every name that the system has for one PCI device (cuda0, opencl0d0, card0, renderD128) "
        "stands on\n"
        "its line. HWLOC_* variables do not change what is shown; those that are set are named in "
        "a warning.\n"
        "\n"
        "Exit codes: 0 ok, 2 wrong usage or a file that is no topology, 7 the output could not be "
        "written.\n"
        "\n"
        "Examples:\n"
        "  assay topology\n"
        "  assay topology --json | jq '.topology.pci[] | select(.accelerator)'\n"
        "  assay topology --xml > machine.xml && assay topology --from machine.xml\n",
    .run = run,
};
