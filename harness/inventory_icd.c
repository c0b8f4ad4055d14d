/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the registered OpenCL platform libraries as the loaders do: OCL_ICD_VENDORS (a directory,
 * an .icd file or a library), else /etc/OpenCL/vendors; and OCL_ICD_FILENAMES beside it. Loads
 * nothing. */
#include "harness/inventory_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char default_vendors[] = "/etc/OpenCL/vendors";

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *vendors_directory(void)
{
    const char *path = variable("OPENCL_VENDOR_PATH"); /* ocl-icd's own */
    return path != NULL ? path : default_vendors;
}

static bool ends_with(const char *string, const char *end)
{
    size_t length = strlen(string), end_length = strlen(end);
    return length >= end_length && strcmp(string + length - end_length, end) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

struct inventory_driver *inventory_add_driver(struct inventory *inventory)
{
    inventory->drivers =
        memory_resize(inventory->drivers, inventory->driver_count + 1, sizeof *inventory->drivers);
    struct inventory_driver *driver = &inventory->drivers[inventory->driver_count++];
    *driver = (struct inventory_driver){.state = DRIVER_OK};
    return driver;
}

static bool name_is_taken(const struct inventory *inventory, const char *name)
{
    for (size_t i = 0; i + 1 < inventory->driver_count; i++)
        if (text_equal_ignoring_case(inventory->drivers[i].name, name))
            return true;
    return false;
}

/* "pocl" from "/etc/OpenCL/vendors/pocl.icd" or "libpocl.so.2.10.0"; made unique. The name becomes
 * part of device ids, so a colon, a blank or a control character in it turns into '_'. */
static void set_name(const struct inventory *inventory, struct inventory_driver *driver,
                     const char *path)
{
    const char *base = base_name(path);
    if (text_starts_with(base, "lib") && strstr(base, ".so") != NULL)
        base += 3;
    char name[INVENTORY_NAME_BYTES - 8]; /* leaves room for "#123" */
    snprintf(name, sizeof name, "%s", base);
    char *end = ends_with(name, ".icd") ? name + strlen(name) - 4 : strstr(name, ".so");
    if (end != NULL && end != name)
        *end = '\0';
    for (char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == ':' || *c == '#' || *c == 0x7f)
            *c = '_';
    text_make_printable(name); /* a cut may have split a character */
    snprintf(driver->name, sizeof driver->name, "%s", name[0] != '\0' ? name : "unnamed");
    for (unsigned i = 2; name_is_taken(inventory, driver->name) && i < 1000; i++)
        snprintf(driver->name, sizeof driver->name, "%s#%u", name, i);
}

static void fail(struct inventory_driver *driver, const char *what, const char *detail)
{
    driver->state = DRIVER_FAILED;
    snprintf(driver->reason, sizeof driver->reason, "%s%s%s; correct or remove it", what,
             detail[0] != '\0' ? ": " : "", detail);
}

static void set_library(struct inventory_driver *driver, const char *library)
{
    int length = snprintf(driver->library, sizeof driver->library, "%s", library);
    if (length >= (int)sizeof driver->library)
        fail(driver, "the name of its library is longer than 1023 bytes", "");
    else if (!text_is_utf8(library, strlen(library), &(size_t){0}))
        fail(driver, "the name of its library is not text", "");
}

/* The first line of the file, blanks around it cut off, is the library. */
static void read_icd(struct inventory_driver *driver)
{
    struct stat status;
    if (stat(driver->file, &status) != 0) {
        fail(driver, "the .icd file cannot be read", strerror(errno));
        return;
    }
    if (!S_ISREG(status.st_mode)) {
        fail(driver, "the .icd file is not a regular file", "");
        return;
    }
    FILE *file = fopen(driver->file, "re");
    if (file == NULL) {
        fail(driver, "the .icd file cannot be read", strerror(errno));
        return;
    }
    char line[INVENTORY_PATH_BYTES + 64];
    size_t count = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[count] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    char *begin = line + strspn(line, " \t");
    for (size_t length = strlen(begin); length > 0 && strchr(" \t", begin[length - 1]) != NULL;
         length--)
        begin[length - 1] = '\0';
    if (count == 0)
        fail(driver, "the .icd file is empty; it has to name a library", "");
    else if (begin[0] == '\0')
        fail(driver, "the first line of the .icd file is blank; it has to name a library", "");
    else
        set_library(driver, begin);
}

static void add_file(struct inventory *inventory, const char *path)
{
    struct inventory_driver *driver = inventory_add_driver(inventory);
    snprintf(driver->backend, sizeof driver->backend, "opencl");
    set_name(inventory, driver, path);
    int length = snprintf(driver->file, sizeof driver->file, "%s", path);
    if (length >= (int)sizeof driver->file)
        fail(driver, "the path of the .icd file is longer than 1023 bytes", "");
    else
        read_icd(driver);
}

static void add_library(struct inventory *inventory, const char *library, const char *variable_name)
{
    struct inventory_driver *driver = inventory_add_driver(inventory);
    snprintf(driver->backend, sizeof driver->backend, "opencl");
    set_name(inventory, driver, library);
    struct stat status;
    if (strchr(library, '/') != NULL && stat(library, &status) != 0) {
        driver->state = DRIVER_FAILED;
        snprintf(driver->reason, sizeof driver->reason, "%s names '%.700s': %s", variable_name,
                 library, strerror(errno));
        return;
    }
    set_library(driver, library);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_directory(struct inventory *inventory, const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL && errno == ENOENT)
        return; /* nothing is registered: inventory_explain says where was looked */
    if (directory == NULL) {
        struct inventory_driver *driver = inventory_add_driver(inventory);
        snprintf(driver->backend, sizeof driver->backend, "opencl");
        set_name(inventory, driver, "vendors");
        snprintf(driver->file, sizeof driver->file, "%s", path);
        fail(driver, "the directory of .icd files cannot be read", strerror(errno));
        return;
    }
    char **names = NULL;
    size_t count = 0;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (!ends_with(entry->d_name, ".icd"))
            continue;
        names = memory_resize(names, count + 1, sizeof *names);
        names[count++] = text_duplicate(entry->d_name);
    }
    closedir(directory);
    if (count > 1)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        struct text full = {0};
        text_printf(&full, "%s%s%s", path, ends_with(path, "/") ? "" : "/", names[i]);
        add_file(inventory, text_string(&full));
        text_release(&full);
        free(names[i]);
    }
    free(names);
}

