// Asynchronous kernels of plug-ins in a session: what goes on while their calls are under way, and
// what waits for them. Counted, not timed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tests/executor/far_device_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Bool;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Loop;
using testing::MakeSession;
using testing::Node;
using testing::Numbers;
using testing::Op;
using testing::Placeholder;
using testing::Values;

// A call ends when so many have begun, and as many probes were made.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::thread> threads;
  int wanted_calls = 1, wanted_probes = 0;
  int begun = 0, under_way = 0, most = 0, probes = 0;
  std::vector<int> seen_by_probes;  // how many calls were under way
};
Calls* calls = nullptr;

void Fail(TF_OpKernelContext* context, const char* message) {
  TF_Status* const status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, message);
  TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

// With memory that the host cannot touch.
class Board : public testing::FarDevice {
 public:
  std::string_view plugin() const override { return ""; }
};

float* DataOf(const TF_Tensor* tensor) {
  const auto address = reinterpret_cast<uintptr_t>(TF_TensorData(tensor));
  return reinterpret_cast<float*>(address & ~testing::kFar);
}

// out = in + 1.
void AddOne(TF_OpKernelContext* context) {
  TF_Status* const status = TF_NewStatus();
  TF_Tensor* in = nullptr;
  TF_GetInput(context, 0, &in, status);
  const int64_t dims[] = {TF_Dim(in, 0)};
  TF_Tensor* const out =
      TF_AllocateOutput(context, 0, TF_FLOAT, dims, TF_NumDims(in), TF_TensorByteSize(in), status);
  for (int64_t i = 0; i < TF_TensorElementCount(in); ++i) DataOf(out)[i] = DataOf(in)[i] + 1;
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

template <bool kFails>
void Begin(void*, TF_OpKernelContext* context, TF_AsyncOpKernelDoneCallback* done) {
  const std::lock_guard lock(calls->mutex);
  ++calls->begun;
  calls->most = std::max(calls->most, ++calls->under_way);
  calls->changed.notify_all();
  calls->threads.emplace_back([context, done] {
    {
      std::unique_lock waiting(calls->mutex);
      const bool together = calls->changed.wait_for(waiting, std::chrono::seconds(5), [] {
        return calls->begun >= calls->wanted_calls && calls->probes >= calls->wanted_probes;
      });
      if (!together) Fail(context, "the others never came");
    }
    if (kFails) Fail(context, "it fails in the end");
    AddOne(context);
    {
      const std::lock_guard ending(calls->mutex);
      --calls->under_way;
    }
    TF_RunAsyncOpKernelDoneCallback(done);
  });
}

// Passes its input on.
void Probe(void*, TF_OpKernelContext* context) {
  {
    const std::lock_guard lock(calls->mutex);
    ++calls->probes;
    calls->seen_by_probes.push_back(calls->under_way);
    calls->changed.notify_all();
  }
  AddOne(context);
}

// Has no done callback to give.
void NeverEnd(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*) {}

void FailAtOnce(void*, TF_OpKernelContext* context) { Fail(context, "it fails at once"); }

void RegisterOp(const char* name, std::vector<const char*> inputs) {
  TF_Status* const status = TF_NewStatus();
  TF_OpDefinitionBuilder* const op = TF_NewOpDefinitionBuilder(name);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(op, input);
  TF_OpDefinitionBuilderAddOutput(op, "out: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, TF_ShapeInferenceContextSetUnknownShape);
  TF_RegisterOpDefinition(op, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  TF_DeleteStatus(status);
}

void RegisterKernel(const char* name, TF_KernelBuilder* builder) {
  TF_Status* const status = TF_NewStatus();
  TF_RegisterKernelBuilder(name, builder, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  TF_DeleteStatus(status);
}

class AsyncKernelsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const char* name : {"SlowAdd", "SlowFail", "ProbeAdd", "FailNow", "NeverEnds"})
      RegisterOp(name, {"in: float"});
    for (const char* name : {"SlowAddTo", "ProbeAddTo"})
      RegisterOp(name, {"in: float", "variable: resource"});
    for (const char* name : {"SlowAdd", "SlowAddTo"})
      RegisterKernel(name, TF_NewAsyncKernelBuilder(name, "CPU", nullptr, Begin<false>, nullptr));
    RegisterKernel("SlowFail",
                   TF_NewAsyncKernelBuilder("SlowFail", "CPU", nullptr, Begin<true>, nullptr));
    RegisterKernel("NeverEnds",
                   TF_NewAsyncKernelBuilder("NeverEnds", "CPU", nullptr, NeverEnd, nullptr));
    RegisterKernel("FarAdd",
                   TF_NewAsyncKernelBuilder("SlowAdd", "FAR", nullptr, Begin<false>, nullptr));
    for (const char* name : {"ProbeAdd", "ProbeAddTo"})
      RegisterKernel(name, TF_NewKernelBuilder(name, "CPU", nullptr, Probe, nullptr));
    RegisterKernel("FailNow", TF_NewKernelBuilder("FailNow", "CPU", nullptr, FailAtOnce, nullptr));
  }
  void SetUp() override { calls = &calls_; }
  void TearDown() override {
    for (std::thread& thread : calls_.threads) thread.join();
  }
  // The first fetch's values.
  std::vector<float> Run(const std::string& text, const std::vector<std::string>& fetches) {
    const auto session = MakeSession(text);
    const auto run = session->Run({{"x", Floats({1, 2}, {2})}}, fetches);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() && (*run)[0].initialized() ? Values((*run)[0]) : std::vector<float>();
  }
  absl::Status FailedRun(const std::string& text, const std::vector<std::string>& fetches) {
    const auto session = MakeSession(text);
    const absl::Status status = session->Run({{"x", Floats({1, 2}, {2})}}, fetches).status();
    EXPECT_EQ(calls_.under_way, 0) << "the run ends when its calls have ended";
    return status;
  }

  const std::string x_ = Placeholder("x", "dim { size: 2 }");
  Calls calls_;
};

TEST_F(AsyncKernelsTest, IndependentCallsAreUnderWayTogether) {
  std::string graph = x_, sum = "a0";
  for (int i = 0; i < 8; ++i) graph += Op(absl::StrCat("a", i), "SlowAdd", {"x"});
  for (int i = 1; i < 8; ++i) {
    graph += Node(absl::StrCat("sum", i), "AddV2", {sum, absl::StrCat("a", i)});
    sum = absl::StrCat("sum", i);
  }
  calls_.wanted_calls = 8;
  EXPECT_THAT(Run(graph, {sum}), ElementsAre(16, 24));
  EXPECT_EQ(calls_.most, 8);
}

// Whatever stands between them.
TEST_F(AsyncKernelsTest, ReadersDoNotKeepCallsApart) {
  std::string graph = x_, sum = "n0";
  for (int i = 0; i < 8; ++i) {
    const std::string number = absl::StrCat(i);
    graph += Op("a" + number, "SlowAdd", {"x"}) + Node("n" + number, "Neg", {"a" + number});
    if (i == 0) continue;
    graph += Node("sum" + number, "AddV2", {sum, "n" + number});
    sum = "sum" + number;
  }
  calls_.wanted_calls = 8;
  EXPECT_THAT(Run(graph, {sum}), ElementsAre(-16, -24));
  EXPECT_EQ(calls_.most, 8);
}

TEST_F(AsyncKernelsTest, OtherKernelsRunMeanwhile) {
  calls_.wanted_probes = 1;
  EXPECT_THAT(Run(x_ + Op("slow", "SlowAdd", {"x"}) + Op("probe", "ProbeAdd", {"x"}) +
                      Node("sum", "AddV2", {"slow", "probe"}),
                  {"sum"}),
              ElementsAre(4, 6));
  EXPECT_THAT(calls_.seen_by_probes, ElementsAre(1));
}

TEST_F(AsyncKernelsTest, ReadersWait) {
  EXPECT_THAT(Run(x_ + Op("a", "SlowAdd", {"x"}) + Op("b", "SlowAdd", {"a"}) +
                      Op("probe", "ProbeAdd", {"b"}) + Node("y", "Neg", {"probe"}),
                  {"y"}),
              ElementsAre(-4, -5));
  EXPECT_EQ(calls_.most, 1);
  EXPECT_THAT(calls_.seen_by_probes, ElementsAre(0));
}

TEST_F(AsyncKernelsTest, AControlEdgeIsWaitedFor) {
  // Also through nodes of which no step is left.
  for (const std::string& between :
       {std::string("^a"), std::string("^nothing"), std::string("^same"), std::string("^later")}) {
    calls_.seen_by_probes.clear();
    Run(x_ + Op("a", "SlowAdd", {"x"}) + Op("nothing", "NoOp", {"^a"}) +
            Node("same", "Identity", {"a"}) + Node("later", "Identity", {"x", "^nothing"}) +
            Op("probe", "ProbeAdd", {"x", between}) + Node("sum", "AddV2", {"a", "probe"}),
        {"sum"});
    EXPECT_THAT(calls_.seen_by_probes, ElementsAre(0)) << between;
  }
}

TEST_F(AsyncKernelsTest, AControlEdgeIsWaitedForThroughValues) {
  Run(x_ + Op("a", "SlowAdd", {"x"}) + Node("later", "Identity", {"x", "^a"}) +
          Op("probe", "ProbeAdd", {"later"}) + Node("sum", "AddV2", {"a", "probe"}),
      {"sum"});
  EXPECT_THAT(calls_.seen_by_probes, ElementsAre(0));
}

TEST_F(AsyncKernelsTest, WhoUsesTheSameResourceWaits) {
  const std::string graph =
      x_ + testing::VarHandle("v", "v") + testing::VarHandle("w", "w") +
      Op("a", "SlowAddTo", {"x", "v"}) + Op("other", "ProbeAddTo", {"x", "w"}) +
      Op("same", "ProbeAddTo", {"x", "v"}) + Node("some", "AddV2", {"a", "other"}) +
      Node("sum", "AddV2", {"some", "same"});
  calls_.wanted_probes = 1;
  EXPECT_THAT(Run(graph, {"sum"}), ElementsAre(6, 9));
  EXPECT_THAT(calls_.seen_by_probes, ElementsAre(1, 0));
}

TEST_F(AsyncKernelsTest, TheFirstErrorInTheOrderOfTheGraphIsTold) {
  const std::string fails = Op("first", "SlowFail", {"x"});
  const std::string later = Op("second", "SlowFail", {"x"}) + Op("now", "FailNow", {"x"});
  for (const std::vector<std::string>& fetches :
       {std::vector<std::string>{"now", "first", "second"}, {"second", "first"}}) {
    const absl::Status status = FailedRun(x_ + fails + later, fetches);
    EXPECT_THAT(status.message(), HasSubstr("it fails in the end"));
    EXPECT_THAT(status.message(), HasSubstr("'first'"));
  }
  const absl::Status now = FailedRun(x_ + Op("slow", "SlowAdd", {"x"}) + later, {"slow", "now"});
  EXPECT_THAT(now.message(), HasSubstr("it fails at once"));
}

TEST_F(AsyncKernelsTest, TheOrderOfErrorsIsTheGraphsWhereThatOfStepsIsAnother) {
  const std::string slow = Op("slow", "SlowAdd", {"x"}), late = Op("late", "FailNow", {"slow"});
  const std::string again = Op("again", "SlowFail", {"slow"}), now = Op("now", "FailNow", {"x"});
  EXPECT_THAT(FailedRun(x_ + slow + late + now, {"now", "late"}).message(), HasSubstr("'late'"));
  EXPECT_THAT(FailedRun(x_ + now + slow + late, {"now", "late"}).message(), HasSubstr("'now'"));
  EXPECT_THAT(FailedRun(x_ + slow + again + late + now, {"now", "late", "again"}).message(),
              HasSubstr("'again'"));
}

TEST_F(AsyncKernelsTest, AnErrorOfACallThatIsReadIsThatOfTheCallBefore) {
  const absl::Status status =
      FailedRun(x_ + Op("first", "SlowFail", {"x"}) + Op("second", "SlowFail", {"x"}) +
                    Node("y", "Neg", {"second"}),
                {"y", "first"});
  EXPECT_THAT(status.message(), HasSubstr("'first'"));
}

TEST_F(AsyncKernelsTest, CallsThatNobodyReadsAreWaitedFor) {
  const auto session = MakeSession(x_ + Op("a", "SlowAdd", {"x"}) + Op("b", "SlowAdd", {"x"}) +
                                   Op("both", "NoOp", {"^a", "^b"}));
  calls_.wanted_calls = 2;
  EXPECT_TRUE(session->Run({{"x", Floats({1, 2}, {2})}}, {"both"}).ok());
  EXPECT_EQ(calls_.begun, 2);
  EXPECT_EQ(calls_.under_way, 0);
}

TEST_F(AsyncKernelsTest, ADeadBranchHasNoCalls) {
  const auto session =
      MakeSession(x_ + Placeholder("p", "", "DT_BOOL") + Node("choose", "Switch", {"x", "p"}) +
                  Op("a", "SlowAdd", {"choose:1"}) + Op("b", "SlowAdd", {"choose:1"}) +
                  Node("sum", "AddV2", {"a", "b"}) + Node("neg", "Neg", {"choose"}) +
                  Node("y", "Merge", {"neg", "sum"}, "attr { key: 'N' value { i: 2 } }"));
  for (int i = 0; i < 2; ++i) {
    auto run = session->Run({{"x", Floats({1, 2}, {2})}, {"p", Bool(false)}}, {"y"});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_THAT(Values((*run)[0]), ElementsAre(-1, -2));
    EXPECT_EQ(calls_.begun, 2 * i);
    calls_.wanted_calls = 2 * i + 2;
    run = session->Run({{"x", Floats({1, 2}, {2})}, {"p", Bool(true)}}, {"y"});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_THAT(Values((*run)[0]), ElementsAre(4, 6));
  }
  EXPECT_EQ(calls_.most, 2);
}

TEST_F(AsyncKernelsTest, APassOfALoopEndsWhenItsCallsHaveEnded) {
  const auto session =
      MakeSession(Numbers() + Loop("w_",
                                   Op("w_slow", "SlowAdd", {"w_switch_x:1"}) +
                                       Op("w_unread", "SlowAdd", {"w_switch_x:1"}) +
                                       Op("w_probe", "ProbeAdd", {"w_switch_x:1"}) +
                                       Node("w_body", "AddV2", {"w_slow", "w_probe", "^w_unread"}),
                                   "zero", "zero", "n"));
  const auto run = session->Run({{"n", Floats({3}, {})}}, {"w_exit_x"});
  ASSERT_TRUE(run.ok()) << run.status();
  // x becomes 2 x + 2.
  EXPECT_THAT(Values((*run)[0]), ElementsAre(14));
  EXPECT_EQ(calls_.begun, 6);
  EXPECT_LE(calls_.most, 2);
}

TEST_F(AsyncKernelsTest, CallsThatNeverEndRunOutOfTimeTogether) {
  SessionOptions options;
  options.opt_level = 0;
  options.device_timeout_s = 0.05;
  const std::string graph = x_ + Op("first", "NeverEnds", {"x"}) + Op("second", "NeverEnds", {"x"});
  auto session = Session::Create(testing::Parse(graph), {}, options);
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 2; ++i) {
    const absl::Status status =
        (*session)->Run({{"x", Floats({1, 2}, {2})}}, {"second", "first"}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(status.message(), HasSubstr("'first'"));
    EXPECT_THAT(status.message(), HasSubstr("done callback"));
  }
}

TEST_F(AsyncKernelsTest, CallsOnADeviceAreWaitedForBeforeTheirOutputsAreCopied) {
  Board board;
  SessionOptions options;
  options.opt_level = 0;
  std::string graph = x_, sum = "a0";
  for (int i = 0; i < 4; ++i) graph += Op(absl::StrCat("a", i), "SlowAdd", {"x"});
  for (int i = 1; i < 4; ++i) {
    graph += Node(absl::StrCat("sum", i), "AddV2", {sum, absl::StrCat("a", i)});
    sum = absl::StrCat("sum", i);
  }
  auto session = Session::Create(testing::Parse(graph), {&board}, options);
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 1; i <= 3; ++i) {
    calls_.wanted_calls = 4 * i;
    const auto run = (*session)->Run({{"x", Floats({1, 2}, {2})}}, {sum});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_THAT(Values((*run)[0]), ElementsAre(8, 12));
  }
  EXPECT_EQ(calls_.most, 4);
}

TEST_F(AsyncKernelsTest, RunsAtOnceHaveTheirOwnCalls) {
  const auto session = MakeSession(x_ + Op("a", "SlowAdd", {"x"}) + Node("y", "Neg", {"a"}));
  calls_.wanted_calls = 4;
  std::atomic<int> right{0};
  std::vector<std::thread> runs;
  for (int i = 0; i < 4; ++i) {
    runs.emplace_back([&, i] {
      const auto run = session->Run({{"x", Floats({float(i), 0}, {2})}}, {"y"});
      if (run.ok() && Values((*run)[0])[0] == float(-i - 1)) ++right;
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(calls_.most, 4);
}

}  // namespace
}  // namespace tenon
