// Objects of the eager and of the unified API that a program deletes twice, or uses after it has
// deleted them. Handles, ops and contexts: hostile_callers_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_unified_experimental.h"
#include "tensorflow/c/eager/dlpack.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::HasSubstr;

class CFreedEager : public ::testing::Test {
 protected:
  void ExpectDeleted() {
    EXPECT_EQ(TF_INVALID_ARGUMENT, status_.code());
    EXPECT_THAT(status_.message(), HasSubstr("was deleted"));
    TF_SetStatus(status_, TF_OK, "");
  }
  CheckedStatus status_;
};

TEST_F(CFreedEager, ContextOptions) {
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  TFE_DeleteContextOptions(options);
  TFE_DeleteContextOptions(options);
  TFE_ContextOptionsSetAsync(options, 1);
  TFE_ContextOptionsSetDevicePlacementPolicy(options, TFE_DEVICE_PLACEMENT_WARN);
  TFE_ContextOptionsSetConfig(options, "", 0, status_);
  ExpectDeleted();
  EXPECT_EQ(TFE_NewContext(options, status_), nullptr);
  ExpectDeleted();
  EXPECT_EQ(TF_NewEagerExecutionContext(options, status_), nullptr);
  ExpectDeleted();
}

TEST_F(CFreedEager, ContextWithoutAStatus) {
  TFE_Context* const context = NewContext().release();
  TFE_DeleteContext(context);
  TFE_DeleteContext(context);
  TFE_ContextClearCaches(context);
  TFE_ContextEnableRunMetadata(context);
  EXPECT_EQ(TFE_ContextGetExecutorForThread(context), nullptr);
  EXPECT_EQ(TFE_ContextHasFunction(context, "f"), 0);
  EXPECT_FALSE(TFE_IsCustomDevice(context, "d"));
}

TEST_F(CFreedEager, Executor) {
  const ContextPointer context = NewContext();
  TFE_Executor* const executor = TFE_NewExecutor(true, false, 0);
  TFE_DeleteExecutor(executor);
  TFE_DeleteExecutor(executor);
  EXPECT_FALSE(TFE_ExecutorIsAsync(executor));
  TFE_ExecutorClearError(executor);
  TFE_ContextSetExecutorForThread(context.get(), executor);
  TFE_ExecutorWaitForAllPendingNodes(executor, status_);
  ExpectDeleted();
}

TEST_F(CFreedEager, CancellationManager) {
  const ContextPointer context = NewContext();
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  TFE_DeleteCancellationManager(manager);
  TFE_DeleteCancellationManager(manager);
  TFE_CancellationManagerStartCancel(manager);
  EXPECT_FALSE(TFE_CancellationManagerIsCancelled(manager));
  EXPECT_EQ(TFE_CancellationManagerGetToken(manager), -1);
  EXPECT_FALSE(TFE_CancellationManagerDeregisterCallback(manager, 0));
  const Op op = NewOp(context.get(), "NoOp", {});
  TFE_OpSetCancellationManager(op.get(), manager, status_);
  ExpectDeleted();
}

TEST_F(CFreedEager, DebugInfo) {
  const Handle handle = Of<float>({2}, {1, 2});
  TFE_TensorDebugInfo* const info = TFE_TensorHandleTensorDebugInfo(handle.get(), status_);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceNumDims(info), 1);
  TFE_DeleteTensorDebugInfo(info);
  TFE_DeleteTensorDebugInfo(info);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceNumDims(info), -1);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceDim(info, 0), -1);
}

TEST_F(CFreedEager, TensorOfDLPack) {
  const ContextPointer context = NewContext();
  const Handle handle = Of<float>({2}, {1, 2});
  void* const lent = TFE_HandleToDLPack(handle.get(), status_);
  TFE_CallDLManagedTensorDeleter(lent);
  TFE_CallDLManagedTensorDeleter(lent);
  EXPECT_EQ(TFE_HandleFromDLPack(lent, status_, context.get()), nullptr);
  EXPECT_EQ(TF_INVALID_ARGUMENT, status_.code());
}

