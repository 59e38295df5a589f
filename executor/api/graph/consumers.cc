#include "executor/api/graph/consumers.h"

namespace tenon::api {

// An input may be a node of a higher id, in a loop: all nodes have their places before.
void Consumers::CatchUp(const Graph& graph) {
  if (next_node_ == graph.num_node_ids()) return;
  first_.resize(graph.num_node_ids(), -1);
  last_.resize(graph.num_node_ids(), -1);
  for (; next_node_ < graph.num_node_ids(); ++next_node_) {
    int32_t input = 0;
    for (const Output& from : graph.inputs(next_node_)) {
      const auto use = static_cast<int32_t>(uses_.size());
      uses_.push_back({next_node_, input++, from.port, -1});
      (last_[from.node] < 0 ? first_[from.node] : uses_[last_[from.node]].next) = use;
      last_[from.node] = use;
    }
  }
}

}  // namespace tenon::api
