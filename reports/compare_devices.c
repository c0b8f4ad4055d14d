/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device of one result is which of another: by identity where both tell it, by name with a
 * note where they do not; see compare.h. */
#include "reports/compare.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Length of a mark at text that is left out of names, 0 if there is none. */
static size_t mark_length(const char *text)
{
    static const char *const marks[] = {"(R)", "(r)",      "(TM)",        "(tm)",
                                        "(C)", "\xc2\xae", "\xe2\x84\xa2"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (text_starts_with(text, marks[i]))
            return strlen(marks[i]);
    return 0;
}

/* True for a feature suffix such as ":sramecc+:xnack-": words, each ended by a sign. */
static bool is_feature_suffix(const char *text)
{
    while (*text == ':') {
        size_t word = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (word == 0 || (text[1 + word] != '+' && text[1 + word] != '-'))
            return false;
        text += word + 2;
    }
    return *text == '\0';
}

void compare_normalise_name(const char *name, char normal[DEVICE_NAME_BYTES],
                            char suffix[DEVICE_NAME_BYTES])
{
    size_t used = 0;
    suffix[0] = '\0';
    if (strncmp(name, "NVIDIA ", 7) == 0)
        name += 7;
    while (*name != '\0' && used + 2 < DEVICE_NAME_BYTES) {
        size_t mark = mark_length(name);
        if (mark > 0) {
            name += mark;
            continue;
        }
        if (*name == ':' && is_feature_suffix(name)) {
            snprintf(suffix, DEVICE_NAME_BYTES, "%s", name);
            break;
        }
        bool blank = isspace((unsigned char)*name) != 0;
        if (!blank)
            normal[used++] = *name;
        else if (used > 0 && normal[used - 1] != ' ')
            normal[used++] = ' ';
        name++;
    }
    while (used > 0 && normal[used - 1] == ' ')
        used--;
    normal[used] = '\0';
}

static bool same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* "opencl" of "opencl:pocl:0": one card has an entry for each API. */
static bool same_api(const struct result_device *a, const struct result_device *b)
{
    size_t length = strcspn(a->id, ":");
    return length == strcspn(b->id, ":") && strncmp(a->id, b->id, length) == 0;
}

static bool same_model(const struct result_device *a, const struct result_device *b)
{
    char left[DEVICE_NAME_BYTES], right[DEVICE_NAME_BYTES], suffix[DEVICE_NAME_BYTES];
    compare_normalise_name(a->name, left, suffix);
    compare_normalise_name(b->name, right, suffix);
    return text_equal_ignoring_case(left, right);
}

enum way { WAY_UUID, WAY_PHYSICAL, WAY_NAME, WAY_UUID_OTHER_API, WAY_COUNT };

/* The host's rows are one core and all cores on one CPU: there the id is what tells them apart. */
static bool devices_match(enum way way, const struct result_device *a,
                          const struct result_device *b)
{
    bool host = text_starts_with(a->id, "host:") || text_starts_with(b->id, "host:");
    if (host && strcmp(a->id, b->id) != 0)
        return false;
    switch (way) {
    case WAY_UUID:
        return same_api(a, b) && same_text(a->uuid, b->uuid) &&
               strcmp(a->platform, b->platform) == 0;
    case WAY_PHYSICAL:
        return same_api(a, b) && same_text(a->physical, b->physical) &&
               strcmp(a->name, b->name) == 0;
    case WAY_NAME:
        return same_api(a, b) && same_model(a, b);
    case WAY_UUID_OTHER_API:
        return same_text(a->uuid, b->uuid);
    case WAY_COUNT:
        break;
    }
    return false;
}

static void describe_way(enum way way, const struct result_device *a, const struct result_device *b,
                         char note[COMPARE_TEXT_BYTES])
{
    note[0] = '\0';
    if (way == WAY_UUID_OTHER_API)
        snprintf(note, COMPARE_TEXT_BYTES, "one card through two APIs");
    else if (way == WAY_NAME && a->uuid != NULL && b->uuid != NULL)
        snprintf(note, COMPARE_TEXT_BYTES, "paired by name: another card of the same model");
    else if (way == WAY_NAME)
        snprintf(note, COMPARE_TEXT_BYTES, "paired by name: the identity of a card is not known");
    else if (way == WAY_COUNT)
        snprintf(note, COMPARE_TEXT_BYTES, "paired as the only device of each");
}

/* Two runs may hold the same model several times: each device is used once, in order. */
struct pairing {
    const struct result *base, *other;
    struct device_pair *pairs;
    size_t count;
};

static bool is_taken(const struct pairing *pairing, const char *id, bool base)
{
    for (size_t i = 0; i < pairing->count; i++)
        if (strcmp(base ? pairing->pairs[i].base : pairing->pairs[i].other, id) == 0)
            return true;
    return false;
}

static void add_pair(struct pairing *pairing, enum way way, const struct result_device *a,
                     const struct result_device *b)
{
    struct device_pair *pair = &pairing->pairs[pairing->count++];
    pair->base = a->id;
    pair->other = b->id;
    describe_way(way, a, b, pair->note);
}

static void pair_one_way(struct pairing *pairing, enum way way)
{
    for (size_t i = 0; i < pairing->base->device_count; i++) {
        const struct result_device *a = &pairing->base->devices[i];
        for (size_t j = 0; j < pairing->other->device_count; j++) {
            const struct result_device *b = &pairing->other->devices[j];
            if (pairing->count == COMPARE_PAIRS_MAX || is_taken(pairing, a->id, true))
                break;
            if (!is_taken(pairing, b->id, false) && devices_match(way, a, b))
                add_pair(pairing, way, a, b);
        }
    }
}

size_t compare_pair_devices(const struct result *base, const struct result *other,
                            struct device_pair pairs[COMPARE_PAIRS_MAX])
{
    struct pairing pairing = {.base = base, .other = other, .pairs = pairs};
    for (int way = 0; way < WAY_COUNT; way++)
        pair_one_way(&pairing, (enum way)way);
    if (pairing.count == 0 && base->device_count == 1 && other->device_count == 1)
        add_pair(&pairing, WAY_COUNT, &base->devices[0], &other->devices[0]);
    return pairing.count;
}
