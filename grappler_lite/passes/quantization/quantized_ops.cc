#include "grappler_lite/passes/quantization/quantized_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/byte_sums.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/quantization/byte_codes.h"
#include "grappler_lite/passes/quantization/weighted_ops.h"

namespace tenon {
namespace {

std::optional<Tensor> FloatConst(const Sweep& s, Output o) {
  std::optional<Tensor> value = s.ConstOf(o, std::numeric_limits<int64_t>::max());
  if (value && (value->dtype() != DataType::kFloat || value->num_elements() == 0))
    return std::nullopt;
  return value;
}

// Weights that the graph holds as bytes: a cast of a constant, perhaps less a zero point, times a
// scale, each one number or one for each column. constant_folding leaves them so where floats would
// make the graph grow too much.
std::optional<Tensor> ScaledBytes(const Sweep& s, Output o) {
  constexpr auto kAnySize = std::numeric_limits<int64_t>::max();
  const Graph& g = s.graph();
  const auto made_by = [&](Output v, std::string_view op) {
    return g.op_name(v.node) == op && !s.fed(v.node) && g.control_inputs(v.node).empty();
  };
  if (!made_by(o, "Mul")) return std::nullopt;
  Output cast = g.data_inputs(o.node)[0];
  const std::optional<Tensor> scale = FloatConst(s, g.data_inputs(o.node)[1]);
  std::optional<Tensor> zero;
  if (made_by(cast, "Sub")) {
    zero = FloatConst(s, g.data_inputs(cast.node)[1]);
    if (!zero) return std::nullopt;
    cast = g.data_inputs(cast.node)[0];
  }
  if (!scale || !made_by(cast, "Cast")) return std::nullopt;
  const std::optional<Tensor> bytes = s.ConstOf(g.data_inputs(cast.node)[0], kAnySize);
  if (!bytes || (bytes->dtype() != DataType::kInt8 && bytes->dtype() != DataType::kUint8) ||
      bytes->shape().rank() == 0)
    return std::nullopt;
  const Shape& shape = bytes->shape();
  const int64_t columns = shape.dim(shape.rank() - 1);
  const auto spreads = [&](const Tensor& t) {
    return t.num_elements() == 1 ||
           (t.shape().rank() <= shape.rank() && t.num_elements() == columns &&
            t.shape().dim(t.shape().rank() - 1) == columns);
  };
  if (!spreads(*scale) || scale->shape().rank() > shape.rank()) return std::nullopt;
  if (zero && (!spreads(*zero) || zero->shape().rank() > shape.rank())) return std::nullopt;
  absl::StatusOr<Tensor> weights = Tensor::Allocate(DataType::kFloat, shape);
  if (!weights.ok()) return std::nullopt;
  auto* const to = weights->flat<float>();
  const auto of_column = [&](const Tensor& t, int64_t j) {
    return ElementAt<float>(t, t.num_elements() == 1 ? 0 : j);
  };
  for (int64_t i = 0; i < weights->num_elements(); ++i) {
    const auto code = static_cast<float>(bytes->IntAt(i));
    const int64_t j = i % columns;
    to[i] = (code - (zero ? of_column(*zero, j) : 0)) * of_column(*scale, j);
  }
  return *std::move(weights);
}

std::optional<Tensor> Weights(const Sweep& s, Output o) {
  std::optional<Tensor> value = FloatConst(s, o);
  return value ? value : ScaledBytes(s, o);
}

// How the floats of the first input become bytes; a step of 0: by their extremes.
void PutGrid(const std::optional<GridValue>& input, NewAttrs& attrs) {
  const ValueGrid grid = input ? input->grid : ValueGrid{0, 0, 255};
  attrs.emplace_back("step", attr::Float(grid.step));
  attrs.emplace_back("least", attr::Int(grid.least));
  attrs.emplace_back("most", attr::Int(grid.most));
}

// --- What a convolution fuses.

struct FusedArgs {
  std::vector<std::string_view> ops;
  std::vector<Output> args;
  // A batch normalization by constants becomes a factor of each channel and a bias.
  std::vector<float> factors, bias;
};

std::vector<std::string_view> FusedNames(const Graph& g, NodeId n) {
  const AttrValue* const value = g.attr(n, "fused_ops");
  if (value == nullptr) return {};
  absl::StatusOr<std::vector<std::string_view>> list = value->AsStringList();
  return list.ok() ? *std::move(list) : std::vector<std::string_view>();
}

std::optional<FusedArgs> ReadFused(const Sweep& s, NodeId n, int64_t channels) {
  const Graph& g = s.graph();
  const std::span<const Output> args = g.data_inputs(n).subspan(2);
  FusedArgs fused{FusedNames(g, n), {args.begin(), args.end()}, {}, {}};
  if (fused.ops.empty() || fused.ops[0] != "FusedBatchNorm") return fused;
  if (args.size() < 4) return std::nullopt;
  std::array<std::optional<Tensor>, 4> norm;
  for (int i = 0; i < 4; ++i) {
    norm[i] = FloatConst(s, args[i]);
    if (!norm[i] || norm[i]->num_elements() != channels) return std::nullopt;
  }
  const double epsilon = FloatAttr(g, n, "epsilon");
  for (int64_t j = 0; j < channels; ++j) {
    const double factor =
        ElementAt<float>(*norm[0], j) / std::sqrt(ElementAt<float>(*norm[3], j) + epsilon);
    const double shift = ElementAt<float>(*norm[1], j) - ElementAt<float>(*norm[2], j) * factor;
    if (!std::isfinite(factor) || !std::isfinite(shift)) return std::nullopt;
    fused.factors.push_back(static_cast<float>(factor));
    fused.bias.push_back(static_cast<float>(shift));
  }
  fused.ops[0] = "BiasAdd";
  fused.args.erase(fused.args.begin(), fused.args.begin() + 4);
  return fused;
}

NewAttrs ConvAttrs(const Graph& g, NodeId n, const FusedArgs& fused,
                   const std::optional<GridValue>& input) {
  const auto args = static_cast<int64_t>(fused.args.size()) + (fused.bias.empty() ? 0 : 1);
  NewAttrs attrs = {{"T", attr::Type(DataType::kFloat)}, {"num_args", attr::Int(args)}};
  CopyAttrs(g, n, {"strides", "padding", "explicit_paddings", "dilations", "leakyrelu_alpha"},
            attrs);
  attrs.emplace_back("fused_ops", attr::StringList(fused.ops));
  PutGrid(input, attrs);
  return attrs;
}

}  // namespace

bool Applied(Sweep& s, NodeId n, const Obstacle& obstacle) {
  if (obstacle && !obstacle->empty()) s.context().Note(n, *obstacle);
  return !obstacle;
}

Obstacle QuantizeConv(Sweep& s, NodeId n, const std::optional<GridValue>& input,
                      int64_t min_weights) {
  Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  if (g.output_type({n, 0}) != DataType::kFloat || IntAttr(g, n, "num_host_args") != 0)
    return "it is no convolution of floats";
  if (TextAttr(g, n, "data_format") != "NHWC") return "its channels are not last";
  const std::optional<Tensor> weights = Weights(s, in[1]);
  if (!weights || weights->shape().rank() != 4) return "its weights are no constant";
  const int64_t count = weights->num_elements(), channels = weights->shape().dim(3);
  // Where the graph rounds already, bytes cost no further error. Windows of one place are rows as
  // they lie, so that few weights pay.
  const bool one_place = weights->shape().dim(0) == 1 && weights->shape().dim(1) == 1;
  if (input && one_place) min_weights /= 16;
  if (std::string why = WhyNotSizes(count, count / channels, min_weights, kMostQuantizedTerms);
      !why.empty())
    return why;
  const PartialShape& images = s.shape(in[0]);
  if (!images.known_rank() || images.rank() != 4 || images.dim(3) != weights->shape().dim(2))
    return "its channels are in groups, or their number is not known";
  const std::optional<FusedArgs> fused = ReadFused(s, n, channels);
  if (!fused) return "its batch normalization is not constant";
  NewAttrs attrs = ConvAttrs(g, n, *fused, input);
  if (!s.HasKernel(n, "_TenonQuantizedConv2D", attrs) || !s.HasConstKernel(n, DataType::kInt8))
    return "its device has no kernel for _TenonQuantizedConv2D";
  const std::optional<ByteCodes> codes =
      input ? ExactCodes(*weights, {channels}) : NearestCodes(*weights, {channels});
  if (!codes) {
    return input ? "its weights are not rounded to 8 bits"
                 : "its weights hold a NaN or an infinity";
  }
  if (!s.Allow()) return "";
  auto* const scales = codes->scales.flat<float>();
  for (size_t j = 0; j < fused->factors.size(); ++j) scales[j] *= fused->factors[j];
  std::vector<Output> inputs = {input ? input->from : in[0], s.AddConst(n, "codes", codes->codes),
                                s.AddConst(n, "scales", codes->scales),
                                s.AddConst(n, "zeros", codes->zeros)};
  if (!fused->bias.empty()) {
    inputs.push_back(s.AddConst(
        n, "bias",
        Tensor::Of<float>(DataType::kFloat, absl::MakeConstSpan(fused->bias), Shape({channels}))));
  }
  inputs.insert(inputs.end(), fused->args.begin(), fused->args.end());
  s.Become(n, "_TenonQuantizedConv2D", inputs, std::move(attrs));
  return std::nullopt;
}

namespace {

// The inputs of the product with weights `i`.
std::vector<Output> ProductInputs(Sweep& s, NodeId n, const WeightedProduct& p,
                                  const GridValue& input, int i, const ByteCodes& codes) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  std::vector<Output> args;
  if (p.fuses) {
    args.assign(in.begin() + p.first_arg, in.end());
  } else if (p.biased) {
    args.push_back(in[p.first_arg + i]);
  }
  std::vector<Output> inputs = {input.from, s.AddConst(n, "codes", codes.codes),
                                s.AddConst(n, "scales", codes.scales),
                                s.AddConst(n, "zeros", codes.zeros)};
  inputs.insert(inputs.end(), args.begin(), args.end());
  return inputs;
}

}  // namespace

