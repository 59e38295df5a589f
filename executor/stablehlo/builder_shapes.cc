// Ops that move elements: reshapes, slices, pads.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/builder.h"

namespace tenon::stablehlo {

Value Builder::Reshape(const Value& x, const Shape& shape) {
  if (x.shape == shape) return x;
  Check(x.shape.num_elements() == shape.num_elements(), "reshape");
  Value v = Begin(x.dtype, shape);
  Text("stablehlo.reshape ");
  AppendName(x);
  Note(OpKind::kReshape, "reshape", {x}, {v});
  EndTyped({x}, {v});
  return v;
}

Value Builder::Broadcast(const Value& x, const Shape& shape, IntSpan dims) {
  bool fits = dims.size() == static_cast<size_t>(x.rank());
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const int64_t size = x.shape.dim(static_cast<int>(i));
    fits = dims[i] >= 0 && dims[i] < shape.rank() &&
           (size == 1 || size == shape.dim(static_cast<int>(dims[i])));
  }
  Check(fits, "broadcast_in_dim");
  Value v = Begin(x.dtype, shape);
  Text("stablehlo.broadcast_in_dim ");
  AppendName(x);
  absl::StrAppend(&out_.text, ", dims = ", List(dims));
  Note(OpKind::kBroadcast, "broadcast", {x}, {v}, {dims});
  EndTyped({x}, {v});
  return v;
}

Value Builder::BroadcastTo(const Value& x, const Shape& shape) {
  if (x.shape == shape) return x;
  Ints dims;
  for (int i = 0; i < x.rank(); ++i) dims.push_back(shape.rank() - x.rank() + i);
  return Broadcast(x, shape, dims);
}

Value Builder::Transpose(const Value& x, IntSpan perm) {
  if (std::ranges::is_sorted(perm)) return x;
  Shape shape;
  for (const int64_t p : perm) shape.push_back(x.shape.dim(static_cast<int>(p)));
  Value v = Begin(x.dtype, shape);
  Text("stablehlo.transpose ");
  AppendName(x);
  absl::StrAppend(&out_.text, ", dims = ", List(perm));
  Note(OpKind::kTranspose, "transpose", {x}, {v}, {perm});
  EndTyped({x}, {v});
  return v;
}

Value Builder::Reverse(const Value& x, IntSpan dims) {
  if (dims.empty()) return x;
  Value v = Begin(x.dtype, x.shape);
  Text("stablehlo.reverse ");
  AppendName(x);
  absl::StrAppend(&out_.text, ", dims = ", List(dims), " : ");
  AppendType(x);
  Note(OpKind::kReverse, "reverse", {x}, {v}, {dims});
  End();
  return v;
}

Value Builder::Concat(absl::Span<const Value> parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  Check(!parts.empty(), "concatenate");
  if (!status_.ok()) return {};
  Shape shape = parts[0].shape;
  int64_t size = 0;
  for (const Value& part : parts) size += part.shape.dim(static_cast<int>(axis));
  shape.set_dim(static_cast<int>(axis), size);
  Value v = Begin(parts[0].dtype, shape);
  Text("stablehlo.concatenate ");
  Names(parts);
  absl::StrAppend(&out_.text, ", dim = ", axis);
  Note(OpKind::kConcat, "concatenate", parts, {v}, {{axis}});
  EndTyped(parts, {v});
  return v;
}

Value Builder::Slice(const Value& x, IntSpan begin, IntSpan limit, IntSpan stride) {
  Shape shape;
  std::string ranges;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t step = stride.empty() ? 1 : stride[i];
    shape.push_back(limit[i] > begin[i] ? (limit[i] - begin[i] + step - 1) / step : 0);
    absl::StrAppend(&ranges, i > 0 ? ", " : "", begin[i], ":", limit[i]);
    if (step != 1) absl::StrAppend(&ranges, ":", step);
  }
  if (shape == x.shape) return x;
  Value v = Begin(x.dtype, shape);
  Text("stablehlo.slice ");
  AppendName(x);
  absl::StrAppend(&out_.text, " [", ranges, "]");
  Note(OpKind::kSlice, "slice", {x}, {v}, {begin, stride});
  EndTyped({x}, {v});
  return v;
}

Value Builder::SliceAxis(const Value& x, int axis, int64_t begin, int64_t limit) {
  Ints from(x.rank(), 0), to(x.shape.dims().begin(), x.shape.dims().end());
  from[axis] = begin;
  to[axis] = limit;
  return Slice(x, from, to);
}

Value Builder::DynamicSlice(const Value& x, absl::Span<const Value> starts, IntSpan sizes) {
  if (x.rank() == 0) return x;
  Value v = Begin(x.dtype, Shape(sizes));
  Text("stablehlo.dynamic_slice ");
  AppendName(x);
  Text(", ");
  Names(starts);
  absl::StrAppend(&out_.text, ", sizes = ", List(sizes));
  Values operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  Note(OpKind::kDynamicSlice, "dynamic_slice", operands, {v}, {sizes});
  EndTyped(operands, {v});
  return v;
}

Value Builder::DynamicUpdate(const Value& x, const Value& update, absl::Span<const Value> starts) {
  if (x.rank() == 0) return update;
  Value v = Begin(x.dtype, x.shape);
  Text("stablehlo.dynamic_update_slice ");
  Values operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  Names(operands);
  Note(OpKind::kDynamicUpdate, "dynamic_update_slice", operands, {v});
  EndTyped(operands, {v});
  return v;
}

Value Builder::Pad(const Value& x, const Value& filler, IntSpan low, IntSpan high,
                   IntSpan interior) {
  Shape shape;
  const Ints none(x.rank(), 0);
  if (interior.empty()) interior = none;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = x.shape.dim(i);
    shape.push_back(low[i] + size + high[i] + (size > 1 ? (size - 1) * interior[i] : 0));
  }
  const auto none_of = [](IntSpan sizes) {
    return std::ranges::all_of(sizes, [](int64_t p) { return p == 0; });
  };
  if (none_of(low) && none_of(high) && shape == x.shape) return x;
  Value v = Begin(x.dtype, shape);
  Text("stablehlo.pad ");
  Names({x, filler});
  absl::StrAppend(&out_.text, ", low = ", List(low), ", high = ", List(high),
                  ", interior = ", List(interior));
  Note(OpKind::kPad, "pad", {x, filler}, {v}, {low, interior});
  EndTyped({x, filler}, {v});
  return v;
}

Value Builder::Iota(DataType dtype, const Shape& shape, int64_t dim) {
  Value v = Begin(dtype, shape);
  absl::StrAppend(&out_.text, "stablehlo.iota dim = ", dim, " : ");
  AppendType(v);
  Note(OpKind::kIota, "iota", {}, {v}, {{dim}});
  End();
  return v;
}

}  // namespace tenon::stablehlo
