// Parts of tensors: their text ("0,2:-"), the boxes that they are, and the keys under which
// checkpoints keep them.

#include "graph/saved_model/bundle/tensor_slice.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// These three write numbers and texts so that the bytes sort as the values do: TensorFlow's
// OrderedCode, of which the keys of slices are made.
// A number: the count of its bytes, then the bytes, the most significant first.
void AppendUnsigned(std::string* out, uint64_t value) {
  char digits[8];
  int n = 0;
  for (; value > 0; value >>= 8) digits[7 - n++] = static_cast<char>(value);
  out->push_back(static_cast<char>(n));
  out->append(digits + 8 - n, n);
}

// A signed number in as few bytes as its value needs. The leading ones (for a negative number
// zeros) count the bytes, and a bit of the other kind ends them.
void AppendSigned(std::string* out, int64_t value) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? ~value : value);
  const int bits = magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude);
  const int bytes = bits / 7 + 1;
  unsigned char encoded[10];
  for (int i = 0; i < 10; ++i) {
    const int shift = 8 * (9 - i);
    encoded[i] = shift >= 64 ? (negative ? 0xff : 0) : static_cast<unsigned char>(value >> shift);
  }
  // Flips the first bits, one for each byte. They all equal the sign before, and so does the next.
  for (int i = 0; i < bytes; ++i) encoded[10 - bytes + i / 8] ^= 0x80 >> i % 8;
  out->append(reinterpret_cast<const char*>(encoded) + 10 - bytes, bytes);
}

void AppendText(std::string* out, std::string_view text) {
  for (const char c : text) {
    out->push_back(c);
    // Both ends of the range of bytes are escaped, since "\0\1" ends a text.
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->append({'\0', '\1'});
}

absl::Status BadSlice(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no part of a tensor: ", why,
                                                 "; write start,length or - for each dimension"));
}

}  // namespace

std::optional<Region> Intersect(const Region& a, const Region& b) {
  Region both;
  for (int d = 0; d < a.shape.rank(); ++d) {
    const int64_t begin = std::max(a.start[d], b.start[d]);
    const int64_t end = std::min(a.start[d] + a.shape.dim(d), b.start[d] + b.shape.dim(d));
    if (begin >= end) return std::nullopt;
    both.start.push_back(begin);
    both.shape.push_back(end - begin);
  }
  return both;
}

void ForEachRun(const Region& part, const Region& a, const Region& b,
                absl::FunctionRef<void(int64_t in_a, int64_t in_b, int64_t n)> run) {
  // A run takes the inner dimensions that are whole in both, and the one dimension around them.
  int outer = part.shape.rank();  // dimensions before those that make a run
  int64_t n = 1;
  while (outer > 0) {
    --outer;
    n *= part.shape.dim(outer);
    if (part.shape.dim(outer) != a.shape.dim(outer) || part.shape.dim(outer) != b.shape.dim(outer))
      break;
  }
  Dims at = part.start;
  const auto place = [&](const Region& in) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d)
      offset = offset * in.shape.dim(static_cast<int>(d)) + at[d] - in.start[d];
    return offset;
  };
  if (part.shape.num_elements() == 0) return;
  while (true) {
    run(place(a), place(b), n);
    int d = outer - 1;
    for (; d >= 0; --d) {
      if (++at[d] < part.start[d] + part.shape.dim(d)) break;
      at[d] = part.start[d];
    }
    if (d < 0) return;
  }
}

absl::StatusOr<TensorSlice> TensorSlice::Parse(std::string_view text) {
  TensorSlice slice;
  for (const std::string_view item : absl::StrSplit(text, ':', absl::SkipEmpty())) {
    Extent extent;
    if (item != "-") {
      const std::pair<std::string_view, std::string_view> numbers =
          absl::StrSplit(item, absl::MaxSplits(',', 1));
      if (!absl::SimpleAtoi(numbers.first, &extent.start) ||
          !absl::SimpleAtoi(numbers.second, &extent.length)) {
        return BadSlice(text, absl::StrCat("'", item, "' is no start,length"));
      }
      if (extent.start < 0 || extent.length <= 0)
        return BadSlice(text, absl::StrCat("'", item, "' begins before 0 or is empty"));
    }
    slice.extents.push_back(extent);
  }
  return slice;
}

std::string TensorSlice::ToString() const {
  return absl::StrJoin(extents, ":", [](std::string* out, const Extent& e) {
    if (e.length == kToTheEnd) {
      out->append("-");
    } else {
      absl::StrAppend(out, e.start, ",", e.length);
    }
  });
}

absl::StatusOr<Region> TensorSlice::In(const Shape& shape) const {
  if (static_cast<int>(extents.size()) != shape.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("the part '", ToString(), "' has ",
                                                   extents.size(), " dimensions, the shape ",
                                                   shape.ToString(), " has ", shape.rank()));
  }
  Region region;
  for (int d = 0; d < shape.rank(); ++d) {
    const Extent& e = extents[d];
    const int64_t length = e.length == kToTheEnd ? shape.dim(d) : e.length;
    if (e.start < 0 || length < 0 || length > shape.dim(d) || e.start > shape.dim(d) - length) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the part '", ToString(), "' does not lie within the shape ", shape.ToString()));
    }
    region.start.push_back(e.start);
    region.shape.push_back(length);
  }
  return region;
}

absl::StatusOr<ShapeAndSlice> ShapeAndSlice::Parse(std::string_view text) {
  const std::vector<std::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.empty()) return BadSlice(text, "it is empty");
  Dims dims;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(words[i], &size))
      return BadSlice(text, absl::StrCat("'", words[i], "' is no dimension"));
    dims.push_back(size);
  }
  ShapeAndSlice parsed;
  TENON_ASSIGN_OR_RETURN(parsed.shape, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(parsed.slice, TensorSlice::Parse(words.back()));
  return parsed;
}

std::string SliceKey(std::string_view tensor_name, const TensorSlice& slice) {
  std::string key;
  AppendUnsigned(&key, 0);
  AppendText(&key, tensor_name);
  AppendUnsigned(&key, slice.extents.size());
  for (const TensorSlice::Extent& e : slice.extents) {
    AppendSigned(&key, e.start);
    AppendSigned(&key, e.length);
  }
  return key;
}

}  // namespace tenon
