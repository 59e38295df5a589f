// Works through a list of nodes that call functions; what a body brings joins the list. replaced_
// maps the outputs of lowered nodes to new ones, and readers are redirected by it in the end.

#include "executor/lowering/lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/lowering/nodes_written.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/ir/node_places.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
void Lowering::Note(Output fetch) {
  waited_for_.resize(graph_.num_node_ids(), false);
  if (fetch.is_control()) {
    waited_for_[fetch.node] = true;
  } else {
    read_.insert(fetch);
  }
}

void Lowering::NoteRunning(absl::Span<const Output> fetches,
                           absl::FunctionRef<bool(const Output&)> ends) {
  idle_ = needs_.NodesFor(fetches, ends);
  idle_.flip();
}

void Lowering::SetIdle(NodeId n) {
  if (std::ssize(idle_) <= n) idle_.resize(n + 1, false);
  idle_[n] = true;
}

std::vector<bool> Lowering::UnreadOutputs(NodeId n) const {
  std::vector<bool> unread(graph_.num_outputs(n), false);
  if (calls_only_.has_value() && calls_only_->read.contains(n)) return unread;
  for (int32_t i = 0; i < graph_.num_outputs(n); ++i) unread[i] = !read_.contains({n, i});
  return unread;
}

Lowering::Demand Lowering::DemandOf(NodeId n) const {
  return {UnreadOutputs(n), ComputesAllResults(graph_.attrs(n)), std::nullopt};
}

void Lowering::NoteNewNodes() {
  waited_for_.resize(graph_.num_node_ids(), false);
  for (; noted_ < graph_.num_node_ids(); ++noted_) {
    if (!graph_.alive(noted_)) continue;
    for (const Output& from : graph_.control_inputs(noted_)) waited_for_[from.node] = true;
    if (IsIdle(noted_)) continue;
    for (int i = 0; i < graph_.num_inputs(noted_); ++i) {
      const Output now = Resolve(graph_.data_inputs(noted_)[i]);
      if (IsFunctional(graph_, now.node) && needs_.Needs(noted_, i)) read_.insert(now);
    }
  }
}

absl::Status Lowering::TooManyNodes() {
  return absl::ResourceExhaustedError(
      absl::StrCat("the functions that the graph calls, written out, have more than ", kMaxNodes,
                   " nodes or ", kMaxNameBytes, " bytes of names"));
}

// Counts first, so that a graph of too many nodes fails at once and not after a million nodes.
absl::Status Lowering::CheckSize(absl::Span<const NodeId> nodes) const {
  NodesWritten written(graph_);
  int64_t count = 0;
  for (NodeId n : nodes) {
    count += written.Of(graph_.op_name(n), graph_.attrs(n).all());
    if (count > kMaxNodes) return NodeError(graph_, calls_, n, TooManyNodes());
  }
  return absl::OkStatus();
}

absl::Status Lowering::Run(absl::Span<const NodeId> nodes) {
  if (!calls_only_.has_value()) TENON_RETURN_IF_ERROR(CheckSize(nodes));
  for (NodeId n : nodes) {
    if (IsFunctional(graph_, n)) work_.push_back(n);
  }
  std::vector<NodeId> lowered;
  while (!work_.empty()) {
    const NodeId n = work_.back();
    work_.pop_back();
    if (calls_only_.has_value() && !MayInline(n)) continue;
    NoteNewNodes();
    // A node that it reads may have been lowered, and no node can wait for that one.
    RedirectInputs(n);
    if (absl::Status status = LowerNode(n); !status.ok())
      return NodeError(graph_, calls_, n, status);
    if (IsFunctional(graph_, n)) lowered.push_back(n);
    inlined_ = true;
  }
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (graph_.alive(n)) RedirectInputs(n);
  }
  // Only now: readers of a lowered node find what replaces its outputs while the node is there.
  for (NodeId n : lowered) graph_.RemoveNode(n);
  return CheckInputs();
}

Output Lowering::Resolve(Output output) const {
  for (auto it = replaced_.find(output); it != replaced_.end(); it = replaced_.find(output))
    output = it->second;
  return output;
}

// Lets n read what replaces its inputs.
void Lowering::RedirectInputs(NodeId n) {
  for (size_t i = 0; i < graph_.inputs(n).size(); ++i) {
    const Output from = graph_.inputs(n)[i];
    const Output now = Resolve(from);
    if (now != from) graph_.SetInput(n, static_cast<int>(i), now);
  }
}

absl::Status Lowering::CheckInputs() const {
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n)) continue;
    for (const Output& from : graph_.inputs(n)) {
      if (!graph_.alive(from.node))
        return absl::InternalError(absl::StrCat("node '", graph_.name(n), "' was left with '",
                                                graph_.name(from.node), "', which was lowered"));
    }
  }
  return absl::OkStatus();
}

