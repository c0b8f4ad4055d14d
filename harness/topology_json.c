/* SPDX-License-Identifier: Apache-2.0
 *
 * A topology as JSON, for the header of a result and for `assay topology --json`. Leaves out what
 * names a person, a site or one exemplar: host name, serial numbers, network addresses. The members
 * are described in docs/topology.md. */
#include "harness/topology.h"
#include "harness/topology_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *integer(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_null();
}

/* json_string refuses what is no UTF-8 (a driver's or a file's name), and a member would vanish. */
static json_t *string_or_null(const char *value)
{
    json_t *json = value != NULL && value[0] != '\0' ? json_string(value) : NULL;
    return json != NULL ? json : json_null();
}

static json_t *cpus(hwloc_const_bitmap_t set)
{
    char *list = topology_cpu_list(set);
    json_t *json = json_string(list);
    free(list);
    return json;
}

static json_t *numa_json(const struct topology *topology, hwloc_obj_t node)
{
    json_t *json = json_object();
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    topology_own_cpus(topology, node, own);
    json_object_set_new(json, "index", integer(node->os_index));
    json_object_set_new(json, "cpus", cpus(own));
    json_object_set_new(json, "near_cpus", cpus(node->cpuset));
    json_object_set_new(json, "memory_bytes", integer(node->attr->numanode.local_memory));
    json_object_set_new(json, "kind", string_or_null(node->subtype));
    hwloc_bitmap_free(own);
    return json;
}

static json_t *numa_list(const struct topology *topology)
{
    json_t *list = json_array();
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE, node)) != NULL)
        json_array_append_new(list, numa_json(topology, node));
    return list;
}

static bool same_cache(const json_t *entry, hwloc_obj_t cache)
{
    return strcmp(json_string_value(json_object_get(entry, "name")), topology_type_name(cache)) ==
               0 &&
           (uint64_t)json_integer_value(json_object_get(entry, "bytes")) ==
               cache->attr->cache.size &&
           json_integer_value(json_object_get(entry, "cpus_each")) ==
               hwloc_bitmap_weight(cache->cpuset);
}

static void count_cache(json_t *list, hwloc_obj_t cache)
{
    size_t index = 0;
    json_t *entry = NULL;
    json_array_foreach(list, index, entry)
    {
        json_int_t count = json_integer_value(json_object_get(entry, "count"));
        if (same_cache(entry, cache)) {
            json_object_set_new(entry, "count", json_integer(count + 1));
            return;
        }
    }
    entry = json_object();
    json_object_set_new(entry, "name", json_string(topology_type_name(cache)));
    json_object_set_new(entry, "level", integer(cache->attr->cache.depth));
    json_object_set_new(entry, "bytes", integer(cache->attr->cache.size));
    json_object_set_new(entry, "line_bytes",
                        cache->attr->cache.linesize > 0 ? integer(cache->attr->cache.linesize)
                                                        : json_null());
    json_object_set_new(entry, "cpus_each", json_integer(hwloc_bitmap_weight(cache->cpuset)));
    json_object_set_new(entry, "count", json_integer(1));
    json_array_append_new(list, entry);
}

/* One entry for all caches of a kind, the largest level first. */
static json_t *cache_list(const struct topology *topology)
{
    json_t *list = json_array();
    for (int depth = 0; depth < hwloc_topology_get_depth(topology->hwloc); depth++) {
        if (!hwloc_obj_type_is_cache(hwloc_get_depth_type(topology->hwloc, depth)))
            continue;
        hwloc_obj_t cache = NULL;
        while ((cache = hwloc_get_next_obj_by_depth(topology->hwloc, depth, cache)) != NULL)
            count_cache(list, cache);
    }
    return list;
}

static json_t *os_device_list(hwloc_obj_t pci)
{
    const char *names[TOPOLOGY_OS_NAMES_MAX];
    size_t count = topology_os_names(pci, names);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, string_or_null(names[i]));
    return list;
}

static json_t *hex_id(unsigned id)
{
    return json_sprintf("%04x", id & 0xffffu);
}

static void set_numa(json_t *json, const struct topology *topology, hwloc_obj_t object)
{
    int node = topology_numa_of(topology, object);
    bool alone = hwloc_get_nbobjs_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE) == 1;
    json_object_set_new(json, "numa_node", node >= 0 ? json_integer(node) : json_null());
    json_object_set_new(json, "numa_reason",
                        node < 0 ? json_string("the machine does not say which node is near")
                        : alone  ? json_string("the only node")
                                 : json_null());
}

static json_t *pci_json(const struct topology *topology, hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
    char address[PCI_ADDRESS_BYTES];
    topology_pci_address(pci, address);
    struct text name = {0};
    topology_pci_name(pci, &name);
    json_t *json = json_object();
    json_object_set_new(json, "address", json_string(address));
    json_object_set_new(json, "name", string_or_null(text_string(&name)));
    json_object_set_new(json, "class", json_string(topology_pci_class(pci)));
    json_object_set_new(json, "class_id", hex_id(attr->class_id));
    json_object_set_new(json, "vendor_id", hex_id(attr->vendor_id));
    json_object_set_new(json, "device_id", hex_id(attr->device_id));
    json_object_set_new(json, "accelerator", json_boolean(topology_is_accelerator(pci)));
    /* hwloc has GB/s in single precision: more digits than megabytes are noise. */
    double megabytes = round((double)attr->linkspeed * 1000);
    bool known = megabytes > 0 && megabytes < 1e9;
    json_object_set_new(json, "link_bytes_per_s",
                        known ? json_integer((json_int_t)megabytes * 1000000) : json_null());
    set_numa(json, topology, pci);
    json_object_set_new(json, "devices", os_device_list(pci));
    text_release(&name);
    return json;
}

