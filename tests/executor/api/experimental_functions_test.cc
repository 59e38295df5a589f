// The functions of c_api_experimental.h that no other test of a room has.
#include "tensorflow/c/c_api_experimental.h"

#include <filesystem>

#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using testing::BufferPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OpenSession;
using testing::TensorPtr;

constexpr char kCheckpoint[] = "tests/golden/saved_models/affine_state/model/variables/variables";

class Experimental : public testing::GraphFixture {};

TEST_F(Experimental, MessagesAreThoseOfTensorFlow) {
  pb::ConfigProto config;
  BufferPtr bytes(TF_CreateConfig(1, 1, 3));
  ASSERT_TRUE(config.ParseFromString(testing::BytesOf(bytes.get())));
  EXPECT_EQ(3, config.device_count().at("CPU"));
  EXPECT_EQ(1, config.inter_op_parallelism_threads());
  EXPECT_TRUE(config.gpu_options().allow_growth());
  EXPECT_EQ(pb::OptimizerOptions::ON_1,
            config.graph_options().optimizer_options().global_jit_level());
  bytes.reset(TF_CreateConfig(0, 0, 1));
  ASSERT_TRUE(config.ParseFromString(testing::BytesOf(bytes.get())));
  EXPECT_FALSE(config.gpu_options().allow_growth());
  EXPECT_EQ(pb::OptimizerOptions::OFF,
            config.graph_options().optimizer_options().global_jit_level());
  bytes.reset(TF_CreateRunOptions(1));
  EXPECT_EQ("\x08\x03", testing::BytesOf(bytes.get()));
  bytes.reset(TF_CreateRunOptions(0));
  EXPECT_EQ("", testing::BytesOf(bytes.get()));
}

TEST_F(Experimental, SettingsOfXlaAreRemembered) {
  EXPECT_EQ(1, TF_SetXlaEnableLazyCompilation(0));
  EXPECT_EQ(0, TF_SetXlaEnableLazyCompilation(1));
  EXPECT_EQ(0, TF_GetXlaConstantFoldingDisabled());
  TF_SetXlaConstantFoldingDisabled(1);
  EXPECT_EQ(1, TF_GetXlaConstantFoldingDisabled());
  TF_SetXlaConstantFoldingDisabled(0);
  TF_SetTfXlaCpuGlobalJit(1);
  EXPECT_EQ(1, TF_SetTfXlaCpuGlobalJit(0));
}

