// Images: resizing, crops, patches, projections, colors.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// --- Resizing.

// Height and width of a batch of images.
Value ImageSizeOf(Value images) {
  const PartialShape shape = images.shape();
  GraphBuilder& b = images.builder();
  if (shape.rank() == 4 && shape.dim(1) != kUnknownDim && shape.dim(2) != kUnknownDim)
    return b.Ints({shape.dim(1), shape.dim(2)});
  return Part(ShapeOf(images), 1, 2);
}

NewAttrs AlignmentOf(GradientScope& s) { return s.Attrs({"align_corners", "half_pixel_centers"}); }

Value OfResizeNearestNeighbor(GradientScope& s) {
  return Op("ResizeNearestNeighborGrad", {s.dy(), ImageSizeOf(s.x(0))}, AlignmentOf(s));
}

Value OfResizeBilinear(GradientScope& s) {
  return Op("ResizeBilinearGrad", {s.dy(), s.x(0)}, AlignmentOf(s));
}

void ResizeBicubicGradient(GradientScope& s) {
  const DataType type = s.x(0).dtype();
  if (type != DataType::kFloat && type != DataType::kDouble) return;
  s.Set(0, Op("ResizeBicubicGrad", {s.dy(), s.x(0)}, AlignmentOf(s)));
}

Value OfScaleAndTranslate(GradientScope& s) {
  return Op("ScaleAndTranslateGrad", {s.dy(), s.x(0), s.x(2), s.x(3)},
            s.Attrs({"kernel_type", "antialias"}));
}

// --- Crops.

// The gradient of the boxes is that of bilinear sampling, whatever the method is.
void CropAndResizeGradient(GradientScope& s) {
  const Value images = s.x(0), boxes = s.x(1), of_box = s.x(2);
  const DataType type = images.dtype();
  if (type == DataType::kHalf || type == DataType::kFloat || type == DataType::kDouble) {
    s.Set(0, Op("CropAndResizeGradImage", {s.dy(), boxes, of_box, ShapeOf(images)},
                s.Attrs({"T", "method"})));
  }
  s.Set(1, Op("CropAndResizeGradBoxes", {s.dy(), images, boxes, of_box}));
}

// --- Patches: each element of a patch was copied from a pixel.

// The numbers of the pixels, from 1 on, as one image of one channel.
Value PixelNumbers(Value images, Value count) {
  GraphBuilder& b = images.builder();
  const Value one = b.Ints({1}), first = Number(count, 1);
  const Value inner = Part(ShapeOf(images), 1, images.rank() - 2);
  return Reshape(Range(first, count + first), Concat({one, inner, one}, 0));
}

// The patches of an image of numbers say from where elements came; 0: from outside.
Value OfExtractPatches(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value images = s.x();
  const int rank = images.rank();
  if (rank < 0) {
    s.Unimplemented("images of unknown rank");
    return s.dy();
  }
  const Value inner = Part(ShapeOf(images, DataType::kInt64), 1, rank - 2);
  const Value pixels = Op("Prod", {inner, b.Ints({0})});
  NewAttrs window = s.AllAttrs();
  PutAttr(window, "T", attr::Type(DataType::kInt64));
  const Value sources = Op(s.op(), {PixelNumbers(images, pixels)}, std::move(window));
  const Value batch = DimOf(images, 0), channels = DimOf(images, rank - 1);
  const Value rows = Reshape(s.dy(), Stack({batch, SizeOf(sources), channels}));
  const Value exchange = b.Ints({1, 0, 2});
  const Value sums = Op("UnsortedSegmentSum",
                        {Transpose(rows, exchange), Reshape(sources, b.Ints({-1})) - 1.0, pixels});
  return ReshapeLike(Transpose(sums, exchange), images);
}

// --- Projections: eight numbers for an image, the first of a matrix [3, 3] whose last is 1.

