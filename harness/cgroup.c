/* SPDX-License-Identifier: Apache-2.0
 *
 * The control group of this process and its limits; see cgroup.h. Where the group of a controller
 * is found: /proc/self/cgroup names the group, /proc/self/mountinfo where its hierarchy is mounted
 * and which part of it (proc(5)). */
#include "harness/cgroup.h"

#include "base/text.h"
#include "harness/procfs.h"

#include <stdio.h>
#include <string.h>

/* A mounted hierarchy. */
struct mount {
    char part[CGROUP_PATH_BYTES];  /* the group that is the root of the mount */
    char point[CGROUP_PATH_BYTES]; /* where it is mounted */
    bool found;
};

/* Finds item in a comma-separated list. */
static bool has_item(const char *list, const char *item)
{
    size_t length = strlen(item);
    for (;; list++) {
        size_t here = strcspn(list, ",");
        if (here == length && strncmp(list, item, length) == 0)
            return true;
        list += here;
        if (*list == '\0')
            return false;
    }
}

/* "\040" is a blank in mountinfo. */
static void unescape(const char *source, size_t length, char *target, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < length && count + 1 < capacity; i++) {
        char c = source[i];
        if (c == '\\' && length - i > 3 && source[i + 1] >= '0' && source[i + 1] <= '3') {
            c = (char)((source[i + 1] - '0') * 64 + (source[i + 2] - '0') * 8 +
                       (source[i + 3] - '0'));
            i += 3;
        }
        target[count++] = c;
    }
    target[count] = '\0';
}

/* The n-th (from 0) blank-separated word; its length in *length, 0 past the end. */
static const char *word(const char *line, size_t n, size_t *length)
{
    for (; n > 0; n--) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    *length = strcspn(line, " ");
    return line;
}

/* One line of mountinfo: "36 35 98:0 /part /point rw,noatime shared:1 - cgroup cgroup rw,cpu". */
static bool line_is(const char *line, const char *controller, struct mount *mount)
{
    const char *tail = strstr(line, " - ");
    if (tail == NULL)
        return false;
    tail += 3;
    bool v2 = text_starts_with(tail, "cgroup2 ");
    if (controller == NULL ? !v2 : !text_starts_with(tail, "cgroup "))
        return false;
    size_t length = 0;
    if (controller != NULL && !has_item(word(tail, 2, &length), controller))
        return false;
    const char *part = word(line, 3, &length);
    unescape(part, length, mount->part, sizeof mount->part);
    const char *point = word(line, 4, &length);
    unescape(point, length, mount->point, sizeof mount->point);
    return true;
}

/* Hierarchy of a version 1 controller, or (NULL) of version 2. */
static void find_mount(const char *root, const char *controller, struct mount *mount)
{
    *mount = (struct mount){0};
    struct text text = {0};
    if (procfs_read(root, "/proc/self/mountinfo", &text)) {
        char *cursor = text.bytes;
        for (char *line = NULL; !mount->found && (line = procfs_next_line(&cursor)) != NULL;)
            mount->found = line_is(line, controller, mount);
    }
    text_release(&text);
}

/* The group of this process: "4:memory:/a" for a version 1 controller, "0::/a" (controller NULL)
 * for version 2. */
static bool find_group(const char *root, const char *controller, char path[CGROUP_PATH_BYTES])
{
    struct text text = {0};
    bool found = false;
    if (procfs_read(root, "/proc/self/cgroup", &text)) {
        char *cursor = text.bytes;
        for (char *line = NULL; !found && (line = procfs_next_line(&cursor)) != NULL;) {
            char *names = strchr(line, ':');
            char *group = names != NULL ? strchr(names + 1, ':') : NULL;
            if (group == NULL)
                continue;
            *names++ = '\0';
            *group++ = '\0';
            found = controller != NULL ? has_item(names, controller)
                                       : strcmp(line, "0") == 0 && names[0] == '\0';
            if (found)
                snprintf(path, CGROUP_PATH_BYTES, "%s", group);
        }
    }
    text_release(&text);
    return found;
}

/* The folder of the group: the mount may show a part of the hierarchy only (containers), or a group
 * outside of it. */
