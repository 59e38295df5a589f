// Sparse tensors as values: what kernels that keep, pack or join whole ones hand around.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct SparseParts {
  Tensor indices, values, shape;
};

// OK if the parts make up a sparse tensor. `which` stands behind them in the message.
absl::Status CheckSparseParts(const SparseParts& t, std::string_view which);

// Inputs 0 to 2, checked. They must not outlive the run function.
absl::StatusOr<SparseParts> SparseInputs(const StepArgs& args);

// Splits `t`, of at least two dimensions, along the first: calls begin(rows), then
// row(number, its entries) at least once for each; if twice, the first one was empty.
// INVALID_ARGUMENT unless entries are sorted and inside of the shape.
absl::Status ForRows(const SparseParts& t, absl::FunctionRef<absl::Status(int64_t rows)> begin,
                     absl::FunctionRef<absl::Status(int64_t number, SparseParts entries)> row);

// Outputs 0 to 2 are these sparse tensors, at least one, in one: their number in `outer` stands
// before their own coordinates, and the shape holds the largest. INVALID_ARGUMENT where ranks
// differ.
absl::Status SetJoinedSparse(absl::Span<const SparseParts> all, const Shape& outer,
                             const StepArgs& args);

}  // namespace tenon::cpu
