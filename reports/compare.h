/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison of measured devices: pairs of records with the same case key, each with both medians,
 * the ratio with its interval, and a verdict; what is on one side only is listed, never averaged.
 * Used by `assay compare` and by every report. */
#ifndef REPORTS_COMPARE_H
#define REPORTS_COMPARE_H

#include "base/error.h"
#include "harness/record.h"
#include "harness/stats.h"

#include <stdbool.h>
#include <stddef.h>

/* One side: a device inside a result. */
struct compare_side {
    const struct result *result;
    const char *device; /* device id in that result */
};

struct compare_options {
    double difference; /* smallest difference that matters, a share */
    bool force;        /* judge pairs although build options or the like differ; the rows say so */
    bool partial;      /* accept files that are not complete */
};

enum compare_state {
    COMPARE_PAIRED,
    COMPARE_BASE_ONLY,
    COMPARE_OTHER_ONLY,
    COMPARE_NOT_COMPARABLE
};

struct compare_row {
    const char *key;
    enum compare_state state;
    const struct record *base, *other;          /* NULL where absent */
    struct summary base_summary, other_summary; /* of a side that is ok */
    struct ratio ratio;                         /* > 1: other is faster; only if both are ok */
    double floor; /* noise between the runs that the interval was widened by; 0 within one run */
    bool judged;  /* both ok, comparable and enough samples: interval and verdict hold */
    enum verdict verdict; /* TOO_FEW with judged false: the ratio is there, without an interval */
    char reason[256];     /* why not judged, or a warning that goes with the verdict */
};

struct comparison {
    struct compare_side base, other;
    struct compare_row *rows; /* in the order of base, then what only other has */
    size_t row_count;
    bool paired;           /* same run: rounds were measured next to each other */
    double noise_floor;    /* largest floor of a row; 0 within one run */
    double geometric_mean; /* of the ratios of judged rows; NaN if there are none */
    size_t judged_count, faster_count, slower_count, same_count, undecided_count;
    size_t missing_count; /* rows on one side only, or failed (not ok, not unsupported) on a side */
    size_t refused_count; /* rows that must not be compared */
    char warnings[1024]; /* lines for the head: drivers differ, incomplete file, identical input, …
                          */
};

/* CODE_INCOMPARABLE for files that are not complete, unless options->partial. Pairs that must not
 * be compared (build options, bytes counted, ECC, …) become rows of state COMPARE_NOT_COMPARABLE
 * whose reason names the field and both values, unless options->force; suite version, tier and size
 * are part of the key, so such rows stand on one side only, and their reason says what differs.
 * A device id that the result lacks is CODE_USAGE. The rows borrow from the results. */
enum code compare_sides(const struct compare_side *base, const struct compare_side *other,
                        const struct compare_options *options, struct comparison **comparison,
                        struct error *err);
void comparison_destroy(struct comparison *comparison);

enum { COMPARE_TEXT_BYTES = 128 };
/* The verdict in words: "1.32 times as fast", "20 % slower", "1/40 as fast", "same", "undecided",
 * or "" for a row that is not judged. */
char *compare_words(const struct compare_row *row, char out[COMPARE_TEXT_BYTES]);
/* A ratio with enough digits to carry a verdict: "1.320", "12.31", "0.0123"; "n/a" for what is not
 * finite. */
char *compare_format_ratio(double ratio, char out[COMPARE_TEXT_BYTES]);

/* Devices of two results that are the same thing, or the same model. */
enum { COMPARE_PAIRS_MAX = 64 };
struct device_pair {
    const char *base, *other;      /* device ids */
    char note[COMPARE_TEXT_BYTES]; /* how they were paired when not by identity; "" else */
};
/* Pairs by UUID, then by physical place and name, then by normalised name; what is left over stays
 * unpaired, but for one device against one. Returns the number of pairs. */
size_t compare_pair_devices(const struct result *base, const struct result *other,
                            struct device_pair pairs[COMPARE_PAIRS_MAX]);
/* A device name without "(R)", "(TM)", a leading "NVIDIA ", blanks in a row and a feature suffix
 * (":sramecc+:xnack-", which goes into suffix). Cut to capacity. */
enum { DEVICE_NAME_BYTES = 256 };
void compare_normalise_name(const char *name, char normal[DEVICE_NAME_BYTES],
                            char suffix[DEVICE_NAME_BYTES]);

#endif
