// Shape functions of quantized ops. A quantized tensor comes with two more inputs, the least and
// the largest value that its integers stand for; results bring such ranges too.

#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// Inputs [begin, end) are scalars.
absl::Status Scalars(InferenceContext& c, int begin, int end) {
  for (int i = begin; i < end; ++i) TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 0).status());
  return absl::OkStatus();
}

// Output 0 as `shape` infers it. Inputs from `first` on are ranges, outputs 1 and 2 the result's.
absl::Status WithRanges(InferenceContext& c, ShapeFunction* shape, int first) {
  TENON_RETURN_IF_ERROR(shape(c));
  TENON_RETURN_IF_ERROR(Scalars(c, first, c.num_inputs()));
  return SetOutputs(c, {c.output(0).shape, Shape(), Shape()});
}

// Ranges per slice along attr `axis`, or scalars without.
absl::Status CheckRanges(InferenceContext& c, int first) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.AttrInt("axis"));
  const bool apart = c.op().name == "QuantizeV2" || c.op().name == "Dequantize";
  const absl::Status low =
      axis < -1 ? Invalid("axis should be at least -1, got ", axis) : absl::OkStatus();
  if (apart) TENON_RETURN_IF_ERROR(low);
  const int rank = axis == -1 ? 0 : 1;
  TENON_ASSIGN_OR_RETURN(const PartialShape range, c.WithRank(c.input(first), rank));
  if (apart) TENON_RETURN_IF_ERROR(c.WithRank(c.input(first + 1), rank).status());
  const absl::Status equal = MergeShapes(c.input(first + 1), range).status();
  // TensorFlow's function of QuantizeV2 compares the ranks of the ranges alone.
  if (!equal.ok() && c.op().name == "QuantizeV2" && c.input(first + 1).rank() == range.rank())
    return AtRunTime(equal);
  TENON_RETURN_IF_ERROR(equal);
  TENON_RETURN_IF_ERROR(low);
  if (axis == -1 || !c.input(0).known_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(NormalizeAxis(axis, c.input(0).rank()).status());
  return c.MergeDim(range.dim(0), c.input(0).dim(static_cast<int>(axis))).status();
}

}  // namespace

// Values with a range, which the outputs have again as two scalars.
absl::Status QuantizedUnaryShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Scalars(c, 1, c.num_inputs()));
  return SetOutputs(c, {c.input(0), Shape(), Shape()});
}

// Output ranges are per slice along the axis, but scalars for a single slice.
absl::Status QuantizeV2Shape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckRanges(c, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.AttrInt("axis"));
  const int64_t slices = axis >= 0 ? c.input(0).dim(static_cast<int>(axis)) : 1;
  const PartialShape scalar = Shape();
  const PartialShape range = slices == 1 ? scalar : slices < 0 ? PartialShape() : Vector(slices);
  return SetOutputs(c, {c.input(0), range, range});
}

absl::Status DequantizeShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckRanges(c, 1));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status QuantizeAndDequantizeShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckRanges(c, 1));
  if (c.num_inputs() > 3) TENON_RETURN_IF_ERROR(Scalars(c, 3, 4));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status QuantizeAndDequantizeGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, c.AttrInt("axis"));
  TENON_ASSIGN_OR_RETURN(const PartialShape in, MergeShapes(c.input(0), c.input(1)));
  TENON_ASSIGN_OR_RETURN(PartialShape range, c.WithRank(c.input(2), axis == -1 ? 0 : 1));
  TENON_ASSIGN_OR_RETURN(range, MergeShapes(c.input(3), range));
  return SetOutputs(c, {in, range, range});
}

absl::Status RequantizationRangeShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Scalars(c, 1, 3));
  return SetOutputs(c, {Shape(), Shape()});
}

// Values, then ranges of their channels.
absl::Status RequantizationRangePerChannelShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1}));
  return SetOutputs(c, {Shape(), Shape()});
}

absl::Status RequantizePerChannelShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1, 0, 0}));
  return SetOutputs(c, {c.input(0), Shape(), Shape()});
}

absl::Status QuantizedMatMulShape(InferenceContext& c) { return WithRanges(c, MatMulShape, 2); }
absl::Status QuantizedConv2DShape(InferenceContext& c) { return WithRanges(c, Conv2DShape, 2); }
// Ranges of the input and the filter, perhaps behind a bias; the filter's may be by channel, and
// then the result's are, unless two more inputs ask for one.
absl::Status FusedConv2DShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Conv2DShape(c));
  const int first = 2 + c.num_inputs() % 2;  // without a bias the number of inputs is even
  if (first == 3) TENON_RETURN_IF_ERROR(c.WithRank(c.input(2), 1).status());
  TENON_RETURN_IF_ERROR(Scalars(c, first, first + 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape min, c.WithRankAtMost(c.input(first + 2), 1));
  TENON_ASSIGN_OR_RETURN(const PartialShape max, c.WithRankAtMost(c.input(first + 3), 1));
  TENON_RETURN_IF_ERROR(Scalars(c, first + 4, c.num_inputs()));
  const bool asked = c.num_inputs() > first + 4;
  return SetOutputs(c, {c.output(0).shape, asked ? Shape() : min, asked ? Shape() : max});
}
// Input 2 is a bias, inputs 3 to 6 are the ranges of the input and the filter. Inputs 7 and 8 ask
// for one range, where the inputs behind them are what is added to the sums, and its range;
// otherwise input 7 is what is added.
absl::Status FusedConv2DWithSumShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Conv2DShape(c));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(2), 1).status());
  TENON_RETURN_IF_ERROR(Scalars(c, 3, 5));
  TENON_ASSIGN_OR_RETURN(const PartialShape min, c.WithRankAtMost(c.input(5), 1));
  TENON_ASSIGN_OR_RETURN(const PartialShape max, c.WithRankAtMost(c.input(6), 1));
  const bool asked = c.num_inputs() > 8;
  if (asked) TENON_RETURN_IF_ERROR(Scalars(c, 7, 9));
  return SetOutputs(c, {c.output(0).shape, asked ? Shape() : min, asked ? Shape() : max});
}

