// Products of matrices of any type: operands are packed as numbers of one of six types, and
// multiplied in blocks of registers.
#pragma once

#include "graph/tensor/dtype.h"
#include "plugin/cpu/linalg/products/matmul.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// The state of a product.
struct AnyMatMul {
  MatMulProblem q;
  DataType a_type, b_type, out_type;
};

// How a product is run.
struct AnyMatMulRun {
  RunFn run;
  double bytes;  // of scratch memory; in double, which cannot overflow
};

// Returns the run function for results of type `out`. The state is an AnyMatMul.
AnyMatMulRun FindAnyMatMul(DataType out, const MatMulProblem& q);

}  // namespace tenon::cpu
