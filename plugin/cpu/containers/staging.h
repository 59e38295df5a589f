// Shared code of the staging areas of both kinds, Stage and MapStage.
#pragma once

#include <vector>

#include "plugin/cpu/base/whole_tensor.h"

namespace tenon::cpu {

// The components of one element, in order. A component that is not staged yet, or is taken already,
// is an uninitialized tensor.
using StagedTuple = std::vector<Tensor>;

// The most that an area may hold. 0 stands for any amount. In an area of MapStage `capacity` limits
// the number of complete elements; `memory` limits the bytes of all components, also those of
// elements that are not complete.
struct StagingLimits {
  int64_t capacity = 0, memory = 0;  // number of elements, bytes (BytesOf) of all together

  // Reads attributes capacity and memory_limit. INVALID_ARGUMENT if one is missing.
  static absl::StatusOr<StagingLimits> Of(const Prepare& p);
  // Returns whether an area of `elements` elements and `bytes` bytes takes one more element, of
  // `more_bytes` bytes.
  bool HaveRoom(int64_t elements, int64_t bytes, int64_t more_bytes) const {
    return (capacity == 0 || elements < capacity) && (memory == 0 || bytes + more_bytes <= memory);
  }
  // Returns RESOURCE_EXHAUSTED, with the area's name, if an element of `bytes` bytes does not fit
  // even into an empty area.
  absl::Status Check(std::string_view name, int64_t bytes) const;
};

// Returns the bytes of the components that are initialized, without the text of strings.
int64_t BytesOf(const StagedTuple& tuple);
// Returns the error of an area that has had no room for as long as the run may wait:
// DEADLINE_EXCEEDED, with the area's name.
absl::Status NoRoomError(std::string_view name);

// Returns the tensors of inputs [begin, end), which the caller then owns (RunState::TakeInput).
absl::StatusOr<StagedTuple> TakeTuple(const StepArgs& args, size_t begin, size_t end);
// Makes component k output begin + k. `types` are the types of all outputs of the node.
// INVALID_ARGUMENT if the components differ from types[begin...] in number or type, as an
// uninitialized one does; outputs before it are set then.
absl::Status SetTuple(const StepArgs& args, size_t begin, const TypeVector& types,
                      StagedTuple tuple);
// Makes output 0 the int32 scalar `count`, or the greatest int32 if `count` is greater.
absl::Status SetCount(const StepArgs& args, int64_t count);

}  // namespace tenon::cpu
