/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the OpenCL loader by dlopen and, through it, the platforms. One platform library can be
 * loaded alone, so that a driver that aborts takes no other with it: the loader is shown a private
 * directory that registers nothing else. */
#include "backends/opencl/opencl.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A loader reads its registrations once in a process, so a second library cannot be shown to it
 * later. What it was shown is noted in the environment, which is as process-wide as the loader's
 * state is. */
static const char library_shown[] = "ASSAY_OPENCL_LIBRARY";

static const char *const loader_names[] = {"libOpenCL.so.1", "libOpenCL.so"};
enum { LOADER_NAMES = 2, ICD_BYTES = 4096, PATH_BYTES = 1024 };

/* The directory that registers one library. */
struct registration {
    char directory[PATH_BYTES];
    char file[PATH_BYTES + 16];
};

static bool ends_with(const char *string, const char *end)
{
    size_t length = strlen(string);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(string + length - end_length, end) == 0;
}

/* What the .icd file has to hold: the library itself, or what another .icd file holds. */
static enum code registration_text(const char *library, char text[ICD_BYTES], struct error *err)
{
    if (library[0] == '/' && access(library, R_OK) != 0)
        return error_set(err, CODE_NOTHING, errno,
                         "cannot read the OpenCL platform library '%s': %s", library,
                         strerror(errno));
    if (!ends_with(library, ".icd")) {
        int length = snprintf(text, ICD_BYTES, "%s\n", library);
        return length < ICD_BYTES ? CODE_OK
                                  : error_set(err, CODE_USAGE, 0,
                                              "a path of %d bytes for an OpenCL platform library "
                                              "is longer than %d",
                                              length, ICD_BYTES - 2);
    }
    int file = open(library, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_set(err, CODE_NOTHING, errno, "cannot read '%s': %s", library,
                         strerror(errno));
    ssize_t count = read(file, text, ICD_BYTES - 1);
    int reason = errno;
    close(file);
    if (count < 0)
        return error_set(err, CODE_NOTHING, reason, "cannot read '%s': %s", library,
                         strerror(reason));
    text[count] = '\0';
    return CODE_OK;
}

static enum code registration_write(const struct registration *registration, const char *text,
                                    struct error *err)
{
    int file = open(registration->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return error_set(err, CODE_IO, errno, "cannot create '%s': %s", registration->file,
                         strerror(errno));
    ssize_t written = write(file, text, strlen(text));
    int reason = errno;
    if (close(file) != 0 || written != (ssize_t)strlen(text))
        return error_set(err, CODE_IO, reason, "cannot write '%s': %s", registration->file,
                         strerror(reason));
    return CODE_OK;
}

static void registration_close(struct registration *registration)
{
    if (registration->directory[0] == '\0')
        return;
    unlink(registration->file);
    rmdir(registration->directory);
    registration->directory[0] = '\0';
}

static enum code registration_open(const char *library, struct registration *registration,
                                   struct error *err)
{
    char text[ICD_BYTES];
    enum code code = registration_text(library, text, err);
    if (code != CODE_OK)
        return code;
    const char *parent = getenv("TMPDIR");
    snprintf(registration->directory, sizeof registration->directory, "%.900s/assay-icd-XXXXXX",
             parent != NULL && parent[0] == '/' ? parent : "/tmp");
    if (mkdtemp(registration->directory) == NULL) {
        code = error_set(err, CODE_IO, errno, "cannot create a directory '%s': %s",
                         registration->directory, strerror(errno));
        registration->directory[0] = '\0';
        return code;
    }
    snprintf(registration->file, sizeof registration->file, "%s/only.icd", registration->directory);
    code = registration_write(registration, text, err);
    if (code == CODE_OK &&
        (setenv("OCL_ICD_VENDORS", registration->directory, 1) != 0 ||
         unsetenv("OCL_ICD_FILENAMES") != 0 || setenv(library_shown, library, 1) != 0))
        code =
            error_set(err, CODE_MEMORY, errno, "cannot set the environment: %s", strerror(errno));
    if (code != CODE_OK)
        registration_close(registration);
    return code;
}

static bool loader_is_resident(void)
{
    for (int i = 0; i < LOADER_NAMES; i++) {
        void *library = dlopen(loader_names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            dlclose(library);
            return true;
        }
    }
    return false;
}

/* Shows the loader the one library; nothing to do for "" and for a library that it was shown
 * before. */
static enum code show_library(const char *library, struct registration *registration,
                              struct error *err)
{
    const char *shown = loader_is_resident() ? getenv(library_shown) : NULL;
    if (shown != NULL && strcmp(shown, library) != 0)
        return error_set(err, CODE_USAGE, 0,
                         "the OpenCL loader of this process was opened for '%s' and cannot be "
                         "opened for '%s' as well",
                         shown, library[0] != '\0' ? library : "all platforms");
    if (shown != NULL || library[0] == '\0')
        return CODE_OK;
    return registration_open(library, registration, err);
}

static enum code load_symbols(struct driver *driver, const char *name, struct error *err)
{
    void *symbol;
#define OPENCL_LOAD(entry)                                                                         \
    symbol = dlsym(driver->library, #entry);                                                       \
    memcpy(&driver->api.entry, &symbol, sizeof symbol);
    OPENCL_REQUIRED(OPENCL_LOAD)
    OPENCL_OPTIONAL(OPENCL_LOAD)
#undef OPENCL_LOAD
#define OPENCL_CHECK(entry)                                                                        \
    if (driver->api.entry == NULL)                                                                 \
        return error_set(err, CODE_NOTHING, 0, "'%s' is no OpenCL loader: it has no " #entry, name);
    OPENCL_REQUIRED(OPENCL_CHECK)
#undef OPENCL_CHECK
    return CODE_OK;
}

static enum code load(struct driver *driver, struct error *err)
{
    char reasons[512] = "";
    for (int i = 0; i < LOADER_NAMES; i++) {
        driver->library = dlopen(loader_names[i], RTLD_NOW | RTLD_LOCAL);
        if (driver->library != NULL)
            return load_symbols(driver, loader_names[i], err);
        const char *reason = dlerror();
        if (i == 0)
            snprintf(reasons, sizeof reasons, "%s", reason != NULL ? reason : "no reason given");
    }
    text_make_printable(reasons);
    return error_set(err, CODE_NOTHING, 0,
                     "no OpenCL loader: tried '%s' and '%s' (%s); install a package such as "
                     "ocl-icd-libopencl1",
                     loader_names[0], loader_names[1], reasons);
}

static enum code no_platform(const char *library, struct error *err)
{
    if (library[0] != '\0')
        return error_set(err, CODE_NOTHING, -1001,
                         "OpenCL loader found, but '%s' gives it no platform: the library "
                         "is not a driver or cannot be loaded",
                         library);
    const char *vendors = getenv("OCL_ICD_VENDORS");
    return error_set(err, CODE_NOTHING, -1001,
                     "OpenCL loader found, no driver registered: looked for .icd files in "
                     "'%s'; install the card's OpenCL driver, or pocl-opencl-icd for the processor",
                     vendors != NULL ? vendors : "/etc/OpenCL/vendors");
}

/* Appends the platform's devices to the slots. A platform without devices is no error. */
static enum code add_devices(struct driver *driver, cl_platform_id platform, struct error *err)
{
    cl_uint count = 0;
    cl_int native = driver->api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (native == CL_DEVICE_NOT_FOUND || (native == CL_SUCCESS && count == 0))
        return CODE_OK;
    if (native != CL_SUCCESS)
        return opencl_error(err, native, "clGetDeviceIDs");
    if (count > OPENCL_DEVICES_MAX - driver->slot_count)
        return error_set(err, CODE_DRIVER, 0,
                         "a platform names %u devices, after %zu of others: more than %d", count,
                         driver->slot_count, OPENCL_DEVICES_MAX);
    cl_device_id *devices = memory_zeroed(count, sizeof *devices);
    native = driver->api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices, NULL);
    if (native == CL_SUCCESS) {
        driver->slots =
            memory_resize(driver->slots, driver->slot_count + count, sizeof *driver->slots);
        for (cl_uint i = 0; i < count; i++)
            driver->slots[driver->slot_count++] = (struct opencl_slot){platform, devices[i]};
    }
    free(devices);
    return native == CL_SUCCESS ? CODE_OK : opencl_error(err, native, "clGetDeviceIDs");
}

static enum code find_devices(struct driver *driver, const char *library, struct error *err)
{
    cl_platform_id platforms[OPENCL_PLATFORMS_MAX];
    cl_uint count = 0;
    cl_int native = driver->api.clGetPlatformIDs(OPENCL_PLATFORMS_MAX, platforms, &count);
    if (native == -1001 || (native == CL_SUCCESS && count == 0))
        return no_platform(library, err);
    if (native != CL_SUCCESS)
        return opencl_error(err, native, "clGetPlatformIDs");
    if (count > OPENCL_PLATFORMS_MAX)
        return error_set(err, CODE_DRIVER, 0, "the OpenCL loader names %u platforms: more than %d",
                         count, OPENCL_PLATFORMS_MAX);
    char *name = opencl_platform_text(&driver->api, platforms[0], CL_PLATFORM_NAME);
    snprintf(driver->platform, sizeof driver->platform, "%s", name);
    free(name);
    /* A platform that fails does not hide the devices of the others; alone, its failure is the
     * answer. */
    enum code code = CODE_OK;
    for (cl_uint i = 0; i < count; i++) {
        struct error reason = {0};
        if (add_devices(driver, platforms[i], &reason) != CODE_OK && code == CODE_OK) {
            code = reason.code;
            error_set(err, reason.code, reason.native, "%s", reason.message);
        }
    }
    if (driver->slot_count == 0)
        return code;
    error_clear(err);
    return CODE_OK;
}

enum code opencl_driver_open(const char *library, struct driver **driver, struct error *err)
{
    const char *wanted = library != NULL ? library : "";
    struct registration registration = {0};
    struct driver *opened = memory_zeroed(1, sizeof *opened);
    enum code code = show_library(wanted, &registration, err);
    if (code == CODE_OK)
        code = load(opened, err);
    if (code == CODE_OK)
        code = find_devices(opened, wanted, err);
    /* The loader has read it by now, and a driver that crashes later leaves no directory behind. */
    registration_close(&registration);
    if (code != CODE_OK) {
        opencl_driver_close(opened);
        return code;
    }
    *driver = opened;
    return CODE_OK;
}

void opencl_driver_close(struct driver *driver)
{
    if (driver == NULL)
        return;
    free(driver->slots);
    free(driver);
}

const char *opencl_driver_platform(struct driver *driver)
{
    return driver->platform;
}
