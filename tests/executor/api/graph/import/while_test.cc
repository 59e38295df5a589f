// TF_NewWhile, TF_FinishWhile, TF_AbortWhile.
#include "absl/strings/str_cat.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::IntsOf;
using testing::IntTensor;
using testing::SessionRunner;
using ::testing::StartsWith;
using testing::TensorPtr;

class While : public testing::GraphFixture {
 protected:
  // Begins a loop over `count` placeholders of the graph.
  void Begin(int count) {
    for (int i = 0; i < count; ++i)
      inputs_.push_back({Placeholder(absl::StrCat("p", i).c_str()), 0});
    outputs_.resize(count, {nullptr, -1});
    params_.reset(new TF_WhileParams(TF_NewWhile(g(), inputs_.data(), count, s())));
    ExpectOk();
    EXPECT_EQ(count, params_->ninputs);
    params_->name = "loop";
  }
  TF_WhileParams* params() { return params_.get(); }

  TF_Operation* In(TF_Graph* graph, const char* op, const char* name,
                   const std::vector<TF_Output>& inputs) {
    TF_OperationDescription* desc = TF_NewOperation(graph, op, name);
    for (const TF_Output& input : inputs) TF_AddInput(desc, input);
    TF_Operation* oper = TF_FinishOperation(desc, s());
    ExpectOk();
    return oper;
  }
  TF_Operation* ConstIn(TF_Graph* graph, const char* name, int value) {
    const TensorPtr t = IntTensor({}, {value});
    TF_OperationDescription* desc = TF_NewOperation(graph, "Const", name);
    TF_SetAttrTensor(desc, "value", t.get(), s());
    TF_SetAttrType(desc, "dtype", TF_INT32);
    TF_Operation* oper = TF_FinishOperation(desc, s());
    ExpectOk();
    return oper;
  }
  // The condition: variable 0 is less than `limit`.
  void LessThan(int limit) {
    TF_Operation* c = ConstIn(params_->cond_graph, "limit", limit);
    params_->cond_output = {
        In(params_->cond_graph, "Less", "less", {params_->cond_inputs[0], {c, 0}}), 0};
  }
  // The body: each variable grows by its number, plus 1.
  void Count() {
    for (int i = 0; i < params_->ninputs; ++i) {
      TF_Operation* c = ConstIn(params_->body_graph, absl::StrCat("step", i).c_str(), i + 1);
      params_->body_outputs[i] = {In(params_->body_graph, "AddV2", absl::StrCat("add", i).c_str(),
                                     {params_->body_inputs[i], {c, 0}}),
                                  0};
    }
  }
  void End(TF_Code wanted = TF_OK, const std::string& text = "") {
    TF_FinishWhile(params_.get(), s(), outputs_.data());
    EXPECT_EQ(wanted, code()) << message();
    EXPECT_THAT(message(), StartsWith(text));
  }

  std::vector<int32_t> Run(const std::vector<int32_t>& values) {
    std::vector<TensorPtr> tensors;
    SessionRunner::Feeds feeds;
    for (size_t i = 0; i < values.size(); ++i) {
      tensors.push_back(IntTensor({}, {values[i]}));
      feeds.push_back({inputs_[i], tensors.back().get()});
    }
    SessionRunner session(g());
    std::vector<int32_t> results;
    for (const TensorPtr& t : session.Run(feeds, outputs_))
      results.push_back(IntsOf(t.get()).at(0));
    return results;
  }

  std::vector<TF_Output> inputs_, outputs_;

 private:
  // Its members are const: it cannot be assigned.
  std::unique_ptr<TF_WhileParams> params_;
};

TEST_F(While, CountsToTheLimit) {
  Begin(2);
  LessThan(10);
  Count();
  End();
  EXPECT_THAT(Run({0, 100}), ElementsAre(10, 120));
  EXPECT_THAT(Run({20, 5}), ElementsAre(20, 5));
  for (const char* name :
       {"loop/Enter", "loop/Enter_1", "loop/Merge", "loop/LoopCond", "loop/cond/less",
        "loop/Switch_1", "loop/body/add0", "loop/NextIteration", "loop/Exit_1"})
    EXPECT_NE(nullptr, Find(name)) << name;
  EXPECT_EQ(nullptr, Find("loop/cond/cond_input0"));
  EXPECT_EQ(Find("loop/Exit"), outputs_[0].oper);
  EXPECT_EQ(Find("loop/NextIteration"), TF_OperationInput({Find("loop/Merge"), 1}).oper);
}

TEST_F(While, TheGraphIsOneThatCanBeWrittenAndRead) {
  Begin(1);
  LessThan(3);
  Count();
  End();
  const std::string wire = GraphDef().SerializeAsString();
  const testing::GraphPtr copy(TF_NewGraph());
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(copy.get(), testing::BufferOf(wire).get(), options, s());
  ExpectOk();
  TF_DeleteImportGraphDefOptions(options);
  const TensorPtr zero = IntTensor({}, {0});
  SessionRunner session(copy.get());
  const auto out = session.Run({{{TF_GraphOperationByName(copy.get(), "p0"), 0}, zero.get()}},
                               {{TF_GraphOperationByName(copy.get(), "loop/Exit"), 0}});
  EXPECT_THAT(IntsOf(out[0].get()), ElementsAre(3));
}

TEST_F(While, LoopsNest) {
  Begin(2);
  LessThan(6);
  // The body runs a loop of its own: variable 1 grows by 1 until it is 8, then variable 0 takes it.
  TF_Graph* body = params()->body_graph;
  TF_Output inner_inputs[] = {params()->body_inputs[1]};
  TF_WhileParams inner = TF_NewWhile(body, inner_inputs, 1, s());
  ExpectOk();
  inner.name = "inner";
  TF_Operation* limit = ConstIn(inner.cond_graph, "limit", 8);
  inner.cond_output = {In(inner.cond_graph, "Less", "less", {inner.cond_inputs[0], {limit, 0}}), 0};
  TF_Operation* one = ConstIn(inner.body_graph, "one", 1);
  inner.body_outputs[0] = {In(inner.body_graph, "AddV2", "add", {inner.body_inputs[0], {one, 0}}),
                           0};
  TF_Output inner_output;
  TF_FinishWhile(&inner, s(), &inner_output);
  ExpectOk();
  TF_Operation* sum = In(body, "AddV2", "sum", {params()->body_inputs[0], inner_output});
  params()->body_outputs[0] = {sum, 0};
  params()->body_outputs[1] = inner_output;
  End();
  EXPECT_THAT(Run({0, 5}), ElementsAre(8, 8));
  EXPECT_THAT(Run({0, 9}), ElementsAre(9, 9));
}

TEST_F(While, AFrameIsOfOneLoop) {
  Begin(1);
  LessThan(3);
  Count();
  End();
  const size_t nodes = Names().size();
  TF_WhileParams again = TF_NewWhile(g(), inputs_.data(), 1, s());
  again.name = "loop";
  again.cond_output = {
      In(again.cond_graph, "Less", "less", {again.cond_inputs[0], again.cond_inputs[0]}), 0};
  again.body_outputs[0] = again.body_inputs[0];
  TF_Output output;
  TF_FinishWhile(&again, s(), &output);
  EXPECT_EQ("WhileContext with frame name 'loop' already exists", message());
  EXPECT_EQ(nodes, Names().size());
}

TEST_F(While, FieldsThatAreNotSetAreErrors) {
  Begin(1);
  Count();
  End(TF_INVALID_ARGUMENT, "TF_WhileParams `cond_output` field isn't set");
}

TEST_F(While, BodyOutputsThatAreNotSetAreErrors) {
  Begin(2);
  LessThan(1);
  Count();
  params()->body_outputs[1].oper = nullptr;
  End(TF_INVALID_ARGUMENT, "TF_WhileParams `body_outputs[1]` field isn't set");
}

TEST_F(While, ANameIsNeeded) {
  Begin(1);
  LessThan(1);
  Count();
  params()->name = nullptr;
  End(TF_INVALID_ARGUMENT, "TF_WhileParams `name` field is null");
}

TEST_F(While, AnEmptyNamePutsNothingBefore) {
  Begin(1);
  LessThan(3);
  Count();
  params()->name = "";
  End();
  EXPECT_THAT(Names(), ElementsAre("p0", "Enter", "Merge", "cond/limit", "cond/less", "LoopCond",
                                   "Switch", "body/step0", "body/add0", "NextIteration", "Exit"));
  EXPECT_THAT(Run({0}), ElementsAre(3));
}

TEST_F(While, TheConditionMustBeBool) {
  Begin(1);
  params()->cond_output = params()->cond_inputs[0];
  Count();
  End(TF_INVALID_ARGUMENT,
      "BuildWhileLoop: 'cond' argument must return a boolean output, got int32");
  EXPECT_THAT(Names(), ElementsAre("p0"));
}

TEST_F(While, OutputsMustExistAndHaveTheType) {
  Begin(1);
  LessThan(1);
  params()->body_outputs[0] = {params()->body_inputs[0].oper, 100};
  End(TF_INVALID_ARGUMENT, "Requested return tensor 'body_input0:100' not found in graph def");
  EXPECT_THAT(Names(), ElementsAre("p0"));
}

TEST_F(While, TheBodyMustKeepTheType) {
  Begin(1);
  LessThan(1);
  TF_Operation* less = In(params()->body_graph, "Less", "less",
                          {params()->body_inputs[0], params()->body_inputs[0]});
  params()->body_outputs[0] = {less, 0};
  End(TF_INVALID_ARGUMENT);
  EXPECT_THAT(Names(), ElementsAre("p0"));
}

TEST_F(While, OutputsOfTheOtherGraphAreErrors) {
  Begin(1);
  LessThan(1);
  params()->body_outputs[0] = params()->cond_output;
  End(TF_INVALID_ARGUMENT);
}

TEST_F(While, OutputsOfTheGraphAroundTheLoopAreErrors) {
  Begin(1);
  LessThan(1);
  params()->body_outputs[0] = {Find("p0"), 0};
  End(TF_INVALID_ARGUMENT);
  EXPECT_EQ("Requested return tensor 'p0:0' not found in graph def", message());
  EXPECT_THAT(Names(), ElementsAre("p0"));
}

TEST_F(While, ALoopCanBeGivenUp) {
  Begin(1);
  TF_AbortWhile(params());
  EXPECT_THAT(Names(), ElementsAre("p0"));
}

TEST_F(While, MistakesAtTheBegin) {
  TF_NewWhile(g(), nullptr, 0, s());
  EXPECT_EQ("TF_NewWhile() must be passed at least one input", message());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_NewWhile(nullptr, nullptr, 1, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_NewWhile(g(), nullptr, 1, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_Output none[] = {{nullptr, 0}};
  TF_NewWhile(g(), none, 1, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_Output beyond[] = {{Placeholder("x"), 3}};
  TF_NewWhile(g(), beyond, 1, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_WhileParams made_up{};
  TF_Output output;
  TF_FinishWhile(&made_up, s(), &output);
  EXPECT_EQ("TF_WhileParams must be created by successful TF_NewWhile() call", message());
  TF_AbortWhile(nullptr);
}

}  // namespace
}  // namespace tenon
