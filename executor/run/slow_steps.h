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
#include "executor/run/prepared_kernel.h"
#include "executor/run/run_recorder.h"
#include "graph/ir/graph.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

class SlowStep {
 public:
  virtual ~SlowStep() = default;
  // Thread-safe: one step object serves all frames.
  virtual absl::Status Run(Frame& frame, const StepArgs& args) const = 0;
  virtual std::string Describe() const = 0;     // for PlanText
  virtual bool IsNode() const { return true; }  // it computes its node; false: a copy, a wait, …
  virtual StreamOf Queues() const { return {}; }  // the stream of its work; no device: none

  int32_t guard = 0;  // liveness flag; a dead step is skipped. 0: always alive
};

// `state` is a SlowStep, args.run_state the Frame.
absl::Status RunSlowStep(const void* state, const StepArgs& args);

// A planned step inside a conditional branch.
class GuardedStep : public SlowStep {
 public:
  GuardedStep(RunFn fn, const void* state) : fn_(fn), state_(state) {}
  absl::Status Run(Frame&, const StepArgs& args) const override { return fn_(state_, args); }
  std::string Describe() const override { return "guarded"; }

 private:
  RunFn fn_;
  const void* state_;
};

// Returns an error when it runs. Stands for a node in a branch that cannot be prepared: that is no
// error while the branch is not taken.
class ErrorStep : public SlowStep {
 public:
  explicit ErrorStep(absl::Status status) : status_(std::move(status)) {}
  absl::Status Run(Frame&, const StepArgs&) const override { return status_; }
  std::string Describe() const override { return "error"; }

 private:
  absl::Status status_;
};

// The number of kernel preparations that runs made, and that they reused from earlier runs.
struct LatePreparations {
  std::atomic<int64_t> made{0}, reused{0};
};

// Runs a CPU kernel that makes its output tensors in the run. The kernel is prepared while
// planning; if shapes or values are not known then, it is prepared in the run. The step keeps the
// kMaxPrepared preparations that were used last, by the shapes and the values of the inputs.
class KernelStep : public SlowStep {
 public:
  struct Node {
    std::string_view name;
    const OpDef* op;
    const AttrSet* attrs;
    const NodeTypes* types;
    const CpuKernelSpec* spec;
  };
  KernelStep(Node node, std::vector<StepInput> inputs, std::vector<const Tensor*> constants,
             std::vector<int32_t> outputs, std::vector<std::optional<Shape>> promised,
             SessionState& session, LatePreparations& counts)
      : node_(node),
        inputs_(std::move(inputs)),
        constants_(std::move(constants)),
        outputs_(std::move(outputs)),
        promised_(std::move(promised)),
        session_(session),
        counts_(counts),
        may_take_(inputs_.size(), false) {}
  void set_prepared(PreparedKernel kernel) {
    fixed_ = std::make_shared<const PreparedKernel>(std::move(kernel));
  }

  // Only while planning. The tensors lie in this device's memory (OtherDevices::kInPlace).
  void set_device(Device* device) { device_ = device; }
  // Only while planning. The step is the last reader of input i and reads it once.
  void MayTake(size_t i) { may_take_[i] = true; }

  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return fixed_ != nullptr ? "tensors" : "dynamic"; }

  static constexpr size_t kMaxPrepared = 32;

 private:
  using Prepared = std::shared_ptr<const PreparedKernel>;
  bool IsValueInput(int i) const;
  std::string Signature(const Frame& frame, const StepArgs& args) const;
  absl::StatusOr<Prepared> PrepareFor(const Frame& frame, const StepArgs& args) const;
  absl::StatusOr<Prepared> Find(const Frame& frame, const StepArgs& args) const;

  Node node_;
  std::vector<StepInput> inputs_;
  std::vector<const Tensor*> constants_;        // by input; null where the value is not constant
  std::vector<int32_t> outputs_;                // slots; -1: nobody reads it
  std::vector<std::optional<Shape>> promised_;  // what the plan told the consumers
  SessionState& session_;
  LatePreparations& counts_;
  std::vector<bool> may_take_;
  Device* device_ = nullptr;
  Prepared fixed_;
  mutable absl::Mutex mutex_;
  mutable std::vector<std::pair<std::string, Prepared>> cache_
      ABSL_GUARDED_BY(mutex_);  // last used last
};

// Reads the value of a reference variable, for a node that takes the value and not the variable.
// The value comes to the memory of `device` (null: the host). FAILED_PRECONDITION if the variable
// has no value yet.
class ReadVariableStep : public SlowStep {
 public:
  ReadVariableStep(StepInput variable, int32_t slot, Device* device)
      : variable_(std::move(variable)), slot_(slot), device_(device) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "read variable"; }

 private:
  StepInput variable_;
  int32_t slot_;
  Device* device_;
};

// Releases tensors that no later step reads.
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
