/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons as a table for people and as JSON for scripts. */
#ifndef CLI_COMPARE_OUTPUT_H
#define CLI_COMPARE_OUTPUT_H

#include "base/text.h"
#include "reports/compare.h"

/* note says how the two devices were paired; "" for nothing to say. */
void compare_write_table(const struct comparison *comparison, const char *note, double difference,
                         struct text *out);
void compare_write_json(struct comparison *const *comparisons, size_t count, double difference,
                        struct text *out);

#endif
