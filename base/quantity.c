/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units, read and written; see quantity.h. Reading is exact integer arithmetic and
 * asks no locale. */
#include "base/quantity.h"

#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit byte_units[] = {
    {"B", 1},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
};
static const struct unit time_units[] = {
    {"ns", 1},         {"us", 1000},         {"ms", 1000000},
    {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000},
};
static const struct unit share_units[] = {{"%", 1}};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

enum { DECIMALS_MAX = 18, SHARE_DECIMALS_MAX = 6 };
static const uint64_t duration_max_ns = 30ull * 24 * 3600 * 1000000000;

/* A plain decimal number, whole + fraction / scale with 0 <= fraction < scale and scale a power of
 * ten. */
struct decimal {
    uint64_t whole, fraction, scale;
    int decimals; /* without trailing zeros */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits from *text on; false if the number passes 64 bits. */
static bool take_digits(const char **text, uint64_t *value)
{
    *value = 0;
    for (; is_digit(**text); (*text)++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

static enum code refuse(struct error *err, const char *text, const char *why)
{
    char shown[TEXT_CLIP_BYTES];
    return error_set(err, CODE_CONFIG, 0, "'%s': %s", text_clip(text, shown), why);
}

static enum code refuse_number(struct error *err, const char *text, const char *example)
{
    char why[128];
    if (example == NULL)
        return refuse(err, text, "expected a plain decimal number");
    snprintf(why, sizeof why, "expected a plain decimal number and a unit, such as %s", example);
    return refuse(err, text, why);
}

/* Whole digits without a leading zero, moving *rest behind them. example: NULL where no unit is
 * expected. */
static enum code take_whole(const char *text, const char **rest, uint64_t *whole,
                            const char *example, struct error *err)
{
    if (!is_digit(text[0]) || (text[0] == '0' && is_digit(text[1])))
        return refuse_number(err, text, example);
    *rest = text;
    if (!take_digits(rest, whole))
        return refuse(err, text, "the number passes 64 bits (18446744073709551615)");
    return CODE_OK;
}

enum code quantity_parse_count(const char *text, uint64_t *count, struct error *err)
{
    const char *rest = text;
    uint64_t value = 0;
    enum code code = take_whole(text, &rest, &value, NULL, err);
    if (code != CODE_OK)
        return code;
    if (*rest != '\0')
        return refuse_number(err, text, NULL);
    *count = value;
    return CODE_OK;
}

/* Digits after the point at *rest, trailing zeros dropped. */
static enum code take_fraction(const char *text, const char **rest, struct decimal *number,
                               const char *example, struct error *err)
{
    const char *begin = ++*rest;
    while (is_digit(**rest))
        (*rest)++;
    const char *end = *rest;
    char why[128];
    snprintf(why, sizeof why, "expected digits after the point, such as %s", example);
    if (end == begin)
        return refuse(err, text, why);
    while (end > begin && end[-1] == '0')
        end--;
    if (end - begin > DECIMALS_MAX)
        return refuse(err, text, "more than 18 decimals");
    for (const char *digit = begin; digit < end; digit++) {
        number->fraction = number->fraction * 10 + (uint64_t)(*digit - '0');
        number->scale *= 10;
        number->decimals++;
    }
    return CODE_OK;
}

/* The unit called name; a message with the nearest spelling in why if there is none. */
static const struct unit *find_unit(const char *name, const struct unit *units, size_t count,
                                    char *why, size_t why_bytes)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, units[i].name) == 0)
            return &units[i];
    struct text list = {0};
    const char *same = NULL;
    for (size_t i = 0; i < count; i++) {
        text_printf(&list, "%s%s", i > 0 ? ", " : "", units[i].name);
        if (text_equal_ignoring_case(name, units[i].name))
            same = units[i].name;
    }
    char shown[TEXT_CLIP_BYTES];
    text_clip(name, shown);
    if (units == byte_units && strlen(name) == 1 && strchr("kKMGT", name[0]) != NULL)
        snprintf(why, why_bytes, "the unit '%s' is ambiguous, expected %c%s (1000) or %c%s (1024)",
                 name, name[0] == 'K' ? 'k' : name[0], "B", name[0] == 'k' ? 'K' : name[0], "iB");
    else if (same != NULL)
        snprintf(why, why_bytes, "unknown unit '%s', did you mean '%s'?", shown, same);
    else
        snprintf(why, why_bytes, "unknown unit '%s', expected one of: %s", shown,
                 text_string(&list));
    text_release(&list);
    return NULL;
}

