// Pools and their gradients.
#include <algorithm>
#include <limits>

#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/windows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace pool_ops {
namespace {

// Windows over all dimensions of the images.
struct Pool {
  Window window;
  bool padded = false;
};

absl::StatusOr<Pool> PoolOf(Op& op, const Shape& images, IntSpan sizes, IntSpan strides) {
  const int spatial = images.rank() - 2;
  if (spatial < 1 || sizes.size() != static_cast<size_t>(images.rank()))
    return op.Unimplemented("an input of this rank");
  TENON_ASSIGN_OR_RETURN(const ops::WindowFormat format, ops::WindowFormatOf(op.shapes(), spatial));
  Ints inner;
  for (int i = 0; i < spatial; ++i) inner.push_back(sizes[format.first() + i]);
  if (sizes[0] != 1 || sizes[format.channels()] != 1)
    return op.Unimplemented("windows over batch or channels");
  if (std::ranges::any_of(inner, [](int64_t size) { return size < 1; }))
    return op.Invalid("each size of the windows must be positive");
  TENON_ASSIGN_OR_RETURN(const SpatialWindows w, ReadWindows(op, spatial, images, inner, strides));
  Pool pool;
  pool.window.size = Ints(sizes.begin(), sizes.end());
  pool.window.stride = Ints(strides.begin(), strides.end());
  pool.window.low = pool.window.high = Ints(images.rank(), 0);
  for (int i = 0; i < spatial; ++i) {
    pool.window.low[format.first() + i] = w.low[i];
    pool.window.high[format.first() + i] = w.high[i];
    pool.padded |= w.low[i] != 0 || w.high[i] != 0;
  }
  return pool;
}

// Of volumes, windows may skip elements at the ends: negative padding. Takes these out of x.
Value Cropped(Op& op, const Value& x, Pool* pool) {
  Ints low, high;
  for (int i = 0; i < x.rank(); ++i) {
    low.push_back(std::min<int64_t>(pool->window.low[i], 0));
    high.push_back(std::min<int64_t>(pool->window.high[i], 0));
    pool->window.low[i] -= low[i];
    pool->window.high[i] -= high[i];
  }
  if (std::ranges::all_of(low, [](int64_t p) { return p == 0; }) &&
      std::ranges::all_of(high, [](int64_t p) { return p == 0; }))
    return x;
  return op.b.Pad(x, op.b.Scalar(x.dtype, 0), low, high);
}

// Sizes and strides are attributes, or inputs from `first` on.
absl::StatusOr<Pool> PoolOf(Op& op, const Shape& images, int first) {
  if (first >= 0) {
    TENON_ASSIGN_OR_RETURN(const Ints sizes, op.IntsOf(first));
    TENON_ASSIGN_OR_RETURN(const Ints strides, op.IntsOf(first + 1));
    return PoolOf(op, images, sizes, strides);
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, op.IntList("ksize"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, op.IntList("strides"));
  return PoolOf(op, images, sizes, strides);
}

Value LeastFinite(Op& op, DataType dtype, const Shape& shape) {
  switch (dtype) {
    case DataType::kFloat:
      return op.b.Full(dtype, shape, std::numeric_limits<float>::lowest());
    case DataType::kDouble:
      return op.b.Full(dtype, shape, std::numeric_limits<double>::lowest());
    case DataType::kHalf:
      return op.b.Full(dtype, shape, -65504);
    case DataType::kBfloat16:
      return op.b.Full(dtype, shape, -0x1.fep127);
    default:
      return op.b.Lowest(dtype, shape);
  }
}

template <int kFirst>
absl::Status MaxPool(Op& op) {
  TENON_ASSIGN_OR_RETURN(Pool pool, PoolOf(op, op.InShape(0), kFirst));
  Value x = Cropped(op, op.In(0), &pool);
  // TensorFlow's windows pass over NaNs, and begin with the least finite number.
  const Value least = LeastFinite(op, x.dtype, Shape());
  if (IsFloating(x.dtype))
    x = op.b.Select(op.b.Compare("NE", x, x), LeastFinite(op, x.dtype, x.shape), x);
  return op.Out(op.b.ReduceWindow("maximum", x, least, pool.window));
}

// The shape of the windows' places over a tensor.
Shape Placed(const Shape& images, const Window& w) {
  Shape out;
  for (int i = 0; i < images.rank(); ++i)
    out.push_back((images.dim(i) + w.low[i] + w.high[i] - w.size[i]) / w.stride[i] + 1);
  return out;
}

template <int kFirst>
absl::Status MaxPoolGrad(Op& op) {
  const Value &x = op.In(0), &dy = op.In(2);
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(op, x.shape, kFirst));
  if (x.shape.num_elements() == 0) return op.Out(op.b.Like(x, 0));
  if (dy.shape != Placed(x.shape, pool.window) || dy.shape != op.InShape(1))
    return op.Invalid("the gradient does not fit the windows");
  return op.Out(op.b.SelectAndScatter("GE", x, dy, op.b.Scalar(x.dtype, 0), pool.window));
}

// Of equal largest values TensorFlow's op for images takes the first, its op for volumes all: a sum
// over the places within a window.
absl::Status MaxPool3DGrad(Op& op) {
  constexpr int64_t kMostPlaces = 1024;
  const Value &x = op.In(0), &y = op.In(1), &dy = op.In(2);
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(op, x.shape, -1));
  const Window& w = pool.window;
  if (x.shape.num_elements() == 0) return op.Out(op.b.Like(x, 0));
  if (dy.shape != Placed(x.shape, w) || dy.shape != y.shape)
    return op.Invalid("the gradient does not fit the windows");
  const int64_t places = Shape(w.size).num_elements();
  if (places > kMostPlaces) return op.Unimplemented("windows of so many elements");
  const Value zero = op.b.Scalar(x.dtype, 0);
  const Value padded = op.b.Pad(x, LeastFinite(op, x.dtype, Shape()), w.low, w.high);
  const int rank = x.rank();
  Ints interior;
  for (const int64_t stride : w.stride) interior.push_back(stride - 1);
  Value sum;
  for (int64_t place = 0; place < places; ++place) {
    Ints begin(rank), limit(rank), after(rank);
    int64_t rest = place;
    for (int i = rank - 1; i >= 0; --i) {
      begin[i] = rest % w.size[i];
      rest /= w.size[i];
      limit[i] = begin[i] + (y.shape.dim(i) - 1) * w.stride[i] + 1;
      after[i] = padded.shape.dim(i) - limit[i];
    }
    const Value at = op.b.Slice(padded, begin, limit, w.stride);
    const Value share = op.b.Select(op.b.Compare("EQ", at, y), dy, op.b.Like(dy, 0));
    const Value spread = op.b.Pad(share, zero, begin, after, interior);
    sum = sum ? op.b.Add(sum, spread) : spread;
  }
  Ints low, high;
  for (const int64_t pad : w.low) low.push_back(-pad);
  for (const int64_t pad : w.high) high.push_back(-pad);
  return op.Out(op.b.Pad(sum, zero, low, high));
}

