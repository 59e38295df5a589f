// Functions of a context, and ops that call them, executed through the eager C API.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "proto/config.pb.h"
#include "proto/function.pb.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string FunctionBytes(const std::string& text) {
  pb::FunctionDef function;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &function));
  return function.SerializeAsString();
}

// y = x * x, in float.
std::string Square(const std::string& name = "Squared", const std::string& op = "Mul") {
  return FunctionBytes(R"(
    signature {
      name: ')" + name +
                       R"('
      input_arg { name: 'x' type: DT_FLOAT }
      output_arg { name: 'y' type: DT_FLOAT }
    }
    node_def {
      name: 'product' op: ')" +
                       op + R"(' input: 'x' input: 'x'
      attr { key: 'T' value { type: DT_FLOAT } }
    }
    ret { key: 'y' value: 'product:z:0' })");
}

// y = function(x), in float.
std::string Caller(const std::string& name, const std::string& function) {
  return FunctionBytes("signature { name: '" + name +
                       "' input_arg { name: 'x' type: DT_FLOAT } "
                       "output_arg { name: 'y' type: DT_FLOAT } } "
                       "node_def { name: 'call' op: '" +
                       function + "' input: 'x' } ret { key: 'y' value: 'call:y:0' }");
}

class EagerFunctionsTest : public ::testing::Test {
 protected:
  std::string Add(const std::string& bytes) {
    CheckedStatus status;
    TFE_ContextAddFunctionDef(ctx_, bytes.data(), bytes.size(), status);
    return status.text();
  }
  const ContextPointer context_ = NewContext();
  TFE_Context* const ctx_ = context_.get();
  const Handle x_ = Of<float>({2}, {2, 3});
};

TEST_F(EagerFunctionsTest, AFunctionIsAnOp) {
  EXPECT_EQ(TFE_ContextHasFunction(ctx_, "Squared"), 0);
  ASSERT_EQ(Add(Square()), "OK");
  EXPECT_EQ(TFE_ContextHasFunction(ctx_, "Squared"), 1);
  for (int round = 0; round < 2; ++round)
    EXPECT_THAT(Values<float>(RunOp(ctx_, "Squared", {x_.get()}).get()), ElementsAre(4, 9));
  const Handle matrix = Of<float>({1, 1}, {5});
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Squared", {matrix.get()}).get()), ElementsAre(25));
}

// As in TensorFlow, which looks for the op of the name.
TEST_F(EagerFunctionsTest, LengthsOfArgumentsAndResultsAreThoseOfOpsAlone) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  const Op op = NewOp(ctx_, "Squared", {x_.get()});
  EXPECT_EQ(TFE_OpGetInputLength(op.get(), "x", status), -1);
  EXPECT_THAT(status.text(),
              StartsWith("5 Op type not registered 'Squared' in binary running on "));
  EXPECT_EQ(TFE_OpGetOutputLength(op.get(), "y", status), -1);
  EXPECT_THAT(status.text(),
              StartsWith("5 Op type not registered 'Squared' in binary running on "));
}

// A caller may say how a function is executed. What TensorFlow cannot read is an error.
TEST_F(EagerFunctionsTest, OptionsOfACall) {
  ASSERT_EQ(Add(Square()), "OK");
  const auto with = [](const char* attr, std::string_view value) {
    return [=](TFE_Op* op) { TFE_OpSetAttrString(op, attr, value.data(), value.size()); };
  };
  const std::string_view one_thread("(\x01");
  for (const auto& set : {with("config_proto", one_thread), with("executor_type", ""),
                          with("executor_type", "SINGLE_THREADED_EXECUTOR")}) {
    EXPECT_THAT(Values<float>(RunOp(ctx_, "Squared", {x_.get()}, set).get()), ElementsAre(4, 9));
  }
  EXPECT_EQ(ErrorOf(ctx_, "Squared", {x_.get()}, with("config_proto", "\xff\xff")),
            "3 Failed to parse config_proto attribute as tensorflow::ConfigProto proto.");
  EXPECT_EQ(ErrorOf(ctx_, "Squared", {x_.get()}, with("executor_type", "NONE")),
            "5 {{function_node Squared}} No executor factory registered for the given executor "
            "type: NONE Registered factories are {DEFAULT, , SINGLE_THREADED_EXECUTOR}.");
}

