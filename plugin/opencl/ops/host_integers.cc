#include "host_integers.h"

#include <cmath>
#include <limits>

namespace opencl {
namespace {

int32_t* Ints(const Tensor& tensor) { return static_cast<int32_t*>(tensor.data); }

class PackOnHost {
 public:
  PackOnHost(const Construction& node, const HostRow&) : axis_(node.Int("axis")) {}
  void Compute(Call& call) const {
    const Tensor model = call.In(0);
    const auto axis = static_cast<size_t>(NormalAxis(axis_, model.rank() + 1, "Pack"));
    Dims dims = model.dims;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), call.inputs());
    const Tensor out = call.Out(0, dims);
    Dims steps = RowMajorStrides(dims);
    const int64_t step = steps[axis];
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(axis));
    for (int i = 0; i < call.inputs(); ++i) {
      const Tensor part = call.In(i);
      if (part.dims != model.dims) {
        Refuse("Shapes of all inputs must match: values[0].shape = " + ShapeText(model.dims) +
               " != values[" + std::to_string(i) + "].shape = " + ShapeText(part.dims));
      }
      CopyOnHost(part, 0, out, {part.dims, {RowMajorStrides(part.dims), steps}}, i * step);
    }
  }

 private:
  const int64_t axis_;
};

class ConcatOnHost {
 public:
  ConcatOnHost(const Construction&, const HostRow&) {}
  void Compute(Call& call) const {
    const int count = call.inputs() - 1;
    const Tensor model = call.In(0);
    const std::vector<int64_t> axes = call.HostInts(count);
    if (axes.size() != 1) Refuse("ConcatOp : the axis must be one number");
    const auto axis = static_cast<size_t>(NormalAxis(axes[0], model.rank(), "ConcatOp"));
    Dims dims = model.dims;
    dims[axis] = 0;
    for (int i = 0; i < count; ++i) {
      Dims other = call.In(i).dims;
      if (other.size() == dims.size()) {
        dims[axis] += other[axis];
        other[axis] = model.dims[axis];
      }
      if (other != model.dims) {
        Refuse("ConcatOp : Dimension mismatch: shape[0] = " + ShapeText(model.dims) +
               " vs. shape[" + std::to_string(i) + "] = " + ShapeText(call.In(i).dims));
      }
    }
    const Tensor out = call.Out(0, dims);
    const Dims steps = RowMajorStrides(dims);
    int64_t begin = 0;
    for (int i = 0; i < count; ++i) {
      const Tensor part = call.In(i);
      CopyOnHost(part, 0, out, {part.dims, {RowMajorStrides(part.dims), steps}},
                 begin * steps[axis]);
      begin += part.dims[axis];
    }
  }
};

class RangeOnHost {
 public:
  RangeOnHost(const Construction&, const HostRow&) {}
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
    const int64_t count = (std::abs(limit - start) + std::abs(delta) - 1) / std::abs(delta);
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

class FillOnHost {
 public:
  FillOnHost(const Construction&, const HostRow&) {}
  void Compute(Call& call) const {
    const Dims dims = call.HostInts(0);
    const Tensor value = call.In(1);
    if (value.rank() != 0) Refuse("value must be a scalar, not " + ShapeText(value.dims));
    for (const int64_t size : dims) {
      if (size < 0) Refuse("Fill: dimension " + std::to_string(size) + " must be >= 0");
    }
    const Tensor out = call.Out(0, dims);
    for (int64_t i = 0; i < out.count; ++i) Ints(out)[i] = *Ints(value);
  }
};

constexpr HostRow kPack[] = {{{"Pack", kI32, "T", "values output"}, true}};
constexpr HostRow kConcat[] = {{{"ConcatV2", kI32, "T", "values axis output"}, true}};
constexpr HostRow kRange[] = {{{"Range", kI32 | kI64, "Tidx", "start limit delta output"}, true}};
constexpr HostRow kFill[] = {{{"Fill", kI32, "T", "dims value output"}, true}};

}  // namespace

void CopyOnHost(const Tensor& from, int64_t from_at, const Tensor& to, const Loop& loop,
                int64_t to_at) {
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
  RegisterTable<PackOnHost, kPack>();
  RegisterTable<ConcatOnHost, kConcat>();
  RegisterTable<RangeOnHost, kRange>();
  RegisterTable<FillOnHost, kFill>();
}

}  // namespace opencl
