// Loops: a step that runs the steps of its frame until the condition fails, and variables that it
// sets before the first pass and between two passes. What comes from outside is read as it is.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"
#include "graph/cycles.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

constexpr int kMaxInvariantPath = 1000;  // nodes looked at to see that a variable never changes

// `state` is the size in bytes.
absl::Status CopyBytes(const void* state, const StepArgs& args) {
  std::memcpy(args.out[0], args.in[0], *static_cast<const size_t*>(state));
  return absl::OkStatus();
}

const Tensor& PassNumber(int32_t i) {
  static const auto* const numbers = [] {
    auto* made = new std::vector<Tensor>;
    for (int32_t v : {0, 1}) {
      made->push_back(*Tensor::Allocate(DataType::kInt32, Shape()));
      *made->back().flat<int32_t>() = v;
    }
    return made;
  }();
  return (*numbers)[i];
}

}  // namespace

absl::Status PlanBuilder::OpenLoops(size_t position) {
  const std::vector<LoopNodes>& loops = in_.schedule.loops;
  // Loops that begin here lie within each other: outermost first.
  while (true) {
    const int32_t around = scope_ < 0 ? -1 : loop_scopes_[scope_].loop;
    const auto next = opening_.find({position, around});
    if (next == opening_.end()) return absl::OkStatus();
    const NodeId n = loops[next->second].enters[0];
    const absl::Status status = OpenLoop(next->second);
    if (!status.ok()) return NodeError(in_.graph, in_.calls, n, status);
  }
}

absl::Status PlanBuilder::CloseLoops(size_t position) {
  while (scope_ >= 0 && in_.schedule.loops[loop_scopes_[scope_].loop].end == position) {
    const NodeId n = in_.schedule.loops[loop_scopes_[scope_].loop].enters[0];
    const absl::Status status = CloseLoop();
    if (!status.ok()) return NodeError(in_.graph, in_.calls, n, status);
  }
  return absl::OkStatus();
}

// Where loops begin, and which of their Merges are variables.
absl::Status PlanBuilder::FindLoops() {
  const Graph& graph = in_.graph;
  const Schedule& schedule = in_.schedule;
  for (size_t l = 0; l < schedule.loops.size(); ++l)
    opening_[{schedule.loops[l].begin, schedule.loops[l].parent}] = static_cast<int32_t>(l);
  loop_variables_.resize(schedule.loops.size());
  if (schedule.loops.empty()) return absl::OkStatus();
  for (NodeId n : schedule.order) {
    for (const Output& from : graph.data_inputs(n)) {
      if (from.port == 1 && IsMergeOp(graph.op_name(from.node))) counted_merges_.insert(from.node);
      if (!IsLoopEdge(graph, from.node, n) || in_.fed_only[n]) continue;
      const int32_t loop = schedule.loop_of[n];
      if (loop < 0 || graph.num_inputs(n) != 2 || loop_merges_.contains(n)) {
        return NodeError(graph, in_.calls, n,
                         absl::UnimplementedError(
                             "a Merge of a loop must have two inputs, one from an Enter and one "
                             "from a NextIteration"));
      }
      loop_merges_[n] = from.node;
      loop_variables_[loop].push_back(n);
    }
  }
  for (const Output& fetch : in_.fetches) {
    if (fetch.port == 1 && IsMergeOp(graph.op_name(fetch.node))) counted_merges_.insert(fetch.node);
  }
  return absl::OkStatus();
}

absl::Status PlanBuilder::OpenLoop(int32_t loop) {
  const LoopNodes& nodes = in_.schedule.loops[loop];
  LoopScope scope;
  scope.loop = loop;
  scope.parent = scope_;
  for (NodeId enter : nodes.enters) scope.guard = BothAlive(enter, scope.guard, NodeAlive(enter));
  for (NodeId merge : loop_variables_[loop]) {
    const absl::Status status = AddVariable(merge, scope);
    if (!status.ok()) return NodeError(in_.graph, in_.calls, merge, status);
  }
  std::vector<int32_t> reads, writes;
  for (const LoopVariable& v : scope.variables) {
    reads.push_back(v.first.storage);
    writes.push_back(v.storage);
  }
  scope.step =
      AddSlowStep(nodes.enters[0], std::make_unique<LoopStep>(), scope.guard, reads, writes);
  scope.open_step = static_cast<int32_t>(steps_.size()) - 1;
  scope.num_both_alive = both_alive_made_.size();
  scope.num_families = families_made_.size();
  scope.num_copies = copies_made_.size();
  scope_ = static_cast<int32_t>(loop_scopes_.size());
  loop_scopes_.push_back(std::move(scope));
  return absl::OkStatus();
}

