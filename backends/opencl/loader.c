/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the OpenCL loader by dlopen and, through it, the platforms. One platform library can be
 * loaded alone, so that a driver that aborts takes no other with it: the environment tells the
 * loader to look at nothing else. */
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
enum { LOADER_NAMES = 2, NAME_BYTES = 4096 };

static bool ends_with(const char *string, const char *end)
{
    size_t length = strlen(string);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(string + length - end_length, end) == 0;
}

/* The library that an .icd file names: its first line. */
static enum code read_icd(const char *path, char name[NAME_BYTES], struct error *err)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file >= 0 ? read(file, name, NAME_BYTES - 1) : -1;
    int reason = errno;
    if (file >= 0)
        close(file);
    if (count < 0)
        return error_set(err, CODE_NOTHING, reason, "cannot read '%s': %s", path, strerror(reason));
    name[count] = '\0';
    name[strcspn(name, "\r\n")] = '\0';
    if (name[0] == '\0')
        return error_set(err, CODE_NOTHING, 0, "'%s' names no library", path);
    return CODE_OK;
}

static enum code library_name(const char *library, char name[NAME_BYTES], struct error *err)
{
    if (ends_with(library, ".icd"))
        return read_icd(library, name, err);
    if (library[0] == '/' && access(library, R_OK) != 0)
        return error_set(err, CODE_NOTHING, errno,
                         "cannot read the OpenCL platform library '%s': %s", library,
                         strerror(errno));
    int length = snprintf(name, NAME_BYTES, "%s", library);
    if (length < NAME_BYTES)
        return CODE_OK;
    return error_set(err, CODE_USAGE, 0,
                     "a path of %d bytes for an OpenCL platform library is longer than %d", length,
                     NAME_BYTES - 1);
}

/* ocl-icd takes a library in OCL_ICD_VENDORS in place of a directory and does not know the other
 * variable. Khronos' loader takes libraries from OCL_ICD_FILENAMES, and then finds no directory of
 * that name. Neither needs a file of ours, which a driver that aborts would leave behind. */
static enum code restrict_loader(const char *library, struct error *err)
{
    char name[NAME_BYTES];
    enum code code = library_name(library, name, err);
    if (code != CODE_OK)
        return code;
    if (setenv("OCL_ICD_VENDORS", name, 1) != 0 || setenv("OCL_ICD_FILENAMES", name, 1) != 0 ||
        setenv(library_shown, library, 1) != 0)
        return error_set(err, CODE_MEMORY, errno, "cannot set the environment: %s",
                         strerror(errno));
    return CODE_OK;
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
static enum code show_library(const char *library, struct error *err)
{
    const char *shown = loader_is_resident() ? getenv(library_shown) : NULL;
    if (shown != NULL && strcmp(shown, library) != 0)
        return error_set(err, CODE_USAGE, 0,
                         "the OpenCL loader of this process was opened for '%s' and cannot be "
                         "opened for '%s' as well",
                         shown, library[0] != '\0' ? library : "all platforms");
    if (shown != NULL || library[0] == '\0')
        return CODE_OK;
    return restrict_loader(library, err);
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

/* A loader that reads both variables lists the one platform twice. */
static bool seen_before(const cl_platform_id *platforms, cl_uint index)
{
    for (cl_uint i = 0; i < index; i++)
        if (platforms[i] == platforms[index])
            return true;
    return false;
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
        if (seen_before(platforms, i))
            continue;
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
    struct driver *opened = memory_zeroed(1, sizeof *opened);
    enum code code = show_library(wanted, err);
    if (code == CODE_OK)
        code = load(opened, err);
    if (code == CODE_OK)
        code = find_devices(opened, wanted, err);
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
