// TensorFlow's cases for a kernel's context in the C API: outputs, temporaries, forwarding,
// streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/c_api/c_api_internal.h"
#include "plugin/host/c_api/kernels/variable_access.h"
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"
#include "tensorflow/c/kernels.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"
#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon {
namespace {

using testing::Computed;
using ::testing::HasSubstr;
using testing::RegisterTestKernel;
using testing::RegisterTestOp;
using testing::RunKernel;
using testing::S;
using testing::Scalar;
using ::testing::StartsWith;
using testing::TestNode;

// Runs `compute` on a CPU node with `inputs`.
Computed Compute(const std::string& op, void (*compute)(void*, TF_OpKernelContext*),
                 std::vector<Tensor> inputs, int outputs) {
  RegisterTestKernel(op, "CPU", nullptr, compute);
  auto kernel = TestNode(op, {}).CreateKernel();
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return RunKernel(**kernel, std::move(inputs), outputs);
}

TEST(DeviceKernelOpTest, TestStream) {
  RegisterTestOp("StreamOp", {}, {}, {});
  Compute(
      "StreamOp",
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        EXPECT_EQ(TF_GetStream(ctx, status), nullptr);
        EXPECT_EQ(status.code(), TF_FAILED_PRECONDITION);
        EXPECT_EQ(status.message(), "Accessing device stream is not supported for a CPU device.");
      },
      {}, 0);
}

template <int... kDims>
void AllocateShape(void*, TF_OpKernelContext* ctx) {
  const int64_t dims[] = {kDims..., 0};
  S status;
  TF_Tensor* output = TF_AllocateOutput(ctx, 0, TF_INT64, dims, sizeof...(kDims), 1,
                                        status);  // type and length are not looked at
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(TF_TensorType(output), TF_FLOAT);
  EXPECT_EQ(TF_NumDims(output), static_cast<int>(sizeof...(kDims)));
  EXPECT_EQ(TF_TensorByteSize(output), (4 * ... * kDims));
  EXPECT_TRUE(TF_TensorIsAligned(output));
  float* data = static_cast<float*>(TF_TensorData(output));
  for (int64_t i = 0; i < TF_TensorElementCount(output); ++i) data[i] = static_cast<float>(i + 1);
  TF_DeleteTensor(output);
}

TEST(DeviceKernelOpTest, TestAllocateOutput) {
  RegisterTestOp("AllocateOutputOp1", {}, {"o: float"}, {});
  RegisterTestOp("AllocateOutputOp0", {}, {"o: float"}, {});
  RegisterTestOp("AllocateOutputOp2x3", {}, {"o: float"}, {});
  Computed one = Compute("AllocateOutputOp1", AllocateShape<1>, {}, 1);
  ASSERT_TRUE(one.status.ok()) << one.status;
  EXPECT_EQ(one.outputs[0].shape(), Shape({1}));
  EXPECT_EQ(*one.outputs[0].flat<float>(), 1);
  Computed empty = Compute("AllocateOutputOp0", AllocateShape<0>, {}, 1);
  ASSERT_TRUE(empty.status.ok());
  EXPECT_EQ(empty.outputs[0].shape(), Shape({0}));
  Computed six = Compute("AllocateOutputOp2x3", AllocateShape<2, 3>, {}, 1);
  ASSERT_TRUE(six.status.ok());
  EXPECT_EQ(six.outputs[0].shape(), Shape({2, 3}));
  EXPECT_EQ(six.outputs[0].flat<float>()[5], 6);
}