// A Merge of the loop: the first value is there, the next one is still to be computed.
absl::Status PlanBuilder::AddVariable(NodeId merge, LoopScope& scope) {
  const Graph& graph = in_.graph;
  const NodeId next = loop_merges_[merge];
  const std::span<const Output> inputs = graph.data_inputs(merge);
  Output enter = inputs[inputs[0].node == next ? 1 : 0];
  while (graph.op_name(enter.node) == "Identity" && !in_.fed_only[enter.node])
    enter = graph.data_inputs(enter.node)[0];
  if (!IsEnterOp(graph.op_name(enter.node)) || in_.fed_only[enter.node] ||
      in_.schedule.loop_of[enter.node] != scope.loop) {
    return absl::UnimplementedError(
        absl::StrCat("the first value of a loop variable must come from an Enter, not from '",
                     graph.name(enter.node), "' (", graph.op_name(enter.node), ")"));
  }
  TENON_ASSIGN_OR_RETURN(const int32_t source, InputValue(enter.node, 0, nullptr));
  node_alive_[merge] = 0;
  const int32_t id = first_value_[merge];
  value(id).alive = value(id + 1).alive = 0;
  value(id + 1).shape = Known(Shape());
  if (counted_merges_.contains(merge)) TENON_RETURN_IF_ERROR(AddPassCounter(merge, scope));
  if (IsInvariant(merge, next)) {
    ShareValue(id, source);
    return absl::OkStatus();
  }
  TENON_RETURN_IF_ERROR(ReadStorage(source).status());
  PlanValue& v = value(id);
  if (!loose_.contains(merge)) v.shape = value(source).shape;
  if (v.shape != nullptr && IsMemcpyable(v.dtype)) {
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(v.dtype, *v.shape));
    v.storage = NewStorage(Where::kArena, bytes);
  } else {
    v.storage = NewSlot();
  }
  scope.variables.push_back({merge, next, v.storage, InputOf(source)});
  return absl::OkStatus();
}

// Output 1 of the Merge: 0 in the first pass, 1 in all others.
absl::Status PlanBuilder::AddPassCounter(NodeId merge, LoopScope& scope) {
  PlanValue& v = value(first_value_[merge] + 1);
  v.storage = NewStorage(Where::kArena, sizeof(int32_t));
  values_.emplace_back();
  const auto first = static_cast<int32_t>(values_.size()) - 1;
  value(first).dtype = DataType::kInt32;
  SetConstant(first, &PassNumber(0), true);
  TENON_RETURN_IF_ERROR(ReadStorage(first).status());
  scope.variables.push_back(
      {merge, kNoNode, value(first_value_[merge] + 1).storage, InputOf(first)});
  return absl::OkStatus();
}

// Whether what goes round is the variable itself.
bool PlanBuilder::IsInvariant(NodeId merge, NodeId next) const {
  const Graph& graph = in_.graph;
  Output from = graph.data_inputs(next)[0];
  for (int i = 0; i < kMaxInvariantPath && !in_.fed_only[from.node]; ++i) {
    const std::string_view op = graph.op_name(from.node);
    if (from.node == merge) return from.port == 0;
    const bool passes = op == "Identity" || (IsSwitchOp(op) && from.port == 1);
    if (!passes) return false;
    from = graph.data_inputs(from.node)[0];
  }
  return false;
}

