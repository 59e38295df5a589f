// Building graphs by TF_NewOperation … TF_FinishOperation, and asking for what was built.
#include "absl/strings/str_cat.h"
#include "tensorflow/c/ops.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Build : public testing::GraphFixture {
 protected:
  // Finishes an operation that must be refused.
  void Refuse(TF_OperationDescription* desc, TF_Code wanted = TF_INVALID_ARGUMENT) {
    EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
    EXPECT_EQ(wanted, code()) << message();
  }
};

TEST_F(Build, PlaceholderHasTypeShapeAndNoInputs) {
  const std::vector<int64_t> dims = {2, -1};
  TF_Operation* x = Placeholder("x", TF_FLOAT, &dims);
  EXPECT_STREQ("x", TF_OperationName(x));
  EXPECT_STREQ("Placeholder", TF_OperationOpType(x));
  EXPECT_STREQ("", TF_OperationDevice(x));
  EXPECT_EQ(0, TF_OperationNumInputs(x));
  EXPECT_EQ(1, TF_OperationNumOutputs(x));
  EXPECT_EQ(TF_FLOAT, TF_OperationOutputType({x, 0}));
  EXPECT_EQ(1, TF_OperationOutputListLength(x, "output", s()));
  EXPECT_EQ(0, TF_OperationNumControlInputs(x));
  EXPECT_EQ(2, TF_GraphGetTensorNumDims(g(), {x, 0}, s()));
  int64_t known[2];
  TF_GraphGetTensorShape(g(), {x, 0}, known, 2, s());
  ExpectOk();
  EXPECT_THAT(known, ElementsAre(2, -1));
}

TEST_F(Build, TextsAreKeptUnderOneAddress) {
  TF_Operation* x = Placeholder("x");
  const char* name = TF_OperationName(x);
  for (int i = 0; i < 1000; ++i) Placeholder(absl::StrCat("p", i).c_str());
  EXPECT_EQ(name, TF_OperationName(x));
  EXPECT_EQ(x, Find("x"));
}

TEST_F(Build, InputsAndConsumersAreEachOthersReverse) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* two = ScalarConst("two", 2);
  TF_Operation* sum = AddN("sum", {{x, 0}, {two, 0}, {x, 0}});
  EXPECT_EQ(3, TF_OperationNumInputs(sum));
  EXPECT_EQ(3, TF_OperationInputListLength(sum, "inputs", s()));
  EXPECT_EQ(TF_INT32, TF_OperationInputType({sum, 2}));
  EXPECT_EQ(two, TF_OperationInput({sum, 1}).oper);
  TF_Output all[3];
  TF_OperationAllInputs(sum, all, 3);
  EXPECT_EQ(x, all[2].oper);
  EXPECT_EQ(2, TF_OperationOutputNumConsumers({x, 0}));
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  EXPECT_EQ(3, TF_OperationOutputNumConsumers({x, 0}));
  TF_Input uses[3];
  EXPECT_EQ(3, TF_OperationOutputConsumers({x, 0}, uses, 3));
  EXPECT_EQ(sum, uses[0].oper);
  EXPECT_EQ(0, uses[0].index);
  EXPECT_EQ(2, uses[1].index);
  EXPECT_EQ(neg, uses[2].oper);
  // What does not fit is counted too, and not written.
  uses[1].oper = nullptr;
  EXPECT_EQ(3, TF_OperationOutputConsumers({x, 0}, uses, 1));
  EXPECT_EQ(sum, uses[0].oper);
  EXPECT_EQ(nullptr, uses[1].oper);
  EXPECT_EQ(3, TF_OperationOutputConsumers({x, 0}, nullptr, 0));
  EXPECT_EQ(0, TF_OperationOutputNumConsumers({neg, 0}));
}

