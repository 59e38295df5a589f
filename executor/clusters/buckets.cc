#include "executor/clusters/buckets.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// Two dense tensors, one in the beginning of the other, from some dimension on.
struct Corner {
  const Shape& exact;
  const Shape& padded;
  size_t element;

  // From this dimension on both are the same.
  int first_same() const {
    int axis = exact.rank();
    while (axis > 0 && exact.dim(axis - 1) == padded.dim(axis - 1)) --axis;
    return axis;
  }
  static size_t Bytes(const Shape& shape, int axis, size_t element) {
    size_t bytes = element;
    for (int i = axis; i < shape.rank(); ++i) bytes *= static_cast<size_t>(shape.dim(i));
    return bytes;
  }
};

void Pad(const Corner& c, int axis, int first_same, const char* from, char* to) {
  if (axis == first_same) {
    std::memcpy(to, from, Corner::Bytes(c.exact, axis, c.element));
    return;
  }
  const size_t step_from = Corner::Bytes(c.exact, axis + 1, c.element);
  const size_t step_to = Corner::Bytes(c.padded, axis + 1, c.element);
  const int64_t size = c.exact.dim(axis);
  for (int64_t i = 0; i < size; ++i)
    Pad(c, axis + 1, first_same, from + i * step_from, to + i * step_to);
  const char* const last = to + (size - 1) * step_to;
  for (int64_t i = size; i < c.padded.dim(axis); ++i) std::memcpy(to + i * step_to, last, step_to);
}

void Cut(const Corner& c, int axis, int first_same, const char* from, char* to) {
  if (axis == first_same) {
    std::memcpy(to, from, Corner::Bytes(c.exact, axis, c.element));
    return;
  }
  const size_t step_from = Corner::Bytes(c.padded, axis + 1, c.element);
  const size_t step_to = Corner::Bytes(c.exact, axis + 1, c.element);
  for (int64_t i = 0; i < c.exact.dim(axis); ++i)
    Cut(c, axis + 1, first_same, from + i * step_from, to + i * step_to);
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
  const Corner c{exact, padded, element};
  Pad(c, 0, c.first_same(), static_cast<const char*>(from), static_cast<char*>(to));
}

void CopyLeading(const void* from, const Shape& padded, void* to, const Shape& exact,
                 size_t element) {
  if (exact.num_elements() == 0) return;
  const Corner c{exact, padded, element};
  Cut(c, 0, c.first_same(), static_cast<const char*>(from), static_cast<char*>(to));
}

}  // namespace tenon
