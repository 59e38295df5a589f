#include "executor/compile/bodies/lost_effects.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/functions/function_body.h"
#include "grappler_lite/analysis/body_nodes.h"

namespace tenon {
namespace {

// The effects that may fail and that neither a result of the body nor one of its lasting effects
// needs. Lasting effects are stateful nodes and the control outputs that the function names.
std::vector<NodeId> LostEffects(const Graph& library, const FunctionEntry& function,
                                const FunctionGraph& body) {
  const Graph& g = body.graph;
  absl::flat_hash_set<std::string_view> named;
  const FunctionBody parsed = ParseFunctionBody(library, function);
  for (const Attr& entry : parsed.control_returns) named.insert(entry.value.wire());
  const auto stays = [&](NodeId n) { return g.op(n)->is_stateful || named.contains(g.name(n)); };
  NeededNodes needed(body);
  needed.Need(body.results);
  std::vector<NodeId> lost;
  for (const NodeId n : body.effects) {
    if (stays(n)) {
      needed.Need(n);
    } else {
      lost.push_back(n);
    }
  }
  CertainNodes certain(body, std::vector<TensorInfo>(body.args.size()));
  std::erase_if(lost, [&](NodeId n) { return certain.Has(n, needed); });
  return lost;
}

// Lets `result` wait for these nodes. None of them may need it: that would be a cycle.
void Await(Graph& g, NodeId result, std::vector<Output> nodes) {
  const std::span<const Output> data = g.data_inputs(result), waits = g.control_inputs(result);
  const std::vector<Output> read(data.begin(), data.end());
  nodes.insert(nodes.end(), waits.begin(), waits.end());
  g.SetInputs(result, read, nodes);
}

// An Identity of `result` that waits for the nodes; `result` itself if none can be added.
NodeId Awaiting(Graph& g, NodeId result, std::vector<Output> nodes) {
  nodes.insert(nodes.begin(), {result, 0});
  return g
      .AddNode(g.UniqueName(absl::StrCat(g.name(result), "/done")), "Identity", nodes,
               {{"T", attr::Type(g.output_type({result, 0}))}}, g.device(result))
      .value_or(result);
}

}  // namespace

void AwaitLostEffects(const Graph& library, const FunctionEntry& function, FunctionGraph& body) {
  const std::vector<NodeId> lost = LostEffects(library, function, body);
  if (lost.empty() || body.results.empty()) return;
  NeededNodes before(body);
  before.Need(lost);
  std::vector<Output> inputs;
  for (const NodeId n : lost) inputs.push_back({n, kControlPort});
  NodeId& result = body.results[0];
  if (before[result]) {
    result = Awaiting(body.graph, result, std::move(inputs));
  } else {
    Await(body.graph, result, std::move(inputs));
  }
}

}  // namespace tenon
