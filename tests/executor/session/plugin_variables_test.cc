// Variables that kernels of plug-ins assign, update, lock and read, on a device whose memory the
// host cannot touch.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"
#include "gtest/gtest.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"
#include "tests/executor/far_device_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::plugin_variables_test {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using testing::Far;
using testing::FarDevice;
using testing::FarLog;
using testing::Floats;
using ::testing::HasSubstr;
using testing::live_buffers;
using testing::Near;
using testing::Node;
using testing::Op;
using testing::Parse;
using testing::Placeholder;
using testing::Values;

// --- The plug-in.

void CopyOnDevice(TF_OpKernelContext*, TF_Tensor* source, TF_Tensor* dest) {
  FarLog()->push_back("copyFunc");
  std::memcpy(Near(TF_TensorData(dest)), Near(TF_TensorData(source)), TF_TensorByteSize(dest));
  TF_DeleteTensor(source);
  TF_DeleteTensor(dest);
}

void Update(TF_OpKernelContext*, TF_Tensor* tensor, TF_Tensor* value, int op) {
  FarLog()->push_back("updateFunc");
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) {
    const float by = Near(TF_TensorData(value))[i];
    Near(TF_TensorData(tensor))[i] += op == 0 ? by : -by;
  }
  TF_DeleteTensor(tensor);
  TF_DeleteTensor(value);
}

void Assign(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_AssignVariable(ctx, 0, 1, /*validate_shape=*/true, CopyOnDevice, status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_OK);
}

template <int kOp>
void AssignUpdate(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_AssignUpdateVariable(ctx, 0, 1, kOp, 0, CopyOnDevice, Update, status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_OK);
}

// What the kernel below does wrong: "keeps" its lock, "locks" or "releases" twice.
std::string_view lock_fault;

// var -= alpha * delta, of inputs (var, alpha, delta).
void ApplyGradientDescent(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  const int inputs[] = {0};
  auto* holder = reinterpret_cast<TF_VariableInputLockHolder*>(&status);  // leads to no holder
  TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, nullptr, 1, CopyOnDevice, &holder,
                                          status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(holder, nullptr);
  TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, inputs, 1, CopyOnDevice, &holder,
                                          status.get());
  ASSERT_EQ(TF_GetCode(status.get()), TF_OK) << TF_Message(status.get());
  if (lock_fault == "locks") {
    TF_VariableInputLockHolder* again = nullptr;
    TF_MaybeLockVariableInputMutexesInOrder(ctx, false, true, inputs, 1, CopyOnDevice, &again,
                                            status.get());
    EXPECT_EQ(again, nullptr);
  }
  TF_Tensor *var = nullptr, *alpha = nullptr, *delta = nullptr;
  TF_GetInputTensorFromVariable(ctx, 0, true, false, false, CopyOnDevice, &var, status.get());
  if (TF_GetCode(status.get()) == TF_OK) {
    TF_GetInput(ctx, 1, &alpha, status.get());
    TF_GetInput(ctx, 2, &delta, status.get());
    for (int64_t i = 0; i < TF_TensorElementCount(var); ++i) {
      Near(TF_TensorData(var))[i] -=
          *static_cast<float*>(TF_TensorData(alpha)) * Near(TF_TensorData(delta))[i];
    }
  }
  for (TF_Tensor* t : {var, alpha, delta}) TF_DeleteTensor(t);
  if (lock_fault != "keeps") TF_ReleaseVariableInputLockHolder(holder);
  if (lock_fault == "releases") TF_ReleaseVariableInputLockHolder(holder);
}

// Rows of inputs (var, indices, updates) are added.
void ScatterAdd(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  const int inputs[] = {0};
  TF_VariableInputLockHolder* holder = nullptr;
  TF_MaybeLockVariableInputMutexesInOrder(ctx, false, true, inputs, 1, CopyOnDevice, &holder,
                                          status.get());
  TF_Tensor *var = nullptr, *indices = nullptr, *updates = nullptr;
  TF_GetInputTensorFromVariable(ctx, 0, false, false, true, CopyOnDevice, &var, status.get());
  TF_GetInput(ctx, 1, &indices, status.get());
  TF_GetInput(ctx, 2, &updates, status.get());
  for (int64_t i = 0; i < TF_TensorElementCount(indices); ++i) {
    Near(TF_TensorData(var))[Near<int32_t>(TF_TensorData(indices))[i]] +=
        Near(TF_TensorData(updates))[i];
  }
  for (TF_Tensor* t : {var, indices, updates}) TF_DeleteTensor(t);
  TF_ReleaseVariableInputLockHolder(holder);
}

