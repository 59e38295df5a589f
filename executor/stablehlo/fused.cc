// The ops that optimizers write in place of several.
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace fused_ops {
namespace {

Value Gelu(Op& op, const Value& x, bool exact) {
  constexpr double kRootHalf = 0.70710678118654752440, kRootTwoOverPi = 0.79788456080286535588;
  if (exact) {
    const Value phi = op.b.Add(op.b.Chlo("erf", op.b.Mul(x, kRootHalf)), 1.0);
    return op.b.Mul(op.b.Mul(x, phi), 0.5);
  }
  const Value cube = op.b.Mul(op.b.Mul(op.b.Mul(x, x), x), 0.044715);
  const Value inner = op.b.Mul(op.b.Add(x, cube), kRootTwoOverPi);
  return op.b.Mul(op.b.Mul(x, op.b.Add(op.b.Unary("tanh", inner), 1.0)), 0.5);
}

Value Softplus(Op& op, const Value& x) {
  const Value tail =
      op.b.Unary("log_plus_one", op.b.Unary("exponential", op.b.Neg(op.b.Unary("abs", x))));
  return op.b.Add(op.b.Max(x, 0.0), tail);
}

// x by the activation of this name; nothing for a name that is none.
absl::StatusOr<Value> Activated(Op& op, std::string_view name, const Value& x) {
  if (name == "Relu") return op.b.Max(x, 0.0);
  if (name == "Relu6") return op.b.Min(op.b.Max(x, 0.0), 6.0);
  if (name == "Tanh") return op.b.Unary("tanh", x);
  if (name == "Sigmoid") return op.b.Unary("logistic", x);
  if (name == "GeluExact" || name == "GeluApproximate") return Gelu(op, x, name == "GeluExact");
  if (name == "Swish") return op.b.Mul(x, op.b.Unary("logistic", x));
  if (name == "HardSwish") {
    const Value gate = op.b.Min(op.b.Max(op.b.Add(x, 3.0), 0.0), 6.0);
    return op.b.Div(op.b.Mul(x, gate), 6.0);
  }
  if (name == "Mish") return op.b.Mul(x, op.b.Unary("tanh", Softplus(op, x)));
  if (name == "Elu") {
    const Value below = op.b.Unary("exponential_minus_one", op.b.Min(x, 0.0));
    return op.b.Select(op.b.Compare("LT", x, 0.0), below, x);
  }
  if (name == "LeakyRelu") {
    TENON_ASSIGN_OR_RETURN(const float alpha, op.Float("leakyrelu_alpha"));
    return op.b.Select(op.b.Compare("GT", x, 0.0), x, op.b.Mul(x, alpha));
  }
  return op.Unimplemented(absl::StrCat("the fused operation ", name));
}

int ChannelAxis(Op& op, int rank) {
  const absl::StatusOr<std::string_view> format = op.String("data_format");
  return format.ok() && format->starts_with("NC") ? 1 : rank - 1;
}

// Input `i`, one number for each channel, in the type and shape of x.
Value PerChannel(Op& op, int i, const Value& x) {
  return op.b.Broadcast(op.b.Convert(op.In(i), x.dtype), x.shape, {ChannelAxis(op, x.rank())});
}

// (x - mean) * scale * rsqrt(variance + epsilon) + offset
absl::StatusOr<Value> Normalized(Op& op, int scale, const Value& x) {
  TENON_ASSIGN_OR_RETURN(const float epsilon, op.Float("epsilon"));
  const Value variance = op.b.Convert(op.In(scale + 3), x.dtype);
  const Value factor = op.b.Mul(op.b.Unary("rsqrt", op.b.Add(variance, epsilon)),
                                op.b.Convert(op.In(scale), x.dtype));
  const Value wide = op.b.Broadcast(factor, x.shape, {ChannelAxis(op, x.rank())});
  const Value centred = op.b.Sub(x, PerChannel(op, scale + 2, x));
  return op.b.Add(op.b.Mul(centred, wide), PerChannel(op, scale + 1, x));
}

// What fused_ops lists, one after the other; their operands are inputs from `arg` on.
absl::Status Finish(Op& op, Value x, int arg) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, op.shapes().AttrOf("fused_ops"));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, list.AsStringList());
  for (const std::string_view name : names) {
    const int needs = name == "FusedBatchNorm" ? 4 : name == "BiasAdd" || name == "Add" ? 1 : 0;
    if (arg + needs > op.num_inputs()) return op.Invalid("fused_ops need more operands");
    if (name == "BiasAdd") {
      x = op.b.Add(x, PerChannel(op, arg, x));
    } else if (name == "Add") {
      x = op.b.Add(x, op.b.BroadcastTo(op.b.Convert(op.In(arg), x.dtype), x.shape));
    } else if (name == "FusedBatchNorm") {
      TENON_ASSIGN_OR_RETURN(x, Normalized(op, arg, x));
    } else {
      TENON_ASSIGN_OR_RETURN(x, Activated(op, name, x));
    }
    arg += needs;
  }
  return op.Out(op.b.Convert(x, op.OutType(0)));
}

