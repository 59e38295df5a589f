// What runs of a session share: variables, tables, queues, and the order of their changes.
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using testing::Floats;
using testing::Op;
using testing::Placeholder;
using testing::Values;

std::unique_ptr<Session> Make(std::string text, int opt_level = 1) {
  return testing::MakeSession(std::move(text), opt_level);
}

constexpr std::string_view kFloat = "attr { key: 'dtype' value { type: DT_FLOAT } } ";
constexpr std::string_view kT = "attr { key: 'T' value { type: DT_FLOAT } } ";

std::string Handle(std::string_view name) { return testing::VarHandle(name, name); }
std::string Variable(std::string_view name) {
  return Op(name, "VariableV2", {},
            absl::StrCat(kFloat, "attr { key: 'shape' value { shape { dim { size: 2 } } } } "));
}

const std::string kCounter = Handle("v") + Placeholder("x", "dim { size: 2 }") +
                             Op("set", "AssignVariableOp", {"v", "x"}, kFloat) +
                             Op("add", "AssignAddVariableOp", {"v", "x"}, kFloat) +
                             Op("get", "ReadVariableOp", {"v"}, kFloat) +
                             Op("get_after", "ReadVariableOp", {"v", "^add"}, kFloat);

absl::Status RunOn(Session& session, std::vector<float> x, std::string_view node) {
  return session.Run({{"x", Floats(std::move(x), {2})}}, {std::string(node)}).status();
}

TEST(State, RunsSeeWhatOtherRunsAssigned) {
  auto session = Make(kCounter);
  ASSERT_TRUE(RunOn(*session, {1, 2}, "set").ok());
  ASSERT_TRUE(RunOn(*session, {10, 20}, "add").ok());
  const auto value = session->Run({}, {"get"});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_THAT(Values((*value)[0]), ElementsAre(11, 22));
  // What was read stays as it is.
  ASSERT_TRUE(RunOn(*session, {5, 5}, "add").ok());
  EXPECT_THAT(Values((*value)[0]), ElementsAre(11, 22));
}

