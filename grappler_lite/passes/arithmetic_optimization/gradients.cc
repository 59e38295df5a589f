// The gradient of an operand that may have been broadcast is summed over what was repeated. Nothing
// was where the gradient has the operand's shape.
#include <algorithm>
#include <vector>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// One dimension: known, or that of a tensor.
struct Dim {
  int64_t size;  // -1: unknown
  Output of;
  int index;
};

// What a vector of sizes holds, and the tensors that tell: a constant, the Shape of a tensor, or
// the first elements of one.
struct Sizes {
  std::vector<Dim> dims;
  std::vector<Output> told_by;
};

std::optional<Sizes> ShapeOf(const Sweep& s, NodeId n) {
  Sizes sizes;
  const Output x = s.graph().data_inputs(n)[0];
  const PartialShape& shape = s.shape(x);
  if (!shape.known_rank()) return std::nullopt;
  for (int d = 0; d < shape.rank(); ++d) sizes.dims.push_back({shape.dim(d), x, d});
  sizes.told_by.push_back(x);
  return sizes;
}

std::optional<Sizes> SizesOf(const Sweep& s, NodeId n, int i) {
  const Graph& g = s.graph();
  if (const std::optional<Tensor> value = s.ConstOf(g.data_inputs(n)[i], kMaxRank)) {
    Sizes sizes;
    for (int64_t d = 0; d < value->num_elements(); ++d) {
      if (value->IntAt(d) < 0) return std::nullopt;
      sizes.dims.push_back({value->IntAt(d), {}, 0});
    }
    return sizes;
  }
  const NodeId p = Producer(s, n, i, {"Shape", "StridedSlice"});
  if (p == kNoNode) return std::nullopt;
  if (g.op_name(p) == "Shape") return ShapeOf(s, p);
  const NodeId shape = Producer(s, p, 0, {"Shape"});
  if (shape == kNoNode || !RestIsConst(s, p)) return std::nullopt;
  for (std::string_view mask : {"ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    if (IntAttr(g, p, mask) != 0) return std::nullopt;
  }
  std::optional<Sizes> sizes = ShapeOf(s, shape);
  const std::optional<Tensor> begin = s.ConstOf(g.data_inputs(p)[1], 1);
  const std::optional<Tensor> end = s.ConstOf(g.data_inputs(p)[2], 1);
  const std::optional<Tensor> stride = s.ConstOf(g.data_inputs(p)[3], 1);
  if (!sizes || !begin || !end || !stride || begin->num_elements() != 1 ||
      end->num_elements() != 1 || stride->num_elements() != 1 || stride->IntAt(0) != 1 ||
      (begin->IntAt(0) != 0 && IntAttr(g, p, "begin_mask") == 0) || IntAttr(g, p, "end_mask") != 0)
    return std::nullopt;
  const auto rank = static_cast<int64_t>(sizes->dims.size());
  const int64_t last = end->IntAt(0) < 0 ? end->IntAt(0) + rank : end->IntAt(0);
  sizes->dims.resize(std::clamp<int64_t>(last, 0, rank));
  return sizes;
}

bool SameSize(const Sweep& s, const Dim& a, const Dim& b) {
  return a.size >= 0 || b.size >= 0 ? a.size == b.size : s.SameDim(a.of, a.index, b.of, b.index);
}

// Whether all of z, a gradient that is summed to be one of an operand of these sizes, is left in
// its place: only dimensions of size 1 are summed. Both sizes are broadcast in every run.
bool SumsNothing(const Sweep& s, Output z, const Sizes& own, const Sizes& other) {
  if (other.dims.size() > own.dims.size()) return false;
  if (static_cast<int>(own.dims.size()) > s.shape(z).rank()) return false;
  for (size_t d = 0; d < own.dims.size(); ++d) {
    const int index = static_cast<int>(d);
    if (!SameSize(s, own.dims[d], {s.shape(z).dim(index), z, index})) return false;
  }
  const size_t missing = own.dims.size() - other.dims.size();
  for (size_t d = 0; d < other.dims.size(); ++d) {
    const Dim &a = own.dims[missing + d], &b = other.dims[d];
    if (a.size != 1 && b.size != 1 && !SameSize(s, a, b)) return false;
  }
  return true;
}

// reshape(sum(z, axes that were broadcast), the operand's shape) is z.
bool DropSumOverNothing(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId sum = Producer(s, n, 0, {"Sum"});
  if (sum == kNoNode) return false;
  const Output z = g.data_inputs(sum)[0];
  const Output axes = g.data_inputs(sum)[1];
  const NodeId args = Producer(s, sum, 1, {"BroadcastGradientArgs"});
  if (args == kNoNode || !s.shape(z).known_rank() || !s.SameShape(z, {n, 0})) return false;
  const std::optional<Sizes> own = SizesOf(s, args, axes.port),
                             other = SizesOf(s, args, 1 - axes.port);
  if (!own || !other || !SumsNothing(s, z, *own, *other)) return false;
  // n no longer waits for the tensors whose shapes it read: they must be sure to come.
  std::vector<Output> lost = own->told_by;
  lost.insert(lost.end(), other->told_by.begin(), other->told_by.end());
  if (const NodeId shape = Producer(s, n, 1, {"Shape"}); shape != kNoNode) {
    lost.push_back(g.data_inputs(shape)[0]);
  } else if (!s.IsFree(g.data_inputs(n)[1])) {
    return false;
  }
  Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
  if (!CannotStopBut(s, lost, z) || !s.HasKernel(n, "Identity", attrs) || !s.Allow()) return false;
  s.Become(n, "Identity", {&z, 1}, std::move(attrs));
  return true;
}

constexpr Rewrite kGradientsRewrites[] = {
    {"drop_sum_over_nothing", Exactness::kToleranced, DropSumOverNothing, "Reshape"},
};

}  // namespace

std::span<const Rewrite> Gradients() { return kGradientsRewrites; }

}  // namespace tenon::arithmetic
