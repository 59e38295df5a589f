// Normalisation, softmax, losses, recurrent cells.
#include "graph/shapes/shapes.h"
#include "graph/shapes/window_shapes.h"

namespace tenon::ops {
namespace {

absl::StatusOr<bool> ChannelsFirst(InferenceContext& c) {
  if (!c.HasAttr("data_format")) return false;
  TENON_ASSIGN_OR_RETURN(const std::string_view format, c.AttrString("data_format"));
  return format.starts_with("NC");
}

// The dimension that a bias is added along.
int BiasAxis(const PartialShape& value, bool channels_first) {
  return channels_first ? 1 : value.rank() - 1;
}

// Batch normalisation takes images and volumes alike.
absl::StatusOr<WindowFormat> NormFormatOf(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string_view format, c.AttrString("data_format"));
  return WindowFormat{format.size() == 5 ? 3 : 2, format.starts_with("NC")};
}

}  // namespace

absl::Status AtLeastVectorShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(c.input(0), 1));
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

absl::Status BiasAddShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const bool first, ChannelsFirst(c));
  TENON_ASSIGN_OR_RETURN(PartialShape value, c.WithRankAtLeast(c.input(0), first ? 3 : 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape bias, c.WithRank(c.input(1), 1));
  if (!value.known_rank()) return absl::OkStatus();
  const int axis = BiasAxis(value, first);
  TENON_ASSIGN_OR_RETURN(const int64_t channels, c.MergeDim(value.dim(axis), bias.dim(0)));
  c.set_output(0, ReplaceDim(std::move(value), axis, channels));
  return absl::OkStatus();
}

// The sum over all dimensions but the channels.
absl::Status BiasAddGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const bool first, ChannelsFirst(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape grad, c.WithRankAtLeast(c.input(0), first ? 3 : 2));
  c.set_output(0, Vector(grad.known_rank() ? grad.dim(BiasAxis(grad, first)) : kUnknownDim));
  return absl::OkStatus();
}

// x, scale, offset, mean, variance -> y, then vectors of one value per channel.
absl::Status FusedBatchNormShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const WindowFormat f, NormFormatOf(c));
  TENON_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(c.input(0), f.rank()));
  TENON_ASSIGN_OR_RETURN(const bool training, c.AttrBool("is_training"));
  int64_t channels = x.dim(f.channels());
  // In training mean and variance are computed: inputs 3 and 4 may be empty, unless they count too.
  float factor = 1;
  if (c.HasAttr("exponential_avg_factor")) {
    TENON_ASSIGN_OR_RETURN(factor, c.AttrFloat("exponential_avg_factor"));
  }
  for (int i = 1; i < (training && factor == 1 ? 3 : 5); ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(c.input(i), 1));
    TENON_ASSIGN_OR_RETURN(channels, c.MergeDim(channels, s.dim(0)));
  }
  TENON_RETURN_IF_ERROR(
      SetOutputs(c, {ReplaceDim(std::move(x), f.channels(), channels), Vector(channels),
                     Vector(channels), Vector(channels), Vector(channels)}));
  return absl::OkStatus();
}

// y_backprop, x, scale, reserves -> x_backprop, scale_backprop, offset_backprop and two empty ones.
absl::Status FusedBatchNormGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const WindowFormat f, NormFormatOf(c));
  TENON_ASSIGN_OR_RETURN(PartialShape y, c.WithRank(c.input(0), f.rank()));
  TENON_ASSIGN_OR_RETURN(const PartialShape x, c.WithRank(c.input(1), f.rank()));
  TENON_ASSIGN_OR_RETURN(int64_t channels, c.MergeDim(y.dim(f.channels()), x.dim(f.channels())));
  for (int i = 2; i < 5; ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(c.input(i), 1));
    TENON_ASSIGN_OR_RETURN(channels, c.MergeDim(channels, s.dim(0)));
  }
  return SetOutputs(c, {ReplaceDim(std::move(y), f.channels(), channels), Vector(channels),
                        Vector(channels), Vector(0), Vector(0)});
}

// t, m, v, beta, gamma -> like t. These older ops know NHWC only.
absl::Status BatchNormGlobalShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(c.input(0), 4));
  int64_t channels = x.dim(3);
  for (int i = 1; i < 5; ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(c.input(i), 1));
    TENON_ASSIGN_OR_RETURN(channels, c.MergeDim(channels, s.dim(0)));
  }
  c.set_output(0, ReplaceDim(std::move(x), 3, channels));
  return absl::OkStatus();
}

