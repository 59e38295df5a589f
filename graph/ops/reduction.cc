// Reductions, cumulative sums, segments and histograms.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"All", "input: bool; reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false; Tidx: {int32, int64} = DT_INT32", ReductionShape},
    {"Any", "input: bool; reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false; Tidx: {int32, int64} = DT_INT32", ReductionShape},
    {"ArgMax", "input: T; dimension: Tidx", "output: output_type",
     "T: {realnumbertype, quantizedtype, bool}; Tidx: {int16, int32, int64} = DT_INT32; "
     "output_type: {int16, uint16, int32, int64} = DT_INT64",
     ArgMaxShape},
    {"ArgMin", "input: T; dimension: Tidx", "output: output_type",
     "T: {realnumbertype, quantizedtype, bool}; Tidx: {int32, int64} = DT_INT32; "
     "output_type: {int32, int64} = DT_INT64",
     ArgMaxShape},
    {"Bincount", "arr: int32; size: int32; weights: T", "bins: T",
     "T: {int32, int64, float, double}", BincountShape},
    {"Bucketize", "input: T", "output: int32",
     "T: {int32, int64, float, double}; boundaries: list(float)", UnchangedShape},
    {"Cumprod", "x: T; axis: Tidx", "out: T",
     "exclusive: bool = false; reverse: bool = false; T: numbertype; "
     "Tidx: {int32, int64} = DT_INT32",
     CumulativeShape},
    {"Cumsum", "x: T; axis: Tidx", "out: T",
     "exclusive: bool = false; reverse: bool = false; T: numbertype; "
     "Tidx: {int32, int64} = DT_INT32",
     CumulativeShape},
    {"CumulativeLogsumexp", "x: T; axis: Tidx", "out: T",
     "exclusive: bool = false; reverse: bool = false; T: {bfloat16, half, float, double}; "
     "Tidx: {int32, int64} = DT_INT32",
     CumulativeShape},
    {"DenseBincount", "input: Tidx; size: Tidx; weights: T", "output: T",
     "Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false",
     DenseBincountShape},
    {"DenseCountSparseOutput", "values: T; weights: output_type",
     "output_indices: int64; output_values: output_type; output_dense_shape: int64",
     "T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; "
     "binary_output: bool; output_type: {int32, int64, float, double}",
     DenseCountShape},
    {"EuclideanNorm", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", ReductionShape},
    {"HistogramFixedWidth", "values: T; value_range: T; nbins: int32", "out: dtype",
     "T: {int32, int64, float, double}; dtype: {int32, int64} = DT_INT32", HistogramShape},
    {"Max", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: {realnumbertype, quantizedtype}; Tidx: {int32, int64} = DT_INT32",
     ReductionShape},
    {"Mean", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", ReductionShape},
    {"Min", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: {realnumbertype, quantizedtype}; Tidx: {int32, int64} = DT_INT32",
     ReductionShape},
    {"Prod", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", ProdShape},
    {"RaggedBincount", "splits: int64; values: Tidx; size: Tidx; weights: T", "output: T",
     "Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false",
     nullptr},
    {"RaggedCountSparseOutput", "splits: int64; values: T; weights: output_type",
     "output_indices: int64; output_values: output_type; output_dense_shape: int64",
     "T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; "
     "binary_output: bool; output_type: {int32, int64, float, double}",
     RaggedCountShape},
    {"SegmentMax", "data: T; segment_ids: Tindices", "output: T",
     "T: realnumbertype; Tindices: {int32, int64}", SegmentShape},
    {"SegmentMaxV2", "data: T; segment_ids: Tindices; num_segments: Tnumsegments", "output: T",
     "T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     nullptr},
    {"SegmentMean", "data: T; segment_ids: Tindices", "output: T",
     "T: numbertype; Tindices: {int32, int64}", SegmentShape},
    {"SegmentMin", "data: T; segment_ids: Tindices", "output: T",
     "T: realnumbertype; Tindices: {int32, int64}", SegmentShape},
    {"SegmentMinV2", "data: T; segment_ids: Tindices; num_segments: Tnumsegments", "output: T",
     "T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     nullptr},
    {"SegmentProd", "data: T; segment_ids: Tindices", "output: T",
     "T: numbertype; Tindices: {int32, int64}", SegmentShape},
    {"SegmentProdV2", "data: T; segment_ids: Tindices; num_segments: Tnumsegments", "output: T",
     "T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32", nullptr},
    {"SegmentSum", "data: T; segment_ids: Tindices", "output: T",
     "T: numbertype; Tindices: {int32, int64}", SegmentShape},
    {"SegmentSumV2", "data: T; segment_ids: Tindices; num_segments: Tnumsegments", "output: T",
     "T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32", nullptr},
    {"SparseBincount", "indices: int64; values: Tidx; dense_shape: int64; size: Tidx; weights: T",
     "output: T",
     "Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false",
     nullptr},
    {"SparseCountSparseOutput",
     "indices: int64; values: T; dense_shape: int64; weights: output_type",
     "output_indices: int64; output_values: output_type; output_dense_shape: int64",
     "T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; "
     "binary_output: bool; output_type: {int32, int64, float, double}",
     SparseCountShape},
    {"SparseSegmentMean", "data: T; indices: Tidx; segment_ids: Tsegmentids", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32; sparse_gradient: bool = false",
     SparseSegmentShape},
    {"SparseSegmentMeanGrad",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     SparseSegmentShape},
    {"SparseSegmentMeanGradV2",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; dense_output_dim0: int32",
     "output: T; sorted_unique_indices: Tidx",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     SparseSegmentGradV2Shape},
    {"SparseSegmentMeanWithNumSegments",
     "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tnumsegments: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     SparseSegmentShape},
    {"SparseSegmentSqrtN", "data: T; indices: Tidx; segment_ids: Tsegmentids", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32; sparse_gradient: bool = false",
     SparseSegmentShape},
    {"SparseSegmentSqrtNGrad",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     SparseSegmentShape},
    {"SparseSegmentSqrtNGradV2",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; dense_output_dim0: int32",
     "output: T; sorted_unique_indices: Tidx",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     SparseSegmentGradV2Shape},
    {"SparseSegmentSqrtNWithNumSegments",
     "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tnumsegments: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     SparseSegmentShape},
    {"SparseSegmentSum", "data: T; indices: Tidx; segment_ids: Tsegmentids", "output: T",
     "T: realnumbertype; Tidx: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     SparseSegmentShape},
    {"SparseSegmentSumGrad", "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32",
     "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     SparseSegmentShape},
    {"SparseSegmentSumGradV2",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; dense_output_dim0: int32",
     "output: T; sorted_unique_indices: Tidx",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     SparseSegmentGradV2Shape},
    {"SparseSegmentSumWithNumSegments",
     "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", "output: T",
     "T: realnumbertype; Tidx: {int32, int64} = DT_INT32; "
     "Tnumsegments: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     SparseSegmentShape},
    {"Sum", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", ReductionShape},
    {"UnsortedSegmentMax", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     UnsortedSegmentShape},
    {"UnsortedSegmentMin", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     UnsortedSegmentShape},
    {"UnsortedSegmentProd", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     UnsortedSegmentShape},
    {"UnsortedSegmentSum", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: numbertype; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     UnsortedSegmentShape},
};

}  // namespace

absl::Span<const OpSpec> Reduction() { return kOps; }

}  // namespace tenon::ops
