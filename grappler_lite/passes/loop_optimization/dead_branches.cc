// Branches that are never taken, and loops that never run.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/loop_optimization/loop_optimization.h"
#include "grappler_lite/pipeline/known_values.h"

namespace tenon {
namespace {

constexpr size_t kMaxConditionBytes = 1024;

class DeadBranches {
 public:
  explicit DeadBranches(PassContext& context)
      : c_(context),
        g_(context.graph),
        fanouts_(g_),
        dead_(g_.num_node_ids(), false),
        dead_inputs_(g_.num_node_ids(), 0) {}

  bool Run() {
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n) || !IsDecidable(n) || dead_[n] || c_.preserve.contains(n) || !c_.Visit())
        continue;
      const std::optional<bool> predicate = PredicateOf(n);
      if (predicate && MayBeIdentity(n)) Decide(n, *predicate);
    }
    if (decided_.empty()) return false;
    for (const Decision& decision : decided_) TurnIntoIdentity(decision);
    for (NodeId n = 0, end = g_.num_node_ids(); n < end; ++n) {
      if (g_.alive(n) && !dead_[n] && dead_inputs_[n] > 0) NarrowMerge(n);
    }
    for (NodeId n = 0, end = g_.num_node_ids(); n < end; ++n) {
      if (dead_[n]) g_.RemoveNode(n);
    }
    RemoveDeadLoops();
    return true;
  }

 private:
  struct Decision {
    NodeId node;
    bool predicate;
  };
  using Edge = std::pair<NodeId, int32_t>;  // a Merge and the index of its input

  bool IsDecidable(NodeId n) const { return OpIs(g_, n, {"Switch", "RefSwitch"}); }

  std::string_view IdentityFor(NodeId n) const {
    return g_.op_name(n).starts_with("Ref") ? "RefIdentity" : "Identity";
  }
  NewAttrs IdentityAttrs(NodeId n) const {
    return {{"T", attr::Type(BaseType(g_.input_type(n, 0)))}};
  }
  bool MayBeIdentity(NodeId n) const { return c_.HasKernel(n, IdentityFor(n), IdentityAttrs(n)); }

  // Where the predicate comes from, past nodes that pass it on within its frame.
  Output SourceOfPredicate(NodeId n) const {
    Output source = g_.data_inputs(n)[1];
    while ((g_.facts(source.node).identity || g_.op_name(source.node) == "LoopCond") &&
           !c_.feeds.contains(source.node) && g_.control_inputs(source.node).empty())
      source = g_.data_inputs(source.node)[0];
    return source;
  }

  std::optional<bool> PredicateOf(NodeId n) const {
    const Output condition = SourceOfPredicate(n);
    if (g_.op_name(g_.data_inputs(n)[1].node) == "LoopCond" && NeverStarts(condition)) return false;
    NodeId source = condition.node;
    while (IsEnter(g_.facts(source)) && !c_.feeds.contains(source))
      source = g_.data_inputs(source)[0].node;
    if (g_.op_name(source) != "Const" || c_.feeds.contains(source)) return std::nullopt;
    const absl::StatusOr<Tensor> value = g_.ConstValue(source);
    return value.ok() && value->dtype() == DataType::kBool ? Truth(*value) : std::nullopt;
  }

  // What a loop finds here in its first iteration, if that is a constant.
  std::optional<Tensor> FirstValue(Output o) const {
    bool in_frame = true;
    while (!c_.feeds.contains(o.node)) {
      const std::string_view op = g_.op_name(o.node);
      if (op == "Const") {
        absl::StatusOr<Tensor> value = g_.ConstValue(o.node);
        return value.ok() ? std::optional<Tensor>(*std::move(value)) : std::nullopt;
      }
      // Input 0 of a loop's Merge is the value of the first iteration, input 1 the value that comes
      // round.
      const bool is_entry = in_frame && op == "Merge" && o.port == 0 &&
                            g_.num_inputs(o.node) == 2 &&
                            IsNextIteration(g_.facts(g_.data_inputs(o.node)[1].node));
      const OpFacts& facts = g_.facts(o.node);
      if (!is_entry && !IsEnter(facts) && !facts.identity) return std::nullopt;
      in_frame &= !IsEnter(facts);
      o = g_.data_inputs(o.node)[0];
    }
    return std::nullopt;
  }

  // Whether the condition of a loop, computed from constants alone, is false at first.
  bool NeverStarts(Output condition) const {
    const NodeId n = condition.node;
    if (c_.feeds.contains(n) || NeverFolds(g_, n) || g_.facts(n).identity) return false;
    std::vector<Tensor> inputs;
    for (const Output& in : g_.data_inputs(n)) {
      std::optional<Tensor> value = FirstValue(in);
      if (!value || value->num_elements() != 1) return false;
      inputs.push_back(*std::move(value));
    }
    const absl::StatusOr<std::vector<Tensor>> answer =
        c_.evaluator.Evaluate(g_, n, inputs, kMaxConditionBytes);
    return answer.ok() && Truth((*answer)[condition.port]) == false;
  }

  // Marks what is dead when this Switch never has its other output. Nothing is dead if something
  // that must stay would be.
  void Decide(NodeId n, bool predicate) {
    std::vector<NodeId> newly_dead;
    std::vector<Edge> edges;
    bool possible = true;
    const auto visit_uses = [&](NodeId m, std::optional<int32_t> port) {
      for (const Fanouts::Use& use : fanouts_.of(m)) {
        if ((port && use.port != *port) || dead_[use.node]) continue;
        const bool is_merge = IsMerge(g_.facts(use.node));
        if (c_.feeds.contains(use.node) || (is_merge && !MayNarrow(use))) {
          possible = false;
          return;
        }
        if (is_merge) {
          edges.push_back({use.node, use.input});
          dead_edges_.insert(edges.back());
          if (++dead_inputs_[use.node] < g_.num_inputs(use.node) && !IsLoopEntry(use)) continue;
        }
        if (c_.preserve.contains(use.node)) possible = false;
        dead_[use.node] = true;
        newly_dead.push_back(use.node);
      }
    };
    visit_uses(n, predicate ? 0 : 1);
    for (size_t next = 0; possible && next < newly_dead.size(); ++next)
      visit_uses(newly_dead[next], std::nullopt);
    if (possible && c_.Allow(kRemoveDeadBranch.name, n)) {
      decided_.push_back({n, predicate});
      return;
    }
    for (NodeId m : newly_dead) dead_[m] = false;
    for (const Edge& edge : edges) {
      --dead_inputs_[edge.first];
      dead_edges_.erase(edge);
    }
  }

  // Without a first iteration there is no second one.
  bool IsLoopEntry(const Fanouts::Use& use) const {
    const auto comes_round = [this](const Output& in) {
      return IsNextIteration(g_.facts(in.node));
    };
    const std::span<const Output> data = g_.data_inputs(use.node);
    return !comes_round(data[use.input]) && std::any_of(data.begin(), data.end(), comes_round);
  }

  // Which input a Merge took is another number when it has fewer.
  bool MayNarrow(const Fanouts::Use& use) const {
    const NodeId n = use.node;
    if (use.port == kControlPort || g_.op_name(n) != "Merge") return false;
    const auto is_index = [n](const Output& o) { return o == Output{n, 1}; };
    const std::span<const Fanouts::Use> uses = fanouts_.of(n);
    return std::none_of(c_.fetches.begin(), c_.fetches.end(), is_index) &&
           std::none_of(uses.begin(), uses.end(),
                        [](const Fanouts::Use& u) { return u.port == 1; }) &&
           MayBeIdentity(n);
  }

  void TurnIntoIdentity(const Decision& decision) {
    const NodeId n = decision.node;
    if (dead_[n]) return;
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      if (use.port == 1 && !dead_[use.node]) g_.SetInput(use.node, use.input, {n, 0});
    }
    const NodeId source = SourceOfPredicate(n).node;
    const Output data = g_.data_inputs(n)[0];
    const std::vector<Output> controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
    if (g_.op_name(g_.data_inputs(n)[1].node) == "LoopCond") ended_loops_.push_back(n);
    g_.BecomeOp(n, IdentityFor(n), IdentityAttrs(n));
    g_.SetInputs(n, {&data, 1}, controls);
    // n waited for its predicate, which may fail.
    if (!g_.inputs(source).empty()) g_.AddControlInput(n, source);
  }

  void NarrowMerge(NodeId n) {
    std::vector<Output> data, controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
    for (int32_t i = 0; i < g_.num_inputs(n); ++i) {
      if (!dead_edges_.contains({n, i})) data.push_back(g_.data_inputs(n)[i]);
    }
    NewAttrs attrs = IdentityAttrs(n);
    if (data.size() > 1) attrs.push_back({"N", attr::Int(std::ssize(data))});
    g_.BecomeOp(n, data.size() > 1 ? "Merge" : "Identity", std::move(attrs));
    g_.SetInputs(n, data, controls);
  }

  // The name of the frame to which the value of an Identity comes straight from outside.
  std::string FrameOf(NodeId n) const {
    while (g_.facts(n).identity) n = g_.data_inputs(n)[0].node;
    const AttrValue* frame = g_.op_name(n) == "Enter" ? g_.attr(n, "frame_name") : nullptr;
    return frame == nullptr ? std::string() : std::string(frame->AsString().value_or(""));
  }

  // A loop without an iteration is no frame any more: its Enters and Exits pass values on.
  void RemoveDeadLoops() {
    if (ended_loops_.empty()) return;
    const Fanouts fanouts(g_);
    absl::flat_hash_set<std::string> frames = {""};
    for (NodeId n : ended_loops_) {
      const std::string frame = FrameOf(n);
      if (frames.insert(frame).second) Dissolve(frame, n, fanouts);
    }
  }

  void Dissolve(const std::string& frame, NodeId loop, const Fanouts& fanouts) {
    std::vector<NodeId> enters, exits;
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n) || !IsEnter(g_.facts(n))) continue;
      const AttrValue* name = g_.attr(n, "frame_name");
      if (name != nullptr && name->AsString().value_or("") == frame) enters.push_back(n);
    }
    std::vector<NodeId> stack = enters;
    absl::flat_hash_set<NodeId> seen(enters.begin(), enters.end());
    while (!stack.empty()) {
      const NodeId n = stack.back();
      stack.pop_back();
      for (const Fanouts::Use& use : fanouts.of(n)) {
        if (!seen.insert(use.node).second) continue;
        const OpFacts& op = g_.facts(use.node);
        // Something goes round in it still, or there is a loop within.
        if (IsNextIteration(op) || IsEnter(op) || IsMerge(op)) return;
        (IsExit(op) ? exits : stack).push_back(use.node);
      }
    }
    std::vector<NodeId> ends = std::move(enters);
    ends.insert(ends.end(), exits.begin(), exits.end());
    if (!std::ranges::all_of(ends, [this](NodeId n) { return MayBeIdentity(n); }) ||
        !c_.Allow(kRemoveDeadLoop.name, loop))
      return;
    for (NodeId n : ends) g_.BecomeOp(n, IdentityFor(n), IdentityAttrs(n));
  }

  PassContext& c_;
  Graph& g_;
  const Fanouts fanouts_;
  std::vector<bool> dead_;
  std::vector<int32_t> dead_inputs_;  // of each Merge
  absl::flat_hash_set<Edge> dead_edges_;
  std::vector<Decision> decided_;
  std::vector<NodeId> ended_loops_;
};

}  // namespace

bool RemoveDeadBranches(PassContext& context) { return DeadBranches(context).Run(); }

}  // namespace tenon
