// A value is sound if, as far as the exact shape reaches, its elements are those of the exact
// program. Of each op whose operands are sound it is shown that its results are, by what the op
// takes its elements from. An op of which that cannot be shown is faulty, and so is what reads it.

#include "executor/clusters/padding_proof.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "executor/stablehlo/trace.h"

namespace tenon {
namespace {

using stablehlo::OpKind;
using stablehlo::Trace;
using stablehlo::TracedOp;
using stablehlo::TracedValue;
using Numbers = absl::InlinedVector<int64_t, 6>;

constexpr std::string_view kSound;
constexpr std::string_view kOtherOps = "is written in other ops for another size";
constexpr std::string_view kSize = "computes with the size of a padded dimension";
constexpr std::string_view kCombines = "combines the elements along a padded dimension";
constexpr std::string_view kMixes = "mixes a padded dimension with others";
constexpr std::string_view kMoves = "moves elements by the size of a padded dimension";
constexpr std::string_view kStretches = "stretches a dimension that is padded";
constexpr std::string_view kNoRule = "has no rule for padded dimensions";

// A value of both programs.
struct Pair {
  const Shape& exact;
  const Shape& padded;

  int rank() const { return exact.rank(); }
  bool Same(int64_t axis) const {
    const int i = static_cast<int>(axis);
    return exact.dim(i) == padded.dim(i);
  }
  bool Same() const { return exact == padded; }
  int64_t Exact(int axis) const { return exact.dim(axis); }
  int64_t Padded(int axis) const { return padded.dim(axis); }
};

// An op of both programs.
struct OpPair {
  const TracedOp& exact;
  const TracedOp& padded;

  int operands() const { return static_cast<int>(exact.operands.size()); }
  int results() const { return static_cast<int>(exact.results.size()); }
  Pair Operand(int i) const { return {exact.operands[i].shape, padded.operands[i].shape}; }
  Pair Result(int i = 0) const { return {exact.results[i].shape, padded.results[i].shape}; }
  const Numbers& List(size_t i) const { return exact.numbers[i]; }
  bool SameList(size_t i) const { return exact.numbers[i] == padded.numbers[i]; }
  bool SameLists() const { return exact.numbers == padded.numbers; }
};

bool Has(const Numbers& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool SameAlong(const Numbers& axes, const Pair& v) {
  return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) { return v.Same(axis); });
}

// --- Rules: why the results of an op may not be sound though its operands are. What differs in
// neither shapes nor numbers never gets here.

std::string_view Elementwise(const OpPair& op) {
  for (int i = 0; i < op.operands(); ++i) {
    const Pair x = op.Operand(i);
    if (x.rank() == 0) continue;
    if (x.exact != op.Result().exact || x.padded != op.Result().padded) return kNoRule;
  }
  return kSound;
}

std::string_view Broadcast(const OpPair& op) {
  if (!op.SameLists()) return kMixes;
  const Pair x = op.Operand(0), y = op.Result();
  for (int i = 0; i < x.rank(); ++i) {
    const int at = static_cast<int>(op.List(0)[i]);
    // Either the same place of x, or its only one.
    const bool same_place = x.Exact(i) == y.Exact(at) && x.Padded(i) == y.Padded(at);
    if (!same_place && x.Padded(i) != 1) return kStretches;
  }
  return kSound;
}

// Some dimensions of a shape in a row. The elements of the exact one are the first of the padded
// one in C order if only the outermost of those that are not 1 is padded.
struct Group {
  const Pair& shape;
  int begin = 0, end = 0;
  int64_t exact = 1, padded = 1;  // elements

