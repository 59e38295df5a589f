// Lines, constants and elementwise ops.
#include "executor/stablehlo/builder.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace tenon::stablehlo {
namespace {

std::string_view CompareKind(DataType dtype, bool total) {
  if (total) return "TOTALORDER";
  switch (dtype) {
    case DataType::kBool:
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      return "UNSIGNED";
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return "SIGNED";
    default:
      return "FLOAT";
  }
}

int BitsOf(DataType dtype) { return static_cast<int>(DataTypeSize(dtype) * 8); }

bool IsUnsigned(DataType dtype) { return CompareKind(dtype, false) == "UNSIGNED"; }

}  // namespace

void Builder::SetNode(NodeId n, std::string_view name) {
  node_ = n;
  if (node_names_) comment_ = CommentText(name);
}

Value Builder::New(DataType dtype, const Shape& shape) {
  Value v;
  v.kind = Value::Kind::kOp;
  v.id = next_++;
  v.dtype = dtype;
  v.shape = shape;
  return v;
}

Value Builder::Begin(DataType dtype, const Shape& shape) {
  Value v = New(dtype, shape);
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  absl::StrAppend(&out_.text, "%", v.id, " = ");
  return v;
}

void Builder::End() {
  if (!comment_.empty()) absl::StrAppend(&out_.text, " // ", std::exchange(comment_, ""));
  out_.text.push_back('\n');
  out_.nodes.push_back(node_);
}

TracedValue Builder::Traced(const Value& v) {
  using From = TracedValue::From;
  const From from = v.kind == Value::Kind::kArgument ? From::kArgument
                    : v.kind == Value::Kind::kWeight ? From::kWeight
                                                     : From::kOp;
  return {from, v.id, v.dtype, v.shape};
}

void Builder::Note(OpKind kind, std::string_view what, absl::Span<const Value> operands,
                   absl::Span<const Value> results, std::initializer_list<IntSpan> numbers) {
  if (trace_ == nullptr) return;
  TracedOp& op = trace_->ops.emplace_back();
  op.kind = kind;
  op.what = std::string(what);
  op.node = node_;
  op.depth = depth_;
  for (const Value& v : operands) op.operands.push_back(Traced(v));
  for (const Value& v : results) op.results.push_back(Traced(v));
  for (const IntSpan list : numbers) op.numbers.emplace_back(list.begin(), list.end());
}

void Builder::Line(std::string_view text) {
  out_.text.append(static_cast<size_t>(depth_) * 2, ' ');
  Text(text);
  End();
}

void Builder::AppendName(const Value& v) {
  switch (v.kind) {
    case Value::Kind::kArgument:
      if (read_arguments_.size() <= static_cast<size_t>(v.id)) read_arguments_.resize(v.id + 1);
      read_arguments_[v.id] = true;
      absl::StrAppend(&out_.text, "%arg", v.id);
      return;
    case Value::Kind::kWeight:
      absl::StrAppend(&out_.text, "%w", v.id);
      return;
    case Value::Kind::kOp:
      absl::StrAppend(&out_.text, "%", v.id);
      if (v.result >= 0) absl::StrAppend(&out_.text, "#", v.result);
      return;
    case Value::Kind::kNone:
      Fail(absl::InternalError("an operand of the program has no value"));
  }
}

void Builder::Names(absl::Span<const Value> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) Text(", ");
    AppendName(values[i]);
  }
}

void Builder::Types(absl::Span<const Value> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) Text(", ");
    AppendType(values[i]);
  }
}

void Builder::EndTyped(absl::Span<const Value> operands, absl::Span<const Value> results) {
  Text(" : (");
  Types(operands);
  Text(") -> ");
  if (results.size() != 1) Text("(");
  Types(results);
  if (results.size() != 1) Text(")");
  End();
}

void Builder::Check(bool fits, std::string_view op) {
  if (!fits) Fail(absl::InternalError(absl::StrCat("operands do not fit stablehlo.", op)));
}

Value Builder::Argument(int32_t index, DataType dtype, const Shape& shape) {
  return {.kind = Value::Kind::kArgument, .id = index, .dtype = dtype, .shape = shape};
}

