// Slices, splits, concatenation and packing.
#include <bit>

#include "absl/strings/str_join.h"
#include "graph/base/annotate.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// The concatenated elements of vector (or scalar) inputs [begin, end); nullopt if nothing is known
// of them.
std::optional<Dims> JoinedValues(InferenceContext& c, int begin, int end) {
  Dims all;
  for (int i = begin; i < end; ++i) {
    const PartialShape& s = c.input(i);
    const int64_t n = s.num_elements();
    if (s.rank() < 0 || s.rank() > 1 || n < 0 || n > kMaxShapeValueElements) return std::nullopt;
    const std::optional<Dims> v = c.followed_ints(i);
    if (v) {
      all.insert(all.end(), v->begin(), v->end());
    } else {
      all.insert(all.end(), static_cast<size_t>(n), kUnknownDim);
    }
    if (all.size() > static_cast<size_t>(kMaxShapeValueElements)) return std::nullopt;
  }
  return all;
}

absl::Status ConcatInputs(InferenceContext& c, int begin, int end, int axis_input) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(axis_input), 0).status());
  const std::optional<int64_t> axis = ScalarValue(c, axis_input);
  int rank = -1;
  for (int i = begin; i < end; ++i) {
    if (rank < 0) rank = c.input(i).rank();
    if (rank == 0) return Invalid("Can't concatenate scalars (use tf.stack instead)");
    if (rank >= 0) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), rank).status());
  }
  if (rank < 0) return absl::OkStatus();
  if (!axis) {
    c.set_output(0, PartialShape::UnknownOfRank(rank));
    return absl::OkStatus();
  }
  PartialShape out = PartialShape::UnknownOfRank(rank);
  TENON_ASSIGN_OR_RETURN(const int at, AxisByRank(c, *axis, out));
  int64_t sum = 0;
  for (int i = begin; i < end; ++i) {
    TENON_ASSIGN_OR_RETURN(sum, AddDims(sum, c.input(i).dim(at)));
    // TensorFlow compares the dimensions before the axis, then those behind it.
    const PartialShape& in = c.input(i);
    for (const auto& [from, to] : {std::pair(0, at), std::pair(at + 1, rank)}) {
      TENON_ASSIGN_OR_RETURN(const PartialShape part,
                             MergeShapes(Subshape(out, from, to), Subshape(in, from, to)));
      for (int k = 0; k < part.rank(); ++k) out.set_dim(from + k, part.dim(k));
    }
  }
  out.set_dim(at, sum);
  c.set_output(0, std::move(out));
  if (rank == 1) SetValue(c, 0, JoinedValues(c, begin, end));
  return absl::OkStatus();
}

absl::StatusOr<int> SplitAxis(int64_t axis, int rank) {
  if (const std::optional<int> at = AxisIn(axis, rank)) return *at;
  return Invalid("Dimension size, given by scalar input ", axis, " must be in range [", -rank, ", ",
                 rank, ")");
}

// Checks the rank of an input whose value is read: at once if the value is a constant, else when
// the node runs, since TensorFlow looks at the rank when it reads the value.
absl::Status CheckRankOfValue(InferenceContext& c, int input, int rank) {
  const absl::Status status = c.WithRank(c.input(input), rank).status();
  if (status.ok() || c.input_value(input) == nullptr) return AtRunTime(status);
  return rank == 0 ? Invalid("Input must be scalar but has rank ", c.input(input).rank()) : status;
}

// The slice of one dimension of the input.
struct SliceStep {
  std::optional<int64_t> begin, end;  // nullopt: not known
  int64_t stride = 1;
  bool begin_masked = true, end_masked = true;
  bool shrink = false;
};

struct SlicePlan {
  std::vector<SliceStep> steps;  // one per input dimension
  std::vector<int>
      out_dims;  // dimension of the input each output dimension comes from, or -1 for a new one
};

struct Masks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};

absl::StatusOr<Masks> SliceMasks(InferenceContext& c) {
  Masks m;
  TENON_ASSIGN_OR_RETURN(m.begin, c.AttrInt("begin_mask"));
  TENON_ASSIGN_OR_RETURN(m.end, c.AttrInt("end_mask"));
  TENON_ASSIGN_OR_RETURN(m.ellipsis, c.AttrInt("ellipsis_mask"));
  TENON_ASSIGN_OR_RETURN(m.new_axis, c.AttrInt("new_axis_mask"));
  TENON_ASSIGN_OR_RETURN(m.shrink, c.AttrInt("shrink_axis_mask"));
  for (const int64_t mask : {m.begin, m.end, m.ellipsis, m.new_axis, m.shrink}) {
    if (mask != static_cast<int32_t>(mask))
      return absl::InvalidArgumentError(
          absl::StrCat("mask ", mask, " is out of range for an int32"));
  }
  return m;
}

