// Numbers of elements that no array of a program has: each is refused before an element is read.
#include <climits>
#include <cstdint>
#include <vector>

#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

class CLengths : public testing::GraphFixture {
 protected:
  void SetUp() override { x_ = {Placeholder("x", TF_FLOAT), 0}; }
  void ExpectTooLong() {
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
    EXPECT_THAT(message(), HasSubstr("cannot have 2147483647 elements"));
    TF_SetStatus(s(), TF_OK, "");
  }
  // Whether an operation with such an attribute is refused for it.
  void ExpectRefused(TF_OperationDescription* desc, const char* why) {
    EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
    EXPECT_THAT(message(), HasSubstr(why));
    TF_SetStatus(s(), TF_OK, "");
  }

  TF_Output x_;
};

TEST_F(CLengths, OfLoopsAndGradients) {
  TF_NewWhile(g(), &x_, INT_MAX, s());
  ExpectTooLong();
  TF_Output dy = {nullptr, 7};
  TF_AddGradients(g(), &x_, INT_MAX, &x_, 1, nullptr, s(), &dy);
  ExpectTooLong();
  TF_AddGradients(g(), &x_, 1, &x_, INT_MAX, nullptr, s(), &dy);
  ExpectTooLong();
  EXPECT_EQ(7, dy.index);
  EXPECT_THAT(Names(), ::testing::ElementsAre("x"));
}

TEST_F(CLengths, OfRuns) {
  testing::SessionRunner session(g());
  const testing::TensorPtr one = testing::FloatTensor({}, {1});
  TF_Tensor* value = one.get();
  TF_Tensor* result = value;
  const TF_Operation* target = x_.oper;
  TF_SessionRun(session.get(), nullptr, &x_, &value, 1, &x_, &result, INT_MAX, nullptr, 0, nullptr,
                s());
  ExpectTooLong();
  EXPECT_EQ(value, result);
  TF_SessionRun(session.get(), nullptr, &x_, &value, INT_MAX, nullptr, nullptr, 0, nullptr, 0,
                nullptr, s());
  ExpectTooLong();
  TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, &target, INT_MAX,
                nullptr, s());
  ExpectTooLong();
  const char* handle = nullptr;
  TF_SessionPRunSetup(session.get(), &x_, INT_MAX, nullptr, 0, nullptr, 0, &handle, s());
  ExpectTooLong();
  EXPECT_EQ(nullptr, handle);
}

TEST_F(CLengths, OfAttributes) {
  const int64_t number = 1;
  TF_OperationDescription* desc = New("NoOp", "a");
  TF_SetAttrIntList(desc, "_v", &number, INT_MAX);
  ExpectRefused(desc, "'_v' is no array of 2147483647");
  desc = New("NoOp", "a");
  TF_SetAttrString(desc, "_v", "v", SIZE_MAX);
  ExpectRefused(desc, "'_v' is no text of");
  const std::vector<int64_t> dims(255, 1);
  desc = New("NoOp", "a");
  TF_SetAttrShape(desc, "_v", dims.data(), 255);
  ExpectRefused(desc, "'_v' cannot have 255 dimensions");
  desc = New("NoOp", "a");
  TF_SetAttrValueProto(desc, "_v", "v", SIZE_MAX, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_THAT(message(), HasSubstr("'proto' cannot have 18446744073709551615 bytes"));
  TF_SetAttrShape(desc, "_v", dims.data(), 254);
  EXPECT_NE(nullptr, Finish(desc));
  desc = New("AddN", "b");
  TF_AddInputList(desc, &x_, INT_MAX);
  ExpectRefused(desc, "no array of 2147483647");
}

TEST_F(CLengths, OfListsThatAreMade) {
  EXPECT_EQ(nullptr, TF_NewShapeAndTypeList(INT_MAX));
  EXPECT_EQ(nullptr, TF_NewShapeAndTypeList(-1));
  TFE_MonitoringDeleteBuckets(TFE_MonitoringNewExponentialBuckets(1, 2, INT_MAX));
}

// Room for more than there is, however much, is no mistake.
TEST_F(CLengths, RoomMayBeLargerThanWhatThereIs) {
  TF_Function* function = nullptr;
  EXPECT_EQ(0, TF_GraphGetFunctions(g(), &function, INT_MAX, s()));
  ExpectOk();
  TF_Operation* const neg = Unary("Neg", "neg", x_);
  TF_Input consumer;
  EXPECT_EQ(1, TF_OperationOutputConsumers(x_, &consumer, INT_MAX));
  EXPECT_EQ(neg, consumer.oper);
  TF_OperationDescription* const desc = New("NoOp", "a");
  const int64_t numbers[] = {5, 6};
  TF_SetAttrIntList(desc, "_v", numbers, 2);
  TF_Operation* const noop = Finish(desc);
  int64_t read[2] = {};
  TF_OperationGetAttrIntList(noop, "_v", read, INT_MAX, s());
  ExpectOk();
  EXPECT_EQ(6, read[1]);
}

}  // namespace
}  // namespace tenon
