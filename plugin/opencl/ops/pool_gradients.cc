// Gradients of pools over windows of images, and the gradient of that of the maximum.

#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"
#include "pooling.h"

namespace opencl {
namespace {

Launch LaunchPool(Call& call, TF_DataType type, const char* entry) {
  return Launch(call, KernelKey(entry).Number(type), [&] {
    return Source{"pool.cl", DefineType("X", TypeOf(type)) + "#define GRADIENTS\n", entry};
  });
}

class PoolGradient {
 public:
  PoolGradient(const Construction& node, const PlainRow& row)
      : op_(row.row.op), window_(node, row.row.op) {
    if (window_.depth() > 1) NotImplemented(std::string(op_) + " of windows over depth on OPENCL");
  }

 protected:
  // A pool over an image of these dimensions.
  struct Windows {
    WindowSide y, x;
    Dims out;

    // No two windows share a pixel.
    bool apart() const { return y.stride >= y.window && x.stride >= x.window; }
    PoolNumbers numbers() const { return PoolNumbersOf(y, x, out[3]); }
  };
  Windows WindowsOf(const Dims& image) const {
    if (image.size() != 4)
      Refuse(std::string(op_) + ": the image must be 4-dimensional: " + ShapeText(image));
    const WindowSide y = window_.Side(1, image[1], window_.window(1));
    const WindowSide x = window_.Side(2, image[2], window_.window(2));
    return {y, x, {image[0], y.out, x.out, image[3]}};
  }
  void CheckShape(const char* name, const Tensor& tensor, const Dims& expected) const {
    opencl::CheckShape(op_, name, tensor.dims, expected);
  }

 private:
  const char* const op_;
  const WindowAttrs window_;
};

class MaxPoolGradient : public PoolGradient {
 public:
  using PoolGradient::PoolGradient;
  void Compute(Call& call) const {
    const Tensor image = call.In(0), pooled = call.In(1), gradient = call.In(2);
    const Windows windows = WindowsOf(image.dims);
    CheckShape("orig_output", pooled, windows.out);
    CheckShape("grad", gradient, windows.out);
    const Tensor out = call.Out(0, image.dims);
    if (out.count == 0) return;
    if (windows.apart() || gradient.count == 0) Clear(call, out);
    if (gradient.count == 0) return;
    const int64_t count = windows.apart() ? gradient.count : out.count;
    Launch launch = LaunchPool(call, out.type,
                               windows.apart() ? "max_pool_gradient_apart" : "max_pool_gradient");
    launch.Memory(image).Memory(gradient).Memory(out).Value(static_cast<cl_ulong>(count));
    launch.Value(windows.numbers()).Run(count, 64);
  }
};

class AveragePoolGradient : public PoolGradient {
 public:
  using PoolGradient::PoolGradient;
  void Compute(Call& call) const {
    const Dims dims = call.HostInts(0);
    const Tensor gradient = call.In(1);
    const Windows windows = WindowsOf(dims);
    CheckShape("grad", gradient, windows.out);
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    Launch launch = LaunchPool(call, out.type, "average_pool_gradient");
    launch.Memory(gradient).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(windows.numbers()).Run(out.count, 64);
  }
};

class MaxPoolSecondGradient : public PoolGradient {
 public:
  using PoolGradient::PoolGradient;
  void Compute(Call& call) const {
    const Tensor image = call.In(0), pooled = call.In(1), second = call.In(2);
    const Windows windows = WindowsOf(image.dims);
    CheckShape("orig_output", pooled, windows.out);
    CheckShape("grad", second, image.dims);
    const Tensor out = call.Out(0, windows.out);
    if (out.count == 0) return;
    Launch launch = LaunchPool(call, out.type, "max_pool_second_gradient");
    launch.Memory(image).Memory(pooled).Memory(second).Memory(out);
    launch.Value(static_cast<cl_ulong>(out.count)).Value(windows.numbers()).Run(out.count, 64);
  }
};

constexpr PlainRow kMaxPoolGradient[] = {{{"MaxPoolGrad", kFloats}}};
constexpr PlainRow kAveragePoolGradient[] = {{{"AvgPoolGrad", kFloats, "T", "orig_input_shape"}}};
constexpr PlainRow kMaxPoolSecond[] = {{{"MaxPoolGradGrad", kFloats}}};

}  // namespace

void RegisterPoolGradients() {
  RegisterTable<MaxPoolGradient, kMaxPoolGradient>();
  RegisterTable<AveragePoolGradient, kAveragePoolGradient>();
  RegisterTable<MaxPoolSecondGradient, kMaxPoolSecond>();
}

}  // namespace opencl
