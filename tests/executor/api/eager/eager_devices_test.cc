// Devices: the APU plug-in's, with memory that the host cannot touch, and custom ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "plugin/host/loading/loader.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/eager/eager_util.h"
#include "tests/support/paths.h"

namespace tenon::eager::eager_devices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kCpu[] = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr char kApu[] = "/job:localhost/replica:0/task:0/device:APU:0";

class ApuTest : public ::testing::Test {
 protected:
  ApuTest() {
    const auto info = LoadPlugin(tenon::testing::Built("lib/plugins/libapu.so"));
    EXPECT_TRUE(info.ok()) << info.status();
    context_ = NewContext();
    ctx_ = context_.get();
  }
  std::string DeviceOf(const Handle& handle) {
    return TFE_TensorHandleDeviceName(handle.get(), status_);
  }
  std::string MemoryOf(const Handle& handle) {
    return TFE_TensorHandleBackingDeviceName(handle.get(), status_);
  }
  CheckedStatus status_;
  ContextPointer context_;
  TFE_Context* ctx_ = nullptr;
  const Handle x_ = Of<float>({3}, {-1, 2, -3});
};

// As TensorFlow places them: on the plug-in's device where it has a kernel, else on the host.
TEST_F(ApuTest, OpsRunWhereTheirKernelsAre) {
  const Handle relu = RunOp(ctx_, "Relu", {x_.get()});
  EXPECT_EQ(DeviceOf(relu), kApu);
  EXPECT_EQ(MemoryOf(relu), kApu);
  EXPECT_THAT(Values<float>(relu.get()), ElementsAre(0, 2, 0));
  const Handle neg = RunOp(ctx_, "Neg", {relu.get()});
  EXPECT_EQ(DeviceOf(neg), kCpu);
  EXPECT_THAT(Values<float>(neg.get()), ElementsAre(0, -2, 0));
  const Handle again = RunOp(ctx_, "Relu", {relu.get()});
  EXPECT_THAT(Values<float>(again.get()), ElementsAre(0, 2, 0));
}

// device_count of a ConfigProto: {"APU": 0, "CPU": 2}.
TEST_F(ApuTest, AContextHasAsManyDevicesAsItsConfigAsksFor) {
  const std::string_view config(
      "\x0a\x07\x0a\x03"
      "APU\x10\x00\x0a\x07\x0a\x03"
      "CPU\x10\x02",
      18);
  ::testing::internal::CaptureStderr();
  const ContextPointer without = NewContext([&](TFE_ContextOptions* options) {
    TFE_ContextOptionsSetConfig(options, config.data(), config.size(), status_);
    EXPECT_EQ(status_.text(), "OK");
  });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("asks for 2 CPU devices"));
  TF_DeviceList* const list = TFE_ContextListDevices(without.get(), status_);
  EXPECT_EQ(TF_DeviceListCount(list), 1);
  TF_DeleteDeviceList(list);
}

TEST_F(ApuTest, AContextListsItsDevices) {
  TF_DeviceList* const list = TFE_ContextListDevices(ctx_, status_);
  ASSERT_EQ(TF_DeviceListCount(list), 2);
  EXPECT_STREQ(TF_DeviceListName(list, 0, status_), kCpu);
  EXPECT_STREQ(TF_DeviceListName(list, 1, status_), kApu);
  EXPECT_STREQ(TF_DeviceListType(list, 1, status_), "APU");
  const uint64_t incarnation = TF_DeviceListIncarnation(list, 1, status_);
  EXPECT_NE(incarnation, 0u);
  TF_DeleteDeviceList(list);

  TF_DeviceList* const again = TFE_ContextListDevices(ctx_, status_);
  EXPECT_EQ(TF_DeviceListIncarnation(again, 1, status_), incarnation);
  TF_DeleteDeviceList(again);
  const ContextPointer other = NewContext();
  TF_DeviceList* const others = TFE_ContextListDevices(other.get(), status_);
  EXPECT_NE(TF_DeviceListIncarnation(others, 1, status_), incarnation);
  TF_DeleteDeviceList(others);
}

