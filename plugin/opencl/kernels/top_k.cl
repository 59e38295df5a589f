// The k largest of each row, in falling order, and where they are; of equal ones the first. NaN is
// above all. The prologue (ops/top_k.cc) defines operands X and O (the places), and FLOATS, or
// LANES for the largest alone, or KEYS.

#ifdef FLOATS
inline bool Before(X_C a, X_C b) { return b == b && (a != a || a > b); }
#else
inline bool Before(X_C a, X_C b) { return a > b; }
#endif

// A work-item for each row, which keeps the best so far in order.
__kernel void top_insert(TENSOR(const X_S, in), TENSOR(X_S, values), TENSOR(O_S, places),
                         const ulong rows, const uint columns, const uint k) {
  OPEN(in);
  OPEN(values);
  OPEN(places);
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  in += row * columns;
  values += row * k;
  places += row * k;
  uint count = 0;
  for (uint i = 0; i < columns; ++i) {
    const X_C v = X_GET(in, i);
    if (count == k && !Before(v, X_GET(values, k - 1))) continue;
    uint at = count < k ? count++ : k - 1;
    for (; at > 0 && Before(v, X_GET(values, at - 1)); --at) {
      values[at] = values[at - 1];
      places[at] = places[at - 1];
    }
    values[at] = in[i];
    O_PUT(places, at, i);
  }
}

#ifdef LANES
// The largest of each row as TensorFlow finds it: vectors of LANES pass over NaN, the rest does not.
__kernel void top_one(TENSOR(const X_S, in), TENSOR(X_S, values), TENSOR(O_S, places),
                      const ulong rows, const uint columns) {
  OPEN(in);
  OPEN(values);
  OPEN(places);
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  in += row * columns;
  X_C largest = (X_C)(-INFINITY), rest = (X_C)(-INFINITY);
  const uint in_lanes = columns / LANES * LANES;
  for (uint i = 0; i < in_lanes; ++i) largest = X_GET(in, i) > largest ? X_GET(in, i) : largest;
  for (uint i = in_lanes; i < columns; ++i) rest = rest > X_GET(in, i) ? rest : X_GET(in, i);
  if (!(largest > rest)) largest = rest;
  uint at = 0;
  while (at < columns && X_GET(in, at) != largest) ++at;
  if (at == columns) at = 0;
  values[row] = in[at];
  O_PUT(places, row, at);
}
#endif

#ifdef KEYS
// Keys in the order of the result: the falling order of a value's 32 bits, then its place. Rows are
// filled up to `size` keys.
__kernel void top_keys(TENSOR(const X_S, in), TENSOR(ulong, keys), const ulong count,
                       const uint columns, const uint size) {
  OPEN(in);
  OPEN(keys);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const uint i = at % size;
  ulong key = ULONG_MAX;
  if (i < columns) {
    const X_C v = X_GET(in, at / size * columns + i);
#ifdef FLOATS
    const uint bits = as_uint(v + 0);  // -0 becomes 0
    const uint order = v != v ? UINT_MAX : bits >> 31 ? ~bits : bits | 0x80000000u;
#else
    const uint order = (X_C)-1 < 0 ? (uint)v ^ 0x80000000u : (uint)v;
#endif
    key = (ulong)~order << 32 | i;
  }
  keys[at] = key;
}

__kernel void top_take(TENSOR(const X_S, in), TENSOR(const ulong, keys), TENSOR(X_S, values),
                       TENSOR(O_S, places), const ulong count, const uint columns, const uint size,
                       const uint k) {
  OPEN(in);
  OPEN(keys);
  OPEN(values);
  OPEN(places);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const uint from = keys[at / k * size + at % k] & UINT_MAX;
  values[at] = in[at / k * columns + from];
  O_PUT(places, at, from);
}
#endif
