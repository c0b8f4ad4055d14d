/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults in what a platform and its devices say of themselves: dev=…, longinfo, old, timer_res=,
 * queue=refuse-props. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 64 * 1024, LONG_VERSION_BYTES = 300, LONG_EXTENSIONS_BYTES = 20 * 1024 };

static cl_int answer(const void *data, size_t data_bytes, size_t bytes, void *value,
                     size_t *bytes_given)
{
    if (value != NULL && bytes < data_bytes)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, data, data_bytes);
    if (bytes_given != NULL)
        *bytes_given = data_bytes;
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t bytes, void *value, size_t *bytes_given)
{
    return answer(text, strlen(text) + 1, bytes, value, bytes_given);
}

/* dev=none, dev=dup, dev=many:<n>: the real devices, none, twice, or repeated until there are n. */
static cl_int CL_API_CALL fake_clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
                                              cl_uint entries, cl_device_id *devices,
                                              cl_uint *count)
{
    cl_int native;
    if (fault_fails("clGetDeviceIDs", &native))
        return native;
    const struct fault *many = fault_find("dev", "many");
    bool dup = fault_find("dev", "dup") != NULL;
    if (fault_find("dev", "none") != NULL)
        return CL_DEVICE_NOT_FOUND;
    if (many == NULL && !dup)
        return layer.target->clGetDeviceIDs(platform, type, entries, devices, count);
    cl_device_id real[256];
    cl_uint real_count = 0;
    native = layer.target->clGetDeviceIDs(platform, type, 256, real, &real_count);
    if (native != CL_SUCCESS)
        return native;
    cl_uint total = many != NULL ? (cl_uint)fault_number(many, 2) : 2 * real_count;
    for (cl_uint i = 0; devices != NULL && i < total && i < entries; i++)
        devices[i] = real[i % real_count];
    if (count != NULL)
        *count = total;
    return CL_SUCCESS;
}