TEST_F(Build, ControlEdgesGoBothWays) {
  TF_Operation* x = Placeholder("x");
  TF_OperationDescription* desc = New("Neg", "neg");
  TF_AddInput(desc, {x, 0});
  TF_Operation* first = ScalarConst("first", 1);
  TF_AddControlInput(desc, first);
  TF_AddControlInput(desc, x);
  TF_Operation* neg = Finish(desc);
  TF_Operation* control[3];
  ASSERT_EQ(2, TF_OperationNumControlInputs(neg));
  EXPECT_EQ(2, TF_OperationGetControlInputs(neg, control, 3));
  EXPECT_EQ(first, control[0]);
  EXPECT_EQ(x, control[1]);
  // All are counted, whatever room there is.
  control[1] = nullptr;
  EXPECT_EQ(2, TF_OperationGetControlInputs(neg, control, 1));
  EXPECT_EQ(nullptr, control[1]);
  EXPECT_EQ(1, TF_OperationGetControlOutputs(first, control, 0));
  ASSERT_EQ(1, TF_OperationNumControlOutputs(first));
  EXPECT_EQ(1, TF_OperationGetControlOutputs(first, control, 3));
  EXPECT_EQ(neg, control[0]);
  // The consumers of output -1, as in TensorFlow.
  TF_Input uses[2];
  EXPECT_EQ(1, TF_OperationOutputNumConsumers({first, -1}));
  EXPECT_EQ(1, TF_OperationOutputConsumers({first, -1}, uses, 2));
  EXPECT_EQ(neg, uses[0].oper);
  EXPECT_EQ(-1, uses[0].index);
  EXPECT_EQ(1, TF_OperationNumInputs(neg));
  EXPECT_THAT(NodeDefOf(neg).input(), ElementsAre("x", "^first", "^x"));
}

TEST_F(Build, NodeDefsHaveDefaults) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* m = Binary("MatMul", "m", {x, 0}, {x, 0});
  const pb::NodeDef def = NodeDefOf(m);
  EXPECT_EQ("m", def.name());
  EXPECT_EQ("MatMul", def.op());
  ASSERT_TRUE(def.attr().contains("transpose_a"));
  EXPECT_FALSE(def.attr().at("transpose_a").b());
  EXPECT_EQ(pb::DT_FLOAT, def.attr().at("T").type());
  EXPECT_EQ(GraphDef().node(1).DebugString(), def.DebugString());
}

// As TensorFlow notes them when it adds a node; others have none.
TEST_F(Build, NodeDefsHaveFullTypes) {
  TF_Operation* one = ScalarConst("one", -1);
  const auto list = [&](const char* name, TF_DataType type) {
    TF_OperationDescription* desc = New("EmptyTensorList", name);
    TF_AddInput(desc, {one, 0});
    TF_AddInput(desc, {one, 0});
    TF_SetAttrType(desc, "element_dtype", type);
    return NodeDefOf(Finish(desc)).experimental_type().ShortDebugString();
  };
  EXPECT_EQ(list("floats", TF_FLOAT),
            "type_id: TFT_PRODUCT args { type_id: TFT_ARRAY args { type_id: TFT_TENSOR "
            "args { type_id: TFT_FLOAT } } }");
  EXPECT_EQ(list("halves", TF_BFLOAT16),
            "type_id: TFT_PRODUCT args { type_id: TFT_ARRAY args { type_id: TFT_TENSOR "
            "args { } } }");
  EXPECT_EQ(list("lists", TF_VARIANT), "type_id: TFT_PRODUCT args { type_id: TFT_ARRAY }");

  TF_OperationDescription* desc = New("OptionalFromValue", "two");
  const TF_Output both[] = {{one, 0}, {Const("x", testing::FloatTensor({}, {1}).get()), 0}};
  TF_AddInputList(desc, both, 2);
  EXPECT_EQ(NodeDefOf(Finish(desc)).experimental_type().ShortDebugString(),
            "type_id: TFT_PRODUCT args { type_id: TFT_OPTIONAL args { type_id: TFT_PRODUCT "
            "args { type_id: TFT_TENSOR args { type_id: TFT_INT32 } } "
            "args { type_id: TFT_TENSOR args { type_id: TFT_FLOAT } } } }");

  TF_Operation* shape = Unary("Shape", "shape", {one, 0});
  EXPECT_EQ(NodeDefOf(shape).experimental_type().ShortDebugString(),
            "type_id: TFT_PRODUCT args { type_id: TFT_SHAPE_TENSOR args { type_id: TFT_INT32 } }");
  EXPECT_FALSE(NodeDefOf(one).has_experimental_type());
  EXPECT_FALSE(NodeDefOf(Unary("ZerosLike", "zeros", {one, 0})).has_experimental_type());
  // What was set takes its place.
  pb::FullTypeDef set;
  set.set_type_id(pb::TFT_ANY);
  TF_SetFullType(g(), shape, testing::BufferOf(set.SerializeAsString()).get());
  EXPECT_EQ(NodeDefOf(shape).experimental_type().ShortDebugString(), "type_id: TFT_ANY");
  const pb::GraphDef graph = GraphDef();
  for (const pb::NodeDef& node : graph.node())
    EXPECT_EQ(node.has_experimental_type(), node.op() == "EmptyTensorList" ||
                                                node.op() == "OptionalFromValue" ||
                                                node.op() == "Shape");
}

