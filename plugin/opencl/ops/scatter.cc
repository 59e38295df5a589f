// Values sent to places of a tensor or of a variable, and rows brought together by numbers.

#include <algorithm>

#include "../base/map.h"
#include "../base/registry.h"
#include "../base/scatter.h"
#include "../base/strided.h"
#include "families.h"
#include "locked_variables.h"

namespace opencl {
namespace {

struct ScatterRow {
  OpRow row;
  Sent sent;
};

constexpr Sent kReplace{"b"};
constexpr Sent kAdd{"(C)((U)a + (U)b)"};
constexpr Sent kSubtract{"(C)((U)a - (U)b)"};
constexpr Sent kMultiply{"(C)((U)a * (U)b)"};
constexpr Sent kDivide{"b == 0 ? a : (C)-1 < 0 && b == (C)-1 ? (C)(0 - (U)a) : a / b",
                       "updates must not contain 0"};
constexpr Sent kAtLeast{"b > a ? b : a"};
constexpr Sent kAtMost{"b < a ? b : a"};

// Points of `target` by rows of coordinates, as ScatterNd and its kin have them, whose values must
// have the shape of their pieces.
Points PointsOf(const Tensor& indices, const Tensor& updates, const Tensor& target,
                Outside reported) {
  if (indices.rank() < 1) Refuse("Indices shape must have rank at least one. Found: []");
  const auto depth = static_cast<size_t>(indices.dims.back());
  if (depth > target.dims.size()) {
    Refuse("Index innermost dimension length must be <= shape rank; saw: " + std::to_string(depth) +
           " vs. " + std::to_string(target.rank()));
  }
  Dims wanted(indices.dims.begin(), indices.dims.end() - 1);
  wanted.insert(wanted.end(), target.dims.begin() + static_cast<std::ptrdiff_t>(depth),
                target.dims.end());
  const bool all_empty = indices.count == 0 && updates.count == 0;
  const bool none_empty = indices.count != 0 && updates.count != 0 && target.count != 0;
  if (updates.rank() < 1 || target.rank() < 1 || updates.dims != wanted ||
      !(all_empty || none_empty)) {
    Refuse("updates of shape " + ShapeText(updates.dims) + " do not fit indices " +
           ShapeText(indices.dims) + " into shape " + ShapeText(target.dims));
  }
  Points points{indices};
  points.sizes.assign(target.dims.begin(), target.dims.begin() + indices.dims.back());
  points.count = depth == 0 ? 0 : indices.count / indices.dims.back();
  for (size_t d = depth; d < target.dims.size(); ++d) points.piece *= target.dims[d];
  points.reported = reported;
  points.report = "indices[%lld] does not index into shape " + ShapeText(target.dims);
  return points;
}

Outside PolicyOf(const Construction& node) {
  if (!node.Has("bad_indices_policy")) return Outside::kAll;
  const std::string policy = node.String("bad_indices_policy");
  if (policy == "IGNORE") return Outside::kIgnored;
  if (policy != "" && policy != "DEFAULT" && policy != "ERROR")
    Refuse("bad_indices_policy must be DEFAULT, ERROR or IGNORE, not " + policy);
  return Outside::kAll;
}

// What ops with rows of coordinates have in common.
class NdScatter {
 public:
  NdScatter(const Construction& node, const ScatterRow& row)
      : node_(node.NodeText(row.row.op)), sent_(row.sent), policy_(PolicyOf(node)) {}

 protected:
  Points CheckedPoints(const Tensor& indices, const Tensor& updates, const Tensor& target) const {
    return PointsOf(indices, updates, target, policy_);
  }
  void Send(Call& call, const Points& points, const Tensor& updates, const Tensor& target) const {
    RunScatter(call, points, sent_, updates, target, node_);
  }

