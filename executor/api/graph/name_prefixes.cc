#include "executor/api/graph/name_prefixes.h"

namespace tenon::api {

// The longest first: where one is there, so are the shorter ones.
void AddPrefixes(std::string_view name, absl::flat_hash_set<std::string_view>* prefixes) {
  for (size_t end = name.rfind('/'); end != name.npos && end > 0; end = name.rfind('/', end - 1)) {
    if (!prefixes->insert(name.substr(0, end)).second) return;
  }
}

void NamePrefixes::CatchUp(const Graph& graph) {
  for (; next_node_ < graph.num_node_ids(); ++next_node_)
    AddPrefixes(graph.name(next_node_), &prefixes_);
}

}  // namespace tenon::api
