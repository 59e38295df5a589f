// Slices, and writes into slices.
#include <algorithm>

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/arrays/slice_ranges.h"

namespace tenon::stablehlo {
namespace slices_ops {
namespace {

using cpu::SliceMasks;
using cpu::SliceRange;

// Element i of an integer vector as a scalar.
Value ElementOf(Op& op, const Value& vector, int64_t i) {
  return op.b.Reshape(op.b.SliceAxis(vector, 0, i, i + 1), Shape());
}

// All begins lie so that the slice of these sizes lies within x.
void CheckBegins(Op& op, const Value& begins, const Shape& x, IntSpan sizes) {
  Ints most;
  for (int i = 0; i < x.rank(); ++i) most.push_back(x.dim(i) - sizes[i]);
  const Value limits = op.b.Vector(begins.dtype, most);
  op.CheckAll(op.b.And(op.b.Compare("GE", begins, 0.0), op.b.Compare("LE", begins, limits)),
              "a slice must lie within the tensor");
}

absl::Status Slice(Op& op) {
  TENON_ASSIGN_OR_RETURN(Ints sizes, op.IntsOf(2));
  const Value& x = op.In(0);
  if (op.Known(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Ints begin, op.IntsOf(1));
    Ints limit;
    for (int i = 0; i < x.rank(); ++i) {
      const int64_t size = x.shape.dim(i);
      limit.push_back(sizes[i] < 0 ? size : begin[i] + sizes[i]);
      if (begin[i] < 0 || begin[i] > limit[i] || limit[i] > size)
        return op.Invalid("the slice does not lie within the tensor");
    }
    return op.Out(op.b.Slice(x, begin, limit));
  }
  if (std::ranges::any_of(sizes, [](int64_t size) { return size < 0; }))
    return op.IntsOf(1).status();
  const Value& begins = op.In(1);
  CheckBegins(op, begins, x.shape, sizes);
  Values starts;
  for (int i = 0; i < x.rank(); ++i) starts.push_back(ElementOf(op, begins, i));
  return op.Out(op.b.DynamicSlice(x, starts, sizes));
}

absl::StatusOr<SliceMasks> MasksOf(Op& op) {
  SliceMasks m{};
  TENON_ASSIGN_OR_RETURN(m.begin, op.Int("begin_mask"));
  TENON_ASSIGN_OR_RETURN(m.end, op.Int("end_mask"));
  TENON_ASSIGN_OR_RETURN(m.ellipsis, op.Int("ellipsis_mask"));
  TENON_ASSIGN_OR_RETURN(m.new_axis, op.Int("new_axis_mask"));
  TENON_ASSIGN_OR_RETURN(m.shrink, op.Int("shrink_axis_mask"));
  return m;
}

// The ranges of a tensor of this shape, from inputs `first` (begin), then end and strides.
absl::StatusOr<std::vector<SliceRange>> RangesOf(Op& op, int first, const Shape& tensor) {
  TENON_ASSIGN_OR_RETURN(const SliceMasks masks, MasksOf(op));
  TENON_ASSIGN_OR_RETURN(const Ints begin, op.IntsOf(first));
  TENON_ASSIGN_OR_RETURN(const Ints end, op.IntsOf(first + 1));
  TENON_ASSIGN_OR_RETURN(const Ints strides, op.IntsOf(first + 2));
  return cpu::ResolveSlice(masks, begin, end, strides, tensor);
}

// The ranges as StableHLO slices: forward, in a tensor some of whose axes are reversed first.
struct Forward {
  Ints reversed, begin, limit, stride;
  Shape block;  // with a dimension for each of the tensor
};

Forward ForwardOf(const std::vector<SliceRange>& ranges, const Shape& tensor) {
  Forward f;
  for (const SliceRange& r : ranges) {
    if (r.dim < 0) continue;
    const int64_t size = tensor.dim(r.dim);
    int64_t begin = r.begin;
    if (r.stride < 0) {
      f.reversed.push_back(r.dim);
      begin = size - 1 - begin;
    }
    const int64_t step = std::abs(r.stride);
    f.begin.push_back(begin);
    f.limit.push_back(r.size == 0 ? begin : begin + (r.size - 1) * step + 1);
    f.stride.push_back(step);
    f.block.push_back(r.size);
  }
  return f;
}

// One index of each axis that is not known when the program is compiled: x[i], x[:, i].
absl::Status DynamicIndex(Op& op, const SliceMasks& masks, const Shape& shape) {
  const Value& x = op.In(0);
  const Value& begins = op.In(1);
  if (masks.ellipsis != 0 || masks.new_axis != 0 || begins.rank() != 1)
    return op.IntsOf(1).status();
  const int64_t entries = begins.shape.dim(0);
  Values starts;
  Ints sizes;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = x.shape.dim(i);
    const bool whole = i >= entries || ((masks.begin >> i & 1) != 0 && (masks.end >> i & 1) != 0);
    if (whole && (masks.shrink >> i & 1) == 0) {
      starts.push_back(op.b.ScalarInt(begins.dtype, 0));
      sizes.push_back(size);
      continue;
    }
    if ((masks.shrink >> i & 1) == 0) return op.IntsOf(1).status();
    const Value at = ElementOf(op, begins, i);
    const Value wrapped =
        op.b.Select(op.b.Compare("LT", at, 0.0), op.b.Add(at, static_cast<double>(size)), at);
    op.Check(op.b.And(op.b.Compare("GE", wrapped, 0.0),
                      op.b.Compare("LT", wrapped, static_cast<double>(size))),
             "slice index is out of bounds");
    starts.push_back(wrapped);
    sizes.push_back(1);
  }
  return op.Out(op.b.Reshape(op.b.DynamicSlice(x, starts, sizes), shape));
}

absl::Status StridedSlice(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  if (op.Known(1) == nullptr) {
    TENON_ASSIGN_OR_RETURN(const SliceMasks masks, MasksOf(op));
    return DynamicIndex(op, masks, shape);
  }
  const Value& x = op.In(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, RangesOf(op, 1, x.shape));
  const Forward f = ForwardOf(ranges, x.shape);
  const Value turned = op.b.Reverse(x, f.reversed);
  return op.Out(op.b.Reshape(op.b.Slice(turned, f.begin, f.limit, f.stride), shape));
}

// The gradient of StridedSlice: `dy` where the slice was, and zeros.
absl::Status StridedSliceGrad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, RangesOf(op, 1, shape));
  const Forward f = ForwardOf(ranges, shape);
  const Value block = op.b.Reshape(op.In(4), f.block);
  Ints high, interior;
  for (int i = 0; i < shape.rank(); ++i) {
    high.push_back(shape.dim(i) - f.limit[i]);
    interior.push_back(f.stride[i] - 1);
  }
  if (f.block.num_elements() == 0) return op.Out(op.b.Full(op.OutType(0), shape, 0));
  const Value wide = op.b.Pad(block, op.b.Scalar(op.OutType(0), 0), f.begin, high, interior);
  return op.Out(op.b.Reverse(wide, f.reversed));
}