TEST_F(EagerFunctionsTest, OptionsOfAnOpThatCalls) {
  ASSERT_EQ(Add(Square()), "OK");
  const auto call = [&](std::string_view config) {
    CheckedStatus status;
    const Op op = NewOp(ctx_, "PartitionedCall", {});
    TFE_TensorHandle* inputs[] = {x_.get()};
    TFE_OpAddInputList(op.get(), inputs, 1, status);
    const TF_DataType types[] = {TF_FLOAT};
    TFE_OpSetAttrTypeList(op.get(), "Tout", types, 1);
    TFE_OpSetAttrFunctionName(op.get(), "f", "Squared", 7);
    TFE_OpSetAttrString(op.get(), "config_proto", config.data(), config.size());
    Execute(op.get(), 1, status);
    return status.text();
  };
  EXPECT_EQ(call("(\x01"), "OK");
  EXPECT_EQ(call("\xff\xff"),
            "3 Unable to parse config_proto string as tensorflow::ConfigProto proto.");
  CheckedStatus status;
  EXPECT_EQ(TFE_ContextGetFunction(ctx_, "none", status), nullptr);
  EXPECT_EQ(status.text(), "5 Unable to find Function with name: none");
}

TEST_F(EagerFunctionsTest, ArgumentsAreChecked) {
  ASSERT_EQ(Add(Square()), "OK");
  const Handle ints = Of<int32_t>({1}, {1});
  EXPECT_EQ(
      ErrorOf(ctx_, "Squared", {ints.get()}),
      "3 cannot compute Squared as input #0(zero-based) was expected to be a float tensor but "
      "is a int32 tensor");
  EXPECT_EQ(ErrorOf(ctx_, "Squared", {}),
            "3 InstantiateOptions.input_devices must have the same length as the number of "
            "arguments: input_devices length = 0 number of arguments = 1");
}

// With arguments and results that the function of a branch does not have.
TEST_F(EagerFunctionsTest, BranchesAreChecked) {
  ASSERT_EQ(Add(Square()), "OK");
  const Handle yes = Of<float>({}, {1});
  const auto call = [&](int args, const std::vector<TF_DataType>& results) {
    CheckedStatus status;
    const Op op = NewOp(ctx_, "If", {yes.get()});
    std::vector<TFE_TensorHandle*> inputs(args, x_.get());
    TFE_OpAddInputList(op.get(), inputs.data(), args, status);
    const std::vector<TF_DataType> types(args, TF_FLOAT);
    TFE_OpSetAttrTypeList(op.get(), "Tin", types.data(), args);
    TFE_OpSetAttrTypeList(op.get(), "Tout", results.data(), static_cast<int>(results.size()));
    TFE_OpSetAttrFunctionName(op.get(), "then_branch", "Squared", 7);
    TFE_OpSetAttrFunctionName(op.get(), "else_branch", "Squared", 7);
    Execute(op.get(), static_cast<int>(results.size()), status);
    return status.text();
  };
  EXPECT_EQ(call(1, {TF_FLOAT}), "OK");
  EXPECT_EQ(call(0, {TF_FLOAT}), "3 Expects 1 arguments, but 0 is provided");
  EXPECT_EQ(call(2, {TF_FLOAT}), "3 Expects 1 arguments, but 2 is provided");
  EXPECT_EQ(call(1, {TF_FLOAT, TF_FLOAT}), "13 Expect to produce 2 tensors, but only get 1");
  EXPECT_EQ(call(1, {TF_INT32}), "13 Expect 0-th output is of type int32 but get float");
}

