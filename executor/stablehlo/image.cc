// Resizing of images, crops, patches, and spaces of color.
#include <algorithm>
#include <cmath>

#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/image/resize_axis.h"

namespace tenon::stablehlo {
namespace image_ops {
namespace {

using cpu::Blend;
using cpu::ResizeAxis;
using cpu::Scaling;

absl::StatusOr<Scaling> ScalingOf(Op& op) {
  Scaling scaling;
  TENON_ASSIGN_OR_RETURN(scaling.align_corners, op.Bool("align_corners"));
  if (op.shapes().HasAttr("half_pixel_centers")) {
    TENON_ASSIGN_OR_RETURN(scaling.half_pixel_centers, op.Bool("half_pixel_centers"));
  }
  if (scaling.align_corners && scaling.half_pixel_centers &&
      op.name() != "ResizeNearestNeighborGrad")
    return op.Invalid("align_corners and half_pixel_centers exclude each other");
  return scaling;
}

Ints LowersOf(const std::vector<Blend>& blends) {
  Ints at;
  for (const Blend& b : blends) at.push_back(b.lower);
  return at;
}

Ints UppersOf(const std::vector<Blend>& blends) {
  Ints at;
  for (const Blend& b : blends) at.push_back(b.upper);
  return at;
}

// low + (high - low) * share, where the shares go along `axis`.
Value Blended(Op& op, const Value& x, int axis, const std::vector<Blend>& blends) {
  const Value low = GatherAxis(op, x, axis, LowersOf(blends));
  const Value high = GatherAxis(op, x, axis, UppersOf(blends));
  std::vector<float> shares;
  for (const Blend& b : blends) shares.push_back(b.share);
  const Value line = op.Constant(
      Tensor::Of<float>(DataType::kFloat, shares, Shape({static_cast<int64_t>(shares.size())})));
  return op.b.Add(low, op.b.Mul(op.b.Sub(high, low), op.b.Broadcast(line, low.shape, {axis})));
}

absl::StatusOr<Shape> ImagesOf(Op& op) {
  TENON_ASSIGN_OR_RETURN(Shape shape, op.OutShape());
  if (shape.num_elements() == 0 || op.InShape(0).num_elements() == 0)
    return op.Unimplemented("images without elements");
  return shape;
}

absl::Status ResizeBilinear(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, ImagesOf(op));
  TENON_ASSIGN_OR_RETURN(const Scaling scaling, ScalingOf(op));
  const Value x = op.b.Convert(op.In(0), DataType::kFloat);
  const Value wide = Blended(op, x, 2, BilinearBlends(scaling, x.shape.dim(2), shape.dim(2)));
  return op.Out(Blended(op, wide, 1, BilinearBlends(scaling, x.shape.dim(1), shape.dim(1))));
}

absl::Status ResizeNearest(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, ImagesOf(op));
  TENON_ASSIGN_OR_RETURN(const Scaling scaling, ScalingOf(op));
  Value x = op.In(0);
  for (const int axis : {1, 2}) {
    const auto blends = NearestBlends(scaling, x.shape.dim(axis), shape.dim(axis));
    x = GatherAxis(op, x, axis, LowersOf(blends));
  }
  return op.Out(x);
}

// The matrix of an axis, [outputs, inputs], in float or double.
Value MatrixOf(Op& op, const ResizeAxis& axis, DataType dtype) {
  const Shape shape({axis.out(), axis.in()});
  std::vector<double> weights(shape.num_elements());
  for (int64_t i = 0; i < axis.out(); ++i) {
    for (const ResizeAxis::Tap& tap : axis.TapsOf(i))
      weights[i * axis.in() + tap.index] += tap.weight;
  }
  if (dtype == DataType::kDouble)
    return op.Constant(Tensor::Of<double>(DataType::kDouble, weights, shape));
  const std::vector<float> floats(weights.begin(), weights.end());
  return op.Constant(Tensor::Of<float>(DataType::kFloat, floats, shape));
}

// Applies the matrices of rows and columns: [batch, rows, columns, channels].
Value Applied(Op& op, const Value& x, const ResizeAxis& rows, const ResizeAxis& columns) {
  const Value tall = op.b.Dot(MatrixOf(op, rows, x.dtype), x, {}, {}, {1}, {1}, x.dtype);
  // [rows, batch, columns, channels]
  const Value wide = op.b.Dot(MatrixOf(op, columns, x.dtype), tall, {}, {}, {1}, {2}, x.dtype);
  // [columns, rows, batch, channels]
  return op.b.Transpose(wide, {2, 1, 0, 3});
}

template <cpu::MakeAxis kAxis>
absl::Status ResizeBy(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, ImagesOf(op));
  TENON_ASSIGN_OR_RETURN(const Scaling scaling, ScalingOf(op));
  const Value x = op.b.Convert(op.In(0), DataType::kFloat);
  return op.Out(Applied(op, x, kAxis(scaling, x.shape.dim(1), shape.dim(1)),
                        kAxis(scaling, x.shape.dim(2), shape.dim(2))));
}

