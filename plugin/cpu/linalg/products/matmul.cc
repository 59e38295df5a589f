// Shapes and attributes of the matrix products; the arithmetic is chosen here and done in
// matmul_*.cc.
#include "plugin/cpu/linalg/products/matmul.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/products/batch_broadcast.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The last two dimensions as they enter the product.
absl::Status ReadMatrices(const Prepare& p, MatMulProblem& problem) {
  const Shape& a = p.input_shape(0);
  const Shape& b = p.input_shape(1);
  const int ra = a.rank(), rb = b.rank();
  problem.m = a.dim(problem.transpose_a ? ra - 1 : ra - 2);
  problem.k = a.dim(problem.transpose_a ? ra - 2 : ra - 1);
  problem.n = b.dim(problem.transpose_b ? rb - 2 : rb - 1);
  const int64_t k = b.dim(problem.transpose_b ? rb - 1 : rb - 2);
  if (problem.k == k) return absl::OkStatus();
  return p.Invalid(
      absl::StrCat("Matrix size-incompatible: In[0]: ", a.ToString(), ", In[1]: ", b.ToString()));
}

// A batch of matrices by one matrix is one product of more rows: one large product fills oneDNN's
// blocks and threads better than many small ones. It does not hold for a transposed `a`, whose rows
// are not contiguous from one matrix to the next.
void FoldBatch(MatMulProblem& problem, bool b_is_one_matrix) {
  if (!b_is_one_matrix || problem.transpose_a || problem.batch() < 2) return;
  problem.m *= problem.batch();
  problem.a_batch = problem.b_batch = {0};
}

// The first that can: loops for products so small that oneDNN's call would be much of their time;
// oneDNN, which says Unimplemented where it has no primitive, unless it would emulate the type;
// blocks of packed operands for any type. Products of no terms, k == 0, go to the last: what is
// fused is still applied to their zeros.
absl::Status Choose(Prepare& p, const MatMulProblem& problem) {
  if (problem.batch() == 0 || problem.m == 0 || problem.n == 0) return absl::OkStatus();
  const DataType t = p.input_type(0);
  const bool uniform = t == p.input_type(1) && t == p.output_type(0);
  const bool emulated = t == DataType::kBfloat16 && !ComputesBfloat16();
  if (uniform && problem.k > 0 && OneDnnType(t).has_value() && !emulated) {
    if (t == DataType::kFloat) {
      TENON_ASSIGN_OR_RETURN(const bool small, PrepareSmallMatMul(p, problem));
      if (small) return absl::OkStatus();
    }
    const absl::Status status = PrepareOneDnnMatMul(p, problem);
    if (!absl::IsUnimplemented(status)) return status;
  }
  return PrepareAnyMatMul(p, problem);
}

absl::Status PrepareMatMul(Prepare& p) {
  MatMulProblem problem;
  for (int i = 0; i < 2; ++i) {
    if (p.input_shape(i).rank() != 2) {
      return p.Invalid(absl::StrCat("In[", i, "] is not a matrix. Instead it has shape ",
                                    p.input_shape(i).ToString()));
    }
  }
  TENON_ASSIGN_OR_RETURN(problem.transpose_a, p.AttrBool("transpose_a"));
  TENON_ASSIGN_OR_RETURN(problem.transpose_b, p.AttrBool("transpose_b"));
  TENON_RETURN_IF_ERROR(ReadMatrices(p, problem));
  TENON_ASSIGN_OR_RETURN(problem.fused, ReadFusedOps(p, 2));
  if (problem.fused.batch_norm >= 0)
    return p.Unimplemented("fused_ops [FusedBatchNorm] of a matrix product is not built");
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, {problem.m, problem.n}));
  TENON_RETURN_IF_ERROR(CheckFusedShapes(p, problem.fused, output, 1));
  p.set_output_shape(0, output);
  problem.a_batch = problem.b_batch = {0};
  return Choose(p, problem);
}

