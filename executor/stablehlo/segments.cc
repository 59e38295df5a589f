// Sums over segments, counts, and rows that are put in other orders.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace segments_ops {
namespace {

// Combines rows of `updates` into rows `ids` of `base`. Ids out of range are passed over.
Value ScatterRows(Op& op, std::string_view combine, const Value& base, const Value& ids,
                  const Value& updates) {
  ScatterDims dims = {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
  dims.index_vector_dim = 1;
  for (int i = 1; i < base.rank(); ++i) dims.update_window_dims.push_back(i);
  const Value column = op.b.Reshape(ids, Shape({ids.shape.num_elements(), 1}));
  return op.b.Scatter(combine, base, column, updates, dims);
}

Shape WithRows(const Shape& shape, int64_t rows) {
  Shape out = shape;
  out.set_dim(0, rows);
  return out;
}

// Segment ids that are known: sorted, from 0 on. Gives the number of segments.
absl::StatusOr<int64_t> SegmentsOf(Op& op, int input) {
  TENON_ASSIGN_OR_RETURN(const Ints ids, op.IntsOf(input));
  if (!std::ranges::is_sorted(ids) || (!ids.empty() && ids.front() < 0))
    return op.Invalid("segment ids are not increasing");
  return ids.empty() ? 0 : ids.back() + 1;
}

// How many ids name each of the segments, in the type and shape of x.
Value CountsOf(Op& op, const Value& ids, const Value& x) {
  const DataType type = x.dtype;
  const Shape line({x.shape.dim(0)});
  const Value ones = op.b.Full(type, Shape({ids.shape.num_elements()}), 1);
  const Value counts = ScatterRows(op, "add", op.b.Full(type, line, 0), ids, ones);
  return op.b.Broadcast(counts, x.shape, {0});
}

enum class Reduction : uint8_t { kSum, kMean, kSqrtN };

Value Divided(Op& op, Reduction reduction, const Value& sum, const Value& ids) {
  if (reduction == Reduction::kSum) return sum;
  Value counts = op.b.Max(CountsOf(op, ids, sum), 1.0);
  if (reduction == Reduction::kSqrtN) counts = op.b.Unary("sqrt", counts);
  return op.b.Div(sum, counts);
}

// data, segment_ids: what the ids are decides the shape. A segment without rows is 0, of a product
// 1.
template <OpName kName>
absl::Status Segment(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t segments, SegmentsOf(op, 1));
  const std::string_view name = kName.text;
  const bool is_mean = name == "mean";
  const Value x = name == "add" || is_mean ? op.b.Wide(op.In(0)) : op.In(0);
  const Value& ids = op.In(1);
  if (x.rank() == 0 || ids.shape != Shape({x.shape.dim(0)}))
    return op.Invalid("there must be a segment id for each row");
  const Shape shape = WithRows(x.shape, segments);
  if (shape.num_elements() == 0) return op.Out(op.b.Full(op.OutType(0), shape, 0));
  Value base = op.b.Full(x.dtype, shape, name == "multiply" ? 1 : 0);
  if (name == "GT") base = op.b.Lowest(x.dtype, shape);
  if (name == "LT") base = op.b.Highest(x.dtype, shape);
  Value out = ScatterRows(op, is_mean ? "add" : name, base, ids, x);
  if (is_mean) out = Divided(op, Reduction::kMean, out, ids);
  if (name == "GT" || name == "LT") {
    const Value ones = op.b.Full(DataType::kInt32, x.shape, 1);
    const Value counts = ScatterRows(op, "add", op.b.Full(DataType::kInt32, shape, 0), ids, ones);
    out = op.b.Select(op.b.Compare("EQ", counts, 0.0), op.b.Like(out, 0), out);
  }
  return op.Out(op.b.Convert(out, op.OutType(0)));
}

void CheckRows(Op& op, const Value& ids, int64_t rows) {
  op.CheckAll(
      op.b.And(op.b.Compare("GE", ids, 0.0), op.b.Compare("LT", ids, static_cast<double>(rows))),
      absl::StrCat("an index is not in [0, ", rows, ")"));
}

// data, indices, segment_ids(, num_segments)
template <Reduction kReduction, bool kCounted>
absl::Status SparseSegment(Op& op) {
  int64_t segments = 0;
  if (kCounted) {
    TENON_ASSIGN_OR_RETURN(segments, op.IntOf(3));
  } else {
    TENON_ASSIGN_OR_RETURN(segments, SegmentsOf(op, 2));
  }
  const Value x = op.b.Wide(op.In(0));
  const Value &indices = op.In(1), &ids = op.In(2);
  if (x.rank() == 0 || indices.rank() != 1 || ids.shape != indices.shape)
    return op.Invalid("there must be a segment id for each index");
  const Shape shape = WithRows(x.shape, segments);
  if (indices.shape.num_elements() == 0 || shape.num_elements() == 0)
    return op.Out(op.b.Full(op.OutType(0), shape, 0));
  CheckRows(op, indices, x.shape.dim(0));
  if (kCounted) {
    CheckRows(op, ids, segments);
    const int64_t n = ids.shape.dim(0);
    op.CheckAll(op.b.Compare("LE", op.b.SliceAxis(ids, 0, 0, n - 1), op.b.SliceAxis(ids, 0, 1, n)),
                "segment ids are not increasing");
  }
  const Value rows = GatherAxis(op, x, 0, indices);
  const Value sum = ScatterRows(op, "add", op.b.Full(x.dtype, shape, 0), ids, rows);
  return op.Out(op.b.Convert(Divided(op, kReduction, sum, ids), op.OutType(0)));
}

// The gradient: grad, indices, segment_ids, the number of rows of the data.
template <Reduction kReduction>
absl::Status SparseSegmentGradient(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t rows, op.IntOf(3));
  const Value grad = op.b.Wide(op.In(0));
  const Value &indices = op.In(1), &ids = op.In(2);
  const Shape shape = WithRows(grad.shape, rows);
  if (indices.shape.num_elements() == 0 || shape.num_elements() == 0)
    return op.Out(op.b.Full(op.OutType(0), shape, 0));
  CheckRows(op, indices, rows);
  CheckRows(op, ids, grad.shape.dim(0));
  const Value share = Divided(op, kReduction, grad, ids);
  const Value parts = GatherAxis(op, share, 0, ids);
  const Value out = ScatterRows(op, "add", op.b.Full(grad.dtype, shape, 0), indices, parts);
  return op.Out(op.b.Convert(out, op.OutType(0)));
}