void AssignRef(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  EXPECT_TRUE(TF_IsRefInput(ctx, 0, status.get()));
  TF_AssignRefVariable(ctx, 0, 0, 1, true, true, CopyOnDevice, status.get());
}

void AssignAddRef(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_OpKernelContext_ForwardRefInputToRefOutput(ctx, 0, 0);
  TF_Tensor *var = nullptr, *value = nullptr;
  TF_GetInputTensorFromVariable(ctx, 0, false, false, false, CopyOnDevice, &var, status.get());
  if (var == nullptr) return;
  TF_GetInput(ctx, 1, &value, status.get());
  Update(ctx, var, value, 0);
}

void Allocate(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_DataType type, const int64_t* dims,
              int num_dims, TF_Status* status) {
  TF_Tensor* made = TF_AllocateTemp(ctx, type, dims, num_dims, nullptr, status);
  TF_TensorBitcastFrom(made, type, tensor, dims, num_dims, status);
  TF_DeleteTensor(made);
}

void TemporaryVariable(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  const int64_t dims[] = {2};
  TF_StringView name{"t", 1};
  TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &name, Allocate, status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_OK) << TF_Message(status.get());
}

void DestroyTemporaryVariable(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_StringView name{"t", 1};
  TF_DestroyTemporaryVariable(ctx, 0, &name, status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_OK) << TF_Message(status.get());
}

void AddTensors(TF_OpKernelContext*, TF_Tensor* a, TF_Tensor* b, TF_Tensor* out) {
  FarLog()->push_back("binary_add");
  for (int64_t i = 0; i < TF_TensorElementCount(out); ++i) {
    Near(TF_TensorData(out))[i] = Near(TF_TensorData(a))[i] + Near(TF_TensorData(b))[i];
  }
  for (TF_Tensor* t : {a, b, out}) TF_DeleteTensor(t);
}
void AddN(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_AddNVariant(ctx, AddTensors, status.get());
}

void Zero(TF_OpKernelContext*, TF_Tensor* input, TF_Tensor* out) {
  FarLog()->push_back("zeros_like");
  std::memset(Near(TF_TensorData(out)), 0, TF_TensorByteSize(out));
  TF_DeleteTensor(input);
  TF_DeleteTensor(out);
}
void ZerosLike(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_ZerosLikeVariant(ctx, Zero, status.get());
}

std::string probed_config, probed_handle;

// Counts its calls in an object of its own that the session keeps, and in the variable.
void CountUp(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  void* count = nullptr;
  TF_LookupOrCreatePluginResource(
      ctx, nullptr, "count", &count,
      [](void* start) -> void* { return new int(*static_cast<int*>(start)); },
      std::make_unique<int>(40).get(),
      [](void* p) {
        FarLog()->push_back("delete_func");
        delete static_cast<int*>(p);
      },
      status.get());
  ASSERT_EQ(TF_GetCode(status.get()), TF_OK) << TF_Message(status.get());
  ++*static_cast<int*>(count);
  TF_CreatePluginResource(ctx, nullptr, "count", nullptr, nullptr, status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_ALREADY_EXISTS);
  TF_Buffer* buffer = TF_NewBuffer();
  TF_GetSerializedConfigProto(ctx, buffer, status.get());
  probed_config.assign(static_cast<const char*>(buffer->data), buffer->length);
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();
  TF_GetSerializedResourceHandleProto(ctx, 0, buffer, status.get());
  EXPECT_EQ(TF_GetCode(status.get()), TF_OK) << TF_Message(status.get());
  probed_handle.assign(static_cast<const char*>(buffer->data), buffer->length);
  TF_DeleteBuffer(buffer);

  EXPECT_NE(TF_GetDevice(ctx), nullptr);
  TF_VariableInfo* info = TF_CreateVariableInfoFromContext(ctx, 0, status.get());
  TF_LockVariableInfos(&info, 1, status.get());
  TF_AllocateTempForVariableInfo(ctx, info, status.get());
  TF_Tensor* tensor = TF_GetTensorFromVariableInfo(info, status.get());
  ASSERT_NE(tensor, nullptr) << TF_Message(status.get());
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i)
    Near(TF_TensorData(tensor))[i] = static_cast<float>(*static_cast<int*>(count));
  TF_DeleteTensor(tensor);
  TF_DeleteVariableInfo(info);
}

