// Concat, Split, Pack and Unpack that undo each other, and slices of what was just put together.
#include <algorithm>
#include <vector>

#include "grappler_lite/arithmetic/patterns.h"
#include "grappler_lite/arithmetic/rewrites.h"

namespace tenon::arithmetic {
namespace {

bool RemoveSingleElementList(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  if (g.op_name(n) == "AddN") return in.size() == 1 && s.ReplaceBy(n, in[0]);
  if (g.op_name(n) == "ConcatV2")
    return in.size() == 2 && Axis(s, in[1], s.shape(in[0]).rank()) && s.ReplaceBy(n, in[0]);
  return g.num_outputs(n) == 1 && Axis(s, in[0], s.shape(in[1]).rank()) && s.ReplaceBy(n, in[1]);
}

// The axis of a Pack or Unpack among `rank` dimensions; nullopt where that is no axis.
std::optional<int64_t> AxisAttr(const Graph& g, NodeId n, int rank) {
  return IndexOf(IntAttr(g, n, "axis"), rank);
}

// Each slice of a list looks at the whole list.
constexpr int kLongestList = 1024;

// The axis along which Pack n puts its inputs, if they fit in every run.
std::optional<int64_t> PackAxis(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const PartialShape& shape = s.shape(g.data_inputs(n)[0]);
  if (!shape.fully_defined() || g.num_inputs(n) > kLongestList) return std::nullopt;
  for (const Output& in : g.data_inputs(n)) {
    if (!(s.shape(in) == shape)) return std::nullopt;
  }
  return AxisAttr(g, n, shape.rank() + 1);
}

// Unpack(Pack(x, y)) is x and y.
bool UnpackOfPack(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId pack = Producer(s, n, 0, {"Pack"});
  if (pack == kNoNode || g.num_inputs(pack) != g.num_outputs(n)) return false;
  const std::optional<int64_t> axis = PackAxis(s, pack);
  if (!axis || axis != AxisAttr(g, n, s.shape({pack, 0}).rank())) return false;
  const std::vector<Output> pieces(g.data_inputs(pack).begin(), g.data_inputs(pack).end());
  return (pieces.size() == 1 || CannotStop(s, pieces)) && s.ReplaceOutputs(n, pieces);
}

// The node of which these are all outputs, in order; else kNoNode.
NodeId AllOutputsOfOne(const Graph& g, std::span<const Output> outputs) {
  const NodeId n = outputs[0].node;
  if (g.num_outputs(n) != static_cast<int>(outputs.size())) return kNoNode;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != Output{n, static_cast<int32_t>(i)}) return kNoNode;
  }
  return n;
}

// Pack(Unpack(x)) is x.
bool PackOfUnpack(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId unpack = AllOutputsOfOne(g, g.data_inputs(n));
  if (unpack == kNoNode || Producer(s, n, 0, {"Unpack"}) == kNoNode) return false;
  const Output x = g.data_inputs(unpack)[0];
  const PartialShape& shape = s.shape(x);
  const std::optional<int64_t> axis = AxisAttr(g, unpack, shape.rank());
  return axis && axis == AxisAttr(g, n, shape.rank()) &&
         shape.dim(static_cast<int>(*axis)) == g.num_outputs(unpack) && s.ReplaceBy(n, x);
}

// Concat(Split(x)) is x.
bool ConcatOfSplit(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  const NodeId split = AllOutputsOfOne(g, in.first(in.size() - 1));
  if (split == kNoNode || Producer(s, n, 0, {"Split"}) == kNoNode) return false;
  const Output x = g.data_inputs(split)[1];
  const PartialShape& shape = s.shape(x);
  if (!shape.known_rank()) return false;
  const std::optional<int64_t> axis = Axis(s, g.data_inputs(split)[0], shape.rank());
  if (!axis || axis != Axis(s, in.back(), shape.rank())) return false;
  const int64_t size = shape.dim(static_cast<int>(*axis));
  return size > 0 && size % g.num_outputs(split) == 0 && s.ReplaceBy(n, x);
}

// Concat(Concat(x, y), z) is Concat(x, y, z).
bool MergeConcats(Sweep& s, NodeId n) {
  constexpr size_t kMostPieces = 1024;
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  const int rank = s.shape({n, 0}).rank();
  const std::optional<int64_t> axis = rank < 0 ? std::nullopt : Axis(s, in.back(), rank);
  if (!axis) return false;
  std::vector<Output> pieces;
  for (int i = 0; i < g.num_inputs(n) - 1; ++i) {
    const NodeId inner = OwnProducer(s, n, i, {"ConcatV2"});
    const std::span<const Output> of = inner == kNoNode ? in : g.data_inputs(inner);
    if (inner == kNoNode || Axis(s, of.back(), rank) != axis) {
      pieces.push_back(in[i]);
    } else {
      pieces.insert(pieces.end(), of.begin(), of.end() - 1);
    }
  }
  if (pieces.size() == in.size() - 1 || pieces.size() > kMostPieces || !s.Allow()) return false;
  Sweep::Attrs attrs = OpAttrs(g, n);
  PutAttr(attrs, "N", attr::Int(std::ssize(pieces)));
  pieces.push_back(in.back());
  s.Become(n, "ConcatV2", pieces, std::move(attrs));
  return true;
}