absl::Status FusedMatMul(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value product, Multiply(op));
  return Finish(op, product, 2);
}

template <bool kDepthwise>
absl::Status FusedConv(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value images, Convolve(op, kDepthwise));
  return Finish(op, images, 2);
}

// fused_ops: [Mul] [Add], with tensors that broadcast.
absl::Status FusedBatchMatMul(Op& op) {
  TENON_ASSIGN_OR_RETURN(Value x, MultiplyBatches(op));
  TENON_ASSIGN_OR_RETURN(const AttrValue list, op.shapes().AttrOf("fused_ops"));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, list.AsStringList());
  int arg = 2;
  std::string_view before;
  for (const std::string_view name : names) {
    if ((name != "Mul" && name != "Add") || before == "Add")
      return op.Unimplemented(absl::StrCat("the fused operation ", name));
    if (arg >= op.num_inputs()) return op.Invalid("fused_ops need more operands");
    const Value y = op.b.BroadcastTo(op.b.Convert(op.In(arg++), x.dtype), x.shape);
    x = name == "Mul" ? op.b.Mul(x, y) : op.b.Add(x, y);
    before = name;
  }
  return op.Out(op.b.Convert(x, op.OutType(0)));
}

absl::Status FusedBatchNormEx(Op& op) {
  TENON_ASSIGN_OR_RETURN(const bool training, op.Bool("is_training"));
  if (training) return op.Unimplemented("training");
  const Value x = op.b.Convert(op.In(0), op.InType(1));
  TENON_ASSIGN_OR_RETURN(Value y, Normalized(op, 1, x));
  if (op.num_inputs() > 5) y = op.b.Add(y, op.b.Convert(op.In(5), y.dtype));
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, op.String("activation_mode"));
  if (mode != "Identity") {
    TENON_ASSIGN_OR_RETURN(y, Activated(op, mode, y));
  }
  op.Out(0, op.b.Convert(y, op.OutType(0)));
  for (const int i : {1, 3}) op.Out(i, op.In(3));
  for (const int i : {2, 4}) op.Out(i, op.In(4));
  op.Out(5, op.b.Full(op.OutType(5), Shape({0}), 0));
  return absl::OkStatus();
}

absl::Status UnaryOpsComposition(Op& op) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, op.shapes().AttrOf("op_names"));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, list.AsStringList());
  struct Named {
    std::string_view op, text;
  };
  static constexpr Named kNamed[] = {{"Abs", "abs"},
                                     {"Ceil", "ceil"},
                                     {"Cos", "cosine"},
                                     {"Exp", "exponential"},
                                     {"Expm1", "exponential_minus_one"},
                                     {"Floor", "floor"},
                                     {"Log", "log"},
                                     {"Log1p", "log_plus_one"},
                                     {"Neg", "negate"},
                                     {"Rint", "round_nearest_even"},
                                     {"Round", "round_nearest_even"},
                                     {"Rsqrt", "rsqrt"},
                                     {"Sigmoid", "logistic"},
                                     {"Sin", "sine"},
                                     {"Sqrt", "sqrt"},
                                     {"Tan", "tan"},
                                     {"Tanh", "tanh"}};
  Value x = op.In(0);
  for (const std::string_view name : names) {
    const Named* found = nullptr;
    for (const Named& named : kNamed) {
      if (named.op == name) found = &named;
    }
    if (found != nullptr) {
      x = op.b.Unary(found->text, x);
    } else if (name == "Square") {
      x = op.b.Mul(x, x);
    } else if (name == "Inv" || name == "Reciprocal") {
      x = op.b.Div(op.b.Like(x, 1), x);
    } else {
      TENON_ASSIGN_OR_RETURN(x, Activated(op, name, x));
    }
  }
  return op.Out(x);
}

template <OpName kName>
absl::Status Activation(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value y, Activated(op, kName.text, op.b.Wide(op.In(0))));
  return op.Out(op.b.Convert(y, op.OutType(0)));
}

// --- Ops of our own.

