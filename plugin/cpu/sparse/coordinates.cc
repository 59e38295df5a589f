#include "plugin/cpu/sparse/coordinates.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

std::string Describe(int64_t i, absl::Span<const int64_t> entry) {
  return absl::StrCat("indices[", i, "] = [", absl::StrJoin(entry, ","), "]");
}

}  // namespace

absl::StatusOr<SparseSizes> ReadCoordinates(const Prepare& p, int indices) {
  const Shape& shape = p.input_shape(indices);
  if (shape.rank() != 2)
    return p.Invalid(absl::StrCat("input ", indices, ", of indices, must be a matrix"));
  if (shape.dim(1) > kMaxRank)
    return p.Invalid(
        absl::StrCat("input ", indices, ", of indices, has more than ", kMaxRank, " columns"));
  return SparseSizes{shape.dim(0), static_cast<int>(shape.dim(1))};
}

absl::StatusOr<SparseSizes> ReadSparse(const Prepare& p, int indices, int values, int shape) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes s, ReadCoordinates(p, indices));
  if (!(p.input_shape(values) == Shape({s.count}))) {
    return p.Invalid(absl::StrCat("input ", values, ", of values, must be a vector of ", s.count,
                                  " elements, as many as there are rows of indices"));
  }
  if (!(p.input_shape(shape) == Shape({s.rank}))) {
    return p.Invalid(absl::StrCat("input ", shape, ", the shape, must be a vector of ", s.rank,
                                  " elements, as many as there are columns of indices"));
  }
  return s;
}

bool Inside(absl::Span<const int64_t> entry, absl::Span<const int64_t> shape) {
  for (size_t d = 0; d < entry.size(); ++d) {
    if (entry[d] < 0 || entry[d] >= shape[d]) return false;
  }
  return true;
}

absl::Status OutsideError(int64_t i, absl::Span<const int64_t> entry,
                          absl::Span<const int64_t> shape) {
  return absl::InvalidArgumentError(absl::StrCat(Describe(i, entry), " lies outside of the shape [",
                                                 absl::StrJoin(shape, ","), "]"));
}

absl::Status CheckInside(const void* indices, const SparseSizes& s,
                         absl::Span<const int64_t> shape) {
  for (int64_t i = 0; i < s.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(indices, s.rank, i);
    if (!Inside(entry, shape)) return OutsideError(i, entry, shape);
  }
  return absl::OkStatus();
}

absl::Status CheckSorted(const void* indices, const SparseSizes& s,
                         absl::Span<const int64_t> shape) {
  TENON_RETURN_IF_ERROR(CheckInside(indices, s, shape));
  for (int64_t i = 1; i < s.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(indices, s.rank, i);
    const int order = CompareEntries(EntryAt(indices, s.rank, i - 1), entry);
    if (order == 0)
      return absl::InvalidArgumentError(absl::StrCat(Describe(i, entry), " is repeated"));
    if (order > 0)
      return absl::InvalidArgumentError(absl::StrCat(Describe(i, entry), " is out of order"));
  }
  return absl::OkStatus();
}

int CompareEntries(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

void SortEntries(const void* indices, const SparseSizes& s, int64_t* order) {
  std::iota(order, order + s.count, 0);
  const auto before = [&](int64_t a, int64_t b) {
    const int c = CompareEntries(EntryAt(indices, s.rank, a), EntryAt(indices, s.rank, b));
    return c != 0 ? c < 0 : a < b;
  };
  if (!std::is_sorted(order, order + s.count, before)) std::sort(order, order + s.count, before);
}

}  // namespace tenon::cpu