// As in TensorFlow, a branch that does not fit is an error where it is taken.
TEST_F(EagerFunctionsTest, ABranchThatIsNotTakenNeedNotFit) {
  ASSERT_EQ(Add(Square()), "OK");
  ASSERT_EQ(Add(FunctionBytes(R"(
    signature {
      name: 'SumOfTwo'
      input_arg { name: 'x' type: DT_FLOAT }
      input_arg { name: 'y' type: DT_FLOAT }
      output_arg { name: 'z' type: DT_FLOAT }
    }
    node_def {
      name: 'sum' op: 'AddV2' input: 'x' input: 'y'
      attr { key: 'T' value { type: DT_FLOAT } }
    }
    ret { key: 'z' value: 'sum:z:0' })")),
            "OK");
  ASSERT_EQ(Add(FunctionBytes(R"(
    signature {
      name: 'ToInt'
      input_arg { name: 'x' type: DT_FLOAT }
      output_arg { name: 'y' type: DT_INT32 }
    }
    node_def {
      name: 'cast' op: 'Cast' input: 'x'
      attr { key: 'SrcT' value { type: DT_FLOAT } }
      attr { key: 'DstT' value { type: DT_INT32 } }
    }
    ret { key: 'y' value: 'cast:y:0' })")),
            "OK");
  const auto call = [&](const char* op_name, TFE_TensorHandle* choice, std::string other) {
    CheckedStatus status;
    const Op op = NewOp(ctx_, op_name, {choice});
    TFE_TensorHandle* inputs[] = {x_.get()};
    TFE_OpAddInputList(op.get(), inputs, 1, status);
    const TF_DataType types[] = {TF_FLOAT};
    TFE_OpSetAttrTypeList(op.get(), "Tout", types, 1);
    if (std::string_view(op_name) == "If") {
      TFE_OpSetAttrFunctionName(op.get(), "then_branch", "Squared", 7);
      TFE_OpSetAttrFunctionName(op.get(), "else_branch", other.c_str(), other.size());
    } else {
      const Op squared(TFE_NewOp(ctx_, "Squared", status));
      const Op second(TFE_NewOp(ctx_, other.c_str(), status));
      const TFE_Op* branches[] = {squared.get(), second.get()};
      TFE_OpSetAttrFunctionList(op.get(), "branches", branches, 2);
    }
    const std::vector<Handle> result = Execute(op.get(), 1, status);
    if (status.code() == TF_OK) EXPECT_THAT(Values<float>(result[0].get()), ElementsAre(4, 9));
    return status.text();
  };
  const bool truths[] = {true, false};
  const Handle yes = NewHandle(TF_BOOL, {}, &truths[0], 1);
  const Handle no = NewHandle(TF_BOOL, {}, &truths[1], 1);
  const Handle first = Of<int32_t>({}, {0}), last = Of<int32_t>({}, {-1});
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(call("If", yes.get(), "SumOfTwo"), "OK");
    EXPECT_EQ(call("If", yes.get(), "ToInt"), "OK");
    EXPECT_EQ(call("If", no.get(), "SumOfTwo"), "3 Expects 2 arguments, but 1 is provided");
    EXPECT_EQ(call("If", no.get(), "ToInt"),
              "13 Expect 0-th output is of type float but get int32");
    EXPECT_EQ(call("Case", first.get(), "SumOfTwo"), "OK");
    EXPECT_EQ(call("Case", first.get(), "ToInt"), "OK");
    EXPECT_EQ(call("Case", last.get(), "SumOfTwo"), "3 Expects 2 arguments, but 1 is provided");
    EXPECT_EQ(call("Case", last.get(), "ToInt"),
              "13 Expect 0-th output is of type float but get int32");
  }
  // What ToBool takes decides.
  EXPECT_EQ(call("If", Of<float>({}, {-0.f}).get(), "SumOfTwo"),
            "3 Expects 2 arguments, but 1 is provided");
  EXPECT_EQ(call("If", Of<float>({2}, {0, 0}).get(), "SumOfTwo"), "OK");
  EXPECT_EQ(call("If", OfStrings({}, {""}).get(), "SumOfTwo"),
            "3 Expects 2 arguments, but 1 is provided");
  EXPECT_EQ(call("If", OfStrings({}, {"x"}).get(), "SumOfTwo"), "OK");
  // A function that does not exist is one of every call.
  EXPECT_EQ(call("If", yes.get(), "none"), "5 Failed to find definition for function \"none\"");
}

TEST_F(EagerFunctionsTest, ACallThatIsKnownIsPlacedAgainWithoutSoftPlacement) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  const auto on_gpu = [](TFE_Op* op) {
    CheckedStatus set;
    TFE_OpSetDevice(op, "/GPU:0", set);
  };
  TFE_ContextSetSoftDevicePlacement(ctx_, 1, status);
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Squared", {x_.get()}, on_gpu).get()), ElementsAre(4, 9));
  TFE_ContextSetSoftDevicePlacement(ctx_, 0, status);
  EXPECT_THAT(ErrorOf(ctx_, "Squared", {x_.get()}, on_gpu),
              StartsWith("3 Could not satisfy device"));
}

