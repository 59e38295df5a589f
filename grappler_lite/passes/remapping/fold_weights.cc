// Scales the filter of a contraction in place of what it computes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

// Output channels of a filter: HWIO and [K, N] have them last; a depthwise filter [H, W, C, M] has
// C*M of them, also last.
int64_t FilterChannels(const Contraction& c, const Shape& filter) {
  const int r = filter.rank();
  return c.op == "DepthwiseConv2dNative" ? filter.dim(r - 2) * filter.dim(r - 1)
                                         : filter.dim(r - 1);
}

// A constant float filter of a contraction, and its number of output channels.
struct Filter {
  Tensor value;
  int64_t channels = 0;
};

// Whether channels do not stand where FilterChannels looks.
bool IsTransposed(const Graph& g, NodeId contraction) {
  for (std::string_view transpose : {"transpose_a", "transpose_b"}) {
    const AttrValue* v = g.attr(contraction, transpose);
    if (v != nullptr && v->AsBool().value_or(true)) return true;
  }
  return false;
}

std::optional<Filter> ScalableFilter(const Sweep& s, NodeId contraction) {
  const Graph& g = s.graph();
  std::optional<Tensor> value = s.ConstOf(g.data_inputs(contraction)[1], INT64_MAX);
  if (!value || value->dtype() != DataType::kFloat || value->num_elements() == 0)
    return std::nullopt;
  const int64_t channels = FilterChannels(*FindContraction(g.op_name(contraction)), value->shape());
  return Filter{*std::move(value), channels};
}

// Of floats, or of half or bfloat16.
std::vector<float> FloatsOf(const Tensor& t) {
  std::vector<float> values(t.num_elements());
  if (t.dtype() == DataType::kFloat) {
    std::memcpy(values.data(), t.data(), t.bytes());
    return values;
  }
  for (int64_t i = 0; i < t.num_elements(); ++i)
    values[i] = static_cast<float>(NumberAt(t, i).value_or(0));
  return values;
}
bool IsUpToFloat(DataType t) {
  return t == DataType::kFloat || t == DataType::kHalf || t == DataType::kBfloat16;
}

// The filter with output channel j multiplied by scale[j]; nothing where that makes an infinity or
// NaN, or where all that a channel holds becomes too small for a float.
std::optional<Tensor> ScaleFilter(const Filter& filter, const std::vector<float>& scale) {
  absl::StatusOr<Tensor> scaled = Tensor::Allocate(DataType::kFloat, filter.value.shape());
  if (!scaled.ok()) return std::nullopt;
  std::memcpy(scaled->data(), filter.value.data(), filter.value.bytes());
  std::vector<float> largest(filter.channels, 0.0f), largest_scaled(filter.channels, 0.0f);
  float* w = scaled->flat<float>();
  for (int64_t row = 0, rows = filter.value.num_elements() / filter.channels; row < rows;
       ++row, w += filter.channels) {
    for (int64_t j = 0; j < filter.channels; ++j) {
      const float product = w[j] * scale[j];
      if (!std::isfinite(product) && std::isfinite(w[j])) return std::nullopt;
      largest[j] = std::max(largest[j], std::abs(w[j]));
      largest_scaled[j] = std::max(largest_scaled[j], std::abs(product));
      w[j] = product;
    }
  }
  for (int64_t j = 0; j < filter.channels; ++j) {
    if (largest[j] > 0 && scale[j] != 0 && largest_scaled[j] < std::numeric_limits<float>::min())
      return std::nullopt;
  }
  return *std::move(scaled);
}

// Next to the contraction's own filter.
absl::StatusOr<NodeId> NewFilter(Graph& g, NodeId contraction, const Tensor& value) {
  return NewConst(g, g.data_inputs(contraction)[1].node, "scaled", value);
}

}  // namespace

bool FoldMul(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  for (int i : {0, 1}) {
    const Output product = g.data_inputs(n)[i];
    const std::optional<Fusable> into = FusableOutput(s, product, n, {""});
    if (!into) continue;
    const NodeId contraction = into->contraction;
    const std::optional<Filter> filter = ScalableFilter(s, contraction);
    const std::optional<Tensor> factor = s.ConstOf(g.data_inputs(n)[1 - i]);
    if (!filter || !factor || factor->dtype() != DataType::kFloat) continue;
    const int rank = factor->shape().rank();
    const bool is_number = factor->num_elements() == 1;
    if (rank > 0 && rank > s.shape(product).rank()) continue;
    // A second copy of weights, such as of an embedding's, costs more than the node.
    if (is_number && !s.OnlyUse(g.data_inputs(contraction)[1])) continue;
    if (!is_number && (IsTransposed(g, contraction) ||
                       !IsChannelVector(factor->shape(), filter->channels, IsNhwc(g, contraction))))
      continue;
    std::vector<float> scale = FloatsOf(*factor);
    if (is_number) scale.resize(filter->channels, scale[0]);
    const std::optional<Tensor> scaled = ScaleFilter(*filter, scale);
    if (!scaled || !s.Allow()) continue;
    const absl::StatusOr<NodeId> scaled_filter = NewFilter(g, contraction, *scaled);
    if (!scaled_filter.ok()) return false;
    const Output inputs[] = {g.data_inputs(contraction)[0], {*scaled_filter, 0}};
    TakeOver(g, n, *into, g.op_name(contraction), inputs, AllAttrs(g, contraction));
    return true;
  }
  return false;
}

