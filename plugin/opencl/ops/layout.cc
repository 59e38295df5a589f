// Ops that rearrange elements: transposes, slices, joins, padding, repetition.

#include <algorithm>
#include <optional>

#include "../base/map.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"
#include "host_integers.h"

namespace opencl {
namespace {

class Transpose {
 public:
  Transpose(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> order = call.HostInts(1);
    if (order.size() != in.dims.size()) {
      Refuse("transpose expects a vector of size " + std::to_string(in.rank()) +
             ". But input(1) is a vector of size " + std::to_string(order.size()));
    }
    std::vector<int> axes;
    std::vector<bool> seen(order.size(), false);
    Dims dims;
    for (const int64_t axis : order) {
      axes.push_back(NormalAxis(axis, in.rank(), "Transpose"));
      const auto d = static_cast<size_t>(axes.back());
      if (seen[d]) Refuse(std::to_string(d) + " is missing or twice in the permutation");
      seen[d] = true;
      dims.push_back(in.dims[d]);
    }
    const Tensor out = call.Out(0, dims);
    Permute(call, in, axes, out);
  }
};

// Copies `in` into the part of `out` that begins at `begin` along `axis`.
void PutAlong(Call& call, bool on_host, const Tensor& in, const Tensor& out, size_t axis,
              int64_t begin) {
  const int64_t step = RowMajorStrides(out.dims)[axis];
  CopyAnywhere(call, on_host, in, 0, out, begin * step, BoxLoop(in.dims, in.dims, out.dims));
}

class Concat {
 public:
  struct Row {
    OpRow row;
    bool axis_last;
    bool on_host = false;
  };
  Concat(const Construction&, const Row& row) : axis_last_(row.axis_last), on_host_(row.on_host) {}
  void Compute(Call& call) const {
    const int count = call.inputs() - 1, first = axis_last_ ? 0 : 1;
    const std::vector<int64_t> axes = call.HostInts(axis_last_ ? count : 0);
    const Tensor model = call.In(first);
    if (axes.size() != 1) Refuse("ConcatOp : the axis must be one number");
    const auto axis = static_cast<size_t>(NormalAxis(axes[0], model.rank(), "ConcatOp"));
    std::vector<Tensor> parts;
    Dims dims = model.dims;
    dims[axis] = 0;
    for (int i = 0; i < count; ++i) {
      parts.push_back(call.In(first + i));
      Dims other = parts.back().dims;
      if (other.size() == dims.size()) {
        dims[axis] += other[axis];
        other[axis] = model.dims[axis];
      }
      if (other != model.dims) {
        Refuse("ConcatOp : Dimension mismatch: shape[0] = " + ShapeText(model.dims) +
               " vs. shape[" + std::to_string(i) + "] = " + ShapeText(parts.back().dims));
      }
    }
    const Tensor out = call.Out(0, dims);
    int64_t begin = 0;
    for (const Tensor& part : parts) {
      PutAlong(call, on_host_, part, out, axis, begin);
      begin += part.dims[axis];
    }
  }

 private:
  const bool axis_last_, on_host_;
};

class Pack {
 public:
  Pack(const Construction& node, const PlacedRow& row)
      : axis_(node.Int("axis")), on_host_(row.on_host) {}
  void Compute(Call& call) const {
    const Tensor model = call.In(0);
    const auto axis = static_cast<size_t>(NormalAxis(axis_, model.rank() + 1, "Pack"));
    Dims dims = model.dims;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), call.inputs());
    const Tensor out = call.Out(0, dims);
    for (int i = 0; i < call.inputs(); ++i) {
      Tensor part = call.In(i);
      if (part.dims != model.dims) {
        Refuse("Shapes of all inputs must match: values[0].shape = " + ShapeText(model.dims) +
               " != values[" + std::to_string(i) + "].shape = " + ShapeText(part.dims));
      }
      part.dims.insert(part.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
      PutAlong(call, on_host_, part, out, axis, i);
    }
  }