// The gradient: the transposed matrices. The images' sizes are those of the output.
template <cpu::MakeAxis kAxis>
absl::Status ResizeGradient(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, ImagesOf(op));
  TENON_ASSIGN_OR_RETURN(const Scaling scaling, ScalingOf(op));
  const DataType type = op.OutType(0);
  const DataType sum = type == DataType::kDouble ? type : DataType::kFloat;
  const Value dy = op.b.Convert(op.In(0), sum);
  const Value dx = Applied(op, dy, kAxis(scaling, shape.dim(1), dy.shape.dim(1)).Transposed(),
                           kAxis(scaling, shape.dim(2), dy.shape.dim(2)).Transposed());
  return op.Out(op.b.Convert(dx, type));
}

// --- Patches.

// Windows over the axes between the first and the last, each as one element: its own elements, then
// the channels. kDilated: the op has an attribute `rates`.
template <bool kDilated>
absl::Status ExtractPatches(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, op.IntList("ksizes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, op.IntList("strides"));
  std::vector<int64_t> rates(sizes.size(), 1);
  if constexpr (kDilated) {
    TENON_ASSIGN_OR_RETURN(rates, op.IntList("rates"));
  }
  Value x = op.In(0);
  if (shape.num_elements() == 0) return op.Out(op.b.Full(x.dtype, shape, 0));
  const int rank = x.rank(), places = rank - 2;
  // [batch, place, within, place, within, ..., channels]
  Ints low(rank, 0), high(rank, 0);
  std::vector<Ints> taken(places);
  for (int i = 1; i <= places; ++i) {
    const int64_t reach = (sizes[i] - 1) * rates[i] + 1;
    const int64_t needed = (shape.dim(i) - 1) * strides[i] + reach;
    const int64_t missing = std::max<int64_t>(needed - x.shape.dim(i), 0);
    low[i] = missing / 2;
    high[i] = missing - low[i];
    for (int64_t place = 0; place < shape.dim(i); ++place) {
      for (int64_t k = 0; k < sizes[i]; ++k)
        taken[i - 1].push_back(place * strides[i] + k * rates[i]);
    }
  }
  x = op.b.Pad(x, op.b.Scalar(x.dtype, 0), low, high);
  Shape split({x.shape.dim(0)});
  Ints perm = {0};
  for (int i = 1; i <= places; ++i) {
    x = GatherAxis(op, x, i, taken[i - 1]);
    split.push_back(shape.dim(i));
    split.push_back(sizes[i]);
    perm.push_back(2 * i - 1);
  }
  for (int i = 1; i <= places; ++i) perm.push_back(2 * i);
  perm.push_back(2 * places + 1);
  split.push_back(x.shape.dim(rank - 1));
  return op.Out(op.b.Reshape(op.b.Transpose(op.b.Reshape(x, split), perm), shape));
}

// --- CropAndResize: boxes are known in the run only.

// Between which pixels of an axis the pixels of the crops lie: [boxes, pixels].
struct Places {
  Value inside, lower, upper, nearest, share;
};

// Column `at` of the boxes, for each of `n` pixels of the crops.
Value Corner(Op& op, const Value& boxes, int64_t at, int64_t n) {
  const Value column = op.b.Slice(boxes, {0, at}, {boxes.shape.dim(0), at + 1});
  return op.b.Broadcast(column, Shape({boxes.shape.dim(0), n}), {0, 1});
}

Places PlacesOf(Op& op, const Value& begin, const Value& end, int64_t size) {
  const auto last = static_cast<double>(size - 1);
  const int64_t n = begin.shape.dim(1);
  Value at;
  if (n > 1) {
    const Value scale = op.b.Div(op.b.Mul(op.b.Sub(end, begin), last), static_cast<double>(n - 1));
    const Value steps = op.b.Mul(op.b.Iota(DataType::kFloat, begin.shape, 1), scale);
    at = op.b.Add(op.b.Mul(begin, last), steps);
  } else {
    at = op.b.Mul(op.b.Mul(op.b.Add(begin, end), 0.5), last);
  }
  Places p;
  p.inside = op.b.And(op.b.Compare("GE", at, 0.0), op.b.Compare("LE", at, last));
  const Value kept = op.b.Select(p.inside, at, op.b.Like(at, 0));
  const Value floor = op.b.Unary("floor", kept);
  const auto index = [&](const Value& v) { return op.b.Convert(v, DataType::kInt32); };
  p.lower = index(floor);
  p.upper = index(op.b.Unary("ceil", kept));
  p.nearest = index(op.b.Unary("round_nearest_afz", kept));
  p.share = op.b.Sub(kept, floor);
  return p;
}

absl::Status CropAndResize(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, ImagesOf(op));
  TENON_ASSIGN_OR_RETURN(const std::string_view method, op.String("method"));
  TENON_ASSIGN_OR_RETURN(const float outside, op.Float("extrapolation_value"));
  const Value x = op.b.Convert(op.In(0), DataType::kFloat);
  const Value &boxes = op.In(1), &image = op.In(2);
  op.CheckAll(op.b.IsFinite(boxes), "a box is not finite");
  op.CheckAll(op.b.And(op.b.Compare("GE", image, 0.0),
                       op.b.Compare("LT", image, static_cast<double>(x.shape.dim(0)))),
              "a box is of an image that does not exist", absl::StatusCode::kOutOfRange);
  const int64_t rows = shape.dim(1), columns = shape.dim(2), channels = shape.dim(3);
  const Places r =
      PlacesOf(op, Corner(op, boxes, 0, rows), Corner(op, boxes, 2, rows), x.shape.dim(1));
  const Places c =
      PlacesOf(op, Corner(op, boxes, 1, columns), Corner(op, boxes, 3, columns), x.shape.dim(2));
  const Shape pixels({shape.dim(0), rows, columns});
  const auto pixel = [&](const Value& row, const Value& column) {
    Shape one = pixels;
    one.push_back(1);
    const auto part = [&](const Value& v, IntSpan dims) {
      return op.b.Reshape(op.b.Broadcast(v, pixels, dims), one);
    };
    const Value indices =
        op.b.Concat({part(image, {0}), part(row, {0, 1}), part(column, {0, 2})}, 3);
    const GatherDims dims = {.offset_dims = {3},
                             .collapsed_slice_dims = {0, 1, 2},
                             .start_index_map = {0, 1, 2},
                             .slice_sizes = {1, 1, 1, channels},
                             .index_vector_dim = 3};
    return op.b.Gather(x, indices, dims, shape);
  };
  Value crops;
  if (method == "nearest") {
    crops = pixel(r.nearest, c.nearest);
  } else {
    const auto blend = [&](const Value& low, const Value& high, const Value& share, int axis) {
      const Value wide = op.b.Broadcast(share, shape, {0, axis});
      return op.b.Add(low, op.b.Mul(op.b.Sub(high, low), wide));
    };
    const Value top = blend(pixel(r.lower, c.lower), pixel(r.lower, c.upper), c.share, 2);
    const Value bottom = blend(pixel(r.upper, c.lower), pixel(r.upper, c.upper), c.share, 2);
    crops = blend(top, bottom, r.share, 1);
  }
  const Value inside =
      op.b.And(op.b.Broadcast(r.inside, shape, {0, 1}), op.b.Broadcast(c.inside, shape, {0, 2}));
  return op.Out(op.b.Select(inside, crops, op.b.Like(crops, outside)));
}

