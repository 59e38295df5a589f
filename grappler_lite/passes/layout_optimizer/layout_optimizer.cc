// Images whose channels are second get them last, which is what convolutions are fused in, and all
// that TensorFlow's CPU kernels know without oneDNN. Begins at convolutions; what follows one does
// without the transpose between, and hands it on.
#include <algorithm>

#include "graph/base/status_macros.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/layout_optimizer/nhwc.h"
#include "grappler_lite/passes/remapping/contraction.h"

namespace tenon {
namespace {

// n with channels last, where its device can; its images are the NHWC version of its first input.
bool ConvertFormat(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  NewAttrs attrs = NhwcAttrs(g, n);
  if (!s.HasKernel(n, g.op_name(n), attrs) || !s.Allow()) return false;
  std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  const absl::StatusOr<Output> images = InNhwc(s, inputs[0], n);
  if (!images.ok()) return false;
  inputs[0] = *images;
  return BecomeTransposeOf(s, n, std::move(attrs), inputs).ok();
}

// TensorFlow with oneDNN runs either format, so that for it a transpose would be one more node;
// where there is one already, it goes.
bool ConvertConvolution(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!IsNchwOnCpu(g, n)) return false;
  if (s.context().target.has_onednn() && NhwcSource(s, g.data_inputs(n)[0], n).node == kNoNode)
    return false;
  // The summand of a fused Add is an image too, and ConvertFormat turns the first input alone.
  const std::vector<std::string_view> fused = FusedOps(g, n);
  return std::find(fused.begin(), fused.end(), "Add") == fused.end() && ConvertFormat(s, n);
}

// Converts only behind a transpose, which n then does without: elsewhere n would bring one. n
// becomes the transpose of its own images, so that no other output may be read.
bool ConvertFollower(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  return IsNchwOnCpu(g, n) && OnlyFirstOutputUsed(s, n) &&
         NhwcSource(s, g.data_inputs(n)[0], n).node != kNoNode && ConvertFormat(s, n);
}

// f(transpose(x)) is transpose(f(x)), since f computes each element by itself.
bool SinkThroughUnary(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const Output source = NhwcSource(s, g.data_inputs(n)[0], n);
  return source.node != kNoNode && s.Allow() &&
         BecomeTransposeOf(s, n, AllAttrs(g, n), {&source, 1}).ok();
}

// An operand with channels last: a node's output, or a constant that is still to be made.
struct LastOperand {
  Output output;
  std::optional<Tensor> constant = {};
};

// Operand `o` of n as it is with channels last: what its transpose reads; `o` itself if it is one
// element, which broadcasts alike; or of a constant [C, 1, 1] or [1, C, 1, 1] the vector [C], which
// broadcasts along the last dimension. nullopt for others.
std::optional<LastOperand> FindLastOperand(const Sweep& s, Output o, NodeId n) {
  if (const Output source = NhwcSource(s, o, n); source.node != kNoNode) return LastOperand{source};
  const PartialShape& shape = s.shape(o);
  if (!shape.fully_defined() || shape.rank() > 4) return std::nullopt;
  const int r = shape.rank();
  if (r == 0 || (r == 1 && shape.dim(0) == 1)) return LastOperand{o};
  if (r < 3 || shape.dim(r - 1) != 1 || shape.dim(r - 2) != 1 || (r == 4 && shape.dim(0) != 1))
    return std::nullopt;
  const std::optional<Tensor> value = s.ConstOf(o);
  if (!value) return std::nullopt;
  return LastOperand{o, value->Reshaped(Shape({shape.dim(r - 3)}))};
}

absl::StatusOr<Output> Make(Graph& g, const LastOperand& operand) {
  if (!operand.constant) return operand.output;
  TENON_ASSIGN_OR_RETURN(const NodeId made,
                         NewConst(g, operand.output.node, "channels", *operand.constant));
  return Output{made, 0};
}

// transpose(x) + transpose(y) is transpose(x + y).
bool SinkThroughBinary(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const Output a = g.data_inputs(n)[0], b = g.data_inputs(n)[1];
  if (NhwcSource(s, a, n).node == kNoNode && NhwcSource(s, b, n).node == kNoNode) return false;
  const std::optional<LastOperand> left = FindLastOperand(s, a, n),
                                   right = FindLastOperand(s, b, n);
  if (!left || !right || !s.Allow()) return false;
  const absl::StatusOr<Output> x = Make(g, *left), y = Make(g, *right);
  if (!x.ok() || !y.ok()) return false;
  const Output inputs[] = {*x, *y};
  return BecomeTransposeOf(s, n, AllAttrs(g, n), inputs).ok();
}

// The constant of integers that `o` is, changed; nothing where it is none.
template <typename F>
std::optional<Tensor> ChangedInts(const Sweep& s, Output o, F change) {
  const std::optional<Tensor> value = s.ConstOf(o, 8);
  if (!value || !IsInteger(value->dtype())) return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < value->num_elements(); ++i) ints.push_back(value->IntAt(i));
  if (!change(ints)) return std::nullopt;
  if (value->dtype() == DataType::kInt64)
    return Tensor::Of<int64_t>(DataType::kInt64, ints, value->shape());
  return Tensor::Of<int32_t>(DataType::kInt32, std::vector<int32_t>(ints.begin(), ints.end()),
                             value->shape());
}

