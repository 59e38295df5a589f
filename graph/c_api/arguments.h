// Checks of what callers of the C API pass.
#pragma once

#include <initializer_list>

#include "graph/c_api/c_api_internal.h"

namespace tenon::api {

struct Pointer {
  const char* name;     // of the parameter
  const void* address;  // null if the caller has left it out
};

// Sets `status` to OK and returns true if no pointer is null; else sets INVALID_ARGUMENT, which
// names the first that is, and returns false. `status` may be null.
bool AllGiven(std::initializer_list<Pointer> pointers, TF_Status* status);

// Whether an array of `count` elements can be read: `count` is 0, or it is above 0 and `array` is
// not null. Else sets INVALID_ARGUMENT.
bool IsArray(const char* name, const void* array, int64_t count, TF_Status* status);

}  // namespace tenon::api
