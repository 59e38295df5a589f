// One sweep in topological order: an Enter begins a frame or joins one, an Exit leaves it, and all
// other nodes are in the innermost frame of their inputs.
#include "graph/gradients/control_flow/loop_frames.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/base/status_macros.h"
#include "graph/ir/cycles.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::gradients {
namespace {

constexpr int32_t kNoFrame = -1;

struct Frame {
  int32_t parent = kNoFrame;
  int depth = 1;
  int32_t outermost = kNoFrame;
};

bool HasLoops(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsEnter(graph.facts(n))) return true;
  }
  return false;
}

std::string_view FrameName(const Graph& graph, NodeId enter) {
  const AttrValue* const name = graph.attr(enter, "frame_name");
  return name == nullptr ? std::string_view() : name->AsString().value_or(std::string_view());
}

class FrameSweep {
 public:
  explicit FrameSweep(const Graph& graph) : graph_(graph), frame_(graph.num_node_ids(), kNoFrame) {}

  // The frame in which the outputs of n are.
  int32_t Visit(NodeId n) {
    const int32_t around = Innermost(n);
    const OpFacts& op = graph_.facts(n);
    if (IsEnter(op)) return frame_[n] = Entered(n, around);
    if (IsExit(op) && around != kNoFrame) return frame_[n] = frames_[around].parent;
    return frame_[n] = around;
  }
  int32_t Innermost(NodeId n) const {
    int32_t innermost = kNoFrame;
    for (const Output& in : graph_.inputs(n)) {
      if (in.node == kNoNode || IsLoopEdge(graph_, in.node, n)) continue;
      if (Depth(frame_[in.node]) > Depth(innermost)) innermost = frame_[in.node];
    }
    return innermost;
  }
  int32_t of(NodeId n) const { return frame_[n]; }
  const Frame& frame(int32_t i) const { return frames_[i]; }
  size_t size() const { return frames_.size(); }

 private:
  int Depth(int32_t frame) const { return frame == kNoFrame ? 0 : frames_[frame].depth; }
  int32_t Entered(NodeId n, int32_t around) {
    const auto [known, fresh] = by_name_.try_emplace({around, std::string(FrameName(graph_, n))},
                                                     static_cast<int32_t>(frames_.size()));
    if (!fresh) return known->second;
    const int32_t outermost =
        around == kNoFrame ? static_cast<int32_t>(frames_.size()) : frames_[around].outermost;
    frames_.push_back({around, Depth(around) + 1, outermost});
    return known->second;
  }

  const Graph& graph_;
  std::vector<int32_t> frame_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<std::pair<int32_t, std::string>, int32_t> by_name_;
};

}  // namespace

absl::StatusOr<LoopFrames> LoopFrames::Find(const Graph& graph) {
  LoopFrames found;
  if (!HasLoops(graph)) return found;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph));
  FrameSweep sweep(graph);
  found.loop_of_.assign(graph.num_node_ids(), -1);
  found.is_way_out_.assign(graph.num_node_ids(), false);
  std::vector<int32_t> number;  // of the loop, by frame; -1 for a frame within another
  for (const NodeId n : order) {
    sweep.Visit(n);
    while (number.size() < sweep.size()) {
      const bool is_outermost = sweep.frame(static_cast<int32_t>(number.size())).depth == 1;
      number.push_back(is_outermost ? static_cast<int32_t>(found.loops_.size()) : -1);
      if (is_outermost) found.loops_.emplace_back();
    }
    const OpFacts& op = graph.facts(n);
    const int32_t frame = IsExit(op) ? sweep.Innermost(n) : sweep.of(n);
    if (frame == kNoFrame) continue;
    const int32_t loop = number[sweep.frame(frame).outermost];
    found.loop_of_[n] = loop;
    if (number[frame] < 0) continue;
    LoopFrame& members = found.loops_[loop];
    if (IsEnter(op)) {
      members.enters.push_back(n);
      if (members.name.empty()) members.name = FrameName(graph, n);
    }
    if (IsExit(op)) {
      members.exits.push_back(n);
      found.is_way_out_[n] = true;
    }
    if (op.flow == FlowRole::kLoopCond) members.conditions.push_back(n);
    const auto inputs = graph.data_inputs(n);
    if (IsMerge(op) && std::ranges::any_of(inputs, [&](const Output& in) {
          return in.node != kNoNode && IsLoopEdge(graph, in.node, n);
        }))
      members.merges.push_back(n);
  }
  return found;
}

}  // namespace tenon::gradients