Value Builder::Weight(int32_t index, DataType dtype, const Shape& shape) {
  return {.kind = Value::Kind::kWeight, .id = index, .dtype = dtype, .shape = shape};
}

Value Builder::Splat(DataType dtype, const Shape& shape, std::string_view number) {
  Value v = Begin(dtype, shape);
  absl::StrAppend(&out_.text, "stablehlo.constant dense<", shape.num_elements() == 0 ? "" : number,
                  "> : ");
  AppendType(v);
  Note(OpKind::kSplat, number, {}, {v});
  End();
  return v;
}

Value Builder::Full(DataType dtype, const Shape& shape, double value) {
  return Splat(dtype, shape, Number(dtype, value));
}

Value Builder::FullInt(DataType dtype, const Shape& shape, int64_t value) {
  return Splat(dtype, shape, Number(dtype, value));
}

Value Builder::Extreme(DataType dtype, const Shape& shape, bool lowest) {
  if (IsFloating(dtype)) {
    const double inf = std::numeric_limits<double>::infinity();
    return Full(dtype, shape, lowest ? -inf : inf);
  }
  if (dtype == DataType::kBool) return Full(dtype, shape, lowest ? 0 : 1);
  if (IsUnsigned(dtype)) return FullInt(dtype, shape, lowest ? 0 : -1);
  const int64_t least = std::numeric_limits<int64_t>::min() >> (64 - BitsOf(dtype));
  return FullInt(dtype, shape, lowest ? least : ~least);
}

Value Builder::Constant(const Tensor& tensor) {
  Value v = Begin(tensor.dtype(), tensor.shape());
  const std::string elements = Dense(tensor);
  absl::StrAppend(&out_.text, "stablehlo.constant ", elements, " : ");
  AppendType(v);
  Note(IsSplat(tensor) ? OpKind::kSplat : OpKind::kConstant, elements, {}, {v});
  End();
  return v;
}

Value Builder::Vector(DataType dtype, IntSpan values) {
  const Shape shape({static_cast<int64_t>(values.size())});
  Value v = Begin(dtype, shape);
  std::string elements;
  for (size_t i = 0; i < values.size(); ++i)
    absl::StrAppend(&elements, i > 0 ? ", " : "[", Number(dtype, values[i]));
  absl::StrAppend(&out_.text, "stablehlo.constant dense<", elements, values.empty() ? "" : "]",
                  "> : ");
  AppendType(v);
  Note(OpKind::kConstant, elements, {}, {v});
  End();
  return v;
}

Value Builder::BeginUnary(std::string_view op, const Value& x) {
  Value v = Begin(x.dtype, x.shape);
  absl::StrAppend(&out_.text, op, " ");
  AppendName(x);
  Text(" : ");
  AppendType(x);
  return v;
}

Value Builder::Unary(std::string_view op, const Value& x) {
  Value v = BeginUnary(absl::StrCat("stablehlo.", op), x);
  Note(OpKind::kElementwise, op, {x}, {v});
  End();
  return v;
}

Value Builder::Chlo(std::string_view op, const Value& x) {
  Value v = BeginUnary(absl::StrCat("chlo.", op), x);
  Text(" -> ");
  AppendType(v);
  Note(OpKind::kElementwise, op, {x}, {v});
  End();
  return v;
}

Value Builder::ChloBinary(std::string_view op, const Value& x, const Value& y) {
  Check(x.shape == y.shape && x.dtype == y.dtype, op);
  Value v = Begin(x.dtype, x.shape);
  absl::StrAppend(&out_.text, "chlo.", op, " ");
  Names({x, y});
  Text(" : ");
  Types({x, y});
  Text(" -> ");
  AppendType(v);
  Note(OpKind::kElementwise, op, {x, y}, {v});
  End();
  return v;
}

Value Builder::Binary(std::string_view op, const Value& x, const Value& y) {
  Check(x.shape == y.shape && x.dtype == y.dtype, op);
  Value v = Begin(x.dtype, x.shape);
  absl::StrAppend(&out_.text, "stablehlo.", op, " ");
  AppendName(x);
  Text(", ");
  AppendName(y);
  Text(" : ");
  AppendType(x);
  Note(OpKind::kElementwise, op, {x, y}, {v});
  End();
  return v;
}

