// Fuses MatMul and convolution with what follows them. Each rewrite merges one node into the
// contraction before it, and the sweep goes forward, so that Conv2D, BiasAdd, Add, Relu become one
// node step by step. The last node of a chain keeps its name. What strides leave out is dropped at
// last.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "graph/tensor_proto.h"
#include "grappler_lite/pass.h"
#include "grappler_lite/remapping.h"
#include "grappler_lite/rewriter.h"

namespace tenon {

std::vector<std::string_view> FusedOps(const Graph& g, NodeId n) {
  const AttrValue* fused = g.attr(n, "fused_ops");
  if (fused == nullptr) return {};
  absl::StatusOr<std::vector<std::string_view>> list = fused->AsStringList();
  return list.ok() ? *std::move(list) : std::vector<std::string_view>();
}

bool IsNhwc(const Graph& g, NodeId n) {
  const AttrValue* format = g.attr(n, "data_format");
  if (format == nullptr) return true;
  const absl::StatusOr<std::string_view> value = format->AsString();
  return value.ok() && *value == "NHWC";
}

absl::StatusOr<NodeId> NewConst(Graph& g, NodeId like, std::string_view suffix,
                                const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(const std::string wire, TensorToWire(value));
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"dtype", attr::Type(value.dtype())});
  attrs.push_back({"value", attr::TensorWire(wire)});
  return g.AddNode(g.UniqueName(absl::StrCat(g.name(like), "/", suffix)), "Const", {},
                   std::move(attrs), g.device(like), g.pos(like));
}

