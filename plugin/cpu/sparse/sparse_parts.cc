#include "plugin/cpu/sparse/sparse_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/coordinates.h"

namespace tenon::cpu {
namespace {

// Entries [begin, end) without their first coordinate.
absl::StatusOr<SparseParts> PartOfRows(const SparseParts& t, int64_t begin, int64_t end,
                                       const Tensor& shape) {
  const int64_t rank = t.shape.num_elements();
  SparseParts part;
  part.shape = shape;
  TENON_ASSIGN_OR_RETURN(part.indices,
                         Tensor::Allocate(DataType::kInt64, Shape({end - begin, rank - 1})));
  TENON_ASSIGN_OR_RETURN(part.values, Tensor::Allocate(t.values.dtype(), Shape({end - begin})));
  int64_t* to = part.indices.flat<int64_t>();
  for (int64_t i = begin; i < end; ++i)
    to = std::copy_n(t.indices.flat<int64_t>() + i * rank + 1, rank - 1, to);
  ElementCopy(t.values.dtype())(t.values.data(), begin, part.values.data(), 0, end - begin);
  return part;
}

// Rows need no entries: a few bytes of shape could ask for any number of them.
absl::Status CheckRows(int64_t rows) {
  constexpr int64_t kMostRows = int64_t{1} << 24;
  TENON_RETURN_IF_ERROR(Shape::Make({rows}).status());
  if (rows <= kMostRows) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(rows, " sparse tensors at once; at most ", kMostRows, " are possible"));
}

// The coordinates of one of several sparse tensors go behind its own among them, in `outer`.
void JoinIndices(const SparseParts& t, const Shape& outer, int64_t row, int64_t*& to) {
  const int64_t rank = t.shape.num_elements();
  Dims place(outer.rank());
  for (int d = outer.rank() - 1; d >= 0; --d) {
    place[d] = row % outer.dim(d);
    row /= outer.dim(d);
  }
  for (int64_t i = 0; i < t.values.num_elements(); ++i) {
    to = std::copy(place.begin(), place.end(), to);
    to = std::copy_n(t.indices.flat<int64_t>() + i * rank, rank, to);
  }
}

}  // namespace

absl::Status CheckSparseParts(const SparseParts& t, std::string_view which) {
  const Shape &indices = t.indices.shape(), &values = t.values.shape(), &shape = t.shape.shape();
  if (indices.rank() == 2 && values.rank() == 1 && shape.rank() == 1 &&
      indices.dim(0) == values.dim(0) && indices.dim(1) == shape.dim(0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("indices ", indices.ToString(), ", values ",
                                                 values.ToString(), " and shape ", shape.ToString(),
                                                 which, " are no sparse tensor"));
}

absl::StatusOr<SparseParts> SparseInputs(const StepArgs& args) {
  SparseParts t{args.run_state->Input(0), args.run_state->Input(1), args.run_state->Input(2)};
  TENON_RETURN_IF_ERROR(CheckSparseParts(t, ""));
  return t;
}

absl::Status ForRows(const SparseParts& t, absl::FunctionRef<absl::Status(int64_t rows)> begin,
                     absl::FunctionRef<absl::Status(int64_t number, SparseParts entries)> row) {
  const int64_t rank = t.shape.num_elements(), count = t.values.num_elements();
  if (rank < 2)
    return absl::InvalidArgumentError(absl::StrCat("the rank must be at least 2, not ", rank));
  TENON_RETURN_IF_ERROR(CheckSorted(t.indices.data(), {count, static_cast<int>(rank)},
                                    ShapeAt(t.shape.data(), static_cast<int>(rank))));
  const int64_t rows = t.shape.flat<int64_t>()[0];
  TENON_RETURN_IF_ERROR(CheckRows(rows));
  TENON_RETURN_IF_ERROR(begin(rows));
  TENON_ASSIGN_OR_RETURN(const Tensor shape, Tensor::Allocate(DataType::kInt64, Shape({rank - 1})));
  std::copy_n(t.shape.flat<int64_t>() + 1, rank - 1, shape.flat<int64_t>());
  TENON_ASSIGN_OR_RETURN(const SparseParts nothing, PartOfRows(t, 0, 0, shape));
  // First every row as an empty one: rows without entries are never visited below, and the others
  // overwrite.
  for (int64_t r = 0; r < rows; ++r) TENON_RETURN_IF_ERROR(row(r, nothing));
  const auto row_of = [&](int64_t i) { return t.indices.flat<int64_t>()[i * rank]; };
  for (int64_t first = 0, end = 0; first < count; first = end) {
    const int64_t number = row_of(first);
    while (end < count && row_of(end) == number) ++end;
    TENON_ASSIGN_OR_RETURN(SparseParts entries, PartOfRows(t, first, end, shape));
    TENON_RETURN_IF_ERROR(row(number, std::move(entries)));
  }
  return absl::OkStatus();
}

absl::Status SetJoinedSparse(absl::Span<const SparseParts> all, const Shape& outer,
                             const StepArgs& args) {
  const int64_t rank = all[0].shape.num_elements();
  Dims dims(outer.dims().begin(), outer.dims().end());
  dims.insert(dims.end(), rank, 0);
  int64_t count = 0;
  for (const SparseParts& t : all) {
    if (t.shape.num_elements() != rank) {
      return absl::InvalidArgumentError(absl::StrCat("sparse tensors of ranks ", rank, " and ",
                                                     t.shape.num_elements(), " do not fit"));
    }
    for (int64_t d = 0; d < rank; ++d) {
      int64_t& dim = dims[outer.rank() + d];
      dim = std::max(dim, t.shape.flat<int64_t>()[d]);
    }
    count += t.values.num_elements();
  }
  const auto width = static_cast<int64_t>(dims.size());
  TENON_RETURN_IF_ERROR(Shape::Make(dims).status());
  TENON_ASSIGN_OR_RETURN(void* indices, args.run_state->AllocateOutput(0, Shape({count, width})));
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(1, Shape({count})));
  TENON_ASSIGN_OR_RETURN(void* shape, args.run_state->AllocateOutput(2, Shape({width})));
  std::copy(dims.begin(), dims.end(), static_cast<int64_t*>(shape));
  auto* to = static_cast<int64_t*>(indices);
  const ElementCopy copy(all[0].values.dtype());
  int64_t at = 0;
  for (size_t row = 0; row < all.size(); ++row) {
    JoinIndices(all[row], outer, static_cast<int64_t>(row), to);
    const int64_t n = all[row].values.num_elements();
    copy(all[row].values.data(), 0, values, at, n);
    at += n;
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
