#include "plugin/kernels/preparation.h"

#include <algorithm>
#include <cstdint>

namespace tenon {
namespace {

// Whether an empty tensor has dimensions that no loop should go over: a kernel that loops over the
// rows of a [2^40, 0] tensor would not come back. A graph may state such a shape.
bool IsLongThoughEmpty(const Shape& shape) {
  if (shape.num_elements() > 0) return false;
  constexpr double kLong = 1 << 24;  // some milliseconds of empty loops
  double loops = 1;                  // a double: the product may exceed 64 bits
  for (int64_t dim : shape.dims()) loops *= static_cast<double>(std::max<int64_t>(dim, 1));
  return loops > kLong;
}

}  // namespace

// A stateful kernel runs in any case: what it does to its state shows, even without elements.
RunFn Preparation::run() const {
  const auto empty = [](const PreparedOutput& o) {
    return !o.dynamic && o.shape.num_elements() == 0;
  };
  const auto is_long = [](const auto& tensor) { return IsLongThoughEmpty(tensor.shape); };
  const bool nothing = !op_->is_stateful && !outputs_.empty() &&
                       std::all_of(outputs_.begin(), outputs_.end(), empty) &&
                       (std::any_of(outputs_.begin(), outputs_.end(), is_long) ||
                        std::any_of(inputs_.begin(), inputs_.end(), is_long));
  return nothing ? nullptr : run_;
}

}  // namespace tenon
