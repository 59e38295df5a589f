// Tensor handles that a call into a kernel lends: what a plug-in may do with them, while the call
// lasts and afterwards, on any thread.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "tensorflow/c/tf_tensor.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"

namespace tenon::testing {
namespace {

std::function<void(TF_OpKernelContext*)> compute;

class TensorHandles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    RegisterTestOp("HandleOp", {"x: float"}, {"y: float"}, {});
    RegisterTestKernel("HandleOp", "CPU", nullptr,
                       [](void*, TF_OpKernelContext* context) { compute(context); });
  }
  // Runs the kernel on `x`, whose buffer it may have.
  Computed Run(Tensor x) {
    auto kernel = TestNode("HandleOp", {}).CreateKernel();
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    std::vector<Tensor> inputs;
    inputs.push_back(std::move(x));
    return RunKernel(**kernel, std::move(inputs), 1);
  }
};

TF_Tensor* Input(TF_OpKernelContext* context) {
  S status;
  TF_Tensor* handle = nullptr;
  TF_GetInput(context, 0, &handle, status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  return handle;
}

// The output, and whether it is the input's buffer.
bool Forwards(TF_OpKernelContext* context) {
  S status;
  const int candidate = 0;
  int forwarded = 7;
  TF_Tensor* const output =
      TF_ForwardInputOrAllocateOutput(context, &candidate, 1, 0, nullptr, 0, &forwarded, status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  *static_cast<float*>(TF_TensorData(output)) = 9;
  TF_DeleteTensor(output);
  return forwarded == 0;
}

float Value(const TF_Tensor* handle) { return *static_cast<float*>(TF_TensorData(handle)); }

TEST_F(TensorHandles, AnInputWithAHandleIsNotForwarded) {
  compute = [](TF_OpKernelContext* context) {
    TF_Tensor* const first = Input(context);
    TF_Tensor* const second = Input(context);
    TF_DeleteTensor(first);
    EXPECT_FALSE(Forwards(context));
    EXPECT_EQ(Value(second), 5);
    TF_DeleteTensor(second);
  };
  EXPECT_TRUE(Run(Scalar(DataType::kFloat, 5.0f)).status.ok());
  compute = [](TF_OpKernelContext* context) {
    TF_DeleteTensor(Input(context));
    EXPECT_TRUE(Forwards(context));
  };
  EXPECT_TRUE(Run(Scalar(DataType::kFloat, 5.0f)).status.ok());
}

TEST_F(TensorHandles, MemoryOfAPluginIsNotForwarded) {
  compute = [](TF_OpKernelContext* context) { EXPECT_FALSE(Forwards(context)); };
  alignas(64) float mine = 5;
  EXPECT_TRUE(Run(Tensor(DataType::kFloat, {},
                         BufferRef::Adopt(Buffer::Wrap(&mine, sizeof(mine), nullptr, nullptr))))
                  .status.ok());
  EXPECT_EQ(mine, 5);
}

TEST_F(TensorHandles, WhatIsKeptOutlivesTheCall) {
  std::vector<TF_Tensor*> kept;
  compute = [&](TF_OpKernelContext* context) {
    for (int i = 0; i < 20; ++i) kept.push_back(Input(context));  // more than are lent
    S status;
    kept.push_back(TF_AllocateOutput(context, 0, TF_FLOAT, nullptr, 0, sizeof(float), status));
    *static_cast<float*>(TF_TensorData(kept.back())) = 6;
    EXPECT_EQ(TF_TensorMaybeMove(kept.front()), nullptr);
  };
  Computed run = Run(Scalar(DataType::kFloat, 5.0f));
  EXPECT_TRUE(run.status.ok()) << run.status;
  run.outputs.clear();
  for (TF_Tensor* handle : kept) {
    EXPECT_EQ(Value(handle), handle == kept.back() ? 6 : 5);
    TF_DeleteTensor(handle);
  }
}

TEST_F(TensorHandles, MayBeDeletedElsewhere) {
  std::thread during, after;
  compute = [&](TF_OpKernelContext* context) {
    TF_Tensor* const first = Input(context);
    TF_Tensor* const second = Input(context);
    TF_Tensor* const third = Input(context);
    during = std::thread([=] {
      EXPECT_EQ(Value(first), 5);
      TF_DeleteTensor(first);
    });
    after = std::thread([second, &during] {
      during.join();
      EXPECT_EQ(Value(second), 5);
      TF_DeleteTensor(second);
    });
    TF_DeleteTensor(third);
    Forwards(context);
  };
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(Run(Scalar(DataType::kFloat, 5.0f)).status.ok());
    after.join();
  }
}

TEST_F(TensorHandles, MayBeGivenAnotherShape) {
  TF_Tensor* kept = nullptr;
  compute = [&](TF_OpKernelContext* context) {
    const int64_t dims[] = {1, 1};
    kept = Input(context);
    TF_SetShape(kept, dims, 2);
    EXPECT_EQ(TF_NumDims(kept), 2);
    TF_Tensor* const bits = Input(context);
    S status;
    TF_TensorBitcastFrom(kept, TF_INT32, bits, dims, 1, status);
    EXPECT_EQ(status.code(), TF_OK) << status.message();
    EXPECT_EQ(TF_TensorData(bits), TF_TensorData(kept));
    TF_DeleteTensor(bits);
    EXPECT_FALSE(Forwards(context));
  };
  EXPECT_TRUE(Run(Scalar(DataType::kFloat, 5.0f)).status.ok());
  EXPECT_EQ(Value(kept), 5);
  EXPECT_EQ(TF_NumDims(kept), 2);
  TF_DeleteTensor(kept);
}

}  // namespace
}  // namespace tenon::testing