// --- Counts of integers: values, size, weights.

// Counts in rows [batch, n]; ids of `size` and more are passed over.
absl::Status Counted(Op& op, const Value& ids, int64_t size, int weights, bool binary) {
  const int64_t batch = ids.shape.dim(0), n = ids.shape.dim(1);
  const DataType type = op.OutType(0);
  op.CheckAll(op.b.Compare("GE", ids, 0.0), "an input of a count is negative");
  const Shape shape({batch, size}), all({batch * n});
  const Value base = op.b.Full(type, shape, 0);
  if (base.shape.num_elements() == 0 || all.num_elements() == 0) return op.Out(base);
  const int64_t given = op.InShape(weights).num_elements();
  if (given != 0 && op.InShape(weights) != op.InShape(0))
    return op.Invalid("the weights must be as many as the values, or none");
  const bool weighed = op.InShape(weights).num_elements() > 0 && !binary;
  const Value updates = weighed ? op.b.Reshape(op.In(weights), all) : op.b.Full(type, all, 1);
  const Value rows = op.b.Iota(ids.dtype, Shape({batch, n, 1}), 0);
  const Value at = op.b.Concat({rows, op.b.Reshape(ids, Shape({batch, n, 1}))}, 2);
  ScatterDims dims = {.inserted_window_dims = {0, 1}, .scatter_dims_to_operand_dims = {0, 1}};
  dims.index_vector_dim = 1;
  const Value out = op.b.Scatter(binary ? "maximum" : "add", base,
                                 op.b.Reshape(at, Shape({batch * n, 2})), updates, dims);
  TENON_ASSIGN_OR_RETURN(const Shape want, op.OutShape());
  return op.Out(op.b.Reshape(out, want));
}

