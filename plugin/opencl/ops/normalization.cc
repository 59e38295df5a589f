// Batch norm and layer norm.

#include "../base/launch.h"
#include "../base/map.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "../base/text.h"
#include "families.h"
#include "row_ends.h"

namespace opencl {
namespace {

std::string GroupText(Call& call, const Tensor& x, size_t group) {
  return DefineType("X", TypeOf(x.type)) + "#define GROUP " + std::to_string(group) +
         "\n#define LANES " + (call.device().is_gpu() ? "1" : "16") + "\n";
}

// Kernel `entry` of norm.cl for elements of x's type, in work-groups of `group`.
Launch LaunchNorm(Call& call, const char* entry, const Tensor& x, size_t group,
                  const Rows& rows = {}) {
  KernelKey key(entry);
  key.Number(x.type).Number(static_cast<int64_t>(group));
  rows.AddTo(&key);
  return Launch(call, key, [&] {
    return Source{"norm.cl", GroupText(call, x, group) + rows.Prologue(), entry};
  });
}

class LayerNorm {
 public:
  LayerNorm(const Construction& node, const PlainRow&) : epsilon_(node.Float("epsilon")) {}
  void Compute(Call& call) const {
    const Tensor x = call.In(0), scale = call.In(1), offset = call.In(2);
    if (x.rank() < 1) Refuse("_TenonLayerNorm: x must have a dimension");
    RunLayerNorm(call, "_TenonLayerNorm", {x}, scale, offset, epsilon_,
                 call.OutLike(0, x.dims, {0}));
  }

 private:
  const float epsilon_;
};

// FusedBatchNorm and its later forms: y, batch_mean, batch_variance, reserve_space_1 and 2 (and 3).
class BatchNorm {
 public:
  BatchNorm(const Construction& node, const PlainRow& row)
      : op_(row.row.op),
        training_(node.Bool("is_training")),
        channels_first_(node.String("data_format").substr(0, 2) == "NC"),
        epsilon_(node.Float("epsilon")),
        share_(node.Has("exponential_avg_factor") ? node.Float("exponential_avg_factor") : 1) {}

  void Compute(Call& call) const {
    const Tensor x = call.In(0), scale = call.In(1), offset = call.In(2), mean = call.In(3),
                 variance = call.In(4);
    if (x.rank() != 4 && x.rank() != 5)
      Refuse("input must be 4 or 5-dimensional" + ShapeText(x.dims));
    const int64_t channels = channels_first_ ? x.dims[1] : x.dims.back();
    for (const Tensor& one : {scale, offset}) {
      if (one.rank() != 1 || one.dims[0] != channels) {
        Refuse(std::string(op_) + ": scale and offset must have " + std::to_string(channels) +
               " elements, not " + ShapeText(one.dims));
      }
    }
    const bool estimated = !training_ || share_ != 1;
    if (estimated && (mean.count != channels || variance.count != channels)) {
      Refuse(std::string(op_) + ": mean and variance must have " + std::to_string(channels) +
             " elements, not " + ShapeText(mean.dims) + " and " + ShapeText(variance.dims));
    }
    const Tensor y = call.Out(0, x.dims);
    std::vector<Tensor> moments;
    for (int i = 1; i < 5; ++i) moments.push_back(call.Out(i, {channels}));
    if (call.outputs() > 5) Clear(call, call.Out(5, {}));
    if (x.count == 0) {
      // What TensorFlow gives out for a batch of nothing.
      for (const Tensor& moment : moments) FillWith(call, moment, "NAN");
      return;
    }
    if (!training_) {
      CopyAll(call, mean, moments[0]);
      CopyAll(call, variance, moments[1]);
      CopyAll(call, mean, moments[2]);
      CopyAll(call, variance, moments[3]);
      return Normalize(call, x, scale, offset, mean, variance, y);
    }
    const size_t group = call.device().is_gpu() ? 256 : 1;
    {
      Launch launch = LaunchNorm(call, "channel_moments", x, group);
      launch.Memory(x).Memory(moments[2]).Memory(moments[1]).Memory(moments[3]);
      launch.Int(x.count / channels).Int(channels);
      launch.Int(channels_first_ ? x.count / (x.dims[0] * channels) : 1);
      launch.Run({static_cast<size_t>(channels) * group, 1, 1}, {group, 1, 1});
    }
    Normalize(call, x, scale, offset, moments[2], moments[3], y);
    Average(call, mean, moments[2], moments[0]);
    Average(call, variance, moments[1], moments[1]);
  }

 private:
  // out = (1 - share) * old + share * now.
  void Average(Call& call, const Tensor& old, const Tensor& now, const Tensor& out) const {
    if (share_ == 1) return CopyAll(call, now, out);
    const std::string share = FloatText("float", share_);
    RunBroadcastMap(call, {Joined({"r = (1 - ", share, ") * x0 + ", share, " * x1;"})}, {old, now},
                    out);
  }

  void Normalize(Call& call, const Tensor& x, Tensor scale, Tensor offset, Tensor mean,
                 Tensor variance, const Tensor& y) const {
    for (Tensor* one : {&scale, &offset, &mean, &variance})
      if (channels_first_) one->dims.resize(x.dims.size() - 1, 1);
    const std::string epsilon = FloatText("float", epsilon_);
    RunBroadcastMap(call, {Joined({"r = (x0 - x3) * (x1 / sqrt(x4 + ", epsilon, ")) + x2;"})},
                    {x, scale, offset, mean, variance}, y);
  }

