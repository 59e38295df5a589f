// The rewrites of the pass `remapping`; remapping.cc lists them with their names and classes. Each
// looks for its pattern at the last node, n, calls Allow itself, and returns whether it changed the
// graph. Patterns are written in the order of computation. "Conv2D" stands for every contraction
// (contraction.h), but at FusePad for that op alone; "A + B" is an A into which B is fused.
#pragma once

#include "grappler_lite/passes/remapping/contraction.h"

namespace tenon {

// Conv2D, BiasAdd.
bool FuseBias(Sweep& s, NodeId n);
// Conv2D, Add of a vector of one value for each channel.
bool FuseAddedBias(Sweep& s, NodeId n);
// Conv2D + BiasAdd or FusedBatchNorm, Add of a tensor of the same shape: a residual connection.
bool FuseResidual(Sweep& s, NodeId n);
// Conv2D + BiasAdd or FusedBatchNorm, Relu or another activation that is one op. Relu also where a
// residual is fused too.
bool FuseActivation(Sweep& s, NodeId n);
// FuseActivation with an activation that is written out: gelu, swish and their like. Swish and mish
// that cannot be fused become one op, for TensorFlow.
bool FuseWrittenActivation(Sweep& s, NodeId n);

// FusedBatchNorm, perhaps Add of a tensor of the same shape, Relu: _FusedBatchNormEx.
bool FuseBatchNormRelu(Sweep& s, NodeId n);

// AsString of integers, StringToHashBucketFast: _TensorToHashBucketFast, which makes no strings.
bool FuseHashBuckets(Sweep& s, NodeId n);

// BatchMatMulV2, Mul by a number, Add of a mask that all heads share: _MklFusedBatchMatMulV2, for
// TensorFlow, where that is two nodes less.
bool FuseBatchMatMul(Sweep& s, NodeId n);

// Conv2D with a constant filter of floats, Mul by a constant channel vector or number: the
// contraction gets a scaled filter and takes n over (TakeOver).
bool FoldMul(Sweep& s, NodeId n);
// Conv2D, perhaps with a constant bias, FusedBatchNorm in inference with constant statistics.
bool FoldBatchNorm(Sweep& s, NodeId n);
// FusedBatchNorm of floats in inference with constant statistics that it alone reads, which
// FoldBatchNorm has left and which is not read by a Relu alone: becomes Mul and Add of two vectors,
// for TensorFlow, where that is a node less. Tenon's kernel of FusedBatchNorm passes over the
// tensor once anyway.
bool ExpandBatchNorm(Sweep& s, NodeId n);
// Pad, Conv2D with a constant filter: the convolution pads.
bool FusePad(Sweep& s, NodeId n);

// exp(x - max(x)) / sum(exp(x - max(x))), with max and sum over the last dimension: Softmax.
bool RecognizeSoftmax(Sweep& s, NodeId n);
// A layer normalization over the last dimension, with scale and offset: _TenonLayerNorm. Not for
// TensorFlow.
bool RecognizeLayerNorm(Sweep& s, NodeId n);
// softmax(query * key^T * scale + mask) * value: _TenonAttention. Not for TensorFlow.
bool RecognizeAttention(Sweep& s, NodeId n);
// A _TenonAttention between transposes that bring heads before rows and back again: n becomes an
// attention of what the transposes read.
bool ExchangeHeadsInAttention(Sweep& s, NodeId n);

// exp(-x) and other chains of unary functions: _UnaryOpsComposition, for TensorFlow, which passes
// over the tensor once then. Tenon's kernel of it does no less than its parts.
bool ComposeUnary(Sweep& s, NodeId n);

// (x + y) + z of tensors of one shape: AddN(x, y, z), which adds in that order; for TensorFlow
// only, for the same reason.
bool ChainAdditions(Sweep& s, NodeId n);

}  // namespace tenon
