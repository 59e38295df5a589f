#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

constexpr std::string_view kAllow =
    "Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 "
    "Conv3DBackpropInputV2 DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter "
    "DepthwiseConv2dNativeBackpropInput MatMul FusedPadConv2D BatchMatMul BatchMatMulV2 Einsum";

constexpr std::string_view kInfer =
    "Add AddN AddV2 AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Elu "
    "EluGrad Erf Erfc FloorDiv FusedBatchNormV2 FusedBatchNormGradV2 FusedBatchNormV3 "
    "FusedBatchNormGradV3 _FusedBatchNormEx Inv LeakyRelu LeakyReluGrad Log Log1p LogSoftmax Mean "
    "Mul Prod RealDiv Reciprocal Rsqrt Selu SeluGrad Sigmoid SigmoidGrad Softmax Softplus "
    "SoftplusGrad Softsign SoftsignGrad Sqrt Square SquaredDifference Sub Sum Tanh TanhGrad";

constexpr std::string_view kDeny =
    "Exp Expm1 L2Loss Pow SaveV2 SoftmaxCrossEntropyWithLogits "
    "SparseSoftmaxCrossEntropyWithLogits";

constexpr std::string_view kClear =
    "Abs ArgMax ArgMin BatchToSpace BatchToSpaceND BroadcastTo Ceil CheckNumerics ClipByValue "
    "Concat ConcatV2 DepthToSpace DynamicPartition DynamicStitch EnsureShape Enter Equal Exit "
    "ExpandDims Fill Floor Gather GatherNd GatherV2 Greater GreaterEqual Identity IdentityN "
    "IsFinite IsInf "
    "IsNan Less LessEqual Max Maximum MaxPool MaxPool3D MaxPool3DGrad MaxPoolGrad MaxPoolGradGrad "
    "MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2 Merge Min Minimum MirrorPad MirrorPadGrad Neg "
    "NextIteration NotEqual OnesLike Pack Pad PadV2 PreventGradient Rank Relu Relu6 Relu6Grad "
    "ReluGrad Reshape ResizeBilinear ResizeNearestNeighbor ResizeNearestNeighborGrad Reverse "
    "ReverseSequence ReverseV2 Round ScatterNd Select SelectV2 Shape ShapeN Sign Slice Snapshot "
    "SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV Squeeze StopGradient StridedSlice "
    "StridedSliceGrad Switch TensorListConcat TensorListConcatLists TensorListConcatV2 "
    "TensorListFromTensor TensorListGather TensorListGetItem TensorListPopBack TensorListPushBack "
    "TensorListPushBackBatch TensorListScatter TensorListScatterIntoExistingList "
    "TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack Tile TopK TopKV2 "
    "Transpose Unpack Where ZerosLike";

constexpr std::string_view kVariable = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_";

absl::flat_hash_set<std::string> ListOf(std::string_view ops, std::string_view name) {
  absl::flat_hash_set<std::string> list = absl::StrSplit(ops, ' ');
  const auto changes = [&](std::string_view what) -> std::vector<std::string> {
    const std::string variable = absl::StrCat(kVariable, name, "_", what);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr) return {};
    return absl::StrSplit(value, ',', absl::SkipEmpty());
  };
  for (std::string& op : changes("ADD")) list.insert(std::move(op));
  for (const std::string& op : changes("REMOVE")) list.erase(op);
  return list;
}

}  // namespace

absl::StatusOr<PrecisionLists> PrecisionLists::Make() {
  PrecisionLists lists;
  List seen;
  for (const List* list : {&lists.allow_, &lists.infer_, &lists.deny_, &lists.clear_}) {
    for (const std::string& op : *list) {
      if (seen.insert(op).second) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          op, " is on two of the lists of mixed precision; remove it from one: ", kVariable,
          "(ALLOW|INFER|DENY|CLEAR)LIST_REMOVE=", op));
    }
  }
  return lists;
}

PrecisionLists::PrecisionLists()
    : allow_(ListOf(kAllow, "ALLOWLIST")),
      infer_(ListOf(kInfer, "INFERLIST")),
      deny_(ListOf(kDeny, "DENYLIST")),
      clear_(ListOf(kClear, "CLEARLIST")) {}

Precision PrecisionLists::Of(std::string_view op) const {
  if (allow_.contains(op)) return Precision::kAllow;
  if (deny_.contains(op)) return Precision::kDeny;
  if (infer_.contains(op)) return Precision::kInfer;
  return clear_.contains(op) ? Precision::kClear : Precision::kNone;
}

}  // namespace tenon
