// TF_SessionPRunSetup and TF_SessionPRun.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Int;
using testing::IntsOf;
using testing::OpenSession;

class CPartialRun : public testing::GraphFixture {
 protected:
  void TearDown() override { End(); }

  void SetUpRun(TF_Session* session, const std::vector<TF_Output>& inputs,
                const std::vector<TF_Output>& outputs,
                const std::vector<const TF_Operation*>& targets = {}) {
    End();
    session_ = session;
    TF_SessionPRunSetup(session, inputs.data(), static_cast<int>(inputs.size()), outputs.data(),
                        static_cast<int>(outputs.size()), targets.data(),
                        static_cast<int>(targets.size()), &handle_, s());
    EXPECT_EQ(code() == TF_OK, handle_ != nullptr);
  }
  void End() {
    TF_DeletePRunHandle(handle_);
    handle_ = nullptr;
  }
  // The fetched values; sets code and message.
  std::vector<testing::TensorPtr> Continue(const OpenSession::Feeds& feeds,
                                           const std::vector<TF_Output>& outputs) {
    std::vector<TF_Output> inputs;
    std::vector<TF_Tensor*> values, results(outputs.size());
    for (const auto& [input, value] : feeds) {
      inputs.push_back(input);
      values.push_back(const_cast<TF_Tensor*>(value));
    }
    TF_SessionPRun(session_, handle_, inputs.data(), values.data(), static_cast<int>(inputs.size()),
                   outputs.data(), results.data(), static_cast<int>(outputs.size()), nullptr, 0,
                   s());
    std::vector<testing::TensorPtr> owned;
    for (TF_Tensor* result : results) owned.emplace_back(result);
    return owned;
  }
  void ExpectError(TF_Code wanted, const std::string& text) {
    EXPECT_EQ(wanted, code());
    EXPECT_EQ(text, message());
  }

  TF_Session* session_ = nullptr;
  const char* handle_ = nullptr;
};

// a + 2 and a + 2 + b.
class CPartialSum : public CPartialRun {
 protected:
  void SetUp() override {
    a_ = {Placeholder("A"), 0};
    b_ = {Placeholder("B"), 0};
    plus2_ = {Binary("AddV2", "plus2", a_, {ScalarConst("two", 2), 0}), 0};
    plus_b_ = {Binary("AddV2", "plusB", plus2_, b_), 0};
  }
  TF_Output a_, b_, plus2_, plus_b_;
};

TEST_F(CPartialSum, OutputsComeWithTheInputsThatTheyNeed) {
  OpenSession session(g());
  for (int i = 0; i < 3; ++i) {
    SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
    ExpectOk();
    EXPECT_THAT(IntsOf(Continue({{a_, Int(i).get()}}, {plus2_})[0].get()), ElementsAre(i + 2));
    EXPECT_THAT(IntsOf(Continue({{b_, Int(4).get()}}, {plus_b_})[0].get()), ElementsAre(i + 6));
  }
}

// What takes an element from a staging area does so once, though it has a shared name as handles
// do.
TEST_F(CPartialSum, AnElementIsTakenOnce) {
  const TF_DataType types[] = {TF_INT32};
  const auto staging = [&](const char* op, const char* name) {
    TF_OperationDescription* desc = New(op, name);
    TF_SetAttrTypeList(desc, "dtypes", types, 1);
    TF_SetAttrString(desc, "shared_name", "area", 4);
    return desc;
  };
  TF_OperationDescription* desc = staging("Stage", "stage");
  TF_AddInputList(desc, &a_, 1);
  TF_Operation* stage = Finish(desc);
  const TF_Output taken{Finish(staging("Unstage", "unstage")), 0};
  const TF_Output same{Unary("Identity", "same", a_), 0};
  const TF_Output sum{Binary("AddV2", "sum", taken, b_), 0};
  OpenSession session(g());
  for (int i = 1; i <= 2; ++i) {
    session.Run({{{a_, Int(i).get()}}, {}, {stage}});
    EXPECT_EQ(TF_OK, session.code()) << session.message();
  }
  SetUpRun(session.get(), {a_, b_}, {same, sum});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({{a_, Int(5).get()}}, {same})[0].get()), ElementsAre(5));
  EXPECT_THAT(IntsOf(Continue({{b_, Int(10).get()}}, {sum})[0].get()), ElementsAre(11));
  EXPECT_THAT(IntsOf(session.Run({{{b_, Int(20).get()}}, {sum}, {}})[0].get()), ElementsAre(22));
}

