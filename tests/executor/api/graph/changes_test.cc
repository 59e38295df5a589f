// Changes of operations that a graph has already, values of constants, and ApiDefs.
#include "proto/api_def.pb.h"
#include "proto/op_def.pb.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IntsOf;
using testing::IntTensor;
using ::testing::IsEmpty;
using testing::SessionRunner;
using testing::TensorPtr;

class Changes : public testing::GraphFixture {};

TEST_F(Changes, AnEdgeGetsAnotherSource) {
  TF_Operation *a = ScalarConst("a", 1), *b = ScalarConst("b", 2);
  TF_Operation* neg = Unary("Neg", "neg", {a, 0});
  EXPECT_EQ(1, TF_OperationOutputNumConsumers({a, 0}));
  TF_UpdateEdge(g(), {b, 0}, {neg, 0}, s());
  ExpectOk();
  EXPECT_EQ(b, TF_OperationInput({neg, 0}).oper);
  EXPECT_EQ(0, TF_OperationOutputNumConsumers({a, 0}));
  EXPECT_EQ(1, TF_OperationOutputNumConsumers({b, 0}));
  SessionRunner session(g());
  EXPECT_THAT(IntsOf(session.Run({}, {{neg, 0}})[0].get()), ElementsAre(-2));
}

TEST_F(Changes, EdgesThatDoNotFitAreRefused) {
  TF_Operation* a = ScalarConst("a", 1);
  TF_Operation* neg = Unary("Neg", "neg", {a, 0});
  TF_UpdateEdge(g(), {a, 1}, {neg, 0}, s());
  EXPECT_EQ(TF_OUT_OF_RANGE, code());
  EXPECT_EQ("Cannot update edge. Output index [1] is greater than the number of total outputs [1].",
            message());
  TF_UpdateEdge(g(), {a, 0}, {neg, 1}, s());
  EXPECT_EQ("Cannot update edge. Input index [1] is greater than the number of total inputs [1].",
            message());
  TF_Operation* vector = Const("v", IntTensor({2}, {1, 2}).get());
  TF_UpdateEdge(g(), {vector, 0}, {neg, 0}, s());
  EXPECT_EQ("Cannot update edge, incompatible shapes: [2] and [].", message());
  TF_Operation* f = Const("f", testing::FloatTensor({}, {1}).get());
  TF_UpdateEdge(g(), {f, 0}, {neg, 0}, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_UpdateEdge(g(), {nullptr, 0}, {neg, 0}, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_UpdateEdge(g(), {a, 0}, {nullptr, 0}, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(a, TF_OperationInput({neg, 0}).oper);
}

TEST_F(Changes, ControlInputsComeAndGo) {
  TF_Operation *a = ScalarConst("a", 1), *b = ScalarConst("b", 2);
  TF_Operation* neg = Unary("Neg", "neg", {a, 0});
  TF_AddOperationControlInput(g(), neg, b);
  TF_AddOperationControlInput(g(), neg, b);
  EXPECT_EQ(1, TF_OperationNumControlInputs(neg));
  EXPECT_EQ(1, TF_OperationNumControlOutputs(b));
  TF_RemoveAllControlInputs(g(), neg);
  EXPECT_EQ(0, TF_OperationNumControlInputs(neg));
  EXPECT_EQ(0, TF_OperationNumControlOutputs(b));
  EXPECT_EQ(1, TF_OperationNumInputs(neg));
}

TEST_F(Changes, AttributesAndDevicesAreReplaced) {
  TF_Operation* a = ScalarConst("a", 1);
  pb::AttrValue value;
  value.set_i(5);
  const testing::BufferPtr buffer = testing::BufferOf(value.SerializeAsString());
  TF_SetAttr(g(), a, "_note", buffer.get(), s());
  ExpectOk();
  int64_t note = 0;
  TF_OperationGetAttrInt(a, "_note", &note, s());
  EXPECT_EQ(5, note);
  TF_ClearAttr(g(), a, "_note", s());
  ExpectOk();
  TF_OperationGetAttrInt(a, "_note", &note, s());
  EXPECT_EQ(TF_NOT_FOUND, code());
  TF_SetAttr(g(), a, "_note", testing::BufferOf("\xff").get(), s());
  EXPECT_EQ("Invalid AttrValue proto", message());
  // The types of outputs must stay known.
  TF_SetAttr(g(), a, "dtype", buffer.get(), s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(TF_INT32, TF_OperationOutputType({a, 0}));
  EXPECT_STREQ("", TF_OperationDevice(a));
  TF_SetRequestedDevice(g(), a, "/device:CPU:0");
  EXPECT_STREQ("/device:CPU:0", TF_OperationDevice(a));
}

TEST_F(Changes, FullTypesAreKept) {
  TF_Operation* a = ScalarConst("a", 1);
  pb::FullTypeDef type;
  type.set_type_id(pb::TFT_PRODUCT);
  for (const char* name : {"x", "y"}) {
    type.set_s(name);
    TF_SetFullType(g(), a, testing::BufferOf(type.SerializeAsString()).get());
    EXPECT_EQ(name, NodeDefOf(a).experimental_type().s());
  }
}

TEST_F(Changes, OpsWithoutShapeFunctionCanBeRefused) {
  TF_SetRequireShapeInferenceFns(g(), true);
  TF_Operation* a = ScalarConst("a", 1);
  EXPECT_NE(nullptr, a);
}

// A constant is what the graph says now, and not what was known before a change.
TEST_F(Changes, AreSeenByTryEvaluateConstant) {
  TF_Operation *a = ScalarConst("a", 1), *b = ScalarConst("b", 2);
  const TF_Output inputs[] = {{a, 0}};
  TF_OperationDescription* desc = New("Pack", "pack");
  TF_AddInputList(desc, inputs, 1);
  TF_Operation* pack = Finish(desc);
  const auto value = [&](TF_Operation* op) {
    TF_Tensor* result = nullptr;
    EXPECT_TRUE(TF_TryEvaluateConstant(g(), {op, 0}, &result, s())) << TF_Message(s());
    const int32_t first = result == nullptr ? -1 : *static_cast<int32_t*>(TF_TensorData(result));
    TF_DeleteTensor(result);
    return first;
  };
  EXPECT_EQ(1, value(pack));
  TF_UpdateEdge(g(), {b, 0}, {pack, 0}, s());
  ExpectOk();
  EXPECT_EQ(2, value(pack));
  pb::AttrValue seven;
  seven.mutable_tensor()->set_dtype(pb::DT_INT32);
  seven.mutable_tensor()->mutable_tensor_shape();
  seven.mutable_tensor()->add_int_val(7);
  TF_SetAttr(g(), b, "value", testing::BufferOf(seven.SerializeAsString()).get(), s());
  ExpectOk();
  EXPECT_EQ(7, value(b));
  EXPECT_EQ(7, value(pack));
  EXPECT_EQ(1, value(a));
}

TEST_F(Changes, AWhileGetsOneMoreInput) {
  TF_Operation *a = ScalarConst("a", 1), *b = ScalarConst("b", 2);
  const TF_Output inputs[] = {{a, 0}};
  TF_OperationDescription* desc = New("While", "while");
  TF_AddInputList(desc, inputs, 1);
  TF_SetAttrFuncName(desc, "cond", "c", 1);
  TF_SetAttrFuncName(desc, "body", "b", 1);
  TF_Operation* loop = Finish(desc);
  TF_AddWhileInputHack(g(), {b, 0}, loop, s());
  EXPECT_EQ(TF_OUT_OF_RANGE, code());
  pb::AttrValue types;
  types.mutable_list()->add_type(pb::DT_INT32);
  types.mutable_list()->add_type(pb::DT_INT32);
  TF_SetAttr(g(), loop, "T", testing::BufferOf(types.SerializeAsString()).get(), s());
  ExpectOk();
  TF_AddWhileInputHack(g(), {b, 0}, loop, s());
  ExpectOk();
  EXPECT_EQ(2, TF_OperationNumInputs(loop));
  EXPECT_EQ(2, TF_OperationNumOutputs(loop));
  // The new output has a shape of its own, and takes no other operation's.
  TF_Operation* c = ScalarConst("c", 3);
  const int64_t dims[] = {4, 5};
  TF_GraphSetTensorShape(g(), {loop, 1}, dims, 2, s());
  ExpectOk();
  EXPECT_EQ(2, TF_GraphGetTensorNumDims(g(), {loop, 1}, s()));
  EXPECT_EQ(0, TF_GraphGetTensorNumDims(g(), {c, 0}, s()));
  TF_AddWhileInputHack(g(), {b, 0}, a, s());
  EXPECT_EQ(TF_INTERNAL, code());
}

TEST_F(Changes, NullPointersDoNothing) {
  TF_Operation* a = ScalarConst("a", 1);
  TF_AddOperationControlInput(g(), a, nullptr);
  TF_RemoveAllControlInputs(nullptr, a);
  TF_SetRequestedDevice(g(), nullptr, "x");
  TF_SetFullType(g(), a, nullptr);
  TF_SetAttr(g(), a, "x", nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_ClearAttr(nullptr, a, "x", s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

class ConstantValues : public testing::GraphFixture {
 protected:
  // The value of the output, or an empty list if it has none.
  std::vector<int32_t> ValueOf(TF_Output output) {
    TF_Tensor* value = nullptr;
    const unsigned char found = TF_TryEvaluateConstant(g(), output, &value, s());
    ExpectOk();
    EXPECT_EQ(found != 0, value != nullptr);
    const TensorPtr owned(value);
    return IntsOf(value);
  }
};

TEST_F(ConstantValues, AreComputedWhereNothingIsFed) {
  TF_Operation *a = Const("a", IntTensor({2}, {3, 4}).get()), *x = Placeholder("x");
  TF_Operation* sum = AddN("sum", {{a, 0}, {a, 0}, {a, 0}});
  TF_Operation* neg = Unary("Neg", "neg", {sum, 0});
  EXPECT_THAT(ValueOf({a, 0}), ElementsAre(3, 4));
  EXPECT_THAT(ValueOf({neg, 0}), ElementsAre(-9, -12));
  EXPECT_THAT(ValueOf({x, 0}), IsEmpty());
  EXPECT_THAT(ValueOf({Binary("AddV2", "add", {a, 0}, {x, 0}), 0}), IsEmpty());
}

TEST_F(ConstantValues, FollowFromShapes) {
  const std::vector<int64_t> dims = {2, 3}, partial = {2, -1};
  TF_Operation *x = Placeholder("x", TF_FLOAT, &dims), *y = Placeholder("y", TF_FLOAT, &partial);
  EXPECT_THAT(ValueOf({Unary("Shape", "sx", {x, 0}), 0}), ElementsAre(2, 3));
  EXPECT_THAT(ValueOf({Unary("Rank", "ry", {y, 0}), 0}), ElementsAre(2));
  EXPECT_THAT(ValueOf({Unary("Shape", "sy", {y, 0}), 0}), IsEmpty());
}

TEST_F(ConstantValues, LargeConstantsAreReadToo) {
  TF_Operation* big = Const("big", IntTensor({3000}, std::vector<int32_t>(3000, 7)).get());
  EXPECT_EQ(3000, ValueOf({Unary("Neg", "neg", {big, 0}), 0}).size());
}

TEST_F(ConstantValues, MistakesGiveAStatus) {
  TF_Operation* a = ScalarConst("a", 1);
  TF_Tensor* value = nullptr;
  EXPECT_EQ(0, TF_TryEvaluateConstant(g(), {a, 3}, &value, s()));
  EXPECT_EQ(TF_OUT_OF_RANGE, code());
  EXPECT_EQ(0, TF_TryEvaluateConstant(nullptr, {a, 0}, &value, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(0, TF_TryEvaluateConstant(g(), {a, 0}, nullptr, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

class ApiDefs : public testing::GraphFixture {
 protected:
  ApiDefs() {
    pb::OpList ops;
    pb::OpDef& op = *ops.add_op();
    op.set_name("TestOp");
    op.set_summary("Uses `arg1`.");
    op.set_description("Of `TestOp` and `arg1`.");
    pb::OpDef::ArgDef& arg = *op.add_input_arg();
    arg.set_name("arg1");
    op.add_input_arg()->set_name("arg2");
    pb::OpDef::AttrDef& attr = *op.add_attr();
    attr.set_name("attr1");
    attr.set_type("int");
    attr.mutable_default_value()->set_i(3);
    map_ = TF_NewApiDefMap(testing::BufferOf(ops.SerializeAsString()).get(), s());
    ExpectOk();
  }
  ~ApiDefs() override { TF_DeleteApiDefMap(map_); }

  void Put(const std::string& text, TF_Code wanted = TF_OK) {
    TF_ApiDefMapPut(map_, text.data(), text.size(), s());
    EXPECT_EQ(wanted, code()) << message();
  }
  pb::ApiDef Get(const std::string& name = "TestOp") {
    const testing::BufferPtr buffer(TF_ApiDefMapGet(map_, name.data(), name.size(), s()));
    ExpectOk();
    pb::ApiDef def;
    if (buffer != nullptr) EXPECT_TRUE(def.ParseFromString(testing::BytesOf(buffer.get())));
    return def;
  }
  TF_ApiDefMap* map_;
};

TEST_F(ApiDefs, AreMadeOfOps) {
  const pb::ApiDef def = Get();
  EXPECT_EQ("TestOp", def.graph_op_name());
  EXPECT_EQ(pb::ApiDef::VISIBLE, def.visibility());
  EXPECT_EQ("TestOp", def.endpoint(0).name());
  EXPECT_THAT(def.arg_order(), ElementsAre("arg1", "arg2"));
  EXPECT_EQ(3, def.attr(0).default_value().i());
  EXPECT_EQ("", Get("NoSuchOp").graph_op_name());
}

TEST_F(ApiDefs, AreMerged) {
  Put("op: < graph_op_name: 'TestOp' endpoint: < name: 'New' > in_arg: < name: 'arg1' rename_to: "
      "'first' description: 'the `arg1`' > arg_order: 'arg2' arg_order: 'arg1' >"
      "op: < graph_op_name: 'Other' summary: 'skipped' >");
  Put("op: <\n  graph_op_name: 'TestOp'\n  summary: <<END\nTwo\nlines of `arg1`.\nEND\n"
      "  description_suffix: 'The end.'\n>\n");
  const pb::ApiDef def = Get();
  EXPECT_EQ("New", def.endpoint(0).name());
  EXPECT_EQ("first", def.in_arg(0).rename_to());
  EXPECT_EQ("the `first`", def.in_arg(0).description());
  EXPECT_THAT(def.arg_order(), ElementsAre("arg2", "arg1"));
  EXPECT_EQ("Two\nlines of `first`.", def.summary());
  EXPECT_EQ("Of `New` and `first`.\nThe end.", def.description());
}

TEST_F(ApiDefs, MistakesGiveAStatus) {
  Put("no proto", TF_INVALID_ARGUMENT);
  Put("op: < graph_op_name: 'TestOp' in_arg: < name: 'no' > >", TF_FAILED_PRECONDITION);
  EXPECT_EQ("Argument no not defined in base api for TestOp", message());
  Put("op: < graph_op_name: 'TestOp' attr: < name: 'no' > >", TF_FAILED_PRECONDITION);
  Put("op: < graph_op_name: 'TestOp' arg_order: 'arg1' >", TF_FAILED_PRECONDITION);
  Put("op: < graph_op_name: 'TestOp' arg_order: 'arg1' arg_order: 'x' >", TF_FAILED_PRECONDITION);
  EXPECT_THAT(message(), HasSubstr("All elements in arg_order override must match"));
  Get();
  Put("op: < graph_op_name: 'TestOp' >", TF_FAILED_PRECONDITION);
  Put("no proto", TF_FAILED_PRECONDITION);
  EXPECT_EQ(nullptr, TF_NewApiDefMap(testing::BufferOf("\xff").get(), s()));
  EXPECT_EQ("Unparseable OpList", message());
  EXPECT_EQ(nullptr, TF_NewApiDefMap(nullptr, s()));
  EXPECT_EQ(nullptr, TF_ApiDefMapGet(nullptr, "x", 1, s()));
  TF_ApiDefMapPut(map_, nullptr, 3, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

}  // namespace
}  // namespace tenon
