// Sparse tensors (indices [nnz, rank], values [nnz], dense shape [rank]) and ragged ones.
#include <algorithm>
#include <climits>
#include <iterator>
#include <string_view>
#include <vector>

#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

struct SparseInput {
  int64_t count = kUnknownDim;  // stored values
  int64_t rank = kUnknownDim;
};

// Three inputs from `first` on that make up one sparse tensor.
absl::StatusOr<SparseInput> SparseAt(InferenceContext& c, int first) {
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(first), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape values, c.WithRank(c.input(first + 1), 1));
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, c.WithRank(c.input(first + 2), 1));
  SparseInput s;
  TENON_ASSIGN_OR_RETURN(s.count, c.MergeDim(indices.dim(0), values.dim(0)));
  TENON_ASSIGN_OR_RETURN(s.rank, c.MergeDim(indices.dim(1), shape.dim(0)));
  return s;
}

// Sets the three outputs of a sparse tensor.
absl::Status SetSparse(InferenceContext& c, int64_t count, int64_t rank) {
  return SetOutputs(c, {Matrix(count, rank), Vector(count), Vector(rank)});
}

}  // namespace

absl::Status SparseAddShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 1}));
  TENON_RETURN_IF_ERROR(AtRunTime(RequireRanks(c, {2, 1, 1, 2, 1, 1, 0})));
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, AtRunTime(MergeShapes(c.input(2), c.input(5))));
  return SetSparse(c, kUnknownDim, shape.dim(0));
}

// concat of N: indices, then values, then shapes.
absl::Status SparseConcatShape(InferenceContext& c) {
  const int n = c.num_inputs() / 3;
  int64_t count = 0, rank = kUnknownDim;
  PartialShape shapes;
  for (int i = 0; i < n; ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(i), 2));
    TENON_ASSIGN_OR_RETURN(const PartialShape values, c.WithRank(c.input(n + i), 1));
    TENON_ASSIGN_OR_RETURN(const PartialShape shape, c.WithRank(c.input(2 * n + i), 1));
    TENON_ASSIGN_OR_RETURN(const int64_t rows, c.MergeDim(indices.dim(0), values.dim(0)));
    TENON_ASSIGN_OR_RETURN(count, AddDims(count, rows));
    TENON_ASSIGN_OR_RETURN(rank, c.MergeDim(rank, indices.dim(1)));
    TENON_ASSIGN_OR_RETURN(shapes, MergeShapes(shapes, shape));
  }
  TENON_ASSIGN_OR_RETURN(rank, AtRunTime(c.MergeDim(rank, shapes.dim(0))));
  return SetSparse(c, count, rank);
}

// One value per stored one.
absl::Status SparseValuesShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(0), 2));
  const absl::Status vectors = RequireRanks(c, {-1, 1, 1});
  // TensorFlow's functions of the other ops do not look at these ranks.
  if (!vectors.ok()) return c.op().name == "SparseSoftmax" ? vectors : AtRunTime(vectors);
  TENON_ASSIGN_OR_RETURN(const int64_t count,
                         AtRunTime(c.MergeDim(indices.dim(0), c.input(1).dim(0))));
  c.set_output(0, Vector(count));
  return absl::OkStatus();
}

// -> indices and values with an entry in each row, whether a row was empty, and where each old
// entry went.
absl::Status SparseFillEmptyRowsShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const SparseInput s, SparseAt(c, 0));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1, 0}));
  TENON_ASSIGN_OR_RETURN(const PartialShape dense, c.input_as_shape(2));
  return SetOutputs(
      c, {Matrix(kUnknownDim, s.rank), Vector(kUnknownDim), Vector(dense.dim(0)), Vector(s.count)});
}

// Reduction of a sparse tensor to a dense one: axes and shape must both be constant to know
// anything.
absl::Status SparseReduceShape(InferenceContext& c) {
  const std::optional<Dims> dense = c.input_as_ints(2);
  const std::optional<Dims> axes = ConstantInts(c, 3);
  if (!dense || !axes) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const bool keep_dims, c.AttrBool("keep_dims"));
  const int rank = static_cast<int>(dense->size());
  if (rank == 0) return Invalid("Number of dims in shape tensor must not be 0");
  std::vector<bool> reduced(rank);
  for (int64_t a : *axes) {
    TENON_ASSIGN_OR_RETURN(const int axis, AtRunTime(NormalizeAxis(a, rank)));
    reduced[axis] = true;
  }
  PartialShape out = Shape();
  for (int i = 0; i < rank; ++i) {
    if (!reduced[i]) {
      if ((*dense)[i] < kUnknownDim) {
        return AtRunTime(absl::InvalidArgumentError(
            absl::StrCat("dimension ", i, " of the sparse tensor is ", (*dense)[i])));
      }
      out.push_back((*dense)[i]);
    } else if (keep_dims) {
      out.push_back(1);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status SparseReorderShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape values, c.WithRank(c.input(1), 1));
  return SetOutputs(c, {indices, values});
}