Value InverseProjection(Value transforms) {
  GraphBuilder& b = transforms.builder();
  const Value eight = Reshape(transforms, b.Ints({-1, 8}));
  const Value nine = Concat({eight, OnesLike(Columns(eight, 0, 1))}, 1);
  const Value inverse = Op("MatrixInverse", {Reshape(nine, b.Ints({-1, 3, 3}))});
  const Value flat = Reshape(inverse, b.Ints({-1, 9}));
  return Columns(flat, 0, 8) / Columns(flat, 8, 9);
}

// The gradient's image is projected back, with zeros around it.
Value OfImageProjectiveTransform(GradientScope& s) {
  std::vector<Value> inputs = {s.dy(), InverseProjection(s.x(1)), ImageSizeOf(s.x(0))};
  if (s.num_inputs() == 4) inputs.push_back(s.builder().Scalar(DataType::kFloat, 0));
  return Op(s.op(), inputs, s.Attrs({"interpolation", "fill_mode"}));
}

// --- Colors.

// 1 for the channel of this number, else 0.
Value ChannelMask(Value number, DataType type) {
  GraphBuilder& b = number.builder();
  return Op("OneHot",
            {number, b.Scalar(DataType::kInt32, 3), b.Scalar(type, 1), b.Scalar(type, 0)});
}

// The value is the greatest channel, the saturation 1 - least / greatest, and the hue begins at the
// greatest channel and turns by (next - previous) / (greatest - least) sixths. Of equal channels
// the first is the greatest and the last the least.
Value OfRgbToHsv(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(), dy = s.dy(), last = b.Ints({-1});
  const Value axis = b.Scalar(DataType::kInt32, -1);
  const Value is_greatest = ChannelMask(Op("ArgMax", {x, axis}), x.dtype());
  const Value is_least =
      ChannelMask(2.0 - Op("ArgMin", {Op("ReverseV2", {x, last}), axis}), x.dtype());
  const auto chosen = [&](Value weights) { return Sum(weights * x, last, /*keep_dims=*/true); };
  const auto quotient = [](Value p, Value q) { return Op("DivNoNan", {p, q}); };
  const auto is_positive = [](Value v) {
    return Cast(Compare("Greater", v, Number(v, 0)), v.dtype());
  };
  const Value greatest = chosen(is_greatest), least = chosen(is_least), range = greatest - least;
  const auto roll = [&](double by) {
    return Op("Roll", {is_greatest, b.Scalar(DataType::kInt32, by), axis});
  };
  const Value turn = roll(1) - roll(-1);
  const Value by_range = quotient(chosen(turn) * (is_greatest - is_least), Square(range));
  const Value of_hue = is_positive(greatest) * (quotient(turn, range) - by_range) / Number(x, 6);
  const Value of_saturation = is_positive(x) * (quotient(is_greatest * least, Square(greatest)) -
                                                quotient(is_least, greatest));
  return Columns(dy, 0, 1) * of_hue + Columns(dy, 1, 2) * of_saturation +
         Columns(dy, 2, 3) * is_greatest;
}

constexpr GradientRow kImage[] = {
    {"CropAndResize", CropAndResizeGradient},
    {"DrawBoundingBoxes", nullptr},
    {"ExtractImagePatches", Unary<OfExtractPatches>},
    {"ExtractVolumePatches", Unary<OfExtractPatches>},
    {"GenerateBoundingBoxProposals", nullptr},
    {"HSVToRGB", nullptr},
    {"ImageProjectiveTransformV2", Unary<OfImageProjectiveTransform>},
    {"ImageProjectiveTransformV3", Unary<OfImageProjectiveTransform>},
    {"RGBToHSV", Unary<OfRgbToHsv>},
    {"ResizeBicubic", ResizeBicubicGradient},
    {"ResizeBilinear", Unary<OfResizeBilinear>},
    {"ResizeBilinearGrad", nullptr},
    {"ResizeNearestNeighbor", Unary<OfResizeNearestNeighbor>},
    {"ScaleAndTranslate", Unary<OfScaleAndTranslate>},
};

}  // namespace

absl::Span<const GradientRow> Image() { return kImage; }

}  // namespace tenon::gradients
