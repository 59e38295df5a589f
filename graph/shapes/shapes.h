// The shape functions of the built-in ops, by the file that holds them. The tables in graph/ops
// name them; a rule of one op alone may stand above its table there instead; see common_shapes.h
// for what a shape function may do.
#pragma once

#include "graph/shapes/common_shapes.h"

namespace tenon::ops {

// arrays_shapes.cc
ShapeFunction BroadcastArgsShape, BroadcastGradientArgsShape, BroadcastToShape, ExpandDimsShape,
    FillShape, LinSpaceShape, RangeShape, RankShape, ReshapeShape, ReverseSequenceShape,
    ReverseShape, ReverseV2Shape, RollShape, ShapeNShape, ShapeShape, SizeShape, SqueezeShape,
    TileShape, TransposeShape;

// basic_shapes.cc
ShapeFunction ArgShape, ConstShape, EnsureShapeShape, PlaceholderWithDefaultShape;

// elementwise_shapes.cc
ShapeFunction AddShape, BitcastShape, CastShape, DivShape, EqualShape, FloorDivShape, FloorModShape,
    MaximumShape, MinimumShape, MulShape, SelectShape, SelectV2Shape, SubShape;

// image_shapes.cc
ShapeFunction AdjustContrastShape, AtLeastImageShape, ColorSpaceShape,
    CombinedNonMaxSuppressionShape, CropAndResizeGradBoxesShape, CropAndResizeGradImageShape,
    CropAndResizeShape, DrawBoundingBoxesShape, ExtractGlimpseShape, ExtractPatchesShape,
    LikeInput1Shape, NonMaxSuppressionOverlapsShape, NonMaxSuppressionPaddedShape,
    NonMaxSuppressionShape, ProjectiveTransformShape, RandomCropShape, ResizeLikeShape, ResizeShape,
    SampleDistortedBoundingBoxShape;

// layout_shapes.cc
ShapeFunction AtLeastMatrixShape, BatchToSpaceNDShape, BatchToSpaceShape, DepthToSpaceShape,
    DiagPartShape, DiagShape, MatrixDiagPartShape, MatrixDiagPartV2Shape, MatrixDiagShape,
    MatrixDiagV2Shape, MatrixSetDiagShape, MatrixSetDiagV2Shape, MirrorPadGradShape, PadShape,
    SpaceToBatchNDShape, SpaceToBatchShape, SpaceToDepthShape;

// linalg_shapes.cc
ShapeFunction BandedTriangularSolveShape, BatchMatMulShape, CrossShape, DeterminantShape,
    EinsumShape, Fft2DShape, Fft3DShape, FftShape, Irfft2DShape, Irfft3DShape, IrfftShape, LuShape,
    MatMulShape, MatrixSolveLsShape, MatrixSolveShape, MatrixTriangularSolveShape, QrShape,
    Rfft2DShape, Rfft3DShape, RfftShape, SelfAdjointEigShape, SparseMatMulShape, SquareMatrixShape,
    SvdShape, TridiagonalMatMulShape, TridiagonalSolveShape;

// nn_shapes.cc
ShapeFunction ApproxTopKShape, AtLeastVectorShape, BatchNormGlobalGradShape, BatchNormGlobalShape,
    BiasAddGradShape, BiasAddShape, BlockLSTMShape, BucketizeFeaturesShape,
    CTCBeamSearchDecoderShape, CTCGreedyDecoderShape, CTCLossShape, CudnnRnnCanonicalShape,
    CudnnRnnShape, FractionalPoolShape, FusedBatchNormGradExShape, FusedBatchNormGradShape,
    FusedBatchNormShape, GRUBlockCellGradShape, GRUBlockCellShape, InTopKShape, LRNGradShape,
    LSTMBlockCellGradShape, LSTMBlockCellShape, NthElementShape, SoftmaxCrossEntropyShape,
    SparseSoftmaxCrossEntropyShape, StatsSummaryShape, TopKV2Shape;

// preprocess_shapes.cc
ShapeFunction AudioSpectrogramShape, DecodeAnyImageShape, DecodeCSVShape, DecodeCroppedImageShape,
    DecodeFramesShape, DecodeGifShape, DecodeImageShape, DecodeWavShape, EncodeJpegShape,
    EncodePngShape, EncodeWavShape, FingerprintShape, ImageDimensionsShape, MfccShape;

// parse_shapes.cc
ShapeFunction DecodeProtoShape, EncodeProtoShape, ParseExampleShape, ParseExampleV2Shape,
    ParseSequenceExampleShape, ParseSequenceExampleV2Shape, ParseSingleExampleShape,
    ParseSingleSequenceExampleShape;

// distribution_shapes.cc
ShapeFunction BatchShape, CollectiveGatherShape, CollectiveRowsShape, ReadVariablesShape,
    ReceivedShape, ScopedAllocatorSplitShape, UnbatchGradShape, UnbatchShape, VarHandlesShape;

// quantize_shapes.cc
ShapeFunction DequantizeShape, DeviceConv2DShape, DeviceDepthwiseConv2DShape,
    FakeQuantArgsGradShape, FakeQuantPerChannelGradShape, FakeQuantPerChannelShape,
    FakeQuantVarsGradShape, FakeQuantVarsShape, FusedConv2DShape, FusedConv2DWithSumShape,
    FusedMatMulShape, QuantizeAndDequantizeGradShape, QuantizeAndDequantizeShape, QuantizeV2Shape,
    QuantizedBatchNormShape, QuantizedBiasAddShape, QuantizedBinaryShape, QuantizedConv2DShape,
    QuantizedMatMulShape, QuantizedPool3DShape, QuantizedPoolShape, QuantizedReshapeShape,
    QuantizedResizeShape, QuantizedUnaryShape, RequantizationRangePerChannelShape,
    RequantizationRangeShape, RequantizePerChannelShape;

// random_shapes.cc
ShapeFunction CandidateSamplerShape, IndexShuffleShape, KeyCounterShape, MultinomialShape,
    RandomUniformIntShape, RngReadAndSkipShape, RngSkipShape, SamplesOfEachShape, ShapeInputShape,
    SobolSampleShape, StatefulRandomShape, StatefulStandardNormalShape, StatelessMultinomialShape,
    StatelessRandomIntShape, StatelessRandomIntV2Shape, StatelessRandomShape,
    StatelessRandomV2Shape, StochasticCastShape, TruncatedNormalShape;

// reduction_shapes.cc
ShapeFunction ArgMaxShape, BincountShape, CumulativeShape, DenseBincountShape, HistogramShape,
    ProdShape, ReductionShape, SegmentShape, SparseSegmentGradShape, SparseSegmentGradV2Shape,
    SparseSegmentShape, UnsortedSegmentShape;

// selection_shapes.cc
ShapeFunction DynamicPartitionShape, DynamicStitchShape, GatherNdShape, GatherShape, GatherV2Shape,
    InvertPermutationShape, ListDiffShape, OneHotShape, ScatterNdShape, SearchSortedShape,
    TensorScatterShape, UniqueShape, UniqueV2Shape, UnravelIndexShape, VariableGatherNdShape,
    VariableScatterNdShape, WhereShape;

// slice_shapes.cc
ShapeFunction ConcatOffsetShape, ConcatShape, ConcatV2Shape, PackShape, ParallelConcatShape,
    QuantizedConcatShape, QuantizedConcatV2Shape, SliceShape, SplitShape, SplitVShape,
    StridedSliceGradShape, StridedSliceShape, UnpackShape;

// sparse_shapes.cc
ShapeFunction AddManySparseShape, AddSparseShape, CsrComponentsShape, CsrMatMulShape, CsrZerosShape,
    DenseCountShape, DenseSetOperationShape, DenseToCsrShape, DeserializeAnySparseShape,
    DeserializeManySparseShape, DeserializeSparseShape, RaggedCountShape, RaggedCrossShape,
    RaggedFillEmptyRowsShape, RaggedGatherShape, RaggedRangeShape, RaggedTensorFromVariantShape,
    RaggedTensorToSparseShape, RaggedTensorToTensorShape, RaggedTensorToVariantShape,
    RaggedVariantGradientShape, SerializeManySparseShape, SerializeSparseShape, SparseAddGradShape,
    SparseAddShape, SparseBincountShape, SparseConcatShape, SparseCountShape, SparseCrossShape,
    SparseFillEmptyRowsGradShape, SparseFillEmptyRowsShape, SparseReduceShape, SparseReorderShape,
    SparseReshapeShape, SparseSetOperationShape, SparseSliceGradShape, SparseSliceShape,
    SparseSparseShape, SparseSplitShape, SparseTensorDenseAddShape, SparseTensorDenseMatMulShape,
    SparseToCsrShape, SparseToDenseShape, SparseValuesShape, TakeManySparseShape;

// state_shapes.cc
ShapeFunction AssignShape, AssignUpdateShape, AssignVariableShape, ComponentsShape, EnterShape,
    MergeShape, NewTensorListShape, OutputShapesShape, PaddedBatchShape, PairHandleShape,
    PushBackBatchShape, ReadVariableShape, ResourceGatherShape, SaveShape, ScatterUpdateShape,
    SwitchShape, TensorArrayConcatShape, TensorArrayGatherShape, TensorListConcatShape,
    TensorListFromTensorShape, TensorListGatherShape, TensorListGetItemShape,
    TensorListPopBackShape, TensorListScatterShape, TensorListSplitShape, TensorListStackShape,
    VarHandleShape, VariableShapeShape;

// strings_shapes.cc
ShapeFunction DecodePaddedRawShape, DecodeRawShape, EditDistanceShape, NGramsShape, ReduceJoinShape,
    RegexShape, StringFormatShape, StringJoinShape, StringSplitShape, SubstrShape,
    UnicodeDecodeShape, UnicodeEncodeShape;

// uniform_shapes.cc
ShapeFunction UniformConvolutionShape, UniformDotShape;

// window_shapes.cc
ShapeFunction AvgPool3DGradShape, AvgPoolGradShape, Conv2DBackpropFilterShape,
    Conv2DBackpropInputShape, Conv2DShape, Conv3DBackpropFilterShape, Conv3DBackpropInputShape,
    Conv3DShape, ConvShape, DepthwiseBackpropInputShape, DepthwiseConv2DShape,
    Dilation2DBackpropInputShape, Dilation2DShape, FractionalAvgPoolGradShape, FusedPadConv2DShape,
    FusedResizeAndPadConv2DShape, LikeInput0Rank4Shape, LikeInput0Rank5Shape, LikeInput1Rank4Shape,
    MaxPool3DGradGradShape, MaxPoolGradGradShape, MaxPoolGradGradV2Shape,
    MaxPoolGradGradWithArgmaxShape, MaxPoolV2Shape, Pool2DShape, Pool3DShape;

}  // namespace tenon::ops