// softmax(query * key^T * scale + masks) * value
absl::Status Attention(Op& op) {
  TENON_ASSIGN_OR_RETURN(const bool heads_first, op.Bool("heads_first"));
  TENON_ASSIGN_OR_RETURN(const float scale, op.Float("scale"));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const auto by_head = [&](int i) {
    return heads_first ? op.In(i) : op.b.Transpose(op.In(i), {0, 2, 1, 3});
  };
  Value q = by_head(0), k = by_head(1), v = by_head(2);
  const int64_t batch = shape.dim(0), heads = shape.dim(heads_first ? 1 : 2);
  const auto all = [&](const Value& x) {
    return op.b.BroadcastTo(x, Shape({batch, heads, x.shape.dim(2), x.shape.dim(3)}));
  };
  q = all(q);
  k = all(k);
  v = all(v);
  Value scores = op.b.Mul(op.b.Dot(q, k, {0, 1}, {0, 1}, {3}, {3}, q.dtype), scale);
  for (int i = 3; i < op.num_inputs(); ++i)
    scores = op.b.Add(scores, op.b.BroadcastTo(op.In(i), scores.shape));
  const Value most = op.b.Reduce("maximum", scores, op.b.Lowest(scores.dtype, Shape()), {3});
  const Value e =
      op.b.Unary("exponential", op.b.Sub(scores, op.b.Broadcast(most, scores.shape, {0, 1, 2})));
  const Value sum = op.b.Reduce("add", e, op.b.Scalar(e.dtype, 0), {3});
  const Value weights = op.b.Div(e, op.b.Broadcast(sum, e.shape, {0, 1, 2}));
  const Value out = op.b.Dot(weights, v, {0, 1}, {0, 1}, {3}, {2}, v.dtype);
  return op.Out(heads_first ? out : op.b.Transpose(out, {0, 2, 1, 3}));
}

absl::Status LayerNorm(Op& op) {
  TENON_ASSIGN_OR_RETURN(const float epsilon, op.Float("epsilon"));
  const Value& x = op.In(0);
  const int64_t last = x.rank() - 1;
  const auto count = static_cast<double>(x.shape.dim(static_cast<int>(last)));
  Ints rows;
  for (int i = 0; i < last; ++i) rows.push_back(i);
  const auto mean = [&](const Value& v) {
    return op.b.Div(op.b.Reduce("add", v, op.b.Scalar(v.dtype, 0), {last}), count);
  };
  const Value centred = op.b.Sub(x, op.b.Broadcast(mean(x), x.shape, rows));
  const Value variance = mean(op.b.Mul(centred, centred));
  const Value root = op.b.Unary("rsqrt", op.b.Add(variance, epsilon));
  const Value unit = op.b.Mul(centred, op.b.Broadcast(root, x.shape, rows));
  return op.Out(op.b.Add(op.b.Mul(unit, op.b.Broadcast(op.In(1), x.shape, {last})),
                         op.b.Broadcast(op.In(2), x.shape, {last})));
}

absl::Status Projections(Op& op) {
  TENON_ASSIGN_OR_RETURN(const bool transposed, op.Bool("transpose_b"));
  const Value& a = op.In(0);
  const int n = op.num_outputs();
  for (int i = 0; i < n; ++i) {
    const Value& b = op.In(1 + i);
    Value product = op.b.Dot(a, b, {}, {}, {a.rank() - 1}, {transposed ? 1 : 0},
                             a.dtype == DataType::kFloat ? a.dtype : DataType::kFloat);
    if (1 + n + i < op.num_inputs()) {
      const Value bias = op.b.Convert(op.In(1 + n + i), product.dtype);
      product = op.b.Add(product, op.b.Broadcast(bias, product.shape, {product.rank() - 1}));
    }
    op.Out(i, op.b.Convert(product, op.OutType(i)));
  }
  return absl::OkStatus();
}

constexpr Row kRows[] = {
    {"_FusedMatMul", FusedMatMul, kFloats},
    {"_FusedConv2D", FusedConv<false>, kFloats},
    {"_FusedConv3D", FusedConv<false>, kFloats},
    {"_FusedDepthwiseConv2dNative", FusedConv<true>, kFloats},
    {"_MklFusedBatchMatMulV2", FusedBatchMatMul, kFloats},
    {"_FusedBatchNormEx", FusedBatchNormEx, kFloats},
    {"_UnaryOpsComposition", UnaryOpsComposition, kFloats},
    {"_MklSwish", Activation<"Swish">, kFloats},
    {"_MklFusedMish", Activation<"Mish">, kFloats},
    {"_TenonAttention", Attention, kFloats},
    {"_TenonLayerNorm", LayerNorm, kFloats},
    {"_TenonProjections", Projections, kFloats},
};

}  // namespace
}  // namespace fused_ops

Rows FusedRows() { return fused_ops::kRows; }

}  // namespace tenon::stablehlo