// --- Colors: red, green, blue or hue, saturation, value along the last axis.

struct Three {
  Value a, b, c;
};

Three Split(Op& op, const Value& x) {
  const int axis = x.rank() - 1;
  return {op.b.SliceAxis(x, axis, 0, 1), op.b.SliceAxis(x, axis, 1, 2),
          op.b.SliceAxis(x, axis, 2, 3)};
}

// With the largest and the least component, which ops find differently beside NaN.
Three HsvBetween(Op& op, const Three& rgb, const Value& value, const Value& least) {
  const Value range = op.b.Sub(value, least);
  const Value zero = op.b.Like(value, 0);
  const Value saturation =
      op.b.Select(op.b.Compare("GT", value, zero), op.b.Div(range, value), zero);
  const Value norm = op.b.Div(op.b.Like(range, 1.0 / 6.0), range);
  const auto sector = [&](const Value& p, const Value& q, double turn) {
    const Value part = op.b.Mul(norm, op.b.Sub(p, q));
    return turn == 0 ? part : op.b.Add(part, turn);
  };
  Value hue = op.b.Select(op.b.Compare("EQ", rgb.b, value), sector(rgb.c, rgb.a, 2.0 / 6.0),
                          sector(rgb.a, rgb.b, 4.0 / 6.0));
  hue = op.b.Select(op.b.Compare("EQ", rgb.a, value), sector(rgb.b, rgb.c, 0), hue);
  hue = op.b.Select(op.b.Compare("GT", range, zero), hue, zero);
  hue = op.b.Select(op.b.Compare("LT", hue, zero), op.b.Add(hue, 1.0), hue);
  return {hue, saturation, value};
}

