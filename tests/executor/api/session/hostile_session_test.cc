// What a program does wrong with sessions: it gets a status, and the session goes on.

#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/executor/api/session/session_util.h"
#include "tests/support/process_memory.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::Int;
using testing::IntsOf;
using testing::OpenSession;

class CHostileSession : public testing::GraphFixture {};

TEST_F(CHostileSession, NullsAreRefused) {
  TF_Operation* one = ScalarConst("one", 1);
  const TF_Output output{one, 0};
  TF_Tensor* result = nullptr;
  OpenSession session(g());
  const auto expect_refused = [&](const char* what) {
    EXPECT_EQ(TF_INVALID_ARGUMENT, code()) << what << ": " << message();
  };
  TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 1, &output, &result, 1, nullptr, 0,
                nullptr, s());
  expect_refused("inputs");
  TF_SessionRun(session.get(), nullptr, &output, nullptr, 1, &output, &result, 1, nullptr, 0,
                nullptr, s());
  expect_refused("input_values");
  TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, nullptr, &result, 1, nullptr, 0,
                nullptr, s());
  expect_refused("outputs");
  TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, &output, nullptr, 1, nullptr, 0,
                nullptr, s());
  expect_refused("output_values");
  TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, 1,
                nullptr, s());
  expect_refused("target_opers");
  for (const int count : {-1, INT32_MIN}) {
    TF_SessionRun(session.get(), nullptr, &output, &result, count, &output, &result, 1, nullptr, 0,
                  nullptr, s());
    expect_refused("ninputs");
    TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, &output, &result, count, nullptr, 0,
                  nullptr, s());
    expect_refused("noutputs");
  }
  // Without a status nothing can be said, and nothing happens.
  TF_SessionRun(nullptr, nullptr, nullptr, nullptr, 0, &output, &result, 1, nullptr, 0, nullptr,
                nullptr);
  EXPECT_EQ(nullptr, result);
  TF_CloseSession(nullptr, s());
  expect_refused("session");
  EXPECT_EQ(nullptr, TF_SessionListDevices(nullptr, s()));
  expect_refused("session");
  EXPECT_EQ(-1, TF_DeviceListCount(nullptr));
  EXPECT_EQ(nullptr, TF_DeviceListName(nullptr, 0, s()));
  expect_refused("list");
  TF_SetTarget(nullptr, "x");
  TF_DeleteSession(nullptr, s());
  ExpectOk();
  TF_DeleteSessionOptions(nullptr);
  TF_DeleteDeviceList(nullptr);
  TF_DeletePRunHandle(nullptr);
  TF_DeleteDeprecatedSession(nullptr, s());
  ExpectOk();
}

