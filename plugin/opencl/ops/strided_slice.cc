// StridedSlice: ranges with steps, and masks that say what a position of them means.

#include <algorithm>

#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"
#include "host_integers.h"

namespace opencl {
namespace {

// What the attributes say of a slice.
class SliceAttrs {
 public:
  explicit SliceAttrs(const Construction& node) {
    const char* const names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                 "shrink_axis_mask"};
    for (size_t i = 0; i < 5; ++i) masks_[i] = node.Int(names[i]);
  }

  struct Range {
    Dims shape;  // of the result
    Loop loop;   // over the source
    int64_t at = 0;
  };
  // The slice of a source of shape `dims`; begin, end and strides are inputs `first` and the next.
  Range RangeOf(Call& call, const Dims& dims, int first) const {
    const std::vector<int64_t> begin = call.HostInts(first), end = call.HostInts(first + 1),
                               step = call.HostInts(first + 2);
    if (begin.size() != end.size() || begin.size() != step.size()) {
      Refuse("Expected begin, end, and strides to be 1D equal size tensors, but got " +
             std::to_string(begin.size()) + ", " + std::to_string(end.size()) + " and " +
             std::to_string(step.size()) + " numbers instead.");
    }
    Range range = RangeOf(dims, begin, end, step);
    range.loop.strides.push_back(RowMajorStrides(range.loop.dims));
    return range;
  }

 private:
  enum Mask { kBegin, kEnd, kEllipsis, kNewAxis, kShrink };
  bool Has(Mask mask, size_t position) const {
    return position < 63 && (masks_[mask] >> position & 1) != 0;
  }

  // One position of the specification, on dimension `size` of the source with `stride`.
  void AddRange(size_t i, int64_t size, int64_t stride, int64_t begin, int64_t end, int64_t step,
                Range* range) const {
    if (step == 0) Refuse("strides[" + std::to_string(i) + "] must be non-zero");
    if (Has(kShrink, i)) {
      const int64_t place = begin < 0 ? begin + size : begin;
      if (place < 0 || place >= size) {
        Refuse("slice index " + std::to_string(begin) + " of dimension " + std::to_string(i) +
               " out of bounds.");
      }
      if (step < 0) Refuse("only stride 1 allowed on non-range indexing.");
      range->at += place * stride;
      return;
    }
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto place = [&](int64_t value) {
      return std::clamp(value < 0 ? value + size : value, low, high);
    };
    const int64_t first = Has(kBegin, i) ? (step > 0 ? low : high) : place(begin);
    const int64_t last = Has(kEnd, i) ? (step > 0 ? high : low) : place(end);
    const int64_t span = last - first;
    int64_t count = 0;
    if (span != 0 && (span > 0) == (step > 0)) count = (span + step - (step > 0 ? 1 : -1)) / step;
    range->at += count == 0 ? 0 : first * stride;
    range->shape.push_back(count);
    range->loop.dims.push_back(count);
    range->loop.strides[0].push_back(step * stride);
  }

  Range RangeOf(const Dims& dims, const std::vector<int64_t>& begin,
                const std::vector<int64_t>& end, const std::vector<int64_t>& step) const {
    const Dims strides = RowMajorStrides(dims);
    size_t used = 0;  // dimensions of the source that the specification names
    bool ellipsis = false;
    for (size_t i = 0; i < begin.size(); ++i) {
      if (Has(kEllipsis, i)) {
        if (ellipsis) Refuse("Multiple ellipses in slice spec not allowed");
        ellipsis = true;
      } else if (!Has(kNewAxis, i)) {
        ++used;
      }
    }
    if (used > dims.size()) {
      Refuse("Index out of range using input dim " + std::to_string(dims.size()) +
             "; input has only " + std::to_string(dims.size()) + " dims");
    }
    Range range;
    range.loop.strides.resize(1);
    size_t d = 0;
    const auto whole = [&](size_t count) {
      for (; count > 0; --count, ++d) {
        range.shape.push_back(dims[d]);
        range.loop.dims.push_back(dims[d]);
        range.loop.strides[0].push_back(strides[d]);
      }
    };
    for (size_t i = 0; i < begin.size(); ++i) {
      if (Has(kEllipsis, i)) {
        whole(dims.size() - used);
      } else if (Has(kNewAxis, i)) {
        range.shape.push_back(1);
      } else {
        AddRange(i, dims[d], strides[d], begin[i], end[i], step[i], &range);
        ++d;
      }
    }
    whole(dims.size() - d);
    return range;
  }

  int64_t masks_[5] = {};
};

class StridedSlice {
 public:
  StridedSlice(const Construction& node, const PlacedRow& row)
      : attrs_(node), on_host_(row.on_host) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const SliceAttrs::Range range = attrs_.RangeOf(call, in.dims, 1);
    const Tensor out = call.Out(0, range.shape);
    CopyAnywhere(call, on_host_, in, range.at, out, 0, range.loop);
  }

 private:
  const SliceAttrs attrs_;
  const bool on_host_;
};

// Puts the slice back where it came from; all else is 0.
class StridedSliceGrad {
 public:
  StridedSliceGrad(const Construction& node, const PlainRow&) : attrs_(node) {}
  void Compute(Call& call) const {
    const Dims dims = call.HostInts(0);
    const Tensor slice = call.In(4);
    SliceAttrs::Range range = attrs_.RangeOf(call, dims, 1);
    if (slice.dims != range.shape) {
      Refuse("shape of dy was " + ShapeText(slice.dims) + " instead of " + ShapeText(range.shape));
    }
    const Tensor out = call.Out(0, dims);
    Clear(call, out);
    std::swap(range.loop.strides[0], range.loop.strides[1]);
    CopyStrided(call, slice, 0, out, range.at, range.loop);
  }

 private:
  const SliceAttrs attrs_;
};

constexpr PlacedRow kSlices[] = {
    {{"StridedSlice", kAll & ~kI32, "T", "begin end strides"}, false},
    {{"StridedSlice", kI32, "T", "input begin end strides output"}, true}};

constexpr PlainRow kSliceGradients[] = {
    {{"StridedSliceGrad", kAll, "T", "shape begin end strides"}}};

}  // namespace

void RegisterStridedSlice() {
  RegisterTable<StridedSlice, kSlices>();
  RegisterTable<StridedSliceGrad, kSliceGradients>();
}

}  // namespace opencl