// The entries keep their number; the coordinates get the rank of the new shape.
absl::Status SparseReshapeShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(0), 2));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  TENON_ASSIGN_OR_RETURN(const PartialShape wanted, c.WithRank(c.input(2), 1));
  return SetOutputs(c, {Matrix(indices.dim(0), wanted.dim(0)), wanted});
}

absl::Status SparseSliceShape(InferenceContext& c) {
  return SetOutputs(
      c, {Matrix(kUnknownDim, c.input(2).num_elements()), Vector(kUnknownDim), c.input(2)});
}

absl::Status SparseTensorDenseAddShape(InferenceContext& c) {
  c.set_output(0, c.input(3));
  return absl::OkStatus();
}

// A sparse matrix, whose shape is the value of input 2, times a dense one.
absl::Status SparseTensorDenseMatMulShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1, 2}));
  TENON_ASSIGN_OR_RETURN(const bool adjoint_a, c.AttrBool("adjoint_a"));
  TENON_ASSIGN_OR_RETURN(const bool adjoint_b, c.AttrBool("adjoint_b"));
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, c.input_as_shape(2));
  TENON_ASSIGN_OR_RETURN(const PartialShape a, c.WithRank(asked, 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(c.input(3), 2));
  TENON_RETURN_IF_ERROR(c.MergeDim(a.dim(adjoint_a ? 0 : 1), b.dim(adjoint_b ? 1 : 0)).status());
  c.set_output(0, Matrix(a.dim(adjoint_a ? 1 : 0), b.dim(adjoint_b ? 0 : 1)));
  return absl::OkStatus();
}

absl::Status SparseToDenseShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_shape(1));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Two sets, dense, over the last dimension -> a sparse tensor of their rank.
absl::Status DenseSetOperationShape(InferenceContext& c) {
  const PartialShape& a = c.input(0);
  const PartialShape& b = c.input(1);
  int64_t rank = kUnknownDim;
  if (a.known_rank() && b.known_rank()) {
    TENON_RETURN_IF_ERROR(c.WithRankAtLeast(a, 2).status());
    TENON_RETURN_IF_ERROR(c.WithRank(b, a.rank()).status());
    TENON_RETURN_IF_ERROR(MergeShapes(Subshape(a, 0, -1), Subshape(b, 0, -1)).status());
  }
  for (const PartialShape* s : {&a, &b}) {
    if (!s->known_rank()) continue;
    TENON_RETURN_IF_ERROR(c.WithRankAtLeast(*s, 2).status());
    rank = s->rank();
  }
  return SetSparse(c, kUnknownDim, rank);
}

// The sets of a dense tensor or a sparse one, and those of a sparse tensor, whose parts are the
// last inputs.
absl::Status SparseSetOperationShape(InferenceContext& c) {
  int64_t rank = kUnknownDim;
  if (c.num_inputs() == 6) {
    TENON_ASSIGN_OR_RETURN(const SparseInput a, SparseAt(c, 0));
    rank = a.rank;
  } else if (c.input(0).known_rank()) {
    TENON_ASSIGN_OR_RETURN(const PartialShape a, c.WithRankAtLeast(c.input(0), 2));
    rank = a.rank();
  }
  TENON_ASSIGN_OR_RETURN(const SparseInput b, SparseAt(c, c.num_inputs() - 3));
  TENON_ASSIGN_OR_RETURN(rank, c.MergeDim(rank, b.rank));
  return SetSparse(c, kUnknownDim, rank);
}

// Gradients of the entries of both operands, whose coordinates are inputs 1 and 2.
absl::Status SparseAddGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 2, 2}));
  TENON_RETURN_IF_ERROR(AtRunTime(RequireRanks(c, {1, 2, 2, 2})));
  return SetOutputs(c, {Vector(c.input(1).dim(0)), Vector(c.input(2).dim(0))});
}

absl::Status SparseFillEmptyRowsGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1}));
  return SetOutputs(c, {Vector(c.input(0).dim(0)), Shape()});
}

absl::Status SparseSliceGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 2}));
  TENON_RETURN_IF_ERROR(AtRunTime(RequireRanks(c, {1, 2, 1, 2})));
  c.set_output(0, Vector(c.input(1).dim(0)));
  return absl::OkStatus();
}

absl::Status SparseSparseShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const SparseInput a, SparseAt(c, 0));
  TENON_ASSIGN_OR_RETURN(const SparseInput b, SparseAt(c, 3));
  TENON_ASSIGN_OR_RETURN(const int64_t rank, c.MergeDim(a.rank, b.rank));
  return SetOutputs(c, {Matrix(kUnknownDim, rank), Vector(kUnknownDim)});
}

// All coordinates, then all values, then all shapes.
absl::Status SparseSplitShape(InferenceContext& c) {
  const int64_t rank = c.input(3).num_elements();
  const int parts = c.num_outputs() / 3;
  for (int k = 0; k < parts; ++k) {
    c.set_output(k, Matrix(kUnknownDim, rank));
    c.set_output(parts + k, Vector(kUnknownDim));
    c.set_output(2 * parts + k, c.input(3));
  }
  return absl::OkStatus();
}

absl::Status RaggedGatherShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t splits, c.AttrInt("PARAMS_RAGGED_RANK"));
  if (c.num_inputs() < splits + 2 || splits < 1)
    return absl::InvalidArgumentError("too few params splits");
  for (int i = 0; i < splits; ++i) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 1).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape values,
                         c.WithRankAtLeast(c.input(static_cast<int>(splits)), 1));
  const int indices_rank = c.num_outputs() - static_cast<int>(splits);
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(static_cast<int>(splits) + 1), indices_rank).status());
  for (int i = 0; i < c.num_outputs() - 1; ++i) c.set_output(i, Vector(kUnknownDim));
  c.set_output(c.num_outputs() - 1, Concatenate(Vector(kUnknownDim), Subshape(values, 1)));
  return absl::OkStatus();
}

// starts, limits and deltas, each a scalar or a vector of the rows -> row splits and values.
absl::Status RaggedRangeShape(InferenceContext& c) {
  int64_t rows = kUnknownDim;
  for (int i = 0; i < 3; ++i) {
    TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(i), 1).status());
    if (c.input(i).rank() != 1) continue;
    TENON_ASSIGN_OR_RETURN(rows, c.MergeDim(c.input(i).dim(0), rows));
  }
  bool all_scalar = true, unknown = false;
  for (int i = 0; i < 3; ++i) {
    all_scalar &= c.input(i).rank() == 0;
    unknown |= !c.input(i).known_rank();
  }
  if (all_scalar && !unknown) rows = 1;  // three scalars make one row
  return SetOutputs(c, {Vector(rows < 0 ? kUnknownDim : rows + 1), Vector(kUnknownDim)});
}

// Row splits of each ragged dimension, then the values; each split adds a dimension.
absl::Status RaggedTensorToSparseShape(InferenceContext& c) {
  const int splits = c.num_inputs() - 1;
  for (int i = 0; i < splits; ++i) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 1).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape values, c.WithRankAtLeast(c.input(splits), 1));
  const int64_t rank = values.known_rank() ? values.rank() + splits : kUnknownDim;
  return SetSparse(c, values.num_elements(), rank);
}

namespace {

// What a vector of sizes asks for; a scalar must be -1, for any shape.
absl::StatusOr<PartialShape> RaggedShapeAsked(InferenceContext& c, int i) {
  if (c.input(i).rank() != 0) return c.input_as_shape(i);
  const std::optional<int64_t> value = ScalarValue(c, i);
  if (!value || *value == -1) return PartialShape();
  const std::string_view type = c.input_type(i) == DataType::kInt32 ? "int32" : "int64";
  return Invalid(InferenceContext::kInvalidShapeScalar, "Tensor<type: ", type,
                 " shape: [] values: ", *value, ">");
}

// The default fills inner dimensions, so its rank is lower than that of the values.
absl::Status CheckRaggedDefault(const PartialShape& fill, const PartialShape& values) {
  if (!fill.known_rank() || !values.known_rank()) return absl::OkStatus();
  const auto refuse = [&](const auto&... parts) {
    return Invalid("default_value.shape=", fill.ToString(),
                   " and rt_input.flat_values.shape=", values.ToString(),
                   " are incompatible: ", parts...);
  };
  if (fill.rank() >= values.rank()) {
    return refuse("default_value.rank = ", fill.rank(),
                  "  must be less than rt_input.flat_values.rank = ", values.rank());
  }
  return absl::OkStatus();
}

}  // namespace

