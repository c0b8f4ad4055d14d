/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists drivers and devices: each driver library in a worker of its own, one after another. No
 * driver is loaded in this process. Must not know: cases, records. */
#include "harness/inventory.h"

#include "harness/inventory_parts.h"
#include "harness/process.h"
#include "harness/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIST_LIMIT_NS UINT64_C(20000000000)

static const char no_loader[] = "no OpenCL loader"; /* how the backend's message begins */

/* The file of a driver's library, where it is known: two names of one file are one driver. */
struct library_file {
    bool known;
    dev_t device;
    ino_t inode;
};

struct listing {
    struct inventory *inventory;
    struct library_file *files; /* one a driver */
    char cache_dir[SCRATCH_PATH_BYTES];
    uint64_t limit_ns;
    char last_line[WORKER_LINE_BYTES]; /* printed by the driver that was asked last */
};

const char *driver_state_name(enum driver_state state)
{
    switch (state) {
    case DRIVER_OK:
        return "ok";
    case DRIVER_EMPTY:
        return "empty";
    case DRIVER_CRASHED:
        return "crashed";
    case DRIVER_TIMEOUT:
        return "timeout";
    case DRIVER_FAILED:
        return "failed";
    case DRIVER_DUPLICATE:
        return "duplicate";
    }
    return "unknown";
}

/* $ASSAY_LIST_TIMEOUT_MS, for machines whose drivers start slowly, and for tests. */
static uint64_t list_limit_ns(void)
{
    const char *text = getenv("ASSAY_LIST_TIMEOUT_MS");
    uint64_t ms = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && ms < 10000000; text++)
        ms = 10 * ms + (uint64_t)(*text - '0');
    return ms > 0 && *text == '\0' ? ms * 1000000U : LIST_LIMIT_NS;
}

static void find_drivers(struct inventory *inventory)
{
    const struct backend *const *backends = backend_all();
    for (size_t pass = 0; pass < 2; pass++) { /* the host baseline comes last */
        for (size_t i = 0; backends[i] != NULL; i++) {
            const char *name = backends[i]->name;
            if ((strcmp(name, "host") == 0) != (pass == 1))
                continue;
            if (strcmp(name, "opencl") == 0) {
                inventory_find_icds(inventory);
                continue;
            }
            struct inventory_driver *driver = inventory_add_driver(inventory);
            snprintf(driver->backend, sizeof driver->backend, "%s", name);
            snprintf(driver->name, sizeof driver->name, "%s", name);
        }
    }
}

/* An absolute path says itself which file it is. Of another name only the dynamic linker knows the
 * file: it is looked for among the files that the worker has mapped, while the worker still lives.
 */
static void find_library_file(const struct inventory_driver *driver, long pid,
                              struct library_file *file)
{
    struct stat status;
    char path[64], line[4096 + 128];
    file->known = driver->library[0] == '/' && stat(driver->library, &status) == 0;
    snprintf(path, sizeof path, "/proc/%ld/maps", pid);
    FILE *maps = file->known || driver->library[0] == '\0' ? NULL : fopen(path, "re");
    while (maps != NULL && !file->known && fgets(line, sizeof line, maps) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *begin = strchr(line, '/');
        char *base = begin != NULL ? strrchr(begin, '/') + 1 : NULL;
        /* "libx.so.1" is mapped under the name it links to, "libx.so.1.0.0" */
        file->known =
            base != NULL && text_starts_with(base, driver->library) && stat(begin, &status) == 0;
    }
    if (maps != NULL)
        fclose(maps);
    if (file->known) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
}

/* Index of an earlier driver of the same library, or index itself. */
static size_t first_of_library(const struct listing *listing, size_t index)
{
    const struct inventory_driver *drivers = listing->inventory->drivers;
    const struct library_file *files = listing->files;
    for (size_t i = 0; i < index && drivers[index].library[0] != '\0'; i++) {
        if (strcmp(drivers[i].backend, drivers[index].backend) != 0)
            continue;
        if (strcmp(drivers[i].library, drivers[index].library) == 0)
            return i;
        if (files[i].known && files[index].known && files[i].device == files[index].device &&
            files[i].inode == files[index].inode)
            return i;
    }
    return index;
}