/* A letter (any that is not ASCII too: "µs" is a unit, if an unknown one) or the per cent sign. */
static bool starts_unit(char c)
{
    return c == '%' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* A decimal number, an optional blank, and one of units. example: "64 MiB". */
static enum code parse_with_unit(const char *text, const struct unit *units, size_t count,
                                 const char *example, struct decimal *number, uint64_t *factor,
                                 struct error *err)
{
    char why[512];
    const char *rest = text;
    *number = (struct decimal){.scale = 1};
    enum code code = take_whole(text, &rest, &number->whole, example, err);
    if (code == CODE_OK && *rest == '.')
        code = take_fraction(text, &rest, number, example, err);
    if (code != CODE_OK)
        return code;
    if (*rest == '\0') {
        snprintf(why, sizeof why, "the unit is missing, expected a number such as %s", example);
        return refuse(err, text, why);
    }
    if (*rest == ' ')
        rest++;
    if (!starts_unit(*rest))
        return refuse_number(err, text, example);
    const struct unit *unit = find_unit(rest, units, count, why, sizeof why);
    if (unit == NULL)
        return refuse(err, text, why);
    *factor = unit->factor;
    return CODE_OK;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* number * factor if that is whole, above 0 and at most 64 bits. part: "byte". */
static enum code multiply(const char *text, struct decimal number, uint64_t factor,
                          const char *part, uint64_t *product, struct error *err)
{
    char why[128];
    uint64_t divisor = greatest_divisor(number.fraction, number.scale);
    assert(divisor > 0); /* scale is */
    if (factor % (number.scale / divisor) != 0) {
        snprintf(why, sizeof why, "not a whole number of %ss", part);
        return refuse(err, text, why);
    }
    uint64_t fraction = number.fraction / divisor * (factor / (number.scale / divisor));
    if (number.whole > (UINT64_MAX - fraction) / factor) {
        snprintf(why, sizeof why, "more than 18446744073709551615 %ss", part);
        return refuse(err, text, why);
    }
    *product = number.whole * factor + fraction;
    if (*product == 0)
        return refuse(err, text, "expected more than 0");
    return CODE_OK;
}

enum code quantity_parse_bytes(const char *text, uint64_t *bytes, struct error *err)
{
    struct decimal number;
    uint64_t factor = 0, product = 0;
    enum code code = parse_with_unit(text, byte_units, COUNT_OF(byte_units), "64 MiB or 64 MB",
                                     &number, &factor, err);
    if (code == CODE_OK)
        code = multiply(text, number, factor, "byte", &product, err);
    if (code == CODE_OK)
        *bytes = product;
    return code;
}

enum code quantity_parse_duration_ns(const char *text, uint64_t *ns, struct error *err)
{
    struct decimal number;
    uint64_t factor = 0, product = 0;
    enum code code = parse_with_unit(text, time_units, COUNT_OF(time_units), "3 s or 500 ms",
                                     &number, &factor, err);
    if (code == CODE_OK)
        code = multiply(text, number, factor, "nanosecond", &product, err);
    if (code == CODE_OK && product > duration_max_ns)
        code = refuse(err, text, "more than 30 days (720 h), the limit");
    if (code == CODE_OK)
        *ns = product;
    return code;
}

enum code quantity_parse_share(const char *text, double *share, struct error *err)
{
    struct decimal number;
    uint64_t factor = 0;
    enum code code = parse_with_unit(text, share_units, COUNT_OF(share_units), "2 % or 0.5 %",
                                     &number, &factor, err);
    if (code != CODE_OK)
        return code;
    if (number.decimals > SHARE_DECIMALS_MAX)
        return refuse(err, text, "more than 6 decimals");
    if (number.whole > 100 || (number.whole == 100 && number.fraction > 0))
        return refuse(err, text, "more than 100 %");
    /* Both sides are whole numbers below 2^53, so the one division gives the nearest double: "2 %"
     * is 0.02. */
    *share = (double)(number.whole * number.scale + number.fraction) / (double)(number.scale * 100);
    return CODE_OK;
}
