// Functions of the table whose structs abi.h leaves out, and which JAX calls. Each throws a
// Refusal, as those of functions.h.
#pragma once

#include <cstddef>

#include "tenon/pjrt/abi.h"

namespace pjref {

// LoadedExecutable_GetDeviceAssignment, Executable_GetCompileOptions: bytes of a proto, until
// `deleter` is called.
template <typename Object>
struct BytesArgs {
  tenon::pjrt::abi::Head head;
  Object* executable;
  const char* bytes;              // out
  size_t num_bytes;               // out
  void* handle;                   // out
  void (*deleter)(void* handle);  // out; to be called once
};
using DeviceAssignmentArgs = BytesArgs<tenon::pjrt::abi::LoadedExecutable>;
using CompileOptionsArgs = BytesArgs<tenon::pjrt::abi::Executable>;
static_assert(offsetof(DeviceAssignmentArgs, bytes) == 24 &&
              offsetof(DeviceAssignmentArgs, deleter) == 48);

namespace functions {

void DeviceAssignment(DeviceAssignmentArgs* args);
void CompileOptions(CompileOptionsArgs* args);

}  // namespace functions
}  // namespace pjref

template <>
inline constexpr size_t tenon::pjrt::abi::kStructSize<pjref::DeviceAssignmentArgs> = 56;
template <>
inline constexpr size_t tenon::pjrt::abi::kStructSize<pjref::CompileOptionsArgs> = 56;
