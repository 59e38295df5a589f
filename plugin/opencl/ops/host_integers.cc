#include "host_integers.h"

#include <limits>

#include "../base/strided.h"

namespace opencl {
namespace {

int32_t* Ints(const Tensor& tensor) { return static_cast<int32_t*>(tensor.data); }

class RangeOnHost {
 public:
  RangeOnHost(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    int64_t values[3];
    const char* const names[] = {"start", "limit", "delta"};
    for (int i = 0; i < 3; ++i) {
      const std::vector<int64_t> value = call.HostInts(i);
      if (value.size() != 1 || call.In(i).rank() != 0)
        Refuse(std::string(names[i]) + " must be a scalar, not shape " +
               ShapeText(call.In(i).dims));
      values[i] = value[0];
    }
    const auto [start, limit, delta] = values;
    if (delta == 0) Refuse("Requires delta != 0: 0");
    if (delta > 0 ? start > limit : start < limit) {
      Refuse(std::string("Requires start ") + (delta > 0 ? "<=" : ">=") + " limit when delta " +
             (delta > 0 ? ">" : "<") + " 0: " + std::to_string(start) + "/" +
             std::to_string(limit));
    }
    // Differences of int64 need not fit into one; without a sign they do.
    const uint64_t span = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                    : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : -static_cast<uint64_t>(delta);
    const uint64_t steps = span / step + (span % step == 0 ? 0 : 1);
    if (steps > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      Refuse("Requires ((limit - start) / delta) <= " +
             std::to_string(std::numeric_limits<int64_t>::max()));
    const auto count = static_cast<int64_t>(steps);
    const Tensor out = call.Out(0, {count});
    for (int64_t i = 0; i < count; ++i) {
      if (out.type == TF_INT64) {
        static_cast<int64_t*>(out.data)[i] = start + i * delta;
      } else {
        Ints(out)[i] = static_cast<int32_t>(start + i * delta);
      }
    }
  }
};

constexpr PlainRow kRange[] = {{{"Range", kI32 | kI64, "Tidx", "start limit delta output"}}};

}  // namespace

void CopyAnywhere(Call& call, bool on_host, const Tensor& from, int64_t from_at, const Tensor& to,
                  int64_t to_at, const Loop& loop) {
  if (!on_host) return CopyStrided(call, from, from_at, to, to_at, loop);
  const int64_t count = loop.count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, source = from_at, target = to_at;
    for (size_t d = loop.dims.size(); d-- > 0;) {
      const int64_t c = rest % loop.dims[d];
      rest /= loop.dims[d];
      source += c * loop.strides[0][d];
      target += c * loop.strides[1][d];
    }
    Ints(to)[target] = Ints(from)[source];
  }
}

void RegisterHostIntegers() { RegisterTable<RangeOnHost, kRange>(); }

}  // namespace opencl
