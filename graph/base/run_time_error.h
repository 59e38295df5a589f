// Marks errors of shape functions that do not make a graph invalid: the node fails only if it runs.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// Marks `status` as an error of the node's runs. Inference then goes on with unknown outputs, and
// the kernel reports the error if the node runs. TensorFlow's shape functions let such nodes pass,
// and a graph may hold nodes that no fetch reaches. OK stays OK.
absl::Status AtRunTime(absl::Status status);
// Whether AtRunTime has marked `status`.
bool IsAtRunTime(const absl::Status& status);

template <typename T>
absl::StatusOr<T> AtRunTime(absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return AtRunTime(result.status());
}

}  // namespace tenon
