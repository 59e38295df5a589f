// TensorFlow's cases for statuses, buffers, tensors and strings of the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>

#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/tensor/tensor_proto.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_shape.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon {
namespace {

TEST(CAPI, Status) {
  TF_Status* s = TF_NewStatus();
  EXPECT_EQ(TF_GetCode(s), TF_OK);
  EXPECT_STREQ(TF_Message(s), "");
  TF_SetStatus(s, TF_CANCELLED, "cancel");
  EXPECT_EQ(TSL_GetCode(s), TSL_CANCELLED);
  EXPECT_STREQ(TSL_Message(s), "cancel");
  TF_SetStatus(s, TF_INTERNAL, TF_Message(s));
  EXPECT_STREQ(TF_Message(s), "cancel");
  TF_SetStatus(s, TF_OK, "dropped");
  EXPECT_STREQ(TF_Message(s), "");
  TF_SetStatusFromIOError(s, ENOENT, "file.txt");
  EXPECT_EQ(TF_GetCode(s), TF_NOT_FOUND);
  EXPECT_STREQ(TF_Message(s), "file.txt; No such file or directory");
  TF_DeleteStatus(s);
}

std::map<std::string, std::string> Payloads(const TF_Status* s) {
  std::map<std::string, std::string> payloads;
  TF_ForEachPayload(
      s,
      [](const char* key, const char* value, void* map) {
        (*static_cast<decltype(payloads)*>(map))[key] = value;
      },
      &payloads);
  return payloads;
}

TEST(CAPI, PayloadsSet) {
  TSL_Status* s = TSL_NewStatus();
  TSL_SetPayload(s, "a", "1");  // OK: ignored
  EXPECT_TRUE(Payloads(s).empty());
  TSL_SetStatus(s, TSL_CANCELLED, "Error Message");
  for (const char* key : {"a", "b", "c"}) TSL_SetPayload(s, key, key);
  TSL_SetPayload(s, "b", "other");
  EXPECT_EQ(Payloads(s),
            (std::map<std::string, std::string>{{"a", "a"}, {"b", "other"}, {"c", "c"}}));
  TF_SetStatus(s, TF_ABORTED, "x");
  EXPECT_TRUE(Payloads(s).empty());
  TSL_DeleteStatus(s);
}

TEST(CAPI, StatusHelper) {
  absl::Status status = absl::InvalidArgumentError("message");
  status.SetPayload("key1", absl::Cord("value1"));
  status.SetPayload("key2", absl::Cord("value2"));
  TF_Status* c = TF_NewStatus();
  StatusToC(status, c);
  EXPECT_EQ(TF_GetCode(c), TF_INVALID_ARGUMENT);
  EXPECT_STREQ(TF_Message(c), "message");
  EXPECT_EQ(StatusFromC(c), status);
  TF_SetStatus(c, static_cast<TF_Code>(77), "odd");
  EXPECT_EQ(TF_GetCode(c), TF_UNKNOWN);
  EXPECT_EQ(StatusFromC(c), absl::UnknownError("odd"));
  TF_SetStatus(c, static_cast<TF_Code>(-1), "");
  EXPECT_EQ(TF_GetCode(c), TF_UNKNOWN);
  EXPECT_STREQ(TF_Message(c), "");
  EXPECT_EQ(StatusFromC(c), absl::UnknownError("(no message)"));
  TF_SetStatusFromIOError(c, ENOENT, "file");
  EXPECT_EQ(TF_GetCode(c), TF_NOT_FOUND);
  TF_SetStatusFromIOError(c, EBADFD, "file");
  EXPECT_EQ(TF_GetCode(c), TF_UNKNOWN);
  TF_DeleteStatus(c);
}

TEST(CAPI, DeletingNullPointerIsSafe) {
  TF_DeleteStatus(nullptr);
  TF_DeleteBuffer(nullptr);
  TF_DeleteTensor(nullptr);
  TF_DeleteShape(nullptr);
}

TEST(CAPI, Buffers) {
  // Nothing has so many bytes, and nobody asks for the memory.
  const size_t too_many = static_cast<size_t>(-1);
  EXPECT_EQ(nullptr, TF_NewBufferFromString("bytes", too_many));
  TF_Buffer* b = TF_NewBufferFromString("bytes", 5);
  EXPECT_EQ(BufferBytes(TF_GetBuffer(b)), "bytes");
  TF_DeleteBuffer(b);
  b = TF_NewBuffer();
  EXPECT_EQ(b->data, nullptr);
  EXPECT_EQ(b->length, 0u);
  static int deleted;
  deleted = 0;
  b->data = &deleted;
  b->length = 7;
  b->data_deallocator = [](void* data, size_t length) {
    deleted += data == &deleted && length == 7;
  };
  TF_DeleteBuffer(b);
  EXPECT_EQ(deleted, 1);
}

TEST(CAPI, Shape) {
  TF_Shape* shape = TF_NewShape();
  EXPECT_EQ(TF_ShapeDims(shape), -1);
  EXPECT_EQ(TF_ShapeDimSize(shape, 0), -1);
  TF_DeleteShape(shape);
}

TEST(CAPI, DataTypeSizes) {
  EXPECT_EQ(TF_DataTypeSize(TF_FLOAT), 4u);
  EXPECT_EQ(TF_DataTypeSize(TF_COMPLEX128), 16u);
  EXPECT_EQ(TF_DataTypeSize(TF_INT4), 1u);
  for (const int none : {0, 7, 20, 21, 34, 101, -1, 4711})
    EXPECT_EQ(TF_DataTypeSize(static_cast<TF_DataType>(none)), 0u) << none;
}

// --- Tensors.

struct Deallocations {
  int count = 0;
};
void CountDeallocation(void*, size_t, void* arg) { ++static_cast<Deallocations*>(arg)->count; }

TEST(CAPI, TensorIsDeallocatedWithItsHandle) {
  Deallocations deallocations;
  alignas(64) float values[6] = {};
  const int64_t dims[] = {2, 3};
  TF_Tensor* t =
      TF_NewTensor(TF_FLOAT, dims, 2, values, sizeof(values), CountDeallocation, &deallocations);
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(deallocations.count, 0);
  EXPECT_EQ(TF_TensorType(t), TF_FLOAT);
  EXPECT_EQ(TF_NumDims(t), 2);
  EXPECT_EQ(TF_Dim(t, 1), 3);
  EXPECT_EQ(TF_TensorByteSize(t), sizeof(values));
  EXPECT_EQ(TF_TensorElementCount(t), 6);
  EXPECT_EQ(TF_TensorData(t), values);
  EXPECT_TRUE(TF_TensorIsAligned(t));
  const int64_t other[] = {6};
  TF_SetShape(t, other, 1);
  EXPECT_EQ(TF_NumDims(t), 1);
  const int64_t wrong[] = {7};
  TF_SetShape(t, wrong, 1);
  EXPECT_EQ(TF_Dim(t, 0), 6);
  TF_DeleteTensor(t);
  EXPECT_EQ(deallocations.count, 1);
}

TEST(CAPI, UnalignedDataIsCopied) {
  Deallocations deallocations;
  alignas(64) char storage[64 + 4] = {};
  float* values = reinterpret_cast<float*>(storage + 4);
  *values = 3;
  TF_Tensor* t =
      TF_NewTensor(TF_FLOAT, nullptr, 0, values, sizeof(float), CountDeallocation, &deallocations);
  EXPECT_EQ(deallocations.count, 1);
  EXPECT_NE(TF_TensorData(t), values);
  EXPECT_EQ(*static_cast<float*>(TF_TensorData(t)), 3);
  EXPECT_TRUE(TF_TensorIsAligned(t));
  TF_DeleteTensor(t);
  EXPECT_EQ(deallocations.count, 1);
  EXPECT_EQ(TF_TensorDefaultAlignment(), 64u);
}

TEST(CAPI, MalformedTensor) {
  Deallocations deallocations;
  const int64_t negative[] = {-1};
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(TF_NewTensor(TF_FLOAT, nullptr, 0, nullptr, 0, CountDeallocation, &deallocations),
            nullptr);
  EXPECT_EQ(TF_NewTensor(TF_FLOAT, negative, 1, nullptr, 0, CountDeallocation, &deallocations),
            nullptr);
  EXPECT_EQ(TF_NewTensor(TF_FLOAT, huge, 2, nullptr, 0, CountDeallocation, &deallocations),
            nullptr);
  EXPECT_EQ(TF_NewTensor(static_cast<TF_DataType>(99), nullptr, 0, nullptr, 0, CountDeallocation,
                         &deallocations),
            nullptr);
  EXPECT_EQ(TF_NewTensor(TF_FLOAT, nullptr, 0, nullptr, 4, CountDeallocation, &deallocations),
            nullptr);
  EXPECT_EQ(TF_AllocateTensor(TF_FLOAT, huge, 2, 8), nullptr);
  EXPECT_EQ(deallocations.count, 5);
}

TEST(CAPI, NoTensorHasElementsThatItsBytesAreNot) {
  Deallocations deallocations;
  alignas(64) char bytes[4 * sizeof(TF_TString)] = {};
  const int64_t dims[] = {4};
  const auto make = [&](int type, size_t len) {
    return TF_NewTensor(static_cast<TF_DataType>(type), dims, 1, bytes, len, CountDeallocation,
                        &deallocations);
  };
  EXPECT_EQ(make(TF_STRING, 0), nullptr);
  EXPECT_EQ(make(TF_STRING, sizeof(bytes) - 1), nullptr);
  EXPECT_EQ(make(TF_RESOURCE, sizeof(bytes)), nullptr);
  EXPECT_EQ(make(TF_VARIANT, sizeof(bytes)), nullptr);
  EXPECT_EQ(make(TF_FLOAT + 100, sizeof(bytes)), nullptr);
  EXPECT_EQ(deallocations.count, 5);
  TF_Tensor* strings = make(TF_STRING, sizeof(bytes));
  ASSERT_NE(strings, nullptr);
  TF_DeleteTensor(strings);
  EXPECT_EQ(deallocations.count, 6);
  EXPECT_EQ(TF_AllocateTensor(static_cast<TF_DataType>(TF_FLOAT + 100), dims, 1, 16), nullptr);
  for (const TF_DataType type : {TF_STRING, TF_RESOURCE, TF_VARIANT}) {
    TF_Tensor* empty = TF_AllocateTensor(type, dims, 1, 0);
    EXPECT_EQ(TF_TensorElementCount(empty), 4);
    TF_DeleteTensor(empty);
  }
}

TEST(CAPI, AllocateTensor) {
  const int64_t dims[] = {4};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 1, 100);
  EXPECT_EQ(TF_TensorByteSize(t), 100u);
  EXPECT_EQ(TF_TensorElementCount(t), 4);
  EXPECT_TRUE(TF_TensorIsAligned(t));
  TF_DeleteTensor(t);
}

