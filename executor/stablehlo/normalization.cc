// Biases, batch norm, softmax and losses.
#include <algorithm>

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"
#include "graph/shapes/window_shapes.h"

namespace tenon::stablehlo {
namespace normalization_ops {
namespace {

// The axis of channels, for tensors of any rank that a data_format names.
absl::StatusOr<int64_t> ChannelAxis(Op& op, int rank) {
  if (!op.shapes().HasAttr("data_format")) return rank - 1;
  TENON_ASSIGN_OR_RETURN(const std::string_view format, op.String("data_format"));
  return format.starts_with("NC") ? 1 : rank - 1;
}

Ints AllBut(int rank, int64_t axis) {
  Ints dims;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) dims.push_back(i);
  }
  return dims;
}

absl::Status BiasAdd(Op& op) {
  const Value& x = op.In(0);
  TENON_ASSIGN_OR_RETURN(const int64_t axis, ChannelAxis(op, x.rank()));
  return op.Out(op.b.Add(x, op.b.Broadcast(op.In(1), x.shape, {axis})));
}

Value SumOver(Op& op, const Value& x, IntSpan dims) {
  return op.b.Reduce("add", x, op.b.Scalar(x.dtype, 0), dims);
}

absl::Status BiasAddGrad(Op& op) {
  const Value x = op.b.Wide(op.In(0));
  TENON_ASSIGN_OR_RETURN(const int64_t axis, ChannelAxis(op, x.rank()));
  return op.Out(op.b.Convert(SumOver(op, x, AllBut(x.rank(), axis)), op.OutType(0)));
}

// --- Batch norm: x, scale, offset, mean, variance.

struct Norm {
  int64_t axis = 0;
  double epsilon = 0;
  int64_t count = 1;  // elements of a channel
  Shape shape;
};

absl::StatusOr<Norm> NormOf(Op& op, const Shape& x) {
  Norm n;
  n.shape = x;
  TENON_ASSIGN_OR_RETURN(n.axis, ChannelAxis(op, x.rank()));
  TENON_ASSIGN_OR_RETURN(n.epsilon, op.Float("epsilon"));
  for (const int64_t i : AllBut(x.rank(), n.axis)) n.count *= x.dim(static_cast<int>(i));
  return n;
}

Value PerChannel(Op& op, const Norm& n, const Value& v) {
  return op.b.Broadcast(v, n.shape, {n.axis});
}

Value MeanOf(Op& op, const Norm& n, const Value& x) {
  return op.b.Div(SumOver(op, x, AllBut(x.rank(), n.axis)), static_cast<double>(n.count));
}

Value Normalized(Op& op, const Norm& n, const Value& x, const Value& mean, const Value& variance,
                 const Value& scale, const Value& offset) {
  const Value factor = op.b.Mul(op.b.Unary("rsqrt", op.b.Add(variance, n.epsilon)), scale);
  const Value centred = op.b.Sub(x, PerChannel(op, n, mean));
  return op.b.Add(op.b.Mul(centred, PerChannel(op, n, factor)), PerChannel(op, n, offset));
}

absl::Status SetReserve3(Op& op) {
  if (op.num_outputs() > 5) op.Out(5, op.b.Full(op.OutType(5), Shape({0}), 0));
  return absl::OkStatus();
}

absl::Status FusedBatchNorm(Op& op) {
  const Value x = op.b.Convert(op.In(0), op.InType(1));
  TENON_ASSIGN_OR_RETURN(const Norm n, NormOf(op, x.shape));
  TENON_ASSIGN_OR_RETURN(const bool training, op.Bool("is_training"));
  float share = 1;
  if (op.shapes().HasAttr("exponential_avg_factor")) {
    TENON_ASSIGN_OR_RETURN(share, op.Float("exponential_avg_factor"));
  }
  if (x.shape.num_elements() == 0) return op.Unimplemented("statistics of no elements");
  if (!training) {
    const Value mean = op.In(3), variance = op.In(4);
    const Value y = Normalized(op, n, x, mean, variance, op.In(1), op.In(2));
    op.Out(0, op.b.Convert(y, op.OutType(0)));
    for (const int i : {1, 3}) op.Out(i, mean);
    for (const int i : {2, 4}) op.Out(i, variance);
    return SetReserve3(op);
  }
  const Value mean = MeanOf(op, n, x);
  const Value centred = op.b.Sub(x, PerChannel(op, n, mean));
  const Value variance = MeanOf(op, n, op.b.Mul(centred, centred));
  op.Out(0, op.b.Convert(Normalized(op, n, x, mean, variance, op.In(1), op.In(2)), op.OutType(0)));
  const double unbiased =
      static_cast<double>(n.count) / static_cast<double>(std::max<int64_t>(n.count - 1, 1));
  Value new_mean = mean, new_variance = op.b.Mul(variance, unbiased);
  if (share != 1) {
    const auto mix = [&](const Value& old, const Value& now) {
      return op.b.Add(op.b.Mul(old, 1.0 - share), op.b.Mul(now, share));
    };
    new_mean = mix(op.In(3), new_mean);
    new_variance = mix(op.In(4), new_variance);
  }
  op.Out(1, new_mean);
  op.Out(2, new_variance);
  op.Out(3, mean);
  op.Out(4, variance);
  return SetReserve3(op);
}

// dy, x, scale, mean, variance -> dx, dscale, doffset.
absl::Status FusedBatchNormGrad(Op& op) {
  const DataType wide = op.InType(2);
  const Value dy = op.b.Convert(op.In(0), wide), x = op.b.Convert(op.In(1), wide);
  TENON_ASSIGN_OR_RETURN(const Norm n, NormOf(op, x.shape));
  TENON_ASSIGN_OR_RETURN(const bool training, op.Bool("is_training"));
  const Value &scale = op.In(2), &mean = op.In(3), &variance = op.In(4);
  const Value centred = op.b.Sub(x, PerChannel(op, n, mean));
  const Value root = op.b.Unary("rsqrt", op.b.Add(variance, n.epsilon));
  const Ints dims = AllBut(x.rank(), n.axis);
  const Value sum_dy = SumOver(op, dy, dims);
  const Value sum_product = SumOver(op, op.b.Mul(dy, centred), dims);
  const Value factor = op.b.Mul(scale, root);
  Value inner = dy;
  if (training) {
    const auto count = static_cast<double>(n.count);
    const Value slope = op.b.Div(op.b.Mul(sum_product, op.b.Mul(root, root)), count);
    inner = op.b.Sub(op.b.Sub(dy, PerChannel(op, n, op.b.Div(sum_dy, count))),
                     op.b.Mul(centred, PerChannel(op, n, slope)));
  }
  op.Out(0, op.b.Convert(op.b.Mul(inner, PerChannel(op, n, factor)), op.OutType(0)));
  op.Out(1, op.b.Mul(sum_product, root));
  op.Out(2, sum_dy);
  for (const int i : {3, 4}) {
    TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape(i));
    op.Out(i, op.b.Full(op.OutType(i), shape, 0));
  }
  return absl::OkStatus();
}

