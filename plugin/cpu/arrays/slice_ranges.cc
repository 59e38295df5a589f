#include "plugin/cpu/arrays/slice_ranges.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Masks have 63 usable bits; a later entry of a long slice has none set. (A shift by 64 or more
// would be undefined.)
bool Bit(int64_t mask, int i) { return i < 63 && (mask >> i & 1) != 0; }

template <typename... T>
absl::Status Invalid(const T&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

// TensorFlow's rule for one `begin:end:stride` of dimension `dim`, of n elements.
absl::StatusOr<SliceRange> ResolveRange(const SliceMasks& masks, int i, int dim, int64_t n,
                                        int64_t begin, int64_t end, int64_t stride) {
  if (stride == 0) return Invalid("strides[", i, "] must not be zero");
  if (Bit(masks.shrink, i)) {
    if (stride < 0) return Invalid("strides[", i, "] must be positive where one index is taken");
    const int64_t at = begin < 0 ? begin + n : begin;
    if (at < 0 || at >= n)
      return Invalid("slice index ", begin, " of dimension ", dim, " out of bounds");
    return SliceRange{dim, at, 1, 1, false};
  }
  // Where `end` may lie: n is one behind the last element, and for a negative stride -1 is one
  // before the first. The clamp makes any begin and end legal, as in Python.
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? n : n - 1;
  const auto clamp = [&](int64_t x) { return std::clamp(x < 0 ? x + n : x, lowest, highest); };
  const int64_t from = Bit(masks.begin, i) ? (stride > 0 ? lowest : highest) : clamp(begin);
  const int64_t to = Bit(masks.end, i) ? (stride > 0 ? highest : lowest) : clamp(end);
  // Rounded up; a stride that leads away from the end makes an empty range, no error.
  const int64_t interval = to - from;
  SliceRange range{dim, from, stride, 0};
  if (interval != 0 && (interval < 0) == (stride < 0))
    range.size = interval / stride + (interval % stride != 0);
  if (range.size == 0) range.begin = 0;
  if (range.size <= 1) range.stride = 1;  // as good as any, and multiplied without overflow
  return range;
}

}  // namespace

absl::StatusOr<SliceMasks> ReadSliceMasks(const Prepare& p) {
  SliceMasks m;
  TENON_ASSIGN_OR_RETURN(m.begin, p.AttrInt("begin_mask"));
  TENON_ASSIGN_OR_RETURN(m.end, p.AttrInt("end_mask"));
  TENON_ASSIGN_OR_RETURN(m.ellipsis, p.AttrInt("ellipsis_mask"));
  TENON_ASSIGN_OR_RETURN(m.new_axis, p.AttrInt("new_axis_mask"));
  TENON_ASSIGN_OR_RETURN(m.shrink, p.AttrInt("shrink_axis_mask"));
  if (std::popcount(static_cast<uint64_t>(m.ellipsis)) > 1)
    return p.Invalid("only one ellipsis may be given");
  return m;
}

absl::StatusOr<std::vector<SliceRange>> ResolveSlice(const SliceMasks& masks,
                                                     absl::Span<const int64_t> begin,
                                                     absl::Span<const int64_t> end,
                                                     absl::Span<const int64_t> strides,
                                                     const Shape& tensor) {
  if (begin.size() != end.size() || begin.size() != strides.size()) {
    return Invalid("'begin', 'end' and 'strides' must have equal lengths");
  }
  const int rank = tensor.rank();
  const int count = static_cast<int>(begin.size());
  std::vector<SliceRange> ranges;
  int dim = 0;
  const auto whole_until = [&](int last) {
    for (; dim < last; ++dim) ranges.push_back({dim, 0, 1, tensor.dim(dim)});
  };
  for (int i = 0; i < count; ++i) {
    if (Bit(masks.ellipsis, i)) {
      int later = 0;
      // The ellipsis stands for as many dimensions as the entries behind it leave; new axes take
      // none.
      for (int k = i + 1; k < count; ++k) later += !Bit(masks.new_axis, k);
      whole_until(std::min(rank - later, rank));
    } else if (Bit(masks.new_axis, i)) {
      ranges.push_back({});
    } else if (dim >= rank) {
      return Invalid("the slice has more than ", rank, " dimensions");
    } else {
      TENON_ASSIGN_OR_RETURN(SliceRange range, ResolveRange(masks, i, dim, tensor.dim(dim),
                                                            begin[i], end[i], strides[i]));
      ranges.push_back(range);
      ++dim;
    }
  }
  whole_until(rank);
  return ranges;
}

SliceBlock FindBlock(const std::vector<SliceRange>& ranges, const Shape& tensor, DataType type) {
  const Dims strides = DenseStrides(tensor, static_cast<int64_t>(DataTypeSize(type)));
  SliceBlock b;
  for (const SliceRange& r : ranges) {
    if (r.keep) b.shape.push_back(r.size);
    if (r.dim < 0) continue;
    b.size.push_back(r.size);
    b.stride.push_back(strides[r.dim] * r.stride);
    b.offset += r.begin * strides[r.dim];
    b.whole = b.whole && r.size == tensor.dim(r.dim) && (r.stride == 1 || r.size <= 1);
  }
  if (b.shape.num_elements() == 0) b.offset = 0;
  return b;
}

StridedCopy CopyIntoBlock(DataType type, const SliceBlock& block,
                          const std::vector<SliceRange>& ranges, const Shape& from) {
  const Dims strides = DenseStrides(from, static_cast<int64_t>(DataTypeSize(type)));
  StridedCopy copy(type);
  int own = 0;  // dimension of `from`
  size_t d = 0;
  for (const SliceRange& r : ranges) {
    const int64_t stride = r.keep && from.dim(own) != 1 ? strides[own] : 0;
    own += r.keep;
    if (r.dim < 0) continue;
    copy.AddDim(r.size, stride, block.stride[d]);
    ++d;
  }
  copy.Finish();
  return copy;
}

std::optional<Shape> BroadcastSource(const Shape& shape, const Shape& to) {
  const int missing = to.rank() - shape.rank();
  Shape out;
  for (int d = 0; d < missing; ++d) out.push_back(1);
  for (int d = 0; d < shape.rank(); ++d) {
    const int at = d + missing;
    if (shape.dim(d) != 1 && (at < 0 || shape.dim(d) != to.dim(at))) return std::nullopt;
    if (at >= 0) out.push_back(shape.dim(d));
  }
  return out;
}

}  // namespace tenon::cpu