TEST(CAPI, MaybeMove) {
  TF_Tensor* own = TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4);
  EXPECT_EQ(TF_TensorMaybeMove(own), own);
  TF_Tensor* second = NewTensorHandle(own->value());
  EXPECT_EQ(TF_TensorMaybeMove(own), nullptr);
  TF_DeleteTensor(second);
  TF_DeleteTensor(own);
  alignas(64) float value = 0;
  TF_Tensor* foreign = TF_NewTensor(TF_FLOAT, nullptr, 0, &value, 4, nullptr, nullptr);
  EXPECT_EQ(TF_TensorMaybeMove(foreign), nullptr);
  TF_DeleteTensor(foreign);
}

TEST(CAPI, TestBitcastFrom_Reshape) {
  const int64_t dims[] = {2, 3};
  const int64_t new_dims[] = {3, 2, 1};
  TF_Status* status = TF_NewStatus();
  TF_Tensor* a = TF_AllocateTensor(TF_UINT64, dims, 2, 48);
  TF_Tensor* b = TF_AllocateTensor(TF_UINT64, nullptr, 0, 8);
  TF_TensorBitcastFrom(a, TF_UINT64, b, new_dims, 3, status);
  ASSERT_EQ(TF_GetCode(status), TF_OK);
  EXPECT_EQ(TF_NumDims(b), 3);
  EXPECT_EQ(TF_TensorByteSize(b), 48u);
  static_cast<uint64_t*>(TF_TensorData(a))[3] = 7;
  EXPECT_EQ(static_cast<uint64_t*>(TF_TensorData(b))[3], 7u);
  EXPECT_EQ(TF_TensorMaybeMove(b), nullptr);
  TF_TensorBitcastFrom(a, TF_UINT64, b, new_dims, 1, status);
  EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  EXPECT_STREQ(TF_Message(status), "input and output shapes/data type sizes are not compatible");
  const int64_t negative[] = {-6};
  TF_TensorBitcastFrom(a, TF_UINT64, b, negative, 1, status);
  EXPECT_STREQ(TF_Message(status), "Expected a non-negative size, got -6");
  TF_TensorBitcastFrom(a, TF_STRING, b, new_dims, 1, status);
  EXPECT_STREQ(TF_Message(status), "specified output type is zero-sized");
  TF_Tensor* s = TF_AllocateTensor(TF_STRING, nullptr, 0, 24);
  TF_TensorBitcastFrom(s, TF_UINT8, b, new_dims, 1, status);
  EXPECT_STREQ(TF_Message(status), "other tensor has zero-sized data type");
  for (TF_Tensor* t : {a, b, s}) TF_DeleteTensor(t);
  TF_DeleteStatus(status);
}

