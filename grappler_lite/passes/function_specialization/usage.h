// Which arguments and results of a functional node anybody uses.
// Private to grappler_lite/passes/function_specialization/.
#pragma once

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/function_specialization/site.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Answers hold for the graph as it was when the pass began, with the users of each node from
// `fanouts`. Each argument must outlive the object. Not thread-safe.
class SiteUsage {
 public:
  // `shapes` (null: not known) are those of the graph as it was, `rewritten` the nodes whose
  // outputs have got other numbers since.
  SiteUsage(const PassContext& context, const Fanouts& fanouts, const GraphShapes* shapes,
            const absl::flat_hash_set<NodeId>& rewritten)
      : c_(context), g_(context.graph), fanouts_(fanouts), shapes_(shapes), rewritten_(rewritten) {}

  // By result: whether something reads it. A result whose computation may fail counts as read if
  // the call computes unread results too. All results of a preserved node count as read. Of a loop:
  // by variable; a variable that the loop itself needs counts as read too.
  std::vector<bool> Results(const FunctionSite& site) const;
  // By argument: whether the bodies need it for their effects and for these results. Also true of
  // an argument that the node computes though nothing reads it (ComputesUnreadArg), if it comes
  // from an unfed node for which IsAwaitedByValueOnly is true. Not for loops.
  std::vector<bool> Args(const FunctionSite& site, const std::vector<bool>& results) const;
  // Whether the node computes argument i though nothing reads it. A node that is marked to be
  // written out (kWrittenOut) computes none, with two exceptions: a loop waits for its first
  // variable in every pass, and a node with a body that stays a call (StaysCall) computes all.
  bool ComputesUnreadArg(const FunctionSite& site, size_t i) const;

 private:
  std::vector<TensorInfo> ArgInfos(const FunctionSite& site) const;
  std::vector<bool> AwaitedArgs(const FunctionSite& site) const;
  std::vector<bool> Variables(const FunctionSite& site, std::vector<bool> used) const;

  const PassContext& c_;
  const Graph& g_;
  const Fanouts& fanouts_;
  const GraphShapes* const shapes_;
  const absl::flat_hash_set<NodeId>& rewritten_;
};

}  // namespace tenon
