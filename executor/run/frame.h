// The mutable state of one run of a plan: the arena, the pointer table, and the values without a
// planned place. Used by one thread at a time; where tasks run at once, each thread has a lane.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/run/preparation_cache.h"
#include "graph/tensor/tensor.h"
#include "plugin/device/device.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

class ArenaPool;  // executor/run/arena_pool.h
class AsyncStep;
struct Plan;
class TaskState;   // executor/run/tasks.h
struct RunLimits;  // plugin/kernels/run_limits.h
class RunRecording;
class StepWatch;  // executor/run/step_watch.h

// The surroundings of a run. Pointers are not owned.
struct RunContext {
  Workers* workers = nullptr;
  ArenaPool* arenas = nullptr;  // needed by a plan whose arena exceeds ArenaPool::kOwnBytes
  // Of each wait for one event or callback of a device. 0 or less: what is not done after a few
  // looks is an error. Synchronize and SynchronizeAtEnd have no limit.
  double device_timeout_s = 60;
  int64_t step_id = 0;
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();  // of all loops together
  RunRecording* recording = nullptr;                              // null: the run is not recorded
  const RunLimits* limits = nullptr;                              // null: the defaults
  StepWatch* watch = nullptr;                                     // null: nobody sees the steps
  // Must be true if `recording` or `watch` is not null or `limits` has a deadline: RunSteps then
  // records each step, shows it to the watch and checks the limits after it.
  bool is_watched = false;
};

// An input of a step that works on tensors instead of raw memory.
struct StepInput {
  // Of Plan::storages; -1: none. Of Frame's functions only ShapeOf, which then needs `shape`, and
  // ReleaseView take an input without a storage.
  int32_t storage = -1;
  DataType dtype = DataType::kInvalid;
  std::optional<Shape> shape;  // nullopt: the storage is a slot, and the shape is its tensor's
};

// A frame is what a thread knows of a run, and owns the run's values; or it is a lane: what another
// thread knows, which shares the values of the frame that it was made of. Threads may use a frame
// and its lanes at once if no step of one touches what a step of another touches at that time.
class Frame : public RunState {
 public:
  // Allocates a frame for any number of runs of `plan`, one after the other. The plan must outlive
  // the frame. RESOURCE_EXHAUSTED without memory for an arena that the frame keeps; names the node
  // with the largest part.
  static absl::StatusOr<std::unique_ptr<Frame>> Create(const Plan& plan);
  ~Frame() override;

  // A lane, of use between Join and the end of the run. It has no asynchronous calls: BeginCall and
  // EndCall must not be called. `frame` must outlive it.
  static std::unique_ptr<Frame> Lane(Frame& frame, int number);
  // Makes the lane part of the run that its frame has begun.
  void Join(const Frame& frame);

  // Starts a run. `feeds` must fit plan.feeds; the frame shares them until End. Copies feeds that
  // are not aligned to their elements, and allocates the buffers of fetches, which the caller of
  // the run will own. Borrows a large arena from context.arenas until End. RESOURCE_EXHAUSTED
  // without memory. To be followed by End, after an error too.
  absl::Status Begin(absl::Span<const Tensor> feeds, const RunContext& context);
  // Blocks until all devices of the plan have done all of their queued work, that of other runs
  // included. Waits for each of them; returns the first error.
  absl::Status Synchronize();
  // Synchronize at the end of a run with this `status`. Leaves out a device if other runs use it
  // too and it is known to have done all work of this run: so no run waits for the work of others.
  // Leaves out none if `status` is an error, if the run is recorded, or after NoteEmptyCopy.
  absl::Status SynchronizeAtEnd(const absl::Status& status);
  // Notes that the run had a copy of no bytes. Such a copy has no event, so no wait for the copy
  // tells of the work before it: SynchronizeAtEnd then waits for all devices.
  void NoteEmptyCopy() { values_->has_empty_copy.store(true, std::memory_order_relaxed); }
  // Notes an error of a step, of a call or of a device, also one that the run does not return.
  // After one of a device that did not end its work in time, and so may still use the memory of the
  // run, End gives up that memory for ever.
  void NoteError(const absl::Status& status);
  // Ends a run: releases its events, slots, feeds, fetch buffers and a borrowed arena. Before, all
  // calls must have ended (EndCalls), and no device may still use the run's memory (Synchronize),
  // NoteError aside.
  void End();