absl::Status PrepareBatchMatMulAs(Prepare& p, bool broadcast, bool scale_add = false) {
  MatMulProblem problem;
  const Shape& a = p.input_shape(0);
  const Shape& b = p.input_shape(1);
  if (a.rank() < 2 || b.rank() < 2) {
    return p.Invalid(absl::StrCat("both inputs must have at least rank 2, not ", a.ToString(),
                                  " and ", b.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(problem.transpose_a, p.AttrBool("adj_x"));
  TENON_ASSIGN_OR_RETURN(problem.transpose_b, p.AttrBool("adj_y"));
  // "adj" is the conjugate transpose; MatMul's "transpose" conjugates nothing.
  problem.conjugate_a = problem.transpose_a;
  problem.conjugate_b = problem.transpose_b;
  TENON_RETURN_IF_ERROR(ReadMatrices(p, problem));
  const auto a_batch = a.dims().subspan(0, a.rank() - 2);
  const auto b_batch = b.dims().subspan(0, b.rank() - 2);
  if (!broadcast && a_batch != b_batch) {
    return p.Invalid(absl::StrCat("the batch dimensions of ", a.ToString(), " and ", b.ToString(),
                                  " must be equal"));
  }
  TENON_ASSIGN_OR_RETURN(const Dims batch, BroadcastBatch(p, a_batch, b_batch));
  Dims dims = batch;
  dims.push_back(problem.m);
  dims.push_back(problem.n);
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, dims));
  p.set_output_shape(0, output);
  if (scale_add) {
    TENON_ASSIGN_OR_RETURN(problem.scale_add, ScaleAdd::Make(p, 2, 3, output));
  }
  // A batch of empty matrices may be far larger than memory is.
  if (output.num_elements() == 0) return absl::OkStatus();
  problem.a_batch = BatchIndices(a_batch, batch);
  problem.b_batch = BatchIndices(b_batch, batch);
  // `a` must not be broadcast itself, or the batch would have more matrices than memory holds.
  const bool all_of_a = Shape(a_batch).num_elements() == problem.batch();
  FoldBatch(problem, all_of_a && Shape(b_batch).num_elements() == 1);
  return Choose(p, problem);
}

absl::Status PrepareBatchMatMul(Prepare& p) { return PrepareBatchMatMulAs(p, false); }
absl::Status PrepareBatchMatMulV2(Prepare& p) { return PrepareBatchMatMulAs(p, true); }

absl::Status PrepareFusedBatchMatMul(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> ops, p.AttrStringList("fused_ops"));
  if (ops != std::vector<std::string_view>{"Mul", "Add"})
    return p.Unimplemented(absl::StrCat("fused_ops [", absl::StrJoin(ops, ", "), "] is not built"));
  if (p.num_inputs() != 4)
    return p.Invalid(
        absl::StrCat("fused_ops [Mul, Add] needs 2 arguments, the node has ", p.num_inputs() - 2));
  return PrepareBatchMatMulAs(p, true, true);
}

constexpr uint64_t kTypes =
    kFloatTypes | kComplexTypes | TypeBits(DataType::kInt16, DataType::kInt32, DataType::kInt64);
constexpr uint64_t kFloatBit = TypeBit(DataType::kFloat);
constexpr uint64_t kBfloat16 = TypeBit(DataType::kBfloat16);
constexpr uint64_t kBytes = TypeBits(DataType::kInt8, DataType::kUint8);

#define TENON_SAME(type)                                                                      \
  {                                                                                           \
    "BatchMatMulV3", {{"Ta", TypeBit(type)}, {"Tb", TypeBit(type)}, {"Tout", TypeBit(type)}}, \
        &PrepareBatchMatMulV2                                                                 \
  }

const CpuKernelSpec kMatMulKernels[] = {
    {"MatMul", {{"T", kTypes}}, &PrepareMatMul},
    {"_FusedMatMul", {{"T", kHalfTypes | kFloatBit}}, &PrepareMatMul},
    {"BatchMatMul", {{"T", kTypes}}, &PrepareBatchMatMul},
    {"BatchMatMulV2", {{"T", kTypes}}, &PrepareBatchMatMulV2},
    {"_MklFusedBatchMatMulV2", {{"T", kHalfTypes | kFloatBit}}, &PrepareFusedBatchMatMul},
    {"SparseMatMul",
     {{"Ta", kFloatBit | kBfloat16}, {"Tb", kFloatBit | kBfloat16}},
     &PrepareMatMul},
    TENON_SAME(DataType::kFloat),
    TENON_SAME(DataType::kDouble),
    TENON_SAME(DataType::kBfloat16),
    TENON_SAME(DataType::kHalf),
    TENON_SAME(DataType::kInt16),
    TENON_SAME(DataType::kInt32),
    TENON_SAME(DataType::kInt64),
    TENON_SAME(DataType::kComplex64),
    TENON_SAME(DataType::kComplex128),
    {"BatchMatMulV3",
     {{"Ta", kBytes}, {"Tb", kBytes}, {"Tout", TypeBit(DataType::kInt32)}},
     &PrepareBatchMatMulV2},
    {"BatchMatMulV3",
     {{"Ta", kBytes}, {"Tb", kBfloat16}, {"Tout", kBfloat16}},
     &PrepareBatchMatMulV2},
    {"BatchMatMulV3",
     {{"Ta", kBfloat16}, {"Tb", kBytes}, {"Tout", kBfloat16}},
     &PrepareBatchMatMulV2},
};

#undef TENON_SAME

}  // namespace

absl::Span<const CpuKernelSpec> MatMulKernels() { return kMatMulKernels; }

}  // namespace tenon::cpu
