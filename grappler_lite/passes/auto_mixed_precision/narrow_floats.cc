// Products and convolutions in bfloat16 or half and what lies between them too, as TensorFlow
// spreads it over its lists. Results in bfloat16 have about 2 digits: each value is rounded to 8
// bits, a relative error of 2^-9. Those in half have about 3 digits, 11 bits, and end at 65504.
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/auto_mixed_precision/narrow_choice.h"
#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"

namespace tenon {
namespace {

constexpr RewriteInfo kComputeInBfloat16 = {"compute_in_bfloat16", Exactness::kLowPrecision};
constexpr RewriteInfo kComputeInHalf = {"compute_in_half", Exactness::kLowPrecision};
constexpr RewriteInfo kUpdateBatchNorm = {"update_batch_norm", Exactness::kExact};

class NarrowFloats : public Pass {
 public:
  explicit NarrowFloats(DataType narrow) : narrow_(narrow) {}

  std::vector<RewriteInfo> rewrites() const override { return {compute(), kUpdateBatchNorm}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    TENON_ASSIGN_OR_RETURN(const PrecisionLists lists, PrecisionLists::Make());
    if (!HasProduct(context.graph, lists)) return false;
    if (context.target.is_tensorflow() && !context.target.has_onednn())
      return absl::FailedPreconditionError(
          absl::StrCat("TensorFlow computes in ", NarrowName(narrow_),
                       " with oneDNN only: what is written for the target ", context.target.name(),
                       " stays float; tensorflow+onednn is the one for it"));
    const bool updated = UpdateBatchNorms(context);
    const TypeSlots floats(context.graph, DataType::kFloat);
    TENON_ASSIGN_OR_RETURN(NarrowChoice choice, ChooseNarrow(context, lists, floats, narrow_));
    for (NodeId n = 0; n < context.graph.num_node_ids(); ++n) {
      if (!choice.stays[n].empty()) context.Note(n, choice.stays[n]);
    }
    TENON_ASSIGN_OR_RETURN(const bool changed, Change(context, floats, choice));
    return updated || changed;
  }

 private:
  const RewriteInfo& compute() const {
    return narrow_ == DataType::kHalf ? kComputeInHalf : kComputeInBfloat16;
  }

  static bool HasProduct(const Graph& g, const PrecisionLists& lists) {
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (g.alive(n) && lists.Of(g.op_name(n), g.facts(n)) == Precision::kAllow) return true;
    }
    return false;
  }

  // The first version has one type for the images and their statistics.
  static bool UpdateBatchNorms(PassContext& c) {
    Graph& g = c.graph;
    bool changed = false;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n) || c.preserve.contains(n)) continue;
      const std::string_view op = g.op_name(n);
      if (op != "FusedBatchNorm" && op != "FusedBatchNormGrad") continue;
      const std::string second = absl::StrCat(op, "V2");
      NewAttrs attrs = AllAttrs(g, n);
      PutAttr(attrs, "U", attr::Type(DataType::kFloat));
      if (!c.HasKernel(n, second, attrs) || !c.Allow(kUpdateBatchNorm.name, n)) continue;
      g.SetKind(n, second, std::move(attrs));
      changed = true;
    }
    return changed;
  }

  // Changes the chosen types and casts what comes to them and leaves them, once for all that use
  // it.
  absl::StatusOr<bool> Change(PassContext& c, const TypeSlots& floats, NarrowChoice& choice) const {
    Graph& g = c.graph;
    std::vector<bool>& chosen = choice.chosen;
    const bool changed = Ask(c, floats, choice);
    if (!changed) return false;
    const auto is_chosen = [&](int slot) { return slot != TypeSlots::kNone && chosen[slot]; };
    absl::flat_hash_map<Output, NodeId> casts;
    const int32_t size = g.num_node_ids();
    for (NodeId n = 0; n < size; ++n) {
      if (!g.alive(n)) continue;
      for (int i = 0; i < g.num_inputs(n); ++i) {
        const Output from = g.data_inputs(n)[i];
        const bool is = is_chosen(floats.OfOutput(from));
        if (is == is_chosen(floats.OfInput(n, i))) continue;
        auto [cast, is_new] = casts.try_emplace(from, kNoNode);
        if (is_new) {
          TENON_ASSIGN_OR_RETURN(cast->second, AddCast(g, from, is));
        }
        g.SetInput(n, i, {cast->second, 0});
      }
    }
    std::vector<TypeSlot> slots;
    for (NodeId n = 0; n < size; ++n) {
      slots.clear();
      for (int s = floats.begin(n); s < floats.end(n); ++s) {
        if (chosen[s]) slots.push_back(floats.at(s));
      }
      if (slots.empty()) continue;
      g.SetKind(n, g.op_name(n), AttrsWith(g, n, slots, narrow_));
    }
    return true;
  }

  // Leaves chosen what may be changed; whether that is anything.
  bool Ask(PassContext& c, const TypeSlots& floats, NarrowChoice& choice) const {
    bool changed = false;
    absl::flat_hash_map<NodeId, bool> answers;
    for (int s = 0; s < floats.size(); ++s) {
      if (!choice.chosen[s]) continue;
      const NodeId leader = choice.leader[floats.node(s)];
      const auto [answer, is_new] = answers.try_emplace(leader, false);
      // What must change together has one leader and gets one answer. A replay or a bisection could
      // else split a list of tensors or a loop.
      if (is_new) answer->second = c.Allow(compute().name, leader);
      choice.chosen[s] = answer->second;
      changed |= answer->second;
    }
    return changed;
  }

  absl::StatusOr<NodeId> AddCast(Graph& g, Output from, bool to_float) const {
    // TensorFlow's names for these casts.
    const bool half = narrow_ == DataType::kHalf;
    const std::string name = absl::StrCat(g.name(from.node), "-", from.port,
                                          to_float ? "-CastToFp32-AutoMixedPrecision"
                                          : half   ? "-CastToFp16-AutoMixedPrecision"
                                                   : "-CastToBf16-AutoMixedPrecision");
    const DataType source = to_float ? narrow_ : DataType::kFloat;
    const DataType target = to_float ? DataType::kFloat : narrow_;
    return g.AddNode(g.UniqueName(name), "Cast", {&from, 1},
                     {{"SrcT", attr::Type(source)}, {"DstT", attr::Type(target)}},
                     g.device(from.node), g.pos(from.node));
  }

  const DataType narrow_;
};

}  // namespace

std::unique_ptr<Pass> MakeAutoMixedPrecisionBfloat16() {
  return std::make_unique<NarrowFloats>(DataType::kBfloat16);
}
std::unique_ptr<Pass> MakeAutoMixedPrecisionHalf() {
  return std::make_unique<NarrowFloats>(DataType::kHalf);
}

}  // namespace tenon
