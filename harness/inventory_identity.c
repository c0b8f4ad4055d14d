/* SPDX-License-Identifier: Apache-2.0
 *
 * Which entries are one physical thing. Only a hardware id merges: a UUID, or a PCI address with
 * its domain; and all that runs on the host's own cores is one thing. Two entries without an id are
 * never merged, however alike. */
#include "harness/inventory_parts.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_OTHERS_MAX = 3 };

static bool is_software(const struct device_info *info)
{
    return info->software || info->type == DEVICE_CPU;
}

/* Drivers that do not know say zero. */
static bool has_uuid(const struct device_info *info)
{
    return strspn(info->uuid, "0-") != strlen(info->uuid);
}

static bool has_pci(const struct device_info *info)
{
    return strspn(info->pci, "0:.") != strlen(info->pci);
}

/* True if another entry claims this UUID from another place: the UUID then tells nothing. */
static bool uuid_is_contested(const struct inventory *inventory, const struct device_info *info)
{
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct device_info *other = &inventory->devices[i].info;
        if (has_pci(other) && has_pci(info) && text_equal_ignoring_case(other->uuid, info->uuid) &&
            !text_equal_ignoring_case(other->pci, info->pci))
            return true;
    }
    return false;
}

static void set_raw(const struct inventory *inventory, struct inventory_device *device)
{
    const struct device_info *info = &device->info;
    device->physical[0] = '\0';
    if (is_software(info))
        snprintf(device->physical, sizeof device->physical, "cpu:0");
    else if (has_uuid(info) && !uuid_is_contested(inventory, info))
        snprintf(device->physical, sizeof device->physical, "uuid:%s", info->uuid);
    else if (has_pci(info))
        snprintf(device->physical, sizeof device->physical, "pci:%s", info->pci);
}

/* An entry that knows its PCI address alone takes the UUID of the entries at that address, if they
 * agree on one (the parts of a partitioned card do not). */
static void fold_by_pci(const struct inventory *inventory, struct inventory_device *device)
{
    if (!text_starts_with(device->physical, "pci:"))
        return;
    const char *found = NULL;
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct inventory_device *other = &inventory->devices[i];
        if (!text_starts_with(other->physical, "uuid:") ||
            !text_equal_ignoring_case(other->info.pci, device->info.pci))
            continue;
        if (found != NULL && !text_equal_ignoring_case(found, other->physical))
            return;
        found = other->physical;
    }
    if (found != NULL)
        snprintf(device->physical, sizeof device->physical, "%s", found);
}

/* Appends the ids of the other entries that fit, at most three by name. */
static size_t
append_others(const struct inventory *inventory, const struct inventory_device *device,
              bool (*fits)(const struct inventory_device *, const struct inventory_device *),
              struct text *out)
{
    size_t count = 0;
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct inventory_device *other = &inventory->devices[i];
        if (other == device || !fits(device, other))
            continue;
        if (count < NOTE_OTHERS_MAX)
            text_printf(out, "%s%s", count > 0 ? ", " : "", other->info.id);
        count++;
    }
    if (count > NOTE_OTHERS_MAX)
        text_printf(out, " and %zu more", count - NOTE_OTHERS_MAX);
    return count;
}

static bool is_same_physical(const struct inventory_device *device,
                             const struct inventory_device *other)
{
    return strcmp(device->physical, other->physical) == 0;
}

static bool looks_the_same(const struct inventory_device *device,
                           const struct inventory_device *other)
{
    return other->physical[0] == '\0' && strcmp(device->info.name, other->info.name) == 0;
}

/* A second registration of this device's driver, or the first one of a duplicate; NULL if there is
 * none. */
static const struct inventory_device *twin(const struct inventory *inventory,
                                           const struct inventory_device *device)
{
    const struct inventory_driver *own = &inventory->drivers[device->driver];
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct inventory_device *other = &inventory->devices[i];
        const struct inventory_driver *driver = &inventory->drivers[other->driver];
        bool follows = driver->state == DRIVER_DUPLICATE && driver->duplicate_of == device->driver;
        bool leads = own->state == DRIVER_DUPLICATE && own->duplicate_of == other->driver;
        if (other->index == device->index && (follows || leads))
            return other;
    }
    return NULL;
}

static const char *registration(const struct inventory *inventory,
                                const struct inventory_device *device)
{
    const struct inventory_driver *driver = &inventory->drivers[device->driver];
    return driver->file[0] != '\0' ? driver->file : driver->library;
}

static void set_note(const struct inventory *inventory, struct inventory_device *device)
{
    struct text note = {0}, others = {0};
    const struct inventory_device *double_entry = twin(inventory, device);
    if (double_entry != NULL) {
        text_printf(&note, "same driver as %s, registered twice: %s and %s", double_entry->info.id,
                    registration(inventory, device), registration(inventory, double_entry));
    } else if (device->physical[0] == '\0') {
        text_append(&note, "identity unknown: no UUID and no PCI address");
        if (append_others(inventory, device, looks_the_same, &others) > 0)
            text_printf(&note, "; cannot be told apart from %s", text_string(&others));
    } else if (append_others(inventory, device, is_same_physical, &others) > 0) {
        bool cpu = strcmp(device->physical, "cpu:0") == 0;
        text_printf(&note, "%s %s", cpu ? "the host's own cores, as" : "same physical card as",
                    text_string(&others));
    }
    if (!device->info.available)
        text_printf(&note, "%sthe driver says it is not available", note.length > 0 ? "; " : "");
    snprintf(device->note, sizeof device->note, "%s", text_string(&note));
    text_make_printable(device->note); /* a cut may have split a character */
    text_release(&note);
    text_release(&others);
}

void inventory_identify(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->device_count; i++)
        set_raw(inventory, &inventory->devices[i]);
    for (size_t i = 0; i < inventory->device_count; i++)
        fold_by_pci(inventory, &inventory->devices[i]);
    for (size_t i = 0; i < inventory->device_count; i++) {
        struct inventory_device *device = &inventory->devices[i];
        device->duplicate = inventory->drivers[device->driver].state == DRIVER_DUPLICATE;
        set_note(inventory, device);
    }
}