// TensorFlow takes the value, and finds the mistake when something is computed.
TEST_F(CPartialSum, AnInputOfAnotherTypeFailsWithTheNextOutput) {
  OpenSession session(g());
  const testing::TensorPtr wrong = testing::FloatTensor({}, {3});
  const char kOfA[] =
      "Output 0 of type float does not match declared output type int32 for node {{node "
      "_recv_A_0}}";
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  Continue({{a_, wrong.get()}}, {});
  ExpectOk();
  Continue({{a_, Int(3).get()}}, {});
  ExpectError(TF_INVALID_ARGUMENT, "The feed A:0 has already been fed.");
  Continue({}, {plus2_});
  ExpectError(TF_INTERNAL, kOfA);
  Continue({{b_, Int(1).get()}}, {plus_b_});
  ExpectError(TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
  // Also an output that does not need the input.
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  Continue({{b_, wrong.get()}}, {});
  ExpectOk();
  Continue({{a_, Int(3).get()}}, {plus2_});
  ExpectError(TF_INTERNAL,
              "Output 0 of type float does not match declared output type int32 for node "
              "{{node _recv_B_0}}");
  // Of what is only run, the last input tells.
  SetUpRun(session.get(), {a_}, {}, {plus2_.oper});
  Continue({{a_, wrong.get()}}, {});
  ExpectError(TF_INTERNAL, kOfA);
}

TEST_F(CPartialSum, OutputsWaitForTheirCall) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  Continue({{b_, Int(4).get()}}, {});
  ExpectOk();
  Continue({{a_, Int(1).get()}}, {});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({}, {plus_b_})[0].get()), ElementsAre(7));
  EXPECT_THAT(IntsOf(Continue({}, {plus2_})[0].get()), ElementsAre(3));
}

TEST_F(CPartialSum, OneCallMayBeAll) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  const auto out = Continue({{a_, Int(1).get()}, {b_, Int(1).get()}}, {plus_b_, plus2_});
  EXPECT_THAT(IntsOf(out[0].get()), ElementsAre(4));
  EXPECT_THAT(IntsOf(out[1].get()), ElementsAre(3));
}

TEST_F(CPartialSum, AnOutputThatStandsTwiceIsFetchedOnce) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_}, {plus2_, plus2_});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({{a_, Int(1).get()}}, {plus2_})[0].get()), ElementsAre(3));
  Continue({}, {plus2_});
  ExpectError(TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
}

TEST_F(CPartialSum, MistakesLeaveTheRunAsItWas) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  Continue({}, {plus2_});
  ExpectError(TF_INVALID_ARGUMENT,
              "Fetch A:0 can't be computed from the feeds that have been fed so far.");
  Continue({{b_, Int(1).get()}}, {plus2_});
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  Continue({{{Find("two"), 0}, Int(1).get()}}, {});
  ExpectError(TF_INVALID_ARGUMENT, "The feed two:0 was not specified in partial_run_setup.");
  Continue({}, {{Find("two"), 0}});
  ExpectError(TF_INVALID_ARGUMENT, "The fetch two:0 was not specified in partial_run_setup.");
  EXPECT_THAT(IntsOf(Continue({{a_, Int(1).get()}}, {plus2_})[0].get()), ElementsAre(3));
  Continue({}, {plus2_});
  ExpectError(TF_INVALID_ARGUMENT, "The fetch plus2:0 has already been fetched.");
  Continue({{a_, Int(1).get()}}, {});
  ExpectError(TF_INVALID_ARGUMENT, "The feed A:0 has already been fed.");
  EXPECT_THAT(IntsOf(Continue({{b_, Int(1).get()}}, {plus_b_})[0].get()), ElementsAre(4));
  Continue({}, {plus_b_});
  ExpectError(TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
}

