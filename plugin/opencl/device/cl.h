// OpenCL's headers, its errors as exceptions, and owners for its objects. The one place that says
// who releases what.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>
#include <utility>
#include <vector>

namespace opencl {

// "CL_OUT_OF_RESOURCES"; for a code that is not in its table (images, samplers) "code -41".
std::string CodeName(cl_int code);

// Throws an Error that names the call and the code, unless `code` is CL_SUCCESS. The error is
// RESOURCE_EXHAUSTED for CL_MEM_OBJECT_ALLOCATION_FAILURE and CL_OUT_OF_HOST_MEMORY, and INTERNAL
// for all other codes, CL_OUT_OF_RESOURCES among them.
void Check(cl_int code, const char* call);

// Owns one reference of an OpenCL object; moves, does not copy.
template <typename Handle, cl_int (*release)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) release(handle_);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
};

using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Buffer = Owned<cl_mem, clReleaseMemObject>;
using Program = Owned<cl_program, clReleaseProgram>;
using KernelHandle = Owned<cl_kernel, clReleaseKernel>;
using EventHandle = Owned<cl_event, clReleaseEvent>;

// A fact of a device or a platform that is text, without blanks at its end. Throws what Check
// throws.
std::string TextOf(cl_device_id device, cl_device_info what);
std::string TextOf(cl_platform_id platform, cl_platform_info what);

// What tells a device and its driver from others, for what is kept on disk: some lines of text.
// Throws what Check throws.
std::string DeviceKey(cl_device_id device);

// A fact of a device that is a number. Throws if the device does not tell.
template <typename T>
T FactOf(cl_device_id device, cl_device_info what) {
  T value{};
  Check(clGetDeviceInfo(device, what, sizeof(value), &value, nullptr), "clGetDeviceInfo");
  return value;
}

}  // namespace opencl