// The inputs of n with its images and, as input i, such a constant.
std::optional<std::vector<Output>> InputsWith(Sweep& s, NodeId n, int i, const Tensor& constant) {
  Graph& g = s.graph();
  std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  for (Output& in : inputs) {
    if (const Output source = NhwcSource(s, in, n); source.node != kNoNode) in = source;
  }
  const absl::StatusOr<NodeId> made = NewConst(g, inputs[i].node, "nhwc", constant);
  if (!made.ok()) return std::nullopt;
  inputs[i] = {*made, 0};
  return inputs;
}

// The number of a dimension of NCHW in NHWC.
std::optional<int64_t> NhwcAxis(int64_t axis) {
  if (axis < -4 || axis > 3) return std::nullopt;
  return kToNchw[axis < 0 ? axis + 4 : axis];
}

bool ToNhwcAxes(std::vector<int64_t>& axes) {
  for (int64_t& axis : axes) {
    const std::optional<int64_t> last = NhwcAxis(axis);
    if (!last) return false;
    axis = *last;
  }
  return true;
}

// All pieces must be transposed: a piece that is not would need a transpose of its own.
bool SinkThroughConcat(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  const int last = static_cast<int>(in.size()) - 1;
  for (int i = 0; i < last; ++i) {
    if (NhwcSource(s, in[i], n).node == kNoNode) return false;
  }
  const std::optional<Tensor> axis = ChangedInts(s, in[last], ToNhwcAxes);
  if (!axis || !s.Allow()) return false;
  const std::optional<std::vector<Output>> inputs = InputsWith(s, n, last, *axis);
  return inputs && BecomeTransposeOf(s, n, AllAttrs(g, n), *inputs).ok();
}

// The pairs of paddings, before and behind, move with their dimensions.
bool SinkThroughPad(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (NhwcSource(s, g.data_inputs(n)[0], n).node == kNoNode) return false;
  const std::optional<Tensor> paddings =
      ChangedInts(s, g.data_inputs(n)[1], [](std::vector<int64_t>& p) {
        if (p.size() != 8) return false;
        const std::vector<int64_t> of = p;
        for (int i = 0; i < 8; ++i) p[i] = of[kToNhwc[i / 2] * 2 + i % 2];
        return true;
      });
  if (!paddings || !s.Allow()) return false;
  const std::optional<std::vector<Output>> inputs = InputsWith(s, n, 1, *paddings);
  return inputs && BecomeTransposeOf(s, n, AllAttrs(g, n), *inputs).ok();
}

