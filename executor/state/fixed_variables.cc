// A graph of its own holds the values as constants, whose bytes all compiled graphs share. In a
// compiled graph readers of a variable read its constant, also where control flow passes the handle
// on.

#include "executor/state/fixed_variables.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/state/state_makers.h"
#include "graph/base/status_macros.h"
#include "graph/ir/shared_const.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/kernels/variable.h"

namespace tenon {
namespace {

bool IsHandle(const Graph& graph, NodeId n) { return graph.op_name(n) == "VarHandleOp"; }

// Whether n passes a handle from its data inputs to each output. Only right in graphs without
// calls.
bool HandsOn(const Graph& graph, NodeId n) {
  return IsControlFlow(graph.facts(n)) || graph.op_name(n) == "Identity";
}

// The number of data inputs of n that are handles. The last input of a Switch is the predicate.
int HandleInputs(const Graph& graph, NodeId n) {
  return IsMerge(graph.facts(n)) ? graph.num_inputs(n) : 1;
}

// Whether a control edge from n may be dropped: neither n nor any node before it can fail, be dead
// or change something. Looks at no more than kMostNodes nodes, since this is asked for each edge of
// each reader; if there are more, the edge stays, which is always right.
bool IsIdle(const Graph& graph, NodeId n) {
  constexpr size_t kMostNodes = 64;
  std::vector<NodeId> open = {n};
  absl::flat_hash_set<NodeId> seen = {n};
  for (size_t i = 0; i < open.size(); ++i) {
    const std::string_view op = graph.op_name(open[i]);
    const bool idle = op == "NoOp" || op == "Const" || op == "Identity" || op == "VarHandleOp" ||
                      op == "Placeholder" || op == "PlaceholderWithDefault";
    if (!idle || open.size() > kMostNodes) return false;
    for (const Output& from : graph.inputs(open[i])) {
      if (from.node != kNoNode && seen.insert(from.node).second) open.push_back(from.node);
    }
  }
  return true;
}

// Lets the readers of one variable read a constant. Where nodes pass the handle on, a second chain
// of nodes beside them passes the value on.
class Replacer {
 public:
  Replacer(Graph& graph, const Fanouts& fanouts, NodeId variable, const Graph& constants,
           NodeId constant)
      : graph_(graph),
        fanouts_(fanouts),
        variable_(variable),
        constants_(constants),
        constant_(constant),
        dtype_(constants.output_type({constant, 0})) {}

  absl::Status ReplaceReads() {
    Follow();
    DropOpenEnds();
    if (!IsRead()) return absl::OkStatus();
    TENON_RETURN_IF_ERROR(AddConstant());
    for (const NodeId n : chain_) {
      if (closed_.contains(n)) TENON_RETURN_IF_ERROR(AddValue(n));
    }
    for (const NodeId n : chain_) {
      if (closed_.contains(n)) LinkValue(n);
    }
    return ReplaceReaders();
  }

  // A variable of version 1 is passed by reference, and an Identity of it is a read.
  absl::Status ReplaceReadsByReference() {
    for (const Fanouts::Use& use : fanouts_.of(variable_)) {
      if (use.port == kControlPort || graph_.op_name(use.node) != "Identity") continue;
      if (values_.empty()) TENON_RETURN_IF_ERROR(AddConstant());
      graph_.SetInput(use.node, 0, {values_.at(variable_), 0});
    }
    return absl::OkStatus();
  }

 private:
  // Collects the nodes that pass the handle on. Each comes after a node from which it gets the
  // handle.
  void Follow() {
    std::vector<NodeId> open = {variable_};
    closed_.insert(variable_);
    for (size_t i = 0; i < open.size(); ++i) {
      for (const Fanouts::Use& use : fanouts_.of(open[i])) {
        const NodeId n = use.node;
        if (use.port == kControlPort || !HandsOn(graph_, n) ||
            use.input >= HandleInputs(graph_, n) || !closed_.insert(n).second)
          continue;
        open.push_back(n);
        chain_.push_back(n);
      }
    }
  }

  // Drops each Merge that may also pass on another handle, and all nodes behind it. A Merge of a
  // loop is first assumed to be closed, since its second input lies behind it.
  void DropOpenEnds() {
    for (bool more = true; more;) {
      more = false;
      for (const NodeId n : chain_) {
        if (!closed_.contains(n)) continue;
        const auto handles = graph_.data_inputs(n).first(HandleInputs(graph_, n));
        const bool all = std::ranges::all_of(
            handles, [&](const Output& from) { return closed_.contains(from.node); });
        if (all) continue;
        closed_.erase(n);
        more = true;
      }
    }
  }

