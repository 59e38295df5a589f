// Concat, Split, Pack and Unpack that undo each other, and slices of what was just put together.
#include <algorithm>
#include <vector>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// Whether SplitV n gives all of what it takes, as one piece, in every run.
bool TakesWhole(const Sweep& s, NodeId n) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  const std::optional<Tensor> sizes = s.ConstOf(in[1], 1);
  const std::optional<int64_t> axis = Axis(s, in[2], s.shape(in[0]).rank());
  if (!axis || !sizes || sizes->shape().rank() != 1 || sizes->num_elements() != 1) return false;
  const int64_t size = sizes->IntAt(0);  // of one piece, -1 is an error
  return size >= 0 && size == s.shape(in[0]).dim(static_cast<int>(*axis));
}

// A sum or a concatenation of one tensor, or a split into one, is that tensor. Where the axis is no
// dimension of it, n stays, and fails as before.
bool RemoveSingleElementList(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  if (g.op_name(n) == "AddN") return in.size() == 1 && s.ReplaceBy(n, in[0]);
  if (g.op_name(n) == "ConcatV2")
    return in.size() == 2 && Axis(s, in[1], s.shape(in[0]).rank()) && s.ReplaceBy(n, in[0]);
  if (g.op_name(n) == "SplitV")
    return g.num_outputs(n) == 1 && TakesWhole(s, n) && s.ReplaceBy(n, in[0]);
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

// Unpack(Pack(x, y)) is x and y. A reader of x also waited for y: y must be sure to come, or an
// error of y, or a dead y, would go unseen.
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

// Concats along one axis that each only the next reads, merged into as few as can be: in one step
// for all, since each that took over the pieces of those before it would copy them once more.
class ConcatTree {
 public:
  // `rank`: of what n gives.
  ConcatTree(Sweep& s, int64_t axis, int rank) : s_(s), g_(s.graph()), axis_(axis), rank_(rank) {}

  // Whether n, or one that it is made of, came to be another.
  bool Merge(NodeId n) {
    open_.push_back({n, {}, 0});
    while (!open_.empty()) {
      Open& top = open_.back();
      if (top.next == g_.num_inputs(top.node) - 1) {
        Close();
      } else if (const NodeId inner = Inner(top.node, top.next++); inner != kNoNode) {
        open_.push_back({inner, {}, 0});
      } else {
        top.parts.push_back({g_.data_inputs(top.node)[top.next - 1], {}});
      }
    }
    return changed_;
  }

  NodeId Inner(NodeId n, int i) const {
    const NodeId inner = OwnProducer(s_, n, i, {"ConcatV2"});
    const bool fits = inner != kNoNode && Axis(s_, g_.data_inputs(inner).back(), rank_) == axis_;
    return fits ? inner : kNoNode;
  }

 private:
  static constexpr size_t kMostPieces = 1024;

  // An input, and the pieces that it is made of if it is one of these concats.
  struct Part {
    Output from;
    std::vector<Output> pieces;
  };
  struct Open {
    NodeId node;
    std::vector<Part> parts;
    int next;
  };

  void Close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    size_t count = 0;
    for (const Part& part : done.parts) count += std::max<size_t>(part.pieces.size(), 1);
    std::vector<Output> pieces;
    if (count <= kMostPieces) {
      pieces = std::move(done.parts[0].pieces);
      if (pieces.empty()) pieces.push_back(done.parts[0].from);
      for (Part& part : std::span(done.parts).subspan(1)) {
        if (part.pieces.empty()) part.pieces.push_back(part.from);
        pieces.insert(pieces.end(), part.pieces.begin(), part.pieces.end());
      }
    } else {
      for (Part& part : done.parts) {
        if (!part.pieces.empty()) Become(part.from.node, std::move(part.pieces));
        pieces.push_back(part.from);
      }
    }
    if (open_.empty()) {
      Become(done.node, std::move(pieces));
    } else {
      open_.back().parts.push_back({{done.node, 0}, std::move(pieces)});
    }
  }

  void Become(NodeId n, std::vector<Output> pieces) {
    const std::span<const Output> in = g_.data_inputs(n);
    if (pieces.size() == in.size() - 1 || !s_.Allow()) return;
    Sweep::Attrs attrs = OpAttrs(g_, n);
    PutAttr(attrs, "N", attr::Int(std::ssize(pieces)));
    pieces.push_back(in.back());
    s_.Become(n, "ConcatV2", pieces, std::move(attrs));
    changed_ = true;
  }

  Sweep& s_;
  const Graph& g_;
  const int64_t axis_;
  const int rank_;
  std::vector<Open> open_;
  bool changed_ = false;
};

// Concat(Concat(x, y), z) is Concat(x, y, z). The last of several does it for all.
bool MergeConcats(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const auto axis_of = [&](NodeId m) {
    const int rank = s.shape({m, 0}).rank();
    return rank < 0 ? std::nullopt : Axis(s, g.data_inputs(m).back(), rank);
  };
  const std::optional<int64_t> axis = axis_of(n);
  if (!axis) return false;
  const std::span<const Fanouts::Use> uses = s.uses_of(n);
  // n's one reader is such a Concat too: that one merges n when the sweep comes to it.
  if (uses.size() == 1 && g.op_name(uses[0].node) == "ConcatV2" && axis_of(uses[0].node) == axis &&
      uses[0].input < g.num_inputs(uses[0].node) - 1 && !s.fed(uses[0].node) &&
      ConcatTree(s, *axis, s.shape({uses[0].node, 0}).rank()).Inner(uses[0].node, uses[0].input) ==
          n)
    return false;
  return ConcatTree(s, *axis, s.shape({n, 0}).rank()).Merge(n);
}

// Split(Concat(x, y)) is x and y, where they are of the size that the split gives. As for
// UnpackOfPack, all pieces must be sure to come.
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

// Pack(x, y)[1] is y, if all pieces are sure to come.
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

constexpr Rewrite kListsRewrites[] = {
    {"remove_single_element_list", Exactness::kExact, RemoveSingleElementList,
     "AddN ConcatV2 Split SplitV"},
    {"unpack_of_pack", Exactness::kExact, UnpackOfPack, "Unpack"},
    {"pack_of_unpack", Exactness::kExact, PackOfUnpack, "Pack"},
    {"concat_of_split", Exactness::kExact, ConcatOfSplit, "ConcatV2"},
    {"merge_concats", Exactness::kExact, MergeConcats, "ConcatV2"},
    {"split_of_concat", Exactness::kExact, SplitOfConcat, "Split"},
    {"slice_of_pack", Exactness::kExact, SliceOfPack, "StridedSlice"},
    {"slice_of_concat", Exactness::kExact, SliceOfConcat, "Slice"},
};

}  // namespace

std::span<const Rewrite> Lists() { return kListsRewrites; }

}  // namespace tenon::arithmetic
