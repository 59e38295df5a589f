// Graphs that TF_SetAttr and TF_UpdateEdge left wrong: what uses them says so, as in TensorFlow.
#include <string>
#include <vector>

#include "proto/node_def.pb.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IntsOf;
using testing::IntTensor;
using testing::SessionRunner;

class Edits : public testing::GraphFixture {
 protected:
  void Set(TF_Operation* op, const char* name, const pb::AttrValue& value) {
    TF_SetAttr(g(), op, name, testing::BufferOf(value.SerializeAsString()).get(), s());
    ExpectOk();
  }
  void SetInt(TF_Operation* op, const char* name, int64_t value) {
    pb::AttrValue attr;
    attr.set_i(value);
    Set(op, name, attr);
  }
  void SetType(TF_Operation* op, const char* name, pb::DataType type) {
    pb::AttrValue attr;
    attr.set_type(type);
    Set(op, name, attr);
  }
  // Three outputs of two elements each.
  TF_Operation* Split(const char* name) {
    TF_OperationDescription* desc = New("Split", name);
    TF_AddInput(desc, {ScalarConst((std::string(name) + "_axis").c_str(), 0), 0});
    TF_AddInput(desc, {Numbers((std::string(name) + "_c").c_str()), 0});
    TF_SetAttrInt(desc, "num_split", 3);
    return Finish(desc);
  }
  TF_Operation* Numbers(const char* name) {
    return Const(name, IntTensor({6}, {0, 1, 2, 3, 4, 5}).get());
  }
  // Whatever reads the graph refuses it, with this text.
  void ExpectRefused(TF_Output output, const std::string& text) {
    SessionRunner session(g());
    session.Run({}, {output}, {}, TF_INVALID_ARGUMENT);
    EXPECT_THAT(session.message(), HasSubstr(text));
    TF_Tensor* value = nullptr;
    EXPECT_FALSE(TF_TryEvaluateConstant(g(), output, &value, s()));
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
    EXPECT_THAT(message(), HasSubstr(text));
    TF_Output y = output, dy = {};
    TF_AddGradients(g(), &y, 1, &y, 1, nullptr, s(), &dy);
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
    EXPECT_EQ(nullptr, TF_GraphToFunction(g(), "f", 0, -1, nullptr, 0, nullptr, 1, &output, nullptr,
                                          nullptr, nullptr, s()));
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  }
};

TEST_F(Edits, AnOutputThatIsReadGoes) {
  TF_Operation* split = Split("split");
  TF_Operation* x = Unary("Neg", "x", {split, 2});
  SetInt(split, "num_split", 2);
  ExpectRefused({x, 0}, "is output 2 of node 'split' (Split), which has 2 outputs");
}

TEST_F(Edits, ATypeNoLongerFits) {
  TF_Operation* c = Numbers("c");
  TF_Operation* y = Unary("Neg", "y", {c, 0});
  TF_Operation* x = Unary("Neg", "x", {y, 0});
  SetType(y, "T", pb::DT_INT64);
  ExpectRefused({x, 0}, "node 'y' (Neg): input 0 ('c') has type DT_INT32 where DT_INT64 is expected");
  SetType(y, "T", pb::DT_INT32);
  SetType(c, "dtype", pb::DT_INT64);
  ExpectRefused({x, 0}, "node 'c' (Const)");
}

TEST_F(Edits, InputsAreTooFewOrTooMany) {
  TF_Operation* c = Numbers("c");
  TF_Operation* sum = AddN("sum", {{c, 0}, {c, 0}});
  SetInt(sum, "N", 9);
  ExpectRefused({sum, 0}, "has 2 inputs where the op takes 9");
  SetInt(sum, "N", 1);
  ExpectRefused({sum, 0}, "has 2 inputs where the op takes 1");
  SetInt(sum, "N", 2);
  SessionRunner session(g());
  EXPECT_THAT(IntsOf(session.Run({}, {{sum, 0}})[0].get()), ElementsAre(0, 2, 4, 6, 8, 10));
}

// A session keeps a node as it was when it ran. What is added since fits the node as it is now.
TEST_F(Edits, ASessionHasAnOlderNode) {
  TF_Operation* split = Split("split");
  TF_Operation* x = Unary("Neg", "x", {split, 2});
  SessionRunner session(g());
  EXPECT_THAT(IntsOf(session.Run({}, {{x, 0}})[0].get()), ElementsAre(-4, -5));
  SetInt(split, "num_split", 6);
  TF_Operation* z = Unary("Neg", "z", {split, 5});
  session.Run({}, {{z, 0}}, {}, TF_INVALID_ARGUMENT);
  EXPECT_THAT(session.message(), HasSubstr("node 'z' (Neg): input 0 is output 5 of node 'split'"));
  EXPECT_THAT(IntsOf(session.Run({}, {{x, 0}})[0].get()), ElementsAre(-4, -5));
  SessionRunner later(g());
  EXPECT_THAT(IntsOf(later.Run({}, {{z, 0}})[0].get()), ElementsAre(-5));
}

// In between the graph is wrong, which is nobody's business.
TEST_F(Edits, ATypeChangesStepByStep) {
  TF_Operation* y = Unary("Neg", "y", {Numbers("c"), 0});
  const std::vector<int64_t> dims = {6};
  TF_Operation* wide = Placeholder("wide", TF_INT64, &dims);
  SetType(y, "T", pb::DT_INT64);
  TF_UpdateEdge(g(), {wide, 0}, {y, 0}, s());
  ExpectOk();
  TF_Operation* z = Unary("Neg", "z", {y, 0});
  EXPECT_EQ(TF_INT64, TF_OperationOutputType({z, 0}));
  TF_Function* f = TF_GraphToFunction(g(), "f", 0, -1, nullptr, 0, nullptr, 0, nullptr, nullptr,
                                      nullptr, nullptr, s());
  ExpectOk();
  TF_DeleteFunction(f);
}

}  // namespace
}  // namespace tenon
