// Slice, StridedSlice and reversing: a block of the input under other strides; and what writes such
// a block, StridedSliceGrad and TensorStridedSliceUpdate.
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/slice_ranges.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Output 0 becomes the block of input 0 that the ranges describe.
absl::Status SetBlock(Prepare& p, const std::vector<SliceRange>& ranges) {
  const DataType type = p.input_type(0);
  const SliceBlock block = FindBlock(ranges, p.input_shape(0), type);
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
  const Shape &begins = p.input_shape(1), &sizes = p.input_shape(2);
  if (begins.rank() != 1 || sizes.rank() != 1) {
    return p.Invalid(absl::StrCat("Expected begin and size arguments to be 1-D tensors of size ",
                                  in.rank(), ", but got shapes ", begins.ToString(), " and ",
                                  sizes.ToString(), " instead."));
  }
  TENON_ASSIGN_OR_RETURN(const Dims begin, p.InputInts(1));
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(2));
  if (static_cast<int>(begin.size()) != in.rank() || static_cast<int>(size.size()) != in.rank()) {
    return p.Invalid(absl::StrCat("'begin' and 'size' must have ", in.rank(), " elements each"));
  }
  std::vector<SliceRange> ranges;
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t count = size[d] == -1 ? in.dim(d) - begin[d] : size[d];
    if (begin[d] < 0 || begin[d] > in.dim(d)) {
      return p.Invalid(
          absl::StrCat("Expected begin[", d, "] in [0, ", in.dim(d), "], but got ", begin[d]));
    }
    if (count < 0 || count > in.dim(d) - begin[d]) {
      return p.Invalid(absl::StrCat("Expected size[", d, "] in [0, ", in.dim(d) - begin[d],
                                    "], but got ", size[d]));
    }
    ranges.push_back({d, begin[d], 1, count});
  }
  return SetBlock(p, ranges);
}

// What inputs 1, 2 and 3 and the masks take from `tensor`.
absl::StatusOr<std::vector<SliceRange>> ReadRanges(const Prepare& p, const Shape& tensor) {
  const Shape &begins = p.input_shape(1), &ends = p.input_shape(2), &steps = p.input_shape(3);
  if (begins.rank() != 1 || ends.rank() != 1 || steps.rank() != 1) {
    return p.Invalid(absl::StrCat(
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes ",
        begins.ToString(), ", ", ends.ToString(), ", and ", steps.ToString(), " instead."));
  }
  TENON_ASSIGN_OR_RETURN(const SliceMasks masks, ReadSliceMasks(p));
  TENON_ASSIGN_OR_RETURN(const Dims begin, p.InputInts(1));
  TENON_ASSIGN_OR_RETURN(const Dims end, p.InputInts(2));
  TENON_ASSIGN_OR_RETURN(const Dims strides, p.InputInts(3));
  absl::StatusOr<std::vector<SliceRange>> ranges = ResolveSlice(masks, begin, end, strides, tensor);
  return ranges.ok() ? std::move(ranges) : p.Invalid(ranges.status().message());
}

absl::Status PrepareStridedSlice(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, ReadRanges(p, p.input_shape(0)));
  return SetBlock(p, ranges);
}

// Input `in` goes into the block of output 0, whose rest is as `base` says. Dimensions of 1 in
// `shape`, the input's, repeat.
void SetIntoBlock(Prepare& p, const SliceBlock& block, const std::vector<SliceRange>& ranges,
                  CopyPiece base, int in, const Shape& shape) {
  std::vector<CopyPiece> pieces;
  if (!block.whole) pieces.push_back(std::move(base));
  pieces.push_back({in, 0, 0, block.offset, CopyIntoBlock(p.output_type(0), block, ranges, shape)});
  SetCopies(p, std::move(pieces));
}

absl::Status PrepareStridedSliceGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  if (p.input_shape(0).rank() != 1) return p.Invalid("'shape' must be a vector");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, ReadRanges(p, out));
  const DataType type = p.output_type(0);
  const SliceBlock block = FindBlock(ranges, out, type);
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

absl::Status PrepareTensorStridedSliceUpdate(Prepare& p) {
  const Shape& tensor = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, ReadRanges(p, tensor));
  const DataType type = p.output_type(0);
  const SliceBlock block = FindBlock(ranges, tensor, type);
  p.set_output_shape(0, tensor);
  if (block.shape.num_elements() == 0) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  const std::optional<Shape> value = BroadcastSource(p.input_shape(4), block.shape);
  if (!value.has_value()) {
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
  std::vector<SliceRange> ranges;
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
  // As in TensorFlow, of a scalar and of an empty tensor nobody asks which axes are given.
  if (rank == 0 || p.input_shape(0).num_elements() == 0)
    return SetReversed(p, std::vector<bool>(rank, false));
  if (p.input_shape(1).rank() != 1) return p.Invalid("'axis' must be a vector");
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
  // As in TensorFlow, of a scalar nobody asks what 'dims' is.
  if (rank == 0) return SetReversed(p, {});
  if (p.input_shape(0).dim(0) == 0) return p.Invalid("the first dimension must not be 0");
  if (p.input_shape(1).rank() != 1) {
    return p.Invalid(absl::StrCat("'dims' must be 1-dimension, not ", p.input_shape(1).rank()));
  }
  const Tensor* dims = p.input_value(1);
  if (dims == nullptr || dims->num_elements() != rank)
    return p.Invalid("'dims' must have one bool per dimension");
  const bool* flags = dims->flat<bool>();
  return SetReversed(p, std::vector<bool>(flags, flags + rank));
}

}  // namespace

absl::Span<const CpuKernelSpec> SliceKernels() {
  static const CpuKernelSpec specs[] = {
      {"Slice", {{"T", kEveryType}}, PrepareSlice, 0b110},
      {"StridedSlice", {{"T", kEveryType}}, PrepareStridedSlice, 0b1110},
      {"StridedSliceGrad", {{"T", kCopyTypes}}, PrepareStridedSliceGrad, 0b1111},
      {"TensorStridedSliceUpdate", {{"T", kCopyTypes}}, PrepareTensorStridedSliceUpdate, 0b1110},
      {"ReverseV2", {{"T", kEveryType}}, PrepareReverseV2, 0b10},
      {"Reverse", {{"T", kEveryType}}, PrepareReverse, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
