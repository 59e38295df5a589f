// The proofs behind OpFacts::safe, one function for each class of ops. Each states when the kernels
// of its class find no error. What is unknown of shapes and values proves nothing.

#include "grappler_lite/analysis/cannot_fail.h"

#include <algorithm>
#include <optional>

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

// Whether dimensions of these sizes can be combined elementwise in every run.
// A size of 1 fits an unknown size too. Two unknown sizes may differ.
bool DimsBroadcast(int64_t a, int64_t b) { return a == 1 || b == 1 || (a == b && a >= 0); }

bool Broadcast(const PartialShape& a, const PartialShape& b) {
  // A scalar fits every shape, even one of unknown rank.
  if (a.rank() == 0 || b.rank() == 0) return true;
  if (!a.known_rank() || !b.known_rank()) return false;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    if (!DimsBroadcast(a.dim(-i), b.dim(-i))) return false;
  }
  return true;
}

// Whether matrices stand behind batches that fit and the first has as many columns as the second
// has rows.
bool MatricesFit(const Graph& g, NodeId n, const PartialShape& a, const PartialShape& b) {
  if (a.rank() < 2 || b.rank() < 2) return false;
  const bool plain = g.op_name(n) == "MatMul", broadcasts = g.op_name(n) == "BatchMatMulV2";
  if (plain && (a.rank() != 2 || b.rank() != 2)) return false;
  if (!broadcasts && a.rank() != b.rank()) return false;
  const bool turn_a = BoolAttr(g, n, plain ? "transpose_a" : "adj_x");
  const bool turn_b = BoolAttr(g, n, plain ? "transpose_b" : "adj_y");
  const int64_t columns = a.dim(turn_a ? -2 : -1);
  if (columns < 0 || columns != b.dim(turn_b ? -1 : -2)) return false;
  for (int i = 3; i <= std::min(a.rank(), b.rank()); ++i) {
    const int64_t x = a.dim(-i), y = b.dim(-i);
    if (broadcasts ? !DimsBroadcast(x, y) : x != y || x < 0) return false;
  }
  return true;
}

// Whether these are dimensions of a tensor of this rank, each named once.
bool AreAxes(const std::optional<Dims>& axes, int rank) {
  if (!axes || rank < 0) return false;
  std::vector<bool> seen(rank);
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) return false;
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (seen[at]) return false;
    seen[at] = true;
  }
  return true;
}

// Whether these are all dimensions of a tensor of this rank.
bool IsOrder(const std::optional<Dims>& order, int rank) {
  return AreAxes(order, rank) && static_cast<int>(order->size()) == rank;
}

// Whether this is one dimension of a tensor of this rank, or of one with so many more.
bool IsAxis(const std::optional<Dims>& axis, int rank, int places = 0) {
  return rank >= 0 && AreAxes(axis, rank + places) && axis->size() == 1;
}

// A constant scalar or vector of integers.
std::optional<Dims> Integers(const TensorInfo& info) {
  if (!info.value || !IsInteger(info.value->dtype()) || info.value->shape().rank() > 1)
    return std::nullopt;
  Dims ints;
  for (int64_t i = 0; i < info.value->num_elements(); ++i) ints.push_back(info.value->IntAt(i));
  return ints;
}

// Whether both have the same size in every run in all dimensions but `but`.
bool SameSizes(Output a, Output b, InfoOf info, SameDim same_dim, int but) {
  const PartialShape &x = info(a).shape, &y = info(b).shape;
  if (!x.known_rank() || x.rank() != y.rank()) return false;
  for (int d = 0; d < x.rank(); ++d) {
    const bool known = x.dim(d) >= 0 || y.dim(d) >= 0;
    if (d != but && (known ? x.dim(d) != y.dim(d) : !same_dim(a, d, b, d))) return false;
  }
  return true;
}

// The same of all parts of a Concat or Pack.
bool PartsFit(std::span<const Output> parts, InfoOf info, SameDim same_dim, int but) {
  return info(parts[0]).shape.known_rank() &&
         std::ranges::all_of(parts.subspan(1), [&](const Output& part) {
           return SameSizes(parts[0], part, info, same_dim, but);
         });
}

// The axis comes last.
bool ConcatFits(std::span<const Output> in, InfoOf info, SameDim same_dim) {
  const std::optional<Dims> axis = Integers(info(in.back()));
  const int rank = info(in[0]).shape.rank();
  if (!IsAxis(axis, rank)) return false;
  const int64_t at = (*axis)[0] < 0 ? (*axis)[0] + rank : (*axis)[0];
  return PartsFit(in.first(in.size() - 1), info, same_dim, static_cast<int>(at));
}

bool IsNumber(DataType type) {
  return type == DataType::kBool || IsInteger(type) || IsFloating(type);
}

// Whether Slice takes what is there.
bool SliceFits(const PartialShape& x, const std::optional<Dims>& begin,
               const std::optional<Dims>& size) {
  if (!begin || !size || !x.known_rank() || static_cast<int>(begin->size()) != x.rank() ||
      begin->size() != size->size())
    return false;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t from = (*begin)[d], count = (*size)[d];
    if (from < 0 || count < -1) return false;
    // In a dimension of unknown size only the empty slice at 0 and the whole dimension always
    // exist.
    if (x.dim(d) < 0 ? from != 0 || count > 0 : from > x.dim(d) || count > x.dim(d) - from)
      return false;
  }
  return true;
}

