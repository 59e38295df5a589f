// TF_Function: made of graphs, copied into graphs, called.
#include "tests/executor/api/graph/functions_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IntsOf;
using testing::IntTensor;
using ::testing::IsEmpty;
using testing::SessionRunner;
using testing::TensorPtr;

TEST_F(GraphFunctions, OneNodeWithoutInputs) {
  TF_Operation* c = ScalarConst("scalar10", 10);
  const FunctionPtr function = Make({.outputs = {{c, 0}}});
  EXPECT_STREQ("MyFunc", TF_FunctionName(function.get()));
  const pb::FunctionDef def = DefOf(function);
  EXPECT_THAT(NodesOf(def), ElementsAre("scalar10_0()"));
  EXPECT_EQ("scalar10_0:output:0", def.ret().at("scalar10"));
  EXPECT_THAT(Call(function, {}), ElementsAre(ElementsAre(10)));
}

TEST_F(GraphFunctions, NodesWithInputs) {
  TF_Operation *a = Placeholder("feed1"), *b = Placeholder("feed2");
  TF_Operation* sum = AddN("add", {{a, 0}, {b, 0}});
  TF_Operation* twice = AddN("add_1", {{sum, 0}, {a, 0}});
  const FunctionPtr function =
      Make({.inputs = {{a, 0}, {b, 0}}, .outputs = {{twice, 0}, {sum, 0}}});
  const pb::FunctionDef def = DefOf(function);
  EXPECT_THAT(ArgNames(def.signature().input_arg()), ElementsAre("feed1", "feed2"));
  EXPECT_THAT(ArgNames(def.signature().output_arg()), ElementsAre("add_1", "add"));
  EXPECT_THAT(NodesOf(def), ElementsAre("add_0(feed1 feed2)", "add_1_0(add_0:sum:0 feed1)"));
  EXPECT_THAT(Call(function, {2, 3}), ElementsAre(ElementsAre(7), ElementsAre(5)));
}

TEST_F(GraphFunctions, ArgumentsMayBeResults) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  const FunctionPtr swap = Make({.inputs = {{a, 0}, {b, 0}}, .outputs = {{b, 0}, {a, 0}}});
  const pb::FunctionDef def = DefOf(swap);
  EXPECT_THAT(NodesOf(def), IsEmpty());
  EXPECT_THAT(ArgNames(def.signature().input_arg()), ElementsAre("a_0", "b_0"));
  EXPECT_THAT(ArgNames(def.signature().output_arg()), ElementsAre("b", "a"));
  EXPECT_EQ("a_0", def.ret().at("a"));
  EXPECT_THAT(Call(swap, {2, 3}), ElementsAre(ElementsAre(3), ElementsAre(2)));
}

TEST_F(GraphFunctions, NamesOfArgumentsAreMadeSmall) {
  TF_Operation *a = Placeholder("A/b.C-1"), *b = Placeholder("9");
  TF_Operation* sum = AddN("sum", {{a, 0}, {b, 0}});
  const pb::FunctionDef def =
      DefOf(Make({.inputs = {{a, 0}, {b, 0}}, .outputs = {{sum, 0}}, .output_names = {"result"}}));
  EXPECT_THAT(ArgNames(def.signature().input_arg()), ElementsAre("a_b_c_1", "unknown"));
  EXPECT_THAT(NodesOf(def), ElementsAre("sum(a_b_c_1 unknown)"));
  EXPECT_EQ("sum:sum:0", def.ret().at("result"));
}

TEST_F(GraphFunctions, PartOfAGraph) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  TF_Operation* first = AddN("first", {{a, 0}, {b, 0}});
  TF_Operation* second = Unary("Neg", "second", {first, 0});
  const FunctionPtr function =
      Make({.inputs = {{first, 0}}, .outputs = {{second, 0}}, .num_opers = 1, .opers = {second}});
  EXPECT_THAT(NodesOf(DefOf(function)), ElementsAre("second_0(first)"));
  EXPECT_THAT(Call(function, {4}), ElementsAre(ElementsAre(-4)));
}

// As in TensorFlow, which writes such a node twice with its second name, while readers keep the
// first.
TEST_F(GraphFunctions, AnOperationGivenTwiceIsWrittenTwice) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* a = Unary("Neg", "a", {x, 0});
  TF_Operation* b = Unary("Neg", "b", {a, 0});
  const pb::FunctionDef def =
      DefOf(Make({.inputs = {{x, 0}}, .outputs = {{b, 0}}, .num_opers = 3, .opers = {a, a, b}}));
  EXPECT_THAT(NodesOf(def), ElementsAre("a_0(x)", "a_0(x)", "b_0(a:y:0)"));
  EXPECT_EQ("b_0:y:0", def.ret().at("b"));
}

