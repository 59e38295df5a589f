// A sweep in topological order finds the sides. An Exit of a loop is on the side of the Enters.
#include "graph/gradients/control_flow/sides.h"

#include <algorithm>

#include "graph/base/status_macros.h"
#include "graph/gradients/control_flow/loop_frames.h"
#include "graph/ir/cycles.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::gradients {

bool HasSwitch(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsSwitch(graph.facts(n))) return true;
  }
  return false;
}

// Branches read their predicate by way of an Identity.
Output Sides::OriginalOf(const Graph& graph, Output o) {
  while (graph.op_name(o.node) == "Identity") {
    const auto inputs = graph.data_inputs(o.node);
    if (inputs.empty() || inputs[0].node == kNoNode) break;
    o = inputs[0];
  }
  return o;
}

// A value that a second Switch of a branch sends along the same side stays on it.
int Sides::Within(int outer, Output predicate, int port) {
  if (const int behind = PortOf(outer, predicate); behind >= 0)
    return behind == port ? outer : kSeveral;
  const auto [known, fresh] =
      known_[port].try_emplace({outer, predicate}, static_cast<int>(sides_.size()));
  if (fresh) {
    sides_.push_back({outer, predicate, port});
    depth_.push_back(Depth(outer) + 1);
  }
  return known->second;
}

int Sides::Common(int a, int b) const {
  if (a == kSeveral || b == kSeveral) return kNone;
  while (a != b) {
    int& deeper = Depth(a) >= Depth(b) ? a : b;
    deeper = sides_[deeper].outer;
  }
  return a;
}

bool Sides::IsWithin(int inner, int outer) const { return Common(inner, outer) == outer; }

int Sides::Innermost(int a, int b) const {
  if (a == kSeveral || b == kSeveral) return kSeveral;
  const int outer = Depth(a) < Depth(b) ? a : b, inner = outer == a ? b : a;
  return IsWithin(inner, outer) ? inner : kSeveral;
}

int Sides::OfNode(const Graph& graph, NodeId n) const {
  const bool is_merge = IsMerge(graph.facts(n));
  int side = kNone;
  bool first = true;
  for (const Output& in : graph.inputs(n)) {
    if (in.node == kNoNode || IsLoopEdge(graph, in.node, n)) continue;
    const int other = Of(graph, in);
    const bool meets = is_merge && in.port != kControlPort;
    side = first ? other : meets ? Common(side, other) : Innermost(side, other);
    first = false;
  }
  return side;
}

int Sides::Of(const Graph& graph, Output o) const {
  if (o.node < 0 || o.node >= static_cast<NodeId>(of_.size())) return kNone;
  if (o.port != kControlPort && IsSwitch(graph.facts(o.node))) {
    const auto behind = behind_.find(o);
    if (behind != behind_.end()) return behind->second;
  }
  return of_[o.node];
}

int Sides::PortOf(int i, Output predicate) const {
  while (i >= 0 && sides_[i].predicate != predicate) i = sides_[i].outer;
  return i >= 0 ? sides_[i].port : -1;
}

std::vector<int> Sides::Chain(int i) const {
  std::vector<int> chain;
  for (; i >= 0; i = sides_[i].outer) chain.push_back(i);
  std::ranges::reverse(chain);
  return chain;
}

absl::StatusOr<Sides> Sides::Find(const Graph& graph) {
  TENON_ASSIGN_OR_RETURN(const LoopFrames frames, LoopFrames::Find(graph));
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph));
  Sides sides;
  sides.of_.assign(graph.num_node_ids(), kNone);
  std::vector<int> of_loop(frames.loops().size(), kNone);
  for (const NodeId n : order) {
    const int loop = frames.LoopOf(n);
    // What is alive within a loop is a matter of the loop.
    int& side = sides.of_[n] =
        loop < 0 || IsEnter(graph.facts(n)) ? sides.OfNode(graph, n) : of_loop[loop];
    if (loop >= 0) {
      if (IsEnter(graph.facts(n))) of_loop[loop] = sides.Innermost(of_loop[loop], side);
      continue;
    }
    const std::string_view op = graph.op_name(n);
    if ((op != "Switch" && op != "RefSwitch") || side == kSeveral) continue;
    const auto inputs = graph.data_inputs(n);
    if (inputs.size() < 2 || inputs[1].node == kNoNode) continue;
    const Output predicate = OriginalOf(graph, inputs[1]);
    for (int port = 0; port < 2; ++port)
      sides.behind_[{n, port}] = sides.Within(side, predicate, port);
  }
  return sides;
}

}  // namespace tenon::gradients
