// Which steps must wait for which calls of asynchronous kernels. A call goes on while later steps
// run.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "executor/plan/base/step_graph.h"
#include "graph/ir/graph.h"

namespace tenon {

// Knows the open calls while steps are added. A call is open from its step until a step that waits
// for it and that runs whenever the call is made, in the same loop (Waited). A step must wait for
// each open call
// * that fills a storage which the step reads or writes;
// * that may change a resource which the step's node takes as an input;
// * that a node with a data or control edge to the step's node has left open (EndNode).
// Calls are numbered from 0 in the order in which they begin; StepGraph::num_calls counts them.
//
// The order of use, for each node: SetNodes, then Before for each step, Waited for each wait, and
// Begin behind the step that begins a call; at the end EndNode. Not thread-safe. Adds no steps.
class AsyncCalls {
 public:
  // `nodes`: the graph that is planned. Both graphs must outlive this object.
  AsyncCalls(const Graph& nodes, const StepGraph& graph) : nodes_(nodes), graph_(graph) {}

  // Whether a call is open.
  bool any() const { return num_open_ > 0; }

  // The last step that was added, of node n, begins the next call. The call fills the storages
  // `outputs` and may change what the storages `effects` hold handles of.
  void Begin(NodeId n, absl::Span<const int32_t> outputs, absl::Span<const int32_t> effects);
  // The storages that the call fills. Valid until the next Begin.
  absl::Span<const int32_t> OutputsOf(int32_t call) const { return calls_[call].outputs; }

  // The steps that are added next belong to these nodes.
  void SetNodes(absl::Span<const NodeId> nodes);
  // Notes the calls that node n leaves open, for the nodes that n has an edge to: the call that n
  // has begun, and those that fill its outputs. `no_step`: n has no step, so none of its steps has
  // waited, and n also leaves open the calls that SetNodes found for it.
  void EndNode(NodeId n, bool no_step);

  // The open calls that a step with these storages must wait for, in ascending order.
  std::vector<int32_t> Before(absl::Span<const int32_t> inputs,
                              absl::Span<const int32_t> outputs) const;
  // The open calls that steps of the innermost open loop begin, in ascending order: a pass must
  // wait for them at its end, since the next pass uses their numbers again. Without an open loop:
  // those of steps outside of all loops.
  std::vector<int32_t> OfLoop() const;
  // A step that was added waits for the call while flag `alive` lives. Closes the call if that step
  // runs whenever the call is made, that is, if the call's flag implies `alive` and both are in one
  // loop.
  void Waited(int32_t call, int32_t alive);

 private:
  using CallList = absl::InlinedVector<int32_t, 2>;
  struct Call {
    bool open = true;
    int32_t guard = 0;  // the call is made while this flag lives
    int32_t loop = -1;  // the innermost loop around it; -1: none
    std::vector<int32_t> outputs;
  };
  // The resource that a value is a handle of, if that is known while planning; else null.
  const Object* ResourceOf(const Output& value) const;
  // Adds to `calls` the open calls that `map` has for `key`, each once.
  template <typename Map, typename Key>
  void AddOpen(const Map& map, Key key, CallList& calls) const;

  const Graph& nodes_;
  const StepGraph& graph_;
  std::vector<Call> calls_;
  int32_t num_open_ = 0;
  CallList before_nodes_;  // the calls that the nodes of SetNodes wait for
  absl::flat_hash_map<int32_t, CallList> by_storage_;  // calls that fill it or have it as an effect
  absl::flat_hash_map<const Object*, CallList> by_resource_;  // calls that may change it
  // By node: the calls that must end before the node has ended, for a node behind it.
  absl::flat_hash_map<NodeId, CallList> of_node_;
};

}  // namespace tenon