TEST_F(Build, GraphDefHasAllNodesAndVersions) {
  TF_Operation* x = Placeholder("x");
  Unary("Neg", "neg", {x, 0});
  const pb::GraphDef def = GraphDef();
  EXPECT_THAT(Names(), ElementsAre("x", "neg"));
  ASSERT_EQ(2, def.node_size());
  EXPECT_EQ("neg", def.node(1).name());
  EXPECT_GT(def.versions().producer(), 0);
  const testing::BufferPtr versions(TF_NewBuffer());
  TF_GraphVersions(g(), versions.get(), s());
  EXPECT_EQ(def.versions().SerializeAsString(), testing::BytesOf(versions.get()));
}

TEST_F(Build, ColocationBecomesAnAttribute) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* y = Placeholder("y");
  TF_OperationDescription* desc = New("Neg", "neg");
  TF_AddInput(desc, {x, 0});
  TF_ColocateWith(desc, y);
  TF_ColocateWith(desc, x);
  const pb::NodeDef def = NodeDefOf(Finish(desc));
  EXPECT_THAT(def.attr().at("_class").list().s(), ElementsAre("loc:@x", "loc:@y"));
}

TEST_F(Build, ColocationAttributeReplacesGroups) {
  TF_Operation* x = Placeholder("x");
  TF_OperationDescription* desc = New("Neg", "neg");
  TF_AddInput(desc, {x, 0});
  TF_ColocateWith(desc, x);
  pb::AttrValue value;
  value.set_i(1);
  const std::string wrong = value.SerializeAsString();
  TF_SetAttrValueProto(desc, "_class", wrong.data(), wrong.size(), s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ("Expected \"list\" field for \"_class\" attribute", message());
  value.mutable_list()->add_s("loc:@z");
  const std::string right = value.SerializeAsString();
  TF_SetAttrValueProto(desc, "_class", right.data(), right.size(), s());
  ExpectOk();
  EXPECT_THAT(NodeDefOf(Finish(desc)).attr().at("_class").list().s(), ElementsAre("loc:@z"));
}

TEST_F(Build, ColocationAndAnAttributeOfAnotherKindAreRefused) {
  TF_Operation* x = Placeholder("x");
  TF_OperationDescription* desc = New("Neg", "neg");
  TF_AddInput(desc, {x, 0});
  TF_ColocateWith(desc, x);
  TF_SetAttrString(desc, "_class", "y", 1);
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_THAT(message(),
              StartsWith("Inconsistent values for attr '_class' \"y\" vs. [\"loc:@x\"] while "
                         "building NodeDef 'neg' using Op<name=Neg;"));
}

// A placeholder says too little of some handles and shapes.
TEST_F(Build, RefusesPlaceholdersThatSayTooLittle) {
  const std::vector<int64_t> scalar;
  TF_Operation* matrix = Placeholder("matrix", TF_VARIANT, &scalar);
  TF_OperationDescription* desc = New("SparseMatrixNNZ", "nnz");
  TF_AddInput(desc, {matrix, 0});
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_THAT(message(), StartsWith("Unable to access shape and type info from variant input 0 "
                                    "for '{{node nnz}} = SparseMatrixNNZ[](matrix)'"));
  TF_Operation* handle = Placeholder("handle", TF_RESOURCE, &scalar);
  desc = New("ResourceCountUpTo", "count");
  TF_AddInput(desc, {handle, 0});
  TF_SetAttrInt(desc, "limit", 3);
  TF_SetAttrType(desc, "T", TF_INT32);
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_THAT(message(), StartsWith("Handle has no shape/type information. for '{{node count}}"));
  TF_Operation* shape = Placeholder("shape", TF_INT32, &scalar);
  desc = New("EmptyTensorList", "list");
  TF_AddInput(desc, {shape, 0});
  TF_AddInput(desc, {shape, 0});
  TF_SetAttrType(desc, "element_dtype", TF_FLOAT);
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_THAT(message(), StartsWith("Received a shape scalar with unknown static value."));
  EXPECT_EQ(nullptr, TF_GraphOperationByName(g(), "list"));
  desc = New("TensorListPopBack", "pop");
  TF_AddInput(desc, {matrix, 0});
  TF_AddInput(desc, {shape, 0});
  TF_SetAttrType(desc, "element_dtype", TF_FLOAT);
  Finish(desc);
}

// Attributes replace the groups so far; TF_ColocateWith adds to them.
TEST_F(Build, TheOrderOfColocationsCounts) {
  TF_Operation *x = Placeholder("x"), *y = Placeholder("y");
  const auto list = [](TF_OperationDescription* desc, const std::vector<std::string>& groups) {
    std::vector<const void*> texts;
    std::vector<size_t> lengths;
    for (const std::string& group : groups) {
      texts.push_back(group.data());
      lengths.push_back(group.size());
    }
    TF_SetAttrStringList(desc, "_class", texts.data(), lengths.data(),
                         static_cast<int>(groups.size()));
  };
  const auto proto = [this](TF_OperationDescription* desc, const std::vector<std::string>& groups) {
    pb::AttrValue value;
    value.mutable_list();
    for (const std::string& group : groups) value.mutable_list()->add_s(group);
    const std::string wire = value.SerializeAsString();
    TF_SetAttrValueProto(desc, "_class", wire.data(), wire.size(), s());
    ExpectOk();
  };
  const auto groups_of = [this](TF_OperationDescription* desc) {
    TF_AddInput(desc, {Find("x"), 0});
    const pb::NodeDef def = NodeDefOf(Finish(desc));
    std::vector<std::string> groups;
    if (def.attr().contains("_class")) {
      const auto& list = def.attr().at("_class").list().s();
      groups.assign(list.begin(), list.end());
    }
    return groups;
  };
  TF_OperationDescription* desc = New("Neg", "list");
  list(desc, {"loc:@x"});
  EXPECT_THAT(groups_of(desc), ElementsAre("loc:@x"));
  desc = New("Neg", "colocate_list");
  TF_ColocateWith(desc, x);
  list(desc, {"loc:@y"});
  EXPECT_THAT(groups_of(desc), ElementsAre("loc:@y"));
  desc = New("Neg", "list_colocate");
  list(desc, {"loc:@y"});
  TF_ColocateWith(desc, x);
  EXPECT_THAT(groups_of(desc), ElementsAre("loc:@x", "loc:@y"));
  desc = New("Neg", "proto_colocate");
  proto(desc, {"loc:@y"});
  TF_ColocateWith(desc, x);
  EXPECT_THAT(groups_of(desc), ElementsAre("loc:@x", "loc:@y"));
  desc = New("Neg", "proto_list");
  proto(desc, {"loc:@x"});
  list(desc, {"loc:@y"});
  EXPECT_THAT(groups_of(desc), ElementsAre("loc:@y"));
  desc = New("Neg", "list_proto");
  list(desc, {"loc:@x"});
  proto(desc, {"loc:@y"});
  EXPECT_THAT(groups_of(desc), ElementsAre("loc:@y"));
  desc = New("Neg", "no_list");
  TF_ColocateWith(desc, y);
  list(desc, {});
  EXPECT_THAT(groups_of(desc), ::testing::IsEmpty());
  desc = New("Neg", "no_proto");
  TF_ColocateWith(desc, y);
  proto(desc, {});
  EXPECT_THAT(groups_of(desc), ::testing::IsEmpty());
  TF_OperationGetAttrMetadata(Find("no_proto"), "_class", s());
  EXPECT_EQ("Operation 'no_proto' has no attr named '_class'.", message());
}

// --- What is refused, in TensorFlow's words.

TEST_F(Build, RefusesANameThatIsTaken) {
  Placeholder("x");
  Refuse(New("NoOp", "x"));
  EXPECT_EQ("Duplicate node name in graph: 'x'", message());
  EXPECT_THAT(Names(), ElementsAre("x"));
}

TEST_F(Build, RefusesAnUnknownOp) {
  Refuse(New("NoSuchOp", "x"));
  EXPECT_THAT(message(), StartsWith("Op type not registered 'NoSuchOp' in binary running on "));
  EXPECT_THAT(message(), HasSubstr("while building NodeDef 'x'"));
}

TEST_F(Build, ADeprecationBelowVersionOneRefusesNoGraph) {
  TF_OpDefinitionBuilder* const builder = TF_NewOpDefinitionBuilder("DeprecatedBelowOne");
  TF_OpDefinitionBuilderAddOutput(builder, "y: float");
  TF_OpDefinitionBuilderDeprecated(builder, -1, "never");
  TF_RegisterOpDefinition(builder, s());
  ExpectOk();
  EXPECT_NE(nullptr, Finish(New("DeprecatedBelowOne", "x")));
}

TEST_F(Build, RefusesWrongInputs) {
  TF_Operation* f = Placeholder("f", TF_FLOAT);
  TF_Operation* i = Placeholder("i", TF_INT32);
  Refuse(New("Neg", "n"));
  EXPECT_THAT(message(), StartsWith("0 inputs specified of 1 inputs in Op while building NodeDef "
                                    "'n' using Op<name=Neg; signature=x:T -> y:T; attr=T:type,"));
  TF_OperationDescription* desc = New("Neg", "n");
  TF_AddInput(desc, {f, 0});
  TF_AddInput(desc, {f, 0});
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("More Input() calls than the 1 input_args"));
  desc = New("Neg", "n");
  TF_AddInput(desc, {f, 3});
  Refuse(desc);
  EXPECT_EQ(
      "Attempt to add output 3 of f not in range [0, 1) to node with type Neg. Node: "
      "{{node f}}",
      message());
  desc = New("Add", "n");
  TF_AddInput(desc, {f, 0});
  TF_AddInput(desc, {i, 0});
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT32"));
  desc = New("AddN", "n");
  TF_AddInput(desc, {f, 0});
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("Single tensor passed to 'inputs', expected list"));
  const TF_Output list[] = {{f, 0}};
  desc = New("Neg", "n");
  TF_AddInputList(desc, list, 1);
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("List provided to input 'x' when single Tensor expected"));
  EXPECT_THAT(Names(), ElementsAre("f", "i"));
}

