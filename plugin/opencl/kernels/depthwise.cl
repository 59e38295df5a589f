// Depthwise convolutions of [n, height, width, channels] by [window, window, channels, multiplier]. A
// work-item computes one result. The prologue (ops/convolution.cc) defines operand X and the epilogue.

typedef struct {
  int height, width, channels, multiplier;
  int window_y, window_x, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  int out_height, out_width;
} Depthwise;

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
