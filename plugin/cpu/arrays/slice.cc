// Slice, StridedSlice and reversing: a block of the input under other strides; and what writes such
// a block, StridedSliceGrad and TensorStridedSliceUpdate.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

// A range of one input dimension, or a new dimension of size 1.
struct Range {
  int dim = -1;  // of the input; -1: new
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t size = 1;
  bool keep = true;  // in the output's shape
};

// The elements of a tensor that ranges of its dimensions name.
struct Block {
  Shape shape;         // of the result: without the dimensions that are not kept
  Dims size, stride;   // per dimension of the tensor, strides in bytes
  int64_t offset = 0;  // bytes
  bool whole = true;   // all elements in their order
};

Block FindBlock(const std::vector<Range>& ranges, const Shape& tensor, DataType type) {
  const Dims strides = DenseStrides(tensor, static_cast<int64_t>(DataTypeSize(type)));
  Block b;
  for (const Range& r : ranges) {
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

// Output 0 becomes the block of input 0 that the ranges describe.
absl::Status SetBlock(Prepare& p, const std::vector<Range>& ranges) {
  const DataType type = p.input_type(0);
  const Block block = FindBlock(ranges, p.input_shape(0), type);
  p.set_output_shape(0, block.shape);
  if (block.whole) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  const Shape moved(block.size);
  std::vector<CopyPiece> pieces;
  pieces.push_back({0, 0, block.offset, 0,
                    BlockCopy(type, moved, block.stride,
                              DenseStrides(moved, static_cast<int64_t>(DataTypeSize(type))))});
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

absl::Status PrepareSlice(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims begin, p.InputInts(1));
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(2));
  if (static_cast<int>(begin.size()) != in.rank() || static_cast<int>(size.size()) != in.rank()) {
    return p.Invalid(absl::StrCat("'begin' and 'size' must have ", in.rank(), " elements each"));
  }
  std::vector<Range> ranges;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t count = size[d] == -1 ? in.dim(d) - begin[d] : size[d];
    if (begin[d] < 0 || begin[d] > in.dim(d) || count < 0 || count > in.dim(d) - begin[d]) {
      return p.Invalid(absl::StrCat("begin ", begin[d], " and size ", size[d], " leave dimension ",
                                    d, " of ", in.dim(d)));
    }
    ranges.push_back({d, begin[d], 1, count});
  }
  return SetBlock(p, ranges);
}

struct SliceMasks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};

bool Bit(int64_t mask, int i) { return i < 63 && (mask >> i & 1) != 0; }

// TensorFlow's rule for one `begin:end:stride` of dimension `dim`, of n elements.
absl::StatusOr<Range> ResolveRange(const Prepare& p, const SliceMasks& masks, int i, int dim,
                                   int64_t n, int64_t begin, int64_t end, int64_t stride) {
  if (stride == 0) return p.Invalid(absl::StrCat("strides[", i, "] must not be zero"));
  if (Bit(masks.shrink, i)) {
    if (stride < 0)
      return p.Invalid(absl::StrCat("strides[", i, "] must be positive where one index is taken"));
    const int64_t at = begin < 0 ? begin + n : begin;
    if (at < 0 || at >= n)
      return p.Invalid(
          absl::StrCat("slice index ", begin, " of dimension ", dim, " out of bounds"));
    return Range{dim, at, 1, 1, false};
  }
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? n : n - 1;
  const auto clamp = [&](int64_t x) { return std::clamp(x < 0 ? x + n : x, lowest, highest); };
  const int64_t from = Bit(masks.begin, i) ? (stride > 0 ? lowest : highest) : clamp(begin);
  const int64_t to = Bit(masks.end, i) ? (stride > 0 ? highest : lowest) : clamp(end);
  const int64_t interval = to - from;
  Range range{dim, from, stride, 0};
  if (interval != 0 && (interval < 0) == (stride < 0))
    range.size = interval / stride + (interval % stride != 0);
  if (range.size == 0) range.begin = 0;
  if (range.size <= 1) range.stride = 1;  // as good as any, and multiplied without overflow
  return range;
}

