/* SPDX-License-Identifier: Apache-2.0
 *
 * The host, described by hwloc: packages, NUMA nodes, caches, cores, PCI devices; plus what hwloc does not know: memory
 * now free, kernel, governor, cgroup limits, load. hwloc's OpenCL, CUDA, NVML, RSMI, LevelZero and GL components are never loaded:
 * this runs in the coordinator, which loads no driver. */
#ifndef HARNESS_TOPOLOGY_H
#define HARNESS_TOPOLOGY_H

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>
#include <stdint.h>

struct topology;

/* Reads the machine at hand, or (path not NULL) an hwloc XML file of a stored one. CODE_IO, CODE_CONFIG. Silent on stderr. */
enum code topology_load(const char *path, struct topology **topology, struct error *err);
void topology_destroy(struct topology *topology);
/* The tree as text for a terminal. */
void topology_print(const struct topology *topology, struct text *out);
/* {"source": "this machine" | path, "packages": n, "numa_nodes": [...], "caches": [...], "cores": n, "pus": n,
 *  "pci": [...], "tree": {...}}; the caller owns it. */
json_t *topology_json(const struct topology *topology);
/* hwloc's own XML. */
enum code topology_xml(const struct topology *topology, struct text *out, struct error *err);
/* Bytes of the last-level cache that one core sees; 0 unknown. */
uint64_t topology_last_cache_bytes(const struct topology *topology);
/* The accelerators' place: NUMA node index of a PCI address "0000:41:00.0", -1 unknown. */
int topology_numa_of_pci(const struct topology *topology, const char *pci);

/* Header block of a result for the machine at hand: {"cpu": model, "kernel", "hostname", "memory_bytes", "memory_free_bytes",
 *  "allowed_cpus", "online_cpus", "governor", "cgroup": {...}, "load_1min", "hypervisor", "topology": {...}}; unknown values are null. */
json_t *host_describe(const struct topology *topology);

#endif
