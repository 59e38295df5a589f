// Products of matrices, and sums of products along named axes.
#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace products_ops {
namespace {

// The type in which sums of products are kept: TensorFlow rounds to half and bfloat16 at the end.
DataType SumType(DataType t) {
  return t == DataType::kHalf || t == DataType::kBfloat16 ? DataType::kFloat : t;
}

absl::StatusOr<Value> Product(Op& op) {
  TENON_ASSIGN_OR_RETURN(const bool tx, op.Bool("transpose_a"));
  TENON_ASSIGN_OR_RETURN(const bool ty, op.Bool("transpose_b"));
  const Value &x = op.In(0), &y = op.In(1);
  return op.b.Dot(x, y, {}, {}, {tx ? 0 : 1}, {ty ? 1 : 0}, SumType(x.dtype));
}

absl::Status MatMul(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value product, Product(op));
  return op.Out(op.b.Convert(product, op.OutType(0)));
}

// x with its batch dimensions, all but the last two, of this shape.
Value WithBatch(Op& op, const Value& x, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(x.shape.dim(x.rank() - 2));
  shape.push_back(x.shape.dim(x.rank() - 1));
  return op.b.BroadcastTo(x, shape);
}

absl::StatusOr<Value> BatchProduct(Op& op) {
  TENON_ASSIGN_OR_RETURN(const bool ax, op.Bool("adj_x"));
  TENON_ASSIGN_OR_RETURN(const bool ay, op.Bool("adj_y"));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  Shape batch;
  Ints dims;
  for (int i = 0; i + 2 < shape.rank(); ++i) {
    batch.push_back(shape.dim(i));
    dims.push_back(i);
  }
  Value x = WithBatch(op, op.In(0), batch), y = WithBatch(op, op.In(1), batch);
  if (ax) x = op.b.Conj(x);
  if (ay) y = op.b.Conj(y);
  const DataType out = op.OutType(0);
  // BatchMatMulV3 may widen: of 8-bit integers the sums have 32 bits.
  const DataType sum = x.dtype == out ? SumType(out) : out;
  if (x.dtype != y.dtype) {
    x = op.b.Convert(x, out);
    y = op.b.Convert(y, out);
  }
  const int64_t rank = shape.rank();
  return op.b.Dot(x, y, dims, dims, {ax ? rank - 2 : rank - 1}, {ay ? rank - 1 : rank - 2}, sum);
}

absl::Status BatchMatMul(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value product, BatchProduct(op));
  return op.Out(op.b.Convert(product, op.OutType(0)));
}

// --- Einsum.

// A tensor with a letter for each axis. Axes that "..." stands for have capitals from the end.
struct Labelled {
  Value value;
  std::string labels;
};

constexpr char kFirstBroadcast = '\1';

// Replaces "..." in `labels` by `axes` labels, of which the last is always the same.
std::string WithEllipsis(std::string_view labels, int axes) {
  const size_t at = labels.find("...");
  if (at == std::string_view::npos) return std::string(labels);
  std::string middle;
  for (int i = axes; i > 0; --i) middle.push_back(static_cast<char>(kFirstBroadcast + i - 1));
  return absl::StrCat(labels.substr(0, at), middle, labels.substr(at + 3));
}

int EllipsisAxes(std::string_view labels, int rank) {
  return rank - (static_cast<int>(labels.size()) - 3);
}

bool Has(std::string_view labels, char c) { return labels.find(c) != std::string_view::npos; }

// Takes the diagonal where a label stands twice: keeps what lies on it and sums the rest away.
void TakeDiagonals(Op& op, Labelled* x) {
  for (size_t i = 0; i < x->labels.size(); ++i) {
    const size_t k = x->labels.find(x->labels[i], i + 1);
    if (k == std::string::npos) continue;
    const Shape& shape = x->value.shape;
    const Value on = op.b.Compare("EQ", op.b.Iota(DataType::kInt32, shape, static_cast<int64_t>(i)),
                                  op.b.Iota(DataType::kInt32, shape, static_cast<int64_t>(k)));
    const Value kept = op.b.Select(on, x->value, op.b.Like(x->value, 0));
    x->value = op.b.Reduce("add", kept, op.b.Scalar(kept.dtype, 0), {static_cast<int64_t>(k)});
    x->labels.erase(k, 1);
    --i;
  }
}

// Puts x, whose labels are those of `result` each once, on the diagonals of a tensor of `shape`.
absl::Status PutDiagonals(Op& op, const Labelled& x, std::string_view result, const Shape& shape) {
  Ints dims;
  Value mask;
  for (const char c : x.labels) {
    const size_t first = result.find(c);
    dims.push_back(static_cast<int64_t>(first));
    for (size_t k = result.find(c, first + 1); k != result.npos; k = result.find(c, k + 1)) {
      const Value same =
          op.b.Compare("EQ", op.b.Iota(DataType::kInt32, shape, static_cast<int64_t>(first)),
                       op.b.Iota(DataType::kInt32, shape, static_cast<int64_t>(k)));
      mask = mask ? op.b.And(mask, same) : same;
    }
  }
  const Value wide = op.b.Broadcast(x.value, shape, dims);
  return op.Out(op.b.Select(mask, wide, op.b.Like(wide, 0)));
}

