// Two tables of names by the minor version that brought them, turned into hash maps at the first
// question. The keys are views of the tables' text.

#include "grappler_lite/target/tensorflow_versions.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// What a minor version brought.
struct Row {
  int minor;
  std::string_view names;
};

// Read from the op lists of the packages of TensorFlow 2.0 to 2.21.
constexpr Row kOps[] = {
    {1,
     "BlockLSTMGradV2 BlockLSTMV2 CSRSparseMatrixComponents CSRSparseMatrixToDense "
     "CSRSparseMatrixToSparseTensor DebugIdentityV2 DebugNumericSummaryV2 "
     "DenseToCSRSparseMatrix Eig Erfinv GenerateBoundingBoxProposals Ndtri ParseExampleV2 "
     "ParseSequenceExampleV2 RaggedTensorToTensor Recv Send SparseMatrixAdd SparseMatrixMatMul "
     "SparseMatrixMul SparseMatrixNNZ SparseMatrixOrderingAMD SparseMatrixSoftmax "
     "SparseMatrixSoftmaxGrad SparseMatrixSparseCholesky SparseMatrixSparseMatMul "
     "SparseMatrixTranspose SparseMatrixZeros SparseTensorToCSRSparseMatrix"},
    {2,
     "CTCLossV2 CheckNumericsV2 Dawsn Expint FresnelCos FresnelSin "
     "ImageProjectiveTransformV2 MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 "
     "ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4 ParallelMapDatasetV2 "
     "ParseExampleDatasetV2 "
     "QuantizedMatMulWithBiasAndDequantize QuantizedMatMulWithBiasAndRequantize SobolSample "
     "Spence StatelessRandomBinomial StatelessRandomGammaV2 StatelessRandomPoisson "
     "StatelessRandomUniformFullInt ToBool Xlog1py"},
    {3,
     "BandedTriangularSolve BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e "
     "BesselK1 BesselK1e BesselY0 BesselY1 DenseBincount DenseCountSparseOutput DeviceIndex "
     "ExtractGlimpseV2 InitializeTableFromDataset RaggedBincount RaggedCountSparseOutput "
     "RaggedCross ResourceScatterNdMax ResourceScatterNdMin ScatterNdMax ScatterNdMin "
     "ShuffleAndRepeatDatasetV2 ShuffleDatasetV3 SparseBincount SparseCountSparseOutput "
     "SparseCrossHashed SparseCrossV2 StatelessParameterizedTruncatedNormal TensorScatterMax "
     "TensorScatterMin _FusedDepthwiseConv2dNative"},
    {4,
     "CollectiveGatherV2 CollectiveReduceV2 DecodeImage EmptyTensorMap "
     "ImageProjectiveTransformV3 IsotonicRegression MakeUnique OptimizeDatasetV2 "
     "QuantizeAndDequantizeV4 QuantizeAndDequantizeV4Grad RaggedTensorToVariantGradient "
     "RngReadAndSkip StatelessCase StatelessRandomGetKeyCounterAlg StatelessRandomNormalV2 "
     "StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2 StatelessRandomUniformV2 "
     "StatelessSampleDistortedBoundingBox StatelessTruncatedNormalV2 TensorMapErase "
     "TensorMapHasKey TensorMapInsert TensorMapLookup TensorMapSize TensorMapStackKeys "
     "TopKUnique TopKWithUnique"},
    {5,
     "CollectiveBcastRecvV2 CollectiveBcastSendV2 FinalizeDataset OptionsDataset "
     "QuantizedConcatV2 StatelessRandomGetAlg StatelessRandomGetKeyCounter"},
    {6, "BatchMatMulV3 SparseSegmentSumGrad _EagerConst _TensorToHashBucketFast"},
    {7,
     "AnonymousHashTable CollectiveAllToAllV3 CollectiveInitializeCommunicator "
     "CollectiveReduceV3 _FusedBatchNormGradEx"},
    {8,
     "AnonymousIteratorV3 AnonymousMutableDenseHashTable AnonymousMutableHashTable "
     "AnonymousMutableHashTableOfTensors FileSystemSetConfiguration _FusedConv3D "
     "_MklFusedBatchMatMulV2 _MklSwish"},
    {9, "CollectiveAssignGroupV2 RandomIndexShuffle _MklFusedMish"},
    {10,
     "ApproxTopK DisableCopyOnRead StatelessShuffle UniformDequantize "
     "UniformQuantizedDotHybrid"},
    {11,
     "UniformQuantize UniformQuantizedClipByValue UniformQuantizedDot "
     "UniformRequantize _FusedQuantizedConv2D _FusedQuantizedDepthwiseConv2D"},
    {12,
     "CollectiveReduceScatterV2 Conv2DBackpropFilterV2 Conv2DBackpropInputV2 "
     "SegmentProdV2 SegmentSumV2 StatelessRandomGammaV3 UniformQuantizedAdd "
     "UniformQuantizedConvolution UniformQuantizedConvolutionHybrid"},
    {13,
     "CollectiveAllToAllV2 DebugIdentityV3 RaggedFillEmptyRows "
     "RaggedFillEmptyRowsGrad SegmentMaxV2 SegmentMinV2 StochasticCastToInt "
     "_QuantizedMaxPool3D"},
    {14,
     "Conv SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2 "
     "TFRecordDatasetV2"},
    {15, "FFTND IFFTND IRFFTND RFFTND"},
    {17, "_QuantizedMatMul"},
    {20, "DecodeWebP"},
};

