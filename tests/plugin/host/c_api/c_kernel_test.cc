// A whole op written on the C interface, as TensorFlow's own Bitcast kernel is: shape function,
// attributes, a view as output.
#include <gtest/gtest.h>

#include <vector>

#include "graph/op_defs/op_registry.h"
#include "graph/shapes/shape_inference.h"
#include "tensorflow/c/ops.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"

namespace tenon {
namespace {

using testing::Computed;
using testing::RegisterTestKernel;
using testing::RunKernel;
using testing::S;
using testing::TestNode;

struct Bitcast {
  TF_DataType in = TF_FLOAT, out = TF_FLOAT;
  int64_t in_size = 0, out_size = 0;
};

void* Create(TF_OpKernelConstruction* ctx) {
  S status;
  auto* kernel = new Bitcast;
  TF_OpKernelConstruction_GetAttrType(ctx, "T", &kernel->in, status);
  if (status.code() == TF_OK)
    TF_OpKernelConstruction_GetAttrType(ctx, "type", &kernel->out, status);
  kernel->in_size = static_cast<int64_t>(TF_DataTypeSize(kernel->in));
  kernel->out_size = static_cast<int64_t>(TF_DataTypeSize(kernel->out));
  const int64_t small = std::min(kernel->in_size, kernel->out_size);
  if (status.code() == TF_OK &&
      (small == 0 || std::max(kernel->in_size, kernel->out_size) % small != 0)) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "the sizes do not divide");
  }
  if (status.code() != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  return kernel;
}

void Delete(void* kernel) { delete static_cast<Bitcast*>(kernel); }

// The output's dimensions: one more where elements shrink, one less where they grow. False if the
// last one does not fit.
bool OutputDims(const Bitcast& k, std::vector<int64_t>* dims) {
  if (k.out_size < k.in_size) dims->push_back(k.in_size / k.out_size);
  if (k.out_size <= k.in_size) return true;
  if (dims->empty() || dims->back() != k.out_size / k.in_size) return false;
  dims->pop_back();
  return true;
}

void Compute(void* kernel, TF_OpKernelContext* ctx) {
  const Bitcast& k = *static_cast<Bitcast*>(kernel);
  S status;
  TF_Tensor* input = nullptr;
  TF_GetInput(ctx, 0, &input, status);
  ASSERT_EQ(status.code(), TF_OK);
  std::vector<int64_t> dims;
  for (int i = 0; i < TF_NumDims(input); ++i) dims.push_back(TF_Dim(input, i));
  if (OutputDims(k, &dims)) {
    TF_Tensor* output = TF_AllocateTensor(k.out, nullptr, 0, static_cast<size_t>(k.out_size));
    TF_TensorBitcastFrom(input, k.out, output, dims.data(), static_cast<int>(dims.size()), status);
    if (status.code() == TF_OK) TF_SetOutput(ctx, 0, output, status);
    TF_DeleteTensor(output);
  } else {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "the last dimension does not fit");
  }
  if (status.code() != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(input);
}

void InferShape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_DataType in;
  TF_DataType out;
  TF_ShapeInferenceContext_GetAttrType(ctx, "T", &in, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContext_GetAttrType(ctx, "type", &out, status);
  if (TF_GetCode(status) != TF_OK) return;
  const int64_t in_size = static_cast<int64_t>(TF_DataTypeSize(in));
  const int64_t out_size = static_cast<int64_t>(TF_DataTypeSize(out));
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
  if (in_size > out_size) {
    TF_ShapeHandle* inner =
        TF_ShapeInferenceContextVectorFromSize(ctx, static_cast<size_t>(in_size / out_size));
    TF_ShapeInferenceContextConcatenateShapes(ctx, shape, inner, shape, status);
    TF_DeleteShapeHandle(inner);
  } else if (in_size < out_size) {
    TF_ShapeInferenceContextWithRankAtLeast(ctx, shape, 1, shape, status);
    if (TF_GetCode(status) == TF_OK)
      TF_ShapeInferenceContextSubshape(ctx, shape, 0, -1, shape, status);
  }
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

void RegisterOnce() {
  static const bool registered = [] {
    TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("BitcastInC");
    TF_OpDefinitionBuilderAddAttr(op, "T: numbertype");
    TF_OpDefinitionBuilderAddAttr(op, "type: numbertype");
    TF_OpDefinitionBuilderAddInput(op, "input: T");
    TF_OpDefinitionBuilderAddOutput(op, "output: type");
    TF_OpDefinitionBuilderSetShapeInferenceFunction(op, &InferShape);
    S status;
    TF_RegisterOpDefinition(op, status);
    EXPECT_EQ(status.code(), TF_OK) << status.message();
    RegisterTestKernel("BitcastInC", "CPU", Create, Compute, Delete);
    return true;
  }();
  EXPECT_TRUE(registered);
}

Computed Cast(DataType from, DataType to, std::vector<int64_t> dims) {
  RegisterOnce();
  auto kernel =
      TestNode("BitcastInC", {{"T", attr::Type(from)}, {"type", attr::Type(to)}}).CreateKernel();
  if (!kernel.ok()) return {kernel.status(), {}};
  Tensor input = *Tensor::Allocate(from, Shape(dims));
  for (size_t i = 0; i < input.bytes(); ++i) input.flat<uint8_t>()[i] = static_cast<uint8_t>(i);
  return RunKernel(**kernel, {input}, 1);
}

TEST(BitcastOpTest, Casts) {
  Computed up = Cast(DataType::kInt8, DataType::kUint64, {1, 8});
  ASSERT_TRUE(up.status.ok()) << up.status;
  EXPECT_EQ(up.outputs[0].shape(), Shape({1}));
  EXPECT_EQ(up.outputs[0].flat<uint8_t>()[7], 7);
  Computed down = Cast(DataType::kUint64, DataType::kInt8, {1});
  ASSERT_TRUE(down.status.ok());
  EXPECT_EQ(down.outputs[0].shape(), Shape({1, 8}));
  Computed same = Cast(DataType::kUint32, DataType::kFloat, {4, 2});
  ASSERT_TRUE(same.status.ok());
  EXPECT_EQ(same.outputs[0].shape(), Shape({4, 2}));
  EXPECT_EQ(same.outputs[0].dtype(), DataType::kFloat);
  EXPECT_EQ(Cast(DataType::kInt8, DataType::kUint32, {1}).status.code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(BitcastOpTest, ShapeInference) {
  RegisterOnce();
  const OpDef* op = OpRegistry::Global().Find("BitcastInC");
  const auto infer = [op](DataType from, DataType to, PartialShape shape) -> PartialShape {
    const std::string t = attr::Type(from);
    const std::string type = attr::Type(to);
    const AttrSet attrs({{"T", AttrValue(t)}, {"type", AttrValue(type)}});
    const NodeTypes types = *ResolveTypes(*op, attrs);
    TensorInfo info;
    info.shape = std::move(shape);
    InferenceContext context(*op, attrs, types, {&info});
    EXPECT_TRUE(RunShapeFn(context, "n").ok());
    return context.output(0).shape;
  };
  EXPECT_EQ(infer(DataType::kInt8, DataType::kInt64, PartialShape({3, 8})), PartialShape({3}));
  EXPECT_EQ(infer(DataType::kInt64, DataType::kInt8, PartialShape({3})), PartialShape({3, 8}));
  EXPECT_EQ(infer(DataType::kInt32, DataType::kUint32, PartialShape({4, kUnknownDim})),
            PartialShape({4, kUnknownDim}));
  EXPECT_FALSE(infer(DataType::kInt64, DataType::kInt8, PartialShape()).known_rank());
}

}  // namespace
}  // namespace tenon
