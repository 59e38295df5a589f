// Pools of [n, height, width, channels]; a work-item computes one result. The prologue (ops/pooling.cc) defines
// operand X, and MAX or not.

typedef struct {
  int height, width, channels;
  int window_y, window_x, stride_y, stride_x, pad_y, pad_x;
  int out_height, out_width;
} Pool;

__kernel void pool(TENSOR(const X_S, in), TENSOR(X_S, out), const ulong count, const Pool p) {
  OPEN(in);
  OPEN(out);
#ifdef IS_GPU
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const int channel = at % p.channels;
  const ulong row = at / p.channels;
#else
  const int channel = get_global_id(0);
  if (channel >= p.channels) return;
  const ulong row = get_global_id(1), at = row * p.channels + channel;
#endif
  const int x0 = row % p.out_width * p.stride_x - p.pad_x;
  const ulong rest = row / p.out_width;
  const int y0 = rest % p.out_height * p.stride_y - p.pad_y;
  in += rest / p.out_height * p.height * p.width * p.channels + channel;
  const int y1 = min(y0 + p.window_y, p.height), x1 = min(x0 + p.window_x, p.width);
  int used = 0;
#ifdef MAX
  X_C v = LOWEST;
#else
  X_C v = 0;
#endif
  for (int y = max(y0, 0); y < y1; ++y) {
    for (int x = max(x0, 0); x < x1; ++x) {
      const X_C e = X_GET(in, (y * p.width + x) * p.channels);
#ifdef MAX
      v = e > v ? e : v;
#else
      v += e;
      ++used;
#endif
    }
  }
#ifndef MAX
  v /= used;
#endif
  X_PUT(out, at, v);
}