absl::StatusOr<SliceMasks> ReadMasks(const Prepare& p) {
  SliceMasks m;
  TENON_ASSIGN_OR_RETURN(m.begin, p.AttrInt("begin_mask"));
  TENON_ASSIGN_OR_RETURN(m.end, p.AttrInt("end_mask"));
  TENON_ASSIGN_OR_RETURN(m.ellipsis, p.AttrInt("ellipsis_mask"));
  TENON_ASSIGN_OR_RETURN(m.new_axis, p.AttrInt("new_axis_mask"));
  TENON_ASSIGN_OR_RETURN(m.shrink, p.AttrInt("shrink_axis_mask"));
  if (m.ellipsis & (m.ellipsis - 1)) return p.Invalid("only one ellipsis may be given");
  return m;
}

// What inputs 1, 2 and 3 and the masks take from `tensor`.
absl::StatusOr<std::vector<Range>> ReadRanges(const Prepare& p, const Shape& tensor) {
  TENON_ASSIGN_OR_RETURN(const SliceMasks masks, ReadMasks(p));
  TENON_ASSIGN_OR_RETURN(const Dims begin, p.InputInts(1));
  TENON_ASSIGN_OR_RETURN(const Dims end, p.InputInts(2));
  TENON_ASSIGN_OR_RETURN(const Dims strides, p.InputInts(3));
  if (begin.size() != end.size() || begin.size() != strides.size()) {
    return p.Invalid("'begin', 'end' and 'strides' must have equal lengths");
  }
  const int rank = tensor.rank();
  const int count = static_cast<int>(begin.size());
  std::vector<Range> ranges;
  int dim = 0;
  const auto whole_until = [&](int last) {
    for (; dim < last; ++dim) ranges.push_back({dim, 0, 1, tensor.dim(dim)});
  };
  for (int i = 0; i < count; ++i) {
    if (Bit(masks.ellipsis, i)) {
      int later = 0;
      for (int k = i + 1; k < count; ++k) later += !Bit(masks.new_axis, k);
      whole_until(std::min(rank - later, rank));
    } else if (Bit(masks.new_axis, i)) {
      ranges.push_back({});
    } else if (dim >= rank) {
      return p.Invalid(absl::StrCat("the slice has more than ", rank, " dimensions"));
    } else {
      TENON_ASSIGN_OR_RETURN(Range range, ResolveRange(p, masks, i, dim, tensor.dim(dim), begin[i],
                                                       end[i], strides[i]));
      ranges.push_back(range);
      ++dim;
    }
  }
  whole_until(rank);
  return ranges;
}

absl::Status PrepareStridedSlice(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Range> ranges, ReadRanges(p, p.input_shape(0)));
  return SetBlock(p, ranges);
}

// Input `in` goes into the block of output 0, whose rest is as `base` says. Dimensions of 1 in
// `shape`, the input's, repeat.
void SetIntoBlock(Prepare& p, const Block& block, const std::vector<Range>& ranges, CopyPiece base,
                  int in, const Shape& shape) {
  const DataType type = p.output_type(0);
  const Dims from = DenseStrides(shape, static_cast<int64_t>(DataTypeSize(type)));
  CopyPiece piece{in, 0, 0, block.offset, StridedCopy(type)};
  int own = 0;  // dimension of `shape`
  size_t d = 0;
  for (const Range& r : ranges) {
    const int64_t stride = r.keep && shape.dim(own) != 1 ? from[own] : 0;
    own += r.keep;
    if (r.dim < 0) continue;
    piece.copy.AddDim(r.size, stride, block.stride[d]);
    ++d;
  }
  piece.copy.Finish();
  std::vector<CopyPiece> pieces;
  if (!block.whole) pieces.push_back(std::move(base));
  pieces.push_back(std::move(piece));
  SetCopies(p, std::move(pieces));
}