static json_t *pci_list(const struct topology *topology)
{
    json_t *list = json_array();
    hwloc_obj_t pci = NULL;
    while ((pci = hwloc_get_next_pcidev(topology->hwloc, pci)) != NULL)
        json_array_append_new(list, pci_json(topology, pci));
    return list;
}

static void set_bridge(json_t *json, hwloc_obj_t bridge)
{
    const struct hwloc_bridge_attr_s *attr = &bridge->attr->bridge;
    char address[PCI_ADDRESS_BYTES];
    topology_pci_address(bridge, address);
    bool on_pci = attr->upstream_type == HWLOC_OBJ_BRIDGE_PCI;
    json_object_set_new(json, "address", on_pci ? json_string(address) : json_null());
    json_object_set_new(json, "buses",
                        json_sprintf("%04x:%02x-%02x",
                                     (unsigned)attr->downstream.pci.domain & 0xffffffu,
                                     (unsigned)attr->downstream.pci.secondary_bus,
                                     (unsigned)attr->downstream.pci.subordinate_bus));
}

/* One object of the tree; details of PCI devices and NUMA nodes stand in their own lists. */
static json_t *object_json(hwloc_obj_t object)
{
    json_t *json = json_object();
    char address[PCI_ADDRESS_BYTES];
    json_object_set_new(json, "type", json_string(topology_type_name(object)));
    if (object->type == HWLOC_OBJ_PCI_DEVICE) {
        topology_pci_address(object, address);
        json_object_set_new(json, "address", json_string(address));
        json_object_set_new(json, "devices", os_device_list(object));
    } else if (object->type == HWLOC_OBJ_BRIDGE) {
        set_bridge(json, object);
    } else if (object->type == HWLOC_OBJ_OS_DEVICE) {
        json_object_set_new(json, "name", string_or_null(object->name));
    } else if (hwloc_obj_type_is_cache(object->type)) {
        json_object_set_new(json, "bytes", integer(object->attr->cache.size));
    } else if (object->os_index != HWLOC_UNKNOWN_INDEX) {
        json_object_set_new(json, "index", integer(object->os_index));
    }
    /* A node's CPUs need a look at the others: they stand in the list of nodes. */
    if (object->cpuset != NULL && object->type != HWLOC_OBJ_NUMANODE)
        json_object_set_new(json, "cpus", cpus(object->cpuset));
    return json;
}

static json_t *tree_json(const struct topology *topology)
{
    json_t *nodes[TOPOLOGY_DEPTH_MAX]; /* borrowed: the path from the root to the object in hand */
    size_t depth = 0;
    hwloc_obj_t object = hwloc_get_root_obj(topology->hwloc);
    json_t *root = object_json(object);
    nodes[0] = root;
    bool descend = true;
    while ((object = topology_next(object, descend, &depth)) != NULL) {
        descend = !topology_is_folded(object) && depth + 1 < TOPOLOGY_DEPTH_MAX;
        if (topology_is_folded(object))
            continue;
        nodes[depth] = object_json(object);
        json_t *children = json_object_get(nodes[depth - 1], "children");
        if (children == NULL) {
            children = json_array();
            json_object_set_new(nodes[depth - 1], "children", children);
        }
        json_array_append_new(children, nodes[depth]);
    }
    return root;
}

static json_t *count_of(const struct topology *topology, hwloc_obj_type_t type)
{
    return json_integer(hwloc_get_nbobjs_by_type(topology->hwloc, type));
}

json_t *topology_json(const struct topology *topology)
{
    json_t *json = json_object();
    json_t *warnings = json_array();
    for (size_t i = 0; topology_warning(topology, i) != NULL; i++)
        json_array_append_new(warnings, json_string(topology_warning(topology, i)));
    json_object_set_new(json, "source",
                        topology->source != NULL ? string_or_null(topology->source)
                                                 : json_string("this machine"));
    json_object_set_new(json, "warnings", warnings);
    json_object_set_new(json, "packages", count_of(topology, HWLOC_OBJ_PACKAGE));
    json_object_set_new(json, "cores", count_of(topology, HWLOC_OBJ_CORE));
    json_object_set_new(json, "pus", count_of(topology, HWLOC_OBJ_PU));
    json_object_set_new(json, "memory_bytes", integer(topology_memory_bytes(topology)));
    json_object_set_new(json, "numa_nodes", numa_list(topology));
    json_object_set_new(json, "caches", cache_list(topology));
    json_object_set_new(json, "pci", pci_list(topology));
    json_object_set_new(json, "tree", tree_json(topology));
    return json;
}
