// What computes the same in every iteration of a loop is computed once, before it.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/analysis/written_memory.h"
#include "grappler_lite/passes/loop_optimization/loop_optimization.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

class Hoister {
 public:
  explicit Hoister(PassContext& context)
      : c_(context),
        g_(context.graph),
        written_memory_(g_),
        fanouts_(g_),
        shapes_(InferShapes(context)) {}

  absl::StatusOr<bool> Run() {
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g_));
    bool changed = false;
    for (NodeId n : order) {
      if (!MayHoist(n) || !c_.Visit() || !c_.Allow(kHoistInvariant.name, n)) continue;
      TENON_RETURN_IF_ERROR(Hoist(n));
      changed = true;
    }
    for (const Brought& brought : brought_) TieUsers(brought);
    return changed;
  }

 private:
  // A value that came from an iteration, which `ties` belong to, and comes from outside now.
  struct Brought {
    NodeId enter;
    std::vector<NodeId> users, ties;
  };

  // A value from outside that is the same in every iteration.
  bool IsInvariant(NodeId n) const {
    if (g_.op_name(n) != "Enter" || c_.feeds.contains(n)) return false;
    return BoolAttr(g_, n, "is_constant") && !ReadsReference(g_, n) && !written_memory_.IsIn(n) &&
           !ReadsSwitch(g_, n);
  }

  bool IsLocalConst(NodeId n) const { return g_.op_name(n) == "Const" && !c_.feeds.contains(n); }

  bool MayHoist(NodeId n) const {
    const OpDef* op = g_.op(n);
    if (op == nullptr || op->is_stateful || IsControlFlow(*op->facts) || g_.num_outputs(n) != 1 ||
        c_.preserve.contains(n) || !g_.control_inputs(n).empty())
      return false;
    NodeId enter = kNoNode;
    for (const Output& in : g_.data_inputs(n)) {
      if (IsLocalConst(in.node)) continue;
      if (!IsInvariant(in.node) || (enter != kNoNode && !SameFrame(enter, in.node))) return false;
      enter = in.node;
    }
    return enter != kNoNode && !op->facts->identity && CannotFail(n) && !EndsIteration(n);
  }

  // What goes round, or leaves the loop, must come from an iteration.
  bool EndsIteration(NodeId n) const {
    return std::ranges::any_of(fanouts_.of(n), [&](const Fanouts::Use& use) {
      const OpFacts& op = g_.facts(use.node);
      return IsNextIteration(op) || IsExit(op) || IsMerge(op);
    });
  }

  // What constants of the loop that n reads wait for, and what did so before it was hoisted.
  std::vector<NodeId> TiesOf(NodeId n) const {
    std::vector<NodeId> ties;
    const auto add = [&](NodeId tie) {
      if (std::ranges::find(ties, tie) == ties.end()) ties.push_back(tie);
    };
    for (const Output& in : g_.data_inputs(n)) {
      if (IsLocalConst(in.node)) {
        for (const Output& control : g_.control_inputs(in.node)) add(control.node);
      } else if (const auto it = brought_as_.find(in.node); it != brought_as_.end()) {
        for (const NodeId tie : brought_[it->second].ties) add(tie);
      }
    }
    return ties;
  }

  // Who read the value goes on belonging to the iteration, which alone told it not to go on.
  void TieUsers(const Brought& brought) {
    for (const NodeId user : brought.users) {
      const auto reads = [&](NodeId n) {
        return std::ranges::any_of(g_.inputs(user), [n](const Output& in) { return in.node == n; });
      };
      if (!reads(brought.enter)) continue;
      for (const NodeId tie : brought.ties) {
        if (!reads(tie)) g_.AddControlInput(user, tie);
      }
    }
  }

  bool SameFrame(NodeId a, NodeId b) const {
    for (std::string_view name : {"frame_name", "parallel_iterations"}) {
      if (g_.attr(a, name)->wire() != g_.attr(b, name)->wire()) return false;
    }
    return true;
  }

  // The loop may have no iteration: what is hoisted runs all the same.
  bool CannotFail(NodeId n) const {
    if (NeverFails(g_.facts(n))) return true;
    if (shapes_ == nullptr || !g_.facts(n).checked_by_shapes) return false;
    return std::ranges::all_of(g_.data_inputs(n), [&](const Output& in) {
      // An Enter that this pass made gives the value of a node that was there, and that has a known
      // shape.
      const Output known = in.node < known_nodes_ ? in : g_.data_inputs(in.node)[0];
      return shapes_->shape(known).ToShape().has_value();
    });
  }

  // n moves out, with constants of its own; an Enter brings its value in.
  absl::Status Hoist(NodeId n) {
    std::vector<Output> data, controls;
    NodeId enter = kNoNode;
    for (const Output& in : g_.data_inputs(n)) {
      if (IsInvariant(in.node)) enter = in.node;
    }
    for (const Output& in : std::vector(g_.data_inputs(n).begin(), g_.data_inputs(n).end())) {
      if (!IsLocalConst(in.node)) {
        // The new Enter waits for all that the Enters of n's operands waited for.
        data.push_back(g_.data_inputs(in.node)[0]);
        controls.insert(controls.end(), g_.control_inputs(in.node).begin(),
                        g_.control_inputs(in.node).end());
        continue;
      }
      TENON_ASSIGN_OR_RETURN(const NodeId copy, CopyOutside(in.node, n, enter));
      data.push_back({copy, 0});
    }
    Brought as{kNoNode, {}, TiesOf(n)};
    NewAttrs attrs = AllAttrs(g_, enter);
    PutAttr(attrs, "T", attr::Type(g_.output_type({n, 0})));
    std::vector<Output> inputs = {{n, 0}};
    inputs.insert(inputs.end(), controls.begin(), controls.end());
    TENON_ASSIGN_OR_RETURN(const NodeId brought,
                           g_.AddNode(g_.UniqueName(absl::StrCat(g_.name(n), "/enter")), "Enter",
                                      inputs, std::move(attrs), g_.device(n), g_.pos(n)));
    g_.SetInputs(n, data, {});
    as.enter = brought;
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      as.users.push_back(use.node);
      g_.SetInput(use.node, use.input,
                  use.port == kControlPort ? Output{brought, kControlPort} : Output{brought, 0});
    }
    brought_as_.emplace(brought, brought_.size());
    brought_.push_back(std::move(as));
    return absl::OkStatus();
  }

  // Of a constant within the loop: in the frame around it, which only edges tell.
  absl::StatusOr<NodeId> CopyOutside(NodeId constant, NodeId user, NodeId enter) {
    const NodeId outside = g_.data_inputs(enter)[0].node;
    std::vector<Output> controls;
    if (!g_.inputs(outside).empty()) controls.push_back({outside, kControlPort});
    return g_.AddNode(g_.UniqueName(absl::StrCat(g_.name(user), "/constant")), "Const", controls,
                      AllAttrs(g_, constant), g_.device(constant), g_.pos(constant));
  }

  PassContext& c_;
  Graph& g_;
  const WrittenMemory written_memory_;
  const Fanouts fanouts_;
  const GraphShapes* const shapes_;
  const NodeId known_nodes_ = g_.num_node_ids();
  std::vector<Brought> brought_;
  absl::flat_hash_map<NodeId, size_t> brought_as_;  // by Enter
};

}  // namespace

absl::StatusOr<bool> HoistInvariants(PassContext& context) { return Hoister(context).Run(); }

}  // namespace tenon
