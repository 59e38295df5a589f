// MatMul, batched products, and products with what follows them.

#include <algorithm>

#include "../base/gemm.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"

namespace opencl {
namespace {

// One matrix by another; a is [m, k] or [k, m], b is [k, n] or [n, k].
Gemm MatrixProduct(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  if (a.rank() != 2) Refuse("In[0] is not a matrix. Instead it has shape " + ShapeText(a.dims));
  if (b.rank() != 2) Refuse("In[1] is not a matrix. Instead it has shape " + ShapeText(b.dims));
  const int64_t m = a.dims[transpose_a ? 1 : 0], k = a.dims[transpose_a ? 0 : 1];
  const int64_t n = b.dims[transpose_b ? 0 : 1];
  if (b.dims[transpose_b ? 1 : 0] != k) {
    Refuse("Matrix size-incompatible: In[0]: " + ShapeText(a.dims) +
           ", In[1]: " + ShapeText(b.dims));
  }
  Gemm gemm;
  gemm.a = a;
  gemm.b = b;
  gemm.transpose_a = transpose_a;
  gemm.transpose_b = transpose_b;
  gemm.p.m = ProductSize(m);
  gemm.p.n = ProductSize(n);
  gemm.p.k = ProductSize(k);
  gemm.p.a_step = ProductSize(a.dims[1]);
  gemm.p.b_step = ProductSize(b.dims[1]);
  gemm.p.c_step = gemm.p.n;
  gemm.p.batches_inner = 1;
  return gemm;
}

class MatMul {
 public:
  MatMul(const Construction& node, const PlainRow&)
      : transpose_a_(node.Bool("transpose_a")), transpose_b_(node.Bool("transpose_b")) {}
  void Compute(Call& call) const {
    Gemm gemm = MatrixProduct(call.In(0), call.In(1), transpose_a_, transpose_b_);
    gemm.c = call.Out(0, {gemm.p.m, gemm.p.n});
    RunGemm(call, gemm);
  }

 private:
  const bool transpose_a_, transpose_b_;
};

class FusedMatMul {
 public:
  FusedMatMul(const Construction& node, const PlainRow&)
      : transpose_a_(node.Bool("transpose_a")),
        transpose_b_(node.Bool("transpose_b")),
        steps_(node.Strings("fused_ops")),
        epsilon_(node.Float("epsilon")),
        alpha_(node.Float("leakyrelu_alpha")) {}
  void Compute(Call& call) const {
    Gemm gemm = MatrixProduct(call.In(0), call.In(1), transpose_a_, transpose_b_);
    std::vector<Tensor> operands;
    for (int i = 2; i < call.inputs(); ++i) operands.push_back(call.In(i));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].count != gemm.p.n && operands[i].count != int64_t{gemm.p.m} * gemm.p.n) {
        Refuse("_FusedMatMul: operand " + std::to_string(i) + " has shape " +
               ShapeText(operands[i].dims) + ", the product [" + std::to_string(gemm.p.m) + "," +
               std::to_string(gemm.p.n) + "]");
      }
    }
    gemm.epilogue = MakeEpilogue(steps_, operands, epsilon_, alpha_);
    gemm.c = call.Out(0, {gemm.p.m, gemm.p.n});
    RunGemm(call, gemm);
  }

 private:
  const bool transpose_a_, transpose_b_;
  const std::vector<std::string> steps_;
  const float epsilon_, alpha_;
};

// Copies an operand so that its batches are those of the result.
Tensor Spread(Call& call, const Tensor& x, const Dims& batch) {
  Tensor out = x;
  out.dims = batch;
  out.dims.insert(out.dims.end(), x.dims.end() - 2, x.dims.end());
  out.count = Count(out.dims);
  out.data = call.Temp(x.type, out.dims).data;
  CopyStrided(call, x, 0, out, 0, BroadcastLoop(out.dims, {x.dims, out.dims}));
  return out;
}

class BatchMatMul {
 public:
  struct Row {
    OpRow row;
    bool broadcasts;
  };
  BatchMatMul(const Construction& node, const Row& row)
      : op_(row.row.op),
        broadcasts_(row.broadcasts),
        adjoint_x_(node.Bool("adj_x")),
        adjoint_y_(node.Bool("adj_y")) {}