absl::Status DenseBincount(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t size, op.IntOf(1));
  TENON_ASSIGN_OR_RETURN(const bool binary, op.Bool("binary_output"));
  const Value& ids = op.In(0);
  if (ids.rank() > 2 || ids.rank() == 0) return op.Unimplemented("an input of this rank");
  const Shape shape = ids.rank() == 2 ? ids.shape : Shape({1, ids.shape.dim(0)});
  return Counted(op, op.b.Reshape(ids, shape), size, 2, binary);
}

absl::Status Bincount(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t size, op.IntOf(1));
  if (size < 0) return op.Invalid("the size must not be negative");
  const Value& ids = op.In(0);
  return Counted(op, op.b.Reshape(ids, Shape({1, ids.shape.num_elements()})), size, 2, false);
}

// --- Rows in other orders.

// indices (N of them), then as many pieces of data: the rows of the pieces, as the indices say; of
// equal indices the last counts.
absl::Status DynamicStitch(Op& op) {
  const int n = op.num_inputs() / 2;
  Ints places, from;
  int64_t row = 0;
  for (int i = 0; i < n; ++i) {
    TENON_ASSIGN_OR_RETURN(const Ints ids, op.IntsOf(i));
    for (const int64_t id : ids) {
      if (id < 0) return op.Invalid("an index is negative");
      if (id >= static_cast<int64_t>(from.size())) from.resize(id + 1, -1);
      from[id] = row++;
    }
  }
  Values pieces;
  for (int i = 0; i < n; ++i) {
    const Value& x = op.In(n + i);
    const int shared = op.InRank(i);
    Shape shape({op.InShape(i).num_elements()});
    for (int k = shared; k < x.rank(); ++k) shape.push_back(x.shape.dim(k));
    pieces.push_back(op.b.Reshape(x, shape));
  }
  if (std::ranges::find(from, -1) != from.end()) return op.Unimplemented("rows without a value");
  return op.Out(GatherAxis(op, op.b.Concat(pieces, 0), 0, from));
}

// The first elements of each sequence reversed: input, lengths.
absl::Status ReverseSequence(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t time, op.Int("seq_dim"));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, op.Int("batch_dim"));
  const Value& x = op.In(0);
  if (x.shape.num_elements() == 0) return op.Out(x);
  Ints perm = {batch, time}, back(x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    if (i != time && i != batch) perm.push_back(i);
  }
  for (int i = 0; i < x.rank(); ++i) back[perm[i]] = i;
  const Value turned = op.b.Transpose(x, perm);
  const int64_t n = turned.shape.dim(0), steps = turned.shape.dim(1);
  const Value& lengths = op.In(1);
  op.CheckAll(op.b.And(op.b.Compare("GE", lengths, 0.0),
                       op.b.Compare("LE", lengths, static_cast<double>(steps))),
              "a length is longer than the sequence");
  const Shape grid({n, steps});
  const Value step = op.b.Iota(lengths.dtype, grid, 1);
  const Value length = op.b.Broadcast(lengths, grid, {0});
  const Value mirrored = op.b.Sub(op.b.Sub(length, step), 1.0);
  const Value from = op.b.Select(op.b.Compare("LT", step, length), mirrored, step);
  const Shape pair({n, steps, 1});
  const Value at = op.b.Concat({op.b.Iota(lengths.dtype, pair, 0), op.b.Reshape(from, pair)}, 2);
  GatherDims dims = {.collapsed_slice_dims = {0, 1}, .start_index_map = {0, 1}};
  dims.index_vector_dim = 2;
  dims.slice_sizes = Ints(turned.shape.dims().begin(), turned.shape.dims().end());
  dims.slice_sizes[0] = dims.slice_sizes[1] = 1;
  for (int i = 2; i < turned.rank(); ++i) dims.offset_dims.push_back(i);
  return op.Out(op.b.Transpose(op.b.Gather(turned, at, dims, turned.shape), back));
}

