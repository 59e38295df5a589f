// Reductions, cumulative sums, segments and histograms.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"All", "input: bool; reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false; Tidx: {int32, int64} = DT_INT32", nullptr},
    {"Any", "input: bool; reduction_indices: Tidx", "output: bool",
     "keep_dims: bool = false; Tidx: {int32, int64} = DT_INT32", nullptr},
    {"ArgMax", "input: T; dimension: Tidx", "output: output_type",
     "T: {realnumbertype, quantizedtype, bool}; Tidx: {int16, int32, int64} = DT_INT32; "
     "output_type: {int16, uint16, int32, int64} = DT_INT64",
     nullptr},
    {"ArgMin", "input: T; dimension: Tidx", "output: output_type",
     "T: {realnumbertype, quantizedtype, bool}; Tidx: {int32, int64} = DT_INT32; "
     "output_type: {int32, int64} = DT_INT64",
     nullptr},
    {"Bincount", "arr: int32; size: int32; weights: T", "bins: T",
     "T: {int32, int64, float, double}", nullptr},
    {"Bucketize", "input: T", "output: int32",
     "T: {int32, int64, float, double}; boundaries: list(float)", nullptr},
    {"Cumprod", "x: T; axis: Tidx", "out: T",
     "exclusive: bool = false; reverse: bool = false; T: numbertype; "
     "Tidx: {int32, int64} = DT_INT32",
     nullptr},
    {"Cumsum", "x: T; axis: Tidx", "out: T",
     "exclusive: bool = false; reverse: bool = false; T: numbertype; "
     "Tidx: {int32, int64} = DT_INT32",
     nullptr},
    {"CumulativeLogsumexp", "x: T; axis: Tidx", "out: T",
     "exclusive: bool = false; reverse: bool = false; T: {bfloat16, half, float, double}; "
     "Tidx: {int32, int64} = DT_INT32",
     nullptr},
    {"DenseBincount", "input: Tidx; size: Tidx; weights: T", "output: T",
     "Tidx: {int32, int64}; T: {int32, int64, float, double}; binary_output: bool = false",
     nullptr},
    {"EuclideanNorm", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", nullptr},
    {"HistogramFixedWidth", "values: T; value_range: T; nbins: int32", "out: dtype",
     "T: {int32, int64, float, double}; dtype: {int32, int64} = DT_INT32", nullptr},
    {"Max", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: {realnumbertype, quantizedtype}; Tidx: {int32, int64} = DT_INT32",
     nullptr},
    {"Mean", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", nullptr},
    {"Min", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: {realnumbertype, quantizedtype}; Tidx: {int32, int64} = DT_INT32",
     nullptr},
    {"Prod", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", nullptr},
    {"SegmentMax", "data: T; segment_ids: Tindices", "output: T",
     "T: realnumbertype; Tindices: {int32, int64}", nullptr},
    {"SegmentMean", "data: T; segment_ids: Tindices", "output: T",
     "T: numbertype; Tindices: {int32, int64}", nullptr},
    {"SegmentMin", "data: T; segment_ids: Tindices", "output: T",
     "T: realnumbertype; Tindices: {int32, int64}", nullptr},
    {"SegmentProd", "data: T; segment_ids: Tindices", "output: T",
     "T: numbertype; Tindices: {int32, int64}", nullptr},
    {"SegmentSum", "data: T; segment_ids: Tindices", "output: T",
     "T: numbertype; Tindices: {int32, int64}", nullptr},
    {"SparseSegmentMean", "data: T; indices: Tidx; segment_ids: Tsegmentids", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32; sparse_gradient: bool = false",
     nullptr},
    {"SparseSegmentMeanGrad",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     nullptr},
    {"SparseSegmentMeanWithNumSegments",
     "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tnumsegments: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     nullptr},
    {"SparseSegmentSqrtN", "data: T; indices: Tidx; segment_ids: Tsegmentids", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32; sparse_gradient: bool = false",
     nullptr},
    {"SparseSegmentSqrtNGrad",
     "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     nullptr},
    {"SparseSegmentSqrtNWithNumSegments",
     "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tnumsegments: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     nullptr},
    {"SparseSegmentSum", "data: T; indices: Tidx; segment_ids: Tsegmentids", "output: T",
     "T: realnumbertype; Tidx: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     nullptr},
    {"SparseSegmentSumGrad", "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32",
     "output: T",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32; "
     "Tsegmentids: {int32, int64} = DT_INT32",
     nullptr},
    {"SparseSegmentSumWithNumSegments",
     "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", "output: T",
     "T: realnumbertype; Tidx: {int32, int64} = DT_INT32; "
     "Tnumsegments: {int32, int64} = DT_INT32; Tsegmentids: {int32, int64} = DT_INT32; "
     "sparse_gradient: bool = false",
     nullptr},
    {"Sum", "input: T; reduction_indices: Tidx", "output: T",
     "keep_dims: bool = false; T: numbertype; Tidx: {int32, int64} = DT_INT32", nullptr},
    {"UnsortedSegmentMax", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     nullptr},
    {"UnsortedSegmentMin", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: realnumbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     nullptr},
    {"UnsortedSegmentProd", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: numbertype; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32", nullptr},
    {"UnsortedSegmentSum", "data: T; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: T",
     "T: numbertype; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     nullptr},
};

}  // namespace

absl::Span<const OpSpec> Reduction() { return kOps; }

}  // namespace tenon::ops