  void Compute(Call& call) const {
    Tensor a = call.In(0), b = call.In(1);
    if (a.rank() < 2) Refuse("In[0] ndims must be >= 2: " + std::to_string(a.rank()));
    if (b.rank() < 2) Refuse("In[1] ndims must be >= 2: " + std::to_string(b.rank()));
    const Dims batch_a(a.dims.begin(), a.dims.end() - 2), batch_b(b.dims.begin(), b.dims.end() - 2);
    if (!broadcasts_ && batch_a != batch_b) {
      Refuse(std::string(op_) + ": In[0] and In[1] must have compatible batch dimensions: " +
             ShapeText(a.dims) + " vs. " + ShapeText(b.dims));
    }
    const Dims batch = Broadcast(batch_a, batch_b);
    Tensor matrix_a = a, matrix_b = b;
    matrix_a.dims.assign(a.dims.end() - 2, a.dims.end());
    matrix_b.dims.assign(b.dims.end() - 2, b.dims.end());
    Gemm gemm = MatrixProduct(matrix_a, matrix_b, adjoint_x_, adjoint_y_);
    Dims dims = batch;
    dims.insert(dims.end(), {gemm.p.m, gemm.p.n});
    gemm.c = call.Out(0, dims);
    if (gemm.c.count == 0) return;
    if (a.count == 0 || b.count == 0) return Clear(call, gemm.c);
    // One matrix for all batches: the rows of all are those of one product.
    if (Count(batch_b) == 1 && !adjoint_x_ && Count(batch_a) == Count(batch)) {
      gemm.p.m = ProductSize(gemm.p.m * Count(batch));
      return RunGemm(call, gemm);
    }
    SetBatches(call, batch, batch_a, batch_b, a, b, &gemm);
    RunGemm(call, gemm);
  }

 private:
  static void SetBatches(Call& call, const Dims& batch, const Dims& batch_a, const Dims& batch_b,
                         const Tensor& a, const Tensor& b, Gemm* gemm) {
    Loop loop = BroadcastLoop(batch, {batch_a, batch_b});
    if (loop.dims.size() > 2) {
      gemm->a.data = Spread(call, a, batch).data;
      gemm->b.data = Spread(call, b, batch).data;
      gemm->a.count = Count(batch) * gemm->a.dims[0] * gemm->a.dims[1];
      gemm->b.count = Count(batch) * gemm->b.dims[0] * gemm->b.dims[1];
      loop = BroadcastLoop(batch, {batch, batch});
    }
    while (loop.dims.size() < 2) {
      loop.dims.insert(loop.dims.begin(), 1);
      for (Dims& strides : loop.strides) strides.insert(strides.begin(), 0);
    }
    const int64_t size_a = gemm->a.dims[0] * gemm->a.dims[1];
    const int64_t size_b = gemm->b.dims[0] * gemm->b.dims[1];
    gemm->batches = Count(batch);
    gemm->p.batches_inner = ProductSize(loop.dims[1]);
    gemm->p.a_outer = loop.strides[0][0] * size_a;
    gemm->p.a_inner = loop.strides[0][1] * size_a;
    gemm->p.b_outer = loop.strides[1][0] * size_b;
    gemm->p.b_inner = loop.strides[1][1] * size_b;
  }

  const char* const op_;
  const bool broadcasts_, adjoint_x_, adjoint_y_;
};

constexpr TypeSet kProducts = kFloats | kI32 | kI64;
constexpr PlainRow kMatMul[] = {{{"MatMul", kProducts}}};
constexpr PlainRow kFused[] = {{{"_FusedMatMul", kFloats & ~kF64}}};
constexpr BatchMatMul::Row kBatch[] = {{{"BatchMatMul", kProducts}, false},
                                       {{"BatchMatMulV2", kProducts}, true}};

}  // namespace

void RegisterMatMul() {
  RegisterTable<MatMul, kMatMul>();
  RegisterTable<FusedMatMul, kFused>();
  RegisterTable<BatchMatMul, kBatch>();
}

}  // namespace opencl
