/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of a run share: run.c (the loop over cases), run_case.c (one case on all lanes),
 * run_header.c and run_record.c (the lines of the file). */
#ifndef HARNESS_RUN_PARTS_H
#define HARNESS_RUN_PARTS_H

#include "base/clock.h"
#include "harness/lane.h"
#include "harness/occupancy.h"
#include "harness/run.h"
#include "harness/sentinel.h"
#include "harness/stats.h"
#include "harness/topology.h"

enum { RUN_REASON_BYTES = 512, RUN_ROUNDS_MAX = 256 };

/* Ceilings of the host's processors; 0 unknown. */
struct run_ceilings {
    double operations_per_s, bytes_per_s;
    uint64_t last_cache_bytes;
};

struct run {
    const struct run_options *options;
    struct run_outcome *outcome;
    struct lane *lanes;
    size_t lane_count;
    struct run_ceilings ceilings;
    struct sentinel *sentinel;
    size_t done, total;
    uint64_t begin_ns;
    uint64_t shuffle; /* state of the generator that orders the devices in a round */
};

/* One case on one lane while it is measured. */
struct trial {
    struct lane *lane;
    bool wanted;  /* not in the resumed file */
    bool running; /* prepared, and its rounds go on */
    enum state state;
    char reason[RUN_REASON_BYTES];
    json_t *prepared; /* reply of prepare; NULL before */
    json_t *after;    /* reply of finish */
    double *ns;       /* all samples, rounds one after another */
    size_t sample_count, sample_room;
    size_t round_begin[RUN_ROUNDS_MAX + 1];
    size_t round_count;
    json_t *phases; /* {name: {"unit": "ns", "rounds": [[…]]}} */
    json_t *sentinel_compute, *sentinel_vector, *sentinel_memory;
    json_t *telemetry_reason;
    uint64_t rejected;
    char host_clock_why[RUN_REASON_BYTES]; /* the case is repeated on the host's clock; "" it is not
                                            */
    bool converged;
    bool crowded;         /* the devices' buffers do not fit this machine's memory side by side */
    double foreign_share; /* of the processors that others took during the rounds; NaN unknown */
    uint64_t measured_ns; /* spent in rounds */
    uint64_t begin_ns;
    char started[CLOCK_STAMP_BYTES];
};

/* Measures the case on all lanes where it is wanted, and appends the records. CODE_INTERRUPTED:
 * dropped, nothing was written; CODE_IO. */
enum code run_case(struct run *run, const struct case_spec *spec, struct error *err);

/* Header, record, end lines; the caller owns them. */
json_t *run_header(const struct run *run, const struct topology *topology);
json_t *run_record(const struct run *run, const struct case_spec *spec, const struct trial *trial);
json_t *run_end(bool complete, const char *reason, size_t records);
/* Above the ceiling that is known for the device: sets the trial's state. */
void run_judge_plausible(const struct run *run, const struct case_spec *spec, struct trial *trial);
struct samples trial_samples(const struct trial *trial);

void run_tell(const struct run *run, enum run_stage stage, const struct lane *lane, const char *key,
              size_t round, const json_t *record);

#endif
