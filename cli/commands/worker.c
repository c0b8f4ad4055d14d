/* SPDX-License-Identifier: Apache-2.0
 *
 * `assay worker`: the process that loads a driver. Started by the coordinator with its socket on
 * descriptor 3. */
#include "cli/command.h"
#include "cli/options.h"
#include "harness/worker.h"

#include <fcntl.h>

static int run(int argc, char **argv)
{
    enum { BACKEND, LIBRARY };
    struct option_spec options[] = {[BACKEND] = {.name = "backend", .takes_value = true},
                                    [LIBRARY] = {.name = "library", .takes_value = true},
                                    {.name = NULL}};
    const char *arguments[4];
    size_t count = 0;
    extern const struct command command_worker;
    if (argc > 8 || !options_parse(&command_worker, argc, argv, options, arguments, &count))
        return EXIT_USAGE;
    if (options[BACKEND].count != 1 || count != 0 || fcntl(3, F_GETFD) < 0)
        return command_usage(&command_worker, "started by 'assay run', not by hand");
    worker_serve(options[BACKEND].values[0],
                 options[LIBRARY].count > 0 ? options[LIBRARY].values[0] : NULL);
    return EXIT_OK;
}

const struct command command_worker = {
    .name = "worker",
    .usage = "assay worker --backend NAME [--library PATH]",
    .summary = "the process that loads a driver; started by assay itself",
    .help = "Answers requests on descriptor 3. Not for use by hand.\n",
    .hidden = true,
    .run = run,
};