Value Builder::Compare(std::string_view direction, const Value& x, const Value& y, bool total) {
  Check(x.shape == y.shape && x.dtype == y.dtype, "compare");
  Value v = Begin(DataType::kBool, x.shape);
  absl::StrAppend(&out_.text, "stablehlo.compare ", direction, ", ");
  Names({x, y});
  const std::string_view kind = CompareKind(x.dtype, total && IsFloating(x.dtype));
  absl::StrAppend(&out_.text, ", ", kind);
  Note(OpKind::kElementwise, absl::StrCat("compare ", direction, kind), {x, y}, {v});
  EndTyped({x, y}, {v});
  return v;
}

Value Builder::Select(const Value& p, const Value& x, const Value& y) {
  Check(x.shape == y.shape && x.dtype == y.dtype && (p.shape == x.shape || p.rank() == 0),
        "select");
  Value v = Begin(x.dtype, x.shape);
  Text("stablehlo.select ");
  Names({p, x, y});
  Text(" : ");
  Types({p, x});
  Note(OpKind::kElementwise, "select", {p, x, y}, {v});
  End();
  return v;
}

Value Builder::Convert(const Value& x, DataType dtype) {
  if (x.dtype == dtype) return x;
  Value v = Begin(dtype, x.shape);
  Text("stablehlo.convert ");
  AppendName(x);
  Note(OpKind::kElementwise, "convert", {x}, {v});
  EndTyped({x}, {v});
  return v;
}

Value Builder::Bitcast(const Value& x, DataType dtype, const Shape& shape) {
  if (x.dtype == dtype && x.shape == shape) return x;
  Value v = Begin(dtype, shape);
  Text("stablehlo.bitcast_convert ");
  AppendName(x);
  Note(x.shape == shape ? OpKind::kElementwise : OpKind::kOther, "bitcast", {x}, {v});
  EndTyped({x}, {v});
  return v;
}

Value Builder::Real(const Value& x, bool imaginary) {
  const DataType part = x.dtype == DataType::kComplex128 ? DataType::kDouble : DataType::kFloat;
  Value v = Begin(part, x.shape);
  Text(imaginary ? "stablehlo.imag " : "stablehlo.real ");
  AppendName(x);
  Note(OpKind::kElementwise, imaginary ? "imag" : "real", {x}, {v});
  EndTyped({x}, {v});
  return v;
}

Value Builder::AbsComplex(const Value& x) {
  const DataType part = x.dtype == DataType::kComplex128 ? DataType::kDouble : DataType::kFloat;
  Value v = Begin(part, x.shape);
  Text("stablehlo.abs ");
  AppendName(x);
  Note(OpKind::kElementwise, "abs", {x}, {v});
  EndTyped({x}, {v});
  return v;
}

Value Builder::IsFinite(const Value& x) {
  Value v = Begin(DataType::kBool, x.shape);
  Text("stablehlo.is_finite ");
  AppendName(x);
  Note(OpKind::kElementwise, "is_finite", {x}, {v});
  EndTyped({x}, {v});
  return v;
}

Value Builder::Conj(const Value& x) {
  return IsComplex(x.dtype) ? Complex(Real(x), Neg(Real(x, true))) : x;
}

Value Builder::Wide(const Value& x) {
  const bool narrow = x.dtype == DataType::kHalf || x.dtype == DataType::kBfloat16;
  return narrow ? Convert(x, DataType::kFloat) : x;
}

Value Builder::Complex(const Value& re, const Value& im) {
  Check(re.shape == im.shape && re.dtype == im.dtype, "complex");
  const DataType whole =
      re.dtype == DataType::kDouble ? DataType::kComplex128 : DataType::kComplex64;
  Value v = Begin(whole, re.shape);
  Text("stablehlo.complex ");
  Names({re, im});
  Text(" : ");
  AppendType(v);
  Note(OpKind::kElementwise, "complex", {re, im}, {v});
  End();
  return v;
}

}  // namespace tenon::stablehlo