TEST_F(ApuTest, AnOpMayAskForADevice) {
  const Handle on_cpu = RunOp(ctx_, "Relu", {x_.get()}, [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetDevice(op, "/CPU:0", status);
  });
  EXPECT_EQ(DeviceOf(on_cpu), kCpu);
  EXPECT_THAT(Values<float>(on_cpu.get()), ElementsAre(0, 2, 0));
  EXPECT_THAT(ErrorOf(ctx_, "Neg", {x_.get()},
                      [](TFE_Op* op) {
                        CheckedStatus status;
                        TFE_OpSetDevice(op, "/device:APU:0", status);
                      }),
              StartsWith("3 Could not satisfy device specification '/device:APU:0'. "
                         "enable_soft_placement=0. Supported device types [CPU]. All available "
                         "devices [/job:localhost/replica:0/task:0/device:CPU:0, "
                         "/job:localhost/replica:0/task:0/device:APU:0]."));
}

TEST_F(ApuTest, CopiesBetweenDevices) {
  const Handle there(TFE_TensorHandleCopyToDevice(x_.get(), ctx_, kApu, status_));
  ASSERT_EQ(status_.text(), "OK");
  EXPECT_EQ(DeviceOf(there), kApu);
  EXPECT_EQ(MemoryOf(there), kApu);
  EXPECT_STREQ(TFE_TensorHandleDeviceType(there.get(), status_), "APU");
  EXPECT_EQ(TFE_TensorHandleDeviceMemorySize(there.get(), status_), 12u);
  EXPECT_NE(TFE_TensorHandleDevicePointer(there.get(), status_), nullptr);
  const Handle back(TFE_TensorHandleCopyToDevice(there.get(), ctx_, "CPU:0", status_));
  EXPECT_EQ(MemoryOf(back), kCpu);
  EXPECT_THAT(Values<float>(back.get()), ElementsAre(-1, 2, -3));
  const Handle text = OfStrings({}, {"a"});
  EXPECT_EQ(TFE_TensorHandleCopyToDevice(text.get(), ctx_, kApu, status_), nullptr);
  EXPECT_EQ(status_.code(), TF_UNIMPLEMENTED);
}

// An op that only renames its input leaves it where it is.
TEST_F(ApuTest, MoversWorkInDeviceMemory) {
  const Handle there(TFE_TensorHandleCopyToDevice(x_.get(), ctx_, kApu, status_));
  const Handle same = RunOp(ctx_, "Identity", {there.get()});
  EXPECT_THAT(Values<float>(same.get()), ElementsAre(-1, 2, -3));
  const Handle shape = Of<int32_t>({2}, {3, 1});
  const Handle column = RunOp(ctx_, "Reshape", {there.get(), shape.get()});
  EXPECT_THAT(DimsOf(column.get()), ElementsAre(3, 1));
  EXPECT_THAT(Values<float>(column.get()), ElementsAre(-1, 2, -3));
}

TEST_F(ApuTest, VariablesLiveOnTheDevice) {
  const auto on_apu = [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetDevice(op, "/device:APU:0", status);
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  };
  const Handle variable = RunOp(ctx_, "VarHandleOp", {}, [&](TFE_Op* op) {
    CheckedStatus status;
    on_apu(op);
    TFE_OpSetAttrShape(op, "shape", nullptr, -1, status);
    TFE_OpSetAttrString(op, "shared_name", "v", 1);
  });
  EXPECT_EQ(DeviceOf(variable), kApu);
  EXPECT_EQ(MemoryOf(variable), kCpu);
  Execute(NewOp(ctx_, "AssignVariableOp", {variable.get(), x_.get()}).get(), 0);
  const Handle value = RunOp(ctx_, "ReadVariableOp", {variable.get()},
                             [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); });
  EXPECT_EQ(DeviceOf(value), kApu);
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Relu", {value.get()}).get()), ElementsAre(0, 2, 0));
}

