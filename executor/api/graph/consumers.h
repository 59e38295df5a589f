// An index of the consumers of each output of a graph that grows.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon::api {

// ForEach adds the nodes that are new since its last call to the index. Not thread-safe.
class Consumers {
 public:
  // Calls `use(consumer, input)` for each use of output `o`, until `use` returns false: a function
  // `bool(NodeId consumer, int32_t input)`, which must not change the graph. `input` numbers the
  // data inputs of the consumer from 0, then its control inputs; with port kControlPort `o` stands
  // for the control edges from its node. Uses come in the order of the consumers' ids, those of one
  // consumer in the order of its inputs. `o` must be of a node of the graph. Each call must pass
  // the same graph, which may have more nodes than before. All inputs of the graph must be set:
  // none may be kNoNode.
  template <typename Use>
  void ForEach(const Graph& graph, Output o, Use use) {
    CatchUp(graph);
    for (int32_t i = first_[o.node]; i >= 0; i = uses_[i].next) {
      if (uses_[i].port == o.port && !use(uses_[i].node, uses_[i].input)) return;
    }
  }
  // Empties the index; the next ForEach builds it anew. To be called when a node was removed or its
  // inputs have changed.
  void Clear() { *this = Consumers(); }

 private:
  struct Use {
    NodeId node;
    int32_t input;
    int32_t port;  // of the producer
    int32_t next;  // use of the same producer; -1: none
  };
  void CatchUp(const Graph& graph);

  std::vector<int32_t> first_, last_;  // by producer: into uses_; -1: none
  std::vector<Use> uses_;
  NodeId next_node_ = 0;  // the first one whose inputs are not in uses_
};

}  // namespace tenon::api
