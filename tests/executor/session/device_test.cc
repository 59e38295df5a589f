// Plans over devices with their own memory, on devices that write down what is asked of them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "executor/plan/base/device_order.h"
#include "executor/run/step_watch.h"
#include "executor/session/session.h"
#include "graph/c_api/plugin_hold.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"
#include "tests/executor/bare_device_util.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/pass_on_util.h"
#include "tests/executor/session/heap_count_util.h"

namespace tenon::device_test {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Node;
using testing::Parse;
using testing::Placeholder;
using testing::Values;

std::vector<std::string>* Log() {
  static auto* const log = new std::vector<std::string>;
  return log;
}
std::string* FailAt() {
  static auto* const at = new std::string;
  return at;
}
int live_buffers = 0;

// Streams are the strings "0.c", "0.h" …: device and kind. Kernels work at once, copies are done
// when somebody waits.
class LoggingDevice : public testing::BareDevice {
 public:
  explicit LoggingDevice(int ordinal) : ordinal_(ordinal) {
    for (int i = 0; i < 4; ++i) streams_[i] = absl::StrCat(ordinal, ".", std::string(1, "chdx"[i]));
  }
  std::string_view type() const override { return "LOGGING"; }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return "device_test"; }
  absl::StatusOr<BufferRef> Allocate(size_t bytes) override {
    if (Fails("allocate")) return absl::ResourceExhaustedError("the device is full");
    ++live_buffers;
    return BufferRef::Adopt(Buffer::OfDevice(
        std::malloc(bytes + 1), bytes, [](void* p, size_t, void*) { std::free(p), --live_buffers; },
        nullptr));
  }
  StreamHandle compute_stream() override { return &streams_[0]; }
  StreamHandle host_to_device_stream() override { return &streams_[1]; }
  StreamHandle device_to_host_stream() override { return &streams_[2]; }
  StreamHandle device_to_device_stream() override { return &streams_[3]; }
  absl::Status StreamWaitsForStream(StreamHandle stream, StreamHandle other) override {
    return Say("wait", absl::StrCat(Name(stream), "<", Name(other)));
  }
  bool copies_between() const override { return !Fails("copies between"); }
  absl::Status CopyHostToDevice(StreamHandle s, const Tensor& from, const Tensor& to) override {
    return Copy("htod", s, from, to);
  }
  absl::Status CopyDeviceToHost(StreamHandle s, const Tensor& from, const Tensor& to) override {
    return Copy("dtoh", s, from, to);
  }
  absl::Status CopyDeviceToDevice(StreamHandle s, const Tensor& from, const Tensor& to) override {
    return Copy("dtod", s, from, to);
  }
  absl::StatusOr<EventHandle> AcquireEvent() override {
    ++events;
    return &streams_[0];
  }
  void ReleaseEvent(EventHandle) override { --events; }
  absl::Status RecordEvent(StreamHandle, EventHandle) override {
    return Fails("record") ? absl::InternalError("no event") : absl::OkStatus();
  }
  absl::Status BlockUntilComplete(EventHandle, double) override {
    DoCopies();
    return Say("block", "");
  }
  absl::Status SynchronizeAllActivity() override {
    DoCopies();
    return Say("sync", absl::StrCat(ordinal_));
  }

  int events = 0;

 private:
  static std::string Name(StreamHandle s) { return *static_cast<std::string*>(s); }
  static bool Fails(std::string_view what) { return *FailAt() == what; }
  static absl::Status Say(std::string_view what, std::string detail) {
    Log()->push_back(detail.empty() ? std::string(what) : absl::StrCat(what, " ", detail));
    return Fails(what) ? absl::InternalError(absl::StrCat(what, " went wrong")) : absl::OkStatus();
  }
  absl::Status Copy(std::string_view what, StreamHandle s, const Tensor& from, const Tensor& to) {
    queued_.emplace_back(from, to);
    return Say(what, Name(s));
  }
  void DoCopies() {
    for (const auto& [from, to] : queued_) std::memcpy(to.data(), from.data(), from.bytes());
    queued_.clear();
  }
  int ordinal_;
  std::string streams_[4];
  std::vector<std::pair<Tensor, Tensor>> queued_;
};

