// Memory that runs out, as a status.
#pragma once

#include <new>
#include <stdexcept>

#include "absl/status/status.h"

namespace tenon {

inline absl::Status OutOfMemory() {
  return absl::ResourceExhaustedError("there is not enough memory");
}

// What `work` returns (a Status or a StatusOr); RESOURCE_EXHAUSTED if an allocation in it fails.
// Free where none does.
template <typename Work>
auto WithinMemory(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::length_error&) {  // more than any container can hold
    return OutOfMemory();
  }
}

}  // namespace tenon
