// Where ops with inputs on custom devices are executed, as in TensorFlow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/eager/dlpack.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;

constexpr char kCpu[] = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr char kFirst[] = "/job:localhost/replica:0/task:0/device:BOX:0";
constexpr char kSecond[] = "/job:localhost/replica:0/task:0/device:BOX:1";

// A custom device that keeps its tensors in handles on the host, and computes there.
struct Box {
  const char* name;
  int executed = 0;
};

TFE_TensorHandle* Put(TFE_Context* context, const Box& box, TFE_TensorHandle* handle,
                      TF_Status* status) {
  if (handle == nullptr) return nullptr;
  TFE_CustomDeviceTensorHandle methods;
  methods.num_dims = [](void* data, TF_Status* s) {
    return TFE_TensorHandleNumDims(static_cast<TFE_TensorHandle*>(data), s);
  };
  methods.dim = [](void* data, int i, TF_Status* s) {
    return TFE_TensorHandleDim(static_cast<TFE_TensorHandle*>(data), i, s);
  };
  methods.deallocator = [](void* data) {
    TFE_DeleteTensorHandle(static_cast<TFE_TensorHandle*>(data));
  };
  return TFE_NewCustomDeviceTensorHandle(context, box.name, TFE_TensorHandleDataType(handle),
                                         handle, methods, status);
}

// The op of the same name and attributes on what the boxes of its inputs contain.
void ExecuteInBox(const TFE_Op* op, int* num_outputs, TFE_TensorHandle** outputs, TF_Status* status,
                  void* info) {
  Box& box = *static_cast<Box*>(info);
  ++box.executed;
  TFE_Context* const context = TFE_OpGetContext(op, status);
  const Op inner(TFE_NewOp(context, TFE_OpGetName(op, status), status));
  TFE_OpAddAttrs(inner.get(), TFE_OpGetAttrs(op));
  const int inputs = TFE_OpGetFlatInputCount(op, status);
  for (int i = 0; i < inputs; ++i) {
    TFE_TensorHandle* const input = TFE_OpGetFlatInput(op, i, status);
    const bool here = std::string(TFE_TensorHandleDeviceName(input, status)) == box.name;
    void* const content = here ? TFE_TensorHandleDevicePointer(input, status) : input;
    TFE_OpAddInput(inner.get(), static_cast<TFE_TensorHandle*>(content), status);
  }
  TFE_Execute(inner.get(), outputs, num_outputs, status);
  for (int i = 0; TF_GetCode(status) == TF_OK && i < *num_outputs; ++i)
    outputs[i] = Put(context, box, outputs[i], status);
}

class CustomPlacementTest : public ::testing::Test {
 protected:
  // Without `pin` the device has no function that chooses ops.
  void Register(Box* box, bool (*pin)(const TFE_Op*, TF_Status*)) {
    TFE_CustomDevice device;
    device.copy_tensor_to_device = [](TFE_Context* context, TFE_TensorHandle* tensor,
                                      TF_Status* status, void* info) {
      return Put(context, *static_cast<Box*>(info),
                 TFE_TensorHandleCopySharingTensor(tensor, status), status);
    };
    device.copy_tensor_from_device = [](TFE_Context*, TFE_TensorHandle*, const char*,
                                        TF_Status* status, void*) -> TFE_TensorHandle* {
      TF_SetStatus(status, TF_INTERNAL, "it stays here");
      return nullptr;
    };
    device.execute = ExecuteInBox;
    device.delete_device = [](void*) {};
    device.shall_pin_to_this_device = pin;
    TFE_RegisterCustomDevice(ctx_, device, box->name, box, status_);
    ASSERT_EQ(status_.text(), "OK");
  }
  Handle In(const Box& box) {
    return Handle(TFE_TensorHandleCopyToDevice(x_.get(), ctx_, box.name, status_));
  }
  // The device of the sum of two inputs, where the caller asks for `device` or for none; else the
  // error.
  std::string PlaceOf(const Handle& a, const Handle& b, const char* device = nullptr) {
    const Op op = NewOp(ctx_, "AddV2", {a.get(), b.get()});
    if (device != nullptr) TFE_OpSetDevice(op.get(), device, status_);
    const std::vector<Handle> results = Execute(op.get(), 1, status_);
    return status_.code() == TF_OK ? TFE_TensorHandleDeviceName(results[0].get(), status_)
                                   : status_.text();
  }
  CheckedStatus status_;
  Box first_{kFirst}, second_{kSecond};
  const ContextPointer context_ = NewContext();
  TFE_Context* const ctx_ = context_.get();
  const Handle x_ = Of<float>({2}, {1, 2});
};

