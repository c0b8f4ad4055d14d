/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection of devices by name (docs/devices.md). Strict: what is ambiguous, misspelt or out of
 * range is an error that lists the choices, never a guess at another device. */
#include "base/quantity.h"
#include "harness/inventory_parts.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 12 };

struct selection {
    const struct inventory *inventory;
    bool *chosen; /* one a device */
    const char *text;
    char shown[TEXT_CLIP_BYTES]; /* text, for messages */
    struct error *err;
};

typedef bool fits_function(const struct inventory *inventory, const struct inventory_device *device,
                           const char *text);

static const struct inventory_driver *driver_of(const struct inventory *inventory,
                                                const struct inventory_device *device)
{
    return &inventory->drivers[device->driver];
}

static bool fits_all(const struct inventory *inventory, const struct inventory_device *device,
                     const char *text)
{
    (void)inventory;
    (void)text;
    return !device->duplicate;
}

static bool fits_type(const struct inventory *inventory, const struct inventory_device *device,
                      const char *text)
{
    (void)inventory;
    return !device->duplicate &&
           text_equal_ignoring_case(device_type_name(device->info.type), text);
}

static bool fits_backend(const struct inventory *inventory, const struct inventory_device *device,
                         const char *text)
{
    return !device->duplicate &&
           text_equal_ignoring_case(driver_of(inventory, device)->backend, text);
}

static bool fits_id(const struct inventory *inventory, const struct inventory_device *device,
                    const char *text)
{
    (void)inventory;
    return text_equal_ignoring_case(device->info.id, text);
}

static bool fits_name(const struct inventory *inventory, const struct inventory_device *device,
                      const char *text)
{
    (void)inventory;
    return !device->duplicate && text_equal_ignoring_case(device->info.name, text);
}

static bool fits_part(const struct inventory *inventory, const struct inventory_device *device,
                      const char *text)
{
    (void)inventory;
    return !device->duplicate && (text_contains_ignoring_case(device->info.name, text) ||
                                  text_contains_ignoring_case(device->info.id, text));
}

static size_t count_fitting(const struct inventory *inventory, fits_function *fits,
                            const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < inventory->device_count; i++)
        count += fits(inventory, &inventory->devices[i], text) ? 1 : 0;
    return count;
}

static size_t choose(const struct selection *selection, fits_function *fits, const char *text)
{
    const struct inventory *inventory = selection->inventory;
    size_t count = 0;
    for (size_t i = 0; i < inventory->device_count; i++) {
        if (fits(inventory, &inventory->devices[i], text)) {
            selection->chosen[i] = true;
            count++;
        }
    }
    return count;
}

/* "opencl:pocl:0 (pthread-…), host:one (…)" of what fits, at most twelve. */
static void append_choices(const struct inventory *inventory, fits_function *fits, const char *text,
                           struct text *out)
{
    size_t count = 0;
    char name[TEXT_CLIP_BYTES];
    for (size_t i = 0; i < inventory->device_count; i++) {
        const struct inventory_device *device = &inventory->devices[i];
        if (!fits(inventory, device, text))
            continue;
        if (count < CHOICES_MAX)
            text_printf(out, "%s%s (%s)", count > 0 ? ", " : "", device->info.id,
                        text_clip(device->info.name, name));
        count++;
    }
    if (count > CHOICES_MAX)
        text_printf(out, " and %zu more", count - CHOICES_MAX);
    if (count == 0)
        text_append(out, "none");
}

/* "device 'TEXT': <what>; devices here: …" */
static enum code refuse(const struct selection *selection, enum code code, const char *what)
{
    struct text choices = {0};
    append_choices(selection->inventory, fits_all, "", &choices);
    error_set(selection->err, code, 0, "device '%s': %s; devices here: %s", selection->shown, what,
              text_string(&choices));
    text_release(&choices);
    return code;
}

static bool is_digits(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static bool is_backend(const struct inventory *inventory, const char *name, size_t length)
{
    const struct backend *const *backends = backend_all();
    for (size_t i = 0; backends[i] != NULL; i++)
        if (strlen(backends[i]->name) == length && strncmp(backends[i]->name, name, length) == 0)
            return true;
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const char *known = inventory->drivers[i].backend;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return true;
    }
    return false;
}

static enum code refuse_absent(const struct selection *selection, const char *backend)
{
    struct text reason = {0};
    if (strcmp(backend, "opencl") == 0)
        inventory_explain(selection->inventory, &reason);
    else
        text_printf(&reason, "no %s device", backend);
    enum code code = refuse(selection, CODE_NOTHING, text_string(&reason));
    text_release(&reason);
    return code;
}

/* The index-th device that fits, counted in inventory order; range is how the valid ones are
 * written. */