TEST_F(EagerFunctionsTest, OneNameOneFunction) {
  ASSERT_EQ(Add(Square()), "OK");
  EXPECT_EQ(Add(Square("Squared", "AddV2")),
            "3 Attempting to add a duplicate function with name: Squared where the previous and "
            "current definitions differ.");
  EXPECT_EQ(Add(Square("AddV2")),
            "3 Cannot add function 'AddV2' because an op with the same name already exists.");
  EXPECT_EQ(Add("\xff\xff"), "3 Invalid FunctionDef proto");
  EXPECT_EQ(Add(std::string("\x0a\x03\x0a\x09x", 5)), "3 Invalid FunctionDef proto");  // signature
}

// As in TensorFlow.
TEST_F(EagerFunctionsTest, TheEmptyNameIsAName) {
  CheckedStatus status;
  EXPECT_EQ(Add(""), "OK");
  EXPECT_EQ(TFE_ContextHasFunction(ctx_, ""), 1);
  EXPECT_THAT(Add(Square("")), StartsWith("3 Attempting to add a duplicate function with name: "));
  TFE_ContextRemoveFunction(ctx_, "", status);
  EXPECT_EQ(status.text(), "OK");
  EXPECT_EQ(TFE_ContextHasFunction(ctx_, ""), 0);
}

TEST_F(EagerFunctionsTest, AFunctionIsRemovedAsOftenAsItWasAdded) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  ASSERT_EQ(Add(Square()), "OK");
  for (const int left : {1, 0}) {
    TFE_ContextRemoveFunction(ctx_, "Squared", status);
    EXPECT_EQ(status.text(), "OK");
    EXPECT_EQ(TFE_ContextHasFunction(ctx_, "Squared"), left);
  }
}

TEST_F(EagerFunctionsTest, RemovedFunctions) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Squared", {x_.get()}).get()), ElementsAre(4, 9));
  const Op op = NewOp(ctx_, "Squared", {x_.get()});
  TFE_ContextRemoveFunction(ctx_, "Squared", status);
  EXPECT_EQ(status.text(), "OK");
  EXPECT_EQ(TFE_ContextHasFunction(ctx_, "Squared"), 0);
  Execute(op.get(), 1, status);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  TFE_ContextRemoveFunction(ctx_, "Squared", status);
  EXPECT_EQ(status.text(), "3 Tried to remove non-existent function 'Squared'.");
  ASSERT_EQ(Add(Square("Squared", "AddV2")), "OK");
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Squared", {x_.get()}).get()), ElementsAre(4, 6));
}

TEST_F(EagerFunctionsTest, CallersOfARemovedFunctionArePlannedAgain) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  ASSERT_EQ(Add(Caller("Inner", "Squared")), "OK");
  ASSERT_EQ(Add(Caller("Outer", "Inner")), "OK");
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Outer", {x_.get()}).get()), ElementsAre(4, 9));
  TFE_ContextRemoveFunction(ctx_, "Squared", status);
  ASSERT_EQ(Add(Square("Squared", "AddV2")), "OK");
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Outer", {x_.get()}).get()), ElementsAre(4, 6));
}

TEST_F(EagerFunctionsTest, ARemovedFunctionDoesNotChangeWhatOthersDraw) {
  CheckedStatus status;
  const Handle shape = Of<int32_t>({1}, {4});
  const auto draw = [&] {
    return Values<float>(RunOp(ctx_, "RandomUniform", {shape.get()}, [](TFE_Op* op) {
                           TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
                           TFE_OpSetAttrInt(op, "seed", 1);
                           TFE_OpSetAttrInt(op, "seed2", 2);
                         }).get());
  };
  const std::vector<float> first = draw();
  ASSERT_EQ(Add(Square()), "OK");
  TFE_ContextRemoveFunction(ctx_, "Squared", status);
  EXPECT_NE(draw(), first);
}

