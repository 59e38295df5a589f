// Softmax of rows, and losses over it. A work-group computes a row. The prologue (ops/softmax.cc)
// defines operand X, GROUP (its work-items), LANES (elements that a work-item takes at a time) and
// LOG (the logarithm is wanted). Sums are in X_C.

inline X_C Max(X_C a, X_C b) { return a != a || a > b ? a : b; }

// The maximum of what all work-items of the group have.
inline X_C GroupMax(X_C value, __local X_C *part) {
#if GROUP > 1
  const int item = get_local_id(0);
  part[item] = value;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) part[item] = Max(part[item], part[item + width]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  value = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  return value;
}

// The row's maximum, and the sum of exp(x - maximum).
inline X_C RowMax(__global const X_S *in, uint length, __local X_C *part) {
  const int item = get_local_id(0);
  X_C lane[LANES];
  for (int k = 0; k < LANES; ++k) lane[k] = (X_C)(-INFINITY);
  uint i = item * LANES;
  for (; i + LANES <= length; i += GROUP * LANES)
    for (int k = 0; k < LANES; ++k) lane[k] = Max(lane[k], X_GET(in, i + k));
  for (; i < length; ++i) lane[0] = Max(lane[0], X_GET(in, i));
  for (int k = 1; k < LANES; ++k) lane[0] = Max(lane[0], lane[k]);
  return GroupMax(lane[0], part);
}

inline X_C RowSum(__global const X_S *in, uint length, X_C most, __local X_C *part) {
  const int item = get_local_id(0);
  X_C lane[LANES];
  for (int k = 0; k < LANES; ++k) lane[k] = 0;
  uint i = item * LANES;
  for (; i + LANES <= length; i += GROUP * LANES)
    for (int k = 0; k < LANES; ++k) lane[k] += exp(X_GET(in, i + k) - most);
  for (; i < length; ++i) lane[0] += exp(X_GET(in, i) - most);
  for (int k = 1; k < LANES; ++k) lane[0] += lane[k];
  return GroupSum(lane[0], part);
}

__kernel void softmax(ROW_INPUTS TENSOR(X_S, out), const uint length ROW_LOOP) {
  __local X_C part[GROUP];
  const ulong row = get_group_id(0);
  OPEN(out);
  out += row * length;
  OPEN_ROWS(out, length)
  const X_C most = RowMax(in, length, part);
  const X_C sum = RowSum(in, length, most, part);
#ifdef LOG
  const X_C less = log(sum);
#define RESULT(x) ((x) - most - less)
#else
  const X_C scale = 1 / sum;
#define RESULT(x) (exp((x) - most) * scale)
#endif
  for (uint i = get_local_id(0); i < length; i += GROUP) X_PUT(out, i, RESULT(X_GET(in, i)));
}

// loss = -sum(labels * log_softmax(logits)); gradient = softmax(logits) - labels. A step of 0 repeats an
// operand over rows.
__kernel void cross_entropy(TENSOR(const X_S, logits), TENSOR(const X_S, labels), TENSOR(X_S, loss),
                            TENSOR(X_S, gradient), const uint length, const uint logits_step,
                            const uint labels_step) {
  __local X_C part[GROUP];
  OPEN(logits);
  OPEN(labels);
  OPEN(loss);
  OPEN(gradient);
  const ulong row = get_group_id(0);
  logits += row * logits_step;
  labels += row * labels_step;
  gradient += row * length;
  const X_C most = RowMax(logits, length, part);
  const X_C sum = RowSum(logits, length, most, part);
  const X_C less = log(sum);
  X_C lost = 0;
  for (uint i = get_local_id(0); i < length; i += GROUP) {
    const X_C x = X_GET(logits, i) - most, label = X_GET(labels, i);
    lost += label == 0 ? 0 : label * (less - x);
    X_PUT(gradient, i, exp(x) / sum - label);
  }
  lost = GroupSum(lost, part);
  if (get_local_id(0) == 0) X_PUT(loss, row, lost);
}

#ifdef L_S
// The same with one label for each row, by its number.
__kernel void sparse_cross_entropy(TENSOR(const X_S, logits), TENSOR(const L_S, labels),
                                   TENSOR(X_S, loss), TENSOR(X_S, gradient), const uint length,
                                   __global int *errors, const int number) {
  __local X_C part[GROUP];
  OPEN(logits);
  OPEN(labels);
  OPEN(loss);
  OPEN(gradient);
  const ulong row = get_group_id(0);
  logits += row * length;
  gradient += row * length;
  const X_C most = RowMax(logits, length, part);
  const X_C sum = RowSum(logits, length, most, part);
  const long label = L_GET(labels, row);
  const bool known = label >= 0 && label < length;
  for (uint i = get_local_id(0); i < length; i += GROUP)
    X_PUT(gradient, i, exp(X_GET(logits, i) - most) / sum - (i == label ? 1 : 0));
  if (get_local_id(0) != 0) return;
  if (!known) Report(errors, number, label);
  X_PUT(loss, row, known ? log(sum) + most - X_GET(logits, label) : (X_C)NAN);
}
#endif
