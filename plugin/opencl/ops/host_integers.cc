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
      const auto value = static_cast<int64_t>(
          static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      if (out.type == TF_INT64) {
        static_cast<int64_t*>(out.data)[i] = value;
      } else {
        Ints(out)[i] = static_cast<int32_t>(value);
      }
    }
  }
};

// Sets an output of int32 or int64 in host memory.
void PutInts(Call& call, int index, const std::vector<int64_t>& values) {
  const Tensor out = call.Out(index, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (out.type == TF_INT64) {
      static_cast<int64_t*>(out.data)[i] = values[i];
    } else {
      Ints(out)[i] = static_cast<int32_t>(values[i]);
    }
  }
}

// Two vectors that say shapes: what they broadcast to, or along which dimensions of that the
// gradient of each is summed.
class ShapePair {
 public:
  ShapePair(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    for (int i = 0; i < 2; ++i) {
      if (call.In(i).rank() != 1)
        Refuse("In[" + std::to_string(i) + "] must be a vector." + ShapeText(call.In(i).dims));
    }
    const Dims shapes[] = {call.HostInts(0), call.HostInts(1)};
    const Dims both = Broadcast(shapes[0], shapes[1]);
    if (call.outputs() == 1) return PutInts(call, 0, both);
    for (int i = 0; i < 2; ++i) {
      const Dims& own = shapes[i];
      std::vector<int64_t> axes;
      const size_t lacks = both.size() - own.size();
      for (size_t d = 0; d < both.size() && shapes[0] != shapes[1]; ++d) {
        if (d < lacks || own[d - lacks] == 1) axes.push_back(static_cast<int64_t>(d));
      }
      PutInts(call, i, axes);
    }
  }
};

class InvertPermutation {
 public:
  InvertPermutation(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const std::vector<int64_t> order = call.HostInts(0);
    if (call.In(0).rank() != 1)
      Refuse("invert_permutation expects a 1D vector, not " + ShapeText(call.In(0).dims));
    const auto size = static_cast<int64_t>(order.size());
    std::vector<int64_t> places(order.size(), -1);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = order[static_cast<size_t>(i)];
      if (at < 0 || at >= size)
        Refuse(std::to_string(at) + " is not between 0 and " + std::to_string(size));
      if (places[static_cast<size_t>(at)] != -1)
        Refuse(std::to_string(at) + " is duplicated in the input.");
      places[static_cast<size_t>(at)] = i;
    }
    PutInts(call, 0, places);
  }
};

// Where each of the tensors of these shapes begins in what they are joined to.
class ConcatOffset {
 public:
  ConcatOffset(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const std::vector<int64_t> axes = call.HostInts(0);
    if (axes.size() != 1) Refuse("ConcatOffset: the axis must be one number");
    const Dims first = call.HostInts(1);
    const auto axis =
        static_cast<size_t>(NormalAxis(axes[0], static_cast<int>(first.size()), "ConcatOffset"));
    int64_t offset = 0;
    for (int i = 0; i < call.outputs(); ++i) {
      Dims shape = call.HostInts(i + 1);
      if (call.In(i + 1).rank() != 1 || shape.size() != first.size())
        Refuse("ConcatOffset: input " + std::to_string(i) + " should contain " +
               std::to_string(first.size()) + " elements");
      std::vector<int64_t> begin(first.size(), 0);
      begin[axis] = offset;
      offset = Plus(offset, shape[axis]);
      shape[axis] = first[axis];
      if (shape != first) {
        Refuse("ConcatOffset: shapes " + ShapeText(first) + " and " + ShapeText(shape) +
               " differ in more than dimension " + std::to_string(axis));
      }
      PutInts(call, i, begin);
    }
  }
};

constexpr PlainRow kShapePairs[] = {{{"BroadcastGradientArgs", kI32 | kI64, "T", "s0 s1 r0 r1"}},
                                    {{"BroadcastArgs", kI32 | kI64, "T", "s0 s1 r0"}}};
constexpr PlainRow kInvert[] = {{{"InvertPermutation", kI32 | kI64, "T", "x y"}}};
constexpr PlainRow kOffsets[] = {
    {{"ConcatOffset", kI32 | kI64, "shape_type", "concat_dim shape offset"}}};
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

void RegisterHostIntegers() {
  RegisterTable<RangeOnHost, kRange>();
  RegisterTable<ShapePair, kShapePairs>();
  RegisterTable<InvertPermutation, kInvert>();
  RegisterTable<ConcatOffset, kOffsets>();
}

}  // namespace opencl
