/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options as a table; see options.h. Strict on purpose: no abbreviations, so that an
 * option added later never changes what an old script means. */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { OPTIONS_MAX = 32 };

/* State of one parse: where in argv it stands and what it found. */
struct parse {
    const struct command *command;
    int argc;
    char **argv;
    int index; /* of the word in hand */
    struct option_spec *options;
};

static struct option_spec *find_long(struct option_spec *options, const char *name, size_t length)
{
    for (; options->name != NULL; options++)
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static struct option_spec *find_letter(struct option_spec *options, char letter)
{
    for (; options->name != NULL; options++)
        if (options->letter != 0 && options->letter == letter)
            return options;
    return NULL;
}

/* Options of the program itself are a frequent guess: they stand before the command. */
static bool is_global(const char *word)
{
    static const char *const global[] = {"-v", "--verbose", "-q", "--quiet", "--version"};
    for (size_t i = 0; i < sizeof global / sizeof global[0]; i++)
        if (strcmp(word, global[i]) == 0)
            return true;
    return false;
}

static bool unknown_option(const struct parse *parse, const char *shown, const char *name)
{
    if (is_global(shown)) {
        command_usage(parse->command, "option '%s' goes before the command: assay %s %s", shown,
                      shown, parse->command->name);
        return false;
    }
    const char *names[OPTIONS_MAX + 2] = {0};
    size_t count = 0;
    for (; parse->options[count].name != NULL && count < OPTIONS_MAX; count++)
        names[count] = parse->options[count].name;
    names[count] = "help";
    const char *nearest = name != NULL ? text_nearest(name, names) : NULL;
    if (nearest != NULL)
        command_usage(parse->command, "unknown option '%s', did you mean '--%s'?", shown, nearest);
    else
        command_usage(parse->command, "unknown option '%s'", shown);
    return false;
}

static bool take(const struct parse *parse, struct option_spec *option, const char *value)
{
    if (option->takes_value) {
        if (option->count >= OPTION_VALUES_MAX) {
            command_usage(parse->command, "option '--%s' is given more than %d times", option->name,
                          (int)OPTION_VALUES_MAX);
            return false;
        }
        option->values[option->count] = value;
    }
    option->count++;
    return true;
}

/* The value of an option is the next word. A known option in its place is a forgotten value, not a
 * file with that name. */
static bool take_next_word(struct parse *parse, struct option_spec *option)
{
    if (parse->index + 1 >= parse->argc) {
        command_usage(parse->command, "option '--%s' needs a value", option->name);
        return false;
    }
    const char *value = parse->argv[parse->index + 1];
    if (text_starts_with(value, "--") &&
        (value[2] == '\0' ||
         find_long(parse->options, value + 2, strcspn(value + 2, "=")) != NULL)) {
        command_usage(
            parse->command,
            "option '--%s' needs a value, but '%s' follows (write --%s=%s if that is meant)",
            option->name, value, option->name, value);
        return false;
    }
    parse->index++;
    return take(parse, option, value);
}

static bool parse_long(struct parse *parse)
{
    const char *word = parse->argv[parse->index];
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    struct option_spec *option = find_long(parse->options, name, length);
    if (option == NULL) {
        char shown[128];
        snprintf(shown, sizeof shown, "--%.*s", (int)(length < 100 ? length : 100), name);
        return unknown_option(parse, shown, shown + 2);
    }
    if (name[length] == '\0')
        return option->takes_value ? take_next_word(parse, option) : take(parse, option, NULL);
    if (!option->takes_value) {
        command_usage(parse->command, "option '--%s' takes no value, found '%s'", option->name,
                      word);
        return false;
    }
    return take(parse, option, name + length + 1);
}

/* "-j", "-jk" (flags together), "-oFILE", "-o FILE". */
static bool parse_letters(struct parse *parse)
{
    for (const char *letter = parse->argv[parse->index] + 1; *letter != '\0'; letter++) {
        struct option_spec *option = find_letter(parse->options, *letter);
        if (option == NULL) {
            /* A whole code point, so that the message stays valid UTF-8. */
            size_t bytes = 1;
            while (((unsigned char)letter[bytes] & 0xc0) == 0x80)
                bytes++;
            char shown[16];
            snprintf(shown, sizeof shown, "-%.*s", (int)(bytes < 8 ? bytes : 8), letter);
            const char *word = parse->argv[parse->index];
            /* "-json" is "--json" with a dash missing. */
            bool known = find_long(parse->options, word + 1, strcspn(word + 1, "=")) != NULL;
            return unknown_option(parse, known ? word : shown, known ? word + 1 : NULL);
        }
        if (!option->takes_value) {
            if (!take(parse, option, NULL))
                return false;
        } else if (letter[1] != '\0') {
            return take(parse, option, letter + 1);
        } else {
            return take_next_word(parse, option);
        }
    }
    return true;
}

bool options_parse(const struct command *command, int argc, char **argv,
                   struct option_spec *options, const char **arguments, size_t *argument_count)
{
    struct parse parse = {.command = command, .argc = argc, .argv = argv, .options = options};
    bool only_arguments = false;
    *argument_count = 0;
    for (parse.index = 1; parse.index < argc; parse.index++) {
        const char *word = argv[parse.index];
        if (only_arguments || word[0] != '-' || word[1] == '\0') {
            arguments[(*argument_count)++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
        } else {
            bool good = word[1] == '-' ? parse_long(&parse) : parse_letters(&parse);
            if (!good)
                return false;
        }
    }
    return true;
}

int options_parse_json(const struct command *command, int argc, char **argv, bool *json)
{
    struct option_spec options[] = {{.name = "json"}, {.name = NULL}};
    const char **arguments = memory_zeroed((size_t)argc + 1, sizeof *arguments);
    size_t count = 0;
    int exit_code = EXIT_USAGE;
    if (options_parse(command, argc, argv, options, arguments, &count))
        exit_code =
            count == 0 ? EXIT_OK : command_usage(command, "unexpected argument '%s'", arguments[0]);
    free(arguments);
    *json = options[0].count > 0;
    return exit_code;
}
