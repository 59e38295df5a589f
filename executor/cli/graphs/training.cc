#include "executor/cli/graphs/training.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "executor/cli/graphs/initializer.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

// "gradients", "gradients_1": the scopes that tf.gradients opens.
bool IsGradient(std::string_view name) {
  for (std::string_view scope : absl::StrSplit(name, '/')) {
    if (!absl::ConsumePrefix(&scope, "gradients")) continue;
    if (scope.empty() || scope.front() == '_') return true;
  }
  return false;
}

// Ops that change a variable through its handle; all others give a reference to it.
bool IsChangeOfResource(std::string_view op) {
  for (const std::string_view prefix :
       {"Assign", "ResourceApply", "ResourceScatter", "ResourceSparseApply"}) {
    if (absl::StartsWith(op, prefix)) return true;
  }
  return false;
}

bool ServesTraining(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  if (IsGradient(graph.name(n)) || IsChangeOfResource(op)) return true;
  if (absl::EndsWith(op, "Summary") || absl::EndsWith(op, "SummaryV2")) return true;
  if (graph.op(n) == nullptr) return false;
  for (int port = 0; port < graph.num_outputs(n); ++port) {
    if (IsRef(graph.output_type({n, port}))) return true;
  }
  return false;
}

// Marks the nodes that read a marked node, or, with `control`, wait for it, and those behind them;
// nodes in `barred` are not marked.
void MarkBehind(const Fanouts& fanouts, bool control, const std::vector<bool>& barred,
                std::vector<bool>& marked) {
  std::vector<NodeId> pending;
  for (size_t n = 0; n < marked.size(); ++n) {
    if (marked[n]) pending.push_back(static_cast<NodeId>(n));
  }
  while (!pending.empty()) {
    const NodeId from = pending.back();
    pending.pop_back();
    for (const Fanouts::Use& use : fanouts.of(from)) {
      if (use.port == kControlPort && !control) continue;
      if (marked[use.node] || barred[use.node]) continue;
      marked[use.node] = true;
      pending.push_back(use.node);
    }
  }
}

// What TensorFlow's functions leave behind that nobody reads: the predicate of a cond, and what
// tells of values in the scope of an assertion.
bool IsLeftover(std::string_view name) {
  const std::vector<std::string_view> scopes = absl::StrSplit(name, '/');
  if (scopes.back() == "pred_id") return true;
  return std::any_of(scopes.begin(), scopes.end() - 1,
                     [](std::string_view scope) { return absl::StartsWith(scope, "assert_"); });
}

bool ChangesVariable(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  return IsChangeOfResource(op) || absl::StartsWith(op, "Apply");
}

// Marks the nodes that change variables, and those that only marked nodes read, such as the step of
// a moving average.
std::vector<bool> BeforeChanges(const Graph& graph, const Fanouts& fanouts) {
  std::vector<bool> marked(graph.num_node_ids());
  std::vector<NodeId> pending;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || !ChangesVariable(graph, n)) continue;
    marked[n] = true;
    pending.push_back(n);
  }
  while (!pending.empty()) {
    const NodeId reader = pending.back();
    pending.pop_back();
    for (const Output& input : graph.data_inputs(reader)) {
      if (input.node == kNoNode || marked[input.node]) continue;
      const auto uses = fanouts.of(input.node);
      if (!std::all_of(uses.begin(), uses.end(), [&](const Fanouts::Use& use) {
            return use.port == kControlPort || marked[use.node];
          }))
        continue;
      marked[input.node] = true;
      pending.push_back(input.node);
    }
  }
  return marked;
}

}  // namespace

std::vector<bool> ResultsOfTraining(const Graph& graph) {
  if (Initializer(graph).empty()) return {};
  const Fanouts fanouts(graph);
  const std::vector<bool> none(graph.num_node_ids());
  std::vector<bool> training = none, results = none;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    training[n] = ServesTraining(graph, n);
    results[n] = IsPlaceholder(graph, n);
  }
  // A variable gives a reference to itself and changes nothing.
  for (const NodeId variable : Variables(graph)) training[variable] = false;
  MarkBehind(fanouts, /*control=*/true, none, training);
  MarkBehind(fanouts, /*control=*/false, training, results);
  const std::vector<bool> steps = BeforeChanges(graph, fanouts);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!results[n]) continue;
    results[n] = !IsPlaceholder(graph, n) && graph.num_outputs(n) != 0 && !steps[n] &&
                 !IsLeftover(graph.name(n));
  }
  if (std::find(results.begin(), results.end(), true) == results.end()) return {};
  return results;
}

}  // namespace tenon::cli
