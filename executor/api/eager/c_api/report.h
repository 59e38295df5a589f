// Hands results and errors to callers of the C API. Private to executor/api/eager/.
#pragma once

#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/c_api/c_api_internal.h"

namespace tenon::eager {

// Sets `status`, which may be null, and returns whether the result is OK.
inline bool Report(const absl::Status& result, TF_Status* status) {
  StatusToC(result, status);
  return result.ok();
}

// Sets `status`, and returns the value, or `other` after an error.
template <typename T>
T Report(absl::StatusOr<T> result, std::type_identity_t<T> other, TF_Status* status) {
  return Report(result.status(), status) ? *std::move(result) : std::move(other);
}

}  // namespace tenon::eager
