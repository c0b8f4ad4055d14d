/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of compare.c: what makes a pair of records incomparable or worth a word, the noise floor of
 * a pair, and the lines for the head. For reports/compare*.c only. */
#ifndef REPORTS_COMPARE_PARTS_H
#define REPORTS_COMPARE_PARTS_H

#include "reports/compare.h"

#include "base/text.h"

/* Appends "build options differ: none and -cl-fast-relaxed-math; …" for all that forbids judging
 * the pair. Nothing if it may be judged. */
void pair_refusal(const struct comparison *comparison, const struct record *base,
                  const struct record *other, struct text *out);
/* Appends what goes with a verdict: other kernel text, other clock, no bus on one side. */
void pair_remarks(const struct record *base, const struct record *other, struct text *out);
/* Appends in what the nearest unmatched record of the other side differs ("'m': 512 and 1024"),
 * this side first. Nothing if there is none that differs in three things or fewer. */
void pair_near_miss(const struct record *record, const struct compare_side *side,
                    const struct compare_side *matched, struct text *out);
/* Relative noise between two runs for this pair; see docs/methodology.md, "Comparing". */
double pair_noise_floor(const struct comparison *comparison, const struct record *base,
                        const struct record *other);
/* Lines for the head: identical input, swapped order, drivers, hosts, tool versions and so on that
 * differ. */
void comparison_warnings(const struct comparison *comparison, struct text *out);

#endif