// Adds 1 to each element of the first input; in the input's buffer if it may.
void Compute(void*, TF_OpKernelContext* context) {
  TF_Status* const status = TF_NewStatus();
  TF_Tensor* in = nullptr;
  TF_GetInput(context, 0, &in, status);
  Log()->push_back("compute");
  std::vector<int64_t> dims(TF_NumDims(in));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = TF_Dim(in, static_cast<int>(i));
  const int64_t n = TF_TensorElementCount(in);
  std::vector<float> values(static_cast<float*>(TF_TensorData(in)),
                            static_cast<float*>(TF_TensorData(in)) + n);
  TF_DeleteTensor(in);
  const int candidates[] = {0};
  int forwarded = -1;
  TF_Tensor* const out = TF_ForwardInputOrAllocateOutput(
      context, candidates, 1, 0, dims.data(), static_cast<int>(dims.size()), &forwarded, status);
  if (forwarded == 0) Log()->push_back("forwarded");
  if (*FailAt() == "compute" || out == nullptr) {
    TF_SetStatus(status, TF_ABORTED, "the kernel does not like it");
    TF_OpKernelContext_Failure(context, status);
  } else {
    for (int64_t i = 0; i < n; ++i) static_cast<float*>(TF_TensorData(out))[i] = values[i] + 1;
  }
  if (out != nullptr) TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

// 1 where the input's data lie as TensorFlow's kernels rely on, else 0.
void IsAligned(void*, TF_OpKernelContext* context) {
  static TF_Status* const status = TF_NewStatus();  // one thread
  TF_Tensor* in = nullptr;
  TF_GetInput(context, 0, &in, status);
  const int64_t one = 1;
  TF_Tensor* const out = TF_AllocateOutput(context, 0, TF_FLOAT, &one, 1, sizeof(float), status);
  *static_cast<float*>(TF_TensorData(out)) =
      reinterpret_cast<uintptr_t>(TF_TensorData(in)) % 64 == 0 ? 1 : 0;
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
}

void RegisterKernel(const char* op, const char* device, const char* label,
                    void (*compute)(void*, TF_OpKernelContext*)) {
  auto kernel = std::make_shared<KernelDef>();
  kernel->op = op;
  kernel->device_type = device;
  kernel->label = label;
  kernel->plugin = "device_test";
  kernel->fns.compute = compute;
  KernelRegistry::Global().Register(std::move(kernel));
}

// Runs something before the first step that it sees.
class RunWithin : public StepWatch {
 public:
  void BeforeStep(Frame&, size_t) override {
    if (const auto run = std::exchange(what, nullptr)) run();
  }
  void AfterStep(Frame&, size_t) override {}
  std::function<void()> what;
};

class DeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    RegisterKernel("Relu", "LOGGING", "", Compute);
    RegisterKernel("Maximum", "LOGGING", "", Compute);
    RegisterKernel("Relu", "CPU", "plus_one", Compute);
    RegisterKernel("Relu", "CPU", "pass", testing::PassOn);
    RegisterKernel("Relu", "CPU", "is_aligned", IsAligned);
  }
  static void TearDownTestSuite() { KernelRegistry::Global().RemovePlugin("device_test"); }
  void SetUp() override {
    Log()->clear();
    FailAt()->clear();
  }
  void TearDown() override {
    session_.reset();
    EXPECT_EQ(live_buffers, 0);
    EXPECT_EQ(zero_.events + one_.events, 0);
  }
  void Make(std::string text, NodeOrder order = NodeOrder::kAuto) {
    SessionOptions options;
    options.order = order;
    options.opt_level = 0;
    options.threads = 1;
    session_ = *Session::Create(Parse(std::move(text)), {&zero_, &one_}, options);
  }
  std::string Run(std::vector<Session::NamedTensor> feeds,
                  const std::vector<std::string>& fetches) {
    Log()->clear();
    const auto out = session_->Run(feeds, fetches);
    result_ = out.ok() ? Values((*out)[0]) : std::vector<float>();
    status_ = out.status();
    return absl::StrJoin(*Log(), ", ");
  }

  LoggingDevice zero_{0}, one_{1};
  RunWithin within_;
  std::unique_ptr<Session> session_;
  std::vector<float> result_;
  absl::Status status_;
};

std::string OnOne(std::string_view name, std::string_view input) {
  std::string text = Node(name, "Relu", {std::string(input)});
  return text.insert(text.find("input"), "device: '/device:LOGGING:1' ");
}