absl::Status PrepareStridedSliceGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  if (p.input_shape(0).rank() != 1) return p.Invalid("'shape' must be a vector");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  TENON_ASSIGN_OR_RETURN(const std::vector<Range> ranges, ReadRanges(p, out));
  const DataType type = p.output_type(0);
  const Block block = FindBlock(ranges, out, type);
  if (!(p.input_shape(4) == block.shape)) {
    return p.Invalid(absl::StrCat("'dy' must have the shape of the slice, ", block.shape.ToString(),
                                  ", it has ", p.input_shape(4).ToString()));
  }
  p.set_output_shape(0, out);
  if (block.whole) {
    p.Alias(0, 4);
  } else {
    SetIntoBlock(p, block, ranges, RepeatPiece(type, out.num_elements()), 4, block.shape);
  }
  return absl::OkStatus();
}

// `shape` without leading dimensions of 1, or with more of them, so that it has `rank` dimensions;
// nullopt where that cannot be.
std::optional<Shape> WithRank(const Shape& shape, int rank) {
  Shape out;
  for (int d = shape.rank(); d < rank; ++d) out.push_back(1);
  for (int d = 0; d < shape.rank(); ++d) {
    if (d >= shape.rank() - rank) {
      out.push_back(shape.dim(d));
    } else if (shape.dim(d) != 1) {
      return std::nullopt;
    }
  }
  return out;
}

bool BroadcastsTo(const Shape& shape, const Shape& to) {
  for (int d = 0; d < to.rank(); ++d) {
    if (shape.dim(d) != 1 && shape.dim(d) != to.dim(d)) return false;
  }
  return true;
}

absl::Status PrepareTensorStridedSliceUpdate(Prepare& p) {
  const Shape& tensor = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Range> ranges, ReadRanges(p, tensor));
  const DataType type = p.output_type(0);
  const Block block = FindBlock(ranges, tensor, type);
  p.set_output_shape(0, tensor);
  if (block.shape.num_elements() == 0) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  const std::optional<Shape> value = WithRank(p.input_shape(4), block.shape.rank());
  if (!value.has_value() || !BroadcastsTo(*value, block.shape)) {
    return p.Invalid(absl::StrCat("'value' must broadcast to the shape of the slice, ",
                                  block.shape.ToString(), ", it has ",
                                  p.input_shape(4).ToString()));
  }
  p.AllowInPlace(0, 0);
  SetIntoBlock(p, block, ranges, WholePiece(type, tensor.num_elements(), 0), 4, *value);
  return absl::OkStatus();
}

absl::Status SetReversed(Prepare& p, const std::vector<bool>& reversed) {
  const Shape& in = p.input_shape(0);
  std::vector<Range> ranges;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t n = in.dim(d);
    if (reversed[d] && n > 0) {
      ranges.push_back({d, n - 1, -1, n});
    } else {
      ranges.push_back({d, 0, 1, n});
    }
  }
  return SetBlock(p, ranges);
}

absl::Status PrepareReverseV2(Prepare& p) {
  const int rank = p.input_shape(0).rank();
  TENON_ASSIGN_OR_RETURN(const Dims axes, p.InputInts(1));
  std::vector<bool> reversed(rank, false);
  for (int64_t a : axes) {
    TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, a, rank));
    if (reversed[axis]) return p.Invalid(absl::StrCat("axis ", axis, " is given twice"));
    reversed[axis] = true;
  }
  return SetReversed(p, reversed);
}

absl::Status PrepareReverse(Prepare& p) {
  const int rank = p.input_shape(0).rank();
  const Tensor* dims = p.input_value(1);
  if (dims == nullptr || dims->num_elements() != rank)
    return p.Invalid("'dims' must have one bool per dimension");
  const bool* flags = dims->flat<bool>();
  return SetReversed(p, std::vector<bool>(flags, flags + rank));
}

}  // namespace

absl::Span<const CpuKernelSpec> SliceKernels() {
  static const CpuKernelSpec specs[] = {
      {"Slice", {}, PrepareSlice, 0b110},
      {"StridedSlice", {}, PrepareStridedSlice, 0b1110},
      {"StridedSliceGrad", {{"T", kCopyTypes}}, PrepareStridedSliceGrad, 0b1111},
      {"TensorStridedSliceUpdate", {{"T", kCopyTypes}}, PrepareTensorStridedSliceUpdate, 0b1110},
      {"ReverseV2", {}, PrepareReverseV2, 0b10},
      {"Reverse", {}, PrepareReverse, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
