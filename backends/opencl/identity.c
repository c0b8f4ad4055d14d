/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what an OpenCL device says of itself: text of any length, values of a given size, and the
 * two things that tell one physical card from another, its PCI address and its UUID. Must not know
 * contexts and queues. */
#include "backends/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Extensions whose constants older Khronos headers lack; the values are those of the OpenCL
 * registry. */
enum {
    DEVICE_PCI_BUS_INFO_KHR = 0x410F,
    DEVICE_UUID_KHR = 0x106A,
    DEVICE_PCI_BUS_ID_NV = 0x4008,
    DEVICE_PCI_SLOT_ID_NV = 0x4009,
    DEVICE_PCI_DOMAIN_ID_NV = 0x400A,
    DEVICE_TOPOLOGY_AMD = 0x4037,
    DEVICE_TOPOLOGY_TYPE_PCIE_AMD = 1,
    UUID_BYTES = 16
};

/* Driver text goes to terminals and into JSON: no control characters, UTF-8 only. */
static void make_clean(char *text)
{
    text_make_printable(text);
    size_t length = strlen(text);
    size_t begin = 0, bad = 0;
    while (!text_is_utf8(text + begin, length - begin, &bad)) {
        text[begin + bad] = '?';
        begin += bad + 1;
    }
}

char *opencl_device_text(const struct opencl_api *api, cl_device_id device, cl_device_info what)
{
    size_t bytes = 0;
    if (api->clGetDeviceInfo(device, what, 0, NULL, &bytes) != CL_SUCCESS ||
        bytes > OPENCL_INFO_BYTES)
        return memory_zeroed(1, 1);
    char *text = memory_zeroed(bytes + 1, 1);
    if (api->clGetDeviceInfo(device, what, bytes, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    make_clean(text);
    return text;
}

char *opencl_platform_text(const struct opencl_api *api, cl_platform_id platform,
                           cl_platform_info what)
{
    size_t bytes = 0;
    if (api->clGetPlatformInfo(platform, what, 0, NULL, &bytes) != CL_SUCCESS ||
        bytes > OPENCL_INFO_BYTES)
        return memory_zeroed(1, 1);
    char *text = memory_zeroed(bytes + 1, 1);
    if (api->clGetPlatformInfo(platform, what, bytes, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    make_clean(text);
    return text;
}

bool opencl_device_value(const struct opencl_api *api, cl_device_id device, cl_device_info what,
                         void *value, size_t bytes)
{
    unsigned char room[64] = {0};
    size_t given = 0;
    if (bytes > sizeof room ||
        api->clGetDeviceInfo(device, what, sizeof room, room, &given) != CL_SUCCESS ||
        given != bytes)
        return false;
    memcpy(value, room, bytes);
    return true;
}

bool opencl_has_extension(const char *extensions, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(extensions, name); at != NULL; at = strstr(at + 1, name))
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void set_pci(struct device_info *info, uint32_t domain, uint32_t bus, uint32_t device,
                    uint32_t function)
{
    if (domain <= 0xffffffff && bus <= 0xff && device <= 0x1f && function <= 7)
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%u", domain, bus, device, function);
}

static void read_pci_khr(const struct opencl_api *api, cl_device_id device,
                         struct device_info *info)
{
    struct {
        cl_uint domain, bus, device, function;
    } pci;
    if (opencl_device_value(api, device, DEVICE_PCI_BUS_INFO_KHR, &pci, sizeof pci))
        set_pci(info, pci.domain, pci.bus, pci.device, pci.function);
}

static void read_pci_nv(const struct opencl_api *api, cl_device_id device, struct device_info *info)
{
    cl_uint bus, slot, domain = 0;
    if (!opencl_device_value(api, device, DEVICE_PCI_BUS_ID_NV, &bus, sizeof bus) ||
        !opencl_device_value(api, device, DEVICE_PCI_SLOT_ID_NV, &slot, sizeof slot))
        return;
    (void)opencl_device_value(api, device, DEVICE_PCI_DOMAIN_ID_NV, &domain,
                              sizeof domain);        /* newer drivers */
    set_pci(info, domain, bus, slot >> 3, slot & 7); /* the slot is PCI's devfn */
}

static void read_pci_amd(const struct opencl_api *api, cl_device_id device,
                         struct device_info *info)
{
    struct {
        cl_uint type;
        unsigned char unused[17], bus, device, function;
    } topology;
    if (opencl_device_value(api, device, DEVICE_TOPOLOGY_AMD, &topology, sizeof topology) &&
        topology.type == DEVICE_TOPOLOGY_TYPE_PCIE_AMD)
        set_pci(info, 0, topology.bus, topology.device, topology.function);
}

static void read_uuid(const struct opencl_api *api, cl_device_id device, struct device_info *info)
{
    unsigned char uuid[UUID_BYTES];
    unsigned char any = 0;
    if (!opencl_device_value(api, device, DEVICE_UUID_KHR, uuid, sizeof uuid))
        return;
    for (size_t i = 0; i < UUID_BYTES; i++)
        any |= uuid[i];
    if (any == 0) /* a driver's way of not saying */
        return;
    char *out = info->uuid;
    for (size_t i = 0; i < UUID_BYTES; i++)
        out += sprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

void opencl_read_identity(const struct opencl_api *api, cl_device_id device,
                          struct device_info *info)
{
    const char *extensions = info->extensions;
    if (opencl_has_extension(extensions, "cl_khr_pci_bus_info"))
        read_pci_khr(api, device, info);
    if (info->pci[0] == '\0' && opencl_has_extension(extensions, "cl_nv_device_attribute_query"))
        read_pci_nv(api, device, info);
    if (info->pci[0] == '\0' && opencl_has_extension(extensions, "cl_amd_device_attribute_query"))
        read_pci_amd(api, device, info);
    if (opencl_has_extension(extensions, "cl_khr_device_uuid"))
        read_uuid(api, device, info);
}
