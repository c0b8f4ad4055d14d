/* SPDX-License-Identifier: Apache-2.0
 *
 * A topology as a tree of text: indented, equal parts on one line ("8 × (L2 1.00 MiB, core)"), each
 * PCI device on one line with all the names that the system has for it. */
#include "harness/topology.h"
#include "harness/topology_parts.h"

#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 };

static void append_bytes(struct text *out, uint64_t bytes)
{
    char shown[QUANTITY_BYTES];
    text_append(out, quantity_format_bytes(bytes, shown));
}

static void append_printable(struct text *out, const char *string)
{
    char *copy = text_duplicate(string);
    text_make_printable(copy);
    text_append(out, copy);
    free(copy);
}

static void append_cpus(struct text *out, hwloc_const_bitmap_t set)
{
    char *list = topology_cpu_list(set);
    if (list[0] != '\0')
        text_printf(out, "CPU%s %s", strpbrk(list, ",-") != NULL ? "s" : "", list);
    else
        text_append(out, "no CPUs");
    free(list);
}

static void append_index(struct text *out, const char *name, hwloc_obj_t object)
{
    text_append(out, name);
    if (object->os_index != HWLOC_UNKNOWN_INDEX)
        text_printf(out, " %u", object->os_index);
}

/* "L1d" for "l1d". */
static void append_cache(struct text *out, hwloc_obj_t object)
{
    const char *name = topology_type_name(object);
    text_printf(out, "%c%s ", name[0] == 'l' ? 'L' : name[0], name + 1);
    append_bytes(out, object->attr->cache.size);
}

static void append_pci(struct text *out, const struct topology *topology, hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
    char address[PCI_ADDRESS_BYTES];
    topology_pci_address(pci, address);
    text_printf(out, "PCI %s %s [%04x:%04x]", address, topology_pci_class(pci),
                (unsigned)attr->vendor_id, (unsigned)attr->device_id);
    struct text name = {0};
    topology_pci_name(pci, &name);
    if (name.length > 0)
        text_printf(out, " %s", text_string(&name));
    text_release(&name);
    if (attr->linkspeed > 0.0f) {
        char rate[QUANTITY_BYTES];
        text_printf(out, ", link %s",
                    quantity_format_si((double)attr->linkspeed * 1e9, "B/s", rate));
    }
    int node = topology_numa_of(topology, pci);
    if (node < 0 && topology_is_accelerator(pci))
        text_append(out, ", NUMA node unknown");
    else if (node >= 0 && topology_is_accelerator(pci))
        text_printf(out, ", NUMA node %d", node);
    const char *names[TOPOLOGY_OS_NAMES_MAX];
    size_t count = topology_os_names(pci, names);
    for (size_t i = 0; i < count; i++) {
        text_append(out, i == 0 ? ": " : ", ");
        append_printable(out, names[i]);
    }
}

static void append_bridge(struct text *out, hwloc_obj_t bridge)
{
    const struct hwloc_bridge_attr_s *attr = &bridge->attr->bridge;
    char address[PCI_ADDRESS_BYTES];
    topology_pci_address(bridge, address);
    if (attr->upstream_type == HWLOC_OBJ_BRIDGE_PCI)
        text_printf(out, "PCI bridge %s", address);
    else
        text_append(out, "PCI host bridge");
    text_printf(out, " (buses %04x:%02x-%02x)", (unsigned)attr->downstream.pci.domain & 0xffffffu,
                (unsigned)attr->downstream.pci.secondary_bus,
                (unsigned)attr->downstream.pci.subordinate_bus);
}

static void append_package(struct text *out, hwloc_obj_t object)
{
    append_index(out, "package", object);
    const char *model = hwloc_obj_get_info_by_name(object, "CPUModel");
    if (model != NULL && model[0] != '\0') {
        text_append(out, ": ");
        append_printable(out, model);
    }
    text_append(out, ", ");
    append_cpus(out, object->cpuset);
}

static void append_numa(struct text *out, const struct topology *topology, hwloc_obj_t object)
{
    append_index(out, "NUMA node", object);
    text_append(out, ": ");
    append_bytes(out, object->attr->numanode.local_memory);
    if (object->subtype != NULL) {
        text_append(out, " ");
        append_printable(out, object->subtype);
    }
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    topology_own_cpus(topology, object, own);
    text_append(out, ", ");
    append_cpus(out, own);
    hwloc_bitmap_free(own);
}