TEST_F(CustomPlacementTest, WithoutAFunctionTheCallersWishCounts) {
  Register(&first_, nullptr);
  Register(&second_, nullptr);
  const Handle there = In(first_), other = In(second_);
  EXPECT_EQ(PlaceOf(x_, x_), kCpu);
  EXPECT_EQ(PlaceOf(there, x_), kFirst);
  EXPECT_EQ(PlaceOf(x_, there), kFirst);
  EXPECT_EQ(PlaceOf(x_, x_, kSecond), kSecond);
  EXPECT_EQ(PlaceOf(there, x_, kCpu), "13 it stays here");
  EXPECT_EQ(PlaceOf(there, other),
            std::string("3 If an operation has one of its inputs in a custom device, then all "
                        "inputs should be on that same custom device or another physical device. "
                        "Operation AddV2 has one input in custom device ") +
                kFirst + " and at least one input in a different custom device " + kSecond);
}

// As in TensorFlow; a device of the host takes the inputs.
TEST_F(CustomPlacementTest, AnOpKeepsItsInputsThere) {
  Register(&first_, nullptr);
  const Handle there = In(first_);
  for (const auto& [input, left] : {std::pair(there.get(), 2), std::pair(x_.get(), 0)}) {
    const Op op = NewOp(ctx_, "AddV2", {input, input});
    Execute(op.get(), 1);
    EXPECT_EQ(TFE_OpGetFlatInputCount(op.get(), status_), left);
  }
}

TEST_F(CustomPlacementTest, TensorsThereHaveNoAddress) {
  Register(&first_, nullptr);
  const Handle there = In(first_);
  EXPECT_EQ(TFE_GetDLDevice(there.get(), status_), nullptr);
  EXPECT_EQ(status_.text(), "3 a tensor of a custom device has no address");
  EXPECT_EQ(TFE_HandleToDLPack(there.get(), status_), nullptr);
  EXPECT_EQ(status_.text(), "3 a tensor of a custom device has no address");
}

TEST_F(CustomPlacementTest, AFunctionOfTheDeviceDecides) {
  Register(&first_, [](const TFE_Op*, TF_Status*) { return true; });
  Register(&second_, [](const TFE_Op*, TF_Status*) { return false; });
  const Handle there = In(first_), other = In(second_);
  EXPECT_EQ(PlaceOf(there, x_), kFirst);
  EXPECT_EQ(PlaceOf(there, x_, kCpu), kFirst);
  EXPECT_EQ(PlaceOf(there, x_, kSecond), kFirst);
  EXPECT_EQ(PlaceOf(other, x_), "13 it stays here");
  EXPECT_EQ(PlaceOf(other, x_, kSecond), kSecond);
}

TEST_F(CustomPlacementTest, OpsGoToTheirVariable) {
  Register(&first_, nullptr);
  const Handle variable = RunOp(ctx_, "VarHandleOp", {}, [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    TFE_OpSetAttrShape(op, "shape", nullptr, -1, status);
    TFE_OpSetDevice(op, kFirst, status);
  });
  const Op assign = NewOp(ctx_, "AssignVariableOp", {variable.get(), x_.get()});
  TFE_OpSetDevice(assign.get(), kCpu, status_);  // in vain
  Execute(assign.get(), 0);
  const Handle value = RunOp(ctx_, "ReadVariableOp", {variable.get()},
                             [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); });
  EXPECT_EQ(first_.executed, 3);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(value.get(), status_), kFirst);
  auto* const content =
      static_cast<TFE_TensorHandle*>(TFE_TensorHandleDevicePointer(value.get(), status_));
  EXPECT_THAT(Values<float>(content), ElementsAre(1, 2));
  Execute(NewOp(ctx_, "DestroyResourceOp", {variable.get()}).get(), 0);
  EXPECT_EQ(first_.executed, 4);
}

}  // namespace
}  // namespace tenon::eager
