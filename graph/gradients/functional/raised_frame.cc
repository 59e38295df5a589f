// From the inputs of the NextIterations against the edges, until the variables are reached.
#include "graph/gradients/functional/raised_frame.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/functional/function_rules.h"
#include "graph/ir/cycles.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::gradients {
namespace {

// Whether the node has all its inputs, which a defect may have taken.
bool IsWhole(const Graph& graph, NodeId n) {
  return graph.data_inputs(n).size() == graph.kind(n).types.inputs.size() &&
         std::ranges::none_of(graph.inputs(n), [](const Output& in) { return in.node == kNoNode; });
}

bool IsPlainSwitch(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  return (op == "Switch" || op == "RefSwitch") && IsWhole(graph, n);
}

class FrameRaiser {
 public:
  FrameRaiser(const Graph& graph, const LoopFrames& frames, int loop)
      : graph_(graph),
        frames_(frames),
        number_(loop),
        loop_(frames.loops()[loop]),
        raised_{kNoNode, {}, {}, FunctionGraph::New(graph), {}, {}} {}

  absl::StatusOr<RaisedFrame> Run() {
    TENON_RETURN_IF_ERROR(FindVariables());
    TENON_RETURN_IF_ERROR(FindExits());
    TENON_RETURN_IF_ERROR(AddArguments());
    TENON_RETURN_IF_ERROR(Collect());
    TENON_RETURN_IF_ERROR(Copy());
    return std::move(raised_);
  }

 private:
  absl::Status Odd(NodeId n, std::string_view what) const {
    return absl::UnimplementedError(absl::StrCat("'", graph_.name(n), "' (", graph_.op_name(n),
                                                 ") ", what,
                                                 ", which loops of while_loop do not have"));
  }

  absl::Status CheckWhole(NodeId n) const {
    if (IsWhole(graph_, n)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("'", graph_.name(n), "' lacks an input"));
  }

  absl::Status FindVariables() {
    if (loop_.conditions.size() != 1)
      return absl::UnimplementedError(
          absl::StrCat("a frame with ", loop_.conditions.size(), " nodes LoopCond, not one"));
    raised_.condition = loop_.conditions[0];
    for (const NodeId enter : loop_.enters) {
      TENON_RETURN_IF_ERROR(CheckWhole(enter));
      by_node_[enter] = static_cast<int>(raised_.variables.size());
      raised_.variables.push_back({enter, kNoNode, {}, kNoNode});
    }
    for (const NodeId merge : loop_.merges) TENON_RETURN_IF_ERROR(AddMerge(merge));
    return absl::OkStatus();
  }

  absl::Status AddMerge(NodeId merge) {
    TENON_RETURN_IF_ERROR(CheckWhole(merge));
    const auto inputs = graph_.data_inputs(merge);
    if (inputs.size() != 2) return Odd(merge, "merges other than two values");
    const int first = IsLoopEdge(graph_, inputs[0].node, merge) ? 1 : 0;
    const NodeId next = inputs[1 - first].node;
    const auto variable = by_node_.find(inputs[first].node);
    if (variable == by_node_.end() || !IsEnter(graph_.facts(inputs[first].node)) ||
        !IsLoopEdge(graph_, next, merge))
      return Odd(merge, "merges others than an Enter and a NextIteration");
    TENON_RETURN_IF_ERROR(CheckWhole(next));
    FrameVariable& of = raised_.variables[variable->second];
    if (of.merge != kNoNode) return Odd(of.enter, "leads to two Merge nodes");
    of.merge = merge;
    of.next = graph_.data_inputs(next)[0];
    by_node_[merge] = variable->second;
    return absl::OkStatus();
  }

  // The variable that the Switch n divides; -1: it is another node.
  int Divided(NodeId n) const {
    if (!IsPlainSwitch(graph_, n)) return -1;
    const auto inputs = graph_.data_inputs(n);
    if (inputs[1].node != raised_.condition || inputs[0].port != 0) return -1;
    const auto found = by_node_.find(inputs[0].node);
    return found == by_node_.end() || raised_.variables[found->second].merge != inputs[0].node
               ? -1
               : found->second;
  }

  absl::Status FindExits() {
    for (const NodeId exit : loop_.exits) {
      TENON_RETURN_IF_ERROR(CheckWhole(exit));
      const Output from = graph_.data_inputs(exit)[0];
      const int variable = from.port == 0 ? Divided(from.node) : -1;
      raised_.variable_of_exit.push_back(variable);
      if (variable >= 0) raised_.variables[variable].divide = from.node;
    }
    return absl::OkStatus();
  }

  absl::Status AddArguments() {
    for (const FrameVariable& variable : raised_.variables) {
      const DataType type = BaseType(graph_.output_type({variable.enter, 0}));
      TENON_RETURN_IF_ERROR(
          raised_.body.AddArgument(PlainName("", graph_.name(variable.enter)), type).status());
    }
    return absl::OkStatus();
  }

