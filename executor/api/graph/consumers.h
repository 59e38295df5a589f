// The uses of each output of a graph that grows.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon::api {

// Built when it is first asked for, and extended by the nodes that have come since. Uses of a node
// come in the order of the consumers' ids and, for one consumer, of its inputs. Not thread-safe.
class Consumers {
 public:
  // Calls `use(consumer, input)` for each use of `o`, as long as it returns true. Input counts the
  // data inputs, then the control inputs, of the consumer. `graph` must be the same in each call,
  // and may have more nodes.
  template <typename Use>
  void ForEach(const Graph& graph, Output o, Use use) {
    CatchUp(graph);
    for (int32_t i = first_[o.node]; i >= 0; i = uses_[i].next) {
      if (uses_[i].port == o.port && !use(uses_[i].node, uses_[i].input)) return;
    }
  }
  // Forgets all: the inputs of a node have changed.
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
