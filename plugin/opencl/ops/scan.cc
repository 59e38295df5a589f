// Cumsum and Cumprod.

#include "../base/launch.h"
#include "../base/registry.h"
#include "families.h"

namespace opencl {
namespace {

struct ScanRow {
  OpRow row;
  const char* init;
  const char* combine;  // OpenCL C of sum and v; integers wrap in X_U
};

class Scan {
 public:
  Scan(const Construction& node, const ScanRow& row)
      : row_(row), exclusive_(node.Bool("exclusive")), reverse_(node.Bool("reverse")) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> axes = call.HostInts(1);
    if (call.In(1).rank() != 0) Refuse("ScanOp: axis must be a scalar");
    const auto axis = static_cast<size_t>(NormalAxis(axes[0], in.rank(), row_.row.op));
    const Tensor out = call.OutLike(0, in.dims, {0});
    if (out.count == 0) return;
    int64_t inner = 1;
    for (size_t d = axis + 1; d < in.dims.size(); ++d) inner *= in.dims[d];
    const int64_t lines = in.count / in.dims[axis];
    Launch launch(call, KernelKey("scan").Number(in.type).Text(row_.combine), [&] {
      const ElementType& type = TypeOf(in.type);
      return Source{"scan.cl",
                    DefineType("X", type) + "#define INIT " + row_.init +
                        "\n#define COMBINE(sum, v) " + row_.combine + "\n#define ROUND" +
                        Rounding(type, "sum") + "\n",
                    "scan"};
    });
    launch.Memory(in).Memory(out).Value(static_cast<cl_ulong>(lines)).Int(in.dims[axis]);
    launch.Int(inner).Int(exclusive_).Int(reverse_).Run(lines, 64);
  }

 private:
  const ScanRow& row_;
  const bool exclusive_, reverse_;
};

constexpr ScanRow kScans[] = {
    {{"Cumsum", kNumbers, "T", "axis"}, "0", "(X_C)((X_U)sum + (X_U)v)"},
    {{"Cumprod", kNumbers, "T", "axis"}, "1", "(X_C)((X_U)sum * (X_U)v)"}};

}  // namespace

void RegisterScan() { RegisterTable<Scan, kScans>(); }

}  // namespace opencl
