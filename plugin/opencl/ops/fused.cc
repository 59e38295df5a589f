// _OpenCLFused: a program of elementwise ops (fused_program.h) as one kernel. The pass of this
// plug-in makes its nodes.

#include <algorithm>

#include "../base/map.h"
#include "../base/registry.h"
#include "families.h"
#include "fused_program.h"
#include "tensorflow/c/ops.h"

namespace opencl {
namespace {

class FusedElements {
 public:
  FusedElements(const Construction& node, const PlainRow&)
      : body_(BodyFor(TranslateProgram(node.String("program"), node.Types("Tin")), node)) {}

  void Compute(Call& call) const {
    std::vector<Tensor> inputs;
    std::vector<int> candidates;
    Dims dims;
    for (int k = 0; k < call.inputs(); ++k) {
      inputs.push_back(call.In(k));
      dims = Broadcast(dims, inputs.back().dims);
      candidates.push_back(k);
    }
    const Tensor out = call.OutLike(0, dims, candidates);
    RunBroadcastMap(call, body_, inputs, out);
  }

 private:
  static MapBody BodyFor(const FusedProgram& program, const Construction& node) {
    if (program.result != node.Type("T"))
      Refuse("attribute T of _OpenCLFused is not the type of its program's result");
    return {program.body};
  }

  const MapBody body_;
};

constexpr PlainRow kFusedElements[] = {{{"_OpenCLFused", 0}}};

struct DeleteShape {
  void operator()(TF_ShapeHandle* shape) const { TF_DeleteShapeHandle(shape); }
  void operator()(TF_DimensionHandle* dim) const { TF_DeleteDimensionHandle(dim); }
};
using ShapePtr = std::unique_ptr<TF_ShapeHandle, DeleteShape>;
using DimPtr = std::unique_ptr<TF_DimensionHandle, DeleteShape>;

// One input of the node whose shape is inferred. A dimension in front of the first one is 1.
struct InputShape {
  ShapePtr shape;
  int64_t rank = 0;
};

// Appends dimension `at`, counted from the last one, of what the shapes broadcast to: the first
// known one that is not 1, else an unknown one, else 1.
void AppendDimension(TF_ShapeInferenceContext* context, const std::vector<InputShape>& inputs,
                     int64_t at, TF_ShapeHandle* result, TF_Status* status) {
  ShapePtr chosen(TF_ShapeInferenceContextVectorFromSize(context, 1));
  bool unknown = false;
  for (const InputShape& input : inputs) {
    if (at > input.rank) continue;
    const DimPtr dim(TF_NewDimensionHandle());
    TF_ShapeInferenceContextDim(context, input.shape.get(), input.rank - at, dim.get());
    const bool known = TF_DimensionHandleValueKnown(dim.get()) != 0;
    if (known ? TF_DimensionHandleValue(dim.get()) == 1 : unknown) continue;
    chosen.reset(TF_NewShapeHandle());
    TF_ShapeInferenceContextSubshape(context, input.shape.get(), input.rank - at,
                                     input.rank - at + 1, chosen.get(), status);
    if (known || TF_GetCode(status) != TF_OK) break;
    unknown = true;
  }
  if (TF_GetCode(status) == TF_OK)
    TF_ShapeInferenceContextConcatenateShapes(context, result, chosen.get(), result, status);
}

void BroadcastShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  std::vector<InputShape> inputs;
  int64_t rank = 0;
  for (int64_t k = 0; k < TF_ShapeInferenceContextNumInputs(context); ++k) {
    ShapePtr shape(TF_NewShapeHandle());
    TF_ShapeInferenceContextGetInput(context, static_cast<int>(k), shape.get(), status);
    if (TF_GetCode(status) != TF_OK) return;
    if (TF_ShapeInferenceContextRankKnown(context, shape.get()) == 0)
      return TF_ShapeInferenceContextSetUnknownShape(context, status);
    inputs.push_back({std::move(shape), 0});
    inputs.back().rank = TF_ShapeInferenceContextRank(context, inputs.back().shape.get());
    rank = std::max(rank, inputs.back().rank);
  }
  const ShapePtr result(TF_ShapeInferenceContextScalar(context));
  for (int64_t at = rank; at > 0 && TF_GetCode(status) == TF_OK; --at)
    AppendDimension(context, inputs, at, result.get(), status);
  if (TF_GetCode(status) == TF_OK)
    TF_ShapeInferenceContextSetOutput(context, 0, result.get(), status);
}

}  // namespace

void RegisterFused() {
  const StatusPtr status(TF_NewStatus());
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("_OpenCLFused");
  TF_OpDefinitionBuilderAddInput(op, "inputs: Tin");
  TF_OpDefinitionBuilderAddOutput(op, "output: T");
  TF_OpDefinitionBuilderAddAttr(op, "Tin: list(type) >= 1");
  TF_OpDefinitionBuilderAddAttr(op, "T: type");
  TF_OpDefinitionBuilderAddAttr(op, "program: string");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, BroadcastShape);
  TF_RegisterOpDefinition(op, status.get());
  if (TF_GetCode(status.get()) != TF_OK)
    std::fprintf(stderr, "OpenCL: op _OpenCLFused: %s\n", TF_Message(status.get()));
  RegisterTable<FusedElements, kFusedElements>();
}

}  // namespace opencl
