// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable SparseLayoutKernels();      // SparseReorder, SparseReshape
KernelTable SparseSliceKernels();       // SparseSlice, SparseFillEmptyRows
KernelTable SparseUnionKernels();       // SparseAdd
KernelTable SparseReduceKernels();      // SparseReduceSum, SparseSoftmax
KernelTable SparseMatMulKernels();      // SparseTensorDenseMatMul
KernelTable SparseWithDenseKernels();   // SparseToDense, SparseDenseCwise*
KernelTable SetKernels();               // *SetOperation, SetSize
KernelTable CountKernels();             // DenseCountSparseOutput
KernelTable SerializeSparseKernels();   // SerializeSparse, DeserializeSparse
KernelTable SparseTensorsMapKernels();  // AddSparseToTensorsMap
KernelTable CrossKernelsOfColumns();    // SparseCross, RaggedCross
KernelTable CsrConversionKernels();     // DenseToCSRSparseMatrix
KernelTable CsrArithmeticKernels();     // SparseMatrixAdd
KernelTable CsrProductKernels();        // SparseMatrixMatMul
KernelTable CsrFactorKernels();         // SparseMatrixSparseCholesky
KernelTable RaggedKernels();            // RaggedRange, RaggedGather
KernelTable RaggedConvertKernels();     // RaggedTensorToSparse, …ToTensor
KernelTable RaggedVariantKernels();     // RaggedTensorToVariant, …FromVariant

namespace tables {

KernelTables Sparse() {
  static const KernelTable tables[] = {SparseLayoutKernels(),
                                       SparseSliceKernels(),
                                       SparseUnionKernels(),
                                       SparseReduceKernels(),
                                       SparseMatMulKernels(),
                                       SparseWithDenseKernels(),
                                       SetKernels(),
                                       CountKernels(),
                                       SerializeSparseKernels(),
                                       SparseTensorsMapKernels(),
                                       CrossKernelsOfColumns(),
                                       CsrConversionKernels(),
                                       CsrArithmeticKernels(),
                                       CsrProductKernels(),
                                       CsrFactorKernels(),
                                       RaggedKernels(),
                                       RaggedConvertKernels(),
                                       RaggedVariantKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu
