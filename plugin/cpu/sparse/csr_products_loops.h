// The run functions of products of sparse matrices.
#pragma once

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// The state of RunDenseProduct.
struct DenseProduct : NodeFacts {
  explicit DenseProduct(const Prepare& p) : NodeFacts(p) {}
  CsrFactor a, b;
  bool transpose_output = false, conjugate_output = false;
};

// Sets output 0 to the product of the sparse matrix in input 0 and the dense tensor in input 1, or
// of each two matrices of their batches. INVALID_ARGUMENT if types or shapes do not fit.
absl::Status RunDenseProduct(const void* state, const StepArgs& args);

// The state of RunSparseProduct.
struct SparseProduct : NodeFacts {
  explicit SparseProduct(const Prepare& p) : NodeFacts(p) {}
  CsrFactor a, b;
  DataType type = DataType::kInvalid;
};

// Sets output 0 to the product, a sparse matrix, of those in inputs 0 and 1, or of each two
// matrices of their batches. The entries of a row have ascending columns; a sum that is 0 is an
// entry too. INVALID_ARGUMENT if types or shapes do not fit.
absl::Status RunSparseProduct(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
