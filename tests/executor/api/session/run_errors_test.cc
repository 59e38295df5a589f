// Errors of runs, whose codes and texts are those that programs know from TensorFlow.
#include <cmath>

#include "tensorflow/c/ops.h"
#include "tests/executor/api/graph/functions_util.h"
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::OpenSession;
using ::testing::StartsWith;
using testing::StatusPtr;

class CRunErrors : public GraphFunctions {
 protected:
  TF_Operation* Call(const char* name, const char* function, TF_Output input) {
    TF_OperationDescription* desc = New("PartitionedCall", name);
    TF_AddInputList(desc, &input, 1);
    const TF_DataType types[] = {TF_FLOAT};
    TF_SetAttrTypeList(desc, "Tout", types, 1);
    TF_SetAttrFuncName(desc, "f", function, std::string_view(function).size());
    return Finish(desc);
  }
  // A function of one float `x` that gives one float `y`. `body` has its nodes and results.
  FunctionPtr FloatFunction(std::string_view name, std::string_view body) {
    return FromText(absl::StrCat("signature { name: '", name,
                                 "' input_arg { name: 'x' type: DT_FLOAT } "
                                 "output_arg { name: 'y' type: DT_FLOAT } } ",
                                 body));
  }
  // Code and message of a run of an operation without outputs, or of its first output.
  std::string ErrorOf(TF_Operation* oper, const OpenSession::Feeds& feeds = {},
                      const pb::ConfigProto& config = {}) {
    OpenSession session(g(), config);
    if (TF_OperationNumOutputs(oper) > 0) {
      session.Run({feeds, {{oper, 0}}, {}});
    } else {
      session.Run({feeds, {}, {oper}});
    }
    int payloads = 0;
    TF_ForEachPayload(
        session.status(),
        [](const char*, const char*, void* count) { ++*static_cast<int*>(count); }, &payloads);
    EXPECT_EQ(0, payloads);
    return absl::StrCat(session.code(), " ", session.message());
  }
};

TEST_F(CRunErrors, NameTheNodeBehindTheMessage) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("CheckNumerics", "scope/check");
  TF_AddInput(desc, {x, 0});
  TF_SetAttrString(desc, "message", "abc", 3);
  TF_Operation* check = Finish(desc);
  const testing::TensorPtr nan = testing::Float(NAN);
  EXPECT_EQ("3 abc : Tensor had NaN values\n\t [[{{node scope/check}}]]",
            ErrorOf(check, {{{x, 0}, nan.get()}}));
}

