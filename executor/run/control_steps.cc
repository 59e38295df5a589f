// Liveness is a flag of the frame for each branch and each conjunction of branches. Flags outlive
// runs and passes: a step that sets flags sets all of its own each time, and a step that skips
// others clears theirs.

#include "executor/run/control_steps.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "executor/run/run.h"
#include "graph/base/status_macros.h"

namespace tenon {

absl::Status SwitchStep::Run(Frame& frame, const StepArgs& args) const {
  // Flags keep the values of the last run, or of the last pass: they are cleared in any case.
  frame.clear_alive(first_, count_);
  if (!frame.alive(in_)) return absl::OkStatus();
  if (frame.ShapeOf(choice_).rank() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("what chooses the output must be a scalar, but its shape is ",
                     frame.ShapeOf(choice_).ToString()));
  }
  int32_t taken;
  if (choice_.dtype == DataType::kBool) {
    taken = *static_cast<const bool*>(args.in[0]) ? 1 : 0;
  } else {
    taken = *static_cast<const int32_t*>(args.in[0]);
    // As in TensorFlow, an index that no output has takes the last output.
    if (taken < 0 || taken >= count_) taken = count_ - 1;
  }
  frame.set_alive(first_ + taken, true);
  return absl::OkStatus();
}

absl::Status MergeStep::Run(Frame& frame, const StepArgs& args) const {
  const auto first =
      std::find_if(alive_.begin(), alive_.end(), [&](int32_t flag) { return frame.alive(flag); });
  if (out_alive_ >= 0) frame.set_alive(out_alive_, first != alive_.end());
  if (first == alive_.end()) return absl::OkStatus();
  const size_t i = static_cast<size_t>(first - alive_.begin());
  if (slot_ >= 0) {
    TENON_ASSIGN_OR_RETURN(Tensor value, frame.Keep(inputs_[i]));
    frame.SetSlot(slot_, std::move(value));
  } else if (args.out[0] != nullptr && bytes_ > 0) {
    std::memcpy(args.out[0], args.in[i], bytes_);
  }
  if (args.out[1] != nullptr) *static_cast<int32_t*>(args.out[1]) = static_cast<int32_t>(i);
  return absl::OkStatus();
}

absl::Status BranchStep::Run(Frame& frame, const StepArgs&) const {
  if (frame.alive(alive_)) return RunSteps(frame, steps_.begin, steps_.end);
  frame.clear_alive(first_flag_, num_flags_);
  return absl::OkStatus();
}

std::string BranchStep::Describe() const {
  return absl::StrCat("steps ", steps_.begin, " to ", steps_.end, " if alive ", alive_);
}

absl::Status LoopStep::Begin(Frame& frame, const StepArgs& args) const {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Variable& v = variables_[i];
    if (v.slot >= 0) {
      TENON_ASSIGN_OR_RETURN(Tensor value, frame.Keep(v.first));
      // No step reads the first value again: its slot gives its reference up.
      if (v.last_first) frame.ReleaseView(v.first);
      frame.SetSlot(v.slot, std::move(value));
    } else if (v.bytes > 0) {
      std::memcpy(args.out[i], args.in[i], v.bytes);
    }
  }
  return absl::OkStatus();
}

// A variable may be the next value of another one. So all tensors are read before any slot is
// written. For planned memory nothing is left to do: a step of the body has copied the value aside.
absl::Status LoopStep::Advance(Frame& frame, const StepArgs& args) const {
  absl::InlinedVector<std::pair<int32_t, Tensor>, 4> slots;
  for (const Variable& v : variables_) {
    if (v.slot < 0) continue;
    TENON_ASSIGN_OR_RETURN(Tensor value, frame.Keep(v.next));
    if (v.last_read) frame.ReleaseView(v.next);
    slots.emplace_back(v.slot, std::move(value));
  }
  void* const* const next = frame.table() + next_args_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Variable& v = variables_[i];
    if (v.slot < 0 && !v.in_place && v.bytes > 0) std::memcpy(args.out[i], next[i], v.bytes);
  }
  for (auto& [slot, value] : slots) frame.SetSlot(slot, std::move(value));
  return absl::OkStatus();
}

absl::Status LoopStep::Run(Frame& frame, const StepArgs& args) const {
  TENON_RETURN_IF_ERROR(Begin(frame, args));
  const int32_t node = frame.node();
  const Frame::Pass outer = frame.pass();
  // The id that kernels of plug-ins see (ComputeArgs::frame_id): a hash, another one for each loop
  // and for each pass of the loop around it, and never 0, which stands for no loop.
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;  // odd bits of the golden ratio
  const uint64_t of_pass = (outer.frame_id + static_cast<uint64_t>(outer.iter_id) + 1) * kSpread;
  const uint64_t frame_id = ((of_pass ^ (of_pass >> 32)) + steps_.begin) * kSpread | 1;
  for (int64_t iter_id = 0;; ++iter_id) {
    frame.set_pass({frame_id, iter_id});
    if (!frame.TakePass()) {
      return absl::ResourceExhaustedError(absl::StrCat("the loops of this run have made ",
                                                       frame.context().max_loop_passes, " passes"));
    }
    TENON_RETURN_IF_ERROR(frame.CheckLimits());
    TENON_RETURN_IF_ERROR(RunSteps(frame, steps_.begin, steps_.end));
    // An error between two passes is the loop's, not that of the last step of its body.
    frame.set_node(node);
    if (synchronize_) TENON_RETURN_IF_ERROR(frame.Synchronize());
    if (again_ == 0 || !frame.alive(again_)) break;
    TENON_RETURN_IF_ERROR(Advance(frame, args));
  }
  frame.set_pass(outer);
  return absl::OkStatus();
}

std::string LoopStep::Describe() const {
  return absl::StrCat("loop over steps ", steps_.begin, " to ", steps_.end, " while alive ",
                      again_);
}

}  // namespace tenon
