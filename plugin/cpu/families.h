// The tables of the CPU's kernel families, one function per family file. To add a family: declare
// it here, list it in all_kernels.cc.
#pragma once

#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

absl::Span<const CpuKernelSpec> ElementwiseKernels();
absl::Span<const CpuKernelSpec> SliceKernels();   // Slice, StridedSlice, Reverse
absl::Span<const CpuKernelSpec> JoinKernels();    // Concat, Pack, Split, Unpack
absl::Span<const CpuKernelSpec> RepeatKernels();  // Tile, BroadcastTo, Fill
absl::Span<const CpuKernelSpec> TileGradKernels();
absl::Span<const CpuKernelSpec> TransposeKernels();      // Transpose, SpaceToBatch and kin
absl::Span<const CpuKernelSpec> GatherKernels();         // Gather, OneHot
absl::Span<const CpuKernelSpec> SequenceKernels();       // Range, LinSpace, BroadcastArgs
absl::Span<const CpuKernelSpec> MatrixPartKernels();     // MatrixBandPart, Diag
absl::Span<const CpuKernelSpec> ReductionKernels();      // Sum, Mean, Max
absl::Span<const CpuKernelSpec> ArgKernels();            // ArgMax, ArgMin
absl::Span<const CpuKernelSpec> ScanKernels();           // Cumsum, Cumprod
absl::Span<const CpuKernelSpec> TopKKernels();           // TopKV2, NthElement
absl::Span<const CpuKernelSpec> WhereKernels();          // Where, Unique, ListDiff
absl::Span<const CpuKernelSpec> CompositionKernels();    // _UnaryOpsComposition
absl::Span<const CpuKernelSpec> ComplexKernels();        // Complex, Real, Conj
absl::Span<const CpuKernelSpec> StringElementKernels();  // Equal, Add, Select of strings
absl::Span<const CpuKernelSpec> CheckNumericsKernels();
absl::Span<const CpuKernelSpec> DebugKernels();           // DebugIdentity, DebugNumericSummary
absl::Span<const CpuKernelSpec> HistogramKernels();       // Bincount, Bucketize
absl::Span<const CpuKernelSpec> SegmentKernels();         // SegmentSum, UnsortedSegmentSum
absl::Span<const CpuKernelSpec> SparseSegmentKernels();   // SparseSegmentSum, its gradients
absl::Span<const CpuKernelSpec> SparseBincountKernels();  // RaggedBincount, SparseBincount
absl::Span<const CpuKernelSpec> StitchKernels();          // DynamicPartition, DynamicStitch, Roll
absl::Span<const CpuKernelSpec> NonMaxSuppressionKernels();
absl::Span<const CpuKernelSpec> CombinedNmsKernels();
absl::Span<const CpuKernelSpec> WeightedResizeKernels();  // ResizeArea, gradients of resizes
absl::Span<const CpuKernelSpec> ColorKernels();           // RGBToHSV, AdjustHue, AdjustContrast
absl::Span<const CpuKernelSpec> CropKernels();            // CropAndResize and its gradients
absl::Span<const CpuKernelSpec> DrawBoxesKernels();
absl::Span<const CpuKernelSpec> PatchKernels();  // ExtractImagePatches, ExtractVolumePatches
absl::Span<const CpuKernelSpec> GlimpseKernels();
absl::Span<const CpuKernelSpec> SampleBoxKernels();   // SampleDistortedBoundingBox
absl::Span<const CpuKernelSpec> ProjectionKernels();  // ImageProjectiveTransform
absl::Span<const CpuKernelSpec> QuantizeKernels();    // QuantizeV2, Dequantize
absl::Span<const CpuKernelSpec> QuantizeAndDequantizeKernels();
absl::Span<const CpuKernelSpec> FakeQuantKernels();
absl::Span<const CpuKernelSpec> RequantizeKernels();
absl::Span<const CpuKernelSpec> QuantizedElementKernels();  // QuantizedRelu, QuantizedAdd
absl::Span<const CpuKernelSpec> QuantizedProductKernels();  // QuantizedMatMul, QuantizedConv2D
absl::Span<const CpuKernelSpec> QuantizedPoolKernels();
absl::Span<const CpuKernelSpec> QuantizedResizeKernels();
absl::Span<const CpuKernelSpec> PerChannelRequantizeKernels();
absl::Span<const CpuKernelSpec> UniformElementKernels();  // UniformQuantize, UniformRequantize
absl::Span<const CpuKernelSpec> UniformAddKernels();
absl::Span<const CpuKernelSpec> UniformDotKernels();
absl::Span<const CpuKernelSpec> UniformConvolutionKernels();
absl::Span<const CpuKernelSpec> QuantizedTensorKernels();  // QuantizedConcat, batch normalization
absl::Span<const CpuKernelSpec> EinsumKernels();
absl::Span<const CpuKernelSpec> StringSimpleKernels();  // StringLength, StringLower, the hashes
absl::Span<const CpuKernelSpec> StringJoinKernels();    // StringJoin, ReduceJoin
absl::Span<const CpuKernelSpec> SubstrKernels();
absl::Span<const CpuKernelSpec> StringSplitKernels();
absl::Span<const CpuKernelSpec> RegexKernels();
absl::Span<const CpuKernelSpec> NumberTextKernels();  // StringToNumber, AsString
absl::Span<const CpuKernelSpec> RawBytesKernels();    // DecodeRaw, DecodeBase64
absl::Span<const CpuKernelSpec> UnicodeKernels();     // UnicodeDecode, UnicodeTranscode
absl::Span<const CpuKernelSpec> StringFormatKernels();
absl::Span<const CpuKernelSpec> StringNGramsKernels();
absl::Span<const CpuKernelSpec> EditDistanceKernels();
absl::Span<const CpuKernelSpec> EncodePngKernels();
absl::Span<const CpuKernelSpec> DecodeImageKernels();  // DecodeJpeg, DecodePng, DecodeImage
absl::Span<const CpuKernelSpec> EncodeJpegKernels();
absl::Span<const CpuKernelSpec> WavKernels();
absl::Span<const CpuKernelSpec> CsvKernels();
absl::Span<const CpuKernelSpec> BytesKernels();  // DecodeCompressed, ParseTensor, Fingerprint
absl::Span<const CpuKernelSpec> SobolKernels();
absl::Span<const CpuKernelSpec> ClusteringKernels();  // NearestNeighbors
absl::Span<const CpuKernelSpec> ParseExampleKernels();
absl::Span<const CpuKernelSpec> ParseSequenceExampleKernels();
absl::Span<const CpuKernelSpec> RandomKernels();        // RandomUniform, its kin, stateless ones
absl::Span<const CpuKernelSpec> KeyCounterKernels();    // StatelessRandomGetKeyCounter
absl::Span<const CpuKernelSpec> ShuffleKernels();       // RandomShuffle
absl::Span<const CpuKernelSpec> IndexShuffleKernels();  // RandomIndexShuffle
absl::Span<const CpuKernelSpec> MultinomialKernels();
absl::Span<const CpuKernelSpec> GammaPoissonKernels();
absl::Span<const CpuKernelSpec> BinomialKernels();
absl::Span<const CpuKernelSpec> ParameterizedTruncatedNormalKernels();
absl::Span<const CpuKernelSpec> CandidateSamplerKernels();
absl::Span<const CpuKernelSpec> RandomCropKernels();
absl::Span<const CpuKernelSpec> BasicKernels();  // Const, Identity, Shape: what needs no arithmetic
absl::Span<const CpuKernelSpec> AssertKernels();
absl::Span<const CpuKernelSpec> MatMulKernels();   // MatMul, BatchMatMul*, fused ones
absl::Span<const CpuKernelSpec> BiasAddKernels();  // BiasAdd, BiasAddV1
absl::Span<const CpuKernelSpec> ConvKernels();  // Conv2D, Conv3D, Depthwise…, their fused forms
absl::Span<const CpuKernelSpec> ConvGradKernels();         // Conv2DBackpropInput and kin
absl::Span<const CpuKernelSpec> PaddedConvKernels();       // FusedPadConv2D
absl::Span<const CpuKernelSpec> DilationKernels();         // Dilation2D, its gradients
absl::Span<const CpuKernelSpec> PoolGradKernels();         // MaxPoolGrad, AvgPoolGrad
absl::Span<const CpuKernelSpec> ArgmaxPoolKernels();       // MaxPoolWithArgmax, its gradients
absl::Span<const CpuKernelSpec> FractionalPoolKernels();   // FractionalMaxPool, its gradients
absl::Span<const CpuKernelSpec> BatchNormGradKernels();    // FusedBatchNormGrad and its versions
absl::Span<const CpuKernelSpec> GlobalBatchNormKernels();  // BatchNormWithGlobalNormalization
absl::Span<const CpuKernelSpec> LrnKernels();              // LRN, its gradient
absl::Span<const CpuKernelSpec> LstmKernels();             // LSTMBlockCell, BlockLSTM
absl::Span<const CpuKernelSpec> LstmGradKernels();         // their gradients
absl::Span<const CpuKernelSpec> GruKernels();              // GRUBlockCell, its gradient
absl::Span<const CpuKernelSpec> IsotonicRegressionKernels();
absl::Span<const CpuKernelSpec> CtcLossKernels();
absl::Span<const CpuKernelSpec> CtcDecoderKernels();
absl::Span<const CpuKernelSpec> BatchNormKernels();  // FusedBatchNorm and its versions
absl::Span<const CpuKernelSpec> PoolKernels();       // MaxPool, AvgPool
absl::Span<const CpuKernelSpec> ResizeKernels();     // ResizeBilinear, ResizeNearestNeighbor
absl::Span<const CpuKernelSpec> LossKernels();       // L2Loss, cross entropies, InTopK
absl::Span<const CpuKernelSpec> SoftmaxKernels();    // Softmax, LogSoftmax