 private:
  const int64_t axis_;
  const bool on_host_;
};

// Copies the part of `in` of `out`'s size that begins at `begin` along `axis`.
void TakeAlong(Call& call, bool on_host, const Tensor& in, const Tensor& out, size_t axis,
               int64_t begin, const Dims& box) {
  const int64_t step = RowMajorStrides(in.dims)[axis];
  CopyAnywhere(call, on_host, in, begin * step, out, 0, BoxLoop(box, in.dims, box));
}

class Unpack {
 public:
  Unpack(const Construction& node, const PlacedRow& row)
      : axis_(node.Int("axis")), on_host_(row.on_host) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const auto axis = static_cast<size_t>(NormalAxis(axis_, in.rank(), "Unpack"));
    if (in.dims[axis] != call.outputs()) {
      Refuse("Input shape axis " + std::to_string(axis) + " must equal " +
             std::to_string(call.outputs()) + ", got shape " + ShapeText(in.dims));
    }
    Dims box = in.dims, dims = in.dims;
    box[axis] = 1;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    for (int i = 0; i < call.outputs(); ++i)
      TakeAlong(call, on_host_, in, call.Out(i, dims), axis, i, box);
  }

 private:
  const int64_t axis_;
  const bool on_host_;
};

class Split {
 public:
  struct Row {
    OpRow row;
    bool sizes;  // SplitV: value, sizes, axis; else axis, value
  };
  Split(const Construction&, const Row& row) : sizes_(row.sizes) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(sizes_ ? 0 : 1);
    const std::vector<int64_t> axes = call.HostInts(sizes_ ? 2 : 0);
    if (axes.size() != 1) Refuse("Split: split_dim must have exactly one element");
    const auto axis = static_cast<size_t>(NormalAxis(axes[0], in.rank(), "Split"));
    const std::vector<int64_t> sizes = SizesOf(call, in.dims[axis]);
    int64_t begin = 0;
    for (int i = 0; i < call.outputs(); ++i) {
      Dims dims = in.dims;
      dims[axis] = sizes[static_cast<size_t>(i)];
      TakeAlong(call, false, in, call.Out(i, dims), axis, begin, dims);
      begin += dims[axis];
    }
  }

 private:
  std::vector<int64_t> SizesOf(Call& call, int64_t whole) const {
    const int64_t count = call.outputs();
    if (!sizes_) {
      if (whole % count != 0) {
        Refuse("Number of ways to split should evenly divide the split dimension, but got size " +
               std::to_string(whole) + " and num_split " + std::to_string(count));
      }
      return std::vector<int64_t>(static_cast<size_t>(count), whole / count);
    }
    std::vector<int64_t> sizes = call.HostInts(1);
    int64_t sum = 0, unknown = 0;
    for (const int64_t size : sizes) {
      if (size < -1) Refuse("Split size at an index must be >= 0. Got: " + std::to_string(size));
      unknown += size == -1;
      sum += size == -1 ? 0 : size;
    }
    if (count == 1 && sizes.size() == 1 && sizes[0] != whole) {
      Refuse("If there is only one output, it must have the same size as the input. Input size: " +
             std::to_string(whole) + " output size: " + std::to_string(sizes[0]));
    }
    if (static_cast<int64_t>(sizes.size()) != count || unknown > 1 || sum > whole ||
        (unknown == 0 && sum != whole)) {
      Refuse("SplitV: sizes " + ShapeText(sizes) + " do not add up to " + std::to_string(whole));
    }
    for (int64_t& size : sizes) size = size == -1 ? whole - sum : size;
    return sizes;
  }
  const bool sizes_;
};

