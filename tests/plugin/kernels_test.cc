// TensorFlow's cases for the kernel C API: registration and contexts; and what a host
// answers where TensorFlow aborts.
#include "tensorflow/c/kernels.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "graph/c_api/c_api_internal.h"
#include "proto/kernel_def.pb.h"
#include "tests/plugin/kernel_node_util.h"
#include "tests/plugin/stub_device_util.h"

namespace tenon {
namespace {

using testing::Computed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RegisterTestKernel;
using testing::RegisterTestOp;
using testing::RunKernel;
using testing::S;
using testing::Scalar;
using ::testing::StartsWith;
using testing::TestNode;

pb::KernelList Kernels(const char* op) {
  S status;
  TF_Buffer* buffer = TF_GetRegisteredKernelsForOp(op, status);
  EXPECT_EQ(status.code(), TF_OK);
  pb::KernelList list;
  EXPECT_TRUE(list.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
  TF_DeleteBuffer(buffer);
  return list;
}

// Counters of the callbacks of one test.
struct Counts {
  int created = 0, computed = 0, deleted = 0;
};
Counts counts;

void* CountCreate(TF_OpKernelConstruction*) {
  ++counts.created;
  return &counts;
}
void CountCompute(void* kernel, TF_OpKernelContext* ctx) {
  EXPECT_EQ(kernel, &counts);
  ++counts.computed;
  if (ctx == nullptr) return;
  EXPECT_EQ(TF_StepId(ctx), 43);
  EXPECT_EQ(TF_GetStepId(ctx), 43);
}
void CountDelete(void* kernel) {
  EXPECT_EQ(kernel, &counts);
  ++counts.deleted;
}

// --- Registration.

TEST(TestKernel, TestRegisterKernelBuilder) {
  counts = Counts();
  RegisterTestOp("FooOp", {"input1: double", "input2: uint8"}, {}, {});
  RegisterTestKernel("FooOp", "FakeDeviceName", CountCreate, CountCompute, CountDelete);
  const pb::KernelList list = Kernels("FooOp");
  ASSERT_EQ(list.kernel_size(), 1);
  EXPECT_EQ(list.kernel(0).op(), "FooOp");
  EXPECT_EQ(list.kernel(0).device_type(), "FakeDeviceName");
  {
    auto kernel = TestNode("FooOp", {}).CreateKernel("FakeDeviceName");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_EQ(counts.created, 1);
    EXPECT_TRUE(RunKernel(**kernel,
                          {Scalar(DataType::kDouble, 1.0), Scalar<uint8_t>(DataType::kUint8, 1)}, 0)
                    .status.ok());
    EXPECT_EQ(counts.computed, 1);
    EXPECT_EQ(counts.deleted, 0);
  }
  EXPECT_EQ(counts.deleted, 1);
}

TEST(TestKernel, RegisterKernelBuilderWithKernelDef) {
  pb::KernelDef def;
  def.set_op("FooOpWithDef");
  def.set_device_type("FakeDeviceName2");
  def.set_label("cpu");
  def.set_priority(3);
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder("FooOpWithDef", "OtherDevice", CountCreate, CountCompute, CountDelete);
  S status;
  TF_RegisterKernelBuilderWithKernelDef(def.SerializeAsString().c_str(), "TestKernel", builder,
                                        status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  ASSERT_EQ(Kernels("FooOpWithDef").kernel_size(), 1);
  EXPECT_EQ(Kernels("FooOpWithDef").kernel(0).DebugString(), def.DebugString());
  builder =
      TF_NewKernelBuilder("FooOpWithDef", "OtherDevice", CountCreate, CountCompute, CountDelete);
  TF_RegisterKernelBuilderWithKernelDef("\x0a\x7f", "TestKernel", builder, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(status.message(), "Error parsing serialized KernelDef.");
}

TEST(TestKernel, DeleteKernelBuilder) {
  TF_DeleteKernelBuilder(nullptr);
  TF_DeleteKernelBuilder(TF_NewKernelBuilder("X", "CPU", nullptr, CountCompute, nullptr));
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder("RegisteredAndDeleted", "CPU", nullptr, CountCompute, nullptr);
  S status;
  TF_RegisterKernelBuilder("K", builder, status);
  EXPECT_EQ(status.code(), TF_OK);
  TF_DeleteKernelBuilder(builder);  // the registry's now
  TF_RegisterKernelBuilder("K", builder, status);
  EXPECT_EQ(status.code(), TF_FAILED_PRECONDITION);
  EXPECT_EQ(Kernels("RegisteredAndDeleted").kernel_size(), 1);
}

TEST(TestKernel, NoKernels) {
  EXPECT_EQ(Kernels("Unknown").kernel_size(), 0);
  EXPECT_EQ(Kernels("").kernel_size(), 0);
}

class TypeConstraint : public ::testing::TestWithParam<TF_DataType> {};

TEST_P(TypeConstraint, IsInTheKernelDef) {
  const std::string op = absl::StrCat("SomeOp", static_cast<int>(GetParam()));
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder(op.c_str(), "FakeDevice", nullptr, CountCompute, nullptr);
  S status;
  TF_KernelBuilder_TypeConstraint(builder, "T", GetParam(), status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  TF_RegisterKernelBuilder("K", builder, status);
  const pb::KernelList list = Kernels(op.c_str());
  pb::KernelDef expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat(
          "op: '", op,
          "' device_type: 'FakeDevice' constraint { name: 'T' allowed_values { list { type: ",
          DataTypeName(DataTypeFromC(GetParam())), " } } }"),
      &expected));
  ASSERT_EQ(list.kernel_size(), 1);
  EXPECT_EQ(list.kernel(0).DebugString(), expected.DebugString());
}

INSTANTIATE_TEST_SUITE_P(All, TypeConstraint,
                         ::testing::Values(TF_HALF, TF_BFLOAT16, TF_FLOAT, TF_DOUBLE, TF_UINT64,
                                           TF_UINT32, TF_UINT16, TF_UINT8, TF_INT8, TF_INT32,
                                           TF_COMPLEX64, TF_COMPLEX128, TF_QINT8, TF_QUINT8,
                                           TF_QINT32, TF_QINT16, TF_QUINT16));

TEST(TestKernel, TypesThatCannotConstrain) {
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder("SomeOp", "FakeDevice", nullptr, CountCompute, nullptr);
  for (const int type :
       {4711, 0, 101, static_cast<int>(TF_FLOAT8_E5M2), static_cast<int>(TF_INT4)}) {
    S status;
    TF_KernelBuilder_TypeConstraint(builder, "T", static_cast<TF_DataType>(type), status);
    EXPECT_EQ(status.code(), TF_UNIMPLEMENTED);
    EXPECT_EQ(status.message(), absl::StrCat("Unexpected type ", type));
  }
  TF_DeleteKernelBuilder(builder);
}

TEST(TestKernel, TestHostMemory) {
  RegisterTestOp("HostMemoryOp", {"input1: double", "input2: uint8"}, {"output1: uint8"},
                 {"T: type"});
  TF_KernelBuilder* builder = TF_NewKernelBuilder(
      "HostMemoryOp", "HostDevice", nullptr,
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        EXPECT_FALSE(TF_IsHostMemoryInput(ctx, 0, status));
        EXPECT_EQ(status.code(), TF_OK);
        EXPECT_TRUE(TF_IsHostMemoryInput(ctx, 1, status));
        EXPECT_EQ(status.code(), TF_OK);
        EXPECT_TRUE(TF_IsHostMemoryOutput(ctx, 0, status));
        EXPECT_EQ(status.code(), TF_OK);
        for (const int bad : {-1, 2}) {
          EXPECT_FALSE(TF_IsHostMemoryInput(ctx, bad, status));
          EXPECT_EQ(status.code(), TF_OUT_OF_RANGE);
          EXPECT_FALSE(TF_IsHostMemoryOutput(ctx, bad, status));
          EXPECT_EQ(status.code(), TF_OUT_OF_RANGE);
        }
      },
      nullptr);
  TF_KernelBuilder_HostMemory(builder, "input2");
  TF_KernelBuilder_HostMemory(builder, "output1");
  S status;
  TF_RegisterKernelBuilder("HostMemoryOp", builder, status);
  const pb::KernelList list = Kernels("HostMemoryOp");
  ASSERT_EQ(list.kernel_size(), 1);
  EXPECT_THAT(list.kernel(0).host_memory_arg(), ElementsAre("input2", "output1"));
  auto kernel =
      TestNode("HostMemoryOp", {{"T", attr::Type(DataType::kFloat)}}).CreateKernel("HostDevice");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  RunKernel(**kernel, {Scalar(DataType::kDouble, 1.0), Scalar<uint8_t>(DataType::kUint8, 1)}, 1);
}

TEST(TestKernel, UnknownHostMemoryArg) {
  RegisterTestOp("HostMemoryTypo", {"a: float"}, {}, {});
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder("HostMemoryTypo", "CPU", nullptr, CountCompute, nullptr);
  TF_KernelBuilder_HostMemory(builder, "x");
  S status;
  TF_RegisterKernelBuilder("K", builder, status);
  const absl::Status created = TestNode("HostMemoryTypo", {}).CreateKernel().status();
  EXPECT_EQ(created.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(created.message(), StartsWith("HostMemory args 'x' not found in OpDef: "));
}

// --- Execution.

TEST(TestKernel, TestInputAndOutputCount) {
  RegisterTestOp("BarOp", {"input1: double", "input2: uint8"}, {"output1: uint8"}, {});
  RegisterTestKernel("BarOp", "CountDevice", nullptr, [](void*, TF_OpKernelContext* ctx) {
    EXPECT_EQ(TF_NumInputs(ctx), 2);
    EXPECT_EQ(TF_NumOutputs(ctx), 1);
    S status;
    TF_Tensor* input = nullptr;
    TF_GetInput(ctx, 1, &input, status);
    EXPECT_EQ(status.code(), TF_OK);
    EXPECT_EQ(*static_cast<uint8_t*>(TF_TensorData(input)), 123);
    TF_Tensor* const kept = input;
    for (const int bad : {-1, 3}) {
      TF_GetInput(ctx, bad, &input, status);
      EXPECT_EQ(status.code(), TF_OUT_OF_RANGE);
      EXPECT_EQ(status.message(), "input index out of range");
      EXPECT_EQ(input, kept);
    }
    TF_SetOutput(ctx, 24, input, status);
    EXPECT_EQ(status.code(), TF_OUT_OF_RANGE);
    EXPECT_EQ(status.message(), "output index out of range");
    EXPECT_EQ(TF_GetMutableOutput(ctx, -1, status), nullptr);
    EXPECT_EQ(status.code(), TF_OUT_OF_RANGE);
    EXPECT_EQ(TF_GetMutableOutput(ctx, 0, status), nullptr);
    EXPECT_EQ(status.code(), TF_FAILED_PRECONDITION);
    TF_SetOutput(ctx, 0, input, status);
    EXPECT_EQ(status.code(), TF_OK);
    TF_SetOutput(ctx, 0, input, status);  // TensorFlow aborts
    EXPECT_EQ(status.code(), TF_INTERNAL);
    TF_DeleteTensor(input);
    TF_Tensor* output = TF_GetMutableOutput(ctx, 0, status);
    EXPECT_EQ(*static_cast<uint8_t*>(TF_TensorData(output)), 123);
    TF_DeleteTensor(output);
    EXPECT_EQ(TF_ExpectedOutputDataType(ctx, 0), TF_UINT8);
    EXPECT_EQ(TF_InputDatatype(ctx, 0), TF_DOUBLE);
  });
  auto kernel = TestNode("BarOp", {}).CreateKernel("CountDevice");
  ASSERT_TRUE(kernel.ok());
  Computed run = RunKernel(
      **kernel, {Scalar(DataType::kDouble, 1.0), Scalar<uint8_t>(DataType::kUint8, 123)}, 1);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(*run.outputs[0].flat<uint8_t>(), 123);
}

TEST(TestKernel, IndexOutOfRangeWithoutStatusFailsTheStep) {
  RegisterTestOp("DyingOp", {"a: float"}, {"b: float"}, {});
  static int index;
  RegisterTestKernel("DyingOp", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    EXPECT_EQ(static_cast<int>(TF_ExpectedOutputDataType(ctx, index)), 0);
  });
  auto kernel = TestNode("DyingOp", {}).CreateKernel();
  for (const int bad : {1, -1}) {
    index = bad;
    EXPECT_EQ(RunKernel(**kernel, {Scalar(DataType::kFloat, 1.0f)}, 1).status.code(),
              absl::StatusCode::kOutOfRange);
  }
}

TEST(TestKernel, AbsentAndUninitializedInputs) {
  RegisterTestOp("InputStates", {"a: float", "b: float", "c: float"}, {}, {});
  RegisterTestKernel("InputStates", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    S status;
    TF_Tensor* t = nullptr;
    TF_SetStatus(status, TF_ABORTED, "kept");
    TF_GetInput(ctx, 0, &t, status);
    EXPECT_EQ(t, nullptr);
    EXPECT_EQ(status.message(), "kept");
    TF_GetInput(ctx, 1, &t, status);
    EXPECT_EQ(status.code(), TF_FAILED_PRECONDITION);
    EXPECT_EQ(status.message(), "attempt to use a tensor with an uninitialized value");
    TF_GetInput(ctx, 2, &t, status);
    EXPECT_EQ(status.code(), TF_OK);
    EXPECT_EQ(TF_TensorElementCount(t), 0);
    TF_DeleteTensor(t);
  });
  auto kernel = TestNode("InputStates", {}).CreateKernel();
  EXPECT_TRUE(RunKernel(**kernel,
                        {Tensor(), Tensor(DataType::kFloat, Shape({1}), BufferRef()),
                         *Tensor::Allocate(DataType::kFloat, Shape({0}))},
                        0)
                  .status.ok());
}

TEST(TestKernel, FirstFailureWins) {
  RegisterTestOp("FailingOp", {}, {"b: float"}, {});
  RegisterTestKernel("FailingOp", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    S status;
    TF_SetStatus(status, TF_ABORTED, "first");
    TF_SetPayload(status, "key", "value");
    TF_OpKernelContext_Failure(ctx, status);
    TF_SetStatus(status, TF_DATA_LOSS, "second");
    TF_OpKernelContext_Failure(ctx, status);
  });
  auto kernel = TestNode("FailingOp", {}, "n1").CreateKernel();
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = RunKernel(**kernel, {}, 1).status;
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(status.message(), StartsWith("first\n\t [[{{node n1}}]]"));
    EXPECT_THAT(status.message(), HasSubstr("op FailingOp"));
    EXPECT_EQ(status.GetPayload("key"), absl::Cord("value"));
  }
}

