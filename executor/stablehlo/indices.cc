// Gathers and scatters.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace indices_ops {
namespace {

// All of the indices lie in [0, size): at once where they are known, else as a flag of the run.
absl::Status CheckRange(Op& op, int input, int64_t size) {
  if (op.Known(input) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Ints ints, op.IntsOf(input));
    for (const int64_t i : ints) {
      if (i < 0 || i >= size) return op.Invalid("an index is out of range");
    }
    return absl::OkStatus();
  }
  const Value& indices = op.In(input);
  op.CheckAll(op.b.And(op.b.Compare("GE", indices, 0.0),
                       op.b.Compare("LT", indices, static_cast<double>(size))),
              absl::StrCat("an index is not in [0, ", size, ")"));
  return absl::OkStatus();
}

int64_t ProductOf(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= shape.dim(i);
  return product;
}

// Gathers along `axis`, where the first `batch` dimensions of both are shared.
absl::Status GatherAlong(Op& op, int64_t axis, int64_t batch) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value &x = op.In(0), &indices = op.In(1);
  const int at = static_cast<int>(axis), shared = static_cast<int>(batch);
  const int64_t size = x.shape.dim(at);
  // TensorFlow does not look at indices where there is nothing to gather.
  if (shape.num_elements() == 0) return op.Out(op.b.Full(x.dtype, shape, 0));
  if (size == 0) return op.Invalid("there is no index in an axis without elements");
  TENON_RETURN_IF_ERROR(CheckRange(op, 1, size));
  const int64_t b = ProductOf(x.shape, 0, shared), outer = ProductOf(x.shape, shared, at),
                inner = ProductOf(x.shape, at + 1, x.rank());
  const int64_t k = indices.shape.num_elements() / b;
  if (b == 1) {
    const Value flat = op.b.Reshape(x, Shape({outer, size, inner}));
    const GatherDims dims = {.offset_dims = {0, 2},
                             .collapsed_slice_dims = {1},
                             .start_index_map = {1},
                             .slice_sizes = {outer, 1, inner},
                             .index_vector_dim = 1};
    const Value out =
        op.b.Gather(flat, op.b.Reshape(indices, Shape({k})), dims, Shape({outer, k, inner}));
    return op.Out(op.b.Reshape(out, shape));
  }
  const Value flat = op.b.Reshape(x, Shape({b, outer, size, inner}));
  const Value ids = op.b.Reshape(indices, Shape({b, k, 1}));
  const Value rows = op.b.Iota(indices.dtype, Shape({b, k, 1}), 0);
  const GatherDims dims = {.offset_dims = {1, 3},
                           .collapsed_slice_dims = {0, 2},
                           .start_index_map = {0, 2},
                           .slice_sizes = {1, outer, 1, inner},
                           .index_vector_dim = 2};
  const Value out =
      op.b.Gather(flat, op.b.Concat({rows, ids}, 2), dims, Shape({b, outer, k, inner}));
  return op.Out(op.b.Reshape(out, shape));
}

absl::Status GatherV2(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(2, op.InRank(0)));
  TENON_ASSIGN_OR_RETURN(int64_t batch, op.Int("batch_dims"));
  if (batch < 0) batch += op.InRank(1);
  return GatherAlong(op, axis, batch);
}

absl::Status Gather(Op& op) { return GatherAlong(op, 0, 0); }

// Whether indices out of range are passed over.
absl::StatusOr<bool> SkipsBadIndices(Op& op) {
  if (!op.shapes().HasAttr("bad_indices_policy")) return false;
  TENON_ASSIGN_OR_RETURN(const std::string_view policy, op.String("bad_indices_policy"));
  if (policy == "IGNORE") return true;
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return false;
  return op.Invalid("'bad_indices_policy' must be DEFAULT, ERROR, IGNORE or empty");
}

// Which of the vectors along the last axis of the indices name elements of the first axes of a
// tensor of `shape`: true for each part that does.
Value InRange(Op& op, const Value& indices, const Shape& shape) {
  const int depth = static_cast<int>(indices.shape.dim(indices.rank() - 1));
  Ints sizes;
  for (int i = 0; i < depth; ++i) sizes.push_back(shape.dim(i));
  const Value limit =
      op.b.Broadcast(op.b.Vector(indices.dtype, sizes), indices.shape, {indices.rank() - 1});
  return op.b.And(op.b.Compare("GE", indices, 0.0), op.b.Compare("LT", indices, limit));
}

// Checks the vectors, unless bad ones are passed over.
absl::Status CheckVectors(Op& op, int input, const Shape& shape) {
  TENON_ASSIGN_OR_RETURN(const bool skips, SkipsBadIndices(op));
  const Value& indices = op.In(input);
  if (!skips && indices.shape.num_elements() > 0)
    op.CheckAll(InRange(op, indices, shape), "indices are out of bounds");
  return absl::OkStatus();
}