// Sums away the axes whose labels `other` and `result` lack.
void SumUnread(Op& op, Labelled* x, std::string_view other, std::string_view result) {
  Ints dims;
  std::string kept;
  for (size_t i = 0; i < x->labels.size(); ++i) {
    if (Has(other, x->labels[i]) || Has(result, x->labels[i])) {
      kept.push_back(x->labels[i]);
    } else {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  if (dims.empty()) return;
  const DataType dtype = x->value.dtype;
  const Value wide = op.b.Convert(x->value, SumType(dtype));
  const Value sum = op.b.Reduce("add", wide, op.b.Scalar(wide.dtype, 0), dims);
  x->value = op.b.Convert(sum, dtype);
  x->labels = kept;
}

// Drops axes of size 1 that broadcast against a larger axis of the other operand.
void DropBroadcast(Op& op, Labelled* x, const Labelled& other) {
  Shape shape;
  std::string kept;
  for (size_t i = 0; i < x->labels.size(); ++i) {
    const int64_t size = x->value.shape.dim(static_cast<int>(i));
    const size_t at = other.labels.find(x->labels[i]);
    if (size == 1 && at != std::string::npos && other.value.shape.dim(static_cast<int>(at)) != 1)
      continue;
    shape.push_back(size);
    kept.push_back(x->labels[i]);
  }
  x->value = op.b.Reshape(x->value, shape);
  x->labels = kept;
}

Labelled Multiplied(Op& op, const Labelled& x, const Labelled& y, std::string_view result) {
  Ints bx, by, sx, sy;
  std::string labels, free_x, free_y;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    const char c = x.labels[i];
    const size_t k = y.labels.find(c);
    if (k == std::string::npos) {
      free_x.push_back(c);
    } else if (Has(result, c)) {
      bx.push_back(static_cast<int64_t>(i));
      by.push_back(static_cast<int64_t>(k));
      labels.push_back(c);
    } else {
      sx.push_back(static_cast<int64_t>(i));
      sy.push_back(static_cast<int64_t>(k));
    }
  }
  for (const char c : y.labels) {
    if (!Has(x.labels, c)) free_y.push_back(c);
  }
  const DataType dtype = x.value.dtype;
  const Value product = op.b.Dot(x.value, y.value, bx, by, sx, sy, SumType(dtype));
  return {op.b.Convert(product, dtype), labels + free_x + free_y};
}

// The axes in the order of `result`; labels that are missing are axes of the shape that is wanted.
absl::Status Arrange(Op& op, const Labelled& x, std::string_view result, const Shape& shape) {
  for (const char c : result) {
    if (std::ranges::count(result, c) > 1) return PutDiagonals(op, x, result, shape);
  }
  Ints dims;
  for (const char c : x.labels) dims.push_back(static_cast<int64_t>(result.find(c)));
  Ints perm(x.labels.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::ranges::sort(perm, {}, [&](int64_t i) { return dims[i]; });
  Value out = op.b.Transpose(x.value, perm);
  std::ranges::sort(dims);
  if (out.shape != shape) out = op.b.Broadcast(out, shape, dims);
  return op.Out(out);
}

absl::Status Einsum(Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::string_view equation, op.String("equation"));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  std::string text(equation);
  std::erase(text, ' ');
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (sides.size() != 2 || terms.size() != static_cast<size_t>(op.num_inputs()))
    return op.Unimplemented("this equation");
  std::vector<Labelled> operands;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Value& x = op.In(static_cast<int>(i));
    operands.push_back({x, WithEllipsis(terms[i], EllipsisAxes(terms[i], x.rank()))});
    TakeDiagonals(op, &operands.back());
  }
  const std::string result = WithEllipsis(sides[1], EllipsisAxes(sides[1], shape.rank()));
  if (operands.size() > 2) return op.Unimplemented("an Einsum of more than two operands");
  Labelled& x = operands[0];
  if (operands.size() == 1) {
    SumUnread(op, &x, "", result);
    return Arrange(op, x, result, shape);
  }
  Labelled& y = operands[1];
  const Labelled before = x;
  DropBroadcast(op, &x, y);
  DropBroadcast(op, &y, before);
  SumUnread(op, &x, y.labels, result);
  SumUnread(op, &y, x.labels, result);
  return Arrange(op, Multiplied(op, x, y, result), result, shape);
}

absl::Status Cross(Op& op) {
  const Value &x = op.In(0), &y = op.In(1);
  const int axis = x.rank() - 1;
  const auto turned = [&](const Value& v, int64_t by) {
    return op.b.Concat({op.b.SliceAxis(v, axis, by, 3), op.b.SliceAxis(v, axis, 0, by)}, axis);
  };
  return op.Out(
      op.b.Sub(op.b.Mul(turned(x, 1), turned(y, 2)), op.b.Mul(turned(x, 2), turned(y, 1))));
}

absl::Status L2Loss(Op& op) {
  const Value x = op.b.Convert(op.In(0), SumType(op.InType(0)));
  Ints dims;
  for (int i = 0; i < x.rank(); ++i) dims.push_back(i);
  const Value sum = op.b.Reduce("add", op.b.Mul(x, x), op.b.Scalar(x.dtype, 0), dims);
  return op.Out(op.b.Convert(op.b.Mul(sum, 0.5), op.InType(0)));
}

constexpr Row kRows[] = {
    {"MatMul", MatMul, kNumbers},
    {"BatchMatMul", BatchMatMul, kNumbers},
    {"BatchMatMulV2", BatchMatMul, kNumbers},
    {"BatchMatMulV3", BatchMatMul, kNumbers},
    {"Einsum", Einsum, kNumbers},
    {"Cross", Cross, kReals},
    {"L2Loss", L2Loss, kFloats},
};

}  // namespace
}  // namespace products_ops

absl::StatusOr<Value> Multiply(Op& op) { return products_ops::Product(op); }
absl::StatusOr<Value> MultiplyBatches(Op& op) { return products_ops::BatchProduct(op); }

Rows ProductRows() { return products_ops::kRows; }

}  // namespace tenon::stablehlo