Three ToHsv(Op& op, const Three& rgb) {
  return HsvBetween(op, rgb, op.b.Max(rgb.a, op.b.Max(rgb.b, rgb.c)),
                    op.b.Min(rgb.a, op.b.Min(rgb.b, rgb.c)));
}

// The largest and the least start anew after NaN.
Three ConvertedToHsv(Op& op, const Three& rgb) {
  const auto pick = [&](std::string_view direction, const Value& a, const Value& b) {
    return op.b.Select(op.b.Compare(direction, a, b), a, b);
  };
  return HsvBetween(op, rgb, pick("GT", pick("GT", rgb.a, rgb.b), rgb.c),
                    pick("LT", pick("LT", rgb.a, rgb.b), rgb.c));
}

Three ToRgb(Op& op, const Three& hsv) {
  const Value dh = op.b.Mul(hsv.a, 6.0);
  const auto channel = [&](double at, bool inverted) {
    Value v = op.b.Sub(op.b.Unary("abs", op.b.Sub(dh, at)), 1.0);
    if (inverted) v = op.b.Sub(op.b.Like(v, 2), op.b.Unary("abs", op.b.Sub(dh, at)));
    return op.b.Min(op.b.Max(v, 0.0), 1.0);
  };
  const Value rest = op.b.Sub(op.b.Like(hsv.b, 1), hsv.b);
  const auto mix = [&](const Value& v) {
    return op.b.Mul(op.b.Add(rest, op.b.Mul(hsv.b, v)), hsv.c);
  };
  return {mix(channel(3, false)), mix(channel(2, true)), mix(channel(4, true))};
}

