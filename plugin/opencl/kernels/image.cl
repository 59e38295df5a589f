// Resizing images [n, height, width, channels]; a work-item computes one result. The prologue (ops/images.cc)
// defines operands X and O.

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
  place.begin = row / r.out_width / r.out_height * r.height * r.width * r.channels + at % r.channels;
  return place;
}

inline float Source(int i, float scale, int half_pixels) {
  return half_pixels ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
}

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
#define PIXEL(py, px) ((float)X_GET(in, (long)((py)*r.width + (px)) * r.channels))
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
  int sy = r.corners ? (int)round(fy) : (int)floor(fy), sx = r.corners ? (int)round(fx) : (int)floor(fx);
  sy = clamp(sy, 0, r.height - 1);
  sx = clamp(sx, 0, r.width - 1);
  X_PUT(out, at, X_GET(in, (long)(sy * r.width + sx) * r.channels));
}