TEST_F(EagerFunctionsTest, FunctionsGoFromContextToContext) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  TF_Function* const function = TFE_ContextGetFunction(ctx_, "Squared", status);
  ASSERT_EQ(status.text(), "OK");
  EXPECT_STREQ(TF_FunctionName(function), "Squared");
  const ContextPointer other = NewContext();
  TFE_ContextAddFunction(other.get(), function, status);
  EXPECT_EQ(status.text(), "OK");
  TF_DeleteFunction(function);
  EXPECT_THAT(Values<float>(RunOp(other.get(), "Squared", {x_.get()}).get()), ElementsAre(4, 9));
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_ContextGetFunctionDef(ctx_, "Squared", buffer, status);
  EXPECT_EQ(std::string(static_cast<const char*>(buffer->data), buffer->length), Square());
  TF_DeleteBuffer(buffer);
  EXPECT_EQ(TFE_ContextGetFunction(ctx_, "none", status), nullptr);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  TFE_ContextAddFunction(ctx_, nullptr, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

// Run metadata hold the graphs of functions that are compiled meanwhile.
TEST_F(EagerFunctionsTest, GraphsAreNoted) {
  CheckedStatus status;
  ASSERT_EQ(Add(Square()), "OK");
  const auto length = [&] {
    TF_Buffer* const buffer = TF_NewBuffer();
    TFE_ContextExportRunMetadata(ctx_, buffer, status);
    EXPECT_EQ(status.text(), "OK");
    const size_t bytes = buffer->length;
    TF_DeleteBuffer(buffer);
    return bytes;
  };
  TFE_ContextEnableGraphCollection(ctx_);
  RunOp(ctx_, "Squared", {x_.get()});
  TF_Buffer* const full = TF_NewBufferFromString("x", 1);
  TFE_ContextExportRunMetadata(ctx_, full, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TF_DeleteBuffer(full);
  EXPECT_GT(length(), 0u);
  EXPECT_EQ(length(), 0u);
  RunOp(ctx_, "Squared", {x_.get()});  // compiled before
  EXPECT_EQ(length(), 0u);
  // The times of runs, too.
  TFE_ContextEnableRunMetadata(ctx_);
  RunOp(ctx_, "Squared", {x_.get()});
  RunOp(ctx_, "Squared", {x_.get()});
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_ContextExportRunMetadata(ctx_, buffer, status);
  pb::RunMetadata metadata;
  EXPECT_TRUE(metadata.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
  TF_DeleteBuffer(buffer);
  int steps = 0;
  for (const pb::DeviceStepStats& device : metadata.step_stats().dev_stats())
    steps += device.node_stats_size();
  EXPECT_EQ(steps, 2);
  TFE_ContextClearCaches(ctx_);
  TFE_ContextDisableRunMetadata(ctx_);
  RunOp(ctx_, "Squared", {x_.get()});
  EXPECT_EQ(length(), 0u);
}

void SetCall(TFE_Op* op, const char* function) {
  const TF_DataType types[] = {TF_FLOAT};
  TFE_OpSetAttrTypeList(op, "Tin", types, 1);
  TFE_OpSetAttrTypeList(op, "Tout", types, 1);
  TFE_OpSetAttrFunctionName(op, "f", function, strlen(function));
}

TEST_F(EagerFunctionsTest, CallsOfFunctions) {
  ASSERT_EQ(Add(Square()), "OK");
  const auto call = [](TFE_Op* op) { SetCall(op, "Squared"); };
  EXPECT_THAT(Values<float>(RunOp(ctx_, "PartitionedCall", {x_.get()}, call).get()),
              ElementsAre(4, 9));
  EXPECT_EQ(ErrorOf(ctx_, "PartitionedCall", {x_.get()}, [](TFE_Op* op) { SetCall(op, "none"); }),
            "5 Failed to find definition for function \"none\"");
}

TEST_F(EagerFunctionsTest, BranchesAndLoops) {
  ASSERT_EQ(Add(Square()), "OK");
  ASSERT_EQ(Add(Square("Double", "AddV2")), "OK");
  for (const float pred : {0.f, 1.f}) {
    const Handle condition = Of<float>({}, {pred});
    CheckedStatus status;
    const Op op = NewOp(ctx_, "If", {condition.get()});
    TFE_TensorHandle* inputs[] = {x_.get()};
    TFE_OpAddInputList(op.get(), inputs, 1, status);
    const TF_DataType types[] = {TF_FLOAT};
    TFE_OpSetAttrTypeList(op.get(), "Tout", types, 1);
    TFE_OpSetAttrFunctionName(op.get(), "then_branch", "Squared", 7);
    TFE_OpSetAttrFunctionName(op.get(), "else_branch", "Double", 6);
    const std::vector<Handle> result = Execute(op.get(), 1);
    ASSERT_EQ(result.size(), 1u);
    EXPECT_THAT(Values<float>(result[0].get()), pred != 0 ? ElementsAre(4, 9) : ElementsAre(4, 6));
  }
  ASSERT_EQ(Add(FunctionBytes(R"(
    signature {
      name: 'Small'
      input_arg { name: 'x' type: DT_FLOAT }
      output_arg { name: 'y' type: DT_BOOL }
    }
    node_def { name: 'limit' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
               attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 100 } } } }
    node_def { name: 'less' op: 'Less' input: 'x' input: 'limit:output:0'
               attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'y' value: 'less:z:0' })")),
            "OK");
  CheckedStatus status;
  const Handle three = Of<float>({}, {3});
  const Op op = NewOp(ctx_, "While", {});
  TFE_TensorHandle* inputs[] = {three.get()};
  TFE_OpAddInputList(op.get(), inputs, 1, status);
  TFE_OpSetAttrFunctionName(op.get(), "cond", "Small", 5);
  TFE_OpSetAttrFunctionName(op.get(), "body", "Squared", 7);
  const std::vector<Handle> result = Execute(op.get(), 1);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_THAT(Values<float>(result[0].get()), ElementsAre(6561));
}

// A function gets a variable of the context as an argument.
TEST_F(EagerFunctionsTest, FunctionsChangeVariables) {
  ASSERT_EQ(Add(FunctionBytes(R"(
    signature {
      name: 'Count'
      input_arg { name: 'v' type: DT_RESOURCE }
      input_arg { name: 'x' type: DT_FLOAT }
      output_arg { name: 'y' type: DT_FLOAT }
      is_stateful: true
    }
    node_def { name: 'add' op: 'AssignAddVariableOp' input: 'v' input: 'x'
               attr { key: 'dtype' value { type: DT_FLOAT } } }
    node_def { name: 'read' op: 'ReadVariableOp' input: 'v' input: '^add'
               attr { key: 'dtype' value { type: DT_FLOAT } } }
    ret { key: 'y' value: 'read:value:0' })")),
            "OK");
  const Handle variable = RunOp(ctx_, "VarHandleOp", {}, [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    TFE_OpSetAttrShape(op, "shape", nullptr, -1, status);
    TFE_OpSetAttrString(op, "shared_name", "count", 5);
  });
  Execute(NewOp(ctx_, "AssignVariableOp", {variable.get(), x_.get()}).get(), 0);
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Count", {variable.get(), x_.get()}).get()),
              ElementsAre(4, 6));
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Count", {variable.get(), x_.get()}).get()),
              ElementsAre(6, 9));
}