TEST_F(Build, RefusesWrongAttributes) {
  Refuse(New("Placeholder", "p"));
  EXPECT_EQ(
      "NodeDef missing attr 'dtype' from Op<name=Placeholder; signature= -> output:dtype; "
      "attr=dtype:type; attr=shape:shape,default=<unknown>>; NodeDef: {{node p}}",
      message());
  TF_OperationDescription* desc = New("Placeholder", "p");
  TF_SetAttrInt(desc, "dtype", 3);
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("AttrValue had value with type 'int' when 'type' expected\n\t "
                                    "for attr 'dtype'\n\t; NodeDef: {{node p}}; Op<"));
  desc = New("Placeholder", "p");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("Inconsistent values for attr 'dtype' DT_INT32 vs. DT_FLOAT"));
  TF_Operation* f = Placeholder("f", TF_FLOAT);
  desc = New("Conv2D", "c");
  TF_AddInput(desc, {f, 0});
  TF_AddInput(desc, {f, 0});
  TF_SetAttrString(desc, "padding", "FOO", 3);
  Refuse(desc);
  EXPECT_THAT(
      message(),
      StartsWith("Value for attr 'padding' of \"FOO\" is not in the list of allowed values: "
                 "\"SAME\", \"VALID\", \"EXPLICIT\"\n\t; NodeDef: {{node c}}; Op<"));
  desc = New("AddN", "a");
  TF_AddInputList(desc, nullptr, 0);
  Refuse(desc);
  EXPECT_THAT(message(), StartsWith("Value for attr 'N' of 0 must be at least minimum 1"));
}

