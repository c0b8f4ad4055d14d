/* SPDX-License-Identifier: Apache-2.0
 *
 * The program: options of the program itself, help, and the call of one command. Must not know what
 * any command does. */
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"

#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 64 };

static const struct command *find_command(const char *name)
{
    for (const struct command *const *command = command_all(); *command != NULL; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS_MAX + 2] = {"help"};
    size_t count = 1;
    for (const struct command *const *command = command_all(); *command != NULL; command++)
        if (!(*command)->hidden && count <= COMMANDS_MAX)
            names[count++] = (*command)->name;
    char shown[128];
    snprintf(shown, sizeof shown, "%s", name);
    text_make_printable(shown);
    const char *nearest = text_nearest(name, names);
    if (nearest != NULL)
        fprintf(stderr, "assay: no command '%s', did you mean '%s'?\n", shown, nearest);
    else
        fprintf(stderr, "assay: no command '%s'\n", shown);
    fputs("try 'assay --help'\n", stderr);
    return EXIT_USAGE;
}

static void print_overview(FILE *stream)
{
    fputs(
        "Usage: assay [-v | -q] COMMAND [OPTIONS] [ARGUMENTS]\n"
        "\n"
        "Measures what an accelerator card is worth: the same verified workloads on every device,\n"
        "on an audited clock.\n"
        "\n"
        "Commands:\n",
        stream);
    for (const struct command *const *command = command_all(); *command != NULL; command++)
        if (!(*command)->hidden)
            fprintf(stream, "  %-12s %s\n", (*command)->name, (*command)->summary);
    fputs(
        "\n"
        "Options before the command:\n"
        "  -v, --verbose  say more on stderr\n"
        "  -q, --quiet    warnings and errors only\n"
        "  -h, --help     this text\n"
        "      --version  version and build\n"
        "\n"
        "'assay help COMMAND' or 'assay COMMAND --help' tells all about one command.\n"
        "\n"
        "Exit codes: 0 ok, 2 usage or config, 3 nothing to measure on, 4 a case failed or is "
        "invalid,\n"
        "5 slower than the baseline or a claim not met, 6 not comparable, 7 a result could not be\n"
        "stored, 8 interrupted or timed out.\n",
        stream);
}

static int print_help(const char *name)
{
    const struct command *command = find_command(name);
    if (command == NULL)
        return unknown_command(name);
    printf("Usage: %s\n\n%s\n", command->usage, command->summary);
    if (command->help != NULL && command->help[0] != '\0') {
        size_t length = strlen(command->help);
        printf("\n%s%s", command->help, command->help[length - 1] == '\n' ? "" : "\n");
    }
    return EXIT_OK;
}

/* "assay help", "assay help COMMAND". */
static int run_help(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "assay: 'help' takes one command, found %d\ntry 'assay --help'\n",
                argc - 1);
        return EXIT_USAGE;
    }
    if (argc == 2 && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0 &&
        strcmp(argv[1], "help") != 0)
        return print_help(argv[1]);
    print_overview(stdout);
    return EXIT_OK;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run_command(int argc, char **argv)
{
    if (strcmp(argv[0], "help") == 0)
        return run_help(argc, argv);
    const struct command *command = find_command(argv[0]);
    if (command == NULL)
        return unknown_command(argv[0]);
    if (asks_for_help(argc, argv))
        return print_help(argv[0]);
    return command->run(argc, argv);
}

static bool is_option(const char *word, const char *letter, const char *name)
{
    return strcmp(word, letter) == 0 || strcmp(word, name) == 0;
}

static int unknown_option(const char *word)
{
    static const char *const names[] = {"--verbose", "--quiet", "--help", "--version", NULL};
    char shown[128];
    snprintf(shown, sizeof shown, "%s", word);
    text_make_printable(shown);
    const char *nearest = text_nearest(word, names);
    if (nearest != NULL)
        fprintf(stderr, "assay: unknown option '%s', did you mean '%s'?\n", shown, nearest);
    else
        fprintf(stderr, "assay: unknown option '%s' before the command\n", shown);
    fputs("try 'assay --help'\n", stderr);
    return EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
    int index = 1;
    for (; index < argc && argv[index][0] == '-'; index++) {
        const char *word = argv[index];
        if (is_option(word, "-v", "--verbose")) {
            log_set_level(LOG_VERBOSE);
        } else if (is_option(word, "-q", "--quiet")) {
            log_set_level(LOG_QUIET);
        } else if (is_option(word, "-h", "--help")) {
            print_overview(stdout);
            return EXIT_OK;
        } else if (is_option(word, "-V", "--version")) {
            printf("assay %s (%s)\n", ASSAY_VERSION, ASSAY_BUILD);
            return EXIT_OK;
        } else {
            return unknown_option(word);
        }
    }
    if (index >= argc) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    return run_command(argc - index, argv + index);
}

/* A standard stream that the caller closed would be taken by the next file that is opened, and a
 * result file would get what is printed. The stand-in for stdout is not writable, so that printing
 * into it is an error and not silence. */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* The reader of a pipe has gone ("| head -1"): wanted, not a failure. */
static bool reader_is_gone(int number)
{
    struct pollfd stream = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return number == EPIPE ||
           (poll(&stream, 1, 0) > 0 && (stream.revents & (POLLERR | POLLHUP)) != 0);
}

static int finish_output(int exit_code)
{
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int number = errno;
    if ((failed || failed_before) && reader_is_gone(number))
        return exit_code;
    if (!failed && fclose(stdout) != 0) {
        failed = true;
        number = errno;
    }
    if (!failed && !failed_before)
        return exit_code;
    /* The number of a failure before the last flush is lost. */
    fprintf(stderr, "assay: cannot write standard output%s%s\n", number != 0 ? ": " : "",
            number != 0 ? strerror(number) : "");
    return EXIT_STORE;
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    return finish_output(dispatch(argc, argv));
}
