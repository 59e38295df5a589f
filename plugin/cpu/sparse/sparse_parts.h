// Sparse tensors as values, for kernels that keep, pack or join whole sparse tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// indices [entries, rank] and shape [rank] are int64, values [entries] of any type.
struct SparseParts {
  Tensor indices, values, shape;
};

// Returns INVALID_ARGUMENT unless the parts' shapes fit each other. The indices' values are not
// checked. `which` is put behind the shapes in the message.
absl::Status CheckSparseParts(const SparseParts& t, std::string_view which);

// Returns inputs 0 to 2 after CheckSparseParts. The result must not outlive the run function.
absl::StatusOr<SparseParts> SparseInputs(const StepArgs& args);

// Splits `t`, of at least two dimensions, along the first dimension. Calls begin(rows), then
// row(number, entries of the row) once or twice for each row. If a row has two calls, the first
// call has no entries. INVALID_ARGUMENT unless the entries are sorted and lie in the shape. An
// error of `begin` or `row` ends the split.
absl::Status ForRows(const SparseParts& t, absl::FunctionRef<absl::Status(int64_t rows)> begin,
                     absl::FunctionRef<absl::Status(int64_t number, SparseParts entries)> row);

// Sets outputs 0 to 2 to one sparse tensor that joins `all`, one tensor or more. An entry's
// coordinates are the coordinates of its tensor within `outer`, then the entry's own. Each
// dimension is the largest of all tensors. INVALID_ARGUMENT if the tensors' ranks differ.
absl::Status SetJoinedSparse(absl::Span<const SparseParts> all, const Shape& outer,
                             const StepArgs& args);

}  // namespace tenon::cpu