void Relu(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_Tensor* in = nullptr;
  TF_GetInput(ctx, 0, &in, status.get());
  const int64_t dims[] = {TF_TensorElementCount(in)};
  TF_Tensor* out = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, 0, status.get());
  for (int64_t i = 0; i < dims[0]; ++i)
    Near(TF_TensorData(out))[i] = std::max(0.0F, Near(TF_TensorData(in))[i]);
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
}

// For the host.
void CopyOnHost(TF_OpKernelContext*, TF_Tensor* source, TF_Tensor* dest) {
  FarLog()->push_back("copyFunc");
  std::memcpy(TF_TensorData(dest), TF_TensorData(source), TF_TensorByteSize(dest));
  TF_DeleteTensor(source);
  TF_DeleteTensor(dest);
}
void AddOnHost(void*, TF_OpKernelContext* ctx) {
  CStatus status;
  TF_AssignUpdateVariable(
      ctx, 0, 1, 0, 0, CopyOnHost,
      [](TF_OpKernelContext*, TF_Tensor* tensor, TF_Tensor* value, int) {
        for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) {
          static_cast<float*>(TF_TensorData(tensor))[i] +=
              static_cast<float*>(TF_TensorData(value))[i];
        }
        TF_DeleteTensor(tensor);
        TF_DeleteTensor(value);
      },
      status.get());
}

void Register(const char* op, void (*compute)(void*, TF_OpKernelContext*),
              std::vector<std::string> host = {}, std::vector<KernelDef::Constraint> types = {},
              const char* device_type = "FAR") {
  auto kernel = std::make_shared<KernelDef>();
  kernel->op = op;
  kernel->device_type = device_type;
  kernel->plugin = "plugin_variables_test";
  kernel->host_memory_args = std::move(host);
  kernel->constraints = std::move(types);
  kernel->fns.compute = compute;
  KernelRegistry::Global().Register(std::move(kernel));
}

// --- The graphs.

constexpr std::string_view kFloat = "attr { key: 'dtype' value { type: DT_FLOAT } } ";
constexpr std::string_view kT = "attr { key: 'T' value { type: DT_FLOAT } } ";
constexpr std::string_view kRows =
    "attr { key: 'dtype' value { type: DT_FLOAT } } "
    "attr { key: 'Tindices' value { type: DT_INT32 } } ";

std::string Handle(std::string_view name) { return testing::VarHandle(name, name); }

const std::string kVariable =
    Handle("v") + Placeholder("x", "dim { size: -1 }") +
    Op("set", "AssignVariableOp", {"v", "x"}, kFloat) + Op("get", "ReadVariableOp", {"v"}, kFloat) +
    Op("known", "VarIsInitializedOp", {"v"}) + Op("shape", "VariableShape", {"v"});

const std::vector<Session::NamedTensor> kNoFeeds;

