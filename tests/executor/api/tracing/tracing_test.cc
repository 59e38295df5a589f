// The unified API: the same calls execute ops, or trace them into a function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/c/eager/c_api_unified_experimental.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::tracing {
namespace {

using eager::CheckedStatus;
using eager::Values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename T, void (*kDelete)(T*)>
struct Deleter {
  void operator()(T* object) const { kDelete(object); }
};
template <typename T, void (*kDelete)(T*)>
using Owned = std::unique_ptr<T, Deleter<T, kDelete>>;
using Context = Owned<TF_ExecutionContext, TF_DeleteExecutionContext>;
using AbstractTensor = Owned<TF_AbstractTensor, TF_DeleteAbstractTensor>;
using AbstractOp = Owned<TF_AbstractOp, TF_DeleteAbstractOp>;
using Function = Owned<TF_AbstractFunction, TF_DeleteAbstractFunction>;
using OutputList = Owned<TF_OutputList, TF_DeleteOutputList>;

class TracingTest : public ::testing::Test {
 protected:
  TracingTest() {
    TFE_ContextOptions* const options = TFE_NewContextOptions();
    eager_.reset(TF_NewEagerExecutionContext(options, status_));
    TFE_DeleteContextOptions(options);
    EXPECT_EQ(status_.text(), "OK");
  }
  AbstractTensor Scalar(float value) {
    return AbstractTensor(
        TF_CreateAbstractTensorFromEagerTensor(eager::Of<float>({}, {value}).release(), status_));
  }
  AbstractOp NewOp(TF_ExecutionContext* context, const char* type) {
    AbstractOp op(TF_NewAbstractOp(context));
    TF_AbstractOpSetOpType(op.get(), type, status_);
    EXPECT_EQ(status_.text(), "OK");
    return op;
  }
  // The only result.
  AbstractTensor Execute(TF_AbstractOp* op, std::vector<TF_AbstractTensor*> inputs) {
    const OutputList list(TF_NewOutputList());
    TF_OutputListSetNumOutputs(list.get(), 1, status_);
    TF_ExecuteOperation(op, static_cast<int>(inputs.size()), inputs.data(), list.get(), status_);
    if (status_.code() != TF_OK) return nullptr;
    EXPECT_EQ(TF_OutputListNumOutputs(list.get()), 1);
    return AbstractTensor(TF_OutputListGet(list.get(), 0));
  }
  float ValueOf(const AbstractTensor& tensor) {
    return Values<float>(TF_AbstractTensorGetEagerTensor(tensor.get(), status_)).at(0);
  }
  CheckedStatus status_;
  Context eager_;
};

TEST_F(TracingTest, AnEagerContextExecutesOps) {
  const AbstractTensor two = Scalar(2), three = Scalar(3);
  const AbstractOp op = NewOp(eager_.get(), "Mul");
  for (int round = 0; round < 2; ++round)
    EXPECT_EQ(ValueOf(Execute(op.get(), {two.get(), three.get()})), 6);
  TF_AbstractOpSetOpName(op.get(), "name", status_);
  EXPECT_EQ(status_.text(), "3 TF_AbstractOpSetOpName must be called on a TracingOperation.");
  EXPECT_EQ(TF_AddFunctionParameter(eager_.get(), TF_FLOAT, {-1, nullptr}, status_), nullptr);
  EXPECT_EQ(status_.text(), "3 TF_AddFunctionParameter must be called on a TracingContext.");
  const OutputList none(TF_NewOutputList());
  EXPECT_EQ(TF_FinalizeFunction(eager_.get(), none.get(), status_), nullptr);
  EXPECT_EQ(status_.text(), "3 Only TracingContext can be converted into a function.");
  EXPECT_EQ(TF_FinalizeFunction(eager_.get(), nullptr, status_), nullptr);
  EXPECT_EQ(status_.text(), "3 Only TracingContext can be converted into a function.");
}

TEST_F(TracingTest, AnOpThatHasFailedIsExecutedAgain) {
  const AbstractTensor two = Scalar(2);
  const AbstractOp op = NewOp(eager_.get(), "Neg");
  TF_AbstractOpSetAttrType(op.get(), "T", TF_FLOAT, status_);
  TF_AbstractTensor* const inputs[] = {two.get()};
  const OutputList no_room(TF_NewOutputList());
  TF_ExecuteOperation(op.get(), 1, inputs, no_room.get(), status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  TF_ExecuteOperation(op.get(), 1, inputs, no_room.get(), nullptr);
  EXPECT_EQ(TF_OutputListNumOutputs(no_room.get()), 0);
  EXPECT_EQ(ValueOf(Execute(op.get(), {two.get()})), -2);
  EXPECT_EQ(status_.text(), "OK");
}

// y = (x + x) * x, by a name that is used twice.
TEST_F(TracingTest, ATraceBecomesAFunction) {
  TF_ExecutionContext* const trace = TF_CreateFunction("double_times", status_);
  ASSERT_EQ(status_.text(), "OK");
  const AbstractTensor x(TF_AddFunctionParameter(trace, TF_FLOAT, {-1, nullptr}, status_));
  ASSERT_EQ(status_.text(), "OK");
  const AbstractOp add = NewOp(trace, "AddV2"), mul = NewOp(trace, "Mul");
  for (TF_AbstractOp* const op : {add.get(), mul.get()}) {
    TF_AbstractOpSetOpName(op, "step", status_);
    EXPECT_EQ(status_.text(), "OK");
  }
  TF_AbstractOpSetAttrType(add.get(), "T", TF_FLOAT, status_);
  EXPECT_EQ(status_.text(), "OK");
  const AbstractTensor sum = Execute(add.get(), {x.get(), x.get()});
  const AbstractTensor product = Execute(mul.get(), {sum.get(), x.get()});
  ASSERT_EQ(status_.text(), "OK");
  const OutputList results(TF_NewOutputList());
  TF_OutputListPushBack(results.get(), product.get(), status_);
  const Function function(TF_FinalizeFunction(trace, results.get(), status_));
  ASSERT_EQ(status_.text(), "OK");

  TF_ExecutionContextRegisterFunction(eager_.get(), function.get(), status_);
  EXPECT_EQ(status_.text(), "OK");
  EXPECT_EQ(TFE_ContextHasFunction(TF_ExecutionContextGetTFEContext(eager_.get(), status_),
                                   "double_times"),
            1);
  const AbstractOp call = NewOp(eager_.get(), "double_times");
  EXPECT_EQ(ValueOf(Execute(call.get(), {Scalar(3).get()})), 18);

  // A function that calls it.
  TF_ExecutionContext* const outer = TF_CreateFunction("outer", status_);
  TF_ExecutionContextRegisterFunction(outer, function.get(), status_);
  EXPECT_EQ(status_.text(), "OK");
  const AbstractTensor y(TF_AddFunctionParameter(outer, TF_FLOAT, {0, nullptr}, status_));
  const AbstractTensor z = Execute(NewOp(outer, "double_times").get(), {y.get()});
  ASSERT_EQ(status_.text(), "OK");
  const OutputList outer_results(TF_NewOutputList());
  TF_OutputListPushBack(outer_results.get(), z.get(), status_);
  const Function outer_function(TF_FinalizeFunction(outer, outer_results.get(), status_));
  TF_ExecutionContextRegisterFunction(eager_.get(), outer_function.get(), status_);
  EXPECT_EQ(status_.text(), "OK");
  EXPECT_EQ(ValueOf(Execute(NewOp(eager_.get(), "outer").get(), {Scalar(2).get()})), 8);
}

TEST_F(TracingTest, ErrorsOfATrace) {
  const Context trace(TF_CreateFunction("f", status_));
  const AbstractTensor x(TF_AddFunctionParameter(trace.get(), TF_FLOAT, {-1, nullptr}, status_));
  const AbstractOp op(TF_NewAbstractOp(trace.get()));
  TF_AbstractOpSetOpName(op.get(), "name", status_);
  EXPECT_EQ(status_.text(), "9 GraphOperation::Reset must be called before calling SetOpName.");
  TF_AbstractOpSetAttrType(op.get(), "T", TF_FLOAT, status_);
  EXPECT_EQ(status_.text(), "9 op_type and op_name must be specified before specifying attrs.");
  EXPECT_EQ(Execute(op.get(), {x.get()}), nullptr);
  EXPECT_EQ(status_.code(), TF_FAILED_PRECONDITION);
  TF_AbstractOpSetOpType(op.get(), "Neg", status_);
  const AbstractOp named = NewOp(trace.get(), "Neg");
  TF_AbstractOpSetOpName(named.get(), "first", status_);
  EXPECT_EQ(status_.text(), "OK");
  TF_AbstractOpSetOpName(named.get(), "second", status_);
  EXPECT_EQ(status_.text(), "9 SetOpName called on already built op.");
  EXPECT_EQ(Execute(op.get(), {Scalar(1).get()}), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(Execute(op.get(), {x.get(), x.get()}), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  const AbstractOp unknown = NewOp(trace.get(), "NoSuchOp");
  EXPECT_EQ(Execute(unknown.get(), {x.get()}), nullptr);
  EXPECT_NE(status_.code(), TF_OK);
  EXPECT_EQ(TF_AbstractTensorGetEagerTensor(x.get(), status_), nullptr);
  EXPECT_EQ(status_.text(), "3 Not an eager tensor handle.");
  EXPECT_EQ(TF_ExecutionContextGetTFEContext(trace.get(), status_), nullptr);
  EXPECT_EQ(status_.text(), "3 Not an eager context.");
  EXPECT_EQ(TF_AddFunctionParameter(trace.get(), TF_FLOAT, {-2, nullptr}, status_), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  const Context other(TF_CreateFunction("g", status_));
  EXPECT_EQ(Execute(NewOp(other.get(), "Neg").get(), {x.get()}), nullptr);
  EXPECT_EQ(status_.text(), "3 the tensor is of another function");
}

TEST_F(TracingTest, Implementations) {
  TF_SetTracingImplementation("graphdef", status_);
  EXPECT_EQ(status_.text(), "OK");
  TF_SetTracingImplementation("foo", status_);
  EXPECT_THAT(status_.text(),
              StartsWith("3 No tracing engine factory has been registered with the key 'foo'"));
  TF_SetTracingImplementation("mlir", status_);
  EXPECT_EQ(status_.code(), TF_UNIMPLEMENTED);
}

TEST_F(TracingTest, ListsHaveALength) {
  TF_OutputList* const outputs = TF_NewOutputList();
  for (const int wrong : {-1, INT_MAX}) {
    TF_OutputListSetNumOutputs(outputs, wrong, status_);
    EXPECT_EQ(status_.text(), absl::StrCat("3 a list cannot have ", wrong, " outputs"));
    EXPECT_EQ(TF_OutputListNumOutputs(outputs), 0);
  }
  TF_OutputListSetNumOutputs(outputs, 3, status_);
  EXPECT_EQ(status_.text(), "OK");
  EXPECT_EQ(TF_OutputListNumOutputs(outputs), 3);
  TF_AbstractOp* const op = TF_NewAbstractOp(eager_.get());
  TF_ExecuteOperation(op, INT_MAX, nullptr, outputs, status_);
  EXPECT_EQ(status_.text(), "3 an op cannot have 2147483647 inputs");
  TF_DeleteAbstractOp(op);
  TF_DeleteOutputList(outputs);
}

TEST_F(TracingTest, NullArguments) {
  TF_SetTracingImplementation(nullptr, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_CreateFunction(nullptr, status_), nullptr);
  EXPECT_EQ(TF_NewEagerExecutionContext(nullptr, status_), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_NewAbstractOp(nullptr), nullptr);
  TF_DeleteExecutionContext(nullptr);
  TF_DeleteAbstractOp(nullptr);
  TF_DeleteAbstractTensor(nullptr);
  TF_DeleteAbstractFunction(nullptr);
  TF_DeleteOutputList(nullptr);
  TF_AbstractOpSetOpType(nullptr, "Neg", status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  const OutputList list(TF_NewOutputList());
  TF_OutputListSetNumOutputs(list.get(), -1, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  TF_OutputListPushBack(list.get(), nullptr, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_OutputListGet(list.get(), 0), nullptr);
  EXPECT_EQ(TF_OutputListNumOutputs(nullptr), 0);
  const AbstractOp op = NewOp(eager_.get(), "Neg");
  TF_AbstractTensor* inputs[] = {nullptr};
  TF_ExecuteOperation(op.get(), 1, inputs, list.get(), status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  TF_ExecuteOperation(op.get(), 1, nullptr, list.get(), status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_FinalizeFunction(nullptr, list.get(), status_), nullptr);
  EXPECT_EQ(TF_CreateAbstractTensorFromEagerTensor(nullptr, status_), nullptr);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
}

// The type of an op that is traced may change until the op has a name.
TEST_F(TracingTest, TypesBeforeNames) {
  const Context trace(TF_CreateFunction("f", status_));
  const AbstractOp op(TF_NewAbstractOp(trace.get()));
  for (const char* const type : {"Add", "Mul", "Mul"}) {
    TF_AbstractOpSetOpType(op.get(), type, status_);
    EXPECT_EQ(status_.text(), "OK");
  }
  TF_AbstractOpSetOpName(op.get(), "product", status_);
  EXPECT_EQ(status_.text(), "OK");
  TF_AbstractOpSetOpType(op.get(), "Add", status_);
  EXPECT_EQ(status_.text(), "9 Reset called on already built op.");
}

}  // namespace
}  // namespace tenon::tracing