 private:
  const std::string node_;
  const Sent sent_;
  const Outside policy_;
};

class ScatterNd : public NdScatter {
 public:
  using NdScatter::NdScatter;
  void Compute(Call& call) const {
    const Tensor indices = call.In(0), updates = call.In(1);
    const Dims dims = call.HostInts(2);
    for (const int64_t size : dims) {
      if (size < 0) Refuse("Shape of the output must not be negative: " + ShapeText(dims));
    }
    Tensor target = updates;
    target.dims = dims;
    target.count = CheckedCount(dims);
    const Points points = CheckedPoints(indices, updates, target);
    target = call.Out(0, dims);
    Clear(call, target);
    Send(call, points, updates, target);
  }
};

class TensorScatter : public NdScatter {
 public:
  using NdScatter::NdScatter;
  void Compute(Call& call) const {
    const Tensor in = call.In(0), indices = call.In(1), updates = call.In(2);
    const Points points = CheckedPoints(indices, updates, in);
    const Tensor out = call.OutLike(0, in.dims, {0});
    CopyAll(call, in, out);
    Send(call, points, updates, out);
  }
};

class VariableScatterNd : public NdScatter {
 public:
  VariableScatterNd(const Construction& node, const ScatterRow& row)
      : NdScatter(node, row), locks_(node.Bool("use_locking")) {}
  void Compute(Call& call) const {
    const LockedVariables locked(call, 1, locks_);
    const Tensor& target = locked.tensors()[0];
    const Tensor indices = call.In(1), updates = call.In(2);
    Send(call, CheckedPoints(indices, updates, target), updates, target);
  }

 private:
  const bool locks_;
};

// Whole rows of a variable; a scalar stands for all values.
class VariableScatter {
 public:
  VariableScatter(const Construction& node, const ScatterRow& row)
      : node_(node.NodeText(row.row.op)), sent_(row.sent) {}
  void Compute(Call& call) const {
    const LockedVariables locked(call, 1, false);
    const Tensor& target = locked.tensors()[0];
    const Tensor indices = call.In(1), updates = call.In(2);
    if (target.rank() < 1 && updates.rank() != 0) Refuse("the variable must be a vector at least");
    Dims wanted = indices.dims;
    Points points{indices, indices.count, {target.rank() < 1 ? 1 : target.dims[0]}};
    for (size_t d = 1; d < target.dims.size(); ++d) {
      wanted.push_back(target.dims[d]);
      points.piece *= target.dims[d];
    }
    if (updates.rank() != 0 && updates.dims != wanted) {
      Refuse(
          "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
          "got updates.shape " +
          ShapeText(updates.dims) + ", indices.shape " + ShapeText(indices.dims) +
          ", params.shape " + ShapeText(target.dims));
    }
    points.report = "indices[%lld] is not in [0, " + std::to_string(points.sizes[0]) + ")";
    RunScatter(call, points, sent_, updates, target, node_);
  }

 private:
  const std::string node_;
  const Sent sent_;
};

struct SegmentRow {
  OpRow row;
  Sent sent;
  enum Empty { kZero, kOne, kLowest, kHighest } empty;
};

// out[s] = what all rows of number s give together; rows with a negative number are left out.
class UnsortedSegments {
 public:
  UnsortedSegments(const Construction& node, const SegmentRow& row)
      : node_(node.NodeText(row.row.op)), row_(row) {}
  void Compute(Call& call) const {
    const Tensor data = call.In(0), ids = call.In(1);
    const std::vector<int64_t> segments = call.HostInts(2);
    if (segments.size() != 1) Refuse("num_segments should be a scalar");
    if (segments[0] < 0)
      Refuse("Input num_segments must be >= 0, got " + std::to_string(segments[0]));
    const auto lead = static_cast<size_t>(ids.rank());
    if (lead > data.dims.size() || !std::equal(ids.dims.begin(), ids.dims.end(), data.dims.begin()))
      Refuse("data.shape = " + ShapeText(data.dims) +
             " does not start with segment_ids.shape = " + ShapeText(ids.dims));
    Points points{ids, ids.count, segments};
    Dims dims = segments;
    for (size_t d = lead; d < data.dims.size(); ++d) {
      dims.push_back(data.dims[d]);
      points.piece *= data.dims[d];
    }
    points.reported = Outside::kNotNegative;
    points.report = "segment_ids[%lld] is out of range [0, " + std::to_string(segments[0]) + ")";
    const Tensor out = call.Out(0, dims);
    Begin(call, out);
    RunScatter(call, points, row_.sent, data, out, node_);
  }

 private:
  void Begin(Call& call, const Tensor& out) const {
    if (row_.empty == SegmentRow::kZero) return Clear(call, out);
    const ElementType& type = TypeOf(out.type);
    FillWith(call, out,
             row_.empty == SegmentRow::kOne      ? "1"
             : row_.empty == SegmentRow::kLowest ? LowestFinite(type)
                                                 : HighestFinite(type));
  }

