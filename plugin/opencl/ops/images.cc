// Resizing of images and of parts of them.

#include "../base/launch.h"
#include "../base/registry.h"
#include "families.h"

namespace opencl {
namespace {

struct ResizeRow {
  OpRow row;
  const char* kernel;
  bool size = false;  // of a gradient: input 1 is the size of the images, not the images
};

struct ResizeNumbers {
  cl_int height, width, channels, out_height, out_width;
  cl_float scale_y, scale_x;
  cl_int half_pixels, corners;
};

// The attributes of a resize and of its gradient. The gradient that takes a size may have both.
class ResizeAttrs {
 public:
  ResizeAttrs(const Construction& node, const ResizeRow& row)
      : corners_(node.Bool("align_corners")), half_(node.Bool("half_pixel_centers")) {
    if (corners_ && half_ && !row.size) {
      Refuse(std::string(row.row.op) +
             ": If half_pixel_centers is True, align_corners must be False.");
    }
  }
  // From images of these dimensions to `height` x `width`.
  ResizeNumbers NumbersOf(const Dims& images, int64_t height, int64_t width) const {
    const auto scale = [this](int64_t from, int64_t to) {
      return corners_ && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                : static_cast<float>(from) / static_cast<float>(to);
    };
    const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
    return {n(images[1]),
            n(images[2]),
            n(images[3]),
            n(height),
            n(width),
            scale(images[1], height),
            scale(images[2], width),
            half_,
            corners_};
  }

 private:
  const bool corners_, half_;
};

Launch LaunchImages(Call& call, const Tensor& in, const Tensor& out, const char* entry) {
  KernelKey key(entry);
  return Launch(call, key.Number(in.type).Number(out.type), [&] {
    return Source{"image.cl", DefineType("X", TypeOf(in.type)) + DefineType("O", TypeOf(out.type)),
                  entry};
  });
}

class Resize {
 public:
  Resize(const Construction& node, const ResizeRow& row) : row_(row), attrs_(node, row) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> size = call.HostInts(1);
    if (in.rank() != 4) Refuse("input must be 4-dimensional" + ShapeText(in.dims));
    if (size.size() != 2) Refuse("shape_t must have two elements " + std::to_string(size.size()));
    if (size[0] <= 0 || size[1] <= 0) Refuse("output dimensions must be positive");
    if (in.dims[1] == 0 || in.dims[2] == 0) Refuse("input image must be of non-zero size");
    const Tensor out = call.Out(0, {in.dims[0], size[0], size[1], in.dims[3]});
    if (out.count == 0) return;
    Launch launch = LaunchImages(call, in, out, row_.kernel);
    launch.Memory(in).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(attrs_.NumbersOf(in.dims, size[0], size[1])).Run(out.count);
  }

 private:
  const ResizeRow& row_;
  const ResizeAttrs attrs_;
};

// The size of the images comes from an input of two numbers, or is that of the original images.
class ResizeGradient {
 public:
  ResizeGradient(const Construction& node, const ResizeRow& row) : row_(row), attrs_(node, row) {}

  void Compute(Call& call) const {
    const Tensor gradient = call.In(0);
    if (gradient.rank() != 4) Refuse("input must be 4-dimensional" + ShapeText(gradient.dims));
    const Dims size = row_.size ? call.HostInts(1) : call.In(1).dims;
    if (size.size() != (row_.size ? 2 : 4))
      Refuse(std::string(row_.row.op) + ": wrong size of images");
    Dims dims = size;
    if (row_.size) dims = {gradient.dims[0], size[0], size[1], gradient.dims[3]};
    if (dims[1] <= 0 || dims[2] <= 0 || gradient.dims[1] == 0 || gradient.dims[2] == 0)
      Refuse(std::string(row_.row.op) + ": images must have rows and columns");
    if (dims[0] != gradient.dims[0] || dims[3] != gradient.dims[3]) {
      Refuse(std::string(row_.row.op) + ": gradients " + ShapeText(gradient.dims) +
             " do not fit images " + ShapeText(dims));
    }
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    Launch launch = LaunchImages(call, gradient, out, row_.kernel);
    launch.Memory(gradient).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(attrs_.NumbersOf(dims, gradient.dims[1], gradient.dims[2])).Run(out.count);
  }

 private:
  const ResizeRow& row_;
  const ResizeAttrs attrs_;
};

class CropAndResize {
 public:
  CropAndResize(const Construction& node, const PlainRow& row)
      : node_(node.NodeText(row.row.op)),
        nearest_(node.String("method") == "nearest"),
        outside_(node.Float("extrapolation_value")) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0), boxes = call.In(1), images = call.In(2);
    const std::vector<int64_t> size = call.HostInts(3);
    if (in.rank() != 4) Refuse("input image must be 4-D" + ShapeText(in.dims));
    if (boxes.rank() != 2 || boxes.dims[1] != 4 || images.rank() != 1 ||
        images.dims[0] != boxes.dims[0]) {
      Refuse("boxes must be [n, 4] and box_index [n], not " + ShapeText(boxes.dims) + " and " +
             ShapeText(images.dims));
    }
    if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
      Refuse("crop dimensions must be positive, and two");
    if (in.dims[1] <= 0 || in.dims[2] <= 0) Refuse("image dimensions must be positive");
    const Tensor out = call.Out(0, {boxes.dims[0], size[0], size[1], in.dims[3]});
    if (out.count == 0) return;
    const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
    Launch launch = LaunchImages(call, in, out, "crop_and_resize");
    launch.Memory(in).Memory(boxes).Memory(images).Memory(out);
    launch.Value(static_cast<cl_ulong>(out.count));
    launch.Value(ResizeNumbers{n(in.dims[1]), n(in.dims[2]), n(in.dims[3]), n(size[0]), n(size[1]),
                               0, 0, 0, 0});
    launch.Int(in.dims[0]).Value(outside_).Int(nearest_);
    launch.Errors(call.device().errors().NumberOf("box_index has the value %lld outside of [0, " +
                                                      std::to_string(in.dims[0]) + ") in " + node_,
                                                  TF_OUT_OF_RANGE));
    launch.Run(out.count);
  }

 private:
  const std::string node_;
  const bool nearest_;
  const float outside_;
};

constexpr ResizeRow kResize[] = {
    {{"ResizeBilinear", kNumbers & ~kU32 & ~kU64, "T", "size"}, "bilinear"},
    {{"ResizeNearestNeighbor", kNumbers & ~kU32 & ~kU64, "T", "size"}, "nearest"}};

constexpr ResizeRow kResizeGradients[] = {
    {{"ResizeBilinearGrad", kF32 | kF16 | kBF16 | kF64, "T"}, "bilinear_gradient"},
    {{"ResizeNearestNeighborGrad", kFloats | kI32 | kI8 | kU8, "T", "size"},
     "nearest_gradient",
     true}};
constexpr PlainRow kCrop[] = {{{"CropAndResize", kNumbers & ~kU32 & ~kU64, "T", "crop_size"}}};

}  // namespace

void RegisterImages() {
  RegisterTable<Resize, kResize>();
  RegisterTable<ResizeGradient, kResizeGradients>();
  RegisterTable<CropAndResize, kCrop>();
}

}  // namespace opencl
