// Sparse tensors as values, for kernels that keep, pack or join whole sparse tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// indices [entries, rank] and shape [rank] are int64, values [entries] of any type.
struct SparseParts {
  Tensor indices, values, shape;
};

// Returns INVALID_ARGUMENT unless the parts' shapes fit each other. The elements of the indices are
// not checked. The message has `which` right behind the shapes: begin it with a space.
absl::Status CheckSparseParts(const SparseParts& t, std::string_view which);

// Returns inputs 0 to 2 after CheckSparseParts. The result must not outlive the run function.
absl::StatusOr<SparseParts> SparseInputs(const StepArgs& args);

// Splits `t`, a tensor that has passed CheckSparseParts, along its first dimension. First calls
// begin(rows), where `rows` is that dimension. Then calls row(number, entries) without entries for
// each row, in ascending order. Then calls row(number, entries) once more for each row that has
// entries, in ascending order. `entries` lack the first coordinate and the first dimension.
//   INVALID_ARGUMENT, before any call: `t` has fewer than two dimensions or a negative number of
//   rows, or its entries are not sorted (CheckSorted) or lie outside the shape.
//   RESOURCE_EXHAUSTED, before any call: more than 2^24 rows. Between calls too: no memory.
// An error of `begin` or `row` ends the split and is returned.
absl::Status ForRows(const SparseParts& t, absl::FunctionRef<absl::Status(int64_t rows)> begin,
                     absl::FunctionRef<absl::Status(int64_t number, SparseParts entries)> row);

// Sets outputs 0 to 2 to one sparse tensor that joins `all`. There is one tensor or more, one for
// each element of `outer`, in row-major order. All have passed CheckSparseParts and have one value
// type. An entry's coordinates are the coordinates of its tensor within `outer`, then the entry's
// own. The shape is `outer`, then each dimension's maximum over all tensors. INVALID_ARGUMENT if
// the tensors' ranks differ, or if Shape::Make refuses the shape.
absl::Status SetJoinedSparse(absl::Span<const SparseParts> all, const Shape& outer,
                             const StepArgs& args);

}  // namespace tenon::cpu
