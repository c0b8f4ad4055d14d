/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of report formats, generated from reports/formats/. */
#include "reports/format.h"

#include <string.h>

#include "format_table.inc"

const struct report_format *const *report_format_all(void)
{
    return format_table;
}

const struct report_format *report_format_find(const char *name)
{
    for (const struct report_format *const *format = format_table; *format != NULL; format++)
        if (strcmp((*format)->name, name) == 0)
            return *format;
    return NULL;
}
