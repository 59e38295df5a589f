// Steps that decide which others run: Switch and Merge, branches that are jumped over, loops.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/run/slow_steps.h"

namespace tenon {

// Sets the liveness of a Switch's outputs. Input 0: the choice, a bool or the number of an output.
class SwitchStep : public SlowStep {
 public:
  // Flags first, first + 1 … are those of the outputs; they live only if `in` does.
  SwitchStep(StepInput choice, int32_t in, int32_t first, int32_t count)
      : choice_(std::move(choice)), in_(in), first_(first), count_(count) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "switch"; }

 private:
  StepInput choice_;
  int32_t in_, first_, count_;
};

// The value of the first input that is alive, and its index. Memory outputs are copied into; slots
// share the tensor.
class MergeStep : public SlowStep {
 public:
  // `out_alive` -1: the plan knows when the output lives.
  MergeStep(std::vector<StepInput> inputs, std::vector<int32_t> alive, int32_t out_alive,
            int32_t slot, size_t bytes)
      : inputs_(std::move(inputs)),
        alive_(std::move(alive)),
        out_alive_(out_alive),
        slot_(slot),
        bytes_(bytes) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "merge"; }

 private:
  std::vector<StepInput> inputs_;
  std::vector<int32_t> alive_;
  int32_t out_alive_;
  int32_t slot_;  // -1: the output is planned memory of `bytes_`
  size_t bytes_;
};

// A node is alive if all that it depends on is.
class BothAliveStep : public SlowStep {
 public:
  BothAliveStep(int32_t a, int32_t b, int32_t out) : a_(a), b_(b), out_(out) {}
  absl::Status Run(Frame& frame, const StepArgs&) const override {
    frame.set_alive(out_, frame.alive(a_) && frame.alive(b_));
    return absl::OkStatus();
  }
  std::string Describe() const override { return "both alive"; }
  bool IsNode() const override { return false; }

 private:
  int32_t a_, b_, out_;
};

// A run of steps that lies elsewhere in the plan: [begin, end).
struct StepRange {
  uint32_t begin = 0, end = 0;
};

// The steps of a branch: run, or jumped over; then everything that they would have decided is dead.
class BranchStep : public SlowStep {
 public:
  BranchStep(int32_t alive, int32_t first_flag, int32_t num_flags)
      : alive_(alive), first_flag_(first_flag), num_flags_(num_flags) {}
  void SetSteps(StepRange steps) { steps_ = steps; }
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  bool IsNode() const override { return false; }

 private:
  int32_t alive_, first_flag_, num_flags_;
  StepRange steps_;
};

// A loop: runs its steps until the flag `again` (0: once) is dead after a pass. Inputs are the
// variables' first values, outputs the variables; their next values are arguments of their own.
class LoopStep : public SlowStep {
 public:
  struct Variable {
    StepInput first, next;
    int32_t slot = -1;  // -1: planned memory of `bytes`
    size_t bytes = 0;
    bool in_place = false;  // the next value is computed where the variable is
    // Nobody else reads the slot of the first, of the next value.
    bool last_first = false, last_read = false;
  };
  void SetVariables(std::vector<Variable> variables) { variables_ = std::move(variables); }
  std::vector<Variable>& variables() { return variables_; }
  void SetSteps(StepRange steps) { steps_ = steps; }
  void SetEnd(int32_t again, uint32_t next_args, bool synchronize) {
    again_ = again;
    next_args_ = next_args;
    synchronize_ = synchronize;
  }
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  bool IsNode() const override { return false; }

 private:
  absl::Status Begin(Frame& frame, const StepArgs& args) const;
  absl::Status Advance(Frame& frame, const StepArgs& args) const;

  std::vector<Variable> variables_;
  StepRange steps_;
  int32_t again_ = 0;
  uint32_t next_args_ = 0;    // of the frame's pointer table
  bool synchronize_ = false;  // devices work on the variables: they end a pass before the next
};

}  // namespace tenon
