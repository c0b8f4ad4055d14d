/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIVERSION before a leaf function: the compiler makes one copy for each vector width and the
 * loader picks the one that the CPU has, so that a binary built on one machine is a fair baseline
 * on another. MULTIVERSION_FUSED is the same for a leaf whose multiplies and adds may be fused, as
 * they may in a device kernel, and which begins with FUSE_PRODUCTS; never for a reference. A leaf
 * has no OpenMP region in it and is called for a large enough piece of work that the call does not
 * matter. */
#ifndef SUITES_MULTIVERSION_H
#define SUITES_MULTIVERSION_H

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#define MULTIVERSION_FMA __attribute__((target_clones("avx512f", "fma", "default")))
#endif
#endif
#ifndef MULTIVERSION
#define MULTIVERSION
#define MULTIVERSION_FMA
#endif

#if defined(__clang__)
#define MULTIVERSION_FUSED MULTIVERSION_FMA
#define FUSE_PRODUCTS _Pragma("clang fp contract(fast)")
#elif defined(__GNUC__)
#define MULTIVERSION_FUSED MULTIVERSION_FMA __attribute__((optimize("fp-contract=fast")))
#define FUSE_PRODUCTS
#else
#define MULTIVERSION_FUSED MULTIVERSION_FMA
#define FUSE_PRODUCTS
#endif

#endif
