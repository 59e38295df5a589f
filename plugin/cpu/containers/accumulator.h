// Shared code of the conditional accumulators, of whole gradients and of rows.
#pragma once

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

inline constexpr uint64_t kAccumulatorTypes =
    TypeBits(DataType::kHalf, DataType::kFloat, DataType::kDouble);

// Sums gradients until a caller takes the sum. Gradients of a step before the current one are
// ignored. Thread-safe: each call is atomic.
class Accumulator : public Resource {
 public:
  struct Options {
    DataType dtype = DataType::kInvalid;
    PartialShape shape;
    bool mean = true;  // TakeGradient divides by the number of gradients; false: the sum
  };
  // Reads attributes dtype, shape and reduction_type. INVALID_ARGUMENT if one is missing.
  static absl::StatusOr<Options> OptionsOf(const Prepare& p);
  Accumulator(std::string_view name, Options options)
      : Resource(name), options_(std::move(options)) {}

  const Options& options() const { return options_; }

  // Runs `add` under the lock and counts one gradient more, unless local_step lies before the
  // current step: then returns OK. Returns the error of `add`, which then counts nothing. `add`
  // must not call this object.
  absl::Status Apply(int64_t local_step, absl::FunctionRef<absl::Status()> add);
  // Waits for `required` gradients, then runs `take` with their number, under the lock, and begins
  // a new step with no gradients. If `take` fails, step and count stay, and Take returns the error.
  // INVALID_ARGUMENT unless required > 0. DEADLINE_EXCEEDED after kPatience. `take` must not call
  // this object.
  absl::Status Take(int64_t required, absl::FunctionRef<absl::Status(int64_t count)> take);
  // Returns the number of gradients since the last Take.
  int64_t count();
  // Makes `step` the current step, whether greater or less than before.
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
