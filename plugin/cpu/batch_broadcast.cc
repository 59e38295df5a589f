#include "plugin/cpu/batch_broadcast.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tenon::cpu {

absl::StatusOr<Dims> BroadcastBatch(const Prepare& p, absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b) {
  Dims batch(std::max(a.size(), b.size()), 1);
  for (size_t d = 0; d < batch.size(); ++d) {
    const int64_t from_a = d < a.size() ? a[a.size() - 1 - d] : 1;
    const int64_t from_b = d < b.size() ? b[b.size() - 1 - d] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      return p.Invalid(
          absl::StrCat("batch dimensions must be equal, but are ", from_a, " and ", from_b));
    }
    batch[batch.size() - 1 - d] = from_a == 1 ? from_b : from_a;
  }
  return batch;
}

std::vector<int64_t> BatchIndices(absl::Span<const int64_t> dims, absl::Span<const int64_t> batch) {
  const int64_t total = Shape(batch).num_elements();
  std::vector<int64_t> indices(total, 0);
  const size_t missing = batch.size() - dims.size();
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, stride = 1;
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