absl::Status CheckEllipsis(const Masks& m) {
  if (std::popcount(static_cast<uint32_t>(m.ellipsis)) <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError("Multiple ellipses in slice spec not allowed");
}

std::optional<int64_t> ElementAt(InferenceContext& c, int input, size_t i) {
  const std::optional<Dims> v = c.input_as_ints(input);
  if (!v || i >= v->size() || ((*v)[i] == kUnknownDim && c.input_value(input) == nullptr))
    return std::nullopt;
  return (*v)[i];
}

absl::Status CheckStride(int64_t stride, bool shrink, int index) {
  if (stride == 0) return Invalid("strides[", index, "] must be non-zero");
  if (shrink && stride <= 0) return Invalid("only stride 1 allowed on non-range indexing.");
  return absl::OkStatus();
}

// Makes a plan for an input of this rank from the masks: an ellipsis, or the end of the list, takes
// the dimensions that no entry names.
absl::StatusOr<SlicePlan> PlanSlice(InferenceContext& c, int rank, const Masks& m,
                                    const Dims& strides, int begin_input) {
  const int count = static_cast<int>(strides.size());
  // The masks have 32 bits.
  if (count > 32)
    return absl::InvalidArgumentError(
        absl::StrCat("cannot slice with ", count, " dimensions; the limit is 32"));
  const auto bit = [](int64_t mask, int i) { return ((mask >> i) & 1) != 0; };
  int consumed = 0;  // input dimensions taken by what is no ellipsis and no new axis
  for (int i = 0; i < count; ++i) consumed += !bit(m.ellipsis, i) && !(bit(m.new_axis, i));
  if (consumed > rank) {
    return rank == 0 ? Invalid("Attempting to slice scalar input.")
                     : Invalid("Index out of range using input dim ", rank, "; input has only ",
                               rank, " dims");
  }
  SlicePlan plan;
  const auto whole = [&](int n) {
    for (int k = 0; k < n; ++k) {
      plan.out_dims.push_back(static_cast<int>(plan.steps.size()));
      plan.steps.emplace_back();
    }
  };
  bool ellipsis = false;
  for (int i = 0; i < count; ++i) {
    if (bit(m.ellipsis, i)) {
      whole(rank - consumed);
      ellipsis = true;
    } else if (bit(m.new_axis, i)) {
      plan.out_dims.push_back(-1);
    } else {
      const auto index = static_cast<int>(plan.steps.size());
      TENON_RETURN_IF_ERROR(CheckStride(strides[i], bit(m.shrink, i), index));
      SliceStep step{ElementAt(c, begin_input, i),
                     ElementAt(c, begin_input + 1, i),
                     strides[i],
                     bit(m.begin, i),
                     bit(m.end, i),
                     bit(m.shrink, i)};
      if (!step.shrink) plan.out_dims.push_back(static_cast<int>(plan.steps.size()));
      plan.steps.push_back(step);
    }
  }
  if (!ellipsis) whole(rank - consumed);
  return plan;
}

// The first element and the number of elements that a step takes of a dimension.
struct Extent {
  int64_t begin = 0;
  int64_t size = kUnknownDim;
};

absl::StatusOr<Extent> ExtentOf(const SliceStep& s, int64_t dim, int index) {
  if (s.shrink) {
    if (dim < 0 || !s.begin) return Extent{0, 1};
    const int64_t at = *s.begin < 0 ? *s.begin + dim : *s.begin;
    if (at < 0 || at >= dim) {
      absl::Status status = absl::InvalidArgumentError(
          absl::StrCat("slice index ", *s.begin, " of dimension ", index, " out of bounds."));
      // TensorFlow checks a single index only where its end is known too.
      return s.end ? status : AtRunTime(std::move(status));
    }
    return Extent{at, 1};
  }
  if (dim < 0) return Extent{};
  if ((!s.begin && !s.begin_masked) || (!s.end && !s.end_masked)) return Extent{};
  // A negative stride walks from the last element to before the first, which -1 stands for.
  const int64_t lowest = s.stride > 0 ? 0 : -1;
  const int64_t highest = s.stride > 0 ? dim : dim - 1;
  const auto clamp = [&](int64_t v) { return std::clamp(v < 0 ? v + dim : v, lowest, highest); };
  const int64_t begin = s.begin_masked ? (s.stride > 0 ? lowest : highest) : clamp(*s.begin);
  const int64_t end = s.end_masked ? (s.stride > 0 ? highest : lowest) : clamp(*s.end);
  const int64_t length = end - begin;
  if (length == 0 || (length < 0) != (s.stride < 0)) return Extent{begin, 0};
  // Rounded up: length and stride have one sign here.
  return Extent{begin, length / s.stride + (length % s.stride != 0)};
}

// The ranges of quantized tensors that were concatenated are scalars.
absl::Status ConcatRanges(InferenceContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i)
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 0).status());
  return SetOutputs(c, {c.output(0).shape, Shape(), Shape()});
}

}  // namespace

