// Lowers While to a frame with Enter, Merge, Switch, NextIteration and Exit for each loop variable.
#include "absl/strings/str_cat.h"
#include "executor/lowering/lowering.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"

namespace tenon {
absl::StatusOr<NodeId> Lowering::AddEnter(NodeId n, Output value, bool constant, NodeId start) {
  std::vector<Graph::NewAttr> attrs = {{"T", attr::Type(TypeOf(value))},
                                       {"frame_name", attr::String(graph_.name(n))},
                                       {"is_constant", attr::Bool(constant)}};
  if (const AttrValue* parallel = graph_.attrs(n).Find("parallel_iterations"))
    attrs.push_back({"parallel_iterations", std::string(parallel->wire())});
  std::vector<Output> inputs = {value};
  if (start != kNoNode) inputs.push_back({start, kControlPort});
  return Add(n, "enter", "Enter", std::move(inputs), std::move(attrs));
}

// A value from outside of the loop, as nodes of the loop read it in each pass.
absl::StatusOr<Output> Lowering::Invariant(NodeId n, Output value) {
  TENON_ASSIGN_OR_RETURN(const NodeId enter, AddEnter(n, value, true, kNoNode));
  return Output{enter, 0};
}

// Adds Enter and Merge of each variable. CloseLoop sets the second input of the Merge.
absl::StatusOr<Lowering::Loop> Lowering::OpenLoop(NodeId n, absl::Span<const Output> values,
                                                  NodeId start) {
  if (values.empty())
    return absl::UnimplementedError("a loop without variables would never end or never begin");
  Loop loop;
  for (const Output& value : values) {
    const DataType type = TypeOf(value);
    TENON_ASSIGN_OR_RETURN(const NodeId enter, AddEnter(n, value, false, start));
    TENON_ASSIGN_OR_RETURN(const NodeId merge, Add(n, "merge", "Merge", {{enter, 0}, {enter, 0}},
                                                   {{"N", attr::Int(2)}, {"T", attr::Type(type)}}));
    loop.merges.push_back(merge);
  }
  TENON_ASSIGN_OR_RETURN(loop.first_pass,
                         Add(n, "condition", "NoOp", {{loop.merges[0], kControlPort}}));
  return loop;
}

// Adds the Switches behind the condition, and the node for which nodes of the body wait.
absl::Status Lowering::DivideLoop(NodeId n, Output condition, Loop& loop) {
  TENON_ASSIGN_OR_RETURN(const NodeId cond, Add(n, "loop_cond", "LoopCond", {condition}));
  for (NodeId merge : loop.merges) {
    TENON_ASSIGN_OR_RETURN(
        const NodeId node,
        AddTyped(n, "switch", "Switch", {{merge, 0}, {cond, 0}}, TypeOf({merge, 0})));
    loop.switches.push_back(node);
  }
  TENON_ASSIGN_OR_RETURN(loop.body, AddTyped(n, "body", "Identity", {{loop.switches[0], 1}},
                                             TypeOf({loop.switches[0], 1})));
  return absl::OkStatus();
}

// Feeds the values of the next pass back to the Merges.
absl::Status Lowering::CloseLoop(NodeId n, absl::Span<const Output> next, const Loop& loop) {
  for (size_t i = 0; i < next.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const NodeId node,
                           AddTyped(n, "next", "NextIteration", {next[i]}, TypeOf(next[i])));
    if (i < loop.idle.size() && loop.idle[i]) SetIdle(node);
    graph_.SetInput(loop.merges[i], 1, {node, 0});
  }
  return absl::OkStatus();
}