// Split(Concat(x, y)) is x and y, where they are of the size that the split gives.
bool SplitOfConcat(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId concat = Producer(s, n, 1, {"ConcatV2"});
  if (concat == kNoNode || g.num_inputs(concat) != g.num_outputs(n) + 1) return false;
  const std::span<const Output> in = g.data_inputs(concat);
  const std::vector<Output> pieces(in.begin(), in.end() - 1);
  const PartialShape& shape = s.shape(pieces[0]);
  if (!shape.fully_defined()) return false;
  for (const Output& piece : pieces) {
    if (!(s.shape(piece) == shape)) return false;
  }
  const std::optional<int64_t> axis = Axis(s, g.data_inputs(n)[0], shape.rank());
  return axis && axis == Axis(s, in.back(), shape.rank()) && CannotStop(s, pieces) &&
         s.ReplaceOutputs(n, pieces);
}

// Which entry along `axis` StridedSlice n takes, of `size`, if it takes all of what stands before
// and drops the axis; else nullopt.
std::optional<int64_t> EntryTaken(const Sweep& s, NodeId n, int64_t axis, int64_t size) {
  const Graph& g = s.graph();
  const std::optional<Tensor> begin = s.ConstOf(g.data_inputs(n)[1], kMaxRank);
  if (!begin || begin->num_elements() != axis + 1 || axis > 30 || !RestIsConst(s, n) ||
      !s.IsSplat(g.data_inputs(n)[3], 1) || IntAttr(g, n, "ellipsis_mask") != 0 ||
      IntAttr(g, n, "new_axis_mask") != 0 ||
      IntAttr(g, n, "shrink_axis_mask") != int64_t{1} << axis)
    return std::nullopt;
  const int64_t all_before = (int64_t{1} << axis) - 1;
  if ((IntAttr(g, n, "begin_mask") & all_before) != all_before ||
      (IntAttr(g, n, "end_mask") & all_before) != all_before ||
      (IntAttr(g, n, "begin_mask") >> axis & 1) != 0)
    return std::nullopt;
  return IndexOf(begin->IntAt(axis), size);
}

// Pack(x, y)[1] is y.
bool SliceOfPack(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId pack = Producer(s, n, 0, {"Pack"});
  if (pack == kNoNode) return false;
  const std::optional<int64_t> axis = PackAxis(s, pack);
  if (!axis) return false;
  const std::optional<int64_t> entry = EntryTaken(s, n, *axis, g.num_inputs(pack));
  const std::vector<Output> pieces(g.data_inputs(pack).begin(), g.data_inputs(pack).end());
  return entry && CannotStop(s, pieces) && s.ReplaceOutputs(n, {&pieces[*entry], 1});
}

// The piece of ConcatV2 `concat` that begins at `begin` along `axis` and has this shape; -1 if none
// does.
int PieceAt(const Sweep& s, NodeId concat, int64_t axis, int64_t begin, const PartialShape& shape) {
  const std::span<const Output> in = s.graph().data_inputs(concat);
  int64_t at = 0;
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    const PartialShape& piece = s.shape(in[i]);
    if (!piece.fully_defined()) return -1;
    if (at == begin && piece == shape && piece.num_elements() > 0) return static_cast<int>(i);
    at += piece.dim(static_cast<int>(axis));
  }
  return -1;
}

// Slice(Concat(x, y)) that takes just y.
bool SliceOfConcat(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId concat = Producer(s, n, 0, {"ConcatV2"});
  if (concat == kNoNode || g.num_inputs(concat) > kLongestList || !RestIsConst(s, n) ||
      !s.shape({concat, 0}).fully_defined() || !s.shape({n, 0}).fully_defined())
    return false;
  const std::vector<Output> pieces(g.data_inputs(concat).begin(), g.data_inputs(concat).end() - 1);
  const int rank = s.shape({concat, 0}).rank();
  const std::optional<int64_t> axis = Axis(s, g.data_inputs(concat).back(), rank);
  const std::optional<Tensor> begin = s.ConstOf(g.data_inputs(n)[1], kMaxRank);
  if (!axis || !begin || begin->num_elements() != rank) return false;
  const int piece = PieceAt(s, concat, *axis, begin->IntAt(*axis), s.shape({n, 0}));
  return piece >= 0 && CannotStop(s, pieces) && s.ReplaceOutputs(n, {&pieces[piece], 1});
}

constexpr Rewrite kRewrites[] = {
    {"remove_single_element_list", Exactness::kExact, RemoveSingleElementList,
     "AddN ConcatV2 Split"},
    {"unpack_of_pack", Exactness::kExact, UnpackOfPack, "Unpack"},
    {"pack_of_unpack", Exactness::kExact, PackOfUnpack, "Pack"},
    {"concat_of_split", Exactness::kExact, ConcatOfSplit, "ConcatV2"},
    {"merge_concats", Exactness::kExact, MergeConcats, "ConcatV2"},
    {"split_of_concat", Exactness::kExact, SplitOfConcat, "Split"},
    {"slice_of_pack", Exactness::kExact, SliceOfPack, "StridedSlice"},
    {"slice_of_concat", Exactness::kExact, SliceOfConcat, "Slice"},
};

}  // namespace

std::span<const Rewrite> Lists() { return kRewrites; }

}  // namespace tenon::arithmetic
