// Errors of shape functions that are no reason to refuse a graph: the node fails only if it runs.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// `status` as an error of the node's runs: inference goes on with outputs of which nothing is
// known, and the kernel finds it again. So it is with all that TensorFlow's shape functions let
// pass, since a graph may hold nodes that no fetch reaches. OK stays OK.
absl::Status AtRunTime(absl::Status status);
bool IsAtRunTime(const absl::Status& status);

template <typename T>
absl::StatusOr<T> AtRunTime(absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return AtRunTime(result.status());
}

}  // namespace tenon