  // The variable that an output of the loop gives in a body; -1: it is inside. Fails for an output
  // that a body has not.
  absl::StatusOr<int> ReadVariable(Output o) {
    if (const int divided = Divided(o.node); divided >= 0) {
      if (o.port == 0) return Odd(o.node, "gives its last value to the body");
      raised_.variables[divided].divide = o.node;
      return divided;
    }
    const auto found = by_node_.find(o.node);
    if (found == by_node_.end()) return -1;
    const FrameVariable& variable = raised_.variables[found->second];
    if (o.node == variable.merge && o.port != 0)
      return Odd(o.node, "tells the body where its value comes from");
    if (o.node == variable.enter && variable.merge != kNoNode)
      return Odd(o.node, "gives its first value to the body");
    return found->second;
  }

  // A function takes values as arguments alone, so all that the nodes read must be a variable, in
  // the loop, or a constant, which can be copied. An edge that waits for a variable is dropped: the
  // arguments of a body are there before its nodes run.
  absl::Status Collect() {
    std::vector<NodeId> todo;
    absl::flat_hash_set<NodeId> seen;
    const auto read = [&](Output in) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const int variable, ReadVariable(in));
      if (variable < 0) todo.push_back(in.node);
      return absl::OkStatus();
    };
    for (const FrameVariable& variable : raised_.variables) {
      if (variable.merge != kNoNode) TENON_RETURN_IF_ERROR(read(variable.next));
    }
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      if (!seen.insert(n).second) continue;
      if (frames_.LoopOf(n) != number_ && graph_.op_name(n) != "Const")
        return Odd(n, "is read in the loop and is outside of it");
      TENON_RETURN_IF_ERROR(CheckWhole(n));
      nodes_.push_back(n);
      for (const Output& in : graph_.data_inputs(n)) TENON_RETURN_IF_ERROR(read(in));
      for (const Output& in : graph_.control_inputs(n)) {
        if (!IsVariable(in.node)) todo.push_back(in.node);
      }
    }
    std::ranges::sort(nodes_);
    return absl::OkStatus();
  }

  bool IsVariable(NodeId n) const { return by_node_.contains(n) || Divided(n) >= 0; }

  absl::Status Copy() {
    Graph& body = raised_.body.graph;
    absl::flat_hash_map<NodeId, NodeId> copies;
    for (const NodeId n : nodes_) {
      TENON_ASSIGN_OR_RETURN(const NodeId copy,
                             body.AddNode(body.UniqueName(graph_.name(n)), graph_.op_name(n), {},
                                          AllAttrs(graph_, n), graph_.device(n)));
      copies[n] = copy;
      raised_.originals[copy] = n;
    }
    const auto copy_of = [&](Output o) -> absl::StatusOr<Output> {
      TENON_ASSIGN_OR_RETURN(const int variable, ReadVariable(o));
      if (variable >= 0) return Output{raised_.body.args[variable], 0};
      return Output{copies.at(o.node), o.port};
    };
    for (const NodeId n : nodes_) {
      std::vector<Output> data, control;
      for (const Output& in : graph_.data_inputs(n)) {
        TENON_ASSIGN_OR_RETURN(data.emplace_back(), copy_of(in));
      }
      for (const Output& in : graph_.control_inputs(n)) {
        if (!IsVariable(in.node)) control.push_back({copies.at(in.node), kControlPort});
      }
      body.SetInputs(copies.at(n), data, control);
    }
    for (size_t i = 0; i < raised_.variables.size(); ++i) {
      const FrameVariable& variable = raised_.variables[i];
      const Output argument = {raised_.body.args[i], 0};
      Output result = argument;
      if (variable.merge != kNoNode) {
        TENON_ASSIGN_OR_RETURN(result, copy_of(variable.next));
      }
      TENON_RETURN_IF_ERROR(raised_.body.AddResult(absl::StrCat("next_", i), result));
      raised_.arguments[argument] = variable.divide != kNoNode  ? Output{variable.divide, 1}
                                    : variable.merge != kNoNode ? Output{variable.merge, 0}
                                                                : Output{variable.enter, 0};
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const LoopFrames& frames_;
  const int number_;
  const LoopFrame& loop_;
  RaisedFrame raised_;
  absl::flat_hash_map<NodeId, int> by_node_;  // the variable of an Enter or a Merge
  std::vector<NodeId> nodes_;                 // of the body
};

}  // namespace

absl::StatusOr<RaisedFrame> RaisedFrame::Raise(const Graph& graph, const LoopFrames& frames,
                                               int loop) {
  return FrameRaiser(graph, frames, loop).Run();
}

}  // namespace tenon::gradients