  const Plan& plan() const { return plan_; }
  // The pointer table: one entry for each of plan().args. An entry is null if no step uses the
  // argument, or if its place has held no memory in this frame yet: a slot before its first tensor;
  // a feed, a fetch or a borrowed arena before the first Begin. It may be null for a value of no
  // bytes.
  void* const* table() const { return table_; }
  // The arena, aligned to kTensorAlignment. A frame has one from Begin to End at least.
  char* arena() const { return arena_base_; }
  const RunContext& context() const { return context_; }
  // The number of the lane; 0 for a frame.
  int number() const { return number_; }

  // Liveness flags of control flow. Flag 0 always lives. The others keep their values from run to
  // run: a step sets or clears a flag before another step reads it, and a flag that no step sets is
  // dead.
  bool alive(int32_t i) const { return alive_[i] != 0; }
  void set_alive(int32_t i, bool value) { alive_[i] = value ? 1 : 0; }
  void clear_alive(int32_t first, int32_t count) {
    for (int32_t i = first; i < first + count; ++i) alive_[i] = 0;
  }
  // What tasks need to run at once; null if the plan has none, and in a lane.
  TaskState* tasks() const { return tasks_.get(); }

  // The innermost loop that runs and its pass, in TensorFlow's terms: {0, 0} outside of loops.
  struct Pass {
    uint64_t frame_id = 0;
    int64_t iter_id = 0;
  };
  const Pass& pass() const { return pass_; }
  void set_pass(Pass pass) { pass_ = pass; }
  // Counts one more pass. False if the run has used up RunContext::max_loop_passes.
  bool TakePass();
  // The error of a run that is to end before it is done (RunLimits::Check), else OK.
  absl::Status CheckLimits() const;

  // The node of the step that runs, for errors; kNoNode if the step has none. After an error, the
  // node of the step that failed; if a loop fails between two passes, that of its LoopStep.
  int32_t node() const { return node_; }
  void set_node(int32_t node) { node_ = node; }
  // The name of node() of a Frame, for WorkScope; empty for kNoNode.
  static std::string_view NameOfNode(const void* frame);
  // The step that failed, as an index into plan().steps. If a step within a branch or a loop has
  // failed: after RunSteps of the graph's steps, the step that runs the branch or loop.
  uint32_t failed_step() const { return failed_step_; }
  void set_failed_step(uint32_t step) { failed_step_ = step; }

  const Tensor& slot(int32_t i) const { return slots_[i]; }
  // Stores a value in slot i and updates every entry of the pointer table that refers to the slot.
  void SetSlot(int32_t i, Tensor value);
  // Drops the slot's tensor. The pointer table keeps the old address: no step may read the slot
  // before it is filled again.
  void ReleaseSlot(int32_t i) { slots_[i].Clear(); }
  // The slot for a step that writes the tensor in place. The step must call SlotFilled afterwards.
  Tensor* SlotToFill(int32_t i) { return &slots_[i]; }
  void SlotFilled(int32_t i);
  // Both are for the last reader of the input. ReleaseView releases the slot of the input, and does
  // nothing if the input is no slot. TakeSlot needs a slot, empties it and returns its tensor.
  void ReleaseView(const StepInput& input);
  Tensor TakeSlot(const StepInput& input);
  // The tensor in the slot of an input that has one.
  const Tensor& SlotOf(const StepInput& input) const;
  const Tensor& feed(int32_t i) const { return feeds_[i]; }
  const Tensor& fetch_buffer(int32_t i) const { return fetch_buffers_[i]; }

  // The shape of an input, and the input as a tensor. View may return a view of planned memory,
  // which must not outlive the step. Keep returns a tensor that may outlive the step: it shares a
  // slot or a feed and copies everything else; RESOURCE_EXHAUSTED without memory for the copy.
  const Shape& ShapeOf(const StepInput& input) const;
  Tensor View(const StepInput& input) const;
  absl::StatusOr<Tensor> Keep(const StepInput& input) const;