// What is left of a reduction over rows and columns lies alike; one that keeps its dimensions hands
// the transpose on.
bool SinkThroughReduction(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (NhwcSource(s, g.data_inputs(n)[0], n).node == kNoNode) return false;
  const bool keeps = BoolAttr(g, n, "keep_dims");
  const std::optional<Tensor> axes =
      ChangedInts(s, g.data_inputs(n)[1], [&](std::vector<int64_t>& list) {
        if (!ToNhwcAxes(list)) return false;
        std::sort(list.begin(), list.end());
        return keeps || list == std::vector<int64_t>{1, 2};
      });
  if (!axes || !s.Allow()) return false;
  const std::optional<std::vector<Output>> inputs = InputsWith(s, n, 1, *axes);
  if (!inputs) return false;
  if (keeps) return BecomeTransposeOf(s, n, AllAttrs(g, n), *inputs).ok();
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.SetInputs(n, *inputs, controls);
  return true;
}

constexpr std::string_view kConvolutions =
    "Conv2D DepthwiseConv2dNative _FusedConv2D _FusedDepthwiseConv2dNative";

constexpr Rewrite kLayoutRewrites[] = {
    {"convert_convolution", Exactness::kToleranced, ConvertConvolution, kConvolutions},
    // Have a data_format; input 0 and output 0 are the images.
    {"convert_follower", Exactness::kToleranced, ConvertFollower,
     "BiasAdd FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 MaxPool AvgPool"},
    // Compute each element by itself.
    {"sink_through_unary", Exactness::kExact, SinkThroughUnary,
     "Relu Relu6 Elu Selu LeakyRelu Sigmoid Tanh Softplus Softsign Neg Abs Exp Log Sqrt Rsqrt Erf "
     "Square Cast Identity _MklSwish _MklFusedMish"},
    {"sink_through_binary", Exactness::kExact, SinkThroughBinary,
     "Add AddV2 Sub Mul RealDiv Maximum Minimum SquaredDifference"},
    {"sink_through_concat", Exactness::kExact, SinkThroughConcat, "ConcatV2"},
    {"sink_through_pad", Exactness::kExact, SinkThroughPad, "Pad PadV2 MirrorPad"},
    {"sink_through_reduction", Exactness::kToleranced, SinkThroughReduction, "Mean Max Min"},
};

class LayoutOptimizer : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return InfosOf(kLayoutRewrites); }

  absl::StatusOr<bool> Run(PassContext& context) override {
    if (!HasNchwConvolution(context.graph)) return false;
    TENON_ASSIGN_OR_RETURN(const bool changed,
                           Sweep(context, InferShapes(context)).Run(kLayoutRewrites));
    if (changed) DropUnread(context);
    return changed;
  }

 private:
  // Transposes that nobody reads any more, and what only they read, would count as users where
  // remapping asks for them.
  static void DropUnread(PassContext& context) {
    Graph& g = context.graph;
    std::vector<int64_t> uses(g.num_node_ids(), 0);
    std::vector<NodeId> open;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n)) continue;
      for (const Output& in : g.inputs(n)) ++uses[in.node];
    }
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (g.alive(n) && uses[n] == 0 && g.op_name(n) == "Transpose") open.push_back(n);
    }
    while (!open.empty()) {
      const NodeId n = open.back();
      open.pop_back();
      if (context.preserve.contains(n) || !OpIs(g, n, {"Transpose", "Const"})) continue;
      for (const Output& in : g.inputs(n)) {
        if (--uses[in.node] == 0) open.push_back(in.node);
      }
      g.RemoveNode(n);
    }
  }

  static bool HasNchwConvolution(const Graph& g) {
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (g.alive(n) && IsNchwOnCpu(g, n) && ListsOp(kConvolutions, g.op_name(n))) return true;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeLayoutOptimizer() { return std::make_unique<LayoutOptimizer>(); }

}  // namespace tenon
