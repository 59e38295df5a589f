// Matrix products, and convolutions as products: the choice of a kernel and its parts.
#pragma once

#include <string>
#include <vector>

#include "call.h"

namespace opencl {

// What happens to each result before it is stored.
struct Epilogue {
  // OpenCL C over v, row, column and at; tensors are e0, e1, ... One line without a // comment: the
  // code becomes a macro.
  std::string code;
  std::vector<Tensor> tensors;  // of the product's type
};

// Steps as the host's fused ops name them ("BiasAdd", "Add", "FusedBatchNorm", "Relu", ...) with
// their operands in order. Throws UNIMPLEMENTED for a name that this plug-in does not know, and
// INVALID_ARGUMENT if there are too few operands.
Epilogue MakeEpilogue(const std::vector<std::string>& steps, const std::vector<Tensor>& operands,
                      float epsilon, float alpha);

// gemm.cl, Product and Window.
struct ProductNumbers {
  cl_int m, n, k, a_step, b_step, c_step, batches_inner;
  cl_int unused = 0;
  cl_long a_outer, a_inner, b_outer, b_inner;
};
struct WindowNumbers {
  cl_int height, width, step, channels;
  cl_int kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  cl_int out_height, out_width;
};

enum class WindowKind { kNone, kForward, kGradient };

struct Gemm {
  Tensor a, b, c;
  bool transpose_a = false, transpose_b = false;
  int64_t batches = 1;
  ProductNumbers p = {};
  WindowKind window = WindowKind::kNone;
  WindowNumbers w = {};
  Epilogue epilogue;
};

// A dimension as the product's kernels take it. Throws UNIMPLEMENTED for one above INT_MAX.
cl_int ProductSize(int64_t size);

// Queues the product. Operands and result are of one type: a float type, or without window and
// epilogue an integer. Does nothing for an empty `c`. Without k and epilogue, `c` becomes 0.
void RunGemm(Call& call, const Gemm& gemm);

}  // namespace opencl
