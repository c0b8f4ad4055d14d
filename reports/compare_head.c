/* SPDX-License-Identifier: Apache-2.0
 *
 * What a reader has to know before the first row of a comparison: is it the same run, what differs
 * between the two machines, which of the two is older; see compare_parts.h. */
#include "reports/compare_parts.h"

#include <stdio.h>
#include <string.h>

static const char *header_text(const struct result *result, const char *group, const char *name)
{
    const json_t *object = group != NULL ? json_object_get(result->header, group) : result->header;
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "unknown";
}

static void line_if_differs(struct text *out, const char *what, const char *base, const char *other)
{
    if (strcmp(base, other) != 0)
        text_printf(out, "%s: %s and %s\n", what, base, other);
}

static void state_of_files(const struct comparison *comparison, struct text *out)
{
    const struct result *sides[] = {comparison->base.result, comparison->other.result};
    for (size_t i = 0; i < 2; i++)
        if (!sides[i]->complete && (i == 0 || sides[1] != sides[0]))
            text_printf(out, "'%s' is incomplete: %zu of %zu planned records\n", sides[i]->path,
                        sides[i]->record_count,
                        json_array_size(json_object_get(sides[i]->header, "planned")));
}

static void compare_runs(const struct comparison *comparison, struct text *out)
{
    const struct result *base = comparison->base.result, *other = comparison->other.result;
    if (comparison->paired) {
        if (strcmp(comparison->base.device, comparison->other.device) == 0)
            text_append(out, "identical input: both sides are the same device of the same run\n");
        return;
    }
    const char *created = header_text(base, NULL, "created");
    const char *later = header_text(other, NULL, "created");
    if (strcmp(later, created) < 0) /* ISO 8601 in UTC sorts by time */
        text_printf(out,
                    "the other was measured before the base (%s, %s): is the order of the two as "
                    "you mean it?\n",
                    later, created);
    line_if_differs(out, "tool versions differ", header_text(base, "tool", "version"),
                    header_text(other, "tool", "version"));
    line_if_differs(out, "hosts differ", header_text(base, "host", "hostname"),
                    header_text(other, "host", "hostname"));
    line_if_differs(out, "host CPUs differ", header_text(base, "host", "cpu"),
                    header_text(other, "host", "cpu"));
    line_if_differs(out, "kernels differ", header_text(base, "host", "kernel"),
                    header_text(other, "host", "kernel"));
    line_if_differs(out, "seeds differ", header_text(base, NULL, "seed"),
                    header_text(other, NULL, "seed"));
    if (comparison->noise_floor > 0.0)
        text_printf(out,
                    "the two were not measured side by side: intervals of host-bound rows are "
                    "widened by up to %.1f %% for the noise of the machines\n",
                    comparison->noise_floor * 100.0);
}

static void compare_devices(const struct comparison *comparison, struct text *out)
{
    const struct result_device *base =
        result_device_find(comparison->base.result, comparison->base.device);
    const struct result_device *other =
        result_device_find(comparison->other.result, comparison->other.device);
    char left[DEVICE_NAME_BYTES], right[DEVICE_NAME_BYTES];
    char left_suffix[DEVICE_NAME_BYTES], right_suffix[DEVICE_NAME_BYTES];
    compare_normalise_name(base->name, left, left_suffix);
    compare_normalise_name(other->name, right, right_suffix);
    if (!text_equal_ignoring_case(left, right))
        text_printf(out, "device models differ: %s and %s\n", base->name, other->name);
    else
        line_if_differs(out, "device features differ",
                        left_suffix[0] != '\0' ? left_suffix : "none",
                        right_suffix[0] != '\0' ? right_suffix : "none");
    line_if_differs(out, "drivers differ", base->driver, other->driver);
    if (base->software != other->software)
        text_printf(out, "the %s is a CPU that runs OpenCL in software\n",
                    base->software ? "base" : "other");
}

void comparison_warnings(const struct comparison *comparison, struct text *out)
{
    state_of_files(comparison, out);
    compare_runs(comparison, out);
    compare_devices(comparison, out);
    if (out->length > 0)
        out->bytes[--out->length] = '\0';
}