  bool Take() {
    if (end == shape.rank()) return false;
    exact *= shape.Exact(end);
    padded *= shape.Padded(end);
    ++end;
    return true;
  }
  void Next() {
    begin = end;
    exact = padded = 1;
  }
  bool IsLeading() const {
    bool outer_are_one = true;
    for (int i = begin; i < end; ++i) {
      if (!shape.Same(i) && !outer_are_one) return false;
      outer_are_one &= shape.Exact(i) == 1 && shape.Padded(i) == 1;
    }
    return true;
  }
};

// Dimensions are taken from both sides until their products agree, in the exact program and in the
// padded one: the reshape is then one of such groups.
std::string_view Reshape(const OpPair& op) {
  const Pair x = op.Operand(0), y = op.Result();
  Group from{x}, to{y};
  while (from.end < x.rank() || to.end < y.rank()) {
    if (!from.Take()) to.Take();
    while (from.exact != to.exact || from.padded != to.padded) {
      const bool from_is_less =
          from.padded != to.padded ? from.padded < to.padded : from.exact < to.exact;
      if (!(from_is_less ? from : to).Take()) return kMixes;
    }
    if (!from.IsLeading() || !to.IsLeading()) return kMixes;
    from.Next();
    to.Next();
  }
  return kSound;
}

std::string_view Concat(const OpPair& op) {
  if (!op.SameLists()) return kMixes;
  // What stands behind a padded part would move.
  for (int i = 0; i + 1 < op.operands(); ++i) {
    if (!op.Operand(i).Same(op.List(0)[0])) return kMoves;
  }
  return kSound;
}

std::string_view DynamicSlice(const OpPair& op) {
  const Pair x = op.Operand(0);
  for (int i = 0; i < x.rank(); ++i) {
    // Starts are clamped by sizes; a slice of the whole dimension starts at 0.
    const int64_t exact = op.exact.numbers[0][i], padded = op.padded.numbers[0][i];
    const bool whole = exact == x.Exact(i) && padded == x.Padded(i);
    if (!whole && !(x.Same(i) && exact == padded)) return kMoves;
  }
  return kSound;
}

std::string_view DynamicUpdate(const OpPair& op) {
  const Pair x = op.Operand(0), update = op.Operand(1);
  for (int i = 0; i < x.rank(); ++i) {
    const bool whole = update.Exact(i) == x.Exact(i) && update.Padded(i) == x.Padded(i);
    if (!whole && !(x.Same(i) && update.Same(i))) return kMoves;
  }
  return kSound;
}

std::string_view Pad(const OpPair& op) {
  if (!op.SameLists()) return kMoves;
  const Pair x = op.Operand(0), y = op.Result();
  for (int i = 0; i < x.rank(); ++i) {
    if (x.Same(i)) continue;
    // The exact result must end with elements of x, not with the filler.
    const int64_t last = op.List(0)[i] + (x.Exact(i) - 1) * (op.List(1)[i] + 1);
    if (y.Exact(i) > last + 1) return kMoves;
  }
  return kSound;
}

std::string_view Reduce(const OpPair& op) {
  if (!op.SameLists()) return kCombines;
  for (int i = 0; i < op.operands(); ++i) {
    const Pair x = op.Operand(i);
    if (x.rank() > 0 && !SameAlong(op.List(0), x)) return kCombines;
  }
  return kSound;
}

std::string_view Windows(const OpPair& op) {
  if (!op.SameLists()) return kCombines;
  const Pair x = op.Operand(0);
  for (int i = 0; i < x.rank(); ++i) {
    if (x.Same(i)) continue;
    const Numbers& dilation = op.List(4);
    const bool single = op.List(0)[i] == 1 && op.List(1)[i] == 1 && op.List(2)[i] == 0 &&
                        op.List(3)[i] == 0 && (dilation.empty() || dilation[i] == 1);
    if (!single) return kCombines;
  }
  return kSound;
}

std::string_view Sort(const OpPair& op) {
  for (int i = 0; i < op.operands(); ++i) {
    if (!SameAlong(op.List(0), op.Operand(i))) return kCombines;
  }
  return op.SameLists() ? kSound : kCombines;
}

std::string_view Dot(const OpPair& op) {
  const bool sound = op.SameLists() && SameAlong(op.List(2), op.Operand(0)) &&
                     SameAlong(op.List(3), op.Operand(1));
  return sound ? kSound : kCombines;
}

std::string_view Convolution(const OpPair& op) {
  if (!op.SameLists() || op.List(2)[0] != 1 || !op.Operand(1).Same()) return kCombines;
  const auto only_batch = [](const Pair& v, int64_t batch) {
    for (int i = 0; i < v.rank(); ++i) {
      if (i != batch && !v.Same(i)) return false;
    }
    return true;
  };
  const bool sound =
      only_batch(op.Operand(0), op.List(0)[0]) && only_batch(op.Result(), op.List(1)[0]);
  return sound ? kSound : kCombines;
}

std::string_view Gather(const OpPair& op) {
  const Pair x = op.Operand(0), indices = op.Operand(1);
  for (const size_t list : {0, 1, 2, 4}) {
    if (!op.SameList(list)) return kMoves;
  }
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t exact = op.exact.numbers[3][i], padded = op.padded.numbers[3][i];
    if (x.Same(i)) {
      if (exact != padded) return kMoves;
      continue;
    }
    // Indices are clamped by the size of the dimension.
    const bool whole = exact == x.Exact(i) && padded == x.Padded(i);
    if (!whole || Has(op.List(1), i) || Has(op.List(2), i)) return kMoves;
  }
  const int64_t vector_dim = op.List(4)[0];
  return vector_dim >= indices.rank() || indices.Same(vector_dim) ? kSound : kMoves;
}

