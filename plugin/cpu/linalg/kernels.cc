// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable EinsumKernels();
KernelTable MatMulKernels();  // MatMul, BatchMatMul*, fused ones
KernelTable CodedKernels();   // _TenonCodedMatMul
KernelTable CodedGatherKernels();
KernelTable QuantizedMatMulKernels();
KernelTable CholeskyKernels();
KernelTable LuKernels();  // Lu, MatrixInverse, MatrixSolve, MatrixDeterminant
KernelTable QrKernels();
KernelTable SvdKernels();
KernelTable SelfAdjointEigenKernels();
KernelTable EigenKernels();
KernelTable LeastSquaresKernels();  // MatrixSolveLs
KernelTable TriangularSolveKernels();
KernelTable BandedKernels();  // BandedTriangularSolve, TridiagonalMatMul
KernelTable TridiagonalSolveKernels();
KernelTable MatrixFunctionKernels();  // MatrixExponential, MatrixLogarithm
KernelTable CrossKernels();
KernelTable FftKernels();  // FFT, RFFT, their inverses, in 1 to 3 dimensions

namespace tables {

KernelTables Linalg() {
  static const KernelTable tables[] = {EinsumKernels(),
                                       MatMulKernels(),
                                       CodedKernels(),
                                       CodedGatherKernels(),
                                       QuantizedMatMulKernels(),
                                       CholeskyKernels(),
                                       LuKernels(),
                                       QrKernels(),
                                       SvdKernels(),
                                       SelfAdjointEigenKernels(),
                                       EigenKernels(),
                                       LeastSquaresKernels(),
                                       TriangularSolveKernels(),
                                       BandedKernels(),
                                       TridiagonalSolveKernels(),
                                       MatrixFunctionKernels(),
                                       CrossKernels(),
                                       FftKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
