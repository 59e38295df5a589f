#include "grappler_lite/passes/function_specialization/usage.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/body_nodes.h"

namespace tenon {

std::vector<bool> SiteUsage::Results(const FunctionSite& site) const {
  std::vector<bool> used(g_.num_outputs(site.node), c_.preserve.contains(site.node));
  for (const Fanouts::Use& use : fanouts_.of(site.node)) {
    if (use.port != kControlPort) {
      used[use.port] = true;
    } else if (site.loop && !ComputesUnreadArg(site, used.size())) {
      // What waits for a loop that is written out waits for each variable to leave it.
      used.assign(used.size(), true);
    }
  }
  if (site.loop) return Variables(site, std::move(used));
  if (std::ranges::find(used, false) == used.end()) return used;
  for (const FunctionGraph* body : site.bodies) {
    // From here on the call computes even unused results. Their errors count, so an unused
    // result goes only if it is certain.
    if (!ComputesAllResults(g_.attrs(site.node)) && !StaysCall(body->attrs)) continue;
    NeededNodes needed(*body);
    CertainNodes certain(*body, ArgInfos(site));
    needed.Need(body->effects);
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i]) needed.Need(body->results[i]);
    }
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i] || certain.Has(body->results[i], needed)) continue;
      used[i] = true;
      needed.Need(body->results[i]);
    }
  }
  return used;
}

std::vector<TensorInfo> SiteUsage::ArgInfos(const FunctionSite& site) const {
  std::vector<TensorInfo> infos;
  for (const Output& from : g_.data_inputs(site.node).subspan(site.first_arg)) {
    // shapes_ describes the graph as it was. The outputs of a rewritten node have other numbers.
    const bool known = shapes_ != nullptr && !rewritten_.contains(from.node);
    infos.push_back(known ? shapes_->info(from) : TensorInfo());
  }
  return infos;
}

bool SiteUsage::ComputesUnreadArg(const FunctionSite& site, size_t i) const {
  return ComputesAllResults(g_.attrs(site.node)) || (site.loop && i == 0) ||
         std::ranges::any_of(site.bodies, [](const auto* body) { return StaysCall(body->attrs); });
}

// Arguments that are computed in any case and for which no control edge could stand.
std::vector<bool> SiteUsage::AwaitedArgs(const FunctionSite& site) const {
  std::vector<bool> awaited;
  for (const Output& from : g_.data_inputs(site.node).subspan(site.first_arg)) {
    awaited.push_back(!c_.feeds.contains(from.node) && IsAwaitedByValueOnly(g_, from.node) &&
                      ComputesUnreadArg(site, awaited.size()));
  }
  return awaited;
}

std::vector<bool> SiteUsage::Args(const FunctionSite& site,
                                  const std::vector<bool>& results) const {
  std::vector<bool> used = AwaitedArgs(site);
  for (const FunctionGraph* body : site.bodies) {
    std::vector<NodeId> roots = body->effects;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) roots.push_back(body->results[i]);
    }
    NoteNeededArgs(*body, roots, used);
  }
  return used;
}

// A variable is used if it is read behind the loop, by the condition, for what the body does, for
// a variable that is used, or where what it becomes may fail.
std::vector<bool> SiteUsage::Variables(const FunctionSite& site, std::vector<bool> used) const {
  const std::vector<bool> awaited = AwaitedArgs(site);
  std::transform(used.begin(), used.end(), awaited.begin(), used.begin(), std::logical_or<>());
  const FunctionGraph& condition = *site.bodies[0];
  std::vector<NodeId> of_condition = condition.effects;
  of_condition.push_back(condition.results[0]);
  NoteNeededArgs(condition, of_condition, used);
  const FunctionGraph& body = *site.bodies[1];
  absl::flat_hash_map<NodeId, size_t> number_of;  // of arguments
  for (size_t i = 0; i < body.args.size(); ++i) number_of.emplace(body.args[i], i);
  std::vector<NodeId> roots = body.effects;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) roots.push_back(body.results[i]);
  }
  NeededNodes needed(body);
  const auto need = [&] {
    while (!roots.empty()) {
      const NodeId root = roots.back();
      roots.pop_back();
      needed.Need(root, [&](NodeId n) {
        const auto arg = number_of.find(n);
        if (arg == number_of.end() || used[arg->second]) return;
        used[arg->second] = true;
        roots.push_back(body.results[arg->second]);
      });
    }
  };
  need();
  // Shapes of variables may change from pass to pass.
  CertainNodes certain(body, std::vector<TensorInfo>(body.args.size()));
  // A loop that is written out waits for its first variable in every pass.
  const bool all = ComputesAllResults(g_.attrs(site.node)) || StaysCall(body.attrs);
  const size_t computed = all ? used.size() : std::min<size_t>(used.size(), 1);
  for (size_t i = 0; i < computed; ++i) {
    if (used[i] || certain.Has(body.results[i], needed)) continue;
    used[i] = true;
    roots.push_back(body.results[i]);
    need();
  }
  return used;
}

}  // namespace tenon
