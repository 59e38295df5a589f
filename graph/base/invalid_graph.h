// Errors that say of a graph that it is none, found when it is already about to run.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace tenon {

inline constexpr char kInvalidGraphKey[] = "tenon/invalid_graph";

// Marks an INVALID_ARGUMENT; leaves others as they are.
inline absl::Status InvalidGraph(absl::Status status) {
  if (absl::IsInvalidArgument(status)) status.SetPayload(kInvalidGraphKey, absl::Cord());
  return status;
}
inline bool IsInvalidGraph(const absl::Status& status) {
  return status.GetPayload(kInvalidGraphKey).has_value();
}

}  // namespace tenon
