// Elementwise kernels. The host writes the prologue (base/map.cc):
//   ARGUMENTS   the inputs, in0, in1, ...
//   NUMBERS     , const long n0, ...: further arguments
//   OPENS       OPEN(in0); ...
//   POSITIONS   const LENGTH at0 = ...: where in each input the element is
//   VALUES      const X0_C x0 = X0_GET(in0, at0); ...
//   BODY        sets r, of type O_C
//   LENGTH      uint or ulong
//   STEPS       elements of a work-item: loads of several wait for memory together
//   LOOP        if some input is no plain row of elements: a struct with `dims` and strides. ROWS: work-items
//               are (column, row); else one number is split into both.

__kernel void map(ARGUMENTS TENSOR(O_S, out) NUMBERS, const LENGTH count
#ifdef LOOP
                  , const LOOP loop
#endif
#ifdef REPORTS
                  , __global int *errors, const int number
#endif
) {
  OPENS
  OPEN(out);
#ifdef ROWS
  const LENGTH column = get_global_id(0), row = get_global_id(1);
  if (column >= COLUMNS) return;
  const LENGTH i = row * COLUMNS + column;
  POSITIONS
  VALUES
  O_C r;
  BODY
  O_PUT(out, i, r);
#else
  O_C results[STEPS];
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    const LENGTH i = get_global_id(0) + step * (LENGTH)get_global_size(0);
    if (i >= count) break;
#ifdef LOOP
    const LENGTH row = i / COLUMNS, column = i - row * COLUMNS;
#endif
    POSITIONS
    VALUES
    O_C r;
    BODY
    results[step] = r;
  }
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    const LENGTH i = get_global_id(0) + step * (LENGTH)get_global_size(0);
    if (i < count) O_PUT(out, i, results[step]);
  }
#endif
}