TEST_F(Build, KeepsAttributesThatTheOpDoesNotKnow) {
  TF_OperationDescription* desc = New("NoOp", "n");
  TF_SetAttrFloat(desc, "_note", 2.5f);
  TF_SetAttrInt(desc, "newer", 7);
  const pb::NodeDef def = NodeDefOf(Finish(desc));
  EXPECT_EQ(2.5f, def.attr().at("_note").f());
  EXPECT_EQ(7, def.attr().at("newer").i());
}

TEST_F(Build, RefusesShapesThatDoNotFit) {
  const std::vector<int64_t> matrix = {2, 3}, vector = {2};
  TF_Operation* a = Placeholder("a", TF_FLOAT, &matrix);
  TF_Operation* b = Placeholder("b", TF_FLOAT, &vector);
  TF_OperationDescription* desc = New("MatMul", "m");
  TF_AddInput(desc, {a, 0});
  TF_AddInput(desc, {b, 0});
  Refuse(desc);
  EXPECT_EQ(
      "Shape must be rank 2 but is rank 1 for '{{node m}} = MatMul[T=DT_FLOAT, grad_a=false, "
      "grad_b=false, transpose_a=false, transpose_b=false](a, b)' with input shapes: [2,3], "
      "[2].",
      message());
  TF_Operation* four = Const("four", testing::IntTensor({2}, {4, 5}).get());
  desc = New("Reshape", "r");
  TF_AddInput(desc, {a, 0});
  TF_AddInput(desc, {four, 0});
  Refuse(desc);
  EXPECT_EQ(
      "Cannot reshape a tensor with 6 elements to shape [4,5] (20 elements) for '{{node r}} = "
      "Reshape[T=DT_FLOAT, Tshape=DT_INT32](a, four)' with input shapes: [2,3], [2] and with "
      "input tensors computed as partial shapes: input[1] = [4,5].",
      message());
  EXPECT_THAT(Names(), ElementsAre("a", "b", "four"));
}