// How many elements of the images each window has, for a result of this shape.
Value Counts(Op& op, DataType dtype, const Shape& images, const Window& w, const Shape& out) {
  Value counts = op.b.Full(dtype, out, 1);
  for (int axis = 0; axis < out.rank(); ++axis) {
    if (w.size[axis] == 1) continue;
    std::vector<double> sizes;
    Ints ints;
    for (int64_t i = 0; i < out.dim(axis); ++i) {
      const int64_t begin = i * w.stride[axis] - w.low[axis];
      const int64_t end = std::min(begin + w.size[axis], images.dim(axis));
      ints.push_back(end - std::max<int64_t>(begin, 0));
    }
    const Value line = op.b.Convert(op.b.Vector(DataType::kInt32, ints), dtype);
    counts = op.b.Mul(counts, op.b.Broadcast(line, out, {axis}));
  }
  return counts;
}

absl::Status AvgPool(Op& op) {
  const DataType dtype = op.InType(0);
  TENON_ASSIGN_OR_RETURN(Pool pool, PoolOf(op, op.InShape(0), -1));
  Value x = Cropped(op, op.In(0), &pool);
  x = op.b.Wide(x);
  const Value sum = op.b.ReduceWindow("add", x, op.b.Scalar(x.dtype, 0), pool.window);
  const Value counts = Counts(op, x.dtype, x.shape, pool.window, sum.shape);
  return op.Out(op.b.Convert(op.b.Div(sum, counts), dtype));
}

// Input 0 is the images' shape. Each gradient, divided by its window's count, goes to all elements
// of the window: a sum over the windows that have the element.
absl::Status AvgPoolGrad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape images, op.OutShape());
  const DataType dtype = op.InType(1);
  const Value dy = op.b.Wide(op.In(1));
  TENON_ASSIGN_OR_RETURN(const Pool pool, PoolOf(op, images, -1));
  if (images.num_elements() == 0 || dy.shape.num_elements() == 0)
    return op.Out(op.b.Full(dtype, images, 0));
  const Window& w = pool.window;
  const Value share = op.b.Div(dy, Counts(op, dy.dtype, images, w, dy.shape));
  Window back;
  Ints interior, low, high;
  for (int i = 0; i < images.rank(); ++i) {
    const int64_t spread = (dy.shape.dim(i) - 1) * w.stride[i] + 1;
    low.push_back(w.size[i] - 1 - w.low[i]);
    high.push_back(images.dim(i) + w.size[i] - 1 - spread - low.back());
    interior.push_back(w.stride[i] - 1);
  }
  back.size = w.size;
  back.stride = back.low = back.high = Ints(images.rank(), 0);
  back.stride = Ints(images.rank(), 1);
  const Value zero = op.b.Scalar(dy.dtype, 0);
  const Value wide = op.b.Pad(share, zero, low, high, interior);
  return op.Out(op.b.Convert(op.b.ReduceWindow("add", wide, zero, back), dtype));
}

constexpr Row kRows[] = {
    {"MaxPool", MaxPool<-1>, kReals},
    {"MaxPool3D", MaxPool<-1>, kFloats},
    {"MaxPoolV2", MaxPool<1>, kReals, In(1) | In(2)},
    {"MaxPoolGrad", MaxPoolGrad<-1>, kFloats},
    {"MaxPool3DGrad", MaxPool3DGrad, kFloats},
    {"MaxPoolGradV2", MaxPoolGrad<3>, kFloats, In(3) | In(4)},
    {"AvgPool", AvgPool, kFloats},
    {"AvgPool3D", AvgPool, kFloats},
    {"AvgPoolGrad", AvgPoolGrad, kFloats, In(0)},
    {"AvgPool3DGrad", AvgPoolGrad, kFloats, In(0)},
};

}  // namespace
}  // namespace pool_ops

Rows PoolRows() { return pool_ops::kRows; }

}  // namespace tenon::stablehlo
