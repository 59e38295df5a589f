// The families of kernels; each function registers one. host_integers.h has two more. TF_InitKernel
// (all_kernels.cc) calls each once.
#pragma once

namespace opencl {

void RegisterElementwise();
void RegisterFused();
void RegisterReductions();
void RegisterSoftmax();
void RegisterLayout();
void RegisterBlocks();
void RegisterSelection();
void RegisterTopK();
void RegisterScatter();
void RegisterScan();
void RegisterMatMul();
void RegisterAttention();
void RegisterEinsum();
void RegisterConvolution();
void RegisterDepthwiseGradients();
void RegisterPooling();
void RegisterPoolGradients();
void RegisterNormalization();
void RegisterVariables();
void RegisterImages();
void RegisterReshape();
void RegisterRandom();

}  // namespace opencl