absl::Status GatherNd(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value &x = op.In(0), &indices = op.In(1);
  if (x.rank() == 0) return op.Invalid("there must be a dimension to gather from");
  const int depth = static_cast<int>(indices.shape.dim(indices.rank() - 1));
  const int outer = indices.rank() - 1;
  if (shape.num_elements() == 0) return op.Out(op.b.Full(x.dtype, shape, 0));
  TENON_ASSIGN_OR_RETURN(const bool skips, SkipsBadIndices(op));
  if (x.shape.num_elements() == 0) {
    if (!skips) return op.Invalid("there is nothing to gather from");
    return op.Out(op.b.Full(x.dtype, shape, 0));
  }
  TENON_RETURN_IF_ERROR(CheckVectors(op, 1, x.shape));
  if (depth == 0) {
    Ints dims;
    for (int i = 0; i < x.rank(); ++i) dims.push_back(outer + i);
    return op.Out(op.b.Broadcast(x, shape, dims));
  }
  GatherDims dims;
  dims.index_vector_dim = outer;
  for (int i = 0; i < x.rank(); ++i) {
    dims.slice_sizes.push_back(i < depth ? 1 : x.shape.dim(i));
    if (i < depth) {
      dims.collapsed_slice_dims.push_back(i);
      dims.start_index_map.push_back(i);
    } else {
      dims.offset_dims.push_back(outer + i - depth);
    }
  }
  const Value out = op.b.Gather(x, indices, dims, shape);
  if (!skips) return op.Out(out);
  // What lies out of range is 0.
  const Value yes = op.b.Scalar(DataType::kBool, 1);
  const Value whole = op.b.Reduce("and", InRange(op, indices, x.shape), yes, {outer});
  Ints axes;
  for (int i = 0; i < outer; ++i) axes.push_back(i);
  return op.Out(op.b.Select(op.b.Broadcast(whole, shape, axes), out, op.b.Like(out, 0)));
}

// Scatters updates, whose first dimensions are those of `indices` but the last, into `base`.
Value ScatterVectors(Op& op, std::string_view combine, const Value& base, const Value& indices,
                     const Value& updates) {
  const int depth = static_cast<int>(indices.shape.dim(indices.rank() - 1));
  const int outer = indices.rank() - 1;
  ScatterDims dims;
  dims.index_vector_dim = outer;
  for (int i = outer; i < updates.rank(); ++i) dims.update_window_dims.push_back(i);
  for (int i = 0; i < depth; ++i) {
    dims.inserted_window_dims.push_back(i);
    dims.scatter_dims_to_operand_dims.push_back(i);
  }
  return op.b.Scatter(combine, base, indices, updates, dims);
}

// Booleans have no sum: true where any is true.
std::string_view Adding(DataType t) { return t == DataType::kBool ? "or" : "add"; }

// Of indices, updates and target either none is empty, or there is nothing to scatter.
absl::Status CheckEmpty(Op& op, const Shape& indices, const Shape& updates, const Shape& target) {
  const bool has_indices = indices.num_elements() > 0, has_updates = updates.num_elements() > 0;
  if (has_indices == has_updates && (!has_indices || target.num_elements() > 0))
    return absl::OkStatus();
  return op.Invalid("some of indices, updates and target are empty and others are not");
}

// indices, updates, shape
absl::Status ScatterNd(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value &indices = op.In(0), &updates = op.In(1);
  const Value base = op.b.Full(op.OutType(0), shape, 0);
  TENON_RETURN_IF_ERROR(CheckEmpty(op, indices.shape, updates.shape, shape));
  if (updates.shape.num_elements() == 0 || shape.num_elements() == 0) return op.Out(base);
  TENON_RETURN_IF_ERROR(CheckVectors(op, 0, shape));
  return op.Out(ScatterVectors(op, Adding(base.dtype), base, indices, updates));
}

// tensor, indices, updates
template <OpName kName>
absl::Status TensorScatter(Op& op) {
  const Value &x = op.In(0), &indices = op.In(1);
  Value updates = op.In(2);
  if (updates.rank() == 0) return op.Invalid("the updates must have a dimension at least");
  TENON_RETURN_IF_ERROR(CheckEmpty(op, indices.shape, updates.shape, x.shape));
  if (indices.shape.num_elements() == 0 || x.shape.num_elements() == 0) return op.Out(x);
  TENON_RETURN_IF_ERROR(CheckVectors(op, 1, x.shape));
  // The shape of the updates: that of the indices but the last, then the rest of the tensor's.
  Shape want;
  for (int i = 0; i + 1 < indices.rank(); ++i) want.push_back(indices.shape.dim(i));
  for (int i = static_cast<int>(indices.shape.dim(indices.rank() - 1)); i < x.rank(); ++i)
    want.push_back(x.shape.dim(i));
  if (updates.shape != want) return op.Invalid("the updates do not fit the indices");
  std::string_view combine = kName.text;
  if (combine == "subtract") {
    updates = op.b.Neg(updates);
    combine = "add";
  }
  return op.Out(ScatterVectors(op, combine, x, indices, updates));
}

