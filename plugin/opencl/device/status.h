// What every callback needs: visibility of entry points, errors, owned handles of the host.
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_status.h"

// Marks the functions that the host looks up by name in the library. All others are hidden.
#define OPENCL_ENTRY_POINT extern "C" __attribute__((visibility("default")))

namespace opencl {

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using StatusPtr = std::unique_ptr<TF_Status, DeleteStatus>;

struct DeleteBuffer {
  void operator()(TF_Buffer* buffer) const { TF_DeleteBuffer(buffer); }
};
using BufferPtr = std::unique_ptr<TF_Buffer, DeleteBuffer>;

// An error on its way to the callback that the host called.
class Error : public std::runtime_error {
 public:
  Error(TF_Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  TF_Code code() const { return code_; }

 private:
  TF_Code code_;
};

// Runs `body` and turns an exception into a status: no exception may cross the C interface.
template <typename Body>
void Guard(TF_Status* status, Body body) {
  try {
    body();
  } catch (const Error& error) {
    TF_SetStatus(status, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "OpenCL: the host has no memory left");
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_INTERNAL, error.what());
  } catch (...) {
    TF_SetStatus(status, TF_INTERNAL, "an exception of an unknown type");
  }
}

// Throws the error that a function of the host left in `status`, if there is one.
inline void ThrowIfFailed(const StatusPtr& status) {
  if (TF_GetCode(status.get()) != TF_OK)
    throw Error(TF_GetCode(status.get()), TF_Message(status.get()));
}

}  // namespace opencl
