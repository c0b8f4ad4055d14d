/* SPDX-License-Identifier: Apache-2.0
 *
 * A topology as hwloc's own XML, which hwloc, lstopo and `assay topology --from` read. hwloc notes
 * whatever the system offers (host name, serial numbers of board, disks and memory, addresses of
 * network cards): what is not known to be harmless is left out. */
#include "harness/topology.h"
#include "harness/topology_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Attributes kept. A list of what is kept, not of what is dropped: the next version of hwloc brings
 * new ones. */
static const char *const kept[] = {
    "Architecture",
    "Backend",
    "BoostFrequency",
    "CPUFamilyNumber",
    "CPUModel",
    "CPUModelNumber",
    "CPURevision",
    "CPUStepping",
    "CPUType",
    "CPUVendor",
    "ClusterMode",
    "DMIBIOSDate",
    "DMIBIOSVendor",
    "DMIBIOSVersion",
    "DMIBoardName",
    "DMIBoardVendor",
    "DMIBoardVersion",
    "DMIProductName",
    "DMIProductVersion",
    "DMISysVendor",
    "GPUModel",
    "GPUVendor",
    "Inclusive",
    "LinuxDeviceID",
    "MemoryMode",
    "Model",
    "OSName",
    "OSRelease",
    "OSVersion",
    "PCIDevice",
    "PCISlot",
    "PCIVendor",
    "PlatformModel",
    "PlatformName",
    "PlatformRevision",
    "Revision",
    "SectorSize",
    "Size",
    "Type",
    "Vendor",
    "hwlocVersion",
};
static const char *const kept_prefixes[] = {"CUDA", "OpenCL"};

static bool is_kept(const char *name)
{
    for (size_t i = 0; i < sizeof kept_prefixes / sizeof kept_prefixes[0]; i++)
        if (text_starts_with(name, kept_prefixes[i]))
            return true;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcmp(kept[i], name) == 0)
            return true;
    return false;
}

/* hwloc has no call that removes an attribute; its own hwloc-annotate edits the array in this way.
 */
static void strip_object(hwloc_obj_t object)
{
    unsigned left = 0;
    for (unsigned i = 0; i < object->infos_count; i++) {
        struct hwloc_info_s info = object->infos[i];
        if (is_kept(info.name)) {
            object->infos[left++] = info;
        } else {
            free(info.name);
            free(info.value);
        }
    }
    object->infos_count = left;
}

static void strip(hwloc_topology_t hwloc)
{
    size_t depth = 0;
    hwloc_obj_t object = hwloc_get_root_obj(hwloc);
    for (; object != NULL; object = topology_next(object, true, &depth))
        strip_object(object);
}

static int export(hwloc_topology_t hwloc, bool with_private, struct text *out)
{
    char *bytes = NULL;
    int count = 0;
    if (!with_private)
        strip(hwloc);
    if (hwloc_topology_export_xmlbuffer(hwloc, &bytes, &count, 0) != 0)
        return -1;
    text_append(out, bytes);
    hwloc_free_xmlbuffer(hwloc, bytes);
    return 0;
}

enum code topology_xml(const struct topology *topology, bool with_private, struct text *out,
                       struct error *err)
{
    struct hwloc_environment environment;
    hwloc_environment_enter(&environment);
    hwloc_topology_t copy = NULL;
    int failed = hwloc_topology_dup(&copy, topology->hwloc);
    if (failed == 0) {
        failed = export(copy, with_private, out);
        hwloc_topology_destroy(copy);
    }
    int number = errno;
    hwloc_environment_leave(&environment);
    if (failed != 0)
        return error_set(err, CODE_MEMORY, number, "hwloc cannot write the topology as XML: %s",
                         strerror(number));
    return CODE_OK;
}
