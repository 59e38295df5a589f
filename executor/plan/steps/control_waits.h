// Waits between the compute streams of a device that edges ask for which carry no value there.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "executor/plan/steps/device_streams.h"
#include "graph/ir/graph.h"

namespace tenon {

// Knows the work on compute streams that comes before a node's readers by control edges, also
// through nodes without work there. For each node, Before and Computed if it has work on a stream;
// then EndNode. Not thread-safe.
class ControlWaits {
 public:
  // The references must outlive this object.
  ControlWaits(const Graph& nodes, DeviceStreams& streams) : nodes_(nodes), streams_(streams) {}

  // Adds to `waits` that `stream` waits for the work of the nodes from which n has a control edge,
  // as far as that is on other compute streams of the device. `alive`: the flag of n's step.
  void Before(NodeId n, const DeviceStream& stream, int32_t alive, std::vector<StreamWait>& waits);
  // Notes that n computes on this stream.
  void Computed(NodeId n, const DeviceStream& stream, int64_t ticket) {
    works_[n] = {{stream, ticket}};
  }
  // Hands on what comes before n by control edges, if n has no work itself. A node without a step
  // (`no_step`) also hands on what comes before it by values: no step of it waits for them.
  void EndNode(NodeId n, bool no_step);

 private:
  struct Work {
    DeviceStream stream;
    int64_t ticket;
  };
  using Works = absl::InlinedVector<Work, 1>;  // one for each stream

  const Graph& nodes_;
  DeviceStreams& streams_;
  absl::flat_hash_map<NodeId, Works> works_;
};

}  // namespace tenon
