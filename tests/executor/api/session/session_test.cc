// Sessions of the client C API.
#include "absl/strings/str_cat.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::FloatsOf;
using testing::FloatTensor;
using ::testing::HasSubstr;
using testing::IntsOf;
using testing::IntTensor;
using testing::SessionRunner;
using testing::TensorPtr;

class CSession : public testing::GraphFixture {};

TEST_F(CSession, RunsWithFeedsFetchesAndTargets) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* two = ScalarConst("two", 2);
  TF_Operation* sum = AddN("sum", {{x, 0}, {two, 0}});
  SessionRunner session(g());
  for (int value : {3, 40}) {
    const TensorPtr fed = IntTensor({}, {value});
    const auto out = session.Run({{{x, 0}, fed.get()}}, {{sum, 0}, {two, 0}}, {two});
    EXPECT_THAT(IntsOf(out[0].get()), ElementsAre(value + 2));
    EXPECT_THAT(IntsOf(out[1].get()), ElementsAre(2));
  }
}

TEST_F(CSession, FollowsAGraphThatGrows) {
  TF_Operation* x = Placeholder("x");
  SessionRunner session(g());
  const TensorPtr fed = IntTensor({}, {5});
  TF_Output last{x, 0};
  for (int i = 0; i < 5; ++i) {
    TF_Operation* neg = Unary("Neg", absl::StrCat("neg", i).c_str(), last);
    last = {neg, 0};
    const auto out = session.Run({{{x, 0}, fed.get()}}, {last});
    EXPECT_THAT(IntsOf(out[0].get()), ElementsAre(i % 2 == 0 ? -5 : 5));
  }
}

TEST_F(CSession, KeepsVariablesFromRunToRunAndPerSession) {
  TF_OperationDescription* desc = New("VarHandleOp", "v");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_Operation* v = Finish(desc);
  TF_Operation* one = Const("one", FloatTensor({}, {1}).get());
  TF_Operation* init = Binary("AssignVariableOp", "init", {v, 0}, {one, 0});
  TF_Operation* add = Binary("AssignAddVariableOp", "add", {v, 0}, {one, 0});
  desc = New("ReadVariableOp", "read");
  TF_AddInput(desc, {v, 0});
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Operation* read = Finish(desc);
  SessionRunner session(g()), other(g());
  session.Run({}, {}, {init});
  session.Run({}, {}, {add});
  // The graph grows; the variable stays.
  TF_Operation* neg = Unary("Neg", "neg", {read, 0});
  EXPECT_THAT(FloatsOf(session.Run({}, {{neg, 0}})[0].get()), ElementsAre(-2));
  other.Run({}, {{read, 0}}, {}, TF_FAILED_PRECONDITION);
}

TEST_F(CSession, AGraphLivesAsLongAsItsSession) {
  testing::StatusPtr status(TF_NewStatus());
  TF_Graph* graph = TF_NewGraph();
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_Operation* x = TF_FinishOperation(desc, status.get());
  desc = TF_NewOperation(graph, "Neg", "neg");
  TF_AddInput(desc, {x, 0});
  TF_Operation* neg = TF_FinishOperation(desc, status.get());
  SessionRunner session(graph);
  TF_DeleteGraph(graph);
  const TensorPtr fed = IntTensor({}, {5});
  EXPECT_THAT(IntsOf(session.Run({{{x, 0}, fed.get()}}, {{neg, 0}})[0].get()), ElementsAre(-5));
}

// Runs are found by addresses, at first by those of the run before.
TEST_F(CSession, RunsInTurnsThatDifferInOneEnd) {
  TF_Operation *x = Placeholder("x"), *y = Placeholder("y");
  TF_Operation* sum = Binary("AddV2", "sum", {x, 0}, {y, 0});
  TF_Operation* difference = Binary("Sub", "difference", {x, 0}, {y, 0});
  TF_Operation* one = ScalarConst("one", 1);
  SessionRunner session(g());
  const TensorPtr five = IntTensor({}, {5}), two = IntTensor({}, {2});
  const SessionRunner::Feeds feeds = {{{x, 0}, five.get()}, {{y, 0}, two.get()}};
  const SessionRunner::Feeds swapped = {{{y, 0}, five.get()}, {{x, 0}, two.get()}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(IntsOf(session.Run(feeds, {{sum, 0}})[0].get()), ElementsAre(7));
    EXPECT_THAT(IntsOf(session.Run(feeds, {{difference, 0}})[0].get()), ElementsAre(3));
    EXPECT_THAT(IntsOf(session.Run(swapped, {{difference, 0}})[0].get()), ElementsAre(-3));
    EXPECT_THAT(IntsOf(session.Run(swapped, {{difference, 0}}, {one})[0].get()), ElementsAre(-3));
    session.Run({}, {}, {one});
    session.Run(swapped, {{difference, 1}}, {one}, TF_OUT_OF_RANGE);
  }
}

TEST_F(CSession, NamesWithAColonAreRefused) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* odd = Unary("Neg", "x:0", {x, 0});
  SessionRunner session(g());
  const TensorPtr fed = IntTensor({}, {5});
  session.Run({{{x, 0}, fed.get()}}, {{odd, 0}}, {}, TF_INVALID_ARGUMENT);
  EXPECT_EQ("Node 'x:0': Node name contains invalid characters", session.message());
}

TEST_F(CSession, MistakesGiveAStatusAndNoValues) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  SessionRunner session(g());
  const TensorPtr fed = FloatTensor({}, {5}), wrong = IntTensor({}, {5});
  session.Run({{{x, 0}, wrong.get()}}, {{neg, 0}}, {}, TF_INVALID_ARGUMENT);
  session.Run({{{x, 0}, nullptr}}, {{neg, 0}}, {}, TF_INVALID_ARGUMENT);
  session.Run({{{x, 7}, fed.get()}}, {{neg, 0}}, {}, TF_OUT_OF_RANGE);
  const auto out = session.Run({{{x, 0}, fed.get()}}, {{neg, 3}}, {}, TF_OUT_OF_RANGE);
  EXPECT_EQ(nullptr, out[0]);
  EXPECT_EQ("Node 'neg' (type: 'Neg', num of outputs: 1) does not have output 3",
            session.message());
  session.Run({{{x, 0}, fed.get()}}, {{nullptr, 0}}, {}, TF_INVALID_ARGUMENT);
  session.Run({}, {}, {nullptr}, TF_INVALID_ARGUMENT);
  session.Run({{{x, 0}, fed.get()}, {{x, 0}, fed.get()}}, {{neg, 0}}, {}, TF_INVALID_ARGUMENT);
  const testing::GraphPtr other(TF_NewGraph());
  TF_OperationDescription* desc = TF_NewOperation(other.get(), "NoOp", "n");
  TF_Operation* foreign = TF_FinishOperation(desc, s());
  session.Run({}, {}, {foreign}, TF_INVALID_ARGUMENT);
  TF_SessionRun(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, nullptr,
                s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr, TF_NewSession(nullptr, nullptr, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CSession, AClosedSessionRunsNoMore) {
  TF_Operation* one = ScalarConst("one", 1);
  SessionRunner session(g());
  session.Run({}, {{one, 0}});
  TF_CloseSession(session.get(), s());
  ExpectOk();
  session.Run({}, {{one, 0}}, {}, TF_CANCELLED);
  EXPECT_EQ("Session has been closed.", session.message());
}

}  // namespace
}  // namespace tenon