static enum code choose_nth(const struct selection *selection, fits_function *fits,
                            const char *text, const char *digits, const char *range)
{
    const struct inventory *inventory = selection->inventory;
    size_t count = count_fitting(inventory, fits, text);
    uint64_t wanted = 0;
    struct text what = {0};
    if (quantity_parse_count(digits, &wanted, NULL) != CODE_OK && digits[0] == '0') {
        text_printf(&what, "'%s' is no index: leading zeros are not allowed", digits);
    } else if (wanted >= count || strlen(digits) > 18) {
        if (count == 1)
            text_printf(&what, "out of range: only %s:0 is there", range);
        else
            text_printf(&what, "out of range: %s:0 to %s:%zu are there", range, range, count - 1);
    }
    if (what.length > 0) {
        enum code code = refuse(selection, CODE_USAGE, text_string(&what));
        text_release(&what);
        return code;
    }
    for (size_t i = 0, seen = 0; i < inventory->device_count; i++)
        if (fits(inventory, &inventory->devices[i], text) && seen++ == wanted)
            selection->chosen[i] = true;
    return CODE_OK;
}

/* The driver of a backend with this name, or with this number among the backend's drivers; NULL if
 * there is none. */
static const struct inventory_driver *find_driver(const struct inventory *inventory,
                                                  const char *backend, const char *name)
{
    uint64_t number = 0;
    bool numeric = quantity_parse_count(name, &number, NULL) == CODE_OK;
    const struct inventory_driver *by_number = NULL;
    uint64_t position = 0;
    for (size_t i = 0; i < inventory->driver_count; i++) {
        const struct inventory_driver *driver = &inventory->drivers[i];
        if (strcmp(driver->backend, backend) != 0)
            continue;
        if (text_equal_ignoring_case(driver->name, name))
            return driver;
        if (numeric && position++ == number)
            by_number = driver;
    }
    return by_number;
}

static enum code refuse_driver(const struct selection *selection, const char *backend,
                               const char *name)
{
    const struct inventory *inventory = selection->inventory;
    const char **names = memory_zeroed(inventory->driver_count + 1, sizeof *names);
    struct text what = {0};
    char shown[TEXT_CLIP_BYTES];
    size_t count = 0;
    text_printf(&what, "no %s driver '%s' here; drivers: ", backend, text_clip(name, shown));
    for (size_t i = 0; i < inventory->driver_count; i++) {
        if (strcmp(inventory->drivers[i].backend, backend) != 0)
            continue;
        text_printf(&what, "%s%s", count > 0 ? ", " : "", inventory->drivers[i].name);
        names[count++] = inventory->drivers[i].name;
    }
    const char *nearest = text_nearest(name, names);
    if (nearest != NULL)
        text_printf(&what, "; did you mean '%s:%s'?", backend, nearest);
    free(names);
    enum code code = refuse(selection, count > 0 ? CODE_USAGE : CODE_NOTHING, text_string(&what));
    text_release(&what);
    return code;
}

static bool fits_driver(const struct inventory *inventory, const struct inventory_device *device,
                        const char *text)
{
    const struct inventory_driver *driver = driver_of(inventory, device);
    size_t length = strlen(driver->backend);
    return strncmp(text, driver->backend, length) == 0 && text[length] == ':' &&
           strcmp(text + length + 1, driver->name) == 0;
}

/* "opencl:P" and "opencl:P:N": digits is NULL for the first. */
static enum code select_of_driver(const struct selection *selection, const char *backend,
                                  const char *name, const char *digits)
{
    const struct inventory_driver *driver = find_driver(selection->inventory, backend, name);
    if (driver == NULL)
        return refuse_driver(selection, backend, name);
    struct text full = {0};
    enum code code;
    if (driver->device_count == 0) {
        text_printf(&full, "driver '%s' has no device: %s", driver->name, driver->reason);
        code = refuse(selection, CODE_NOTHING, text_string(&full));
    } else if (digits == NULL && driver->state == DRIVER_DUPLICATE) {
        text_printf(&full, "driver '%s' %s; name a device by its id to measure it all the same",
                    driver->name, driver->reason);
        code = refuse(selection, CODE_USAGE, text_string(&full));
    } else {
        text_printf(&full, "%s:%s", driver->backend, driver->name);
        const char *range = text_string(&full);
        code = digits != NULL ? choose_nth(selection, fits_driver, range, digits, range) : CODE_OK;
        if (digits == NULL)
            choose(selection, fits_driver, range);
    }
    text_release(&full);
    return code;
}

