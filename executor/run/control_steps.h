// Steps that decide whether other steps run: Switch, Merge, branches and loops. Each liveness flag
// of a Frame tells whether the steps that carry it run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/run/slow_steps.h"

namespace tenon {

// Sets the liveness flags of a Switch's outputs. Input 0 is the choice, a scalar in host memory: a
// bool (false: output 0) or the int32 index of an output. An index out of range, a negative one
// included, chooses the last output. INVALID_ARGUMENT if the choice is no scalar.
class SwitchStep : public SlowStep {
 public:
  // `first`, `first` + 1, … are the flags of the `count` outputs. All are dead if flag `in` is
  // dead; the choice is then not read.
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
// step only clears `out_alive`. RESOURCE_EXHAUSTED without memory for a copy.
class MergeStep : public SlowStep {
 public:
  // `alive`: by input, its flag. `out_alive`: the flag that the step sets; -1: another flag of the
  // plan stands for the output. `slot`: of output 0; -1: output 0 is planned memory of `bytes`
  // bytes.
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

// Sets flag `out` if the flags `a` and `b` are set, else clears it: a node is alive if all of its
// inputs are.
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
// they would set: `num_flags` flags from `first_flag` on. Errors are those of RunSteps (run.h).
class BranchStep : public SlowStep {
 public:
  BranchStep(int32_t alive, int32_t first_flag, int32_t num_flags)
      : alive_(alive), first_flag_(first_flag), num_flags_(num_flags) {}
  // Only while planning, before the first run.
  void SetSteps(StepRange steps) { steps_ = steps; }
  StepRange steps() const { return steps_; }
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  bool IsNode() const override { return false; }

 private:
  int32_t alive_, first_flag_, num_flags_;
  StepRange steps_;
};

// Runs the steps of a loop, pass after pass, until the flag `again` is dead after a pass; `again` 0
// means one pass. Inputs of the step are the first values of the loop variables, outputs are the
// variables. The next values of the variables are separate entries of the pointer table (SetEnd).
// RESOURCE_EXHAUSTED if the run exceeds RunContext::max_loop_passes, or without memory to copy a
// value; the error of Frame::CheckLimits, which is asked before each pass; else errors are those of
// RunSteps (run.h) and of Frame::Synchronize.
class LoopStep : public SlowStep {
 public:
  struct Variable {
    Output value;           // what it is in the graph: an output of a Merge
    StepInput first, next;  // the values for the first pass and for each later pass
    int32_t slot = -1;      // the slot that the variable is; -1: planned memory of `bytes`
    size_t bytes = 0;
    bool in_place = false;  // the next value is computed in the variable's memory: nothing to copy
    // Whether `first` is a slot of which the LoopStep is the last reader; the same for `next`. The
    // step releases the slot of `first` when it begins, and that of `next` before another pass.
    bool last_first = false, last_read = false;
  };
  // The setters are called only while planning, before the first run. `next_args`: the entry of the
  // pointer table for the next value of variable 0; those of the others follow it. `synchronize`:
  // devices work in the loop, so the host waits for them after each pass.
  void SetVariables(std::vector<Variable> variables) { variables_ = std::move(variables); }
  std::vector<Variable>& variables() { return variables_; }
  const std::vector<Variable>& variables() const { return variables_; }
  void SetSteps(StepRange steps) { steps_ = steps; }
  StepRange steps() const { return steps_; }
  void SetEnd(int32_t again, uint32_t next_args, bool synchronize) {
    again_ = again;
    next_args_ = next_args;
    synchronize_ = synchronize;
  }
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  bool IsNode() const override { return false; }

 private:
  // Sets the variables for the first pass.
  absl::Status Begin(Frame& frame, const StepArgs& args) const;
  // Sets the variables for the next pass.
  absl::Status Advance(Frame& frame, const StepArgs& args) const;

  std::vector<Variable> variables_;
  StepRange steps_;
  int32_t again_ = 0;
  uint32_t next_args_ = 0;
  bool synchronize_ = false;  // the host waits for all devices of the plan after each pass
};

}  // namespace tenon
