// Turns exceptions for lack of memory into a status.
#pragma once

#include <new>
#include <stdexcept>

#include "absl/status/status.h"

namespace tenon {

// RESOURCE_EXHAUSTED "there is not enough memory".
inline absl::Status OutOfMemory() {
  return absl::ResourceExhaustedError("there is not enough memory");
}

// Calls `work` once and returns its Status or StatusOr. Returns OutOfMemory() if `work` throws
// bad_alloc or length_error; other exceptions pass through. Costs nothing unless an exception is
// thrown.
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
