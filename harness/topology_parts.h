/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the topology share: the loaded tree, walking it without recursion, and the
 * facts of one object. Only harness/topology*.c include this; the rest of the program sees
 * topology.h and no hwloc type. */
#ifndef HARNESS_TOPOLOGY_PARTS_H
#define HARNESS_TOPOLOGY_PARTS_H

#include "base/error.h"
#include "base/text.h"
#include "harness/topology.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    TOPOLOGY_DEPTH_MAX = 128,  /* deepest object that is shown */
    TOPOLOGY_OS_NAMES_MAX = 64 /* OS devices of one PCI device that are shown */
};

struct topology {
    hwloc_topology_t hwloc;
    char *source; /* path, NULL for the machine at hand */
    char **warnings;
    size_t warning_count;
};

/* The next object in depth-first order, memory before CPU parts before I/O; NULL after the last.
 * *depth (0 for the root) follows. With descend false the children of object are left out. */
hwloc_obj_t topology_next(hwloc_obj_t object, bool descend, size_t *depth);
/* True for an object that is shown as a part of its parent: the PUs of a core, the OS devices of a
 * PCI device. */
bool topology_is_folded(hwloc_obj_t object);

/* "package", "numa", "l3", "core", "pci", …; never NULL. */
const char *topology_type_name(hwloc_obj_t object);
/* "0000:41:00.0" of a PCI device or of a bridge on the PCI side. */
enum { PCI_ADDRESS_BYTES = 16 };
void topology_pci_address(hwloc_obj_t object, char address[PCI_ADDRESS_BYTES]);
/* "display", "network", …, "other": by the PCI class. */
const char *topology_pci_class(hwloc_obj_t pci);
/* A card that can compute: by its class, or because an OS device of it says so. */
bool topology_is_accelerator(hwloc_obj_t pci);
/* Names of all OS devices of a PCI device (cuda0, opencl0d0, nvml0, card0, …), each once; returns
 * how many. */
size_t topology_os_names(hwloc_obj_t pci, const char *names[TOPOLOGY_OS_NAMES_MAX]);
/* Vendor and device name where the system knows them, else "". */
void topology_pci_name(hwloc_obj_t pci, struct text *out);
/* OS index of the NUMA node next to an I/O object, -1 unknown. */
int topology_numa_of(const struct topology *topology, hwloc_obj_t object);
/* The CPUs that belong to a NUMA node. hwloc gives a node without CPUs (CXL, on-package memory)
 * those of its surroundings; what a smaller node holds, or a lower one with the same CPUs, is taken
 * off. */
void topology_own_cpus(const struct topology *topology, hwloc_obj_t node, hwloc_bitmap_t own);
/* Heap text of a CPU list, "0-3,8"; "" for none. */
char *topology_cpu_list(hwloc_const_bitmap_t set);

/* Bytes of an XML file in the form that hwloc's own reader takes: checked, comments blanked, begins
 * at <topology. The caller frees. */
enum code topology_read_file(const char *path, char **bytes, size_t *count, struct error *err);

/* hwloc obeys some thirty environment variables, and loads plugins that load drivers. Between enter
 * and leave there are none but those that switch plugins, libxml2 and messages off. */
struct hwloc_environment {
    char **saved; /* "NAME=value" */
    size_t count;
};
void hwloc_environment_enter(struct hwloc_environment *environment);
void hwloc_environment_leave(struct hwloc_environment *environment);

#endif
