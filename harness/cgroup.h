/* SPDX-License-Identifier: Apache-2.0
 *
 * The control group of this process and the limits that hold in it: CPU quota and memory, versions
 * 1 and 2 and both at once (docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/). A limit of
 * a group above holds as well: the least counts. */
#ifndef HARNESS_CGROUP_H
#define HARNESS_CGROUP_H

#include <stdint.h>

enum { CGROUP_PATH_BYTES = 1024 };

struct cgroup {
    int cpu_version, memory_version; /* 1 or 2; 0: no such controller was found */
    char cpu_path[CGROUP_PATH_BYTES],
        memory_path[CGROUP_PATH_BYTES]; /* as /proc/self/cgroup tells, "" unknown */
    double cpu_quota;                   /* CPUs, 0.5 is half of one; 0: no limit */
    uint64_t memory_bytes;              /* 0: no limit */
};

/* root is put before every path read: "" for the machine at hand, a folder in tests. */
void cgroup_read(const char *root, struct cgroup *cgroup);

#endif
