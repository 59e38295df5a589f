// The set of all prefixes of node names of a graph that grows: "a/b/c" has the prefixes "a" and
// "a/b".
#pragma once

#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// Adds each prefix of `name` to `prefixes`, as views of `name`. Takes for granted that a prefix in
// `prefixes` has its own prefixes there too.
void AddPrefixes(std::string_view name, absl::flat_hash_set<std::string_view>* prefixes);

// Not thread-safe.
class NamePrefixes {
 public:
  // Adds the prefixes of the nodes that are new since the last call. Each call must pass the same
  // graph, which must outlive this object.
  void CatchUp(const Graph& graph);
  bool Has(std::string_view prefix) const { return prefixes_.contains(prefix); }
  // Empties the set. To be called when nodes were removed, before the next CatchUp.
  void Clear() { *this = NamePrefixes(); }

 private:
  absl::flat_hash_set<std::string_view> prefixes_;  // views of names
  NodeId next_node_ = 0;
};

}  // namespace tenon::api
