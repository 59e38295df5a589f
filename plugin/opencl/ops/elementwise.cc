// Ops that compute each element by itself, as tables of OpenCL C (element_rows.h).

#include <span>
#include <string_view>

#include "../base/map.h"
#include "../base/registry.h"
#include "../base/text.h"
#include "element_rows.h"
#include "families.h"

namespace opencl {
namespace {

// An op of a table; its operands broadcast.
class MapOp {
 public:
  MapOp(const Construction& node, const MapRow& row) : row_(row), body_(BodyFor(node, row)) {}

  const MapBody& body() const { return body_; }
  const char* op() const { return row_.row.op; }

 private:
  static MapBody BodyFor(const Construction& node, const MapRow& row) {
    const TF_DataType type = row.row.types == 0 ? TF_BOOL : node.Type(row.row.attr);
    const bool floats = TypeOf(type).kind == Kind::kFloat;
    const std::string attr0 = row.attr0 == nullptr ? "" : FloatText("C", node.Float(row.attr0));
    MapBody body{StatementsOf(row, floats, attr0)};
    if (!floats && row.report != nullptr)
      body.report = row.report + (" in " + node.NodeText(row.row.op));
    return body;
  }

  const MapRow& row_;
  const MapBody body_;
};

class Unary : public MapOp {
 public:
  using MapOp::MapOp;
  void Compute(Call& call) const {
    const Tensor x = call.In(0);
    const Tensor out = call.OutLike(0, x.dims, {0});
    RunBroadcastMap(call, body(), {x}, out);
  }
};

class Binary : public MapOp {
 public:
  Binary(const Construction& node, const MapRow& row)
      : MapOp(node, row),
        must_fit_(!node.Has("incompatible_shape_error") || node.Bool("incompatible_shape_error")) {}

  void Compute(Call& call) const {
    const Tensor x = call.In(0), y = call.In(1);
    if (!must_fit_ && !Fits(x, y)) return Differ(call);
    const Tensor out = call.OutLike(0, Broadcast(x.dims, y.dims), {0, 1});
    RunBroadcastMap(call, body(), {x, y}, out);
  }

