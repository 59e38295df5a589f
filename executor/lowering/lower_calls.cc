// Lowers calls: the body takes the place of the node.
//
// Before a plan is made, a body is as strict as the call was: no node of it runs, and none is
// alive, before all arguments are. Before the passes run a body is looser, as in TensorFlow, so
// that constants stay constants and nodes on both sides of a call can be fused. Only stateful nodes
// wait for what the call waited for, and results wait for what the body changes. Where values may
// be dead, belong to loops or change while they are read, bodies are strict all the same.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/lowering/inline_budget.h"
#include "executor/lowering/lowering.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/gradients/gradients.h"
#include "graph/ir/new_attrs.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/written_memory.h"

namespace tenon {
namespace {

bool HasControlFlow(const FunctionBody& body) {
  return std::any_of(body.nodes.begin(), body.nodes.end(),
                     [](const BodyNode& node) { return IsControlFlow(FactsOfOp(node.op())); });
}

}  // namespace

void Lowering::InlineOnly(CallsOnly calls) {
  calls_only_.emplace(std::move(calls));
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n)
    strict_ |= graph_.alive(n) && IsControlFlow(graph_.facts(n));
  // A reference variable that is written may change between the call and a read in the body.
  strict_ |= !WrittenMemory(graph_).empty();
}

bool Lowering::MayInline(NodeId n) {
  const FunctionEntry* function = Callee(graph_, graph_.op_name(n), graph_.attrs(n).Find("f"));
  if (function == nullptr || IsMarkedForXla(graph_.attrs(n)) || MustStay(graph_, n)) return false;
  const absl::StatusOr<int> depth = ChainDepth(n, function->name);
  if (!depth.ok()) return false;
  const auto body_of = [this](const FunctionEntry& f) -> const FunctionBody& { return BodyOf(f); };
  if (!calls_only_->budget.Fits(graph_, *function, kMaxDepth - *depth, body_of)) return false;
  // One node with several results, of which some are dead, would make all of them dead.
  if (graph_.num_outputs(n) > 1 && calls_only_->kept.contains(n) && MayHaveDeadResults(*function))
    return false;
  if (!calls_only_->may()) return false;
  calls_only_->budget.Take(*function);
  return true;
}

// Whether a Switch in the function, or in one that it calls, may make some of its results dead.
bool Lowering::MayHaveDeadResults(const FunctionEntry& function) {
  std::vector<const FunctionEntry*> work = {&function};
  absl::flat_hash_set<const FunctionEntry*> seen = {&function};
  while (!work.empty()) {
    const FunctionBody& body = BodyOf(*work.back());
    work.pop_back();
    if (HasControlFlow(body)) return true;
    for (const BodyNode& node : body.nodes) {
      const FunctionEntry* callee = Callee(graph_, node.op_name(), node.attrs().Find("f"));
      if (callee != nullptr && seen.insert(callee).second) work.push_back(callee);
    }
  }
  return false;
}

