// Gathering, scattering and searching.
#include "graph/base/annotate.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// Slices of data that the last dimension of indices selects.
absl::StatusOr<PartialShape> GatherNdOf(InferenceContext& c, const PartialShape& data,
                                        int indices_input) {
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRankAtLeast(c.input(indices_input), 1));
  if (!indices.known_rank() || indices.dim(-1) < 0) return PartialShape();
  const int64_t depth = indices.dim(-1);
  if (data.known_rank() && depth > data.rank()) {
    return Invalid("indices.shape[-1] must be <= params.rank, but saw indices shape: ",
                   indices.ToString(), " and params shape: ", data.ToString());
  }
  return Concatenate(Subshape(indices, 0, -1), Subshape(data, depth, INT64_MAX));
}

// "?" for an unknown dimension, "?" for an unknown rank, as TensorFlow's functions write shapes.
std::string DimsText(const PartialShape& s) { return s.known_rank() ? s.ToString() : "?"; }

// Dimensions [begin, end) of `s` must match those of the updates.
absl::Status CheckDims(std::string_view name, const PartialShape& s, int64_t begin, int64_t end,
                       const PartialShape& updates, int64_t from, int64_t to) {
  const PartialShape a = Subshape(s, begin, end), b = Subshape(updates, from, to);
  const absl::Status status = MergeShapes(a, b).status();
  return Annotate(
      status, absl::StrCat("Dimensions [", begin, ",", end, ") of ", name, "[shape=", DimsText(s),
                           "] = ", DimsText(a), " must match dimensions [", from, ",", to,
                           ") of updates[shape=", DimsText(updates), "] = ", DimsText(b), ": "));
}

// updates must be shaped as indices and out ask for; `out` is what is scattered into.
absl::Status CheckScatter(InferenceContext& c, const PartialShape& out, int indices_input,
                          int updates_input) {
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRankAtLeast(c.input(indices_input), 1));
  const PartialShape& updates = c.input(updates_input);
  if (out.num_elements() == 0 && (indices.num_elements() > 0 || updates.num_elements() > 0)) {
    return absl::InvalidArgumentError("Indices and updates specified for empty input");
  }
  if (!indices.known_rank() || indices.dim(-1) < 0) return absl::OkStatus();
  const int64_t depth = indices.dim(-1);
  const absl::Status fits = [&] {
    const int outer = indices.rank() - 1;
    TENON_RETURN_IF_ERROR(CheckDims("indices", indices, 0, outer, updates, 0, outer));
    if (!out.known_rank() || !updates.known_rank()) return absl::OkStatus();
    return CheckDims("input", out, depth, out.rank(), updates, outer, updates.rank());
  }();
  // TensorFlow's functions leave scalar updates to the kernel, but for ScatterNd's.
  if (!fits.ok()) return updates.rank() == 0 && c.op().name != "ScatterNd" ? AtRunTime(fits) : fits;
  if (!out.known_rank() || depth <= out.rank()) return absl::OkStatus();
  return AtRunTime(absl::InvalidArgumentError(absl::StrCat(
      "indices' last dimension must be <= the output's rank ", out.rank(), " but is ", depth)));
}

// values, the index of each input element among the values, and the counts. An empty axis means a
// vector.
absl::Status Unique(InferenceContext& c, bool with_axis) {
  PartialShape values = Vector(kUnknownDim);
  int64_t count = kUnknownDim;
  const PartialShape& in = c.input(0);
  if (!with_axis) {
    const absl::StatusOr<PartialShape> s = c.WithRank(in, 1);
    // TensorFlow's function of UniqueWithCounts does not look at the rank.
    if (!s.ok()) return c.op().name == "Unique" ? s.status() : AtRunTime(s.status());
    count = s->dim(0);
  } else {
    if (const int rank = c.input(1).rank();
        rank > 1 || (rank == 0 && c.input_value(1) != nullptr)) {
      absl::Status axes = Invalid("axis expects a 1D vector.");
      return c.input_value(1) != nullptr && in.known_rank() ? axes : AtRunTime(std::move(axes));
    }
    if (const Tensor* const axes = c.input_value(1);
        axes != nullptr && in.known_rank() && axes->num_elements() > 1)
      return Invalid("axis does not support input tensors larger than 1 elements.");
    const std::optional<Dims> axis = ConstantInts(c, 1);
    if (axis && axis->empty()) {
      if (in.known_rank() && in.rank() != 1) return Invalid("x expects a 1D vector.");
      count = in.dim(0);
    } else if (axis && axis->size() == 1 && in.known_rank()) {
      const std::optional<int> at = AxisIn(axis->front(), in.rank());
      if (!at) {
        return Invalid("axis expects to be in the range [", -in.rank(), ", ", in.rank(), ")");
      }
      count = in.dim(*at);
      values = ReplaceDim(in, *at, kUnknownDim);
    } else {
      values = in.known_rank() ? PartialShape::UnknownOfRank(in.rank()) : PartialShape();
    }
  }
  return SetOutputs(c, {values, Vector(count), Vector(kUnknownDim)});
}

}  // namespace