static void set_duplicate(struct inventory *inventory, size_t index, size_t first)
{
    struct inventory_driver *driver = &inventory->drivers[index];
    const struct inventory_driver *original = &inventory->drivers[first];
    driver->state = DRIVER_DUPLICATE;
    driver->duplicate_of = first;
    snprintf(
        driver->reason, sizeof driver->reason,
        "registers the same library as '%s' (%.400s and %.400s); its devices are not part of 'all'",
        original->name, original->file[0] != '\0' ? original->file : original->library,
        driver->file[0] != '\0' ? driver->file : driver->library);
}

/* "opencl:pocl:0"; a backend other than OpenCL names its own devices. */
static void set_id(const struct inventory_driver *driver, struct inventory_device *device)
{
    size_t length = strlen(driver->backend);
    bool own_name =
        strncmp(device->info.id, driver->backend, length) == 0 && device->info.id[length] == ':';
    if (strcmp(driver->backend, "opencl") == 0)
        snprintf(device->info.id, sizeof device->info.id, "opencl:%s:%zu", driver->name,
                 device->index);
    else if (!own_name)
        snprintf(device->info.id, sizeof device->info.id, "%s:%zu", driver->backend, device->index);
}

static enum code take_reply(struct inventory *inventory, size_t index, const json_t *reply,
                            struct error *err)
{
    struct inventory_driver *driver = &inventory->drivers[index];
    const char *platform = json_string_value(json_object_get(reply, "platform"));
    snprintf(driver->platform, sizeof driver->platform, "%s", platform != NULL ? platform : "");
    text_make_printable(driver->platform);
    const json_t *list = json_object_get(reply, "devices");
    size_t count = json_array_size(list);
    inventory->devices = memory_resize(inventory->devices, inventory->device_count + count + 1,
                                       sizeof *inventory->devices);
    for (size_t i = 0; i < count; i++) {
        struct inventory_device *device = &inventory->devices[inventory->device_count];
        *device = (struct inventory_device){.driver = index, .index = i};
        enum code code = device_info_from_json(json_array_get(list, i), &device->info, err);
        if (code != CODE_OK)
            return code;
        set_id(driver, device);
        inventory->device_count++;
        driver->device_count++;
    }
    return CODE_OK;
}

static void set_failure(struct inventory *inventory, struct inventory_driver *driver,
                        const struct error *err)
{
    driver->state = err->code == CODE_CRASHED   ? DRIVER_CRASHED
                    : err->code == CODE_TIMEOUT ? DRIVER_TIMEOUT
                                                : DRIVER_FAILED;
    struct text reason = {0};
    text_append(&reason, err->message);
    if (strcmp(driver->backend, "opencl") == 0 && text_starts_with(err->message, no_loader))
        snprintf(inventory->loader, sizeof inventory->loader, "%s", err->message);
    else
        hint_driver(driver, &reason);
    snprintf(driver->reason, sizeof driver->reason, "%s", text_string(&reason));
    text_release(&reason);
}

/* A driver that finds nothing often says why, where nobody looks. */
static void set_empty(struct inventory_driver *driver, const char *last_line)
{
    driver->state = DRIVER_EMPTY;
    struct text reason = {0};
    if (driver->platform[0] != '\0')
        text_printf(&reason, "platform '%s' gives no device", driver->platform);
    else
        text_append(&reason, "gives no device");
    if (last_line[0] != '\0')
        text_printf(&reason, "; it printed last: '%s'", last_line);
    hint_driver(driver, &reason);
    snprintf(driver->reason, sizeof driver->reason, "%s", text_string(&reason));
    text_release(&reason);
}

static enum code ask(struct listing *listing, const struct inventory_driver *driver,
                     struct library_file *file, json_t **reply, struct error *err)
{
    const struct worker_options options = {
        .backend = driver->backend,
        .library = driver->library[0] != '\0' ? driver->library : NULL,
        .cache_dir = listing->cache_dir[0] != '\0' ? listing->cache_dir : NULL,
    };
    struct worker *worker = NULL;
    enum code code = worker_start(&options, &worker, err);
    if (code != CODE_OK)
        return code;
    json_t *request = json_pack("{s:s}", "op", "list");
    code = worker_call(worker, request, listing->limit_ns, reply, err);
    json_decref(request);
    if (file != NULL)
        find_library_file(driver, worker_pid(worker), file);
    worker_last_line(worker, listing->last_line);
    worker_stop(worker);
    return code;
}