class Slice {
 public:
  Slice(const Construction&, const PlacedRow& row) : on_host_(row.on_host) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> begin = call.HostInts(1), size = call.HostInts(2);
    if (begin.size() != in.dims.size() || size.size() != in.dims.size()) {
      Refuse("Expected begin and size arguments to be 1-D tensors of size " +
             std::to_string(in.rank()));
    }
    const Dims strides = RowMajorStrides(in.dims);
    Dims dims;
    int64_t at = 0;
    for (size_t d = 0; d < begin.size(); ++d) {
      dims.push_back(size[d] == -1 && begin[d] >= 0 ? in.dims[d] - begin[d] : size[d]);
      if (begin[d] < 0 || begin[d] > in.dims[d] || dims[d] < 0 || dims[d] > in.dims[d] - begin[d]) {
        Refuse("Expected begin[" + std::to_string(d) + "] and size[" + std::to_string(d) +
               "] inside of [0, " + std::to_string(in.dims[d]) + "], but got " +
               std::to_string(begin[d]) + " and " + std::to_string(size[d]));
      }
      at += begin[d] * strides[d];
    }
    CopyAnywhere(call, on_host_, in, at, call.Out(0, dims), 0, BoxLoop(dims, in.dims, dims));
  }

 private:
  const bool on_host_;
};

// Input 1 of a pad: two numbers for each dimension.
std::vector<int64_t> PaddingsOf(Call& call, const Tensor& in) {
  std::vector<int64_t> paddings = call.HostInts(1);
  if (paddings.size() != 2 * in.dims.size()) {
    Refuse("The first dimension of paddings must be the rank of inputs, " +
           std::to_string(in.rank()) + ", but there are " + std::to_string(paddings.size()) +
           " numbers");
  }
  return paddings;
}

// Puts `in` between its paddings; returns the number of its first element in `out`.
int64_t PutInside(Call& call, const Tensor& in, const std::vector<int64_t>& paddings,
                  const Tensor& out) {
  const Dims strides = RowMajorStrides(out.dims);
  int64_t at = 0;
  for (size_t d = 0; d < strides.size(); ++d) at += paddings[2 * d] * strides[d];
  CopyStrided(call, in, 0, out, at, BoxLoop(in.dims, in.dims, out.dims));
  return at;
}

// Pads; the value is 0 or an input.
class Pad {
 public:
  struct Row {
    OpRow row;
    bool value;
  };
  Pad(const Construction&, const Row& row) : value_(row.value) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> paddings = PaddingsOf(call, in);
    Dims dims = in.dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (paddings[2 * d] < 0 || paddings[2 * d + 1] < 0) Refuse("Paddings must be non-negative");
      dims[d] = Plus(dims[d], Plus(paddings[2 * d], paddings[2 * d + 1]));
    }
    const Tensor out = call.Out(0, dims);
    if (value_) {
      const Tensor value = call.In(2);
      if (value.rank() != 0)
        Refuse("constant_values must be a scalar, not " + ShapeText(value.dims));
      CopyStrided(call, value, 0, out, 0, {dims, {Dims(dims.size(), 0), RowMajorStrides(dims)}});
    } else {
      Clear(call, out);
    }
    PutInside(call, in, paddings, out);
  }

 private:
  const bool value_;
};

// Pads with what lies at the edges, in the opposite order: with the edge or without it.
class MirrorPad {
 public:
  MirrorPad(const Construction& node, const PlainRow&)
      : skip_(node.String("mode") == "REFLECT" ? 1 : 0) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> paddings = PaddingsOf(call, in);
    Dims dims = in.dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      const auto [least, most] = std::minmax(paddings[2 * d], paddings[2 * d + 1]);
      if (least < 0 || most > in.dims[d] - skip_) {
        Refuse("paddings must be between 0 and the dimension size, less 1 in mode REFLECT: " +
               std::to_string(paddings[2 * d]) + ", " + std::to_string(paddings[2 * d + 1]) +
               " around " + std::to_string(in.dims[d]) + " elements");
      }
      dims[d] += least + most;
    }
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    const Dims strides = RowMajorStrides(dims);
    int64_t at = PutInside(call, in, paddings, out);  // the part of the result that is filled
    Loop filled{in.dims, {strides, strides}};
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t before = paddings[2 * d], after = paddings[2 * d + 1], step = strides[d];
      Loop mirror = filled;
      mirror.strides[0][d] = -step;
      mirror.dims[d] = before;
      CopyStrided(call, out, at + (before - 1 + skip_) * step, out, at - before * step, mirror);
      mirror.dims[d] = after;
      const int64_t end = at + in.dims[d] * step;
      CopyStrided(call, out, end - (1 + skip_) * step, out, end, mirror);
      filled.dims[d] = dims[d];
      at -= before * step;
    }
  }

 private:
  const int64_t skip_;
};

