// Counts the nodes that functions become when they are inlined.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/attr_set.h"

namespace tenon {

// Counts before anything is written, each function once and those that it calls first: one that
// calls another twice becomes twice as many nodes.
class NodesWritten {
 public:
  // The graph outlives it, and its functions stay.
  explicit NodesWritten(const Graph& graph) : graph_(graph) {}

  // No more than what a node of this op brings beside itself: the bodies of the functions that it
  // calls with all that these call. One that calls itself counts once; at most kMost.
  int64_t Of(std::string_view op, const std::vector<Attr>& attrs);

  static constexpr int64_t kMost = int64_t{1} << 40;

 private:
  std::vector<const FunctionEntry*> CalledBy(std::string_view op,
                                             const std::vector<Attr>& attrs) const;
  int64_t Of(const FunctionEntry& function);

  const Graph& graph_;
  absl::flat_hash_map<std::string_view, int64_t> counts_;  // 0 while calls in it are counted
};

}  // namespace tenon