  // The event that marks the end of a copy. Its handle is null but from the start of the copy to
  // the step that waits for it. If none does: to the next pass in which the copy starts, or to End.
  struct Event {
    Device* device = nullptr;
    EventHandle handle = nullptr;
  };
  Event& event(int32_t i) { return events_[i]; }

  // What the step with this number (Plan::num_late) was prepared for when it last ran in this
  // frame. CountReuse counts that a step has used it again; End adds the count to Plan::late.
  LastPreparation& last_preparation(int32_t number) { return last_preparations_[number]; }
  void CountReuse() { ++reused_; }
  // The count since it was taken last.
  int64_t TakeReused() { return std::exchange(reused_, 0); }

  // Registers a call of an asynchronous kernel under its number in the plan, as a call of node(). A
  // call must end before the next call with its number begins, and before the run ends.
  void BeginCall(int32_t number, const AsyncStep* step, ContextPtr call);
  // Waits for the call if it is under way, and fills its outputs. After an error, node() is the
  // node of the call. Errors are those of AsyncStep::End.
  absl::Status EndCall(int32_t number);
  // Waits for all calls. `status` is the status of the steps so far; if it is an error, node() is
  // its node. Of `status` and the errors of calls, returns the error of the node that stands first
  // in the graph's order, and sets node() to that node. An error of a step without a node goes
  // first if the plan has places (Plan::places), else last.
  absl::Status EndCalls(absl::Status status);

  // The arguments of a plug-in's kernel. All steps use the same object, since a frame runs one step
  // at a time: its vectors need no new memory for each call.
  struct PluginCall {
    std::vector<Tensor> made;  // inputs that exist nowhere in the form that the kernel needs
    std::vector<ComputeArgs::Input> inputs;
    std::vector<Tensor*> outputs;
    ComputeArgs args;
    ContextPtr context;
  };
  PluginCall& plugin_call() { return plugin_call_; }

  // RunState, for kernels on planned memory: these kernels must not call it. AllocateOutput and
  // TakeInput return INTERNAL, SetOutput does nothing, Input returns an uninitialized tensor.
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
  // What a run has once. Nothing in it moves in memory while the frame lives.
  struct Values {
    std::vector<void*> table;
    std::vector<uint8_t> alive;
    std::vector<Tensor> slots;
    std::vector<Tensor> feeds;
    std::vector<Tensor> fetch_buffers;
    std::vector<Event> events;
    std::vector<LastPreparation> last_preparations;
    std::atomic<int64_t> passes{0};  // of all loops
    std::atomic<bool> has_empty_copy{false};
    std::atomic<bool> may_be_in_use{false};  // by a device, after the run
  };
  Frame(const Plan& plan, std::shared_ptr<Values> values);
  int64_t PlaceOf(int32_t call, int32_t node) const;
  bool borrows_arena() const;
  // Makes `arena`, which may be null, the frame's arena. RESOURCE_EXHAUSTED if it is null.
  void Abandon();
  absl::Status SetArena(BufferRef arena);
  void Patch(absl::Span<const uint32_t> args, void* data);

  const Plan& plan_;
  const std::shared_ptr<Values> values_;
  // Into *values_, for steps.
  void** const table_;
  uint8_t* const alive_;
  Tensor* const slots_;
  Tensor* const feeds_;
  Tensor* const fetch_buffers_;
  Event* const events_;
  LastPreparation* const last_preparations_;
  RunContext context_;
  int number_ = 0;
  int32_t node_ = -1;
  Pass pass_;
  int64_t passes_ = 0;          // of all loops, if there are no tasks
  BufferRef arena_;             // null between runs, if the frame borrows one for each run; of a
                                // lane always null
  char* arena_base_ = nullptr;  // the address that the table has for it
  std::vector<void*> feed_pointers_;  // by feed: the address that the table has for it
  PluginCall plugin_call_;
  std::vector<Call> calls_;
  int64_t reused_ = 0;
  int32_t failed_call_ = -1;  // the call that failed last; -1: none
  uint32_t failed_step_ = 0;
  std::unique_ptr<TaskState> tasks_;
};

}  // namespace tenon
