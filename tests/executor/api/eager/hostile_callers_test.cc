// Null pointers, deleted objects and wrong arguments: a status, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HostileCallersTest, NullObjects) {
  CheckedStatus status;
  TFE_DeleteContext(nullptr);
  TFE_DeleteOp(nullptr);
  TFE_DeleteTensorHandle(nullptr);
  TFE_DeleteContextOptions(nullptr);
  TFE_DeleteTensorDebugInfo(nullptr);
  TFE_ContextClearCaches(nullptr);
  EXPECT_EQ(TFE_ContextListDevices(nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_NewContext(nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_NewTensorHandle(nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_NewOp(nullptr, "AddV2", status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_TensorHandleNumDims(nullptr, status), -1);
  EXPECT_EQ(status.text(), "3 Invalid handle");
  EXPECT_EQ(TFE_TensorHandleResolve(nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_TensorHandleDeviceName(nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  int count = 0;
  TFE_Execute(nullptr, nullptr, &count, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_OpGetName(nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

TEST(HostileCallersTest, NullArguments) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  EXPECT_EQ(TFE_NewOp(context.get(), nullptr, status), nullptr);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  const Op op = NewOp(context.get(), "AddV2", {});
  TFE_OpAddInput(op.get(), nullptr, status);
  EXPECT_EQ(status.text(), "3 Invalid handle");
  TFE_OpAddInputList(op.get(), nullptr, 2, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_TensorHandle* inputs[] = {nullptr};
  TFE_OpAddInputList(op.get(), inputs, 1, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_OpAddInputList(op.get(), inputs, -1, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_Execute(op.get(), nullptr, nullptr, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_OpSetAttrInt(op.get(), nullptr, 1);
  TFE_OpSetAttrString(op.get(), "a", nullptr, 3);
  TFE_OpSetAttrStringList(op.get(), "b", nullptr, nullptr, 3);
  TFE_OpSetAttrIntList(op.get(), "c", nullptr, -1);
  TFE_OpSetAttrTypeList(op.get(), "d", nullptr, 1);
  TFE_OpSetAttrBoolList(op.get(), "e", nullptr, 1);
  TFE_OpSetAttrFunction(op.get(), "f", nullptr);
  TFE_OpSetAttrFunctionName(op.get(), "g", nullptr, 2);
  TFE_OpSetAttrFunctionList(op.get(), "h", nullptr, 2);
  TFE_OpSetAttrTensor(op.get(), "i", nullptr, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_OpSetAttrShape(op.get(), "j", nullptr, 2, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_OpSetAttrShape(op.get(), "j", nullptr, 1000, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_OpSetAttrShapeList(op.get(), "k", nullptr, nullptr, 2, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

TEST(HostileCallersTest, DeletedHandles) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  Handle handle = Of<float>({1}, {1});
  TFE_TensorHandle* const deleted = handle.get();
  handle.reset();
  TFE_DeleteTensorHandle(deleted);  // again
  EXPECT_EQ(TFE_TensorHandleNumDims(deleted, status), -1);
  EXPECT_THAT(status.message(), HasSubstr("deleted"));
  EXPECT_EQ(TFE_TensorHandleResolve(deleted, status), nullptr);
  EXPECT_EQ(TFE_TensorHandleDataType(deleted), 0);
  const Op op = NewOp(context.get(), "Neg", {});
  TFE_OpAddInput(op.get(), deleted, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

// An op keeps its inputs, however often the caller deletes them.
TEST(HostileCallersTest, AHandleDeletedTwiceWhileAnOpUsesIt) {
  const ContextPointer context = NewContext();
  Handle handle = Of<float>({1}, {1});
  TFE_TensorHandle* const deleted = handle.get();
  const Op op = NewOp(context.get(), "Neg", {deleted});
  handle.reset();
  TFE_DeleteTensorHandle(deleted);
  EXPECT_THAT(Values<float>(Execute(op.get(), 1)[0].get()), ElementsAre(-1));
}

TEST(HostileCallersTest, DeletedOpsAndContexts) {
  CheckedStatus status;
  ContextPointer context = NewContext();
  TFE_Context* const deleted_context = context.get();
  Op op = NewOp(context.get(), "Neg", {});
  TFE_Op* const deleted_op = op.get();
  op.reset();
  TFE_DeleteOp(deleted_op);
  TFE_OpSetDevice(deleted_op, "/CPU:0", status);
  EXPECT_THAT(status.message(), HasSubstr("deleted"));

  const Op left = NewOp(context.get(), "Neg", {});
  context.reset();
  TFE_DeleteContext(deleted_context);
  EXPECT_EQ(TFE_NewOp(deleted_context, "Neg", status), nullptr);
  EXPECT_THAT(status.message(), HasSubstr("deleted"));
  int count = 0;
  TFE_Execute(left.get(), nullptr, &count, status);
  EXPECT_THAT(status.message(), HasSubstr("deleted"));
}

TEST(HostileCallersTest, HandlesOutliveTheirContext) {
  ContextPointer context = NewContext();
  const Handle x = Of<float>({1}, {1});
  const Handle y = RunOp(context.get(), "Neg", {x.get()});
  context.reset();
  EXPECT_THAT(Values<float>(y.get()), ElementsAre(-1));
  const ContextPointer other = NewContext();
  EXPECT_THAT(Values<float>(RunOp(other.get(), "Neg", {y.get()}).get()), ElementsAre(1));
}

TEST(HostileCallersTest, AnOpIsUsedAgainAfterAnError) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  const Handle two = Of<float>({2}, {1, 2}), three = Of<float>({3}, {1, 2, 3});
  const Op op = NewOp(context.get(), "AddV2", {two.get(), three.get()});
  Execute(op.get(), 1, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_OpAddInput(op.get(), two.get(), status);
  TFE_OpAddInput(op.get(), two.get(), status);
  EXPECT_THAT(Values<float>(Execute(op.get(), 1)[0].get()), ElementsAre(2, 4));
}

TEST(HostileCallersTest, Dimensions) {
  CheckedStatus status;
  const Handle x = Of<float>({1, 3}, {1, 2, 3});
  EXPECT_EQ(TFE_TensorHandleDim(x.get(), 1, status), 3);
  for (const int dim : {-1, 2, 1000}) {
    EXPECT_EQ(TFE_TensorHandleDim(x.get(), dim, status), -1);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace tenon::eager