class PluginVariables : public ::testing::Test {
 protected:
  void SetUp() override {
    FarLog()->clear();
    lock_fault = "";
  }
  void TearDown() override {
    session_.reset();
    EXPECT_EQ(live_buffers, 0);
    KernelRegistry::Global().RemovePlugin("plugin_variables_test");
  }
  void Make(std::string text) {
    SessionOptions options;
    options.opt_level = 0;
    options.threads = 1;
    auto session = Session::Create(Parse(std::move(text)), {&device_}, options);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }
  absl::Status Do(std::string node, std::vector<float> x = {}) {
    std::vector<Session::NamedTensor> feeds;
    const auto size = static_cast<int64_t>(x.size());
    if (!x.empty()) feeds.emplace_back("x", Floats(std::move(x), {size}));
    return session_->Run(feeds, {node}).status();
  }
  std::vector<float> Get(const std::string& node) {
    const auto out = session_->Run(kNoFeeds, {node});
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? Values((*out)[0]) : std::vector<float>();
  }
  std::string DeviceOf(std::string_view fetch, std::string_view node) {
    const auto e = session_->Prepare({"x"}, {std::string(fetch)});
    EXPECT_TRUE(e.ok()) << e.status();
    const Graph& g = OptimizedGraph(**e);
    return std::string(PlacementReport(**e)[g.FindNode(node)].device->type());
  }
  int Count(std::string_view what) {
    return static_cast<int>(std::count(FarLog()->begin(), FarLog()->end(), what));
  }

  FarDevice device_;
  std::unique_ptr<Session> session_;
};

TEST_F(PluginVariables, AnUpdateCopiesWhatAnAssignmentShares) {
  Register("AssignVariableOp", Assign);
  Register("AssignAddVariableOp", AssignUpdate<0>);
  Register("AssignSubVariableOp", AssignUpdate<1>);
  Make(kVariable + Op("add", "AssignAddVariableOp", {"v", "x"}, kFloat) +
       Op("sub", "AssignSubVariableOp", {"v", "x"}, kFloat) + Node("neg", "Neg", {"x"}) +
       Op("both", "AssignVariableOp", {"v", "neg"}, kFloat) +
       Op("then", "AssignAddVariableOp", {"v", "neg", "^both"}, kFloat));
  EXPECT_EQ(DeviceOf("add", "add"), "FAR");
  EXPECT_EQ(DeviceOf("add", "v"), "FAR");
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  EXPECT_EQ(Count("copyFunc"), 0);
  ASSERT_TRUE(Do("add", {10, 20}).ok());
  EXPECT_EQ(Count("copyFunc"), 0);  // nobody shares it any more
  EXPECT_THAT(Get("get"), ElementsAre(11, 22));
  ASSERT_TRUE(Do("sub", {1, 1}).ok());
  EXPECT_THAT(Get("get"), ElementsAre(10, 21));
  EXPECT_EQ(Count("copyFunc"), 0);
  // The value that is assigned is still needed when the variable is updated.
  ASSERT_TRUE(Do("then", {1, 2}).ok());
  EXPECT_EQ(Count("copyFunc"), 1);
  EXPECT_THAT(Get("get"), ElementsAre(-2, -4));
}

