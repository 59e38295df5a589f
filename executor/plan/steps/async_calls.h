// Calls of asynchronous kernels that go on while other steps run, and the steps that must wait for
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "executor/plan/base/step_graph.h"
#include "graph/ir/graph.h"

namespace tenon {

// A call is open until a step waits for it that runs whenever the call was made. A step waits for
// the open calls that fill what it reads, that may change a resource which it uses, and that come
// before its node by control edges. Calls have the numbers of StepGraph::num_calls.
class AsyncCalls {
 public:
  // `nodes`: the graph that is planned.
  AsyncCalls(const Graph& nodes, const StepGraph& graph) : nodes_(nodes), graph_(graph) {}

  bool any() const { return num_open_ > 0; }

  // The last step of node n begins a call: it fills `outputs` and may change `effects`, all of them
  // storages.
  void Begin(NodeId n, absl::Span<const int32_t> outputs, absl::Span<const int32_t> effects);
  absl::Span<const int32_t> OutputsOf(int32_t call) const { return calls_[call].outputs; }

  // The steps that are added next are those of these nodes.
  void SetNodes(absl::Span<const NodeId> nodes);
  // What node n leaves open for those that come after it. `no_step`: it has no step that waited.
  void EndNode(NodeId n, bool no_step);

  // The calls that a step with these arguments waits for, in order; those of the open loop, at the
  // end of each pass.
  std::vector<int32_t> Before(absl::Span<const int32_t> inputs,
                              absl::Span<const int32_t> outputs) const;
  std::vector<int32_t> OfLoop() const;
  // A step that runs while flag `alive` lives waits for the call.
  void Waited(int32_t call, int32_t alive);

 private:
  using CallList = absl::InlinedVector<int32_t, 2>;
  struct Call {
    bool open = true;
    int32_t guard = 0;  // it is made while this flag lives
    int32_t loop = -1;
    std::vector<int32_t> outputs;
  };
  // The resource that a value is a handle of, if that is known while planning; else null.
  const Object* ResourceOf(const Output& value) const;
  template <typename Map, typename Key>
  void AddOpen(const Map& map, Key key, CallList& calls) const;

  const Graph& nodes_;
  const StepGraph& graph_;
  std::vector<Call> calls_;
  int32_t num_open_ = 0;
  CallList before_nodes_;                              // that the nodes of the next steps wait for
  absl::flat_hash_map<int32_t, CallList> by_storage_;  // that fill it or may change it
  absl::flat_hash_map<const Object*, CallList> by_resource_;  // that may change it
  absl::flat_hash_map<NodeId, CallList> of_node_;             // without which a node has not ended
};

}  // namespace tenon