TEST_F(ApuTest, PoliciesForbidCopies) {
  const Handle there = RunOp(ctx_, "Relu", {x_.get()});
  TFE_ContextSetThreadLocalDevicePlacementPolicy(ctx_, TFE_DEVICE_PLACEMENT_EXPLICIT);
  EXPECT_THAT(ErrorOf(ctx_, "Neg", {there.get()}),
              StartsWith("3 Tensors on conflicting devices: cannot compute Neg as input #0 was "
                         "expected to be on /job:localhost/replica:0/task:0/device:CPU:0 but is "
                         "actually on /job:localhost/replica:0/task:0/device:APU:0 (operation "
                         "running on /job:localhost/replica:0/task:0/device:CPU:0)"));
  TFE_ContextSetThreadLocalDevicePlacementPolicy(ctx_, TFE_DEVICE_PLACEMENT_WARN);
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Neg", {there.get()}).get()), ElementsAre(0, -2, 0));
}

// A custom device that keeps its tensors in handles on the host, and counts what it does.
struct Counts {
  int to = 0, from = 0, executed = 0, deleted = 0, freed = 0;
  bool pins = true;
};
constexpr char kCustom[] = "/job:localhost/replica:0/task:0/device:CUSTOM:0";

struct Kept {
  TFE_TensorHandle* handle;
  Counts* counts;
};

TFE_TensorHandle* Wrap(TFE_Context* context, TFE_TensorHandle* handle, Counts* counts,
                       TF_Status* status) {
  TFE_CustomDeviceTensorHandle methods;
  methods.num_dims = [](void* data, TF_Status* s) {
    return TFE_TensorHandleNumDims(static_cast<Kept*>(data)->handle, s);
  };
  methods.dim = [](void* data, int i, TF_Status* s) {
    return TFE_TensorHandleDim(static_cast<Kept*>(data)->handle, i, s);
  };
  methods.deallocator = [](void* data) {
    Kept* const kept = static_cast<Kept*>(data);
    ++kept->counts->freed;
    TFE_DeleteTensorHandle(kept->handle);
    delete kept;
  };
  return TFE_NewCustomDeviceTensorHandle(context, kCustom, TFE_TensorHandleDataType(handle),
                                         new Kept{handle, counts}, methods, status);
}

TFE_CustomDevice CountingDevice() {
  TFE_CustomDevice device;
  device.copy_tensor_to_device = [](TFE_Context* context, TFE_TensorHandle* tensor,
                                    TF_Status* status, void* info) {
    ++static_cast<Counts*>(info)->to;
    return Wrap(context, TFE_TensorHandleCopySharingTensor(tensor, status),
                static_cast<Counts*>(info), status);
  };
  device.copy_tensor_from_device = [](TFE_Context*, TFE_TensorHandle*, const char*,
                                      TF_Status* status, void* info) -> TFE_TensorHandle* {
    ++static_cast<Counts*>(info)->from;
    TF_SetStatus(status, TF_INTERNAL, "it stays here");
    return nullptr;
  };
  // Gives its first input back.
  device.execute = [](const TFE_Op* op, int* num_outputs, TFE_TensorHandle** outputs,
                      TF_Status* status, void* info) {
    ++static_cast<Counts*>(info)->executed;
    *num_outputs = 1;
    outputs[0] = TFE_TensorHandleCopySharingTensor(TFE_OpGetFlatInput(op, 0, status), status);
  };
  device.delete_device = [](void* info) { ++static_cast<Counts*>(info)->deleted; };
  device.shall_pin_to_this_device = nullptr;
  return device;
}

