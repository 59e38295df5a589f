// Checks of what callers of the C API pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/counts.h"
#include "graph/c_api/handles.h"

namespace tenon::api {

struct Pointer {
  // `address` is null if the caller has left the argument out.
  template <typename T>
  Pointer(const char* name, const T* address)
      : name(name), given(address != nullptr), deleted(given && WasDeleted(address)) {}

  const char* name;  // of the parameter
  bool given, deleted;
};

// Sets `status` to OK and returns true if all pointers lead to something; else sets
// INVALID_ARGUMENT, which names the first that is null or leads to a deleted object, and returns
// false. `status` may be null.
bool AllGiven(std::initializer_list<Pointer> pointers, TF_Status* status);

// The same for arguments that may be left out: true also for null. Leaves the status as it is where
// it returns true.
bool NoneDeleted(std::initializer_list<Pointer> pointers, TF_Status* status);

// Whether an array of `count` elements can be read: `count` is 0, or it is from 1 to kMaxElements
// and `array` is not null. Else sets INVALID_ARGUMENT, which names the argument `name`. Leaves the
// status as it is where it returns true. `status` may be null.
bool IsArray(const char* name, const void* array, int64_t count, TF_Status* status);

// The same for `length` bytes, of which IsSize says how many there may be.
bool IsBytes(const char* name, const void* bytes, size_t length, TF_Status* status);

}  // namespace tenon::api