// The storage of a variable's next value, ready to be copied while other variables change.
absl::StatusOr<int32_t> PlanBuilder::NextValue(const LoopVariable& variable, int32_t again) {
  LoopScope& scope = loop_scopes_[scope_];
  if (variable.next == kNoNode) {
    values_.emplace_back();
    const auto later = static_cast<int32_t>(values_.size()) - 1;
    value(later).dtype = DataType::kInt32;
    SetConstant(later, &PassNumber(1), true);
    TENON_RETURN_IF_ERROR(ReadStorage(later).status());
    return later;
  }
  const bool second = in_.graph.data_inputs(variable.merge)[1].node == variable.next;
  TENON_ASSIGN_OR_RETURN(const int32_t id, InputValue(variable.merge, second ? 1 : 0, nullptr));
  TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(id));
  const Storage& target = storages_[variable.storage];
  const bool of_another = storage != variable.storage &&
                          std::any_of(scope.variables.begin(), scope.variables.end(),
                                      [&](const LoopVariable& v) { return v.storage == storage; });
  if (!of_another || target.where != Where::kArena) return id;
  // Two variables that change places.
  const uint64_t bytes = target.bytes;
  PlanValue copy = value(id);
  copy.storage = NewStorage(Where::kArena, bytes);
  auto state = std::make_shared<const size_t>(bytes);
  BuildStep& step = AddStep(variable.next, {storage}, {copy.storage});
  step.fn = CopyBytes;
  step.state = state.get();
  step.guard = again;
  plan_->states.push_back(std::move(state));
  values_.push_back(std::move(copy));
  return static_cast<int32_t>(values_.size()) - 1;
}

absl::Status PlanBuilder::CloseLoop() {
  const int32_t index = scope_;
  LoopScope& scope = loop_scopes_[index];
  for (NodeId merge : loop_variables_[scope.loop]) {
    const int32_t alive = node_alive_[loop_merges_[merge]];
    if (scope.again == 0) scope.again = alive;
    if (alive != scope.again || alive == 0) {
      return absl::UnimplementedError(
          absl::StrCat("loop '", in_.schedule.loops[scope.loop].frame,
                       "' does not end for all its variables at once: what goes back to '",
                       in_.graph.name(merge), "' must lie behind a Switch on the loop's LoopCond"));
    }
  }
  TENON_RETURN_IF_ERROR(CheckEnd(scope));
  std::vector<int32_t> reads, writes;
  std::vector<LoopStep::Variable> variables;
  for (size_t i = 0; i < scope.variables.size(); ++i) {
    const LoopVariable v = scope.variables[i];
    TENON_ASSIGN_OR_RETURN(const int32_t next, NextValue(v, scope.again));
    const bool assumed = v.next != kNoNode && value(first_value_[v.merge]).shape != nullptr;
    if (assumed && value(next).shape != value(first_value_[v.merge]).shape)
      newly_loose_.insert(v.merge);
    const Storage& s = storages_[v.storage];
    LoopStep::Variable variable{v.first, InputOf(next)};
    if (s.where == Where::kSlot) variable.slot = s.index;
    variable.bytes = s.bytes;
    variables.push_back(std::move(variable));
    reads.push_back(value(next).storage);
    writes.push_back(v.storage);
  }
  if (!newly_loose_.empty()) {
    // The plan is void; what follows shall not stumble over shapes that are wrong.
    for (const auto& [exit, alive] : scope.exits) value(first_value_[exit]).shape = nullptr;
  }
  scope.step->SetVariables(std::move(variables));
  AddStep(kNoNode, reads, writes);  // never run: the loop's step has its arguments
  scope.close_step = static_cast<int32_t>(steps_.size()) - 1;
  ForgetInner(scope);
  scope_ = scope.parent;
  return absl::OkStatus();
}

// A loop goes on while the true side of one Switch lives, and its results are of the other side.
absl::Status PlanBuilder::CheckEnd(const LoopScope& scope) const {
  const std::string_view frame = in_.schedule.loops[scope.loop].frame;
  const bool once = scope.again == 0;  // nothing goes back
  const Flag& again = flags_[scope.again];
  if (!once && (again.family_size != 2 || again.parent != 0 || scope.again != again.family + 1)) {
    return absl::UnimplementedError(absl::StrCat(
        "loop '", frame, "' is not governed by one Switch on its LoopCond in every pass"));
  }
  for (const auto& [exit, alive] : scope.exits) {
    if (alive == (once ? 0 : again.family)) continue;
    return absl::UnimplementedError(
        absl::StrCat("'", in_.graph.name(exit), "' leaves loop '", frame,
                     "' otherwise than by the false side of a Switch on its LoopCond"));
  }
  return absl::OkStatus();
}

