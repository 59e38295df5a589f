// Adds values, storages and steps to a StepGraph. A step gets the steps before it that wait for
// asynchronous calls.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/base/const_store.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/steps/async_calls.h"

namespace tenon {

// All classes that add to one graph share one builder. Ids are indices of StepGraph::values. A
// reference to a value is valid until a value is added, a reference to a step until a step is
// added. Not thread-safe. Errors do not name the node.
class StepBuilder {
 public:
  // `nodes`: the graph that is planned. All three must outlive the builder.
  StepBuilder(const Graph& nodes, ConstStore& constants, StepGraph& graph)
      : nodes_(nodes), constants_(constants), graph_(graph), calls_(nodes, graph) {}

  StepGraph& graph() { return graph_; }
  PlanValue& value(int32_t id) { return graph_.values[id]; }
  // Whether a loop is open: a step that is added now may run more than once, or never.
  bool InLoop() const { return graph_.open_loop >= 0; }

  // The graph's own shape that equals this one. Valid as long as the graph, and equal shapes give
  // equal pointers.
  const Shape* Known(Shape shape) { return &*graph_.shapes.insert(std::move(shape)).first; }
  // Returns the id of the new value.
  int32_t AddValue(PlanValue value);
  // Gives value `to` the storage, device, stream, ticket and event of `from`, and the shape and
  // constant of `from` if these are known. The dtype, flag and output of `to` stay.
  void Share(int32_t to, int32_t from);
  // The same with another shape; the dtype of `to` may be another one of the same size. The shapes
  // must have as many elements.
  void SetAlias(int32_t to, int32_t from, Shape shape);
  // Makes `tensor` the constant of value `id`, and its shape the value's; the value's storage
  // stays. Not owned: `tensor` must live as long as the plan.
  void SetConstant(int32_t id, const Tensor* tensor, bool graph_constant);
  // The same with a tensor that the plan owns.
  void SetOwnConstant(int32_t id, Tensor tensor, bool graph_constant);

  // These return a new storage. `index`: of the feed, fetch or slot.
  int32_t NewStorage(Where where, uint64_t bytes, int32_t index = 0);
  int32_t NewSlot() { return NewStorage(Where::kSlot, 0, graph_.num_slots++); }
  // The place for a value that a step makes in host memory: the arena if the value's size is known
  // and its elements are plain bytes, else a slot. RESOURCE_EXHAUSTED for a size that overflows.
  absl::StatusOr<int32_t> NewPlace(const PlanValue& v);
  // The slot that a storage of kind Where::kSlot is.
  int32_t SlotOf(int32_t storage) const { return graph_.storages[storage].index; }
  // The storage of value `id`, for a step that reads it; -1 if it has none. A constant without a
  // storage gets one now in host memory, where kernels can read it: RESOURCE_EXHAUSTED without
  // memory for that. Not for a constant in a device's memory: that has no storage (InSlot of
  // DeviceCopies gives it one).
  absl::StatusOr<int32_t> ReadStorage(int32_t id);
  // The value as the input of a step that works on tensors.
  StepInput InputOf(int32_t id) const;

  // Add a step behind all others, and before it the steps that wait for the asynchronous calls
  // which it needs. `inputs` and `outputs` are storages; -1: the step does not use the argument.
  // `n` may be kNoNode. AddStep leaves function, state and guard to the caller; node_alive[n] must
  // be set. AddSlowStep sets function, state and guard: the graph owns `step`, which is skipped
  // while flag `alive` is dead.
  GraphStep& AddStep(NodeId n, absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);
  GraphStep& AddSlowStep(NodeId n, std::unique_ptr<SlowStep> step, int32_t alive,
                         absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);
  // For node n, which the error `status` keeps from being planned. Returns `status` if the node
  // always runs. In a branch or a loop the node may never be reached: adds a step that fails with
  // `status`, gives the outputs slots, and returns OK. node_alive[n] must be set.
  absl::Status FailLater(NodeId n, const absl::Status& status);

  // Bracket everything that is added for node n, so that the node's edges are known to AsyncCalls.
  void BeginNode(NodeId n);
  void EndNode(NodeId n);
  // Until the next BeginNode, EndNode or BeginNodes, steps are added for all of these nodes.
  void BeginNodes(absl::Span<const NodeId> nodes) { calls_.SetNodes(nodes); }
  // The last step that was added, of node n, begins an asynchronous call (AsyncCalls::Begin).
  void BeginsCall(NodeId n, absl::Span<const int32_t> outputs, absl::Span<const int32_t> effects);
  // Adds waits for the open calls that steps of the innermost open loop begin; those of loops
  // within it have ended. To be called before the loop is closed: a pass ends when its calls have
  // ended.
  void AwaitCallsOfLoop();

 private:
  void AwaitCallsBefore(NodeId n, int32_t alive, absl::Span<const int32_t> inputs,
                        absl::Span<const int32_t> outputs);
  void AwaitCall(NodeId n, int32_t call, int32_t alive);
  GraphStep& Append(NodeId n, absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);
  GraphStep& AppendSlow(NodeId n, std::unique_ptr<SlowStep> step, int32_t alive,
                        absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);

  const Graph& nodes_;
  ConstStore& constants_;
  StepGraph& graph_;
  AsyncCalls calls_;
  int32_t steps_before_node_ = 0;  // the number of steps at the last BeginNode
};

}  // namespace tenon
