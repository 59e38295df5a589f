// Inverses, solutions of linear equations and determinants, by elimination with partial pivoting.
#include <limits>
#include <utility>

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace elimination_ops {
namespace {

// What is left of matrices [batch, n, columns] when their first n columns are those of the
// identity.
struct Eliminated {
  Value matrices;
  Value pivots;  // [batch, n]
  Value parity;  // [batch]: 1 or -1, for an even or an odd number of exchanged rows
};

Value AbsOf(Op& op, const Value& x) {
  return IsComplex(x.dtype) ? op.b.AbsComplex(x) : op.b.Unary("abs", x);
}

// One step: the row with the greatest element of column `k` at or below row `k` changes places with
// row `k`, is divided by that element, and is subtracted from all others. A column without such an
// element stays.
Eliminated Step(Op& op, const Eliminated& from, const Value& k) {
  Builder& b = op.b;
  const Value& a = from.matrices;
  const int64_t batch = a.shape.dim(0), n = a.shape.dim(1), columns = a.shape.dim(2);
  const Shape column_shape({batch, n});
  const Value zero = b.ScalarInt(DataType::kInt32, 0), none = b.Scalar(a.dtype, 0);
  const auto to_column = [&](const Value& v) { return b.Broadcast(v, column_shape, {0}); };
  const auto over_rows = [&](const Value& v) { return b.Broadcast(v, a.shape, {0, 2}); };
  const auto over_columns = [&](const Value& v) { return b.Broadcast(v, a.shape, {0, 1}); };

  const Value rows = b.Iota(DataType::kInt32, column_shape, 1);
  const Value at_k = b.Broadcast(k, column_shape, {});
  const Value column = b.Reshape(b.DynamicSlice(a, {zero, zero, k}, {batch, n, 1}), column_shape);
  const Value size = AbsOf(op, column);
  const Value below = b.Select(b.Compare("GE", rows, at_k), size, b.Like(size, -1));
  const Value top = b.Reduce("maximum", below, b.Scalar(size.dtype, -1), {1});
  const auto last = static_cast<double>(n - 1);
  const Value candidates =
      b.Select(b.Compare("EQ", below, to_column(top)), rows, b.Like(rows, last));
  const Value first = b.Reduce("minimum", candidates, b.ScalarInt(DataType::kInt32, n - 1), {1});
  const Value is_pivot = b.Compare("EQ", rows, to_column(first));
  const Value is_k = b.Compare("EQ", rows, at_k);

  const Value pivot = b.Reduce("add", b.Select(is_pivot, column, b.Like(column, 0)), none, {1});
  const Value divisor = b.Select(b.Compare("EQ", pivot, 0.0), b.Like(pivot, 1), pivot);
  const Value pivot_row =
      b.Reduce("add", b.Select(over_columns(is_pivot), a, b.Like(a, 0)), none, {1});
  const Value row_k =
      b.Reshape(b.DynamicSlice(a, {zero, k, zero}, {batch, 1, columns}), pivot_row.shape);
  const Value unit = b.Div(pivot_row, b.Broadcast(divisor, pivot_row.shape, {0}));

  const Value exchanged = b.Select(over_columns(is_pivot), over_rows(row_k), a);
  const Value of_k = b.Reshape(b.DynamicSlice(column, {zero, k}, {batch, 1}), Shape({batch}));
  const Value factors = b.Select(is_pivot, to_column(of_k), column);
  const Value rest = b.Sub(exchanged, b.Mul(over_columns(factors), over_rows(unit)));
  const Value stays = b.Compare("EQ", first, b.Broadcast(k, first.shape, {}));
  return {b.Select(over_columns(is_k), over_rows(unit), rest),
          b.DynamicUpdate(from.pivots, b.Reshape(pivot, Shape({batch, 1})), {zero, k}),
          b.Select(stays, from.parity, b.Neg(from.parity))};
}

// `matrices`: [batch, n, columns], with n above 0 and not above `columns`.
Eliminated Eliminate(Op& op, const Value& matrices) {
  Builder& b = op.b;
  const int64_t batch = matrices.shape.dim(0), n = matrices.shape.dim(1);
  const Values init = {b.ScalarInt(DataType::kInt32, 0), matrices,
                       b.Full(matrices.dtype, Shape({batch, n}), 0),
                       b.Full(matrices.dtype, Shape({batch}), 1)};
  Values names;
  for (const Value& v : init) names.push_back(b.BlockArgument(v.dtype, v.shape));
  Lines cond = b.InRegion([&] { b.Return({b.Compare("LT", names[0], static_cast<double>(n))}); });
  Lines body = b.InRegion([&] {
    Eliminated next = Step(op, {names[1], names[2], names[3]}, names[0]);
    b.Return({b.Add(names[0], 1.0), next.matrices, next.pivots, next.parity});
  });
  const Values ends = b.While(init, names, std::move(cond), std::move(body));
  return {ends[1], ends[2], ends[3]};
}

// Matrices [..., rows, columns] as [batch, rows, columns].
Value Flat(Op& op, const Value& x) {
  const int rank = x.rank();
  int64_t batch = 1;
  for (int i = 0; i + 2 < rank; ++i) batch *= x.shape.dim(i);
  return op.b.Reshape(x, Shape({batch, x.shape.dim(rank - 2), x.shape.dim(rank - 1)}));
}

absl::Status CheckSquare(Op& op) {
  const Shape& shape = op.InShape(0);
  const int rank = shape.rank();
  if (rank < 2 || shape.dim(rank - 2) != shape.dim(rank - 1))
    return op.Invalid("the matrices must be square");
  return absl::OkStatus();
}

// The first n columns are the matrices, or their adjoints; the others give the result.
absl::Status Solved(Op& op, const Value& matrices, const Value& right, const Shape& shape,
                    std::string_view error) {
  TENON_ASSIGN_OR_RETURN(const bool adjoint, op.Bool("adjoint"));
  Value left = Flat(op, matrices);
  if (adjoint) left = op.b.Conj(op.b.Transpose(left, {0, 2, 1}));
  const int64_t n = left.shape.dim(1);
  const Value both = op.b.Concat({left, right}, 2);
  const Eliminated done = Eliminate(op, both);
  op.CheckAll(op.b.Compare("NE", done.pivots, 0.0), error);
  return op.Out(op.b.Reshape(op.b.SliceAxis(done.matrices, 2, n, both.shape.dim(2)), shape));
}

absl::Status Inverse(Op& op) {
  TENON_RETURN_IF_ERROR(CheckSquare(op));
  const Value& x = op.In(0);
  if (x.shape.num_elements() == 0) return op.Out(x);
  const Shape shape = Flat(op, x).shape;
  const Value on = op.b.Compare("EQ", op.b.Iota(DataType::kInt32, shape, 1),
                                op.b.Iota(DataType::kInt32, shape, 2));
  const Value identity =
      op.b.Select(on, op.b.Full(x.dtype, shape, 1), op.b.Full(x.dtype, shape, 0));
  return Solved(op, x, identity, x.shape, "Input is not invertible.");
}

absl::Status Solve(Op& op) {
  TENON_RETURN_IF_ERROR(CheckSquare(op));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value &x = op.In(0), &right = op.In(1);
  if (shape.num_elements() == 0) return op.Out(op.b.Full(x.dtype, shape, 0));
  return Solved(op, x, Flat(op, right), shape, "Input matrix is not invertible.");
}

// The pivots of input 0 and the parity. What is divided by an infinite complex pivot is NaN in
// TensorFlow: then the last pivot is.
Eliminated PivotsOf(Op& op) {
  Builder& b = op.b;
  Eliminated done = Eliminate(op, Flat(op, op.In(0)));
  const int n = static_cast<int>(done.pivots.shape.dim(1));
  if (!IsComplex(done.pivots.dtype) || n == 1) return done;
  const Value before = b.SliceAxis(done.pivots, 1, 0, n - 1);
  const Value fine =
      b.Reduce("and", b.IsFinite(AbsOf(op, before)), b.Scalar(DataType::kBool, 1), {1});
  const Value last = b.SliceAxis(done.pivots, 1, n - 1, n);
  const Value kept = b.Broadcast(fine, last.shape, {0});
  const Value nan = b.Like(last, std::numeric_limits<double>::quiet_NaN());
  done.pivots = b.Concat({before, b.Select(kept, last, nan)}, 1);
  return done;
}

absl::Status Determinant(Op& op) {
  TENON_RETURN_IF_ERROR(CheckSquare(op));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  if (x.shape.num_elements() == 0) return op.Out(op.b.Full(x.dtype, shape, 1));
  const Eliminated done = PivotsOf(op);
  const Value product = op.b.Reduce("multiply", done.pivots, op.b.Scalar(x.dtype, 1), {1});
  return op.Out(op.b.Reshape(op.b.Mul(product, done.parity), shape));
}

// The sign, or for complex numbers the direction, and the logarithm of the absolute value.
absl::Status LogDeterminant(Op& op) {
  TENON_RETURN_IF_ERROR(CheckSquare(op));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  if (x.shape.num_elements() == 0) {
    op.Out(0, op.b.Full(x.dtype, shape, 1));
    op.Out(1, op.b.Full(x.dtype, shape, 0));
    return absl::OkStatus();
  }
  const Eliminated done = PivotsOf(op);
  const Value logs = op.b.Unary("log", AbsOf(op, done.pivots));
  Value log = op.b.Reduce("add", logs, op.b.Scalar(logs.dtype, 0), {1});
  if (IsComplex(x.dtype)) log = op.b.Complex(log, op.b.Like(log, 0));
  const Value signs = op.b.Unary("sign", done.pivots);
  const Value sign = op.b.Reduce("multiply", signs, op.b.Scalar(x.dtype, 1), {1});
  op.Out(0, op.b.Reshape(op.b.Mul(sign, done.parity), shape));
  op.Out(1, op.b.Reshape(log, shape));
  return absl::OkStatus();
}

constexpr Types kSolved = kComplexes | Types{DataType::kFloat, DataType::kDouble};

constexpr Row kRows[] = {
    {"MatrixInverse", Inverse, kSolved},
    {"BatchMatrixInverse", Inverse, kSolved},
    {"MatrixSolve", Solve, kSolved},
    {"BatchMatrixSolve", Solve, kSolved},
    {"MatrixDeterminant", Determinant, kSolved},
    {"BatchMatrixDeterminant", Determinant, kSolved},
    {"LogMatrixDeterminant", LogDeterminant, kSolved},
};

}  // namespace
}  // namespace elimination_ops

Rows EliminationRows() { return elimination_ops::kRows; }

}  // namespace tenon::stablehlo
