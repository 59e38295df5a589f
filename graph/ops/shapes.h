// The shape functions of the built-in ops, by the file that holds them.
#pragma once

#include "graph/ops/common_shapes.h"

namespace tenon::ops {

// arrays_shapes.cc
ShapeFunction BroadcastArgsShape, BroadcastGradientArgsShape, BroadcastToShape, ExpandDimsShape,
    FillShape, LinSpaceShape, RangeShape, RankShape, ReshapeShape, ReverseSequenceShape,
    ReverseShape, ReverseV2Shape, RollShape, ShapeNShape, ShapeShape, SizeShape, SqueezeShape,
    TileShape, TransposeShape;

// basic_shapes.cc
ShapeFunction ConstShape, EnsureShapeShape, PlaceholderWithDefaultShape;

// elementwise_shapes.cc
ShapeFunction AddShape, BetaincShape, BitcastShape, CastShape, DivShape, EqualShape, FloorDivShape,
    FloorModShape, MaximumShape, MinimumShape, MulShape, SelectShape, SelectV2Shape, SubShape;

// layout_shapes.cc
ShapeFunction AtLeastMatrixShape, BatchToSpaceNDShape, BatchToSpaceShape, DepthToSpaceShape,
    DiagPartShape, DiagShape, MatrixDiagPartShape, MatrixDiagPartV2Shape, MatrixDiagShape,
    MatrixDiagV2Shape, MatrixSetDiagShape, MatrixSetDiagV2Shape, MirrorPadGradShape, PadShape,
    SpaceToBatchNDShape, SpaceToBatchShape, SpaceToDepthShape;

// reduction_shapes.cc
ShapeFunction ArgMaxShape, BincountShape, CumulativeShape, DenseBincountShape, HistogramShape,
    ProdShape, ReductionShape, SegmentShape, SparseSegmentShape, UnsortedSegmentShape;

// slice_shapes.cc
ShapeFunction ConcatOffsetShape, ConcatShape, ConcatV2Shape, PackShape, ParallelConcatShape,
    SliceShape, SplitShape, SplitVShape, StridedSliceGradShape, StridedSliceShape, UnpackShape;

}  // namespace tenon::ops
