#include "executor/clusters/buckets.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// Copies between dense tensors of two shapes of one rank without a dimension of 0. The elements
// that both have stay where they are; where `to` is larger, the last ones follow again.
struct CornerCopy {
  const Shape& from;
  const Shape& to;
  int last;  // dimension in which the shapes differ

  // One place of all dimensions before `axis`; bytes are those of such a place.
  void Copy(int axis, const char* source, size_t source_bytes, char* target,
            size_t target_bytes) const {
    const int64_t both = std::min(from.dim(axis), to.dim(axis));
    const size_t source_step = source_bytes / static_cast<size_t>(from.dim(axis));
    const size_t target_step = target_bytes / static_cast<size_t>(to.dim(axis));
    if (axis == last) {
      std::memcpy(target, source, static_cast<size_t>(both) * target_step);
    } else {
      for (int64_t i = 0; i < both; ++i)
        Copy(axis + 1, source + i * source_step, source_step, target + i * target_step,
             target_step);
    }
    const char* const end = target + (both - 1) * target_step;
    for (int64_t i = both; i < to.dim(axis); ++i)
      std::memcpy(target + i * target_step, end, target_step);
  }
};

void CopyCorner(const void* source, const Shape& from, void* target, const Shape& to,
                size_t element) {
  const size_t source_bytes = static_cast<size_t>(from.num_elements()) * element;
  const size_t target_bytes = static_cast<size_t>(to.num_elements()) * element;
  int last = from.rank() - 1;
  while (last >= 0 && from.dim(last) == to.dim(last)) --last;
  if (last < 0) {
    std::memcpy(target, source, source_bytes);
    return;
  }
  CornerCopy{from, to, last}.Copy(0, static_cast<const char*>(source), source_bytes,
                                  static_cast<char*>(target), target_bytes);
}

}  // namespace

absl::StatusOr<Buckets> Buckets::Parse(std::string_view text) {
  Buckets buckets;
  if (text == "off") return buckets;
  if (text == "pow2") {
    buckets.powers_ = true;
    return buckets;
  }
  for (const std::string_view word : absl::StrSplit(text, ',')) {
    int64_t size = 0;
    if (word.find_first_not_of("0123456789") != word.npos || !absl::SimpleAtoi(word, &size) ||
        size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word, "' is neither pow2 nor off nor a size above 0"));
    }
    if (!buckets.sizes_.empty() && size <= buckets.sizes_.back()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the sizes must grow, and ", size, " follows ", buckets.sizes_.back()));
    }
    buckets.sizes_.push_back(size);
  }
  return buckets;
}

int64_t Buckets::Of(int64_t size) const {
  if (size < 1) return size;
  if (powers_ && size <= int64_t{1} << 62)
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
  const auto it = std::lower_bound(sizes_.begin(), sizes_.end(), size);
  return it == sizes_.end() ? size : *it;
}

void CopyPadded(const void* from, const Shape& exact, void* to, const Shape& padded,
                size_t element) {
  CopyCorner(from, exact, to, padded, element);
}

void CopyLeading(const void* from, const Shape& padded, void* to, const Shape& exact,
                 size_t element) {
  if (exact.num_elements() > 0) CopyCorner(from, padded, to, exact, element);
}

}  // namespace tenon