TEST(DeviceKernelOpTest, AllocateOutputErrors) {
  RegisterTestOp("AllocateErrors", {}, {"a: float", "b: float", "c: Ref(float)"}, {});
  const absl::Status result =
      Compute(
          "AllocateErrors",
          [](void*, TF_OpKernelContext* ctx) {
            S status;
            EXPECT_EQ(TF_AllocateOutput(ctx, 8, TF_FLOAT, nullptr, 0, 4, status), nullptr);
            EXPECT_EQ(status.code(), TF_INTERNAL);
            EXPECT_EQ(status.message(), "allocate_output with bad index=8 num_outputs=3 kernel=n");
            TF_AllocateOutput(ctx, -1, TF_FLOAT, nullptr, 0, 4, status);
            EXPECT_EQ(status.message(), "allocate_output with bad index=-1 kernel=n");
            TF_DeleteTensor(TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, status));
            EXPECT_EQ(status.code(), TF_OK);
            EXPECT_EQ(TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, status), nullptr);
            EXPECT_EQ(status.code(), TF_INTERNAL);
            EXPECT_THAT(status.message(),
                        StartsWith("allocate_output on same index multiple times. index = 0 "
                                   "mutable_output(index) = 0x"));
            EXPECT_THAT(status.message(), HasSubstr(" kernel=n"));
            EXPECT_EQ(TF_AllocateOutput(ctx, 2, TF_FLOAT, nullptr, 0, 4, status), nullptr);
            EXPECT_EQ(status.code(), TF_INTERNAL);
            const int64_t negative = -1;
            EXPECT_EQ(TF_AllocateOutput(ctx, 1, TF_FLOAT, &negative, 1, 4, status), nullptr);
            EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
            const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 20};
            EXPECT_EQ(TF_AllocateOutput(ctx, 1, TF_FLOAT, huge, 2, 4, status), nullptr);
            EXPECT_EQ(status.code(), TF_RESOURCE_EXHAUSTED);
            EXPECT_THAT(status.message(),
                        StartsWith("OOM when allocating tensor with shape[1099511627776,1048576] "
                                   "and type float on /job:localhost/replica:0/task:0/device:CPU:0 "
                                   "by allocator cpu: "));
          },
          {}, 3)
          .status;
  EXPECT_THAT(result.message(), StartsWith("Missing 1-th output"));
}

TEST(DeviceKernelOpTest, TestAllocateTemp) {
  RegisterTestOp("AllocateTempOp", {}, {"o: float"}, {});
  Computed run = Compute(
      "AllocateTempOp",
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        TF_AllocatorAttributes attrs{};
        const int64_t dims[] = {2, 3};
        EXPECT_EQ(TF_AllocateTemp(ctx, TF_FLOAT, dims, 2, &attrs, status), nullptr);
        EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
        EXPECT_EQ(status.message(),
                  "TF_AllocatorAttributes struct size member must be set to "
                  "TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE");
        const auto reference = static_cast<TF_DataType>(TF_FLOAT + 100);
        EXPECT_EQ(TF_AllocateTemp(ctx, reference, dims, 2, nullptr, status), nullptr);
        EXPECT_EQ(status.message(), "no tensor can have type 101");
        attrs.struct_size = TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE;
        attrs.on_host = 1;
        const int64_t zero = 0;
        TF_Tensor* empty = TF_AllocateTemp(ctx, TF_FLOAT, &zero, 1, nullptr, status);
        EXPECT_EQ(TF_TensorByteSize(empty), 0u);
        TF_DeleteTensor(empty);
        TF_Tensor* temp = TF_AllocateTemp(ctx, TF_FLOAT, dims, 2, &attrs, status);
        ASSERT_EQ(status.code(), TF_OK);
        EXPECT_EQ(TF_TensorByteSize(temp), 24u);
        static_cast<float*>(TF_TensorData(temp))[5] = 6;
        TF_SetOutput(ctx, 0, temp, status);
        EXPECT_EQ(status.code(), TF_OK);
        TF_DeleteTensor(temp);
      },
      {}, 1);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.outputs[0].flat<float>()[5], 6);
}

// Infos of one variable share its lock, which ends with the last of them.
TEST(DeviceKernelOpTest, TheInfosOfAVariableShareItsLock) {
  RegisterTestOp("LockTwice", {"i: resource"}, {}, {});
  static Variable* variable;
  const auto made = ObjectRef<Variable>::Make("v");
  variable = made.get();
  Tensor handle = *Tensor::Allocate(DataType::kResource, Shape());
  handle.SetObject(0, made);
  const Computed run = Compute(
      "LockTwice",
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        TF_VariableInfo* infos[2];
        for (TF_VariableInfo*& info : infos)
          info = TF_CreateVariableInfoFromContext(ctx, 0, status);
        TF_LockVariableInfos(infos, 2, status);
        TF_LockVariableInfos(infos, 1, status);  // a second time: no second use
        EXPECT_EQ(status.code(), TF_OK);
        TF_DeleteVariableInfo(infos[0]);
        EXPECT_TRUE(Holds(ctx, variable));
        TF_DeleteVariableInfo(infos[1]);
        EXPECT_FALSE(Holds(ctx, variable));
      },
      {handle}, 0);
  EXPECT_TRUE(run.status.ok()) << run.status;
}

