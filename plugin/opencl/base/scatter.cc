#include "scatter.h"

#include <algorithm>
#include <climits>

#include "launch.h"
#include "sort.h"

namespace opencl {
namespace {

// Which piece of the target each point stands for: int64 [count].
Tensor Locate(Call& call, const Points& points, const std::string& node) {
  const size_t depth = points.sizes.size();
  const int64_t pieces = Count(points.sizes);
  Dims sizes = points.sizes;
  sizes.resize(std::max<size_t>(depth, 1), 1);
  Tensor places = call.Temp(TF_INT64, {points.count});
  KernelKey key("locate");
  key.Number(points.indices.type).Number(static_cast<int64_t>(sizes.size()));
  Launch launch(call, key, [&] {
    return Source{"scatter.cl",
                  DefineType("L", TypeOf(points.indices.type)) + "#define DEPTH " +
                      std::to_string(sizes.size()) + "\n",
                  "locate"};
  });
  launch.Memory(points.indices).Memory(places).Value(static_cast<cl_ulong>(points.count));
  launch.Int(static_cast<int64_t>(depth)).Bytes(sizes.data(), sizes.size() * sizeof(int64_t));
  launch.Value(static_cast<cl_ulong>(std::max<int64_t>(points.count / points.batches, 1)));
  launch.Value(static_cast<cl_ulong>(pieces)).Int(static_cast<int64_t>(points.reported));
  launch.Errors(call.device().errors().NumberOf(points.report + " in " + node)).Run(points.count);
  return places;
}

// The points' numbers and places in one key, sorted.
Tensor SortedKeys(Call& call, const Points& points, const Tensor& places) {
  const Tensor keys = call.Temp(TF_UINT64, {1, PowerOfTwo(points.count)});
  {
    Launch launch(call, KernelKey("place_keys"), [&] {
      return Source{"scatter.cl", DefineType("L", TypeOf(TF_INT64)) + "#define DEPTH 1\n",
                    "place_keys"};
    });
    launch.Memory(places).Memory(keys).Value(static_cast<cl_ulong>(keys.count));
    launch.Value(static_cast<cl_ulong>(points.count)).Run(keys.count);
  }
  SortRows(call, keys);
  return keys;
}

}  // namespace

void RunScatter(Call& call, const Points& points, const Sent& sent, const Tensor& values,
                const Tensor& target, const std::string& node) {
  if (points.count == 0 || points.piece == 0) return;
  const Tensor places = Locate(call, points, node);
  // Sorting pays where many work-items want work.
  constexpr int64_t kFewPoints = 32;
  const int64_t pieces = Times(points.batches, Count(points.sizes));
  const bool sorted = call.device().is_gpu() && points.count > kFewPoints &&
                      std::max(points.count, pieces) < INT_MAX;
  const Tensor order = sorted ? SortedKeys(call, points, places) : places;
  const char* const entry = sorted ? "scatter_sorted" : "scatter_in_order";
  const ElementType& type = TypeOf(target.type);
  KernelKey key(entry);
  key.Number(type.type).Number(sent.zero != nullptr).Text(sent.combine);
  Launch launch(call, key, [&] {
    return Source{"scatter.cl",
                  DefineType("X", type) + "#define COMBINE(a, b) (" + sent.combine +
                      ")\n#define ROUND" + Rounding(type, "a") + "\n" +
                      (sent.zero != nullptr ? "#define CHECK\n" : ""),
                  entry};
  });
  const bool repeated = values.count == 1 && points.count * points.piece != 1;
  launch.Memory(target).Memory(values).Memory(order);
  launch.Value(static_cast<cl_ulong>(points.count)).Value(static_cast<cl_ulong>(points.piece));
  launch.Value(static_cast<cl_ulong>(repeated ? 0 : points.piece)).Int(repeated ? 0 : 1);
  launch.Errors(sent.zero == nullptr
                    ? 0
                    : call.device().errors().NumberOf(std::string(sent.zero) + " in " + node));
  launch.Run(sorted ? points.count * points.piece : points.piece, 64);
}

}  // namespace opencl