/* Any failure but an interruption is the driver's state. */
static enum code list_driver(struct listing *listing, size_t index, struct error *err)
{
    struct inventory *inventory = listing->inventory;
    struct inventory_driver *driver = &inventory->drivers[index];
    if (driver->state != DRIVER_OK)
        return CODE_OK; /* its registration is broken: there is nothing to load */
    size_t same_name = first_of_library(listing, index);
    if (same_name != index && inventory->drivers[same_name].state != DRIVER_OK) {
        set_duplicate(inventory, index, same_name); /* it would fail in the same way again */
        return CODE_OK;
    }
    json_t *reply = NULL;
    struct error reason = {0};
    enum code code = ask(listing, driver, &listing->files[index], &reply, &reason);
    if (code == CODE_INTERRUPTED)
        return error_set(err, code, 0, "interrupted while the devices were listed");
    if (code == CODE_OK)
        code = take_reply(inventory, index, reply, &reason);
    json_decref(reply);
    size_t first = first_of_library(listing, index);
    if (code != CODE_OK)
        set_failure(inventory, driver, &reason);
    else if (first != index)
        set_duplicate(inventory, index, first);
    else if (driver->device_count == 0)
        set_empty(driver, listing->last_line);
    return CODE_OK;
}

/* Where no driver was asked, nobody has noticed yet whether the loader itself is there. */
static enum code probe_loader(struct listing *listing, struct error *err)
{
    struct inventory *inventory = listing->inventory;
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const struct inventory_driver *driver = &inventory->drivers[i];
        if (strcmp(driver->backend, "opencl") == 0 &&
            (driver->state != DRIVER_FAILED || listing->files[i].known))
            return CODE_OK;
    }
    if (inventory->loader[0] != '\0' || backend_find("opencl") == NULL)
        return CODE_OK;
    const struct inventory_driver none = {.backend = "opencl"};
    json_t *reply = NULL;
    struct error reason = {0};
    enum code code = ask(listing, &none, NULL, &reply, &reason);
    json_decref(reply);
    if (code == CODE_INTERRUPTED)
        return error_set(err, code, 0, "interrupted while the devices were listed");
    if (code != CODE_OK && text_starts_with(reason.message, no_loader))
        snprintf(inventory->loader, sizeof inventory->loader, "%s", reason.message);
    return CODE_OK;
}

static void add_hints(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->device_count; i++) {
        struct inventory_device *device = &inventory->devices[i];
        struct text note = {0};
        text_append(&note, device->note);
        hint_device(&inventory->drivers[device->driver], &note);
        snprintf(device->note, sizeof device->note, "%s", text_string(&note));
        text_make_printable(device->note); /* a cut may have split a character */
        text_release(&note);
    }
}

enum code inventory_load(struct inventory **inventory, struct error *err)
{
    *inventory = memory_zeroed(1, sizeof **inventory);
    struct listing listing = {.inventory = *inventory, .limit_ns = list_limit_ns()};
    struct error no_scratch = {0};
    if (scratch_create(listing.cache_dir, &no_scratch) != CODE_OK)
        listing.cache_dir[0] = '\0'; /* the drivers then use their own; doctor names the reason */
    find_drivers(*inventory);
    listing.files = memory_zeroed((*inventory)->driver_count + 1, sizeof *listing.files);
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < (*inventory)->driver_count; i++)
        code = list_driver(&listing, i, err);
    if (code == CODE_OK)
        code = probe_loader(&listing, err);
    scratch_remove(listing.cache_dir);
    free(listing.files);
    if (code != CODE_OK) {
        inventory_destroy(*inventory);
        *inventory = NULL;
        return code;
    }
    inventory_identify(*inventory);
    add_hints(*inventory);
    return CODE_OK;
}

void inventory_destroy(struct inventory *inventory)
{
    if (inventory == NULL)
        return;
    for (size_t i = 0; i < inventory->device_count; i++)
        device_info_release(&inventory->devices[i].info);
    free(inventory->devices);
    free(inventory->drivers);
    free(inventory);
}

bool inventory_has_accelerator(const struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->device_count; i++)
        if (strcmp(inventory->drivers[inventory->devices[i].driver].backend, "host") != 0)
            return true;
    return false;
}