absl::Status ConcatShape(InferenceContext& c) { return ConcatInputs(c, 1, c.num_inputs(), 0); }
absl::Status ConcatV2Shape(InferenceContext& c) {
  return ConcatInputs(c, 0, c.num_inputs() - 1, c.num_inputs() - 1);
}

// The tensors are followed by their ranges.
absl::Status QuantizedConcatShape(InferenceContext& c) {
  const int end = 1 + (c.num_inputs() - 1) / 3;
  TENON_RETURN_IF_ERROR(ConcatInputs(c, 1, end, 0));
  return ConcatRanges(c, end);
}

absl::Status QuantizedConcatV2Shape(InferenceContext& c) {
  const int n = (c.num_inputs() - 1) / 3;
  TENON_RETURN_IF_ERROR(ConcatInputs(c, 0, n, n));
  return ConcatRanges(c, n + 1);
}

absl::Status ConcatOffsetShape(InferenceContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(PartialShape s, AtRunTime(c.WithRank(c.input(i + 1), 1)));
    c.set_output(i, std::move(s));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> PackAxis(int64_t axis, int rank) {
  if (const std::optional<int> at = AxisIn(axis, rank)) return *at;
  return Invalid("Invalid axis: ", axis, "; must be in [", -rank, ",", rank, ")");
}

// N inputs of one shape -> the shape with N put in before dimension `axis`.
absl::Status PackShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, MergeInputs(c));
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.AttrInt("axis"));
  if (!in.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int at, PackAxis(axis, in.rank() + 1));
  c.set_output(0, Concatenate(Concatenate(Subshape(in, 0, at), Vector(c.num_inputs())),
                              Subshape(in, at, in.rank())));
  if (in.rank() == 0) SetValue(c, 0, JoinedValues(c, 0, c.num_inputs()));
  return absl::OkStatus();
}

// The inverse of Pack.
absl::Status UnpackShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.AttrInt("axis"));
  if (!in.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int at, PackAxis(axis, in.rank()));
  TENON_RETURN_IF_ERROR(c.WithSize(in.dim(at), c.num_outputs()).status());
  const PartialShape out = Concatenate(Subshape(in, 0, at), Subshape(in, at + 1, in.rank()));
  const std::optional<Dims> value = in.rank() == 1 ? c.followed_ints(0) : std::nullopt;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, out);
    if (value && i < static_cast<int>(value->size())) SetValue(c, i, Dims{(*value)[i]});
  }
  return absl::OkStatus();
}

// Equal parts along the axis. An unknown axis leaves all dimensions unknown.
absl::Status SplitShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckRankOfValue(c, 0, 0));
  const PartialShape& in = c.input(1);
  const std::optional<int64_t> axis = ScalarValue(c, 0);
  PartialShape out = in.known_rank() ? PartialShape::UnknownOfRank(in.rank()) : PartialShape();
  if (axis && in.known_rank()) {
    TENON_ASSIGN_OR_RETURN(const int at, SplitAxis(*axis, in.rank()));
    const absl::StatusOr<int64_t> part = DivideDim(in.dim(at), c.num_outputs(), /*evenly=*/true);
    if (!part.ok()) {
      return Annotate(part.status(), "",
                      "\n\tNumber of ways to split should evenly divide the split dimension");
    }
    out = ReplaceDim(in, at, *part);
  }
  const std::optional<Dims> value = in.rank() == 1 && axis ? c.followed_ints(1) : std::nullopt;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, out);
    const int64_t n = out.dim(0);
    if (value && n >= 0) SetValue(c, i, Dims(value->begin() + i * n, value->begin() + (i + 1) * n));
  }
  return absl::OkStatus();
}

