// Dense gradients are added, slices are joined.
#include "graph/gradients/summing.h"

#include <algorithm>
#include <vector>

namespace tenon::gradients {
namespace {

Gradient Join(GraphBuilder& builder, absl::Span<const Gradient> parts) {
  const auto is_wide = [&](const Gradient& g) {
    return builder.At(g.indices).dtype() == DataType::kInt64;
  };
  const bool mixed = std::ranges::any_of(parts, is_wide) && !std::ranges::all_of(parts, is_wide);
  std::vector<Value> values, indices;
  for (const Gradient& g : parts) {
    values.push_back(builder.At(g.values));
    const Value at = builder.At(g.indices);
    indices.push_back(mixed ? Cast(at, DataType::kInt64) : at);
  }
  return {Concat(values, 0).output(), Concat(indices, 0).output(), parts[0].dense_shape};
}

}  // namespace

Slices SlicesOf(GraphBuilder& builder, const Gradient& g) {
  return {builder.At(g.values), builder.At(g.indices),
          g.dense_shape.node == kNoNode ? Value() : builder.At(g.dense_shape)};
}

Value DenseOf(GraphBuilder& builder, const Gradient& gradient) {
  return gradient.is_slices() ? Densify(SlicesOf(builder, gradient)) : builder.At(gradient.values);
}

Gradient SumOf(GraphBuilder& builder, absl::Span<const Gradient> parts) {
  if (parts.size() == 1) return parts[0];
  if (std::ranges::all_of(parts, [](const Gradient& g) { return g.is_slices(); }))
    return Join(builder, parts);
  std::vector<Value> dense;
  for (const Gradient& g : parts) dense.push_back(DenseOf(builder, g));
  return {Op("AddN", dense).output(), {}, {}};
}

}  // namespace tenon::gradients