TEST_F(CPartialSum, RunsAtOnceHaveValuesOfTheirOwn) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  const std::string first = handle_;
  Continue({{a_, Int(1).get()}}, {plus2_});
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  EXPECT_NE(first, handle_);
  Continue({{a_, Int(10).get()}}, {plus2_});
  EXPECT_THAT(IntsOf(Continue({{b_, Int(1).get()}}, {plus_b_})[0].get()), ElementsAre(13));
  End();
  // A handle is a text: a copy of it does as well.
  handle_ = first.c_str();
  EXPECT_THAT(IntsOf(Continue({{b_, Int(1).get()}}, {plus_b_})[0].get()), ElementsAre(4));
  handle_ = nullptr;
}

// As in TensorFlow, a run that lacks an input fails when it begins.
TEST_F(CPartialSum, APlaceholderThatNoInputFeedsEndsTheRun) {
  OpenSession session(g());
  for (int i = 0; i < 2; ++i) {
    SetUpRun(session.get(), {b_}, {plus_b_});
    ExpectOk();
    Continue({{b_, Int(1).get()}}, {plus_b_});
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
    EXPECT_THAT(message(), HasSubstr("You must feed a value for placeholder tensor 'A'"));
    Continue({{b_, Int(1).get()}}, {plus_b_});
    ExpectError(TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
  }
}

TEST_F(CPartialSum, SetupsAreChecked) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {});
  ExpectError(TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  SetUpRun(session.get(), {a_, a_}, {plus2_});
  ExpectError(TF_INVALID_ARGUMENT, "Endpoint \"A:0\" fed more than once.");
  SetUpRun(session.get(), {a_, b_}, {a_});
  ExpectError(TF_INVALID_ARGUMENT, "A:0 is both fed and fetched.");
  SetUpRun(nullptr, {a_}, {plus2_});
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_SessionPRunSetup(session.get(), &a_, 1, &plus2_, 1, nullptr, 0, nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_SessionPRun(session.get(), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_SessionPRun(session.get(), "nope", nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, s());
  ExpectError(TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
}

TEST_F(CPartialSum, AClosedSessionGoesOnWithNone) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  TF_CloseSession(session.get(), s());
  Continue({{a_, Int(1).get()}}, {plus2_});
  ExpectError(TF_CANCELLED, "Session has been closed.");
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  ExpectError(TF_CANCELLED, "Session has been closed.");
}

TEST_F(CPartialSum, AnErrorEndsTheRun) {
  OpenSession session(g());
  SetUpRun(session.get(), {a_, b_}, {plus2_, plus_b_});
  const testing::TensorPtr two = testing::IntTensor({2}, {1, 2});
  const testing::TensorPtr three = testing::IntTensor({3}, {1, 2, 3});
  Continue({{a_, two.get()}, {b_, three.get()}}, {plus_b_});
  EXPECT_EQ(TF_INVALID_ARGUMENT, code()) << message();
  Continue({{a_, Int(1).get()}}, {plus2_});
  ExpectError(TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
}

// Each node with an effect runs once, in the call in which it comes due.
TEST_F(CPartialRun, EffectsHappenOnce) {
  TF_OperationDescription* desc = New("VarHandleOp", "v");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_Operation* v = Finish(desc);
  TF_Operation* zero = ScalarConst("zero", 0);
  TF_Operation* init = Binary("AssignVariableOp", "init", {v, 0}, {zero, 0});
  const TF_Output a{Placeholder("a"), 0}, b{Placeholder("b"), 0};
  TF_Operation* add = Binary("AssignAddVariableOp", "add", {v, 0}, a);
  desc = New("ReadVariableOp", "read");
  TF_AddInput(desc, {v, 0});
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_AddControlInput(desc, add);
  TF_Operation* read = Finish(desc);
  const TF_Output sum{Binary("AddV2", "sum", {read, 0}, b), 0};
  TF_Operation* add_b = Binary("AssignAddVariableOp", "add_b", {v, 0}, b);
  OpenSession session(g());
  session.Run({{}, {}, {init}});
  for (int i = 1; i <= 3; ++i) {
    SetUpRun(session.get(), {a, b}, {{read, 0}, sum}, {add_b});
    ExpectOk();
    // Each run adds 1 and 10.
    const int before = (i - 1) * 11;
    EXPECT_THAT(IntsOf(Continue({{a, Int(1).get()}}, {{read, 0}})[0].get()),
                ElementsAre(before + 1));
    EXPECT_THAT(IntsOf(Continue({{b, Int(10).get()}}, {sum})[0].get()), ElementsAre(before + 11));
  }
  EXPECT_THAT(IntsOf(session.Run({{}, {{read, 0}}, {}})[0].get()), ElementsAre());  // a is missing
}

TEST_F(CPartialRun, EffectsHappenOnceInARunWithoutFeeds) {
  TF_OperationDescription* desc = New("VarHandleOp", "v");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_Operation* v = Finish(desc);
  const TF_Output one{ScalarConst("one", 1), 0};
  TF_Operation* init = Binary("AssignVariableOp", "init", {v, 0}, one);
  TF_Operation* add = Binary("AssignAddVariableOp", "add", {v, 0}, one);
  const auto read = [&](const char* name, const TF_Operation* after) {
    TF_OperationDescription* node = New("ReadVariableOp", name);
    TF_AddInput(node, {v, 0});
    TF_SetAttrType(node, "dtype", TF_INT32);
    if (after != nullptr) TF_AddControlInput(node, const_cast<TF_Operation*>(after));
    return TF_Output{Finish(node), 0};
  };
  const TF_Output added = read("added", add), peek = read("peek", nullptr);
  const TF_Output sum{Binary("AddV2", "sum", added, one), 0};
  OpenSession session(g());
  session.Run({{}, {}, {init}});
  SetUpRun(session.get(), {}, {added, sum});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({}, {added})[0].get()), ElementsAre(2));
  EXPECT_THAT(IntsOf(Continue({}, {sum})[0].get()), ElementsAre(3));
  EXPECT_THAT(IntsOf(session.Run({{}, {peek}, {}})[0].get()), ElementsAre(2));
}

// A conditional of version 1 whose branches need inputs that come later.
TEST_F(CPartialRun, BranchesComeDueAsAWhole) {
  const TF_Output choice{Placeholder("choice", TF_BOOL), 0};
  const TF_Output x{Placeholder("x"), 0}, late{Placeholder("late"), 0};
  TF_Operation* sw = Binary("Switch", "switch", x, choice);
  const TF_Output on_true{Unary("Neg", "neg", {sw, 1}), 0};
  const TF_Output on_false{Binary("AddV2", "add", {sw, 0}, late), 0};
  TF_OperationDescription* desc = New("Merge", "merge");
  const TF_Output branches[] = {on_false, on_true};
  TF_AddInputList(desc, branches, 2);
  const TF_Output merged{Finish(desc), 0};
  const TF_Output before{Unary("Square", "before", x), 0};
  OpenSession session(g());
  for (const bool taken : {false, true}) {
    SetUpRun(session.get(), {choice, x, late}, {before, merged});
    ExpectOk();
    const testing::TensorPtr flag(TF_AllocateTensor(TF_BOOL, nullptr, 0, 1));
    *static_cast<bool*>(TF_TensorData(flag.get())) = taken;
    EXPECT_THAT(IntsOf(Continue({{choice, flag.get()}, {x, Int(5).get()}}, {before})[0].get()),
                ElementsAre(25));
    EXPECT_THAT(IntsOf(Continue({{late, Int(100).get()}}, {merged})[0].get()),
                ElementsAre(taken ? -5 : 105))
        << message();
  }
}

// The loop adds `step` until it has reached `limit`, which comes later.
TEST_F(CPartialRun, LoopsComeDueAsAWhole) {
  const TF_Output start{Placeholder("start"), 0}, limit{Placeholder("limit"), 0};
  TF_Output inputs[] = {start, limit}, outputs[2];
  TF_WhileParams params = TF_NewWhile(g(), inputs, 2, s());
  TF_OperationDescription* desc = TF_NewOperation(params.cond_graph, "Less", "less");
  TF_AddInput(desc, params.cond_inputs[0]);
  TF_AddInput(desc, params.cond_inputs[1]);
  params.cond_output = {TF_FinishOperation(desc, s()), 0};
  desc = TF_NewOperation(params.body_graph, "AddV2", "twice");
  TF_AddInput(desc, params.body_inputs[0]);
  TF_AddInput(desc, params.body_inputs[0]);
  params.body_outputs[0] = {TF_FinishOperation(desc, s()), 0};
  params.body_outputs[1] = params.body_inputs[1];
  params.name = "loop";
  TF_FinishWhile(&params, s(), outputs);
  ExpectOk();
  const TF_Output doubled{Binary("AddV2", "doubled", start, start), 0};
  const TF_Output last{Unary("Neg", "last", outputs[0]), 0};
  OpenSession session(g());
  SetUpRun(session.get(), {start, limit}, {doubled, last});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({{start, Int(3).get()}}, {doubled})[0].get()), ElementsAre(6));
  Continue({}, {last});
  ExpectError(TF_INVALID_ARGUMENT,
              "Fetch limit:0 can't be computed from the feeds that have been fed so far.");
  EXPECT_THAT(IntsOf(Continue({{limit, Int(20).get()}}, {last})[0].get()), ElementsAre(-24))
      << message();
}

