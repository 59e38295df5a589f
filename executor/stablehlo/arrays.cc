// Ops that join, pad and turn tensors.
#include <algorithm>

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace arrays_ops {
namespace {

absl::Status Join(Op& op, int first, int count, int64_t axis) {
  Values parts;
  for (int i = 0; i < count; ++i) parts.push_back(op.In(first + i));
  return op.Out(op.b.Concat(parts, axis));
}

absl::Status ConcatV2(Op& op) {
  const int parts = op.num_inputs() - 1;
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(parts, op.InRank(0)));
  return Join(op, 0, parts, axis);
}

absl::Status Concat(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(0, op.InRank(1)));
  return Join(op, 1, op.num_inputs() - 1, axis);
}

absl::Status Pack(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(int64_t axis, op.Int("axis"));
  if (axis < 0) axis += shape.rank();
  Shape one = shape;
  one.set_dim(static_cast<int>(axis), 1);
  Values parts;
  for (int i = 0; i < op.num_inputs(); ++i) parts.push_back(op.b.Reshape(op.In(i), one));
  return op.Out(op.b.Concat(parts, axis));
}

// Shape [N, ...] of N parts of one element along axis 0.
absl::Status ParallelConcat(Op& op) { return Join(op, 0, op.num_inputs(), 0); }

absl::Status Unpack(Op& op) {
  TENON_ASSIGN_OR_RETURN(int64_t axis, op.Int("axis"));
  const Value& x = op.In(0);
  const int at = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
  for (int i = 0; i < op.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape(i));
    op.Out(i, op.b.Reshape(op.b.SliceAxis(x, at, i, i + 1), shape));
  }
  return absl::OkStatus();
}

absl::Status Split(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(0, op.InRank(1)));
  const Value& x = op.In(1);
  const int64_t size = x.shape.dim(static_cast<int>(axis)) / op.num_outputs();
  for (int i = 0; i < op.num_outputs(); ++i)
    op.Out(i, op.b.SliceAxis(x, static_cast<int>(axis), i * size, (i + 1) * size));
  return absl::OkStatus();
}

absl::Status SplitV(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(2, op.InRank(0)));
  const Value& x = op.In(0);
  int64_t at = 0;
  for (int i = 0; i < op.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape(i));
    const int64_t size = shape.dim(static_cast<int>(axis));
    op.Out(i, op.b.SliceAxis(x, static_cast<int>(axis), at, at + size));
    at += size;
  }
  TENON_ASSIGN_OR_RETURN(const Ints sizes, op.IntsOf(1));
  if (at != x.shape.dim(static_cast<int>(axis)) || (sizes.size() == 1 && sizes[0] != at))
    return op.Invalid("the sizes do not sum to the dimension");
  return absl::OkStatus();
}

struct Paddings {
  Ints low, high;
};

absl::StatusOr<Paddings> PaddingsOf(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints ints, op.IntsOf(1));
  Paddings p;
  for (size_t i = 0; i + 1 < ints.size(); i += 2) {
    p.low.push_back(ints[i]);
    p.high.push_back(ints[i + 1]);
  }
  return p;
}

absl::Status Pad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Paddings p, PaddingsOf(op));
  const Value& x = op.In(0);
  const Value filler = op.num_inputs() > 2 ? op.In(2) : op.b.Scalar(x.dtype, 0);
  if (filler.rank() != 0) return op.Invalid("constant_values must be a scalar");
  return op.Out(op.b.Pad(x, filler, p.low, p.high));
}

// The elements of an axis before and behind it, in reverse: REFLECT leaves the edge out.
absl::Status MirrorPad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Paddings p, PaddingsOf(op));
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, op.String("mode"));
  const int64_t skip = mode == "REFLECT" ? 1 : 0;
  Value x = op.In(0);
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = x.shape.dim(i);
    if (std::max(p.low[i], p.high[i]) > size - skip)
      return op.Invalid("a padding is larger than the dimension");
    if (p.low[i] == 0 && p.high[i] == 0) continue;
    Values parts;
    if (p.low[i] > 0)
      parts.push_back(op.b.Reverse(op.b.SliceAxis(x, i, skip, skip + p.low[i]), {i}));
    parts.push_back(x);
    if (p.high[i] > 0)
      parts.push_back(
          op.b.Reverse(op.b.SliceAxis(x, i, size - skip - p.high[i], size - skip), {i}));
    x = op.b.Concat(parts, i);
  }
  return op.Out(x);
}

