/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units as tables show them; see quantity.h. Must not know which table. */
#include "base/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static char *not_available(char out[QUANTITY_BYTES])
{
    memcpy(out, "n/a", sizeof "n/a");
    return out;
}

/* Decimals that give value, 0 <= value, three significant digits; six at most. */
static int decimals_of(double value)
{
    /* Where rounding reaches the next digit: 9.995 is shown as 10.0. */
    static const double limits[] = {99.95, 9.995, 0.9995, 0.09995, 0.009995, 0.0009995};
    int decimals = 0;
    while (decimals < (int)COUNT_OF(limits) && value < limits[decimals])
        decimals++;
    return decimals;
}

/* Scales value down by base until it is shown with at most three digits before the point (four for
 * base 1024). */
static size_t scale_down(double *value, double base, size_t last)
{
    size_t index = 0;
    for (; index < last && *value >= base - 0.5; index++)
        *value /= base;
    return index;
}

char *quantity_format_si(double value, const char *unit, char out[QUANTITY_BYTES])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    if (!isfinite(value))
        return not_available(out);
    double magnitude = fabs(value);
    const char *sign = value < 0 ? "-" : "";
    size_t prefix = scale_down(&magnitude, 1000, COUNT_OF(prefixes) - 1);
    if (magnitude >= 1e6 || (magnitude < 1e-3 && magnitude > 0))
        snprintf(out, QUANTITY_BYTES, "%s%.3g %s%s", sign, magnitude, prefixes[prefix], unit);
    else if (value == 0)
        snprintf(out, QUANTITY_BYTES, "0 %s", unit);
    else
        snprintf(out, QUANTITY_BYTES, "%s%.*f %s%s", sign, decimals_of(magnitude), magnitude,
                 prefixes[prefix], unit);
    return out;
}

char *quantity_format_bytes(uint64_t bytes, char out[QUANTITY_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = bytes < 1024 ? 0 : scale_down(&value, 1024, COUNT_OF(units) - 1);
    snprintf(out, QUANTITY_BYTES, "%.*f %s", unit == 0 ? 0 : decimals_of(value), value,
             units[unit]);
    return out;
}

static char *format_long(double seconds, const char *sign, char out[QUANTITY_BYTES])
{
    if (seconds >= 1e12)
        snprintf(out, QUANTITY_BYTES, "%s%.3g h", sign, seconds / 3600);
    else if (seconds < 3599.5) {
        unsigned whole = (unsigned)(seconds + 0.5);
        snprintf(out, QUANTITY_BYTES, whole % 60 > 0 ? "%s%u min %u s" : "%s%u min", sign,
                 whole / 60, whole % 60);
    } else {
        uint64_t minutes = (uint64_t)(seconds / 60 + 0.5);
        unsigned rest = (unsigned)(minutes % 60);
        snprintf(out, QUANTITY_BYTES, rest > 0 ? "%s%llu h %u min" : "%s%llu h", sign,
                 (unsigned long long)(minutes / 60), rest);
    }
    return out;
}

char *quantity_format_duration(double ns, char out[QUANTITY_BYTES])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    if (!isfinite(ns))
        return not_available(out);
    double value = fabs(ns);
    const char *sign = ns < 0 ? "-" : "";
    if (value >= 59.95e9)
        return format_long(value / 1e9, sign, out);
    size_t unit = scale_down(&value, 1000, COUNT_OF(units) - 1);
    /* A whole number of the unit is a setting, not a measurement: "3 s", not "3.00 s". */
    int decimals = value == floor(value) ? 0 : decimals_of(value);
    snprintf(out, QUANTITY_BYTES, "%s%.*f %s", sign, decimals, value, units[unit]);
    return out;
}

char *quantity_format_change(double change, char out[QUANTITY_BYTES])
{
    if (!isfinite(change))
        return not_available(out);
    double percent = fabs(change) * 100;
    const char *sign = change < 0 ? "\u2212" : "+";
    if (percent < 0.05)
        snprintf(out, QUANTITY_BYTES, "0.0 %%");
    else if (percent < 1e9)
        snprintf(out, QUANTITY_BYTES, "%s%.1f %%", sign, percent);
    else
        snprintf(out, QUANTITY_BYTES, "%s%.3g %%", sign, percent);
    return out;
}

char *quantity_format_count(uint64_t count, char out[QUANTITY_BYTES])
{
    char digits[QUANTITY_BYTES];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *target = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *target++ = ',';
        *target++ = digits[i];
    }
    *target = '\0';
    return out;
}