TEST(TestKernel, MissingOutput) {
  RegisterTestOp("Forgetful", {}, {"b: float"}, {});
  RegisterTestKernel("Forgetful", "CPU", nullptr, [](void*, TF_OpKernelContext*) {});
  auto kernel = TestNode("Forgetful", {}).CreateKernel();
  const absl::Status status = RunKernel(**kernel, {}, 1).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), StartsWith("Missing 0-th output from {{node n}}"));
}

TEST(TestKernel, ExceptionInCompute) {
  RegisterTestOp("Thrower", {}, {}, {});
  RegisterTestKernel("Thrower", "CPU", nullptr,
                     [](void*, TF_OpKernelContext*) { throw std::runtime_error("thrown"); });
  auto kernel = TestNode("Thrower", {}).CreateKernel();
  const absl::Status status = RunKernel(**kernel, {}, 0).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("threw an exception: thrown"));
}

TEST(TestKernel, FailingCreateStillDeletes) {
  counts = Counts();
  RegisterTestOp("FailingCreate", {}, {}, {});
  RegisterTestKernel(
      "FailingCreate", "CPU",
      [](TF_OpKernelConstruction* ctx) -> void* {
        S status;
        TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no room");
        TF_OpKernelConstruction_Failure(ctx, status);
        return nullptr;
      },
      CountCompute, [](void* kernel) { counts.deleted += kernel == nullptr; });
  const absl::Status status = TestNode("FailingCreate", {}).CreateKernel().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), StartsWith("no room\n\t [[{{node n}}]]"));
  EXPECT_EQ(counts.deleted, 1);
}