// Adds what was copied into the padding back to where it came from.
absl::Status MirrorPadGrad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Paddings p, PaddingsOf(op));
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, op.String("mode"));
  const int64_t skip = mode == "REFLECT" ? 1 : 0;
  Value x = op.In(0);
  const Value zero = op.b.Scalar(x.dtype, 0);
  for (int i = x.rank() - 1; i >= 0; --i) {
    const int64_t low = p.low[i], high = p.high[i], size = x.shape.dim(i) - low - high;
    if (std::max(low, high) > size - skip)
      return op.Invalid("a padding is larger than the dimension");
    if (low == 0 && high == 0) continue;
    Value sum = op.b.SliceAxis(x, i, low, low + size);
    const auto add = [&](const Value& part, int64_t at, int64_t length) {
      Ints before(x.rank(), 0), behind(x.rank(), 0);
      before[i] = at;
      behind[i] = size - at - length;
      sum = op.b.Add(sum, op.b.Pad(op.b.Reverse(part, {i}), zero, before, behind));
    };
    if (low > 0) add(op.b.SliceAxis(x, i, 0, low), skip, low);
    if (high > 0)
      add(op.b.SliceAxis(x, i, low + size, low + size + high), size - skip - high, high);
    x = sum;
  }
  return op.Out(x);
}

absl::Status ReverseV2(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints dims, op.AxesOf(1, op.InRank(0)));
  return op.Out(op.b.Reverse(op.In(0), dims));
}

absl::Status Reverse(Op& op) {
  const Tensor* known = op.Known(1);
  if (known == nullptr) return op.IntsOf(1).status();
  if (op.InRank(0) > 0 && op.InShape(0).dim(0) == 0)
    return op.Invalid("the first dimension must not be empty");
  Ints dims;
  for (int64_t i = 0; i < known->num_elements(); ++i) {
    if (known->flat<uint8_t>()[i] != 0) dims.push_back(i);
  }
  return op.Out(op.b.Reverse(op.In(0), dims));
}

absl::Status Roll(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints shifts, op.IntsOf(1));
  TENON_ASSIGN_OR_RETURN(const Ints axes, op.IntsOf(2));
  Value x = op.In(0);
  if (shifts.size() != axes.size()) return op.Invalid("there must be a shift for each axis");
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < -x.rank() || axes[k] >= x.rank()) return op.Invalid("an axis is out of range");
    const int axis = static_cast<int>(axes[k] < 0 ? axes[k] + x.rank() : axes[k]);
    const int64_t size = x.shape.dim(axis);
    if (size == 0) continue;
    const int64_t by = ((shifts[k] % size) + size) % size;
    if (by == 0) continue;
    x = op.b.Concat(
        {op.b.SliceAxis(x, axis, size - by, size), op.b.SliceAxis(x, axis, 0, size - by)}, axis);
  }
  return op.Out(x);
}

// --- Blocks of space. All are a reshape, a transpose and a reshape.

struct BlockFormat {
  bool channels_first = false;
  int64_t block = 1;
};

absl::StatusOr<BlockFormat> BlockFormatOf(Op& op) {
  BlockFormat f;
  TENON_ASSIGN_OR_RETURN(f.block, op.Int("block_size"));
  TENON_ASSIGN_OR_RETURN(const std::string_view format, op.String("data_format"));
  if (format != "NHWC" && format != "NCHW") return op.Unimplemented("this data_format");
  f.channels_first = format == "NCHW";
  return f;
}

absl::Status SpaceToDepth(Op& op) {
  TENON_ASSIGN_OR_RETURN(const BlockFormat f, BlockFormatOf(op));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  const int64_t k = f.block, n = x.shape.dim(0);
  if (f.channels_first) {
    const int64_t c = x.shape.dim(1), h = x.shape.dim(2), w = x.shape.dim(3);
    const Value split = op.b.Reshape(x, Shape({n, c, h / k, k, w / k, k}));
    return op.Out(op.b.Reshape(op.b.Transpose(split, {0, 3, 5, 1, 2, 4}), shape));
  }
  const int64_t h = x.shape.dim(1), w = x.shape.dim(2), c = x.shape.dim(3);
  const Value split = op.b.Reshape(x, Shape({n, h / k, k, w / k, k, c}));
  return op.Out(op.b.Reshape(op.b.Transpose(split, {0, 1, 3, 2, 4, 5}), shape));
}

absl::Status DepthToSpace(Op& op) {
  TENON_ASSIGN_OR_RETURN(const BlockFormat f, BlockFormatOf(op));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  const int64_t k = f.block, n = x.shape.dim(0);
  if (f.channels_first) {
    const int64_t c = x.shape.dim(1) / (k * k), h = x.shape.dim(2), w = x.shape.dim(3);
    const Value split = op.b.Reshape(x, Shape({n, k, k, c, h, w}));
    return op.Out(op.b.Reshape(op.b.Transpose(split, {0, 3, 4, 1, 5, 2}), shape));
  }
  const int64_t h = x.shape.dim(1), w = x.shape.dim(2), c = x.shape.dim(3) / (k * k);
  const Value split = op.b.Reshape(x, Shape({n, h, w, k, k, c}));
  return op.Out(op.b.Reshape(op.b.Transpose(split, {0, 1, 3, 2, 4, 5}), shape));
}

