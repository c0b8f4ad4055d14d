/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that the build embeds in the binary: kernels, preludes, default configs, the style sheet
 * (cmake/embed.cmake). */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

struct embedded_file {
    const char *path; /* relative to the source tree, "suites/gemm/kernel.cl" */
    const char *text;
};

extern const struct embedded_file embedded_files[]; /* ends with {NULL, NULL} */

/* Text of the file with this path, NULL if none was embedded. */
const char *embedded_text(const char *path);

#endif
