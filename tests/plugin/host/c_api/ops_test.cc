// TensorFlow's cases for ops and shape functions in the C API.
#include "tensorflow/c/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "graph/c_api/c_api_internal.h"
#include "graph/op_defs/op_registry.h"
#include "graph/shapes/shape_inference.h"
#include "plugin/host/c_api/shape_handles.h"
#include "plugin/host/loading/plugin_ledger.h"
#include "proto/op_def.pb.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing::S;

TF_OpDefinitionBuilder* Builder(const char* name, std::vector<const char*> inputs,
                                std::vector<const char*> outputs,
                                std::vector<const char*> attrs = {}) {
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(name);
  for (const char* spec : attrs) TF_OpDefinitionBuilderAddAttr(builder, spec);
  for (const char* spec : inputs) TF_OpDefinitionBuilderAddInput(builder, spec);
  for (const char* spec : outputs) TF_OpDefinitionBuilderAddOutput(builder, spec);
  return builder;
}

void Register(TF_OpDefinitionBuilder* builder) {
  S status;
  TF_RegisterOpDefinition(builder, status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
}

pb::OpDef FindInOpList(const std::string& name) {
  TF_Buffer* buffer = TF_GetAllOpList();
  pb::OpList list;
  EXPECT_TRUE(list.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
  TF_DeleteBuffer(buffer);
  for (const pb::OpDef& op : list.op()) {
    if (op.name() == name) return op;
  }
  return {};
}

// The shapes that the op's shape function gives for these inputs.
absl::StatusOr<PartialShape> Infer(const char* name, std::vector<PartialShape> inputs) {
  const OpDef* op = OpRegistry::Global().Find(name);
  static const AttrSet kNoAttrs;
  const NodeTypes types = *ResolveTypes(*op, kNoAttrs);
  std::vector<TensorInfo> infos(inputs.size());
  InferenceContext::Infos pointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    infos[i].shape = inputs[i];
    pointers.push_back(&infos[i]);
  }
  InferenceContext context(*op, kNoAttrs, types, pointers);
  const absl::Status status = RunShapeFn(context, "n");
  if (!status.ok()) return status;
  return context.output(0).shape;
}

TEST(OpsTest, TestBasicOpRegistration) {
  TF_OpDefinitionBuilder* builder = Builder("SomeOp", {"input1: uint8", "input2: uint16"},
                                            {"output1: uint32"}, {"attr1: string"});
  Register(builder);
  const pb::OpDef op = FindInOpList("SomeOp");
  ASSERT_EQ(op.input_arg_size(), 2);
  EXPECT_EQ(op.input_arg(0).name(), "input1");
  EXPECT_EQ(op.input_arg(1).type(), pb::DT_UINT16);
  ASSERT_EQ(op.output_arg_size(), 1);
  ASSERT_EQ(op.attr_size(), 1);
  EXPECT_EQ(op.attr(0).type(), "string");
  S status;
  EXPECT_EQ(TF_OpIsStateful("SomeOp", status), 0);
  EXPECT_EQ(status.code(), TF_OK);
  for (const char* none : {"NoSuchOp", static_cast<const char*>(nullptr)}) {
    EXPECT_EQ(TF_OpIsStateful(none, status), 0);
    EXPECT_EQ(status.code(), TF_NOT_FOUND);
  }
}

TEST(OpsTest, APluginSeesWhatItRegisteredSoFar) {
  PluginLedger ledger("plugin.so");
  const LoadScope load(ledger);
  TF_OpDefinitionBuilder* builder = Builder("StagedOp", {}, {});
  TF_OpDefinitionBuilderSetIsStateful(builder, true);
  Register(builder);
  testing::RegisterTestKernel("StagedOp", "CPU", nullptr, [](void*, TF_OpKernelContext*) {});
  S status;
  EXPECT_EQ(TF_OpIsStateful("StagedOp", status), 1);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(FindInOpList("StagedOp").name(), "StagedOp");
  TF_Buffer* kernels = TF_GetRegisteredKernelsForOp("StagedOp", status);
  EXPECT_THAT(std::string(BufferBytes(*kernels)), HasSubstr("StagedOp"));
  TF_DeleteBuffer(kernels);
}

TEST(OpsTest, ErrorsAreReported) {
  S status;
  TF_RegisterOpDefinition(Builder("BadSpec", {"input1: nothing"}, {}), status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  Register(Builder("Twice", {}, {}));
  TF_RegisterOpDefinition(Builder("Twice", {}, {}), status);
  EXPECT_EQ(status.code(), TF_ALREADY_EXISTS);
  EXPECT_EQ(status.message(), "Op with name Twice");
}

void Identity(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* handle = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, handle, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, handle, status);
  TF_DeleteShapeHandle(handle);
}

TEST(OpsTest, TestShapeInference_IdentityFunction) {
  TF_OpDefinitionBuilder* builder =
      Builder("SomeIdentityOp", {"input1: uint8"}, {"output1: uint8"});
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, &Identity);
  Register(builder);
  EXPECT_EQ(*Infer("SomeIdentityOp", {PartialShape({5, 6})}), PartialShape({5, 6}));
  EXPECT_EQ(*Infer("SomeIdentityOp", {PartialShape()}), PartialShape());
}

