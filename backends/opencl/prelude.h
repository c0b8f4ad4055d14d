/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel dialect, OpenCL side: this text stands before every kernel file when it is built for
 * OpenCL. Another backend has a prelude of its own that defines the same names. A kernel file uses
 * these names, C99 and nothing else: no '#if' on the backend, no generic address space, no variadic
 * call. Of the language's functions these are in the dialect: fma (one rounding), mad (fused or
 * not, whichever is fast), exp, sqrt, fabs, fmin, fmax, and min and max of integers. Needs OpenCL C
 * 1.2 and nothing more. */
#ifndef ASSAY_PRELUDE_H
#define ASSAY_PRELUDE_H

/* f64 exists only with "-D FP64" among the build options. */
#ifdef FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

/* KERNEL void name(GLOBAL const f32 *a, GLOBAL f32 *out, u32 n); DEVICE_FN f32 name(LOCAL f32 *t);
 * LOCAL_ARRAY(f32, tile, TILE * TILE); stands at the outermost level of a kernel. */
#define KERNEL __kernel
#define DEVICE_FN static inline
#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define LOCAL_ARRAY(type, name, count) __local type name[count]

typedef uchar u8;
typedef int i32;
typedef uint u32;
typedef ulong u64;
typedef float f32;
#ifdef FP64
typedef double f64;
typedef double4 f64x4;
typedef double8 f64x8;
#endif

/* + - * work element by element, u8x16 modulo 256; elements are .s0 .s1 … .s9 .sa … .sf */
typedef float4 f32x4;
typedef float8 f32x8;
typedef float16 f32x16;
typedef uchar16 u8x16;
typedef uint4 u32x4;

/* u64; d is 0, 1 or 2. */
#define global_id(d) ((u64)get_global_id(d))
#define group_id(d) ((u64)get_group_id(d))
#define local_id(d) ((u64)get_local_id(d))
#define global_size(d) ((u64)get_global_size(d))
#define local_size(d) ((u64)get_local_size(d))
#define group_count(d) ((u64)get_num_groups(d))
/* All work-items of the group; makes local memory visible among them. */
#define local_barrier() barrier(CLK_LOCAL_MEM_FENCE)

#define splat_f32x4(x) ((f32x4)(x))
#define splat_f32x8(x) ((f32x8)(x))
#define splat_f32x16(x) ((f32x16)(x))
#define splat_u8x16(x) ((u8x16)(x))
#define splat_u32x4(x) ((u32x4)(x))
#define splat_f64x4(x) ((f64x4)(x))
#define splat_f64x8(x) ((f64x8)(x))
#define make_f32x4(a, b, c, d) ((f32x4)((a), (b), (c), (d)))
#define make_u32x4(a, b, c, d) ((u32x4)((a), (b), (c), (d)))

/* Vector i of p: elements N * i, N * i + 1, …; p must be aligned to the vector. A vector behind a
 * cast pointer is one wide access; vloadN promises the element's alignment alone, and some
 * compilers split it. */
#define load_f32x4(p, i) (((GLOBAL const f32x4 *)(p))[i])
#define load_f32x8(p, i) (((GLOBAL const f32x8 *)(p))[i])
#define load_f32x16(p, i) (((GLOBAL const f32x16 *)(p))[i])
#define load_u8x16(p, i) (((GLOBAL const u8x16 *)(p))[i])
#define load_u32x4(p, i) (((GLOBAL const u32x4 *)(p))[i])
#define store_f32x4(p, i, v) ((void)(((GLOBAL f32x4 *)(p))[i] = (v)))
#define store_f32x8(p, i, v) ((void)(((GLOBAL f32x8 *)(p))[i] = (v)))
#define store_f32x16(p, i, v) ((void)(((GLOBAL f32x16 *)(p))[i] = (v)))
#define store_u8x16(p, i, v) ((void)(((GLOBAL u8x16 *)(p))[i] = (v)))
#define store_u32x4(p, i, v) ((void)(((GLOBAL u32x4 *)(p))[i] = (v)))

/* Elements e, e + 1, … of p, at any alignment. */
#define load_any_f32x4(p, e) vload4(0, (p) + (e))
#define load_any_f32x8(p, e) vload8(0, (p) + (e))
#define load_any_f32x16(p, e) vload16(0, (p) + (e))
#define load_any_u8x16(p, e) vload16(0, (p) + (e))
#define load_any_u32x4(p, e) vload4(0, (p) + (e))
#define load_any_f64x4(p, e) vload4(0, (p) + (e))
#define load_any_f64x8(p, e) vload8(0, (p) + (e))
#define store_any_f32x4(p, e, v) vstore4((v), 0, (p) + (e))
#define store_any_f32x8(p, e, v) vstore8((v), 0, (p) + (e))
#define store_any_f32x16(p, e, v) vstore16((v), 0, (p) + (e))
#define store_any_u8x16(p, e, v) vstore16((v), 0, (p) + (e))
#define store_any_u32x4(p, e, v) vstore4((v), 0, (p) + (e))
#define store_any_f64x4(p, e, v) vstore4((v), 0, (p) + (e))
#define store_any_f64x8(p, e, v) vstore8((v), 0, (p) + (e))

/* As load_f32x4 and store_f32x4, in local memory. */
#define load_local_f32x4(p, i) (((LOCAL const f32x4 *)(p))[i])
#define store_local_f32x4(p, i, v) ((void)(((LOCAL f32x4 *)(p))[i] = (v)))

/* As load_u8x16 and store_u8x16, in local memory. */
#define load_local_u8x16(p, i) (((LOCAL const u8x16 *)(p))[i])
#define store_local_u8x16(p, i, v) ((void)(((LOCAL u8x16 *)(p))[i] = (v)))

/* Elements 1 to 15 of v, then x. */
#define shift_in_u8x16(v, x) ((u8x16)((v).s123, (v).s4567, (v).s89abcdef, (x)))

#endif