TEST_F(CRunErrors, NameTheNodeOfAFunctionByItsPath) {
  CopyTo(g(), FloatFunction("Product", R"pb(
           node_def {
             name: 'm'
             op: 'MatMul'
             input: 'x'
             input: 'x'
             attr {
               key: 'T'
               value { type: DT_FLOAT }
             }
           }
           ret { key: 'y' value: 'm:product:0' })pb"));
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* call = Call("call", "Product", {x, 0});
  const testing::TensorPtr fed = testing::FloatTensor({1, 2}, {1, 2});
  EXPECT_THAT(ErrorOf(call, {{{x, 0}, fed.get()}}),
              AllOf(StartsWith("3 Matrix size-incompatible: In[0]: [1,2], In[1]: [1,2]"),
                    EndsWith("\n\t [[{{node call/m}}]]")));
}

TEST_F(CRunErrors, OfAVariableWithoutAValue) {
  TF_OperationDescription* desc = New("VarHandleOp", "handle");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_SetAttrString(desc, "shared_name", "v", 1);
  TF_Operation* handle = Finish(desc);
  desc = New("ReadVariableOp", "read");
  TF_AddInput(desc, {handle, 0});
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  EXPECT_EQ(
      "9 Could not find variable v. This could mean that the variable has been deleted. In TF1, it "
      "can also mean the variable is uninitialized. Debug info: container=localhost, status error "
      "message=Container localhost does not exist. (Could not find resource: "
      "localhost/v)\n\t [[{{node read}}]]",
      ErrorOf(Finish(desc)));
}

// A container is there once a variable in it has got a value.
TEST_F(CRunErrors, OfAVariableWithoutAValueBesideOneThatHasIt) {
  TF_Operation *handles[2], *reads[2];
  for (const int i : {0, 1}) {
    const std::string name(1, static_cast<char>('v' + i));
    TF_OperationDescription* desc = New("VarHandleOp", name.c_str());
    TF_SetAttrType(desc, "dtype", TF_FLOAT);
    TF_SetAttrShape(desc, "shape", nullptr, 0);
    TF_SetAttrString(desc, "shared_name", name.data(), 1);
    handles[i] = Finish(desc);
    desc = New("ReadVariableOp", absl::StrCat("read_", name).c_str());
    TF_AddInput(desc, {handles[i], 0});
    TF_SetAttrType(desc, "dtype", TF_FLOAT);
    reads[i] = Finish(desc);
  }
  TF_OperationDescription* desc = New("AssignVariableOp", "assign");
  TF_AddInput(desc, {handles[0], 0});
  TF_AddInput(desc, {Const("one", testing::Float(1).get()), 0});
  TF_Operation* assign = Finish(desc);
  OpenSession session(g());
  session.Run({{}, {}, {assign}});
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  session.Run({{}, {{reads[1], 0}}, {}});
  EXPECT_EQ(TF_FAILED_PRECONDITION, session.code());
  EXPECT_EQ(
      "Could not find variable w. This could mean that the variable has been deleted. In TF1, it "
      "can also mean the variable is uninitialized. Debug info: container=localhost, status error "
      "message=Resource localhost/w/N10tensorflow3VarE does not exist.\n\t [[{{node read_w}}]]",
      session.message());
}

TEST_F(CRunErrors, OfAFeedOfAnotherType) {
  TF_Operation* x = Placeholder("x", TF_INT32);
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  const testing::TensorPtr fed = testing::Float(1);
  EXPECT_EQ("3 Expects arg[0] to be int32 but float is provided",
            ErrorOf(neg, {{{x, 0}, fed.get()}}));
}

TEST_F(CRunErrors, OfAFunctionWithAnOpThatDoesNotExist) {
  CopyTo(g(), FloatFunction("Strange", R"pb(
           node_def { name: 'n' op: 'NoSuchOp' input: 'x' }
           ret { key: 'y' value: 'n:y:0' })pb"));
  // A branch is looked at when it runs.
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  const testing::TensorPtr fed = testing::Float(1);
  const TF_Output input{x, 0};
  const TF_DataType type = TF_FLOAT;
  TF_OperationDescription* desc = New("If", "if");
  TF_AddInput(desc, input);
  TF_AddInputList(desc, &input, 1);
  TF_SetAttrTypeList(desc, "Tout", &type, 1);
  TF_SetAttrFuncName(desc, "then_branch", "Strange", 7);
  TF_SetAttrFuncName(desc, "else_branch", "Strange", 7);
  EXPECT_THAT(ErrorOf(Finish(desc), {{input, fed.get()}}),
              StartsWith("5 Op type not registered 'NoSuchOp' in binary running on "));
}

TEST_F(CRunErrors, OfABranchThatDoesNotExist) {
  CopyTo(g(), FloatFunction("Same", "ret { key: 'y' value: 'x' }"));
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  const testing::TensorPtr fed = testing::Float(1);
  const TF_Output input{x, 0};
  const TF_DataType type = TF_FLOAT;
  for (const char* op : {"If", "StatelessIf"}) {
    for (const bool other : {false, true}) {
      TF_OperationDescription* desc = New(op, absl::StrCat(op, other ? "_other" : "").c_str());
      TF_AddInput(desc, input);
      TF_AddInputList(desc, &input, 1);
      TF_SetAttrTypeList(desc, "Tout", &type, 1);
      TF_SetAttrFuncName(desc, other ? "else_branch" : "then_branch", "Same", 4);
      TF_SetAttrFuncName(desc, other ? "then_branch" : "else_branch", "Missing", 7);
      EXPECT_EQ(ErrorOf(Finish(desc), {{input, fed.get()}}), "5 Function Missing is not defined.")
          << op;
    }
  }
}

// As in TensorFlow, where _lower_using_switch_merge is not set.
TEST_F(CRunErrors, OfABranchThatDoesNotFitComeWhenItIsTaken) {
  CopyTo(g(), FloatFunction("Same", "ret { key: 'y' value: 'x' }"));
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'OfTwo'
             input_arg { name: 'x' type: DT_FLOAT }
             input_arg { name: 'z' type: DT_FLOAT }
             output_arg { name: 'y' type: DT_FLOAT }
           }
           ret { key: 'y' value: 'x' })pb"));
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'GivesTwo'
             input_arg { name: 'x' type: DT_FLOAT }
             output_arg { name: 'y' type: DT_FLOAT }
             output_arg { name: 'z' type: DT_FLOAT }
           }
           ret { key: 'y' value: 'x' }
           ret { key: 'z' value: 'x' })pb"));
  const TF_Output choice{Placeholder("choice", TF_FLOAT), 0}, x{Placeholder("x", TF_FLOAT), 0};
  const testing::TensorPtr fed = testing::Float(1);
  const TF_DataType type = TF_FLOAT;
  const auto run = [&](const std::string& name, const std::string& other, bool taken) {
    TF_OperationDescription* desc = New("If", name.c_str());
    TF_AddInput(desc, choice);
    TF_AddInputList(desc, &x, 1);
    TF_SetAttrTypeList(desc, "Tout", &type, 1);
    TF_SetAttrFuncName(desc, "then_branch", other.data(), other.size());
    TF_SetAttrFuncName(desc, "else_branch", "Same", 4);
    const testing::TensorPtr chosen = testing::Float(taken ? 1 : 0);
    return ErrorOf(Finish(desc), {{choice, chosen.get()}, {x, fed.get()}});
  };
  EXPECT_EQ(run("a", "OfTwo", false), "0 ");
  EXPECT_EQ(run("b", "OfTwo", true), "3 Expects 2 arguments, but 1 is provided\n\t [[{{node b}}]]");
  EXPECT_EQ(run("c", "GivesTwo", false), "0 ");
  EXPECT_EQ(run("d", "GivesTwo", true),
            "13 Expect to produce 1 tensors, but only get 2\n\t [[{{node d}}]]");
}

