#include "sort.h"

#include <algorithm>

#include "launch.h"

namespace opencl {
namespace {

Launch LaunchSort(Call& call, const char* entry, int64_t group) {
  return Launch(call, KernelKey(entry).Number(group), [&] {
    return Source{"sort.cl", "#define GROUP " + std::to_string(group) + "\n", entry};
  });
}

}  // namespace

int64_t PowerOfTwo(int64_t n) {
  int64_t size = 1;
  while (size < n) size *= 2;
  return size;
}

void SortRows(Call& call, const Tensor& keys) {
  constexpr int64_t kGroup = 128;
  const int64_t row = keys.dims.back(), near = 2 * kGroup;
  if (keys.count == 0 || row < 2) return;
  const auto sort_near = [&](int64_t run, int64_t last) {
    Launch launch = LaunchSort(call, "sort_near", kGroup);
    launch.Memory(keys).Value(static_cast<cl_ulong>(keys.count)).Int(row).Int(run).Int(last);
    const auto groups = static_cast<size_t>((keys.count + near - 1) / near);
    launch.Run({groups * kGroup, 1, 1}, {kGroup, 1, 1});
  };
  sort_near(2, std::min(row, near));
  for (int64_t run = 2 * near; run <= row; run *= 2) {
    for (int64_t distance = run / 2; distance >= near; distance /= 2) {
      Launch launch = LaunchSort(call, "sort_distance", kGroup);
      launch.Memory(keys).Value(static_cast<cl_ulong>(keys.count / 2));
      launch.Int(row).Int(run).Int(distance).Run(keys.count / 2);
    }
    sort_near(run, run);
  }
}

}  // namespace opencl
