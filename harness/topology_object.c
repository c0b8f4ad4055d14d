/* SPDX-License-Identifier: Apache-2.0
 *
 * Walking hwloc's tree and the facts of one object; see topology_parts.h. Must not know how they
 * are shown. */
#include "harness/topology_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum child_list { LIST_MEMORY, LIST_NORMAL, LIST_IO, LIST_MISC, LISTS };

static hwloc_obj_t list_head(hwloc_obj_t parent, int list)
{
    switch (list) {
    case LIST_MEMORY:
        return parent->memory_first_child;
    case LIST_NORMAL:
        return parent->first_child;
    case LIST_IO:
        return parent->io_first_child;
    default:
        return parent->misc_first_child;
    }
}

static int list_of(hwloc_obj_t object)
{
    if (hwloc_obj_type_is_memory(object->type))
        return LIST_MEMORY;
    if (hwloc_obj_type_is_io(object->type))
        return LIST_IO;
    return object->type == HWLOC_OBJ_MISC ? LIST_MISC : LIST_NORMAL;
}

static hwloc_obj_t first_from(hwloc_obj_t parent, int list)
{
    hwloc_obj_t child = NULL;
    for (; child == NULL && list < LISTS; list++)
        child = list_head(parent, list);
    return child;
}

hwloc_obj_t topology_next(hwloc_obj_t object, bool descend, size_t *depth)
{
    hwloc_obj_t child = descend ? first_from(object, LIST_MEMORY) : NULL;
    if (child != NULL) {
        ++*depth;
        return child;
    }
    for (; object->parent != NULL; object = object->parent) {
        hwloc_obj_t sibling = object->next_sibling;
        if (sibling == NULL)
            sibling = first_from(object->parent, list_of(object) + 1);
        if (sibling != NULL)
            return sibling;
        --*depth;
    }
    return NULL;
}

static bool is_below_pci(hwloc_obj_t object)
{
    while (object != NULL && object->type == HWLOC_OBJ_OS_DEVICE)
        object = object->parent;
    return object != NULL && object->type == HWLOC_OBJ_PCI_DEVICE;
}

bool topology_is_folded(hwloc_obj_t object)
{
    if (object->type == HWLOC_OBJ_OS_DEVICE)
        return is_below_pci(object);
    return object->type == HWLOC_OBJ_PU && object->parent != NULL &&
           object->parent->type == HWLOC_OBJ_CORE && first_from(object, LIST_MEMORY) == NULL;
}

static const char *cache_name(hwloc_obj_t object)
{
    static const char *const data[] = {"cache", "l1d", "l2", "l3", "l4", "l5"};
    static const char *const code[] = {"cache", "l1i", "l2i", "l3i", "l4i", "l5i"};
    unsigned level = object->attr->cache.depth;
    level = level <= 5 ? level : 0;
    return object->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION ? code[level] : data[level];
}

const char *topology_type_name(hwloc_obj_t object)
{
    if (hwloc_obj_type_is_cache(object->type))
        return cache_name(object);
    switch ((int)object->type) {
    case HWLOC_OBJ_MACHINE:
        return "machine";
    case HWLOC_OBJ_PACKAGE:
        return "package";
    case HWLOC_OBJ_DIE:
        return "die";
    case HWLOC_OBJ_CORE:
        return "core";
    case HWLOC_OBJ_PU:
        return "pu";
    case HWLOC_OBJ_NUMANODE:
        return "numa";
    case HWLOC_OBJ_MEMCACHE:
        return "memory-cache";
    case HWLOC_OBJ_BRIDGE:
        return "bridge";
    case HWLOC_OBJ_PCI_DEVICE:
        return "pci";
    case HWLOC_OBJ_OS_DEVICE:
        return "os";
    case HWLOC_OBJ_MISC:
        return "misc";
    default:
        return "group";
    }
}

void topology_pci_address(hwloc_obj_t object, char address[PCI_ADDRESS_BYTES])
{
    const struct hwloc_pcidev_attr_s *pci = object->type == HWLOC_OBJ_BRIDGE
                                                ? &object->attr->bridge.upstream.pci
                                                : &object->attr->pcidev;
    snprintf(address, PCI_ADDRESS_BYTES, "%04x:%02x:%02x.%01x", (unsigned)pci->domain & 0xffffffu,
             (unsigned)pci->bus, (unsigned)pci->dev, (unsigned)pci->func);
}

/* PCI Code and ID Assignment Specification 1.11, section 1: base classes. */
const char *topology_pci_class(hwloc_obj_t pci)
{
    static const char *const names[] = {
        [0x01] = "storage",       [0x02] = "network",  [0x03] = "display",
        [0x04] = "multimedia",    [0x05] = "memory",   [0x06] = "bridge",
        [0x07] = "communication", [0x08] = "system",   [0x0b] = "processor",
        [0x0c] = "serial bus",    [0x0d] = "wireless", [0x12] = "accelerator",
    };
    unsigned base = pci->attr->pcidev.class_id >> 8;
    const char *name = base < sizeof names / sizeof names[0] ? names[base] : NULL;
    return name != NULL ? name : "other";
}

/* The next OS device below pci after object (pci itself: the first), depth first. */
static hwloc_obj_t next_os_device(hwloc_obj_t pci, hwloc_obj_t object)
{
    if (object->io_first_child != NULL)
        return object->io_first_child;
    for (; object != pci; object = object->parent)
        if (object->next_sibling != NULL)
            return object->next_sibling;
    return NULL;
}

size_t topology_os_names(hwloc_obj_t pci, const char *names[TOPOLOGY_OS_NAMES_MAX])
{
    size_t count = 0;
    hwloc_obj_t object = pci;
    while ((object = next_os_device(pci, object)) != NULL && count < TOPOLOGY_OS_NAMES_MAX) {
        bool known = object->name == NULL;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(names[i], object->name) == 0;
        if (!known)
            names[count++] = object->name;
    }
    return count;
}

bool topology_is_accelerator(hwloc_obj_t pci)
{
    unsigned class_id = pci->attr->pcidev.class_id;
    /* Display controllers, processing accelerators, and co-processors (0b40). */
    if (class_id >> 8 == 0x03 || class_id >> 8 == 0x12 || class_id == 0x0b40)
        return true;
    hwloc_obj_t object = pci;
    while ((object = next_os_device(pci, object)) != NULL)
        if (object->type == HWLOC_OBJ_OS_DEVICE &&
            object->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC)
            return true;
    return false;
}

void topology_pci_name(hwloc_obj_t pci, struct text *out)
{
    const char *vendor = hwloc_obj_get_info_by_name(pci, "PCIVendor");
    const char *device = hwloc_obj_get_info_by_name(pci, "PCIDevice");
    if (vendor != NULL)
        text_append(out, vendor);
    if (device != NULL)
        text_printf(out, "%s%s", vendor != NULL ? " " : "", device);
    if (vendor == NULL && device == NULL && pci->name != NULL)
        text_append(out, pci->name);
    if (out->bytes != NULL)
        text_make_printable(out->bytes);
}

char *topology_cpu_list(hwloc_const_bitmap_t set)
{
    char *list = NULL;
    if (set == NULL || hwloc_bitmap_list_asprintf(&list, set) < 0)
        return text_duplicate("");
    return list;
}
