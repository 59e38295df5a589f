// The state of one run of a plan: memory, pointer table, values whose place is not planned. Used by
// one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/tensor.h"
#include "plugin/device/device.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

class AsyncStep;
struct Plan;
class RunRecording;

// What every run of a session has in common.
struct RunContext {
  Workers* workers = nullptr;
  double device_timeout_s = 60;
  int64_t step_id = 0;
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();  // of all loops together
  RunRecording* recording = nullptr;  // null: nobody asks when steps run
};

// An input as a step sees it that works on tensors.
struct StepInput {
  int32_t storage = -1;
  DataType dtype = DataType::kInvalid;
  std::optional<Shape> shape;  // unknown: that of the slot's tensor
};

class Frame : public RunState {
 public:
  // RESOURCE_EXHAUSTED without memory for the arena; names the node that needs most of it.
  static absl::StatusOr<std::unique_ptr<Frame>> Create(const Plan& plan);

  // Start and end of a run. Begin copies feeds that kernels cannot read and makes the fetches'
  // buffers.
  absl::Status Begin(absl::Span<const Tensor> feeds, const RunContext& context);
  // Waits for all devices that the plan uses; then releases what the run held.
  absl::Status Synchronize();
  void End();

  const Plan& plan() const { return plan_; }
  void* const* table() const { return table_.data(); }
  char* arena() const { return static_cast<char*>(arena_->data()); }
  const RunContext& context() const { return context_; }

  // Liveness flags of control flow.
  bool alive(int32_t i) const { return alive_[i] != 0; }
  void set_alive(int32_t i, bool value) { alive_[i] = value ? 1 : 0; }
  void clear_alive(int32_t first, int32_t count) {
    for (int32_t i = first; i < first + count; ++i) alive_[i] = 0;
  }

  // Which pass of which loop runs, as TensorFlow counts them: {0, 0} outside of loops.
  struct Pass {
    uint64_t frame_id = 0;
    int64_t iter_id = 0;
  };
  const Pass& pass() const { return pass_; }
  void set_pass(Pass pass) { pass_ = pass; }
  // Counts a pass; whether the run may make it.
  bool TakePass() { return ++passes_ <= context_.max_loop_passes; }

  // The node of the step that runs, for errors.
  int32_t node() const { return node_; }
  void set_node(int32_t node) { node_ = node; }
  // The step that failed.
  uint32_t failed_step() const { return failed_step_; }
  void set_failed_step(uint32_t step) { failed_step_ = step; }

  const Tensor& slot(int32_t i) const { return slots_[i]; }
  void SetSlot(int32_t i, Tensor value);  // and every entry of the table that reads it
  void ReleaseSlot(int32_t i) { slots_[i].Clear(); }
  // For a step that makes the value in its place, and says so when it is done.
  Tensor* SlotToFill(int32_t i) { return &slots_[i]; }
  void SlotFilled(int32_t i);
  void ReleaseView(const StepInput& input);  // of a slot, by its last reader
  Tensor TakeSlot(const StepInput& input);   // by its last reader
  const Tensor& feed(int32_t i) const { return feeds_[i]; }
  const Tensor& fetch_buffer(int32_t i) const { return fetch_buffers_[i]; }

  // An input's shape, and the input as a tensor. Tensors of planned memory are views that must not
  // outlive the step: `keep` copies those.
  const Shape& ShapeOf(const StepInput& input) const;
  Tensor View(const StepInput& input) const;
  absl::StatusOr<Tensor> Keep(const StepInput& input) const;

  // Events between the start of a copy and the step that waits for it.
  struct Event {
    Device* device = nullptr;
    EventHandle handle = nullptr;
  };
  Event& event(int32_t i) { return events_[i]; }

  // Calls of asynchronous kernels, by their numbers in the plan. Each is waited for before it
  // begins again, and before the run ends.
  void BeginCall(int32_t number, const AsyncStep* step, ContextPtr call);
  // Waits for the call if it is under way. An error is that of its node.
  absl::Status EndCall(int32_t number);
  // Waits for all calls. `status` is that of the steps so far. What failed first in the order of
  // the graph is what comes out, and what node() is.
  absl::Status EndCalls(absl::Status status);

  // What the step of a plug-in's kernel hands over: one for all, since no two run at once.
  struct PluginCall {
    std::vector<Tensor> made;  // inputs that do not lie anywhere as the kernel wants them
    std::vector<ComputeArgs::Input> inputs;
    std::vector<Tensor*> outputs;
    ComputeArgs args;
    ContextPtr context;
  };
  PluginCall& plugin_call() { return plugin_call_; }

  absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) override;
  void SetOutput(int, Tensor) override {}
  Tensor Input(int) override { return Tensor(); }
  absl::StatusOr<Tensor> TakeInput(int i) override;

 private:
  struct Call {
    const AsyncStep* step = nullptr;  // null: none is under way
    ContextPtr context;
    int32_t node = -1;
  };
  explicit Frame(const Plan& plan) : plan_(plan) {}
  int64_t PlaceOf(int32_t call, int32_t node) const;
  void Patch(absl::Span<const uint32_t> args, void* data);

  const Plan& plan_;
  RunContext context_;
  int32_t node_ = -1;
  Pass pass_;
  int64_t passes_ = 0;  // of all loops
  BufferRef arena_;
  std::vector<void*> table_;
  std::vector<uint8_t> alive_;
  std::vector<Tensor> slots_;
  std::vector<Tensor> feeds_;
  std::vector<void*> feed_pointers_;  // those that the table has now
  std::vector<Tensor> fetch_buffers_;
  std::vector<Event> events_;
  PluginCall plugin_call_;
  std::vector<Call> calls_;
  int32_t failed_call_ = -1;  // whose error ended the steps
  uint32_t failed_step_ = 0;
};

}  // namespace tenon