// x with `value` in a slice of it, where the slice takes neighbours.
absl::Status StridedSliceUpdate(Op& op) {
  const Value& x = op.In(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, RangesOf(op, 1, x.shape));
  const Forward f = ForwardOf(ranges, x.shape);
  Shape kept;
  for (const SliceRange& r : ranges) {
    if (r.keep) kept.push_back(r.size);
  }
  Value update = op.In(4);
  if (update.rank() > kept.rank()) {
    Shape fewer;
    for (int i = update.rank() - kept.rank(); i < update.rank(); ++i)
      fewer.push_back(update.shape.dim(i));
    update = op.b.Reshape(update, fewer);
  }
  update = op.b.Reshape(op.b.BroadcastTo(update, kept), f.block);
  if (f.block.num_elements() == 0) return op.Out(x);
  const Value turned = op.b.Reverse(x, f.reversed);
  if (std::ranges::all_of(f.stride, [](int64_t s) { return s == 1; })) {
    Values starts;
    for (const int64_t begin : f.begin) starts.push_back(op.b.ScalarInt(DataType::kInt64, begin));
    return op.Out(op.b.Reverse(op.b.DynamicUpdate(turned, update, starts), f.reversed));
  }
  // With gaps: spread the update, and a mask of its places.
  Ints high, interior;
  for (int i = 0; i < x.rank(); ++i) {
    high.push_back(x.shape.dim(i) - f.limit[i]);
    interior.push_back(f.stride[i] - 1);
  }
  const Value spread = op.b.Pad(update, op.b.Scalar(x.dtype, 0), f.begin, high, interior);
  const Value mask = op.b.Pad(op.b.Full(DataType::kBool, f.block, 1),
                              op.b.Scalar(DataType::kBool, 0), f.begin, high, interior);
  return op.Out(op.b.Reverse(op.b.Select(mask, spread, turned), f.reversed));
}

// A size of -1 reaches from the begin to the end: then the begin decides the shape.
uint64_t SliceConstants(const Graph& graph, NodeId n) {
  const NodeId sizes = graph.num_inputs(n) == 3 ? graph.data_inputs(n)[2].node : kNoNode;
  if (sizes == kNoNode || graph.op_name(sizes) != "Const") return 0;
  const absl::StatusOr<Tensor> value = graph.ConstValue(sizes);
  if (!value.ok()) return 0;
  for (int64_t i = 0; i < value->num_elements(); ++i) {
    if (value->IntAt(i) < 0) return In(1);
  }
  return 0;
}

// Begins that the run alone knows are taken as single indices.
uint64_t StridedSliceConstants(const Graph& graph, NodeId n) {
  const AttrValue* const shrink = graph.attr(n, "shrink_axis_mask");
  return shrink != nullptr && shrink->AsInt().value_or(0) != 0 ? 0 : In(1);
}

constexpr uint64_t kBounds = In(1) | In(2) | In(3);

constexpr Row kRows[] = {
    {"Slice", Slice, kAll, In(2), 0, false, nullptr, SliceConstants},
    {"StridedSlice", StridedSlice, kAll, In(2) | In(3), 0, false, nullptr, StridedSliceConstants},
    {"StridedSliceGrad", StridedSliceGrad, kAll, In(0) | kBounds},
    {"TensorStridedSliceUpdate", StridedSliceUpdate, kAll, kBounds},
};

}  // namespace
}  // namespace slices_ops

Rows SliceRows() { return slices_ops::kRows; }

}  // namespace tenon::stablehlo