static void group_folder(const struct mount *mount, const char *path,
                         char folder[2 * CGROUP_PATH_BYTES])
{
    size_t length = strcmp(mount->part, "/") == 0 ? 0 : strlen(mount->part);
    bool inside =
        strncmp(path, mount->part, length) == 0 && (path[length] == '/' || path[length] == '\0');
    const char *rest = inside && strstr(path, "/..") == NULL ? path + length : "";
    snprintf(folder, 2 * CGROUP_PATH_BYTES, "%s%s", mount->point,
             strcmp(rest, "/") == 0 ? "" : rest);
}

/* Takes the last name off the folder; false at the mount point. */
static bool to_parent(const struct mount *mount, char *folder)
{
    char *slash = strrchr(folder, '/');
    if (slash == NULL || (size_t)(slash - folder) < strlen(mount->point))
        return false;
    *slash = '\0';
    return true;
}

static bool read_value(const char *root, const char *folder, const char *file, char *value,
                       size_t capacity)
{
    char path[2 * CGROUP_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return procfs_line(root, path, value, capacity);
}

/* CPUs of one group, 0 without a limit. Version 2: "50000 100000" or "max 100000"; version 1: quota
 * −1 is none. */
static double quota_of(const char *root, const char *folder, int version)
{
    char value[128], period_text[128];
    uint64_t quota = 0, period = 0;
    if (version == 2) {
        if (!read_value(root, folder, "cpu.max", value, sizeof value))
            return 0;
        snprintf(period_text, sizeof period_text, "%s",
                 value + strcspn(value, " ") + (strchr(value, ' ') != NULL));
    } else if (!read_value(root, folder, "cpu.cfs_quota_us", value, sizeof value) ||
               !read_value(root, folder, "cpu.cfs_period_us", period_text, sizeof period_text)) {
        return 0;
    }
    if (!procfs_number(value, &quota) || !procfs_number(period_text, &period) || period == 0)
        return 0;
    return (double)quota / (double)period;
}

/* Bytes of one group, 0 without a limit. Version 1 has no word for none: it is the largest multiple
 * of a page. */
static uint64_t memory_of(const char *root, const char *folder, int version)
{
    char value[128];
    uint64_t bytes = 0;
    const char *file = version == 2 ? "memory.max" : "memory.limit_in_bytes";
    if (!read_value(root, folder, file, value, sizeof value) || !procfs_number(value, &bytes))
        return 0;
    return bytes < UINT64_C(1) << 62 ? bytes : 0;
}

/* Finds hierarchy and group of a controller; returns its version, 0 if there is none. */
static int locate(const char *root, const char *controller, struct mount *mount,
                  char path[CGROUP_PATH_BYTES])
{
    find_mount(root, controller, mount);
    if (mount->found && find_group(root, controller, path))
        return 1;
    find_mount(root, NULL, mount);
    return mount->found && find_group(root, NULL, path) ? 2 : 0;
}

void cgroup_read(const char *root, struct cgroup *cgroup)
{
    *cgroup = (struct cgroup){0};
    struct mount mount;
    char folder[2 * CGROUP_PATH_BYTES];
    cgroup->cpu_version = locate(root, "cpu", &mount, cgroup->cpu_path);
    if (cgroup->cpu_version > 0) {
        group_folder(&mount, cgroup->cpu_path, folder);
        do {
            double quota = quota_of(root, folder, cgroup->cpu_version);
            if (quota > 0 && (cgroup->cpu_quota <= 0 || quota < cgroup->cpu_quota))
                cgroup->cpu_quota = quota;
        } while (to_parent(&mount, folder));
    }
    cgroup->memory_version = locate(root, "memory", &mount, cgroup->memory_path);
    if (cgroup->memory_version > 0) {
        group_folder(&mount, cgroup->memory_path, folder);
        do {
            uint64_t bytes = memory_of(root, folder, cgroup->memory_version);
            if (bytes > 0 && (cgroup->memory_bytes == 0 || bytes < cgroup->memory_bytes))
                cgroup->memory_bytes = bytes;
        } while (to_parent(&mount, folder));
    }
}
