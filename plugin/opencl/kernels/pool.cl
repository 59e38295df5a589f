// Pools of [n, height, width, channels]; a work-item computes one result. The prologue
// (ops/pooling.cc) defines operand X, and MAX or not; GRADIENTS for those of ops/pool_gradients.cc.

typedef struct {
  int height, width, channels;
  int window_y, window_x, stride_y, stride_x, pad_y, pad_x;
  int out_height, out_width;
} Pool;

#ifndef GRADIENTS
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
#else
// The windows along one side that hold a place, and the places of one window inside of the image.
typedef struct {
  int begin, end;
} Range;

inline Range WindowsOf(int at, int window, int stride, int pad, int size) {
  const int last = at + pad, first = last - window + stride;
  return (Range){max(first, 0) / stride, min(last / stride + 1, size)};
}
inline Range PlacesOf(int number, int window, int stride, int pad, int size) {
  const int first = number * stride - pad;
  return (Range){max(first, 0), min(first + window, size)};
}

// A pixel and the windows that hold it, by the number of an element of the image.
typedef struct {
  ulong image;
  int y, x;
  Range oys, oxs;
} Pixel;

inline Pixel PixelOf(ulong at, const Pool p) {
  const ulong pixel = at / p.channels;
  const int y = pixel / p.width % p.height, x = pixel % p.width;
  return (Pixel){pixel / p.width / p.height, y, x,
                 WindowsOf(y, p.window_y, p.stride_y, p.pad_y, p.out_height),
                 WindowsOf(x, p.window_x, p.stride_x, p.pad_x, p.out_width)};
}

// A window by the number of its result: the first element of its image and channel, and its places.
typedef struct {
  ulong begin;
  Range ys, xs;
} Window;

inline Window WindowOf(ulong at, const Pool p) {
  const ulong window = at / p.channels, image = window / p.out_width / p.out_height;
  return (Window){
      image * p.height * p.width * p.channels + at % p.channels,
      PlacesOf(window / p.out_width % p.out_height, p.window_y, p.stride_y, p.pad_y, p.height),
      PlacesOf(window % p.out_width, p.window_x, p.stride_x, p.pad_x, p.width)};
}

// A window's gradient goes to its first largest element.
inline int LargestOf(__global const X_S* in, Range ys, Range xs, const Pool p) {
  int best = -1;
  X_C most = 0;
  for (int y = ys.begin; y < ys.end; ++y) {
    for (int x = xs.begin; x < xs.end; ++x) {
      const X_C e = X_GET(in, (ulong)(y * p.width + x) * p.channels);
      if (best >= 0 && !(e > most)) continue;
      most = e;
      best = y * p.width + x;
    }
  }
  return best;
}

// Each pixel gathers from the windows that hold it.
__kernel void max_pool_gradient(TENSOR(const X_S, in), TENSOR(const X_S, gradient),
                                TENSOR(X_S, out), const ulong count, const Pool p) {
  OPEN(in);
  OPEN(gradient);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const Pixel pixel = PixelOf(at, p);
  in += pixel.image * p.height * p.width * p.channels + at % p.channels;
  gradient += pixel.image * p.out_height * p.out_width * p.channels + at % p.channels;
  X_C v = 0;
  for (int oy = pixel.oys.begin; oy < pixel.oys.end; ++oy) {
    const Range ys = PlacesOf(oy, p.window_y, p.stride_y, p.pad_y, p.height);
    for (int ox = pixel.oxs.begin; ox < pixel.oxs.end; ++ox) {
      const Range xs = PlacesOf(ox, p.window_x, p.stride_x, p.pad_x, p.width);
      if (LargestOf(in, ys, xs, p) == pixel.y * p.width + pixel.x)
        v += X_GET(gradient, (ulong)(oy * p.out_width + ox) * p.channels);
    }
  }
  X_PUT(out, at, v);
}

// The same where no two windows share a pixel, for each of `count` windows; `out` is zero before.
__kernel void max_pool_gradient_apart(TENSOR(const X_S, in), TENSOR(const X_S, gradient),
                                      TENSOR(X_S, out), const ulong count, const Pool p) {
  OPEN(in);
  OPEN(gradient);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const Window window = WindowOf(at, p);
  in += window.begin;
  out += window.begin;
  const int best = LargestOf(in, window.ys, window.xs, p);
  if (best >= 0) X_PUT(out, (ulong)best * p.channels, X_GET(gradient, at));
}

// A window's gradient in equal shares; padding has none.
__kernel void average_pool_gradient(TENSOR(const X_S, gradient), TENSOR(X_S, out),
                                    const ulong count, const Pool p) {
  OPEN(gradient);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const Pixel pixel = PixelOf(at, p);
  gradient += pixel.image * p.out_height * p.out_width * p.channels + at % p.channels;
  X_C v = 0;
  for (int oy = pixel.oys.begin; oy < pixel.oys.end; ++oy) {
    const Range ys = PlacesOf(oy, p.window_y, p.stride_y, p.pad_y, p.height);
    for (int ox = pixel.oxs.begin; ox < pixel.oxs.end; ++ox) {
      const Range xs = PlacesOf(ox, p.window_x, p.stride_x, p.pad_x, p.width);
      v += X_GET(gradient, (ulong)(oy * p.out_width + ox) * p.channels) /
           ((ys.end - ys.begin) * (xs.end - xs.begin));
    }
  }
  X_PUT(out, at, v);
}

// Each window takes the value of `second` at its first element that is equal to the pool's result.
__kernel void max_pool_second_gradient(TENSOR(const X_S, in), TENSOR(const X_S, pooled),
                                       TENSOR(const X_S, second), TENSOR(X_S, out),
                                       const ulong count, const Pool p) {
  OPEN(in);
  OPEN(pooled);
  OPEN(second);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const Window window = WindowOf(at, p);
  in += window.begin;
  second += window.begin;
  const X_C wanted = X_GET(pooled, at);
  for (int y = window.ys.begin; y < window.ys.end; ++y) {
    for (int x = window.xs.begin; x < window.xs.end; ++x) {
      const ulong from = (ulong)(y * p.width + x) * p.channels;
      if (X_GET(in, from) != wanted) continue;
      X_PUT(out, at, X_GET(second, from));
      return;
    }
  }
  X_PUT(out, at, 0);
}
#endif