void PlanBuilder::ForgetInner(const LoopScope& scope) {
  const auto forget = [](auto& made, size_t kept, auto& map) {
    for (size_t i = kept; i < made.size(); ++i) map.erase(made[i]);
    made.resize(kept);
  };
  forget(both_alive_made_, scope.num_both_alive, both_alive_);
  forget(families_made_, scope.num_families, families_);
  forget(copies_made_, scope.num_copies, copies_);
}

// What is there when the loop is over stays where it is.
absl::Status PlanBuilder::AddExit(NodeId n) {
  LoopScope& scope = loop_scopes_[scope_];
  scope.exits.emplace_back(n, NodeAlive(n));
  const int32_t id = first_value_[n];
  int32_t source = ValueOf(in_.graph.data_inputs(n)[0]);
  if (value(source).reference) {
    TENON_ASSIGN_OR_RETURN(source, InputValue(n, 0, nullptr));
  }
  ShareValue(id, source);
  value(id).alive = node_alive_[n] = scope.guard;
  return absl::OkStatus();
}

// A variable's next value is computed right into it where nobody reads the old one later in the
// pass. Before anything else shares places.
void PlanBuilder::ShareLoopVariables() {
  std::vector<int32_t> last_touch(storages_.size(), -1), writer(storages_.size(), -1);
  std::vector<int32_t> num_writes(storages_.size(), 0);
  for (const LoopScope& scope : loop_scopes_) {
    for (int32_t k = scope.open_step + 1; k < scope.close_step; ++k) {
      const BuildStep& step = steps_[k];
      for (uint32_t a = 0; a < step.num_inputs + step.num_outputs; ++a) {
        const int32_t s = args_[step.first_arg + a];
        if (s < 0) continue;
        if (last_touch[s] <= scope.open_step) num_writes[s] = 0;
        last_touch[s] = k;
        if (a >= step.num_inputs) {
          writer[s] = k;
          ++num_writes[s];
        }
      }
    }
    const BuildStep& close = steps_[scope.close_step];
    for (size_t i = 0; i < scope.variables.size(); ++i) {
      const int32_t next = args_[close.first_arg + i];
      const int32_t variable = scope.variables[i].storage;
      const Storage &from = storages_[next], &to = storages_[variable];
      const bool fits = next != variable && from.where == Where::kArena &&
                        to.where == Where::kArena && from.bytes == to.bytes && to.bytes > 0 &&
                        shared_with_[next] == next && first_[next] > scope.open_step &&
                        last_[next] <= scope.close_step && num_writes[next] == 1;
      if (!fits) continue;
      const int32_t k = writer[next];
      if (steps_[k].scope != steps_[scope.close_step].scope ||
          !Implies(steps_[k].guard, scope.again) || last_touch[variable] > k ||
          (last_touch[variable] == k && !MayReplace(k, variable, next)))
        continue;
      shared_with_[next] = variable;
      scope.step->variables()[i].in_place = true;
    }
  }
}

// Whether step k reads `from` only as inputs that it may overwrite with output `to`.
bool PlanBuilder::MayReplace(int32_t k, int32_t from, int32_t to) const {
  const BuildStep& step = steps_[k];
  const auto first = std::lower_bound(in_place_.begin(), in_place_.end(), k,
                                      [](const InPlace& c, int32_t s) { return c.step < s; });
  for (uint32_t i = 0; i < step.num_inputs; ++i) {
    if (args_[step.first_arg + i] != from) continue;
    bool declared = false;
    for (auto c = first; c != in_place_.end() && c->step == k; ++c) {
      declared |= c->in == static_cast<int16_t>(i) &&
                  args_[step.first_arg + step.num_inputs + c->out] == to;
    }
    if (!declared) return false;
  }
  for (uint32_t o = 0; o < step.num_outputs; ++o) {
    if (args_[step.first_arg + step.num_inputs + o] == from) return false;
  }
  return true;
}

}  // namespace tenon