// t, m, v, gamma, backprop -> like t, then one value per channel.
absl::Status BatchNormGlobalGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(x, MergeShapes(x, c.input(4)));
  int64_t channels = x.dim(3);
  for (int i = 1; i < 4; ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(c.input(i), 1));
    TENON_ASSIGN_OR_RETURN(channels, c.MergeDim(channels, s.dim(0)));
  }
  const PartialShape per_channel = Vector(channels);
  return SetOutputs(c, {ReplaceDim(std::move(x), 3, channels), per_channel, per_channel,
                        per_channel, per_channel});
}

// The gradient, the input and the output have one shape.
absl::Status LRNGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(s, MergeShapes(s, c.input(1)));
  TENON_ASSIGN_OR_RETURN(s, MergeShapes(s, c.input(2)));
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// features and labels, which broadcast to [batch, classes] -> loss [batch], gradient [batch,
// classes].
absl::Status SoftmaxCrossEntropyShape(InferenceContext& c) {
  if (const absl::StatusOr<PartialShape> features = c.WithRank(c.input(0), 2); features.ok()) {
    const absl::StatusOr<PartialShape> same = MergeShapes(*features, c.input(1));
    if (same.ok()) return SetOutputs(c, {Vector(same->dim(0)), *same});
  }
  TENON_ASSIGN_OR_RETURN(const PartialShape both, c.Broadcast(c.input(0), c.input(1)));
  if (!both.known_rank())
    return Invalid("Shape must be broadcasted with rank 2, but is rank is unknown.");
  if (both.rank() != 2)
    return Invalid("Shape must be broadcasted with rank 2, but is rank ", both.rank());
  return SetOutputs(c, {Vector(both.dim(0)), both});
}

// features [batch, classes], labels [batch] -> loss [batch], gradient [batch, classes].
absl::Status SparseSoftmaxCrossEntropyShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape features, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape labels, c.WithRank(c.input(1), 1));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(features.dim(0), labels.dim(0)));
  return SetOutputs(c, {Vector(batch), PartialShape({batch, features.dim(1)})});
}

absl::Status InTopKShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 1}));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(c.input(0).dim(0), c.input(1).dim(0)));
  // TensorFlow's function of InTopKV2 does not look at k.
  if (c.num_inputs() > 2) TENON_RETURN_IF_ERROR(AtRunTime(RequireRanks(c, {-1, -1, 0})));
  c.set_output(0, Vector(batch));
  return absl::OkStatus();
}

// One step. x: [batch, inputs], cs_prev, h_prev: [batch, cells] -> seven of [batch, cells].
absl::Status LSTMBlockCellShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 2}));
  TENON_RETURN_IF_ERROR(AtRunTime(RequireRanks(c, {-1, -1, 2})));
  const PartialShape out = Matrix(c.input(0).dim(0), c.input(1).dim(1));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
  return absl::OkStatus();
}

// All steps. x: [time, batch, inputs] and b: [4 * cells] -> seven of [time, batch, cells].
absl::Status BlockLSTMShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape x, c.WithRank(c.input(1), 3));
  const int last = c.num_inputs() - 1;
  TENON_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(c.input(last), 1));
  TENON_ASSIGN_OR_RETURN(const int64_t cells, DivideDim(b.dim(0), 4, /*evenly=*/true));
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, PartialShape({x.dim(0), x.dim(1), cells}));
  return absl::OkStatus();
}

// One step. x: [batch, inputs], h_prev: [batch, cells] -> four of [batch, cells].
absl::Status GRUBlockCellShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 2}));
  const PartialShape out = Matrix(c.input(0).dim(0), c.input(1).dim(1));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
  return absl::OkStatus();
}

// -> the gradients of x, like x; of h_prev and c_bar, [batch, cells]; of r_bar and u_bar in one
// piece, [batch, 2 * cells].
absl::Status GRUBlockCellGradShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape x, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape h, c.WithRank(c.input(1), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape gates, c.WithRank(c.input(2), 2));
  const PartialShape state = Matrix(x.dim(0), h.dim(1));
  return SetOutputs(c, {x, state, state, Matrix(x.dim(0), gates.dim(1))});
}

// -> cs_prev_grad, the gates' gradients, those of the three peepholes.
absl::Status LSTMBlockCellGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 2}));
  const PartialShape state = Matrix(c.input(0).dim(0), c.input(1).dim(1));
  TENON_ASSIGN_OR_RETURN(const int64_t gates, MultiplyDims(state.dim(1), 4));
  const PartialShape peephole = Vector(state.dim(1));
  return SetOutputs(c, {state, Matrix(state.dim(0), gates), peephole, peephole, peephole});
}