// t, mean, variance, beta, gamma
absl::Status GlobalBatchNorm(Op& op) {
  const Value& x = op.In(0);
  Norm n;
  n.shape = x.shape;
  n.axis = x.rank() - 1;
  TENON_ASSIGN_OR_RETURN(n.epsilon, op.Float("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(const bool scaled, op.Bool("scale_after_normalization"));
  const Value scale = scaled ? op.In(4) : op.b.Like(op.In(2), 1);
  return op.Out(Normalized(op, n, x, op.In(1), op.In(2), scale, op.In(3)));
}

// --- Softmax and losses, along the last axis.

Value Along(Op& op, const Value& row, const Shape& shape) {
  Ints dims;
  for (int i = 0; i < shape.rank() - 1; ++i) dims.push_back(i);
  return op.b.Broadcast(row, shape, dims);
}

// x less the largest of its row.
Value Shifted(Op& op, const Value& x) {
  const Value most = op.b.Reduce("maximum", x, op.b.Lowest(x.dtype, Shape()), {x.rank() - 1});
  return op.b.Sub(x, Along(op, most, x.shape));
}

Value SumOfRow(Op& op, const Value& x) { return SumOver(op, x, {x.rank() - 1}); }

absl::Status Softmax(Op& op) {
  const Value x = op.b.Wide(op.In(0));
  const Value e = op.b.Unary("exponential", Shifted(op, x));
  const Value y = op.b.Div(e, Along(op, SumOfRow(op, e), x.shape));
  return op.Out(op.b.Convert(y, op.OutType(0)));
}

Value LogOfSoftmax(Op& op, const Value& x) {
  const Value shifted = Shifted(op, x);
  const Value sum = SumOfRow(op, op.b.Unary("exponential", shifted));
  return op.b.Sub(shifted, Along(op, op.b.Unary("log", sum), x.shape));
}

absl::Status LogSoftmax(Op& op) {
  const Value y = LogOfSoftmax(op, op.b.Wide(op.In(0)));
  return op.Out(op.b.Convert(y, op.OutType(0)));
}

// features, labels -> loss, gradient
absl::Status SoftmaxCrossEntropy(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape(1));
  const Value x = op.b.BroadcastTo(op.b.Wide(op.In(0)), shape);
  const Value labels = op.b.BroadcastTo(op.b.Wide(op.In(1)), shape);
  const Value logs = LogOfSoftmax(op, x);
  // A label of 0 counts nothing, be the logarithm infinite.
  const Value terms =
      op.b.Select(op.b.Compare("EQ", labels, 0.0), op.b.Like(labels, 0), op.b.Mul(labels, logs));
  op.Out(0, op.b.Convert(op.b.Neg(SumOfRow(op, terms)), op.OutType(0)));
  const Value gradient = op.b.Sub(op.b.Unary("exponential", logs), labels);
  op.Out(1, op.b.Convert(gradient, op.OutType(1)));
  return absl::OkStatus();
}

// features [rows, classes], labels [rows] -> loss, gradient
absl::Status SparseSoftmaxCrossEntropy(Op& op) {
  const Value x = op.b.Wide(op.In(0));
  const Value& labels = op.In(1);
  const Value logs = LogOfSoftmax(op, x);
  const auto classes = static_cast<double>(x.shape.dim(1));
  op.CheckAll(op.b.And(op.b.Compare("GE", labels, 0.0), op.b.Compare("LT", labels, classes)),
              "Received a label value which is outside the valid range");
  const Value hit =
      op.b.Compare("EQ", op.b.Broadcast(labels, x.shape, {0}), op.b.Iota(labels.dtype, x.shape, 1));
  const Value zero = op.b.Like(x, 0);
  op.Out(0, op.b.Convert(op.b.Neg(SumOfRow(op, op.b.Select(hit, logs, zero))), op.OutType(0)));
  const Value gradient =
      op.b.Sub(op.b.Unary("exponential", logs), op.b.Select(hit, op.b.Like(x, 1), zero));
  op.Out(1, op.b.Convert(gradient, op.OutType(1)));
  return absl::OkStatus();
}

// --- Local response normalization over the last axis.

struct Response {
  int64_t radius = 0;
  double bias = 0, alpha = 0, beta = 0;
};

absl::StatusOr<Response> ResponseOf(Op& op) {
  Response r;
  TENON_ASSIGN_OR_RETURN(r.radius, op.Int("depth_radius"));
  TENON_ASSIGN_OR_RETURN(r.bias, op.Float("bias"));
  TENON_ASSIGN_OR_RETURN(r.alpha, op.Float("alpha"));
  TENON_ASSIGN_OR_RETURN(r.beta, op.Float("beta"));
  return r;
}

Value SumOfNeighbours(Op& op, const Value& x, int64_t radius) {
  Window w;
  w.size = w.stride = Ints(x.rank(), 1);
  w.low = w.high = Ints(x.rank(), 0);
  w.size.back() = 2 * radius + 1;
  w.low.back() = w.high.back() = radius;
  return op.b.ReduceWindow("add", x, op.b.Scalar(x.dtype, 0), w);
}

Value NormOfNeighbours(Op& op, const Response& r, const Value& x) {
  return op.b.Add(op.b.Mul(SumOfNeighbours(op, op.b.Mul(x, x), r.radius), r.alpha), r.bias);
}

// norm to the power of -beta, by a logarithm: a negative norm gives NaN.
Value Damping(Op& op, const Response& r, const Value& norm) {
  if (r.beta == 1) return op.b.Div(op.b.Like(norm, 1), norm);
  if (r.beta == 0.5) return op.b.Unary("rsqrt", norm);
  return op.b.Unary("exponential", op.b.Mul(op.b.Unary("log", norm), -r.beta));
}

absl::Status Lrn(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Response r, ResponseOf(op));
  const Value x = op.b.Wide(op.In(0));
  const Value norm = NormOfNeighbours(op, r, x);
  const Value y = op.b.Mul(x, Damping(op, r, norm));
  return op.Out(op.b.Convert(y, op.OutType(0)));
}

