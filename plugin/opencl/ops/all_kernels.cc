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
  opencl::RegisterStridedSlice();
  opencl::RegisterHostIntegers();
  opencl::RegisterSelection();
  opencl::RegisterMatMul();
  opencl::RegisterConvolution();
  opencl::RegisterPooling();
  opencl::RegisterNormalization();
  opencl::RegisterImages();
  opencl::RegisterReshape();
  opencl::RegisterVariables();
}