enum class Neutral : uint8_t { kZero, kOne, kLeast, kMost };

Value NeutralOf(Op& op, Neutral neutral, DataType type, const Shape& shape) {
  // Segments without elements have the least and the greatest finite value, not infinities.
  const bool least = neutral == Neutral::kLeast;
  if (neutral == Neutral::kZero) return op.b.Full(type, shape, 0);
  if (neutral == Neutral::kOne) return op.b.Full(type, shape, 1);
  if (!IsFloating(type)) return least ? op.b.Lowest(type, shape) : op.b.Highest(type, shape);
  double most = std::numeric_limits<float>::max();
  if (type == DataType::kDouble) most = std::numeric_limits<double>::max();
  if (type == DataType::kHalf) most = 65504;
  if (type == DataType::kBfloat16) most = 0x1.fep127;
  return op.b.Full(type, shape, least ? -most : most);
}

// data, segment_ids, num_segments. Negative ids are dropped.
template <OpName kName, Neutral kNeutral>
absl::Status UnsortedSegment(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value &x = op.In(0), &ids = op.In(1);
  if (ids.rank() > x.rank() ||
      !std::ranges::equal(ids.shape.dims(), x.shape.dims().first(ids.rank())))
    return op.Invalid("the data's shape does not begin with that of the segment ids");
  const Value base = NeutralOf(op, kNeutral, x.dtype, shape);
  if (x.shape.num_elements() == 0) return op.Out(base);
  if (ids.shape.num_elements() > 0)
    op.CheckAll(op.b.Compare("LT", ids, static_cast<double>(shape.dim(0))),
                "a segment id is out of range");
  if (shape.num_elements() == 0) return op.Out(base);
  Shape indices = ids.shape;
  indices.push_back(1);
  return op.Out(ScatterVectors(op, kName.text, base, op.b.Reshape(ids, indices), x));
}

constexpr Row kRows[] = {
    {"Where", nullptr, kAll},
    {"Unique", nullptr, kAll},
    {"UniqueV2", nullptr, kAll},
    {"UniqueWithCounts", nullptr, kAll},
    {"UniqueWithCountsV2", nullptr, kAll},
    {"DynamicPartition", nullptr, kAll},
    {"ListDiff", nullptr, kAll},
    {"RaggedRange", nullptr, kAll},
    {"SparseFillEmptyRows", nullptr, kAll},
    {"NonMaxSuppression", nullptr, kAll},
    {"NonMaxSuppressionV2", nullptr, kAll},
    {"NonMaxSuppressionV3", nullptr, kAll},
    {"NonMaxSuppressionV4", nullptr, kAll},
    {"NonMaxSuppressionV5", nullptr, kAll},
    {"NonMaxSuppressionWithOverlaps", nullptr, kAll},
    {"CTCGreedyDecoder", nullptr, kAll},
    {"GatherV2", GatherV2, kAll, In(2)},
    {"Gather", Gather, kAll},
    {"GatherNd", GatherNd, kAll},
    {"ScatterNd", ScatterNd, kAll, In(2)},
    {"ScatterNdNonAliasingAdd", TensorScatter<"add">, kNumbers},
    {"TensorScatterAdd", TensorScatter<"add">, kNumbers},
    {"TensorScatterSub", TensorScatter<"subtract">, kNumbers},
    {"TensorScatterMax", TensorScatter<"maximum">, kReals},
    {"TensorScatterMin", TensorScatter<"minimum">, kReals},
    {"TensorScatterUpdate", TensorScatter<"">, kAll},
    {"UnsortedSegmentSum", UnsortedSegment<"add", Neutral::kZero>, kNumbers, In(2)},
    {"UnsortedSegmentProd", UnsortedSegment<"multiply", Neutral::kOne>, kNumbers, In(2)},
    {"UnsortedSegmentMax", UnsortedSegment<"GT", Neutral::kLeast>, kReals, In(2)},
    {"UnsortedSegmentMin", UnsortedSegment<"LT", Neutral::kMost>, kReals, In(2)},
};

}  // namespace
}  // namespace indices_ops

Rows IndexRows() { return indices_ops::kRows; }

}  // namespace tenon::stablehlo
