// Attributes that ops take from their inputs, as TensorFlow's eager tests ask for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/attr_value.pb.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;

// The attributes of the op as bytes say them.
pb::NameAttrList AttrsOf(const Op& op) {
  CheckedStatus status;
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_OpAttrsSerialize(TFE_OpGetAttrs(op.get()), buffer, status);
  EXPECT_EQ(status.text(), "OK");
  pb::NameAttrList list;
  EXPECT_TRUE(list.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
  TF_DeleteBuffer(buffer);
  return list;
}

class EagerInferenceTest : public ::testing::Test {
 protected:
  void AddList(const Op& op, std::vector<TFE_TensorHandle*> inputs) {
    TFE_OpAddInputList(op.get(), inputs.data(), static_cast<int>(inputs.size()), status_);
    EXPECT_EQ(status_.text(), "OK");
  }
  CheckedStatus status_;
  const ContextPointer context_ = NewContext();
  TFE_Context* const ctx_ = context_.get();
  const Handle floats_ = Of<float>({2, 2}, {1, 2, 3, 4}), axis_ = Of<int32_t>({1}, {1});
};

TEST_F(EagerInferenceTest, TypesOfSingleInputs) {
  const Op op = NewOp(ctx_, "Min", {floats_.get(), axis_.get()});
  EXPECT_EQ(AttrsOf(op).attr().at("T").type(), pb::DT_FLOAT);
  EXPECT_EQ(AttrsOf(op).attr().at("Tidx").type(), pb::DT_INT32);
  const std::vector<Handle> result = Execute(op.get(), 1);
  EXPECT_THAT(Values<float>(result[0].get()), ElementsAre(1, 3));
}

TEST_F(EagerInferenceTest, LengthAndTypeOfAList) {
  const Op op = NewOp(ctx_, "Concat", {});
  const Handle dim = Of<int32_t>({}, {0});
  TFE_OpAddInput(op.get(), dim.get(), status_);
  AddList(op, {floats_.get(), floats_.get()});
  EXPECT_EQ(AttrsOf(op).attr().at("N").i(), 2);
  EXPECT_EQ(AttrsOf(op).attr().at("T").type(), pb::DT_FLOAT);
  EXPECT_THAT(DimsOf(Execute(op.get(), 1)[0].get()), ElementsAre(4, 2));
}

TEST_F(EagerInferenceTest, TypesOfAMixedList) {
  const Op op = NewOp(ctx_, "Assert", {});
  const uint8_t truth = 1;
  const Handle condition = NewHandle(TF_BOOL, {}, &truth, 1);
  TFE_OpAddInput(op.get(), condition.get(), status_);
  AddList(op, {condition.get(), floats_.get(), axis_.get()});
  EXPECT_THAT(AttrsOf(op).attr().at("T").list().type(),
              ElementsAre(pb::DT_BOOL, pb::DT_FLOAT, pb::DT_INT32));
  EXPECT_TRUE(Execute(op.get(), 0).empty());
}

// The end of a list that is added one by one cannot be seen: nothing is inferred from there on.
TEST_F(EagerInferenceTest, NothingFollowsAListThatIsAddedOneByOne) {
  const Op op = NewOp(ctx_, "Assert", {});
  const uint8_t truth = 1;
  const Handle condition = NewHandle(TF_BOOL, {}, &truth, 1);
  TFE_OpAddInput(op.get(), condition.get(), status_);
  TFE_OpAddInput(op.get(), condition.get(), status_);
  TFE_OpAddInput(op.get(), floats_.get(), status_);
  EXPECT_FALSE(AttrsOf(op).attr().contains("T"));
  const TF_DataType types[] = {TF_BOOL, TF_FLOAT};
  TFE_OpSetAttrTypeList(op.get(), "T", types, 2);
  EXPECT_TRUE(Execute(op.get(), 0).empty());
}

TEST_F(EagerInferenceTest, LengthsBeforeAndAfterInputs) {
  const Op op = NewOp(ctx_, "IdentityN", {});
  EXPECT_EQ(TFE_OpGetInputLength(op.get(), "input", status_), -1);
  EXPECT_EQ(status_.text(), "5 No attr named 'T' in NodeDef:");
  EXPECT_EQ(TFE_OpGetOutputLength(op.get(), "output", status_), -1);
  EXPECT_EQ(status_.text(), "5 No attr named 'T' in NodeDef:");
  EXPECT_EQ(TFE_OpGetInputLength(op.get(), "none", status_), -1);
  EXPECT_EQ(status_.text(), "5 No attr named 'T' in NodeDef:");
  AddList(op, {floats_.get(), axis_.get()});
  for (int round = 0; round < 2; ++round) {  // before and after the execution
    EXPECT_EQ(TFE_OpGetInputLength(op.get(), "input", status_), 2);
    EXPECT_EQ(TFE_OpGetOutputLength(op.get(), "output", status_), 2);
    EXPECT_EQ(status_.text(), "OK");
    if (round == 0) {
      EXPECT_EQ(Execute(op.get(), 2).size(), 2u);
    }
  }
  TFE_OpAddInputList(op.get(), nullptr, 0, status_);
  EXPECT_EQ(status_.text(), "OK");
  const Op add = NewOp(ctx_, "AddV2", {});
  TFE_TensorHandle* inputs[] = {floats_.get()};
  TFE_OpAddInputList(add.get(), inputs, 1, status_);
  EXPECT_EQ(status_.text(), "3 Invalid input list definition");
}

// Text that an attribute was set from may change afterwards.
TEST_F(EagerInferenceTest, AttributesAreCopied) {
  const Handle image = Of<float>({1, 2, 2, 1}, {1, 2, 3, 4});
  const Op op = NewOp(ctx_, "AvgPool", {image.get()});
  int64_t ones[] = {1, 2, 2, 1};
  char padding[] = "VALID", name[] = "padding";
  TFE_OpSetAttrIntList(op.get(), "ksize", ones, 4);
  TFE_OpSetAttrIntList(op.get(), "strides", ones, 4);
  TFE_OpSetAttrString(op.get(), name, padding, 5);
  padding[0] = 'x';
  name[0] = 'x';
  ones[1] = 7;
  EXPECT_THAT(Values<float>(Execute(op.get(), 1)[0].get()), ElementsAre(2.5f));
}

}  // namespace
}  // namespace tenon::eager