 private:
  static bool Fits(const Tensor& x, const Tensor& y) {
    try {
      Broadcast(x.dims, y.dims);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  // The answer of Equal and NotEqual for shapes that do not fit.
  void Differ(Call& call) const {
    const bool answer = std::string_view(op()) == "NotEqual";
    RunMap(call, {answer ? "r = 1;" : "r = 0;"}, {}, call.Out(0, {}), {});
  }
  const bool must_fit_;
};

// Gradients: both operands have one shape, or, for those by result, as many elements.
class SameShape : public MapOp {
 public:
  using MapOp::MapOp;
  void Compute(Call& call) const { Run(call, call.In(1), false); }

 protected:
  void Run(Call& call, Tensor y, bool by_count) const {
    const Tensor x = call.In(0);
    if (by_count && x.count == y.count) y.dims = x.dims;
    if (x.dims != y.dims) {
      Refuse(std::string(op()) + ": inputs must have one shape, not " + ShapeText(x.dims) +
             " and " + ShapeText(y.dims));
    }
    const Tensor out = call.OutLike(0, x.dims, {0, 1});
    RunBroadcastMap(call, body(), {x, y}, out);
  }
};

class SameCount : public SameShape {
 public:
  using SameShape::SameShape;
  void Compute(Call& call) const { Run(call, call.In(1), true); }
};

constexpr TypeSet kSigned = kFloats | kSignedInts;
// TensorFlow rounds what it computes on the way to the type of 16 bits: where that shows, these
// kernels, which compute in float, leave such types to the host.
constexpr TypeSet kWide = kF32 | kF64;

constexpr MapRow kUnary[] = {
    {{"Abs", kSigned}, "fabs(x0)", "x0 < 0 ? (C)(0 - (U)x0) : x0"},
    {{"Neg", kNumbers}, "-x0", "(C)(0 - (U)x0)"},
    {{"Square", kNumbers}, "x0 * x0", "(C)((U)x0 * (U)x0)"},
    {{"Sign", kSigned}, "x0 != x0 ? x0 : (C)((x0 > 0) - (x0 < 0))", "(C)((x0 > 0) - (x0 < 0))"},
    {{"Inv", kFloats}, "1 / x0"},
    {{"Reciprocal", kFloats}, "1 / x0"},
    {{"Sqrt", kFloats}, "sqrt(x0)"},
    {{"Rsqrt", kFloats}, "1 / sqrt(x0)"},
    {{"Exp", kFloats}, "exp(x0)"},
    {{"Expm1", kFloats}, "expm1(x0)"},
    {{"Log", kFloats}, "log(x0)"},
    {{"Log1p", kFloats}, "log1p(x0)"},
    {{"Sin", kFloats}, "sin(x0)"},
    {{"Cos", kFloats}, "cos(x0)"},
    {{"Tan", kFloats}, "tan(x0)"},
    {{"Asin", kFloats}, "asin(x0)"},
    {{"Acos", kFloats}, "acos(x0)"},
    {{"Atan", kFloats}, "atan(x0)"},
    {{"Sinh", kFloats}, "sinh(x0)"},
    {{"Cosh", kFloats}, "cosh(x0)"},
    {{"Tanh", kFloats}, "tanh(x0)"},
    {{"Asinh", kFloats}, "asinh(x0)"},
    {{"Acosh", kFloats}, "acosh(x0)"},
    {{"Atanh", kFloats}, "atanh(x0)"},
    // PoCL answers 1 for erf(NaN). TensorFlow answers NaN for a double that is infinite.
    {{"Erf", kFloats & ~kF64}, "x0 != x0 ? x0 : erf(x0)"},
    {{"Erfc", kFloats}, "erfc(x0)"},
    {{"Lgamma", kFloats}, "lgamma(x0)"},
    {{"Ceil", kFloats}, "ceil(x0)"},
    {{"Floor", kFloats}, "floor(x0)"},
    {{"Rint", kFloats}, "rint(x0)"},
    {{"Round", kFloats}, "rint(x0)"},
    {{"Sigmoid", kFloats}, "1 / (1 + exp(-x0))"},
    {{"Softplus", kFloats & ~kBF16}, "x0 > 20 ? x0 : log1p(exp(x0))"},
    {{"Softsign", kFloats}, "x0 / (1 + fabs(x0))"},
    {{"Relu", kNumbers}, "x0 < 0 ? 0 : x0"},
    {{"Relu6", kNumbers}, "x0 < 0 ? 0 : x0 > 6 ? 6 : x0"},
    {{"Elu", kWide}, "x0 < 0 ? expm1(x0) : x0"},
    {{"Selu", kWide},
     "x0 < 0 ? (C)1.7580993408473768599402175208123 * expm1(x0) : "
     "(C)1.0507009873554804934193349852946 * x0"},
    {{"LeakyRelu", kFloats}, "x0 > 0 ? x0 : x0 * A0", nullptr, nullptr, "alpha"},
    {{"IsNan", kFloats}, "x0 != x0"},
    {{"IsInf", kFloats}, "fabs(x0) == INFINITY"},
    {{"IsFinite", kFloats}, "fabs(x0) < INFINITY"},
    {{"LogicalNot", 0}, "!x0"},
    {{"Invert", kInts}, "~x0"},
    {{"ZerosLike", kAll}, "0"},
    {{"OnesLike", kAll}, "1"},
};

constexpr const char* kByZero = "Integer division by zero";
// The least integer by -1 wraps.
constexpr const char* kTruncated =
    "0; if (x1 == 0) { Report(errors, number, 0); } else if ((C)-1 < 0 && x1 == (C)-1) { r = "
    "(C)(0 - (U)x0); } else { r = x0 / x1; }";
constexpr TypeSet kLogic = 0;

constexpr MapRow kBinary[] = {
    {{"Add", kNumbers}, "x0 + x1", "(C)((U)x0 + (U)x1)"},
    {{"AddV2", kNumbers}, "x0 + x1", "(C)((U)x0 + (U)x1)"},
    {{"Sub", kNumbers}, "x0 - x1", "(C)((U)x0 - (U)x1)"},
    {{"Mul", kNumbers}, "x0 * x1", "(C)((U)x0 * (U)x1)"},
    {{"Div", kNumbers}, "x0 / x1", kTruncated, kByZero},
    {{"RealDiv", kFloats}, "x0 / x1"},
    {{"TruncateDiv", kInts}, "", kTruncated, kByZero},
    {{"FloorDiv", kNumbers & ~kBF16},
     "floor(x0 / x1)",
     "0; if (x1 == 0) { Report(errors, number, 0); } else if ((C)-1 < 0 && x1 == (C)-1) { r = "
     "(C)(0 - (U)x0); }"
     " else { r = x0 / x1; if (x0 % x1 != 0 && (x0 < 0) != (x1 < 0)) r -= 1; }",
     kByZero},
    {{"FloorMod", kNumbers},
     "fmod(x0, x1); if (r != 0 && (r < 0) != (x1 < 0)) r += x1",
     "0; if (x1 == 0) { Report(errors, number, 0); } else if ((C)-1 < 0 && x1 == (C)-1) { r = 0; }"
     " else { r = x0 % x1; if (r != 0 && (r < 0) != (x1 < 0)) r += x1; }",
     kByZero},
    {{"Mod", kNumbers},
     "fmod(x0, x1)",
     "0; if (x1 == 0) { Report(errors, number, 0); } else if ((C)-1 < 0 && x1 == (C)-1) { r = 0; } "
     "else { r = x0 % x1; }",
     kByZero},
    {{"TruncateMod", kFloats}, "fmod(x0, x1)"},
    {{"DivNoNan", kFloats}, "x1 == 0 ? 0 : x0 / x1"},
    {{"MulNoNan", kFloats}, "x1 == 0 ? 0 : x0 * x1"},
    {{"Maximum", kNumbers}, "x0 != x0 || x0 > x1 ? x0 : x1", "x0 > x1 ? x0 : x1"},
    {{"Minimum", kNumbers}, "x0 != x0 || x0 < x1 ? x0 : x1", "x0 < x1 ? x0 : x1"},
    {{"SquaredDifference", kNumbers & ~kBF16},
     "x0 - x1; r = r * r",
     "(C)((U)x0 - (U)x1); r = (C)((U)r * (U)r)"},
    {{"Pow", kFloats}, "pow(x0, x1)"},
    {{"Atan2", kFloats}, "atan2(x0, x1)"},
    {{"Xdivy", kFloats}, "x0 == 0 ? 0 : x0 / x1"},
    {{"Xlogy", kFloats}, "x0 == 0 ? 0 : x0 * log(x1)"},
    {{"Xlog1py", kFloats}, "x0 == 0 ? 0 : x0 * log1p(x1)"},
    {{"NextAfter", kF32 | kF64}, "nextafter(x0, x1)"},
    {{"Less", kNumbers}, "x0 < x1"},
    {{"LessEqual", kNumbers}, "x0 <= x1"},
    {{"Greater", kNumbers}, "x0 > x1"},
    {{"GreaterEqual", kNumbers}, "x0 >= x1"},
    {{"Equal", kAll}, "x0 == x1"},
    {{"NotEqual", kAll}, "x0 != x1"},
    {{"LogicalAnd", kLogic}, "x0 && x1"},
    {{"LogicalOr", kLogic}, "x0 || x1"},
    {{"BitwiseAnd", kInts}, "x0 & x1"},
    {{"BitwiseOr", kInts}, "x0 | x1"},
    {{"BitwiseXor", kInts}, "x0 ^ x1"},
    // The amount is held inside the type's width, as in TensorFlow.
    {{"LeftShift", kInts},
     "(C)((U)x0 << (x1 < 0 ? 0 : x1 > 8 * sizeof(X0_S) - 1 ? 8 * sizeof(X0_S) - 1 : x1))"},
    {{"RightShift", kInts},
     "x0 >> (x1 < 0 ? 0 : x1 > 8 * sizeof(X0_S) - 1 ? 8 * sizeof(X0_S) - 1 : x1)"},
};

constexpr MapRow kGradients[] = {
    {{"ReluGrad", kNumbers}, "x0 * (C)(x1 > 0)", "x1 > 0 ? x0 : 0"},
    {{"Relu6Grad", kNumbers}, "x0 * (C)(x1 > 0 && x1 < 6)", "x1 > 0 && x1 < 6 ? x0 : 0"},
    {{"LeakyReluGrad", kFloats}, "x1 > 0 ? x0 : x0 * A0", nullptr, nullptr, "alpha"},
    {{"EluGrad", kWide}, "x1 < 0 ? x0 * (x1 + 1) : x0"},
    {{"SeluGrad", kWide},
     "x1 < 0 ? x0 * (x1 + (C)1.7580993408473768599402175208123) : x0 * "
     "(C)1.0507009873554804934193349852946"},
    {{"SoftplusGrad", kFloats}, "x0 / (1 + exp(-x1))"},
    {{"SoftsignGrad", kFloats}, "x0 / ((1 + fabs(x1)) * (1 + fabs(x1)))"},
};

// x0 is the result of the function.
constexpr MapRow kGradientsByResult[] = {
    {{"SigmoidGrad", kFloats}, "x1 * x0 * (1 - x0)"},
    {{"TanhGrad", kFloats}, "x1 * (1 - x0 * x0)"},
    {{"SqrtGrad", kFloats}, "x1 == 0 ? 0 : x1 * (C)0.5 / x0"},
    {{"RsqrtGrad", kFloats}, "x1 == 0 ? 0 : (C)-0.5 * x1 * x0 * x0 * x0"},
    {{"InvGrad", kFloats}, "x1 == 0 ? 0 : -x1 * x0 * x0"},
    {{"ReciprocalGrad", kFloats}, "x1 == 0 ? 0 : -x1 * x0 * x0"},
};

// The output has another type than the input; the compiler converts.
class Cast {
 public:
  Cast(const Construction& node, const PlainRow&) : truncate_(node.Bool("Truncate")) {}
  void Compute(Call& call) const {
    const Tensor x = call.In(0);
    const Tensor out = call.Out(0, x.dims);
    const ElementType& to = TypeOf(out.type);
    if (to.kind == Kind::kBool) return RunBroadcastMap(call, {"r = x0 != 0;"}, {x}, out);
    const int cut = truncate_ ? BitsCut(TypeOf(x.type).bit, to.bit) : 0;
    std::string value = "x0";
    if (cut > 0) {
      const std::string bits = x.type == TF_DOUBLE ? "long" : "int";
      value = Joined({"as_", x.type == TF_DOUBLE ? "double" : "float", "(as_", bits, "(x0) & ~(((",
                      bits, ")1 << ", std::to_string(cut), ") - 1))"});
    }
    RunBroadcastMap(call, {"r = (O_C)" + value + ";"}, {x}, out);
  }

 private:
  // Low bits of the source's significand that are cleared, which leaves nothing to round. As in
  // TensorFlow, from double to bfloat16 none are.
  static int BitsCut(TypeSet from, TypeSet to) {
    constexpr int kFloatBits = 23, kDoubleBits = 52, kHalfBits = 10, kBfloat16Bits = 7;
    if (to == kF16 && from == kF32) return kFloatBits - kHalfBits;
    if (to == kF16 && from == kF64) return kDoubleBits - kHalfBits;
    if (to == kBF16 && from == kF32) return kFloatBits - kBfloat16Bits;
    if (to == kF32 && from == kF64) return kDoubleBits - kFloatBits;
    return 0;
  }
  const bool truncate_;
};
constexpr PlainRow kCast[] = {{{"Cast", kAll, "SrcT"}}};

class SelectV2 {
 public:
  SelectV2(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor condition = call.In(0), yes = call.In(1), no = call.In(2);
    const Dims dims = Broadcast(condition.dims, Broadcast(yes.dims, no.dims));
    const Tensor out = call.OutLike(0, dims, {1, 2});
    RunBroadcastMap(call, {"r = x0 ? x1 : x2;"}, {condition, yes, no}, out);
  }
};

// The older form: the condition is a scalar, has the same shape, or chooses whole rows.
class Select {
 public:
  Select(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    Tensor condition = call.In(0);
    const Tensor yes = call.In(1), no = call.In(2);
    if (yes.dims != no.dims) {
      Refuse("Select: 'then' and 'else' must have one shape, not " + ShapeText(yes.dims) + " and " +
             ShapeText(no.dims));
    }
    if (condition.rank() == 1 && yes.rank() > 1 && condition.dims[0] == yes.dims[0]) {
      condition.dims.resize(yes.dims.size(), 1);
    } else if (condition.rank() != 0 && condition.dims != yes.dims) {
      Refuse("Select: 'condition' must be a scalar, a vector or " + ShapeText(yes.dims) + ", not " +
             ShapeText(condition.dims));
    }
    const Tensor out = call.OutLike(0, yes.dims, {1, 2});
    RunBroadcastMap(call, {"r = x0 ? x1 : x2;"}, {condition, yes, no}, out);
  }
};

class ClipByValue {
 public:
  ClipByValue(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor x = call.In(0), low = call.In(1), high = call.In(2);
    for (const Tensor& bound : {low, high}) {
      if (bound.rank() != 0 && bound.dims != x.dims) {
        Refuse("ClipByValue: a bound must be a scalar or have the shape of the input, " +
               ShapeText(x.dims) + ", not " + ShapeText(bound.dims));
      }
    }
    const Tensor out = call.OutLike(0, x.dims, {0});
    RunBroadcastMap(call, {"r = x0 > x2 ? x2 : x0; r = r < x1 ? x1 : r;"}, {x, low, high}, out);
  }
};

// Any number of inputs, summed up to eight at a time, in order.
class AddN {
 public:
  AddN(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const int count = call.inputs();
    const Tensor first = call.In(0);
    const Tensor out = call.Out(0, first.dims);
    Tensor sum = first;
    for (int begin = 1; begin < count || begin == 1;) {
      std::vector<Tensor> terms = {sum};
      std::string body = "U s = (U)x0;";
      for (; begin < count && terms.size() < 8; ++begin) {
        terms.push_back(call.In(begin));
        if (terms.back().dims != first.dims) {
          Refuse("AddN: inputs must have one shape, not " + ShapeText(first.dims) + " and " +
                 ShapeText(terms.back().dims));
        }
        body += " s += (U)x" + std::to_string(terms.size() - 1) + ";";
      }
      RunBroadcastMap(call, {body + " r = (C)s;"}, terms, out);
      sum = out;
      if (begin == 1) break;
    }
  }
};

class BiasAdd {
 public:
  BiasAdd(const Construction& node, const PlainRow&)
      : channels_first_(node.Has("data_format") && node.String("data_format") == "NCHW") {}
  void Compute(Call& call) const {
    const Tensor x = call.In(0);
    Tensor bias = call.In(1);
    if (x.rank() < 2) Refuse("Input tensor must be at least 2D: " + ShapeText(x.dims));
    if (bias.rank() != 1) Refuse("Biases must be 1D: " + ShapeText(bias.dims));
    const size_t channel = channels_first_ ? 1 : x.dims.size() - 1;
    if (bias.dims[0] != x.dims[channel]) {
      Refuse("Must provide as many biases as the last dimension of the input tensor: " +
             ShapeText(bias.dims) + " vs. " + ShapeText(x.dims));
    }
    bias.dims.resize(x.dims.size() - channel, 1);
    const Tensor out = call.OutLike(0, x.dims, {0});
    RunBroadcastMap(call, {"r = (C)((U)x0 + (U)x1);"}, {x, bias}, out);
  }

 private:
  const bool channels_first_;
};

constexpr PlainRow kSelectV2[] = {{{"SelectV2", kAll}}};
constexpr PlainRow kSelect[] = {{{"Select", kAll}}};
constexpr PlainRow kClip[] = {{{"ClipByValue", kNumbers}}};
constexpr PlainRow kAddN[] = {{{"AddN", kNumbers & ~kBF16}}};
constexpr PlainRow kBiasAdd[] = {{{"BiasAdd", kNumbers}}, {{"BiasAddV1", kNumbers}}};

const MapRow* FindIn(std::span<const MapRow> rows, std::string_view op) {
  for (const MapRow& row : rows) {
    if (row.row.op == op) return &row;
  }
  return nullptr;
}

}  // namespace

FoundRow FindMapRow(std::string_view op) {
  if (const MapRow* row = FindIn(kUnary, op)) return {row, Operands::kOne};
  if (const MapRow* row = FindIn(kBinary, op)) return {row, Operands::kBroadcast};
  if (const MapRow* row = FindIn(kGradients, op)) return {row, Operands::kSameShape};
  if (const MapRow* row = FindIn(kGradientsByResult, op)) return {row, Operands::kSameShape};
  return {};
}

std::string StatementsOf(const MapRow& row, bool floats, const std::string& attr0) {
  std::string text = floats || row.others == nullptr ? row.floats : row.others;
  for (size_t at = text.find("A0"); at != text.npos; at = text.find("A0", at + attr0.size()))
    text.replace(at, 2, attr0);
  return "r = " + text + ";";
}

void RegisterElementwise() {
  RegisterTable<Unary, kUnary>();
  RegisterTable<Binary, kBinary>();
  RegisterTable<SameShape, kGradients>();
  RegisterTable<SameCount, kGradientsByResult>();
  for (const ElementType* to = AllTypes(); to->bytes != 0; ++to) {
    using CastGlue = Glue<Cast, kCast, 0>;
    RegisterOp(kCast[0].row, {CastGlue::Create, CastGlue::Compute, CastGlue::Destroy}, "DstT",
               to->type);
  }
  RegisterTable<SelectV2, kSelectV2>();
  RegisterTable<Select, kSelect>();
  RegisterTable<ClipByValue, kClip>();
  RegisterTable<AddN, kAddN>();
  RegisterTable<BiasAdd, kBiasAdd>();
}

}  // namespace opencl
