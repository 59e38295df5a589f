#include "grappler_lite/body_nodes.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"
#include "graph/nodes.h"
#include "grappler_lite/node_queries.h"
#include "grappler_lite/op_traits.h"

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

// Whether n is there in every run of the body: what it is made of, and waits for, are arguments and
// what cannot fail, as far as this looks.
bool IsAlwaysThere(const FunctionGraph& body, NodeId n) {
  constexpr size_t kMostNodes = 64;
  const Graph& g = body.graph;
  std::vector<NodeId> seen = {n};
  for (size_t next = 0; next < seen.size(); ++next) {
    if (std::ranges::find(body.args, seen[next]) != body.args.end()) continue;
    if (!NeverFails(g.op_name(seen[next])) || seen.size() > kMostNodes) return false;
    for (const Output& in : g.inputs(seen[next])) {
      if (std::ranges::find(seen, in.node) == seen.end()) seen.push_back(in.node);
    }
  }
  return true;
}

// Whether n does nothing but pass on its input.
bool OnlyPassesOn(const FunctionGraph& body, NodeId n) {
  const Graph& g = body.graph;
  return IsIdentityLike(g.op_name(n)) && !MustStay(g, n) && !ReadsReference(g, n) &&
         std::ranges::all_of(g.control_inputs(n),
                             [&](const Output& in) { return IsAlwaysThere(body, in.node); });
}

}  // namespace

void ShortenResults(FunctionGraph& body) {
  Graph& g = body.graph;
  absl::flat_hash_map<NodeId, Output> passed_on;  // by nodes that do nothing else
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

}  // namespace tenon