// The node for which stateful nodes of a loose body wait; kNoNode: they need not wait. Graphs of
// version 1 order a call that has a resource by its arguments and not by control edges, so such a
// call waits for all arguments that are computed.
absl::StatusOr<NodeId> Lowering::LooseStart(NodeId n) {
  if (const auto control = graph_.control_inputs(n); !control.empty())
    return WaitFor(n, {control.begin(), control.end()});
  const std::vector<Output> args(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
  if (std::none_of(args.begin(), args.end(),
                   [this](const Output& arg) { return TypeOf(arg) == DataType::kResource; }))
    return kNoNode;
  std::vector<Output> computed;
  for (const Output& arg : args) {
    NodeId from = arg.node;
    absl::flat_hash_set<NodeId> seen;  // a body may have a cycle, which is refused later
    while (graph_.op_name(from) == "Identity" && graph_.inputs(from).size() == 1 &&
           seen.insert(from).second)
      from = graph_.inputs(from)[0].node;
    if (!graph_.inputs(from).empty()) computed.push_back(arg);
  }
  return WaitFor(n, computed);
}

absl::Status Lowering::LowerCall(NodeId n) {
  const std::string prefix(graph_.name(n));
  const std::vector<Output> args(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
  if (calls_only_.has_value()) {
    const FunctionEntry* callee = Callee(graph_, graph_.op_name(n), graph_.attrs(n).Find("f"));
    strict_ |= callee != nullptr && HasControlFlow(BodyOf(*callee));
  }
  TENON_ASSIGN_OR_RETURN(const NodeId start, IsLoose() ? LooseStart(n) : Start(n));
  Instance body;
  if (graph_.FindFunction(graph_.op_name(n)) != nullptr) {
    TENON_ASSIGN_OR_RETURN(body, Inline(n, prefix, graph_.op_name(n),
                                        AttrSet(graph_.attrs(n).all()), args, start, DemandOf(n)));
  } else {
    TENON_ASSIGN_OR_RETURN(const FuncAttr function, FunctionAttr(n, "f"));
    TENON_ASSIGN_OR_RETURN(body, Inline(n, prefix, function, args, start, DemandOf(n)));
  }
  TENON_RETURN_IF_ERROR(ReplaceResults(n, body));
  const bool kept = calls_only_.has_value() && calls_only_->kept.contains(n);
  std::vector<Output> waits;
  if (body.effects != kNoNode) waits.push_back({body.effects, kControlPort});
  if (kept && !body.results.empty()) return BecomeIdentity(n, body.results);
  if (!kept && !IsWaitedFor(n)) return absl::OkStatus();
  for (const Output& result : body.results) {
    TENON_ASSIGN_OR_RETURN(const Output anchor, Anchor(n, result));
    waits.push_back(anchor);
  }
  if (waits.empty() && start != kNoNode) waits.push_back({start, kControlPort});
  if (kept) {
    graph_.BecomeOp(n, "NoOp", {});
    graph_.SetInputs(n, {}, waits);
    for (const Output& wait : waits) Note(wait);
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const NodeId done, Add(n, "done", "NoOp", std::move(waits)));
  Replace({n, kControlPort}, {done, kControlPort});
  return absl::OkStatus();
}

// The node becomes a call of the function's gradient, which the library gets if it lacks it.
absl::Status Lowering::LowerGradient(NodeId n) {
  TENON_ASSIGN_OR_RETURN(const FuncAttr function, FunctionAttr(n, "f"));
  std::string& gradient = gradients_[function.name];
  if (gradient.empty()) {
    TENON_ASSIGN_OR_RETURN(gradient, AddGradientFunction(graph_, function.name));
  }
  NewAttrs attrs = AllAttrs(graph_, n);
  PutAttr(attrs, "f", attr::Func(gradient));
  graph_.SetKind(n, "PartitionedCall", std::move(attrs));
  return LowerCall(n);
}

// Lets readers of the call's outputs read the results of the body.
absl::Status Lowering::ReplaceResults(NodeId n, const Instance& body) {
  const TypeVector& types = graph_.kind(n).types.outputs;
  if (body.results.size() != types.size()) {
    return NoteAnswerAlone(
        absl::InvalidArgumentError(absl::StrCat("the function has ", body.results.size(),
                                                " results, the call ", types.size(), " outputs")),
        absl::StatusCode::kInternal,
        absl::StrCat("Missing ", body.results.size(), "-th output from {{node ", graph_.name(n),
                     "}}"));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (TypeOf(body.results[i]) != BaseType(types[i])) {
      return NoteAnswerAlone(
          absl::InvalidArgumentError(absl::StrCat(
              "result ", i, " of the function is ", DataTypeName(TypeOf(body.results[i])),
              ", output ", i, " of the call ", DataTypeName(types[i]))),
          absl::StatusCode::kInternal,
          absl::StrCat("Output ", i, " of type ", DataTypeSpecName(TypeOf(body.results[i])),
                       " does not match declared output type ", DataTypeSpecName(types[i]),
                       " for node {{node ", graph_.name(n), "}}"));
    }
    const Output output{n, static_cast<int32_t>(i)};
    if (read_.contains(output)) read_.insert(body.results[i]);
    Replace(output, body.results[i]);
  }
  return absl::OkStatus();
}

// The node stays, with its name and its outputs, and runs when all results are there.
absl::Status Lowering::BecomeIdentity(NodeId n, absl::Span<const Output> results) {
  std::vector<DataType> types;
  for (const Output& result : results) types.push_back(TypeOf(result));
  if (types.size() == 1) {
    graph_.BecomeOp(n, "Identity", {{"T", attr::Type(types[0])}});
  } else {
    graph_.BecomeOp(n, "IdentityN", {{"T", attr::TypeList(types)}});
  }
  graph_.SetInputs(n, results, {});
  return graph_.kind(n).types_status;
}

}  // namespace tenon