TEST(CAPI, TensorEncodeDecodeStrings) {
  const std::vector<std::string> values = {
      "", "small", "longer than the twenty-two bytes that lie in the element"};
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  TF_Tensor* t = TF_AllocateTensor(TF_STRING, dims, 1, values.size() * sizeof(TF_TString));
  auto* elements = static_cast<TF_TString*>(TF_TensorData(t));
  for (size_t i = 0; i < values.size(); ++i) {
    TF_StringInit(&elements[i]);
    TF_StringCopy(&elements[i], values[i].data(), values[i].size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::string(TF_StringGetDataPointer(&elements[i]), TF_StringGetSize(&elements[i])),
              values[i]);
  }
  EXPECT_EQ(TF_StringGetType(&elements[1]), TF_TSTR_SMALL);
  EXPECT_EQ(TF_StringGetType(&elements[2]), TF_TSTR_LARGE);
  TF_DeleteTensor(t);  // and with it the long string
}

TEST(CAPI, TestFromProto) {
  const std::vector<int32_t> values = {1, 2, 3};
  const std::string wire = *TensorToWire(Tensor::Of<int32_t>(DataType::kInt32, values, Shape({3})));
  TF_Buffer* buffer = TF_NewBufferFromString(wire.data(), wire.size());
  TF_Status* status = TF_NewStatus();
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4);
  TF_TensorFromProto(buffer, t, status);
  ASSERT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  EXPECT_EQ(TF_TensorType(t), TF_INT32);
  EXPECT_EQ(static_cast<int32_t*>(TF_TensorData(t))[2], 3);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBufferFromString("\x0a\x7f", 2);
  TF_TensorFromProto(buffer, t, status);
  EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  EXPECT_STREQ(TF_Message(status), "Unparseable tensorflow.TensorProto proto");
  TF_DeleteBuffer(buffer);
  TF_DeleteTensor(t);
  TF_DeleteStatus(status);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Ends with 0 if `make` gives null at last, in a process that may have little more memory.
int ExitCodeWithoutMemory(void* (*make)()) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {1, 1};  // no memory beyond what the allocator has
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 10'000'000; ++i) {
      if (make() == nullptr) _exit(0);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(CAPI, NoExceptionLeavesAFunctionWithoutMemory) {
  EXPECT_EQ(ExitCodeWithoutMemory([]() -> void* { return TF_NewBuffer(); }), 0);
  EXPECT_EQ(ExitCodeWithoutMemory([]() -> void* { return TF_NewBufferFromString("four", 4); }), 0);
  EXPECT_EQ(ExitCodeWithoutMemory([]() -> void* { return TF_NewStatus(); }), 0);
}
#endif

}  // namespace
}  // namespace tenon