// Adds an Exit for each variable from number `first` on, and lets readers of n's outputs read it.
absl::Status Lowering::LeaveLoop(NodeId n, size_t first, const Loop& loop) {
  std::vector<Output> exits;
  for (size_t i = first; i < loop.switches.size(); ++i) {
    const Output last{loop.switches[i], 0};
    TENON_ASSIGN_OR_RETURN(const NodeId exit, AddTyped(n, "exit", "Exit", {last}, TypeOf(last)));
    Replace({n, static_cast<int32_t>(i - first)}, {exit, 0});
    exits.push_back({exit, kControlPort});
  }
  if (!IsWaitedFor(n)) return absl::OkStatus();
  if (exits.empty()) {
    const Output last{loop.switches[0], 0};
    TENON_ASSIGN_OR_RETURN(const NodeId exit, AddTyped(n, "exit", "Exit", {last}, TypeOf(last)));
    exits.push_back({exit, kControlPort});
  }
  TENON_ASSIGN_OR_RETURN(const NodeId done, Add(n, "done", "NoOp", std::move(exits)));
  Replace({n, kControlPort}, {done, kControlPort});
  return absl::OkStatus();
}

// Checks that `next` has the types of the variables.
absl::Status Lowering::CheckBody(std::string_view function, absl::Span<const Output> variables,
                                 absl::Span<const Output> next) const {
  if (next.size() != variables.size()) {
    return absl::InvalidArgumentError(absl::StrCat("function '", function, "' has ", next.size(),
                                                   " results for ", variables.size(),
                                                   " loop variables"));
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (TypeOf(next[i]) == TypeOf(variables[i])) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "result ", i, " of function '", function, "' is ", DataTypeName(TypeOf(next[i])),
        ", the loop variable ", DataTypeName(TypeOf(variables[i]))));
  }
  return absl::OkStatus();
}

absl::Status Lowering::LowerWhile(NodeId n) {
  const std::string name(graph_.name(n));
  const std::vector<Output> values(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
  TENON_ASSIGN_OR_RETURN(const FuncAttr cond, FunctionAttr(n, "cond"));
  TENON_ASSIGN_OR_RETURN(const FuncAttr body, FunctionAttr(n, "body"));
  TENON_ASSIGN_OR_RETURN(const NodeId start, Start(n));
  TENON_ASSIGN_OR_RETURN(Loop loop, OpenLoop(n, values, start));
  std::vector<Output> args;
  for (size_t i = 0; i < values.size(); ++i) {
    const NodeId merge = loop.merges[i];
    if (!needs_.Needs(n, static_cast<int>(i))) SetIdle(graph_.data_inputs(merge)[0].node);
    args.push_back({merge, 0});
  }
  TENON_ASSIGN_OR_RETURN(const Instance test,
                         Inline(n, absl::StrCat(name, "/cond"), cond, args, loop.first_pass, {}));
  if (test.results.size() != 1) {
    return NoteAnswer(absl::InvalidArgumentError(
                          absl::StrCat("function '", cond.name, "' has ", test.results.size(),
                                       " results where a condition has one")),
                      absl::StatusCode::kInvalidArgument,
                      absl::StrCat("Expected a single scalar return value from WhileOp cond, got ",
                                   test.results.size(), " tensors."));
  }
  TENON_ASSIGN_OR_RETURN(const Output condition, Predicate(n, test.results[0]));
  TENON_RETURN_IF_ERROR(DivideLoop(n, condition, loop));
  Demand demand = DemandOf(n);
  demand.first_variable = 0;
  for (size_t i = 0; i < args.size(); ++i)
    // A variable that the condition reads is needed in each pass.
    demand.unread[i] = demand.unread[i] && !test.used_args[i];
  args.clear();
  for (NodeId node : loop.switches) args.push_back({node, 1});
  TENON_ASSIGN_OR_RETURN(const Instance step,
                         Inline(n, absl::StrCat(name, "/body"), body, args, loop.body, demand));
  TENON_RETURN_IF_ERROR(CheckBody(body.name, values, step.results));
  for (size_t i = 0; i < args.size(); ++i)
    loop.idle.push_back(demand.unread[i] && !step.used_args[i]);
  TENON_RETURN_IF_ERROR(CloseLoop(n, step.results, loop));
  return LeaveLoop(n, 0, loop);
}

}  // namespace tenon