absl::Status Lowering::LowerNode(NodeId n) {
  TENON_RETURN_IF_ERROR(graph_.kind(n).types_status);
  const auto unimplemented = [](std::string_view what) {
    return absl::UnimplementedError(absl::StrCat(
        what, " are not implemented; call a function of the library that computes the same"));
  };
  switch (graph_.facts(n).calls) {
    case CallKind::kIf:
      return LowerIf(n);
    case CallKind::kCase:
      return LowerCase(n);
    case CallKind::kWhile:
      return LowerWhile(n);
    case CallKind::kFor:
      return LowerFor(n);
    case CallKind::kGradient:
      return LowerGradient(n);
    case CallKind::kRemote:
      return unimplemented("calls on other tasks");
    case CallKind::kFunction:
    case CallKind::kNone:  // the name of a function
      return LowerCall(n);
  }
  return absl::OkStatus();
}

// Adds a node that is a part of what `from` becomes, with the device of `from` and its place in the
// file.
absl::StatusOr<NodeId> Lowering::Add(NodeId from, std::string_view suffix, std::string_view op,
                                     std::vector<Output> inputs,
                                     std::vector<Graph::NewAttr> attrs) {
  const std::string name = graph_.UniqueName(absl::StrCat(graph_.name(from), "/", suffix));
  ++added_;
  name_bytes_ += name.size();
  if (added_ > kMaxNodes || name_bytes_ > kMaxNameBytes) return TooManyNodes();
  TENON_ASSIGN_OR_RETURN(const NodeId n, graph_.AddNode(name, op, inputs, std::move(attrs),
                                                        devices_[from], graph_.pos(from)));
  devices_.push_back(devices_[from]);
  CopyDebugInfo(graph_, from, graph_, n);
  if (IsIdle(from)) SetIdle(n);
  if (const int32_t site = calls_.SiteOf(from); site >= 0)
    calls_.SetOrigin(n, site, calls_.NameOf(graph_, from));
  return n;
}

absl::StatusOr<NodeId> Lowering::AddTyped(NodeId from, std::string_view suffix, std::string_view op,
                                          std::vector<Output> inputs, DataType type) {
  return Add(from, suffix, op, std::move(inputs), {{"T", attr::Type(type)}});
}

absl::StatusOr<FuncAttr> Lowering::FunctionAttr(NodeId n, std::string_view name) const {
  const AttrValue* attr = graph_.attr(n, name);
  if (attr == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("it has no attribute '", name, "'"));
  return attr->AsFunc();
}

// The control output that is there when, and only when, the value is. A Switch runs whichever of
// its outputs is dead, so its own control output says nothing.
absl::StatusOr<Output> Lowering::Anchor(NodeId from, Output value) {
  if (!IsSwitch(graph_.facts(value.node))) return Output{value.node, kControlPort};
  TENON_ASSIGN_OR_RETURN(const NodeId n,
                         AddTyped(from, "anchor", "Identity", {value}, TypeOf(value)));
  return Output{n, kControlPort};
}

absl::StatusOr<NodeId> Lowering::Start(NodeId n) {
  const std::span<const Output> inputs =
      ComputesAllArgs(n) ? graph_.inputs(n) : graph_.control_inputs(n);
  return WaitFor(n, {inputs.begin(), inputs.end()});
}

bool Lowering::ComputesAllArgs(NodeId n) {
  if (graph_.facts(n).calls == CallKind::kFor || ComputesAllResults(graph_.attrs(n))) return true;
  const std::vector<std::string_view> called = CalledBy(graph_.op_name(n), graph_.attrs(n));
  return std::ranges::any_of(called, [this](std::string_view name) {
    const FunctionEntry* function = graph_.FindFunction(name);
    return function != nullptr && StaysCall(AttrSet(BodyOf(*function).attrs));
  });
}

absl::StatusOr<NodeId> Lowering::WaitFor(NodeId n, const std::vector<Output>& inputs) {
  std::vector<Output> waits;
  for (const Output& from : inputs) {
    Output control = from;
    if (!from.is_control()) {
      TENON_ASSIGN_OR_RETURN(control, Anchor(n, from));
    }
    if (std::find(waits.begin(), waits.end(), control) == waits.end()) waits.push_back(control);
  }
  if (waits.empty()) return kNoNode;
  return Add(n, "start", "NoOp", std::move(waits));
}

// The value as the bool that decides: true for a number that is not zero and for a string that is
// not empty.
absl::StatusOr<Output> Lowering::Predicate(NodeId n, Output value) {
  TENON_ASSIGN_OR_RETURN(const NodeId predicate,
                         AddTyped(n, "predicate", "ToBool", {value}, TypeOf(value)));
  return Output{predicate, 0};
}

}  // namespace tenon
