// TensorFlow's cases for the kernel C API: registration and execution; and what a host answers
// where TensorFlow aborts.
#include "tensorflow/c/kernels.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "graph/c_api/c_api_internal.h"
#include "proto/kernel_def.pb.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"

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

// A caller would try again after UNAVAILABLE.
TEST(TestKernel, NoKernelIsUnavailable) {
  RegisterTestOp("UnavailableOp", {}, {"b: float"}, {});
  RegisterTestKernel("UnavailableOp", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    S status;
    TF_SetStatus(status, TF_UNAVAILABLE, "no answer");
    TF_OpKernelContext_Failure(ctx, status);
  });
  const auto kernel = TestNode("UnavailableOp", {}, "n1").CreateKernel();
  const absl::Status status = RunKernel(**kernel, {}, 1).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(),
              StartsWith("no answer\nExecuting non-communication op <n1> originally returned "
                         "UnavailableError, and was replaced by InternalError"));
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

TEST(TestKernel, AContextOutlivesTheGraph) {
  RegisterTestOp("AsyncLate", {"x: float", "list: N * float"}, {}, {"N: int"});
  static TF_OpKernelContext* late;
  S status;
  TF_RegisterKernelBuilder("K",
                           NewAsync("AsyncLate", [](void*, TF_OpKernelContext* ctx,
                                                    TF_AsyncOpKernelDoneCallback*) { late = ctx; }),
                           status);
  KernelNode node = TestNode("AsyncLate", {{"N", attr::Int(2)}}).Node();
  AttrSet attrs = *node.attrs;
  node.attrs = &attrs;
  auto def = KernelRegistry::Global().Find("n", "AsyncLate", attrs, node.op, "CPU", "");
  ASSERT_TRUE(def.ok()) << def.status();
  auto kernel = PluginKernel::Create(*def, node, nullptr);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Tensor f = Scalar(DataType::kFloat, 1.0f);
  EXPECT_EQ(RunKernel(**kernel, {f, f, f}, 0, 0.01).status.code(),
            absl::StatusCode::kDeadlineExceeded);
  kernel->reset();
  attrs = AttrSet();
  TF_InputRange_Args args{};
  args.status = status;
  TF_InputRange(late, "list", &args);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(args.start, 1);
  EXPECT_EQ(args.stop, 3);
}

// The second call of an old done callback must not end the call that is in progress.
TEST(TestKernel, AsyncKernelThatCallsBackTwice) {
  RegisterTestOp("AsyncTwice", {}, {"o: float"}, {});
  static TF_AsyncOpKernelDoneCallback* old = nullptr;
  static std::thread worker;
  S status;
  TF_RegisterKernelBuilder(
      "K",
      NewAsync("AsyncTwice",
               [](void*, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
                 S allocated;
                 TF_Tensor* t = TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, allocated);
                 float* const value = static_cast<float*>(TF_TensorData(t));
                 TF_DeleteTensor(t);
                 TF_RunAsyncOpKernelDoneCallback(std::exchange(old, done));
                 worker = std::thread([value, done] {
                   absl::SleepFor(absl::Milliseconds(20));
                   *value = 5;
                   TF_RunAsyncOpKernelDoneCallback(done);
                 });
               }),
      status);
  auto kernel = TestNode("AsyncTwice", {}).CreateKernel();
  for (int i = 0; i < 3; ++i) {
    ::testing::internal::CaptureStderr();
    Computed run = RunKernel(**kernel, {}, 1);
    worker.join();
    const std::string told = ::testing::internal::GetCapturedStderr();
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(*run.outputs[0].flat<float>(), 5);
    if (i == 0) {
      EXPECT_THAT(told, HasSubstr("once too often: the handle is NULL"));
    } else if (i == 1) {
      EXPECT_THAT(told, HasSubstr("compute_async_func of plug-in "));
    }
  }
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

void FailWith(TF_OpKernelContext* ctx, TF_Code code) {
  S status;
  TF_SetStatus(status, code, "the first failure");
  TF_OpKernelContext_Failure(ctx, status);
}
void FailDataLoss(TF_OpKernelContext* ctx) { FailWith(ctx, TF_DATA_LOSS); }

// What the kernel reports says more than that the host waited in vain afterwards.
TEST(TestKernel, AFailureIsToldBeforeATimeOut) {
  RegisterTestOp("DeferredFails", {}, {}, {});
  RegisterTestOp("AsyncFails", {}, {}, {});
  RegisterTestKernel("DeferredFails", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    TF_IncNumDeferredOps(ctx);
    FailDataLoss(ctx);
  });
  S status;
  TF_RegisterKernelBuilder(
      "K",
      NewAsync("AsyncFails", [](void*, TF_OpKernelContext* ctx,
                                TF_AsyncOpKernelDoneCallback*) { FailDataLoss(ctx); }),
      status);
  for (const char* op : {"DeferredFails", "AsyncFails"}) {
    auto kernel = TestNode(op, {}).CreateKernel();
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const absl::Status failed = RunKernel(**kernel, {}, 0, 0.01).status;
    EXPECT_EQ(failed.code(), absl::StatusCode::kDataLoss) << failed;
    EXPECT_THAT(failed.message(), HasSubstr("the first failure"));
  }
}

// UNAVAILABLE is the host's own word, also where the kernel does not end in time.
TEST(TestKernel, AFailureBeforeATimeOutIsNeverUnavailable) {
  RegisterTestOp("DeferredUnavailable", {}, {}, {});
  RegisterTestKernel("DeferredUnavailable", "CPU", nullptr, [](void*, TF_OpKernelContext* ctx) {
    TF_IncNumDeferredOps(ctx);
    FailWith(ctx, TF_UNAVAILABLE);
  });
  auto kernel = TestNode("DeferredUnavailable", {}).CreateKernel();
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const absl::Status failed = RunKernel(**kernel, {}, 0, 0.01).status;
  EXPECT_EQ(failed.code(), absl::StatusCode::kInternal) << failed;
  EXPECT_THAT(failed.message(), HasSubstr("the first failure"));
}

}  // namespace
}  // namespace tenon
