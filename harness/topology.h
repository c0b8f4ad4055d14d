/* SPDX-License-Identifier: Apache-2.0
 *
 * The host, described by hwloc: packages, NUMA nodes, caches, cores, PCI devices; plus what hwloc
 * does not know: memory now free, kernel, governor, cgroup limits, load. hwloc's OpenCL, CUDA,
 * NVML, RSMI, LevelZero and GL components are never loaded: this runs in the coordinator, which
 * loads no driver. */
#ifndef HARNESS_TOPOLOGY_H
#define HARNESS_TOPOLOGY_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct topology;

/* Reads the machine at hand, or (path not NULL) an hwloc XML file of a stored one. The machine at
 * hand is described whatever HWLOC_* variables say; topology_warning tells which were ignored.
 * CODE_IO: cannot be read; CODE_CONFIG: not a topology (directory, FIFO, over
 * TOPOLOGY_FILE_BYTES_MAX, not XML, not hwloc's). Silent on stderr. Changes the environment while
 * it runs: call it with one thread. */
enum { TOPOLOGY_FILE_BYTES_MAX = 16 << 20 };
enum code topology_load(const char *path, struct topology **topology, struct error *err);
void topology_destroy(struct topology *topology);
/* Warning number index, NULL past the last. */
const char *topology_warning(const struct topology *topology, size_t index);
/* The tree as text for a terminal. */
void topology_print(const struct topology *topology, struct text *out);
/* {"source": "this machine" | path, "warnings": [...], "packages": n, "numa_nodes": [...],
 * "caches": [...], "cores": n, "pus": n, "pci": [...], "tree": {...}} (docs/topology.md); the
 * caller owns it. No serial numbers, no network addresses. */
json_t *topology_json(const struct topology *topology);
/* hwloc's own XML. Unless with_private, without host name, serial numbers, network addresses and
 * the like. */
enum code topology_xml(const struct topology *topology, bool with_private, struct text *out,
                       struct error *err);
/* Memory of all NUMA nodes; 0 unknown. */
uint64_t topology_memory_bytes(const struct topology *topology);
/* Bytes of the last-level cache that one core sees; 0 unknown. */
uint64_t topology_last_cache_bytes(const struct topology *topology);
/* The accelerators' place: OS index of the NUMA node next to a PCI address "0000:41:00.0", -1
 * unknown (no such device, or the firmware does not say and there are several nodes). A machine
 * with one node has no other answer than that node. */
int topology_numa_of_pci(const struct topology *topology, const char *pci);

/* Header block of a result for the machine at hand: {"cpu": model, "architecture", "os", "kernel",
 * "hostname", "memory_bytes", "memory_free_bytes", "online_cpus", "allowed_cpus",
 * "allowed_cpu_list", "governor", "turbo", "smt", "cgroup": {...}, "load_1min", "hypervisor",
 * "notes": [...], "topology": {...}}; unknown values are null. topology may be NULL (it could not
 * be read). */
json_t *host_describe(const struct topology *topology);

#endif