// The shape asked for, where it is not a scalar of -1, and the values' inner dimensions behind
// those that are ragged.
namespace {

absl::Status CheckPartitionTypes(const std::vector<std::string_view>& types) {
  constexpr std::string_view kTypes[] = {"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_LENGTHS",
                                         "ROW_SPLITS",     "ROW_LIMITS",   "ROW_STARTS"};
  for (const std::string_view type : types) {
    if (std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes))
      return Invalid("Unknown string for partition info type: ", type);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RaggedTensorToTensorShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf("row_partition_types"));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> partitions, attr.AsStringList());
  TENON_RETURN_IF_ERROR(CheckPartitionTypes(partitions));
  int ragged = static_cast<int>(partitions.size()) + 1;
  if (!partitions.empty() && partitions[0] == "FIRST_DIM_SIZE") --ragged;
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(0), 1).status());
  TENON_ASSIGN_OR_RETURN(PartialShape out, RaggedShapeAsked(c, 0));
  for (int i = 3; i < c.num_inputs(); ++i) {
    const bool scalar =
        partitions.size() > static_cast<size_t>(i - 3) && partitions[i - 3] == "FIRST_DIM_SIZE";
    if (c.input(i).known_rank() && c.input(i).rank() != (scalar ? 0 : 1))
      return Invalid("Row partition must be a ", scalar ? "scalar." : "vector.");
  }
  const PartialShape& values = c.input(1);
  TENON_RETURN_IF_ERROR(CheckRaggedDefault(c.input(2), values));
  if (values.known_rank()) {
    // A scalar is refused with its default, where the rank of that is known.
    TENON_RETURN_IF_ERROR(c.WithRankAtLeast(values, 1).status());
    const int rank = ragged + values.rank() - 1;
    const auto refuse = [&](const auto&... parts) {
      return Invalid("rt_input.shape and shape=", out.ToString(), " are incompatible: ", parts...);
    };
    if (out.known_rank() && out.rank() != rank)
      return refuse("rt_input.rank = ", rank, " but shape.rank = ", out.rank());
    for (int i = ragged; out.known_rank() && i < rank; ++i) {
      const int64_t of_values = values.dim(i - ragged + 1);
      if (of_values >= 0 && out.dim(i) >= 0 && of_values != out.dim(i)) {
        return refuse("rt_input.shape[", i, "] = ", of_values, " but shape[", i,
                      "] = ", out.dim(i));
      }
    }
    TENON_ASSIGN_OR_RETURN(out, MergeShapes(out, Concatenate(PartialShape::UnknownOfRank(ragged),
                                                             Subshape(values, 1))));
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Numbers of rows and values, the number of rows, a value for empty ones.
absl::Status RaggedFillEmptyRowsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1, 0, 0}));
  TENON_ASSIGN_OR_RETURN(const int64_t rows, DimFromScalar(c, 2));
  TENON_ASSIGN_OR_RETURN(const int64_t count, c.MergeDim(c.input(0).dim(0), c.input(1).dim(0)));
  return SetOutputs(c, {Vector(kUnknownDim), Vector(kUnknownDim), Vector(rows), Vector(count)});
}

namespace {

// Counts of the numbers in each row of what has this rank.
absl::Status SetCounts(InferenceContext& c, int64_t rank) {
  return SetOutputs(c, {Matrix(kUnknownDim, rank), Vector(kUnknownDim), Vector(rank)});
}

}  // namespace

// There is a weight for each value, or none.
absl::Status DenseCountShape(InferenceContext& c) {
  PartialShape values = c.input(0);
  if (c.input(1).num_elements() != 0) {
    TENON_ASSIGN_OR_RETURN(values, MergeShapes(c.input(1), values));
  }
  return SetCounts(c, values.rank());
}

// The kernel gives no more than two dimensions.
absl::Status SparseCountShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(0), 2));
  return SetCounts(c, indices.dim(1) > 2 ? kUnknownDim : indices.dim(1));
}