absl::Status FusedMatMulShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(2), 1).status());
  return WithRanges(c, MatMulShape, 3);
}

absl::Status QuantizedPoolShape(InferenceContext& c) { return WithRanges(c, Pool2DShape, 1); }
absl::Status QuantizedResizeShape(InferenceContext& c) { return WithRanges(c, ResizeShape, 2); }
absl::Status QuantizedReshapeShape(InferenceContext& c) { return WithRanges(c, ReshapeShape, 2); }
absl::Status QuantizedBiasAddShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape value, c.WithRankAtLeast(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape bias, c.WithRank(c.input(1), 1));
  if (value.known_rank()) TENON_RETURN_IF_ERROR(c.MergeDim(value.dim(-1), bias.dim(0)).status());
  return WithRanges(c, UnchangedShape, 2);
}
absl::Status QuantizedBinaryShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(BroadcastBinaryShape(c));
  absl::Status status = WithRanges(c, BroadcastBinaryShape, 2);
  return c.op().name == "QuantizedMul" ? AtRunTime(std::move(status)) : status;
}

// A tensor and four vectors of its channels, each followed by its range, whose rank is the kernel's
// to refuse, as in TensorFlow.
absl::Status QuantizedBatchNormShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {4, -1, -1, 1, -1, -1, 1, -1, -1, 1, -1, -1, 1}));
  TENON_ASSIGN_OR_RETURN(PartialShape value, c.WithRank(c.input(0), 4));
  return SetOutputs(c, {std::move(value), Shape(), Shape()});
}

absl::Status FakeQuantArgsGradShape(InferenceContext& c) { return AtRunTime(MergedInputsShape(c)); }

absl::Status FakeQuantVarsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Scalars(c, 1, 3));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status FakeQuantVarsGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, MergeShapes(c.input(0), c.input(1)));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(2), 0).status());
  TENON_RETURN_IF_ERROR(MergeShapes(Shape(), c.input(3)).status());
  return SetOutputs(c, {in, Shape(), Shape()});
}

absl::Status FakeQuantPerChannelShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  int64_t channels = in.dim(-1);
  for (int i = 1; i < 3; ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape range, c.WithRank(c.input(i), 1));
    TENON_ASSIGN_OR_RETURN(channels, c.MergeDim(channels, range.dim(0)));
  }
  c.set_output(0, ReplaceDim(std::move(in), -1, channels));
  return absl::OkStatus();
}

absl::Status FakeQuantPerChannelGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(0), 1).status());
  TENON_ASSIGN_OR_RETURN(PartialShape in, MergeShapes(c.input(0), c.input(1)));
  TENON_ASSIGN_OR_RETURN(PartialShape range, c.WithRank(c.input(2), 1));
  TENON_ASSIGN_OR_RETURN(range, MergeShapes(range, Vector(in.dim(-1))));
  TENON_ASSIGN_OR_RETURN(range, MergeShapes(c.input(3), range));
  const int64_t channels = range.dim(0);
  return SetOutputs(c,
                    {ReplaceDim(std::move(in), -1, channels), Vector(channels), Vector(channels)});
}

namespace {

// Ranges of the input and of the filter come first among the host's inputs, which follow those of
// the device.
absl::Status WithHostRanges(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> device, c.AttrTypeList("Tdevice_inputs"));
  const int first = static_cast<int>(device.size());
  if (c.num_inputs() < first + 4) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(Scalars(c, first, first + 2));
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(first + 2), 1).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape max, c.WithRankAtMost(c.input(first + 3), 1));
  TENON_RETURN_IF_ERROR(Scalars(c, first + 4, c.num_inputs()));
  const bool asked = c.num_inputs() > first + 4;
  const PartialShape range = asked ? PartialShape(Shape()) : max;
  return SetOutputs(c, {c.output(0).shape, range, range});
}

}  // namespace

// Nothing is said of the ranges.
absl::Status QuantizedPool3DShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Pool3DShape(c));
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, PartialShape());
  return absl::OkStatus();
}

absl::Status DeviceConv2DShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(Conv2DShape(c));
  return WithHostRanges(c);
}

absl::Status DeviceDepthwiseConv2DShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(DepthwiseConv2DShape(c));
  return WithHostRanges(c);
}

}  // namespace tenon::ops