TEST(OpsTest, TestShapeInference_UnknownShape) {
  TF_OpDefinitionBuilder* builder =
      Builder("UnknownShapeOp", {"input1: uint8"}, {"output1: uint8"});
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder,
                                                  &TF_ShapeInferenceContextSetUnknownShape);
  Register(builder);
  EXPECT_FALSE(Infer("UnknownShapeOp", {PartialShape({1, 2})})->known_rank());
}

// [a, b, c] -> [rank]
void Vectorize(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* handle = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, handle, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_ShapeHandle* vector =
        TF_ShapeInferenceContextVectorFromSize(ctx, TF_ShapeInferenceContextRank(ctx, handle));
    TF_ShapeInferenceContextSetOutput(ctx, 0, vector, status);
    TF_DeleteShapeHandle(vector);
  }
  TF_DeleteShapeHandle(handle);
}

TEST(OpsTest, TestShapeInference_VectorizeFunction) {
  TF_OpDefinitionBuilder* builder =
      Builder("VectorizeTestOp", {"input1: uint8"}, {"output1: uint8"});
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, &Vectorize);
  Register(builder);
  EXPECT_EQ(*Infer("VectorizeTestOp", {PartialShape({4, 5, 9})}), PartialShape({3}));
}

TEST(OpsTest, ShapeFunctionErrors) {
  TF_OpDefinitionBuilder* builder = Builder("ShapeErrorOp", {"x: uint8"}, {"y: uint8"});
  TF_OpDefinitionBuilderSetShapeInferenceFunction(
      builder, [](TF_ShapeInferenceContext*, TF_Status* status) {
        TF_SetStatus(status, TF_INVALID_ARGUMENT, "not like this");
      });
  Register(builder);
  const absl::Status status = Infer("ShapeErrorOp", {PartialShape({1})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("not like this"));
  builder = Builder("ShapeThrowOp", {"x: uint8"}, {"y: uint8"});
  TF_OpDefinitionBuilderSetShapeInferenceFunction(
      builder, [](TF_ShapeInferenceContext*, TF_Status*) { throw 1; });
  Register(builder);
  EXPECT_THAT(Infer("ShapeThrowOp", {PartialShape({1})}).status().message(),
              HasSubstr("threw an exception"));
}

TEST(OpsTest, AttributeAccessors) {
  TF_OpDefinitionBuilder* builder =
      Builder("AttributeAccessorsOp", {"arg1: uint8"}, {"arg2: uint16"},
              {"foo1: int >= 2", "foo2: string='my string'", "foo3: {'a', 'b'}"});
  TF_OpDefinitionBuilderSetIsCommutative(builder, true);
  TF_OpDefinitionBuilderSetIsAggregate(builder, true);
  TF_OpDefinitionBuilderSetAllowsUninitializedInput(builder, true);
  TF_OpDefinitionBuilderSetIsStateful(builder, false);  // the bool is not looked at
  TF_OpDefinitionBuilderDeprecated(builder, 4, "use instead");
  Register(builder);
  const pb::OpDef op = FindInOpList("AttributeAccessorsOp");
  EXPECT_TRUE(op.is_commutative());
  EXPECT_TRUE(op.is_aggregate());
  EXPECT_TRUE(op.is_stateful());
  EXPECT_TRUE(op.allows_uninitialized_input());
  EXPECT_EQ(op.deprecation().version(), 4);
  EXPECT_EQ(op.deprecation().explanation(), "use instead");
  ASSERT_EQ(op.attr_size(), 3);
  EXPECT_TRUE(op.attr(0).has_minimum());
  EXPECT_EQ(op.attr(0).minimum(), 2);
  EXPECT_EQ(op.attr(1).default_value().s(), "my string");
}

// --- Functions inside a shape function, on a context of one input.

class ShapeApiTest : public ::testing::Test {
 protected:
  static const OpDef& Op() {
    static const OpDef* const op = [] {
      OpDefBuilder builder("ShapeApiOp");
      EXPECT_TRUE(builder.AddInput("x: float").ok());
      EXPECT_TRUE(builder.AddOutput("y: float").ok());
      return new OpDef(*std::move(builder).Finish());
    }();
    return *op;
  }
  ~ShapeApiTest() override {
    for (TF_ShapeHandle* handle : handles_) TF_DeleteShapeHandle(handle);
  }
  TF_ShapeHandle* Handle(PartialShape shape = {}) {
    handles_.push_back(TF_NewShapeHandle());
    handles_.back()->shape = std::move(shape);
    return handles_.back();
  }

  AttrSet attrs_;
  NodeTypes types_ = *ResolveTypes(Op(), attrs_);
  TensorInfo input_;
  InferenceContext context_{Op(), attrs_, types_, {&input_}};
  TF_ShapeInferenceContext ctx_{&context_};
  S status_;
  std::vector<TF_ShapeHandle*> handles_;
};

TEST_F(ShapeApiTest, InputAndOutputIndices) {
  EXPECT_EQ(TF_ShapeInferenceContextNumInputs(&ctx_), 1);
  for (const int bad : {-1, 1}) {
    TF_ShapeInferenceContextGetInput(&ctx_, bad, Handle(), status_);
    EXPECT_EQ(status_.message(), "input index out of range");
    TF_ShapeInferenceContextSetOutput(&ctx_, bad, Handle(), status_);
    EXPECT_EQ(status_.message(), "output index out of range");
    EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  }
}

TEST_F(ShapeApiTest, ShapeInferenceWithRank) {
  TF_ShapeHandle* shape = Handle(PartialShape({10, 20, 30, 40, 50}));
  TF_ShapeHandle* result = Handle();
  TF_ShapeInferenceContextWithRankAtMost(&ctx_, shape, 5, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  EXPECT_EQ(result->shape, shape->shape);
  TF_ShapeInferenceContextWithRankAtLeast(&ctx_, shape, 5, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  TF_ShapeInferenceContextWithRank(&ctx_, shape, 5, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  TF_ShapeInferenceContextWithRankAtMost(&ctx_, shape, 4, result, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_THAT(status_.message(), HasSubstr("Shape must be at most rank 4 but is rank 5"));
  TF_ShapeInferenceContextWithRankAtLeast(&ctx_, shape, 6, result, status_);
  EXPECT_THAT(status_.message(), HasSubstr("Shape must be at least rank 6 but is rank 5"));
  TF_ShapeInferenceContextWithRank(&ctx_, shape, 1, result, status_);
  EXPECT_THAT(status_.message(), HasSubstr("Shape must be rank 1 but is rank 5"));
  TF_ShapeInferenceContextWithRank(&ctx_, shape, -1, result, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
}

TEST_F(ShapeApiTest, ShapeInferenceWithRank_UnknownRank) {
  TF_ShapeHandle* unknown = Handle();
  TF_ShapeHandle* result = Handle();
  EXPECT_EQ(TF_ShapeInferenceContextRankKnown(&ctx_, unknown), 0);
  EXPECT_EQ(TF_ShapeInferenceContextRank(&ctx_, unknown), -1);
  TF_ShapeInferenceContextWithRankAtMost(&ctx_, unknown, 1, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  TF_ShapeInferenceContextWithRankAtLeast(&ctx_, unknown, 1, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  TF_ShapeInferenceContextWithRank(&ctx_, unknown, 2, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  EXPECT_EQ(TF_ShapeInferenceContextRank(&ctx_, result), 2);
  // No shape has so many dimensions, and they would take gigabytes.
  TF_ShapeInferenceContextWithRank(&ctx_, unknown, INT32_MAX, result, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_ShapeInferenceContextRank(&ctx_, result), 2);
}

TEST_F(ShapeApiTest, ShapeInferenceConcatenateShapes) {
  TF_ShapeHandle* result = Handle();
  TF_ShapeInferenceContextConcatenateShapes(&ctx_, Handle(PartialShape({1, 2})),
                                            Handle(PartialShape({3, 4})), result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  EXPECT_EQ(result->shape, PartialShape({1, 2, 3, 4}));
  TF_ShapeInferenceContextConcatenateShapes(&ctx_, result, Handle(), result, status_);
  EXPECT_FALSE(result->shape.known_rank());
}

TEST_F(ShapeApiTest, DimensionHandleValueKnown) {
  TF_DimensionHandle* dim = TF_NewDimensionHandle();
  EXPECT_EQ(TF_DimensionHandleValueKnown(dim), 0);
  EXPECT_EQ(TF_DimensionHandleValue(dim), -1);
  TF_ShapeHandle* shape = Handle(PartialShape({1, kUnknownDim, 43}));
  TF_ShapeInferenceContextDim(&ctx_, shape, 2, dim);
  EXPECT_EQ(TF_DimensionHandleValueKnown(dim), 1);
  EXPECT_EQ(TF_DimensionHandleValue(dim), 43);
  TF_ShapeInferenceContextDim(&ctx_, shape, -3, dim);
  EXPECT_EQ(TF_DimensionHandleValue(dim), 1);
  for (const int64_t unknown : {1, 3, -4}) {
    TF_ShapeInferenceContextDim(&ctx_, shape, unknown, dim);
    EXPECT_EQ(TF_DimensionHandleValueKnown(dim), 0);
  }
  TF_DeleteDimensionHandle(dim);
}

TEST_F(ShapeApiTest, ShapeInferenceSubshape) {
  TF_ShapeHandle* shape = Handle(PartialShape({10, 20, 30, 40, 50}));
  TF_ShapeHandle* result = Handle();
  TF_ShapeInferenceContextSubshape(&ctx_, shape, 1, -1, result, status_);
  EXPECT_EQ(status_.code(), TF_OK);
  EXPECT_EQ(result->shape, PartialShape({20, 30, 40}));
  TF_ShapeInferenceContextSubshape(&ctx_, shape, 3, 99, result, status_);
  EXPECT_EQ(result->shape, PartialShape({40, 50}));
  TF_ShapeInferenceContextSubshape(&ctx_, shape, -1, 1, result, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(status_.message(),
            "Subshape must have computed start <= end, but is 4 and 1 (computed from start -1 and "
            "end 1 over shape with rank 5)");
  TF_ShapeInferenceContextSubshape(&ctx_, shape, -99, 1, result, status_);
  EXPECT_EQ(status_.message(), "Subshape start out of bounds: -99, for shape with rank 5");
  TF_ShapeInferenceContextSubshape(&ctx_, shape, 0, -99, result, status_);
  EXPECT_EQ(status_.message(), "Subshape end out of bounds: -99, for shape with rank 5");
}

TEST_F(ShapeApiTest, ShapeInferenceScalarShape) {
  TF_ShapeHandle* scalar = TF_ShapeInferenceContextScalar(&ctx_);
  EXPECT_EQ(scalar->shape.ToString(), "[]");
  TF_DeleteShapeHandle(scalar);
}

TEST_F(ShapeApiTest, ASizeThatNoDimensionCanHaveIsUnknown) {
  for (const size_t size : {SIZE_MAX, SIZE_MAX - 1, size_t{1} << 63}) {
    TF_ShapeHandle* vector = TF_ShapeInferenceContextVectorFromSize(&ctx_, size);
    EXPECT_EQ(vector->shape, PartialShape({kUnknownDim}));
    TF_DeleteShapeHandle(vector);
  }
}

TEST(RegistryQueries, Version) {
  EXPECT_STREQ(TF_Version(), "2.21.0");
  EXPECT_EQ(TF_GetXlaAutoJitEnabled(), 0);
  setenv("TF_XLA_FLAGS", "--tf_xla_cpu_global_jit --tf_xla_auto_jit=2 --tf_xla_max_cluster_size=9",
         1);
  EXPECT_EQ(TF_GetXlaAutoJitEnabled(), 1);
  setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=-1", 1);
  EXPECT_EQ(TF_GetXlaAutoJitEnabled(), 0);
  unsetenv("TF_XLA_FLAGS");
}

}  // namespace
}  // namespace tenon