TEST_F(Build, MergesShapes) {
  const std::vector<int64_t> dims = {2, -1};
  TF_Operation* x = Placeholder("x", TF_FLOAT, &dims);
  const int64_t more[] = {-1, 3}, other[] = {4, -1};
  TF_GraphSetTensorShape(g(), {x, 0}, more, 2, s());
  ExpectOk();
  int64_t known[2];
  TF_GraphGetTensorShape(g(), {x, 0}, known, 2, s());
  EXPECT_THAT(known, ElementsAre(2, 3));
  TF_GraphSetTensorShape(g(), {x, 0}, other, 2, s());
  EXPECT_EQ(
      "Dimension 0 in both shapes must be equal, but are 2 and 4. Shapes are [2,3] and "
      "[4,?].",
      message());
  TF_GraphSetTensorShape(g(), {x, 0}, other, 1, s());
  EXPECT_EQ("Shapes must be equal rank, but are 2 and 1", message());
  TF_GraphGetTensorShape(g(), {x, 0}, known, 1, s());
  EXPECT_EQ("Expected rank is 1 but actual rank is 2", message());
  // Later operations see what was merged.
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  TF_GraphGetTensorShape(g(), {neg, 0}, known, 2, s());
  EXPECT_THAT(known, ElementsAre(2, 3));
}

TEST_F(Build, UnknownRankIsMinusOne) {
  TF_Operation* x = Placeholder("x");
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(g(), {x, 0}, s()));
  ExpectOk();
  TF_GraphGetTensorShape(g(), {x, 0}, nullptr, -1, s());
  ExpectOk();
}

TEST_F(Build, OpDefsAreFoundByName) {
  const testing::BufferPtr buffer(TF_NewBuffer());
  TF_GraphGetOpDef(g(), "Neg", buffer.get(), s());
  ExpectOk();
  TF_GraphGetOpDef(g(), "Neg", buffer.get(), s());
  EXPECT_EQ("Passing non-empty TF_Buffer is invalid.", message());
  TF_GraphGetOpDef(g(), "NoSuchOp", testing::BufferPtr(TF_NewBuffer()).get(), s());
  EXPECT_EQ(TF_NOT_FOUND, code());
}

// --- Callers that make mistakes get a status.

