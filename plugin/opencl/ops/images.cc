// Resizing of images.

#include "../base/launch.h"
#include "../base/registry.h"
#include "families.h"

namespace opencl {
namespace {

struct ResizeRow {
  OpRow row;
  const char* kernel;
};

struct ResizeNumbers {
  cl_int height, width, channels, out_height, out_width;
  cl_float scale_y, scale_x;
  cl_int half_pixels, corners;
};

class Resize {
 public:
  Resize(const Construction& node, const ResizeRow& row)
      : row_(row), corners_(node.Bool("align_corners")), half_(node.Bool("half_pixel_centers")) {
    if (corners_ && half_) {
      Refuse(std::string(row.row.op) +
             ": If half_pixel_centers is True, align_corners must be False.");
    }
  }

  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> size = call.HostInts(1);
    if (in.rank() != 4) Refuse("input must be 4-dimensional" + ShapeText(in.dims));
    if (size.size() != 2) Refuse("shape_t must have two elements " + std::to_string(size.size()));
    if (size[0] <= 0 || size[1] <= 0) Refuse("output dimensions must be positive");
    if (in.dims[1] == 0 || in.dims[2] == 0) Refuse("input image must be of non-zero size");
    const Tensor out = call.Out(0, {in.dims[0], size[0], size[1], in.dims[3]});
    if (out.count == 0) return;
    const auto scale = [this](int64_t from, int64_t to) {
      return corners_ && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                : static_cast<float>(from) / static_cast<float>(to);
    };
    const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
    Launch launch(call,
                  {"image.cl", DefineType("X", TypeOf(in.type)) + DefineType("O", TypeOf(out.type)),
                   row_.kernel});
    launch.Memory(in).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(ResizeNumbers{n(in.dims[1]), n(in.dims[2]), n(in.dims[3]), n(size[0]), n(size[1]),
                               scale(in.dims[1], size[0]), scale(in.dims[2], size[1]), half_,
                               corners_});
    launch.Run(out.count);
  }

 private:
  const ResizeRow& row_;
  const bool corners_, half_;
};

constexpr ResizeRow kResize[] = {
    {{"ResizeBilinear", kNumbers & ~kU32 & ~kU64, "T", "size"}, "bilinear"},
    {{"ResizeNearestNeighbor", kNumbers & ~kU32 & ~kU64, "T", "size"}, "nearest"}};

}  // namespace

void RegisterImages() { RegisterTable<Resize, kResize>(); }

}  // namespace opencl
