#include "graph/tensor/shape.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tenon {
namespace {

void AppendDim(std::string* out, int64_t d) {
  if (d < 0) {
    out->push_back('?');
  } else {
    absl::StrAppend(out, d);
  }
}

std::string DimsToString(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ",", AppendDim), "]");
}

// Checks the rank, each dimension and the product. Unknown dimensions and zeros count as 1: code
// that multiplies only some of the dimensions must not overflow either.
absl::Status Validate(absl::Span<const int64_t> dims, int64_t lowest) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape has ", dims.size(), " dimensions, the limit is ", kMaxRank));
  }
  int64_t product = 1;
  bool overflow = false;
  bool empty = false;
  for (int64_t d : dims) {
    if (d < lowest) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " of a shape must be >= ", lowest));
    }
    empty |= d == 0;
    if (d > 0) overflow |= __builtin_mul_overflow(product, d, &product);
  }
  if (!overflow) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("shape ", DimsToString(dims),
                                                 " has more than 2^63-1 elements",
                                                 empty ? ", were no dimension 0" : ""));
}

}  // namespace

absl::StatusOr<Shape> Shape::Make(absl::Span<const int64_t> dims) {
  if (absl::Status s = Validate(dims, 0); !s.ok()) return s;
  return Shape(dims);
}

int64_t Shape::num_elements() const {
  // The product of the other dimensions may overflow where one is 0, so the loop is done in
  // unsigned numbers.
  int64_t n = 1;
  bool empty = false;
  for (int64_t d : dims()) {
    empty |= d == 0;
    n = static_cast<int64_t>(static_cast<uint64_t>(n) * static_cast<uint64_t>(d));
  }
  return empty ? 0 : n;
}

void Shape::push_back(int64_t size) {
  Dims longer(dims().begin(), dims().end());
  longer.push_back(size);
  *this = Shape(longer);
}

std::string Shape::ToString() const { return DimsToString(dims()); }

absl::StatusOr<PartialShape> PartialShape::Make(absl::Span<const int64_t> dims) {
  if (absl::Status s = Validate(dims, kUnknownDim); !s.ok()) return s;
  return PartialShape(dims);
}

int64_t PartialShape::dim(int i) const {
  if (!known_rank_) return kUnknownDim;
  if (i < 0) i += rank();
  return i >= 0 && i < rank() ? dims_[i] : kUnknownDim;
}

bool PartialShape::fully_defined() const {
  if (!known_rank_) return false;
  for (int64_t d : dims_) {
    if (d < 0) return false;
  }
  return true;
}

std::optional<Shape> PartialShape::ToShape() const {
  if (!fully_defined()) return std::nullopt;
  return Shape(dims_);
}

int64_t PartialShape::num_elements() const {
  if (!known_rank_) return kUnknownDim;
  int64_t n = 1;
  for (int64_t d : dims_) {
    if (d == 0) return 0;
  }
  for (int64_t d : dims_) {
    if (d < 0) return kUnknownDim;
    n *= d;
  }
  return n;
}

std::string PartialShape::ToString() const {
  return known_rank_ ? DimsToString(dims_) : "<unknown>";
}

bool PartialShape::CompatibleWith(const PartialShape& other) const {
  if (!known_rank_ || !other.known_rank_) return true;
  if (rank() != other.rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dims_[i] >= 0 && other.dims_[i] >= 0 && dims_[i] != other.dims_[i]) return false;
  }
  return true;
}

absl::StatusOr<PartialShape> PartialShape::Merge(const PartialShape& other) const {
  if (!known_rank_) return other;
  if (!other.known_rank_) return *this;
  if (!CompatibleWith(other)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shapes ", ToString(), " and ", other.ToString(), " are not compatible"));
  }
  PartialShape merged = *this;
  for (int i = 0; i < rank(); ++i) {
    if (merged.dims_[i] < 0) merged.dims_[i] = other.dims_[i];
  }
  return merged;
}

}  // namespace tenon
