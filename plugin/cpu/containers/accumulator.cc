#include "plugin/cpu/containers/accumulator.h"

#include "plugin/cpu/base/element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/run_limits.h"

namespace tenon::cpu {

absl::StatusOr<Accumulator::Options> Accumulator::OptionsOf(const Prepare& p) {
  Options options;
  TENON_ASSIGN_OR_RETURN(options.dtype, p.AttrType("dtype"));
  TENON_ASSIGN_OR_RETURN(options.shape, p.AttrShape("shape"));
  TENON_ASSIGN_OR_RETURN(const std::string_view reduction, p.AttrString("reduction_type"));
  options.mean = reduction != "SUM";
  return options;
}

absl::Status Accumulator::CheckType(DataType dtype) const {
  if (dtype == options_.dtype) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("accumulator '", name(), "' holds ",
                                                 DataTypeName(options_.dtype), ", not ",
                                                 DataTypeName(dtype)));
}

absl::Status Accumulator::Apply(int64_t local_step, absl::FunctionRef<absl::Status()> add) {
  absl::MutexLock lock(&mutex_);
  if (local_step < global_step_) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(add());
  ++count_;
  return absl::OkStatus();
}

absl::Status Accumulator::Take(int64_t required,
                               absl::FunctionRef<absl::Status(int64_t count)> take) {
  if (required <= 0)
    return absl::InvalidArgumentError(absl::StrCat("'num_required' must be positive: ", required));
  absl::MutexLock lock(&mutex_);
  const auto are_there = [&] { return count_ >= required; };
  TENON_ASSIGN_OR_RETURN(const bool came,
                         AwaitOtherRun(mutex_, absl::Condition(&are_there), "TakeGrad"));
  if (!came) {
    return absl::DeadlineExceededError(absl::StrCat("accumulator '", name(), "' has ", count_,
                                                    " gradients where ", required,
                                                    " are wanted, and too few came in time"));
  }
  TENON_RETURN_IF_ERROR(take(count_));
  count_ = 0;
  ++global_step_;
  return absl::OkStatus();
}

int64_t Accumulator::count() {
  absl::MutexLock lock(&mutex_);
  return count_;
}

void Accumulator::SetGlobalStep(int64_t step) {
  absl::MutexLock lock(&mutex_);
  global_step_ = step;
}

void DivideBy(int64_t count, const Tensor& sum) {
  VisitFloat(sum.dtype(), [&](auto element) {
    using Native = typename decltype(element)::Native;
    // The count is rounded to the element type before the division, as TensorFlow does: of half,
    // 2049 gradients count as 2048.
    Native divisor;
    element.Put(&divisor, 0, static_cast<Native>(count));
    divisor = element.template As<Native>(&divisor, 0);
    for (int64_t i = 0; i < sum.num_elements(); ++i)
      element.Put(sum.data(), i, element.template As<Native>(sum.data(), i) / divisor);
  });
}

}  // namespace tenon::cpu