// Also if the index is constant, and chooses another branch.
TEST_F(CRunErrors, OfABranchOfACaseThatDoesNotExist) {
  CopyTo(g(), FloatFunction("Same", "ret { key: 'y' value: 'x' }"));
  const TF_Output input{Placeholder("x", TF_FLOAT), 0}, index{ScalarConst("index", 0), 0};
  const testing::TensorPtr fed = testing::Float(1);
  const TF_DataType type = TF_FLOAT;
  const auto error = [&](const char* op, const char* second) {
    pb::AttrValue branches;
    for (const char* const name : {"Same", second})
      branches.mutable_list()->add_func()->set_name(name);
    const std::string wire = branches.SerializeAsString();
    TF_OperationDescription* desc = New(op, absl::StrCat(op, second).c_str());
    TF_AddInput(desc, index);
    TF_AddInputList(desc, &input, 1);
    TF_SetAttrTypeList(desc, "Tout", &type, 1);
    TF_SetAttrValueProto(desc, "branches", wire.data(), wire.size(), s());
    return ErrorOf(Finish(desc), {{input, fed.get()}});
  };
  for (const char* op : {"Case", "StatelessCase"}) {
    EXPECT_EQ(error(op, "Same"), "0 ") << op;
    EXPECT_EQ(error(op, "Missing"), "5 Function Missing is not defined.") << op;
  }
}

TEST_F(CRunErrors, OfAFunctionThatAnotherOneMisses) {
  CopyTo(g(), FloatFunction("Outer", R"pb(
           node_def {
             name: 'n'
             op: 'PartitionedCall'
             input: 'x'
             attr {
               key: 'Tin'
               value { list { type: DT_FLOAT } }
             }
             attr {
               key: 'Tout'
               value { list { type: DT_FLOAT } }
             }
             attr {
               key: 'f'
               value { func { name: 'Missing' } }
             }
           }
           ret { key: 'y' value: 'n:output:0' })pb"));
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  const testing::TensorPtr fed = testing::Float(1);
  EXPECT_EQ(ErrorOf(Call("call", "Outer", {x, 0}), {{{x, 0}, fed.get()}}),
            "5 Function Missing is not defined.");
}

// Also a loop that never runs, since its condition is constant, needs a body.
TEST_F(CRunErrors, OfALoopWithoutABody) {
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'Never'
             input_arg { name: 'x' type: DT_FLOAT }
             output_arg { name: 'y' type: DT_BOOL }
           }
           node_def {
             name: 'no'
             op: 'Const'
             attr {
               key: 'dtype'
               value { type: DT_BOOL }
             }
             attr {
               key: 'value'
               value {
                 tensor {
                   dtype: DT_BOOL
                   tensor_shape {}
                   bool_val: false
                 }
               }
             }
           }
           ret { key: 'y' value: 'no:output:0' })pb"));
  CopyTo(g(), FloatFunction("Same", "ret { key: 'y' value: 'x' }"));
  const testing::TensorPtr fed = testing::Float(1);
  const TF_Output x = {Placeholder("x", TF_FLOAT), 0};
  const auto error = [&](const char* name, std::string_view cond, std::string_view body) {
    TF_OperationDescription* desc = New("While", name);
    TF_AddInputList(desc, &x, 1);
    TF_SetAttrFuncName(desc, "cond", cond.data(), cond.size());
    TF_SetAttrFuncName(desc, "body", body.data(), body.size());
    return ErrorOf(Finish(desc), {{x, fed.get()}});
  };
  EXPECT_EQ(error("whole", "Never", "Same"), "0 ");
  EXPECT_EQ(error("no_body", "Never", "Missing"), "5 Function Missing is not defined.");
  EXPECT_EQ(error("no_condition", "Missing", "Same"), "5 Function Missing is not defined.");
}

