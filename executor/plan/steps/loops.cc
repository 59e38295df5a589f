// A loop becomes an opening step (LoopStep), the steps of its body, and a closing step without a
// function. Variables are assumed to keep the shapes of their first values. If a next value has
// another shape, MakeSteps begins again with that variable's shape unknown.

#include "executor/plan/steps/loops.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// `state` is the size in bytes.
absl::Status CopyBytes(const void* state, const StepArgs& args) {
  std::memcpy(args.out[0], args.in[0], *static_cast<const size_t*>(state));
  return absl::OkStatus();
}

const Tensor& ScalarOf(int32_t i) {
  // Never destroyed: plans point to the tensors.
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

absl::Status Loops::Find() {
  TENON_ASSIGN_OR_RETURN(variables_, FindLoopVariables(in_));
  return absl::OkStatus();
}

absl::Status Loops::OpenAt(size_t position) {
  // Several loops that begin at one position lie within each other: the outermost is opened first.
  while (true) {
    const int32_t around = open_.empty() ? -1 : open_.back().loop;
    const auto next = variables_.opening.find({position, around});
    if (next == variables_.opening.end()) return absl::OkStatus();
    const NodeId n = in_.schedule.loops[next->second].enters[0];
    const absl::Status status = Open(next->second);
    if (!status.ok()) return NodeError(in_.graph, in_.calls, n, status);
  }
}

absl::Status Loops::CloseAt(size_t position) {
  while (!open_.empty() && in_.schedule.loops[open_.back().loop].end == position) {
    const NodeId n = in_.schedule.loops[open_.back().loop].enters[0];
    const absl::Status status = Close();
    if (!status.ok()) return NodeError(in_.graph, in_.calls, n, status);
  }
  return absl::OkStatus();
}

absl::Status Loops::Open(int32_t loop) {
  StepGraph& graph = steps_.graph();
  const LoopNodes& nodes = in_.schedule.loops[loop];
  PlanLoop opened;
  opened.parent = graph.open_loop;
  steps_.BeginNodes(nodes.enters);
  // The loop runs as a whole: only if all of its Enter nodes are alive.
  for (NodeId enter : nodes.enters)
    opened.guard = liveness_.Both(enter, opened.guard, liveness_.OfNode(enter));
  for (NodeId merge : variables_.merges[loop]) {
    const absl::Status status = AddVariable(loop, merge, opened);
    if (!status.ok()) return NodeError(in_.graph, in_.calls, merge, status);
  }
  std::vector<int32_t> reads, writes;
  for (const LoopVariable& v : opened.variables) {
    reads.push_back(v.first.storage);
    writes.push_back(v.storage);
  }
  auto step = std::make_unique<LoopStep>();
  opened.step = step.get();
  steps_.AddSlowStep(nodes.enters[0], std::move(step), opened.guard, reads, writes);
  opened.open_step = graph.num_steps() - 1;
  graph.open_loop = static_cast<int32_t>(graph.loops.size());
  graph.loops.push_back(std::move(opened));
  steps_.BeginNodes({});
  open_.push_back({loop, graph.open_loop, {}, liveness_.Now(), copies_.Now()});
  return absl::OkStatus();
}

// Adds a Merge of the loop: its first value exists, the next one is still to be computed. A
// variable that never changes needs no place: it is its first value, a constant if that is one.
absl::Status Loops::AddVariable(int32_t loop, NodeId merge, PlanLoop& opened) {
  StepGraph& graph = steps_.graph();
  const NodeId next = variables_.nexts[merge];
  TENON_ASSIGN_OR_RETURN(const NodeId enter, EnterOf(in_, loop, merge, next));
  TENON_ASSIGN_OR_RETURN(const int32_t source, operands_.Get(enter, 0, nullptr));
  graph.node_alive[merge] = FlagTree::kAlways;
  const int32_t id = graph.first_value[merge];
  steps_.value(id).alive = steps_.value(id + 1).alive = FlagTree::kAlways;
  steps_.value(id + 1).shape = steps_.Known(Shape());
  if (variables_.counted.contains(merge)) TENON_RETURN_IF_ERROR(AddPassCounter(merge, opened));
  if (IsInvariant(in_, merge, next)) {
    steps_.Share(id, source);
    return absl::OkStatus();
  }
  TENON_RETURN_IF_ERROR(steps_.ReadStorage(source).status());
  PlanValue& v = steps_.value(id);
  if (!loose_.contains(merge)) v.shape = steps_.value(source).shape;
  TENON_ASSIGN_OR_RETURN(v.storage, steps_.NewPlace(v));
  opened.variables.push_back({merge, next, v.storage, steps_.InputOf(source), {}});
  return absl::OkStatus();
}

// Adds output 1 of the Merge, the index of its live input: 0 in the first pass (the Enter), 1 in
// all others (the NextIteration).
absl::Status Loops::AddPassCounter(NodeId merge, PlanLoop& opened) {
  const int32_t id = steps_.graph().first_value[merge] + 1;
  const int32_t storage = steps_.NewStorage(Where::kArena, sizeof(int32_t));
  steps_.value(id).storage = storage;
  TENON_ASSIGN_OR_RETURN(const int32_t first, PassNumber(0));
  opened.variables.push_back({merge, kNoNode, storage, steps_.InputOf(first), {}});
  return absl::OkStatus();
}

absl::StatusOr<int32_t> Loops::PassNumber(int32_t i) {
  const int32_t number = steps_.AddValue(PlanValue());
  steps_.value(number).dtype = DataType::kInt32;
  steps_.SetConstant(number, &ScalarOf(i), true);
  TENON_RETURN_IF_ERROR(steps_.ReadStorage(number).status());
  return number;
}

absl::Status Loops::Close() {
  StepGraph& graph = steps_.graph();
  const OpenLoop& open = open_.back();
  PlanLoop& closing = graph.loops[open.index];
  steps_.AwaitCallsOfLoop();
  TENON_RETURN_IF_ERROR(FindEnd(open, closing));
  TENON_RETURN_IF_ERROR(CheckEnd(open, closing));
  std::vector<int32_t> reads, writes;
  for (LoopVariable& v : closing.variables) {
    TENON_ASSIGN_OR_RETURN(const int32_t next, NextValue(v, closing));
    const Shape* const assumed = steps_.value(graph.first_value[v.merge]).shape;
    if (v.next != kNoNode && assumed != nullptr && steps_.value(next).shape != assumed)
      newly_loose_.insert(v.merge);
    v.follow = steps_.InputOf(next);
    reads.push_back(v.follow.storage);
    writes.push_back(v.storage);
  }
  if (!newly_loose_.empty()) {
    // The steps are void, and translation goes on only to find all such variables in one attempt:
    // it must not fail at shapes that are wrong.
    for (const auto& [exit, alive] : open.exits)
      steps_.value(graph.first_value[exit]).shape = nullptr;
  }
  steps_.AddStep(kNoNode, reads, writes);
  closing.close_step = graph.num_steps() - 1;
  // Steps behind the loop must not rely on flags and copies that steps of the body make.
  liveness_.ForgetSince(open.flags);
  copies_.ForgetSince(open.copies);
  graph.open_loop = closing.parent;
  open_.pop_back();
  return absl::OkStatus();
}

absl::Status Loops::FindEnd(const OpenLoop& open, PlanLoop& closing) const {
  for (NodeId merge : variables_.merges[open.loop]) {
    const int32_t alive = steps_.graph().node_alive[variables_.nexts.at(merge)];
    if (closing.again == 0) closing.again = alive;
    if (alive != closing.again || alive == 0) {
      return absl::UnimplementedError(
          absl::StrCat("loop '", in_.schedule.loops[open.loop].frame,
                       "' does not end for all its variables at once: what goes back to '",
                       in_.graph.name(merge), "' must lie behind a Switch on the loop's LoopCond"));
    }
  }
  return absl::OkStatus();
}

// Checks that the loop goes on while the true side of one Switch lives, and that its results come
// from the false side. A Switch in every pass has no flag above it, and two outputs.
absl::Status Loops::CheckEnd(const OpenLoop& open, const PlanLoop& closing) const {
  const std::string_view frame = in_.schedule.loops[open.loop].frame;
  const bool once = closing.again == 0;  // nothing goes back
  const FlagTree::Flag& again = steps_.graph().flags[closing.again];
  if (!once && (again.family_size != 2 || again.parent != 0 || closing.again != again.family + 1)) {
    return absl::UnimplementedError(absl::StrCat(
        "loop '", frame, "' is not governed by one Switch on its LoopCond in every pass"));
  }
  for (const auto& [exit, alive] : open.exits) {
    if (alive == (once ? 0 : again.family)) continue;
    return absl::UnimplementedError(
        absl::StrCat("'", in_.graph.name(exit), "' leaves loop '", frame,
                     "' otherwise than by the false side of a Switch on its LoopCond"));
  }
  return absl::OkStatus();
}

// The next value of a variable, ready to be copied while other variables change: a value that is
// another variable is copied aside, since that variable may get its own next value first.
absl::StatusOr<int32_t> Loops::NextValue(const LoopVariable& variable, const PlanLoop& closing) {
  if (variable.next == kNoNode) return PassNumber(1);
  const bool second = in_.graph.data_inputs(variable.merge)[1].node == variable.next;
  TENON_ASSIGN_OR_RETURN(const int32_t id, operands_.Get(variable.merge, second ? 1 : 0, nullptr));
  TENON_ASSIGN_OR_RETURN(const int32_t storage, steps_.ReadStorage(id));
  const Storage& target = steps_.graph().storages[variable.storage];
  const bool of_another = storage != variable.storage &&
                          std::any_of(closing.variables.begin(), closing.variables.end(),
                                      [&](const LoopVariable& v) { return v.storage == storage; });
  if (!of_another || target.where != Where::kArena) return id;
  return CopyAside(variable.next, id, target.bytes, closing.again);
}

// As for two variables that change places.
int32_t Loops::CopyAside(NodeId next, int32_t id, uint64_t bytes, int32_t alive) {
  PlanValue copy = steps_.value(id);
  const int32_t source = copy.storage;
  copy.storage = steps_.NewStorage(Where::kArena, bytes);
  auto state = std::make_shared<const size_t>(bytes);
  GraphStep& step = steps_.AddStep(next, {source}, {copy.storage});
  step.fn = CopyBytes;
  step.state = state.get();
  step.guard = alive;
  steps_.graph().resources.states.push_back(std::move(state));
  return steps_.AddValue(std::move(copy));
}

// A value of the last pass stays where it is when the loop is over, so an Exit needs no step.
absl::Status Loops::AddExit(NodeId n) {
  StepGraph& graph = steps_.graph();
  OpenLoop& open = open_.back();
  open.exits.emplace_back(n, liveness_.OfNode(n));
  const int32_t id = graph.first_value[n];
  int32_t source = graph.ValueOf(in_.graph.data_inputs(n)[0]);
  if (steps_.value(source).reference) {
    TENON_ASSIGN_OR_RETURN(source, operands_.Get(n, 0, nullptr));
  }
  steps_.Share(id, source);
  steps_.value(id).alive = graph.node_alive[n] = graph.loops[open.index].guard;
  return absl::OkStatus();
}

}  // namespace tenon