// Parts of the given sizes along the axis; one size may be -1, for what is left.
absl::Status SplitVShape(InferenceContext& c) {
  const std::optional<Dims> sizes = c.input_as_ints(1);
  const PartialShape& in = c.input(0);
  for (const auto& [input, rank] : {std::pair(2, 0), std::pair(1, 1)}) {
    absl::Status status = CheckRankOfValue(c, input, rank);
    if (!status.ok() && !IsAtRunTime(status)) return status;
    if (!in.known_rank()) return absl::OkStatus();
  }
  std::optional<int64_t> axis = ScalarValue(c, 2);
  if (!axis && in.rank() == 1 && sizes) axis = 0;  // there is no other
  int at = in.rank() - 1;
  if (axis) {
    TENON_ASSIGN_OR_RETURN(at, SplitAxis(*axis, in.rank()));
  }
  if (in.rank() == 0) return Invalid("Can't split scalars");
  if (c.input(1).rank() == 1 && c.input(1).dim(0) >= 0 && c.input(1).dim(0) != c.num_outputs()) {
    absl::Status count = Invalid("Length of size_splits should be equal to num_outputs");
    return c.input_value(1) != nullptr ? count : AtRunTime(std::move(count));
  }
  // Where the axis is not known, TensorFlow holds constant sizes against the last one.
  const bool guessed = !axis;
  if (guessed && c.input_value(1) == nullptr) {
    for (int i = 0; i < c.num_outputs(); ++i)
      c.set_output(i, PartialShape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  if (c.num_outputs() == 1 && !sizes) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  int64_t known = 0;
  int rest = -1;  // the one whose size is -1
  int unknowns = 0;
  if (sizes) {
    for (int i = 0; i < c.num_outputs(); ++i) {
      const int64_t size = (*sizes)[i];
      if (size < -1) return Invalid("Split size at index ", i, " must be >= 0. Got: ", size);
      if (size == -1) {
        if (unknowns > 0 && c.input_value(1) != nullptr)
          return Invalid("size_splits can only have one -1");
        rest = i;
        ++unknowns;
      } else {
        TENON_ASSIGN_OR_RETURN(known, AddDims(known, size));
      }
    }
    const int64_t total = in.dim(at);
    if (total >= 0 && (known > total || (unknowns == 0 && known != total))) {
      return Invalid("can't split axis of size ", total, " into pieces of size [",
                     absl::StrJoin(*sizes, ","), "]");
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (guessed) {
      c.set_output(i, PartialShape::UnknownOfRank(in.rank()));
      continue;
    }
    int64_t size = sizes ? (*sizes)[i] : kUnknownDim;
    if (i == rest && unknowns == 1 && in.dim(at) >= 0) size = in.dim(at) - known;
    c.set_output(i, ReplaceDim(in, at, size));
  }
  return absl::OkStatus();
}

// Sizes from `begin` on; -1 means up to the end, but only in a constant: a partly known value has
// -1 for unknown. A slice beyond the input fails only when the node runs, but for cases that
// TensorFlow refuses.
absl::Status SliceShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1}));
  TENON_ASSIGN_OR_RETURN(const PartialShape both, MergeShapes(c.input(1), c.input(2)));
  const int64_t length = both.dim(0);
  PartialShape in = c.input(0);
  if (length > kMaxRank)
    return absl::InvalidArgumentError(absl::StrCat("a slice of ", length, " dimensions"));
  if (length >= 0) {
    TENON_ASSIGN_OR_RETURN(in, c.WithRank(in, static_cast<int>(length)));
  }
  if (!in.known_rank()) return absl::OkStatus();
  const bool exact_sizes = c.input_value(2) != nullptr;
  PartialShape out = PartialShape::UnknownOfRank(in.rank());
  absl::Status beyond;
  for (int i = 0; i < in.rank(); ++i) {
    const std::optional<int64_t> begin = ElementAt(c, 1, i);
    const std::optional<int64_t> size = ElementAt(c, 2, i);
    const int64_t dim = in.dim(i);
    if (begin && (*begin < 0 || (dim >= 0 && *begin > dim))) {
      beyond = absl::InvalidArgumentError(absl::StrCat(
          "begin[", i, "] = ", *begin, " is outside of the dimension's ", dim, " elements"));
      // TensorFlow reads begin as it reads a shape, in which -1 is unknown and less is an error.
      if (*begin < -1) return Invalid(InferenceContext::kInvalidShapeValue, *begin);
      if ((*begin > 0 && size == -1 && exact_sizes)) {
        return SubtractDims(dim, *begin).status();
      }
    }
    if (!size) continue;
    if (*size < -1) return Invalid(InferenceContext::kInvalidShapeValue, *size);
    if (*size >= 0 && begin && dim >= 0 && *size > dim - *begin) {
      beyond =
          absl::InvalidArgumentError(absl::StrCat("begin[", i, "] + size[", i, "] = ", *begin,
                                                  " + ", *size, " exceeds the dimension's ", dim));
    }
    if (!beyond.ok()) continue;
    if (*size >= 0) {
      out.set_dim(i, *size);
    } else if (exact_sizes && begin && dim >= 0) {
      out.set_dim(i, dim - *begin);
    }
  }
  TENON_RETURN_IF_ERROR(AtRunTime(beyond));
  c.set_output(0, out);
  const std::optional<Dims> value = c.followed_ints(0);
  const std::optional<int64_t> begin = ElementAt(c, 1, 0);
  if (!value || in.rank() != 1 || !begin || out.dim(0) < 0) return absl::OkStatus();
  if (*begin + out.dim(0) > static_cast<int64_t>(value->size())) return absl::OkStatus();
  SetValue(c, 0, Dims(value->begin() + *begin, value->begin() + *begin + out.dim(0)));
  return absl::OkStatus();
}

