// Running sums, products and the like along the middle of [outer, length, inner]; a work-item scans
// one line. The prologue (ops/scan.cc) defines operand X, INIT, COMBINE(sum, v), ROUND (of `sum`).

__kernel void scan(TENSOR(const X_S, in), TENSOR(X_S, out), const ulong lines, const uint length,
                   const uint inner, const int exclusive, const int reverse) {
  OPEN(in);
  OPEN(out);
  const ulong line = get_global_id(0);
  if (line >= lines) return;
  const ulong first = line / inner * length * inner + line % inner;
  X_C sum = INIT;
  for (uint k = 0; k < length; ++k) {
    const ulong at = first + (ulong)(reverse ? length - 1 - k : k) * inner;
    const X_C before = sum, v = X_GET(in, at);
    sum = COMBINE(sum, v);
    ROUND
    X_PUT(out, at, exclusive ? before : sum);
  }
}