// --- Asynchronous kernels.

TF_KernelBuilder* NewAsync(const char* op, void (*compute)(void*, TF_OpKernelContext*,
                                                           TF_AsyncOpKernelDoneCallback*)) {
  return TF_NewAsyncKernelBuilder(op, "CPU", nullptr, compute, nullptr);
}

TEST(TestKernel, TestRegisterAsyncKernelBuilder) {
  RegisterTestOp("AsyncFooOp", {}, {"o: float"}, {});
  static std::thread worker;
  S status;
  TF_RegisterKernelBuilder(
      "K",
      NewAsync("AsyncFooOp",
               [](void*, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
                 worker = std::thread([ctx, done] {
                   S allocated;
                   TF_Tensor* t = TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, allocated);
                   *static_cast<float*>(TF_TensorData(t)) = 5;
                   TF_DeleteTensor(t);
                   TF_RunAsyncOpKernelDoneCallback(done);
                 });
               }),
      status);
  auto kernel = TestNode("AsyncFooOp", {}).CreateKernel();
  for (int i = 0; i < 2; ++i) {
    Computed run = RunKernel(**kernel, {}, 1);
    worker.join();
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(*run.outputs[0].flat<float>(), 5);
  }
}

TEST(TestKernel, AsyncKernelThatNeverCallsBack) {
  RegisterTestOp("AsyncSilent", {"i: float"}, {"o: float"}, {});
  static TF_OpKernelContext* late;
  S status;
  TF_RegisterKernelBuilder(
      "K",
      NewAsync("AsyncSilent",
               [](void*, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback*) { late = ctx; }),
      status);
  auto kernel = TestNode("AsyncSilent", {}).CreateKernel();
  const absl::Status timed_out =
      RunKernel(**kernel, {Scalar(DataType::kFloat, 1.0f)}, 1, 0.01).status;
  EXPECT_EQ(timed_out.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(timed_out.message(), HasSubstr("done callback"));
  // The context is still there for a plug-in that comes late.
  TF_Tensor* input = nullptr;
  TF_GetInput(late, 0, &input, status);
  EXPECT_EQ(status.code(), TF_OK);
  EXPECT_EQ(*static_cast<float*>(TF_TensorData(input)), 1.0f);
  TF_DeleteTensor(input);
}

TEST(TestKernel, DeferredOps) {
  RegisterTestOp("Deferred", {}, {}, {});
  static std::thread worker;
  static bool decrement;
  RegisterTestKernel("Deferred", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    TF_IncNumDeferredOps(ctx);
    if (decrement) worker = std::thread([ctx] { TF_DecNumDeferredOps(ctx); });
  });
  auto kernel = TestNode("Deferred", {}).CreateKernel();
  decrement = true;
  EXPECT_TRUE(RunKernel(**kernel, {}, 0).status.ok());
  worker.join();
  decrement = false;
  EXPECT_EQ(RunKernel(**kernel, {}, 0, 0.01).status.code(), absl::StatusCode::kDeadlineExceeded);
}