namespace {

// Means further than this from 0, in standard deviations, would cost more than 8 of a float's 24
// bits; factors outside of these bounds may make weights vanish or overflow.
constexpr float kMaxMeanInDeviations = 256;
constexpr float kLeastFactor = 1e-18f, kMostFactor = 1e18f;

// Batch normalization by constants as y = x * scale + bias, one pair per channel; `mean` has what
// was added to x before already taken off.
struct AffineNorm {
  std::vector<float> scale, bias, mean;
  float epsilon;
};

std::optional<AffineNorm> NormOf(const Sweep& s, NodeId n, const std::vector<float>& added) {
  const Graph& g = s.graph();
  const absl::StatusOr<float> epsilon = g.attr(n, "epsilon")->AsFloat();
  if (!epsilon.ok()) return std::nullopt;
  std::vector<float> p[4];  // scale, offset, mean, variance
  for (int i = 0; i < 4; ++i) {
    const std::optional<Tensor> t = s.ConstOf(g.data_inputs(n)[i + 1]);
    if (!t || t->dtype() != DataType::kFloat) return std::nullopt;
    p[i] = FloatsOf(*t);
    if (p[i].size() != p[0].size()) return std::nullopt;
  }
  const size_t channels = p[0].size();
  if (!added.empty() && added.size() != channels) return std::nullopt;
  AffineNorm norm{std::vector<float>(channels), std::vector<float>(channels), std::move(p[2]),
                  *epsilon};
  for (size_t j = 0; j < channels; ++j) {
    if (!added.empty()) norm.mean[j] -= added[j];
    const float deviation = std::sqrt(p[3][j] + *epsilon);
    // x - mean is exact to the last bit of x; x * scale - mean * scale loses what they share.
    if (!(std::abs(norm.mean[j]) <= kMaxMeanInDeviations * deviation)) return std::nullopt;
    norm.scale[j] = p[0][j] / deviation;
    norm.bias[j] = p[1][j] - norm.mean[j] * norm.scale[j];
    const float factor = std::abs(norm.scale[j]);
    if (!(factor == 0 || (factor >= kLeastFactor && factor <= kMostFactor)) ||
        !std::isfinite(norm.bias[j]))
      return std::nullopt;
  }
  return norm;
}

absl::StatusOr<NodeId> NewVector(Graph& g, NodeId like, std::string_view suffix,
                                 const std::vector<float>& values) {
  return NewConst(
      g, like, suffix,
      Tensor::Of<float>(DataType::kFloat, values, Shape({static_cast<int64_t>(values.size())})));
}

// Fuse, for which constants were made; without it they go again.
bool FuseWith(Sweep& s, NodeId n, const Fusion& fusion, std::initializer_list<NodeId> made) {
  if (Fuse(s, n, fusion)) return true;
  for (NodeId constant : made) s.graph().RemoveNode(constant);
  return false;
}

// What a normalization reads: a contraction, and the constant that was added to it, by the
// contraction itself or by a BiasAdd that stays one, since who is to run the result cannot fuse it.
struct Normalized {
  NodeId contraction = kNoNode;
  NodeId bias_add = kNoNode;
  std::vector<float> added;
};

std::optional<Normalized> FindNormalized(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  Normalized found{ContractionInput(s, n, 0, {"", "BiasAdd"})};
  const Output x = g.data_inputs(n)[0];
  if (found.contraction == kNoNode && g.op_name(x.node) == "BiasAdd" && !s.fed(x.node) &&
      OnlyFor(s, x, n) && SameFormat(g, n, x.node)) {
    found.bias_add = x.node;
    found.contraction = ContractionInput(s, x.node, 0, {""});
  }
  if (found.contraction == kNoNode || !SameFormat(g, n, found.contraction)) return std::nullopt;
  const bool has_own = !FusedOps(g, found.contraction).empty();
  if (!has_own && found.bias_add == kNoNode) return found;
  const Output bias = has_own ? g.data_inputs(found.contraction)[2] : g.data_inputs(x.node)[1];
  const std::optional<Tensor> value = s.ConstOf(bias);
  if (!value || !IsUpToFloat(value->dtype())) return std::nullopt;
  found.added = FloatsOf(*value);
  return found;
}

// n becomes the BiasAdd of a contraction, plain as it was, which takes another filter.
bool AddBehind(Sweep& s, NodeId n, const Normalized& from, NodeId filter, NodeId bias) {
  Graph& g = s.graph();
  NewAttrs attrs = AttrsOf(g, n, {"T"});
  if (!IsNhwc(g, n)) attrs.push_back({"data_format", attr::String("NCHW")});
  if (!FusedOps(g, from.contraction).empty() || !s.HasKernel(n, "BiasAdd", attrs) || !s.Allow())
    return false;
  g.SetInput(from.contraction, 1, {filter, 0});
  const std::vector<Output> controls =
      from.bias_add == kNoNode
          ? std::vector<Output>(g.control_inputs(n).begin(), g.control_inputs(n).end())
          : MergedControls(g, from.bias_add, n);
  const Output inputs[] = {{from.contraction, 0}, {bias, 0}};
  g.BecomeOp(n, "BiasAdd", std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

// The filter of a contraction is scaled, and the rest is a bias.
bool FoldIntoFilter(Sweep& s, NodeId n, const Normalized& from, const AffineNorm& norm,
                    Fusion fusion) {
  Graph& g = s.graph();
  const std::optional<Filter> filter =
      IsTransposed(g, from.contraction) ? std::nullopt : ScalableFilter(s, from.contraction);
  if (!filter || filter->channels != static_cast<int64_t>(norm.scale.size())) return false;
  const std::optional<Tensor> product = ScaleFilter(*filter, norm.scale);
  if (!product) return false;
  const absl::StatusOr<NodeId> scaled = NewFilter(g, from.contraction, *product);
  const absl::StatusOr<NodeId> bias = NewVector(g, n, "bias", norm.bias);
  if (!scaled.ok() || !bias.ok()) return false;
  fusion.op = "BiasAdd";
  fusion.args = {Output{*bias, 0}};
  fusion.filter = *scaled;
  if (from.bias_add == kNoNode && CanFuse(s, n, fusion))
    return FuseWith(s, n, fusion, {*scaled, *bias});
  if (AddBehind(s, n, from, *scaled, *bias)) return true;
  g.RemoveNode(*scaled);
  g.RemoveNode(*bias);
  return false;
}

}  // namespace

// The kernel of _FusedConv2D scales its filter when it packs it; those of the other contractions,
// and of what is not fused, do not.
bool FoldBatchNorm(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.attr(n, "is_training")->AsBool().value_or(true) || !OnlyFirstOutputUsed(s, n)) return false;
  const std::optional<Normalized> from = FindNormalized(s, n);
  if (!from) return false;
  const std::optional<AffineNorm> norm = NormOf(s, n, from->added);
  if (!norm) return false;
  Fusion fusion{{from->contraction}, "FusedBatchNorm"};
  fusion.replaces_bias = !FusedOps(g, from->contraction).empty();
  const std::span<const Output> statistics = g.data_inputs(n).subspan(1, 4);
  fusion.args.assign(statistics.begin(), statistics.end());
  fusion.epsilon = norm->epsilon;
  const bool scales_itself = FindContraction(g.op_name(from->contraction))->op == "Conv2D";
  if (!scales_itself || from->bias_add != kNoNode || !CanFuse(s, n, fusion)) {
    fusion.epsilon.reset();
    return FoldIntoFilter(s, n, *from, *norm, std::move(fusion));
  }
  if (!fusion.replaces_bias) return Fuse(s, n, fusion);
  const absl::StatusOr<NodeId> mean = NewVector(g, n, "mean", norm->mean);
  if (!mean.ok()) return false;
  fusion.args[2] = {*mean, 0};
  return FuseWith(s, n, fusion, {*mean});
}

namespace {

// Whether n's statistics are four constants that nobody else reads.
bool OwnsStatistics(const Sweep& s, NodeId n) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  return std::all_of(in.begin() + 1, in.begin() + 5, [&](Output o) { return OnlyFor(s, o, n); });
}

// Whether what n gives goes into a Relu that takes it over, or may.
bool IsReadByRelu(const Sweep& s, NodeId n) {
  const std::span<const Fanouts::Use> uses = s.uses_of(n);
  return uses.size() == 1 && s.graph().op_name(uses[0].node) == "Relu";
}

}  // namespace

