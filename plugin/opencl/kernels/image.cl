// Resizing images [n, height, width, channels]; a work-item computes one result. The prologue
// (ops/images.cc) defines operands X and O.

typedef struct {
  int height, width, channels, out_height, out_width;
  float scale_y, scale_x;
  int half_pixels, corners;
} Resize;

// Where a result is in its image, and where its channel of the source begins.
typedef struct {
  int x, y;
  ulong begin;
} Place;

inline Place PlaceOf(ulong at, const Resize r) {
  const ulong row = at / r.channels;
  Place place;
  place.x = row % r.out_width;
  place.y = row / r.out_width % r.out_height;
  place.begin =
      row / r.out_width / r.out_height * r.height * r.width * r.channels + at % r.channels;
  return place;
}

inline float Source(int i, float scale, int half_pixels) {
  return half_pixels ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
}

#define PIXEL(py, px) ((float)X_GET(in, (long)((py)*r.width + (px)) * r.channels))

__kernel void bilinear(TENSOR(const X_S, in), TENSOR(O_S, out), const ulong count, const Resize r) {
  OPEN(in);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const Place place = PlaceOf(at, r);
  in += place.begin;
  const float fy = Source(place.y, r.scale_y, r.half_pixels);
  const float fx = Source(place.x, r.scale_x, r.half_pixels);
  const int y0 = max((int)floor(fy), 0), y1 = min((int)ceil(fy), r.height - 1);
  const int x0 = max((int)floor(fx), 0), x1 = min((int)ceil(fx), r.width - 1);
  const float ly = fy - floor(fy), lx = fx - floor(fx);
  const float top = PIXEL(y0, x0) + (PIXEL(y0, x1) - PIXEL(y0, x0)) * lx;
  const float bottom = PIXEL(y1, x0) + (PIXEL(y1, x1) - PIXEL(y1, x0)) * lx;
  O_PUT(out, at, top + (bottom - top) * ly);
}

__kernel void nearest(TENSOR(const X_S, in), TENSOR(X_S, out), const ulong count, const Resize r) {
  OPEN(in);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const Place place = PlaceOf(at, r);
  in += place.begin;
  const float fy = r.half_pixels ? ((float)place.y + 0.5f) * r.scale_y : (float)place.y * r.scale_y;
  const float fx = r.half_pixels ? ((float)place.x + 0.5f) * r.scale_x : (float)place.x * r.scale_x;
  int sy = r.corners ? (int)round(fy) : (int)floor(fy),
      sx = r.corners ? (int)round(fx) : (int)floor(fx);
  sy = clamp(sy, 0, r.height - 1);
  sx = clamp(sx, 0, r.width - 1);
  X_PUT(out, at, X_GET(in, (long)(sy * r.width + sx) * r.channels));
}

// The outputs of one axis that may take from place `at`: some more than do.
typedef struct {
  int begin, end;
} Outputs;

inline Outputs OutputsOf(int at, int size, int outputs, float scale, int half_pixels) {
  const float shift = half_pixels ? 0.5f : 0;
  const bool all = !(scale > 0);
  const int begin = all || at == 0 ? 0 : (int)(((float)at - 1 + shift) / scale - shift) - 1;
  const int end =
      all || at == size - 1 ? outputs : (int)(((float)at + 1 + shift) / scale - shift) + 2;
  return (Outputs){max(begin, 0), min(end, outputs)};
}

// How much output `o` takes from place `at`.
inline float BilinearShare(int o, int at, int size, float scale, int half_pixels) {
  const float place = Source(o, scale, half_pixels), share = place - floor(place);
  const int lower = clamp((int)floor(place), 0, size - 1);
  const int upper = clamp((int)ceil(place), 0, size - 1);
  return (lower == at ? 1 - share : 0) + (upper == at ? share : 0);
}

inline float NearestShare(int o, int at, int size, float scale, const Resize r) {
  const float place = r.half_pixels ? ((float)o + 0.5f) * scale : (float)o * scale;
  return clamp(r.corners ? (int)round(place) : (int)floor(place), 0, size - 1) == at ? 1 : 0;
}