  // Adds the node that passes the value on beside n. In a loop the right input of a Merge is added
  // later, so all handle inputs take one known value until LinkValue sets them.
  absl::Status AddValue(NodeId n) {
    std::vector<Output> inputs(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
    const int handles = HandleInputs(graph_, n);
    Output known;
    for (int i = 0; i < handles; ++i) {
      if (const Output value = ValueOf(inputs[i]); value.node != kNoNode) known = value;
    }
    for (int i = 0; i < handles; ++i) inputs[i] = known;
    for (const Output& from : graph_.control_inputs(n)) inputs.push_back(from);
    std::vector<Graph::NewAttr> attrs;
    for (const Attr& attr : graph_.attrs(n).all()) {
      if (attr.name == "T")
        attrs.push_back({attr.name, attr::Type(dtype_)});
      else if (!attr.name.starts_with('_'))
        attrs.push_back({attr.name, std::string(attr.value.wire())});
    }
    TENON_ASSIGN_OR_RETURN(
        const NodeId value,
        graph_.AddNode(graph_.UniqueName(absl::StrCat(graph_.name(n), "/value")), graph_.op_name(n),
                       inputs, std::move(attrs), graph_.device(n), graph_.pos(n)));
    values_.emplace(n, value);
    return absl::OkStatus();
  }

  void LinkValue(NodeId n) {
    for (int i = 0; i < HandleInputs(graph_, n); ++i)
      graph_.SetInput(values_.at(n), i, ValueOf(graph_.inputs(n)[i]));
  }

  bool IsRead() const {
    return std::ranges::any_of(closed_, [&](NodeId n) {
      return std::ranges::any_of(fanouts_.of(n), [&](const Fanouts::Use& use) {
        return use.port != kControlPort && use.input == 0 && Reads(use.node);
      });
    });
  }

  // A reader of another type fails, and must go on failing.
  bool Reads(NodeId n) const {
    const std::string_view op = graph_.op_name(n);
    return (op == "ReadVariableOp" || op == "ResourceGather" || op == "ResourceGatherNd") &&
           graph_.output_type({n, 0}) == dtype_;
  }

  absl::Status AddConstant() {
    TENON_ASSIGN_OR_RETURN(const NodeId n,
                           graph_.AddNode(graph_.UniqueName(constants_.name(constant_)), "NoOp", {},
                                          {}, graph_.device(variable_), graph_.pos(variable_)));
    // Shares the bytes of the storage: the value is not copied.
    BecomeSharedConst(graph_, n, constants_, constant_);
    values_.emplace(variable_, n);
    return absl::OkStatus();
  }

  Output ValueOf(Output handle) const {
    const auto value = values_.find(handle.node);
    return value == values_.end() ? Output() : Output{value->second, handle.port};
  }

  absl::Status ReplaceReaders() {
    std::vector<NodeId> nodes = chain_;
    nodes.push_back(variable_);
    for (const NodeId n : nodes) {
      if (!closed_.contains(n)) continue;
      for (const Fanouts::Use& use : fanouts_.of(n)) {
        if (use.port != kControlPort && use.input == 0 && Reads(use.node))
          TENON_RETURN_IF_ERROR(ReplaceReader(use.node, ValueOf({n, use.port})));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReplaceReader(NodeId n, Output value) {
    std::vector<Output> waits;
    for (const Output& from : graph_.control_inputs(n)) {
      if (!IsIdle(graph_, from.node)) waits.push_back(from);
    }
    if (graph_.op_name(n) != "ReadVariableOp") return ReplaceGather(n, value, waits);
    graph_.BecomeOp(n, "Identity", {{"T", attr::Type(dtype_)}});
    graph_.SetInputs(n, {&value, 1}, waits);
    return absl::OkStatus();
  }

  absl::Status ReplaceGather(NodeId n, Output value, absl::Span<const Output> control) {
    const DataType indices_type = graph_.input_type(n, 1);
    std::vector<Output> inputs = {value, graph_.inputs(n)[1]};
    std::vector<Graph::NewAttr> attrs = {{"Tparams", attr::Type(dtype_)},
                                         {"Tindices", attr::Type(indices_type)}};
    const bool nd = graph_.op_name(n) == "ResourceGatherNd";
    if (!nd) {
      // ResourceGather gathers along the first axis behind the batch dimensions.
      const AttrValue* batch_dims = graph_.attr(n, "batch_dims");
      TENON_ASSIGN_OR_RETURN(const int64_t axis, batch_dims->AsInt());
      TENON_ASSIGN_OR_RETURN(
          const NodeId axis_node,
          graph_.AddNode(graph_.UniqueName(absl::StrCat(graph_.name(n), "/axis")), "Placeholder",
                         {}, {{"dtype", attr::Type(DataType::kInt32)}}, graph_.device(n)));
      TENON_RETURN_IF_ERROR(graph_.MakeConst(
          axis_node, Tensor::Of<int32_t>(DataType::kInt32, {static_cast<int32_t>(axis)}, Shape())));
      inputs.push_back({axis_node, 0});
      attrs.push_back({"Taxis", attr::Type(DataType::kInt32)});
      attrs.push_back({"batch_dims", std::string(batch_dims->wire())});
    }
    graph_.BecomeOp(n, nd ? "GatherNd" : "GatherV2", std::move(attrs));
    graph_.SetInputs(n, inputs, control);
    return absl::OkStatus();
  }

  Graph& graph_;
  const Fanouts& fanouts_;
  const NodeId variable_;
  const Graph& constants_;
  const NodeId constant_;
  const DataType dtype_;
  std::vector<NodeId> chain_;
  absl::flat_hash_set<NodeId> closed_;          // pass on this handle and no other
  absl::flat_hash_map<NodeId, NodeId> values_;  // by node of the chain
};

}  // namespace

absl::StatusOr<FixedVariables> FixedVariables::Make(const Graph& graph,
                                                    absl::Span<const NodeId> variables,
                                                    ResourceManager& resources) {
  FixedVariables fixed(graph);
  for (const NodeId n : variables) TENON_RETURN_IF_ERROR(fixed.Add(n, resources));
  return fixed;
}

absl::Status FixedVariables::Add(NodeId variable, ResourceManager& resources) {
  const ReachedNode node = ReachedInGraph(graph_, variable);
  const VariableName name = NameOfVariable(node);
  // Only looks the variable up: this maker makes none.
  const ObjectRef<Variable> held = resources.LookupOrCreate<Variable>(
      name.container, name.name, [] { return ObjectRef<Variable>(); });
  if (!held || name.name.empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Tensor value, held->Get());
  const bool has_text = value.initialized() && value.dtype() == DataType::kString;
  if (!value.initialized() || (!IsMemcpyable(value.dtype()) && !has_text)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const NodeId constant,
                         graph_.AddNode(graph_.UniqueName(absl::StrCat(node.name, "/value")),
                                        "NoOp", {}, {}, node.device, graph_.pos(variable)));
  TENON_RETURN_IF_ERROR(MakeAlignedConst(graph_, constant, value));
  constants_.emplace(variable, constant);
  // The wire form of strings is no array, so the variable cannot share it.
  if (has_text) return absl::OkStatus();
  // The variable takes the bytes of the constant over, so that the value lies in memory once.
  TENON_ASSIGN_OR_RETURN(Tensor view, graph_.ConstValue(constant));
  return held->Assign(std::move(view), nullptr, [](const Tensor&) { return absl::OkStatus(); });
}

absl::Status FixedVariables::ReplaceReads(Graph& graph) const {
  const Fanouts fanouts(graph);
  // In the order of ids: a graph becomes the same graph in every process.
  std::vector<std::pair<NodeId, NodeId>> ordered(constants_.begin(), constants_.end());
  std::sort(ordered.begin(), ordered.end());
  for (const auto& [variable, constant] : ordered) {
    // A pass may have removed the node, or made another node of it.
    if (!graph.alive(variable) || graph.facts(variable).state != State::kVariable) continue;
    Replacer replacer(graph, fanouts, variable, graph_, constant);
    TENON_RETURN_IF_ERROR(IsHandle(graph, variable) ? replacer.ReplaceReads()
                                                    : replacer.ReplaceReadsByReference());
  }
  return absl::OkStatus();
}

}  // namespace tenon