/* ocl-icd looks for an .icd name without a slash among the registered ones first. */
static void add_registered(struct inventory *inventory, const char *name)
{
    struct text path = {0};
    struct stat status;
    text_printf(&path, "%s/%s", vendors_directory(), name);
    bool registered = strchr(name, '/') == NULL && stat(text_string(&path), &status) == 0;
    add_file(inventory, registered ? text_string(&path) : name);
    text_release(&path);
}

static void add_entry(struct inventory *inventory, const char *path, const char *variable_name)
{
    if (ends_with(path, ".icd"))
        add_registered(inventory, path);
    else
        add_library(inventory, path, variable_name);
}

void inventory_find_icds(struct inventory *inventory)
{
    const char *vendors = variable("OCL_ICD_VENDORS");
    struct stat status;
    if (vendors == NULL)
        add_directory(inventory, vendors_directory());
    else if (stat(vendors, &status) == 0 && S_ISDIR(status.st_mode))
        add_directory(inventory, vendors);
    else
        add_entry(inventory, vendors, "OCL_ICD_VENDORS");
    const char *files = variable("OCL_ICD_FILENAMES");
    char *list = text_duplicate(files);
    for (char *next = list; next != NULL;) {
        char *path = next;
        next = strchr(path, ':');
        if (next != NULL)
            *next++ = '\0';
        if (path[0] != '\0')
            add_entry(inventory, path, "OCL_ICD_FILENAMES");
    }
    free(list);
}

void inventory_icd_places(struct text *out)
{
    const char *vendors = variable("OCL_ICD_VENDORS");
    const char *path = variable("OPENCL_VENDOR_PATH");
    const char *files = variable("OCL_ICD_FILENAMES");
    if (vendors != NULL)
        text_printf(out, "OCL_ICD_VENDORS='%s'", vendors);
    else if (path != NULL)
        text_printf(out, "OPENCL_VENDOR_PATH='%s'", path);
    else
        text_append(out, default_vendors);
    if (files != NULL)
        text_printf(out, " and OCL_ICD_FILENAMES='%s'", files);
}