TEST_F(CHostileSession, DeletedSessionsAndTensorsAreRefused) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  TF_Session* const session = TF_NewSession(g(), nullptr, s());
  const TF_Output input{x, 0}, output{neg, 0};
  TF_Tensor* value = nullptr;
  TF_Tensor* result = nullptr;
  value = Int(3).release();
  TF_DeleteTensor(value);
  TF_SessionRun(session, nullptr, &input, &value, 1, &output, &result, 1, nullptr, 0, nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_DeleteTensor(value);
  TF_DeleteSession(session, s());
  ExpectOk();
  const testing::TensorPtr alive = Int(3);
  value = alive.get();
  TF_SessionRun(session, nullptr, &input, &value, 1, &output, &result, 1, nullptr, 0, nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ("the session was deleted", message());
  TF_CloseSession(session, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_DeleteSession(session, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr, TF_SessionListDevices(session, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CHostileSession, FeedsMustFit) {
  TF_Operation* x = Placeholder("x");
  const std::vector<int64_t> dims = {2};
  TF_Operation* y = Placeholder("y", TF_INT32, &dims);
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  TF_Operation* sum = Binary("AddV2", "sum", {y, 0}, {neg, 0});
  OpenSession session(g());
  const testing::TensorPtr three = Int(3), floats = testing::FloatTensor({}, {1});
  const testing::TensorPtr pair = testing::IntTensor({2}, {1, 2});
  session.Run({{{{x, 0}, floats.get()}}, {{neg, 0}}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  session.Run({{{{x, 0}, three.get()}, {{x, 0}, three.get()}}, {{neg, 0}}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ("Endpoint \"x:0\" fed more than once.", session.message());
  session.Run({{{{x, 0}, three.get()}}, {{x, 0}}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ("x:0 is both fed and fetched.", session.message());
  session.Run({{{{neg, 0}, three.get()}}, {{neg, 0}}, {}});
  EXPECT_EQ("neg:0 is both fed and fetched.", session.message());
  session.Run({{{{x, 0}, three.get()}}, {{sum, 0}}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ(
      "You must feed a value for placeholder tensor 'y' with dtype int32 and shape [2]\n"
      "\t [[{{node y}}]]",
      session.message());
  session.Run({{}, {{neg, 0}}, {}});
  EXPECT_EQ("You must feed a value for placeholder tensor 'x' with dtype int32\n\t [[{{node x}}]]",
            session.message());
  session.Run({{{{x, 0}, three.get()}}, {}, {}});
  EXPECT_EQ("Must specify at least one target to fetch or execute.", session.message());
  // Of inner nodes, too, and of those that nothing needs.
  EXPECT_THAT(
      IntsOf(
          session.Run({{{{neg, 0}, three.get()}, {{y, 0}, pair.get()}}, {{sum, 0}}, {}})[0].get()),
      ElementsAre(4, 5));
  EXPECT_THAT(IntsOf(session
                         .Run({{{{x, 0}, three.get()}, {{y, 0}, pair.get()}},
                               {{neg, 0}, {neg, 0}},
                               {neg, neg}})[1]
                         .get()),
              ElementsAre(-3));
}

TEST_F(CHostileSession, OperationsMustBeOfTheGraph) {
  TF_Operation* one = ScalarConst("one", 1);
  const testing::GraphPtr other(TF_NewGraph());
  TF_OperationDescription* desc = TF_NewOperation(other.get(), "NoOp", "one");
  TF_Operation* foreign = TF_FinishOperation(desc, s());
  OpenSession session(g());
  const testing::TensorPtr three = Int(3);
  for (const OpenSession::Call& call :
       {OpenSession::Call{{}, {{foreign, 0}}, {}}, OpenSession::Call{{}, {}, {foreign}},
        OpenSession::Call{{{{foreign, 0}, three.get()}}, {{one, 0}}, {}},
        OpenSession::Call{{}, {{nullptr, 0}}, {}}, OpenSession::Call{{}, {}, {nullptr}},
        OpenSession::Call{{}, {{one, -1}}, {}}}) {
    session.Run(call);
    EXPECT_EQ(TF_INVALID_ARGUMENT, session.code()) << session.message();
  }
  session.Run({{}, {{one, 1}}, {}});
  EXPECT_EQ(TF_OUT_OF_RANGE, session.code());
}

TEST_F(CHostileSession, ASessionKeepsItsGraph) {
  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_Operation* x = TF_FinishOperation(desc, s());
  desc = TF_NewOperation(graph, "Neg", "neg");
  TF_AddInput(desc, {x, 0});
  TF_Operation* neg = TF_FinishOperation(desc, s());
  OpenSession first(graph), second(graph);
  TF_DeleteGraph(graph);
  const testing::TensorPtr three = Int(3);
  for (OpenSession* session : {&first, &second}) {
    EXPECT_THAT(IntsOf(session->Run({{{{x, 0}, three.get()}}, {{neg, 0}}, {}})[0].get()),
                ElementsAre(-3));
  }
}

// As in TensorFlow: what a session has taken stays as it was then.
TEST_F(CHostileSession, ChangedOperationsChangeNoSessionThatHasThem) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* two = ScalarConst("two", 2);
  TF_Operation* three = ScalarConst("three", 3);
  TF_Operation* sum = Binary("AddV2", "sum", {x, 0}, {two, 0});
  OpenSession session(g()), untouched(g());
  const testing::TensorPtr ten = Int(10);
  const OpenSession::Call call{{{{x, 0}, ten.get()}}, {{sum, 0}}, {}};
  EXPECT_THAT(IntsOf(session.Run(call)[0].get()), ElementsAre(12));
  ::testing::internal::CaptureStderr();
  TF_UpdateEdge(g(), {three, 0}, {sum, 1}, s());
  ExpectOk();
  TF_Operation* twice = Binary("AddV2", "twice", {sum, 0}, {sum, 0});
  EXPECT_THAT(IntsOf(session.Run(call)[0].get()), ElementsAre(12));
  EXPECT_THAT(IntsOf(session.Run({{{{x, 0}, ten.get()}}, {{twice, 0}}, {}})[0].get()),
              ElementsAre(24));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("Operation 'sum' was changed after it was run by a session."));
  EXPECT_THAT(IntsOf(untouched.Run(call)[0].get()), ElementsAre(13));
}

TEST_F(CHostileSession, ManySessionsTakeNoMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory for a while";
#endif
  TF_Operation* x = Placeholder("x");
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  const testing::TensorPtr three = Int(3);
  const auto make = [&](int count) {
    for (int i = 0; i < count; ++i) {
      OpenSession session(g());
      if (i % 10 == 0) session.Run({{{{x, 0}, three.get()}}, {{neg, 0}}, {}});
      EXPECT_EQ(TF_OK, session.code());
    }
  };
  make(500);
  const int64_t before = testing::PeakResidentBytes();
  make(5000);
  EXPECT_LE(testing::PeakResidentBytes() - before, 8 << 20) << "in 5,000 sessions";
}

TEST_F(CHostileSession, ThreadsShareASessionWhileTheGraphGrows) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  OpenSession session(g());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const testing::StatusPtr status(TF_NewStatus());
      const testing::TensorPtr fed = Int(t);
      TF_Output last{neg, 0};
      for (int i = 0; i < 40; ++i) {
        TF_OperationDescription* desc =
            TF_NewOperation(g(), "Neg", absl::StrCat("neg_", t, "_", i).c_str());
        TF_AddInput(desc, last);
        last = {TF_FinishOperation(desc, status.get()), 0};
        const TF_Output input{x, 0}, outputs[] = {last, {neg, 0}};
        TF_Tensor* value = fed.get();
        for (int k = 0; k < 3; ++k) {
          TF_Tensor* results[2];
          TF_SessionRun(session.get(), nullptr, &input, &value, 1, outputs, results, 2, nullptr, 0,
                        nullptr, status.get());
          ASSERT_EQ(TF_OK, TF_GetCode(status.get())) << TF_Message(status.get());
          EXPECT_THAT(IntsOf(testing::TensorPtr(results[0]).get()),
                      ElementsAre(i % 2 == 0 ? t : -t));
          EXPECT_THAT(IntsOf(testing::TensorPtr(results[1]).get()), ElementsAre(-t));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tenon
