// How a function of the C interface ends where memory is short: no exception may leave it.
//   TF_Graph* TF_NewGraph() try {
//     …
//   } catch (...) {
//     return tenon::WithoutMemory();
//   }
#pragma once

#include "graph/c_api/handles.h"
#include "tensorflow/c/tf_status.h"

namespace tenon {

// Null, 0, false or an empty struct: what a function of the C interface returns without a result.
struct NoResult {
  template <typename T>
  operator T() const {  // NOLINT: meant to convert
    return T{};
  }
};

// To be called in a handler of exceptions. For bad_alloc and length_error it sets `status`, which
// may be null, to RESOURCE_EXHAUSTED, and allocates nothing. Any other exception goes on: it is not
// one that the caller could do something about. A deleted status stays as it is.
NoResult WithoutMemory(TF_Status* status = nullptr);

// The same for a function without a status that describes a part of `object`, which may be null or
// deleted. What uses the object later fails for that: the part is not in it.
template <typename Object>
NoResult WithoutMemoryFor(Object* object) {
  const NoResult none = WithoutMemory();
  if (object != nullptr && !WasDeleted(object)) object->lacks_memory = true;
  return none;
}

}  // namespace tenon
