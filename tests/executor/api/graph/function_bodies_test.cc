// TF_Function: results, control edges, loops and gradients of functions made of graphs.
#include "tests/executor/api/graph/functions_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(GraphFunctions, NamesOfResultsComeFirst) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  TF_Operation* neg = Unary("Neg", "neg", {a, 0});
  const FunctionPtr function = Make({.inputs = {{a, 0}},
                                     .outputs = {{neg, 0}},
                                     .num_opers = 1,
                                     .opers = {neg},
                                     .output_names = {"a"}});
  const pb::FunctionDef def = DefOf(function);
  EXPECT_THAT(ArgNames(def.signature().input_arg()), ElementsAre("a_0"));
  EXPECT_THAT(NodesOf(def), ElementsAre("neg(a_0)"));
  EXPECT_THAT(Call(function, {3}), ElementsAre(ElementsAre(-3)));
  const pb::FunctionDef swap = DefOf(Make({.inputs = {{a, 0}, {b, 0}},
                                           .outputs = {{b, 0}, {a, 0}},
                                           .num_opers = 0,
                                           .output_names = {"first", "second"}}));
  EXPECT_THAT(ArgNames(swap.signature().input_arg()), ElementsAre("a", "b"));
  EXPECT_EQ("b", swap.ret().at("first"));
}

TEST_F(GraphFunctions, OneOutputMayBeSeveralResults) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  TF_Operation* sum = AddN("add", {{a, 0}, {b, 0}});
  const FunctionPtr function = Make({.inputs = {{a, 0}, {b, 0}}, .outputs = {{sum, 0}, {sum, 0}}});
  const pb::FunctionDef def = DefOf(function);
  EXPECT_THAT(ArgNames(def.signature().output_arg()), ElementsAre("add", "add_0"));
  EXPECT_THAT(NodesOf(def), ElementsAre("add_1(a b)"));
  EXPECT_EQ("add_1:sum:0", def.ret().at("add"));
  EXPECT_EQ("add_1:sum:0", def.ret().at("add_0"));
  EXPECT_THAT(Call(function, {2, 3}), ElementsAre(ElementsAre(5), ElementsAre(5)));
}

TEST_F(GraphFunctions, SomeOutputsOfANodeAreResults) {
  TF_Operation* a = Placeholder("a");
  TF_Operation* split = SplitInThree(a);
  const pb::FunctionDef def =
      DefOf(Make({.inputs = {{a, 0}}, .outputs = {{split, 0}, {split, 2}}}));
  EXPECT_THAT(ArgNames(def.signature().output_arg()), ElementsAre("split", "split_0"));
  EXPECT_THAT(NodesOf(def), ElementsAre("zero()", "split_1(zero:output:0 a)"));
  EXPECT_EQ("split_1:output:2", def.ret().at("split_0"));
}

TEST_F(GraphFunctions, ResultsMayBeMissing) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  AddN("add", {{a, 0}, {b, 0}});
  const FunctionPtr function = Make({.inputs = {{a, 0}, {b, 0}}});
  EXPECT_THAT(NodesOf(DefOf(function)), ElementsAre("add(a b)"));
  EXPECT_THAT(Call(function, {2, 3}), IsEmpty());
}

TEST_F(GraphFunctions, ArgumentsControlNodesOfTheBody) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  TF_OperationDescription* desc = New("AddV2", "add");
  TF_AddInput(desc, {a, 0});
  TF_AddInput(desc, {b, 0});
  TF_AddControlInput(desc, a);
  TF_Operation* add = Finish(desc);
  const FunctionPtr function = Make({.inputs = {{a, 0}, {b, 0}}, .outputs = {{add, 0}}});
  EXPECT_THAT(NodesOf(DefOf(function)), ElementsAre("add_0(a b ^a)"));
  EXPECT_THAT(Call(function, {2, 3}), ElementsAre(ElementsAre(5)));
}

// while (x < y) x += y, in the primitives of TF_FinishWhile.
TEST_F(GraphFunctions, LoopsStandInFunctions) {
  TF_Operation *x = Placeholder("x"), *y = Placeholder("y");
  TF_Output inputs[] = {{x, 0}, {y, 0}};
  TF_WhileParams params = TF_NewWhile(g(), inputs, 2, s());
  ExpectOk();
  params.name = "loop";
  TF_OperationDescription* desc = TF_NewOperation(params.cond_graph, "Less", "less");
  TF_AddInput(desc, params.cond_inputs[0]);
  TF_AddInput(desc, params.cond_inputs[1]);
  params.cond_output = {Finish(desc), 0};
  desc = TF_NewOperation(params.body_graph, "AddV2", "add");
  TF_AddInput(desc, params.body_inputs[0]);
  TF_AddInput(desc, params.body_inputs[1]);
  params.body_outputs[0] = {Finish(desc), 0};
  params.body_outputs[1] = params.body_inputs[1];
  TF_Output outputs[2] = {};
  TF_FinishWhile(&params, s(), outputs);
  ExpectOk();
  const FunctionPtr function = Make({.inputs = {{x, 0}, {y, 0}}, .outputs = {outputs[0]}});
  EXPECT_THAT(ArgNames(DefOf(function).signature().output_arg()), ElementsAre("loop_exit"));
  EXPECT_THAT(Call(function, {2, 5}), ElementsAre(ElementsAre(7)));
}

TEST_F(GraphFunctions, SeveralFunctionsHaveOneGradient) {
  const FunctionPtr f1 = FromText("signature { name: 'f1' }"),
                    f2 = FromText("signature { name: 'f2' }"),
                    grad = FromText("signature { name: 'grad' }");
  CopyTo(host(), f1);
  CopyTo(host(), grad);
  EXPECT_EQ(0, GraphDefOf(host()).library().gradient_size());
  CopyTo(host(), f1, grad);
  CopyTo(host(), f2, grad);
  const pb::FunctionDefLibrary library = GraphDefOf(host()).library();
  ASSERT_EQ(2, library.gradient_size());
  EXPECT_EQ("f1", library.gradient(0).function_name());
  EXPECT_EQ("f2", library.gradient(1).function_name());
  EXPECT_EQ("grad", library.gradient(1).gradient_func());
  EXPECT_EQ(3, TF_GraphNumFunctions(host()));
}

}  // namespace
}  // namespace tenon