TEST_F(GraphFunctions, ListsOfOutputsHaveRanges) {
  TF_Operation* a = Placeholder("a");
  TF_Operation* split = SplitInThree(a);
  TF_Operation* sum = AddN("sum", {{split, 0}, {split, 2}});
  const pb::FunctionDef def = DefOf(Make({.inputs = {{a, 0}}, .outputs = {{sum, 0}, {split, 1}}}));
  EXPECT_THAT(NodesOf(def), ElementsAre("zero()", "split_0(zero:output:0 a)",
                                        "sum_0(split_0:output:0 split_0:output:2)"));
  EXPECT_EQ("split_0:output:1", def.ret().at("split"));
}

TEST_F(GraphFunctions, OutputsOfOneNodeMayBeArguments) {
  TF_Operation* a = Placeholder("a");
  TF_Operation* split = SplitInThree(a);
  TF_Operation* sum = AddN("sum", {{split, 0}, {split, 2}});
  const FunctionPtr function = Make(
      {.inputs = {{split, 0}, {split, 2}}, .outputs = {{sum, 0}}, .num_opers = 1, .opers = {sum}});
  EXPECT_THAT(ArgNames(DefOf(function).signature().input_arg()), ElementsAre("split", "split_0"));
  EXPECT_THAT(Call(function, {2, 3}), ElementsAre(ElementsAre(5)));
  Make({.inputs = {{split, 0}, {split, 2}}, .outputs = {{sum, 0}}}, TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "When `num_opers` is set to -1, nodes referenced in `inputs` must have a single output. "
      "Node split has 3 outputs. Encountered while creating function 'MyFunc'",
      message());
}

TEST_F(GraphFunctions, ControlEdgesStayInTheBody) {
  TF_Operation *a = Placeholder("a"), *c = ScalarConst("c", 10);
  TF_OperationDescription* desc = New("Neg", "neg");
  TF_AddInput(desc, {a, 0});
  TF_AddControlInput(desc, c);
  TF_Operation* neg = Finish(desc);
  EXPECT_THAT(NodesOf(DefOf(Make({.inputs = {{a, 0}}, .outputs = {{neg, 0}}}))),
              ElementsAre("c()", "neg_0(a ^c)"));
  Make({.inputs = {{a, 0}}, .outputs = {{neg, 0}}, .num_opers = 1, .opers = {neg}},
       TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "The source of control edge [id=2 c:-1 -> neg:-1] is not in the body. Encountered while "
      "creating function 'MyFunc'",
      message());
}

TEST_F(GraphFunctions, ControlOutputsRun) {
  TF_Operation* a = Placeholder("a");
  TF_Operation* neg = Unary("Neg", "neg", {a, 0});
  TF_Operation* other = Unary("Square", "other", {a, 0});
  const pb::FunctionDef def = DefOf(Make({.inputs = {{a, 0}},
                                          .outputs = {{neg, 0}},
                                          .control_outputs = {other, neg},
                                          .control_output_names = {"z", "y"}}));
  EXPECT_THAT(def.signature().control_output(), ElementsAre("y", "z"));
  EXPECT_EQ("other", def.control_ret().at("z"));
  EXPECT_EQ("neg_0", def.control_ret().at("y"));
  Make({.inputs = {{a, 0}},
        .outputs = {{neg, 0}},
        .control_outputs = {other, neg},
        .control_output_names = {"z", "z"}},
       TF_INVALID_ARGUMENT);
  EXPECT_EQ("Repeated control output name: z", message());
}

TEST_F(GraphFunctions, StatefulBodiesMakeStatefulFunctions) {
  TF_Operation* shape = Const("shape", IntTensor({1}, {2}).get());
  TF_OperationDescription* desc = New("RandomUniform", "random");
  TF_AddInput(desc, {shape, 0});
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_Operation* random = Finish(desc);
  EXPECT_TRUE(DefOf(Make({.outputs = {{random, 0}}})).signature().is_stateful());
  EXPECT_FALSE(DefOf(Make({.outputs = {{shape, 0}}, .num_opers = 1, .opers = {shape}}))
                   .signature()
                   .is_stateful());
}

