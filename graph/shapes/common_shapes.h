// Dimension arithmetic and the commonest shape functions, for several families of ops. Functions
// without a context are pure and thread-safe; a context belongs to one thread.
#pragma once

#include <initializer_list>
#include <optional>

#include "absl/strings/str_cat.h"

#include "graph/base/run_time_error.h"
#include "graph/base/status_macros.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::ops {

// Fills in the outputs of `c`. Errors are INVALID_ARGUMENT; UNIMPLEMENTED for an attribute's value
// that the host does not support; DATA_LOSS for malformed attributes. An error is marked AtRunTime
// (graph/base/run_time_error.h) where TensorFlow finds the fault only in a run.
using ShapeFunction = absl::Status(InferenceContext&);

// INVALID_ARGUMENT with these words.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// --- Dimensions. An unknown operand (negative, as kUnknownDim is) gives an unknown result, but 0
// times unknown is 0. INVALID_ARGUMENT where the result overflows or is negative.
absl::StatusOr<int64_t> AddDims(int64_t a, int64_t b);
absl::StatusOr<int64_t> SubtractDims(int64_t a, int64_t b);
absl::StatusOr<int64_t> MultiplyDims(int64_t a, int64_t b);
// Returns a / divisor, rounded down. INVALID_ARGUMENT where both are known and the divisor is 0 or,
// with `evenly`, there is a remainder.
absl::StatusOr<int64_t> DivideDim(int64_t a, int64_t divisor, bool evenly);

// MergeShapes returns the rank and dimensions that either knows; INVALID_ARGUMENT where the two
// contradict each other, in TensorFlow's words: "Dimension 1 in both shapes must be equal".
// Concatenate returns the dimensions of a, then those of b; unknown if either rank is.
absl::StatusOr<PartialShape> MergeShapes(const PartialShape& a, const PartialShape& b);
PartialShape Concatenate(const PartialShape& a, const PartialShape& b);
// Returns dimensions [begin, end) of s. Both ends are clamped to the rank; negative ones count from
// the end. Unknown if the rank of s is.
PartialShape Subshape(const PartialShape& s, int64_t begin, int64_t end = INT64_MAX);
// Returns s with one dimension replaced; negative axes count from the end. Returns s where the rank
// is unknown or lacks the axis.
PartialShape ReplaceDim(PartialShape s, int axis, int64_t dim);
// Returns what is known of a tensor that has the shape a or the shape b: the dimensions that are
// equal in both; unknown if the ranks differ.
PartialShape CommonShape(const PartialShape& a, const PartialShape& b);
// INVALID_ARGUMENT unless `s` can begin with the dimensions of `prefix`, which must have a known
// rank.
absl::Status CheckPrefix(InferenceContext& c, const PartialShape& s, const PartialShape& prefix);
// What all inputs share, as MergeShapes. An error tells the last input that contradicts those
// behind it, as TensorFlow's AddN and Pack do. Without inputs the shape is unknown.
absl::StatusOr<PartialShape> MergeInputs(InferenceContext& c);
// The number of types in an attribute. Errors as those of InferenceContext::AttrTypeList.
absl::StatusOr<int64_t> CountTypes(InferenceContext& c, std::string_view attr);
PartialShape Vector(int64_t size);
PartialShape Matrix(int64_t rows, int64_t columns);

// --- Inputs.
// INVALID_ARGUMENT unless each input i can have rank ranks[i]; -1 allows any. Inputs without an
// entry in `ranks`, and entries without an input, are not checked.
absl::Status RequireRanks(InferenceContext& c, std::initializer_list<int> ranks);
// Returns the value of integer input i of one element, whatever its rank; nullopt where it is not
// known. A known value may be -1.
std::optional<int64_t> ScalarValue(InferenceContext& c, int i);
// Returns input i as the size of a dimension; kUnknownDim where it is not known. INVALID_ARGUMENT
// if the input is negative or no scalar. Where an input is neither scalar nor constant, the error
// is marked AtRunTime.
absl::StatusOr<int64_t> DimFromScalar(InferenceContext& c, int i);
// Returns the elements of integer input i; nullopt unless all are known and there are at most
// kMaxShapeValueElements. An element may be -1 only where the input is a constant that says so.
std::optional<Dims> ConstantInts(InferenceContext& c, int i);
// Returns `axis`, from [-rank, rank), as a number in [0, rank); nullopt, or INVALID_ARGUMENT, for
// other axes.
std::optional<int> AxisIn(int64_t axis, int rank);
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank);
// As NormalizeAxis for a shape of known rank; the error is that its rank is too small.
absl::StatusOr<int> AxisByRank(InferenceContext& c, int64_t axis, const PartialShape& s);
// Sets the value of output i if its type is int32 or int64 and its rank is 0, 1 or unknown.
// Elements that the type cannot hold become unknown. Does nothing for nullopt, for more than
// kMaxShapeValueElements, and if all are unknown.
void SetValue(InferenceContext& c, int i, std::optional<Dims> value);

// Sets the shapes of the first outputs, one for each of `shapes`; shapes without an output are left
// out. Always returns OK, so that a shape function can end with this call.
absl::Status SetOutputs(InferenceContext& c, std::initializer_list<PartialShape> shapes);

// --- Shape functions.
ShapeFunction UnchangedShape;        // output 0 has the shape of input 0
ShapeFunction IdentityShape;         // output 0 has the shape and the value of input 0
ShapeFunction EachUnchangedShape;    // output i has the shape and the value of input i
ShapeFunction MergedInputsShape;     // all inputs must have one shape, which output 0 has too
ShapeFunction ScalarShape;           // every output is a scalar
ShapeFunction BroadcastBinaryShape;  // inputs 0 and 1 broadcast
ShapeFunction ExplicitShape;         // output 0 has the shape in attribute `shape`

}  // namespace tenon::ops
