// The vocabulary of rules for gradients: functions that add nodes to the graph of their first
// Value. Where nothing is to be computed they add none and return the argument itself: a Cast to
// the type that x has, the Conj of a real x, a ReshapeLike to the shape that x is known to have,
// the Concat of one part.
//
// No function returns an error: the builder keeps the first one (GraphBuilder::status), and adds no
// node after it. The first Value must not be a default one, as b in 2.0 * b.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "graph/gradients/graph_builder.h"

namespace tenon::gradients {

// The first output of a new node with at least one input; see GraphBuilder::AddNode. Without
// inputs: GraphBuilder::Op.
Value Op(std::string_view op, absl::Span<const Value> inputs, NewAttrs attrs = {});

// Arithmetic with broadcasting: AddV2, Sub, Mul, RealDiv (of integers: Div), Neg. A number becomes
// a scalar of the other operand's type.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value a);
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator-(double a, Value b);
Value operator*(double a, Value b);
Value operator/(double a, Value b);

// The number as a scalar of the type of x.
Value Number(Value x, double number);
Value Cast(Value x, DataType type);
Value Conj(Value x);
Value Square(Value x);
Value ZerosLike(Value x);
Value OnesLike(Value x);
// Where `condition` is true a, else b; broadcasts.
Value Select(Value condition, Value a, Value b);
// a == b, a < b …, by the op's name; broadcasts.
Value Compare(std::string_view op, Value a, Value b);

// The shape of x as a vector of int32 or int64: a constant if it is known and the type can hold it.
Value ShapeOf(Value x, DataType type = DataType::kInt32);
// The rank of x and the number of its elements as an int32 scalar: constants if they are known and
// an int32 can hold them.
Value RankOf(Value x);
Value SizeOf(Value x);
// 0, 1 … rank - 1 as an int32 vector.
Value AllAxes(Value x);
// first, first + 1 … below `limit`, as a vector of the type of `first`.
Value Range(Value first, Value limit);
Value Reshape(Value x, Value shape);
Value ReshapeLike(Value x, Value like);
// The elements [first, first + count) of a vector; if `count` is -1, all from `first` on.
Value Part(Value vector, int64_t first, int64_t count);
// Element i of a vector, as a scalar.
Value Element(Value vector, int64_t i);
// The size of x along an axis of at least 0 as a scalar: a constant if it is known and the type can
// hold it.
Value DimOf(Value x, int axis, DataType type = DataType::kInt32);
Value Fill(Value shape, Value scalar);
// The elements of a vector or scalar of integers, if they are known.
std::optional<std::vector<int64_t>> KnownInts(Value x);
// Concat, ConcatAlong and Stack need at least one part.
Value Concat(absl::Span<const Value> parts, int64_t axis);
Value ConcatAlong(absl::Span<const Value> parts, Value axis);
// Of any tensor: the block of `size` that begins at `begin`, both vectors of one integer type. -1
// in `size` stands for all from `begin` on.
Value Slice(Value x, Value begin, Value size);
// Joins the parts along a new axis.
Value Stack(absl::Span<const Value> parts, int64_t axis = 0);
Value Transpose(Value x, Value permutation);
Value Gather(Value x, Value indices, int64_t axis = 0);
Value ExpandDims(Value x, int64_t axis);
// `axes` is a vector of int32 or int64.
Value Sum(Value x, Value axes, bool keep_dims = false);

// The product of matrices, batches broadcast: MatMul for real ones of known rank 2, else
// BatchMatMulV2. The flags transpose, and for complex types conjugate, an operand.
Value MatMul(Value a, Value b, bool adjoint_a = false, bool adjoint_b = false);

// The gradient of x, where `gradient` has the shape to which x and `other` broadcast: sums over the
// axes that x lacks, or along which it was repeated. Sums nothing if the shapes are known to agree.
Value SumToShapeOf(Value gradient, Value x, Value other);
// The same where a node gives the other shape, of known or unknown value. `shape` is a vector: the
// shape to which x was broadcast, or the shape of the other operand.
Value SumFromShape(Value gradient, Value x, Value shape);

}  // namespace tenon::gradients
