#include "executor/plan/steps/step_builder.h"

#include <utility>

#include "graph/base/status_macros.h"

namespace tenon {

int32_t StepBuilder::AddValue(PlanValue value) {
  graph_.values.push_back(std::move(value));
  return static_cast<int32_t>(graph_.values.size()) - 1;
}

void StepBuilder::Share(int32_t to, int32_t from) {
  const PlanValue& source = value(from);
  PlanValue& v = value(to);
  if (source.shape != nullptr) return SetAlias(to, from, *source.shape);
  v.storage = source.storage;
  v.device = source.device;
  v.stream = source.stream;
  v.ticket = source.ticket;
  v.event = source.event;
}

void StepBuilder::SetAlias(int32_t to, int32_t from, Shape shape) {
  const PlanValue& source = value(from);
  PlanValue& v = value(to);
  v.storage = source.storage;
  v.shape = Known(std::move(shape));
  v.device = source.device;
  v.stream = source.stream;
  v.ticket = source.ticket;
  v.event = source.event;
  if (source.constant == nullptr) return;
  if (source.constant->dtype() == v.dtype && source.constant->shape() == *v.shape)
    return SetConstant(to, source.constant, source.graph_constant);
  // A tensor has its dtype and shape in itself: the alias needs a tensor of its own, which shares
  // the buffer.
  SetOwnConstant(to, Tensor(v.dtype, *v.shape, source.constant->buffer()), source.graph_constant);
}

void StepBuilder::SetConstant(int32_t id, const Tensor* tensor, bool graph_constant) {
  PlanValue& v = value(id);
  v.constant = tensor;
  v.graph_constant = graph_constant;
  v.shape = Known(tensor->shape());
}

void StepBuilder::SetOwnConstant(int32_t id, Tensor tensor, bool graph_constant) {
  graph_.resources.own_constants.push_back(std::make_unique<Tensor>(std::move(tensor)));
  SetConstant(id, graph_.resources.own_constants.back().get(), graph_constant);
}

int32_t StepBuilder::NewStorage(Where where, uint64_t bytes, int32_t index) {
  graph_.storages.push_back({where, index, bytes, 0, nullptr});
  return static_cast<int32_t>(graph_.storages.size()) - 1;
}

absl::StatusOr<int32_t> StepBuilder::NewPlace(const PlanValue& v) {
  if (v.shape == nullptr || !IsMemcpyable(v.dtype)) return NewSlot();
  TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(v.dtype, *v.shape));
  return NewStorage(Where::kArena, bytes);
}

absl::StatusOr<int32_t> StepBuilder::ReadStorage(int32_t id) {
  PlanValue& v = value(id);
  if (v.storage >= 0 || v.constant == nullptr) return v.storage;
  TENON_ASSIGN_OR_RETURN(Tensor readable, constants_.Aligned(*v.constant));
  v.storage = NewStorage(Where::kConst, readable.bytes());
  graph_.storages[v.storage].address = readable.data();
  graph_.resources.constants.push_back(std::move(readable));
  return v.storage;
}

StepInput StepBuilder::InputOf(int32_t id) const {
  const PlanValue& v = graph_.values[id];
  return {v.storage, v.dtype, v.shape == nullptr ? std::nullopt : std::optional(*v.shape)};
}

GraphStep& StepBuilder::AddStep(NodeId n, absl::Span<const int32_t> inputs,
                                absl::Span<const int32_t> outputs) {
  if (calls_.any()) [[unlikely]]
    AwaitCallsBefore(n, n == kNoNode ? 0 : graph_.node_alive[n], inputs, outputs);
  return Append(n, inputs, outputs);
}

GraphStep& StepBuilder::AddSlowStep(NodeId n, std::unique_ptr<SlowStep> step, int32_t alive,
                                    absl::Span<const int32_t> inputs,
                                    absl::Span<const int32_t> outputs) {
  if (calls_.any()) [[unlikely]]
    AwaitCallsBefore(n, alive, inputs, outputs);
  return AppendSlow(n, std::move(step), alive, inputs, outputs);
}

GraphStep& StepBuilder::Append(NodeId n, absl::Span<const int32_t> inputs,
                               absl::Span<const int32_t> outputs) {
  GraphStep& step = graph_.steps.emplace_back();
  step.node = n;
  step.loop = graph_.open_loop;
  step.first_arg = static_cast<uint32_t>(graph_.args.size());
  step.num_inputs = static_cast<uint32_t>(inputs.size());
  step.num_outputs = static_cast<uint32_t>(outputs.size());
  graph_.args.insert(graph_.args.end(), inputs.begin(), inputs.end());
  graph_.args.insert(graph_.args.end(), outputs.begin(), outputs.end());
  return step;
}

GraphStep& StepBuilder::AppendSlow(NodeId n, std::unique_ptr<SlowStep> step, int32_t alive,
                                   absl::Span<const int32_t> inputs,
                                   absl::Span<const int32_t> outputs) {
  step->guard = alive;
  GraphStep& s = Append(n, inputs, outputs);
  s.fn = RunSlowStep;
  s.guard = alive;
  s.state = step.get();
  graph_.resources.slow_steps.push_back(std::move(step));
  return s;
}

void StepBuilder::BeginNode(NodeId n) {
  steps_before_node_ = graph_.num_steps();
  calls_.SetNodes({&n, 1});
}

void StepBuilder::EndNode(NodeId n) {
  calls_.EndNode(n, graph_.num_steps() == steps_before_node_);
  calls_.SetNodes({});
}

void StepBuilder::BeginsCall(NodeId n, absl::Span<const int32_t> outputs,
                             absl::Span<const int32_t> effects) {
  calls_.Begin(n, outputs, effects);
  ++graph_.num_calls;
}

void StepBuilder::AwaitCallsBefore(NodeId n, int32_t alive, absl::Span<const int32_t> inputs,
                                   absl::Span<const int32_t> outputs) {
  for (const int32_t call : calls_.Before(inputs, outputs)) AwaitCall(n, call, alive);
}

void StepBuilder::AwaitCallsOfLoop() {
  // The next pass begins the calls of the loop again, under the same numbers.
  if (!calls_.any()) return;
  for (const int32_t call : calls_.OfLoop()) AwaitCall(kNoNode, call, FlagTree::kAlways);
}

// The wait counts as a reader of what the call fills: else a slot could be released, and given to
// another value, while the call still writes to it.
void StepBuilder::AwaitCall(NodeId n, int32_t call, int32_t alive) {
  AppendSlow(n, std::make_unique<AwaitStep>(call), alive, calls_.OutputsOf(call), {});
  calls_.Waited(call, alive);
}

absl::Status StepBuilder::FailLater(NodeId n, const absl::Status& status) {
  const int32_t alive = graph_.node_alive[n];
  // Only a node that runs in any case fails the plan. Another node fails when it is reached, as in
  // TensorFlow.
  if (alive == FlagTree::kAlways && !InLoop()) return status;
  std::vector<int32_t> outputs;
  for (int port = 0; port < nodes_.num_outputs(n); ++port) {
    PlanValue& v = value(graph_.first_value[n] + port);
    v.storage = NewSlot();
    outputs.push_back(v.storage);
  }
  AddSlowStep(n, std::make_unique<ErrorStep>(status), alive, {}, outputs);
  return absl::OkStatus();
}

}  // namespace tenon
