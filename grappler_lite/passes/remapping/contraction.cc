// What all fusions share: which contractions have fused ops, whether a producer may be taken over,
// and how the fused node is made. A Reshape between a contraction and its follower is no obstacle
// where the channels stay last: the contraction takes the follower over, and the Reshape moves
// behind it.

#include "grappler_lite/passes/remapping/contraction.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {

const Contraction* FindContraction(std::string_view op) {
  static const Contraction kContractions[] = {
      {"MatMul", "_FusedMatMul", {"T", "transpose_a", "transpose_b"}},
      {"Conv2D",
       "_FusedConv2D",
       {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations",
        "use_cudnn_on_gpu"}},
      {"Conv3D", "_FusedConv3D", {"T", "strides", "padding", "data_format", "dilations"}},
      {"DepthwiseConv2dNative",
       "_FusedDepthwiseConv2dNative",
       {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations"}},
  };
  for (const Contraction& c : kContractions) {
    if (c.op == op || c.fused == op) return &c;
  }
  return nullptr;
}

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
  return value.ok() && value->ends_with("HWC");
}

bool SameFormat(const Graph& g, NodeId a, NodeId b) { return IsNhwc(g, a) == IsNhwc(g, b); }

int64_t ChannelsOf(const Sweep& s, NodeId contraction) {
  const PartialShape& shape = s.shape({contraction, 0});
  if (IsNhwc(s.graph(), contraction)) return shape.dim(-1);
  return shape.known_rank() && shape.rank() > 1 ? shape.dim(1) : -1;
}

absl::StatusOr<NodeId> NewConst(Graph& g, NodeId like, std::string_view suffix,
                                const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(NewAttrs attrs, ConstAttrs(value));
  return g.AddNode(g.UniqueName(absl::StrCat(g.name(like), "/", suffix)), "Const", {},
                   std::move(attrs), g.device(like), g.pos(like));
}

absl::StatusOr<Output> FlatConst(Graph& g, Output constant, const Tensor& value) {
  if (value.shape().rank() == 1) return constant;
  TENON_ASSIGN_OR_RETURN(const NodeId id, NewConst(g, constant.node, "flat",
                                                   value.Reshaped(Shape({value.num_elements()}))));
  return Output{id, 0};
}

NewAttrs AttrsOf(const Graph& g, NodeId n, absl::Span<const std::string_view> names) {
  NewAttrs attrs;
  for (std::string_view name : names) {
    if (const AttrValue* value = g.attr(n, name))
      attrs.push_back({name, std::string(value->wire())});
  }
  return attrs;
}

std::vector<Output> MergedControls(const Graph& g, NodeId a, NodeId b) {
  std::vector<Output> controls(g.control_inputs(a).begin(), g.control_inputs(a).end());
  for (const Output& c : g.control_inputs(b)) {
    if (std::find(controls.begin(), controls.end(), c) == controls.end()) controls.push_back(c);
  }
  return controls;
}

bool OnlyFor(const Sweep& s, Output producer, NodeId n, int times) {
  const Graph& g = s.graph();
  return producer.port == 0 && s.uses(producer) == times && !s.has_control_uses(producer.node) &&
         !s.context().preserve.contains(producer.node) && g.device(producer.node) == g.device(n);
}

bool OnlyFirstOutputUsed(const Sweep& s, NodeId n) {
  for (int port = 1; port < s.graph().num_outputs(n); ++port) {
    if (s.uses({n, port}) > 0) return false;
  }
  for (const Output& f : s.context().fetches) {
    if (f.node == n && f.port > 0) return false;
  }
  return true;
}

bool IsChannelVector(const PartialShape& vector, int64_t channels, bool channels_last) {
  if (!vector.fully_defined() || vector.rank() < (channels_last ? 1 : 3) || channels < 0)
    return false;
  return vector.dim(channels_last ? -1 : -3) == channels && vector.num_elements() == channels;
}

namespace {

bool Has(absl::Span<const std::string_view> list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Whether a convolution's filter has fewer input channels than its input, as far as shapes tell.
bool MayBeGrouped(const Sweep& s, NodeId contraction) {
  const std::span<const Output> inputs = s.graph().data_inputs(contraction);
  const PartialShape& images = s.shape(inputs[0]);
  const int from_end = IsNhwc(s.graph(), contraction) ? 1 : images.rank() - 1;
  const int64_t channels = images.known_rank() && images.rank() > 1 ? images.dim(-from_end) : -1;
  return channels < 0 || channels != s.shape(inputs[1]).dim(-2);
}

// Whether `node` is a contraction that has fused one of `sequences`.
bool IsFusable(const Sweep& s, NodeId node, std::initializer_list<std::string_view> sequences) {
  const Graph& g = s.graph();
  const Contraction* contraction = FindContraction(g.op_name(node));
  if (contraction == nullptr || s.fed(node) || g.op(node) == nullptr) return false;
  // Our kernels are fast with channels last only, which layout_optimizer sees to.
  if (!IsNhwc(g, node) && (!s.context().target.is_tensorflow() || contraction->op == "Conv3D"))
    return false;
  const std::string fused = absl::StrJoin(FusedOps(g, node), "+");
  return std::find(sequences.begin(), sequences.end(), fused) != sequences.end();
}

// Whether n does nothing but give its input another shape.
bool OnlyReshapes(const Sweep& s, NodeId n) {
  const std::string_view op = s.graph().op_name(n);
  return (op == "Reshape" || op == "Squeeze") && !s.fed(n);
}

// Whether a contraction is known to take or give no elements, for which TensorFlow's fused kernels
// abort.
bool IsOfNothing(const Sweep& s, NodeId contraction) {
  const std::span<const Output> in = s.graph().data_inputs(contraction);
  return std::any_of(in.begin(), in.begin() + 2, [&](Output o) {
    const auto& dims = s.shape(o).dims();
    return std::find(dims.begin(), dims.end(), 0) != dims.end();
  });
}

// Turns n into the Reshape or Squeeze that `reshape` is, of `from`.
void MoveReshape(Graph& g, NodeId n, NodeId reshape, NodeId from) {
  const std::vector<Output> controls = MergedControls(g, reshape, n);
  std::vector<Output> inputs(g.data_inputs(reshape).begin(), g.data_inputs(reshape).end());
  inputs[0] = {from, 0};
  g.BecomeOp(n, g.op_name(reshape), OpAttrs(g, reshape));
  g.SetInputs(n, inputs, controls);
}

}  // namespace

std::optional<Fusable> FusableOutput(const Sweep& s, Output producer, NodeId n,
                                     std::initializer_list<std::string_view> sequences, int times) {
  const Graph& g = s.graph();
  if (!OnlyReshapes(s, producer.node)) {
    if (!IsFusable(s, producer.node, sequences) || !OnlyFor(s, producer, n, times))
      return std::nullopt;
    return Fusable{producer.node};
  }
  const Output inner = g.data_inputs(producer.node)[0];
  if (!IsFusable(s, inner.node, sequences) || !OnlyFor(s, producer, n, times) ||
      !OnlyFor(s, inner, producer.node) || !IsNhwc(g, inner.node))
    return std::nullopt;
  const int64_t channels = s.shape(inner).dim(-1);
  if (channels < 0 || s.shape(producer).dim(-1) != channels) return std::nullopt;
  return Fusable{inner.node, producer.node};
}

NodeId ContractionInput(const Sweep& s, NodeId n, int i,
                        std::initializer_list<std::string_view> sequences) {
  const Output producer = s.graph().data_inputs(n)[i];
  return IsFusable(s, producer.node, sequences) && OnlyFor(s, producer, n) ? producer.node
                                                                           : kNoNode;
}

void TakeOver(Graph& g, NodeId n, const Fusable& into, std::string_view op,
              std::span<const Output> inputs, NewAttrs attrs) {
  // Behind a Reshape the contraction stays where it is and n becomes the Reshape, so that n keeps
  // its name and its shape.
  const bool behind_reshape = into.reshape != kNoNode;
  const std::vector<Output> controls = MergedControls(g, into.contraction, n);
  const NodeId taker = behind_reshape ? into.contraction : n;
  g.BecomeOp(taker, op, std::move(attrs));
  g.SetInputs(taker, inputs, controls);
  if (behind_reshape) MoveReshape(g, n, into.reshape, into.contraction);
}

namespace {

// A contraction with one more op fused.
struct FusedContraction {
  std::string_view op;
  std::vector<Output> inputs;
  NewAttrs attrs;
};

NewAttrs FusedAttrs(const Graph& g, const Contraction& c, const Fusion& fusion,
                    absl::Span<const std::string_view> fused_ops, absl::Span<const Output> args) {
  const NodeId contraction = fusion.into.contraction;
  NewAttrs attrs = AttrsOf(g, contraction, c.attrs);
  attrs.push_back({"fused_ops", attr::StringList(fused_ops)});
  attrs.push_back({"num_args", attr::Int(static_cast<int64_t>(args.size()))});
  if (c.op == "Conv2D") {
    std::vector<DataType> types;
    for (const Output& arg : args) types.push_back(g.output_type(arg));
    attrs.push_back({"TArgs", attr::TypeList(types)});
  }
  if (fusion.leakyrelu_alpha)
    attrs.push_back({"leakyrelu_alpha", attr::Float(*fusion.leakyrelu_alpha)});
  if (fusion.epsilon) {
    attrs.push_back({"epsilon", attr::Float(*fusion.epsilon)});
  } else if (const AttrValue* epsilon = g.attr(contraction, "epsilon");
             epsilon != nullptr && Has(fused_ops, "FusedBatchNorm")) {
    attrs.push_back({"epsilon", std::string(epsilon->wire())});
  }
  return attrs;
}

// Kernels have one T for all inputs. But of a convolution our own takes the float statistics that
// FusedBatchNormV3 of half has.
bool TakesTypes(const Sweep& s, NodeId n, const Contraction& c, const Fusion& fusion) {
  const Graph& g = s.graph();
  DataType type = g.output_type({fusion.into.contraction, 0});
  if (c.op == "Conv2D" && fusion.op == "FusedBatchNorm" && !s.context().target.is_tensorflow() &&
      IsHostDevice(g.device(n)))
    type = DataType::kFloat;
  return std::all_of(fusion.args.begin(), fusion.args.end(),
                     [&](const Output& arg) { return g.output_type(arg) == type; });
}

// Nothing where there is no kernel for it.
std::optional<FusedContraction> FusedBy(const Sweep& s, NodeId n, const Fusion& fusion) {
  const Graph& g = s.graph();
  const NodeId contraction = fusion.into.contraction;
  if (IsOfNothing(s, contraction)) return std::nullopt;
  const Contraction& c = *FindContraction(g.op_name(contraction));
  std::vector<std::string_view> fused_ops = FusedOps(g, contraction);
  FusedContraction fused{c.fused};
  fused.inputs.assign(g.data_inputs(contraction).begin(), g.data_inputs(contraction).end());
  if (fusion.replaces_bias) {
    fused_ops.clear();
    fused.inputs.resize(2);
  }
  if (fusion.filter) fused.inputs[1] = {*fusion.filter, 0};
  fused_ops.push_back(fusion.op);
  fused.inputs.insert(fused.inputs.end(), fusion.args.begin(), fusion.args.end());
  if (!TakesTypes(s, n, c, fusion)) return std::nullopt;
  fused.attrs = FusedAttrs(g, c, fusion, fused_ops, absl::MakeConstSpan(fused.inputs).subspan(2));
  if (!s.HasKernel(n, c.fused, fused.attrs, MayBeGrouped(s, contraction))) return std::nullopt;
  return fused;
}

}  // namespace

bool CanFuse(const Sweep& s, NodeId n, const Fusion& fusion) {
  return FusedBy(s, n, fusion).has_value();
}

bool Fuse(Sweep& s, NodeId n, const Fusion& fusion) {
  std::optional<FusedContraction> fused = FusedBy(s, n, fusion);
  if (!fused || !s.Allow()) return false;
  TakeOver(s.graph(), n, fusion.into, fused->op, fused->inputs, std::move(fused->attrs));
  return true;
}

}  // namespace tenon
