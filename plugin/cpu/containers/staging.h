// What staging areas of both kinds, Stage and MapStage, have in common.
#pragma once

#include <vector>

#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// Components in order; one that was not staged yet, or was taken, is uninitialized.
using StagedTuple = std::vector<Tensor>;

// How much may be staged; 0: any amount.
struct StagingLimits {
  int64_t capacity = 0, memory = 0;  // elements, bytes

  static absl::StatusOr<StagingLimits> Of(const Prepare& p);
  bool HaveRoom(int64_t elements, int64_t bytes, int64_t more_bytes) const {
    return (capacity == 0 || elements < capacity) && (memory == 0 || bytes + more_bytes <= memory);
  }
  // RESOURCE_EXHAUSTED for what can never fit.
  absl::Status Check(std::string_view name, int64_t bytes) const;
};

int64_t BytesOf(const StagedTuple& tuple);
absl::Status IsFull(std::string_view name);

// Inputs [begin, end).
absl::StatusOr<StagedTuple> TakeTuple(const StepArgs& args, size_t begin, size_t end);
// Outputs from `begin` on, whose types are `types`; INVALID_ARGUMENT where they differ.
absl::Status SetTuple(const StepArgs& args, size_t begin, const TypeVector& types,
                      StagedTuple tuple);
// Output 0 is this number.
absl::Status SetCount(const StepArgs& args, int64_t count);

}  // namespace tenon::cpu
