// What every kernel file shares. The prologue that the host puts before it defines, for each operand
// <R>: <R>_S (stored type), <R>_C (computed type), <R>_U (the computed type in which sums wrap),
// <R>_GET(p, i) and <R>_PUT(p, i, v).

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifndef PRODUCTS_MAY_FUSE
#pragma OPENCL FP_CONTRACT OFF
#endif

// A tensor is two arguments: memory, and the index of its first element.
#define TENSOR(type, name) __global type *name, const ulong name##_at
#define OPEN(name) name += name##_at

#define GET_PLAIN(p, i) ((p)[i])
#define PUT_PLAIN(p, i, v) ((p)[i] = (v))
#define GET_BOOL(p, i) ((p)[i] != 0)
#define PUT_BOOL(p, i, v) ((p)[i] = (uchar)((v) ? 1 : 0))
// Devices without arithmetic in half can still load and store it.
#define GET_HALF(p, i) vload_half(i, p)
#define PUT_HALF(p, i, v) vstore_half_rte((float)(v), i, p)
#define GET_BF16(p, i) as_float((uint)(p)[i] << 16)
#define PUT_BF16(p, i, v) ((p)[i] = ToBfloat16((float)(v)))

// Rounds to nearest, ties to even; NaN stays NaN.
inline ushort ToBfloat16(float value) {
  const uint bits = as_uint(value);
  if (value != value) return 0x7fc0;
  return (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// A value as a store and a load would leave it.
inline float RoundToHalf(float value) {
  ushort bits;
  vstore_half_rte(value, 0, (__private half *)&bits);
  return vload_half(0, (__private const half *)&bits);
}
inline float RoundToBfloat16(float value) { return as_float((uint)ToBfloat16(value) << 16); }

// Reports that something is wrong with `value`. The first report of all wins; the host knows what
// `number` means.
inline void Report(__global int *errors, int number, long value) {
  if (atomic_cmpxchg(&errors[0], 0, number) != 0) return;
  errors[2] = (int)(value & 0xffffffff);
  errors[3] = (int)(value >> 32);
}

#if defined(GROUP) && defined(X_S)
// The sum of what all work-items of the group have, for kernels of GROUP work-items a group.
inline X_C GroupSum(X_C value, __local X_C *part) {
#if GROUP > 1
  const int item = get_local_id(0);
  part[item] = value;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) part[item] += part[item + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  value = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  return value;
}
#endif

// Rows of a tensor `in`, or with MAPPED (base/map.h) of a map, which go to `out` first: there each
// work-item finds what it has put there itself. Of a group of GROUP work-items each takes every
// GROUP-th element, or one takes all.
#ifdef MAPPED
#define ROW_INPUTS MAP_ARGUMENTS
#define ROW_LOOP MAP_LOOP
#define OPEN_INPUTS(length) MAP_OPENS
#define OPEN_ROWS(out, length)                                                                   \
  OPEN_INPUTS(length)                                                                            \
  for (uint k = get_local_id(0); k < length; k += GROUP) {                                       \
    M_C element;                                                                                 \
    MAP_ELEMENT(k, element)                                                                      \
    X_PUT(out, k, element);                                                                      \
  }                                                                                              \
  __global const X_S *in = out;
#else
#define ROW_INPUTS TENSOR(const X_S, in),
#define ROW_LOOP
#define OPEN_INPUTS(length) \
  OPEN(in);                 \
  in += row * length;
#define OPEN_ROWS(out, length) OPEN_INPUTS(length)
#endif
