// Nodes that do nothing but wait: NoOp, Identity with control edges, IdentityN.
#include <algorithm>
#include <vector>

#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/dependency_optimization/dependency_optimization.h"

namespace tenon {
namespace {

class Bypasser {
 public:
  explicit Bypasser(PassContext& context)
      : c_(context),
        g_(context.graph),
        fanouts_(g_),
        bypassed_(g_.num_node_ids(), false),
        listed_in_(g_.num_node_ids(), 0) {}

  absl::StatusOr<bool> Run() {
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g_));
    for (NodeId n : order) {
      Forward(n);
      if (g_.op(n) == nullptr || !c_.Visit()) continue;
      DropNeedless(n);
      if (c_.preserve.contains(n)) continue;
      if (MayBypass(n) && c_.Allow(RewriteFor(n), n)) bypassed_[n] = changed_ = true;
    }
    if (!changed_) return false;
    for (NodeId n : order) {
      if (!bypassed_[n]) Forward(n);  // uses over the back edges of loops
    }
    for (NodeId n : order) {
      if (bypassed_[n]) g_.RemoveNode(n);
    }
    return true;
  }

 private:
  // A list of control edges to fill, without duplicates and in time linear in its length.
  void BeginControls() {
    ++list_;
    controls_.clear();
  }
  void LeaveOut(NodeId n) { listed_in_[n] = list_; }
  void AddControl(NodeId n) {
    if (listed_in_[n] == list_) return;
    listed_in_[n] = list_;
    controls_.push_back({n, kControlPort});
  }
  void SetControls(NodeId n) {
    const std::vector<Output> data(g_.data_inputs(n).begin(), g_.data_inputs(n).end());
    g_.SetInputs(n, data, controls_);
  }

  // What n uses of nodes that are bypassed becomes a use of what those used and waited for. They
  // stand before n, so that theirs is settled.
  void Forward(NodeId n) {
    const auto is_bypassed = [this](const Output& in) { return bypassed_[in.node]; };
    if (std::none_of(g_.inputs(n).begin(), g_.inputs(n).end(), is_bypassed)) return;
    BeginControls();
    std::vector<Output> data;
    for (const Output& in : g_.data_inputs(n)) {
      data.push_back(bypassed_[in.node] ? g_.data_inputs(in.node)[in.port] : in);
      if (bypassed_[in.node]) AddControlsOf(in.node);
    }
    for (const Output& in : g_.control_inputs(n)) {
      if (!bypassed_[in.node]) {
        AddControl(in.node);
        continue;
      }
      for (const Output& producer : g_.data_inputs(in.node)) AddControl(producer.node);
      AddControlsOf(in.node);
    }
    g_.SetInputs(n, data, controls_);
  }

  void AddControlsOf(NodeId n) {
    for (const Output& in : g_.control_inputs(n)) AddControl(in.node);
  }

  // A constant that waits for nothing is there from the start; a producer of data, and what has
  // been waited for once, need not be waited for again.
  void DropNeedless(NodeId n) {
    const std::span<const Output> before = g_.control_inputs(n);
    if (before.empty()) return;
    BeginControls();
    // A Merge has its data before it has all of it; so has a function once it is inlined, and what
    // it does waits for the control edges of the call only.
    if (!IsMerge(g_.facts(n)) && !IsFunctional(g_, n)) {
      for (const Output& in : g_.data_inputs(n)) LeaveOut(in.node);
    }
    for (const Output& in : before) {
      if (!IsAlwaysThere(in.node)) AddControl(in.node);
    }
    if (controls_.size() == before.size() || !c_.Allow(kDropNeedlessControl.name, n)) return;
    SetControls(n);
    changed_ = true;
  }

  std::string_view RewriteFor(NodeId n) const {
    if (g_.op_name(n) == "NoOp") return kBypassNoOp.name;
    return g_.op_name(n) == "IdentityN" ? kBypassIdentityN.name : kBypassAwaitedIdentity.name;
  }

