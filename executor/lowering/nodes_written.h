// Counts the nodes that functions become when calls, branches and loops are written out.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/attr_set.h"

namespace tenon {

// Counts before any node is written. The body of each function is parsed and counted once in the
// life of this object, however often it is called: a function that calls another one twice doubles
// the nodes with each level. Not thread-safe.
class NodesWritten {
 public:
  // `graph` must outlive the object, and its functions must not change.
  explicit NodesWritten(const Graph& graph) : graph_(graph) {}

  // A lower bound of the nodes that are written for a node of this op: those of the bodies of the
  // functions that it calls, and of all that these call. Nodes that call count too. A function that
  // two calls call counts twice; a loop's body and a function that calls itself count once. At most
  // kMost.
  int64_t Of(std::string_view op, const std::vector<Attr>& attrs);

  static constexpr int64_t kMost = int64_t{1} << 40;

 private:
  std::vector<const FunctionEntry*> CalledBy(std::string_view op,
                                             const std::vector<Attr>& attrs) const;
  int64_t Of(const FunctionEntry& function);

  const Graph& graph_;
  // Nodes by function; 0 while the function is being counted.
  absl::flat_hash_map<std::string_view, int64_t> counts_;
};

}  // namespace tenon