// dy, x, y
absl::Status LrnGrad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Response r, ResponseOf(op));
  const Value dy = op.b.Wide(op.In(0)), x = op.b.Wide(op.In(1)), y = op.b.Wide(op.In(2));
  const Value norm = NormOfNeighbours(op, r, x);
  const Value direct = op.b.Mul(dy, op.b.Binary("power", norm, op.b.Like(norm, -r.beta)));
  const Value sums = SumOfNeighbours(op, op.b.Div(op.b.Mul(dy, y), norm), r.radius);
  const Value dx = op.b.Sub(direct, op.b.Mul(op.b.Mul(x, sums), 2 * r.alpha * r.beta));
  return op.Out(op.b.Convert(dx, op.OutType(0)));
}

constexpr Types kFloatsAndIndices = kFloats | Types{DataType::kInt32, DataType::kInt64};

constexpr Row kRows[] = {
    {"BiasAdd", BiasAdd, kNumbers},
    {"BiasAddV1", BiasAdd, kNumbers},
    {"BiasAddGrad", BiasAddGrad, kNumbers},
    {"FusedBatchNorm", FusedBatchNorm, kFloats},
    {"FusedBatchNormV2", FusedBatchNorm, kFloats},
    {"FusedBatchNormV3", FusedBatchNorm, kFloats},
    {"FusedBatchNormGrad", FusedBatchNormGrad, kFloats},
    {"FusedBatchNormGradV2", FusedBatchNormGrad, kFloats},
    {"FusedBatchNormGradV3", FusedBatchNormGrad, kFloats},
    {"BatchNormWithGlobalNormalization", GlobalBatchNorm, kReals},
    {"Softmax", Softmax, kFloats},
    {"LogSoftmax", LogSoftmax, kFloats},
    {"SoftmaxCrossEntropyWithLogits", SoftmaxCrossEntropy, kFloats},
    {"SparseSoftmaxCrossEntropyWithLogits", SparseSoftmaxCrossEntropy, kFloatsAndIndices},
    {"LRN", Lrn, kFloats},
    {"LRNGrad", LrnGrad, kFloats},
};

}  // namespace
}  // namespace normalization_ops

Rows NormalizationRows() { return normalization_ops::kRows; }

}  // namespace tenon::stablehlo