static char *real_text(cl_device_id device, cl_device_info what)
{
    char *text = calloc(1, TEXT_BYTES);
    if (layer.target->clGetDeviceInfo(device, what, TEXT_BYTES / 2, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

static void remove_word(char *text, const char *word, size_t length)
{
    for (char *at = strstr(text, " "); at != NULL; at = strstr(at + 1, " "))
        if (strncmp(at + 1, word, length) == 0 &&
            (at[1 + length] == ' ' || at[1 + length] == '\0')) {
            memmove(at, at + 1 + length, strlen(at + 1 + length) + 1);
            return;
        }
}

/* dev=ext:+x;-y, and what dev=pci: and dev=uuid: need. text begins with a blank. */
static void edit_extensions(char *text)
{
    const struct fault *edits = fault_find("dev", "ext");
    for (const char *edit = edits != NULL ? edits->value : ""; *edit != '\0';) {
        size_t length = strcspn(edit, ";");
        if (edit[0] == '-' && length > 1)
            remove_word(text, edit + 1, length - 1);
        else if (length > 1)
            snprintf(text + strlen(text), TEXT_BYTES - strlen(text), " %.*s", (int)length - 1,
                     edit + 1);
        edit += length + (edit[length] == ';');
    }
    if (fault_find("dev", "pci") != NULL)
        strcat(text, " cl_khr_pci_bus_info");
    if (fault_find("dev", "uuid") != NULL)
        strcat(text, " cl_khr_device_uuid");
    for (int i = 0; fault_find("longinfo", NULL) != NULL && strlen(text) < LONG_EXTENSIONS_BYTES;
         i++)
        sprintf(text + strlen(text), " cl_example_extension_%05d", i);
}

static cl_int extensions(cl_device_id device, size_t bytes, void *value, size_t *bytes_given)
{
    char *real = real_text(device, CL_DEVICE_EXTENSIONS);
    char *text = calloc(1, TEXT_BYTES);
    snprintf(text, TEXT_BYTES, " %s", real);
    edit_extensions(text);
    cl_int native = answer_text(text + 1, bytes, value, bytes_given);
    free(real);
    free(text);
    return native;
}

static cl_int long_version(size_t bytes, void *value, size_t *bytes_given)
{
    char text[LONG_VERSION_BYTES + 1];
    int length = snprintf(text, sizeof text, "OpenCL 3.0 ");
    memset(text + length, 'v', sizeof text - 1 - (size_t)length);
    text[LONG_VERSION_BYTES] = '\0';
    return answer_text(text, bytes, value, bytes_given);
}

static cl_int device_type(const char *name, size_t bytes, void *value, size_t *bytes_given)
{
    cl_device_type type = strcmp(name, "GPU") == 0           ? CL_DEVICE_TYPE_GPU
                          : strcmp(name, "ACCELERATOR") == 0 ? CL_DEVICE_TYPE_ACCELERATOR
                          : strcmp(name, "CPU") == 0         ? CL_DEVICE_TYPE_CPU
                                                             : CL_DEVICE_TYPE_CUSTOM;
    return answer(&type, sizeof type, bytes, value, bytes_given);
}

static cl_int pci(const char *address, size_t bytes, void *value, size_t *bytes_given)
{
    cl_uint parts[4] = {0};
    sscanf(address, "%x:%x:%x.%x", &parts[0], &parts[1], &parts[2], &parts[3]);
    return answer(parts, sizeof parts, bytes, value, bytes_given);
}

static cl_int uuid(const char *digits, size_t bytes, void *value, size_t *bytes_given)
{
    unsigned char out[16] = {0};
    for (int i = 0; i < 16 && digits[0] != '\0' && digits[1] != '\0'; i++) {
        unsigned byte = 0;
        digits += digits[0] == '-';
        sscanf(digits, "%2x", &byte);
        out[i] = (unsigned char)byte;
        digits += 2;
    }
    return answer(out, sizeof out, bytes, value, bytes_given);
}

static const struct {
    cl_device_info what;
    const char *name;
} texts[] = {{CL_DEVICE_NAME, "name"},
             {CL_DEVICE_VENDOR, "vendor"},
             {CL_DRIVER_VERSION, "driver"},
             {CL_DEVICE_VERSION, "version"}};

/* True if the question is one that a fault answers; *native is then the result. */
static bool answers(cl_device_id device, cl_device_info what, size_t bytes, void *value,
                    size_t *given, cl_int *native)
{
    const struct fault *fault;
    cl_ulong number;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (what == texts[i].what && (fault = fault_find("dev", texts[i].name)) != NULL) {
            *native = answer_text(fault->value, bytes, value, given);
            return true;
        }
    if (what == CL_DEVICE_EXTENSIONS)
        *native = extensions(device, bytes, value, given);
    else if (what == CL_DEVICE_VERSION && fault_find("old", NULL) != NULL)
        *native = answer_text("OpenCL 1.2 example", bytes, value, given);
    else if (what == CL_DEVICE_VERSION && fault_find("longinfo", NULL) != NULL)
        *native = long_version(bytes, value, given);
    else if (what == CL_DEVICE_TYPE && (fault = fault_find("dev", "type")) != NULL)
        *native = device_type(fault->value, bytes, value, given);
    else if (what == 0x410F && (fault = fault_find("dev", "pci")) != NULL)
        *native = pci(fault->value, bytes, value, given);
    else if (what == 0x106A && (fault = fault_find("dev", "uuid")) != NULL)
        *native = uuid(fault->value, bytes, value, given);
    else if ((what == CL_DEVICE_GLOBAL_MEM_SIZE && (fault = fault_find("dev", "mem")) != NULL) ||
             (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE &&
              (fault = fault_find("dev", "maxalloc")) != NULL)) {
        number = strtoull(fault->value, NULL, 10);
        *native = answer(&number, sizeof number, bytes, value, given);
    } else if (what == CL_DEVICE_PROFILING_TIMER_RESOLUTION &&
               (fault = fault_find("timer_res", NULL)) != NULL) {
        size_t resolution = strtoul(fault->what, NULL, 10);
        *native = answer(&resolution, sizeof resolution, bytes, value, given);
    } else
        return false;
    return true;
}

static cl_int CL_API_CALL fake_clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                               size_t bytes, void *value, size_t *bytes_given)
{
    cl_int native;
    if (answers(device, what, bytes, value, bytes_given, &native))
        return native;
    return layer.target->clGetDeviceInfo(device, what, bytes, value, bytes_given);
}

static cl_int CL_API_CALL fake_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                                                 size_t bytes, void *value, size_t *bytes_given)
{
    if (what == CL_PLATFORM_VERSION && fault_find("old", NULL) != NULL)
        return answer_text("OpenCL 1.2 example", bytes, value, bytes_given);
    return layer.target->clGetPlatformInfo(platform, what, bytes, value, bytes_given);
}

void devices_install(cl_icd_dispatch *table)
{
    table->clGetDeviceIDs = fake_clGetDeviceIDs;
    table->clGetDeviceInfo = fake_clGetDeviceInfo;
    table->clGetPlatformInfo = fake_clGetPlatformInfo;
}