TEST(CustomDeviceTest, OpsGoToTheDeviceOfTheirInputs) {
  CheckedStatus status;
  Counts counts;
  ContextPointer context = NewContext();
  TFE_RegisterCustomDevice(context.get(), CountingDevice(), kCustom, &counts, status);
  ASSERT_EQ(status.text(), "OK");
  EXPECT_TRUE(TFE_IsCustomDevice(context.get(), kCustom));
  EXPECT_FALSE(TFE_IsCustomDevice(context.get(), kCpu));

  const Handle x = Of<float>({2, 1}, {1, 2});
  Handle there(TFE_TensorHandleCopyToDevice(x.get(), context.get(), kCustom, status));
  ASSERT_EQ(status.text(), "OK");
  EXPECT_EQ(counts.to, 1);
  EXPECT_THAT(DimsOf(there.get()), ElementsAre(2, 1));
  EXPECT_EQ(TFE_TensorHandleNumElements(there.get(), status), 2);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(there.get(), status), kCustom);
  EXPECT_STREQ(TFE_TensorHandleDeviceType(there.get(), status), "CUSTOM");

  Handle result = RunOp(context.get(), "AddV2", {there.get(), x.get()});
  EXPECT_EQ(counts.executed, 1);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(result.get(), status), kCustom);
  EXPECT_THAT(Values<float>(RunOp(context.get(), "AddV2", {x.get(), x.get()}).get()),
              ElementsAre(2, 4));
  EXPECT_EQ(counts.executed, 1);  // none of its inputs is on the device
  EXPECT_EQ(TFE_TensorHandleResolve(there.get(), status), nullptr);
  EXPECT_EQ(status.text(), "13 it stays here");
  EXPECT_THAT(ErrorOf(context.get(), "Neg", {there.get()},
                      [](TFE_Op* op) {
                        CheckedStatus s;
                        TFE_OpSetDevice(op, kCpu, s);
                      }),
              StartsWith("13 it stays here"));
  TFE_TensorHandle* handles[] = {there.get()};
  int count = 1;
  EXPECT_EQ(TFE_CreatePackedTensorHandle(context.get(), handles, &count, status), nullptr);
  EXPECT_EQ(status.code(), TF_UNIMPLEMENTED);
  there.reset();
  EXPECT_EQ(counts.freed, 0);  // `result` shares the tensor
  result.reset();
  EXPECT_EQ(counts.freed, 1);
  EXPECT_EQ(counts.deleted, 0);
  context.reset();
  EXPECT_EQ(counts.deleted, 1);
}

TEST(CustomDeviceTest, NamesAndStructsAreChecked) {
  CheckedStatus status;
  Counts counts;
  const ContextPointer context = NewContext();
  TFE_RegisterCustomDevice(context.get(), CountingDevice(), kCustom, &counts, status);
  TFE_RegisterCustomDevice(context.get(), CountingDevice(), kCustom, &counts, status);
  EXPECT_EQ(status.code(), TF_ALREADY_EXISTS);
  TFE_RegisterCustomDevice(context.get(), CountingDevice(), kCpu, &counts, status);
  EXPECT_EQ(status.code(), TF_ALREADY_EXISTS);
  TFE_RegisterCustomDevice(context.get(), CountingDevice(), "", &counts, status);
  EXPECT_EQ(status.code(), TF_ALREADY_EXISTS);
  for (const char* const name : {"CUSTOM:1", "/device:CUSTOM:1"}) {
    TFE_RegisterCustomDevice(context.get(), CountingDevice(), name, &counts, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT) << name;
  }
  TFE_CustomDevice empty = {};
  empty.version = TFE_CUSTOM_DEVICE_VERSION;
  TFE_RegisterCustomDevice(context.get(), empty, "/job:localhost/replica:0/task:0/device:E:0",
                           nullptr, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_RegisterCustomDevice(nullptr, CountingDevice(), kCustom, &counts, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(counts.deleted, 6);  // after an error the device is deleted
  EXPECT_EQ(TFE_NewCustomDeviceTensorHandle(context.get(), "none", TF_FLOAT, nullptr, {}, status),
            nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tenon::eager::eager_devices_test