TEST_F(EagerFunctionsTest, ErrorsOfFunctions) {
  ASSERT_EQ(Add(Square("Broken", "NoSuchOp")), "OK");
  const std::string error = ErrorOf(ctx_, "Broken", {x_.get()});
  EXPECT_THAT(error, HasSubstr("NoSuchOp"));
  ASSERT_EQ(Add(Square("Product", "MatMul")), "OK");
  EXPECT_THAT(ErrorOf(ctx_, "Product", {x_.get()}), StartsWith("3 "));
}

TEST_F(EagerFunctionsTest, ErrorsNameTheFunctionAndTheNode) {
  ASSERT_EQ(Add(FunctionBytes(R"(
    signature {
      name: 'Checked'
      input_arg { name: 'x' type: DT_FLOAT }
      output_arg { name: 'y' type: DT_FLOAT }
    }
    node_def {
      name: 'check' op: 'CheckNumerics' input: 'x'
      attr { key: 'T' value { type: DT_FLOAT } }
      attr { key: 'message' value { s: 'abc' } }
    }
    ret { key: 'y' value: 'check:output:0' })")),
            "OK");
  const Handle nan = Of<float>({}, {NAN});
  EXPECT_EQ(ErrorOf(ctx_, "Checked", {nan.get()}),
            "3 {{function_node Checked}} abc : Tensor had NaN values\n\t [[{{node check}}]]");
}

}  // namespace
}  // namespace tenon::eager
