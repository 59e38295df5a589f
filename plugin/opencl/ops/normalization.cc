// Batch norm and layer norm.

#include "../base/launch.h"
#include "../base/map.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "../base/text.h"
#include "families.h"

namespace opencl {
namespace {

std::string GroupText(Call& call, const Tensor& x, size_t group) {
  return DefineType("X", TypeOf(x.type)) + "#define GROUP " + std::to_string(group) +
         "\n#define LANES " + (call.device().is_gpu() ? "1" : "16") + "\n";
}

class LayerNorm {
 public:
  LayerNorm(const Construction& node, const PlainRow&) : epsilon_(node.Float("epsilon")) {}
  void Compute(Call& call) const {
    const Tensor x = call.In(0), scale = call.In(1), offset = call.In(2);
    if (x.rank() < 1) Refuse("_TenonLayerNorm: x must have a dimension");
    const int64_t length = x.dims.back();
    if (scale.count != length || offset.count != length) {
      Refuse("_TenonLayerNorm: scale " + ShapeText(scale.dims) + " and offset " +
             ShapeText(offset.dims) + " must have " + std::to_string(length) + " elements");
    }
    const Tensor out = call.OutLike(0, x.dims, {0});
    if (out.count == 0) return;
    const size_t group = !call.device().is_gpu() ? 1 : length > 512 ? 256 : 64;
    KernelKey key("layer_norm");
    key.Number(x.type).Number(static_cast<int64_t>(group));
    Launch launch(call, key, [&] {
      return Source{"norm.cl", GroupText(call, x, group), "layer_norm"};
    });
    launch.Memory(x).Memory(scale).Memory(offset).Memory(out).Int(length).Value(epsilon_);
    launch.Run({static_cast<size_t>(x.count / length) * group, 1, 1}, {group, 1, 1});
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
      for (const Tensor& moment : moments) Fill(call, moment);
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
      Launch launch(call, {"norm.cl", GroupText(call, x, group), "channel_moments"});
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
  // What TensorFlow gives out for a batch of nothing.
  static void Fill(Call& call, const Tensor& moment) {
    RunMap(call, {"r = NAN;"}, {}, moment, {moment.dims, {}});
  }

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

constexpr PlainRow kLayer[] = {{{"_TenonLayerNorm", kF32}}};
constexpr PlainRow kBatchNorms[] = {{{"FusedBatchNorm", kF32}},
                                    {{"FusedBatchNormV2", kF32 | kF16 | kBF16}},
                                    {{"FusedBatchNormV3", kF32 | kF16 | kBF16}}};

}  // namespace

void RegisterNormalization() {
  RegisterTable<LayerNorm, kLayer>();
  RegisterTable<BatchNorm, kBatchNorms>();
}

}  // namespace opencl
