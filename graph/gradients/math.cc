// Nodes that rules for gradients are made of.
#include "graph/gradients/math.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

namespace tenon::gradients {
namespace {

bool KnownSameShape(const PartialShape& a, const PartialShape& b) {
  return a.fully_defined() && a == b;
}

Value Int32(Value like, int64_t value) {
  return like.builder().Scalar(DataType::kInt32, static_cast<double>(value));
}

// The axes of the broadcast shape along which x is repeated; nullopt if that depends on sizes that
// are not known. A known 1 beside any other size, known or not, is repeated: the other size may be
// 1 at run time, and then the sum changes nothing.
std::optional<std::vector<int64_t>> RepeatedAxes(const PartialShape& x, const PartialShape& other) {
  if (!x.known_rank() || !other.known_rank()) return std::nullopt;
  const int rank = std::max(x.rank(), other.rank());
  std::vector<int64_t> axes;
  for (int axis = 0; axis < rank; ++axis) {
    const auto size = [&](const PartialShape& s) {
      const int at = axis - (rank - s.rank());
      return at < 0 ? int64_t{1} : s.dim(at);
    };
    const int64_t a = size(x), b = size(other);
    if (a == 1 && b != 1) {
      axes.push_back(axis);
    } else if (b != 1 && (a == kUnknownDim || b == kUnknownDim)) {
      return std::nullopt;
    }
  }
  return axes;
}

// A size beyond the type is left to the kernel, which refuses it: as in TensorFlow.
bool FitsType(int64_t size, DataType type) {
  return type == DataType::kInt64 || size <= std::numeric_limits<int32_t>::max();
}

}  // namespace

Value Op(std::string_view op, absl::Span<const Value> inputs, NewAttrs attrs) {
  return inputs.front().builder().Op(op, inputs, std::move(attrs));
}

Value operator+(Value a, Value b) { return Op("AddV2", {a, b}); }
Value operator-(Value a, Value b) { return Op("Sub", {a, b}); }
Value operator*(Value a, Value b) { return Op("Mul", {a, b}); }
Value operator/(Value a, Value b) { return Op(IsInteger(a.dtype()) ? "Div" : "RealDiv", {a, b}); }
Value operator-(Value a) { return Op("Neg", {a}); }
Value operator+(Value a, double b) { return a + Number(a, b); }
Value operator-(Value a, double b) { return a - Number(a, b); }
Value operator-(double a, Value b) { return Number(b, a) - b; }
Value operator*(double a, Value b) { return Number(b, a) * b; }
Value operator/(double a, Value b) { return Number(b, a) / b; }

Value Number(Value x, double number) { return x.builder().Scalar(x.dtype(), number); }

Value Cast(Value x, DataType type) {
  if (x.dtype() == BaseType(type)) return x;
  return Op("Cast", {x}, {{"DstT", attr::Type(BaseType(type))}});
}

Value Conj(Value x) { return IsComplex(x.dtype()) ? Op("Conj", {x}) : x; }
Value Square(Value x) { return Op("Square", {x}); }
Value ZerosLike(Value x) { return Op("ZerosLike", {x}); }
Value OnesLike(Value x) { return Op("OnesLike", {x}); }
Value Select(Value condition, Value a, Value b) { return Op("SelectV2", {condition, a, b}); }
Value Compare(std::string_view op, Value a, Value b) { return Op(op, {a, b}); }

Value ShapeOf(Value x, DataType type) {
  const std::optional<Shape> known = x.shape().ToShape();
  if (known && absl::c_all_of(known->dims(), [&](int64_t d) { return FitsType(d, type); }))
    return x.builder().Ints(known->dims(), type);
  return Op("Shape", {x}, {{"out_type", attr::Type(type)}});
}

Value RankOf(Value x) { return x.rank() >= 0 ? Int32(x, x.rank()) : Op("Rank", {x}); }

Value SizeOf(Value x) {
  const std::optional<Shape> known = x.shape().ToShape();
  const bool fits = known && FitsType(known->num_elements(), DataType::kInt32);
  return fits ? Int32(x, known->num_elements()) : Op("Size", {x});
}

Value Range(Value first, Value limit) { return Op("Range", {first, limit, Number(first, 1)}); }

Value AllAxes(Value x) {
  if (x.rank() < 0) return Range(Int32(x, 0), RankOf(x));
  std::vector<int64_t> axes(x.rank());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  return x.builder().Ints(axes);
}

Value Reshape(Value x, Value shape) { return Op("Reshape", {x, shape}); }

Value ReshapeLike(Value x, Value like) {
  return KnownSameShape(x.shape(), like.shape()) ? x : Reshape(x, ShapeOf(like));
}

Value Part(Value vector, int64_t first, int64_t count) {
  GraphBuilder& b = vector.builder();
  return Slice(vector, b.Ints({first}), b.Ints({count}));
}

Value Element(Value vector, int64_t i) {
  return Reshape(Part(vector, i, 1), vector.builder().Ints({}));
}

Value DimOf(Value x, int axis, DataType type) {
  const int64_t known = x.shape().dim(axis);
  if (known != kUnknownDim && FitsType(known, type))
    return x.builder().Scalar(type, static_cast<double>(known));
  return Element(ShapeOf(x, type), axis);
}

Value Fill(Value shape, Value scalar) { return Op("Fill", {shape, scalar}); }

std::optional<std::vector<int64_t>> KnownInts(Value x) {
  if (x.output().node == kNoNode) return std::nullopt;
  const TensorInfo& info = x.builder().shapes().info(x.output());
  if (info.value != nullptr) {
    std::vector<int64_t> ints(info.value->num_elements());
    for (size_t i = 0; i < ints.size(); ++i) ints[i] = info.value->IntAt(static_cast<int64_t>(i));
    return ints;
  }
  // A known -1 looks like an unknown element here.
  if (!info.partial_value || absl::c_linear_search(*info.partial_value, kUnknownDim))
    return std::nullopt;
  return std::vector<int64_t>(info.partial_value->begin(), info.partial_value->end());
}

Value ConcatAlong(absl::Span<const Value> parts, Value axis) {
  if (parts.size() == 1) return parts[0];
  std::vector<Value> inputs(parts.begin(), parts.end());
  inputs.push_back(axis);
  return Op("ConcatV2", inputs);
}

Value Concat(absl::Span<const Value> parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : ConcatAlong(parts, Int32(parts[0], axis));
}

Value Slice(Value x, Value begin, Value size) { return Op("Slice", {x, begin, size}); }

Value Stack(absl::Span<const Value> parts, int64_t axis) {
  return Op("Pack", parts, {{"axis", attr::Int(axis)}});
}

Value Transpose(Value x, Value permutation) { return Op("Transpose", {x, permutation}); }

Value Gather(Value x, Value indices, int64_t axis) {
  return Op("GatherV2", {x, indices, Int32(x, axis)});
}

Value ExpandDims(Value x, int64_t axis) { return Op("ExpandDims", {x, Int32(x, axis)}); }

Value Sum(Value x, Value axes, bool keep_dims) {
  return Op("Sum", {x, axes}, {{"keep_dims", attr::Bool(keep_dims)}});
}

Value MatMul(Value a, Value b, bool adjoint_a, bool adjoint_b) {
  // BatchMatMulV2 conjugates what it transposes, MatMul does not.
  if (a.rank() == 2 && b.rank() == 2 && !IsComplex(a.dtype())) {
    return Op("MatMul", {a, b},
              {{"transpose_a", attr::Bool(adjoint_a)}, {"transpose_b", attr::Bool(adjoint_b)}});
  }
  return Op("BatchMatMulV2", {a, b},
            {{"adj_x", attr::Bool(adjoint_a)}, {"adj_y", attr::Bool(adjoint_b)}});
}

Value SumToShapeOf(Value gradient, Value x, Value other) {
  if (KnownSameShape(x.shape(), other.shape())) return gradient;
  const std::optional<std::vector<int64_t>> axes = RepeatedAxes(x.shape(), other.shape());
  if (!axes) return SumFromShape(gradient, x, ShapeOf(other));
  if (axes->empty() && x.rank() >= other.rank()) return gradient;
  return Reshape(Sum(gradient, x.builder().Ints(*axes), /*keep_dims=*/true), ShapeOf(x));
}

Value SumFromShape(Value gradient, Value x, Value shape) {
  const Value of_x = ShapeOf(x, shape.dtype());
  return Reshape(Sum(gradient, Op("BroadcastGradientArgs", {of_x, shape}), /*keep_dims=*/true),
                 of_x);
}

}  // namespace tenon::gradients