absl::Status StridedSliceShape(InferenceContext& c) {
  for (int i : {1, 2, 3}) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 1).status());
  PartialShape spec = c.input(1);
  TENON_ASSIGN_OR_RETURN(spec, MergeShapes(spec, c.input(2)));
  TENON_ASSIGN_OR_RETURN(spec, MergeShapes(spec, c.input(3)));
  TENON_RETURN_IF_ERROR(c.WithRank(spec, 1).status());
  TENON_ASSIGN_OR_RETURN(const Masks masks, SliceMasks(c));
  const PartialShape& in = c.input(0);
  const std::optional<Dims> strides = ConstantInts(c, 3);
  // TensorFlow looks at the masks only once it knows strides and rank.
  if (!strides || !in.known_rank()) return AtRunTime(CheckEllipsis(masks));
  TENON_RETURN_IF_ERROR(CheckEllipsis(masks));
  TENON_ASSIGN_OR_RETURN(const SlicePlan plan, PlanSlice(c, in.rank(), masks, *strides, 1));
  std::vector<Extent> extents;
  for (int i = 0; i < in.rank(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Extent e, ExtentOf(plan.steps[i], in.dim(i), i));
    extents.push_back(e);
  }
  PartialShape out = Shape();
  for (int from : plan.out_dims) out.push_back(from < 0 ? 1 : extents[from].size);
  c.set_output(0, out);
  const std::optional<Dims> value = in.rank() == 1 ? c.followed_ints(0) : std::nullopt;
  if (!value || extents[0].size < 0 || out.rank() > 1) return absl::OkStatus();
  const SliceStep& step = plan.steps[0];
  if ((step.shrink || !step.begin_masked) && !step.begin) return absl::OkStatus();
  Dims picked;
  for (int64_t k = 0; k < extents[0].size; ++k)
    picked.push_back((*value)[extents[0].begin + k * step.stride]);
  SetValue(c, 0, std::move(picked));
  return absl::OkStatus();
}

// Input 0 is the shape of what was sliced.
absl::Status StridedSliceGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_shape(0));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ParallelConcatShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape shape, c.AttrShape("shape"));
  const auto defined = [](const PartialShape& s) {
    return s.known_rank() && std::ranges::all_of(s.dims(), [](int64_t d) { return d >= 0; });
  };
  if (!defined(shape)) return Invalid("shape attr must be fully defined.");
  if (shape.rank() == 0) return Invalid("Out of range dim_index 0 for shape with 0 dimensions");
  PartialShape row = ReplaceDim(shape, 0, 1);
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& in = c.input(i);
    if (!defined(in)) return Invalid("All input shapes must be fully defined.");
    if (in.rank() == 0) {
      return Invalid("The rank of all input shapes must be greater than 0, but input ", i,
                     " had rank 0.");
    }
    if (in.dim(0) != 1) return Invalid("Size of first dimension must be 1.");
    absl::StatusOr<PartialShape> same = MergeShapes(in, row);
    if (!same.ok()) {
      return Annotate(same.status(), "",
                      absl::StrCat("\n\tFrom merging shape ", i, " with other shapes."));
    }
  }
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

}  // namespace tenon::ops
