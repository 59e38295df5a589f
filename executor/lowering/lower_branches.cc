// Lowers If and Case to a Switch for each argument, the branches, and a Merge for each result.
#include "absl/strings/str_cat.h"
#include "executor/lowering/lowering.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"

namespace tenon {

absl::Status Lowering::LowerIf(NodeId n) {
  std::vector<FuncAttr> branches;  // as a Switch numbers them
  for (const std::string_view name : {"else_branch", "then_branch"}) {
    TENON_ASSIGN_OR_RETURN(const FuncAttr branch, FunctionAttr(n, name));
    branches.push_back(branch);
  }
  return LowerBranches(n, branches, /*binary=*/true);
}

absl::Status Lowering::LowerCase(NodeId n) {
  const AttrValue* attr = graph_.attr(n, "branches");
  if (attr == nullptr) return absl::InvalidArgumentError("it has no attribute 'branches'");
  TENON_ASSIGN_OR_RETURN(const std::vector<FuncAttr> branches, attr->AsFuncList());
  if (branches.empty()) return absl::InvalidArgumentError("it has no branches");
  return LowerBranches(n, branches, /*binary=*/false);
}

// TensorFlow finds these faults in the run: NoteAnswer has its words for those who ask there.
absl::Status Lowering::CheckResults(std::string_view function, const TypeVector& results,
                                    const TypeVector& types) {
  if (results.size() != types.size()) {
    return NoteAnswer(
        absl::InvalidArgumentError(absl::StrCat("function '", function, "' has ", results.size(),
                                                " results, the node ", types.size(), " outputs")),
        absl::StatusCode::kInternal,
        absl::StrCat("Expect to produce ", types.size(), " tensors, but only get ",
                     results.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (BaseType(results[i]) != BaseType(types[i])) {
      return NoteAnswer(
          absl::InvalidArgumentError(absl::StrCat("result ", i, " of function '", function, "' is ",
                                                  DataTypeName(BaseType(results[i])), ", output ",
                                                  i, " is ", DataTypeName(types[i]))),
          absl::StatusCode::kInternal,
          absl::StrCat("Expect ", i, "-th output is of type ", DataTypeSpecName(types[i]),
                       " but get ", DataTypeSpecName(BaseType(results[i]))));
    }
  }
  return absl::OkStatus();
}

// A function that there is not, or whose types nobody knows, is left to Inline.
absl::Status Lowering::CheckFit(NodeId n, const FuncAttr& branch, absl::Span<const Output> args,
                                const TypeVector& types) const {
  const FunctionEntry* const entry = graph_.FindFunction(branch.name);
  if (entry == nullptr || entry->signature == nullptr) return absl::OkStatus();
  const absl::StatusOr<NodeTypes> of_branch =
      ResolveTypes(*entry->signature, WithDefaults(*entry->signature, ParseFuncAttrs(branch)));
  if (!of_branch.ok()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(CheckArgs(n, of_branch->inputs, args));
  return CheckResults(branch.name, of_branch->outputs, types);
}

// As in TensorFlow, only a run that takes the branch fails.
absl::StatusOr<Lowering::Instance> Lowering::Misfit(NodeId n, const absl::Status& why, NodeId pivot,
                                                    const TypeVector& types) {
  const absl::Status answer = AsNoted(why);
  TENON_ASSIGN_OR_RETURN(const NodeId fail,
                         Add(n, "misfit", "_TenonFail", {{pivot, kControlPort}},
                             {{"Tout", attr::TypeList(types)},
                              {"code", attr::Int(static_cast<int64_t>(answer.code()))},
                              {"message", attr::String(answer.message())},
                              {"node", attr::String(graph_.name(n))}}));
  Instance instance;
  for (size_t i = 0; i < types.size(); ++i)
    instance.results.push_back({fail, static_cast<int32_t>(i)});
  instance.effects = fail;
  return instance;
}

// Input 0 chooses the branch; the other inputs are its arguments. If `binary` is true, input 0 may
// have any type and is false or true as ToBool says. Otherwise input 0 is an index, and an index
// that no branch has chooses the last branch, as in TensorFlow.
absl::Status Lowering::LowerBranches(NodeId n, absl::Span<const FuncAttr> branches, bool binary) {
  const std::string name(graph_.name(n));
  const std::vector<Output> inputs(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
  const TypeVector types = graph_.kind(n).types.outputs;
  // The choice waits for all that the node itself would wait for.
  TENON_ASSIGN_OR_RETURN(const NodeId start, Start(n));
  std::vector<Output> choice_inputs = {inputs[0]};
  if (start != kNoNode) choice_inputs.push_back({start, kControlPort});
  TENON_ASSIGN_OR_RETURN(const NodeId chosen,
                         AddTyped(n, "chosen", "Identity", choice_inputs, TypeOf(inputs[0])));
  Output choice{chosen, 0};
  if (binary) {
    TENON_ASSIGN_OR_RETURN(choice, Predicate(n, choice));
  }
  const auto add_switch = [&](Output value) -> absl::StatusOr<NodeId> {
    if (binary) return AddTyped(n, "switch", "Switch", {value, choice}, TypeOf(value));
    return Add(n, "switch", "_SwitchN", {value, choice},
               {{"num_outs", attr::Int(static_cast<int64_t>(branches.size()))},
                {"T", attr::Type(TypeOf(value))}});
  };
  std::vector<NodeId> switches;
  for (size_t i = 1; i < inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const NodeId node, add_switch(inputs[i]));
    if (!needs_.Needs(n, static_cast<int>(i))) SetIdle(node);
    switches.push_back(node);
  }
  // Switches the choice itself: its outputs tell nodes without inputs which branch runs.
  TENON_ASSIGN_OR_RETURN(const NodeId pivots, add_switch(choice));
  const Demand demand = DemandOf(n);
  std::vector<std::vector<Output>> results(types.size());  // by result, then branch
  std::vector<Output> executed;
  for (int32_t b = 0; b < static_cast<int32_t>(branches.size()); ++b) {
    TENON_ASSIGN_OR_RETURN(const NodeId pivot, AddTyped(n, absl::StrCat("branch_", b), "Identity",
                                                        {{pivots, b}}, TypeOf(choice)));
    std::vector<Output> args;
    for (NodeId node : switches) args.push_back({node, b});
    const absl::Status fits = CheckFit(n, branches[b], args, types);
    TENON_ASSIGN_OR_RETURN(
        const Instance branch,
        fits.ok() ? Inline(n, absl::StrCat(name, "/branch_", b), branches[b], args, pivot, demand)
                  : Misfit(n, fits, pivot, types));
    TypeVector given;
    for (const Output& result : branch.results) given.push_back(TypeOf(result));
    TENON_RETURN_IF_ERROR(CheckResults(branches[b].name, given, types));
    for (size_t i = 0; i < types.size(); ++i) results[i].push_back(branch.results[i]);
    std::vector<Output> done = {{pivot, 0}};
    if (branch.effects != kNoNode) done.push_back({branch.effects, kControlPort});
    if (IsWaitedFor(n)) {
      TENON_ASSIGN_OR_RETURN(const NodeId node,
                             AddTyped(n, "executed", "Identity", std::move(done), TypeOf(choice)));
      executed.push_back({node, 0});
    }
  }
  const auto merge = [&](std::vector<Output> values, DataType type) {
    const auto count = static_cast<int64_t>(values.size());
    return Add(n, "merge", "Merge", std::move(values),
               {{"N", attr::Int(count)}, {"T", attr::Type(type)}});
  };
  for (size_t i = 0; i < types.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const NodeId node, merge(std::move(results[i]), BaseType(types[i])));
    if (demand.unread[i]) SetIdle(node);
    Replace({n, static_cast<int32_t>(i)}, {node, 0});
  }
  if (!IsWaitedFor(n)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const NodeId done, merge(std::move(executed), TypeOf(choice)));
  Replace({n, kControlPort}, {done, kControlPort});
  return absl::OkStatus();
}

}  // namespace tenon
