/* SPDX-License-Identifier: Apache-2.0
 *
 * The host backend passes the same checks as every other, on one core and on all. */
#include "tests/backends/conformance.h"

int main(void)
{
    int failed = 0;
    conformance.backend = "host";
    for (conformance.index = 0; conformance.index < 2; conformance.index++)
        failed += conformance_run(conformance.index == 0 ? "backends/host one core"
                                                         : "backends/host all cores");
    return failed;
}
