// Pools over windows of images.

#include <algorithm>

#include "../base/launch.h"
#include "../base/registry.h"
#include "families.h"
#include "pooling.h"

namespace opencl {
namespace {

struct PoolRow {
  OpRow row;
  bool max;
};

class Pool {
 public:
  Pool(const Construction& node, const PoolRow& row)
      : op_(row.row.op), max_(row.max), window_(node, row.row.op) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    if (in.rank() != 4)
      Refuse(std::string(op_) + ": input must be 4-dimensional: " + ShapeText(in.dims));
    if (window_.depth() > 1) return OverDepth(call, in);
    const WindowSide y = window_.Side(1, in.dims[1], window_.window(1));
    const WindowSide x = window_.Side(2, in.dims[2], window_.window(2));
    const Tensor out = call.Out(0, {in.dims[0], y.out, x.out, in.dims[3]});
    if (out.count != 0) Run(call, in, out, y, x, in.dims[3]);
  }

 private:
  // Windows of neighbouring channels that do not overlap: rows of an image of one column.
  void OverDepth(Call& call, const Tensor& in) const {
    const int64_t depth = window_.depth(), channels = in.dims[3];
    if (!max_ || channels % depth != 0 || window_.window(1) != 1 || window_.window(2) != 1)
      NotImplemented(std::string(op_) + " of this window over depth on OPENCL");
    const Tensor out = call.Out(0, {in.dims[0], in.dims[1], in.dims[2], channels / depth});
    const WindowSide y{channels, depth, depth, 1, channels / depth, 0}, x{1, 1, 1, 1, 1, 0};
    // Over channels the first element begins, also where it is NaN.
    if (out.count != 0) Run(call, in, out, y, x, 1, "X_GET(in, y0)");
  }

  // A maximum begins with `least`, or as TensorFlow's with the lowest finite number, which is the
  // maximum of a window of NaN alone.
  void Run(Call& call, const Tensor& in, const Tensor& out, const WindowSide& y,
           const WindowSide& x, int64_t channels, const char* least = nullptr) const {
    const KernelKey key =
        KernelKey("pool").Number(in.type).Number(max_).Text(least == nullptr ? "" : least);
    Launch launch(call, key, [&] {
      const ElementType& type = TypeOf(in.type);
      const std::string lowest = least == nullptr ? LowestFinite(type) : least;
      return Source{
          "pool.cl",
          DefineType("X", type) + (max_ ? "#define MAX\n#define LOWEST " + lowest + "\n" : ""),
          "pool"};
    });
    launch.Memory(in).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(PoolNumbersOf(y, x, channels));
    if (call.device().is_gpu()) return launch.Run(out.count);
    launch.Run({static_cast<size_t>(channels), static_cast<size_t>(out.count / channels), 1},
               {static_cast<size_t>(std::clamp<int64_t>(channels, 1, 64)), 1, 1});
  }

  const char* const op_;
  const bool max_;
  const WindowAttrs window_;
};

constexpr PoolRow kPools[] = {{{"MaxPool", kFloats}, true}, {{"AvgPool", kFloats}, false}};

}  // namespace

void RegisterPooling() { RegisterTable<Pool, kPools>(); }

}  // namespace opencl
