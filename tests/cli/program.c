/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the real program for tests; see program.h. */
#include "tests/cli/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct text text = {0};
    char bytes[4096];
    for (size_t count = fread(bytes, 1, sizeof bytes, file); count > 0;
         count = fread(bytes, 1, sizeof bytes, file))
        text_append_bytes(&text, bytes, count);
    fclose(file);
    char *copy = text_duplicate(text_string(&text));
    text_release(&text);
    return copy;
}

void child(const struct fixture *fixture, const struct call *call, int out, int err)
{
    const char *words[WORDS_MAX + 1] = {"assay"};
    for (size_t i = 0; i + 1 < WORDS_MAX && call->arguments[i] != NULL; i++)
        words[i + 1] = call->arguments[i];
    for (size_t i = 0; i < WORDS_MAX && call->environment[i] != NULL; i++) {
        char *copy = text_duplicate(call->environment[i]);
        char *equals = strchr(copy, '=');
        if (equals != NULL)
            *equals = '\0';
        if (equals != NULL)
            setenv(copy, equals + 1, 1);
        else
            unsetenv(copy);
    }
    struct rlimit limit = {.rlim_cur = call->address_space, .rlim_max = RLIM_INFINITY};
    if (call->address_space != 0 && setrlimit(RLIMIT_AS, &limit) != 0)
        _exit(99);
    if (chdir(call->directory != NULL ? call->directory : "/") != 0)
        _exit(99);
    if (call->as_nobody && geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(99);
    char *arguments[WORDS_MAX + 1];
    memcpy(arguments, words, sizeof arguments);
    if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
        execv(fixture->binary, arguments);
    _exit(99);
}

struct outcome run(const struct fixture *fixture, const struct call *call)
{
    char out_path[2048], err_path[2048];
    snprintf(out_path, sizeof out_path, "%s/stdout", fixture->place);
    snprintf(err_path, sizeof err_path, "%s/stderr", fixture->place);
    int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int err = open(err_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(out >= 0 && err >= 0);
    pid_t pid = fork();
    if (pid == 0)
        child(fixture, call, out, err);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(out);
    close(err);
    struct outcome outcome = {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    outcome.out = read_file(out_path);
    outcome.err = read_file(err_path);
    return outcome;
}

void release(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
}

void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

void expect(const struct fixture *fixture, const struct call *call, int exit_code,
            const char *const *parts)
{
    struct outcome outcome = run(fixture, call);
    if (outcome.exit_code != exit_code)
        fail_msg("exit %d, expected %d; stdout:\n%s\nstderr:\n%s", outcome.exit_code, exit_code,
                 outcome.out, outcome.err);
    struct text both = {0};
    text_printf(&both, "%s%s", outcome.out, outcome.err);
    for (; *parts != NULL; parts++)
        assert_says(text_string(&both), *parts);
    text_release(&both);
    release(&outcome);
}

json_t *json_of(const struct fixture *fixture, const struct call *call, int exit_code)
{
    struct outcome outcome = run(fixture, call);
    assert_int_equal(outcome.exit_code, exit_code);
    json_error_t error;
    json_t *json = json_loads(outcome.out, 0, &error);
    if (json == NULL)
        fail_msg("%s in: %s", error.text, outcome.out);
    release(&outcome);
    return json;
}

const json_t *device_with_id(const json_t *json, const char *id)
{
    size_t index = 0;
    const json_t *device = NULL;
    json_array_foreach(json_object_get(json, "devices"), index, device)
    {
        if (strcmp(json_string_value(json_object_get(device, "id")), id) == 0)
            return device;
    }
    fail_msg("no device '%s'", id);
    return NULL;
}

const char *string_of(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "(null)";
}

void write_text(const struct fixture *fixture, const char *name, const char *text)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", fixture->place, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void copy_file(const char *source, const char *target)
{
    FILE *from = fopen(source, "r"), *to = fopen(target, "w");
    assert_non_null(from);
    assert_non_null(to);
    char bytes[65536];
    for (size_t count = fread(bytes, 1, sizeof bytes, from); count > 0;
         count = fread(bytes, 1, sizeof bytes, from))
        assert_int_equal(fwrite(bytes, 1, count, to), count);
    fclose(from);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(target, 0755), 0);
}

/* The PoCL library: what its .icd names, looked for where Debian installs it. */
static bool find_pocl(char path[1024])
{
    char name[256] = "";
    FILE *file = fopen("/etc/OpenCL/vendors/pocl.icd", "r");
    if (file == NULL)
        return false;
    bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    DIR *directory = opendir("/usr/lib");
    snprintf(path, 1024, "%s", name);
    for (struct dirent *entry = NULL;
         path[0] != '/' && directory != NULL && (entry = readdir(directory)) != NULL;) {
        char candidate[1024];
        snprintf(candidate, sizeof candidate, "/usr/lib/%s/%s", entry->d_name, name);
        if (access(candidate, R_OK) == 0)
            snprintf(path, 1024, "%s", candidate);
    }
    if (directory != NULL)
        closedir(directory);
    return read && access(path, R_OK) == 0;
}

int set_up(void **state)
{
    static const char *const variables[] = {
        "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH",
        "OPENCL_LAYERS",   "ASSAY_FAKE_OPENCL", "POCL_CACHE_DIR",
        "POCL_DEVICES",    "RUSTICL_ENABLE",    "LD_LIBRARY_PATH",
    };
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error err = {0};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    setenv("ASSAY_DEV_DRI", "/nonexistent", 1);
    if (fixture == NULL || scratch_create(fixture->place, &err) != CODE_OK ||
        !find_pocl(fixture->pocl))
        return -1;
    snprintf(fixture->binary, sizeof fixture->binary, "%s/assay", fixture->place);
    if (chmod(fixture->place, 0755) != 0)
        return -1;
    copy_file(ASSAY_BINARY, fixture->binary);
    *state = fixture;
    return 0;
}

int tear_down(void **state)
{
    struct fixture *fixture = *state;
    scratch_remove(fixture->place);
    free(fixture);
    return 0;
}

void make_vendors(const struct fixture *fixture, const char *name, char variable[2048])
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", fixture->place, name);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(variable, 2048, "OCL_ICD_VENDORS=%.1024s", path);
}

const char *small_config(const struct fixture *fixture, char path[2048])
{
    write_text(fixture, "small.yaml",
               "schema: 1\nname: small\ncases:\n  - {suite: pixel, width: 64, height: 64}\n");
    snprintf(path, 2048, "%s/small.yaml", fixture->place);
    return path;
}