// The rows' splits add a dimension to the values.
absl::Status RaggedCountShape(InferenceContext& c) {
  const int rank = c.input(1).rank();
  return SetCounts(c, rank < 0 ? kUnknownDim : rank + 1);
}

// Indices, values, shape, number of bins, weights.
absl::Status SparseBincountShape(InferenceContext& c) {
  if (c.input_value(3) == nullptr) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(3), 0).status());
  const std::optional<int64_t> bins = ScalarValue(c, 3);
  if (bins && *bins < 0) return Invalid("size (", *bins, ") must be non-negative");
  if (c.input_value(2) == nullptr) return absl::OkStatus();
  const std::optional<Dims> dense = c.input_as_ints(2);
  if (!dense || !bins) return absl::OkStatus();
  if (dense->size() > 2) return Invalid("Input must be less than rank 2");
  c.set_output(0, dense->size() == 2 ? Matrix((*dense)[0], *bins) : Vector(*bins));
  return absl::OkStatus();
}

absl::Status SparseCrossShape(InferenceContext& c) {
  return SetOutputs(c, {Matrix(kUnknownDim, 2), Vector(kUnknownDim), Vector(2)});
}

// Ragged values and splits, sparse indices, values and shapes, and matrices, all of one batch.
absl::Status RaggedCrossShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t ragged, CountTypes(c, "ragged_values_types"));
  TENON_ASSIGN_OR_RETURN(const int64_t splits, CountTypes(c, "ragged_splits_types"));
  TENON_ASSIGN_OR_RETURN(const int64_t sparse, c.AttrInt("Nsparse"));
  TENON_ASSIGN_OR_RETURN(const int64_t sparse_values, CountTypes(c, "sparse_values_types"));
  if (ragged != splits) return Invalid("ragged values and splits must have the same length.");
  if (sparse != sparse_values)
    return Invalid("sparse indices and values must have the same length");
  int64_t batch = kUnknownDim;
  const auto merge = [&](int64_t rows) {
    const absl::StatusOr<int64_t> both = c.MergeDim(batch, rows);
    if (!both.ok()) return Invalid("inputs must all have the same batch dimension size.");
    batch = *both;
    return absl::OkStatus();
  };
  for (int64_t i = ragged; i < 2 * ragged; ++i) {
    if (c.input(i).rank() > 0 && c.input(i).dim(0) > 0)
      TENON_RETURN_IF_ERROR(merge(c.input(i).dim(0) - 1));
  }
  for (int64_t i = 2 * ragged + 3 * sparse_values; i < c.num_inputs(); ++i) {
    if (!c.input(i).known_rank()) continue;
    if (c.input(i).rank() != 2) return Invalid("tf.ragged.cross only supports inputs with rank=2");
    TENON_RETURN_IF_ERROR(merge(c.input(i).dim(0)));
  }
  return SetOutputs(c, {Vector(kUnknownDim), Vector(batch < 0 ? kUnknownDim : batch + 1)});
}

// Splits of each ragged dimension and values -> one variant, or one for each row.
absl::Status RaggedTensorToVariantShape(InferenceContext& c) {
  const int splits = c.num_inputs() - 1;
  TENON_ASSIGN_OR_RETURN(const bool batched, c.AttrBool("batched_input"));
  for (int i = 0; i < splits; ++i) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 1).status());
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(splits), 1).status());
  PartialShape out = Shape();
  if (batched) {
    const int64_t ends = splits > 0 && c.input(0).rank() == 1 ? c.input(0).dim(0) : 0;
    out = Vector(ends > 0 ? ends - 1 : kUnknownDim);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The dimensions of the variants become ragged ones.
absl::Status RaggedTensorFromVariantShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t inner, c.AttrInt("input_ragged_rank"));
  TENON_ASSIGN_OR_RETURN(const int64_t all, c.AttrInt("output_ragged_rank"));
  if (inner >= 0 && c.input(0).known_rank()) {
    const auto rank = static_cast<int>(std::clamp<int64_t>(all - inner, INT_MIN, INT_MAX));
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), rank).status());
  }
  for (int i = 0; i + 1 < c.num_outputs(); ++i) c.set_output(i, Vector(kUnknownDim));
  return absl::OkStatus();
}

absl::Status SerializeSparseShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  c.set_output(0, Vector(3));
  return absl::OkStatus();
}

absl::Status SerializeManySparseShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  c.set_output(0, Matrix(kUnknownDim, 3));
  return absl::OkStatus();
}

