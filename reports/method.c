/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of the method. docs/methodology.md is the long form; this has to agree with it. */
#include "reports/method.h"

#include <stddef.h>

const struct method_item method_items[] = {
    {"The same work on every device",
     "Each case runs one kernel text, compiled by the device's own driver; the host baseline runs "
     "the same case as plain C on one "
     "core and on all cores. Inputs are random, never zeros, and the same on every device for one "
     "seed."},
    {"Rate",
     "Work divided by the median duration of a step. The work is the least that the definition of "
     "the case needs, whatever an "
     "implementation does. How bytes are counted stands beside each rate: read+write counts both "
     "ways of a kernel's data, payload "
     "counts what a copy delivers, once. Prefixes are decimal: 1 GB is 1,000,000,000 bytes."},
    {"Samples", "A sample is the time of a batch of steps divided by their number; the batch is "
                "long enough for the clock in use. After the "
                "warm-up, rounds of samples are taken until the 95 % interval of the median is as "
                "narrow as the policy asks for, or the "
                "case's time is used up: then the case is marked as not converged. Several devices "
                "of one run take turns, round by round, in "
                "random order, so that a change of the machine meets all of them."},
    {"Interval",
     "The 95 % interval of the median comes from a bootstrap that draws whole rounds, because "
     "samples of one round are not "
     "independent. In tables it is shortened to ± and its wider side, as a share of the rate."},
    {"Clock and waiting", "A device's own clock is used only if it kept step with the host's on "
                          "kernels of known length; else the host's clock is used "
                          "around a batch, and the device's sheet says why. A way of waiting for "
                          "the device is used only after data showed that it "
                          "really waited."},
    {"Verification", "Before and after the timing the whole output is compared with an independent "
                     "reference of higher precision; it is overwritten "
                     "with a pattern first, so that work that was not done is found. Without a "
                     "clean check no number is shown."},
    {"Not a number", "A case without a rate keeps its row, with its state and the reason. It "
                     "enters no mean. Means say over how many of how many "
                     "cases they are taken."},
    {"Implausible and not scaling",
     "A rate above a physical limit of the device, or a step that does not take twice as long for "
     "twice the work, is marked as such "
     "and never shown as a rate."},
    {"Remarks", "Not converged: the interval aimed at was not reached in the case's time. Two "
                "modes: the samples gather around two values, and the "
                "median may describe neither. Drift: later rounds were slower or faster than "
                "earlier ones. Fits in a cache: the rate is that of a "
                "cache, not of the memory. Host memory, no bus involved: the device works in the "
                "host's memory, so a copy to it crosses no link."},
    {NULL, NULL},
};

void method_verdicts(const struct report_input *input, struct text *out)
{
    double percent = 100 * input->difference;
    text_printf(
        out,
        "A ratio is the speed of the device over the speed of the base; above 1 the device is "
        "faster. faster or slower: the 95 %% interval of the ratio excludes 1, and the "
        "ratio differs by at least %g %%, the smallest difference that matters here. same: "
        "the whole interval lies within %g %%. undecided: neither; more or quieter samples "
        "are needed.",
        percent, percent);
}
