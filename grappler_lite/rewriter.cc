#include "grappler_lite/rewriter.h"

#include <algorithm>
#include <cstring>

#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {

std::vector<RewriteInfo> InfosOf(std::span<const Rewrite> rewrites) {
  std::vector<RewriteInfo> infos;
  for (const Rewrite& rewrite : rewrites) infos.push_back({rewrite.name, rewrite.exactness});
  return infos;
}

Sweep::Sweep(PassContext& context, const GraphShapes* shapes)
    : context_(context),
      shapes_(shapes),
      known_nodes_(context.graph.num_node_ids()),
      fanouts_(context.graph) {}

absl::StatusOr<bool> Sweep::Run(std::span<const Rewrite> rewrites) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph()));
  replaced_by_.assign(known_nodes_, Output{});
  bool changed = false;
  for (NodeId n : order) {
    if (!graph().alive(n)) continue;
    ForwardInputs(n);
    if (fed(n) || graph().op(n) == nullptr || !context_.Visit()) continue;
    node_ = n;
    for (const Rewrite& rewrite : rewrites) {
      if (rewrite.exactness == Exactness::kFastMath && !context_.fast_math) continue;
      rewrite_ = &rewrite;
      if (rewrite.apply(*this, n)) {
        changed = true;
        break;
      }
    }
  }
  for (NodeId n : order) {
    if (graph().alive(n)) ForwardInputs(n);  // uses over back edges
  }
  for (NodeId n : replaced_) graph().RemoveNode(n);
  return changed;
}

Output Sweep::Resolve(Output o) const {
  while (o.node < known_nodes_ && replaced_by_[o.node].node != kNoNode) {
    const Output by = replaced_by_[o.node];
    o = o.is_control() ? Output{by.node, kControlPort} : by;
  }
  return o;
}

void Sweep::ForwardInputs(NodeId n) {
  for (int i = 0; i < static_cast<int>(graph().inputs(n).size()); ++i) {
    const Output in = graph().inputs(n)[i];
    const Output now = Resolve(in);
    if (now != in) graph().SetInput(n, i, now);
  }
}

// Whether a use of `o` may go without a trace: it is always there and never fails.
bool Sweep::IsFree(Output o) const {
  const Graph& g = context_.graph;
  return fed(o.node) || (g.op_name(o.node) == "Const" && g.control_inputs(o.node).empty());
}

bool Sweep::MayReplace(NodeId n, Output by) const {
  const Graph& g = context_.graph;
  if (context_.preserve.contains(n) || !g.control_inputs(n).empty() ||
      g.device(n) != g.device(by.node) || by.node == n || IsRef(g.output_type(by)))
    return false;
  if (IsSwitchOp(g.op_name(by.node)) && has_control_uses(n)) return false;
  const auto kept_or_free = [&](const Output& o) { return o == by || IsFree(o); };
  for (const Output& in : g.data_inputs(n)) {
    if (kept_or_free(in)) continue;
    const std::span<const Output> beyond = g.data_inputs(in.node);
    if (!g.control_inputs(in.node).empty() || beyond.empty() ||
        !std::all_of(beyond.begin(), beyond.end(), kept_or_free))
      return false;
  }
  return true;
}

bool Sweep::ReplaceBy(NodeId n, Output by) {
  if (!MayReplace(n, by) || !Allow()) return false;
  replaced_by_[n] = by;
  replaced_.push_back(n);
  return true;
}

int Sweep::uses(Output o) const { return o.node < known_nodes_ ? fanouts_.count(o) : 1; }

bool Sweep::has_control_uses(NodeId n) const {
  return n < known_nodes_ && fanouts_.count({n, kControlPort}) > 0;
}

PartialShape Sweep::shape(Output o) const {
  return shapes_ != nullptr && o.node < known_nodes_ ? shapes_->shape(o) : PartialShape();
}

std::optional<Tensor> Sweep::ConstOf(Output o, int64_t max_elements) const {
  const Graph& g = context_.graph;
  if (g.op_name(o.node) != "Const" || fed(o.node) || !g.control_inputs(o.node).empty())
    return std::nullopt;
  absl::StatusOr<Tensor> value = g.ConstValue(o.node);
  if (!value.ok() || value->num_elements() > max_elements) return std::nullopt;
  return *std::move(value);
}

namespace {

template <typename T>
bool AllEqual(const Tensor& t, double v) {
  const char* data = static_cast<const char*>(t.data());  // perhaps unaligned
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    T element;
    std::memcpy(&element, data + i * sizeof(T), sizeof(T));
    if (static_cast<double>(element) != v) return false;
  }
  return t.num_elements() > 0;
}

}  // namespace

bool Sweep::IsSplat(Output o, double v) const {
  const std::optional<Tensor> t = ConstOf(o);
  if (!t) return false;
  switch (t->dtype()) {
    case DataType::kFloat:
      return AllEqual<float>(*t, v);
    case DataType::kDouble:
      return AllEqual<double>(*t, v);
    case DataType::kInt32:
      return AllEqual<int32_t>(*t, v);
    case DataType::kInt64:
      return AllEqual<int64_t>(*t, v);
    default:
      return false;
  }
}

absl::StatusOr<GraphShapes> InferForPass(const PassContext& context) {
  const Graph& g = context.graph;
  ShapeOptions options;
  for (NodeId n : context.feeds) {
    for (int i = 0; i < g.num_outputs(n); ++i) {
      if (g.op_name(n) != "Placeholder") options.feeds[{n, i}] = TensorInfo();
    }
  }
  return GraphShapes::Infer(g, options);
}

}  // namespace tenon