absl::Status AddSparseShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status AddManySparseShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  c.set_output(0, Vector(kUnknownDim));
  return absl::OkStatus();
}

absl::Status DeserializeSparseShape(InferenceContext& c) {
  return SetOutputs(c,
                    {Matrix(kUnknownDim, kUnknownDim), Vector(kUnknownDim), Vector(kUnknownDim)});
}

absl::Status TakeManySparseShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1}));
  return DeserializeSparseShape(c);
}

// By matrix: the first entry of each row, the columns of all entries, their values.
absl::Status CsrComponentsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0, 0}));
  return SetOutputs(c, {Vector(kUnknownDim), Vector(kUnknownDim), Vector(kUnknownDim)});
}

// A sparse matrix, of whose shape its handle says nothing, times a dense one: only what comes from
// the dense one is known.
absl::Status CsrMatMulShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape b, c.WithRankAtLeast(c.input(1), 2));
  if (!b.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const bool transpose, c.AttrBool("transpose_b"));
  TENON_ASSIGN_OR_RETURN(const bool adjoint, c.AttrBool("adjoint_b"));
  TENON_ASSIGN_OR_RETURN(const bool transpose_output, c.AttrBool("transpose_output"));
  const int rank = b.rank();
  PartialShape out = PartialShape::UnknownOfRank(rank);
  if (rank == 3) out.set_dim(0, b.dim(0));
  out.set_dim(rank - (transpose_output ? 2 : 1), b.dim(rank - (transpose || adjoint ? 2 : 1)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

namespace {

// A sparse matrix, or a batch of them. TensorFlow wants to know the rank; here one that a handle
// does not tell may be unknown, since gradients read such handles.
absl::Status CheckCsrRank(std::string_view what, int64_t rank) {
  if (rank < 0 || rank == 2 || rank == 3) return absl::OkStatus();
  return Invalid("Invalid ", what, ": ", rank, ".  Expected a known rank of either 2 or 3.");
}

}  // namespace

absl::Status DenseToCsrShape(InferenceContext& c) {
  const PartialShape &dense = c.input(0), &indices = c.input(1);
  TENON_RETURN_IF_ERROR(CheckCsrRank("rank of dense", dense.rank()));
  if (indices.known_rank() && indices.rank() != 2)
    return Invalid("indices must be a matrix; but its rank is not 2: ", indices.rank());
  if (indices.known_rank() && indices.dim(1) >= 0 && dense.known_rank() &&
      indices.dim(1) != dense.rank()) {
    return Invalid("indices.shape[1] must match rank of dense; saw: ", indices.dim(1), " vs. ",
                   dense.rank());
  }
  return ScalarShape(c);
}

// The length of the shape is the rank.
absl::Status CsrZerosShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, c.WithRank(c.input(0), 1));
  TENON_RETURN_IF_ERROR(CheckCsrRank("rank", shape.dim(0)));
  return ScalarShape(c);
}

// The number of coordinates is the rank.
absl::Status SparseToCsrShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1}));
  const auto first = [&](int i) { return c.input(i).known_rank() ? c.input(i).dim(0) : -1; };
  const int64_t rank = first(2);
  const int64_t columns = c.input(0).known_rank() ? c.input(0).dim(1) : kUnknownDim;
  if (first(0) >= 0 && first(1) >= 0 && first(0) != first(1)) {
    return Invalid("Number of elements in index (", first(0), ") and values (", first(1),
                   ") do not match.");
  }
  if (rank >= 0 && columns >= 0 && columns != rank)
    return Invalid("Index rank (", columns, ") and shape rank (", rank, ") do not match.");
  TENON_RETURN_IF_ERROR(CheckCsrRank("rank", std::max(rank, columns)));
  return ScalarShape(c);
}

absl::Status DeserializeAnySparseShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape serialized, c.WithRankAtLeast(c.input(0), 1));
  if (serialized.known_rank()) TENON_RETURN_IF_ERROR(c.WithSize(serialized.dim(-1), 3).status());
  return DeserializeSparseShape(c);
}

absl::Status DeserializeManySparseShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape serialized, c.WithRank(c.input(0), 2));
  TENON_RETURN_IF_ERROR(c.MergeDim(serialized.dim(1), 3).status());
  return DeserializeSparseShape(c);
}

// Input 2 is the shape.
absl::Status RaggedVariantGradientShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_any_shape(2));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon::ops
