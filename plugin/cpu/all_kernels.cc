#include "plugin/cpu/families.h"
#include "plugin/kernel.h"

namespace tenon {

absl::Span<const absl::Span<const CpuKernelSpec>> CpuKernels() {
  static const absl::Span<const CpuKernelSpec> families[] = {
      cpu::ElementwiseKernels(),
      cpu::SliceKernels(),
      cpu::JoinKernels(),
      cpu::RepeatKernels(),
      cpu::TransposeKernels(),
      cpu::GatherKernels(),
      cpu::SequenceKernels(),
      cpu::MatrixPartKernels(),
      cpu::ReductionKernels(),
      cpu::ArgKernels(),
      cpu::ScanKernels(),
      cpu::TopKKernels(),
      cpu::WhereKernels(),
      cpu::ComplexKernels(),
      cpu::StringElementKernels(),
      cpu::SegmentKernels(),
      cpu::StitchKernels(),
      cpu::NonMaxSuppressionKernels(),
      cpu::EinsumKernels(),
      cpu::RandomKernels(),
      cpu::BasicKernels(),
      cpu::MatMulKernels(),
      cpu::BiasAddKernels(),
      cpu::BatchNormKernels(),
      cpu::ConvKernels(),
      cpu::PoolKernels(),
      cpu::SoftmaxKernels(),
      cpu::ConvGradKernels(),
      cpu::PoolGradKernels(),
      cpu::ResizeKernels(),
      cpu::LossKernels(),
      cpu::CheckNumericsKernels(),
      cpu::HistogramKernels(),
      cpu::SparseSegmentKernels(),
      cpu::PadKernels(),
      cpu::ScatterKernels(),
      cpu::IndexMapKernels(),
      cpu::MatrixDiagonalKernels(),
      cpu::SearchSortedKernels(),
      cpu::SparseLayoutKernels(),
      cpu::SparseSliceKernels(),
      cpu::SparseUnionKernels(),
      cpu::SparseReduceKernels(),
      cpu::SparseMatMulKernels(),
      cpu::SparseWithDenseKernels(),
      cpu::SetKernels(),
      cpu::RaggedKernels(),
      cpu::RaggedConvertKernels(),
  };
  return families;
}

}  // namespace tenon