  bool MayBypass(NodeId n) const {
    const std::string_view op = g_.op_name(n);
    if (op == "NoOp") return EdgesDoNotGrow(n);
    if (op != "IdentityN" && !g_.facts(n).identity) return false;
    if (ReadsReference(g_, n) || !OnDeviceOfProducers(n) || !EdgesDoNotGrow(n)) return false;
    return !MissesWhatItWaitedFor(n);
  }

  bool OnDeviceOfProducers(NodeId n) const {
    const std::span<const Output> data = g_.data_inputs(n);
    return std::all_of(data.begin(), data.end(), [&](const Output& in) {
      return in.node != n && g_.device(in.node) == g_.device(n);
    });
  }

  // Whether some use of n would lose sight of something. A Switch or a call cannot be waited for in
  // n's place. A Merge does not wait for all of its inputs. Who reads one output of several waits
  // for all of them.
  bool MissesWhatItWaitedFor(NodeId n) const {
    // Each pair of an input and a use takes a search: a node with too many pairs stays.
    constexpr size_t kMostPairs = 1 << 12;
    const std::span<const Output> data = g_.data_inputs(n);
    if (data.size() > 1 && data.size() * fanouts_.of(n).size() > kMostPairs) return true;
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      if (use.port == kControlPort) {
        if (StandsForValue(g_, n)) return true;
        continue;
      }
      if (IsMerge(g_.facts(use.node)) && !g_.control_inputs(n).empty()) return true;
      for (const Output& in : data) {
        if (!IsImplied(in, data[use.port])) return true;
      }
    }
    return false;
  }

  // Whether `o` is there, or dead, whenever `by` is: it is always there, or `by` is made of it.
  bool IsImplied(Output o, Output by) const {
    constexpr size_t kMostVisits = 64;
    if (o == by || IsAlwaysThere(o.node)) return true;
    std::vector<NodeId> seen = {by.node};
    for (size_t next = 0; next < seen.size() && seen.size() < kMostVisits; ++next) {
      if (IsControlFlow(g_.facts(seen[next]))) continue;
      for (const Output& in : g_.data_inputs(seen[next])) {
        if (in == o) return true;
        if (std::find(seen.begin(), seen.end(), in.node) == seen.end()) seen.push_back(in.node);
      }
    }
    return false;
  }

  bool IsAlwaysThere(NodeId n) const {
    return c_.feeds.contains(n) || (g_.op_name(n) == "Const" && g_.inputs(n).empty());
  }

  // Neither edges, nor those between devices, become more. An input of data goes to the users of
  // the output of its place, and to those who wait.
  bool EdgesDoNotGrow(NodeId n) const {
    const std::span<const Output> data = g_.data_inputs(n), controls = g_.control_inputs(n);
    size_t before = g_.inputs(n).size(), after = 0;
    size_t crossings_before = 0, crossings_after = 0;
    const auto crosses = [&](NodeId a, NodeId b) { return g_.device(a) != g_.device(b); };
    const auto add = [&](const Output& in, NodeId user) {
      ++after;
      crossings_after += crosses(in.node, user);
    };
    constexpr size_t kMostUses = 1 << 16;
    if (fanouts_.of(n).size() > kMostUses && g_.inputs(n).size() > 1) return false;
    for (const Output& in : g_.inputs(n)) crossings_before += crosses(in.node, n);
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      ++before;
      crossings_before += crosses(n, use.node);
      if (use.port != kControlPort) {
        add(data[use.port], use.node);
      } else {
        for (const Output& in : data) add(in, use.node);
      }
      for (const Output& in : controls) add(in, use.node);
      // The uses that are left cannot make up for this.
      if (after > before + fanouts_.of(n).size()) return false;
    }
    return after <= before && crossings_after <= crossings_before;
  }

  PassContext& c_;
  Graph& g_;
  const Fanouts fanouts_;
  std::vector<bool> bypassed_;
  std::vector<Output> controls_;
  // By node: the last list of controls that it is in, or left out of.
  std::vector<int32_t> listed_in_;
  int32_t list_ = 0;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> BypassWaiting(PassContext& context) { return Bypasser(context).Run(); }

}  // namespace tenon
