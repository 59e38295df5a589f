// Reachability in the bodies of functions. A node is certain if a backward search from it meets
// only arguments, needed nodes and nodes that cannot fail. Shapes are inferred at the first node
// whose op alone does not decide.

#include "grappler_lite/analysis/body_nodes.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/cannot_fail.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {

void NeededNodes::Need(NodeId root, absl::FunctionRef<void(NodeId)> found) {
  std::vector<NodeId> stack;
  const auto need = [&](NodeId n) {
    if (needed_[n]) return;
    needed_[n] = true;
    found(n);
    stack.push_back(n);
  };
  need(root);
  while (!stack.empty()) {
    const NodeId n = stack.back();
    stack.pop_back();
    for (const Output& in : g_.inputs(n)) need(in.node);
  }
}

namespace {

bool IsAlwaysThere(const FunctionGraph& body, NodeId n, absl::FunctionRef<bool(NodeId)> needed,
                   absl::FunctionRef<bool(NodeId)> cannot_fail) {
  // `seen` is searched linearly, so the bound also keeps one question cheap.
  constexpr size_t kMostNodes = 64;
  const Graph& g = body.graph;
  std::vector<NodeId> seen = {n};
  for (size_t next = 0; next < seen.size(); ++next) {
    const NodeId m = seen[next];
    // An argument is there when the call runs; a node that the run needs anyway would stop the run
    // itself if it failed.
    if (needed(m) || std::ranges::find(body.args, m) != body.args.end()) continue;
    if (seen.size() > kMostNodes || !cannot_fail(m)) return false;
    for (const Output& in : g.inputs(m)) {
      if (std::ranges::find(seen, in.node) == seen.end()) seen.push_back(in.node);
    }
  }
  return true;
}

bool IsAlwaysThere(const FunctionGraph& body, NodeId n) {
  return IsAlwaysThere(
      body, n, [](NodeId) { return false; },
      [&](NodeId m) { return NeverFails(body.graph.facts(m)); });
}

// Whether n does nothing but pass on its input.
bool OnlyPassesOn(const FunctionGraph& body, NodeId n) {
  const Graph& g = body.graph;
  return g.facts(n).identity && !MustStay(g, n) && !ReadsReference(g, n) &&
         // A result that no longer reads n does not wait for n's control inputs: none
         // of them may fail.
         std::ranges::all_of(g.control_inputs(n),
                             [&](const Output& in) { return IsAlwaysThere(body, in.node); });
}

}  // namespace

bool CertainNodes::Has(NodeId n, const NeededNodes& needed) {
  return IsAlwaysThere(
      body_, n,
      // Of a call, branch or loop something else may be needed.
      [&](NodeId m) { return needed[m] && !IsFunctional(body_.graph, m); },
      [&](NodeId m) { return CannotFailHere(m); });
}

bool CertainNodes::CannotFailHere(NodeId n) {
  const Graph& g = body_.graph;
  if (NeverFails(g.facts(n))) return true;
  if (!shapes_.has_value()) {
    ShapeOptions options;
    for (size_t i = 0; i < args_.size(); ++i) options.feeds[{body_.args[i], 0}] = args_[i];
    shapes_ = GraphShapes::Infer(g, options);
  }
  return shapes_->ok() &&
         CannotFail(g, n, [&](Output o) -> const TensorInfo& { return (*shapes_)->info(o); });
}

void ShortenResults(FunctionGraph& body) {
  Graph& g = body.graph;
  absl::flat_hash_map<NodeId, Output> passed_on;  // by nodes that do nothing else
  // `passed_on` makes the function linear where many results share one chain of Identities.
  for (const NodeId result : body.results) {
    std::vector<NodeId> passers;
    Output from = g.data_inputs(result)[0];
    if (OnlyPassesOn(body, result)) g.SetInputs(result, std::array{from}, {});
    for (; OnlyPassesOn(body, from.node); from = g.data_inputs(from.node)[0]) {
      if (const auto known = passed_on.find(from.node); known != passed_on.end()) {
        from = known->second;
        break;
      }
      passers.push_back(from.node);
    }
    for (const NodeId n : passers) passed_on.emplace(n, from);
    g.SetInput(result, 0, from);
  }
}

std::vector<bool> ReadNodes(const FunctionGraph& body) {
  const Graph& g = body.graph;
  std::vector<bool> read(g.num_node_ids(), false), is_result(g.num_node_ids(), false);
  for (const NodeId n : body.results) is_result[n] = true;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n) || is_result[n]) continue;
    for (const Output& in : g.data_inputs(n)) read[in.node] = true;
  }
  return read;
}

bool GivesBack(const FunctionGraph& body, size_t i) {
  const NodeId result = body.results[i];
  return body.graph.control_inputs(result).empty() &&
         body.graph.data_inputs(result)[0] == Output{body.args[i], 0};
}

void NoteNeededArgs(const FunctionGraph& body, const std::vector<NodeId>& roots,
                    std::vector<bool>& used) {
  NeededNodes needed(body);
  needed.Need(roots);
  for (size_t i = 0; i < body.args.size(); ++i) used[i] = used[i] || needed[body.args[i]];
}

void ReadFirstArgs(FunctionGraph& body, const std::vector<size_t>& firsts) {
  Graph& g = body.graph;
  absl::flat_hash_map<NodeId, NodeId> first_of;
  for (size_t i = 0; i < firsts.size(); ++i) {
    if (firsts[i] != i) first_of.emplace(body.args[i], body.args[firsts[i]]);
  }
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    for (int i = 0; i < static_cast<int>(g.inputs(n).size()); ++i) {
      const Output from = g.inputs(n)[i];
      const auto first = first_of.find(from.node);
      if (first != first_of.end()) g.SetInput(n, i, {first->second, from.port});
    }
  }
}

}  // namespace tenon
