// Calls and branches of functions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/carried.h"
#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace control_flow_ops {
namespace {

absl::Status Call(Op& op) {
  std::string_view function = op.frame().graph->op_name(op.node());
  if (op.frame().graph->FindFunction(function) == nullptr) {
    TENON_ASSIGN_OR_RETURN(function, FunctionOf(op, "f"));
  }
  TENON_ASSIGN_OR_RETURN(Entries results, op.lowerer().Call(op, function, InputsFrom(op, 0)));
  return SetOutputs(op, std::move(results));
}

struct Branch {
  Lines text;
  Entries results;
  std::vector<CheckFlag> checks;
};

// The branch's text without its return: that needs the checks of the others.
absl::StatusOr<Branch> WriteBranch(Op& op, std::string_view function) {
  Branch branch;
  absl::Status status;
  const size_t checks = op.lowerer().checks().size();
  branch.text = op.b.InRegion([&] {
    absl::StatusOr<Entries> results = op.lowerer().Call(op, function, InputsFrom(op, 1));
    status = results.status();
    if (!results.ok()) return;
    branch.results = *std::move(results);
    for (Entry& entry : branch.results) PartsOf(op, entry);
  });
  TENON_RETURN_IF_ERROR(status);
  branch.checks = TakeChecks(op.lowerer(), checks);
  return branch;
}

// Ends each branch with its results and, for each check of any branch, a flag: true in the others.
void WriteReturns(Op& op, std::vector<Branch>& branches) {
  size_t first_check = 0, all_checks = 0;
  for (const Branch& branch : branches) all_checks += branch.checks.size();
  for (Branch& branch : branches) {
    Lines tail = op.b.InRegion([&] {
      Values values;
      for (Entry& entry : branch.results) {
        const Values parts = PartsOf(op, entry);
        values.insert(values.end(), parts.begin(), parts.end());
      }
      for (size_t i = 0; i < all_checks; ++i) {
        const size_t own = i - first_check;
        values.push_back(i >= first_check && own < branch.checks.size()
                             ? branch.checks[own].ok
                             : op.b.Scalar(DataType::kBool, 1));
      }
      op.b.Return(values);
    });
    branch.text.text += tail.text;
    branch.text.nodes.insert(branch.text.nodes.end(), tail.nodes.begin(), tail.nodes.end());
    first_check += branch.checks.size();
  }
}

// The functions of a node that chooses among branches.
std::vector<std::string_view> BranchesOf(const Graph& graph, NodeId n) {
  std::vector<std::string_view> names;
  for (const std::string_view attr : {"then_branch", "else_branch"}) {
    const AttrValue* value = graph.attr(n, attr);
    if (value == nullptr) continue;
    if (const absl::StatusOr<FuncAttr> f = value->AsFunc(); f.ok()) names.push_back(f->name);
  }
  if (const AttrValue* value = graph.attr(n, "branches")) {
    if (const auto list = value->AsFuncList(); list.ok()) {
      for (const FuncAttr& f : *list) names.push_back(f.name);
    }
  }
  return names;
}

// Whether result i of branch `branch` is read by nobody: all that read it are branches of the same
// number, of nodes that choose by the same value, and they do not look at it. Gradients hand what
// one branch saves to the branch of that number of the gradient, and a stand-in for the others.
absl::StatusOr<bool> IsUnread(Op& op, int i, size_t branch) {
  const Graph& graph = *op.frame().graph;
  const Output result = {op.node(), i}, chosen_by = graph.data_inputs(op.node())[0];
  if (op.lowerer().IsResult(op.frame(), result)) return false;
  for (const Fanouts::Use& use : op.lowerer().UsesIn(op.frame()).of(op.node())) {
    if (use.port != i) continue;
    const std::vector<std::string_view> functions = BranchesOf(graph, use.node);
    if (branch >= functions.size() || use.input == 0 || graph.data_inputs(use.node)[0] != chosen_by)
      return false;
    TENON_ASSIGN_OR_RETURN(const Body* body, op.lowerer().BodyOf(op.frame(), functions[branch]));
    const FunctionGraph& f = body->function;
    const auto argument = static_cast<size_t>(use.input - 1);
    if (argument >= f.args.size() ||
        std::ranges::find(body->order, f.args[argument]) != body->order.end())
      return false;
  }
  return true;
}

// Gives result i of the branches that have another shape than the largest zeros of its shape, where
// nobody reads them.
absl::Status StandIn(Op& op, std::vector<Branch>& branches, int i) {
  const auto elements = [&](Branch& branch) {
    const Values parts = PartsOf(op, branch.results[i]);
    return parts.empty() ? -1 : parts[0].shape.num_elements();
  };
  size_t largest = 0;
  for (size_t k = 1; k < branches.size(); ++k) {
    if (elements(branches[k]) > elements(branches[largest])) largest = k;
  }
  for (size_t k = 0; k < branches.size(); ++k) {
    Entry &entry = branches[k].results[i], &model = branches[largest].results[i];
    if (SameParts(op, entry, model)) continue;
    TENON_ASSIGN_OR_RETURN(const bool unread, IsUnread(op, i, k));
    if (!unread || model.list != nullptr || entry.list != nullptr)
      return op.Unimplemented(absl::StrCat("branches give different shapes for result ", i));
    const Value like = PartsOf(op, model)[0];
    Lines zeros = op.b.InRegion([&] { entry = Renewed(model, {op.b.Like(like, 0)}); });
    branches[k].text.text += zeros.text;
    branches[k].text.nodes.insert(branches[k].text.nodes.end(), zeros.nodes.begin(),
                                  zeros.nodes.end());
  }
  return absl::OkStatus();
}

absl::Status CheckSameResults(Op& op, std::vector<Branch>& branches) {
  for (Branch& branch : branches) {
    if (branch.results.size() != static_cast<size_t>(op.num_outputs()))
      return op.Invalid("a branch gives another number of results");
  }
  for (int i = 0; i < op.num_outputs(); ++i) TENON_RETURN_IF_ERROR(StandIn(op, branches, i));
  return absl::OkStatus();
}

// The elements of a list are known only if all branches give the same.
void ForgetUnlessEqual(Entry& entry, const std::vector<Branch>& branches, int i) {
  for (const Branch& branch : branches) {
    if (SameElements(entry.list->each, branch.results[i].list->each)) continue;
    ListValue list = *entry.list;
    list.each = Tensor();
    entry.list = std::make_shared<const ListValue>(std::move(list));
    return;
  }
}

absl::Status WriteBranches(Op& op, std::string_view kind, const Value& selector,
                           absl::Span<const std::string_view> functions) {
  std::vector<Branch> branches;
  for (const std::string_view function : functions) {
    TENON_ASSIGN_OR_RETURN(Branch branch, WriteBranch(op, function));
    branches.push_back(std::move(branch));
  }
  TENON_RETURN_IF_ERROR(CheckSameResults(op, branches));
  WriteReturns(op, branches);
  Values types;
  for (Entry& entry : branches.front().results) {
    const Values parts = PartsOf(op, entry);
    types.insert(types.end(), parts.begin(), parts.end());
  }
  std::vector<Lines> texts;
  std::vector<CheckFlag> checks;
  for (Branch& branch : branches) {
    texts.push_back(std::move(branch.text));
    for (CheckFlag& check : branch.checks) {
      types.push_back({.dtype = DataType::kBool});
      checks.push_back(std::move(check));
    }
  }
  if (types.empty()) return SetOutputs(op, std::move(branches.front().results));
  const Values results = op.b.Branch(kind, selector, std::move(texts), types);
  size_t next = 0;
  for (int i = 0; i < op.num_outputs(); ++i) {
    Entry& entry = branches.front().results[i];
    const size_t parts = PartsOf(op, entry).size();
    op.OutEntry(i) =
        parts == 0 ? entry : Renewed(entry, absl::MakeConstSpan(results).subspan(next, parts));
    if (entry.list != nullptr) ForgetUnlessEqual(op.OutEntry(i), branches, i);
    next += parts;
  }
  for (CheckFlag& check : checks) {
    check.ok = results[next++];
    op.lowerer().checks().push_back(std::move(check));
  }
  return absl::OkStatus();
}

absl::Status CallOne(Op& op, std::string_view function) {
  TENON_ASSIGN_OR_RETURN(Entries results, op.lowerer().Call(op, function, InputsFrom(op, 1)));
  return SetOutputs(op, std::move(results));
}

absl::Status If(Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::string_view then_branch, FunctionOf(op, "then_branch"));
  TENON_ASSIGN_OR_RETURN(const std::string_view else_branch, FunctionOf(op, "else_branch"));
  if (const Tensor* known = op.Known(0);
      known != nullptr && known->dtype() == DataType::kBool && known->shape().rank() == 0)
    return CallOne(op, *known->flat<uint8_t>() != 0 ? then_branch : else_branch);
  return WriteBranches(op, "if", AsCondition(op, op.In(0)), {then_branch, else_branch});
}

absl::Status Case(Op& op) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, op.shapes().AttrOf("branches"));
  TENON_ASSIGN_OR_RETURN(const std::vector<FuncAttr> list, value.AsFuncList());
  std::vector<std::string_view> functions;
  for (const FuncAttr& f : list) functions.push_back(f.name);
  if (functions.empty()) return op.Invalid("there are no branches");
  const auto last = static_cast<int64_t>(functions.size()) - 1;
  if (op.Known(0) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t at, op.IntOf(0));
    return CallOne(op, functions[at < 0 || at > last ? last : at]);
  }
  // An index out of range is the last branch, as StableHLO has it too.
  return WriteBranches(op, "case", op.b.Convert(op.In(0), DataType::kInt32), functions);
}

constexpr Types kCarried = kAll | kVariants;

constexpr Row kRows[] = {
    {"PartitionedCall", Call, kCarried},
    {"StatefulPartitionedCall", Call, kCarried},
    {"If", If, kCarried},
    {"StatelessIf", If, kCarried},
    {"Case", Case, kCarried},
    {"StatelessCase", Case, kCarried},
};

}  // namespace
}  // namespace control_flow_ops

Rows ControlFlowRows() { return control_flow_ops::kRows; }

}  // namespace tenon::stablehlo
