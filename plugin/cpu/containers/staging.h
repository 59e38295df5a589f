// Shared code of the staging areas of both kinds, Stage and MapStage.
#pragma once

#include <vector>

#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// Components in order. A component that is not staged yet, or is taken already, is uninitialized.
using StagedTuple = std::vector<Tensor>;

// The most that may be staged. 0 stands for any amount.
struct StagingLimits {
  int64_t capacity = 0, memory = 0;  // elements, bytes

  static absl::StatusOr<StagingLimits> Of(const Prepare& p);
  bool HaveRoom(int64_t elements, int64_t bytes, int64_t more_bytes) const {
    return (capacity == 0 || elements < capacity) && (memory == 0 || bytes + more_bytes <= memory);
  }
  // Returns RESOURCE_EXHAUSTED if `bytes` can never fit.
  absl::Status Check(std::string_view name, int64_t bytes) const;
};

int64_t BytesOf(const StagedTuple& tuple);
absl::Status IsFull(std::string_view name);

// Returns the tensors of inputs [begin, end).
absl::StatusOr<StagedTuple> TakeTuple(const StepArgs& args, size_t begin, size_t end);
// Sets the outputs from `begin` on to the components. INVALID_ARGUMENT if the components' types
// differ from `types`.
absl::Status SetTuple(const StepArgs& args, size_t begin, const TypeVector& types,
                      StagedTuple tuple);
// Sets output 0 to `count`.
absl::Status SetCount(const StepArgs& args, int64_t count);

}  // namespace tenon::cpu
