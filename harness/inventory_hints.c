/* SPDX-License-Identifier: Apache-2.0
 *
 * What a person can do when a device is missing: the known causes outside the card, looked up on
 * this machine. Loads nothing and changes nothing. */
#define _XOPEN_SOURCE 700 /* getgrgid beside POSIX names */

#include "harness/inventory_parts.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUPS_MAX = 256 };

/* True if path, or the first part of it that is missing, could be made: tried, since the rights
 * alone do not tell (a read-only mount, /proc). What was made is removed at once. */
static bool can_make(const char *path)
{
    char *copy = text_duplicate(path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (access(copy, F_OK) != 0)
            break;
        *slash = '/';
    }
    bool made = mkdir(copy, 0700) == 0;
    int reason = errno;
    if (made)
        rmdir(copy);
    free(copy);
    errno = reason;
    return made;
}

bool hint_cache(struct text *out)
{
    const char *path = getenv("POCL_CACHE_DIR");
    struct stat status;
    if (path == NULL)
        return false;
    const char *begin = out->length > 0 ? "; " : "";
    if (path[0] == '\0')
        text_printf(out, "%sPOCL_CACHE_DIR is set to an empty value: unset it", begin);
    else if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        text_printf(
            out,
            "%sits kernel cache POCL_CACHE_DIR='%s' is no directory: unset it or name a directory",
            begin, path);
    else if (stat(path, &status) == 0 && access(path, R_OK | W_OK | X_OK) != 0)
        text_printf(out,
                    "%sits kernel cache POCL_CACHE_DIR='%s' is unwritable (%s): unset it or name a "
                    "writable one",
                    begin, path, strerror(errno));
    else if (stat(path, &status) != 0 && !can_make(path))
        text_printf(out,
                    "%sits kernel cache POCL_CACHE_DIR='%s' cannot be created, so it is unwritable "
                    "(%s): unset it or "
                    "name a writable one",
                    begin, path, strerror(errno));
    else
        return false;
    return true;
}

static void append_group(struct text *out, gid_t id, const char *separator)
{
    const struct group *group = getgrgid(id);
    if (group != NULL)
        text_printf(out, "%s%s", separator, group->gr_name);
    else
        text_printf(out, "%s%lu", separator, (unsigned long)id);
}

static void append_own_groups(struct text *out)
{
    gid_t groups[GROUPS_MAX];
    int count = getgroups(GROUPS_MAX, groups);
    gid_t own = getegid();
    append_group(out, own, "groups ");
    for (int i = 0; i < count; i++)
        if (groups[i] != own)
            append_group(out, groups[i], ", ");
}

static void describe_node(const char *path, const struct stat *status, struct text *out)
{
    text_printf(out, "%srender node %s exists but is not readable and writable by this user (",
                out->length > 0 ? "; " : "", path);
    append_own_groups(out);
    text_append(out, "); it belongs to group ");
    append_group(out, status->st_gid, "");
    if ((status->st_mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP)) {
        text_append(out, ": add the user to it (usermod -aG ");
        append_group(out, status->st_gid, "");
        text_append(out, " USER) and log in again");
    } else {
        text_printf(out, ", and its mode %04o keeps that group out as well",
                    (unsigned)(status->st_mode & 07777));
    }
}

const char *render_node_place(void)
{
    const char *chosen = getenv("ASSAY_DEV_DRI");
    return chosen != NULL && chosen[0] != '\0' ? chosen : "/dev/dri";
}

bool hint_render_nodes(struct text *out)
{
    const char *place = render_node_place();
    DIR *directory = opendir(place);
    if (directory == NULL)
        return false;
    bool found = false;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        struct stat status;
        struct text path = {0};
        text_printf(&path, "%s/%s", place, entry->d_name);
        if (text_starts_with(entry->d_name, "renderD") && stat(text_string(&path), &status) == 0 &&
            access(text_string(&path), R_OK | W_OK) != 0) {
            describe_node(text_string(&path), &status, out);
            found = true;
        }
        text_release(&path);
    }
    closedir(directory);
    return found;
}