TEST_F(Build, NullPointersAreErrors) {
  EXPECT_EQ(nullptr, TF_NewOperation(nullptr, "NoOp", "n"));
  Refuse(nullptr);
  EXPECT_EQ("argument 'desc' is NULL", message());
  Refuse(New(nullptr, "n"));
  Refuse(New("NoOp", nullptr));
  TF_OperationDescription* desc = New("Neg", "n");
  TF_AddInput(desc, {nullptr, 0});
  Refuse(desc);
  EXPECT_EQ("Attempt to add nullptr Node to node with type Neg", message());
  desc = New("NoOp", "n");
  TF_AddControlInput(desc, nullptr);
  Refuse(desc);
  desc = New("NoOp", "n");
  TF_ColocateWith(desc, nullptr);
  Refuse(desc);
  desc = New("AddN", "n");
  TF_AddInputList(desc, nullptr, 2);
  Refuse(desc);
  desc = New("NoOp", "n");
  TF_SetAttrInt(desc, nullptr, 1);
  Refuse(desc);
  desc = New("NoOp", "n");
  TF_SetAttrIntList(desc, "l", nullptr, 3);
  Refuse(desc);
  desc = New("NoOp", "n");
  TF_SetAttrTensor(desc, "l", nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  Finish(desc);
  EXPECT_EQ(nullptr, TF_OperationName(nullptr));
  EXPECT_EQ(0, TF_OperationNumInputs(nullptr));
  EXPECT_EQ(nullptr, TF_OperationInput({nullptr, 0}).oper);
  EXPECT_EQ(nullptr, TF_GraphOperationByName(g(), nullptr));
  TF_GraphToGraphDef(nullptr, nullptr, s());
  EXPECT_EQ("argument 'graph' is NULL", message());
  TF_SetDevice(nullptr, "/cpu:0");
  TF_AddInput(nullptr, {nullptr, 0});
  TF_DeleteGraph(nullptr);
  TF_Graph* const twice = TF_NewGraph();
  TF_DeleteGraph(twice);
  TF_DeleteGraph(twice);  // is told, and does no harm
}

TEST_F(Build, OperationsOfAnotherGraphAreErrors) {
  const testing::GraphPtr other(TF_NewGraph());
  TF_OperationDescription* desc = TF_NewOperation(other.get(), "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_Operation* x = TF_FinishOperation(desc, s());
  desc = New("Neg", "n");
  TF_AddInput(desc, {x, 0});
  Refuse(desc);
  desc = New("NoOp", "n");
  TF_AddControlInput(desc, x);
  Refuse(desc);
  TF_GraphGetTensorNumDims(g(), {x, 0}, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(Build, IndexesThatThereAreNotAreErrors) {
  TF_Operation* x = Placeholder("x");
  EXPECT_EQ(0, TF_OperationOutputType({x, 1}));
  EXPECT_EQ(0, TF_OperationOutputType({x, -1}));
  EXPECT_EQ(0, TF_OperationInputType({x, 0}));
  EXPECT_EQ(nullptr, TF_OperationInput({x, 0}).oper);
  EXPECT_EQ(0, TF_OperationOutputNumConsumers({x, 5}));
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(g(), {x, 1}, s()));
  EXPECT_NE(TF_OK, code());
  EXPECT_EQ(-1, TF_OperationInputListLength(x, "no", s()));
  EXPECT_EQ("Input arg 'no' not found", message());
}

TEST_F(Build, TypesThatDoNotExistAreErrors) {
  for (const int type : {0, 77, 101, -1}) {
    TF_OperationDescription* desc = New("Placeholder", "x");
    TF_SetAttrType(desc, "dtype", static_cast<TF_DataType>(type));
    Refuse(desc);
  }
  const int64_t huge[] = {INT64_MAX, INT64_MAX};
  TF_OperationDescription* desc = New("Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", huge, 2);
  Refuse(desc);
}

// As in TensorFlow; what a program hands over as an AttrValue is refused.
TEST_F(Build, SizesBelowMinusOneAreUnknown) {
  const int64_t dims[] = {3, -2, INT64_MIN};
  const std::vector<int64_t> wanted = {3, -1, -1};
  const std::string proto("\x12\x0b\x08\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);  // [-5]
  for (const bool as_proto : {false, true}) {
    TF_OperationDescription* desc = New("Placeholder", as_proto ? "p" : "x");
    TF_SetAttrType(desc, "dtype", TF_FLOAT);
    if (as_proto) {
      TF_SetAttrTensorShapeProto(desc, "shape", proto.data(), proto.size(), s());
      ExpectOk();
    } else {
      TF_SetAttrShape(desc, "shape", dims, 3);
    }
    TF_Operation* x = Finish(desc);
    std::vector<int64_t> shape(as_proto ? 1 : 3);
    TF_GraphGetTensorShape(g(), {x, 0}, shape.data(), static_cast<int>(shape.size()), s());
    EXPECT_EQ(as_proto ? std::vector<int64_t>{-1} : wanted, shape);
  }
  const std::string value = "\x3a\x0d" + proto;
  TF_OperationDescription* desc = New("Placeholder", "v");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrValueProto(desc, "shape", value.data(), value.size(), s());
  ExpectOk();
  Refuse(desc);
}

}  // namespace
}  // namespace tenon
