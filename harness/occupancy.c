/* SPDX-License-Identifier: Apache-2.0
 *
 * What others took of the processors; see occupancy.h. Fields: proc(5), /proc/stat and
 * /proc/pid/stat. */
#include "harness/occupancy.h"

#include "harness/procfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* user nice system idle iowait irq softirq steal; guest time is part of user. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, CPU_FIELDS };
enum { FIELDS_BEFORE_UTIME = 11 }; /* after the command's closing bracket: state is the first */

static bool read_processors(const char *root, struct occupancy *reading)
{
    char line[512];
    if (!procfs_line(root, "/proc/stat", line, sizeof line) || !text_starts_with(line, "cpu "))
        return false;
    char *rest = line + strlen("cpu ");
    for (int field = 0; field < CPU_FIELDS; field++) {
        char *end = rest;
        uint64_t ticks = strtoull(rest, &end, 10);
        if (end == rest)
            return false;
        rest = end;
        reading->total += ticks;
        if (field != IDLE && field != IOWAIT)
            reading->busy += ticks;
    }
    return true;
}

/* Adds the user and system time of a process. */
static bool read_process(const char *root, long pid, struct occupancy *reading)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (!procfs_line(root, path, line, sizeof line))
        return false;
    char *rest = strrchr(line, ')'); /* the command's name may hold anything */
    for (int field = 0; rest != NULL && field <= FIELDS_BEFORE_UTIME; field++)
        rest = strchr(rest + 1, ' ');
    if (rest == NULL)
        return false;
    char *end = rest;
    uint64_t user = strtoull(rest, &end, 10);
    uint64_t system = strtoull(end, &rest, 10);
    reading->own += user + system;
    return rest != end;
}

void occupancy_read(const char *root, const long *pids, size_t count, struct occupancy *reading)
{
    *reading = (struct occupancy){0};
    reading->known = read_processors(root, reading) && read_process(root, (long)getpid(), reading);
    for (size_t i = 0; i < count && reading->known; i++)
        reading->known = pids[i] == 0 || read_process(root, pids[i], reading);
}

double occupancy_foreign_share(const struct occupancy *begin, const struct occupancy *end)
{
    if (!begin->known || !end->known || end->total <= begin->total || end->own < begin->own)
        return (double)NAN;
    double busy = (double)end->busy - (double)begin->busy;
    double own = (double)(end->own - begin->own);
    double share = (busy - own) / (double)(end->total - begin->total);
    return share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
}
