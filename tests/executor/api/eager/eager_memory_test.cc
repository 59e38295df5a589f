// The memory behind handles: device memory, host tensors, DLPack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/eager/dlpack.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

void CountEnd(void*, size_t, void* count) { ++*static_cast<int*>(count); }

class EagerMemoryTest : public ::testing::Test {
 protected:
  Handle FromMemory(const char* device, TF_DataType type, size_t length) {
    return Handle(TFE_NewTensorHandleFromDeviceMemory(ctx_, device, type, dims_, 2, data_, length,
                                                      CountEnd, &ended_, status_));
  }
  CheckedStatus status_;
  const ContextPointer context_ = NewContext();
  TFE_Context* const ctx_ = context_.get();
  alignas(64) float data_[6] = {1, 2, 3, 4, 5, 6};
  int64_t dims_[2] = {2, 3};
  int ended_ = 0;
};

TEST_F(EagerMemoryTest, MemoryOfTheCaller) {
  Handle handle = FromMemory("/job:localhost/replica:0/task:0/device:CPU:0", TF_FLOAT, 24);
  ASSERT_EQ(status_.text(), "OK");
  EXPECT_EQ(TFE_TensorHandleDevicePointer(handle.get(), status_), data_);
  EXPECT_EQ(TFE_TensorHandleDeviceMemorySize(handle.get(), status_), 24u);
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Neg", {handle.get()}).get()),
              ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_EQ(ended_, 0);
  handle.reset();
  EXPECT_EQ(ended_, 1);
}

