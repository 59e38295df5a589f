// Steps that decide whether other steps run: Switch, Merge, branches and loops. Each liveness flag
// of a Frame tells whether the steps that carry it run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/run/slow_steps.h"

namespace tenon {

// Sets the liveness flags of a Switch's outputs. Input 0 is the choice, a scalar: a bool or the
// int32 index of an output. An index out of range chooses the last output. INVALID_ARGUMENT if the
// choice is no scalar.
class SwitchStep : public SlowStep {
 public:
  // `first`, `first` + 1, … are the flags of the `count` outputs. All are dead if flag `in` is
  // dead.
  SwitchStep(StepInput choice, int32_t in, int32_t first, int32_t count)
      : choice_(std::move(choice)), in_(in), first_(first), count_(count) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "switch"; }

 private:
  StepInput choice_;
  int32_t in_, first_, count_;
};

// Output 0 is the value of the first live input, output 1 the index of that input (int32). The
// value is copied into planned memory, or put into a slot by Frame::Keep. If no input is alive, the
// step only clears `out_alive`.
class MergeStep : public SlowStep {
 public:
  // `out_alive`: the flag that the step sets; -1: another flag of the plan stands for the output.
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

// Sets flag `out` if the flags `a` and `b` are set: a node is alive if all of its inputs are.
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

// A range of steps of the plan: [begin, end), as indices into Plan::steps.
struct StepRange {
  uint32_t begin = 0, end = 0;
};

// Runs the steps of a branch if flag `alive` is set. Otherwise skips them and clears the flags that
// they would set.
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

// Runs the steps of a loop, pass after pass, until the flag `again` is dead after a pass; `again` 0
// means one pass. Inputs of the step are the first values of the loop variables, outputs are the
// variables. Their next values are separate entries of the pointer table. RESOURCE_EXHAUSTED if the
// run exceeds RunContext::max_loop_passes.
class LoopStep : public SlowStep {
 public:
  struct Variable {
    StepInput first, next;
    int32_t slot = -1;  // -1: planned memory of `bytes`
    size_t bytes = 0;
    bool in_place = false;  // the next value is computed in the variable's memory
    // The loop is the last reader of the slot of `first`; of `next`.
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
  bool synchronize_ = false;  // devices work on the variables: the host waits for them after a pass
};

}  // namespace tenon