// --- Memory.

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

TEST(DeviceKernelOpTest, SetOutputOfAnotherType) {
  RegisterTestOp("WrongType", {"i: int32", "j: int64"}, {"a: float", "b: float"}, {});
  Computed run = Compute(
      "WrongType",
      [](void*, TF_OpKernelContext* ctx) {
        S status;
        TF_Tensor* input = nullptr;
        TF_GetInput(ctx, 0, &input, status);
        TF_SetOutput(ctx, 0, input,
                     status);  // the same bytes under the declared type, as in TensorFlow
        EXPECT_EQ(status.code(), TF_OK);
        TF_DeleteTensor(input);
        TF_GetInput(ctx, 1, &input, status);
        TF_SetOutput(ctx, 1, input, status);
        EXPECT_EQ(status.code(), TF_INTERNAL);
        TF_OpKernelContext_Failure(ctx, status);
        TF_DeleteTensor(input);
      },
      {Scalar<int32_t>(DataType::kInt32, 1), Scalar<int64_t>(DataType::kInt64, 1)}, 2);
  EXPECT_EQ(run.outputs[0].dtype(), DataType::kFloat);
  EXPECT_EQ(run.status.code(), absl::StatusCode::kInternal);
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
  counts.computed = forwarded;
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
  EXPECT_EQ(counts.computed, 0);
  EXPECT_EQ(*run.outputs[0].flat<float>(), 123);
  // A second reference, here the test's own, and nothing is forwarded.
  const Tensor shared = Scalar(DataType::kFloat, 5.0f);
  run = RunKernel(**kernel, {shared, other}, 1);
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(counts.computed, -1);
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

}  // namespace
}  // namespace tenon
