/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the attention suite share: the kernels' arguments and their plain C forms. */
#ifndef SUITES_ATTENTION_ATTENTION_H
#define SUITES_ATTENTION_ATTENTION_H

#include "backends/backend.h"

enum {
    PRODUCT_ARG_A,
    PRODUCT_ARG_B,
    PRODUCT_ARG_C,
    PRODUCT_ARG_M,
    PRODUCT_ARG_N,
    PRODUCT_ARG_K,
    PRODUCT_ARG_FIRST,
    PRODUCT_ARG_SCALE,
    PRODUCT_ARG_HEADS, /* heads of the launch */
};
enum { SOFTMAX_ARG_IN, SOFTMAX_ARG_OUT, SOFTMAX_ARG_ROWS, SOFTMAX_ARG_COLUMNS };

/* attention_product and attention_softmax of kernel.cl. */
extern const struct host_kernel attention_host_kernels[];

#endif