Value Joined(Op& op, const Three& x) { return op.b.Concat({x.a, x.b, x.c}, x.a.rank() - 1); }

absl::Status RgbToHsv(Op& op) {
  return op.Out(Joined(op, ConvertedToHsv(op, Split(op, op.In(0)))));
}
absl::Status HsvToRgb(Op& op) { return op.Out(Joined(op, ToRgb(op, Split(op, op.In(0))))); }

absl::Status AdjustSaturation(Op& op) {
  const DataType type = op.InType(0);
  const Value x = op.b.Wide(op.In(0));
  Three hsv = ToHsv(op, Split(op, x));
  const Value scale = op.b.Broadcast(op.In(1), hsv.b.shape, {});
  hsv.b = op.b.Min(op.b.Max(op.b.Mul(hsv.b, scale), 0.0), 1.0);
  return op.Out(op.b.Convert(Joined(op, ToRgb(op, hsv)), type));
}

absl::Status AdjustHue(Op& op) {
  const DataType type = op.InType(0);
  const Value x = op.b.Wide(op.In(0));
  Three hsv = ToHsv(op, Split(op, x));
  // The hue goes round: what is left of it in [0, 1).
  const Value turned = op.b.Add(hsv.a, op.b.Broadcast(op.In(1), hsv.a.shape, {}));
  hsv.a = op.b.Sub(turned, op.b.Unary("floor", turned));
  return op.Out(op.b.Convert(Joined(op, ToRgb(op, hsv)), type));
}

// images, contrast: each channel of each image, less its mean, times the factor.
absl::Status AdjustContrast(Op& op) {
  const DataType type = op.InType(0);
  const Value x = op.b.Wide(op.In(0));
  if (x.rank() < 3) return op.Invalid("images have three dimensions at least");
  const int rows = x.rank() - 3;
  Ints kept;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != rows && i != rows + 1) kept.push_back(i);
  }
  const auto count = static_cast<double>(x.shape.dim(rows) * x.shape.dim(rows + 1));
  const Value sum = op.b.Reduce("add", x, op.b.Scalar(x.dtype, 0), {rows, rows + 1});
  const Value mean = op.b.Broadcast(op.b.Div(sum, count), x.shape, kept);
  const Value factor = op.b.Broadcast(op.b.Convert(op.In(1), x.dtype), x.shape, {});
  return op.Out(op.b.Convert(op.b.Add(op.b.Mul(op.b.Sub(x, mean), factor), mean), type));
}

constexpr Types kFloat = {DataType::kFloat, DataType::kDouble};

constexpr Row kRows[] = {
    {"ResizeBilinear", ResizeBilinear, kReals, In(1)},
    {"ResizeNearestNeighbor", ResizeNearest, kReals, In(1)},
    {"ResizeBicubic", ResizeBy<cpu::CubicAxis>, kReals, In(1)},
    {"ResizeArea", ResizeBy<cpu::AreaAxis>, kReals, In(1)},
    {"ResizeBilinearGrad", ResizeGradient<cpu::BilinearAxis>, kFloats},
    {"ResizeNearestNeighborGrad", ResizeGradient<cpu::NearestAxis>, kFloats, In(1)},
    {"ResizeBicubicGrad", ResizeGradient<cpu::CubicAxis>, kFloat},
    {"CropAndResize", CropAndResize, kReals, In(3)},
    {"ExtractImagePatches", ExtractPatches<true>, kAll},
    {"ExtractVolumePatches", ExtractPatches<false>, kAll},
    {"RGBToHSV", RgbToHsv, kFloats},
    {"HSVToRGB", HsvToRgb, kFloats},
    {"AdjustSaturation", AdjustSaturation, kFloats},
    {"AdjustHue", AdjustHue, kFloats},
    {"AdjustContrastv2", AdjustContrast, kFloats},
};

}  // namespace
}  // namespace image_ops

Rows ImageRows() { return image_ops::kRows; }

}  // namespace tenon::stablehlo
