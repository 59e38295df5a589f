// The tables of sparse and ragged ops that stand beside those of plugin/cpu/families.h.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

absl::Span<const CpuKernelSpec> CountKernels();             // DenseCountSparseOutput
absl::Span<const CpuKernelSpec> SerializeSparseKernels();   // SerializeSparse, DeserializeSparse
absl::Span<const CpuKernelSpec> SparseTensorsMapKernels();  // AddSparseToTensorsMap
absl::Span<const CpuKernelSpec> CrossKernelsOfColumns();    // SparseCross, RaggedCross
absl::Span<const CpuKernelSpec> CsrConversionKernels();     // DenseToCSRSparseMatrix
absl::Span<const CpuKernelSpec> CsrArithmeticKernels();     // SparseMatrixAdd
absl::Span<const CpuKernelSpec> CsrProductKernels();        // SparseMatrixMatMul
absl::Span<const CpuKernelSpec> CsrFactorKernels();         // SparseMatrixSparseCholesky

}  // namespace tenon::cpu