TEST_F(GraphFunctions, PlaceholdersBecomeAttributesOfTheFunction) {
  TF_Operation* a = Placeholder("a");
  TF_Operation* squeeze = Squeeze("sq", a, "dims");
  const pb::FunctionDef def = DefOf(Make({.inputs = {{a, 0}}, .outputs = {{squeeze, 0}}}));
  ASSERT_EQ(1, def.signature().attr_size());
  EXPECT_EQ("dims", def.signature().attr(0).name());
  EXPECT_EQ("list(int)", def.signature().attr(0).type());
}

TEST_F(GraphFunctions, PlaceholdersOfOneNameAreOneAttribute) {
  TF_Operation* a = Placeholder("a");
  TF_Operation *one = Squeeze("one", a, "v1"), *two = Squeeze("two", a, "v1"),
               *three = Squeeze("three", a, "v2");
  const pb::FunctionDef def =
      DefOf(Make({.inputs = {{a, 0}}, .outputs = {{one, 0}, {two, 0}, {three, 0}}}));
  ASSERT_EQ(2, def.signature().attr_size());
  EXPECT_EQ("v1", def.signature().attr(0).name());
  EXPECT_EQ("v2", def.signature().attr(1).name());
}

// The type of an output is open where a placeholder decides on it.
TEST_F(GraphFunctions, TypesMayBePlaceholders) {
  TF_OperationDescription* desc = New("Placeholder", "p");
  TF_SetAttrPlaceholder(desc, "dtype", "T");
  TF_Operation* p = Finish(desc);
  EXPECT_EQ(1, TF_OperationNumOutputs(p));
  EXPECT_EQ(0, TF_OperationOutputType({p, 0}));
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(g(), {p, 0}, s()));
  desc = New("Neg", "neg");
  TF_AddInput(desc, {p, 0});
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());

  TF_Operation* a = Placeholder("a");
  desc = New("Cast", "cast");
  TF_AddInput(desc, {a, 0});
  TF_SetAttrPlaceholder(desc, "DstT", "U");
  TF_Operation* cast = Finish(desc);
  const pb::FunctionDef def =
      DefOf(Make({.inputs = {{a, 0}}, .outputs = {{cast, 0}}, .num_opers = 1, .opers = {cast}}));
  ASSERT_EQ(1, def.signature().attr_size());
  EXPECT_EQ("type", def.signature().attr(0).type());

  desc = New("PartitionedCall", "call");
  TF_AddInputList(desc, nullptr, 0);
  TF_SetAttrPlaceholder(desc, "Tout", "U");
  TF_SetAttrFuncName(desc, "f", "f", 1);
  EXPECT_EQ(0, TF_OperationNumOutputs(Finish(desc)));
}

TEST_F(GraphFunctions, PlaceholdersThatAreReadAtOnceAreRefused) {
  TF_Operation *a = Placeholder("a"), *axis = ScalarConst("axis", 0);
  TF_OperationDescription* desc = New("Split", "split");
  TF_AddInput(desc, {axis, 0});
  TF_AddInput(desc, {a, 0});
  TF_SetAttrPlaceholder(desc, "num_split", "N");
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  desc = New("EnsureShape", "shape");
  TF_AddInput(desc, {a, 0});
  TF_SetAttrPlaceholder(desc, "shape", "S");
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(GraphFunctions, WhatHasPlaceholdersDoesNotRun) {
  TF_Operation* a = Placeholder("a");
  TF_OperationDescription* desc = New("Cast", "cast");
  TF_AddInput(desc, {a, 0});
  TF_SetAttrPlaceholder(desc, "DstT", "U");
  TF_Operation *cast = Finish(desc), *squeeze = Squeeze("sq", a, "dims");
  TF_Operation* neg = Unary("Neg", "neg", {a, 0});
  SessionRunner session(g());
  const TensorPtr value = IntTensor({}, {3});
  const SessionRunner::Feeds feeds = {{{a, 0}, value.get()}};
  EXPECT_THAT(IntsOf(session.Run(feeds, {{neg, 0}})[0].get()), ElementsAre(-3));
  session.Run(feeds, {{cast, 0}}, {}, TF_INVALID_ARGUMENT);
  session.Run(feeds, {{squeeze, 0}}, {}, TF_INVALID_ARGUMENT);
}

TEST_F(GraphFunctions, ShapesOfArgumentsAreKept) {
  const std::vector<int64_t> dims = {2, 3};
  TF_Operation* a = Placeholder("a", TF_INT32, &dims);
  const pb::FunctionDef def = DefOf(Make({.inputs = {{a, 0}}, .outputs = {{a, 0}}}));
  EXPECT_EQ(3, def.arg_attr().at(0).attr().at("_output_shapes").list().shape(0).dim(1).size());
}

// TensorFlow gives these functions these names.
TEST_F(GraphFunctions, HashesAreTensorFlows) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("feed1"), *c = Placeholder("feed2");
  TF_Operation* squeeze = Squeeze("sq", a, "dims");
  TF_Operation* sum = AddN("add", {{b, 0}, {c, 0}});
  TF_Operation* ten = ScalarConst("scalar10", 10);
  const TensorPtr abc(TF_AllocateTensor(TF_STRING, nullptr, 0, sizeof(TF_TString)));
  TF_StringCopy(static_cast<TF_TString*>(TF_TensorData(abc.get())), "abc", 3);
  TF_Operation* text = Const("strs", abc.get());
  const auto name_of = [this](FunctionRequest request) {
    request.append_hash = true;
    request.num_opers = static_cast<int>(request.opers.size());
    return std::string(TF_FunctionName(Make(request).get()));
  };
  EXPECT_EQ("MyFunc_Ees455KVaTc", name_of({.inputs = {{a, 0}},
                                           .outputs = {{squeeze, 0}},
                                           .opers = {squeeze},
                                           .description = "desc"}));
  EXPECT_EQ("MyFunc_zaiHaMlJWi8",
            name_of({.inputs = {{b, 0}, {c, 0}}, .outputs = {{sum, 0}}, .opers = {sum}}));
  EXPECT_EQ("MyFunc_FtW0YyTAvbg", name_of({.outputs = {{ten, 0}}, .opers = {ten}}));
  EXPECT_EQ("MyFunc_bZaztLIV5Bo",
            name_of({.outputs = {{ten, 0}}, .opers = {ten}, .description = "ten"}));
  EXPECT_EQ("MyFunc_pxm4dUzymAM", name_of({.outputs = {{text, 0}}, .opers = {text}}));
}

TEST_F(GraphFunctions, DescriptionAndHash) {
  TF_Operation* c = ScalarConst("c", 10);
  const FunctionPtr function =
      Make({.outputs = {{c, 0}}, .append_hash = true, .description = "ten"});
  const std::string name = TF_FunctionName(function.get());
  EXPECT_THAT(name, ::testing::MatchesRegex("MyFunc_[A-Za-z0-9]{11}"));
  EXPECT_EQ(name, DefOf(function).signature().name());
  EXPECT_EQ("ten", DefOf(function).signature().description());
  EXPECT_EQ(name,
            TF_FunctionName(
                Make({.outputs = {{c, 0}}, .append_hash = true, .description = "ten"}).get()));
  EXPECT_NE(name, TF_FunctionName(Make({.outputs = {{c, 0}}, .append_hash = true}).get()));
}

TEST_F(GraphFunctions, RefusesPartsThatDoNotFit) {
  TF_Operation *a = Placeholder("a"), *b = Placeholder("b");
  TF_Operation* sum = AddN("sum", {{a, 0}, {b, 0}});
  Make({.inputs = {{a, 0}, {a, 0}}, .outputs = {{sum, 0}}}, TF_INVALID_ARGUMENT);
  EXPECT_EQ("TF_Output a:0 appears more than once in the input list", message());
  Make({.inputs = {{a, 5}}, .outputs = {{sum, 0}}}, TF_OUT_OF_RANGE);
  EXPECT_EQ(
      "Node 'a' (type: 'Placeholder', num of outputs: 1) does not have output 5\n\tEncountered "
      "while processing input 0 into function 'MyFunc'",
      message());
  Make({.inputs = {{nullptr, 0}}, .outputs = {{sum, 0}}}, TF_INVALID_ARGUMENT);
  EXPECT_EQ("Node is null\n\tEncountered while processing input 0 into function 'MyFunc'",
            message());
  Make({.inputs = {{a, 0}}, .outputs = {{sum, 7}}}, TF_OUT_OF_RANGE);
  EXPECT_THAT(message(), HasSubstr("\n\tEncountered while processing output 0 from function"));
  Make({.inputs = {{a, 0}}, .outputs = {{sum, 0}}, .num_opers = 1, .opers = {sum}},
       TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "Input 1, 'b:0', of node 'sum' in function 'MyFunc' is not available. You might need to "
      "include it in inputs or include its source node in the body",
      message());
  Make({.inputs = {{a, 0}}, .outputs = {{sum, 0}}, .num_opers = 1, .opers = {b}},
       TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "TF_Output sum:0 is neither in the function body nor among function inputs. Encountered "
      "while creating function 'MyFunc'",
      message());
  Make({.inputs = {{a, 0}, {b, 0}}, .outputs = {{sum, 0}, {sum, 0}}, .output_names = {"x", "x"}},
       TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "Cannot have duplicate output names. Name 'x' appears more than once in 'output_names' "
      "array.",
      message());
}

TEST_F(GraphFunctions, TheirOpDefsHaveDescriptions) {
  TF_Operation* c = ScalarConst("c", 10);
  const FunctionPtr function = Make({.outputs = {{c, 0}}, .description = "ten"});
  CopyTo(host(), function);
  const testing::BufferPtr buffer(TF_NewBuffer());
  TF_GraphGetOpDef(host(), "MyFunc", buffer.get(), s());
  ExpectOk();
  EXPECT_EQ(DefOf(function).signature().SerializeAsString(), testing::BytesOf(buffer.get()));
  pb::OpDef op;
  ASSERT_TRUE(op.ParseFromString(testing::BytesOf(buffer.get())));
  EXPECT_EQ("ten", op.description());
}

TEST_F(GraphFunctions, AttributesAreSetAndRead) {
  TF_Operation* c = ScalarConst("c", 10);
  const FunctionPtr function = Make({.outputs = {{c, 0}}});
  pb::AttrValue value;
  for (const bool b : {true, false}) {
    value.set_b(b);
    const std::string wire = value.SerializeAsString();
    TF_FunctionSetAttrValueProto(function.get(), "_noinline", wire.data(), wire.size(), s());
    ExpectOk();
    const testing::BufferPtr buffer(TF_NewBuffer());
    TF_FunctionGetAttrValueProto(function.get(), "_noinline", buffer.get(), s());
    ExpectOk();
    EXPECT_EQ(wire, testing::BytesOf(buffer.get()));
  }
  EXPECT_FALSE(DefOf(function).attr().at("_noinline").b());
  TF_FunctionGetAttrValueProto(function.get(), "no", testing::BufferPtr(TF_NewBuffer()).get(), s());
  EXPECT_EQ("Function 'MyFunc' has no attr named 'no'.", message());
  TF_FunctionSetAttrValueProto(function.get(), "x", "\xff", 1, s());
  EXPECT_EQ("Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto", message());
}

TEST_F(GraphFunctions, ImportOfBytes) {
  EXPECT_EQ(nullptr, TF_FunctionImportFunctionDef("\xff", 1, s()));
  EXPECT_EQ("Invalid FunctionDef given to TF_FunctionImportFunctionDef", message());
  TF_Operation *a = Placeholder("a"), *neg = Unary("Neg", "neg", {a, 0});
  const FunctionPtr function = Make({.inputs = {{a, 0}}, .outputs = {{neg, 0}}});
  const std::string wire = DefOf(function).SerializeAsString();
  const FunctionPtr copy(TF_FunctionImportFunctionDef(wire.data(), wire.size(), s()));
  EXPECT_THAT(Call(copy, {4}), ElementsAre(ElementsAre(-4)));
}

TEST_F(GraphFunctions, AGraphHasCopies) {
  TF_Operation* c = ScalarConst("c", 10);
  FunctionPtr function = Make({.outputs = {{c, 0}}});
  EXPECT_EQ(0, TF_GraphNumFunctions(host()));
  CopyTo(host(), function);
  CopyTo(host(), function);
  EXPECT_EQ(1, TF_GraphNumFunctions(host()));
  const std::string wire = DefOf(function).SerializeAsString();
  function.reset();
  TF_Function* copies[2] = {};
  EXPECT_EQ(1, TF_GraphGetFunctions(host(), copies, 2, s()));
  ExpectOk();
  EXPECT_STREQ("MyFunc", TF_FunctionName(copies[0]));
  TF_DeleteFunction(copies[0]);
  EXPECT_EQ(0, TF_GraphGetFunctions(host(), copies, 0, s()));
  EXPECT_EQ(1, GraphDefOf(host()).library().function_size());
}