// "Op.attribute", of ops that are older.
constexpr Row kAttrs[] = {
    {1,
     "CTCBeamSearchDecoder.T CTCGreedyDecoder.T CTCLoss.T "
     "CollectiveBcastRecv.communication_hint CollectiveBcastSend.communication_hint "
     "CollectiveGather.communication_hint CollectiveReduce.communication_hint Dequantize.axis "
     "Dequantize.narrow_range EagerPyFunc.is_async IRFFT.Tcomplex IRFFT.Treal IRFFT2D.Tcomplex "
     "IRFFT2D.Treal IRFFT3D.Tcomplex IRFFT3D.Treal PrefetchDataset.legacy_autotune "
     "QuantizeAndDequantizeV2.axis QuantizeAndDequantizeV3.axis QuantizeV2.axis "
     "QuantizeV2.ensure_minimum_range QuantizeV2.narrow_range RFFT.Tcomplex RFFT.Treal "
     "RFFT2D.Tcomplex RFFT2D.Treal RFFT3D.Tcomplex RFFT3D.Treal"},
    {2,
     "DebugNumericSummaryV2.output_dtype Dequantize.dtype "
     "FusedBatchNorm.exponential_avg_factor FusedBatchNormV2.exponential_avg_factor "
     "FusedBatchNormV3.exponential_avg_factor "
     "QuantizedDepthwiseConv2DWithBiasAndRelu.padding_list "
     "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize.padding_list "
     "_FusedBatchNormEx.exponential_avg_factor"},
    {3,
     "ApplyFtrl.multiply_linear_by_lr ApplyFtrlV2.multiply_linear_by_lr "
     "BatchFunction.enable_large_batch_splitting CollectiveBcastRecv.timeout_seconds "
     "CollectiveBcastSend.timeout_seconds CollectiveGather.timeout_seconds "
     "CollectiveReduce.timeout_seconds DebugIdentityV2.circular_buffer_size "
     "DebugIdentityV2.tfdbg_run_id DepthwiseConv2dNative.explicit_paddings "
     "DepthwiseConv2dNativeBackpropFilter.explicit_paddings "
     "DepthwiseConv2dNativeBackpropInput.explicit_paddings "
     "ResourceApplyFtrl.multiply_linear_by_lr ResourceApplyFtrlV2.multiply_linear_by_lr "
     "ResourceSparseApplyFtrl.multiply_linear_by_lr "
     "ResourceSparseApplyFtrlV2.multiply_linear_by_lr "
     "ShuffleAndRepeatDataset.reshuffle_each_iteration SparseApplyFtrl.multiply_linear_by_lr "
     "SparseApplyFtrlV2.multiply_linear_by_lr SparseSegmentMean.Tsegmentids "
     "SparseSegmentMeanGrad.Tsegmentids SparseSegmentMeanWithNumSegments.Tsegmentids "
     "SparseSegmentSqrtN.Tsegmentids SparseSegmentSqrtNGrad.Tsegmentids "
     "SparseSegmentSqrtNWithNumSegments.Tsegmentids SparseSegmentSum.Tsegmentids "
     "SparseSegmentSumWithNumSegments.Tsegmentids VarHandleOp.allowed_devices"},
    {4,
     "MaxPool.explicit_paddings MaxPoolGrad.explicit_paddings "
     "ModelDataset.ram_budget PrefetchDataset.buffer_size_min _FusedConv2D.leakyrelu_alpha "
     "_FusedDepthwiseConv2dNative.leakyrelu_alpha"},
    {5,
     "CollectiveGatherV2.Nordering_token CollectiveReduceV2.Nordering_token "
     "InitializeTableFromTextFile.offset InitializeTableFromTextFileV2.offset "
     "_FusedMatMul.leakyrelu_alpha"},
    {6,
     "CTCGreedyDecoder.blank_index CollectiveReduceV2.max_subdivs_per_device "
     "TridiagonalSolve.perturb_singular"},
    {7,
     "BatchDataset.metadata BatchDatasetV2.metadata CacheDataset.metadata "
     "CacheDatasetV2.metadata ConcatenateDataset.metadata FilterDataset.metadata "
     "FixedLengthRecordDataset.metadata FixedLengthRecordDatasetV2.metadata "
     "FlatMapDataset.metadata GeneratorDataset.metadata InterleaveDataset.metadata "
     "MapDataset.metadata OptionsDataset.metadata PaddedBatchDataset.metadata "
     "PaddedBatchDatasetV2.metadata ParallelInterleaveDataset.metadata "
     "ParallelInterleaveDatasetV2.metadata ParallelInterleaveDatasetV3.metadata "
     "ParallelInterleaveDatasetV4.metadata ParallelMapDataset.metadata "
     "ParallelMapDatasetV2.metadata PrefetchDataset.metadata RangeDataset.metadata "
     "RepeatDataset.metadata ShardDataset.metadata ShuffleAndRepeatDataset.metadata "
     "ShuffleAndRepeatDatasetV2.metadata ShuffleDataset.metadata ShuffleDatasetV2.metadata "
     "ShuffleDatasetV3.metadata SkipDataset.metadata TFRecordDataset.metadata "
     "TakeDataset.metadata TensorDataset.metadata TensorSliceDataset.is_files "
     "TensorSliceDataset.metadata TextLineDataset.metadata WindowDataset.metadata "
     "ZipDataset.metadata"},
    {8, "AssignVariableOp.validate_shape"},
    {9, "_FusedConv3D.padding_list"},
    {10,
     "MergeV2Checkpoints.allow_missing_files RangeDataset.replicate_on_split "
     "TensorSliceDataset.replicate_on_split"},
    {11,
     "RandomIndexShuffle.rounds _FusedConv2D.TArgs _FusedConv2D.filter_format "
     "_FusedConv2D.num_host_args"},
    {12, "_MklFusedBatchMatMulV2.epsilon _MklFusedBatchMatMulV2.leakyrelu_alpha"},
    {13, "TensorListSetItem.resize_if_index_out_of_bounds TopKV2.Tk TopKV2.index_type"},
    {14,
     "BatchFunction.low_priority_allowed_batch_sizes "
     "BatchFunction.low_priority_batch_timeout_micros "
     "BatchFunction.low_priority_max_batch_size "
     "BatchFunction.low_priority_max_enqueued_batches ConcatOffset.shape_type"},
    {15,
     "CollectiveAllToAllV2.is_stateless CollectiveGatherV2.is_stateless "
     "CollectiveReduceScatterV2.is_stateless CollectiveReduceV2.is_stateless "
     "SparseSegmentMean.sparse_gradient SparseSegmentMeanWithNumSegments.sparse_gradient "
     "SparseSegmentSqrtN.sparse_gradient SparseSegmentSqrtNWithNumSegments.sparse_gradient "
     "SparseSegmentSum.sparse_gradient SparseSegmentSumWithNumSegments.sparse_gradient "
     "VarHandleOp.debug_name"},
    {16,
     "BatchMatMul.grad_x BatchMatMul.grad_y BatchMatMulV2.grad_x "
     "BatchMatMulV2.grad_y BatchMatMulV3.grad_x BatchMatMulV3.grad_y MatMul.grad_a "
     "MatMul.grad_b"},
    {17, "BatchFunction.mixed_priority_policy GatherNd.bad_indices_policy"},
    {18,
     "BatchFunction.batch_padding_policy MapDataset.force_synchronous "
     "ParallelMapDatasetV2.use_unbounded_threadpool ResourceScatterNdAdd.bad_indices_policy "
     "ResourceScatterNdMax.bad_indices_policy ResourceScatterNdMin.bad_indices_policy "
     "ResourceScatterNdSub.bad_indices_policy ResourceScatterNdUpdate.bad_indices_policy "
     "ScatterNd.bad_indices_policy ScatterNdAdd.bad_indices_policy "
     "ScatterNdMax.bad_indices_policy ScatterNdMin.bad_indices_policy "
     "ScatterNdNonAliasingAdd.bad_indices_policy ScatterNdSub.bad_indices_policy "
     "ScatterNdUpdate.bad_indices_policy TensorScatterAdd.bad_indices_policy "
     "TensorScatterMax.bad_indices_policy TensorScatterMin.bad_indices_policy "
     "TensorScatterSub.bad_indices_policy TensorScatterUpdate.bad_indices_policy"},
    {21, "TensorListGetItem.Tshape"},
};

