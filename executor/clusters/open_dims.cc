#include "executor/clusters/open_dims.h"

#include <map>
#include <utility>

namespace tenon {

void OpenDims::Note(absl::Span<const stablehlo::Argument> inputs) {
  const bool first = open_.empty();
  const size_t count = inputs.size() - num_constants_;
  last_.resize(count);
  open_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const Shape& shape = inputs[num_constants_ + i].shape;
    if (first || shape.rank() != last_[i].rank()) {
      open_[i].assign(static_cast<size_t>(shape.rank()), false);
      const bool told = i < known_.size() && known_[i].rank() == shape.rank();
      for (int axis = 0; told && axis < shape.rank(); ++axis)
        open_[i][axis] = known_[i].dim(axis) == kUnknownDim;
    } else {
      for (int axis = 0; axis < shape.rank(); ++axis)
        if (shape.dim(axis) != last_[i].dim(axis)) open_[i][axis] = true;
    }
    last_[i] = shape;
  }
}

std::vector<std::vector<InputDim>> OpenDims::Groups(absl::Span<const stablehlo::Argument> inputs,
                                                    const Buckets& buckets) const {
  std::map<int64_t, std::vector<InputDim>> by_size;
  for (size_t i = 0; i < open_.size(); ++i) {
    const Shape& shape = inputs[num_constants_ + i].shape;
    if (shape.num_elements() == 0) return {};
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int64_t size = shape.dim(axis);
      if (open_[i][axis] && buckets.Of(size) != size)
        by_size[size].push_back({num_constants_ + i, axis});
    }
  }
  std::vector<std::vector<InputDim>> groups;
  for (auto& [size, dims] : by_size) groups.push_back(std::move(dims));
  return groups;
}

}  // namespace tenon