  const std::string node_;
  const SegmentRow& row_;
};

// How often each number below `size` is there, or the sum of its weights.
class DenseBincount {
 public:
  DenseBincount(const Construction& node, const PlainRow& row)
      : node_(node.NodeText(row.row.op)), binary_(node.Bool("binary_output")) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0), weights = call.In(2);
    const std::vector<int64_t> size = call.HostInts(1);
    if (in.rank() > 2)
      Refuse("Shape must be at most rank 2 but is rank " + std::to_string(in.rank()));
    if (size.size() != 1) Refuse("Shape must be rank 0 for size");
    if (size[0] < 0) Refuse("size (" + std::to_string(size[0]) + ") must be non-negative");
    if (weights.count != 0 && weights.dims != in.dims) {
      Refuse("`weights` must be the same shape as `arr` or a length-0 `Tensor`, got " +
             ShapeText(weights.dims));
    }
    Points points{in, in.count, size};
    points.batches = in.rank() == 2 ? in.dims[0] : 1;
    points.reported = Outside::kNegative;
    points.report = "Input arr must be non-negative, but is not at %lld";
    const Tensor out = call.Out(0, in.rank() == 2 ? Dims{in.dims[0], size[0]} : size);
    Clear(call, out);
    if (weights.count != 0 && !binary_) return RunScatter(call, points, kAdd, weights, out, node_);
    const Tensor one = call.Temp(out.type, {});
    FillWith(call, one, "1");
    RunScatter(call, points, binary_ ? kReplace : kAdd, one, out, node_);
  }

 private:
  const std::string node_;
  const bool binary_;
};

constexpr ScatterRow kScatterNd[] = {{{"ScatterNd", kAll, "T", "shape"}, kAdd}};
constexpr ScatterRow kTensorScatter[] = {
    {{"TensorScatterUpdate", kAll}, kReplace},  {{"TensorScatterAdd", kNumbers}, kAdd},
    {{"ScatterNdNonAliasingAdd", kAll}, kAdd},  {{"TensorScatterSub", kNumbers}, kSubtract},
    {{"TensorScatterMax", kNumbers}, kAtLeast}, {{"TensorScatterMin", kNumbers}, kAtMost}};
constexpr ScatterRow kVariableNd[] = {{{"ResourceScatterNdUpdate", kAll, "T"}, kReplace},
                                      {{"ResourceScatterNdAdd", kAll, "T"}, kAdd},
                                      {{"ResourceScatterNdSub", kNumbers, "T"}, kSubtract},
                                      {{"ResourceScatterNdMax", kNumbers, "T"}, kAtLeast},
                                      {{"ResourceScatterNdMin", kNumbers, "T"}, kAtMost}};
constexpr ScatterRow kVariableRows[] = {{{"ResourceScatterUpdate", kAll, "dtype"}, kReplace},
                                        {{"ResourceScatterAdd", kNumbers, "dtype"}, kAdd},
                                        {{"ResourceScatterSub", kNumbers, "dtype"}, kSubtract},
                                        {{"ResourceScatterMul", kNumbers, "dtype"}, kMultiply},
                                        {{"ResourceScatterDiv", kNumbers, "dtype"}, kDivide},
                                        {{"ResourceScatterMax", kNumbers, "dtype"}, kAtLeast},
                                        {{"ResourceScatterMin", kNumbers, "dtype"}, kAtMost}};
constexpr SegmentRow kSegments[] = {
    {{"UnsortedSegmentSum", kNumbers, "T", "num_segments"}, kAdd, SegmentRow::kZero},
    {{"UnsortedSegmentProd", kNumbers, "T", "num_segments"}, kMultiply, SegmentRow::kOne},
    // A NaN that is held gives way, as in TensorFlow.
    {{"UnsortedSegmentMax", kNumbers, "T", "num_segments"}, {"a > b ? a : b"}, SegmentRow::kLowest},
    {{"UnsortedSegmentMin", kNumbers, "T", "num_segments"},
     {"a < b ? a : b"},
     SegmentRow::kHighest}};
constexpr PlainRow kBincount[] = {{{"DenseBincount", kF32 | kF64 | kI32 | kI64, "T", "size"}}};

}  // namespace

void RegisterScatter() {
  RegisterTable<ScatterNd, kScatterNd>();
  RegisterTable<TensorScatter, kTensorScatter>();
  RegisterTable<UnsortedSegments, kSegments>();
  RegisterTable<DenseBincount, kBincount>();
  if (!HasVariables()) return;
  RegisterTable<VariableScatterNd, kVariableNd>();
  RegisterTable<VariableScatter, kVariableRows>();
}

}  // namespace opencl