std::string_view LastAxes(const OpPair& op) {
  if (!op.SameLists()) return kCombines;
  const auto same_last = [&](const Pair& v) {
    for (int i = std::max(0, v.rank() - static_cast<int>(op.List(0)[0])); i < v.rank(); ++i) {
      if (!v.Same(i)) return false;
    }
    return true;
  };
  for (int i = 0; i < op.operands(); ++i) {
    if (!same_last(op.Operand(i))) return kCombines;
  }
  return same_last(op.Result()) ? kSound : kCombines;
}

std::string_view Judge(const OpPair& op) {
  switch (op.exact.kind) {
    case OpKind::kSplat:
    case OpKind::kRegions:
    case OpKind::kReturn:
      return kSound;
    case OpKind::kConstant:
      return kSize;
    case OpKind::kIota:
    case OpKind::kTranspose:
      return op.SameLists() ? kSound : kMixes;
    case OpKind::kElementwise:
      return Elementwise(op);
    case OpKind::kBroadcast:
      return Broadcast(op);
    case OpKind::kReshape:
      return Reshape(op);
    case OpKind::kReverse:
      return op.SameLists() && SameAlong(op.List(0), op.Operand(0)) ? kSound : kMoves;
    case OpKind::kConcat:
      return Concat(op);
    case OpKind::kSlice:
      return op.SameLists() ? kSound : kMoves;
    case OpKind::kDynamicSlice:
      return DynamicSlice(op);
    case OpKind::kDynamicUpdate:
      return DynamicUpdate(op);
    case OpKind::kPad:
      return Pad(op);
    case OpKind::kReduce:
      return Reduce(op);
    case OpKind::kWindow:
      return Windows(op);
    case OpKind::kSort:
      return Sort(op);
    case OpKind::kDot:
      return Dot(op);
    case OpKind::kConvolution:
      return Convolution(op);
    case OpKind::kGather:
      return Gather(op);
    case OpKind::kLastAxes:
      return LastAxes(op);
    case OpKind::kOther:
      return kNoRule;
  }
  return kNoRule;
}

bool SameNames(const std::vector<TracedValue>& a, const std::vector<TracedValue>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TracedValue& x, const TracedValue& y) {
                      return x.from == y.from && x.id == y.id && x.dtype == y.dtype &&
                             x.shape.rank() == y.shape.rank();
                    });
}

bool SameShapes(const std::vector<TracedValue>& a, const std::vector<TracedValue>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TracedValue& x, const TracedValue& y) { return x.shape == y.shape; });
}

// Whether no dimension of `a` is larger than that of `b`.
bool Within(const std::vector<TracedValue>& a, const std::vector<TracedValue>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (int axis = 0; axis < a[i].shape.rank(); ++axis) {
      if (a[i].shape.dim(axis) > b[i].shape.dim(axis)) return false;
    }
  }
  return true;
}

bool HasRegion(OpKind kind) {
  return kind == OpKind::kReduce || kind == OpKind::kWindow || kind == OpKind::kSort ||
         kind == OpKind::kRegions || kind == OpKind::kOther;
}

bool SameWeight(const stablehlo::Parameter& a, const stablehlo::Parameter& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (a.weight != kNoNode || b.weight != kNoNode) return a.weight == b.weight;
  return std::memcmp(a.value.data(), b.value.data(), a.value.bytes()) == 0;
}

constexpr int kNone = -1;  // in the place of a fault's number

class Proof {
 public:
  Proof(const stablehlo::Program& exact, const stablehlo::Program& padded)
      : exact_(exact), padded_(padded) {}

  std::optional<PaddingFault> Run() {
    const Trace &exact = *exact_.trace, &padded = *padded_.trace;
    if (exact.ops.size() != padded.ops.size() || !SameNames(exact.results, padded.results) ||
        !LookAtWeights())
      return PaddingFault{FirstOtherNode(), kOtherOps};
    for (size_t i = 0; i < exact.ops.size(); ++i) {
      const OpPair op{exact.ops[i], padded.ops[i]};
      if (!IsAligned(op)) return PaddingFault{op.exact.node, kOtherOps};
      Note(op, FaultOf(op));
    }
    const size_t num_results = exact.results.size() - exact_.checks.size();
    for (size_t i = 0; i < exact.results.size(); ++i) {
      const int fault = FaultOf(exact.results[i]);
      const bool is_flag = i >= num_results && exact.results[i].from == TracedValue::From::kOp;
      if (fault != kNone && !(is_flag && Conjunction(exact.results[i].id))) return faults_[fault];
    }
    if (!Within(exact.results, padded.results)) return PaddingFault{kNoNode, kOtherOps};
    return std::nullopt;
  }

