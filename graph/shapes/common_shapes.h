// What the shape functions of several families share: dimension arithmetic and the commonest
// functions themselves.
#pragma once

#include <initializer_list>

#include "graph/base/run_time_error.h"
#include "graph/base/status_macros.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::ops {

using ShapeFunction = absl::Status(InferenceContext&);

// --- Dimensions: kUnknownDim in, kUnknownDim out; INVALID_ARGUMENT where the result overflows or
// is negative.
absl::StatusOr<int64_t> AddDims(int64_t a, int64_t b);
absl::StatusOr<int64_t> SubtractDims(int64_t a, int64_t b);
absl::StatusOr<int64_t> MultiplyDims(int64_t a, int64_t b);
// a / divisor; with `evenly`, INVALID_ARGUMENT when there is a remainder.
absl::StatusOr<int64_t> DivideDim(int64_t a, int64_t divisor, bool evenly);

// --- Shapes.
// What both know; INVALID_ARGUMENT "dimension 1 in both shapes must be equal, but are 2 and 3".
absl::StatusOr<PartialShape> MergeShapes(const PartialShape& a, const PartialShape& b);
PartialShape Concatenate(const PartialShape& a, const PartialShape& b);
// Dimensions [begin, end), both clamped, negative ones counted from the end; of unknown rank if s
// is.
PartialShape Subshape(const PartialShape& s, int64_t begin, int64_t end = INT64_MAX);
// s with one dimension replaced; s as it is if its rank is unknown. Negative axes count from the
// end.
PartialShape ReplaceDim(PartialShape s, int axis, int64_t dim);
// What is known when both are possible.
PartialShape CommonShape(const PartialShape& a, const PartialShape& b);
PartialShape Vector(int64_t size);
PartialShape Matrix(int64_t rows, int64_t columns);

// --- Inputs.
// INVALID_ARGUMENT unless input i can have rank ranks[i]; -1 allows any. May be shorter than the
// inputs.
absl::Status RequireRanks(InferenceContext& c, std::initializer_list<int> ranks);
// The value of scalar integer input i, where known. -1 may be the value of a constant.
std::optional<int64_t> ScalarValue(InferenceContext& c, int i);
// Input i as the size of a dimension: kUnknownDim when not known. INVALID_ARGUMENT if it is no
// scalar or negative.
absl::StatusOr<int64_t> DimFromScalar(InferenceContext& c, int i);
// The exact elements of a constant integer input, as opposed to partly known ones.
std::optional<Dims> ConstantInts(InferenceContext& c, int i);
// axis in [-rank, rank) as [0, rank); INVALID_ARGUMENT otherwise.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank);
// Sets the output's value if it is an int32 or int64 scalar or vector of these elements. What its
// type cannot hold is unknown.
void SetValue(InferenceContext& c, int i, std::optional<Dims> value);

// Sets the outputs from the first on. Returns OK, so that it can end a shape function.
absl::Status SetOutputs(InferenceContext& c, std::initializer_list<PartialShape> shapes);

// --- Shape functions.
ShapeFunction UnchangedShape;        // output 0 is like input 0
ShapeFunction IdentityShape;         // the same, and the value too
ShapeFunction EachUnchangedShape;    // output i is like input i
ShapeFunction MergedInputsShape;     // all inputs have output 0's shape
ShapeFunction ScalarShape;           // every output is a scalar
ShapeFunction BroadcastBinaryShape;  // inputs 0 and 1 broadcast
ShapeFunction ExplicitShape;         // attr `shape`

}  // namespace tenon::ops
