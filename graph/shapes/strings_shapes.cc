#include "graph/shapes/shapes.h"

namespace tenon::ops {

// Scalars broadcast; all others have one shape.
absl::Status StringJoinShape(InferenceContext& c) {
  PartialShape out = Shape();
  bool unknown = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& in = c.input(i);
    unknown |= !in.known_rank();
    if (in.rank() <= 0) continue;
    TENON_ASSIGN_OR_RETURN(out, out.rank() == 0 ? in : MergeShapes(out, in));
  }
  // As long as all known inputs are scalars, one of unknown rank may decide on the shape.
  if (!unknown || out.rank() > 0) c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// strings, pattern (and rewrite), which are scalars.
absl::Status RegexShape(InferenceContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i)
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 0).status());
  return UnchangedShape(c);
}

// A sparse matrix of the parts.
absl::Status StringSplitShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 0}));
  return SetOutputs(c, {Matrix(kUnknownDim, 2), Vector(kUnknownDim), Vector(2)});
}

absl::Status SubstrShape(InferenceContext& c) {
  const PartialShape& strings = c.input(0);
  const PartialShape& at = c.input(1);
  const PartialShape& length = c.input(2);
  if (length.known_rank()) TENON_RETURN_IF_ERROR(c.WithRank(at, length.rank()).status());
  // Unknown is not the same as known.
  for (int i = 0; i < at.rank(); ++i) {
    if ((length.known_rank() ? length.dim(i) : kUnknownDim) != at.dim(i))
      return Invalid("pos and len shapes must match: ", at.ToString(), " vs. ",
                     length.known_rank() ? length.ToString() : "?");
  }
  if (at.known_rank() && strings.known_rank()) {
    TENON_ASSIGN_OR_RETURN(PartialShape out, c.Broadcast(strings, at));
    c.set_output(0, std::move(out));
  }
  return absl::OkStatus();
}

absl::Status StringFormatShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string_view text, c.AttrString("template"));
  TENON_ASSIGN_OR_RETURN(const std::string_view hole, c.AttrString("placeholder"));
  int holes = 0;
  for (size_t at = 0; !hole.empty() && (at = text.find(hole, at)) != std::string_view::npos;
       at += hole.size())
    ++holes;
  if (holes != c.num_inputs()) {
    return absl::InvalidArgumentError(
        absl::StrCat("num placeholders in template and num inputs must match: ", holes, " vs. ",
                     c.num_inputs()));
  }
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status NGramsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1}));
  TENON_ASSIGN_OR_RETURN(const PartialShape splits, c.WithRank(c.input(1), 1));
  return SetOutputs(c, {Vector(kUnknownDim), splits});
}

// Row splits over all elements, then the values of all rows (and the offsets of each).
absl::Status UnicodeDecodeShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t splits, AddDims(c.input(0).num_elements(), 1));
  return SetOutputs(c, {Vector(splits), Vector(kUnknownDim), Vector(kUnknownDim)});
}

absl::Status UnicodeEncodeShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1}));
  const int64_t splits = c.input(1).dim(0);  // one more than strings
  TENON_ASSIGN_OR_RETURN(const int64_t strings, SubtractDims(splits, splits < 0 ? kUnknownDim : 1));
  c.set_output(0, Vector(strings));
  return absl::OkStatus();
}

// Bytes of each string, as elements of another type along a new dimension.
absl::Status DecodeRawShape(InferenceContext& c) {
  c.set_output(0, Concatenate(c.input(0), Vector(kUnknownDim)));
  return absl::OkStatus();
}

absl::Status DecodePaddedRawShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t bytes, DimFromScalar(c, 1));
  const int64_t size = static_cast<int64_t>(DataTypeSize(c.output_type(0)));
  // TensorFlow's function refuses a negative length and a remainder, but not 0.
  if (bytes == 0) return AtRunTime(Invalid("fixed_length must be positive"));
  TENON_ASSIGN_OR_RETURN(const int64_t elements, DivideDim(bytes, size, /*evenly=*/true));
  c.set_output(0, Concatenate(c.input(0), Vector(elements)));
  return absl::OkStatus();
}

// No axes mean that nothing is joined.
absl::Status ReduceJoinShape(InferenceContext& c) {
  if (const std::optional<Dims> axes = ConstantInts(c, 1); axes && axes->empty())
    return UnchangedShape(c);
  return ReductionShape(c);
}

// Two sparse tensors of sequences; one distance for each.
absl::Status EditDistanceShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1, 1, 2, 1, 1}));
  for (const int first : {0, 3}) {
    const int64_t count = c.input(first).dim(0), values = c.input(first + 1).dim(0);
    if (count >= 0 && values >= 0 && count != values) {
      return Invalid("Number of elements in index (", count, ") and values (", values,
                     ") do not match.");
    }
    const int64_t depth = c.input(first).dim(1), rank = c.input(first + 2).dim(0);
    if (depth >= 0 && rank >= 0 && depth != rank)
      return Invalid("Index rank (", depth, ") and shape rank (", rank, ") do not match.");
  }
  const std::optional<Dims> a = ConstantInts(c, 2), b = ConstantInts(c, 5);
  if (!a || !b) return absl::OkStatus();
  if (a->size() != b->size() || a->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hypothesis and truth must have equal rank, but are ", a->size(), " and ", b->size()));
  }
  PartialShape out = Shape();
  for (size_t i = 0; i + 1 < a->size(); ++i) out.push_back(std::max((*a)[i], (*b)[i]));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon::ops
