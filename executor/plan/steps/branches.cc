// A Switch copies nothing: its outputs share the storage of its data and differ in their flags
// alone. A Merge copies the first of its inputs that lives into a place of its own.

#include "executor/plan/steps/branches.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {

absl::Status Branches::AddSwitch(NodeId n) {
  StepGraph& graph = steps_.graph();
  int32_t data = graph.ValueOf(in_.graph.data_inputs(n)[0]);
  if (steps_.value(data).reference) {
    TENON_ASSIGN_OR_RETURN(data, operands_.Get(n, 0, nullptr));
  }
  TENON_ASSIGN_OR_RETURN(const int32_t choice, operands_.Get(n, 1, nullptr));
  if (const Shape* shape = steps_.value(choice).shape; shape != nullptr && shape->rank() != 0) {
    return steps_.FailLater(
        n, absl::InvalidArgumentError(absl::StrCat(
               "what chooses the output must be a scalar, but its shape is ", shape->ToString())));
  }
  TENON_ASSIGN_OR_RETURN(const int32_t storage, steps_.ReadStorage(choice));
  const int32_t outputs = in_.graph.num_outputs(n);
  const int32_t alive = graph.node_alive[n];
  const Chooser chosen_by = liveness_.ChosenBy(choice, storage);
  const int32_t taken = liveness_.TakenOutput(chosen_by, outputs, alive);
  const int32_t first =
      taken < 0 ? liveness_.OfSwitch(n, steps_.InputOf(choice), chosen_by, outputs) : 0;
  // The sides that are known not to be taken: no step sets their flag, and frames begin with it
  // dead.
  const int32_t never = taken < 0 ? 0 : graph.flags.Add(1, alive);
  TENON_RETURN_IF_ERROR(steps_.ReadStorage(data).status());
  for (int32_t port = 0; port < outputs; ++port) {
    const int32_t out = graph.first_value[n] + port;
    steps_.Share(out, data);
    steps_.value(out).alive = taken < 0 ? first + port : port == taken ? alive : never;
  }
  return absl::OkStatus();
}

absl::Status Branches::AddMerge(NodeId n) {
  StepGraph& graph = steps_.graph();
  std::vector<StepInput> inputs;
  std::vector<int32_t> alive, storages;
  const Shape* shape = nullptr;
  bool same_shape = true;
  for (int i = 0; i < in_.graph.num_inputs(n); ++i) {
    TENON_ASSIGN_OR_RETURN(const int32_t id, operands_.Get(n, i, nullptr));
    TENON_ASSIGN_OR_RETURN(const int32_t storage, steps_.ReadStorage(id));
    const PlanValue& v = steps_.value(id);
    storages.push_back(storage);
    inputs.push_back(steps_.InputOf(id));
    alive.push_back(v.alive);
    // Equal shapes have equal pointers (StepBuilder::Known).
    same_shape &= v.shape != nullptr && (shape == nullptr || shape == v.shape);
    shape = v.shape;
  }
  if (alive.empty()) return absl::InvalidArgumentError("it has no inputs");
  int32_t common = alive[0];
  for (int32_t flag : alive) common = graph.flags.Common(common, flag);
  const int32_t known = liveness_.OfMerge(alive);
  const int32_t flag = known >= 0 ? known : graph.flags.Add(1, common);
  graph.node_alive[n] = flag;
  // References to values are valid from here on: nothing below adds a value.
  PlanValue& merged = steps_.value(graph.first_value[n]);
  PlanValue& index = steps_.value(graph.first_value[n] + 1);
  merged.alive = index.alive = flag;
  index.shape = steps_.Known(Shape());
  index.storage = steps_.NewStorage(Where::kArena, sizeof(int32_t));
  merged.shape = same_shape ? shape : nullptr;
  TENON_ASSIGN_OR_RETURN(merged.storage, steps_.NewPlace(merged));
  const Storage& place = graph.storages[merged.storage];
  auto step =
      std::make_unique<MergeStep>(std::move(inputs), std::move(alive), known >= 0 ? -1 : flag,
                                  place.where == Where::kSlot ? place.index : -1, place.bytes);
  // The step runs even if no input lives: it must then clear its flag.
  steps_
      .AddSlowStep(n, std::move(step), FlagTree::kAlways, storages, {merged.storage, index.storage})
      .SetsFlags(flag, known >= 0 ? 0 : 1, common);
  return absl::OkStatus();
}

}  // namespace tenon
