// Adds values, storages and steps to a StepGraph.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/base/const_store.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/steps/async_calls.h"

namespace tenon {

// One for all who add to a graph. Ids are those of StepGraph::values; a value's reference is void
// when another value is added.
class StepBuilder {
 public:
  // `nodes`: the graph that is planned.
  StepBuilder(const Graph& nodes, ConstStore& constants, StepGraph& graph)
      : nodes_(nodes), constants_(constants), graph_(graph), calls_(nodes, graph) {}

  StepGraph& graph() { return graph_; }
  PlanValue& value(int32_t id) { return graph_.values[id]; }
  // Whether what is added now may run more than once.
  bool InLoop() const { return graph_.open_loop >= 0; }

  // The one shape of the graph that equals this one.
  const Shape* Known(Shape shape) { return &*graph_.shapes.insert(std::move(shape)).first; }
  int32_t AddValue(PlanValue value);
  // `to` becomes the value `from`, whatever is known of it.
  void Share(int32_t to, int32_t from);
  // `to` becomes the elements of `from` under another shape, or type of the same size.
  void SetAlias(int32_t to, int32_t from, Shape shape);
  // `tensor` lives as long as the plan.
  void SetConstant(int32_t id, const Tensor* tensor, bool graph_constant);
  // The same with a tensor that goes with the plan.
  void SetOwnConstant(int32_t id, Tensor tensor, bool graph_constant);

  int32_t NewStorage(Where where, uint64_t bytes, int32_t index = 0);
  int32_t NewSlot() { return NewStorage(Where::kSlot, 0, graph_.num_slots++); }
  // For a value in host memory that a step makes: planned memory where its size is known, else a
  // slot.
  absl::StatusOr<int32_t> NewPlace(const PlanValue& v);
  int32_t SlotOf(int32_t storage) const { return graph_.storages[storage].index; }
  // Of a value on the host that a step reads: a constant is put where kernels can read it. -1: it
  // has none.
  absl::StatusOr<int32_t> ReadStorage(int32_t id);
  StepInput InputOf(int32_t id) const;

  // `inputs` and `outputs` are storages. The references are void when another step is added. Steps
  // that wait for asynchronous calls come before those that have to.
  GraphStep& AddStep(NodeId n, absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);
  GraphStep& AddSlowStep(NodeId n, std::unique_ptr<SlowStep> step, int32_t alive,
                         absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);
  // What may not be run at all, in a branch or a loop, has an error only when it is reached: then
  // OK, and its step fails.
  absl::Status FailLater(NodeId n, const absl::Status& status);

  // Around all that is added for a node.
  void BeginNode(NodeId n);
  void EndNode(NodeId n);
  // What is added next is for all of these nodes.
  void BeginNodes(absl::Span<const NodeId> nodes) { calls_.SetNodes(nodes); }
  // The last step, of node n, begins an asynchronous call (AsyncCalls::Begin).
  void BeginsCall(NodeId n, absl::Span<const int32_t> outputs, absl::Span<const int32_t> effects);
  // Before the open loop is closed: a pass ends when its calls have ended.
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
  int32_t steps_before_node_ = 0;
};

}  // namespace tenon
