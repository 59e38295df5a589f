// Reductions of the middle of [outer, length, inner]. The prologue (ops/reduction.cc) defines operands X
// and O, and
//   A              the type of an accumulator
//   INIT           of nothing
//   TAKE(v)        an accumulator of one element
//   COMBINE(a, b)  of two
//   FINISH(a)      the result; `total` is the number of elements in it
//   GROUP          work-items in a work-group of reduce_rows
//   LANES          independent accumulators of one work-item, for the vector unit of a CPU
// With MAPPED (base/map.h) the elements of reduce_rows come from a map.
// A long reduction has chunks: this kernel leaves one accumulator for each, and runs again over them.

inline A Lanes(const A *lane) {
  A sum = lane[0];
  for (int k = 1; k < LANES; ++k) sum = COMBINE(sum, lane[k]);
  return sum;
}

#ifdef MAPPED
#define ADD(sum, k)                    \
  {                                    \
    M_C element;                       \
    MAP_ELEMENT(k, element)            \
    sum = COMBINE(sum, TAKE(element)); \
  }
#else
#define ADD(sum, k) sum = COMBINE(sum, TAKE(X_GET(in, k)));
#endif

// A work-group for each (row, chunk); inner is 1.
__kernel void reduce_rows(ROW_INPUTS TENSOR(O_S, out), const ulong length, const ulong chunk,
                          const uint chunks, const ulong total ROW_LOOP) {
  const size_t group = get_group_id(0);
  const int item = get_local_id(0);
  const ulong row = group / chunks;
  OPEN_INPUTS(length)
  OPEN(out);
  const ulong begin = group % chunks * chunk;
  const ulong end = min(begin + chunk, length);
  A lane[LANES];
  for (int k = 0; k < LANES; ++k) lane[k] = INIT;
  ulong i = begin + item * LANES;
  for (; i + LANES <= end; i += GROUP * LANES)
    for (int k = 0; k < LANES; ++k) ADD(lane[k], i + k)
  for (; i < end; ++i) ADD(lane[0], i)
  A sum = Lanes(lane);
#if GROUP > 1
  __local A part[GROUP];
  part[item] = sum;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) part[item] = COMBINE(part[item], part[item + width]);
  }
  sum = part[0];
#endif
  if (item == 0) O_PUT(out, group, FINISH(sum));
}

// A work-item for each (outer, chunk, inner).
__kernel void reduce_columns(TENSOR(const X_S, in), TENSOR(O_S, out), const ulong length,
                             const ulong chunk, const uint chunks, const ulong total,
                             const uint inner, const ulong count) {
  OPEN(in);
  OPEN(out);
  const ulong i = get_global_id(0);
  if (i >= count) return;
  const ulong rest = i / inner;
  in += rest / chunks * length * inner + i % inner;
  const ulong begin = rest % chunks * chunk;
  const ulong end = min(begin + chunk, length);
  A sum = INIT;
  for (ulong k = begin; k < end; ++k) sum = COMBINE(sum, TAKE(X_GET(in, k * inner)));
  O_PUT(out, i, FINISH(sum));
}