TEST_F(Experimental, ACheckpointIsRead) {
  TF_CheckpointReader* const reader = TF_NewCheckpointReader(kCheckpoint, s());
  ExpectOk();
  ASSERT_EQ(4, TF_CheckpointReaderSize(reader));
  const char* const w = TF_CheckpointReaderGetVariable(reader, 3);
  EXPECT_STREQ("w/.ATTRIBUTES/VARIABLE_VALUE", w);
  EXPECT_EQ(nullptr, TF_CheckpointReaderGetVariable(reader, 4));
  EXPECT_EQ(nullptr, TF_CheckpointReaderGetVariable(reader, -1));
  EXPECT_EQ(1, TF_CheckpointReaderHasTensor(reader, w));
  EXPECT_EQ(0, TF_CheckpointReaderHasTensor(reader, "none"));
  EXPECT_EQ(TF_FLOAT, TF_CheckpointReaderGetVariableDataType(reader, w));
  EXPECT_EQ(2, TF_CheckpointReaderGetVariableNumDims(reader, w));
  EXPECT_EQ(-1, TF_CheckpointReaderGetVariableNumDims(reader, "none"));
  int64_t dims[2] = {};
  TF_CheckpointReaderGetVariableShape(reader, w, dims, 2, s());
  ExpectOk();
  EXPECT_THAT(dims, ElementsAre(4, 3));
  TF_CheckpointReaderGetVariableShape(reader, w, dims, 1, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ("Expected rank is 1 but actual rank is 2", message());
  const TensorPtr value(TF_CheckpointReaderGetTensor(reader, w, s()));
  ExpectOk();
  EXPECT_EQ(12u, testing::FloatsOf(value.get()).size());
  EXPECT_EQ(nullptr, TF_CheckpointReaderGetTensor(reader, "none", s()));
  EXPECT_EQ(TF_NOT_FOUND, code());
  EXPECT_EQ("Key none not found in checkpoint", message());
  TF_DeleteCheckpointReader(reader);
  EXPECT_EQ(nullptr, TF_NewCheckpointReader("/nonexistent/x", s()));
  EXPECT_EQ(TF_NOT_FOUND, code());
  EXPECT_THAT(message(), HasSubstr("Failed to find any matching files for /nonexistent/x"));
}

TEST_F(Experimental, ABuilderOfAttributesKnowsKernels) {
  TF_AttrBuilder* const builder = TF_NewAttrBuilder("MatMul");
  const auto check = [&](const char* type) {
    TF_AttrBuilderCheckCanRunOnDevice(builder, type, s());
    return code();
  };
  EXPECT_EQ(TF_INVALID_ARGUMENT, check("CPU"));
  EXPECT_THAT(message(), HasSubstr("has constraint on attr 'T' not in NodeDef"));
  TF_AttrBuilderSetType(builder, "T", TF_FLOAT);
  EXPECT_EQ(TF_OK, check("CPU")) << message();
  EXPECT_EQ(TF_NOT_FOUND, check("NOPE"));
  EXPECT_THAT(message(), HasSubstr("No registered 'MatMul' OpKernel for NOPE devices"));
  TF_AttrBuilderSetType(builder, "T", TF_STRING);
  EXPECT_EQ(TF_NOT_FOUND, check("CPU"));
  TF_DeleteAttrBuilder(builder);
  EXPECT_STREQ("N", TF_GetNumberAttrForOpListInput("AddN", 0, s()));
  ExpectOk();
  EXPECT_EQ(nullptr, TF_GetNumberAttrForOpListInput("AddN", 1, s()));
  EXPECT_EQ("1 out of range for AddN", message());
  EXPECT_EQ(nullptr, TF_GetNumberAttrForOpListInput("Add", 0, s()));
  EXPECT_EQ(TF_NOT_FOUND, code());
  EXPECT_EQ(nullptr, TF_GetNumberAttrForOpListInput("Nope", 0, s()));
  EXPECT_EQ(TF_NOT_FOUND, code());
}

TEST_F(Experimental, QueuesAreReachedByNumber) {
  TF_OperationDescription* desc = New("FIFOQueueV2", "queue");
  const TF_DataType type = TF_FLOAT;
  TF_SetAttrTypeList(desc, "component_types", &type, 1);
  TF_Operation* const queue = Finish(desc);
  TF_Operation* const x = Placeholder("arg_tensor_enqueue_7", TF_FLOAT);
  desc = New("QueueEnqueueV2", "fifo_queue_enqueue_7");
  TF_AddInput(desc, {queue, 0});
  const TF_Output component{x, 0};
  TF_AddInputList(desc, &component, 1);
  Finish(desc);
  desc = New("QueueDequeueV2", "fifo_queue_dequeue_7");
  TF_AddInput(desc, {queue, 0});
  TF_SetAttrTypeList(desc, "component_types", &type, 1);
  Finish(desc);
  OpenSession session(g());
  const TensorPtr value = testing::Float(5);
  TF_EnqueueNamedTensor(session.get(), 7, value.get(), s());
  ExpectOk();
  const TensorPtr got(TF_DequeueNamedTensor(session.get(), 7, s()));
  ExpectOk();
  EXPECT_THAT(testing::FloatsOf(got.get()), ElementsAre(5));
  EXPECT_EQ(nullptr, TF_DequeueNamedTensor(session.get(), 8, s()));
  EXPECT_EQ(TF_INTERNAL, code());
  EXPECT_EQ("Unable to find the dequeue node in the TF graph.", message());
  TF_EnqueueNamedTensor(session.get(), 8, value.get(), s());
  EXPECT_EQ("Unable to find the enqueue node in the TF graph.", message());
  TF_ExtendSession(session.get(), s());
  ExpectOk();
}

TEST_F(Experimental, ShapesOfAnEagerOpAreInferred) {
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  TFE_Context* const context = TFE_NewContext(options, s());
  TFE_DeleteContextOptions(options);
  TFE_Op* op = TFE_NewOp(context, "MatMul", s());
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TF_ShapeAndTypeList* inputs = TF_NewShapeAndTypeList(2);
  const int64_t a[] = {2, 3}, b[] = {3, -1};
  TF_ShapeAndTypeListSetShape(inputs, 0, a, 2);
  TF_ShapeAndTypeListSetShape(inputs, 1, b, 2);
  TF_ShapeAndTypeListSetDtype(inputs, 1, TF_FLOAT);
  TF_ShapeAndTypeListSetShape(inputs, 2, b, 2);  // there is no such element
  TF_ShapeAndTypeList* outputs = nullptr;
  const auto infer = [&](TF_Tensor** tensors) {
    TF_DeleteShapeAndTypeList(outputs);
    TFE_InferShapes(op, inputs, tensors, nullptr, nullptr, &outputs, nullptr, s());
    return code();
  };
  ASSERT_EQ(TF_OK, infer(nullptr)) << message();
  ASSERT_EQ(1, outputs->num_items);
  EXPECT_THAT(std::vector<int64_t>(outputs->items[0].dims, outputs->items[0].dims + 2),
              ElementsAre(2, -1));
  TF_ShapeAndTypeListSetShape(inputs, 1, a, 2);
  EXPECT_EQ(TF_INVALID_ARGUMENT, infer(nullptr));
  EXPECT_EQ(
      "Dimensions must be equal, but are 3 and 2 for '{{node MatMul}} = MatMul[T=DT_FLOAT, "
      "grad_a=false, grad_b=false, transpose_a=false, transpose_b=false](dummy_input, "
      "dummy_input)' with input shapes: [2,3], [2,3].",
      message());
  EXPECT_EQ(nullptr, outputs);
  TF_ShapeAndTypeListSetUnknownShape(inputs, 1);
  EXPECT_EQ(TF_OK, infer(nullptr));
  TFE_DeleteOp(op);

  op = TFE_NewOp(context, "Reshape", s());
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TFE_OpSetAttrType(op, "Tshape", TF_INT32);
  const TensorPtr shape = testing::IntTensor({1}, {6});
  TF_Tensor* tensors[] = {nullptr, shape.get()};
  EXPECT_EQ(TF_OK, infer(tensors)) << message();
  EXPECT_EQ(6, outputs->items[0].dims[0]);
  TF_DeleteShapeAndTypeList(inputs);
  inputs = TF_NewShapeAndTypeList(1);
  EXPECT_EQ(TF_INVALID_ARGUMENT, infer(nullptr));
  EXPECT_EQ("Wrong number of inputs passed: 1 while 2 expected based on NodeDef", message());
  TF_DeleteShapeAndTypeList(inputs);
  TFE_DeleteOp(op);
  TFE_DeleteContext(context);
}

TEST_F(Experimental, TheRestSaysWhatItHasNot) {
  float three = 3;
  TFE_TensorHandle* const handle = TFE_NewTensorHandleFromScalar(TF_FLOAT, &three, 4, s());
  ExpectOk();
  EXPECT_EQ(0, TFE_TensorHandleNumDims(handle, s()));
  const TensorPtr value(TFE_TensorHandleResolve(handle, s()));
  EXPECT_THAT(testing::FloatsOf(value.get()), ElementsAre(3));
  TFE_DeleteTensorHandle(handle);
  EXPECT_EQ(nullptr, TFE_NewTensorHandleFromScalar(TF_FLOAT, &three, 8, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr, TFE_NewTensorHandleFromScalar(TF_STRING, &three, 4, s()));
  EXPECT_EQ(nullptr, TFE_GetServerDef("job_name: 'w'", s()));
  EXPECT_EQ(TF_UNIMPLEMENTED, code());
  TF_MakeInternalErrorStatus(s(), "boo");
  EXPECT_EQ(TF_INTERNAL, code());
  EXPECT_EQ("boo", message());
  EXPECT_GT(TF_PickUnusedPortOrDie(), 0);
}

}  // namespace
}  // namespace tenon