TEST_F(CFreedEager, MetricsAndCells) {
  TFE_MonitoringCounter1* const counter = TFE_MonitoringNewCounter1("c", status_, "", "label");
  TFE_MonitoringCounterCell* const cell = TFE_MonitoringGetCellCounter1(counter, "x");
  TFE_MonitoringCounterCellIncrementBy(cell, 2);
  EXPECT_EQ(TFE_MonitoringCounterCellValue(cell), 2);
  TFE_MonitoringDeleteCounter1(counter);
  TFE_MonitoringDeleteCounter1(counter);
  EXPECT_EQ(TFE_MonitoringGetCellCounter1(counter, "x"), nullptr);
  TFE_MonitoringCounterCellIncrementBy(cell, 2);
  EXPECT_EQ(TFE_MonitoringCounterCellValue(cell), 0);
  TFE_MonitoringBuckets* const buckets = TFE_MonitoringNewExponentialBuckets(1, 2, 3);
  TFE_MonitoringDeleteBuckets(buckets);
  TFE_MonitoringDeleteBuckets(buckets);
  EXPECT_EQ(TFE_MonitoringNewSampler0("s", buckets, status_, ""), nullptr);
  ExpectDeleted();
}

TEST_F(CFreedEager, UnifiedContextAndOp) {
  TF_ExecutionContext* const context = TF_CreateFunction("f", status_);
  TF_AbstractOp* const op = TF_NewAbstractOp(context);
  TF_DeleteExecutionContext(context);
  TF_DeleteExecutionContext(context);
  EXPECT_EQ(TF_NewAbstractOp(context), nullptr);
  EXPECT_EQ(TF_ExecutionContextGetTFEContext(context, status_), nullptr);
  ExpectDeleted();
  EXPECT_EQ(TF_FinalizeFunction(context, nullptr, status_), nullptr);
  ExpectDeleted();
  TF_AbstractOpSetOpType(op, "Neg", status_);  // the op has what it needs
  EXPECT_EQ(status_.text(), "OK");
  TF_DeleteAbstractOp(op);
  TF_DeleteAbstractOp(op);
  TF_AbstractOpSetOpType(op, "Neg", status_);
  ExpectDeleted();
}

TEST_F(CFreedEager, UnifiedFunctionIsFinalizedOnce) {
  TF_ExecutionContext* const context = TF_CreateFunction("f", status_);
  TF_OutputList* const none = TF_NewOutputList();
  TF_AbstractFunction* const function = TF_FinalizeFunction(context, none, status_);
  EXPECT_EQ(status_.text(), "OK");
  EXPECT_EQ(TF_FinalizeFunction(context, none, status_), nullptr);
  ExpectDeleted();
  TF_ExecutionContext* const nowhere = TF_CreateFunction("g", status_);
  EXPECT_EQ(TF_FinalizeFunction(nowhere, nullptr, status_), nullptr);
  EXPECT_EQ(status_.text(), "3 an argument is NULL");
  EXPECT_EQ(TF_FinalizeFunction(nowhere, none, status_), nullptr);
  ExpectDeleted();
  TF_DeleteOutputList(none);
  TF_DeleteOutputList(none);
  EXPECT_EQ(TF_OutputListNumOutputs(none), 0);
  EXPECT_EQ(TF_OutputListGet(none, 0), nullptr);
  TF_OutputListSetNumOutputs(none, 1, status_);
  ExpectDeleted();
  TF_DeleteAbstractFunction(function);
  TF_DeleteAbstractFunction(function);
}

TEST_F(CFreedEager, UnifiedTensor) {
  TF_AbstractTensor* const tensor =
      TF_CreateAbstractTensorFromEagerTensor(Of<float>({}, {1}).release(), status_);
  TF_DeleteAbstractTensor(tensor);
  TF_DeleteAbstractTensor(tensor);
  EXPECT_EQ(TF_AbstractTensorGetEagerTensor(tensor, status_), nullptr);
  ExpectDeleted();
  TF_OutputList* const list = TF_NewOutputList();
  TF_OutputListPushBack(list, tensor, status_);
  ExpectDeleted();
  TF_DeleteOutputList(list);
}

}  // namespace
}  // namespace tenon::eager