// Rows of params: [indices..., params[1:]...].
absl::Status GatherShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape params, c.WithRankAtLeast(c.input(0), 1));
  c.set_output(0, Concatenate(c.input(1), Subshape(params, 1)));
  return absl::OkStatus();
}

// params[:axis], indices[batch_dims:], params[axis + 1:]. The first batch_dims dimensions of both
// agree. The value is followed where a vector is gathered: an element of a shape is often picked
// so.
absl::Status GatherV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape params, c.WithRankAtLeast(c.input(0), 1));
  const PartialShape& indices = c.input(1);
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 0}));
  TENON_ASSIGN_OR_RETURN(int64_t batch_dims, c.AttrInt("batch_dims"));
  const std::optional<int64_t> axis = ScalarValue(c, 2);
  if (batch_dims < 0 && indices.known_rank()) batch_dims += indices.rank();
  if (!axis) {
    if (params.known_rank() && indices.known_rank()) {
      const int64_t rank = params.rank() - 1 + indices.rank() - batch_dims;
      if (rank >= 0 && rank <= kMaxRank)
        c.set_output(0, PartialShape::UnknownOfRank(static_cast<int>(rank)));
    }
    return absl::OkStatus();
  }
  if (!params.known_rank() || !indices.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int at, AxisByRank(c, *axis, params));
  if (batch_dims < 0 || batch_dims > at || batch_dims > indices.rank()) {
    absl::Status status =
        absl::InvalidArgumentError(absl::StrCat("batch_dims ", batch_dims, " must be at most axis ",
                                                at, " and the indices' rank ", indices.rank()));
    // TensorFlow's function compares batch_dims with the indices' rank alone.
    const bool of_indices = batch_dims >= 0 && batch_dims <= indices.rank();
    return of_indices ? AtRunTime(std::move(status)) : status;
  }
  TENON_RETURN_IF_ERROR(AtRunTime(
      MergeShapes(Subshape(params, 0, batch_dims), Subshape(indices, 0, batch_dims)).status()));
  c.set_output(0, Concatenate(Concatenate(Subshape(params, 0, at), Subshape(indices, batch_dims)),
                              Subshape(params, at + 1)));
  const std::optional<Dims> values = params.rank() == 1 ? c.followed_ints(0) : std::nullopt;
  const std::optional<Dims> picks = indices.rank() <= 1 ? ConstantInts(c, 1) : std::nullopt;
  if (!values || !picks) return absl::OkStatus();
  Dims picked;
  // An index out of bounds is the kernel's to refuse.
  for (int64_t i : *picks)
    picked.push_back(i >= 0 && i < static_cast<int64_t>(values->size()) ? (*values)[i]
                                                                        : kUnknownDim);
  SetValue(c, 0, std::move(picked));
  return absl::OkStatus();
}

absl::Status GatherNdShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, GatherNdOf(c, c.input(0), 1));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ScatterNdShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(0), 1).status());
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(1), 1).status());
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_shape(2));
  TENON_RETURN_IF_ERROR(CheckScatter(c, out, 0, 1));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status TensorScatterShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.WithRankAtLeast(c.input(0), 1));
  TENON_RETURN_IF_ERROR(CheckScatter(c, out, 1, 2));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

namespace {

// The shape of the variable that input 0 is, or is a handle of.
PartialShape VariableOf(InferenceContext& c) {
  if (c.input_type(0) != DataType::kResource) return c.input(0);
  if (const auto& shape = c.input_info(0).handle_shape) return *shape;
  // A handle is a scalar. What is none is taken for the variable itself, as in TensorFlow.
  return c.input(0).rank() > 0 ? c.input(0) : PartialShape();
}

}  // namespace

