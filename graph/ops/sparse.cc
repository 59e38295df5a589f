// Sparse and ragged tensors, beyond those in selection.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kSparseOps[] = {
    {"AddManySparseToTensorsMap", "sparse_indices: int64; sparse_values: T; sparse_shape: int64",
     "sparse_handles: int64", "T: type; container: string = ''; shared_name: string = ''",
     AddManySparseShape, kStateful},
    {"AddSparseToTensorsMap", "sparse_indices: int64; sparse_values: T; sparse_shape: int64",
     "sparse_handle: int64", "T: type; container: string = ''; shared_name: string = ''",
     AddSparseShape, kStateful},
    {"CSRSparseMatrixComponents", "csr_sparse_matrix: variant; index: int32",
     "row_ptrs: int32; col_inds: int32; values: type",
     "type: {float, double, complex64, complex128}", CsrComponentsShape},
    {"CSRSparseMatrixToDense", "sparse_input: variant", "dense_output: type",
     "type: {float, double, complex64, complex128}", RankRule<"0 ->">},
    {"CSRSparseMatrixToSparseTensor", "sparse_matrix: variant",
     "indices: int64; values: type; dense_shape: int64",
     "type: {float, double, complex64, complex128}", DeserializeSparseShape},
    {"DenseToCSRSparseMatrix", "dense_input: T; indices: int64", "sparse_output: variant",
     "T: {float, double, complex64, complex128}", DenseToCsrShape},
    {"DenseToSparseSetOperation", "set1: T; set2_indices: int64; set2_values: T; set2_shape: int64",
     "result_indices: int64; result_values: T; result_shape: int64",
     "set_operation: string; validate_indices: bool = true; "
     "T: {int8, int16, int32, int64, uint8, uint16, string}",
     SparseSetOperationShape},
    {"DeserializeManySparse", "serialized_sparse: string",
     "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64", "dtype: type",
     DeserializeManySparseShape},
    {"DeserializeSparse", "serialized_sparse: Tserialized",
     "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64",
     "dtype: type; Tserialized: {string, variant} = DT_STRING", DeserializeAnySparseShape},
    {"RaggedCross",
     "ragged_values: ragged_values_types; ragged_row_splits: ragged_splits_types; "
     "sparse_indices: Nsparse * int64; sparse_values: sparse_values_types; "
     "sparse_shape: Nsparse * int64; dense_inputs: dense_types",
     "output_values: out_values_type; output_row_splits: out_row_splits_type",
     "Nsparse: int >= 0; input_order: string; hashed_output: bool; num_buckets: int >= 0; "
     "hash_key: int; ragged_values_types: list({int64, string}) >= 0; "
     "ragged_splits_types: list({int32, int64}) >= 0; "
     "sparse_values_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; "
     "out_values_type: {int64, string}; out_row_splits_type: {int32, int64}",
     RaggedCrossShape},
    {"RaggedFillEmptyRows", "value_rowids: int64; values: T; nrows: int64; default_value: T",
     "output_value_rowids: int64; output_values: T; empty_row_indicator: bool; "
     "reverse_index_map: int64",
     "T: type", RaggedFillEmptyRowsShape},
    {"RaggedFillEmptyRowsGrad", "reverse_index_map: int64; grad_values: T",
     "d_values: T; d_default_value: T", "T: type", SparseFillEmptyRowsGradShape},
    {"RaggedTensorFromVariant", "encoded_ragged: variant",
     "output_nested_splits: output_ragged_rank * Tsplits; output_dense_values: Tvalues",
     "input_ragged_rank: int >= -1; output_ragged_rank: int >= 0; Tvalues: type; "
     "Tsplits: {int32, int64} = DT_INT64",
     RaggedTensorFromVariantShape},
    {"RaggedTensorToVariant", "rt_nested_splits: RAGGED_RANK * Tsplits; rt_dense_values: Tvalues",
     "encoded_ragged: variant",
     "RAGGED_RANK: int >= 0; Tvalues: type; Tsplits: {int32, int64} = DT_INT64; "
     "batched_input: bool",
     RaggedTensorToVariantShape},
    {"RaggedTensorToVariantGradient",
     "encoded_ragged_grad: variant; row_splits: Tsplits; dense_values_shape: int32",
     "dense_values_grad: Tvalues", "Tvalues: type; Tsplits: {int32, int64} = DT_INT64",
     RaggedVariantGradientShape},
    {"ScatterNdMax", "ref: Ref(T); indices: Tindices; updates: T", "output_ref: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "bad_indices_policy: string = ''",
     VariableScatterNdShape},
    {"ScatterNdMin", "ref: Ref(T); indices: Tindices; updates: T", "output_ref: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "bad_indices_policy: string = ''",
     VariableScatterNdShape},
    {"SerializeManySparse", "sparse_indices: int64; sparse_values: T; sparse_shape: int64",
     "serialized_sparse: out_type", "T: type; out_type: {string, variant} = DT_STRING",
     SerializeManySparseShape},
    {"SerializeSparse", "sparse_indices: int64; sparse_values: T; sparse_shape: int64",
     "serialized_sparse: out_type", "T: type; out_type: {string, variant} = DT_STRING",
     SerializeSparseShape},
    {"SetSize", "set_indices: int64; set_values: T; set_shape: int64", "size: int32",
     "validate_indices: bool = true; T: {int8, int16, int32, int64, uint8, uint16, string}",
     nullptr},
    {"SparseAddGrad",
     "backprop_val_grad: T; a_indices: int64; b_indices: int64; sum_indices: int64",
     "a_val_grad: T; b_val_grad: T", "T: numbertype", SparseAddGradShape},
    {"SparseCross",
     "indices: N * int64; values: sparse_types; shapes: N * int64; dense_inputs: dense_types",
     "output_indices: int64; output_values: out_type; output_shape: int64",
     "N: int >= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int; "
     "sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; "
     "out_type: {int64, string}; internal_type: {int64, string}",
     SparseCrossShape},
    {"SparseCrossHashed",
     "indices: N * int64; values: sparse_types; shapes: N * int64; dense_inputs: dense_types; "
     "num_buckets: int64; strong_hash: bool; salt: int64",
     "output_indices: int64; output_values: int64; output_shape: int64",
     "N: int >= 0; sparse_types: list({int64, string}) >= 0; "
     "dense_types: list({int64, string}) >= 0",
     SparseCrossShape},
    {"SparseCrossV2",
     "indices: N * int64; values: sparse_types; shapes: N * int64; dense_inputs: dense_types; "
     "sep: string",
     "output_indices: int64; output_values: string; output_shape: int64",
     "N: int >= 0; sparse_types: list({int64, string}) >= 0; "
     "dense_types: list({int64, string}) >= 0",
     SparseCrossShape},
    {"SparseFillEmptyRowsGrad", "reverse_index_map: int64; grad_values: T",
     "d_values: T; d_default_value: T", "T: type", SparseFillEmptyRowsGradShape},
    {"SparseMatrixAdd", "a: variant; b: variant; alpha: T; beta: T", "c: variant",
     "T: {float, double, complex64, complex128}", RankRule<"0 0 0 0 -> []">},
    {"SparseMatrixMatMul", "a: variant; b: T", "output: T",
     "T: type; transpose_a: bool = false; transpose_b: bool = false; adjoint_a: bool = false; "
     "adjoint_b: bool = false; transpose_output: bool = false; conjugate_output: bool = false",
     CsrMatMulShape, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"SparseMatrixMul", "a: variant; b: T", "output: variant", "T: type", RankRule<"0 -> []">},
    {"SparseMatrixNNZ", "sparse_matrix: variant", "nnz: int32", "", RankRule<"0 ->">},
    {"SparseMatrixOrderingAMD", "input: variant", "output: int32", "", RankRule<"0 ->">},
    {"SparseMatrixSoftmax", "logits: variant", "softmax: variant", "type: {float, double}",
     RankRule<"0 -> []">},
    {"SparseMatrixSoftmaxGrad", "softmax: variant; grad_softmax: variant", "gradient: variant",
     "type: {float, double}", RankRule<"0 0 -> []">},
    {"SparseMatrixSparseCholesky", "input: variant; permutation: int32", "output: variant",
     "type: {float, double, complex64, complex128}", RankRule<"0 -> []">},
    {"SparseMatrixSparseMatMul", "a: variant; b: variant", "c: variant",
     "type: {float, double, complex64, complex128}; transpose_a: bool = false; "
     "transpose_b: bool = false; adjoint_a: bool = false; adjoint_b: bool = false",
     RankRule<"0 0 -> []">, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"SparseMatrixTranspose", "input: variant", "output: variant",
     "conjugate: bool = false; type: {float, double, complex64, complex128}", RankRule<"0 -> []">},
    {"SparseMatrixZeros", "dense_shape: int64", "sparse_matrix: variant",
     "type: {float, double, complex64, complex128}", CsrZerosShape},
    {"SparseReduceMaxSparse",
     "input_indices: int64; input_values: T; input_shape: int64; reduction_axes: int32",
     "output_indices: int64; output_values: T; output_shape: int64",
     "keep_dims: bool = false; T: realnumbertype", nullptr},
    {"SparseReduceSumSparse",
     "input_indices: int64; input_values: T; input_shape: int64; reduction_axes: int32",
     "output_indices: int64; output_values: T; output_shape: int64",
     "keep_dims: bool = false; T: numbertype", nullptr},
    {"SparseSliceGrad",
     "backprop_val_grad: T; input_indices: int64; input_start: int64; output_indices: int64",
     "val_grad: T", "T: numbertype", SparseSliceGradShape},
    {"SparseSparseMaximum",
     "a_indices: int64; a_values: T; a_shape: int64; b_indices: int64; b_values: T; b_shape: int64",
     "output_indices: int64; output_values: T", "T: realnumbertype", SparseSparseShape},
    {"SparseSparseMinimum",
     "a_indices: int64; a_values: T; a_shape: int64; b_indices: int64; b_values: T; b_shape: int64",
     "output_indices: int64; output_values: T", "T: numbertype", SparseSparseShape},
    {"SparseSplit", "split_dim: int64; indices: int64; values: T; shape: int64",
     "output_indices: num_split * int64; output_values: num_split * T; "
     "output_shape: num_split * int64",
     "num_split: int; T: type", SparseSplitShape},
    {"SparseTensorToCSRSparseMatrix", "indices: int64; values: T; dense_shape: int64",
     "sparse_matrix: variant", "T: {float, double, complex64, complex128}", SparseToCsrShape},
    {"SparseToSparseSetOperation",
     "set1_indices: int64; set1_values: T; set1_shape: int64; set2_indices: int64; "
     "set2_values: T; set2_shape: int64",
     "result_indices: int64; result_values: T; result_shape: int64",
     "set_operation: string; validate_indices: bool = true; "
     "T: {int8, int16, int32, int64, uint8, uint16, string}",
     SparseSetOperationShape},
    {"TakeManySparseFromTensorsMap", "sparse_handles: int64",
     "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64",
     "dtype: type; container: string = ''; shared_name: string = ''", TakeManySparseShape,
     kStateful},
};

}  // namespace

absl::Span<const OpSpec> Sparse() { return kSparseOps; }

}  // namespace tenon::ops