namespace {

// A contraction op, what it is called when fused, and which attributes the fused op takes over.
struct Contraction {
  std::string_view op;
  std::string_view fused;
  std::vector<std::string_view> attrs;
};

const Contraction* FindContraction(std::string_view op) {
  static const Contraction kContractions[] = {
      {"MatMul", "_FusedMatMul", {"T", "transpose_a", "transpose_b"}},
      {"Conv2D",
       "_FusedConv2D",
       {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations",
        "use_cudnn_on_gpu"}},
      {"DepthwiseConv2dNative",
       "_FusedDepthwiseConv2dNative",
       {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations"}},
  };
  for (const Contraction& c : kContractions) {
    if (c.op == op || c.fused == op) return &c;
  }
  return nullptr;
}

bool IsConvolution(const Contraction& c) { return c.op != "MatMul"; }

// Whether `producer` may be merged into its consumer n: nothing else sees it.
bool OnlyFor(const Sweep& s, Output producer, NodeId n) {
  const Graph& g = s.graph();
  return producer.port == 0 && s.uses(producer) == 1 && !s.has_control_uses(producer.node) &&
         !s.context().preserve.contains(producer.node) && g.device(producer.node) == g.device(n);
}

bool Has(absl::Span<const std::string_view> list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Whether TensorFlow 2.21's CPU kernels (with oneDNN, its default) run a contraction of type `t`
// with these fused ops; tried one by one.
bool TensorFlowRuns(const Contraction& c, DataType t, bool grouped,
                    absl::Span<const std::string_view> fused) {
  const bool add = Has(fused, "Add");
  const bool activation = fused.size() > (add ? 2 : 1);
  if (c.op == "MatMul") {
    return t == DataType::kFloat || t == DataType::kBfloat16 ? !(add && activation)
                                                             : t == DataType::kHalf && !add;
  }
  if (Has(fused, "Tanh") || Has(fused, "Sigmoid")) return false;
  if (fused.front() == "FusedBatchNorm" && (add || grouped || t != DataType::kFloat)) return false;
  if (c.op == "Conv2D")
    return t == DataType::kFloat || (t == DataType::kDouble && !add && !grouped);
  return t == DataType::kFloat && !add && !Has(fused, "LeakyRelu");
}

std::vector<Output> MergedControls(const Graph& g, NodeId a, NodeId b) {
  std::vector<Output> controls(g.control_inputs(a).begin(), g.control_inputs(a).end());
  for (const Output& c : g.control_inputs(b)) {
    if (std::find(controls.begin(), controls.end(), c) == controls.end()) controls.push_back(c);
  }
  return controls;
}

// Whether a convolution's filter has fewer input channels than its input, as far as shapes tell.
bool MayBeGrouped(const Sweep& s, NodeId contraction) {
  const std::span<const Output> inputs = s.graph().data_inputs(contraction);
  const int64_t channels = s.shape(inputs[0]).dim(-1);
  return channels < 0 || channels != s.shape(inputs[1]).dim(-2);
}

// What one more op fused into a contraction needs.
struct Fusion {
  NodeId contraction;
  std::string_view op;                  // the next entry of fused_ops
  absl::InlinedVector<Output, 4> args;  // its further inputs
  bool replaces_bias = false;           // `args` hold what was fused before, a bias
  std::optional<NodeId> filter = {};    // a filter in place of the contraction's own
  std::optional<float> leakyrelu_alpha = {};
  std::optional<float> epsilon = {};
};

// Turns n into the fusion. False where the device has no kernel for it, or the rewrite is switched
// off.
bool Fuse(Sweep& s, NodeId n, const Fusion& fusion) {
  Graph& g = s.graph();
  const Contraction& c = *FindContraction(g.op_name(fusion.contraction));
  std::vector<std::string_view> fused_ops = FusedOps(g, fusion.contraction);
  std::vector<Output> inputs(g.data_inputs(fusion.contraction).begin(),
                             g.data_inputs(fusion.contraction).end());
  if (fusion.replaces_bias) {
    fused_ops.clear();
    inputs.resize(2);
  }
  if (fusion.filter) inputs[1] = {*fusion.filter, 0};
  fused_ops.push_back(fusion.op);
  inputs.insert(inputs.end(), fusion.args.begin(), fusion.args.end());
  const DataType type = g.output_type({fusion.contraction, 0});
  // The kernels have one T for all inputs; FusedBatchNormV3 of half has float statistics.
  const auto other_type = [&](const Output& arg) { return g.output_type(arg) != type; };
  if (std::any_of(fusion.args.begin(), fusion.args.end(), other_type)) return false;
  if (s.context().target == Target::kTensorFlow &&
      !TensorFlowRuns(c, type, MayBeGrouped(s, fusion.contraction), fused_ops))
    return false;

  std::vector<Graph::NewAttr> attrs;
  for (std::string_view name : c.attrs) {
    if (const AttrValue* value = g.attr(fusion.contraction, name))
      attrs.push_back({name, std::string(value->wire())});
  }
  attrs.push_back({"fused_ops", attr::StringList(fused_ops)});
  attrs.push_back({"num_args", attr::Int(static_cast<int64_t>(inputs.size()) - 2)});
  if (c.op == "Conv2D")
    attrs.push_back({"TArgs", attr::TypeList(std::vector<DataType>(inputs.size() - 2, type))});
  if (fusion.leakyrelu_alpha)
    attrs.push_back({"leakyrelu_alpha", attr::Float(*fusion.leakyrelu_alpha)});
  if (fusion.epsilon) {
    attrs.push_back({"epsilon", attr::Float(*fusion.epsilon)});
  } else if (const AttrValue* epsilon = g.attr(fusion.contraction, "epsilon");
             epsilon != nullptr && Has(fused_ops, "FusedBatchNorm")) {
    attrs.push_back({"epsilon", std::string(epsilon->wire())});
  }

  std::vector<Attr> views;
  for (const Graph::NewAttr& a : attrs) views.push_back({a.name, AttrValue(a.wire)});
  std::sort(views.begin(), views.end(),
            [](const Attr& a, const Attr& b) { return a.name < b.name; });
  if (!s.context().kernels.HasKernel(g.device(n), c.fused, AttrSet(views)) || !s.Allow())
    return false;
  const std::vector<Output> controls = MergedControls(g, fusion.contraction, n);
  g.SetKind(n, c.fused, std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

// The contraction that feeds input i of n and has fused one of `sequences` ("BiasAdd+Add"; "":
// none) so far, or kNoNode.
NodeId ContractionInput(const Sweep& s, NodeId n, int i,
                        std::initializer_list<std::string_view> sequences) {
  const Graph& g = s.graph();
  const Output producer = g.data_inputs(n)[i];
  const Contraction* contraction = FindContraction(g.op_name(producer.node));
  if (contraction == nullptr || s.fed(producer.node) || g.op(producer.node) == nullptr ||
      !OnlyFor(s, producer, n))
    return kNoNode;
  if (IsConvolution(*contraction) && !IsNhwc(g, producer.node)) return kNoNode;
  const std::string fused = absl::StrJoin(FusedOps(g, producer.node), "+");
  return std::find(sequences.begin(), sequences.end(), fused) == sequences.end() ? kNoNode
                                                                                 : producer.node;
}

// The number of output channels of a contraction, or kUnknownDim.
int64_t Channels(const Sweep& s, NodeId contraction) { return s.shape({contraction, 0}).dim(-1); }

// Whether `bias` is a vector over the channels, so that adding it is a BiasAdd: shape [C] or [1, …,
// 1, C].
bool IsChannelVector(const PartialShape& bias, int64_t channels) {
  if (!bias.fully_defined() || bias.rank() < 1 || channels < 0 || bias.dim(-1) != channels)
    return false;
  return bias.num_elements() == channels;
}

// Conv2D, BiasAdd.
bool FuseBias(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.op_name(n) != "BiasAdd" || !IsNhwc(g, n)) return false;
  const NodeId contraction = ContractionInput(s, n, 0, {""});
  const Output bias = g.data_inputs(n)[1];
  return contraction != kNoNode && Fuse(s, n, {contraction, "BiasAdd", {bias}});
}

// `constant`, or a copy of it under the shape [C].
absl::StatusOr<Output> FlatConst(Graph& g, Output constant, const Tensor& value) {
  if (value.shape().rank() == 1) return constant;
  TENON_ASSIGN_OR_RETURN(const NodeId id, NewConst(g, constant.node, "flat",
                                                   value.Reshaped(Shape({value.num_elements()}))));
  return Output{id, 0};
}

// Conv2D, Add of a constant channel vector.
bool FuseAddedBias(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.op_name(n) != "AddV2" && g.op_name(n) != "Add") return false;
  for (int i : {0, 1}) {
    const NodeId contraction = ContractionInput(s, n, i, {""});
    if (contraction == kNoNode) continue;
    const Output other = g.data_inputs(n)[1 - i];
    const std::optional<Tensor> value = s.ConstOf(other);
    if (!value || !IsChannelVector(value->shape(), Channels(s, contraction))) continue;
    if (value->shape().rank() > s.shape({contraction, 0}).rank()) continue;
    const absl::StatusOr<Output> bias = FlatConst(g, other, *value);
    if (bias.ok() && Fuse(s, n, {contraction, "BiasAdd", {*bias}})) return true;
  }
  return false;
}

// Conv2D + BiasAdd or FusedBatchNorm, Add of a tensor of the same shape: a residual connection.
bool FuseResidual(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.op_name(n) != "AddV2" && g.op_name(n) != "Add") return false;
  for (int i : {0, 1}) {
    const NodeId contraction = ContractionInput(s, n, i, {"BiasAdd", "FusedBatchNorm"});
    if (contraction == kNoNode) continue;
    const Output other = g.data_inputs(n)[1 - i];
    const std::optional<Shape> shape = s.shape(g.data_inputs(n)[i]).ToShape();
    if (!shape || s.shape(other).ToShape() != shape) continue;
    if (Fuse(s, n, {contraction, "Add", {other}})) return true;
  }
  return false;
}

struct Activation {
  std::string_view op;
  bool after_residual;  // TensorFlow's kernels know only Relu there
};
constexpr Activation kActivations[] = {{"Relu", true},       {"Relu6", false}, {"Elu", false},
                                       {"LeakyRelu", false}, {"Tanh", false},  {"Sigmoid", false}};

bool FuseActivation(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  for (const Activation& a : kActivations) {
    if (g.op_name(n) != a.op) continue;
    NodeId contraction = ContractionInput(s, n, 0, {"BiasAdd", "FusedBatchNorm"});
    if (contraction == kNoNode && a.after_residual)
      contraction = ContractionInput(s, n, 0, {"BiasAdd+Add", "FusedBatchNorm+Add"});
    if (contraction == kNoNode) return false;
    Fusion fusion{contraction, a.op, {}};
    if (a.op == "LeakyRelu") {
      const absl::StatusOr<float> value = g.attr(n, "alpha")->AsFloat();
      if (!value.ok()) return false;
      fusion.leakyrelu_alpha = *value;
    }
    return Fuse(s, n, fusion);
  }
  return false;
}

// --- Scaling folded into weights.

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

std::optional<Filter> ScalableFilter(const Sweep& s, NodeId contraction) {
  const Graph& g = s.graph();
  for (std::string_view transpose : {"transpose_a", "transpose_b"}) {
    const AttrValue* v = g.attr(contraction, transpose);
    if (v != nullptr && v->AsBool().value_or(true)) return std::nullopt;
  }
  std::optional<Tensor> value = s.ConstOf(g.data_inputs(contraction)[1], INT64_MAX);
  if (!value || value->dtype() != DataType::kFloat || value->num_elements() == 0)
    return std::nullopt;
  const int64_t channels = FilterChannels(*FindContraction(g.op_name(contraction)), value->shape());
  return Filter{*std::move(value), channels};
}

std::vector<float> FloatsOf(const Tensor& t) {
  std::vector<float> values(t.num_elements());
  std::memcpy(values.data(), t.data(), t.bytes());
  return values;
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

// Conv2D, Mul by a constant channel vector: n becomes the contraction with a scaled filter.
bool FoldMul(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.op_name(n) != "Mul") return false;
  for (int i : {0, 1}) {
    const NodeId contraction = ContractionInput(s, n, i, {""});
    if (contraction == kNoNode) continue;
    const std::optional<Filter> filter = ScalableFilter(s, contraction);
    const std::optional<Tensor> factor = s.ConstOf(g.data_inputs(n)[1 - i]);
    if (!filter || !factor || factor->dtype() != DataType::kFloat ||
        !IsChannelVector(factor->shape(), filter->channels) ||
        factor->shape().rank() > s.shape({contraction, 0}).rank()) {
      continue;
    }
    const std::optional<Tensor> product = ScaleFilter(*filter, FloatsOf(*factor));
    if (!product || !s.Allow()) continue;
    const absl::StatusOr<NodeId> scaled = NewFilter(g, contraction, *product);
    if (!scaled.ok()) return false;
    std::vector<Graph::NewAttr> attrs;
    for (const Attr& a : g.attrs(contraction).all())
      attrs.push_back({a.name, std::string(a.value.wire())});
    const std::vector<Output> controls = MergedControls(g, contraction, n);
    const std::vector<Output> inputs = {g.data_inputs(contraction)[0], {*scaled, 0}};
    g.SetKind(n, g.op_name(contraction), std::move(attrs));
    g.SetInputs(n, inputs, controls);
    return true;
  }
  return false;
}

// Whether only output 0 of n is used or fetched.
bool OnlyFirstOutputUsed(const Sweep& s, NodeId n) {
  for (int port = 1; port < s.graph().num_outputs(n); ++port) {
    if (s.uses({n, port}) > 0) return false;
  }
  for (const Output& f : s.context().fetches) {
    if (f.node == n && f.port > 0) return false;
  }
  return true;
}

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

// Conv2D, perhaps with a constant bias, FusedBatchNorm in inference with constant statistics. The
// kernel of _FusedConv2D scales its filter when it packs it; of the other contractions the filter
// is scaled here and the rest is a bias.
bool FoldBatchNorm(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const std::string_view op = g.op_name(n);
  if (op != "FusedBatchNormV3" && op != "FusedBatchNormV2" && op != "FusedBatchNorm") return false;
  if (!IsNhwc(g, n) || g.attr(n, "is_training")->AsBool().value_or(true) ||
      !OnlyFirstOutputUsed(s, n))
    return false;
  Fusion fusion{ContractionInput(s, n, 0, {"", "BiasAdd"}), "", {}};
  if (fusion.contraction == kNoNode) return false;
  fusion.replaces_bias = !FusedOps(g, fusion.contraction).empty();
  std::vector<float> added;
  if (fusion.replaces_bias) {
    const std::optional<Tensor> bias = s.ConstOf(g.data_inputs(fusion.contraction)[2]);
    if (!bias || bias->dtype() != DataType::kFloat) return false;
    added = FloatsOf(*bias);
  }
  const std::optional<AffineNorm> norm = NormOf(s, n, added);
  if (!norm) return false;
  const std::span<const Output> statistics = g.data_inputs(n).subspan(1, 4);
  if (FindContraction(g.op_name(fusion.contraction))->op == "Conv2D") {
    fusion.op = "FusedBatchNorm";
    fusion.args.assign(statistics.begin(), statistics.end());
    fusion.epsilon = norm->epsilon;
    if (fusion.replaces_bias) {
      const absl::StatusOr<NodeId> mean = NewVector(g, n, "mean", norm->mean);
      if (!mean.ok()) return false;
      fusion.args[2] = {*mean, 0};
    }
    return Fuse(s, n, fusion);
  }
  const std::optional<Filter> filter = ScalableFilter(s, fusion.contraction);
  if (!filter || filter->channels != static_cast<int64_t>(norm->scale.size())) return false;
  const std::optional<Tensor> product = ScaleFilter(*filter, norm->scale);
  if (!product) return false;
  const absl::StatusOr<NodeId> scaled = NewFilter(g, fusion.contraction, *product);
  const absl::StatusOr<NodeId> bias = NewVector(g, n, "bias", norm->bias);
  if (!scaled.ok() || !bias.ok()) return false;
  fusion.op = "BiasAdd";
  fusion.args = {Output{*bias, 0}};
  fusion.filter = *scaled;
  return Fuse(s, n, fusion);
}

// Pad, Conv2D: the convolution pads.
bool FusePad(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.op_name(n) != "Conv2D" || !IsNhwc(g, n) ||
      g.attr(n, "padding")->AsString().value_or("") != "VALID")
    return false;
  const Output padded = g.data_inputs(n)[0];
  if (g.op_name(padded.node) != "Pad" || s.fed(padded.node) || !OnlyFor(s, padded, n)) return false;
  const std::optional<Tensor> paddings = s.ConstOf(g.data_inputs(padded.node)[1], 8);
  if (!paddings || paddings->num_elements() != 8 || !IsInteger(paddings->dtype())) return false;
  std::vector<int64_t> explicit_paddings;
  for (int i = 0; i < 8; ++i) explicit_paddings.push_back(paddings->IntAt(i));
  const bool only_space = explicit_paddings[0] == 0 && explicit_paddings[1] == 0 &&
                          explicit_paddings[6] == 0 && explicit_paddings[7] == 0;
  if (!only_space || !s.Allow()) return false;
  std::vector<Graph::NewAttr> attrs;
  for (const Attr& a : g.attrs(n).all()) {
    if (a.name != "padding" && a.name != "explicit_paddings")
      attrs.push_back({a.name, std::string(a.value.wire())});
  }
  attrs.push_back({"padding", attr::String("EXPLICIT")});
  attrs.push_back({"explicit_paddings", attr::IntList(explicit_paddings)});
  const std::vector<Output> controls = MergedControls(g, padded.node, n);
  const std::vector<Output> inputs = {g.data_inputs(padded.node)[0], g.data_inputs(n)[1]};
  g.SetKind(n, "Conv2D", std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

constexpr Rewrite kRewrites[] = {
    {"fuse_pad", Exactness::kExact, FusePad},
    {"fold_batch_norm", Exactness::kToleranced, FoldBatchNorm},
    {"fold_mul", Exactness::kToleranced, FoldMul},
    {"fuse_bias", Exactness::kToleranced, FuseBias},
    {"fuse_added_bias", Exactness::kToleranced, FuseAddedBias},
    {"fuse_residual", Exactness::kToleranced, FuseResidual},
    {"fuse_activation", Exactness::kToleranced, FuseActivation},
};

class Remapping : public Pass {
 public:
  std::string_view name() const override { return "remapping"; }
  std::vector<RewriteInfo> rewrites() const override {
    std::vector<RewriteInfo> infos = InfosOf(kRewrites);
    infos.push_back(kLiftStrides);
    return infos;
  }

  absl::StatusOr<bool> Run(PassContext& context) override {
    const absl::StatusOr<GraphShapes> shapes = InferForPass(context);
    TENON_ASSIGN_OR_RETURN(const bool fused,
                           Sweep(context, shapes.ok() ? &*shapes : nullptr).Run(kRewrites));
    TENON_ASSIGN_OR_RETURN(const bool lifted, LiftStrides(context));
    return fused || lifted;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeRemapping() { return std::make_unique<Remapping>(); }

}  // namespace tenon
