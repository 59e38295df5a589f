// TopK: the largest elements of each row.

#include <climits>

#include "../base/launch.h"
#include "../base/registry.h"
#include "../base/sort.h"
#include "families.h"

namespace opencl {
namespace {

struct TopRow {
  OpRow row;
  bool attr;  // k is an attribute
};

class TopK {
 public:
  TopK(const Construction& node, const TopRow& row)
      : op_(row.row.op), k_(row.attr ? node.Int("k") : -1) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> asked = k_ >= 0 ? std::vector<int64_t>{k_} : call.HostInts(1);
    if (asked.size() != 1) Refuse(std::string(op_) + ": k must be scalar");
    if (in.rank() < 1) Refuse("input must have at least 1 dimension");
    const int64_t k = asked[0], columns = in.dims.back();
    if (k < 0 || k > columns)
      Refuse("k must be between 0 and " + std::to_string(columns) + ", it is " + std::to_string(k));
    if (columns > INT_MAX / 2)
      NotImplemented(std::string(op_) + " of " + ShapeText(in.dims) + " on OPENCL");
    Dims dims = in.dims;
    dims.back() = k;
    const Tensor values = call.Out(0, dims), places = call.Out(1, dims);
    if (values.count == 0) return;
    if (k == 1 && TypeOf(in.type).kind == Kind::kFloat) return One(call, in, values, places);
    // Insertion takes at most k steps for each element, a sort log^2(columns) for all at once.
    const bool inserts = !call.device().is_gpu() && k <= 256;
    if (inserts || TypeOf(in.type).bytes > 4) return Insert(call, in, values, places);
    Sort(call, in, values, places);
  }

 private:
  static Launch LaunchTop(Call& call, const Tensor& in, const Tensor& places, const char* entry,
                          const std::string& more = "") {
    KernelKey key(entry);
    key.Number(in.type).Number(places.type);
    return Launch(call, key, [&] {
      const bool floats = TypeOf(in.type).kind == Kind::kFloat;
      return Source{"top_k.cl",
                    DefineType("X", TypeOf(in.type)) + DefineType("O", TypeOf(places.type)) +
                        (floats ? "#define FLOATS\n" : "") + more,
                    entry};
    });
  }

  static void One(Call& call, const Tensor& in, const Tensor& values, const Tensor& places) {
    const std::string lanes = TypeOf(in.type).bytes == 8 ? "4" : "8";
    Launch launch = LaunchTop(call, in, places, "top_one", "#define LANES " + lanes + "\n");
    launch.Memory(in).Memory(values).Memory(places).Value(static_cast<cl_ulong>(values.count));
    launch.Int(in.dims.back()).Run(values.count, 64);
  }

  static void Insert(Call& call, const Tensor& in, const Tensor& values, const Tensor& places) {
    const int64_t rows = in.count / in.dims.back();
    Launch launch = LaunchTop(call, in, places, "top_insert");
    launch.Memory(in).Memory(values).Memory(places).Value(static_cast<cl_ulong>(rows));
    launch.Int(in.dims.back()).Int(values.dims.back()).Run(rows, 16);
  }

  static void Sort(Call& call, const Tensor& in, const Tensor& values, const Tensor& places) {
    const int64_t columns = in.dims.back(), size = PowerOfTwo(columns);
    const Tensor keys = call.Temp(TF_UINT64, {in.count / columns, size});
    {
      Launch launch = LaunchTop(call, in, places, "top_keys", "#define KEYS\n");
      launch.Memory(in).Memory(keys).Value(static_cast<cl_ulong>(keys.count));
      launch.Int(columns).Int(size).Run(keys.count);
    }
    SortRows(call, keys);
    Launch launch = LaunchTop(call, in, places, "top_take", "#define KEYS\n");
    launch.Memory(in).Memory(keys).Memory(values).Memory(places);
    launch.Value(static_cast<cl_ulong>(values.count)).Int(columns).Int(size);
    launch.Int(values.dims.back()).Run(values.count);
  }

  const char* const op_;
  const int64_t k_;
};

constexpr TopRow kTopK[] = {{{"TopKV2", kNumbers, "T", "k"}, false},
                            {{"TopK", kNumbers, "T"}, true}};

}  // namespace

void RegisterTopK() { RegisterTable<TopK, kTopK>(); }

}  // namespace opencl
