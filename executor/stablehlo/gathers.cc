#include "executor/stablehlo/shared.h"

namespace tenon::stablehlo {

Value GatherAxis(Op& op, const Value& x, int axis, const Value& places) {
  GatherDims dims = {.collapsed_slice_dims = {axis},
                     .start_index_map = {axis},
                     .slice_sizes = Ints(x.shape.dims().begin(), x.shape.dims().end()),
                     .index_vector_dim = 1};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) dims.offset_dims.push_back(i);
  }
  dims.slice_sizes[axis] = 1;
  Shape shape = x.shape;
  shape.set_dim(axis, places.shape.dim(0));
  return op.b.Gather(x, places, dims, shape);
}

Value GatherAxis(Op& op, const Value& x, int axis, IntSpan places) {
  bool all = static_cast<int64_t>(places.size()) == x.shape.dim(axis);
  for (size_t i = 0; all && i < places.size(); ++i) all = places[i] == static_cast<int64_t>(i);
  if (all) return x;
  const std::vector<int32_t> narrow(places.begin(), places.end());
  return GatherAxis(op, x, axis,
                    op.Constant(Tensor::Of<int32_t>(DataType::kInt32, narrow,
                                                    Shape({static_cast<int64_t>(narrow.size())}))));
}

}  // namespace tenon::stablehlo