// What a nested loop takes from outside of both comes last, and what the outer loop gives is read
// in a call of its own.
TEST_F(CPartialRun, NestedLoopsComeDueAsAWhole) {
  const TF_Output start{Placeholder("start"), 0}, step{Placeholder("step"), 0};
  const TF_Output factor{Placeholder("factor"), 0};
  TF_Output inputs[] = {start, step};
  // While value < limit: body(value).
  const auto loop = [&](TF_Graph* graph, const char* name, std::vector<TF_Output> in, int limit,
                        const std::function<TF_Output(TF_WhileParams&)>& body) {
    std::vector<TF_Output> out(in.size());
    TF_WhileParams params = TF_NewWhile(graph, in.data(), static_cast<int>(in.size()), s());
    ExpectOk();
    TF_OperationDescription* desc = TF_NewOperation(params.cond_graph, "Const", "limit");
    TF_SetAttrType(desc, "dtype", TF_INT32);
    TF_SetAttrTensor(desc, "value", Int(limit).get(), s());
    TF_Operation* bound = TF_FinishOperation(desc, s());
    desc = TF_NewOperation(params.cond_graph, "Less", "less");
    TF_AddInput(desc, params.cond_inputs[0]);
    TF_AddInput(desc, {bound, 0});
    params.cond_output = {TF_FinishOperation(desc, s()), 0};
    params.body_outputs[0] = body(params);
    params.body_outputs[1] = params.body_inputs[1];
    params.name = name;
    TF_FinishWhile(&params, s(), out.data());
    ExpectOk();
    return out[0];
  };
  const auto add = [&](TF_WhileParams& params) {
    TF_OperationDescription* desc = TF_NewOperation(params.body_graph, "AddV2", "add");
    TF_AddInput(desc, params.body_inputs[0]);
    TF_AddInput(desc, params.body_inputs[1]);
    return TF_Output{TF_FinishOperation(desc, s()), 0};
  };
  const TF_Output result = loop(g(), "outer", {inputs[0], inputs[1]}, 20, [&](TF_WhileParams& p) {
    const TF_Output inner =
        loop(p.body_graph, "inner", {p.body_inputs[0], p.body_inputs[1]}, 10, add);
    TF_OperationDescription* desc = TF_NewOperation(p.body_graph, "AddV2", "more");
    TF_AddInput(desc, inner);
    TF_AddInput(desc, p.body_inputs[1]);
    return TF_Output{TF_FinishOperation(desc, s()), 0};
  });
  const TF_Output product{Binary("Mul", "product", result, factor), 0};
  const TF_Output twice{Binary("AddV2", "twice", start, start), 0};
  OpenSession session(g());
  SetUpRun(session.get(), {start, step, factor}, {twice, product});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({{start, Int(1).get()}}, {twice})[0].get()), ElementsAre(2));
  Continue({{step, Int(4).get()}}, {});
  ExpectOk();
  EXPECT_THAT(IntsOf(Continue({{factor, Int(10).get()}}, {product})[0].get()), ElementsAre(210))
      << message();
}

