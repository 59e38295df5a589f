// The families of kernels; each function registers one. host_integers.h has two more.
#pragma once

namespace opencl {

void RegisterElementwise();
void RegisterFused();
void RegisterReductions();
void RegisterSoftmax();
void RegisterLayout();
void RegisterSelection();
void RegisterMatMul();
void RegisterConvolution();
void RegisterPooling();
void RegisterNormalization();
void RegisterVariables();
void RegisterImages();
void RegisterReshape();

}  // namespace opencl
