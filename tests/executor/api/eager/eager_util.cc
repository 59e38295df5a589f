#include "tests/executor/api/eager/eager_util.h"

#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::eager {

std::string CheckedStatus::text() const {
  return code() == TF_OK ? "OK" : absl::StrCat(static_cast<int>(code()), " ", message());
}

ContextPointer NewContext(const std::function<void(TFE_ContextOptions*)>& set) {
  CheckedStatus status;
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  if (set) set(options);
  ContextPointer context(TFE_NewContext(options, status));
  EXPECT_EQ(status.text(), "OK");
  TFE_DeleteContextOptions(options);
  return context;
}

template <>
TF_DataType TypeOf<float>() {
  return TF_FLOAT;
}
template <>
TF_DataType TypeOf<double>() {
  return TF_DOUBLE;
}
template <>
TF_DataType TypeOf<int32_t>() {
  return TF_INT32;
}
template <>
TF_DataType TypeOf<int64_t>() {
  return TF_INT64;
}
template <>
TF_DataType TypeOf<uint8_t>() {
  return TF_UINT8;
}

Handle NewHandle(TF_DataType type, const std::vector<int64_t>& dims, const void* data,
                 size_t bytes) {
  CheckedStatus status;
  TF_Tensor* const tensor =
      TF_AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), bytes);
  if (bytes > 0) std::memcpy(TF_TensorData(tensor), data, bytes);
  Handle handle(TFE_NewTensorHandle(tensor, status));
  EXPECT_EQ(status.text(), "OK");
  TF_DeleteTensor(tensor);
  return handle;
}

Handle OfStrings(const std::vector<int64_t>& dims, const std::vector<std::string>& values) {
  CheckedStatus status;
  TF_Tensor* const tensor = TF_AllocateTensor(TF_STRING, dims.data(), static_cast<int>(dims.size()),
                                              values.size() * sizeof(TF_TString));
  auto* const strings = static_cast<TF_TString*>(TF_TensorData(tensor));
  for (size_t i = 0; i < values.size(); ++i)
    TF_StringCopy(&strings[i], values[i].data(), values[i].size());
  Handle handle(TFE_NewTensorHandle(tensor, status));
  EXPECT_EQ(status.text(), "OK");
  TF_DeleteTensor(tensor);
  return handle;
}

Op NewOp(TFE_Context* context, const char* name, std::initializer_list<TFE_TensorHandle*> inputs) {
  CheckedStatus status;
  Op op(TFE_NewOp(context, name, status));
  EXPECT_EQ(status.text(), "OK");
  for (TFE_TensorHandle* const input : inputs) {
    TFE_OpAddInput(op.get(), input, status);
    EXPECT_EQ(status.text(), "OK");
  }
  return op;
}

std::vector<Handle> Execute(TFE_Op* op, int results, TF_Status* status) {
  std::vector<TFE_TensorHandle*> handles(results);
  CheckedStatus own;
  TFE_Execute(op, handles.data(), &results, status != nullptr ? status : own);
  EXPECT_EQ(own.text(), "OK");
  if (TF_GetCode(status != nullptr ? status : own) != TF_OK) return {};
  std::vector<Handle> owned;
  for (int i = 0; i < results; ++i) owned.emplace_back(handles[i]);
  return owned;
}

Handle RunOp(TFE_Context* context, const char* name,
             std::initializer_list<TFE_TensorHandle*> inputs,
             const std::function<void(TFE_Op*)>& set) {
  const Op op = NewOp(context, name, inputs);
  if (set) set(op.get());
  std::vector<Handle> results = Execute(op.get(), 1);
  EXPECT_EQ(results.size(), 1u) << name;
  return results.empty() ? nullptr : std::move(results[0]);
}

std::string ErrorOf(TFE_Context* context, const char* name,
                    std::initializer_list<TFE_TensorHandle*> inputs,
                    const std::function<void(TFE_Op*)>& set) {
  const Op op = NewOp(context, name, inputs);
  if (set) set(op.get());
  CheckedStatus status;
  EXPECT_TRUE(Execute(op.get(), 8, status).empty());
  return status.text();
}

std::vector<std::string> Strings(TFE_TensorHandle* handle) {
  CheckedStatus status;
  TF_Tensor* const tensor = TFE_TensorHandleResolve(handle, status);
  if (tensor == nullptr) return {};
  std::vector<std::string> values;
  const auto* const strings = static_cast<const TF_TString*>(TF_TensorData(tensor));
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i)
    values.emplace_back(TF_StringGetDataPointer(&strings[i]), TF_StringGetSize(&strings[i]));
  TF_DeleteTensor(tensor);
  return values;
}

std::vector<int64_t> DimsOf(TFE_TensorHandle* handle) {
  CheckedStatus status;
  std::vector<int64_t> dims;
  const int rank = TFE_TensorHandleNumDims(handle, status);
  for (int i = 0; i < rank; ++i) dims.push_back(TFE_TensorHandleDim(handle, i, status));
  EXPECT_EQ(status.text(), "OK");
  return dims;
}

}  // namespace tenon::eager
