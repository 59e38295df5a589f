// Moves strides to where they save work. A convolution of 1x1 windows that skips places reads no
// others; if only such ones read what a convolution computes, it may skip them itself. A residual
// that it adds is cut down to the places that are left.
#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/passes/remapping/contraction.h"

namespace tenon {
namespace {

constexpr int kRank = 4;
using Steps = std::array<int64_t, 2>;  // rows, columns
constexpr Steps kEach = {1, 1};

struct Convolution {
  Steps strides, dilations, window;
  std::string_view padding;
};

std::optional<Steps> SpatialOf(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* attr = g.attr(n, name);
  if (attr == nullptr) return kEach;
  const absl::StatusOr<std::vector<int64_t>> list = attr->AsIntList();
  if (!list.ok() || list->size() != kRank || (*list)[0] != 1 || (*list)[3] != 1 || (*list)[1] < 1 ||
      (*list)[2] < 1)
    return std::nullopt;
  return Steps{(*list)[1], (*list)[2]};
}

bool IsConvolution(std::string_view op) { return op == "Conv2D" || op == "_FusedConv2D"; }

bool HasConvolution(const Graph& g) {
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (g.alive(n) && IsConvolution(g.op_name(n))) return true;
  }
  return false;
}

// A convolution with channels last and a constant filter that waits for nothing: no loop's.
std::optional<Convolution> ReadConvolution(const PassContext& context, NodeId n) {
  const Graph& g = context.graph;
  if (!IsConvolution(g.op_name(n)) || !IsNhwc(g, n) || context.feeds.contains(n))
    return std::nullopt;
  const NodeId filter = g.data_inputs(n)[1].node;
  if (g.op_name(filter) != "Const" || context.feeds.contains(filter) ||
      !g.control_inputs(filter).empty())
    return std::nullopt;
  const absl::StatusOr<Tensor> value = g.ConstValue(filter);
  const std::optional<Steps> strides = SpatialOf(g, n, "strides"),
                             dilations = SpatialOf(g, n, "dilations");
  const absl::StatusOr<std::string_view> padding = g.attr(n, "padding")->AsString();
  if (!value.ok() || value->shape().rank() != kRank || !strides || !dilations || !padding.ok())
    return std::nullopt;
  return Convolution{
      *strides, *dilations, {value->shape().dim(0), value->shape().dim(1)}, *padding};
}

// The strides of all who use n, or nothing where one of them needs more than every so many places.
std::optional<Steps> StridesOfUsers(const PassContext& context, const Fanouts& fanouts, NodeId n) {
  const Graph& g = context.graph;
  std::optional<Steps> strides;
  for (const Fanouts::Use& use : fanouts.of(n)) {
    if (use.port == kControlPort) continue;
    if (use.port != 0 || use.input != 0 || g.device(use.node) != g.device(n)) return std::nullopt;
    const std::optional<Convolution> user = ReadConvolution(context, use.node);
    if (!user || user->window != kEach || user->padding == "EXPLICIT") return std::nullopt;
    if (strides && *strides != user->strides) return std::nullopt;
    strides = user->strides;
  }
  return strides;
}

std::string StridesAttr(const Steps& s) { return attr::IntList({1, s[0], s[1], 1}); }

// What the convolution's attributes are with further strides, if that can be said without the shape
// of its input. SAME pads by the size of the input once there are strides; with strides of 1 it
// always pads (window - 1) * dilation, which EXPLICIT paddings can say.
std::optional<NewAttrs> StridedAttrs(const Graph& g, NodeId n, const Convolution& c,
                                     const Steps& by) {
  const bool pads = c.padding == "SAME" && c.window != kEach;
  if (pads && c.strides != kEach) return std::nullopt;
  NewAttrs attrs = AllAttrs(g, n);
  Steps strides = c.strides;
  for (int i = 0; i < 2; ++i) {
    if (__builtin_mul_overflow(strides[i], by[i], &strides[i]) || strides[i] > INT32_MAX)
      return std::nullopt;
  }
  PutAttr(attrs, "strides", StridesAttr(strides));
  if (!pads) return attrs;
  std::vector<int64_t> paddings(2 * kRank, 0);
  for (int i = 0; i < 2; ++i) {
    const int64_t all = (c.window[i] - 1) * c.dilations[i];
    paddings[2 * i + 2] = all / 2;
    paddings[2 * i + 3] = all - all / 2;
  }
  PutAttr(attrs, "padding", attr::String("EXPLICIT"));
  PutAttr(attrs, "explicit_paddings", attr::IntList(paddings));
  return attrs;
}

NewAttrs SliceAttrs(DataType type) {
  return {{"T", attr::Type(type)},
          {"Index", attr::Type(DataType::kInt32)},
          {"begin_mask", attr::Int(0b1111)},
          {"end_mask", attr::Int(0b1111)}};
}

// Every so many places of `all`, for n.
absl::StatusOr<NodeId> NewSlice(Graph& g, NodeId n, Output all, const Steps& by) {
  const auto vector = [](int32_t rows, int32_t columns, int32_t rest) {
    return Tensor::Of<int32_t>(DataType::kInt32, {rest, rows, columns, rest}, Shape({kRank}));
  };
  TENON_ASSIGN_OR_RETURN(const NodeId ends, NewConst(g, n, "ends", vector(0, 0, 0)));
  TENON_ASSIGN_OR_RETURN(
      const NodeId steps,
      NewConst(g, n, "steps", vector(static_cast<int32_t>(by[0]), static_cast<int32_t>(by[1]), 1)));
  const Output inputs[] = {all, {ends, 0}, {ends, 0}, {steps, 0}};
  return g.AddNode(g.UniqueName(absl::StrCat(g.name(n), "/places")), "StridedSlice", inputs,
                   SliceAttrs(g.output_type(all)), g.device(n), g.pos(n));
}

absl::StatusOr<bool> LiftTo(PassContext& context, const Fanouts& fanouts, NodeId n) {
  Graph& g = context.graph;
  const std::optional<Convolution> c = ReadConvolution(context, n);
  if (!c || context.preserve.contains(n)) return false;
  const std::optional<Steps> by = StridesOfUsers(context, fanouts, n);
  if (!by || *by == kEach) return false;
  std::optional<NewAttrs> attrs = StridedAttrs(g, n, *c, *by);
  if (!attrs || !context.HasKernel(n, g.op_name(n), *attrs)) return false;
  const std::vector<std::string_view> fused = FusedOps(g, n);
  const bool adds = std::find(fused.begin(), fused.end(), "Add") != fused.end();
  const int summand = static_cast<int>(g.data_inputs(n).size()) - 1;
  if (adds && !context.HasKernel(n, "StridedSlice", SliceAttrs(g.output_type({n, 0}))))
    return false;
  if (!context.Allow(kLiftStrides.name, n)) return false;
  if (adds) {
    TENON_ASSIGN_OR_RETURN(const NodeId places, NewSlice(g, n, g.data_inputs(n)[summand], *by));
    g.SetInput(n, summand, {places, 0});
  }
  g.SetKind(n, g.op_name(n), *std::move(attrs));
  // The noted shapes are those without the further strides.
  g.RemoveAttr(n, kOutputShapesAttr);
  for (const Fanouts::Use& use : fanouts.of(n)) {
    if (use.port != kControlPort) g.SetAttr(use.node, "strides", StridesAttr(kEach));
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> LiftStrides(PassContext& context) {
  if (context.target.is_tensorflow() || !HasConvolution(context.graph)) return false;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(context.graph));
  const Fanouts fanouts(context.graph);
  bool changed = false;
  for (auto n = order.rbegin(); n != order.rend(); ++n) {  // so that strides go on to the next
    TENON_ASSIGN_OR_RETURN(const bool lifted, LiftTo(context, fanouts, *n));
    changed |= lifted;
  }
  return changed;
}

}  // namespace tenon
