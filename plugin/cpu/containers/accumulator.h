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
    bool mean = true;  // else the sum
  };
  static absl::StatusOr<Options> OptionsOf(const Prepare& p);
  Accumulator(std::string_view name, Options options)
      : Resource(name), options_(std::move(options)) {}

  const Options& options() const { return options_; }

  // Runs `add` unless local_step lies before the current step.
  absl::Status Apply(int64_t local_step, absl::FunctionRef<absl::Status()> add);
  // Waits for `required` gradients, then runs `take` with their number and begins a new step.
  absl::Status Take(int64_t required, absl::FunctionRef<absl::Status(int64_t count)> take);
  int64_t count();
  void SetGlobalStep(int64_t step);

  absl::Status CheckType(DataType dtype) const;

 private:
  const Options options_;
  absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t global_step_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Divides all elements by a number of gradients.
void DivideBy(int64_t count, const Tensor& sum);

}  // namespace tenon::cpu
