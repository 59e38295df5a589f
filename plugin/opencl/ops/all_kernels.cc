// TF_InitKernel.

#include "../device/status.h"
#include "families.h"
#include "host_integers.h"
#include "tensorflow/c/kernels.h"

OPENCL_ENTRY_POINT void TF_InitKernel(void) {
  opencl::RegisterElementwise();
  opencl::RegisterFused();
  opencl::RegisterReductions();
  opencl::RegisterSoftmax();
  opencl::RegisterLayout();
  opencl::RegisterBlocks();
  opencl::RegisterStridedSlice();
  opencl::RegisterHostIntegers();
  opencl::RegisterSelection();
  opencl::RegisterTopK();
  opencl::RegisterScatter();
  opencl::RegisterScan();
  opencl::RegisterMatMul();
  opencl::RegisterAttention();
  opencl::RegisterEinsum();
  opencl::RegisterConvolution();
  opencl::RegisterDepthwiseGradients();
  opencl::RegisterPooling();
  opencl::RegisterPoolGradients();
  opencl::RegisterNormalization();
  opencl::RegisterImages();
  opencl::RegisterReshape();
  opencl::RegisterRandom();
  opencl::RegisterVariables();
}
