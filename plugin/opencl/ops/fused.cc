// _OpenCLFused and its kin: a program of elementwise ops (fused_program.h) as one kernel, with what
// the attribute `end` says behind it: a softmax, or a norm whose scale and offset are the last two
// inputs; or a reduction of the last dimension (Rows, RowsKept) or of all (All). The pass of this
// plug-in makes these nodes.

#include <algorithm>

#include "../base/map.h"
#include "../base/registry.h"
#include "families.h"
#include "fused_program.h"
#include "row_ends.h"
#include "tensorflow/c/ops.h"

namespace opencl {
namespace {

// What becomes of the last dimension of what the program computes.
enum class Last { kStays, kGoes, kBecomesOne, kGoesWithAll };

struct FusedRow {
  OpRow row;
  Last last;
};

class FusedElements {
 public:
  FusedElements(const Construction& node, const FusedRow& row)
      : row_(row), end_(node.String("end")), epsilon_(node.Float("epsilon")) {
    std::vector<TF_DataType> types = node.Types("Tin");
    if (end_ == "LayerNorm") types.resize(types.size() - std::min<size_t>(types.size(), 2));
    program_inputs_ = types.size();
    const FusedProgram program = TranslateProgram(node.String("program"), types);
    body_ = {program.body};
    type_ = program.result;
    if (type_ != node.Type("T"))
      Refuse(std::string("attribute T of ") + row.row.op +
             " is not the type of its program's result");
    if (row.last != Last::kStays) reduction_ = FindReduction(end_, type_);
    if (!FitsEnd())
      Refuse(std::string(row.row.op) + ": '" + end_ + "' is no end of a program of this type");
  }

  void Compute(Call& call) const {
    std::vector<Tensor> inputs;
    std::vector<int> candidates;
    Tensor elements;
    elements.type = type_;
    for (int k = 0; k < static_cast<int>(program_inputs_); ++k) {
      inputs.push_back(call.In(k));
      elements.dims = Broadcast(elements.dims, inputs.back().dims);
      candidates.push_back(k);
    }
    elements.count = Count(elements.dims);
    if (end_.empty())
      return RunBroadcastMap(call, body_, inputs, call.OutLike(0, elements.dims, candidates));
    const size_t rank = elements.dims.size();
    if (rank == 0) Refuse(std::string(row_.row.op) + ": " + end_ + " needs a dimension");
    Dims dims = elements.dims;
    if (row_.last == Last::kGoes) dims.pop_back();
    if (row_.last == Last::kBecomesOne) dims.back() = 1;
    if (row_.last == Last::kGoesWithAll) dims.clear();
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    const MapRows map(call.device(), body_, inputs, elements,
                      row_.last == Last::kGoesWithAll ? rank : 1);
    // What cannot be read row by row is computed first; so are short rows, which reductions take in
    // another order, and what has no elements.
    constexpr int64_t kShortRow = 32;
    if (map.fits() && elements.count != 0 && map.length() >= kShortRow)
      return End(call, {elements, &map}, out);
    elements.data = call.Temp(type_, elements.dims).data;
    RunBroadcastMap(call, body_, inputs, elements);
    End(call, {elements}, out);
  }

 private:
  bool FitsEnd() const {
    if (row_.last != Last::kStays) return reduction_ != nullptr;
    if (end_ == "LayerNorm") return type_ == TF_FLOAT;
    if (end_ == "Softmax" || end_ == "LogSoftmax") return TypeOf(type_).kind == Kind::kFloat;
    return end_.empty();
  }

  void End(Call& call, const Rows& rows, const Tensor& out) const {
    if (reduction_ != nullptr) return RunReduction(call, *reduction_, rows, out);
    if (end_ != "LayerNorm") return RunSoftmax(call, rows, end_ == "LogSoftmax", out);
    const int scale = static_cast<int>(program_inputs_);
    RunLayerNorm(call, row_.row.op, rows, call.In(scale), call.In(scale + 1), epsilon_, out);
  }

  const FusedRow& row_;
  const std::string end_;
  const float epsilon_;
  const ReduceRow* reduction_ = nullptr;  // unless the last dimension stays
  size_t program_inputs_ = 0;
  MapBody body_;
  TF_DataType type_ = TF_FLOAT;
};

constexpr FusedRow kFusedElements[] = {{{"_OpenCLFused", 0}, Last::kStays},
                                       {{"_OpenCLFusedRows", 0}, Last::kGoes},
                                       {{"_OpenCLFusedRowsKept", 0}, Last::kBecomesOne},
                                       {{"_OpenCLFusedAll", 0}, Last::kGoesWithAll}};

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

// Of the result of a program, whose last dimension then stays, goes or becomes 1. Scale and offset
// of a norm change nothing of it.
template <Last kLast>
void FusedShape(TF_ShapeInferenceContext* context, TF_Status* status) {
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
  constexpr int64_t kFirst = kLast == Last::kStays ? 0 : 1;
  for (int64_t at = kLast == Last::kGoesWithAll ? 0 : rank;
       at > kFirst && TF_GetCode(status) == TF_OK; --at)
    AppendDimension(context, inputs, at, result.get(), status);
  if (kLast == Last::kBecomesOne && TF_GetCode(status) == TF_OK) {
    const ShapePtr one(TF_ShapeInferenceContextVectorFromSize(context, 1));
    TF_ShapeInferenceContextConcatenateShapes(context, result.get(), one.get(), result.get(),
                                              status);
  }
  if (TF_GetCode(status) == TF_OK)
    TF_ShapeInferenceContextSetOutput(context, 0, result.get(), status);
}

}  // namespace

void RegisterFused() {
  constexpr void (*kShapes[])(TF_ShapeInferenceContext*, TF_Status*) = {
      FusedShape<Last::kStays>, FusedShape<Last::kGoes>, FusedShape<Last::kBecomesOne>,
      FusedShape<Last::kGoesWithAll>};
  for (const FusedRow& row : kFusedElements) {
    const StatusPtr status(TF_NewStatus());
    TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(row.row.op);
    TF_OpDefinitionBuilderAddInput(op, "inputs: Tin");
    TF_OpDefinitionBuilderAddOutput(op, "output: T");
    TF_OpDefinitionBuilderAddAttr(op, "Tin: list(type) >= 1");
    TF_OpDefinitionBuilderAddAttr(op, "T: type");
    TF_OpDefinitionBuilderAddAttr(op, "program: string");
    TF_OpDefinitionBuilderAddAttr(op, "end: string = ''");
    TF_OpDefinitionBuilderAddAttr(op, "epsilon: float = 0.0");
    TF_OpDefinitionBuilderSetShapeInferenceFunction(op, kShapes[static_cast<size_t>(row.last)]);
    TF_RegisterOpDefinition(op, status.get());
    if (TF_GetCode(status.get()) != TF_OK)
      std::fprintf(stderr, "OpenCL: op %s: %s\n", row.row.op, TF_Message(status.get()));
  }
  RegisterTable<FusedElements, kFusedElements>();
}

}  // namespace opencl
