// Gradients of depthwise convolutions. As in TensorFlow they do not look at dilations.

#include <algorithm>

#include "../base/registry.h"
#include "../base/strided.h"
#include "depthwise.h"
#include "families.h"
#include "reduction.h"

namespace opencl {
namespace {

Launch LaunchDepthwise(Call& call, TF_DataType type, const char* entry) {
  return Launch(call, KernelKey(entry).Number(type), [&] {
    return Source{"depthwise.cl", DefineType("X", TypeOf(type)) + "#define GRADIENTS\n", entry};
  });
}

class DepthwiseGradient {
 public:
  DepthwiseGradient(const Construction& node, const PlainRow& row)
      : op_(row.row.op), window_(node, row.row.op, Dilations::kIgnored) {}

 protected:
  struct Sides {
    WindowSide y, x;
  };
  // The windows of the convolution, whose output must have the gradient's shape.
  Sides SidesOf(const Dims& image, const Dims& filter, const Tensor& gradient) const {
    if (image.size() != 4) Refuse(std::string(op_) + ": the image must be 4-dimensional");
    if (filter.size() != 4) Refuse(std::string(op_) + ": the filter must be 4-dimensional");
    if (image[3] != filter[2]) {
      Refuse(std::string(op_) + ": image and filter must have the same depth: " +
             std::to_string(image[3]) + " vs " + std::to_string(filter[2]));
    }
    const Sides sides{window_.Side(1, image[1], filter[0]), window_.Side(2, image[2], filter[1])};
    CheckShape(op_, "out_backprop", gradient.dims,
               {image[0], sides.y.out, sides.x.out, filter[2] * filter[3]});
    return sides;
  }

 private:
  const char* const op_;
  const WindowAttrs window_;
};

class DepthwiseInput : public DepthwiseGradient {
 public:
  using DepthwiseGradient::DepthwiseGradient;
  void Compute(Call& call) const {
    const Dims dims = call.HostInts(0);
    const Tensor filter = call.In(1), gradient = call.In(2);
    const Sides sides = SidesOf(dims, filter.dims, gradient);
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    Launch launch = LaunchDepthwise(call, out.type, "depthwise_input");
    launch.Memory(gradient).Memory(filter).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(DepthwiseNumbersOf(dims, filter.dims, sides.y, sides.x)).Run(out.count, 64);
  }
};

class DepthwiseFilter : public DepthwiseGradient {
 public:
  using DepthwiseGradient::DepthwiseGradient;
  void Compute(Call& call) const {
    const Dims dims = call.HostInts(1);
    const Tensor image = call.In(0), gradient = call.In(2);
    const Sides sides = SidesOf(image.dims, dims, gradient);
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    if (image.count == 0 || gradient.count == 0) return Clear(call, out);
    // Each part sums some rows of the output, so that all compute units have work.
    constexpr int64_t kMostParts = 64;
    const int64_t rows = gradient.dims[0] * gradient.dims[1];
    const int64_t wanted = call.device().is_gpu() ? kMostParts : call.device().compute_units();
    const int64_t each = (rows + wanted - 1) / wanted, parts = (rows + each - 1) / each;
    const TF_DataType type = out.type == TF_DOUBLE ? TF_DOUBLE : TF_FLOAT;
    const Tensor sums = call.Temp(type, {parts, out.count});
    {
      Launch launch = LaunchDepthwise(call, out.type, "depthwise_filter");
      launch.Memory(image).Memory(gradient).Memory(sums);
      launch.Value(static_cast<cl_ulong>(sums.count)).Int(rows).Int(each);
      launch.Value(DepthwiseNumbersOf(image.dims, dims, sides.y, sides.x)).Run(sums.count, 64);
    }
    SumMiddle(call, sums, parts, out.count, out);
  }
};

constexpr PlainRow kDepthwiseInput[] = {
    {{"DepthwiseConv2dNativeBackpropInput", kFloats, "T", "input_sizes"}}};
constexpr PlainRow kDepthwiseFilter[] = {
    {{"DepthwiseConv2dNativeBackpropFilter", kFloats, "T", "filter_sizes"}}};

}  // namespace

void RegisterDepthwiseGradients() {
  RegisterTable<DepthwiseInput, kDepthwiseInput>();
  RegisterTable<DepthwiseFilter, kDepthwiseFilter>();
}

}  // namespace opencl
