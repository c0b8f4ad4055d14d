/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the gemm suite share: the kernels' arguments and their plain C forms. */
#ifndef SUITES_GEMM_GEMM_H
#define SUITES_GEMM_GEMM_H

#include "backends/backend.h"

enum { GEMM_ARG_A, GEMM_ARG_B, GEMM_ARG_C, GEMM_ARG_M, GEMM_ARG_N, GEMM_ARG_K };

/* gemm_f32 and gemm_f64 of kernel.cl. */
extern const struct host_kernel gemm_host_kernels[];

#endif