// inputs: [time, batch, classes] -> loss [batch], gradient like the inputs.
absl::Status CTCLossShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {3, 2, 1, 1}));
  TENON_RETURN_IF_ERROR(c.MergeDim(c.input(1).dim(0), c.input(2).dim(0)).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 3));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(in.dim(1), c.input(3).dim(0)));
  return SetOutputs(c, {Vector(batch), ReplaceDim(in, 1, batch)});
}

// -> a sparse matrix of the decoded labels, and log probabilities [batch, 1].
absl::Status CTCGreedyDecoderShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {3, 1}));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(c.input(0).dim(1), c.input(1).dim(0)));
  return SetOutputs(c, {Matrix(kUnknownDim, 2), Vector(kUnknownDim), Vector(2), Matrix(batch, 1)});
}

// -> a sparse matrix for each path (all indices, then all values, then all shapes), and log
// probabilities [batch, paths].
absl::Status CTCBeamSearchDecoderShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {3, 1}));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(c.input(0).dim(1), c.input(1).dim(0)));
  TENON_ASSIGN_OR_RETURN(const int64_t paths, c.AttrInt("top_paths"));
  if (c.num_outputs() != 3 * paths + 1) return absl::OkStatus();
  for (int i = 0; i < paths; ++i) {
    c.set_output(i, Matrix(kUnknownDim, 2));
    c.set_output(static_cast<int>(paths) + i, Vector(kUnknownDim));
    c.set_output(2 * static_cast<int>(paths) + i, Vector(2));
  }
  c.set_output(3 * static_cast<int>(paths), Matrix(batch, paths));
  return absl::OkStatus();
}

// Pooling over regions of varying size: output dimensions are the input's divided by a ratio each.
absl::Status FractionalPoolShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf("pooling_ratio"));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> ratios, attr.AsFloatList());
  if (ratios.size() != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("pooling_ratio must have 4 values but has ", ratios.size()));
  }
  PartialShape out = in;
  for (int i = 0; i < 4; ++i) {
    if (!(ratios[i] >= 1))
      return absl::InvalidArgumentError(
          absl::StrCat("pooling_ratio must be at least 1 but is ", ratios[i]));
    if (in.dim(i) >= 0) out.set_dim(i, static_cast<int64_t>(in.dim(i) / ratios[i]));
  }
  for (int i : {1, 2}) {
    if (out.dim(i) == 0)
      return AtRunTime(absl::InvalidArgumentError(
          absl::StrCat("pooling_ratio leaves nothing of dimension ", i)));
  }
  // n regions have n + 1 boundaries. TensorFlow's function says n, which its kernel contradicts.
  const auto boundaries = [&](int64_t d) { return Vector(d < 0 ? kUnknownDim : d + 1); };
  return SetOutputs(c, {out, boundaries(out.dim(1)), boundaries(out.dim(2))});
}

// [..., n] -> values and indices [..., k]. k is an input, in the first version an attribute.
absl::Status TopKV2Shape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  int64_t k = kUnknownDim;
  if (c.num_inputs() > 1) {
    TENON_ASSIGN_OR_RETURN(k, DimFromScalar(c, 1));
  } else {
    TENON_ASSIGN_OR_RETURN(k, c.AttrInt("k"));
  }
  if (!in.known_rank()) return absl::OkStatus();
  if (in.dim(-1) >= 0 && in.dim(-1) < k) {
    return absl::InvalidArgumentError(
        absl::StrCat("input must have last dimension >= k = ", k, " but is ", in.dim(-1)));
  }
  in = ReplaceDim(std::move(in), -1, k);
  return SetOutputs(c, {in, in});
}