Obstacle QuantizeProduct(Sweep& s, NodeId n, const GridValue& input, int64_t min_weights) {
  constexpr std::string_view kOp = "_TenonQuantizedMatMul";
  const Graph& g = s.graph();
  const std::optional<WeightedProduct> p = AsProduct(g, n);
  if (!p || g.output_type({n, 0}) != DataType::kFloat)
    return absl::StrCat(g.op_name(n), " of this form has no product of bytes");
  if (p->projects && !s.MayReplaceOutputs(n))
    return "it is fetched, or control edges begin or end there";
  NewAttrs attrs = ProductAttrs(g, n, *p);
  PutGrid(input, attrs);
  if (!s.HasKernel(n, kOp, attrs) || !s.HasConstKernel(n, DataType::kInt8))
    return absl::StrCat("its device has no kernel for ", kOp);
  std::vector<ByteCodes> codes;
  for (int i = 1; i <= p->products; ++i) {
    const std::optional<Tensor> weights = Weights(s, g.data_inputs(n)[i]);
    if (!weights) return "its weights are no constant";
    const Shape& shape = weights->shape();
    if (std::string why = WhyNotShape(*p, shape, min_weights, kMostQuantizedTerms); !why.empty())
      return why;
    const int64_t columns = shape.num_elements() / shape.dim(p->transpose_b ? 1 : 0);
    std::optional<ByteCodes> exact = ExactCodes(*weights, {columns, p->transpose_b});
    if (!exact) return "its weights are not rounded to 8 bits";
    codes.push_back(*std::move(exact));
  }
  if (!s.Allow()) return "";
  if (!p->projects) {
    s.Become(n, kOp, ProductInputs(s, n, *p, input, 0, codes[0]), std::move(attrs));
    return std::nullopt;
  }
  std::vector<Output> made;
  for (int i = 0; i < p->products; ++i) {
    made.push_back(s.Add(n, absl::StrCat("product", i), kOp,
                         ProductInputs(s, n, *p, input, i, codes[i]), attrs, s.shape({n, i})));
  }
  s.BypassOutputs(n, made);
  return std::nullopt;
}

}  // namespace tenon