// A fault that TensorFlow finds before the node runs names no node.
TEST_F(CRunErrors, OfFunctionsThatDoNotFit) {
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'Whole'
             input_arg { name: 'x' type: DT_INT32 }
             output_arg { name: 'y' type: DT_INT32 }
           }
           ret { key: 'y' value: 'x' })pb"));
  CopyTo(g(), FromText("signature { name: 'Nothing' input_arg { name: 'x' type: DT_FLOAT } }"));
  CopyTo(g(), FloatFunction("NoReturn", ""));
  CopyTo(g(), FloatFunction("OtherReturn", "ret { key: 'y' value: 'z:y:0' }"));
  const testing::TensorPtr fed = testing::Float(1);
  const TF_Output x = {Placeholder("x", TF_FLOAT), 0};
  const auto call = [&](const char* function) {
    return ErrorOf(Call(function, function, x), {{x, fed.get()}});
  };
  EXPECT_EQ(call("Whole"),
            "3 Expects arg[0] to be int32 but float is provided\n\t [[{{node Whole}}]]");
  EXPECT_EQ(call("Nothing"), "13 Missing 0-th output from {{node Nothing}}");
  const auto branch = [&](const char* function) {
    TF_OperationDescription* desc = New("If", absl::StrCat("if_", function).c_str());
    TF_AddInput(desc, x);
    TF_AddInputList(desc, &x, 1);
    const TF_DataType type = TF_FLOAT;
    TF_SetAttrTypeList(desc, "Tout", &type, 1);
    for (const char* const name : {"then_branch", "else_branch"})
      TF_SetAttrFuncName(desc, name, function, std::string_view(function).size());
    return ErrorOf(Finish(desc), {{x, fed.get()}});
  };
  EXPECT_EQ(branch("NoReturn"), "3 Return y missing.\n\tIn function output y:float");
  EXPECT_EQ(branch("OtherReturn"),
            "3 Return y -> z:y:0 is not found.\n\tIn function output y:float");
}

// As in TensorFlow, a fed placeholder that is a target has no value: its node runs.
TEST_F(CRunErrors, OfAPlaceholderThatIsATarget) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("NoOp", "behind");
  TF_AddControlInput(desc, x);
  TF_Operation* behind = Finish(desc);
  const testing::TensorPtr fed = testing::Float(1);
  OpenSession session(g());
  session.Run({{{{x, 0}, fed.get()}}, {}, {x}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ("You must feed a value for placeholder tensor 'x' with dtype float\n\t [[{{node x}}]]",
            session.message());
  session.Run({{{{x, 0}, fed.get()}}, {}, {behind}});
  EXPECT_EQ(TF_OK, session.code()) << session.message();
}

TEST_F(CRunErrors, OfACallWithAResultOfAnotherType) {
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'Same'
             input_arg { name: 'x' type: DT_INT32 }
             output_arg { name: 'y' type: DT_INT32 }
           }
           ret { key: 'y' value: 'x' })pb"));
  TF_Operation* x = Placeholder("x", TF_INT32);
  const testing::TensorPtr fed = testing::IntTensor({}, {1});
  EXPECT_THAT(ErrorOf(Call("call", "Same", {x, 0}), {{{x, 0}, fed.get()}}),
              StartsWith("13 Output 0 of type int32 does not match declared output type float for "
                         "node {{node call}}"));
}