// Pads the axes 1 to m and brings the places within blocks to the batch.
Value ToBatch(Op& op, Value x, const Ints& blocks, const Paddings& p) {
  const int m = static_cast<int>(blocks.size());
  Ints low(x.rank(), 0), high(x.rank(), 0);
  for (int i = 0; i < m; ++i) {
    low[i + 1] = p.low[i];
    high[i + 1] = p.high[i];
  }
  x = op.b.Pad(x, op.b.Scalar(x.dtype, 0), low, high);
  Shape split({x.shape.dim(0)}), joined;
  Ints perm, spaces;
  int64_t batch = x.shape.dim(0);
  for (int i = 0; i < m; ++i) {
    perm.push_back(split.rank() + 1);
    spaces.push_back(split.rank());
    split.push_back(x.shape.dim(i + 1) / blocks[i]);
    split.push_back(blocks[i]);
    batch *= blocks[i];
  }
  perm.push_back(0);
  perm.insert(perm.end(), spaces.begin(), spaces.end());
  joined.push_back(batch);
  for (int i = 0; i < m; ++i) joined.push_back(x.shape.dim(i + 1) / blocks[i]);
  for (int i = m + 1; i < x.rank(); ++i) {
    perm.push_back(split.rank());
    split.push_back(x.shape.dim(i));
    joined.push_back(x.shape.dim(i));
  }
  return op.b.Reshape(op.b.Transpose(op.b.Reshape(x, split), perm), joined);
}

Value FromBatch(Op& op, const Value& x, const Ints& blocks, const Paddings& crops) {
  const int m = static_cast<int>(blocks.size());
  int64_t batch = x.shape.dim(0);
  Shape split, joined;
  for (const int64_t block : blocks) {
    split.push_back(block);
    batch /= block;
  }
  split.push_back(batch);
  joined.push_back(batch);
  Ints perm = {m};
  for (int i = 1; i < x.rank(); ++i) {
    perm.push_back(split.rank());
    if (i <= m) perm.push_back(i - 1);
    split.push_back(x.shape.dim(i));
    joined.push_back(i <= m ? x.shape.dim(i) * blocks[i - 1] : x.shape.dim(i));
  }
  const Value whole = op.b.Reshape(op.b.Transpose(op.b.Reshape(x, split), perm), joined);
  Ints begin(whole.rank(), 0), limit(joined.dims().begin(), joined.dims().end());
  for (int i = 0; i < m; ++i) {
    begin[i + 1] = crops.low[i];
    limit[i + 1] -= crops.high[i];
  }
  return op.b.Slice(whole, begin, limit);
}

// The inputs `blocks`, with as many for each axis from 1 on, and `paddings` or `crops`.
template <bool kToBatch>
absl::Status SpaceBatchND(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints blocks, op.IntsOf(1));
  TENON_ASSIGN_OR_RETURN(const Ints ints, op.IntsOf(2));
  Paddings p;
  for (size_t i = 0; i + 1 < ints.size(); i += 2) {
    p.low.push_back(ints[i]);
    p.high.push_back(ints[i + 1]);
  }
  return op.Out(kToBatch ? ToBatch(op, op.In(0), blocks, p) : FromBatch(op, op.In(0), blocks, p));
}

template <bool kToBatch>
absl::Status SpaceBatch(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t block, op.Int("block_size"));
  TENON_ASSIGN_OR_RETURN(const Paddings p, PaddingsOf(op));
  const Ints blocks = {block, block};
  return op.Out(kToBatch ? ToBatch(op, op.In(0), blocks, p) : FromBatch(op, op.In(0), blocks, p));
}

constexpr Row kRows[] = {
    {"ConcatV2", ConcatV2, kAll, kLastInput},
    {"Concat", Concat, kAll, In(0)},
    {"Pack", Pack, kAll},
    {"ParallelConcat", ParallelConcat, kAll},
    {"Unpack", Unpack, kAll},
    {"Split", Split, kAll, In(0)},
    {"SplitV", SplitV, kAll, In(1) | In(2)},
    {"Pad", Pad, kAll, In(1)},
    {"PadV2", Pad, kAll, In(1)},
    {"MirrorPad", MirrorPad, kAll, In(1)},
    {"MirrorPadGrad", MirrorPadGrad, kNumbers, In(1)},
    {"ReverseV2", ReverseV2, kAll, In(1)},
    {"Reverse", Reverse, kAll, In(1)},
    {"Roll", Roll, kAll, In(1) | In(2)},
    {"SpaceToDepth", SpaceToDepth, kAll},
    {"DepthToSpace", DepthToSpace, kAll},
    {"SpaceToBatchND", SpaceBatchND<true>, kAll, In(1) | In(2)},
    {"BatchToSpaceND", SpaceBatchND<false>, kAll, In(1) | In(2)},
    {"SpaceToBatch", SpaceBatch<true>, kAll, In(1)},
    {"BatchToSpace", SpaceBatch<false>, kAll, In(1)},
};

}  // namespace
}  // namespace arrays_ops

Rows ArrayRows() { return arrays_ops::kRows; }

}  // namespace tenon::stablehlo