TEST_F(CPartialRun, LongChainsOfCalls) {
  constexpr int kCalls = 20;
  std::vector<TF_Output> inputs, outputs;
  for (int i = 0; i < kCalls; ++i) {
    inputs.push_back({Placeholder(absl::StrCat("in", i).c_str()), 0});
    const TF_Output before = i == 0 ? inputs[0] : outputs.back();
    outputs.push_back({Binary("AddV2", absl::StrCat("sum", i).c_str(), before, inputs[i]), 0});
  }
  OpenSession session(g());
  SetUpRun(session.get(), inputs, outputs);
  int sum = 1;
  for (int i = 0; i < kCalls; ++i) {
    sum += 1;
    EXPECT_THAT(IntsOf(Continue({{inputs[i], Int(1).get()}}, {outputs[i]})[0].get()),
                ElementsAre(sum));
  }
}

// Partial runs of one session on several threads, some of them given up, beside whole runs. One
// handle that two threads go on with takes each input once.
TEST_F(CPartialRun, ManyThreadsAtOnce) {
  constexpr int kThreads = 8, kRuns = 60;
  const TF_Output a{Placeholder("a"), 0}, b{Placeholder("b"), 0}, c{Placeholder("c"), 0};
  const TF_Output sum{Binary("AddV2", "sum", a, b), 0}, all{Binary("Mul", "all", sum, c), 0};
  const OpenSession session(g());
  const auto run = [&](int thread, int k) {
    const testing::StatusPtr status(TF_NewStatus());
    const TF_Output inputs[] = {a, b, c}, outputs[] = {sum, all};
    const testing::TensorPtr first = Int(k), second = Int(2), third = Int(3);
    TF_Tensor* values[] = {first.get(), second.get(), third.get()};
    if (thread % 4 == 3) {
      TF_Tensor* results[2] = {};
      TF_SessionRun(session.get(), nullptr, inputs, values, 3, outputs, results, 2, nullptr, 0,
                    nullptr, status.get());
      const testing::TensorPtr x(results[0]), y(results[1]);
      return y != nullptr && IntsOf(y.get())[0] == (k + 2) * 3;
    }
    const char* handle = nullptr;
    TF_SessionPRunSetup(session.get(), inputs, 3, outputs, 2, nullptr, 0, &handle, status.get());
    TF_Tensor* result = nullptr;
    TF_SessionPRun(session.get(), handle, inputs, values, 2, outputs, &result, 1, nullptr, 0,
                   status.get());
    bool right = result != nullptr && IntsOf(result)[0] == k + 2;
    TF_DeleteTensor(result);
    std::atomic<int> went_on = 0;
    const auto go_on = [&] {
      const testing::StatusPtr mine(TF_NewStatus());
      TF_Tensor* last = nullptr;
      TF_SessionPRun(session.get(), handle, inputs + 2, values + 2, 1, outputs + 1, &last, 1,
                     nullptr, 0, mine.get());
      if (last != nullptr && IntsOf(last)[0] == (k + 2) * 3) ++went_on;
      TF_DeleteTensor(last);
    };
    if (thread % 4 == 0) {
      std::thread other(go_on);
      go_on();
      other.join();
    } else if (thread % 4 == 1) {
      go_on();
    }
    right &= went_on == (thread % 4 == 2 ? 0 : 1);
    TF_DeletePRunHandle(handle);
    return right;
  };
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < kRuns; ++k) right += run(t, k) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kRuns);
}

}  // namespace
}  // namespace tenon