TEST_F(EagerMemoryTest, ErrorsGiveTheMemoryBack) {
  EXPECT_EQ(FromMemory("foo", TF_FLOAT, 24), nullptr);
  EXPECT_EQ(status_.text(), "3 foo unknown device.");
  EXPECT_EQ(FromMemory("/device:CPU:0", TF_FLOAT, 20), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(FromMemory("/device:CPU:0", TF_STRING, 24), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  dims_[0] = -2;
  EXPECT_EQ(FromMemory("/device:CPU:0", TF_FLOAT, 24), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(ended_, 4);
}

// Kernels load aligned vectors.
TEST_F(EagerMemoryTest, UnalignedMemoryIsFine) {
  const int64_t dims[] = {4};
  const Handle handle(TFE_NewTensorHandleFromDeviceMemory(
      ctx_, nullptr, TF_FLOAT, dims, 1, data_ + 1, 16, nullptr, nullptr, status_));
  EXPECT_THAT(Values<float>(RunOp(ctx_, "AddV2", {handle.get(), handle.get()}).get()),
              ElementsAre(4, 6, 8, 10));
  EXPECT_THAT(Values<float>(handle.get()), ElementsAre(2, 3, 4, 5));
}

TEST_F(EagerMemoryTest, StringsHaveNoAddress) {
  const Handle text = OfStrings({}, {"a"});
  EXPECT_EQ(TFE_TensorHandleDevicePointer(text.get(), status_), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_TensorHandleDeviceMemorySize(text.get(), status_), 0u);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
}

TEST_F(EagerMemoryTest, HostTensors) {
  TF_Tensor* const tensor = TFE_AllocateHostTensor(ctx_, TF_FLOAT, dims_, 2, status_);
  ASSERT_EQ(status_.text(), "OK");
  EXPECT_EQ(TF_TensorByteSize(tensor), 24u);
  std::copy(data_, data_ + 6, static_cast<float*>(TF_TensorData(tensor)));
  const Handle handle(TFE_NewTensorHandleFromTensor(ctx_, tensor, status_));
  TF_DeleteTensor(tensor);
  EXPECT_THAT(Values<float>(handle.get()), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(TFE_AllocateHostTensor(ctx_, static_cast<TF_DataType>(999), dims_, 2, status_),
            nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  dims_[1] = -1;
  EXPECT_EQ(TFE_AllocateHostTensor(ctx_, TF_FLOAT, dims_, 2, status_), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
}

TEST_F(EagerMemoryTest, CopiesAndLayouts) {
  const Handle handle = FromMemory(nullptr, TF_FLOAT, 24);
  for (const char* const name :
       {"CPU:0", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", ""}) {
    const Handle copy(TFE_TensorHandleCopyToDevice(handle.get(), ctx_, name, status_));
    EXPECT_EQ(status_.text(), "OK") << name;
    EXPECT_EQ(TFE_TensorHandleDevicePointer(copy.get(), status_), data_);
  }
  EXPECT_EQ(TFE_TensorHandleCopyToDevice(handle.get(), ctx_, "/device:GPU:0", status_), nullptr);
  EXPECT_EQ(status_.text(), "3 /device:GPU:0 unknown device.");
  const Handle shared(TFE_TensorHandleCopySharingTensor(handle.get(), status_));
  EXPECT_EQ(TFE_TensorHandleDevicePointer(shared.get(), status_), data_);
  TFE_TensorDebugInfo* const info = TFE_TensorHandleTensorDebugInfo(handle.get(), status_);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceNumDims(info), 2);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceDim(info, 1), 3);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceDim(info, 2), -1);
  TFE_DeleteTensorDebugInfo(info);
  EXPECT_STREQ(TFE_TensorHandleDeviceType(handle.get(), status_), "CPU");
  EXPECT_EQ(TFE_TensorHandleDeviceID(handle.get(), status_), 0);
}

// DLPack's structs, as the receiver of a tensor declares them.
struct DLTensor {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};

TEST_F(EagerMemoryTest, DlpackLendsATensor) {
  Handle handle = FromMemory(nullptr, TF_FLOAT, 24);
  auto* const lent = static_cast<DLManagedTensor*>(TFE_HandleToDLPack(handle.get(), status_));
  ASSERT_EQ(status_.text(), "OK");
  EXPECT_EQ(lent->tensor.data, data_);
  EXPECT_EQ(lent->tensor.device_type, 1);
  EXPECT_THAT((std::vector<int>{lent->tensor.code, lent->tensor.bits, lent->tensor.lanes}),
              ElementsAre(2, 32, 1));
  EXPECT_THAT(std::vector<int64_t>(lent->tensor.shape, lent->tensor.shape + 2), ElementsAre(2, 3));
  EXPECT_THAT(std::vector<int64_t>(lent->tensor.strides, lent->tensor.strides + 2),
              ElementsAre(3, 1));
  handle.reset();
  EXPECT_EQ(ended_, 0);  // the receiver still has it
  Handle back(TFE_HandleFromDLPack(lent, status_, ctx_));
  ASSERT_EQ(status_.text(), "OK");
  EXPECT_EQ(TFE_TensorHandleDevicePointer(back.get(), status_), data_);
  back.reset();
  EXPECT_EQ(ended_, 1);
  const Handle text = OfStrings({}, {"a"});
  EXPECT_EQ(TFE_HandleToDLPack(text.get(), status_), nullptr);
  EXPECT_EQ(status_.text(), "3 DT_STRING is not supported by dlpack");
}

TEST_F(EagerMemoryTest, DlpackTypesAndLayouts) {
  int64_t rows[] = {3, 1}, columns[] = {1, 2};
  struct Case {
    int code, bits, lanes, device;
    int64_t* strides;
    uint64_t offset;
    const char* expected;
  };
  const Case cases[] = {
      {2, 32, 1, 1, nullptr, 0, "OK"},
      {2, 32, 1, 1, rows, 0, "OK"},
      {6, 8, 1, 1, nullptr, 0, "OK"},
      {4, 16, 1, 1, nullptr, 0, "OK"},
      {2, 32, 1, 1, columns, 0, "3 Invalid strides array from DLPack"},
      {2, 32, 1, 1, nullptr, 4, "3 Unsupported byte_offset (4) from DLPack, must be zero"},
      {2, 32, 2, 1, nullptr, 0, "3 Unsupported lanes: 2"},
      {2, 31, 1, 1, nullptr, 0, "3 Unsupported Float bits: 31"},
      {1, 1, 1, 1, nullptr, 0, "3 Unsupported UInt bits: 1"},
      {3, 64, 1, 1, nullptr, 0, "3 Unsupported Type Codes: 3"},
      {9, 8, 1, 1, nullptr, 0, "3 Unsupported Type Codes: 9"},
      {2, 32, 1, 2, nullptr, 0, "3 Unsupported Device Type"},
  };
  static int deleted;
  for (const Case& c : cases) {
    DLManagedTensor managed = {
        {data_, c.device, 0, 2, static_cast<uint8_t>(c.code), static_cast<uint8_t>(c.bits),
         static_cast<uint16_t>(c.lanes), dims_, c.strides, c.offset},
        nullptr,
        [](DLManagedTensor*) { ++deleted; }};
    deleted = 0;
    Handle handle(TFE_HandleFromDLPack(&managed, status_, ctx_));
    EXPECT_EQ(status_.text(), c.expected);
    handle.reset();
    EXPECT_EQ(deleted, status_.code() == TF_OK ? 1 : 0);
  }
  EXPECT_EQ(TFE_HandleFromDLPack(nullptr, status_, ctx_), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
}

// Strides count only where they lead from one element to another.
TEST_F(EagerMemoryTest, DlpackStridesOfOneRowAndOfNothing) {
  struct Case {
    std::vector<int64_t> dims, strides;
    bool fine;
  };
  const Case cases[] = {
      {{4, 1}, {1, 0}, true},
      {{1, 4}, {0, 1}, true},
      {{4, 0, 2}, {0, 2, 0}, true},
      {{0, 4}, {7, 3}, true},
      {{2, 2}, {4, 1}, false},
      {{2, 3}, {1, 2}, false},
      {{int64_t{1} << 32, int64_t{1} << 32, 16}, {}, false},
      {{-1, 4}, {}, false},
  };
  for (const Case& c : cases) {
    std::vector<int64_t> dims = c.dims, strides = c.strides;
    DLManagedTensor managed = {{data_, 1, 0, static_cast<int32_t>(dims.size()), 2, 32, 1,
                                dims.data(), strides.empty() ? nullptr : strides.data(), 0},
                               nullptr,
                               nullptr};
    const Handle handle(TFE_HandleFromDLPack(&managed, status_, ctx_));
    EXPECT_EQ(status_.code() == TF_OK, c.fine) << ::testing::PrintToString(c.dims);
    if (c.fine) {
      EXPECT_EQ(DimsOf(handle.get()), c.dims);
    }
  }
}

// A copy wants one of the names that a device has; a part of a name is none.
TEST(CopyNamesTest, NamesOfDevicesForCopies) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  const Handle x = Of<float>({1}, {7});
  for (const char* const name :
       {"", "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/cpu:0",
        "/device:CPU:0", "CPU:0"}) {
    const Handle copy(TFE_TensorHandleCopyToDevice(x.get(), context.get(), name, status));
    ASSERT_EQ(status.text(), "OK") << name;
    EXPECT_THAT(Values<float>(copy.get()), ::testing::ElementsAre(7));
  }
  for (const char* const name :
       {"/cpu:0", "/CPU:0", "cpu:0", "/task:0", "/job:localhost", "/device:CPU:*", "/device:cpu:0",
        "/device:CPU:1", "/job:localhost/replica:0/task:0/CPU:0", "/"}) {
    EXPECT_EQ(TFE_TensorHandleCopyToDevice(x.get(), context.get(), name, status), nullptr);
    EXPECT_EQ(status.text(), std::string("3 ") + name + " unknown device.");
  }
}

}  // namespace
}  // namespace tenon::eager
