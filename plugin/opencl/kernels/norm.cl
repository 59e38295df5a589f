// Normalization of rows, or of channels over everything else. The prologue (ops/normalization.cc) defines
// operand X, GROUP and LANES as softmax.cl has them; sums are in X_C.

// (x - mean) / sqrt(variance + epsilon) * scale + offset over each row; a work-group computes a row.
__kernel void layer_norm(ROW_INPUTS TENSOR(const X_S, scale), TENSOR(const X_S, offset),
                         TENSOR(X_S, out), const uint length, const float epsilon ROW_LOOP) {
  __local X_C part[GROUP];
  const int item = get_local_id(0);
  const ulong row = get_group_id(0);
  OPEN(scale);
  OPEN(offset);
  OPEN(out);
  out += row * length;
  OPEN_ROWS(out, length)
  X_C lane[LANES];
  for (int k = 0; k < LANES; ++k) lane[k] = 0;
  uint i = item * LANES;
  for (; i + LANES <= length; i += GROUP * LANES)
    for (int k = 0; k < LANES; ++k) lane[k] += X_GET(in, i + k);
  for (; i < length; ++i) lane[0] += X_GET(in, i);
  for (int k = 1; k < LANES; ++k) lane[0] += lane[k];
  const X_C mean = GroupSum(lane[0], part) / length;
  for (int k = 0; k < LANES; ++k) lane[k] = 0;
  for (i = item * LANES; i + LANES <= length; i += GROUP * LANES) {
    for (int k = 0; k < LANES; ++k) {
      const X_C d = X_GET(in, i + k) - mean;
      lane[k] += d * d;
    }
  }
  for (; i < length; ++i) lane[0] += (X_GET(in, i) - mean) * (X_GET(in, i) - mean);
  for (int k = 1; k < LANES; ++k) lane[0] += lane[k];
  const X_C factor = 1 / sqrt(GroupSum(lane[0], part) / length + (X_C)epsilon);
  for (i = item; i < length; i += GROUP)
    X_PUT(out, i, (X_GET(in, i) - mean) * factor * X_GET(scale, i) + X_GET(offset, i));
}

// Mean and variance of each channel of [outer, channels, inner], which has outer * inner = rows elements of each; a
// work-group computes a channel. The variance that is given out divides by rows - 1, the one in `saved` by rows.
__kernel void channel_moments(TENSOR(const X_S, in), TENSOR(float, mean), TENSOR(float, variance),
                              TENSOR(float, saved), const uint rows, const uint channels,
                              const uint inner) {
  __local X_C part[GROUP];
  OPEN(in);
  OPEN(mean);
  OPEN(variance);
  OPEN(saved);
  const uint channel = get_group_id(0);
  in += (ulong)channel * inner;
#define ELEMENT(i) X_GET(in, (ulong)((i) / inner) * channels * inner + (i) % inner)
  X_C sum = 0;
  for (uint i = get_local_id(0); i < rows; i += GROUP) sum += ELEMENT(i);
  const X_C middle = GroupSum(sum, part) / rows;
  sum = 0;
  for (uint i = get_local_id(0); i < rows; i += GROUP) {
    const X_C d = ELEMENT(i) - middle;
    sum += d * d;
  }
  sum = GroupSum(sum, part);
  if (get_local_id(0) != 0) return;
  mean[channel] = middle;
  saved[channel] = sum / rows;
  variance[channel] = rows > 1 ? sum / (rows - 1) : sum;
}

// Of a batch norm: for each channel the gradients of scale and offset, and what its gradient for the
// input is made of: factor * (gradient - shift - (in - mean) * slope). Without `training` mean and
// variance are constants. rows, channels and inner are those of channel_moments.
__kernel void channel_gradients(TENSOR(const X_S, gradient), TENSOR(const X_S, in),
                                TENSOR(const float, scale), TENSOR(const float, mean),
                                TENSOR(const float, variance), TENSOR(float, scale_gradient),
                                TENSOR(float, offset_gradient), TENSOR(float, parts),
                                const uint rows, const uint channels, const uint inner,
                                const float epsilon, const int training) {
  __local X_C part[GROUP];
  OPEN(gradient);
  OPEN(in);
  OPEN(scale);
  OPEN(mean);
  OPEN(variance);
  OPEN(scale_gradient);
  OPEN(offset_gradient);
  OPEN(parts);
  const uint channel = get_group_id(0);
  gradient += (ulong)channel * inner;
  in += (ulong)channel * inner;
  const X_C middle = mean[channel];
  // Sums of two floats: what the first one lost in rounding is in the second.
  X_C sum = 0, centered = 0, lost = 0, centered_lost = 0;
  for (uint i = get_local_id(0); i < rows; i += GROUP) {
    const ulong at = (ulong)(i / inner) * channels * inner + i % inner;
    const X_C dy = X_GET(gradient, at), product = dy * (X_GET(in, at) - middle);
    const X_C y = dy - lost, next = sum + y;
    lost = (next - sum) - y;
    sum = next;
    const X_C z = product - centered_lost, after = centered + z;
    centered_lost = (after - centered) - z;
    centered = after;
  }
  sum = GroupSum(sum, part);
  centered = GroupSum(centered, part);
  if (get_local_id(0) != 0) return;
  const float square = variance[channel] + epsilon, deviation = sqrt(square);
  scale_gradient[channel] = centered / deviation;
  offset_gradient[channel] = sum;
  parts[channel] = scale[channel] / deviation;
  parts[channels + channel] = training ? sum / rows : 0;
  parts[2 * channels + channel] = training ? centered / rows / square : 0;
}
