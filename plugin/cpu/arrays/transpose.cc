// Reordering: Transpose, and the ops that are a reshape, a transpose and a pad or crop of blocks.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/pad.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<Dims> ReadPermutation(const Prepare& p) {
  const int rank = p.input_shape(0).rank();
  TENON_ASSIGN_OR_RETURN(Dims perm, p.InputInts(1));
  if (static_cast<int>(perm.size()) != rank)
    return p.Invalid(absl::StrCat("'perm' must have ", rank, " elements"));
  std::vector<bool> seen(rank, false);
  for (int64_t& d : perm) {
    TENON_ASSIGN_OR_RETURN(d, NormalizeAxis(p, d, rank));
    if (seen[d]) return p.Invalid(absl::StrCat("'perm' has dimension ", d, " twice"));
    seen[d] = true;
  }
  return perm;
}

StridedCopy TransposeCopy(DataType type, const Shape& in, const Dims& perm, const Shape& out) {
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const Dims from = DenseStrides(in, bytes);
  const Dims to = DenseStrides(out, bytes);
  StridedCopy copy(type);
  for (int d = 0; d < out.rank(); ++d) copy.AddDim(out.dim(d), from[perm[d]], to[d]);
  copy.Finish();
  return copy;
}

struct TransposeState {
  StridedCopy copy;
  int64_t conjugate = 0;  // elements of the result to conjugate
  DataType type;
};