bool ExpandBatchNorm(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const DataType type = g.output_type({n, 0});
  if (!s.context().target.is_tensorflow() || type != DataType::kFloat ||
      g.attr(n, "is_training")->AsBool().value_or(true) || !OnlyFirstOutputUsed(s, n) ||
      !OwnsStatistics(s, n) || IsReadByRelu(s, n))
    return false;
  const bool last = IsNhwc(g, n);
  const int rank = s.shape({n, 0}).rank();
  const std::optional<AffineNorm> norm = NormOf(s, n, {});
  const Sweep::Attrs attrs = {{"T", attr::Type(type)}};
  if (!norm || (!last && rank < 2) || !s.HasKernel(n, "Mul", attrs) ||
      !s.HasKernel(n, "AddV2", attrs) || !s.Allow())
    return false;
  Dims dims = {static_cast<int64_t>(norm->scale.size())};
  if (!last) dims.resize(rank - 1, 1);
  const Shape shape(dims);
  const Output scaled[] = {
      g.data_inputs(n)[0],
      s.AddConst(n, "scale", Tensor::Of<float>(DataType::kFloat, norm->scale, shape))};
  const Output sum[] = {
      s.Add(n, "scaled", "Mul", scaled, attrs, s.shape({n, 0})),
      s.AddConst(n, "bias", Tensor::Of<float>(DataType::kFloat, norm->bias, shape))};
  s.Become(n, "AddV2", sum, attrs);
  return true;
}

}  // namespace tenon
