// Shared code of the conditional accumulators, of whole gradients and of rows.
#pragma once

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

inline constexpr uint64_t kAccumulatorTypes =
    TypeBits(DataType::kHalf, DataType::kFloat, DataType::kDouble);

// The base of the conditional accumulators: counts gradients and keeps the current step, at first
// 0. A derived class holds the sum, and touches it only inside of `add` and `take`. Thread-safe:
// each call is atomic.
class Accumulator : public Resource {
 public:
  struct Options {
    DataType dtype = DataType::kInvalid;
    PartialShape shape;  // of a gradient; dimensions may be unknown
    bool mean = true;    // the derived class gives out the mean of gradients; false: their sum
  };
  // Reads attributes dtype, shape and reduction_type (SUM: not `mean`). INVALID_ARGUMENT if one is
  // missing.
  static absl::StatusOr<Options> OptionsOf(const Prepare& p);
  Accumulator(std::string_view name, Options options)
      : Resource(name), options_(std::move(options)) {}

  const Options& options() const { return options_; }

  // If local_step lies before the current step, returns OK and does nothing: the gradient is
  // ignored. Else runs `add` under the lock, and counts one gradient more if `add` succeeds.
  // Returns the error of `add`, which must change nothing then. `add` must not call this object.
  absl::Status Apply(int64_t local_step, absl::FunctionRef<absl::Status()> add);
  // Waits until at least `required` gradients are counted. Then runs take(count), where `count` is
  // the number of all that are counted, under the lock. If `take` succeeds, raises the current step
  // by 1 and sets the count to 0. A `take` that fails must leave the sum as it is: step and count
  // stay too, and Take returns the error.
  // INVALID_ARGUMENT unless required > 0. DEADLINE_EXCEEDED if too few came within the run's
  // patience (RunLimits); else the errors of AwaitOtherRun. `take` must not call this object.
  absl::Status Take(int64_t required, absl::FunctionRef<absl::Status(int64_t count)> take);
  // Returns the number of gradients that were counted since the last successful Take.
  int64_t count();
  // Makes `step` the current step, whether greater or less than before. The count stays.
  void SetGlobalStep(int64_t step);

  // Returns INVALID_ARGUMENT unless the accumulator's gradients have type `dtype`.
  absl::Status CheckType(DataType dtype) const;

 private:
  const Options options_;
  absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t global_step_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Divides all elements of `sum`, in place, by `count`. The divisor is rounded to the element type
// first, as in TensorFlow. `sum` is half, bfloat16, float or double; the caller may write to its
// memory.
void DivideBy(int64_t count, const Tensor& sum);

}  // namespace tenon::cpu