// Calls that run in different runs may bring nodes of one name, here "a/c/t".
TEST(State, NodesOfOneNameAndOfTwoOpsShareNone) {
  const std::string text =
      Placeholder("x", "") + testing::Call("a", "Draw", {}) + testing::Call("a/c", "Say", {"x"}) +
      testing::Library(
          {testing::Function(
               "Draw", {}, {"r"},
               testing::Const("s", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 2") +
                   Op("c/t", "RandomUniform", {"s:output:0"},
                      absl::StrCat(kFloat, testing::Type("T", "DT_INT32"),
                                   "attr { key: 'seed' value { i: 7 } } ")),
               testing::Ret("r", "c/t:output:0")),
           testing::Function(
               "Say", {"p"}, {"r"},
               Op("t", "Print", {"p", "p"}, absl::StrCat(kT, testing::Types("U", {"DT_FLOAT"}))),
               testing::Ret("r", "t:output:0"))});
  const auto alone = Make(text)->Run({}, {"a"});
  ASSERT_TRUE(alone.ok()) << alone.status();
  auto session = Make(text);
  const auto said = session->Run({{"x", Floats({1}, {})}}, {"a/c"});
  ASSERT_TRUE(said.ok()) << said.status();
  const auto after = session->Run({}, {"a"});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(Values((*after)[0]), Values((*alone)[0]));
}

// The same, for one op with other seeds.
TEST(State, GeneratorsOfOneNameAndOfTwoSeedsShareNone) {
  const auto draw = [](std::string_view name, std::string_view node, int seed) {
    return testing::Function(
        name, {}, {"r"},
        testing::Const("s", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 2") +
            Op(node, "RandomUniform", {"s:output:0"},
               absl::StrCat(kFloat, testing::Type("T", "DT_INT32"),
                            "attr { key: 'seed' value { i: ", seed, " } } ")),
        testing::Ret("r", absl::StrCat(node, ":output:0")));
  };
  const std::string text = testing::Call("a", "Draw", {}) + testing::Call("a/c", "Other", {}) +
                           testing::Library({draw("Draw", "c/t", 7), draw("Other", "t", 9)});
  const auto alone = Make(text)->Run({}, {"a/c"});
  ASSERT_TRUE(alone.ok()) << alone.status();
  auto session = Make(text);
  ASSERT_TRUE(session->Run({}, {"a"}).ok());
  const auto after = session->Run({}, {"a/c"});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(Values((*after)[0]), Values((*alone)[0]));
}

TEST(State, SessionsHaveVariablesOfTheirOwn) {
  auto one = Make(kCounter), other = Make(kCounter);
  ASSERT_TRUE(RunOn(*one, {1, 2}, "set").ok());
  EXPECT_EQ(other->Run({}, {"get"}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(RunOn(*other, {1, 2}, "add").code(), absl::StatusCode::kNotFound);
}

TEST(State, ControlEdgesOrderChanges) {
  for (int opt_level : {0, 1}) {
    auto session = Make(kCounter, opt_level);
    ASSERT_TRUE(RunOn(*session, {1, 2}, "set").ok());
    const auto value = session->Run({{"x", Floats({3, 3}, {2})}}, {"get_after"});
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_THAT(Values((*value)[0]), ElementsAre(4, 5));
  }
}

TEST(State, EightThreadsAddWithoutLosingAny) {
  constexpr int kThreads = 8, kRuns = 200;
  auto session = Make(kCounter);
  ASSERT_TRUE(RunOn(*session, {0, 0}, "set").ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&session, t] {
      for (int i = 0; i < kRuns; ++i) {
        const auto out =
            session->Run({{"x", Floats({1, 2}, {2})}}, {t % 2 == 0 ? "add" : "get_after"});
        ASSERT_TRUE(out.ok()) << out.status();
        // An update is never seen half done.
        if (t % 2 == 1) EXPECT_EQ(2 * Values((*out)[0])[0], Values((*out)[0])[1]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto value = session->Run({}, {"get"});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_THAT(Values((*value)[0]), ElementsAre(kThreads * kRuns, 2 * kThreads * kRuns));
}

TEST(State, AReferenceIsReadWhenItsReaderRuns) {
  const std::string text =
      Variable("v") + Placeholder("x", "dim { size: 2 }") + Op("set", "Assign", {"v", "x"}, kT) +
      Op("before", "Identity", {"v", "^set"}, kT) +
      Op("add", "AssignAdd", {"v", "x", "^before"}, kT) +
      Op("after", "Identity", {"v", "^add"}, kT) + Op("through", "Neg", {"add"}, kT);
  for (int opt_level : {0, 1}) {
    auto session = Make(text, opt_level);
    const auto out =
        session->Run({{"x", Floats({1, 2}, {2})}}, {"before", "after", "through", "v"});
    ASSERT_TRUE(out.ok()) << out.status();
    // TensorFlow's identities share the variable's memory.
    EXPECT_THAT(Values((*out)[0]), ElementsAre(2, 4));
    EXPECT_THAT(Values((*out)[1]), ElementsAre(2, 4));
    EXPECT_THAT(Values((*out)[2]), ElementsAre(-2, -4));
    EXPECT_THAT(Values((*out)[3]), ElementsAre(2, 4));
  }
}

TEST(State, AnUninitializedReferenceNamesTheVariable) {
  auto session = Make(Variable("weights") + Op("read", "Identity", {"weights"}, kT));
  const absl::Status status = session->Run({}, {"read"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("'weights' has no value"));
}

TEST(State, AFedReferenceIsAValueAndNoVariable) {
  auto session = Make(Variable("v") + Placeholder("x", "dim { size: 2 }") +
                      Op("neg", "Neg", {"v"}, kT) + Op("set", "Assign", {"v", "x"}, kT));
  const auto out = session->Run({{"v", Floats({1, 2}, {2})}}, {"neg"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-1, -2));
  const auto set = session->Run({{"v", Floats({1, 2}, {2})}, {"x", Floats({1, 2}, {2})}}, {"set"});
  EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(State, HandlesOfAnotherKindAreRefused) {
  auto session = Make(Op("q", "FIFOQueueV2", {},
                         "attr { key: 'component_types' value { list { type: DT_FLOAT } } } ") +
                      Op("read", "ReadVariableOp", {"q"}, kFloat));
  const absl::Status status = session->Run({}, {"read"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("must be a variable, it is a queue"));
}

// A queue that may hold `capacity` tensors, and nodes that put one in, take one out and close it.
std::string QueueNodes(int capacity) {
  const std::string types = "value { list { type: DT_FLOAT } } ";
  return Op("q", "FIFOQueueV2", {},
            absl::StrCat("attr { key: 'component_types' ", types,
                         "} attr { key: 'capacity' value { i: ", capacity, " } } ")) +
         Placeholder("x", "dim { size: 2 }") +
         Op("put", "QueueEnqueueV2", {"q", "x"},
            absl::StrCat("attr { key: 'Tcomponents' ", types, "} ")) +
         Op("take", "QueueDequeueV2", {"q"},
            absl::StrCat("attr { key: 'component_types' ", types, "} ")) +
         Op("close", "QueueCloseV2", {"q"}) +
         Op("cancel", "QueueCloseV2", {"q"},
            "attr { key: 'cancel_pending_enqueues' value { b: true } } ");
}

TEST(State, QueuesPassTensorsFromRunToRun) {
  auto session = Make(QueueNodes(-1));
  // One run waits for another one.
  std::thread producer([&] { EXPECT_TRUE(RunOn(*session, {1, 2}, "put").ok()); });
  const auto out = session->Run({}, {"take"});
  producer.join();
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(1, 2));
  ASSERT_TRUE(session->Run({}, {"close"}).ok());
  EXPECT_EQ(session->Run({}, {"take"}).status().code(), absl::StatusCode::kOutOfRange);
}

// The order in which a shuffling queue without seeds gives the numbers from 0 to 15.
std::vector<float> ShuffledOrder(uint64_t session_seed) {
  const std::string types = "value { list { type: DT_FLOAT } } ";
  const std::string text =
      Op("q", "RandomShuffleQueueV2", {},
         absl::StrCat("attr { key: 'component_types' ", types,
                      "} attr { key: 'shapes' value { list { shape { } } } } ")) +
      Placeholder("x", "dim { size: 16 }") + testing::Const("n", "DT_INT32", "int_val: 16") +
      Op("put", "QueueEnqueueManyV2", {"q", "x"},
         absl::StrCat("attr { key: 'Tcomponents' ", types, "} ")) +
      Op("take", "QueueDequeueManyV2", {"q", "n"},
         absl::StrCat("attr { key: 'component_types' ", types, "} "));
  SessionOptions options;
  options.threads = 1;
  options.seed = session_seed;
  auto session = Session::Create(testing::Parse(text), {}, options);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  std::vector<float> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  EXPECT_TRUE((*session)->Run({{"x", Floats(numbers, {16})}}, {"put"}).ok());
  const auto taken = (*session)->Run({}, {"take"});
  EXPECT_TRUE(taken.ok()) << taken.status();
  return taken.ok() ? Values((*taken)[0]) : std::vector<float>();
}

TEST(State, AShufflingQueueFollowsTheSessionsSeed) {
  const std::vector<float> order = ShuffledOrder(7);
  EXPECT_EQ(order.size(), 16);
  EXPECT_EQ(ShuffledOrder(7), order);
  EXPECT_NE(ShuffledOrder(8), order);
}

// As in TensorFlow, although the queue has fewer tuples than it is to keep.
TEST(State, ToTakeNothingFromAShufflingQueueIsNoWait) {
  const std::string types = "value { list { type: DT_FLOAT } } ";
  auto session = Make(Op("q", "RandomShuffleQueueV2", {},
                         absl::StrCat("attr { key: 'component_types' ", types,
                                      "} attr { key: 'shapes' value { list { shape { } } } } "
                                      "attr { key: 'min_after_dequeue' value { i: 4 } } ")) +
                      testing::Const("n", "DT_INT32", "int_val: 0") +
                      Op("take", "QueueDequeueManyV2", {"q", "n"},
                         absl::StrCat("attr { key: 'component_types' ", types, "} ")));
  const auto taken = session->Run({}, {"take"});
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ((*taken)[0].shape(), Shape({0}));
}

TEST(State, WhoWaitsToFillAQueueMayDoSoAfterItIsClosed) {
  for (const bool cancel : {false, true}) {
    auto session = Make(QueueNodes(1));
    ASSERT_TRUE(RunOn(*session, {1, 2}, "put").ok());
    absl::Status put;
    std::thread producer([&] { put = RunOn(*session, {3, 4}, "put"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ASSERT_TRUE(session->Run({}, {cancel ? "cancel" : "close"}).ok());
    EXPECT_EQ(RunOn(*session, {5, 6}, "put").code(), absl::StatusCode::kCancelled);
    EXPECT_TRUE(session->Run({}, {"take"}).ok());
    producer.join();
    EXPECT_EQ(put.code(), cancel ? absl::StatusCode::kCancelled : absl::StatusCode::kOk);
    EXPECT_EQ(session->Run({}, {"take"}).status().code(),
              cancel ? absl::StatusCode::kOutOfRange : absl::StatusCode::kOk);
  }
}

TEST(State, TensorsStayInTheSessionUntilTheyAreDeleted) {
  const std::string text =
      Placeholder("x", "dim { size: 2 }") + Op("keep", "GetSessionHandle", {"x"}, kT) +
      Placeholder("handle", "", "DT_STRING") + Op("get", "GetSessionTensor", {"handle"}, kFloat) +
      Op("delete", "DeleteSessionTensor", {"handle"});
  auto session = Make(text), other = Make(text);
  const auto handle = session->Run({{"x", Floats({1, 2}, {2})}}, {"keep"});
  ASSERT_TRUE(handle.ok()) << handle.status();
  const auto get = [&](Session& s) { return s.Run({{"handle", (*handle)[0]}}, {"get"}); };
  const auto value = get(*session);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_THAT(Values((*value)[0]), ElementsAre(1, 2));
  EXPECT_EQ(get(*other).status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(session->Run({{"handle", (*handle)[0]}}, {"delete"}).ok());
  EXPECT_EQ(get(*session).status().code(), absl::StatusCode::kInvalidArgument);
}

// A run that fails gives back what it has locked.
TEST(State, ALockEndsWithItsRun) {
  auto session = Make(Op("m", "MutexV2", {}) + Op("lock", "MutexLock", {"m"}) +
                      Placeholder("x", "dim { size: 2 }") +
                      Op("bad", "ReadVariableOp", {"v", "^lock"}, kFloat) + Handle("v"));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(session->Run({}, {"bad"}).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tenon::state_test
