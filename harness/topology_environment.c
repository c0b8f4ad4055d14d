/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps hwloc to the machine at hand: HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT and their like
 * would describe another one, and plugins for OpenCL, NVML, CUDA or GL would load drivers (and
 * print) in a process that must load none. */
#include "harness/topology_parts.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char *const settings[][2] = {
    /* No folder: the plugins that exist load libOpenCL, NVML, CUDA, X11 and libxml2; none is
       needed. */
    {"HWLOC_PLUGINS_PATH", "/dev/null"},
    /* hwloc's own reader knows no DTD and no entities, so a file cannot make it open another one.
     */
    {"HWLOC_LIBXML", "0"},
    {"HWLOC_HIDE_ERRORS", "2"},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

static void unset_entry(const char *entry)
{
    char *name = text_duplicate(entry);
    name[strcspn(name, "=")] = '\0';
    unsetenv(name);
    free(name);
}

void hwloc_environment_enter(struct hwloc_environment *environment)
{
    *environment = (struct hwloc_environment){0};
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (!text_starts_with(*entry, "HWLOC_"))
            continue;
        environment->saved =
            memory_resize(environment->saved, environment->count + 1, sizeof *environment->saved);
        environment->saved[environment->count++] = text_duplicate(*entry);
    }
    for (size_t i = 0; i < environment->count; i++)
        unset_entry(environment->saved[i]);
    for (size_t i = 0; i < SETTINGS; i++)
        setenv(settings[i][0], settings[i][1], 1);
}

void hwloc_environment_leave(struct hwloc_environment *environment)
{
    for (size_t i = 0; i < SETTINGS; i++)
        unsetenv(settings[i][0]);
    for (size_t i = 0; i < environment->count; i++) {
        char *entry = environment->saved[i];
        char *value = strchr(entry, '=');
        if (value != NULL) {
            *value = '\0';
            setenv(entry, value + 1, 1);
        }
        free(entry);
    }
    free(environment->saved);
    *environment = (struct hwloc_environment){0};
}
