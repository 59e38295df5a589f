// The tables of the families of linear algebra and of Fourier transforms, listed in
// plugin/cpu/all_kernels.cc.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

absl::Span<const CpuKernelSpec> CholeskyKernels();
absl::Span<const CpuKernelSpec> LuKernels();  // Lu, MatrixInverse, MatrixSolve, MatrixDeterminant
absl::Span<const CpuKernelSpec> QrKernels();
absl::Span<const CpuKernelSpec> SvdKernels();
absl::Span<const CpuKernelSpec> SelfAdjointEigenKernels();
absl::Span<const CpuKernelSpec> EigenKernels();
absl::Span<const CpuKernelSpec> LeastSquaresKernels();  // MatrixSolveLs
absl::Span<const CpuKernelSpec> TriangularSolveKernels();
absl::Span<const CpuKernelSpec> BandedKernels();  // BandedTriangularSolve, TridiagonalMatMul
absl::Span<const CpuKernelSpec> TridiagonalSolveKernels();
absl::Span<const CpuKernelSpec> MatrixFunctionKernels();  // MatrixExponential, MatrixLogarithm
absl::Span<const CpuKernelSpec> CrossKernels();
absl::Span<const CpuKernelSpec> FftKernels();  // FFT, RFFT, their inverses, in 1 to 3 dimensions
absl::Span<const CpuKernelSpec> SpectrogramKernels();
absl::Span<const CpuKernelSpec> MfccKernels();

}  // namespace tenon::cpu