// What a range takes may be cut short; a single index may not.
bool StridedSliceFits(const Graph& g, NodeId n, const PartialShape& x,
                      const std::optional<Dims>& begin, const std::optional<Dims>& end,
                      const std::optional<Dims>& strides) {
  // The masks are integers of 32 bits, one bit for each entry.
  constexpr size_t kMostMasked = 31;
  if (!begin || !end || !strides || !x.known_rank() || begin->size() != end->size() ||
      begin->size() != strides->size() || begin->size() > kMostMasked ||
      static_cast<int>(begin->size()) > x.rank() || IntAttr(g, n, "ellipsis_mask") != 0 ||
      IntAttr(g, n, "new_axis_mask") != 0)
    return false;
  const int64_t single = IntAttr(g, n, "shrink_axis_mask"), open = IntAttr(g, n, "begin_mask");
  for (size_t d = 0; d < begin->size(); ++d) {
    if ((*strides)[d] == 0) return false;
    if ((single >> d & 1) == 0) continue;
    const int64_t at = (*begin)[d], dim = x.dim(static_cast<int>(d));
    if ((*strides)[d] != 1 || (open >> d & 1) != 0 || dim < 0 || at < -dim || at >= dim)
      return false;
  }
  return true;
}

// Whether a dimension can be split into that many equal parts.
bool SplitFits(const Graph& g, NodeId n, const std::optional<Dims>& axis, const PartialShape& x) {
  const int64_t parts = IntAttr(g, n, "num_split");
  if (!axis || axis->size() != 1 || !AreAxes(axis, x.rank()) || parts <= 0) return false;
  const int64_t dim = x.dim(static_cast<int>((*axis)[0]));
  return dim >= 0 && dim % parts == 0;
}

}  // namespace

std::optional<ElementCount> CountElements(absl::Span<const int64_t> dims) {
  ElementCount count;
  for (int64_t d : dims) {
    if (d < 0) {
      ++count.unknown;
    } else if (__builtin_mul_overflow(count.known, d, &count.known)) {
      return std::nullopt;
    }
  }
  return count;
}

bool ReshapeFits(const PartialShape& from, absl::Span<const int64_t> to) {
  if (!from.known_rank() || std::ranges::any_of(to, [](int64_t d) { return d < -1; })) return false;
  const std::optional<ElementCount> in = CountElements(from.dims()), out = CountElements(to);
  if (!in || !out || out->unknown > 1) return false;
  // A size of -1 takes what is left: the known sizes must divide the elements in every run, which
  // they do if they divide the known part. With a 0 among them nothing could be divided.
  if (out->unknown == 0) return in->unknown == 0 && in->known == out->known;
  return out->known > 0 && in->known % out->known == 0;
}

bool CannotFail(const Graph& g, NodeId n, InfoOf info) {
  return CannotFail(g, n, info, [](Output, int, Output, int) { return false; });
}

bool CannotFail(const Graph& g, NodeId n, InfoOf info, SameDim same_dim) {
  const std::span<const Output> in = g.data_inputs(n);
  const auto shape = [&](int i) -> const PartialShape& { return info(in[i]).shape; };
  const auto ints = [&](int i) { return Integers(info(in[i])); };
  switch (g.facts(n).safe) {
    case Safe::kUnknown:
      return false;
    case Safe::kAlways:
      return true;
    case Safe::kIfBroadcast:
      return Broadcast(shape(0), shape(1));
    case Safe::kIfQuotient:
      return IsFloating(g.output_type({n, 0})) && Broadcast(shape(0), shape(1));
    case Safe::kIfSameShapes:
      return shape(0).fully_defined() && shape(0) == shape(1);
    case Safe::kIfProduct:
      return MatricesFit(g, n, shape(0), shape(1));
    case Safe::kIfReduction:
      return AreAxes(ints(1), shape(0).rank());
    case Safe::kIfReshape: {
      const std::optional<Dims> sizes = ints(1);
      return sizes && ReshapeFits(shape(0), *sizes);
    }
    case Safe::kIfSlice:
      return SliceFits(shape(0), ints(1), ints(2));
    case Safe::kIfStrided:
      return StridedSliceFits(g, n, shape(0), ints(1), ints(2), ints(3));
    case Safe::kIfSplit:
      return SplitFits(g, n, ints(0), shape(1));
    case Safe::kIfTranspose:
      return IsOrder(ints(1), shape(0).rank());
    case Safe::kIfExpanded:
      return IsAxis(ints(1), shape(0).rank(), /*places=*/1);
    case Safe::kIfConcat:
      return ConcatFits(in, info, same_dim);
    case Safe::kIfPack:
      return info({n, 0}).shape.known_rank() && PartsFit(in, info, same_dim, /*but=*/-1);
    case Safe::kIfCast:
      return IsNumber(g.output_type(in[0])) && IsNumber(g.output_type({n, 0}));
    case Safe::kIfWindow:
      return WindowsFit(g, n, info, same_dim);
    case Safe::kIfShapesKnown:
      return info({n, 0}).shape.fully_defined() && std::ranges::all_of(in, [&](const Output& o) {
               return info(o).shape.fully_defined();
             });
  }
  return false;
}

}  // namespace tenon