class Tile {
 public:
  Tile(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> multiples = call.HostInts(1);
    if (multiples.size() != in.dims.size()) {
      Refuse("Expected multiples argument to be a vector of length " + std::to_string(in.rank()) +
             " but got length " + std::to_string(multiples.size()));
    }
    Dims dims;
    Loop loop;
    loop.strides.resize(2);
    const Dims strides = RowMajorStrides(in.dims);
    for (size_t d = 0; d < multiples.size(); ++d) {
      if (multiples[d] < 0) Refuse("Expected multiples[" + std::to_string(d) + "] >= 0");
      dims.push_back(Times(multiples[d], in.dims[d]));
      loop.dims.insert(loop.dims.end(), {multiples[d], in.dims[d]});
      loop.strides[0].insert(loop.strides[0].end(), {0, strides[d]});
    }
    loop.strides[1] = RowMajorStrides(loop.dims);
    CopyStrided(call, in, 0, call.Out(0, dims), 0, loop);
  }
};

class BroadcastTo {
 public:
  BroadcastTo(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const Dims dims = call.HostInts(1);
    for (const int64_t size : dims) {
      if (size < 0) Refuse("BroadcastTo: shape has a negative dimension " + std::to_string(size));
    }
    if (dims.size() < in.dims.size() || Broadcast(in.dims, dims) != dims)
      Refuse("Incompatible shapes: " + ShapeText(in.dims) + " vs. " + ShapeText(dims));
    Loop loop = BroadcastLoop(dims, {in.dims, dims});
    CopyStrided(call, in, 0, call.Out(0, dims), 0, loop);
  }
};

class Fill {
 public:
  Fill(const Construction&, const PlacedRow& row) : on_host_(row.on_host) {}
  void Compute(Call& call) const {
    const Dims dims = call.HostInts(0);
    const Tensor value = call.In(1);
    // As in TensorFlow, a number stands for a vector of one number, and the other way round.
    if (const Dims shape = call.In(0).dims; shape.size() > 1)
      Refuse("dims must represent a vector, got shape " + ShapeText(shape));
    if (value.rank() > 1 || value.count != 1)
      Refuse("value must represent a scalar, got shape " + ShapeText(value.dims));
    for (const int64_t size : dims) {
      if (size < 0) Refuse("Fill: dimension " + std::to_string(size) + " must be >= 0");
    }
    const Tensor out = call.Out(0, dims);
    CopyAnywhere(call, on_host_, value, 0, out, 0,
                 {dims, {Dims(dims.size(), 0), RowMajorStrides(dims)}});
  }

 private:
  const bool on_host_;
};

class Reverse {
 public:
  Reverse(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    // As in TensorFlow nobody looks at the axes then.
    if (in.count == 0 || in.rank() == 0) return call.OutIsInput(0, 0, in.dims);
    const Tensor out = call.Out(0, in.dims);
    Loop loop = BoxLoop(in.dims, in.dims, in.dims);
    std::vector<bool> seen(in.dims.size(), false);
    int64_t at = 0;
    for (const int64_t axis : call.HostInts(1)) {
      const auto d = static_cast<size_t>(NormalAxis(axis, in.rank(), "ReverseV2"));
      if (seen[d]) Refuse("axis " + std::to_string(d) + " specified more than once.");
      seen[d] = true;
      at += (in.dims[d] - 1) * loop.strides[0][d];
      loop.strides[0][d] = -loop.strides[0][d];
    }
    CopyStrided(call, in, at, out, 0, loop);
  }
};