absl::Span<const CpuKernelSpec> PadKernels();             // Pad, MirrorPad
absl::Span<const CpuKernelSpec> ScatterKernels();         // ScatterNd, TensorScatter*, Inplace*
absl::Span<const CpuKernelSpec> IndexMapKernels();        // UnravelIndex, DataFormatDimMap
absl::Span<const CpuKernelSpec> MatrixDiagonalKernels();  // MatrixDiag, MatrixDiagPart
absl::Span<const CpuKernelSpec> SearchSortedKernels();    // LowerBound, UpperBound

// Sparse and ragged tensors, sets.
absl::Span<const CpuKernelSpec> SparseLayoutKernels();     // SparseReorder, SparseReshape
absl::Span<const CpuKernelSpec> SparseSliceKernels();      // SparseSlice, SparseFillEmptyRows
absl::Span<const CpuKernelSpec> SparseUnionKernels();      // SparseAdd
absl::Span<const CpuKernelSpec> SparseReduceKernels();     // SparseReduceSum, SparseSoftmax
absl::Span<const CpuKernelSpec> SparseMatMulKernels();     // SparseTensorDenseMatMul
absl::Span<const CpuKernelSpec> SparseWithDenseKernels();  // SparseToDense, SparseDenseCwise*
absl::Span<const CpuKernelSpec> SetKernels();              // *SetOperation, SetSize
absl::Span<const CpuKernelSpec> RaggedKernels();           // RaggedRange, RaggedGather
absl::Span<const CpuKernelSpec> RaggedConvertKernels();    // RaggedTensorToSparse, …ToTensor

// Matrices, Fourier transforms, sound.
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