TEST_F(DeviceTest, KernelsAreQueuedBackToBack) {
  Make(Placeholder("x", "dim { size: 2 }") + Node("a", "Relu", {"x"}) + Node("b", "Relu", {"a"}) +
       Node("c", "Relu", {"b"}));
  const std::string want =
      "wait 0.h<0.c, htod 0.h, block, compute, forwarded, compute, forwarded, compute, forwarded, "
      "wait 0.d<0.c, dtoh 0.d, block, sync 0";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Run({{"x", Floats({1, 2}, {2})}}, {"c"}), want) << status_;
    EXPECT_THAT(result_, ElementsAre(4, 5));
  }
}

TEST_F(DeviceTest, OneCopyServesAllReaders) {
  Make(Placeholder("x", "dim { size: 1 }") + Node("a", "Relu", {"x"}) + Node("b", "Relu", {"x"}) +
       Node("n", "Neg", {"a"}) + Node("m", "AddV2", {"a", "n"}) + Node("s", "AddV2", {"m", "b"}));
  const std::string log = Run({{"x", Floats({1}, {1})}}, {"s"});
  EXPECT_THAT(result_, ElementsAre(2)) << status_;
  auto count = [&](std::string_view what) {
    int n = 0;
    for (size_t at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("htod"), 1) << log;
  EXPECT_EQ(count("dtoh"), 2) << log;
  EXPECT_EQ(count("forwarded"), 1) << log;  // the second reader of x may have its buffer
}

TEST_F(DeviceTest, ConstantsGoThereOncePerSession) {
  Make(Const("c", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 5") +
       Node("a", "Relu", {"c"}));
  EXPECT_THAT(Run({}, {"a"}), HasSubstr("htod"));
  EXPECT_THAT(Run({}, {"a"}), ::testing::Not(HasSubstr("htod")));
  EXPECT_THAT(result_, ElementsAre(6));
}

TEST_F(DeviceTest, CopiesBetweenDevicesOfOneType) {
  Make(Placeholder("x", "dim { size: 1 }") + Node("a", "Relu", {"x"}) + OnOne("b", "a") +
       OnOne("c", "b"));
  EXPECT_EQ(Run({{"x", Floats({1}, {1})}}, {"c"}),
            "wait 0.h<0.c, htod 0.h, block, compute, forwarded, wait 0.x<0.c, wait 0.x<1.c, "
            "dtod 0.x, block, compute, forwarded, compute, "
            "forwarded, wait 1.d<1.c, dtoh 1.d, block, sync 0, sync 1");
  EXPECT_THAT(result_, ElementsAre(4)) << status_;
}

TEST_F(DeviceTest, ASpreadRunWithinAnotherIsOnTheNextDevice) {
  SessionOptions options;
  options.opt_level = 0;
  options.threads = 1;
  options.watch = &within_;
  for (const bool spread : {false, true}) {
    options.placer.spread = spread;
    session_ = *Session::Create(Parse(Placeholder("x", "dim { size: 1 }") +
                                      Node("a", "Relu", {"x"}) + Node("b", "Relu", {"a"})),
                                {&zero_, &one_}, options);
    const auto device_of_run = [&](float x) {
      const std::string log = Run({{"x", Floats({x}, {1})}}, {"b"});
      Log()->clear();  // a run around this one must not find the calls of this one
      EXPECT_THAT(result_, ElementsAre(x + 2)) << status_;
      EXPECT_THAT(log, HasSubstr("htod"));
      return absl::StrContains(log, "htod 1.h") ? 1 : 0;
    };
    EXPECT_EQ(device_of_run(1), 0);
    int inner = -1, innermost = -1;
    within_.what = [&] {
      within_.what = [&] { innermost = device_of_run(3); };
      inner = device_of_run(2);
    };
    EXPECT_EQ(device_of_run(1), 0);
    // With two devices, the third run goes to the first device again.
    EXPECT_EQ(innermost, 0);
    EXPECT_EQ(inner, spread ? 1 : 0);
    EXPECT_EQ(device_of_run(1), 0) << "alone again";
  }
}

TEST_F(DeviceTest, DevicesThatCannotCopyBetweenThemMeetInTheHostsMemory) {
  *FailAt() = "copies between";
  Make(Placeholder("x", "dim { size: 1 }") + Node("a", "Relu", {"x"}) + OnOne("b", "a"));
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"b"}), ::testing::Not(HasSubstr("dtod")));
  EXPECT_THAT(*Log(), ::testing::IsSupersetOf({"dtoh 0.d", "htod 1.h"}));
  EXPECT_THAT(result_, ElementsAre(3)) << status_;
}

TEST_F(DeviceTest, FetchingAnOpWithoutItsValueCopiesNothingBack) {
  Make(Placeholder("x", "dim { size: 1 }") + Node("a", "Relu", {"x"}) +
       "node { name: 'done' op: 'NoOp' input: '^a' }");
  const auto out = session_->Run({{"x", Floats({1}, {1})}}, {"done"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Log()->back(), "sync 0");
  EXPECT_THAT(absl::StrJoin(*Log(), ", "), ::testing::Not(HasSubstr("dtoh")));
}

TEST_F(DeviceTest, UnknownShapesWork) {
  Make(Placeholder("x", "dim { size: 4 }") + Placeholder("s", "dim { size: 1 }", "DT_INT32") +
       Node("r", "Reshape", {"x", "s"}, "attr { key: 'Tshape' value { type: DT_INT32 } }") +
       Node("a", "Relu", {"r"}) + Node("n", "Neg", {"a"}));
  const int32_t four = 4;
  Run({{"x", Floats({1, 2, 3, 4}, {4})},
       {"s", Tensor::CopyOf(DataType::kInt32, {1}, &four, sizeof(four))}},
      {"n"});
  EXPECT_THAT(result_, ElementsAre(-2, -3, -4, -5)) << status_;
}

TEST_F(DeviceTest, WhatOnlyGetsAnotherShapeStaysThere) {
  const std::string three =
      Const("shape", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: [2, 1]") +
      Const("axis", "DT_INT32", "tensor_shape {} int_val: 0");
  Make(Placeholder("x", "dim { size: 2 }") + three + Node("a", "Relu", {"x"}) +
       Node("r", "Reshape", {"a", "shape"}, "attr { key: 'Tshape' value { type: DT_INT32 } }") +
       Node("b", "Relu", {"r"}) +
       Node("e", "ExpandDims", {"b", "axis"}, "attr { key: 'Tdim' value { type: DT_INT32 } }") +
       Node("q", "Squeeze", {"e"}) + Node("c", "Relu", {"q"}) + Node("s", "Shape", {"e"}));
  EXPECT_EQ(Run({{"x", Floats({1, 2}, {2})}}, {"c", "s"}),
            "wait 0.h<0.c, htod 0.h, block, compute, forwarded, compute, forwarded, compute, "
            "forwarded, wait 0.d<0.c, dtoh 0.d, block, sync 0");
  EXPECT_THAT(result_, ElementsAre(4, 5)) << status_;
}

// A device that other runs use is not synchronized for a run that has waited for all that it has
// queued. It is for work that no wait covers: of a kernel whose result nobody reads, behind a copy
// of no bytes, and after an error.
TEST_F(DeviceTest, RunsDoNotWaitForEachOther) {
  zero_.BeginRun();
  const Session::NamedTensor x = {"x", Floats({1, 2}, {2})};
  const auto syncs = [&](const std::vector<std::string>& fetches,
                         const Session::NamedTensor& feed) {
    return Run({feed}, fetches).find("sync 0") != std::string::npos;
  };
  const std::string on_host = Node("n", "Neg", {"a"}) + Node("b", "Relu", {"n"});
  Make(Placeholder("x", "dim { size: 2 }") + Node("a", "Relu", {"x"}) + on_host +
       "node { name: 'done' op: 'NoOp' input: '^b' }");
  EXPECT_FALSE(syncs({"b"}, x));
  EXPECT_THAT(result_, ElementsAre(-1, -2)) << status_;
  EXPECT_FALSE(syncs({"n"}, x));
  EXPECT_THAT(result_, ElementsAre(-2, -3)) << status_;
  EXPECT_TRUE(syncs({"n", "done"}, x)) << "b is not fetched";
  *FailAt() = "dtoh";
  EXPECT_TRUE(syncs({"b"}, x)) << "an error";
  EXPECT_FALSE(status_.ok());
  FailAt()->clear();

  Make(Placeholder("x", "dim { size: -1 }") + Node("a", "Relu", {"x"}) + on_host);
  EXPECT_TRUE(syncs({"b"}, {"x", Floats({}, {0})})) << "copies of no bytes: " << status_;
  EXPECT_FALSE(syncs({"b"}, x));
  zero_.EndRun();
  EXPECT_TRUE(syncs({"b"}, x)) << "the only run";
}

// Memory for the second feed may be what a kernel of another run still reads, though this run has
// queued no kernel since the copy of the first one waited.
TEST_F(DeviceTest, CopiesWaitForKernelsOfOtherRuns) {
  Make(Placeholder("x", "dim { size: 1 }") + Placeholder("y", "dim { size: 1 }") +
       Node("a", "Maximum", {"x", "y"}));
  const auto waits = [&] {
    Run({{"x", Floats({1}, {1})}, {"y", Floats({2}, {1})}}, {"a"});
    EXPECT_THAT(result_, ElementsAre(2)) << status_;
    return std::ranges::count(*Log(), "wait 0.h<0.c");
  };
  EXPECT_EQ(waits(), 1);
  zero_.BeginRun();
  EXPECT_EQ(waits(), 2);
  zero_.EndRun();
}

// A chain of kernels on the device, each read by a Neg on the host, and the sum "s" of those.
std::string RelusReadByNegs(int count) {
  std::string graph = Placeholder("x", "dim { size: 2 }");
  std::vector<std::string> sum;
  for (int i = 0; i < count; ++i) {
    const std::string relu = absl::StrCat("r", i);
    sum.push_back(absl::StrCat("n", i));
    graph += Node(relu, "Relu", {i == 0 ? "x" : absl::StrCat("r", i - 1)}) +
             Node(sum.back(), "Neg", {relu});
  }
  return graph +
         Node("s", "AddN", sum, absl::StrCat("attr { key: 'N' value { i: ", sum.size(), " } }"));
}

// All work goes out, each copy behind its kernel, before the host waits for the first copy.
TEST_F(DeviceTest, WorkGoesOutBeforeTheHostWaits) {
  Make(RelusReadByNegs(3));
  const std::string steps = Run({{"x", Floats({1, 2}, {2})}}, {"s"});
  EXPECT_THAT(result_, ElementsAre(-(2 + 3 + 4), -(3 + 4 + 5))) << status_;
  const std::string kernel_and_copy = "compute, wait 0.d<0.c, dtoh 0.d, ";
  EXPECT_EQ(steps, "wait 0.h<0.c, htod 0.h, block, compute, forwarded, wait 0.d<0.c, dtoh 0.d, " +
                       kernel_and_copy + kernel_and_copy + "block, block, block, sync 0");
}

// Each node is read where it stands, and the answer has the same bits.
TEST_F(DeviceTest, TheOrderOfTheFileIsKept) {
  Make(RelusReadByNegs(3), NodeOrder::kFile);
  const std::string steps = Run({{"x", Floats({1, 2}, {2})}}, {"s"});
  EXPECT_THAT(result_, ElementsAre(-(2 + 3 + 4), -(3 + 4 + 5))) << status_;
  const std::string read = "compute, forwarded, wait 0.d<0.c, dtoh 0.d, block, ";
  EXPECT_EQ(steps, "wait 0.h<0.c, htod 0.h, block, " + read + read + read + "sync 0");
}

// Of more results than kMostAhead the first are read before the last are made.
TEST_F(DeviceTest, TheDeviceIsNotTooFarAhead) {
  Make(RelusReadByNegs(2 * kMostAhead));
  const std::string steps = Run({{"x", Floats({1, 2}, {2})}}, {"s"});
  EXPECT_TRUE(status_.ok()) << status_;
  int ahead = 1, most = 0;  // the first wait is for the fed value
  for (const std::string_view step : absl::StrSplit(steps, ", ")) {
    if (step == "compute") most = std::max(most, ++ahead);
    if (step == "block") --ahead;
  }
  EXPECT_EQ(most, kMostAhead);
}

TEST_F(DeviceTest, FailuresNameTheNodeAndLeaveTheSessionUsable) {
  Make(Placeholder("x", "dim { size: 2 }") + Node("a", "Relu", {"x"}) + Node("n", "Neg", {"a"}) +
       Node("b", "Relu", {"n"}));
  for (const char* at :
       {"allocate", "htod", "wait", "compute", "dtoh", "record", "block", "sync"}) {
    *FailAt() = at;
    Run({{"x", Floats({1, 2}, {2})}}, {"b"});
    EXPECT_FALSE(status_.ok()) << at;
    if (std::string_view(at) == "compute") {
      EXPECT_EQ(status_.code(), absl::StatusCode::kAborted);
      EXPECT_THAT(std::string(status_.message()), HasSubstr("the kernel does not like it"));
      EXPECT_THAT(std::string(status_.message()), HasSubstr("node 'a' (Relu)"));
    }
    EXPECT_EQ(live_buffers, 0) << at;
    FailAt()->clear();
    Run({{"x", Floats({1, 2}, {2})}}, {"b"});
    EXPECT_THAT(result_, ElementsAre(-1, -2)) << at << ": " << status_;
  }
}

// A plug-in's kernel for the CPU may keep or overwrite what it gets: planned memory and the
// caller's tensors must not suffer.
TEST_F(DeviceTest, KernelsThatAPluginBringsForTheHost) {
  for (const char* label : {"plus_one", "pass"}) {
    const std::string kernel =
        absl::StrCat("device: '/cpu:0' attr { key: '_kernel' value { s: '", label, "' } }");
    Make(Placeholder("x", "dim { size: 2 }") + Node("n", "Neg", {"x"}) +
         Node("a", "Relu", {"n"}, kernel) + Node("c", "Relu", {"x"}, kernel) +
         Node("d", "Relu", {"a"}, kernel) + Node("s", "Sub", {"n", "x"}) +
         Node("t", "AddV2", {"s", "s"}) + Node("u", "AddV2", {"t", "d"}) +
         Node("y", "AddV2", {"u", "c"}));
    const Tensor x = Floats({1, 2}, {2});
    const float more = std::string_view(label) == "pass" ? 0 : 1;
    for (int i = 0; i < 2; ++i) {
      Run({{"x", x}}, {"y"});
      // t = -4x, d = -x + 2 more, c = x + more
      EXPECT_THAT(result_, ElementsAre(-4 + 3 * more, -8 + 3 * more)) << label << ": " << status_;
      EXPECT_THAT(Values(x), ElementsAre(1, 2));
    }
  }
}

// As many for a long chain as for a short one: those of the call of Run.
TEST_F(DeviceTest, CallsOfKernelsAllocateNothing) {
  if (!testing::HeapAllocations()) GTEST_SKIP() << "no heap of our own";
  constexpr char kAsks[] = "device: '/cpu:0' attr { key: '_kernel' value { s: 'is_aligned' } }";
  std::vector<int64_t> counts;
  for (const int length : {1, 20}) {
    std::string text = Placeholder("x", "dim { size: 1 }");
    std::string last = "x";
    for (int i = 0; i < length; ++i)
      text +=
          Node(absl::StrCat("a", i), "Relu", {std::exchange(last, absl::StrCat("a", i))}, kAsks);
    Make(text);
    const auto e = session_->Prepare({"x"}, {last});
    ASSERT_TRUE(e.ok()) << e.status();
    const std::vector<Tensor> feeds = {Floats({1}, {1})};
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(session_->Run(*e, feeds).ok());
    const int64_t before = *testing::HeapAllocations();
    ASSERT_TRUE(session_->Run(*e, feeds).ok());
    counts.push_back(*testing::HeapAllocations() - before);
  }
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_GT(*testing::HeapAllocations(), 0);
}

TEST_F(DeviceTest, HostTensorsOfKernelsAreAligned) {
  constexpr char kAsks[] = "device: '/cpu:0' attr { key: '_kernel' value { s: 'is_aligned' } }";
  const std::string one = "tensor_shape { dim { size: 1 } } float_val: ";
  std::string text = Placeholder("x", "dim { size: 1 }") + Node("ax", "Relu", {"x"}, kAsks);
  std::vector<std::string> asked = {"ax"};
  for (const char* name : {"c", "d", "e"}) {  // small constants lie side by side
    text += Const(name, "DT_FLOAT", absl::StrCat(one, asked.size()));
    text += Node(absl::StrCat("a", name), "Relu", {name}, kAsks);
    asked.push_back(absl::StrCat("a", name));
  }
  Make(text);
  alignas(64) float data[32] = {};
  const Tensor x(DataType::kFloat, {1},
                 BufferRef::Adopt(Buffer::Wrap(data + 4, sizeof(float), nullptr, nullptr)));
  for (const std::string& name : asked) {
    Run({{"x", x}}, {name});
    EXPECT_THAT(result_, ElementsAre(1)) << name << ": " << status_;
  }
}

TEST(Devices, ASessionHoldsThePluginsOfItsDevices) {
  LoggingDevice device(0);
  EXPECT_FALSE(PluginHold::Any(device.plugin()));
  {
    const auto session = Session::Create(Graph(), {&device}, {});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(PluginHold::Any(device.plugin()));
  }
  EXPECT_FALSE(PluginHold::Any(device.plugin()));
}

}  // namespace
}  // namespace tenon::device_test
