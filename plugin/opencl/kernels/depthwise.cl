// Depthwise convolutions of [n, height, width, channels] by [window, window, channels, multiplier].
// A work-item computes one result. The prologue (ops/convolution.cc) defines operand X and the
// epilogue, or (ops/depthwise_gradients.cc) GRADIENTS.

typedef struct {
  int height, width, channels, multiplier;
  int window_y, window_x, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  int out_height, out_width;
} Depthwise;

#ifndef GRADIENTS
__kernel void depthwise(TENSOR(const X_S, in), TENSOR(const X_S, filter), TENSOR(X_S, out),
                        const ulong count, const Depthwise d EPILOGUE_ARGUMENTS) {
  OPEN(in);
  OPEN(filter);
  OPEN(out);
  EPILOGUE_OPEN
  const int columns = d.channels * d.multiplier;
#ifdef IS_GPU
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const int column = at % columns;
  const ulong row = at / columns;
#else
  const int column = get_global_id(0);
  if (column >= columns) return;
  const ulong row = get_global_id(1), at = row * columns + column;
#endif
  const int x0 = row % d.out_width * d.stride_x - d.pad_x;
  const ulong rest = row / d.out_width;
  const int y0 = rest % d.out_height * d.stride_y - d.pad_y;
  in += rest / d.out_height * d.height * d.width * d.channels + column / d.multiplier;
  filter += column;
  X_C v = 0;
  for (int ky = 0; ky < d.window_y; ++ky) {
    const int y = y0 + ky * d.dilation_y;
    if (y < 0 || y >= d.height) continue;
    for (int kx = 0; kx < d.window_x; ++kx) {
      const int x = x0 + kx * d.dilation_x;
      if (x < 0 || x >= d.width) continue;
      v = fma(X_GET(in, (y * d.width + x) * d.channels),
              X_GET(filter, (ky * d.window_x + kx) * columns), v);
    }
  }
  EPILOGUE
  X_PUT(out, at, v);
}
#else
// Where in the output the window stands whose element `tap` lies on `at`; -1 if none does.
inline int OutputOf(int at, int tap, int stride, int pad, int size) {
  const int down = at + pad - tap;
  return down < 0 || down % stride != 0 || down / stride >= size ? -1 : down / stride;
}

// Of the image: each pixel gathers from the windows that hold it.
__kernel void depthwise_input(TENSOR(const X_S, gradient), TENSOR(const X_S, filter),
                              TENSOR(X_S, out), const ulong count, const Depthwise d) {
  OPEN(gradient);
  OPEN(filter);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const int channel = at % d.channels, columns = d.channels * d.multiplier;
  const ulong pixel = at / d.channels;
  const int x = pixel % d.width, y = pixel / d.width % d.height;
  gradient += pixel / d.width / d.height * d.out_height * d.out_width * columns;
  gradient += channel * d.multiplier;
  filter += channel * d.multiplier;
  X_C v = 0;
  for (int ky = 0; ky < d.window_y; ++ky) {
    const int oy = OutputOf(y, ky * d.dilation_y, d.stride_y, d.pad_y, d.out_height);
    if (oy < 0) continue;
    for (int kx = 0; kx < d.window_x; ++kx) {
      const int ox = OutputOf(x, kx * d.dilation_x, d.stride_x, d.pad_x, d.out_width);
      if (ox < 0) continue;
      for (int m = 0; m < d.multiplier; ++m)
        v = fma(X_GET(gradient, (oy * d.out_width + ox) * columns + m),
                X_GET(filter, (ky * d.window_x + kx) * columns + m), v);
    }
  }
  X_PUT(out, at, v);
}

// Of the filter: the sum over some rows of the output, of which all images together have `rows`.
__kernel void depthwise_filter(TENSOR(const X_S, in), TENSOR(const X_S, gradient),
                               TENSOR(X_C, parts), const ulong count, const uint rows,
                               const uint rows_each, const Depthwise d) {
  OPEN(in);
  OPEN(gradient);
  OPEN(parts);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const int columns = d.channels * d.multiplier, column = at % columns;
  const uint tap = at / columns % (d.window_y * d.window_x);
  const uint first = at / columns / (d.window_y * d.window_x) * rows_each;
  const int down = tap / d.window_x * d.dilation_y - d.pad_y;
  const int across = tap % d.window_x * d.dilation_x - d.pad_x;
  in += column / d.multiplier;
  gradient += column;
  X_C v = 0;
  for (uint row = first; row < min(first + rows_each, rows); ++row) {
    const int y = row % d.out_height * d.stride_y + down;
    if (y < 0 || y >= d.height) continue;
    const ulong from = ((ulong)(row / d.out_height) * d.height + y) * d.width;
    for (int ox = 0; ox < d.out_width; ++ox) {
      const int x = ox * d.stride_x + across;
      if (x < 0 || x >= d.width) continue;
      v = fma(X_GET(in, (from + x) * d.channels),
              X_GET(gradient, ((ulong)row * d.out_width + ox) * columns), v);
    }
  }
  parts[at] = v;
}
#endif