TEST(DeviceKernelOpTest, SetOutputOfAnotherType) {
  RegisterTestOp("WrongType", {"i: int32", "j: int64"}, {"a: float", "b: float"}, {});
  Computed run = Compute(
      "WrongType",
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        TF_Tensor* input = nullptr;
        for (int i = 0; i < 2; ++i) {  // of the output's size, and of another
          TF_GetInput(ctx, i, &input, status);
          TF_SetOutput(ctx, i, input, status);
          EXPECT_EQ(status.code(), TF_INTERNAL);
          TF_DeleteTensor(input);
        }
      },
      {Scalar<int32_t>(DataType::kInt32, 1), Scalar<int64_t>(DataType::kInt64, 1)}, 2);
  EXPECT_EQ(run.status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(run.status.message(),
              StartsWith("Output 0 of type int32 does not match declared output type float for "
                         "node {{node n}}"));
}

TEST(DeviceKernelOpTest, TestGetKernelInfo) {
  RegisterTestOp("InfoOp", {"input1: double", "input2: uint8", "input3: N * float"}, {},
                 {"N: int"});
  RegisterTestKernel("InfoOp", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    const auto text = [](TF_StringView v) { return std::string(v.data, v.len); };
    EXPECT_EQ(text(TF_GetOpKernelName(ctx)), "InfoNode");
    EXPECT_EQ(text(TF_GetOpKernelRequestedInput(ctx, 0)), "foo_1");
    EXPECT_EQ(text(TF_GetOpKernelRequestedInput(ctx, 1)), "bar:1");
    EXPECT_EQ(text(TF_GetOpKernelRequestedInput(ctx, 9)), "");
    EXPECT_EQ(text(TF_GetDeviceName(ctx)), "/job:localhost/replica:0/task:0/device:CPU:0");
    EXPECT_EQ(text(TF_GetResourceMgrDefaultContainerName(ctx)), "localhost");
    EXPECT_EQ(TF_GetDeviceId(ctx), 0);
    EXPECT_EQ(TF_GetGraphDefVersion(ctx), 1234);
    EXPECT_EQ(TF_GetFrameId(ctx), 0u);
    EXPECT_EQ(TF_GetIterId(ctx), 0);
    S status;
    TF_InputRange_Args args{};
    args.status = status;
    TF_InputRange(ctx, "input3", &args);
    EXPECT_EQ(status.code(), TF_OK);
    EXPECT_EQ(args.start, 2);
    EXPECT_EQ(args.stop, 5);
    TF_InputRange(ctx, nullptr, &args);
    EXPECT_EQ(status.message(), "Unknown input name: ");
    TF_InputRange(ctx, "nothing", &args);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(args.start, -1);
    EXPECT_EQ(args.stop, -1);
    TF_Buffer* buffer = TF_NewBufferFromString("x", 1);
    TF_GetSerializedConfigProto(ctx, buffer, status);
    EXPECT_EQ(status.message(), "Passing non-empty TF_Buffer is invalid.");
    TF_DeleteBuffer(buffer);
  });
  auto kernel =
      TestNode("InfoOp", {{"N", attr::Int(3)}}, "InfoNode", {"foo_1", "bar:1"}).CreateKernel();
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Tensor f = Scalar(DataType::kFloat, 1.0f);
  EXPECT_TRUE(
      RunKernel(**kernel,
                {Scalar(DataType::kDouble, 1.0), Scalar<uint8_t>(DataType::kUint8, 1), f, f, f}, 0)
          .status.ok());
}