using Since = absl::flat_hash_map<std::string_view, int>;

Since* OpsSince() {
  auto* since = new Since;
  for (const Row& row : kOps) {
    for (std::string_view op : absl::StrSplit(row.names, ' ')) since->emplace(op, row.minor);
  }
  return since;
}

// By the op.
absl::flat_hash_map<std::string_view, Since>* AttrsSince() {
  auto* since = new absl::flat_hash_map<std::string_view, Since>;
  for (const Row& row : kAttrs) {
    for (std::string_view name : absl::StrSplit(row.names, ' ')) {
      const std::pair<std::string_view, std::string_view> parts =
          absl::StrSplit(name, absl::MaxSplits('.', 1));
      (*since)[parts.first].emplace(parts.second, row.minor);
    }
  }
  return since;
}

int Find(const Since& since, std::string_view name) {
  const auto it = since.find(name);
  return it == since.end() ? 0 : it->second;
}

}  // namespace

int TensorFlowOpSince(std::string_view op) {
  static const Since* const kSince = OpsSince();
  return Find(*kSince, op);
}

int TensorFlowAttrSince(std::string_view op, std::string_view attr) {
  static const auto* const kSince = AttrsSince();
  const auto it = kSince->find(op);
  return it == kSince->end() ? 0 : Find(it->second, attr);
}

}  // namespace tenon