template <typename T>
void Conjugate(void* data, int64_t n) {
  T* parts = static_cast<T*>(data);
  for (int64_t i = 0; i < n; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
}

absl::Status RunTranspose(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TransposeState*>(state);
  s.copy.Run(args.in[0], args.out[0], args.workers);
  if (s.type == DataType::kComplex64) Conjugate<float>(args.out[0], s.conjugate);
  if (s.type == DataType::kComplex128) Conjugate<double>(args.out[0], s.conjugate);
  return absl::OkStatus();
}

// Whether the elements stay in order: only dimensions of size 1 move.
bool KeepsOrder(const Shape& in, const Dims& perm) {
  int64_t last = -1;
  for (int64_t d : perm) {
    if (in.dim(static_cast<int>(d)) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

absl::Status PrepareTranspose(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims perm, ReadPermutation(p));
  Shape out;
  for (int64_t d : perm) out.push_back(in.dim(static_cast<int>(d)));
  p.set_output_shape(0, out);
  const DataType type = p.input_type(0);
  const bool conjugates = p.op().name == "ConjugateTranspose" && IsComplex(type);
  if (!conjugates && KeepsOrder(in, perm)) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  auto state = std::make_shared<TransposeState>(TransposeState{
      TransposeCopy(type, in, perm, out), conjugates ? out.num_elements() : 0, type});
  p.set_run(&RunTranspose, std::move(state));
  return absl::OkStatus();
}

// Space to batch and back. Both sides see the spatial data as [batch, position, block offset,
// rest]; padding (cropping) cuts the positions that exist on both sides.
struct BatchSpace {
  std::vector<int64_t> block;
  std::vector<int64_t> before, after;  // padding or crops per block dimension
};

constexpr int64_t kMostPadding = int64_t{1} << 60;  // below it no sum here overflows

absl::StatusOr<BatchSpace> ReadBatchSpace(const Prepare& p, bool with_block_input) {
  BatchSpace b;
  const int rank = p.input_shape(0).rank();
  const int pad_input = with_block_input ? 2 : 1;
  if (with_block_input) {
    if (p.input_shape(1).rank() != 1) return p.Invalid("'block_shape' must be a vector");
    TENON_ASSIGN_OR_RETURN(const Dims block, p.InputInts(1));
    b.block.assign(block.begin(), block.end());
  } else {
    TENON_ASSIGN_OR_RETURN(const int64_t size, p.AttrInt("block_size"));
    if (rank != 4) return p.Invalid("the tensor must have 4 dimensions");
    b.block = {size, size};
  }
  const int64_t m = static_cast<int64_t>(b.block.size());
  if (rank < m + 1)
    return p.Invalid(absl::StrCat("the tensor must have at least ", m + 1, " dimensions"));
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p, pad_input, m));
  for (int64_t i = 0; i < m; ++i) {
    if (b.block[i] < 1)
      return p.Invalid(absl::StrCat("block sizes must be positive: ", b.block[i]));
    if (std::max(pads[2 * i], pads[2 * i + 1]) > kMostPadding)
      return p.Invalid(absl::StrCat("paddings and crops must not exceed ", kMostPadding));
    b.before.push_back(pads[2 * i]);
    b.after.push_back(pads[2 * i + 1]);
  }
  return b;
}

// One copy per position in the block that meets the large side: its rows `offset + k * block`
// against rows k of the small side. `large` is the shape with the spatial dimensions joined (of the
// op that has them joined), `small` the one in batches.
struct BlockRange {
  int64_t small_begin, large_begin, count;
};
BlockRange OverlapOf(int64_t block, int64_t offset, int64_t before, int64_t large, int64_t small) {
  // Row k of the small side is row k * block + offset - before of the large one.
  const int64_t shift = offset - before;
  int64_t first = shift >= 0 ? 0 : (-shift + block - 1) / block;
  int64_t end = small;
  if (large <= shift) {
    end = 0;
  } else {
    end = std::min(small, (large - shift + block - 1) / block);
  }
  first = std::min(first, end);
  return {first, first * block + shift, end - first};
}

struct BatchSpaceState {
  CopyState copies;
  int64_t zero_bytes = 0;
};

absl::Status RunBatchSpace(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BatchSpaceState*>(state);
  if (s.zero_bytes > 0) std::memset(args.out[0], 0, s.zero_bytes);
  RunCopies(s.copies, args.in, args.out, args.workers);
  return absl::OkStatus();
}

absl::Status SetBatchSpace(Prepare& p, const BatchSpace& b, const Shape& large, const Shape& small,
                           bool to_batch) {
  const int m = static_cast<int>(b.block.size());
  const DataType type = p.input_type(0);
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const Dims large_stride = DenseStrides(large, bytes);
  const Dims small_stride = DenseStrides(small, bytes);
  const int64_t batch = large.dim(0);
  int64_t copies = large.num_elements() == 0 || small.num_elements() == 0 ? 0 : 1;
  bool padded = false;
  Dims met(m);  // positions in the block: that of row 0 and the following
  for (int i = 0; i < m; ++i) {
    met[i] = std::min(b.block[i], large.dim(i + 1));
    if (copies > 0) copies *= met[i];
    padded = padded || b.before[i] != 0 || b.after[i] != 0;
  }
  auto state = std::make_shared<BatchSpaceState>();
  if (to_batch && padded) state->zero_bytes = small.num_elements() * bytes;
  for (int64_t c = 0; c < copies; ++c) {
    StridedCopy copy(type);
    Dims at(m);
    int64_t rest = c;
    for (int i = m - 1; i >= 0; --i) {
      at[i] = (b.before[i] + rest % met[i]) % b.block[i];
      rest /= met[i];
    }
    int64_t place = 0;  // in the block
    for (int i = 0; i < m; ++i) place = place * b.block[i] + at[i];
    int64_t small_at = place * batch * small_stride[0];
    int64_t large_at = 0;
    const auto add = [&](int64_t n, int64_t of_large, int64_t of_small) {
      copy.AddDim(n, to_batch ? of_large : of_small, to_batch ? of_small : of_large);
    };
    add(batch, large_stride[0], small_stride[0]);
    for (int i = 0; i < m; ++i) {
      const BlockRange range =
          OverlapOf(b.block[i], at[i], b.before[i], large.dim(i + 1), small.dim(i + 1));
      small_at += range.small_begin * small_stride[i + 1];
      large_at += range.large_begin * large_stride[i + 1];
      add(range.count, large_stride[i + 1] * b.block[i], small_stride[i + 1]);
    }
    for (int d = m + 1; d < large.rank(); ++d) add(large.dim(d), large_stride[d], small_stride[d]);
    copy.Finish();
    if (copy.bytes() == 0) continue;
    state->copies.pieces.push_back(
        {0, 0, to_batch ? large_at : small_at, to_batch ? small_at : large_at, std::move(copy)});
  }
  p.set_output_shape(0, to_batch ? small : large);
  p.set_run(&RunBatchSpace, std::move(state));
  return absl::OkStatus();
}

absl::Status PrepareToBatch(Prepare& p, bool with_block_input) {
  TENON_ASSIGN_OR_RETURN(const BatchSpace b, ReadBatchSpace(p, with_block_input));
  const Shape& in = p.input_shape(0);
  Dims dims(in.dims().begin(), in.dims().end());
  for (size_t i = 0; i < b.block.size(); ++i) {
    const int64_t padded = in.dim(static_cast<int>(i) + 1) + b.before[i] + b.after[i];
    if (padded % b.block[i] != 0) {
      return p.Invalid(absl::StrCat("the padded dimension ", i + 1, " is ", padded,
                                    ", no multiple of the block's ", b.block[i]));
    }
    dims[i + 1] = padded / b.block[i];
    if (__builtin_mul_overflow(dims[0], b.block[i], &dims[0]))
      return p.Invalid("the batch is too large");
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  return SetBatchSpace(p, b, in, out, true);
}

absl::Status PrepareToSpace(Prepare& p, bool with_block_input) {
  TENON_ASSIGN_OR_RETURN(const BatchSpace b, ReadBatchSpace(p, with_block_input));
  const Shape& in = p.input_shape(0);
  Dims dims(in.dims().begin(), in.dims().end());
  int64_t blocks = 1;
  for (size_t i = 0; i < b.block.size(); ++i) {
    if (__builtin_mul_overflow(blocks, b.block[i], &blocks) ||
        __builtin_mul_overflow(dims[i + 1], b.block[i], &dims[i + 1])) {
      return p.Invalid("the blocks are too large");
    }
    dims[i + 1] -= b.before[i] + b.after[i];
    if (dims[i + 1] < 0)
      return p.Invalid(absl::StrCat("the crops leave nothing of dimension ", i + 1));
  }
  if (dims[0] % blocks != 0)
    return p.Invalid(absl::StrCat("the batch of ", dims[0], " is no multiple of ", blocks));
  dims[0] /= blocks;
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  return SetBatchSpace(p, b, out, in, false);
}

absl::Status PrepareSpaceToBatchNd(Prepare& p) { return PrepareToBatch(p, true); }
absl::Status PrepareSpaceToBatch(Prepare& p) { return PrepareToBatch(p, false); }
absl::Status PrepareBatchToSpaceNd(Prepare& p) { return PrepareToSpace(p, true); }
absl::Status PrepareBatchToSpace(Prepare& p) { return PrepareToSpace(p, false); }

// NHWC only, as on TensorFlow's CPU: [n, h, b, w, b, c] against [n, h, w, b, b, c].
absl::Status PrepareDepthSpace(Prepare& p) {
  const bool to_depth = p.op().name == "SpaceToDepth";
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t b, p.AttrInt("block_size"));
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  if (format != "NHWC") return p.Unimplemented(absl::StrCat("data format ", format, "; only NHWC"));
  if (in.rank() != 4) return p.Invalid("the tensor must have 4 dimensions");
  if (b < 2) return p.Invalid(absl::StrCat("the block size must be above 1: ", b));
  if (b > std::numeric_limits<int32_t>::max())
    return p.Invalid(absl::StrCat("the block size is out of range for an int32: ", b));
  const int64_t h = to_depth ? in.dim(1) / b : in.dim(1);
  const int64_t w = to_depth ? in.dim(2) / b : in.dim(2);
  const int64_t c = to_depth ? in.dim(3) : in.dim(3) / b / b;
  if (to_depth ? in.dim(1) % b != 0 || in.dim(2) % b != 0 : in.dim(3) % (b * b) != 0) {
    return p.Invalid(absl::StrCat("the shape is no multiple of the block size ", b));
  }
  const Shape joined({in.dim(0), h, b, w, b, c}), split({in.dim(0), h, w, b, b, c});
  const Dims perm = {0, 1, 3, 2, 4, 5};  // its own inverse
  Dims out = {in.dim(0), h, w, c};
  const bool overflows =
      to_depth ? __builtin_mul_overflow(b * b, c, &out[3])
               : __builtin_mul_overflow(h, b, &out[1]) || __builtin_mul_overflow(w, b, &out[2]);
  if (overflows) return p.Invalid(absl::StrCat("the block size is too large: ", b));
  TENON_ASSIGN_OR_RETURN(const Shape out_shape, CheckedShape(p, out));
  p.set_output_shape(0, out_shape);
  const DataType type = p.input_type(0);
  auto state = std::make_shared<TransposeState>(
      TransposeState{to_depth ? TransposeCopy(type, joined, perm, split)
                              : TransposeCopy(type, split, perm, joined),
                     0, type});
  p.set_run(&RunTranspose, std::move(state));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TransposeKernels() {
  static const CpuKernelSpec specs[] = {
      {"Transpose", {{"T", kEveryType}}, PrepareTranspose, 0b10},
      {"ConjugateTranspose", {{"T", kEveryType}}, PrepareTranspose, 0b10},
      {"SpaceToBatchND", {{"T", kEveryType}}, PrepareSpaceToBatchNd, 0b110},
      {"BatchToSpaceND", {{"T", kEveryType}}, PrepareBatchToSpaceNd, 0b110},
      {"SpaceToBatch", {{"T", kEveryType}}, PrepareSpaceToBatch, 0b10},
      {"BatchToSpace", {{"T", kEveryType}}, PrepareBatchToSpace, 0b10},
      {"SpaceToDepth", {{"T", kEveryType}}, PrepareDepthSpace},
      {"DepthToSpace", {{"T", kEveryType}}, PrepareDepthSpace},
  };
  return specs;
}

}  // namespace tenon::cpu
