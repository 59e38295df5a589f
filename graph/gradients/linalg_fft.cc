// Fourier transforms. The gradient of a transform is the inverse one, without its division.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// How many elements the last `axes` axes of x have, as a scalar of this type.
Value LastVolume(Value x, int axes, DataType type) {
  const PartialShape shape = x.shape();
  double volume = 1;
  bool known = shape.known_rank() && shape.rank() >= axes;
  for (int i = 1; known && i <= axes; ++i) {
    known = shape.dim(shape.rank() - i) != kUnknownDim;
    volume *= static_cast<double>(shape.dim(shape.rank() - i));
  }
  GraphBuilder& b = x.builder();
  if (known) return b.Scalar(type, volume);
  const Value sizes =
      Slice(ShapeOf(x), ExpandDims(RankOf(x) - static_cast<double>(axes), 0), b.Ints({-1}));
  return Cast(Op("Prod", {sizes, b.Ints({0})}), type);
}

// x cut off, or continued by zeros, along each axis.
Value Resized(Value x, Value shape) {
  const Value from = ShapeOf(x);
  const std::optional<std::vector<int64_t>> is = KnownInts(from), wanted = KnownInts(shape);
  if (is && is == wanted) return x;
  const Value common = Op("Minimum", {from, shape}), zeros = ZerosLike(common);
  return Op("Pad", {Slice(x, zeros, common), Stack({zeros, shape - common}, 1)});
}

// --- Complex transforms.

template <const char* kInverse, int kAxes>
Value OfForward(GradientScope& s) {
  return Op(kInverse, {s.dy()}) * LastVolume(s.dy(), kAxes, s.dy().dtype());
}

template <const char* kForward, int kAxes>
Value OfInverse(GradientScope& s) {
  return Op(kForward, {s.dy()}) / LastVolume(s.dy(), kAxes, s.dy().dtype());
}

// --- Transforms of real numbers. Their length is input 1. Of what is symmetric, half is there.

// The half that is not there has zeros: only what is there has a gradient. Zeros stand too for what
// a shorter length cuts off x; TensorFlow fails there, or repeats the gradient of a length of 1.
template <const char* kInverse, int kAxes>
Value OfRealForward(GradientScope& s) {
  const Value dy = s.dy(), length = Part(s.x(1), kAxes - 1, 1), shape = ShapeOf(dy);
  const Value others = Slice(shape, s.builder().Ints({0}), ExpandDims(RankOf(dy) - 1.0, 0));
  const Value whole = Op(kInverse, {Resized(dy, Concat({others, length}, 0))});
  const DataType real = s.x(0).dtype();
  const Value dx =
      Op("Real", {whole}, {{"Tout", attr::Type(real)}}) * LastVolume(whole, kAxes, real);
  return Resized(dx, ShapeOf(s.x(0)));
}

// What is there counts twice, for the half that is not there too. The first element, and the one
// in the middle of an even length, have no counterpart.
template <const char* kForward, int kAxes>
Value OfRealInverse(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value length = Part(s.x(1), kAxes - 1, 1), zero = b.Scalar(DataType::kInt32, 0);
  const Value half = Reshape(Op("FloorDiv", {length, Number(length, 2)}), b.Ints({})) + 1.0;
  const Value is_single = Compare("Equal", Op("FloorMod", {2.0 * Range(zero, half), length}), zero);
  const Value volume = LastVolume(s.dy(), kAxes, s.dy().dtype());
  const Value weight = Cast(Select(is_single, 1.0 / volume, 2.0 / volume), s.x(0).dtype());
  const Value forward = Op(kForward, {s.dy(), s.x(1)}, s.Attrs({"Tcomplex"}));
  return Resized(forward * weight, ShapeOf(s.x(0)));
}

constexpr char kFft[] = "FFT", kFft2D[] = "FFT2D", kFft3D[] = "FFT3D", kIfft[] = "IFFT",
               kIfft2D[] = "IFFT2D", kIfft3D[] = "IFFT3D", kRfft[] = "RFFT", kRfft2D[] = "RFFT2D";

constexpr GradientRow kTransforms[] = {
    {"FFT", Unary<OfForward<kIfft, 1>>},       {"FFT2D", Unary<OfForward<kIfft2D, 2>>},
    {"FFT3D", Unary<OfForward<kIfft3D, 3>>},   {"IFFT", Unary<OfInverse<kFft, 1>>},
    {"IFFT2D", Unary<OfInverse<kFft2D, 2>>},   {"IFFT3D", Unary<OfInverse<kFft3D, 3>>},
    {"IRFFT", Unary<OfRealInverse<kRfft, 1>>}, {"IRFFT2D", Unary<OfRealInverse<kRfft2D, 2>>},
    {"RFFT", Unary<OfRealForward<kIfft, 1>>},  {"RFFT2D", Unary<OfRealForward<kIfft2D, 2>>},
};

}  // namespace

absl::Span<const GradientRow> LinalgFft() { return kTransforms; }

}  // namespace tenon::gradients
