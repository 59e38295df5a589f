// Products of matrices. Einsum stands in linalg_einsum.cc.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// The gradients of the product of a and b, each perhaps turned over: `product(p, q, turn_p,
// turn_q)` makes such products. Leaves out what nobody wants.
template <typename Product>
void ProductGradients(GradientScope& s, Value a, Value b, bool turn_a, bool turn_b,
                      const Product& product, Value& da, Value& db) {
  const Value dy = s.dy();
  if (s.wanted(0)) da = turn_a ? product(b, dy, turn_b, true) : product(dy, b, false, !turn_b);
  if (s.wanted(1)) db = turn_b ? product(dy, a, true, turn_a) : product(a, dy, !turn_a, false);
}

Value PlainProduct(Value p, Value q, bool turn_p, bool turn_q) {
  return Op("MatMul", {p, q},
            {{"transpose_a", attr::Bool(turn_p)}, {"transpose_b", attr::Bool(turn_q)}});
}

// MatMul turns without conjugating, so its operands are conjugated first.
void MatMulGradient(GradientScope& s) {
  Value da, db;
  ProductGradients(s, Conj(s.x(0)), Conj(s.x(1)), s.Bool("transpose_a"), s.Bool("transpose_b"),
                   PlainProduct, da, db);
  if (da) s.Set(0, da);
  if (db) s.Set(1, db);
}

void BatchMatMulGradient(GradientScope& s) {
  const auto product = [](Value p, Value q, bool turn_p, bool turn_q) {
    return Op("BatchMatMulV2", {p, q},
              {{"adj_x", attr::Bool(turn_p)}, {"adj_y", attr::Bool(turn_q)}});
  };
  const Value x = s.x(0), y = s.x(1);
  if (x.dtype() != s.dy().dtype() || y.dtype() != s.dy().dtype()) {
    s.Unimplemented("operands of other types than the product");
    return;
  }
  Value dx, dy;
  ProductGradients(s, x, y, s.Bool("adj_x"), s.Bool("adj_y"), product, dx, dy);
  const bool may_repeat = s.op() != "BatchMatMul";
  if (dx) s.Set(0, may_repeat ? SumBatches(dx, x, y) : dx);
  if (dy) s.Set(1, may_repeat ? SumBatches(dy, y, x) : dy);
}

void CrossGradient(GradientScope& s) {
  s.Set(0, Op("Cross", {s.x(1), s.dy()}));
  s.Set(1, Op("Cross", {s.dy(), s.x(0)}));
}

// Operands of two types, multiplied in float.
void SparseMatMulGradient(GradientScope& s) {
  const Value a = Cast(s.x(0), DataType::kFloat), b = Cast(s.x(1), DataType::kFloat);
  Value da, db;
  ProductGradients(s, a, b, s.Bool("transpose_a"), s.Bool("transpose_b"), PlainProduct, da, db);
  if (da) s.Set(0, Cast(da, s.x(0).dtype()));
  if (db) s.Set(1, Cast(db, s.x(1).dtype()));
}

// Diagonals are rows [..., 1, m]. The op ignores the last element above and the first one below the
// main diagonal; so the adjoint matrix has what was below above, moved by one. Products with ones
// on one diagonal move rows.
void TridiagonalMatMulGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value above = Conj(s.x(0)), main = Conj(s.x(1)), below = Conj(s.x(2)), rhs = Conj(s.x(3));
  const auto roll = [&](Value row, double by) {
    return Op("Roll", {row, b.Scalar(DataType::kInt32, by), b.Scalar(DataType::kInt32, -1)});
  };
  const Value zeros = ZerosLike(main), ones = OnesLike(main);
  const auto row = [&](Value rows) { return ExpandDims(Sum(rows * s.dy(), b.Ints({-1})), -2); };
  s.Set(0, row(Op("TridiagonalMatMul", {ones, zeros, zeros, rhs})));
  s.Set(1, row(rhs));
  s.Set(2, row(Op("TridiagonalMatMul", {zeros, zeros, ones, rhs})));
  s.Set(3, Op("TridiagonalMatMul", {roll(below, -1), main, roll(above, 1), s.dy()}));
}

constexpr GradientRow kLinalg[] = {
    {"BatchMatMul", BatchMatMulGradient},
    {"BatchMatMulV2", BatchMatMulGradient},
    {"BatchMatMulV3", BatchMatMulGradient},
    {"Cross", CrossGradient},
    {"MatMul", MatMulGradient},
    {"SparseMatMul", SparseMatMulGradient},
    {"TridiagonalMatMul", TridiagonalMatMulGradient},
};

}  // namespace

absl::Span<const GradientRow> Linalg() { return kLinalg; }

}  // namespace tenon::gradients