// Gradients of both: each pixel of the source gathers from the outputs that take from it.
#define GRADIENT(name, SHARE_Y, SHARE_X)                                               \
  __kernel void name(TENSOR(const X_S, gradient), TENSOR(O_S, out), const ulong count, \
                     const Resize r) {                                                 \
    OPEN(gradient);                                                                    \
    OPEN(out);                                                                         \
    const ulong at = get_global_id(0);                                                 \
    if (at >= count) return;                                                           \
    const ulong row = at / r.channels;                                                 \
    const int x = row % r.width, y = row / r.width % r.height;                         \
    gradient += row / r.width / r.height * r.out_height * r.out_width * r.channels;    \
    gradient += at % r.channels;                                                       \
    const Outputs ys = OutputsOf(y, r.height, r.out_height, r.scale_y, r.half_pixels); \
    const Outputs xs = OutputsOf(x, r.width, r.out_width, r.scale_x, r.half_pixels);   \
    O_C sum = 0;                                                                       \
    for (int oy = ys.begin; oy < ys.end; ++oy) {                                       \
      const float share_y = SHARE_Y;                                                   \
      if (share_y == 0) continue;                                                      \
      for (int ox = xs.begin; ox < xs.end; ++ox) {                                     \
        const float share_x = SHARE_X;                                                 \
        if (share_x == 0) continue;                                                    \
        sum += (O_C)(X_GET(gradient, (ulong)(oy * r.out_width + ox) * r.channels) *    \
                     (X_C)(share_y * share_x));                                        \
      }                                                                                \
    }                                                                                  \
    O_PUT(out, at, sum);                                                               \
  }

GRADIENT(bilinear_gradient, BilinearShare(oy, y, r.height, r.scale_y, r.half_pixels),
         BilinearShare(ox, x, r.width, r.scale_x, r.half_pixels))
GRADIENT(nearest_gradient, NearestShare(oy, y, r.height, r.scale_y, r),
         NearestShare(ox, x, r.width, r.scale_x, r))

// Where a row or column of a crop lies in its image, in pixels. Between 0 and `last`, or outside.
inline float CropPlace(int i, int crop, float begin, float end, float last) {
  if (crop > 1) return begin * last + (float)i * ((end - begin) * last / (float)(crop - 1));
  return 0.5f * (begin + end) * last;
}

// A box of an image, as fractions of its sides, resized to a crop; `outside` is what lies beyond.
__kernel void crop_and_resize(TENSOR(const X_S, in), TENSOR(const float, boxes),
                              TENSOR(const int, images), TENSOR(float, out), const ulong count,
                              const Resize r, const int batch, const float outside,
                              const int nearest, __global int* errors, const int number) {
  OPEN(in);
  OPEN(boxes);
  OPEN(images);
  OPEN(out);
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const ulong row = at / r.channels;
  const uint crop = row / r.out_width / r.out_height;
  const int image = images[crop];
  if (image < 0 || image >= batch) {
    Report(errors, number, image);
    out[at] = 0;
    return;
  }
  boxes += crop * 4;
  const float last_y = r.height - 1, last_x = r.width - 1;
  const float y =
      CropPlace(row / r.out_width % r.out_height, r.out_height, boxes[0], boxes[2], last_y);
  const float x = CropPlace(row % r.out_width, r.out_width, boxes[1], boxes[3], last_x);
  if (!(y >= 0 && y <= last_y && x >= 0 && x <= last_x)) {
    out[at] = outside;
    return;
  }
  in += (ulong)image * r.height * r.width * r.channels + at % r.channels;
  if (nearest) {
    out[at] = PIXEL((int)round(y), (int)round(x));
    return;
  }
  const int y0 = (int)floor(y), y1 = (int)ceil(y), x0 = (int)floor(x), x1 = (int)ceil(x);
  const float top = PIXEL(y0, x0) + (PIXEL(y0, x1) - PIXEL(y0, x0)) * (x - x0);
  const float bottom = PIXEL(y1, x0) + (PIXEL(y1, x1) - PIXEL(y1, x0)) * (x - x0);
  out[at] = top + (bottom - top) * (y - y0);
}