TEST_F(PluginVariables, WrongShapesTypesAndEmptyVariablesFailTheStep) {
  Register("AssignVariableOp", Assign);
  Register("AssignAddVariableOp", AssignUpdate<0>);
  Make(kVariable + Op("add", "AssignAddVariableOp", {"v", "x"}, kFloat));
  const absl::Status empty = Do("add", {1});
  EXPECT_EQ(empty.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(empty.message(), HasSubstr("variable 'v' has no value yet"));
  ASSERT_TRUE(Do("set", {1, 2, 3}).ok());
  const absl::Status assign = Do("set", {1, 2});
  EXPECT_EQ(assign.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(assign.message(), HasSubstr("Trying to assign to variable with tensor with wrong "
                                          "shape. Expected [3] got [2]"));
  const absl::Status update = Do("add", {1, 2});
  EXPECT_EQ(update.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(update.message(), HasSubstr("Cannot update variable with shape [3] using a Tensor "
                                          "with shape [2], shapes must be equal."));
  EXPECT_THAT(Get("get"), ElementsAre(1, 2, 3));
}

TEST_F(PluginVariables, ValuesGoWhereTheyAreWanted) {
  Register("AssignAddVariableOp", AssignUpdate<0>);
  // Assigned and read by the host's kernels, on the device; the scatter is the host's alone.
  Make(kVariable + Op("add", "AssignAddVariableOp", {"v", "x"}, kFloat) +
       Op("get_after", "ReadVariableOp", {"v", "^add"}, kFloat) + Node("neg", "Neg", {"get"}));
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  EXPECT_EQ(DeviceOf("get_after", "get_after"), "FAR");
  const auto read = session_->Run({{"x", Floats({1, 1}, {2})}}, {"get_after"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(Values((*read)[0]), ElementsAre(2, 3));
  EXPECT_THAT(Get("neg"), ElementsAre(-2, -3));
  const auto facts = session_->Run(kNoFeeds, {"known", "shape"});
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_TRUE(*(*facts)[0].flat<bool>());
  EXPECT_EQ((*facts)[1].IntAt(0), 2);
}

TEST_F(PluginVariables, OpsOfBothSidesMayTakeTurns) {
  Register("AssignAddVariableOp", AssignUpdate<0>);
  Make(kVariable + Op("add", "AssignAddVariableOp", {"v", "x"}, kFloat) +
       Const("i", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 1") +
       Const("d", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 100"));
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  ASSERT_TRUE(Do("add", {1, 1}).ok());
  EXPECT_THAT(Get("get"), ElementsAre(2, 3));
  // The same variable, under a graph of which the device has only a part.
  Register("Relu", Relu);
  Make(kVariable + Const("i", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 1") +
       Const("d", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: -100") +
       Op("scatter", "ResourceScatterAdd", {"v", "i", "d"}, kRows) +
       Op("after", "ReadVariableOp", {"v", "^scatter"}, kFloat) + Node("relu", "Relu", {"after"}));
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  EXPECT_EQ(DeviceOf("relu", "scatter"), "CPU");
  EXPECT_EQ(DeviceOf("relu", "v"), "CPU");
  EXPECT_THAT(Get("relu"), ElementsAre(1, 0));
}

TEST_F(PluginVariables, VariablesThatOnlyTheDeviceReadsLieThere) {
  Register("Relu", Relu);
  Make(kVariable + Node("relu", "Relu", {"get"}));
  EXPECT_EQ(DeviceOf("relu", "get"), "FAR");
  ASSERT_TRUE(Do("set", {-1, 2}).ok());
  EXPECT_THAT(Get("relu"), ElementsAre(0, 2));
  FarLog()->clear();
  EXPECT_THAT(Get("relu"), ElementsAre(0, 2));
  EXPECT_THAT(*FarLog(), ElementsAre("to host")) << "the result alone";
}

TEST_F(PluginVariables, AValueThatIsReadElsewhereIsCopiedOnce) {
  Register("AssignAddVariableOp", AssignUpdate<0>);
  Register("Relu", Relu);
  // The handle's group is the host's, since the scatter is.
  Make(kVariable + Node("relu", "Relu", {"get"}) + Node("neg", "Neg", {"get"}) +
       Const("i", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 1") +
       Const("d", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 100") +
       Op("scatter", "ResourceScatterAdd", {"v", "i", "d"}, kRows) +
       testing::VarHandle("far", "v") + Op("add", "AssignAddVariableOp", {"far", "x"}, kFloat));
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  ASSERT_TRUE(Do("add", {1, 1}).ok());  // takes it to the device
  FarLog()->clear();
  EXPECT_THAT(Get("neg"), ElementsAre(-2, -3));
  EXPECT_THAT(Get("neg"), ElementsAre(-2, -3));
  EXPECT_EQ(Count("to host"), 1);
  ASSERT_TRUE(Do("scatter").ok());  // takes it back
  EXPECT_THAT(Get("neg"), ElementsAre(-2, -103));
  ASSERT_TRUE(Do("add", {1, 1}).ok());
  EXPECT_THAT(Get("neg"), ElementsAre(-3, -104));
}

TEST_F(PluginVariables, KernelsForTheHostShareAndCopyToo) {
  Register("AssignAddVariableOp", AddOnHost, {}, {}, "CPU");
  Make(kVariable + Op("add", "AssignAddVariableOp", {"v", "x"}, kFloat) +
       Op("before", "ReadVariableOp", {"v"}, kFloat) +
       Op("add_later", "AssignAddVariableOp", {"v", "before", "^before"}, kFloat));
  EXPECT_EQ(DeviceOf("add", "add"), "CPU");
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  ASSERT_TRUE(Do("add", {10, 20}).ok());
  EXPECT_THAT(Get("before"), ElementsAre(11, 22));
  FarLog()->clear();
  ASSERT_TRUE(Do("add_later").ok());
  EXPECT_EQ(Count("copyFunc"), 1);  // what was read before stays as it is
  EXPECT_THAT(Get("get"), ElementsAre(22, 44));
}

TEST_F(PluginVariables, OptimizersLockUpdateAndLetGo) {
  Register("ResourceApplyGradientDescent", ApplyGradientDescent, {"alpha"});
  Make(kVariable + Const("alpha", "DT_FLOAT", "tensor_shape { } float_val: 0.5") +
       Op("train", "ResourceApplyGradientDescent", {"v", "alpha", "x"}, kT));
  EXPECT_EQ(DeviceOf("train", "v"), "FAR");
  EXPECT_EQ(Do("train", {1, 1}).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Do("train", {2, 4}).ok());
  EXPECT_THAT(Get("get"), ElementsAre(-2, -4));
  lock_fault = "keeps";  // it ends with the call all the same
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Do("train", {2, 4}).ok());
  EXPECT_THAT(Get("get"), ElementsAre(-4, -8));
  lock_fault = "locks";
  EXPECT_THAT(Do("train", {2, 4}).message(), HasSubstr("'v' is locked by this call already"));
  AbiWatch::SwitchOn();
  for (const std::string_view fault : {"keeps", "releases"}) {
    lock_fault = fault;
    ASSERT_TRUE(Do("train", {2, 4}).ok());
  }
  std::vector<std::string> told;
  for (const AbiViolation& v : AbiWatch::Active()->violations())
    told.push_back(absl::StrCat(v.rule, " in ", v.node, ": ", v.detail));
  AbiWatch::SwitchOff();
  EXPECT_THAT(told, ElementsAre(HasSubstr("leak in train: it never releases a TF_Variable"),
                                HasSubstr("double_free in train: it releases a TF_Variable")));
}

TEST_F(PluginVariables, AfterAccessToPartsAssignmentsCopy) {
  Register("AssignVariableOp", Assign);
  Register("ResourceScatterAdd", ScatterAdd);
  Make(kVariable + Const("i", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 1") +
       Const("d", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 100") +
       Op("scatter", "ResourceScatterAdd", {"v", "i", "d"}, kRows) +
       Op("before", "ReadVariableOp", {"v"}, kFloat) +
       Op("scatter_later", "ResourceScatterAdd", {"v", "i", "d", "^before"}, kRows) +
       Node("both", "AddV2", {"before", "after"}) +
       Op("after", "ReadVariableOp", {"v", "^scatter_later"}, kFloat));
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  ASSERT_TRUE(Do("scatter").ok());
  EXPECT_EQ(Count("copyFunc"), 0);
  EXPECT_THAT(Get("get"), ElementsAre(1, 102));
  ASSERT_TRUE(Do("set", {3, 4}).ok());
  EXPECT_EQ(Count("copyFunc"), 1);
  // What was read before stays as it was.
  EXPECT_THAT(Get("both"), ElementsAre(6, 108));
}

TEST_F(PluginVariables, ReferencesAreAssignedUpdatedAndPassedOn) {
  Register("Assign", AssignRef);
  Register("AssignAdd", AssignAddRef);
  Make(Op("v", "VariableV2", {},
          absl::StrCat(kFloat, "attr { key: 'shape' value { shape { dim { size: 2 } } } } ")) +
       Placeholder("x", "dim { size: -1 }") + Op("set", "Assign", {"v", "x"}, kT) +
       Op("add", "AssignAdd", {"v", "x"}, kT) + Op("get", "Identity", {"v"}, kT) +
       Op("chain", "AssignAdd", {"set", "x"}, kT) + Node("neg", "Neg", {"chain"}));
  EXPECT_EQ(Do("add", {1, 2}).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Do("set", {1, 2}).ok());
  ASSERT_TRUE(Do("add", {10, 20}).ok());
  EXPECT_EQ(DeviceOf("add", "v"), "FAR");
  EXPECT_THAT(Get("get"), ElementsAre(11, 22));
  const auto out = session_->Run({{"x", Floats({1, 2}, {2})}}, {"neg", "set"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-2, -4));
  const absl::Status wrong = Do("set", {1, 2, 3});
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong.message(), HasSubstr("Assign requires shapes of both tensors to match. lhs "
                                         "shape= [2] rhs shape= [3]"));
}

TEST_F(PluginVariables, TemporaryVariablesAreTheStepsOwn) {
  Register("TemporaryVariable", TemporaryVariable);
  Register("DestroyTemporaryVariable", DestroyTemporaryVariable);
  Register("Assign", AssignRef);
  Register("AssignAdd", AssignAddRef);
  Make(Op("t", "TemporaryVariable", {},
          absl::StrCat(kFloat, "attr { key: 'shape' value { shape { dim { size: 2 } } } } ")) +
       Placeholder("x", "dim { size: -1 }") + Op("set", "Assign", {"t", "x"}, kT) +
       Op("add", "AssignAdd", {"set", "x"}, kT) +
       Op("end", "DestroyTemporaryVariable", {"add"},
          absl::StrCat(kT, "attr { key: 'var_name' value { s: 't' } } ")));
  for (int i = 0; i < 2; ++i) {
    const auto out = session_->Run({{"x", Floats({1, 2}, {2})}}, {"end"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(2, 4));
  }
}

TEST_F(PluginVariables, ListsAreAddedAndZeroedByThePlugIn) {
  const std::vector<KernelDef::Constraint> variants = {{"T", {DataType::kVariant}}};
  Register("AddN", AddN, {}, variants);
  Register("ZerosLike", ZerosLike, {}, variants);
  const std::string element = "attr { key: 'element_dtype' value { type: DT_FLOAT } } ";
  const std::string get = element + "attr { key: 'num_elements' value { i: 2 } } ";
  const std::string variant = "attr { key: 'T' value { type: DT_VARIANT } } ";
  Make(Placeholder("x", "dim { size: 2 }") +
       Const("scalar", "DT_INT32", "tensor_shape { dim { size: 0 } }") +
       Op("list", "TensorListFromTensor", {"x", "scalar"},
          element + "attr { key: 'shape_type' value { type: DT_INT32 } } ") +
       Op("sum", "AddN", {"list", "list", "list"}, variant + "attr { key: 'N' value { i: 3 } } ") +
       Op("zeros", "ZerosLike", {"list"}, variant) +
       Op("out", "TensorListStack", {"sum", "scalar"}, get) +
       Op("none", "TensorListStack", {"zeros", "scalar"}, get));
  const auto out = session_->Run({{"x", Floats({1, 2}, {2})}}, {"out", "none"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(3, 6));
  EXPECT_THAT(Values((*out)[1]), ElementsAre(0, 0));
  EXPECT_EQ(Count("binary_add"), 4);
  EXPECT_EQ(Count("zeros_like"), 2);
}

TEST_F(PluginVariables, TheSessionKeepsObjectsOfThePlugIn) {
  Register("AssignAddVariableOp", CountUp);
  Make(kVariable + Op("count", "AssignAddVariableOp", {"v", "x"}, kFloat));
  ASSERT_TRUE(Do("set", {0, 0}).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Do("count", {1, 1}).ok());
  EXPECT_THAT(Get("get"), ElementsAre(42, 42));
  EXPECT_THAT(probed_config, HasSubstr("\x07\x0a\x03"
                                       "FAR\x10\x01"));  // device_count
  EXPECT_THAT(probed_handle, HasSubstr("\x1a\x01v"));    // name
  EXPECT_THAT(probed_handle, HasSubstr("/device:FAR:0"));
  session_.reset();
  EXPECT_EQ(Count("delete_func"), 1);
}

}  // namespace
}  // namespace tenon::plugin_variables_test