absl::Status VariableScatterNdShape(InferenceContext& c) {
  PartialShape variable = VariableOf(c);
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(1), 1).status());
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(2), 1).status());
  TENON_RETURN_IF_ERROR(CheckScatter(c, variable, 1, 2));
  c.set_output(0, std::move(variable));
  return absl::OkStatus();
}

absl::Status VariableGatherNdShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, GatherNdOf(c, VariableOf(c), 1));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The indices' shape with `depth` put in before dimension `axis`; -1 puts it last.
absl::Status OneHotShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.AttrInt("axis"));
  if (axis < -1) return Invalid("axis must be >= -1");
  TENON_ASSIGN_OR_RETURN(const int64_t depth, DimFromScalar(c, 1));
  // On and off values, and an axis beyond the rank, are the kernel's to refuse, as in TensorFlow.
  TENON_RETURN_IF_ERROR(AtRunTime(RequireRanks(c, {-1, -1, 0, 0})));
  const PartialShape& indices = c.input(0);
  if (!indices.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int at, AtRunTime(NormalizeAxis(axis, indices.rank() + 1)));
  c.set_output(
      0, Concatenate(Concatenate(Subshape(indices, 0, at), Vector(depth)), Subshape(indices, at)));
  return absl::OkStatus();
}

// [number of true elements, rank of the input].
absl::Status WhereShape(InferenceContext& c) {
  c.set_output(0, Matrix(kUnknownDim, c.input(0).rank()));
  return absl::OkStatus();
}

absl::Status UniqueShape(InferenceContext& c) { return Unique(c, /*with_axis=*/false); }
absl::Status UniqueV2Shape(InferenceContext& c) { return Unique(c, /*with_axis=*/true); }

absl::Status ListDiffShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1}));
  return SetOutputs(c, {Vector(kUnknownDim), Vector(kUnknownDim)});
}

absl::Status InvertPermutationShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(c.input(0), 1));
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// Each output has some of the rows: [?, data behind the dimensions of partitions].
absl::Status DynamicPartitionShape(InferenceContext& c) {
  const PartialShape& data = c.input(0);
  const PartialShape& partitions = c.input(1);
  if (!data.known_rank() || !partitions.known_rank()) return absl::OkStatus();
  const int rank = partitions.rank();
  TENON_RETURN_IF_ERROR(CheckPrefix(c, data, partitions));
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, Concatenate(Vector(kUnknownDim), Subshape(data, rank)));
  return absl::OkStatus();
}

// N index tensors, then N data tensors. The largest index gives the number of rows.
absl::Status DynamicStitchShape(InferenceContext& c) {
  const int count = c.num_inputs() / 2;
  int64_t most = -1;
  bool known = true;
  PartialShape row;
  for (int i = 0; i < count; ++i) {
    const PartialShape& indices = c.input(i);
    const PartialShape& data = c.input(count + i);
    if (const std::optional<Dims> values = ConstantInts(c, i)) {
      for (int64_t v : *values) most = std::max(most, v);
    } else {
      known = false;
    }
    if (!indices.known_rank() || !data.known_rank()) continue;
    TENON_RETURN_IF_ERROR(CheckPrefix(c, data, indices));
    TENON_ASSIGN_OR_RETURN(row, MergeShapes(row, Subshape(data, indices.rank())));
  }
  if (row.known_rank()) c.set_output(0, Concatenate(Vector(known ? most + 1 : kUnknownDim), row));
  return absl::OkStatus();
}

// Sorted rows and values to find in them, both of one batch size.
absl::Status SearchSortedShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape sorted, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(c.input(1), 2));
  TENON_RETURN_IF_ERROR(AtRunTime(c.MergeDim(sorted.dim(0), values.dim(0)).status()));
  c.set_output(0, std::move(values));
  return absl::OkStatus();
}

// A scalar index -> [rank]; others -> [rank, number of indices].
absl::Status UnravelIndexShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape dims, c.WithRank(c.input(1), 1));
  const PartialShape& indices = c.input(0);
  if (!indices.known_rank()) return absl::OkStatus();
  c.set_output(0, indices.rank() == 0 ? dims : Matrix(dims.dim(0), indices.num_elements()));
  return absl::OkStatus();
}

}  // namespace tenon::ops
