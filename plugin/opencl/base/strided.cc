#include "strided.h"

#include <algorithm>
#include <climits>

#include "launch.h"

namespace opencl {
namespace {

constexpr int kTile = 32;

bool NeedsWide(const Loop& loop, int64_t from_count, int64_t to_count) {
  return std::max({loop.count(), from_count, to_count}) > INT_MAX / 2;
}

}  // namespace

Loop BoxLoop(const Dims& dims, const Dims& from, const Dims& to) {
  return {dims, {RowMajorStrides(from), RowMajorStrides(to)}};
}

void CopyAll(Call& call, const Tensor& from, const Tensor& to) {
  if (from.bytes() == 0 || from.data == to.data) return;
  const Place source = call.device().memory().Find(from.data, from.bytes());
  const Place target = call.device().memory().Find(to.data, from.bytes());
  Check(clEnqueueCopyBuffer(call.stream().queue(), source.buffer, target.buffer, source.offset,
                            target.offset, from.bytes(), 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  call.stream().Touch();
}

void Clear(Call& call, const Tensor& tensor) {
  if (tensor.bytes() == 0) return;
  const Place place = call.device().memory().Find(tensor.data, tensor.bytes());
  const cl_uchar zero = 0;
  Check(clEnqueueFillBuffer(call.stream().queue(), place.buffer, &zero, sizeof(zero), place.offset,
                            tensor.bytes(), 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  call.stream().Touch();
}

void CopyStrided(Call& call, const Tensor& from, int64_t from_at, const Tensor& to, int64_t to_at,
                 Loop loop) {
  const int64_t count = loop.count();
  if (count == 0) return;
  loop.Collapse();
  if (loop.dims.empty()) {
    loop.dims = {1};
    for (Dims& strides : loop.strides) strides = {1};
  }
  const size_t bytes = TypeOf(from.type).bytes;
  const bool wide = NeedsWide(loop, from.count, to.count);
  const bool rows = !call.device().is_gpu() && loop.dims.back() >= 16;
  const size_t rank = loop.dims.size();
  KernelKey key("strided_copy");
  key.Number(static_cast<int64_t>(bytes)).Number(static_cast<int64_t>(rank)).Number(wide);
  Launch launch(call, key.Number(rows), [&] {
    return Source{"copy.cl",
                  std::string("#define E ") + UnsignedOf(bytes) + "\n#define RANK " +
                      std::to_string(rank) +
                      (wide ? "\n#define NUMBER long\n#define LENGTH ulong\n"
                            : "\n#define NUMBER int\n#define LENGTH uint\n") +
                      (rows ? "#define ROWS\n" : ""),
                  "strided_copy"};
  });
  const auto at = [bytes](const Tensor& tensor, int64_t elements) {
    return static_cast<char*>(tensor.data) + elements * static_cast<int64_t>(bytes);
  };
  // The first element's address alone: strides may go either way from it.
  launch.Memory(at(from, from_at), bytes, bytes).Memory(at(to, to_at), bytes, bytes);
  launch.Length(count, wide).Positions(loop, wide);
  if (rows) return launch.RunRows(loop.dims.back(), count / loop.dims.back());
  launch.Run(count);
}

void Permute(Call& call, const Tensor& from, const std::vector<int>& order, const Tensor& to) {
  const Dims strides = RowMajorStrides(from.dims);
  Loop loop;
  loop.strides.resize(2);
  for (const int d : order) {
    loop.dims.push_back(from.dims[static_cast<size_t>(d)]);
    loop.strides[0].push_back(strides[static_cast<size_t>(d)]);
  }
  loop.strides[1] = RowMajorStrides(loop.dims);
  if (loop.count() == 0) return;
  loop.Collapse();
  const size_t rank = loop.dims.size();
  // The last two dimensions change places: by tiles.
  const bool matrices = call.device().is_gpu() && rank >= 2 && rank <= 3 &&
                        loop.strides[0][rank - 2] == 1 &&
                        loop.strides[0][rank - 1] == loop.dims[rank - 2] &&
                        (rank == 2 || loop.strides[0][0] == loop.dims[1] * loop.dims[2]) &&
                        loop.count() <= INT_MAX / 2;
  if (!matrices) return CopyStrided(call, from, 0, to, 0, loop);
  const auto columns = static_cast<size_t>(loop.dims[rank - 2]);
  const auto rows = static_cast<size_t>(loop.dims[rank - 1]);
  const size_t batch = rank == 3 ? static_cast<size_t>(loop.dims[0]) : 1;
  const size_t bytes = TypeOf(from.type).bytes;
  Launch launch(call, KernelKey("transpose").Number(static_cast<int64_t>(bytes)), [&] {
    return Source{"copy.cl",
                  std::string("#define E ") + UnsignedOf(bytes) +
                      "\n#define RANK 1\n#define NUMBER int\n#define LENGTH uint\n"
                      "#define TILE " +
                      std::to_string(kTile) + "\n",
                  "transpose"};
  });
  launch.Memory(from).Memory(to).Int(static_cast<int64_t>(rows)).Int(static_cast<int64_t>(columns));
  const auto tiles = [](size_t n) { return (n + kTile - 1) / kTile; };
  launch.Run({tiles(columns) * kTile, tiles(rows) * (kTile / 4), batch}, {kTile, kTile / 4, 1});
}

}  // namespace opencl
