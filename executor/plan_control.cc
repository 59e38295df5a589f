// Dead values: liveness flags for what lies behind a Switch; everything else carries none.
#include "absl/strings/str_cat.h"
#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"
#include "graph/status_macros.h"

namespace tenon {

int32_t PlanBuilder::BothAlive(NodeId n, int32_t a, int32_t b) {
  if (a == 0 || a == b) return b;
  if (b == 0) return a;
  auto [it, fresh] = both_alive_.try_emplace({std::min(a, b), std::max(a, b)}, 0);
  if (!fresh) return it->second;
  it->second = plan_->num_alive++;
  const int32_t out = it->second;
  AddSlowStep(n, std::make_unique<BothAliveStep>(a, b, out), 0, {}, {});
  return out;
}

absl::Status PlanBuilder::AddSwitch(NodeId n) {
  const std::span<const Output> inputs = in_.graph.data_inputs(n);
  int32_t data = ValueOf(inputs[0]);
  if (value(data).reference) {
    TENON_ASSIGN_OR_RETURN(data, InputValue(n, 0, nullptr));
  }
  TENON_ASSIGN_OR_RETURN(const int32_t predicate, InputValue(n, 1, nullptr));
  if (value(predicate).shape.has_value() && value(predicate).shape->rank() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the predicate must be a scalar, but its shape is ", value(predicate).shape->ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const int32_t predicate_storage, ReadStorage(predicate));
  const int32_t flags[2] = {plan_->num_alive, plan_->num_alive + 1};
  plan_->num_alive += 2;
  AddSlowStep(n,
              std::make_unique<SwitchStep>(InputOf(predicate), node_alive_[n], flags[0], flags[1]),
              0, {-1, predicate_storage}, {});
  TENON_RETURN_IF_ERROR(ReadStorage(data).status());
  for (int port = 0; port < 2; ++port) {
    // A constant behind a Switch is no constant any more: it may be dead.
    const PlanValue source = value(data);
    PlanValue& v = value(first_value_[n] + port);
    v.storage = source.storage;
    v.shape = source.shape;
    v.device = source.device;
    v.stream = source.stream;
    v.ticket = source.ticket;
    v.alive = flags[port];
  }
  return absl::OkStatus();
}

absl::Status PlanBuilder::AddMerge(NodeId n) {
  std::vector<StepInput> inputs;
  std::vector<int32_t> alive, storages;
  std::optional<Shape> shape;
  bool same_shape = true;
  for (int i = 0; i < in_.graph.num_inputs(n); ++i) {
    TENON_ASSIGN_OR_RETURN(const int32_t id, InputValue(n, i, nullptr));
    TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(id));
    const PlanValue& v = value(id);
    storages.push_back(storage);
    inputs.push_back(InputOf(id));
    alive.push_back(v.alive);
    same_shape &= v.shape.has_value() && (!shape.has_value() || *shape == *v.shape);
    shape = v.shape;
  }
  const int32_t flag = plan_->num_alive++;
  node_alive_[n] = flag;
  const int32_t out = first_value_[n];
  PlanValue& v = value(out);
  PlanValue& index = value(out + 1);
  v.alive = index.alive = flag;
  index.shape = Shape();
  index.storage = NewStorage(Where::kArena, sizeof(int32_t));
  int32_t slot = -1;
  size_t bytes = 0;
  if (same_shape && IsMemcpyable(v.dtype)) {
    v.shape = shape;
    TENON_ASSIGN_OR_RETURN(bytes, TensorBytes(v.dtype, *shape));
    v.storage = NewStorage(Where::kArena, bytes);
  } else {
    v.storage = NewSlot();
    slot = storages_[v.storage].index;
  }
  AddSlowStep(n,
              std::make_unique<MergeStep>(std::move(inputs), std::move(alive), flag, slot, bytes),
              0, storages, {v.storage, index.storage});
  return absl::OkStatus();
}

}  // namespace tenon
