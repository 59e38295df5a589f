// Elements by index. The prologue (ops/selection.cc) defines E, an unsigned integer of the element's size, or
// operand X, and the indices' operand L, of which a row has DEPTH.

#ifdef E
// out[batch, outer, n, inner] = params[batch, outer, indices[batch, n], inner].
__kernel void gather(TENSOR(const E, params), TENSOR(const L_S, indices), TENSOR(E, out),
                     const ulong count, const uint outer, const uint size, const uint n,
                     const uint inner, __global int *errors, const int number) {
  OPEN(params);
  OPEN(indices);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const ulong row = at / inner;
  const uint k = row % n;
  const ulong slab = row / n;  // batch * outer + outer's number
  const long index = L_GET(indices, slab / outer * n + k);
  const bool inside = index >= 0 && index < size;
  if (!inside) Report(errors, number, index);
  out[at] = inside ? params[(slab * size + index) * inner + at % inner] : 0;
}

// The leading dimensions of params.
typedef struct {
  long of[DEPTH];
} Sizes;

// A row of indices names a slice of params: out[n, slice] = params[indices[n, 0], ..., slice].
__kernel void gather_nd(TENSOR(const E, params), TENSOR(const L_S, indices), TENSOR(E, out),
                        const ulong count, const uint slice, const uint depth,
                        const Sizes sizes, __global int *errors, const int number) {
  OPEN(params);
  OPEN(indices);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const ulong row = at / slice;
  ulong from = 0;
  bool inside = true;
  for (uint d = 0; d < depth; ++d) {
    const long index = L_GET(indices, row * depth + d);
    inside = inside && index >= 0 && index < sizes.of[d];
    from = from * sizes.of[d] + (inside ? index : 0);
  }
  if (!inside) Report(errors, number, (long)row);
  out[at] = inside ? params[from * slice + at % slice] : 0;
}
#endif

#ifdef X_S
// The number of the largest (BETTER(a, b) is a > b) or smallest element along the middle of [outer, size, inner];
// the first of equal ones. NaN is never better.
__kernel void arg_best(TENSOR(const X_S, in), TENSOR(O_S, out), const ulong count, const uint size,
                       const uint inner) {
  OPEN(in);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  in += at / inner * size * inner + at % inner;
  X_C best = X_GET(in, 0);
  uint found = 0;
  for (uint i = 1; i < size; ++i) {
    const X_C v = X_GET(in, (ulong)i * inner);
    if (BETTER(v, best)) {
      best = v;
      found = i;
    }
  }
  O_PUT(out, at, found);
}
#endif