int forwarded_input = 0;
void Forward(void*, TF_OpKernelContext* ctx) {
  S status;
  const int candidates[] = {3, 0};
  int forwarded = 7;
  TF_Tensor* output =
      TF_ForwardInputOrAllocateOutput(ctx, candidates, 1, 0, nullptr, 0, &forwarded, status);
  EXPECT_EQ(output, nullptr);
  EXPECT_EQ(status.code(), TF_OUT_OF_RANGE);
  output =
      TF_ForwardInputOrAllocateOutput(ctx, candidates + 1, 1, 0, nullptr, 0, &forwarded, status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  forwarded_input = forwarded;
  EXPECT_EQ(TF_NumDims(output), 0);
  TF_DeleteTensor(output);
}

TEST(DeviceKernelOpTest, TestForwardInputOrAllocateOutput) {
  RegisterTestOp("ForwardOp", {"input1: float", "input2: float"}, {"output1: float"}, {});
  Tensor input = Scalar(DataType::kFloat, 123.0f);
  const Tensor other = Scalar(DataType::kFloat, 234.0f);
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(input));
  inputs.push_back(other);
  RegisterTestKernel("ForwardOp", "CPU", nullptr, Forward);
  auto kernel = TestNode("ForwardOp", {}).CreateKernel();
  Computed run = RunKernel(**kernel, std::move(inputs), 1);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(forwarded_input, 0);
  EXPECT_EQ(*run.outputs[0].flat<float>(), 123);
  // A second reference, here the test's own, and nothing is forwarded.
  const Tensor shared = Scalar(DataType::kFloat, 5.0f);
  run = RunKernel(**kernel, {shared, other}, 1);
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(forwarded_input, -1);
  EXPECT_NE(run.outputs[0].data(), shared.data());
}

TEST(DeviceKernelOpTest, OutputsAndStreamOfADevice) {
  auto device = testing::StartStub(testing::DefaultStub());
  ASSERT_TRUE(device.ok());
  RegisterTestOp("OnDevice", {}, {"a: float", "b: float"}, {});
  TF_KernelBuilder* builder = TF_NewKernelBuilder(
      "OnDevice", "GPU", nullptr,
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        EXPECT_EQ(TF_GetStream(ctx, status), nullptr);  // the stub's streams are null
        EXPECT_EQ(status.code(), TF_OK);
        const int64_t dims[] = {5};
        TF_DeleteTensor(TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, 20, status));
        TF_DeleteTensor(TF_AllocateOutput(ctx, 1, TF_FLOAT, dims, 1, 20, status));
      },
      nullptr);
  TF_KernelBuilder_HostMemory(builder, "b");
  S status;
  TF_RegisterKernelBuilder("K", builder, status);
  auto kernel = TestNode("OnDevice", {}).CreateKernel("GPU", device->get());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  Computed run = RunKernel(**kernel, {}, 2);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_FALSE(run.outputs[0].buffer()->owned());
  EXPECT_TRUE(run.outputs[1].buffer()->owned());
}

// A thread of the plug-in may come when the host has given up the call, and the device is gone.
TEST(DeviceKernelOpTest, ALateThreadGetsNothingOfADeviceThatIsGone) {
  auto device = testing::StartStub(testing::DefaultStub());
  ASSERT_TRUE(device.ok());
  RegisterTestOp("LateOnDevice", {}, {}, {});
  static TF_OpKernelContext* late;
  RegisterTestKernel("LateOnDevice", "GPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    TF_IncNumDeferredOps(ctx);
    late = ctx;
  });
  auto kernel = TestNode("LateOnDevice", {}).CreateKernel("GPU", device->get());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(RunKernel(**kernel, {}, 0, 0.01).status.code(), absl::StatusCode::kDeadlineExceeded);
  kernel->reset();
  device->reset();
  S status;
  EXPECT_EQ(TF_GetStream(late, status), nullptr);
  EXPECT_EQ(status.code(), TF_FAILED_PRECONDITION) << status.message();
  const int64_t dims[] = {5};
  EXPECT_EQ(TF_AllocateTemp(late, TF_FLOAT, dims, 1, nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_FAILED_PRECONDITION) << status.message();
  EXPECT_EQ(TF_GetDeviceId(late), 0);
}

}  // namespace
}  // namespace tenon