TEST_F(CRunErrors, OfANameThatNoNodeMayHave) {
  for (const std::string name : {"", "a b", "_a", "^a", "a:0", "a>", "a>_b", "a>>b"}) {
    const testing::GraphPtr graph(TF_NewGraph());
    const StatusPtr status(TF_NewStatus());
    TF_Operation* const a =
        TF_FinishOperation(TF_NewOperation(graph.get(), "NoOp", name.c_str()), status.get());
    ASSERT_NE(nullptr, a) << TF_Message(status.get());
    OpenSession session(graph.get());
    session.Run({{}, {}, {a}});
    EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
    EXPECT_EQ("Node '" + name + "': Node name contains invalid characters", session.message());
  }
  TF_Operation* const right = Finish(New("NoOp", "a>.b-c_/d"));
  EXPECT_EQ("0 ", ErrorOf(right));
  TF_Operation* const wrong = Placeholder("^x");
  TF_OperationDescription* const desc = New("Neg", "neg");
  TF_AddInput(desc, {wrong, 0});
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_THAT(message(), StartsWith("Non-control input starting with ^: ^x while building NodeDef "
                                    "'neg' using Op<name=Neg; "));
}

TEST_F(CRunErrors, OfAVariableByReferenceWithoutAValue) {
  TF_OperationDescription* desc = New("VariableV2", "v");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_Operation* v = Finish(desc);
  EXPECT_EQ("9 Attempting to use uninitialized value v\n\t [[{{node read}}]]",
            ErrorOf(Unary("Identity", "read", {v, 0})));
}

TEST_F(CRunErrors, OfACallWithTooManyArguments) {
  CopyTo(g(), FloatFunction("Same", R"pb(
           ret { key: 'y' value: 'x' })pb"));
  const testing::TensorPtr value = testing::FloatTensor({}, {1});
  const TF_Output x = {Const("x", value.get()), 0};
  TF_OperationDescription* desc = New("PartitionedCall", "call");
  const std::vector<TF_Output> two = {x, x};
  TF_AddInputList(desc, two.data(), 2);
  const TF_DataType type = TF_FLOAT;
  TF_SetAttrTypeList(desc, "Tout", &type, 1);
  TF_SetAttrFuncName(desc, "f", "Same", 4);
  EXPECT_EQ(
      "3 InstantiateOptions.input_devices must have the same length as the number of arguments: "
      "input_devices length = 2 number of arguments = 1\n\t [[{{node call}}]]",
      ErrorOf(Finish(desc)));
}

TEST_F(CRunErrors, OfAReshape) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* shape = Placeholder("shape");
  TF_Operation* y = Binary("Reshape", "y", {x, 0}, {shape, 0});
  const testing::TensorPtr three = testing::FloatTensor({3}, {1, 2, 3});
  const auto error = [&](const std::vector<int32_t>& dims) {
    const testing::TensorPtr fed = testing::IntTensor({static_cast<int64_t>(dims.size())}, dims);
    return ErrorOf(y, {{{x, 0}, three.get()}, {{shape, 0}, fed.get()}});
  };
  EXPECT_THAT(error({2}), StartsWith("3 Input to reshape is a tensor with 3 values, but the "
                                     "requested shape has 2"));
  EXPECT_THAT(error({2, -1}), StartsWith("3 Input to reshape is a tensor with 3 values, but the "
                                         "requested shape requires a multiple of 2"));
  EXPECT_THAT(error({-1, -1}), StartsWith("3 Only one input size may be -1, not both 0 and 1"));
}

TEST_F(CRunErrors, OfAFunctionThatDoesNotExist) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  const testing::TensorPtr fed = testing::Float(1);
  EXPECT_EQ("3 Failed to find function \"Missing\" in function library\n\t [[{{node call}}]]",
            ErrorOf(Call("call", "Missing", {x, 0}), {{{x, 0}, fed.get()}}));
}

TEST_F(CRunErrors, OfAnOpWithoutAKernel) {
  TF_OpDefinitionBuilder* const builder = TF_NewOpDefinitionBuilder("CRunErrorsNoKernel");
  TF_OpDefinitionBuilderAddOutput(builder, "y: float");
  TF_RegisterOpDefinition(builder, s());
  ExpectOk();
  TF_Operation* y = Finish(New("CRunErrorsNoKernel", "y"));
  EXPECT_THAT(ErrorOf(y),
              AllOf(StartsWith("3 No OpKernel was registered to support Op 'CRunErrorsNoKernel' "
                               "used by {{node y}}"),
                    EndsWith("\n\t [[{{node y}}]]")));
}

