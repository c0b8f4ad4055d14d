/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a topology by hwloc and answers questions about it; see topology.h. Showing it is
 * topology_print.c and topology_json.c. Must not know devices of an API: an accelerator is a PCI
 * device here. */
#include "harness/topology.h"
#include "harness/topology_parts.h"
#include "harness/topology_trial.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Components that load a driver, should they be built into the library. */
static const char *const drivers[] = {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"};

static bool prepare(hwloc_topology_t *hwloc)
{
    if (hwloc_topology_init(hwloc) != 0) {
        *hwloc = NULL;
        return false;
    }
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        hwloc_topology_set_components(*hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, drivers[i]);
    hwloc_topology_set_io_types_filter(*hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_icache_types_filter(*hwloc, HWLOC_TYPE_FILTER_KEEP_ALL);
    /* CPUs that a cgroup forbids are there nevertheless; what is allowed is told next to the tree.
     */
    hwloc_topology_set_flags(*hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    return true;
}

static bool finish(hwloc_topology_t *hwloc, bool ready)
{
    if (ready && hwloc_topology_load(*hwloc) == 0)
        return true;
    hwloc_topology_destroy(*hwloc);
    *hwloc = NULL;
    return false;
}

bool topology_load_xml(hwloc_topology_t *hwloc, const char *bytes, size_t count)
{
    /* The size that hwloc asks for holds the terminator. */
    return prepare(hwloc) &&
           finish(hwloc, hwloc_topology_set_xmlbuffer(*hwloc, bytes, (int)(count + 1)) == 0);
}

static enum code load_file(struct topology *topology, const char *path, struct error *err)
{
    char *bytes = NULL;
    size_t count = 0;
    enum code code = topology_read_file(path, &bytes, &count, err);
    if (code == CODE_OK)
        code = topology_try_xml(path, bytes, count, err);
    if (code == CODE_OK && !topology_load_xml(&topology->hwloc, bytes, count))
        code = error_set(err, CODE_CONFIG, 0, "%s: no topology that hwloc can read", path);
    free(bytes);
    topology->source = text_duplicate(path);
    return code;
}

static void warn_of_variables(struct topology *topology,
                              const struct hwloc_environment *environment)
{
    for (size_t i = 0; i < environment->count; i++) {
        struct text warning = {0};
        const char *entry = environment->saved[i];
        text_printf(&warning,
                    "%.*s is set in the environment and was ignored: this is the machine at hand",
                    (int)strcspn(entry, "="), entry);
        topology->warnings = memory_resize(topology->warnings, topology->warning_count + 1,
                                           sizeof *topology->warnings);
        topology->warnings[topology->warning_count++] = text_duplicate(text_string(&warning));
        text_release(&warning);
    }
}

static enum code load_machine(struct topology *topology, struct error *err)
{
    if (!prepare(&topology->hwloc) || !finish(&topology->hwloc, true))
        return error_set(err, CODE_IO, errno, "hwloc cannot read the topology of this machine: %s",
                         strerror(errno));
    return CODE_OK;
}

enum code topology_load(const char *path, struct topology **topology, struct error *err)
{
    assert(topology != NULL);
    *topology = memory_zeroed(1, sizeof **topology);
    struct hwloc_environment environment;
    hwloc_environment_enter(&environment);
    enum code code = path != NULL ? load_file(*topology, path, err) : load_machine(*topology, err);
    if (path == NULL)
        warn_of_variables(*topology, &environment);
    hwloc_environment_leave(&environment);
    if (code != CODE_OK) {
        topology_destroy(*topology);
        *topology = NULL;
    }
    return code;
}

void topology_destroy(struct topology *topology)
{
    if (topology == NULL)
        return;
    if (topology->hwloc != NULL)
        hwloc_topology_destroy(topology->hwloc);
    for (size_t i = 0; i < topology->warning_count; i++)
        free(topology->warnings[i]);
    free(topology->warnings);
    free(topology->source);
    free(topology);
}

const char *topology_warning(const struct topology *topology, size_t index)
{
    return index < topology->warning_count ? topology->warnings[index] : NULL;
}

uint64_t topology_memory_bytes(const struct topology *topology)
{
    return hwloc_get_root_obj(topology->hwloc)->total_memory;
}

uint64_t topology_last_cache_bytes(const struct topology *topology)
{
    hwloc_obj_t object = hwloc_get_obj_by_type(topology->hwloc, HWLOC_OBJ_PU, 0);
    uint64_t bytes = 0;
    for (; object != NULL; object = object->parent)
        if (hwloc_obj_type_is_dcache(object->type) && object->attr->cache.size > 0)
            bytes = object->attr->cache.size;
    return bytes;
}

static hwloc_obj_t next_node(const struct topology *topology, hwloc_obj_t node)
{
    return hwloc_get_next_obj_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE, node);
}

void topology_own_cpus(const struct topology *topology, hwloc_obj_t node, hwloc_bitmap_t own)
{
    hwloc_bitmap_copy(own, node->cpuset);
    for (hwloc_obj_t other = NULL; (other = next_node(topology, other)) != NULL;) {
        bool inside = hwloc_bitmap_isincluded(other->cpuset, node->cpuset);
        bool equal = hwloc_bitmap_isequal(other->cpuset, node->cpuset);
        if (other != node && inside && (!equal || other->os_index < node->os_index))
            hwloc_bitmap_andnot(own, own, other->cpuset);
    }
}

/* A node that may be meant: it is next to the place of the device and has CPUs of its own. */
static bool is_near(const struct topology *topology, hwloc_obj_t node, hwloc_obj_t place)
{
    if (place == NULL || place->nodeset == NULL ||
        !hwloc_bitmap_isset(place->nodeset, node->os_index))
        return false;
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    topology_own_cpus(topology, node, own);
    bool near = !hwloc_bitmap_iszero(own);
    hwloc_bitmap_free(own);
    return near;
}

/* The one near node. Several (the firmware names a whole package, or nothing) leave it open. */
int topology_numa_of(const struct topology *topology, hwloc_obj_t object)
{
    hwloc_obj_t first = next_node(topology, NULL);
    if (first != NULL && next_node(topology, first) == NULL)
        return (int)first->os_index;
    hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology->hwloc, object);
    hwloc_obj_t found = NULL;
    for (hwloc_obj_t node = NULL; (node = next_node(topology, node)) != NULL;) {
        if (!is_near(topology, node, place))
            continue;
        if (found != NULL)
            return -1;
        found = node;
    }
    return found != NULL ? (int)found->os_index : -1;
}

int topology_numa_of_pci(const struct topology *topology, const char *pci)
{
    hwloc_obj_t object = pci != NULL ? hwloc_get_pcidev_by_busidstring(topology->hwloc, pci) : NULL;
    return object != NULL ? topology_numa_of(topology, object) : -1;
}
