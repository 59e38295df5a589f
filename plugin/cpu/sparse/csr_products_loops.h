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

absl::Status RunDenseProduct(const void* state, const StepArgs& args);

// The state of RunSparseProduct.
struct SparseProduct : NodeFacts {
  explicit SparseProduct(const Prepare& p) : NodeFacts(p) {}
  CsrFactor a, b;
  DataType type = DataType::kInvalid;
};

absl::Status RunSparseProduct(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