// Of dimension `reduction_dimension` k are left; without aggregation the device may leave more. An
// unknown dimension is too small, and an unknown rank has no dimension.
absl::Status ApproxTopKShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.WithRankAtLeast(c.input(0), 1));
  TENON_ASSIGN_OR_RETURN(const int64_t k, c.AttrInt("k"));
  TENON_ASSIGN_OR_RETURN(const int64_t dimension, c.AttrInt("reduction_dimension"));
  TENON_ASSIGN_OR_RETURN(const float recall, c.AttrFloat("recall_target"));
  TENON_ASSIGN_OR_RETURN(const bool aggregate, c.AttrBool("aggregate_to_topk"));
  const std::optional<int> in = AxisIn(dimension, out.rank());
  if (!in) {
    return Invalid("Invalid reduction dimension: ", dimension, ". Must be within the range of [",
                   -out.rank(), ", ", out.rank() - 1, "]");
  }
  const int axis = *in;
  if (out.dim(axis) < k)
    return Invalid("input must have last dimension >= k = ", k, " but was ", out.dim(axis));
  if (!(recall > 0 && recall <= 1))
    return Invalid("Invalid recall target: ", recall, ". Valid value range in : [0, 1.0].");
  out.set_dim(axis, aggregate ? k : kUnknownDim);
  return SetOutputs(c, {out, out});
}

// [..., n] -> [...].
absl::Status NthElementShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  TENON_ASSIGN_OR_RETURN(const int64_t n, DimFromScalar(c, 1));
  if (in.known_rank() && in.dim(-1) >= 0 && n >= 0 && in.dim(-1) <= n) {
    return absl::InvalidArgumentError(
        absl::StrCat("Input must have last dimension > n = ", n, " but is ", in.dim(-1)));
  }
  c.set_output(0, Subshape(in, 0, -1));
  return absl::OkStatus();
}

// The gradient of a batch normalisation with an activation, and that of what was added before it.
absl::Status FusedBatchNormGradExShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(FusedBatchNormGradShape(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape y, c.WithRank(c.input(0), 4));
  for (int i = 5; i < c.num_outputs(); ++i) c.set_output(i, y);
  return absl::OkStatus();
}

// x: [time, batch, inputs], h and c: [layers * directions, batch, cells], parameters, perhaps the
// lengths of the sequences -> y, h, c (a scalar but for an LSTM), what the gradient needs.
absl::Status CudnnRnnShape(InferenceContext& c) {
  const bool lengths = c.num_inputs() > 4;
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, c.AttrString("rnn_mode"));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {3, 3, lengths && mode == "lstm" ? 3 : -1, 1, 1}));
  TENON_ASSIGN_OR_RETURN(const PartialShape x, c.WithRank(c.input(0), 3));
  TENON_ASSIGN_OR_RETURN(const std::string_view direction, c.AttrString("direction"));
  const PartialShape& h = c.input(1);
  TENON_ASSIGN_OR_RETURN(const int64_t width, MultiplyDims(h.known_rank() ? h.dim(2) : kUnknownDim,
                                                           direction == "bidirectional" ? 2 : 1));
  return SetOutputs(c, {PartialShape({x.dim(0), x.dim(1), width}), h,
                        mode == "lstm" ? c.input(lengths ? 2 : 1) : PartialShape(Shape())});
}

// Parameters in one piece -> as many matrices of weights and vectors of biases as there are.
absl::Status CudnnRnnCanonicalShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, -1, 1}));
  const bool two = c.HasAttr("num_params_weights");
  TENON_ASSIGN_OR_RETURN(const int64_t weights,
                         c.AttrInt(two ? "num_params_weights" : "num_params"));
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, i < weights ? Matrix(kUnknownDim, kUnknownDim) : Vector(kUnknownDim));
  return absl::OkStatus();
}

// Values of features, then the boundaries of their buckets -> the bucket of each value.
absl::Status BucketizeFeaturesShape(InferenceContext& c) {
  int64_t examples = kUnknownDim;
  for (int i = 0; i < c.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(c.input(i), 1));
    if (i == 0) examples = values.dim(0);
    TENON_RETURN_IF_ERROR(c.MergeDim(values.dim(0), examples).status());
    c.set_output(i, std::move(values));
  }
  return absl::OkStatus();
}

// Nodes, gradients and hessians of examples, then the bucket of each feature.
absl::Status StatsSummaryShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 2, 2}));
  const auto first = [&](int i) { return c.input(i).known_rank() ? c.input(i).dim(0) : -1; };
  TENON_RETURN_IF_ERROR(c.MergeDim(first(0), first(1)).status());
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), c.input(2)).status());
  for (int i = 3; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 1).status());
    TENON_RETURN_IF_ERROR(c.MergeDim(first(0), first(i)).status());
  }
  PartialShape out = Shape();
  for (const std::string_view name : {"num_features", "max_splits", "num_buckets"}) {
    TENON_ASSIGN_OR_RETURN(const int64_t size, c.AttrInt(name));
    out.push_back(size);
  }
  out.push_back(2);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon::ops