TEST_F(GraphFunctions, GradientsAreKeptBesides) {
  const FunctionPtr f = FromText("signature { name: 'f' }"),
                    g1 = FromText("signature { name: 'g' }"),
                    h = FromText("signature { name: 'h' }");
  CopyTo(host(), f, g1);
  CopyTo(host(), f, g1);
  pb::GraphDef def = GraphDefOf(host());
  ASSERT_EQ(1, def.library().gradient_size());
  EXPECT_EQ("f", def.library().gradient(0).function_name());
  EXPECT_EQ("g", def.library().gradient(0).gradient_func());
  CopyTo(host(), f, h, TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "Cannot assign gradient function 'h' to 'f' because it already has gradient function "
      "'g'",
      message());
  EXPECT_EQ(2, TF_GraphNumFunctions(host()));
}

TEST_F(GraphFunctions, NamesThatAreTakenAreRefused) {
  CopyTo(host(), FromText("signature { name: 'f' }"));
  CopyTo(host(), FromText("signature { name: 'f' } node_def { name: 'n' op: 'NoOp' }"), nullptr,
         TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "Cannot add function 'f' because a different function with the same name already "
      "exists.",
      message());
  CopyTo(host(), FromText("signature { name: 'Neg' }"), nullptr, TF_INVALID_ARGUMENT);
  EXPECT_EQ("Cannot add function 'Neg' because an op with the same name already exists.",
            message());
  TF_GraphCopyFunction(host(), nullptr, nullptr, s());
  EXPECT_EQ("'func' argument to TF_GraphCopyFunction cannot be null", message());
}

TEST_F(GraphFunctions, ARefusedCopyLeavesTheGraphAsItWas) {
  const FunctionPtr f = FromText("signature { name: 'f' }"),
                    op = FromText("signature { name: 'Neg' }");
  const std::string before = GraphDefOf(host()).SerializeAsString();
  CopyTo(host(), f, op, TF_INVALID_ARGUMENT);
  EXPECT_EQ(before, GraphDefOf(host()).SerializeAsString());
}

TEST_F(GraphFunctions, ARemovedFunctionMakesRoom) {
  const auto give = [this](std::string_view type) {
    return FromText(absl::StrCat(
        "signature { name: 'f' output_arg { name: 'y' type: ", type,
        " } } node_def { name: 'c' op: 'Const' attr { key: 'dtype' value { type: ", type,
        " } } attr { key: 'value' value { tensor { dtype: ", type,
        " tensor_shape {} } } } } ret { key: 'y' value: 'c:output:0' }"));
  };
  CopyTo(g(), give("DT_FLOAT"));
  TF_Operation* before = Finish(New("f", "before"));
  TF_GraphRemoveFunction(g(), "f", s());
  ExpectOk();
  EXPECT_EQ(0, TF_GraphNumFunctions(g()));
  EXPECT_EQ(nullptr, TF_FinishOperation(New("f", "none"), s()));
  CopyTo(g(), give("DT_INT32"));
  TF_Operation* after = Finish(New("f", "after"));
  EXPECT_EQ(TF_FLOAT, TF_OperationOutputType({before, 0}));
  EXPECT_EQ(TF_INT32, TF_OperationOutputType({after, 0}));
  TF_GraphRemoveFunction(g(), "no", s());
  EXPECT_EQ("Tried to remove non-existent function 'no'.", message());
}

TEST_F(GraphFunctions, NullPointersAreErrors) {
  EXPECT_EQ(nullptr, TF_GraphToFunction(nullptr, "f", 0, -1, nullptr, 0, nullptr, 0, nullptr,
                                        nullptr, nullptr, nullptr, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr, TF_GraphToFunction(g(), nullptr, 0, -1, nullptr, 0, nullptr, 0, nullptr,
                                        nullptr, nullptr, nullptr, s()));
  EXPECT_EQ(nullptr, TF_GraphToFunction(g(), "f", 0, 2, nullptr, 0, nullptr, 0, nullptr, nullptr,
                                        nullptr, nullptr, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr, TF_FunctionName(nullptr));
  TF_FunctionToFunctionDef(nullptr, nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(0, TF_GraphNumFunctions(nullptr));
  EXPECT_EQ(0, TF_GraphGetFunctions(g(), nullptr, 3, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_DeleteFunction(nullptr);
}

}  // namespace
}  // namespace tenon
