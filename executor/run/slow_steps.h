// Steps that do more than call a kernel's run function: kernels with shapes that are known late,
// branches, early release of tensors. The dispatch loop treats them like any step: RunSlowStep is
// their run function.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/frame.h"
#include "executor/run/preparation_cache.h"
#include "executor/run/prepared_kernel.h"
#include "executor/run/run_recorder.h"
#include "graph/ir/graph.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

struct Step;  // executor/run/plan.h

// One step object serves all frames: const functions are thread-safe. Other functions of a step are
// called only while planning. Errors do not name the node.
class SlowStep {
 public:
  virtual ~SlowStep() = default;
  // Runs the step in this frame. `args`: its arguments in the frame's pointer table.
  virtual absl::Status Run(Frame& frame, const StepArgs& args) const = 0;
  // A word or two for people (PlanToText).
  virtual std::string Describe() const = 0;
  // Whether the step works for its node alone. False for a copy, a wait and the like, on which
  // steps of other nodes may rely.
  virtual bool IsNode() const { return true; }
  // Whether the step does nothing but wait for a device.
  virtual bool Waits() const { return false; }
  // The stream on which the step queues its work; without a device if it queues none.
  virtual StreamOf Queues() const { return {}; }
  // A device on which the step may queue other work, whose end the plan cannot know; null: none.
  virtual Device* MayQueueOn() const { return nullptr; }

  int32_t guard = 0;  // RunSlowStep skips the step while this liveness flag is dead; 0: never
};

// Whether the step is a copy, a wait or the like, on which steps of several nodes may rely.
bool IsService(const Step& step);

// Runs a SlowStep. `state` is the SlowStep, args.run_state the Frame.
absl::Status RunSlowStep(const void* state, const StepArgs& args);

// A planned step that looks at its liveness flag (SlowStep::guard) first.
class GuardedStep : public SlowStep {
 public:
  // `state`, which `fn` gets, is not owned and must outlive the step.
  GuardedStep(RunFn fn, const void* state) : fn_(fn), state_(state) {}
  absl::Status Run(Frame&, const StepArgs& args) const override { return fn_(state_, args); }
  std::string Describe() const override { return "guarded"; }

 private:
  RunFn fn_;
  const void* state_;
};

// Returns an error when it runs. Stands for a node in a branch or a loop that cannot be prepared:
// as in TensorFlow, that is no error in runs that do not reach the node.
class ErrorStep : public SlowStep {
 public:
  explicit ErrorStep(absl::Status status) : status_(std::move(status)) {}
  absl::Status Run(Frame&, const StepArgs&) const override { return status_; }
  std::string Describe() const override { return "error"; }

 private:
  absl::Status status_;
};

// Runs a CPU kernel that makes its output tensors in the run. The kernel is prepared while
// planning; if shapes or values are not known then, it is prepared in the run, and the step keeps
// the preparations of its runs (PreparationCache).
//
// Errors are those of PrepareKernel and ComputeInto; INTERNAL if an output has another shape
// than promised.
class KernelStep : public SlowStep {
 public:
  // What `node` refers to must outlive the step.
  // `inputs`: by data input, where its tensor is. `constants`: by input, the value that the kernel
  // may look at while it is prepared; null: none before the run. Not owned, as `session` and
  // `counts`. `outputs`: by output, its slot; -1 if the plan gives the output the place of an
  // input. `promised`: by output, the shape that the plan relies on; nullopt: none.
  KernelStep(const CpuNode& node, std::vector<StepInput> inputs,
             std::vector<const Tensor*> constants, std::vector<int32_t> outputs,
             std::vector<std::optional<Shape>> promised, SessionState& session,
             LatePreparations& counts);
  // One of the two must be called, and only while planning. set_prepared: the kernel is prepared
  // already, and no run prepares it. set_number: runs prepare the kernel, and the step has this
  // number for Frame::last_preparation, in [0, Plan::num_late).
  void set_prepared(PreparedKernel kernel);
  void set_number(int32_t number) { number_ = number; }
  // Only while planning: the tensors lie in the memory of `device` (OtherDevices::kInPlace); null:
  // in host memory.
  void set_device(Device* device) { device_ = device; }
  // Only while planning: the step is the last reader of input i, a slot, and reads it once. The
  // kernel may then have the tensor itself, and the step leaves the slot empty if it succeeds.
  void MayTake(size_t i) { may_take_[i] = true; }

  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return fixed_ != nullptr ? "tensors" : "dynamic"; }
  Device* MayQueueOn() const override { return device_; }

 private:
  using Prepared = PreparationCache::Prepared;
  // The shapes and the deciding values of the inputs.
  PreparationKey KeyOf(const Frame& frame, const StepArgs& args) const;
  absl::StatusOr<Prepared> PrepareFor(const Frame& frame, const StepArgs& args) const;
  // Whether the inputs have the shapes for which `last` was prepared.
  bool IsFor(const Frame& frame, const LastPreparation& last) const;
  // The result lives until the next run of the step in this frame.
  absl::StatusOr<const PreparedKernel*> Find(Frame& frame, const StepArgs& args) const;
  // Runs a kernel that is plain straight into its slots.
  absl::Status RunPlain(Frame& frame, const PreparedKernel& kernel, const StepArgs& args) const;
  absl::Status RunOther(Frame& frame, const PreparedKernel& kernel, const StepArgs& args) const;
  // Makes the tensor of an output, in the memory of an input if the kernel and the plan allow it.
  absl::Status MakeOutput(Frame& frame, const PreparedKernel& kernel, size_t i) const;
  absl::Status CheckPromise(size_t i, const Shape& shape) const;

  const CpuNode node_;
  std::vector<StepInput> inputs_;
  std::vector<const Tensor*> constants_;
  std::vector<int32_t> outputs_;
  std::vector<std::optional<Shape>> promised_;
  SessionState& session_;
  LatePreparations& counts_;
  std::vector<bool> may_take_;
  std::vector<bool> decides_;  // by input: its value is part of the key
  bool values_decide_ = false;
  std::vector<StepInput> late_;  // the inputs whose shapes are not known before the run
  int32_t number_ = 0;
  Device* device_ = nullptr;
  Prepared fixed_;
  mutable PreparationCache cache_;
};

// Reads the value of a reference variable into a slot, for a node that takes the value and not the
// variable. Input 0 of the step is the variable's handle. The value comes to the memory of `device`
// (null: the host; not owned). A queue or a table that is held by reference has the strings of its
// handle as value. FAILED_PRECONDITION if the variable has no value yet; INVALID_ARGUMENT if the
// handle is of anything else; errors of Variable::Get.
class ReadVariableStep : public SlowStep {
 public:
  ReadVariableStep(int32_t slot, Device* device) : slot_(slot), device_(device) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "read variable"; }
  Device* MayQueueOn() const override { return device_; }

 private:
  int32_t slot_;
  Device* device_;
};

// Releases the tensors of slots that no later step reads, so that their memory is free during the
// rest of the run.
class ReleaseStep : public SlowStep {
 public:
  explicit ReleaseStep(std::vector<int32_t> slots) : slots_(std::move(slots)) {}
  absl::Status Run(Frame& frame, const StepArgs&) const override {
    for (int32_t slot : slots_) frame.ReleaseSlot(slot);
    return absl::OkStatus();
  }
  std::string Describe() const override { return "release"; }
  bool IsNode() const override { return false; }

 private:
  std::vector<int32_t> slots_;
};

}  // namespace tenon
