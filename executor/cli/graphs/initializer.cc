#include "executor/cli/graphs/initializer.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/values/text.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

constexpr size_t kMostTried = 100;  // targets; each try walks through all that the target needs

bool IsVariable(std::string_view op) {
  return op == "VariableV2" || op == "Variable" || op == "VarHandleOp";
}

bool IsAssignment(std::string_view op) {
  return op == "Assign" || op == "AssignVariableOp" || op == "AssignVariableXlaConcatND";
}

bool FillsTable(std::string_view op) {
  return absl::StartsWith(op, "InitializeTable") || absl::StartsWith(op, "LookupTableImport");
}

using Nodes = absl::flat_hash_set<NodeId>;

Nodes FilledTables(const Graph& graph) {
  Nodes tables;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && FillsTable(graph.op_name(n)) && !graph.data_inputs(n).empty())
      tables.insert(graph.data_inputs(n)[0].node);
  }
  return tables;
}

// Whether these nodes assign each of `variables`, and no other variable, exactly once, fill each of
// `tables`, take no feed and restore nothing. A second assignment of a variable, or a sum into it,
// is a training step.
bool Initializes(const Graph& graph, const std::vector<NodeId>& needed, const Nodes& variables,
                 const Nodes& tables) {
  Nodes assigned, filled;
  for (const NodeId n : needed) {
    const std::string_view op = graph.op_name(n);
    if (IsPlaceholder(graph, n) || absl::StartsWith(op, "Restore")) return false;
    if (FillsTable(op) && !graph.inputs(n).empty()) filled.insert(graph.inputs(n)[0].node);
    if (!IsAssignment(op)) {
      if (absl::StartsWith(op, "Assign")) return false;
      continue;
    }
    if (graph.inputs(n).empty() || !assigned.insert(graph.inputs(n)[0].node).second) return false;
  }
  const bool fills_all = std::all_of(tables.begin(), tables.end(),
                                     [&](NodeId table) { return filled.contains(table); });
  return assigned == variables && fills_all;
}

std::vector<NodeId> TargetNodes(const Graph& graph) {
  std::vector<bool> consumed(graph.num_node_ids());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    for (const Output& input : graph.inputs(n)) {
      if (input.node != kNoNode) consumed[input.node] = true;
    }
  }
  std::vector<NodeId> targets;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !consumed[n] && graph.op(n) != nullptr && graph.num_outputs(n) == 0)
      targets.push_back(n);
  }
  return targets;
}

}  // namespace

std::vector<NodeId> NeededBy(const Graph& graph, NodeId target) {
  std::vector<bool> seen(graph.num_node_ids());
  std::vector<NodeId> needed = {target};
  seen[target] = true;
  for (size_t i = 0; i < needed.size(); ++i) {
    for (const Output& input : graph.inputs(needed[i])) {
      if (input.node == kNoNode || seen[input.node]) continue;
      seen[input.node] = true;
      needed.push_back(input.node);
    }
  }
  return needed;
}

std::vector<std::string> Targets(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId n : TargetNodes(graph)) names.emplace_back(graph.name(n));
  return names;
}

std::vector<NodeId> Variables(const Graph& graph) {
  std::vector<NodeId> variables;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsVariable(graph.op_name(n))) variables.push_back(n);
  }
  return variables;
}

namespace {

Nodes VariableSet(const Graph& graph) {
  const std::vector<NodeId> all = Variables(graph);
  return {all.begin(), all.end()};
}

// Of the targets that initialize these, the one that needs the fewest nodes; "" if none does.
std::string SmallestInitializer(const Graph& graph, const Nodes& variables, const Nodes& tables) {
  std::vector<NodeId> targets = TargetNodes(graph);
  targets.resize(std::min(targets.size(), kMostTried));
  NodeId best = kNoNode;
  size_t least = SIZE_MAX;
  for (const NodeId target : targets) {
    const std::vector<NodeId> needed = NeededBy(graph, target);
    // The smallest one: a larger target that initializes too also does something else.
    if (needed.size() >= least || !Initializes(graph, needed, variables, tables)) continue;
    best = target;
    least = needed.size();
  }
  return best == kNoNode ? "" : std::string(graph.name(best));
}

}  // namespace

std::string Initializer(const Graph& graph) {
  const Nodes variables = VariableSet(graph);
  return variables.empty() ? "" : SmallestInitializer(graph, variables, {});
}

std::vector<std::string> Initializers(const Graph& graph) {
  const Nodes variables = VariableSet(graph);
  const Nodes tables = FilledTables(graph);
  if (variables.empty() && tables.empty()) return {};
  std::vector<std::string> names = {SmallestInitializer(graph, variables, tables)};
  if (names[0].empty()) {
    names = {variables.empty() ? "" : SmallestInitializer(graph, variables, {}),
             tables.empty() ? "" : SmallestInitializer(graph, {}, tables)};
  }
  std::erase(names, "");
  return names;
}

std::string InitArguments(const std::vector<std::string>& names) {
  std::string arguments;
  for (const std::string& name : names) absl::StrAppend(&arguments, " --init ", ShellWord(name));
  return arguments;
}

}  // namespace tenon::cli