  const char* const op_;
  const bool training_, channels_first_;
  const float epsilon_, share_;
};

// FusedBatchNormGrad and its later forms: x_backprop, scale_backprop, offset_backprop and two
// outputs without elements.
class BatchNormGradient {
 public:
  BatchNormGradient(const Construction& node, const PlainRow& row)
      : op_(row.row.op),
        training_(node.Bool("is_training")),
        channels_first_(node.String("data_format").substr(0, 2) == "NC"),
        epsilon_(node.Float("epsilon")) {}

  void Compute(Call& call) const {
    const Tensor gradient = call.In(0), x = call.In(1), scale = call.In(2), mean = call.In(3),
                 variance = call.In(4);
    if (x.rank() != 4 && x.rank() != 5)
      Refuse(std::string(op_) + ": x must be 4 or 5-dimensional: " + ShapeText(x.dims));
    if (gradient.dims != x.dims) {
      Refuse(std::string(op_) + ": x and y_backprop must have same shape, but x has shape " +
             ShapeText(x.dims) + " and y_backprop has shape " + ShapeText(gradient.dims));
    }
    const int64_t channels = channels_first_ ? x.dims[1] : x.dims.back();
    for (const Tensor& one : {scale, mean, variance}) {
      if (one.rank() != 1 || one.dims[0] != channels) {
        Refuse(std::string(op_) + ": scale, mean and variance must have " +
               std::to_string(channels) + " elements, not " + ShapeText(one.dims));
      }
    }
    const Tensor out = call.Out(0, x.dims);
    const Tensor scale_out = call.Out(1, {channels}), offset_out = call.Out(2, {channels});
    for (int i = 3; i < 5; ++i) call.Out(i, {0});
    if (channels == 0) return;
    if (x.count == 0) {
      Clear(call, scale_out);
      return Clear(call, offset_out);
    }
    const size_t group = call.device().is_gpu() ? 256 : 1;
    const Tensor parts = call.Temp(TF_FLOAT, {3, channels});
    {
      Launch launch = LaunchNorm(call, "channel_gradients", x, group);
      launch.Memory(gradient).Memory(x).Memory(scale).Memory(mean).Memory(variance);
      launch.Memory(scale_out).Memory(offset_out).Memory(parts);
      launch.Int(x.count / channels).Int(channels);
      launch.Int(channels_first_ ? x.count / (x.dims[0] * channels) : 1);
      launch.Value(epsilon_).Int(training_);
      launch.Run({static_cast<size_t>(channels) * group, 1, 1}, {group, 1, 1});
    }
    std::vector<Tensor> inputs = {gradient, x, mean};
    for (int64_t k = 0; k < 3; ++k) {
      inputs.push_back(mean);
      inputs.back().data = static_cast<float*>(parts.data) + k * channels;
    }
    for (size_t k = 2; k < inputs.size(); ++k)
      if (channels_first_) inputs[k].dims.resize(x.dims.size() - 1, 1);
    RunBroadcastMap(call, {"r = x3 * (x0 - x4 - (x1 - x2) * x5);"}, inputs, out);
  }

 private:
  const char* const op_;
  const bool training_, channels_first_;
  const float epsilon_;
};

constexpr PlainRow kLayer[] = {{{"_TenonLayerNorm", kF32}}};
constexpr PlainRow kBatchNorms[] = {{{"FusedBatchNorm", kF32}},
                                    {{"FusedBatchNormV2", kF32 | kF16 | kBF16}},
                                    {{"FusedBatchNormV3", kF32 | kF16 | kBF16}}};
constexpr PlainRow kBatchNormGradients[] = {{{"FusedBatchNormGrad", kF32}},
                                            {{"FusedBatchNormGradV2", kF32 | kF16 | kBF16}},
                                            {{"FusedBatchNormGradV3", kF32 | kF16 | kBF16}}};

}  // namespace

void RunLayerNorm(Call& call, const char* op, const Rows& rows, const Tensor& scale,
                  const Tensor& offset, float epsilon, const Tensor& out) {
  const int64_t length = out.dims.back();
  if (scale.count != length || offset.count != length) {
    Refuse(std::string(op) + ": scale " + ShapeText(scale.dims) + " and offset " +
           ShapeText(offset.dims) + " must have " + std::to_string(length) + " elements");
  }
  if (out.count == 0) return;
  const size_t group = !call.device().is_gpu() ? 1 : length > 512 ? 256 : 64;
  Launch launch = LaunchNorm(call, "layer_norm", out, group, rows);
  rows.AddInputs(&launch);
  launch.Memory(scale).Memory(offset).Memory(out).Int(length).Value(epsilon);
  rows.AddLoop(&launch);
  launch.Run({static_cast<size_t>(out.count / length) * group, 1, 1}, {group, 1, 1});
}

void RegisterNormalization() {
  RegisterTable<LayerNorm, kLayer>();
  RegisterTable<BatchNorm, kBatchNorms>();
  RegisterTable<BatchNormGradient, kBatchNormGradients>();
}

}  // namespace opencl