static void append_object(struct text *out, const struct topology *topology, hwloc_obj_t object)
{
    if (hwloc_obj_type_is_cache(object->type)) {
        append_cache(out, object);
        return;
    }
    switch ((int)object->type) {
    case HWLOC_OBJ_MACHINE:
        text_append(out, "machine: ");
        append_bytes(out, object->total_memory);
        text_append(out, ", ");
        append_cpus(out, object->cpuset);
        break;
    case HWLOC_OBJ_PACKAGE:
        append_package(out, object);
        break;
    case HWLOC_OBJ_NUMANODE:
        append_numa(out, topology, object);
        break;
    case HWLOC_OBJ_BRIDGE:
        append_bridge(out, object);
        break;
    case HWLOC_OBJ_PCI_DEVICE:
        append_pci(out, topology, object);
        break;
    case HWLOC_OBJ_OS_DEVICE:
    case HWLOC_OBJ_MISC:
        append_printable(out, object->name != NULL ? object->name : topology_type_name(object));
        break;
    case HWLOC_OBJ_CORE:
        append_index(out, "core", object);
        text_append(out, ", ");
        append_cpus(out, object->cpuset);
        break;
    default:
        append_index(out, topology_type_name(object), object);
    }
}

static bool is_alike(hwloc_obj_t object, hwloc_obj_t model)
{
    return object->type == model->type && object->arity == model->arity &&
           object->memory_arity == 0 && object->io_arity == 0 && object->misc_arity == 0 &&
           (!hwloc_obj_type_is_cache(object->type) ||
            object->attr->cache.size == model->attr->cache.size);
}

/* True if all that is below object has one shape, so that one chain of first children tells it all.
 */
static bool is_uniform(hwloc_obj_t object)
{
    hwloc_obj_t model = object->first_child;
    for (; model != NULL; model = model->first_child)
        for (hwloc_obj_t peer = model; peer != NULL; peer = peer->next_cousin) {
            if (!hwloc_bitmap_isincluded(peer->cpuset, object->cpuset))
                break;
            if (!is_alike(peer, model))
                return false;
        }
    return object->first_child != NULL;
}

static void append_part(struct text *out, hwloc_obj_t object)
{
    if (hwloc_obj_type_is_cache(object->type))
        append_cache(out, object);
    else
        text_append(out, object->type == HWLOC_OBJ_PU ? "PU" : topology_type_name(object));
}

/* The children of a uniform object: "4 × (L2 1.00 MiB, core, 2 × PU), CPUs 0-7"; the one PU of a
 * core goes without saying. */
static void append_uniform(struct text *out, hwloc_obj_t object)
{
    size_t open = 0;
    bool last = false;
    for (hwloc_obj_t child = object->first_child; !last; child = child->first_child) {
        unsigned count = child->parent->arity;
        last = child->first_child == NULL || (child->type == HWLOC_OBJ_CORE && child->arity == 1);
        if (child != object->first_child)
            text_append(out, ", ");
        if (count > 1)
            text_printf(out, "%u × ", count);
        if (count > 1 && !last) {
            text_append(out, "(");
            open++;
        }
        append_part(out, child);
    }
    text_pad(out, ')', open);
    text_append(out, ", ");
    append_cpus(out, object->cpuset);
}

void topology_print(const struct topology *topology, struct text *out)
{
    size_t depth = 0;
    bool descend = true;
    hwloc_obj_t told = NULL; /* the object whose children one line told */
    hwloc_obj_t object = hwloc_get_root_obj(topology->hwloc);
    for (; object != NULL; object = topology_next(object, descend, &depth)) {
        bool normal = hwloc_obj_type_is_normal(object->type) && object->parent != NULL;
        descend = false;
        if (topology_is_folded(object) || (normal && object->parent == told))
            continue;
        text_pad(out, ' ', INDENT * depth);
        if (normal && object == object->parent->first_child && is_uniform(object->parent)) {
            told = object->parent;
            append_uniform(out, told);
        } else {
            descend = depth < TOPOLOGY_DEPTH_MAX;
            append_object(out, topology, object);
        }
        text_append(out, "\n");
    }
}