// Keeps a band around the diagonal of each matrix.
class BandPart {
 public:
  BandPart(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> lower = call.HostInts(1), upper = call.HostInts(2);
    if (in.rank() < 2)
      Refuse("input must be at least 2-dim, received shape: " + ShapeText(in.dims));
    if (lower.size() != 1 || upper.size() != 1) Refuse("num_lower and num_upper must be scalars");
    const int64_t rows = in.dims[in.dims.size() - 2], columns = in.dims.back();
    if (lower[0] > rows || upper[0] > columns) {
      Refuse("num_lower and num_upper must be negative or at most the number of rows (" +
             std::to_string(rows) + ") and columns (" + std::to_string(columns) + "), got " +
             std::to_string(lower[0]) + " and " + std::to_string(upper[0]));
    }
    const Tensor out = call.OutLike(0, in.dims, {0});
    RunBroadcastMap(call,
                    {"const long below = (long)i / n1 % n0 - (long)i % n1; "
                     "r = (n2 < 0 || below <= n2) && (n3 < 0 || -below <= n3) ? x0 : 0;",
                     "",
                     {rows, columns, lower[0], upper[0]}},
                    {in}, out);
  }
};

constexpr TypeSet kMoved = kAll;
// Integers of 32 bits are shapes and indices nearly always: they lie in host memory, and ops that
// make them of shapes run there.
constexpr TypeSet kData = kAll & ~kI32;

constexpr PlainRow kTranspose[] = {{{"Transpose", kMoved, "T", "perm"}}};
constexpr Concat::Row kConcat[] = {{{"ConcatV2", kData, "T", "axis"}, true},
                                   {{"ConcatV2", kI32, "T", "values axis output"}, true, true},
                                   {{"Concat", kData, "T", "concat_dim"}, false}};
constexpr PlacedRow kPack[] = {{{"Pack", kData}}, {{"Pack", kI32, "T", "values output"}, true}};
constexpr PlacedRow kUnpack[] = {{{"Unpack", kData}},
                                 {{"Unpack", kI32, "T", "value output"}, true}};
constexpr Split::Row kSplit[] = {{{"Split", kMoved, "T", "split_dim"}, false},
                                 {{"SplitV", kMoved, "T", "size_splits split_dim"}, true}};
constexpr PlacedRow kSlice[] = {{{"Slice", kData, "T", "begin size"}},
                                {{"Slice", kI32, "T", "input begin size output"}, true}};
constexpr Pad::Row kPad[] = {{{"Pad", kMoved, "T", "paddings"}, false},
                             {{"PadV2", kMoved, "T", "paddings"}, true}};
constexpr PlainRow kMirrorPad[] = {{{"MirrorPad", kMoved, "T", "paddings"}}};
constexpr PlainRow kTile[] = {{{"Tile", kMoved, "T", "multiples"}}};
constexpr PlainRow kBroadcastTo[] = {{{"BroadcastTo", kMoved, "T", "shape"}}};
constexpr PlacedRow kFill[] = {{{"Fill", kData, "T", "dims"}},
                               {{"Fill", kI32, "T", "dims value output"}, true}};
constexpr PlainRow kReverse[] = {{{"ReverseV2", kMoved, "T", "axis"}}};
constexpr PlainRow kBandPart[] = {{{"MatrixBandPart", kAll, "T", "num_lower num_upper"}}};

}  // namespace

void RegisterLayout() {
  RegisterTable<Transpose, kTranspose>();
  RegisterTable<Concat, kConcat>();
  RegisterTable<Pack, kPack>();
  RegisterTable<Unpack, kUnpack>();
  RegisterTable<Split, kSplit>();
  RegisterTable<Slice, kSlice>();
  RegisterTable<Pad, kPad>();
  RegisterTable<MirrorPad, kMirrorPad>();
  RegisterTable<Tile, kTile>();
  RegisterTable<BroadcastTo, kBroadcastTo>();
  RegisterTable<Fill, kFill>();
  RegisterTable<Reverse, kReverse>();
  RegisterTable<BandPart, kBandPart>();
}

}  // namespace opencl
