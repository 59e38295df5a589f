// What tests of the eager C API share: contexts, handles and ops that end with their scope.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/c/eager/c_api.h"

namespace tenon::eager {

// A TF_Status of its own, with what tests ask of it.
class CheckedStatus {
 public:
  CheckedStatus() : status_(TF_NewStatus()) {}
  ~CheckedStatus() { TF_DeleteStatus(status_); }
  CheckedStatus(const CheckedStatus&) = delete;
  CheckedStatus& operator=(const CheckedStatus&) = delete;
  operator TF_Status*() { return status_; }
  TF_Code code() const { return TF_GetCode(status_); }
  std::string message() const { return TF_Message(status_); }
  // "OK", else the code's number and the message.
  std::string text() const;

 private:
  TF_Status* const status_;
};

struct HandleDeleter {
  void operator()(TFE_TensorHandle* handle) const { TFE_DeleteTensorHandle(handle); }
};
using Handle = std::unique_ptr<TFE_TensorHandle, HandleDeleter>;
struct OpDeleter {
  void operator()(TFE_Op* op) const { TFE_DeleteOp(op); }
};
using Op = std::unique_ptr<TFE_Op, OpDeleter>;
struct ContextDeleter {
  void operator()(TFE_Context* context) const { TFE_DeleteContext(context); }
};
using ContextPointer = std::unique_ptr<TFE_Context, ContextDeleter>;

// A context with these options; fails the test if there is none.
ContextPointer NewContext(const std::function<void(TFE_ContextOptions*)>& set = {});

template <typename T>
TF_DataType TypeOf();
// A handle on new memory with these elements.
Handle NewHandle(TF_DataType type, const std::vector<int64_t>& dims, const void* data,
                 size_t bytes);
template <typename T>
Handle Of(const std::vector<int64_t>& dims, const std::vector<T>& values) {
  return NewHandle(TypeOf<T>(), dims, values.data(), values.size() * sizeof(T));
}
// A tensor of strings.
Handle OfStrings(const std::vector<int64_t>& dims, const std::vector<std::string>& values);

// An op with these inputs; fails the test if one is refused.
Op NewOp(TFE_Context* context, const char* name, std::initializer_list<TFE_TensorHandle*> inputs);
// The results of an op. Sets `status`, or fails the test if that is null.
std::vector<Handle> Execute(TFE_Op* op, int results, TF_Status* status = nullptr);
// The only result of an op of this name.
Handle RunOp(TFE_Context* context, const char* name,
             std::initializer_list<TFE_TensorHandle*> inputs,
             const std::function<void(TFE_Op*)>& set = {});
// The error of an op of this name, as CheckedStatus::text.
std::string ErrorOf(TFE_Context* context, const char* name,
                    std::initializer_list<TFE_TensorHandle*> inputs,
                    const std::function<void(TFE_Op*)>& set = {});

// The elements of a handle, in host memory.
template <typename T>
std::vector<T> Values(TFE_TensorHandle* handle) {
  CheckedStatus status;
  TF_Tensor* const tensor = TFE_TensorHandleResolve(handle, status);
  if (tensor == nullptr) return {};
  const T* const data = static_cast<const T*>(TF_TensorData(tensor));
  std::vector<T> values(data, data + TF_TensorElementCount(tensor));
  TF_DeleteTensor(tensor);
  return values;
}
std::vector<std::string> Strings(TFE_TensorHandle* handle);
std::vector<int64_t> DimsOf(TFE_TensorHandle* handle);

}  // namespace tenon::eager