// x, rows, values
template <OpName kName>
absl::Status Inplace(Op& op) {
  const Value &x = op.In(0), &rows = op.In(1);
  Value values = op.In(2);
  std::string_view combine = kName.text;
  if (x.rank() == 0 || rows.rank() != 1 || values.shape != WithRows(x.shape, rows.shape.dim(0)))
    return op.Invalid("the values do not fit the rows");
  if (rows.shape.num_elements() == 0 || x.shape.num_elements() == 0) return op.Out(x);
  const auto n = static_cast<double>(x.shape.dim(0));
  const Value place = op.b.Binary("remainder", rows, op.b.Like(rows, n));
  const Value wrapped = op.b.Select(op.b.Compare("LT", place, 0.0), op.b.Add(place, n), place);
  if (combine == "subtract") {
    values = op.b.Neg(values);
    combine = "add";
  }
  return op.Out(ScatterRows(op, combine, x, wrapped, values));
}

// A vector of sizes, or of pairs, from one order of dimensions to another.
absl::Status VecPermute(Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::string_view from, op.String("src_format"));
  TENON_ASSIGN_OR_RETURN(const std::string_view to, op.String("dst_format"));
  const Value& x = op.In(0);
  const int64_t n = x.shape.dim(0);
  if (x.rank() == 2 && x.shape.dim(1) != 2) return op.Invalid("the second dimension must be 2");
  std::string source(from), target(to);
  // Vectors of fewer elements are of the spatial dimensions alone.
  if (n == static_cast<int64_t>(source.size()) - 2) {
    const auto spatial = [](char c) { return c == 'D' || c == 'H' || c == 'W'; };
    if (std::ranges::count_if(source, spatial) != n || std::ranges::count_if(target, spatial) != n)
      return op.Invalid("the formats must name their spatial dimensions D, H and W");
    std::erase_if(source, [](char c) { return c == 'N' || c == 'C'; });
    std::erase_if(target, [](char c) { return c == 'N' || c == 'C'; });
  }
  Ints places;
  for (const char c : target) places.push_back(static_cast<int64_t>(source.find(c)));
  if (n != static_cast<int64_t>(places.size()) || std::ranges::find(places, -1) != places.end())
    return op.Invalid("the vector does not fit the formats");
  return op.Out(GatherAxis(op, x, 0, places));
}

constexpr Types kRealsAndComplexes = kNumbers;

constexpr Row kRows[] = {
    {"SegmentSum", Segment<"add">, kRealsAndComplexes, In(1)},
    {"SegmentMean", Segment<"mean">, kFloatsAndComplexes, In(1)},
    {"SegmentProd", Segment<"multiply">, kRealsAndComplexes, In(1)},
    {"SegmentMax", Segment<"GT">, kReals, In(1)},
    {"SegmentMin", Segment<"LT">, kReals, In(1)},
    {"SparseSegmentSum", SparseSegment<Reduction::kSum, false>, kReals, In(2)},
    {"SparseSegmentMean", SparseSegment<Reduction::kMean, false>, kReals, In(2)},
    {"SparseSegmentSqrtN", SparseSegment<Reduction::kSqrtN, false>, kReals, In(2)},
    {"SparseSegmentSumWithNumSegments", SparseSegment<Reduction::kSum, true>, kReals, In(3)},
    {"SparseSegmentMeanWithNumSegments", SparseSegment<Reduction::kMean, true>, kReals, In(3)},
    {"SparseSegmentSqrtNWithNumSegments", SparseSegment<Reduction::kSqrtN, true>, kReals, In(3)},
    {"SparseSegmentSumGrad", SparseSegmentGradient<Reduction::kSum>, kReals, In(3)},
    {"SparseSegmentMeanGrad", SparseSegmentGradient<Reduction::kMean>, kReals, In(3)},
    {"SparseSegmentSqrtNGrad", SparseSegmentGradient<Reduction::kSqrtN>, kReals, In(3)},
    {"DenseBincount", DenseBincount, kReals, In(1)},
    {"Bincount", Bincount, kReals, In(1)},
    {"DynamicStitch", DynamicStitch, kAll},
    {"ParallelDynamicStitch", DynamicStitch, kAll},
    {"ReverseSequence", ReverseSequence, kAll},
    {"InplaceUpdate", Inplace<"">, kAll},
    {"InplaceAdd", Inplace<"add">, kNumbers},
    {"InplaceSub", Inplace<"subtract">, kNumbers},
    {"DataFormatVecPermute", VecPermute, kInts},
};

}  // namespace
}  // namespace segments_ops

Rows SegmentRows() { return segments_ops::kRows; }

}  // namespace tenon::stablehlo
