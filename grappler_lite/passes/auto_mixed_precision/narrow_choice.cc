// A colouring of type slots in the steps of TensorFlow's auto_mixed_precision: products are
// allowed, what is unsafe is denied, and both spread along edges through ops that take any type.
// The order counts: each step sees the marks of the steps before.

#include "grappler_lite/passes/auto_mixed_precision/narrow_choice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/auto_mixed_precision/flow.h"
#include "grappler_lite/passes/auto_mixed_precision/joined_sets.h"
#include "grappler_lite/passes/auto_mixed_precision/tensor_lists.h"

namespace tenon {
namespace {

constexpr int kNone = TypeSlots::kNone;

class NarrowChooser {
 public:
  NarrowChooser(const PassContext& context, const PrecisionLists& lists, const TypeSlots& floats,
                DataType narrow)
      : c_(context),
        g_(context.graph),
        narrow_(narrow),
        floats_(floats),
        handles_(g_, DataType::kVariant),
        flow_(g_, floats_, handles_),
        precision_(g_.num_node_ids(), Precision::kNone),
        can_(flow_.NoMarks()),
        allow_(flow_.NoMarks()),
        deny_(flow_.NoMarks()) {
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (g_.alive(n)) precision_[n] = lists.Of(g_.op_name(n), g_.facts(n));
    }
  }

  absl::StatusOr<NarrowChoice> Run() {
    TENON_RETURN_IF_ERROR(StartAtProducts());
    lists_ = FindTensorLists(g_, floats_, handles_, [&](NodeId n) { return Follows(n); });
    Deny();
    MatchLists();
    AllowBetween();
    TENON_RETURN_IF_ERROR(AllowFollowers());
    flow_.Spread(allow_, Flow::kBoth, [&](int s) {
      return May(s) && Is(s, Precision::kClear) && !ReadsReference(g_, floats_.node(s));
    });
    MatchLists();
    DropWithoutKernel();
    MatchLoops();
    ChangeCasts();
    // The marks behind the floats are those of handles, which only the flow needs.
    allow_.resize(floats_.size());
    std::vector<std::string> stays = Reasons();
    return NarrowChoice{std::move(allow_), Leaders(), std::move(stays)};
  }

 private:
  bool Is(int slot, Precision p) const { return precision_[floats_.node(slot)] == p; }
  bool May(int slot) const { return can_[slot] && !deny_[slot]; }

  bool HasKernel(NodeId n, absl::Span<const TypeSlot> slots) const {
    return c_.HasKernel(n, g_.op_name(n), AttrsWith(g_, n, slots, narrow_));
  }
  bool HasCasts(NodeId n) const {
    const auto has = [&](DataType from, DataType to) {
      return c_.HasKernel(n, "Cast", {{"SrcT", attr::Type(from)}, {"DstT", attr::Type(to)}});
    };
    return has(DataType::kFloat, narrow_) && has(narrow_, DataType::kFloat);
  }
  // Whether the node may be changed there, and its device can compute it.
  bool CanCompute(int slot) const {
    const NodeId n = floats_.node(slot);
    return !floats_.at(slot).attr.empty() && !c_.preserve.contains(n) &&
           HasKernel(n, {&floats_.at(slot), 1}) && HasCasts(n) && ConstantsFit(n);
  }

  // Whether no constant that n reads becomes infinite in the narrow type. Bfloat16 has float's
  // range.
  bool ConstantsFit(NodeId n) const {
    if (narrow_ != DataType::kHalf) return true;
    return std::ranges::all_of(g_.data_inputs(n), [&](const Output& from) {
      return g_.op_name(from.node) != "Const" || floats_.OfOutput(from) == kNone ||
             ConstFits(from.node);
    });
  }
  bool ConstFits(NodeId n) const {
    constexpr float kLargestHalf = 65504;
    const auto [known, is_new] = fits_.try_emplace(n, true);
    if (!is_new) return known->second;
    const absl::StatusOr<Tensor> tensor = g_.ConstValue(n);
    if (!tensor.ok()) return known->second;
    const char* const values = static_cast<const char*>(tensor->data());  // at any alignment
    for (int64_t i = 0; i < tensor->num_elements(); ++i) {
      float x;
      std::memcpy(&x, values + i * sizeof(x), sizeof(x));
      if (std::isfinite(x) && std::abs(x) > kLargestHalf) known->second = false;
    }
    return known->second;
  }

