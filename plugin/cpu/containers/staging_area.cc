// Stage and what takes from it: a first-in, first-out buffer that nodes find by its name.
#include <deque>

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/containers/staging.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_limits.h"

namespace tenon::cpu {
namespace {

// Thread-safe.
class StagingArea : public Resource {
 public:
  static constexpr std::string_view kKind = "staging area";
  std::string_view kind() const override { return kKind; }
  StagingArea(std::string_view name, StagingLimits limits) : Resource(name), limits_(limits) {}

  absl::Status Put(StagedTuple tuple) {
    const int64_t bytes = BytesOf(tuple);
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(limits_.Check(name(), bytes));
    // A tuple that fits alone waits until what lies before it has left.
    const auto may_go_on = [&] { return limits_.HaveRoom(size(), bytes_, bytes); };
    TENON_ASSIGN_OR_RETURN(const bool has_room,
                           AwaitOtherRun(mutex_, absl::Condition(&may_go_on), "Stage"));
    if (!has_room) return NoRoomError(name());
    tuples_.push_back(std::move(tuple));
    bytes_ += bytes;
    return absl::OkStatus();
  }

  absl::StatusOr<StagedTuple> Take() {
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(WaitFor(0));
    StagedTuple tuple = std::move(tuples_.front());
    tuples_.pop_front();
    bytes_ -= BytesOf(tuple);
    return tuple;
  }

  absl::StatusOr<StagedTuple> Peek(int64_t i) {
    if (i < 0) return absl::InvalidArgumentError(absl::StrCat("'index' is ", i));
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(WaitFor(i));
    return tuples_[static_cast<size_t>(i)];
  }

  int64_t Count() {
    absl::MutexLock lock(&mutex_);
    return size();
  }
  void Clear() {
    absl::MutexLock lock(&mutex_);
    tuples_.clear();
    bytes_ = 0;
  }

 private:
  int64_t size() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<int64_t>(tuples_.size());
  }
  absl::Status WaitFor(int64_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto is_there = [&] { return size() > i; };
    TENON_ASSIGN_OR_RETURN(const bool came,
                           AwaitOtherRun(mutex_, absl::Condition(&is_there), "Unstage"));
    if (came) return absl::OkStatus();
    return absl::DeadlineExceededError(
        absl::StrCat("staging area '", name(), "' has ", size(), " elements where ", i + 1,
                     " are wanted, and too few came in the time that the run may wait"));
  }

  const StagingLimits limits_;
  absl::Mutex mutex_;
  std::deque<StagedTuple> tuples_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct StageState : NodeFacts {
  explicit StageState(const Prepare& p) : NodeFacts(p) {}
  ObjectRef<StagingArea> area;
};

template <RunFn kRun>
absl::Status PrepareStage(Prepare& p) {
  auto s = std::make_shared<StageState>(p);
  TENON_ASSIGN_OR_RETURN(const StagingLimits limits, StagingLimits::Of(p));
  TENON_ASSIGN_OR_RETURN(s->area, SharedResource<StagingArea>(p, [&](std::string_view name) {
                           return ObjectRef<StagingArea>::Make(name, limits);
                         }));
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(kRun, std::move(s));
  return absl::OkStatus();
}

absl::Status RunStage(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const StageState*>(state);
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, TakeTuple(args, 0, s.inputs.size()));
  return s.area->Put(std::move(tuple));
}

absl::Status RunUnstage(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const StageState*>(state);
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, s.area->Take());
  return SetTuple(args, 0, s.outputs, std::move(tuple));
}

absl::Status RunPeek(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const StageState*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t index, IntInput(args, 0));
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, s.area->Peek(index));
  return SetTuple(args, 0, s.outputs, std::move(tuple));
}

absl::Status RunStageSize(const void* state, const StepArgs& args) {
  return SetCount(args, static_cast<const StageState*>(state)->area->Count());
}

absl::Status RunClear(const void* state, const StepArgs&) {
  static_cast<const StageState*>(state)->area->Clear();
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StagingKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("Stage", PrepareStage<&RunStage>),
      WholeTensorKernel("Unstage", PrepareStage<&RunUnstage>),
      WholeTensorKernel("StagePeek", PrepareStage<&RunPeek>),
      WholeTensorKernel("StageSize", PrepareStage<&RunStageSize>),
      WholeTensorKernel("StageClear", PrepareStage<&RunClear>),
  };
  return specs;
}

}  // namespace tenon::cpu