/* rest is what follows "BACKEND:". */
static enum code select_of_backend(const struct selection *selection, const char *backend,
                                   char *rest)
{
    if (count_fitting(selection->inventory, fits_backend, backend) == 0)
        return refuse_absent(selection, backend);
    if (rest[0] == '\0')
        return refuse(selection, CODE_USAGE, "nothing follows the colon");
    if (is_digits(rest))
        return choose_nth(selection, fits_backend, backend, rest, backend);
    char *colon = strrchr(rest, ':');
    if (colon == NULL)
        return select_of_driver(selection, backend, rest, NULL);
    *colon = '\0';
    if (!is_digits(colon + 1))
        return refuse(selection, CODE_USAGE, "an index has to follow the last colon");
    return select_of_driver(selection, backend, rest, colon + 1);
}

static enum code refuse_unknown(const struct selection *selection)
{
    static const char forms[] =
        "the forms are all, host, opencl, opencl:N, opencl:DRIVER, opencl:DRIVER:N, cpu, gpu, "
        "accelerator, or a part of a name or id";
    static const char *const words[] = {"all", "host", "opencl", "cpu", "gpu", "accelerator", NULL};
    char *head = text_duplicate(selection->text);
    char *colon = strchr(head, ':');
    if (colon != NULL)
        *colon = '\0';
    const char *nearest = text_nearest(head, words);
    struct text what = {0};
    if (colon != NULL)
        text_printf(&what, "no backend of this build is called '%s'", head);
    else
        text_append(&what, "no name or id here contains that");
    if (nearest != NULL && strcmp(nearest, head) != 0)
        text_printf(&what, "; did you mean '%s'?", nearest);
    if (colon != NULL)
        text_printf(&what, "; %s", forms);
    enum code code =
        refuse(selection, colon != NULL ? CODE_USAGE : CODE_NOTHING, text_string(&what));
    text_release(&what);
    free(head);
    return code;
}

static enum code select_part(const struct selection *selection)
{
    const struct inventory *inventory = selection->inventory;
    fits_function *fits =
        count_fitting(inventory, fits_name, selection->text) > 0 ? fits_name : fits_part;
    size_t count = count_fitting(inventory, fits, selection->text);
    if (count == 0)
        return refuse_unknown(selection);
    if (count == 1) {
        choose(selection, fits, selection->text);
        return CODE_OK;
    }
    struct text choices = {0};
    append_choices(inventory, fits, selection->text, &choices);
    enum code code = error_set(selection->err, CODE_USAGE, 0,
                               "device '%s' is ambiguous, it fits %zu devices: %s; give an id",
                               selection->shown, count, text_string(&choices));
    text_release(&choices);
    return code;
}

static bool is_type(const char *text)
{
    return text_equal_ignoring_case(text, "cpu") || text_equal_ignoring_case(text, "gpu") ||
           text_equal_ignoring_case(text, "accelerator");
}

static enum code select_one(const struct selection *selection)
{
    const struct inventory *inventory = selection->inventory;
    const char *text = selection->text;
    if (text[0] == '\0')
        return refuse(selection, CODE_USAGE, "the selector is empty");
    if (choose(selection, fits_id, text) > 0)
        return CODE_OK;
    if (text_equal_ignoring_case(text, "all"))
        return choose(selection, fits_all, text) > 0
                   ? CODE_OK
                   : refuse(selection, CODE_NOTHING, "there is none");
    if (is_type(text))
        return choose(selection, fits_type, text) > 0
                   ? CODE_OK
                   : refuse(selection, CODE_NOTHING, "no device of this type");
    if (is_digits(text[0] == '-' || text[0] == '+' ? text + 1 : text))
        return refuse(selection, CODE_USAGE, "a bare number names no device: write opencl:0");
    size_t head = strcspn(text, ":");
    if (!is_backend(inventory, text, head))
        return select_part(selection);
    char *copy = text_duplicate(text);
    char *rest = text[head] == ':' ? copy + head + 1 : NULL;
    copy[head] = '\0';
    enum code code = CODE_OK;
    if (rest != NULL)
        code = select_of_backend(selection, copy, rest);
    else if (choose(selection, fits_backend, copy) == 0)
        code = refuse_absent(selection, copy);
    free(copy);
    return code;
}

enum code inventory_select(const struct inventory *inventory, const char *const *selectors,
                           size_t count, size_t *selected, size_t *selected_count,
                           struct error *err)
{
    static const char *const all[] = {"all"};
    if (count == 0) {
        selectors = all;
        count = 1;
    }
    *selected_count = 0;
    struct selection selection = {
        .inventory = inventory,
        .chosen = memory_zeroed(inventory->device_count + 1, sizeof *selection.chosen),
        .err = err,
    };
    enum code code = CODE_OK;
    for (size_t i = 0; code == CODE_OK && i < count; i++) {
        selection.text = selectors[i];
        text_clip(selectors[i], selection.shown);
        code = select_one(&selection);
    }
    for (size_t i = 0; code == CODE_OK && i < inventory->device_count; i++)
        if (selection.chosen[i])
            selected[(*selected_count)++] = i;
    free(selection.chosen);
    return code;
}