  absl::Status StartAtProducts() {
    NodeId refused = kNoNode;
    bool any = false;
    for (int s = 0; s < floats_.size(); ++s) {
      const NodeId n = floats_.node(s);
      if (precision_[n] == Precision::kNone && !g_.facts(n).tensor_list) continue;
      // A list may be long: its first type speaks for all, until it is known which will change.
      const bool in_list = s > floats_.begin(n) && floats_.at(s).index != TypeSlot::kNoList &&
                           floats_.at(s).attr == floats_.at(s - 1).attr;
      can_[s] = in_list ? can_[s - 1] : CanCompute(s);
      if (!Is(s, Precision::kAllow) || c_.preserve.contains(n)) continue;
      allow_[s] = can_[s];
      any |= can_[s];
      // Floats of a fixed type and constants beyond the range are no fault of the device.
      if (!can_[s] && !floats_.at(s).attr.empty() && ConstantsFit(n)) refused = n;
    }
    if (any || refused == kNoNode) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the device of node '", g_.name(refused), "' has no ", NarrowName(narrow_),
                     " kernel for ", g_.op_name(refused), ", nor any device for another product"));
  }

  // Whether all that n does to the handle of a list is known.
  bool Follows(NodeId n) const {
    if (!g_.facts(n).tensor_list) {
      return !c_.preserve.contains(n) && precision_[n] != Precision::kNone &&
             precision_[n] != Precision::kDeny;
    }
    for (int i = 0; c_.preserve.contains(n) && i < g_.num_outputs(n); ++i) {
      if (handles_.OfOutput({n, i}) != kNone) return false;
    }
    return true;
  }

  // What is unsafe, and what follows it before the next safe op; lists that cannot change.
  void Deny() {
    Flow::Marks before = flow_.NoMarks(), stay = flow_.NoMarks();
    for (const TensorList& list : lists_) {
      const bool stays =
          list.leaves || !std::ranges::all_of(list.elements, [&](int s) { return can_[s]; });
      for (int s : list.elements) stay[s] = stays;
    }
    for (int s = 0; s < floats_.size(); ++s) {
      deny_[s] = Is(s, Precision::kDeny);
      before[s] = deny_[s] || Is(s, Precision::kInfer);
    }
    flow_.Spread(before, Flow::kInputs, [&](int s) { return Is(s, Precision::kClear); });
    flow_.Spread(deny_, Flow::kOutputs, [&](int s) { return before[s] && !stay[s]; });
    for (int s = 0; s < floats_.size(); ++s) deny_[s] = deny_[s] || stay[s];
  }

  // One element that is unsafe makes the list so; else one that is worth it brings all.
  void MatchLists() {
    for (const TensorList& list : lists_) {
      const bool deny = std::ranges::any_of(list.elements, [&](int s) { return deny_[s]; });
      const bool allow = std::ranges::any_of(list.elements, [&](int s) { return allow_[s]; });
      if (!deny && !allow) continue;
      for (int s : list.elements) {
        deny_[s] = deny;
        allow_[s] = !deny;
      }
    }
  }

  // What lies between two products.
  void AllowBetween() {
    Flow::Marks behind = allow_;
    flow_.Spread(behind, Flow::kOutputs, [&](int s) {
      return May(s) && (Is(s, Precision::kInfer) || Is(s, Precision::kClear));
    });
    flow_.Spread(allow_, Flow::kInputs, [&](int s) { return behind[s]; });
  }

  // What follows a product at once, or another follower: it may be fused into it.
  absl::Status AllowFollowers() {
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g_));
    for (NodeId n : order) {
      if (precision_[n] != Precision::kInfer) continue;
      for (int s = floats_.begin(n); s < floats_.end(n); ++s) {
        if (allow_[s] || !May(s)) continue;
        bool any = false, denied = false;
        for (int from : flow_.sources(s)) {
          if (from >= floats_.size()) continue;
          any |= allow_[from];
          denied |= deny_[from];
        }
        allow_[s] = any && !denied;
      }
    }
    return absl::OkStatus();
  }

  // Nodes of several types whose kernels do not know them together.
  void DropWithoutKernel() {
    std::vector<TypeSlot> slots;
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      slots.clear();
      for (int s = floats_.begin(n); s < floats_.end(n); ++s) {
        if (allow_[s]) slots.push_back(floats_.at(s));
      }
      if (slots.size() < 2 || HasKernel(n, slots)) continue;
      for (int s = floats_.begin(n); s < floats_.end(n); ++s) allow_[s] = false;
    }
  }

  // Nothing may stand between a variable of a loop and what it begins with, or goes on with in the
  // next pass.
  template <typename Visit>
  void ForEachLoopEdge(Visit visit) const {
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n) || !IsMerge(g_.facts(n))) continue;
      if (std::ranges::none_of(g_.data_inputs(n), [&](const Output& from) {
            return IsNextIteration(g_.facts(from.node));
          }))
        continue;
      for (int i = 0; i < g_.num_inputs(n); ++i) {
        Output from = g_.data_inputs(n)[i];
        int to = floats_.OfInput(n, i);
        while (to != kNone && floats_.OfOutput(from) != kNone) {
          visit(floats_.OfOutput(from), to);
          if (g_.op_name(from.node) != "Identity") break;
          to = floats_.OfInput(from.node, 0);
          from = g_.data_inputs(from.node)[0];
        }
      }
    }
  }
  // The Merge decides, if all others can follow.
  void MatchLoops() {
    JoinedSets sets(floats_.size());
    Flow::Marks member = flow_.NoMarks(), stays = flow_.NoMarks();
    ForEachLoopEdge([&](int from, int to) {
      sets.Join(from, to);
      member[from] = member[to] = true;
    });
    for (int s = 0; s < floats_.size(); ++s) {
      const bool changes = IsMerge(g_.facts(floats_.node(s))) ? allow_[s] : can_[s];
      if (member[s] && !changes) stays[sets.Of(s)] = true;
    }
    for (int s = 0; s < floats_.size(); ++s) {
      if (member[s]) allow_[s] = !stays[sets.Of(s)];
    }
  }

  // A Cast to float becomes one to the narrow type if nothing else is asked of it.
  void ChangeCasts() {
    Flow::Marks used = flow_.NoMarks(), asked_as_float = flow_.NoMarks();
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n)) continue;
      for (int i = 0; i < g_.num_inputs(n); ++i) {
        const int from = floats_.OfOutput(g_.data_inputs(n)[i]);
        if (from == kNone) continue;
        const int to = floats_.OfInput(n, i);
        used[from] = true;
        if (to == kNone || !allow_[to]) asked_as_float[from] = true;
      }
    }
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n) || g_.op_name(n) != "Cast") continue;
      const int s = floats_.Find(n, "DstT");
      if (s != kNone && used[s] && !asked_as_float[s] && CanCompute(s)) allow_[s] = true;
    }
  }

  // For each node with a float that stays, why.
  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons(g_.num_node_ids());
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n) || g_.op_name(n) == "Const") continue;
      int stays = kNone;
      for (int s = floats_.begin(n); s < floats_.end(n) && stays == kNone; ++s) {
        if (!allow_[s]) stays = s;
      }
      if (stays != kNone) reasons[n] = ReasonOf(stays);
    }
    return reasons;
  }
  std::string ReasonOf(int slot) const {
    const NodeId n = floats_.node(slot);
    const std::string_view op = g_.op_name(n);
    if (c_.preserve.contains(n)) return "it is fed, fetched or marked to stay";
    if (floats_.at(slot).attr.empty()) return absl::StrCat(op, " has floats of a fixed type");
    if (precision_[n] == Precision::kNone && !g_.facts(n).tensor_list)
      return absl::StrCat(op, " is on no list of mixed precision");
    if (precision_[n] == Precision::kDeny) return absl::StrCat(op, " is on the deny list");
    if (!ConstantsFit(n))
      return absl::StrCat("it reads a constant beyond the range of ", NarrowName(narrow_));
    if (!can_[slot])
      return absl::StrCat("its device has no ", NarrowName(narrow_), " kernel for ", op);
    if (deny_[slot]) return "it stands by an op that is on the deny list";
    if (precision_[n] == Precision::kAllow)
      return "a list of tensors or a loop that it belongs to stays float";
    return "it neither follows a product nor lies between two";
  }

  std::vector<NodeId> Leaders() const {
    JoinedSets sets(g_.num_node_ids());
    for (const TensorList& list : lists_) {
      for (int s : list.elements) sets.Join(floats_.node(list.elements[0]), floats_.node(s));
    }
    ForEachLoopEdge([&](int from, int to) { sets.Join(floats_.node(from), floats_.node(to)); });
    std::vector<NodeId> leaders(g_.num_node_ids());
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) leaders[n] = sets.Of(n);
    return leaders;
  }

  const PassContext& c_;
  const Graph& g_;
  const DataType narrow_;
  const TypeSlots& floats_;
  const TypeSlots handles_;
  const Flow flow_;
  std::vector<Precision> precision_;  // by node
  std::vector<TensorList> lists_;
  // By slot: may be changed; to become narrow; unsafe.
  Flow::Marks can_, allow_, deny_;
  mutable absl::flat_hash_map<NodeId, bool> fits_;  // of constants
};

}  // namespace

std::string_view NarrowName(DataType narrow) {
  return narrow == DataType::kHalf ? "half" : "bfloat16";
}

absl::StatusOr<NarrowChoice> ChooseNarrow(const PassContext& context, const PrecisionLists& lists,
                                          const TypeSlots& floats, DataType narrow) {
  return NarrowChooser(context, lists, floats, narrow).Run();
}

}  // namespace tenon
