// The prefixes of the names of a graph that grows: "a" and "a/b" of "a/b/c".
#pragma once

#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// Adds each prefix of `name` to `prefixes`, as views of `name`.
void AddPrefixes(std::string_view name, absl::flat_hash_set<std::string_view>* prefixes);

// Not thread-safe.
class NamePrefixes {
 public:
  // Adds the names that came to the graph since the last call. The graph must be the same.
  void CatchUp(const Graph& graph);
  bool Has(std::string_view prefix) const { return prefixes_.contains(prefix); }
  // Forgets all: nodes have gone.
  void Clear() { *this = NamePrefixes(); }

 private:
  absl::flat_hash_set<std::string_view> prefixes_;  // views of names
  NodeId next_node_ = 0;
};

}  // namespace tenon::api