bool hint_limits(struct text *out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    text_printf(out,
                "%san address space limit of %llu KiB is set (ulimit -v): drivers reserve far more "
                "than they use, "
                "lift it",
                out->length > 0 ? "; " : "", (unsigned long long)(limit.rlim_cur / 1024));
    return true;
}

/* What the driver is, by all the names that it has. */
static bool is_driver(const struct inventory_driver *driver, const char *word)
{
    return text_contains_ignoring_case(driver->name, word) ||
           text_contains_ignoring_case(driver->library, word) ||
           text_contains_ignoring_case(driver->platform, word);
}

static bool is_pocl(const struct inventory_driver *driver)
{
    return is_driver(driver, "pocl") || is_driver(driver, "Portable Computing Language");
}

static void hint_pocl(const struct inventory_driver *driver, struct text *out)
{
    const char *path = getenv("POCL_CACHE_DIR");
    const char *kinds = getenv("POCL_DEVICES");
    if (driver->state == DRIVER_EMPTY && kinds != NULL)
        text_printf(out,
                    "; POCL_DEVICES='%s' may name no kind of device that this build of PoCL has",
                    kinds);
    if (!hint_cache(out) && driver->state == DRIVER_CRASHED && path != NULL && path[0] != '\0')
        text_printf(out, "; its kernel cache '%s' may be damaged: clear that directory", path);
}

void hint_driver(const struct inventory_driver *driver, struct text *out)
{
    const char *enabled = getenv("RUSTICL_ENABLE");
    bool empty = driver->state == DRIVER_EMPTY;
    if (is_driver(driver, "rusticl") && empty && (enabled == NULL || enabled[0] == '\0'))
        text_append(out, "; rusticl lists devices only of the drivers that RUSTICL_ENABLE names: "
                         "set it, for example "
                         "RUSTICL_ENABLE=llvmpipe (processor), radeonsi or iris");
    else if (is_driver(driver, "rusticl") && empty)
        text_printf(out, "; RUSTICL_ENABLE='%s' names no driver that finds hardware here", enabled);
    else if ((is_driver(driver, "MesaOpenCL") || is_driver(driver, "Clover")) && empty)
        text_append(out, "; Clover lists AMD GPUs of Mesa's r600 and radeonsi drivers only, and "
                         "none is usable here");
    if (is_pocl(driver))
        hint_pocl(driver, out);
    if (driver->state != DRIVER_CRASHED) /* a worker's death names the limits itself */
        hint_limits(out);
    if (empty)
        hint_render_nodes(out);
}

/* A damaged cache shows only when programs are built, as an odd error or a crash. */
void hint_device(const struct inventory_driver *driver, struct text *out)
{
    const char *path = getenv("POCL_CACHE_DIR");
    if (!is_pocl(driver) || path == NULL || hint_cache(out))
        return;
    text_printf(out,
                "%sits kernels are kept in POCL_CACHE_DIR='%s': clear it if they fail to build",
                out->length > 0 ? "; " : "", path);
}

static bool counts_as_platform(const struct inventory_driver *driver)
{
    return strcmp(driver->backend, "host") != 0 && driver->state != DRIVER_DUPLICATE;
}

void inventory_explain(const struct inventory *inventory, struct text *out)
{
    if (inventory->loader[0] != '\0') {
        text_append(out, inventory->loader);
        return;
    }
    size_t platforms = 0;
    for (size_t i = 0; i < inventory->driver_count; i++)
        platforms += counts_as_platform(&inventory->drivers[i]) ? 1 : 0;
    if (platforms == 0) {
        text_append(out, "OpenCL loader found, no driver registered: looked for .icd files in ");
        inventory_icd_places(out);
        text_append(out, "; install the card's OpenCL driver (nvidia-opencl-icd, intel-opencl-icd, "
                         "mesa-opencl-icd), or "
                         "pocl-opencl-icd for the processor");
        hint_render_nodes(out);
        return;
    }
    text_printf(out, "%zu platform%s, 0 devices (looked in ", platforms, platforms == 1 ? "" : "s");
    inventory_icd_places(out);
    text_append(out, ")");
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const struct inventory_driver *driver = &inventory->drivers[i];
        if (counts_as_platform(driver))
            text_printf(out, "; %s: %s", driver->name, driver->reason);
    }
}
