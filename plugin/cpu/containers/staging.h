// Shared code of the staging areas of both kinds, Stage and MapStage.
#pragma once

#include <vector>

#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// The components of one element, in order. A component that is not staged yet, or is taken already,
// is an uninitialized tensor.
using StagedTuple = std::vector<Tensor>;

// The most that may be staged. 0 stands for any amount.
struct StagingLimits {
  int64_t capacity = 0, memory = 0;  // elements, bytes

  // Reads attributes capacity and memory_limit.
  static absl::StatusOr<StagingLimits> Of(const Prepare& p);
  // Returns whether an area of `elements` elements and `bytes` bytes takes one more element, of
  // `more_bytes` bytes.
  bool HaveRoom(int64_t elements, int64_t bytes, int64_t more_bytes) const {
    return (capacity == 0 || elements < capacity) && (memory == 0 || bytes + more_bytes <= memory);
  }
  // Returns RESOURCE_EXHAUSTED if `bytes` can never fit.
  absl::Status Check(std::string_view name, int64_t bytes) const;
};

// Returns the bytes of the components that are there.
int64_t BytesOf(const StagedTuple& tuple);
// Returns the error of a wait for room that took kPatience: DEADLINE_EXCEEDED.
absl::Status IsFull(std::string_view name);

// Returns the tensors of inputs [begin, end), which the caller then owns (RunState::TakeInput).
absl::StatusOr<StagedTuple> TakeTuple(const StepArgs& args, size_t begin, size_t end);
// Makes the components outputs `begin` and following. `types` are the types of all outputs of the
// node. INVALID_ARGUMENT if the components differ from these types in number or type.
absl::Status SetTuple(const StepArgs& args, size_t begin, const TypeVector& types,
                      StagedTuple tuple);
// Makes output 0 the int32 scalar `count`, or the greatest int32 if `count` is greater.
absl::Status SetCount(const StepArgs& args, int64_t count);

}  // namespace tenon::cpu