// An op of which nothing but the signature is here may stand in a graph.
TEST_F(CRunErrors, OfAnOpWithASignatureAlone) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("XlaDot", "dot");
  TF_AddInput(desc, {x, 0});
  TF_AddInput(desc, {x, 0});
  TF_SetAttrString(desc, "dimension_numbers", "", 0);
  TF_SetAttrString(desc, "precision_config", "", 0);
  TF_Operation* dot = Finish(desc);
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(g(), {dot, 0}, s()));
  ExpectOk();
  const testing::TensorPtr fed = testing::Float(1);
  EXPECT_THAT(ErrorOf(dot, {{{x, 0}, fed.get()}}),
              StartsWith("3 No OpKernel was registered to support Op 'XlaDot' used by {{node dot}} "
                         "with these attrs: [T=DT_FLOAT, "));
  EXPECT_EQ("0 ", ErrorOf(neg, {{{x, 0}, fed.get()}}));
  EXPECT_EQ(nullptr, TF_FinishOperation(New("NoSuchOp", "none"), s()));
}

TEST_F(CRunErrors, OfADeviceThatDoesNotExist) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("Neg", "y");
  TF_AddInput(desc, {x, 0});
  TF_SetDevice(desc, "/job:far");
  TF_Operation* y = Finish(desc);
  const testing::TensorPtr fed = testing::Float(1);
  pb::ConfigProto soft;
  soft.set_allow_soft_placement(true);
  for (const pb::ConfigProto& config : {pb::ConfigProto(), soft}) {
    EXPECT_THAT(ErrorOf(y, {{{x, 0}, fed.get()}}, config),
                AllOf(StartsWith("3 Cannot assign a device for operation y: {{node y}} was "
                                 "explicitly assigned to /job:far but available devices are [ "),
                      HasSubstr("/job:localhost/replica:0/task:0/device:CPU:0"),
                      HasSubstr("there is only /job:localhost/replica:0/task:0"),
                      EndsWith("\n\t [[{{node y}}]]")));
  }
}

TEST_F(CRunErrors, OfAnExecutorThatDoesNotExist) {
  TF_Operation* one = ScalarConst("one", 1);
  pb::ConfigProto config;
  config.mutable_experimental()->set_executor_type("nope");
  EXPECT_EQ(
      "5 No executor factory registered for the given executor type: nope Registered factories "
      "are {DEFAULT, , SINGLE_THREADED_EXECUTOR}.",
      ErrorOf(one, {}, config));
  OpenSession session(g(), config);
  const TF_Output fetch{one, 0};
  const char* handle = nullptr;
  TF_SessionPRunSetup(session.get(), nullptr, 0, &fetch, 1, nullptr, 0, &handle, s());
  EXPECT_EQ(TF_NOT_FOUND, code());
  for (const char* const executor : {"", "DEFAULT", "SINGLE_THREADED_EXECUTOR"}) {
    config.mutable_experimental()->set_executor_type(executor);
    EXPECT_EQ("0 ", ErrorOf(one, {}, config)) << executor;
  }
}

TEST_F(CRunErrors, OfPartitionGraphsThatTheSessionDoesNotGive) {
  TF_Operation* one = ScalarConst("one", 1);
  pb::ConfigProto config;
  config.mutable_experimental()->set_disable_output_partition_graphs(true);
  pb::RunOptions options;
  options.set_output_partition_graphs(true);
  const testing::BufferPtr bytes = testing::BufferOf(options), metadata(TF_NewBuffer());
  OpenSession session(g(), config);
  session.Run({{}, {{one, 0}}, {}}, bytes.get(), metadata.get());
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ(
      "RunOptions.output_partition_graphs() is not supported when disable_output_partition_graphs "
      "is true.",
      session.message());
}

TEST_F(CRunErrors, OfAPartialRun) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("CheckNumerics", "check");
  TF_AddInput(desc, {x, 0});
  TF_SetAttrString(desc, "message", "abc", 3);
  TF_Operation* check = Finish(desc);
  OpenSession session(g());
  const TF_Output feed{x, 0}, fetch{check, 0};
  const char* handle = nullptr;
  TF_SessionPRunSetup(session.get(), &feed, 1, &fetch, 1, nullptr, 0, &handle, s());
  ExpectOk();
  const testing::TensorPtr nan = testing::Float(NAN);
  TF_Tensor* const value = nan.get();
  TF_Tensor* result = nullptr;
  TF_SessionPRun(session.get(), handle, &feed, &value, 1, &fetch, &result, 1, nullptr, 0, s());
  EXPECT_EQ("abc : Tensor had NaN values\n\t [[{{node check}}]]", message());
  TF_DeletePRunHandle(handle);
}

}  // namespace
}  // namespace tenon
