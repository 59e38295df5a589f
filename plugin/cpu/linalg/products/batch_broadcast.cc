// Batch dimensions of matrix products: their broadcast, and the matrix of an operand for each
// matrix of the output.
#include "plugin/cpu/linalg/products/batch_broadcast.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<Dims> BroadcastBatch(const Prepare& p, absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b) {
  std::optional<Dims> batch = BroadcastDims(a, b);
  if (!batch.has_value()) {
    return p.Invalid(absl::StrCat("batch dimensions ", Shape(a).ToString(), " and ",
                                  Shape(b).ToString(), " do not broadcast"));
  }
  return *std::move(batch);
}

std::vector<int64_t> BatchIndices(absl::Span<const int64_t> dims, absl::Span<const int64_t> batch) {
  const int64_t total = Shape(batch).num_elements();
  std::vector<int64_t> indices(total, 0);
  const size_t missing = batch.size() - dims.size();
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, stride = 1;
    // The coordinates of matrix i, from the last dimension on. A dimension of size 1 stays at 0.
    for (size_t d = batch.size(); d-- > missing;) {
      const int64_t size = dims[d - missing];
      if (size != 1) indices[i] += rest % batch[d] * stride;
      rest /= batch[d];
      stride *= size;
    }
  }
  return indices;
}

}  // namespace tenon::cpu