 private:
  bool IsAligned(const OpPair& op) const {
    return op.exact.kind == op.padded.kind && op.exact.node == op.padded.node &&
           op.exact.depth == op.padded.depth && SameNames(op.exact.operands, op.padded.operands) &&
           SameNames(op.exact.results, op.padded.results) &&
           op.exact.numbers.size() == op.padded.numbers.size();
  }

  NodeId FirstOtherNode() const {
    const Trace &exact = *exact_.trace, &padded = *padded_.trace;
    for (size_t i = 0; i < std::min(exact.ops.size(), padded.ops.size()); ++i) {
      if (!IsAligned({exact.ops[i], padded.ops[i]})) return exact.ops[i].node;
    }
    return kNoNode;
  }

  // Returns whether both programs have as many weights.
  bool LookAtWeights() {
    const auto weights_of = [](const stablehlo::Program& program) {
      std::vector<const stablehlo::Parameter*> weights;
      for (const stablehlo::Parameter& p : program.parameters) {
        if (p.argument < 0) weights.push_back(&p);
      }
      return weights;
    };
    const auto exact = weights_of(exact_), padded = weights_of(padded_);
    if (exact.size() != padded.size()) return false;
    for (size_t i = 0; i < exact.size(); ++i) {
      weights_.push_back(SameWeight(*exact[i], *padded[i]) ? kNone
                                                           : NewFault(exact[i]->weight, kSize));
    }
    return true;
  }

  int NewFault(NodeId node, std::string_view why) {
    faults_.push_back({node, why});
    return static_cast<int>(faults_.size()) - 1;
  }

  int FaultOf(const TracedValue& v) const {
    const std::vector<int>& faults = v.from == TracedValue::From::kWeight ? weights_ : values_;
    if (v.from == TracedValue::From::kArgument) return kNone;
    return static_cast<size_t>(v.id) < faults.size() ? faults[v.id] : kNone;
  }

  // The fault of the op's results: of what it reads, of its regions, or its own.
  int FaultOf(const OpPair& op) {
    for (const TracedValue& v : op.exact.operands) {
      if (const int fault = FaultOf(v); fault != kNone) return fault;
    }
    if (HasRegion(op.exact.kind)) {
      if (const int fault = RegionFault(op.exact.depth); fault != kNone) return fault;
    }
    const bool same = SameShapes(op.exact.operands, op.padded.operands) &&
                      SameShapes(op.exact.results, op.padded.results) && op.SameLists();
    std::string_view why;
    if (op.exact.what != op.padded.what) {
      why = kSize;
    } else if (!same) {
      why = Judge(op);
      if (why.empty() && !Within(op.exact.results, op.padded.results)) why = kNoRule;
      if (why == kCombines && op.exact.kind == OpKind::kReduce && op.exact.what == "and")
        conjunctions_.push_back(op.exact.results[0].id);
    }
    return why.empty() ? kNone : NewFault(op.exact.node, why);
  }

  void Note(const OpPair& op, int fault) {
    if (fault == kNone) return;
    for (const TracedValue& v : op.exact.results) {
      if (values_.size() <= static_cast<size_t>(v.id)) values_.resize(v.id + 1, kNone);
      values_[v.id] = fault;
    }
    const auto depth = static_cast<size_t>(op.exact.depth);
    if (regions_.size() <= depth) regions_.resize(depth + 1, kNone);
    if (regions_[depth] == kNone) regions_[depth] = fault;
  }

  // A fault in a region of an op of this depth. Which op a region belongs to is not known: a fault
  // counts for all that follow.
  int RegionFault(int depth) const {
    for (size_t i = static_cast<size_t>(depth) + 1; i < regions_.size(); ++i) {
      if (regions_[i] != kNone) return regions_[i];
    }
    return kNone;
  }

  // Whether the value is true only if all elements of a sound one are.
  bool Conjunction(int32_t id) const {
    return std::find(conjunctions_.begin(), conjunctions_.end(), id) != conjunctions_.end();
  }

  const stablehlo::Program &exact_, &padded_;
  std::vector<PaddingFault> faults_;
  // The numbers of faults: of values by id, of weights, of ops by depth.
  std::vector<int> values_, weights_, regions_;
  std::vector<int32_t> conjunctions_;
};

}  // namespace

std::optional<PaddingFault> FindPaddingFault(const stablehlo::Program& exact,
                                             const stablehlo::Program& padded) {
  return Proof(exact, padded).Run();
}

}  // namespace tenon
