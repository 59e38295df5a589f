// Batches of matrices: tensors [..., m, n]. More words for rules, in the manner of math.h; ranks
// need not be known.
#pragma once

#include <cstdint>
#include <limits>

#include "graph/gradients/graph_builder.h"

namespace tenon::gradients {

// Rows and columns exchanged; Adjoint conjugates too.
Value TransposeMatrices(Value x);
Value Adjoint(Value x);

// The diagonals [..., min(m, n)] of matrices [..., m, n]; x with these diagonals in the place of
// its own.
Value DiagonalOf(Value x);
Value WithDiagonal(Value x, Value diagonal);
// Vectors [..., n] as diagonals of matrices [..., n, n] of zeros.
Value DiagonalMatrix(Value diagonal);
// x with zeros above the diagonal, and x with zeros below it.
Value LowerPart(Value x);
Value UpperPart(Value x);
// Identity matrices of the shape of x.
Value IdentityLike(Value x);

// x[..., begin:end] and x[..., begin:end, :]. Negative bounds count from the end; kEnd is the end.
inline constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
Value Columns(Value x, int64_t begin, int64_t end);
Value Rows(Value x, int64_t begin, int64_t end);

// All sizes of x but the last two, and the last one, as vectors of int32.
Value BatchShapeOf(Value x);
Value LastSizeOf(Value x);
// The gradient of x, whose batches were repeated to meet those of `other`: sums over them.
Value SumBatches(Value gradient, Value x, Value other);

// The y of a * y = b, or of adjoint(a) * y = b if `adjoint`. `lower` says of a, not of its adjoint,
// whether the lower or the upper triangle holds the elements; the other triangle is not read.
Value SolveTriangular(Value a, Value b, bool lower, bool adjoint);

}  // namespace tenon::gradients
