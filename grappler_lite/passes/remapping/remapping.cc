// Fuses MatMul and convolution with what follows them. Each rewrite merges one node into the
// contraction before it, and the sweep goes forward, so that Conv2D, BiasAdd, Add, Relu become one
// node step by step. The last node of a chain keeps its name. What strides leave out is dropped at
// last. Recognizes what is written out and has a kernel.
#include "graph/base/status_macros.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

constexpr Rewrite kFusions[] = {
    {"fuse_pad", Exactness::kToleranced, FusePad, "Conv2D DepthwiseConv2dNative"},
    {"fold_batch_norm", Exactness::kToleranced, FoldBatchNorm,
     "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3"},
    {"fold_mul", Exactness::kToleranced, FoldMul, "Mul"},
    {"fuse_bias", Exactness::kToleranced, FuseBias, "BiasAdd"},
    {"fuse_added_bias", Exactness::kToleranced, FuseAddedBias, "Add AddV2"},
    {"fuse_residual", Exactness::kToleranced, FuseResidual, "Add AddV2"},
    {"fuse_activation", Exactness::kToleranced, FuseActivation,
     "Relu Relu6 Elu LeakyRelu Tanh Sigmoid _MklSwish _MklFusedMish"},
    {"fuse_written_activation", Exactness::kToleranced, FuseWrittenActivation, "Mul RealDiv"},
    {"fuse_batch_norm_relu", Exactness::kToleranced, FuseBatchNormRelu, "Relu"},
    {"fuse_hash_buckets", Exactness::kExact, FuseHashBuckets, "StringToHashBucketFast"},
    {"recognize_softmax", Exactness::kToleranced, RecognizeSoftmax, "RealDiv"},
    {"recognize_layer_norm", Exactness::kToleranced, RecognizeLayerNorm, "Add AddV2"},
    {"recognize_attention", Exactness::kToleranced, RecognizeAttention,
     "BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum"},
    {"exchange_heads_in_attention", Exactness::kExact, ExchangeHeadsInAttention, "Transpose"},
};

// Nothing looks into what is composed or merged, so that it comes when there is nothing else to do.
constexpr Rewrite kLastRewrites[] = {
    {"expand_batch_norm", Exactness::kToleranced, ExpandBatchNorm,
     "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3"},
    {"fuse_batch_matmul", Exactness::kToleranced, FuseBatchMatMul, "Add AddV2"},
    {"compose_unary", Exactness::kExact, ComposeUnary},
    {"chain_additions", Exactness::kExact, ChainAdditions, "Add AddV2"},
};

class Remapping : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    std::vector<RewriteInfo> infos = InfosOf(kFusions);
    infos.push_back(kLiftStrides);
    infos.push_back(kMergeProjections);
    for (const RewriteInfo& info : InfosOf(kLastRewrites)) infos.push_back(info);
    return infos;
  }

  absl::StatusOr<bool> Run(PassContext& context) override {
    TENON_ASSIGN_OR_RETURN(const bool fused, Sweep(context, InferShapes(context)).Run(kFusions));
    TENON_ASSIGN_OR_RETURN(const bool lifted, LiftStrides(context));
    // The next iteration of the pipeline comes back: the last rewrites wait until nothing is fused
    // any more.
    if (fused || lifted) return true;
    TENON_ASSIGN_OR_RETURN(const bool merged, MergeProjections(context));
    TENON_ASSIGN_OR_RETURN(const bool composed,
                           Sweep(context, InferShapes(context)).Run(kLastRewrites));
    return merged || composed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeRemapping() { return std::make_unique<Remapping>(); }

}  // namespace tenon
