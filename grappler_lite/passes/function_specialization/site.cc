#include "grappler_lite/passes/function_specialization/site.h"

#include "absl/container/flat_hash_set.h"
#include "grappler_lite/analysis/body_nodes.h"

namespace tenon {

void OwnBodies(FunctionSite& site) {
  if (!site.own.empty()) return;
  for (const FunctionGraph*& body : site.bodies) {
    site.own.push_back(std::make_unique<FunctionGraph>(*body));
    body = site.own.back().get();
  }
}

void DropUnused(FunctionSite& site, const std::vector<bool>& args,
                const std::vector<bool>& results) {
  for (size_t b = 0; b < site.own.size(); ++b) {
    FunctionGraph& body = *site.own[b];
    const bool is_condition = site.loop && b == 0;
    std::vector<NodeId> roots = body.effects;
    for (size_t i = 0; i < body.results.size(); ++i) {
      if (!is_condition && !results[i]) body.results[i] = kNoNode;
      if (body.results[i] != kNoNode) roots.push_back(body.results[i]);
    }
    NeededNodes needed(body);
    needed.Need(roots);
    const absl::flat_hash_set<NodeId> all_args(body.args.begin(), body.args.end());
    for (NodeId n = 0; n < body.graph.num_node_ids(); ++n) {
      if (!needed[n] && !all_args.contains(n)) body.graph.RemoveNode(n);
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i]) continue;
      body.graph.RemoveNode(body.args[i]);
      body.args[i] = kNoNode;
    }
  }
}

}  // namespace tenon
